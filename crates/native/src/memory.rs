//! The program's own memory: its variables, and where its stacks and heaps are.
//!
//! A [`Part`] is a range of addresses that is saved and put back as a whole. A small one is copied.
//! A large one is a private mapping of an [`Image`], a file in memory with what the part held: only
//! pages that were written since are saved, and only those are put back.
//!
//! What the loader made read-only is left alone, and so are the data of system libraries, but for
//! the standard streams and the list of open ones.

use crate::library::kept;
use std::ffi::{CStr, c_void};
use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::fs::FileExt as _;
use std::rc::Rc;
use std::slice;
use std::sync::OnceLock;

const PAGE_LEN: usize = 4096;
/// Up to here copying is quicker than mapping.
pub(crate) const SMALL: usize = 256 << 10;
/// With more pages than this that differ from the last image, the next one is made.
const MAX_DIFFERENT: usize = 64;
/// So many pages are written to an image at once.
const RUN: usize = 16;
/// More pages than this are not put back one by one.
const MAX_WRITTEN: usize = 256;

/// A range of addresses that is saved and put back.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) start: usize,
    pub(crate) len: usize,
    /// What is mapped there, if something is.
    image: Option<Rc<Image>>,
}

/// What a part held.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    len: usize,
    image: Option<Rc<Image>>,
    /// The pages that differ from the image.
    pages: Vec<u32>,
    /// Their contents; without an image, everything.
    bytes: Vec<u8>,
}

/// A file without a name that holds the contents of a part.
#[derive(Debug)]
struct Image {
    file: File,
    len: usize,
    /// Where its contents can be read.
    view: usize,
}

/// The thread-local variables of a module, of one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tls {
    pub(crate) address: usize,
    pub(crate) len: usize,
}

impl Part {
    pub(crate) fn new(start: usize, len: usize) -> Self {
        Self { start, len, image: None }
    }

    /// Keeps what is there now.
    pub(crate) fn save(&mut self, saved: &mut Saved) {
        saved.len = self.len;
        saved.pages.clear();
        saved.bytes.clear();
        saved.image = None;
        if self.len > SMALL && self.save_pages(saved).is_some() {
            return;
        }
        saved.pages.clear();
        saved.bytes.clear();
        // SAFETY: the part is mapped, and no thread of the program runs.
        saved.bytes.extend_from_slice(unsafe { slice::from_raw_parts(self.pointer(), self.len) });
    }

    /// Keeps the pages that differ from an image, a new one if they are many. `None` if the
    /// system does not let us.
    fn save_pages(&mut self, saved: &mut Saved) -> Option<()> {
        if let Some(image) = &self.image {
            written_pages(self.start, self.len, &mut saved.pages)?;
            saved.pages.retain(|&page| image.page(page) != Some(page_at(self.start, page)));
        }
        if self.image.is_none() || saved.pages.len() > MAX_DIFFERENT {
            let image = Image::of(self.start, self.len.next_multiple_of(PAGE_LEN))?;
            if !image.map(self.start) {
                return None;
            }
            self.image = Some(Rc::new(image));
            saved.pages.clear();
        }
        for &page in &saved.pages {
            saved.bytes.extend_from_slice(page_at(self.start, page));
        }
        saved.image = self.image.clone();
        Some(())
    }

    /// Puts back what was there.
    #[inline]
    pub(crate) fn restore(&mut self, saved: &Saved) {
        let is_plain = self.image.is_none() && saved.image.is_none() && self.len == saved.len;
        if !is_plain {
            self.show(saved);
            self.len = saved.len;
        }
        if saved.image.is_some() {
            return self.restore_pages(saved);
        }
        if saved.bytes.is_empty() {
            return;
        }
        // SAFETY: the part is mapped and was that long, and no thread of the program runs.
        unsafe {
            std::ptr::copy_nonoverlapping(saved.bytes.as_ptr(), self.pointer(), saved.bytes.len());
        }
    }

    /// Puts back the pages that differ from the image.
    fn restore_pages(&self, saved: &Saved) {
        let to = self.pointer();
        for (&page, bytes) in saved.pages.iter().zip(saved.bytes.chunks_exact(PAGE_LEN)) {
            // SAFETY: as above.
            unsafe {
                let to = to.add(page as usize * PAGE_LEN);
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, PAGE_LEN);
            }
        }
    }

    /// Makes everything that is not saved as bytes what it was: as in the image, or zero.
    fn show(&mut self, saved: &Saved) {
        let mapped = self.image.as_ref().map_or(0, |image| image.len);
        let end = self.len.max(mapped).next_multiple_of(PAGE_LEN);
        match (&saved.image, &self.image) {
            (Some(new), Some(old)) if Rc::ptr_eq(new, old) => {
                if self.show_pages(end, &saved.pages).is_none() {
                    forget(self.start, end);
                }
            }
            (Some(new), _) => {
                assert!(new.map(self.start), "what was mapped before can be mapped again");
                map_nothing(self.start + new.len, end.saturating_sub(new.len));
                self.image = saved.image.clone();
            }
            (None, Some(_)) => {
                map_nothing(self.start, end);
                self.image = None;
            }
            (None, None) if self.len > saved.len.max(SMALL) => forget(self.start, end),
            (None, None) if self.len > saved.len => {
                // SAFETY: this is the end of the part, which is mapped.
                unsafe {
                    std::ptr::write_bytes(self.pointer().add(saved.len), 0, self.len - saved.len);
                }
            }
            (None, None) => {}
        }
    }

    /// Makes the pages that were written what the image has, but for those that are `saved`. `None`
    /// if they are many, or if the system does not tell which they are.
    fn show_pages(&self, len: usize, saved: &[u32]) -> Option<()> {
        let image = self.image.as_ref()?;
        let mut pages = Vec::new();
        written_pages(self.start, len, &mut pages)?;
        if pages.len() > MAX_WRITTEN {
            return None;
        }
        for page in pages.into_iter().filter(|page| saved.binary_search(page).is_err()) {
            let to = (self.start + page as usize * PAGE_LEN) as *mut u8;
            // SAFETY: the page is the program's, and no thread of it runs.
            unsafe {
                match image.page(page) {
                    Some(from) => std::ptr::copy_nonoverlapping(from.as_ptr(), to, PAGE_LEN),
                    None => std::ptr::write_bytes(to, 0, PAGE_LEN),
                }
            }
        }
        Some(())
    }

    fn pointer(&self) -> *mut u8 {
        self.start as *mut u8
    }
}

impl Saved {
    /// How much memory it takes, an image not counted.
    pub(crate) fn cost(&self) -> usize {
        self.bytes.len() + self.pages.len() * size_of::<u32>()
    }

    /// Whether the contents are the same; `None` where one of the two would have to be looked up
    /// in an image.
    pub(crate) fn same(&self, other: &Self) -> Option<bool> {
        let is_image = self.image.is_some() || other.image.is_some();
        (!is_image).then(|| self.bytes == other.bytes)
    }
}

impl Image {
    /// Of what is there now.
    fn of(start: usize, len: usize) -> Option<Self> {
        // SAFETY: makes a file that is ours alone.
        let file = unsafe {
            let number = libc::memfd_create(c"mazurka".as_ptr(), libc::MFD_CLOEXEC);
            (number >= 0).then(|| File::from_raw_fd(number))?
        };
        // SAFETY: the part is mapped to the end of its last page, and no thread of the program
        // runs.
        let contents = unsafe { slice::from_raw_parts(start as *const u8, len) };
        // What is zero needs no memory in the file.
        file.set_len(len as u64).ok()?;
        const ZERO: [u8; PAGE_LEN] = [0; PAGE_LEN];
        let mut at = 0;
        let is_empty = |page: &[u8]| page == &ZERO[..page.len()];
        for run in contents.chunks(PAGE_LEN * RUN) {
            if !run.chunks(PAGE_LEN).all(is_empty) {
                file.write_all_at(run, at).ok()?;
            }
            at += run.len() as u64;
        }
        let (protection, flags) = (libc::PROT_READ, libc::MAP_SHARED);
        // SAFETY: a new mapping replaces nothing.
        let view = unsafe {
            libc::mmap(std::ptr::null_mut(), len, protection, flags, file.as_raw_fd(), 0)
        };
        (view != libc::MAP_FAILED).then_some(Self { file, len, view: view as usize })
    }

    /// What it has for a page, if it is long enough.
    fn page(&self, page: u32) -> Option<&[u8]> {
        ((page as usize) < self.len / PAGE_LEN).then(|| page_at(self.view, page))
    }

    fn map(&self, start: usize) -> bool {
        map(start, self.len, libc::MAP_PRIVATE, self.file.as_raw_fd())
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: nobody else knows of this mapping.
        unsafe { libc::munmap(self.view as *mut c_void, self.len) };
    }
}

/// A page of a range that is mapped, while no thread of the program runs.
fn page_at<'a>(start: usize, page: u32) -> &'a [u8] {
    let start = start + page as usize * PAGE_LEN;
    // SAFETY: the page is mapped.
    unsafe { slice::from_raw_parts(start as *const u8, PAGE_LEN) }
}

/// Replaces what is mapped somewhere.
fn map(start: usize, len: usize, flags: i32, file: i32) -> bool {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = flags | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: the range is a part of the program's memory, and whoever asks for another mapping
    // knows what was there.
    unsafe { libc::mmap(start as *mut c_void, len, protection, flags, file, 0) != libc::MAP_FAILED }
}

/// Makes a range zero.
fn map_nothing(start: usize, len: usize) {
    if len > 0 {
        let done = map(start, len, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1);
        assert!(done, "memory of our own can be mapped again");
    }
}

/// Drops what was written to a range since it was mapped.
fn forget(start: usize, len: usize) {
    // SAFETY: the range is mapped, and its contents are not needed any more.
    unsafe { libc::madvise(start as *mut c_void, len, libc::MADV_DONTNEED) };
}

const OWN_PAGES: &str = "/proc/self/pagemap";
static PAGEMAP: OnceLock<Option<File>> = OnceLock::new();

/// This process is the copy of another one: its pages are its own.
pub(crate) fn begin_copy() {
    if let (Some(Some(old)), Ok(new)) = (PAGEMAP.get(), File::open(OWN_PAGES)) {
        // SAFETY: puts a file in the place of another one that is this library's.
        unsafe { libc::dup2(new.as_raw_fd(), old.as_raw_fd()) };
    }
}

/// The pages of a range that were written since it was mapped: they are not the image's.
fn written_pages(start: usize, len: usize, pages: &mut Vec<u32>) -> Option<()> {
    const IS_THERE: u64 = 0b11 << 62;
    const IS_OF_FILE: u64 = 1 << 61;
    const ENTRY_LEN: usize = size_of::<u64>();
    let pagemap = PAGEMAP.get_or_init(|| File::open(OWN_PAGES).ok()).as_ref()?;
    let mut entries = [0; 512 * ENTRY_LEN];
    let n_pages = len.div_ceil(PAGE_LEN);
    for first in (0..n_pages).step_by(512) {
        let entries = &mut entries[..(n_pages - first).min(512) * ENTRY_LEN];
        let at = (start / PAGE_LEN + first) * ENTRY_LEN;
        pagemap.read_exact_at(entries, at as u64).ok()?;
        for (idx, entry) in entries.chunks_exact(ENTRY_LEN).enumerate() {
            let entry = u64::from_ne_bytes(entry.try_into().expect("chunks are exact"));
            if entry & IS_THERE != 0 && entry & IS_OF_FILE == 0 {
                pages.push((first + idx) as u32);
            }
        }
    }
    Some(())
}

/// The variables of the program.
pub(crate) fn variables() -> Vec<Part> {
    let writable = modules().into_iter().filter(|module| module.is_program);
    let mut parts: Vec<Part> = Vec::new();
    for (start, len) in writable.flat_map(|module| module.writable) {
        let (inner, end) = (start.next_multiple_of(PAGE_LEN), start + len);
        let inner_end = end - end % PAGE_LEN;
        if inner_end.saturating_sub(inner) > SMALL {
            let edges = [(start, inner), (inner, inner_end), (inner_end, end)];
            parts.extend(edges.map(|(start, end)| Part::new(start, end - start)));
        } else {
            parts.push(Part::new(start, len));
        }
    }
    parts.extend(streams());
    parts.extend(kept::parts());
    parts
}

/// What the C library keeps of the standard streams, and the first of the open ones.
fn streams() -> impl Iterator<Item = Part> {
    const STREAM_LEN: usize = size_of::<[usize; 28]>();
    let streams = [
        (c"_IO_2_1_stdin_", STREAM_LEN),
        (c"_IO_2_1_stdout_", STREAM_LEN),
        (c"_IO_2_1_stderr_", STREAM_LEN),
        (c"_IO_list_all", size_of::<usize>()),
    ];
    streams.into_iter().filter_map(|(name, len)| {
        // SAFETY: the name is a string.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        (!address.is_null()).then(|| Part::new(address as usize, len))
    })
}

/// The thread-local variables of the calling thread, but for our own.
pub(crate) fn thread_locals() -> Vec<Tls> {
    modules().into_iter().filter_map(|module| module.tls).collect()
}

/// The variables of the library that unwinds stacks. It locks them, and never for longer than one
/// step; since it only looks things up there, its locks do not matter.
pub(crate) fn unwinder() -> Option<Range<usize>> {
    // SAFETY: the unwinder is linked, and the loader's headers are there as long as it is.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        libc::dladdr(_Unwind_GetIP as *const c_void, &raw mut found);
        let base = found.dli_fbase as usize;
        let header = &*(base as *const libc::Elf64_Ehdr);
        let headers = (base + header.e_phoff as usize) as *const libc::Elf64_Phdr;
        let headers = slice::from_raw_parts(headers, usize::from(header.e_phnum));
        let writable = headers
            .iter()
            .find(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0)?;
        let start = base + writable.p_vaddr as usize;
        Some(start..start + writable.p_memsz as usize)
    }
}

unsafe extern "C" {
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// Reserves address space at `wish`, so that addresses are the same in every process; at 0,
/// anywhere.
pub(crate) fn reserve(wish: usize, len: usize) -> Option<usize> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let fixed = (wish, flags | libc::MAP_FIXED_NOREPLACE);
    for (wish, flags) in Some(fixed).filter(|_| wish != 0).into_iter().chain([(0, flags)]) {
        // SAFETY: a new mapping replaces nothing.
        let got = unsafe { libc::mmap(wish as *mut c_void, len, protection, flags, -1, 0) };
        if got != libc::MAP_FAILED {
            return Some(got as usize);
        }
    }
    None
}

/// Where the code of this library is.
pub(crate) fn own_code() -> Range<usize> {
    let mut own = 0..0;
    // SAFETY: `visit_own` is called with what it expects, before this returns.
    unsafe { libc::dl_iterate_phdr(Some(visit_own), (&raw mut own).cast()) };
    own
}

unsafe extern "C" fn visit_own(
    info: *mut libc::dl_phdr_info,
    _: usize,
    own: *mut c_void,
) -> libc::c_int {
    // SAFETY: both come from `own_code`, through the loader, whose headers stay.
    let (info, own, headers) = unsafe {
        let info = &*info;
        let headers = slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        (info, &mut *own.cast::<Range<usize>>(), headers)
    };
    let base = info.dlpi_addr as usize;
    let code = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0);
    let mut ranges = code.map(|header| {
        let start = base + header.p_vaddr as usize;
        start..start + header.p_memsz as usize
    });
    let found = ranges.find(|range| range.contains(&(own_code as *const () as usize)));
    if let Some(range) = &found {
        own.clone_from(range);
    }
    libc::c_int::from(found.is_some())
}

/// What the loader says of the program, or of a library.
struct Module {
    /// Whether it is the program's own.
    is_program: bool,
    writable: Vec<(usize, usize)>,
    tls: Option<Tls>,
}

/// All modules but this library.
fn modules() -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    // SAFETY: `visit` is called with what it expects, before this returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut modules).cast()) };
    modules
}

unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _: usize,
    modules: *mut c_void,
) -> libc::c_int {
    // SAFETY: both come from `modules`, through the loader.
    let (info, modules) = unsafe { (&*info, &mut *modules.cast::<Vec<Module>>()) };
    // SAFETY: the loader's names are strings.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy();
    if name.contains("libmazurka_native") {
        return 0;
    }
    // SAFETY: the loader's headers are there as long as the module is.
    let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let base = info.dlpi_addr as usize;
    let protected = headers.iter().find(|header| header.p_type == libc::PT_GNU_RELRO);
    let protected = protected.map(|header| {
        let start = base + header.p_vaddr as usize;
        (start & !4095, (start + header.p_memsz as usize) & !4095)
    });
    let mut module = Module { is_program: is_program(&name), writable: Vec::new(), tls: None };
    for header in headers {
        let (start, len) = (base + header.p_vaddr as usize, header.p_memsz as usize);
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 {
            let (from, to) = protected.unwrap_or((start, start));
            let end = start + len;
            let pieces = [(start, from.clamp(start, end)), (to.clamp(start, end), end)];
            let pieces = pieces.into_iter().filter(|(start, end)| start < end);
            module.writable.extend(pieces.map(|(start, end)| (start, end - start)));
        } else if header.p_type == libc::PT_TLS && !info.dlpi_tls_data.is_null() {
            module.tls = Some(Tls { address: info.dlpi_tls_data as usize, len });
        }
    }
    modules.push(module);
    0
}

/// Whether a module is the program's own, as the libraries of C++ are: their exceptions in flight
/// and streams belong to an execution. The executable has no name here.
pub(crate) fn is_program(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    if file.starts_with("libstdc++") || file.starts_with("libc++") {
        return true;
    }
    let is_system = ["/lib", "/usr/lib", "/usr/local/lib", "linux-vdso", "linux-gate"]
        .iter()
        .any(|start| name.starts_with(start));
    !is_system
}
