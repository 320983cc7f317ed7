//! Robust mutexes: the next one who takes a mutex is told that its holder has ended, and may set
//! right what it guards. A thread that gives it back without having said so makes it useless for
//! all.

use crate::machine;
use crate::pthread::{object, raw_kind};
use crate::real::replace;
use mazurka_core::{ObjectId, Operation as O};
use std::ffi::c_int;

/// What the C library writes to the kind of a robust mutex.
const ROBUST: c_int = 16;

/// What has become of a mutex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Robustness {
    /// It is none, or was never taken.
    #[default]
    None,
    Robust,
    /// Its holder has ended, and no thread has set it right.
    Abandoned,
    /// It was given back in that state.
    Useless,
}

fn robustness(object: ObjectId) -> Robustness {
    machine::with(|machine| machine.objects.state(object).robustness)
}

fn set(object: ObjectId, robustness: Robustness) {
    machine::with(|machine| machine.objects.state(object).robustness = robustness);
}

/// What the thread that has just taken a mutex is told.
pub(crate) fn taken<T>(mutex: *mut T, object: ObjectId) -> c_int {
    if raw_kind(mutex) & ROBUST == 0 {
        return 0;
    }
    match robustness(object) {
        Robustness::None | Robustness::Robust => set(object, Robustness::Robust),
        Robustness::Abandoned => return libc::EOWNERDEAD,
        Robustness::Useless => {
            machine::visible(O::Release(object));
            return libc::ENOTRECOVERABLE;
        }
    }
    0
}

/// A mutex was given back.
pub(crate) fn given_back(object: ObjectId) {
    if robustness(object) == Robustness::Abandoned {
        set(object, Robustness::Useless);
    }
}

/// The running thread ends, and leaves its robust mutexes to others.
pub(crate) fn abandon_all() {
    let me = machine::current();
    while let Some(mutex) = machine::with(|machine| machine.objects.robust_held_by(me)) {
        machine::visible(O::Release(mutex));
        machine::with(|machine| {
            let state = machine.objects.state(mutex);
            state.depth = 0;
            state.robustness = Robustness::Abandoned;
        });
    }
}

fn make_consistent(mutex: *mut libc::pthread_mutex_t) -> c_int {
    let it = object(mutex);
    let me = machine::current();
    let is_mine = machine::with(|machine| machine.objects.state(it).owner == Some(me));
    if !is_mine || robustness(it) != Robustness::Abandoned {
        return libc::EINVAL;
    }
    set(it, Robustness::Robust);
    0
}

replace! {
    fn pthread_mutex_consistent(mutex: *mut libc::pthread_mutex_t) -> c_int {
        make_consistent(mutex)
    }

    fn pthread_mutex_consistent_np(mutex: *mut libc::pthread_mutex_t) -> c_int {
        make_consistent(mutex)
    }
}
