//! POSIX and C11 threads: what they do to mutexes, condition variables and the rest, as operations.
//!
//! The C library's own data structures are initialised but never used: who holds what is in
//! [`Objects`](crate::objects::Objects). Waits with a time limit are in `timed`.
//!
//! What POSIX leaves undefined is a violation: unlocking what one does not hold, destroying what is
//! in use, joining what was joined or detached, ending while holding a lock.

use crate::callbacks;
use crate::cancel;
use crate::coroutine::{self, FloatEnvironment};
use crate::heap;
use crate::invalid;
use crate::io;
use crate::library::{touched, wrote};
use crate::lifecycle;
use crate::machine::{self, Machine};
use crate::memory;
use crate::named;
use crate::names;
use crate::process::{C11Function, Function, Start};
use crate::real::replace;
use crate::robust;
use crate::syscall;
use crate::system::Native;
use crate::thread::Destructor;
use crate::timed;
use crate::try_join;
use crate::unwind;
use mazurka_core::{
    Detail, Effect, ObjectId, Operation as O, System as _, ThreadId, Violation, ViolationKind,
};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ops::Range;
use std::sync::OnceLock;

/// A key of ours, so that those of the C library can be told from it.
const FIRST_KEY: c_uint = 1 << 30;
/// Nothing is ever below it.
const LOWEST_ADDRESS: usize = 4096;
const KIND_OFFSET: usize = 16;
/// What the C library leaves in the place of the kind.
const DESTROYED: c_int = -1;
const RECURSIVE: c_int = 1;
const ERROR_CHECKING: c_int = 2;
const THRD_BUSY: c_int = 1;
pub(crate) const THRD_ERROR: c_int = 2;

/// The object at an address that the program gave.
pub(crate) fn object<T>(pointer: *mut T) -> ObjectId {
    invalid::check(pointer as usize, size_of::<T>().max(1), true);
    if (pointer as usize) < LOWEST_ADDRESS {
        // The C library would crash here, and so does the program.
        // SAFETY: nothing is there, which the handler of the signal tells.
        unsafe { std::ptr::read_volatile(pointer.cast::<u8>()) };
    }
    lifecycle::check(pointer as usize);
    lifecycle::check_contents(pointer);
    access(pointer as usize, false);
    machine::with(|machine| machine.objects.at(pointer as usize))
}

/// Who uses an object reads its first byte, and who makes or destroys one writes it: nothing else
/// would order them with each other, with the end of the block that it is in, and with what writes
/// over it.
#[inline]
fn access(address: usize, write: bool) {
    if !named::is_semaphore(address) {
        callbacks::plain(address, 1, write);
    }
}

/// A new object at an address that the program gave.
pub(crate) fn initialise<T>(pointer: *mut T) -> ObjectId {
    access(pointer as usize, true);
    make(pointer)
}

fn make<T>(pointer: *mut T) -> ObjectId {
    invalid::check(pointer as usize, size_of::<T>().max(1), true);
    lifecycle::clear(pointer as usize);
    machine::with(|machine| machine.objects.initialise(pointer as usize))
}

fn owner(object: ObjectId) -> Option<ThreadId> {
    machine::with(|machine| machine.objects.state(object).owner)
}

pub(crate) fn is_mine(object: ObjectId) -> bool {
    owner(object) == Some(machine::current())
}

/// Whether a mutex is recursive, checks errors, or neither, as the C library keeps it.
fn kind<T>(mutex: *mut T) -> c_int {
    raw_kind(mutex) & 3
}

pub(crate) fn raw_kind<T>(mutex: *mut T) -> c_int {
    if coroutine::in_program() {
        invalid::check_pointer(mutex as usize, 1, false);
    }
    // SAFETY: the program gives a mutex of the C library.
    unsafe { *mutex.byte_add(KIND_OFFSET).cast::<c_int>() }
}

/// A mutex must not be used once it is destroyed.
fn check_alive<T>(mutex: *mut T) {
    if raw_kind(mutex) == DESTROYED {
        lifecycle::destroyed(mutex as usize);
    }
}

/// Something is destroyed: in no moment of this may it be in use.
pub(crate) fn destroy<T>(pointer: *mut T) {
    let it = object(pointer);
    follow_uses(it);
    let (holder, sleeper) = machine::with(|machine| {
        let state = machine.objects.state(it);
        let holder = state.owner.or(state.readers.first().copied());
        let sleeper = state.sleepers.iter().next();
        (holder, sleeper.or_else(|| machine.waits_for_permit(it)))
    });
    let name = |thread| Native.thread_name(thread).into_owned();
    if let Some(holder) = holder {
        misuse(pointer as usize, &format!("is destroyed while {} holds it", name(holder)));
    }
    if let Some(sleeper) = sleeper {
        misuse(pointer as usize, &format!("is destroyed while {} sleeps on it", name(sleeper)));
    }
    // Who uses it beside this may also find it destroyed, which says more. A block may have ended.
    if heap::place(pointer as usize).is_some() {
        access(pointer as usize, true);
    }
    make(pointer);
}

/// Comes after all uses of an object so far and before all later ones, and teaches nothing: an
/// attempt to take it that fails.
fn follow_uses(it: ObjectId) {
    machine::visible(O::TryAcquire(it));
    machine::with(|machine| {
        let me = machine::current();
        let was_free = machine.effect != Effect::Failed;
        machine.effect = Effect::Failed;
        let state = machine.objects.state(it);
        if was_free && state.owner == Some(me) {
            state.owner = None;
        }
    });
}

/// The same for what the C library leaves no mark in.
pub(crate) fn destroy_for_good<T>(pointer: *mut T) {
    destroy(pointer);
    lifecycle::mark(pointer as usize);
}

/// Ends the running thread because of what it does to something.
fn misuse(address: usize, what: &str) -> ! {
    let name = machine::name_of(address);
    misused(format!("`{name}` {what}"))
}

fn misused(message: String) -> ! {
    machine::fail_with(Violation::new(ViolationKind::Assertion, message).with(Detail::Misuse))
}

/// Whether something is a variable of the library that unwinds stacks.
fn is_unwinder_s<T>(pointer: *mut T) -> bool {
    static RANGE: OnceLock<Option<Range<usize>>> = OnceLock::new();
    RANGE.get_or_init(memory::unwinder).as_ref().is_some_and(|it| it.contains(&(pointer as usize)))
}

fn lock<T>(mutex: *mut T) -> c_int {
    if is_unwinder_s(mutex) {
        return 0;
    }
    check_alive(mutex);
    let it = object(mutex);
    if is_mine(it) {
        match kind(mutex) {
            RECURSIVE => {
                machine::with(|machine| machine.objects.state(it).depth += 1);
                return 0;
            }
            ERROR_CHECKING => return libc::EDEADLK,
            _ => {}
        }
    }
    machine::visible(O::Acquire(it));
    // Others may have destroyed it while the thread waited for it.
    check_alive(mutex);
    robust::taken(mutex, it)
}

/// Takes a mutex if it is free; `failure` is what is said if it is not.
pub(crate) fn try_lock<T>(mutex: *mut T, failure: c_int) -> c_int {
    check_alive(mutex);
    let it = object(mutex);
    if is_mine(it) {
        match kind(mutex) {
            RECURSIVE => {
                machine::with(|machine| machine.objects.state(it).depth += 1);
                return 0;
            }
            ERROR_CHECKING if failure == libc::ETIMEDOUT => return libc::EDEADLK,
            _ if machine::visible(O::TryAcquire(it)) => return 0,
            _ => return failure,
        }
    }
    let is_taken = timed::attempt(O::TryAcquire(it), O::Acquire(it));
    check_alive(mutex);
    if is_taken { robust::taken(mutex, it) } else { failure }
}

fn unlock<T>(mutex: *mut T) -> c_int {
    if is_unwinder_s(mutex) {
        return 0;
    }
    check_alive(mutex);
    let it = object(mutex);
    if !is_mine(it) {
        match kind(mutex) {
            RECURSIVE | ERROR_CHECKING => return libc::EPERM,
            _ => not_held(mutex as usize, "unlocked"),
        }
    }
    if !is_nested(it) {
        machine::visible(O::Release(it));
        robust::given_back(it);
    }
    0
}

/// Whether the holder of a lock has taken it more than once; it is then once less.
fn is_nested(it: ObjectId) -> bool {
    machine::with(|machine| {
        let depth = &mut machine.objects.state(it).depth;
        let is_nested = *depth > 0;
        *depth -= u32::from(is_nested);
        is_nested
    })
}

fn lock_stream(stream: *mut libc::FILE) {
    let it = object(stream);
    match is_mine(it) {
        true => machine::with(|machine| machine.objects.state(it).depth += 1),
        false => drop(machine::visible(O::Acquire(it))),
    }
}

pub(crate) fn not_held(address: usize, what: &str) -> ! {
    let thread = names::current_thread();
    misuse(address, &format!("is {what} by {thread}, which does not hold it"))
}

/// Gives a mutex back and goes to sleep on a condition variable.
pub(crate) fn fall_asleep<T, U>(condvar: *mut T, mutex: *mut U) -> (ObjectId, ObjectId) {
    let place = condvar as usize;
    let (address, condvar, mutex) = (mutex as usize, object(condvar), object(mutex));
    if !is_mine(mutex) {
        not_held(address, "given to a wait");
    }
    machine::visible(O::Wait { condvar, mutex });
    lifecycle::check(place);
    (condvar, mutex)
}

/// Wakes some of those who sleep on a condition variable.
fn notify<T>(condvar: *mut T, operation: fn(ObjectId) -> O) {
    machine::visible(operation(object(condvar)));
    // Others may have freed or destroyed it while the thread was on its way to it.
    object(condvar);
}

fn wait<T, U>(condvar: *mut T, mutex: *mut U) -> c_int {
    cancellable_wait(mutex, || {
        let (condvar, it) = fall_asleep(condvar, mutex);
        machine::visible(O::Reacquire { condvar, mutex: it });
        robust::taken(mutex, it)
    })
}

/// Waits on a condition variable. Who is cancelled meanwhile has the mutex again when it unwinds.
pub(crate) fn cancellable_wait<U>(mutex: *mut U, wait: impl FnOnce() -> c_int) -> c_int {
    cancel::wait(
        wait,
        || {
            let it = object(mutex);
            if !is_mine(it) {
                not_held(mutex as usize, "given to a wait");
            }
            machine::visible(O::Release(it));
        },
        || {
            machine::visible(O::Acquire(object(mutex)));
        },
    )
}

fn create(start: Start, stack_size: Option<usize>) -> libc::pthread_t {
    let me = machine::current();
    let size = stack_size.unwrap_or_else(|| coroutine::default_sizes().1);
    if size > coroutine::MAX_SIZE {
        let why = format!("it has at most {} MB", coroutine::MAX_SIZE >> 20);
        io::refuse_always(&format!("a stack of {} MB", size >> 20), &why);
    }
    let child = machine::with(|machine| machine.announce_child(me, start))
        .unwrap_or_else(|why| io::refuse_always("another thread", &why));
    machine::with(|machine| {
        let scope = std::mem::take(&mut machine.threads[me.index()].next_scope);
        machine.threads[child.index()].scope = scope;
        machine.threads[child.index()].stack_size = size;
        machine.threads[child.index()].blocked = machine.threads[me.index()].blocked;
        machine.threads[child.index()].floats = FloatEnvironment::now();
    });
    machine::visible(O::Spawn(child));
    machine::with(|machine| machine.threads[child.index()].handle())
}

/// The size that attributes ask for, if there are any.
fn stack_size(attributes: *const libc::pthread_attr_t) -> Option<usize> {
    let mut size = 0;
    let is_there = !attributes.is_null();
    // SAFETY: the program gives attributes or nothing.
    let error =
        is_there.then(|| unsafe { libc::pthread_attr_getstacksize(attributes, &raw mut size) });
    (error == Some(0) && size > 0).then_some(size)
}

/// Waits for a thread and gives its result, or the error that POSIX wants.
#[inline]
pub(crate) fn join(handle: libc::pthread_t) -> Result<usize, c_int> {
    let child = thread_to_join(handle)?;
    let wait = || {
        claim(child, "joined");
        machine::wait_for_end(child);
    };
    cancel::wait(wait, || (), || ());
    Ok(machine::with(|machine| machine.threads[child.index()].result))
}

/// The thread that a handle is for, if the running one can join it.
pub(crate) fn thread_to_join(handle: libc::pthread_t) -> Result<ThreadId, c_int> {
    let child = named_thread(handle, "joined");
    if child == machine::current() {
        return Err(libc::EDEADLK);
    }
    Ok(child)
}

fn detach(handle: libc::pthread_t) -> c_int {
    claim(named_thread(handle, "detached"), "detached");
    0
}

/// The thread that a handle names. One that names none, such as a variable without a value, is
/// undefined behaviour, and the C library crashes more often than not.
fn named_thread(handle: libc::pthread_t, how: &str) -> ThreadId {
    machine::with(|machine| machine.thread_of(handle))
        .unwrap_or_else(|| misused(format!("{handle:#x} is {how}, which is no thread")))
}

/// A thread is joined or detached once.
pub(crate) fn claim(thread: ThreadId, how: &'static str) {
    let before = machine::with(|machine| machine.threads[thread.index()].claimed.replace(how));
    if let Some(before) = before {
        let name = Native.thread_name(thread).into_owned();
        misused(format!("thread {name} is {how} after it was {before}"))
    }
}

/// Makes a semaphore with so many permits.
pub(crate) fn create_semaphore(pointer: *mut libc::sem_t, permits: c_uint) {
    set_permits(initialise(pointer), permits);
}

/// The same for one with a name, whose memory is the system's, and not the program's.
pub(crate) fn create_named_semaphore(pointer: *mut libc::sem_t, permits: c_uint) {
    set_permits(make(pointer), permits);
}

fn set_permits(it: ObjectId, permits: c_uint) {
    machine::with(|machine| {
        let state = machine.objects.state(it);
        state.permits = permits;
        state.count = permits;
        state.is_initialised = true;
    });
}

/// A semaphore, and the permits it was created with.
pub(crate) fn semaphore(pointer: *mut libc::sem_t) -> (ObjectId, u32) {
    let it = object(pointer);
    let known = machine::with(|machine| {
        let state = machine.objects.state(it);
        state.is_initialised.then_some(state.permits)
    });
    let permits = known.unwrap_or_else(|| adopt_semaphore(pointer, it));
    (it, permits)
}

/// The permits of a semaphore that was initialised before the program was explored.
fn adopt_semaphore(pointer: *mut libc::sem_t, it: ObjectId) -> u32 {
    if !lifecycle::is_early(pointer as usize) {
        lifecycle::uninitialised(pointer as usize);
    }
    // SAFETY: the C library has initialised it, and keeps the permits there.
    let permits = unsafe { *pointer.cast::<u32>() };
    machine::with(|machine| {
        let state = machine.objects.state(it);
        (state.permits, state.count, state.is_initialised) = (permits, permits, true);
    });
    permits
}

/// A barrier. One that was initialised before the program was explored is as the C library has left
/// it.
pub(crate) fn barrier(pointer: *mut libc::pthread_barrier_t) -> ObjectId {
    const PARTIES_OFFSET: usize = 8;
    let it = object(pointer);
    if machine::with(|machine| machine.objects.state(it).parties) == 0 {
        // SAFETY: the program gives a barrier of the C library.
        let parties = unsafe { *pointer.byte_add(PARTIES_OFFSET).cast::<u32>() };
        if !lifecycle::is_early(pointer as usize) || parties == 0 {
            lifecycle::uninitialised(pointer as usize);
        }
        machine::with(|machine| machine.objects.state(it).parties = parties);
    }
    it
}

/// A spin lock, which the same holds for.
fn spin_lock(lock: *mut c_void) -> ObjectId {
    let it = object(lock);
    let is_initialised = machine::with(|machine| machine.objects.state(it).is_initialised);
    if !is_initialised && !lifecycle::is_early(lock as usize) {
        lifecycle::uninitialised(lock as usize);
    }
    it
}

/// Calls `function` unless it was called; a thread that comes meanwhile waits. If it ends by an
/// exception, the next one calls it again.
fn once(pointer: *mut c_int, function: unsafe extern "C-unwind" fn()) {
    struct Turn(ObjectId);
    impl Drop for Turn {
        fn drop(&mut self) {
            machine::visible(O::Release(self.0));
        }
    }
    if is_unwinder_s(pointer) {
        let real = crate::real::original!(
            pthread_once(*mut c_int, unsafe extern "C-unwind" fn()) -> c_int
        );
        // SAFETY: the unwinder wanted to call just this; nothing of it is put back.
        unsafe { real(pointer, function) };
        return;
    }
    let it = object(pointer);
    machine::visible(O::Acquire(it));
    let _turn = Turn(it);
    if !machine::with(|machine| machine.objects.state(it).done) {
        // SAFETY: the program wanted just this called.
        unsafe { function() };
        machine::with(|machine| machine.objects.state(it).done = true);
    }
}

/// The place of a key in our tables.
fn key_idx(key: c_uint) -> Option<usize> {
    let idx = key.checked_sub(FIRST_KEY)? as usize;
    machine::with(|machine| idx < machine.keys.len()).then_some(idx)
}

fn set_value(key: c_uint, value: *const c_void) -> c_int {
    let Some(idx) = key_idx(key) else { return libc::EINVAL };
    let me = machine::current();
    machine::with(|machine| {
        let values = &mut machine.threads[me.index()].values;
        if values.len() <= idx {
            values.resize(idx + 1, 0);
        }
        values[idx] = value as usize;
    });
    0
}

fn value(key: c_uint) -> *mut c_void {
    let Some(idx) = key_idx(key) else { return std::ptr::null_mut() };
    let me = machine::current();
    let value = machine::with(|machine| machine.threads[me.index()].values.get(idx).copied());
    value.unwrap_or(0) as *mut c_void
}

fn new_key(destructor: Option<Destructor>) -> c_uint {
    machine::with(|machine| {
        machine.keys.push(destructor);
        FIRST_KEY + machine.keys.len() as c_uint - 1
    })
}

unsafe extern "C" {
    fn pthread_attr_getdetachstate(
        attributes: *const libc::pthread_attr_t,
        state: *mut c_int,
    ) -> c_int;
}

/// Defines functions that initialise something, while a thread of the program is being explored;
/// before, it is noted that the originals have.
macro_rules! initialisers {
    ($(fn $name:ident($pointer:ident: $pointer_type:ty $(, $arg:ident: $type:ty)*) -> $ret:ty
       $body:block)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name($pointer: $pointer_type $(, $arg: $type)*) -> $ret {
            if !coroutine::in_program() {
                lifecycle::note_early($pointer as usize);
                let real = crate::real::original!($name($pointer_type $(, $type)*) -> $ret);
                // SAFETY: the caller wanted to call just this.
                return unsafe { real($pointer $(, $arg)*) };
            }
            crate::spin::spoil();
            $body
        }
    )*};
}

initialisers! {
    fn pthread_spin_init(lock: *mut c_void, _shared: c_int) -> c_int {
        let it = initialise(lock);
        machine::with(|machine| machine.objects.state(it).is_initialised = true);
        0
    }

    fn sem_init(pointer: *mut libc::sem_t, _shared: c_int, count: c_uint) -> c_int {
        if count > c_int::MAX as c_uint {
            return syscall::fail_with(libc::EINVAL) as c_int;
        }
        create_semaphore(pointer, count);
        0
    }

    fn pthread_barrier_init(
        pointer: *mut libc::pthread_barrier_t,
        _attributes: *const c_void,
        parties: c_uint
    ) -> c_int {
        if parties == 0 {
            return libc::EINVAL;
        }
        let it = initialise(pointer);
        machine::with(|machine| machine.objects.state(it).parties = parties);
        0
    }
}

replace! {
    fn pthread_create(
        to: *mut libc::pthread_t,
        attributes: *const libc::pthread_attr_t,
        function: Function,
        argument: *mut c_void,
    ) -> c_int {
        if machine::with(Machine::refuses_thread) {
            return libc::EAGAIN;
        }
        let handle = create(Start::Function(function, argument), stack_size(attributes));
        // SAFETY: the program wants it there, and gives attributes or nothing.
        unsafe {
            wrote!(pthread_create, to);
            *to = handle;
            let mut state = libc::PTHREAD_CREATE_JOINABLE;
            if !attributes.is_null() {
                pthread_attr_getdetachstate(attributes, &raw mut state);
            }
            if state == libc::PTHREAD_CREATE_DETACHED {
                detach(handle);
            }
        }
        0
    }

    fn pthread_join(handle: libc::pthread_t, to: *mut *mut c_void) -> c_int {
        try_join::answer(join(handle), to)
    }

    fn pthread_detach(handle: libc::pthread_t) -> c_int {
        detach(handle)
    }

    fn pthread_setname_np(handle: libc::pthread_t, name: *const c_char) -> c_int {
        // SAFETY: the program gives a string.
        let text = unsafe { CStr::from_ptr(name) };
        touched!(pthread_setname_np, name, text.to_bytes_with_nul().len(), false);
        let name = text.to_string_lossy().into_owned();
        machine::with(|machine| match machine.thread_of(handle) {
            Some(thread) => {
                machine.threads[thread.index()].label = Some(name);
                0
            }
            None => libc::ESRCH,
        })
    }

    /// At most 15 bytes, as the kernel has room for.
    fn pthread_getname_np(handle: libc::pthread_t, to: *mut c_char, len: usize) -> c_int {
        let Some(thread) = machine::with(|machine| machine.thread_of(handle)) else {
            return libc::ESRCH;
        };
        let name = Native.thread_name(thread).into_owned();
        let name = &name.as_bytes()[..name.len().min(15)];
        if len <= name.len() {
            return libc::ERANGE;
        }
        // SAFETY: the program has room for so much there.
        unsafe {
            std::ptr::copy_nonoverlapping(name.as_ptr(), to.cast(), name.len());
            to.add(name.len()).write(0);
        }
        touched!(pthread_getname_np, to, name.len() + 1, true);
        0
    }

    fn pthread_atfork(
        _prepare: Option<unsafe extern "C-unwind" fn()>,
        _parent: Option<unsafe extern "C-unwind" fn()>,
        _child: Option<unsafe extern "C-unwind" fn()>,
    ) -> c_int {
        // There will be no fork.
        0
    }

    /// As the thread's stack is: there is no other.
    fn pthread_getattr_np(
        handle: libc::pthread_t,
        attributes: *mut libc::pthread_attr_t,
    ) -> c_int {
        let Some(thread) = machine::with(|machine| machine.thread_of(handle)) else {
            return libc::ESRCH;
        };
        let size = coroutine::size(thread.index());
        let bottom = coroutine::top(thread.index()) - size;
        // SAFETY: the program wants the attributes there.
        unsafe {
            libc::pthread_attr_init(attributes);
            libc::pthread_attr_setstack(attributes, bottom as *mut c_void, size)
        }
    }

    fn pthread_exit(result: *mut c_void) {
        unwind::end_with(result as usize)
    }

    fn pthread_mutex_init(
        mutex: *mut libc::pthread_mutex_t,
        attributes: *const libc::pthread_mutexattr_t,
    ) -> c_int {
        initialise(mutex);
        let real = crate::real::original!(pthread_mutex_init(
            *mut libc::pthread_mutex_t,
            *const libc::pthread_mutexattr_t
        ) -> c_int);
        // SAFETY: the program wanted to call just this; it leaves the kind where we look for it.
        unsafe { real(mutex, attributes) }
    }

    fn pthread_mutex_destroy(mutex: *mut libc::pthread_mutex_t) -> c_int {
        check_alive(mutex);
        destroy(mutex);
        let real = crate::real::original!(
            pthread_mutex_destroy(*mut libc::pthread_mutex_t) -> c_int
        );
        // SAFETY: the program wanted to call just this; it leaves a mark where we look for it.
        unsafe { real(mutex) }
    }

    fn pthread_mutex_lock(mutex: *mut libc::pthread_mutex_t) -> c_int {
        lock(mutex)
    }

    fn pthread_mutex_trylock(mutex: *mut libc::pthread_mutex_t) -> c_int {
        try_lock(mutex, libc::EBUSY)
    }

    fn pthread_mutex_unlock(mutex: *mut libc::pthread_mutex_t) -> c_int {
        unlock(mutex)
    }

    fn pthread_spin_destroy(lock: *mut c_void) -> c_int {
        spin_lock(lock);
        destroy_for_good(lock);
        0
    }

    fn pthread_spin_lock(lock: *mut c_void) -> c_int {
        machine::visible(O::Acquire(spin_lock(lock)));
        0
    }

    fn pthread_spin_trylock(lock: *mut c_void) -> c_int {
        if machine::visible(O::TryAcquire(spin_lock(lock))) { 0 } else { libc::EBUSY }
    }

    fn pthread_spin_unlock(lock: *mut c_void) -> c_int {
        let it = spin_lock(lock);
        if !is_mine(it) {
            not_held(lock as usize, "unlocked");
        }
        machine::visible(O::Release(it));
        0
    }

    fn pthread_cond_init(condvar: *mut libc::pthread_cond_t, _attributes: *const c_void) -> c_int {
        initialise(condvar);
        // SAFETY: the program gives room for one. Nobody uses what is in it.
        unsafe { condvar.write_bytes(0, 1) };
        0
    }

    fn pthread_cond_destroy(condvar: *mut libc::pthread_cond_t) -> c_int {
        destroy_for_good(condvar);
        0
    }

    fn pthread_cond_wait(
        condvar: *mut libc::pthread_cond_t,
        mutex: *mut libc::pthread_mutex_t,
    ) -> c_int {
        wait(condvar, mutex)
    }

    fn pthread_cond_signal(condvar: *mut libc::pthread_cond_t) -> c_int {
        notify(condvar, O::NotifyOne);
        0
    }

    fn pthread_cond_broadcast(condvar: *mut libc::pthread_cond_t) -> c_int {
        notify(condvar, O::NotifyAll);
        0
    }

    fn sem_destroy(pointer: *mut libc::sem_t) -> c_int {
        semaphore(pointer);
        destroy_for_good(pointer);
        0
    }

    fn sem_wait(pointer: *mut libc::sem_t) -> c_int {
        let (semaphore, permits) = semaphore(pointer);
        let wait = || {
            machine::visible(O::SemaphoreAcquire { semaphore, permits });
        };
        cancel::wait(wait, || (), || ());
        0
    }

    fn sem_trywait(pointer: *mut libc::sem_t) -> c_int {
        let (semaphore, permits) = semaphore(pointer);
        if machine::visible(O::SemaphoreTryAcquire { semaphore, permits }) {
            return 0;
        }
        // SAFETY: every thread has one.
        unsafe { *libc::__errno_location() = libc::EAGAIN };
        -1
    }

    fn sem_post(pointer: *mut libc::sem_t) -> c_int {
        machine::visible(O::SemaphoreRelease(semaphore(pointer).0));
        0
    }

    /// Ordered like an attempt to take a permit, and takes none.
    fn sem_getvalue(pointer: *mut libc::sem_t, to: *mut c_int) -> c_int {
        let (semaphore, permits) = semaphore(pointer);
        let taken = machine::visible(O::SemaphoreTryAcquire { semaphore, permits });
        let count = machine::with(|machine| {
            machine.effect = Effect::Failed;
            let count = &mut machine.objects.state(semaphore).count;
            *count += u32::from(taken);
            *count
        });
        wrote!(sem_getvalue, to);
        // SAFETY: the program wants it there.
        unsafe { *to = count as c_int };
        0
    }

    fn pthread_barrier_destroy(pointer: *mut libc::pthread_barrier_t) -> c_int {
        let barrier = barrier(pointer);
        let other = machine::with(|machine| machine.other_meeting(barrier));
        if let Some(other) = other {
            follow_uses(other);
        }
        destroy_for_good(pointer);
        // The threads of a complete round do not wait any more.
        let n_waiting = machine::with(|machine| {
            let parties = machine.objects.state(barrier).parties.max(1);
            let mut n_arrivals = |it: ObjectId| machine.objects.state(it).arrived;
            (n_arrivals(barrier) + other.map_or(0, n_arrivals)) % parties
        });
        if n_waiting > 0 {
            misuse(pointer as usize, &format!("is destroyed while {n_waiting} of its round wait"));
        }
        0
    }

    fn pthread_once(pointer: *mut c_int, function: unsafe extern "C-unwind" fn()) -> c_int {
        once(pointer, function);
        0
    }

    fn pthread_key_create(to: *mut c_uint, destructor: Option<Destructor>) -> c_int {
        let key = new_key(destructor);
        wrote!(pthread_key_create, to);
        // SAFETY: the program wants it there.
        unsafe { *to = key };
        0
    }

    fn pthread_key_delete(key: c_uint) -> c_int {
        match key_idx(key) {
            Some(idx) => machine::with(|machine| machine.keys[idx] = None),
            None => return libc::EINVAL,
        }
        0
    }

    fn pthread_getspecific(key: c_uint) -> *mut c_void {
        value(key)
    }

    fn pthread_setspecific(key: c_uint, value: *const c_void) -> c_int {
        set_value(key, value)
    }

    fn thrd_create(
        to: *mut libc::pthread_t,
        function: C11Function,
        argument: *mut c_void,
    ) -> c_int {
        let handle = create(Start::C11(function, argument), None);
        wrote!(thrd_create, to);
        // SAFETY: the program wants it there.
        unsafe { *to = handle };
        0
    }

    fn thrd_join(handle: libc::pthread_t, to: *mut c_int) -> c_int {
        let Ok(result) = join(handle) else { return THRD_ERROR };
        if !to.is_null() {
            wrote!(thrd_join, to);
            // SAFETY: the program wants it there.
            unsafe { *to = result as c_int };
        }
        0
    }

    fn thrd_detach(handle: libc::pthread_t) -> c_int {
        detach(handle)
    }

    fn thrd_exit(result: c_int) {
        unwind::end_with(result as usize)
    }

    fn mtx_init(mutex: *mut c_void, kind: c_int) -> c_int {
        initialise(mutex);
        let real = crate::real::original!(mtx_init(*mut c_void, c_int) -> c_int);
        // SAFETY: the program wanted to call just this; it leaves the kind where we look for it.
        unsafe { real(mutex, kind) }
    }

    fn mtx_destroy(mutex: *mut c_void) {
        destroy_for_good(mutex);
    }

    fn mtx_lock(mutex: *mut c_void) -> c_int {
        if lock(mutex) == 0 { 0 } else { THRD_ERROR }
    }

    fn mtx_trylock(mutex: *mut c_void) -> c_int {
        if try_lock(mutex, libc::EBUSY) == 0 { 0 } else { THRD_BUSY }
    }

    fn mtx_unlock(mutex: *mut c_void) -> c_int {
        if unlock(mutex) == 0 { 0 } else { THRD_ERROR }
    }

    fn cnd_init(condvar: *mut c_void) -> c_int {
        initialise(condvar);
        0
    }

    fn cnd_destroy(condvar: *mut c_void) {
        destroy_for_good(condvar);
    }

    fn cnd_wait(condvar: *mut c_void, mutex: *mut c_void) -> c_int {
        wait(condvar, mutex)
    }

    fn cnd_signal(condvar: *mut c_void) -> c_int {
        notify(condvar, O::NotifyOne);
        0
    }

    fn cnd_broadcast(condvar: *mut c_void) -> c_int {
        notify(condvar, O::NotifyAll);
        0
    }

    fn call_once(pointer: *mut c_int, function: unsafe extern "C-unwind" fn()) {
        once(pointer, function);
    }

    fn tss_create(to: *mut c_uint, destructor: Option<Destructor>) -> c_int {
        let key = new_key(destructor);
        wrote!(tss_create, to);
        // SAFETY: the program wants it there.
        unsafe { *to = key };
        0
    }

    /// A stream is locked as often as its holder likes. What is printed meanwhile by others does
    /// not wait for it: it is shown nowhere.
    fn flockfile(stream: *mut libc::FILE) {
        lock_stream(stream);
    }

    fn ftrylockfile(stream: *mut libc::FILE) -> c_int {
        let it = object(stream);
        if is_mine(it) {
            machine::with(|machine| machine.objects.state(it).depth += 1);
            return 0;
        }
        c_int::from(!machine::visible(O::TryAcquire(it)))
    }

    fn funlockfile(stream: *mut libc::FILE) {
        let it = object(stream);
        if !is_mine(it) {
            not_held(stream as usize, "unlocked");
        }
        if !is_nested(it) {
            machine::visible(O::Release(it));
        }
    }

    fn tss_get(key: c_uint) -> *mut c_void {
        value(key)
    }

    fn tss_delete(key: c_uint) {
        if let Some(idx) = key_idx(key) {
            machine::with(|machine| machine.keys[idx] = None);
        }
    }

    fn tss_set(key: c_uint, value: *const c_void) -> c_int {
        if set_value(key, value) == 0 { 0 } else { THRD_ERROR }
    }
}
