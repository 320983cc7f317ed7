//! The program's own memory: its writable segments, and where its stacks and heaps are.
//!
//! Taken when `main` is about to begin, put back before every execution. What the loader made
//! read-only and the data of system libraries are left alone.

use std::ffi::{CStr, c_void};
use std::slice;

/// A piece of memory and what it held.
struct Region {
    address: usize,
    saved: Vec<u8>,
}

/// What the program's variables held when `main` began.
#[derive(Default)]
pub(crate) struct Snapshot {
    regions: Vec<Region>,
}

/// A part of a module of the program, as the loader tells.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tls {
    /// Where it is for the thread that asked.
    pub(crate) address: usize,
    pub(crate) len: usize,
    /// Where its initial values are; the rest is zero.
    pub(crate) image: usize,
    pub(crate) image_len: usize,
}

impl Snapshot {
    /// Of the variables, and of the thread-local ones of the calling thread.
    pub(crate) fn take() -> Self {
        let mut regions = Vec::new();
        for module in modules() {
            for (address, len) in module.writable {
                regions.push(Region::take(address, len));
            }
            if let Some(tls) = module.tls {
                regions.push(Region::take(tls.address, tls.len));
            }
        }
        Self { regions }
    }

    /// Puts everything back.
    pub(crate) fn restore(&self) {
        for region in &self.regions {
            // SAFETY: the region is mapped and writable as long as the program is loaded, and no
            // thread of the program runs.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    region.saved.as_ptr(),
                    region.address as *mut u8,
                    region.saved.len(),
                );
            }
        }
    }

    /// How many bytes are put back.
    pub(crate) fn len(&self) -> usize {
        self.regions.iter().map(|region| region.saved.len()).sum()
    }
}

impl Region {
    fn take(address: usize, len: usize) -> Self {
        // SAFETY: the loader says that it is mapped, and no other thread runs.
        let saved = unsafe { slice::from_raw_parts(address as *const u8, len) }.to_vec();
        Self { address, saved }
    }
}

/// The thread-local variables of the program, of the calling thread.
pub(crate) fn thread_locals() -> Vec<Tls> {
    modules().into_iter().filter_map(|module| module.tls).collect()
}

/// Reserves address space at `wish`, so that addresses are the same in every process.
pub(crate) fn reserve(wish: usize, len: usize) -> Option<usize> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    for (wish, flags) in [(wish, flags | libc::MAP_FIXED_NOREPLACE), (0, flags)] {
        // SAFETY: a new mapping replaces nothing.
        let got = unsafe { libc::mmap(wish as *mut c_void, len, protection, flags, -1, 0) };
        if got != libc::MAP_FAILED {
            return Some(got as usize);
        }
    }
    None
}

/// The program, or a library of its own.
#[derive(Default)]
struct Module {
    writable: Vec<(usize, usize)>,
    tls: Option<Tls>,
}

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
    if !is_program(&name) {
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
    let mut module = Module::default();
    for header in headers {
        let (start, len) = (base + header.p_vaddr as usize, header.p_memsz as usize);
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 {
            let (from, to) = protected.unwrap_or((start, start));
            let end = start + len;
            let pieces = [(start, from.clamp(start, end)), (to.clamp(start, end), end)];
            let pieces = pieces.into_iter().filter(|(start, end)| start < end);
            module.writable.extend(pieces.map(|(start, end)| (start, end - start)));
        } else if header.p_type == libc::PT_TLS && !info.dlpi_tls_data.is_null() {
            module.tls = Some(Tls {
                address: info.dlpi_tls_data as usize,
                len,
                image: start,
                image_len: header.p_filesz as usize,
            });
        }
    }
    modules.push(module);
    0
}

/// Whether a module is the program's own: its executable has no name here.
fn is_program(name: &str) -> bool {
    let is_system = ["/lib", "/usr/lib", "/usr/local/lib", "linux-vdso", "linux-gate"]
        .iter()
        .any(|start| name.starts_with(start));
    !is_system && !name.contains("libmazurka_native")
}
