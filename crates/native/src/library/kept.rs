//! What the C library keeps for the program, in a place from which it is put back with the
//! program's variables: the positions of `strtok` and `getopt`, the buffers of `gmtime` and
//! `asctime`, random numbers, the environment, and the time zone.
//!
//! `rand` and `random` are one stream for all threads, which the GNU C library locks: a call is an
//! operation, and the search tries every order of two. A change of the environment copies the array
//! of its strings, and leaves the one alone that the process was started with.

use super::extent::text;
use super::{Call, State, getopt};
use crate::coroutine;
use crate::heap::{self, Origin};
use crate::io;
use crate::machine;
use crate::memory::Part;
use crate::real::original;
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int, c_long, c_uint};
use std::sync::{Mutex, PoisonError};

const RANDOM_LEN: usize = 128;
const ASCII_LEN: usize = 26;
/// No name of a time zone is longer.
const ZONE_LEN: usize = 256;

/// As in `stdlib.h`.
#[repr(C)]
struct RandomData {
    pointers: [usize; 3],
    numbers: [c_int; 3],
    end: usize,
}

/// As in `stdlib.h`.
#[repr(C)]
struct Rand48Data {
    words: [u16; 8],
    a: u64,
}

#[repr(C)]
struct Kept {
    token: *mut c_char,
    time: libc::tm,
    ascii: [c_char; ASCII_LEN],
    random: RandomData,
    random_state: [c_char; RANDOM_LEN],
    rand48: Rand48Data,
    /// `struct hsearch_data`.
    table: [usize; 2],
    options: getopt::Position,
    zone: Zone,
}

/// The time zone, as the last call that asks the environment for it has found it.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
struct Zone {
    is_known: bool,
    /// Whether the environment has one.
    is_set: bool,
    len: usize,
    text: [u8; ZONE_LEN],
}

struct Place(UnsafeCell<Kept>);

// SAFETY: only the OS thread that explores uses it.
unsafe impl Sync for Place {}

// SAFETY: all of it may be zero.
static KEPT: Place = Place(UnsafeCell::new(unsafe { std::mem::zeroed() }));

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
    fn initstate_r(seed: c_uint, state: *mut c_char, len: usize, data: *mut RandomData) -> c_int;
    fn random_r(data: *mut RandomData, result: *mut i32) -> c_int;
    fn srandom_r(seed: c_uint, data: *mut RandomData) -> c_int;
    fn setstate_r(state: *mut c_char, data: *mut RandomData) -> c_int;
}

/// Random numbers begin as if `srand(1)` had been called.
pub(super) fn set_up() {
    let kept = KEPT.0.get();
    // SAFETY: nothing of the program runs yet, and the state is as long as it says.
    unsafe {
        let state = &raw mut (*kept).random_state;
        initstate_r(1, state.cast(), RANDOM_LEN, &raw mut (*kept).random);
    }
}

/// What is saved and put back with the program's variables.
pub(crate) fn parts() -> Vec<Part> {
    let own = [
        (KEPT.0.get() as usize, size_of::<Kept>()),
        (&raw mut environ as usize, size_of::<usize>()),
    ];
    let all = own.into_iter().chain(getopt::variables()).chain(zone_variables());
    all.map(|(address, len)| Part::new(address, len)).collect()
}

/// Where `getopt` goes on.
pub(super) fn options() -> *mut getopt::Position {
    // SAFETY: asks for an address alone.
    unsafe { &raw mut (*KEPT.0.get()).options }
}

/// What people call the thing at an address, if it is kept here.
pub(crate) fn name_of(address: usize) -> Option<String> {
    let kept = KEPT.0.get();
    // SAFETY: asks for addresses alone.
    let places = unsafe {
        [
            (&raw const (*kept).time as usize, size_of::<libc::tm>(), "what gmtime has returned"),
            (&raw const (*kept).ascii as usize, ASCII_LEN, "what asctime has returned"),
        ]
    };
    let is_it = |&&(start, len, _): &&(usize, usize, &str)| (start..start + len).contains(&address);
    let found = places.iter().find(is_it).map(|(_, _, name)| (*name).to_owned());
    found.or_else(|| super::state::name_of(address))
}

/// `strtok`, and `strtok_r` with what is kept.
pub(super) fn strtok(call: &Call<'_>) -> usize {
    call.touch(State::Token, true);
    // SAFETY: asks for an address alone.
    let position = unsafe { &raw mut (*KEPT.0.get()).token };
    token(call, position, false)
}

pub(super) fn strtok_r(call: &Call<'_>) -> usize {
    token(call, call.word(2) as *mut *mut c_char, true)
}

fn token(call: &Call<'_>, position: *mut *mut c_char, is_own: bool) -> usize {
    type Text = *const c_char;
    let real = original!(strtok_r(*mut c_char, Text, *mut *mut c_char) -> *mut c_char);
    if is_own {
        call.write(position as usize, size_of::<usize>());
    }
    call.read(call.word(1), text(call.word(1)));
    // SAFETY: the program gives both strings, and the position is valid.
    unsafe {
        let given = call.word(0) as *mut c_char;
        let start = if given.is_null() { *position } else { given };
        if start.is_null() {
            return 0;
        }
        let found = real(given, call.word(1) as Text, position);
        let end = *position;
        let len = (end as usize).saturating_sub(start as usize);
        call.read(start as usize, len + usize::from(*end == 0));
        // The end of the token is written over a separator, if there is one.
        if !found.is_null() && len > 0 && *end.sub(1) == 0 {
            call.write(end as usize - 1, 1);
        }
        found as usize
    }
}

/// `gmtime` and `localtime`: one buffer for both.
pub(super) fn gmtime(call: &Call<'_>) -> usize {
    let real = original!(gmtime_r(*const i64, *mut libc::tm) -> *mut libc::tm);
    broken_down(call, |from, to| {
        // SAFETY: the program gives a time, and there is room for the result.
        unsafe { real(from, to) }
    })
}

pub(super) fn localtime(call: &Call<'_>) -> usize {
    let real = original!(localtime_r(*const i64, *mut libc::tm) -> *mut libc::tm);
    ask_for_zone(call);
    broken_down(call, |from, to| {
        // SAFETY: as above.
        unsafe { real(from, to) }
    })
}

/// The variables that `tzset` writes, of which a program may have its own copies: address and
/// length.
fn zone_variables() -> impl Iterator<Item = (usize, usize)> {
    let word = size_of::<usize>();
    let all = [(c"tzname", 2 * word), (c"timezone", word), (c"daylight", size_of::<c_int>())];
    all.into_iter().filter_map(|(name, len)| {
        // SAFETY: the name is a string.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
        (address != 0).then_some((address, len))
    })
}

impl Zone {
    const UNKNOWN: Self = Self { is_known: false, is_set: false, len: 0, text: [0; ZONE_LEN] };

    /// That of the environment.
    fn of_environment() -> Self {
        let Some(string) = strings().find(|&string| is_about(string, b"TZ")) else {
            return Self { is_known: true, ..Self::UNKNOWN };
        };
        // SAFETY: the environment has strings.
        let whole = unsafe { CStr::from_ptr(string) }.to_bytes();
        let mut it = Self { is_known: true, is_set: true, len: whole.len(), ..Self::UNKNOWN };
        if whole.len() >= ZONE_LEN {
            io::refuse_always("a time zone with so long a name", "it has at most 250 characters");
        }
        it.text[..whole.len()].copy_from_slice(whole);
        it
    }

    /// Makes it that of the C library, which takes it from the environment alone.
    fn establish(mut self) {
        let real = original!(tzset());
        // SAFETY: the arrays have an end, and nobody else uses the environment meanwhile.
        coroutine::as_host(|| unsafe {
            let given = environ;
            // What is the same as before would leave the variables as they are.
            let mut none = [c"TZ=<MZ>1".as_ptr().cast_mut(), std::ptr::null_mut()];
            environ = none.as_mut_ptr();
            real();
            let text = self.text.as_mut_ptr().cast::<c_char>();
            let own = if self.is_set { text } else { std::ptr::null_mut() };
            let mut strings = [own, std::ptr::null_mut()];
            environ = strings.as_mut_ptr();
            real();
            environ = given;
        });
    }
}

/// A call that is about the zone: one that asks the environment for it, or one that takes it as
/// it is. Whether it is another one than before.
fn use_zone(call: &Call<'_>, asks: bool) -> bool {
    /// What the C library has.
    static ESTABLISHED: Mutex<Zone> = Mutex::new(Zone::UNKNOWN);
    // SAFETY: one thread uses it.
    let zone = unsafe { &mut (*KEPT.0.get()).zone };
    let before = *zone;
    if asks || !before.is_known {
        call.touch(State::Environment, false);
        touch_environ(call, false);
        *zone = Zone::of_environment();
    }
    let is_new = *zone != before;
    // Whoever is first only finds out what is so for all.
    call.touch(State::Zone, is_new && before.is_known);
    let mut established = ESTABLISHED.lock().unwrap_or_else(PoisonError::into_inner);
    if is_new || *established != *zone {
        *established = *zone;
        zone.establish();
    }
    is_new
}

/// `tzset`. The C library writes its variables, which the program may read.
pub(super) fn set_zone(call: &Call<'_>) -> usize {
    if use_zone(call, true) {
        for (address, len) in zone_variables() {
            call.write(address, len);
        }
    }
    0
}

/// What asks the environment for the zone, and what takes the zone as it is.
pub(super) fn ask_for_zone(call: &Call<'_>) {
    use_zone(call, true);
}

pub(super) fn take_zone(call: &Call<'_>) {
    use_zone(call, false);
}

fn broken_down(
    call: &Call<'_>,
    convert: impl FnOnce(*const i64, *mut libc::tm) -> *mut libc::tm,
) -> usize {
    call.touch(State::Time, true);
    call.read(call.word(0), size_of::<i64>());
    // SAFETY: asks for an address alone.
    let to = unsafe { &raw mut (*KEPT.0.get()).time };
    let mut found = std::ptr::null_mut();
    // What is learnt of the zone is kept by the library, and must not be in memory of the program.
    coroutine::as_host(|| found = convert(call.word(0) as *const i64, to));
    call.write(found as usize, size_of::<libc::tm>());
    found as usize
}

pub(super) fn asctime(call: &Call<'_>) -> usize {
    let real = original!(asctime_r(*const libc::tm, *mut c_char) -> *mut c_char);
    call.read(call.word(0), size_of::<libc::tm>());
    call.touch(State::AsciiTime, true);
    // SAFETY: the program gives a time, and there is room for the result.
    let found = unsafe { real(call.word(0) as *const libc::tm, ascii()) };
    call.write(found as usize, text(found as usize));
    found as usize
}

/// It is `asctime(localtime(…))`, with both buffers.
pub(super) fn ctime(call: &Call<'_>) -> usize {
    let real = original!(asctime_r(*const libc::tm, *mut c_char) -> *mut c_char);
    let time = localtime(call);
    if time == 0 {
        return 0;
    }
    call.touch(State::AsciiTime, true);
    // SAFETY: the time was just converted, and there is room for the result.
    let found = unsafe { real(time as *const libc::tm, ascii()) };
    call.write(found as usize, text(found as usize));
    found as usize
}

fn ascii() -> *mut c_char {
    // SAFETY: asks for an address alone.
    unsafe { &raw mut (*KEPT.0.get()).ascii }.cast()
}

/// `hcreate`, `hsearch` and `hdestroy`, on the one table.
pub(super) fn hcreate(call: &Call<'_>) -> usize {
    let real = original!(hcreate_r(usize, *mut [usize; 2]) -> c_int);
    call.touch(State::HashTable, true);
    // SAFETY: the table is zero, or one that was created.
    unsafe { real(call.word(0), &raw mut (*KEPT.0.get()).table) as usize }
}

pub(super) fn hdestroy(call: &Call<'_>) -> usize {
    let real = original!(hdestroy_r(*mut [usize; 2]));
    call.touch(State::HashTable, true);
    // SAFETY: as above.
    unsafe { real(&raw mut (*KEPT.0.get()).table) };
    0
}

pub(super) fn hsearch(call: &Call<'_>) -> usize {
    const ENTER: c_int = 1;
    type Table = *mut [usize; 2];
    let real = original!(hsearch_r(usize, usize, c_int, *mut usize, Table) -> c_int);
    let (key, data, action) = (call.word(0), call.word(1), call.word(2) as c_int);
    call.read(key, text(key));
    call.touch(State::HashTable, action == ENTER);
    let mut found = 0;
    // SAFETY: as above; an entry is two words.
    unsafe { real(key, data, action, &raw mut found, &raw mut (*KEPT.0.get()).table) };
    found
}

/// A thread takes random numbers from the one stream, or sets it.
fn random_data() -> *mut RandomData {
    machine::visible_write(State::Random.address(), 1);
    // A program that relied on the lock inside would be wrong.
    machine::order_nothing();
    // SAFETY: asks for an address alone.
    unsafe { &raw mut (*KEPT.0.get()).random }
}

pub(super) fn random(_: &Call<'_>) -> usize {
    let mut number = 0;
    // SAFETY: the data were initialised before the program began.
    unsafe { random_r(random_data(), &raw mut number) };
    number as usize
}

pub(super) fn srandom(call: &Call<'_>) -> usize {
    // SAFETY: as above.
    unsafe { srandom_r(call.word(0) as c_uint, random_data()) };
    0
}

pub(super) fn initstate(call: &Call<'_>) -> usize {
    let (seed, state, len) = (call.word(0), call.word(1), call.word(2));
    call.write(state, len);
    let data = random_data();
    // SAFETY: as above; the program gives so many bytes. The state begins one number before.
    unsafe {
        let old = (*data).pointers[2] - size_of::<i32>();
        let error = initstate_r(seed as c_uint, state as *mut c_char, len, data);
        if error == 0 { old } else { 0 }
    }
}

pub(super) fn setstate(call: &Call<'_>) -> usize {
    let data = random_data();
    // SAFETY: as above.
    unsafe {
        let old = (*data).pointers[2] - size_of::<i32>();
        let error = setstate_r(call.word(0) as *mut c_char, data);
        if error == 0 { old } else { 0 }
    }
}

/// Declares functions that take numbers from the stream of `drand48`, which is not locked.
macro_rules! rand48 {
    ($($name:ident($type:ty) $real:ident;)*) => {$(
        pub(crate) fn $name() -> $type {
            let real = original!($real(*mut Rand48Data, *mut $type) -> c_int);
            let mut number = <$type>::default();
            // SAFETY: the data may be zero, and there is room for the result.
            unsafe { real(&raw mut (*KEPT.0.get()).rand48, &raw mut number) };
            number
        }
    )*};
}

rand48! {
    drand48(f64) drand48_r;
    lrand48(c_long) lrand48_r;
    mrand48(c_long) mrand48_r;
}

pub(crate) fn srand48(seed: c_long) {
    let real = original!(srand48_r(c_long, *mut Rand48Data) -> c_int);
    // SAFETY: there is room for the data.
    unsafe { real(seed, &raw mut (*KEPT.0.get()).rand48) };
}

pub(crate) fn seed48(words: *mut u16) -> *mut u16 {
    let real = original!(seed48_r(*mut u16, *mut Rand48Data) -> c_int);
    // SAFETY: the program gives three words; those from before are kept behind the new ones.
    unsafe {
        let data = &raw mut (*KEPT.0.get()).rand48;
        real(words, data);
        (&raw mut (*data).words).cast::<u16>().add(3)
    }
}

pub(crate) fn lcong48(words: *mut u16) {
    let real = original!(lcong48_r(*mut u16, *mut Rand48Data) -> c_int);
    // SAFETY: the program gives seven words.
    unsafe { real(words, &raw mut (*KEPT.0.get()).rand48) };
}

/// `lgamma` writes a variable of the library, if the program has that.
pub(super) fn sign_of_gamma(call: &Call<'_>) {
    // SAFETY: the name is a string.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"signgam".as_ptr()) } as usize;
    call.write(address, size_of::<c_int>());
}

/// The program may look at the environment itself, and change it: the variable `environ` is a part
/// of it.
fn touch_environ(call: &Call<'_>, write: bool) {
    let address = &raw const environ as usize;
    match write {
        true => call.write(address, size_of::<usize>()),
        false => call.read(address, size_of::<usize>()),
    }
}

/// The strings of the environment.
fn strings() -> impl Iterator<Item = *mut c_char> {
    // SAFETY: the array ends with a null pointer, and nobody changes it meanwhile.
    unsafe {
        let first = environ;
        (0..).map_while(move |idx| {
            (!first.is_null()).then(|| *first.add(idx)).filter(|text| !text.is_null())
        })
    }
}

/// Whether a string of the environment is about this name.
fn is_about(string: *mut c_char, name: &[u8]) -> bool {
    // SAFETY: the environment has strings.
    let string = unsafe { CStr::from_ptr(string) }.to_bytes();
    string.strip_prefix(name).is_some_and(|rest| rest.first() == Some(&b'='))
}

fn name(call: &Call<'_>) -> &'static [u8] {
    call.read(call.word(0), text(call.word(0)));
    // SAFETY: the program gives a string.
    unsafe { CStr::from_ptr(call.word(0) as *const c_char) }.to_bytes()
}

/// Whether the environment has a variable, for a function of the library.
pub(super) fn has_variable(call: &Call<'_>, name: &[u8]) -> bool {
    call.touch(State::Environment, false);
    touch_environ(call, false);
    strings().any(|string| is_about(string, name))
}

pub(super) fn getenv(call: &Call<'_>) -> usize {
    call.touch(State::Environment, false);
    touch_environ(call, false);
    let name = name(call);
    let found = strings().find(|&string| is_about(string, name));
    found.map_or(0, |string| string as usize + name.len() + 1)
}

fn invalid() -> usize {
    crate::syscall::fail_with(libc::EINVAL) as usize
}

pub(super) fn setenv(call: &Call<'_>) -> usize {
    let (value, replaces) = (call.word(1), call.word(2) as c_int != 0);
    if call.word(0) == 0 {
        return invalid();
    }
    let name = name(call);
    if name.is_empty() || name.contains(&b'=') {
        return invalid();
    }
    call.read(value, text(value));
    call.touch(State::Environment, true);
    if !replaces && strings().any(|string| is_about(string, name)) {
        touch_environ(call, false);
        return 0;
    }
    touch_environ(call, true);
    let len = text(value);
    let string = heap::allocate(name.len() + 1 + len, 1, Origin::Any).cast::<u8>();
    // SAFETY: the block is that long, and the program gives the value.
    unsafe {
        string.copy_from_nonoverlapping(name.as_ptr(), name.len());
        string.add(name.len()).write(b'=');
        string.add(name.len() + 1).copy_from_nonoverlapping(value as *const u8, len);
    }
    change(name, Some(string.cast()));
    0
}

pub(super) fn putenv(call: &Call<'_>) -> usize {
    let string = call.word(0) as *mut c_char;
    let whole = name(call);
    call.touch(State::Environment, true);
    touch_environ(call, true);
    match whole.iter().position(|&byte| byte == b'=') {
        Some(at) => change(&whole[..at], Some(string)),
        None => change(whole, None),
    }
    0
}

pub(super) fn unsetenv(call: &Call<'_>) -> usize {
    if call.word(0) == 0 {
        return invalid();
    }
    let name = name(call);
    if name.is_empty() || name.contains(&b'=') {
        return invalid();
    }
    call.touch(State::Environment, true);
    touch_environ(call, true);
    change(name, None);
    0
}

pub(super) fn clearenv(call: &Call<'_>) -> usize {
    call.touch(State::Environment, true);
    touch_environ(call, true);
    // SAFETY: the program asks for just this.
    unsafe { environ = std::ptr::null_mut() };
    0
}

/// Makes a new array, in memory of the program, with another string of a name or without one.
fn change(name: &[u8], new: Option<*mut c_char>) {
    let n_strings = strings().count();
    let array =
        heap::allocate((n_strings + 2) * size_of::<usize>(), 16, Origin::Any).cast::<*mut c_char>();
    let others = strings().filter(|&string| !is_about(string, name));
    let mut len = 0;
    for string in others.chain(new) {
        // SAFETY: there is room for one string more than before, and the end.
        unsafe { array.add(len).write(string) };
        len += 1;
    }
    // SAFETY: as above.
    unsafe {
        array.add(len).write(std::ptr::null_mut());
        environ = array;
    }
}
