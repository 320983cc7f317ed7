//! The threads of the program: what is known of one over all executions, and its life in one of
//! them.

use crate::awaits::Waiting;
use crate::cancel::Awaited;
use crate::coroutine::{Coroutine, FloatEnvironment};
use crate::disciplines::Adding;
use crate::futex::ALL_BITS;
use crate::process::{Handler, Start};
use crate::requeue::Regrouping;
use crate::shared_bytes::SharedBytes;
use crate::spin::{self, Reads};
use crate::tls::Lender;
use crate::trusted::{Bracket, Predicate};
use mazurka_core::{Operation, ThreadId};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};

/// What is called with a thread's value of a key when the thread ends.
pub(crate) type Destructor = unsafe extern "C-unwind" fn(*mut std::ffi::c_void);

/// A thread of the program.
pub(crate) struct Thread {
    pub(crate) lender: Option<Box<Lender>>,
    /// The numbers that only its children have, in all executions: see `numbers`.
    pub(crate) children: Vec<ThreadId>,
    /// The bytes of its stack that other threads have touched in any execution.
    pub(crate) shared: SharedBytes,
    /// The lowest stack pointer with which it has read something in any execution.
    pub(crate) lowest: usize,
    life: Life,
    /// When `life` was last changed, see [`EPOCH`].
    changed: u64,
}

/// Counts the times that a state was kept or gone back to.
static EPOCH: AtomicU64 = AtomicU64::new(1);

/// What an execution changes of a thread.
#[derive(Debug, Default)]
pub(crate) struct Life {
    plain: Plain,
    /// Its values of the keys.
    pub(crate) values: Vec<usize>,
    /// What destroys its thread-local objects, the last one first.
    pub(crate) handlers: Vec<Handler>,
    /// What the program calls it.
    pub(crate) label: Option<String>,
    pub(crate) reads: Reads,
}

/// What a compare-and-swap compares with, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    pub(crate) address: usize,
    pub(crate) len: u8,
    pub(crate) expected: u128,
}

impl Comparison {
    /// Whether the swap would be made now.
    #[inline]
    pub(crate) fn succeeds(self) -> bool {
        let len = usize::from(self.len);
        let now = spin::load(self.address, self.len).to_le_bytes();
        now[..len] == self.expected.to_le_bytes()[..len]
    }
}

/// Those parts of it that are copied in one piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    pub(crate) coroutine: Coroutine,
    pub(crate) status: Status,
    pub(crate) operation: Operation,
    /// What its operation compares with, if that is a compare-and-swap.
    pub(crate) comparison: Option<Comparison>,
    /// What its operation adds, if it only adds, and what it learns of the value before.
    pub(crate) adding: Option<Adding>,
    /// The loop that its operation is the only read of, if that is known: see `awaits`.
    pub(crate) waiting: Option<Waiting>,
    /// How many must have come to the barrier the thread waits at.
    pub(crate) round_end: u32,
    /// How many of its [`Thread::children`] were announced in this execution, also by those that
    /// had its number before.
    pub(crate) n_children: usize,
    /// How many children it has announced itself, and its own name: see `numbers`.
    pub(crate) n_births: u32,
    pub(crate) name: u32,
    pub(crate) start: Start,
    /// How large its stack is to be.
    pub(crate) stack_size: usize,
    /// What the thread ended with.
    pub(crate) result: usize,
    /// Which bits of a wake would wake it from the queue of a futex, and which bits its own wake
    /// has.
    pub(crate) woken_by: u32,
    pub(crate) wakes: u32,
    /// The address of the futex that it sleeps at, and of the one that it wakes at; 0 for none.
    pub(crate) sleeps_at: usize,
    pub(crate) wakes_at: usize,
    /// Whom it is about to wake and to move, on its own stack; see `requeue`.
    pub(crate) regrouping: *const Regrouping,
    /// How often it has failed in vain, and whether it is patient now: see `timed`.
    pub(crate) n_in_vain: u32,
    pub(crate) is_patient: bool,
    /// Whether it does not want to be cancelled, and what it waits for if it may be: see `cancel`.
    pub(crate) is_uncancellable: bool,
    pub(crate) awaited: Awaited,
    /// Whether it is `main`, has ended for all others, and waits for the end of the process: see
    /// `exit`.
    pub(crate) has_left: bool,
    /// The signals that it does not want, as bits: those that it has said itself, or the thread that
    /// started it.
    pub(crate) blocked: u64,
    /// The floating-point environment that it begins with: that of the thread that started it.
    pub(crate) floats: FloatEnvironment,
    /// Whether it was joined or detached.
    pub(crate) claimed: Option<&'static str>,
    /// Who has come to wait for its end, and whether that goes on since. Afterwards, to whom its
    /// number belongs.
    pub(crate) joiner: Option<usize>,
    /// The trusted call that it is in, whether that is quiet, and what its operation needs: see
    /// `trusted`.
    pub(crate) bracket: *mut Bracket,
    pub(crate) is_quiet: bool,
    pub(crate) predicate: Predicate,
    /// The scope that it belongs to, and that of the next thread that it starts; 0 for none.
    pub(crate) scope: usize,
    pub(crate) next_scope: usize,
    /// Until when it waits on the virtual clock, whether its last wait has expired, and how often
    /// it has looked at the clock since time has passed: see `clock`.
    pub(crate) deadline: Option<u64>,
    pub(crate) has_expired: bool,
    pub(crate) n_looks: u32,
    /// The step in which it has taken a lock that `std_locks` has let pass.
    pub(crate) has_locked_in: Option<usize>,
    pub(crate) is_joined: bool,
    /// How many it has joined, or got with its number.
    pub(crate) n_joined: u32,
    /// For random numbers and clocks, which depend on the thread alone.
    pub(crate) ticks: u64,
    pub(crate) random: u64,
}

impl Default for Plain {
    fn default() -> Self {
        Self {
            coroutine: Coroutine::default(),
            status: Status::Unborn,
            operation: Operation::Yield,
            comparison: None,
            adding: None,
            waiting: None,
            round_end: 0,
            n_children: 0,
            n_births: 0,
            name: 0,
            start: Start::Nothing,
            stack_size: 0,
            result: 0,
            woken_by: ALL_BITS,
            wakes: ALL_BITS,
            sleeps_at: 0,
            wakes_at: 0,
            regrouping: std::ptr::null(),
            n_in_vain: 0,
            is_patient: false,
            is_uncancellable: false,
            awaited: Awaited::Nothing,
            has_left: false,
            blocked: 0,
            floats: FloatEnvironment::default(),
            claimed: None,
            joiner: None,
            bracket: std::ptr::null_mut(),
            is_quiet: false,
            predicate: Predicate::Usual,
            scope: 0,
            next_scope: 0,
            deadline: None,
            has_expired: false,
            n_looks: 0,
            has_locked_in: None,
            is_joined: false,
            n_joined: 0,
            ticks: 0,
            random: 0,
        }
    }
}

impl Life {
    /// A thread begins its life. All that another one with its number has left is gone, in whatever
    /// operation the execution ended; what belongs to the number stays, and what the thread was
    /// given before.
    pub(crate) fn begin(&mut self, idx: usize) {
        let Self { plain, values, handlers, label, reads } = self;
        let Plain {
            coroutine,
            start,
            stack_size,
            name,
            scope,
            n_children,
            n_joined,
            blocked,
            floats,
            ..
        } = *plain;
        *plain = Plain {
            coroutine,
            start,
            stack_size,
            name,
            scope,
            n_children,
            n_joined,
            blocked,
            floats,
            status: Status::New,
            operation: Operation::Begin,
            random: idx as u64 + 1,
            ..Plain::default()
        };
        values.clear();
        handlers.clear();
        *label = None;
        reads.clear();
    }
}

impl Clone for Life {
    fn clone(&self) -> Self {
        let mut life = Self::default();
        life.clone_from(self);
        life
    }

    /// Keeps the memory that it has: this is done for all threads whenever the search goes back.
    fn clone_from(&mut self, from: &Self) {
        let Self { plain, values, handlers, label, reads } = from;
        self.plain = *plain;
        copy(&mut self.values, values);
        copy(&mut self.handlers, handlers);
        if self.label.is_some() || label.is_some() {
            self.label.clone_from(label);
        }
        self.reads.clone_from(reads);
    }
}

impl Deref for Life {
    type Target = Plain;

    #[inline(always)]
    fn deref(&self) -> &Plain {
        &self.plain
    }
}

impl DerefMut for Life {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Plain {
        &mut self.plain
    }
}

/// Makes one list like another: most often, both are empty.
#[inline]
pub(crate) fn copy<T: Clone>(to: &mut Vec<T>, from: &Vec<T>) {
    if !to.is_empty() || !from.is_empty() {
        to.clone_from(from);
    }
}

impl Deref for Thread {
    type Target = Life;

    fn deref(&self) -> &Life {
        &self.life
    }
}

impl DerefMut for Thread {
    fn deref_mut(&mut self) -> &mut Life {
        self.changed = EPOCH.load(Ordering::Relaxed);
        &mut self.life
    }
}

/// Where a thread is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Unborn,
    /// Born, and has not run yet.
    New,
    Running,
    Finished,
    /// It has ended the process, or something went wrong in it: no join of it returns.
    Exited,
}

impl Thread {
    pub(crate) fn new(idx: usize) -> Self {
        Self {
            lender: None,
            children: Vec::new(),
            shared: SharedBytes::default(),
            lowest: usize::MAX,
            life: Life {
                plain: Plain { random: idx as u64, ..Plain::default() },
                ..Life::default()
            },
            changed: EPOCH.load(Ordering::Relaxed),
        }
    }

    /// A state is kept or gone back to now: what changes from here on has changed since.
    pub(crate) fn begin_epoch() -> u64 {
        EPOCH.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Makes its life what it was when an epoch began.
    #[inline]
    pub(crate) fn go_back(&mut self, life: &Life, epoch: u64) {
        if self.changed >= epoch {
            self.life.clone_from(life);
        }
    }

    /// The execution begins again: no thread has its number.
    pub(crate) fn forget(&mut self) {
        self.status = Status::Unborn;
        self.n_children = 0;
        self.is_joined = false;
    }

    /// Whether it was born and has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        matches!(self.status, Status::New | Status::Running)
    }

    /// Whether it has ended, as far as others can tell.
    pub(crate) fn has_ended(&self) -> bool {
        self.status == Status::Finished || self.has_left
    }

    /// What the program calls it.
    pub(crate) fn handle(&self) -> libc::pthread_t {
        self.lender.as_ref().map_or(0, |lender| lender.handle)
    }
}
