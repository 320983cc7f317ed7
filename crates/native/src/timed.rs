//! Waits that end by themselves, and locks that are only tried for.
//!
//! With `--time virtual` a wait ends when its time has come, see `clock`. With `--time any`, which
//! the rest of this is about, time has no length: a wait with a time limit may expire at any
//! moment, and every moment is explored. For a lock or a semaphore that is the same as trying at
//! that moment: who waits and then gets it might as well have come later. For a condition variable
//! it is an operation of its own, `Expire`, which stops sleeping unless the thread was woken
//! before.
//!
//! A loop around such a wait could go on for ever without anybody else moving. So a thread fails in
//! vain only so many times in one execution
//! ([`Machine::retries`](crate::machine::Machine::retries)); from then on it waits *patiently*
//! until it gets what it wants. Where patient threads are all that is left, the execution is over,
//! and no deadlock. The coverage says so if it came to that, with the number of failures after
//! which it did. With virtual time a wait with a limit has another number than a lock that is tried
//! for; where both came to theirs, the lower one holds for all.

use crate::cancel;
use crate::clock;
use crate::machine::{self, Machine};
use crate::process::{self, wait_until};
use crate::pthread::{self, THRD_ERROR};
use crate::real::replace;
use crate::robust;
use crate::rwlock;
use mazurka_core::{ObjectId, Operation as O};
use std::ffi::{c_int, c_void};

type Time = *const libc::timespec;

const THRD_TIMED_OUT: c_int = 4;

/// Whether the running thread may still fail in vain. If not, it is patient from here on.
pub(crate) fn may_fail() -> bool {
    let me = machine::current().index();
    machine::with(|machine| {
        let may_fail = machine.threads[me].n_in_vain < machine.retries;
        machine.threads[me].is_patient = !may_fail;
        if !may_fail {
            machine.suppose_patience(machine.retries);
        }
        may_fail
    })
}

impl Machine {
    /// A thread is patient after having failed so often.
    pub(crate) fn suppose_patience(&mut self, n_failures: u32) {
        let fewest = self.patience.map_or(n_failures, |n| n.min(n_failures));
        self.patience = Some(fewest);
    }
}

/// It has failed once more, or got what it was patient for.
pub(crate) fn conclude(has_failed: bool) {
    let me = machine::current().index();
    machine::with(|machine| {
        machine.threads[me].n_in_vain += u32::from(has_failed);
        machine.threads[me].is_patient = false;
    });
}

/// Takes something if it is there, and waits for it after having failed too often. Whether it got
/// it.
pub(crate) fn attempt(tried: O, waited: O) -> bool {
    let has_got = match may_fail() {
        true => machine::visible(tried),
        false => machine::visible(waited),
    };
    conclude(!has_got);
    has_got
}

/// The same until a point in time, which has come if it fails.
fn attempt_until(until: Time, tried: O, waited: O) -> c_int {
    if clock::is_virtual() {
        let deadline = process::deadline(until);
        let object = waited.object().expect("what is waited for is an object");
        while !machine::visible(tried) {
            if clock::await_until(object, waited, deadline) {
                return libc::ETIMEDOUT;
            }
        }
        return 0;
    }
    if attempt(tried, waited) {
        return 0;
    }
    wait_until(until);
    libc::ETIMEDOUT
}

/// Sleeps in the queue of a futex until it is woken or time is up. Whether it was woken.
pub(crate) fn resume(queue: ObjectId) -> bool {
    let has_expired = match may_fail() {
        true => machine::visible(O::Expire(queue)),
        false => !machine::visible(O::FutexResume(queue)),
    };
    machine::order_nothing();
    conclude(has_expired);
    let me = machine::current().index();
    machine::with(|machine| machine.threads[me].sleeps_at = 0);
    !has_expired
}

fn lock<T>(mutex: *mut T, until: Time) -> c_int {
    if clock::is_virtual() {
        let deadline = process::deadline(until);
        loop {
            let error = pthread::try_lock(mutex, libc::ETIMEDOUT);
            let it = pthread::object(mutex);
            if error != libc::ETIMEDOUT || clock::await_until(it, O::Acquire(it), deadline) {
                return error;
            }
        }
    }
    let error = pthread::try_lock(mutex, libc::ETIMEDOUT);
    if error == libc::ETIMEDOUT {
        wait_until(until);
    }
    error
}

fn take_permit(pointer: *mut libc::sem_t, until: Time) -> c_int {
    let (semaphore, permits) = pthread::semaphore(pointer);
    let tried = O::SemaphoreTryAcquire { semaphore, permits };
    let waited = O::SemaphoreAcquire { semaphore, permits };
    match cancel::wait(|| attempt_until(until, tried, waited), || (), || ()) {
        0 => 0,
        error => {
            // SAFETY: every thread has one.
            unsafe { *libc::__errno_location() = error };
            -1
        }
    }
}

/// Sleeps until it is woken or time is up.
fn sleep<T, U>(condvar: *mut T, mutex: *mut U, until: Time) -> c_int {
    pthread::cancellable_wait(mutex, || sleep_in_peace(condvar, mutex, until))
}

fn sleep_in_peace<T, U>(condvar: *mut T, mutex: *mut U, until: Time) -> c_int {
    let (condvar, it) = pthread::fall_asleep(condvar, mutex);
    if clock::is_virtual() {
        let has_expired = clock::resume_until(condvar, process::deadline(until));
        machine::visible(O::Acquire(it));
        return match robust::taken(mutex, it) {
            0 if has_expired => libc::ETIMEDOUT,
            result => result,
        };
    }
    if may_fail() {
        let has_expired = machine::visible(O::Expire(condvar));
        conclude(has_expired);
        machine::visible(O::Acquire(it));
        if has_expired {
            wait_until(until);
        }
        return match robust::taken(mutex, it) {
            0 if has_expired => libc::ETIMEDOUT,
            result => result,
        };
    }
    machine::visible(O::Reacquire { condvar, mutex: it });
    conclude(false);
    robust::taken(mutex, it)
}

fn read_lock(lock: *mut libc::pthread_rwlock_t, until: Time) -> c_int {
    let it = rwlock::object(lock);
    attempt_until(until, O::TryReadAcquire(it), O::ReadAcquire(it))
}

fn write_lock(lock: *mut libc::pthread_rwlock_t, until: Time) -> c_int {
    let it = rwlock::object(lock);
    attempt_until(until, O::TryWriteAcquire(it), O::WriteAcquire(it))
}

replace! {
    fn pthread_mutex_timedlock(mutex: *mut libc::pthread_mutex_t, until: Time) -> c_int {
        lock(mutex, until)
    }

    fn pthread_mutex_clocklock(
        mutex: *mut libc::pthread_mutex_t,
        _clock: c_int,
        until: Time,
    ) -> c_int {
        lock(mutex, until)
    }

    fn pthread_cond_timedwait(
        condvar: *mut libc::pthread_cond_t,
        mutex: *mut libc::pthread_mutex_t,
        until: Time,
    ) -> c_int {
        sleep(condvar, mutex, until)
    }

    fn pthread_cond_clockwait(
        condvar: *mut libc::pthread_cond_t,
        mutex: *mut libc::pthread_mutex_t,
        _clock: c_int,
        until: Time,
    ) -> c_int {
        sleep(condvar, mutex, until)
    }

    fn pthread_rwlock_timedrdlock(lock: *mut libc::pthread_rwlock_t, until: Time) -> c_int {
        read_lock(lock, until)
    }

    fn pthread_rwlock_clockrdlock(
        lock: *mut libc::pthread_rwlock_t,
        _clock: c_int,
        until: Time,
    ) -> c_int {
        read_lock(lock, until)
    }

    fn pthread_rwlock_timedwrlock(lock: *mut libc::pthread_rwlock_t, until: Time) -> c_int {
        write_lock(lock, until)
    }

    fn pthread_rwlock_clockwrlock(
        lock: *mut libc::pthread_rwlock_t,
        _clock: c_int,
        until: Time,
    ) -> c_int {
        write_lock(lock, until)
    }

    fn sem_timedwait(pointer: *mut libc::sem_t, until: Time) -> c_int {
        take_permit(pointer, until)
    }

    fn sem_clockwait(pointer: *mut libc::sem_t, _clock: c_int, until: Time) -> c_int {
        take_permit(pointer, until)
    }

    fn mtx_timedlock(mutex: *mut c_void, until: Time) -> c_int {
        match lock(mutex, until) {
            0 => 0,
            libc::ETIMEDOUT => THRD_TIMED_OUT,
            _ => THRD_ERROR,
        }
    }

    fn cnd_timedwait(condvar: *mut c_void, mutex: *mut c_void, until: Time) -> c_int {
        if sleep(condvar, mutex, until) == 0 { 0 } else { THRD_TIMED_OUT }
    }
}
