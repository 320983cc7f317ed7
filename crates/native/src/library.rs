//! Functions of the C library that read or write the program's memory.
//!
//! The library is compiled without the instrumentation, so what its functions do to memory has to
//! be known by their names. `table` has a row for each: which arguments are read and written, and
//! how far. A row defines a function of the same name that stands in front of the original: it
//! tells the accesses, as the instrumentation would have told them, and goes on with the original,
//! all arguments where they were. So they count for data races, use after free and bounds like the
//! program's own.
//!
//! A function that keeps something for itself between two calls, such as `strtok`, has an object
//! that stands for it ([`State`]): who calls it accesses that. `kept` has the contents of those
//! that an execution may leave behind, so that they are put back. What a text with conversions
//! reads and writes is in `format`.
//!
//! Functions without a row are in `known.txt`, each with the reason why it needs none. Whatever a
//! program imports that neither has, `imports` names as an assumption of the verdict.
//!
//! Nothing of this runs in a program that calls none of them.

pub(crate) mod callers;
mod cxx;
pub(crate) mod extent;
pub(crate) mod format;
mod getopt;
pub(crate) mod imports;
pub(crate) mod kept;
mod state;
mod table;
mod va_list;

use crate::after_write;
use crate::callbacks;
use crate::coroutine;
use crate::io;
use crate::real::Real;
use extent::Extent;
pub(crate) use state::State;
use std::ffi::{CStr, c_int};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use va_list::VaList;

/// A function of the C library with a row in the table.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    real: Real,
    effects: &'static [Effect],
}

/// What a call does to the memory of its caller. Arguments are numbered from 0, pointers and whole
/// numbers only; a null pointer is no access.
#[derive(Clone, Copy)]
pub(crate) enum Effect {
    /// What follows is so unless the standard library of Rust calls it on its own account, see
    /// `callers`.
    ForProgram,
    /// Reads what an argument points to.
    Read(u8, Extent),
    /// Writes it.
    Write(u8, Extent),
    /// The same after the call, whose result may say how far.
    ReadAfter(u8, Extent),
    WriteAfter(u8, Extent),
    /// Reads or writes what the library keeps.
    Asks(State),
    Changes(State),
    /// The result points to what the library keeps, which was written so far.
    Returns(Extent),
    /// Moves the position of a file of the program: its number, or its stream.
    MovesNumber(u8),
    MovesStream(u8),
    /// A format at this argument, of these rules; its own arguments follow.
    Prints {
        format: u8,
        rules: format::Rules,
    },
    /// The same with a list of arguments behind it.
    PrintsList {
        format: u8,
        rules: format::Rules,
    },
    /// Prints into what the argument points to, at most as many units as another one says.
    PrintsInto {
        to: u8,
        limit: Option<u8>,
        format: u8,
        rules: format::Rules,
    },
    PrintsListInto {
        to: u8,
        limit: Option<u8>,
        format: u8,
        rules: format::Rules,
    },
    /// Keeps memory that it allocates, so that must not be the program's: an execution leaves it
    /// behind.
    Allocates,
    /// Whatever has no shorter description.
    Also(fn(&Call<'_>)),
    /// Makes the call itself, for what has to be looked at before it and after.
    Instead(fn(&Call<'_>) -> usize),
}

/// A call of such a function, in progress.
pub(crate) struct Call<'a> {
    function: &'static Function,
    frame: &'a Frame,
}

/// The arguments of a call, as `enter` leaves them on the stack.
#[repr(C)]
pub(crate) struct Frame {
    words: [usize; 6],
    floats: [[u64; 2]; 8],
    /// How many of them there are, for functions with any number of arguments.
    n_floats: usize,
    _room: [usize; 2],
    /// Where the call returns to.
    caller: usize,
    /// Arguments that did not fit into registers.
    rest: usize,
}

/// Where a call goes on; or, at 0, what its result is.
#[repr(C)]
struct Way {
    address: usize,
    result: usize,
}

/// The function that is looked at.
static INSIDE: AtomicPtr<Function> = AtomicPtr::new(std::ptr::null_mut());
/// Where the code of this library is: it calls functions of its own accord.
static OWN_START: AtomicUsize = AtomicUsize::new(0);
static OWN_LEN: AtomicUsize = AtomicUsize::new(0);

/// Finds out what has to be known before the program begins.
pub(crate) fn set_up() {
    let own = crate::memory::own_code();
    OWN_START.store(own.start, Ordering::Relaxed);
    OWN_LEN.store(own.len(), Ordering::Relaxed);
    kept::set_up();
}

/// The function of a library that the running thread is in, as far as it has a row: its symbol,
/// without what headers add to it.
pub(crate) fn inside() -> Option<&'static str> {
    let function = INSIDE.load(Ordering::Relaxed);
    // SAFETY: it is one of the table's, which are never dropped.
    let symbol = (!function.is_null()).then(|| unsafe { (*function).name })?;
    // What headers make of a name is not what the program calls.
    let plain = symbol.trim_start_matches("__isoc99_").trim_start_matches("__isoc23_");
    Some(match plain.strip_prefix("__") {
        Some(inner) => inner.strip_suffix("_chk").unwrap_or(inner),
        None => plain,
    })
}

/// Whether an instruction is one of this library.
pub(crate) fn is_own_code(address: usize) -> bool {
    let start = OWN_START.load(Ordering::Relaxed);
    address.wrapping_sub(start) < OWN_LEN.load(Ordering::Relaxed)
}

/// The running thread does not go on with what it was in.
pub(crate) fn leave() {
    INSIDE.store(std::ptr::null_mut(), Ordering::Relaxed);
    after_write::end_behind();
}

/// Something that the library does for the program is an access of this function.
#[inline]
pub(crate) fn within(function: &'static Function, tell: impl FnOnce()) {
    INSIDE.store(std::ptr::from_ref(function).cast_mut(), Ordering::Relaxed);
    tell();
    leave();
}

/// A function that this library stands for reads or writes memory of the program, and has done so.
pub(crate) fn touched_by(function: &'static Function, address: usize, len: usize, write: bool) {
    if address != 0 && coroutine::in_program() {
        within(function, || {
            after_write::behind(|| callbacks::plain(address, len, write));
        });
    }
}

/// It has written a value, for the program.
pub(crate) fn wrote_by<T>(function: &'static Function, to: *const T) {
    touched_by(function, to as usize, size_of::<T>(), true);
}

/// The same, by the name of the function.
macro_rules! wrote {
    ($name:ident, $to:expr) => {{
        static FUNCTION: $crate::library::Function =
            $crate::library::Function::plain(stringify!($name));
        $crate::library::wrote_by(&FUNCTION, $to.cast_const());
    }};
}
pub(crate) use wrote;

/// The function of that name reads so many bytes of the program, or writes them.
macro_rules! touched {
    ($name:ident, $address:expr, $len:expr, $write:expr) => {{
        static FUNCTION: $crate::library::Function =
            $crate::library::Function::plain(stringify!($name));
        $crate::library::touched_by(&FUNCTION, $address as usize, $len, $write);
    }};
}
pub(crate) use touched;

impl Function {
    /// One that is told by name alone.
    pub(crate) const fn plain(name: &'static str) -> Self {
        Self::new(name, c"", &[])
    }

    pub(crate) const fn new(
        name: &'static str,
        c_name: &'static CStr,
        effects: &'static [Effect],
    ) -> Self {
        Self { name, real: Real::new(c_name), effects }
    }
}

impl Call<'_> {
    /// An argument, if it is a pointer or a whole number and one of the first six.
    pub(crate) fn word(&self, idx: u8) -> usize {
        self.frame.words[usize::from(idx)]
    }

    /// Reads memory of the program.
    pub(crate) fn read(&self, address: usize, len: usize) {
        if address != 0 {
            within(self.function, || callbacks::plain(address, len, false));
        }
    }

    /// Writes memory of the program.
    pub(crate) fn write(&self, address: usize, len: usize) {
        if address != 0 {
            within(self.function, || callbacks::plain(address, len, true));
        }
    }

    /// Reads or writes what the library keeps.
    pub(crate) fn touch(&self, state: State, write: bool) {
        within(self.function, || callbacks::plain(state.address(), 1, write));
    }

    /// Calls the original with the same arguments.
    pub(crate) fn make(&self) -> usize {
        let address = self.function.real.address();
        // SAFETY: the program wanted to call just this, and none of those that get here has
        // arguments beyond the registers.
        let make = || unsafe { call_with(self.frame, address) };
        let allocates = |effect: &Effect| matches!(effect, Effect::Allocates);
        if !self.function.effects.iter().any(allocates) {
            return make();
        }
        let mut result = 0;
        coroutine::as_host(|| result = make());
        result
    }

    /// The arguments behind the first `n_named`, of a function that has any number.
    pub(crate) fn list(&self, n_named: u8) -> VaList {
        VaList::of(self.frame, n_named)
    }

    fn access(&self, idx: u8, extent: Extent, result: usize, write: bool) {
        let address = self.word(idx);
        if address == 0 {
            return;
        }
        let len = extent.len(self, address, result);
        if write { self.write(address, len) } else { self.read(address, len) }
    }

    /// What is told before the call. A result, if the call was made on the way.
    fn begin(&self, effect: Effect) -> Option<usize> {
        match effect {
            Effect::Read(idx, extent) => self.access(idx, extent, 0, false),
            Effect::Write(idx, extent) => self.access(idx, extent, 0, true),
            Effect::Asks(state) => self.touch(state, false),
            Effect::Changes(state) => self.touch(state, true),
            Effect::MovesNumber(idx) => io::move_number(self.word(idx) as c_int),
            Effect::MovesStream(idx) => io::move_stream(self.word(idx) as *mut libc::FILE),
            Effect::Prints { format, rules } => {
                format::prints(self, self.word(format), self.list(format + 1), rules);
            }
            Effect::PrintsList { format, rules } => {
                let list = VaList::at(self.word(format + 1));
                format::prints(self, self.word(format), list, rules);
            }
            Effect::PrintsInto { to, limit, format, rules } => {
                let list = self.list(format + 1);
                self.print_into(to, limit, format, list, rules);
            }
            Effect::PrintsListInto { to, limit, format, rules } => {
                let list = VaList::at(self.word(format + 1));
                self.print_into(to, limit, format, list, rules);
            }
            Effect::Also(tell) => tell(self),
            Effect::Instead(make) => return Some(make(self)),
            Effect::ReadAfter(..)
            | Effect::WriteAfter(..)
            | Effect::Returns(_)
            | Effect::Allocates
            | Effect::ForProgram => {}
        }
        None
    }

    fn print_into(
        &self,
        to: u8,
        limit: Option<u8>,
        format: u8,
        list: VaList,
        rules: format::Rules,
    ) {
        let (to, limit) = (self.word(to), limit.map(|idx| self.word(idx)));
        format::prints(self, self.word(format), list, rules);
        self.write(to, format::printed(self.word(format), list, limit, rules));
    }

    /// What is told after the call.
    fn end(&self, effect: Effect, result: usize) {
        match effect {
            Effect::ReadAfter(idx, extent) => self.access(idx, extent, result, false),
            Effect::WriteAfter(idx, extent) => self.access(idx, extent, result, true),
            Effect::Returns(extent) if result != 0 => {
                let len = extent.len(self, result, result);
                state::note_buffer(result, len, self.function.name);
                self.write(result, len);
            }
            _ => {}
        }
    }

    fn follow(&self) -> Way {
        let is_for_program = matches!(self.function.effects, [Effect::ForProgram, ..]);
        if is_for_program && callers::are_left_alone(self.frame.caller) {
            return Way { address: self.function.real.address(), result: 0 };
        }
        let mut result = None;
        for &effect in self.function.effects {
            result = self.begin(effect).or(result);
        }
        if result.is_none() && !self.function.effects.iter().any(|effect| effect.is_after()) {
            let way = Way { address: self.function.real.address(), result: 0 };
            after_write::go_on();
            return way;
        }
        let result = result.unwrap_or_else(|| self.make());
        after_write::settle();
        for &effect in self.function.effects {
            after_write::behind(|| self.end(effect, result));
        }
        Way { address: 0, result }
    }
}

impl Effect {
    /// Whether the call has to be made here.
    fn is_after(&self) -> bool {
        let is_after = matches!(self, Self::ReadAfter(..) | Self::WriteAfter(..));
        is_after || matches!(self, Self::Returns(_) | Self::Allocates)
    }
}

extern "C-unwind" fn gate(function: &'static Function, frame: &Frame) -> Way {
    Call { function, frame }.follow()
}

extern "C" fn address_of(function: &'static Function) -> usize {
    function.real.address()
}

/// Calls a function with the arguments in registers that another one was called with.
#[unsafe(naked)]
unsafe extern "C-unwind" fn call_with(frame: &Frame, address: usize) -> usize {
    std::arch::naked_asm!(
        ".cfi_startproc",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "mov r11, rsi",
        "mov r10, rdi",
        "movups xmm0, [r10 + 48]",
        "movups xmm1, [r10 + 64]",
        "movups xmm2, [r10 + 80]",
        "movups xmm3, [r10 + 96]",
        "movups xmm4, [r10 + 112]",
        "movups xmm5, [r10 + 128]",
        "movups xmm6, [r10 + 144]",
        "movups xmm7, [r10 + 160]",
        "mov rax, [r10 + 176]",
        "mov rdi, [r10]",
        "mov rsi, [r10 + 8]",
        "mov rdx, [r10 + 16]",
        "mov rcx, [r10 + 24]",
        "mov r8, [r10 + 32]",
        "mov r9, [r10 + 40]",
        "call r11",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "ret",
        ".cfi_endproc",
    )
}

/// Where the functions of the table begin, with their row in a register that no call uses. Outside
/// of the program, and for calls of this library's own, that is the original.
#[unsafe(naked)]
pub(crate) unsafe extern "C-unwind" fn enter() {
    std::arch::naked_asm!(
        ".cfi_startproc",
        "cmp qword ptr [rip + {current}], -1",
        "je 3f",
        "mov r11, [rsp]",
        "sub r11, [rip + {own_start}]",
        "cmp r11, [rip + {own_len}]",
        "jb 3f",
        "lea r11, [rip + {gate}]",
        "jmp 4f",
        "3:",
        "lea r11, [rip + {address_of}]",
        "4:",
        "sub rsp, 200",
        ".cfi_adjust_cfa_offset 200",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "movaps [rsp + 48], xmm0",
        "movaps [rsp + 64], xmm1",
        "movaps [rsp + 80], xmm2",
        "movaps [rsp + 96], xmm3",
        "movaps [rsp + 112], xmm4",
        "movaps [rsp + 128], xmm5",
        "movaps [rsp + 144], xmm6",
        "movaps [rsp + 160], xmm7",
        "mov [rsp + 176], rax",
        "mov rdi, r10",
        "mov rsi, rsp",
        "call r11",
        "test rax, rax",
        "je 2f",
        "mov r11, rax",
        "mov rdi, [rsp]",
        "mov rsi, [rsp + 8]",
        "mov rdx, [rsp + 16]",
        "mov rcx, [rsp + 24]",
        "mov r8, [rsp + 32]",
        "mov r9, [rsp + 40]",
        "movaps xmm0, [rsp + 48]",
        "movaps xmm1, [rsp + 64]",
        "movaps xmm2, [rsp + 80]",
        "movaps xmm3, [rsp + 96]",
        "movaps xmm4, [rsp + 112]",
        "movaps xmm5, [rsp + 128]",
        "movaps xmm6, [rsp + 144]",
        "movaps xmm7, [rsp + 160]",
        "mov rax, [rsp + 176]",
        "add rsp, 200",
        ".cfi_adjust_cfa_offset -200",
        "jmp r11",
        "2:",
        ".cfi_adjust_cfa_offset 200",
        "mov rax, rdx",
        "add rsp, 200",
        ".cfi_adjust_cfa_offset -200",
        "ret",
        ".cfi_endproc",
        current = sym coroutine::CURRENT,
        own_start = sym OWN_START,
        own_len = sym OWN_LEN,
        gate = sym gate,
        address_of = sym address_of,
    )
}

/// Defines the functions of the table. Those that this library and Rust's itself call all the time
/// are `wrapped`: the linker sends calls of the program to another name.
macro_rules! rows {
    ($($($name:ident)+ => [$($effect:expr),* $(,)?];)*) => {
        $($crate::library::rows!(@row [$($name)+] [$($effect),*]);)*
    };
    (@row [$($name:ident)+] $effects:tt) => {
        $($crate::library::rows!(@one $name $name $effects);)+
    };
    (@wrapped $($symbol:ident = $name:ident => $effects:tt;)*) => {
        $($crate::library::rows!(@one $symbol $name $effects);)*
    };
    (@one $symbol:ident $name:ident [$($effect:expr),*]) => {
        const _: () = {
            static FUNCTION: $crate::library::Function = $crate::library::Function::new(
                stringify!($name),
                match std::ffi::CStr::from_bytes_with_nul(
                    concat!(stringify!($name), "\0").as_bytes(),
                ) {
                    Ok(name) => name,
                    Err(_) => panic!("a function has a name"),
                },
                &[$($effect),*],
            );

            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $symbol() {
                std::arch::naked_asm!(
                    "lea r10, [rip + {function}]",
                    "jmp {enter}",
                    function = sym FUNCTION,
                    enter = sym $crate::library::enter,
                )
            }
        };
    };
}
pub(crate) use rows;
