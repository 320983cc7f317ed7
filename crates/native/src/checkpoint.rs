//! Checkpoints: states of the program that an execution goes back to without being repeated.
//!
//! [`Checkpoint`] is the one place that says what a state of the program consists of. A change that
//! adds something that an execution can change adds it there: something a thread has to [`Life`],
//! and something an object has to [`State`], which are kept as a whole; a table to [`Machine`], and
//! the compiler asks here what becomes of it.
//!
//! Checkpoints are taken on the way to where the search goes back to: half way from the last one,
//! half way of the rest, and so on, until what is left is repeated quickly enough. A search that
//! goes back a little each time then finds one close by, and steps that are taken for the first
//! time cost nothing.

use crate::coroutine;
use crate::heap::SavedHeap;
use crate::machine::Machine;
use crate::memory::Saved;
use crate::named::NamedSemaphore;
use crate::objects::{SavedObjects, State};
use crate::process::Handler;
use crate::thread::{self, Destructor, Life, Status, Thread};
use crate::time::Times;

/// So many steps are rather repeated than made shorter by another checkpoint.
const NEAR: usize = 2;
/// How many checkpoints one execution has, and how many bytes they hold, an image not counted.
const MAX_TAKEN: usize = 64;
const MAX_BYTES: usize = 64 << 20;

/// The checkpoints of the execution in progress.
#[derive(Default)]
pub(crate) struct Checkpoints {
    /// By depth. They are large, and go to and fro all the time.
    #[expect(clippy::vec_box, reason = "they are moved in every execution")]
    taken: Vec<Box<Checkpoint>>,
    /// Used ones, for their memory.
    #[expect(clippy::vec_box, reason = "they are moved in every execution")]
    spare: Vec<Box<Checkpoint>>,
    n_bytes: usize,
    /// Without them, every execution is repeated from its start.
    pub(crate) are_off: bool,
    /// Whether what they lead to is compared to what the start leads to, for tests.
    pub(crate) are_checked: bool,
}

/// A state of the program, all of it.
///
/// What is not here is not put back: numbers, names and lenders that threads and objects keep over
/// all executions; what was learned about memory; and what only the last step needs to tell.
#[derive(Default)]
struct Checkpoint {
    /// After how many steps.
    depth: usize,
    /// When the program was last in it.
    epoch: u64,
    /// The variables of the program.
    variables: Vec<Saved>,
    heap: SavedHeap,
    objects: SavedObjects,
    threads: Vec<Life>,
    /// The stacks of the threads that run, one after the other: all frames, and where threads spin
    /// the stale bytes below them, see [`Machine::kept_from`].
    stacks: Vec<u8>,
    /// The thread-local variables of all threads that were born, one after the other.
    storage: Vec<u8>,
    keys: Vec<Option<Destructor>>,
    exit_handlers: Vec<Handler>,
    quick_handlers: Vec<Handler>,
    is_shared: bool,
    n_unjoined: usize,
    has_exited: bool,
    handlers_user: Option<usize>,
    has_refused: bool,
    named_semaphores: Vec<NamedSemaphore>,
    unseen_words: Vec<usize>,
    now: u64,
    times: Times,
}

/// A state to be compared to another one.
pub(crate) struct Description {
    checkpoint: Checkpoint,
    objects: Vec<State>,
}

impl Checkpoints {
    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.cut(0);
    }

    /// Forgets those that are deeper than `depth`.
    fn cut(&mut self, depth: usize) {
        while let Some(last) = self.taken.pop_if(|last| last.depth > depth || depth == 0) {
            self.n_bytes -= last.cost();
            self.spare.push(last);
        }
    }

    /// Forgets every second one.
    fn thin_out(&mut self) {
        for (idx, checkpoint) in std::mem::take(&mut self.taken).into_iter().enumerate() {
            if idx.is_multiple_of(2) {
                self.taken.push(checkpoint);
            } else {
                self.n_bytes -= checkpoint.cost();
                self.spare.push(checkpoint);
            }
        }
    }
}

impl Checkpoint {
    fn cost(&self) -> usize {
        let variables: usize = self.variables.iter().map(Saved::cost).sum();
        let threads = self.threads.len() * size_of::<Life>();
        variables + self.heap.cost() + threads + self.stacks.len() + self.storage.len()
    }

    /// How it differs from another one that should be the same, in words; stacks are not compared,
    /// since it is not known which of their words matter.
    fn difference(&self, other: &Self) -> Option<String> {
        let differs = |name: &str, is_same: bool| (!is_same).then(|| name.to_owned());
        let show = |lives: &[Life]| format!("{lives:?}");
        let variable = (0..self.variables.len())
            .find(|&idx| self.variables[idx].same(&other.variables[idx]) == Some(false));
        variable
            .map(|idx| format!("part {idx} of the variables"))
            .or_else(|| differs("the heap", self.heap.same(&other.heap)))
            .or_else(|| differs("a thread", show(&self.threads) == show(&other.threads)))
            .or_else(|| differs("thread-local variables", self.storage == other.storage))
            .or_else(|| differs("the keys", self.keys.len() == other.keys.len()))
            .or_else(|| {
                let count = |it: &Self| (it.exit_handlers.len(), it.quick_handlers.len());
                differs("the handlers of the exit", count(self) == count(other))
            })
            .or_else(|| differs("is_shared", self.is_shared == other.is_shared))
            .or_else(|| differs("n_unjoined", self.n_unjoined == other.n_unjoined))
            .or_else(|| differs("has_exited", self.has_exited == other.has_exited))
            .or_else(|| differs("has_refused", self.has_refused == other.has_refused))
            .or_else(|| differs("the virtual clock", self.now == other.now))
            .or_else(|| {
                let is_same = self.named_semaphores == other.named_semaphores;
                differs("the named semaphores", is_same)
            })
    }
}

impl Machine {
    /// Goes back to the last checkpoint at `depth` or before it, or to the start.
    pub(crate) fn go_back(&mut self, depth: usize) {
        self.checkpoints.cut(depth);
        let mut taken = std::mem::take(&mut self.checkpoints.taken);
        match taken.last_mut() {
            None => self.reset(),
            Some(checkpoint) => self.restore(checkpoint),
        }
        self.checkpoints.taken = taken;
    }

    /// Where to stop next on the way to a depth, and whether to take a checkpoint there.
    pub(crate) fn next_stop(&self, depth: usize) -> (usize, bool) {
        let rest = depth - self.depth;
        let is_near = rest <= NEAR || self.checkpoints.are_off;
        if is_near { (depth, false) } else { (self.depth + rest.div_ceil(2), true) }
    }

    /// Takes a checkpoint of the state.
    pub(crate) fn keep(&mut self) {
        if self.checkpoints.are_off || self.files.is_any_open() {
            return;
        }
        if self.checkpoints.taken.len() >= MAX_TAKEN || self.checkpoints.n_bytes > MAX_BYTES {
            self.checkpoints.thin_out();
        }
        let mut checkpoint = self.checkpoints.spare.pop().unwrap_or_default();
        self.save(&mut checkpoint);
        self.checkpoints.n_bytes += checkpoint.cost();
        self.checkpoints.taken.push(checkpoint);
    }

    /// The state, to be compared to another one.
    pub(crate) fn describe(&mut self) -> Description {
        let mut checkpoint = Checkpoint::default();
        self.save(&mut checkpoint);
        Description { checkpoint, objects: self.objects.states() }
    }

    /// How the state differs from another one that should be the same.
    pub(crate) fn difference(&mut self, other: &Description) -> Option<String> {
        let this = self.describe();
        let differs = this.checkpoint.difference(&other.checkpoint);
        differs.or_else(|| (this.objects != other.objects).then(|| "an object".to_owned()))
    }

    fn save(&mut self, to: &mut Checkpoint) {
        // A new field of the machine has to be named here, and kept below if executions change it.
        let Self {
            variables: _,
            n_variables: _,
            heap: _,
            objects: _,
            threads: _,
            keys: _,
            exit_handlers: _,
            quick_handlers: _,
            is_shared: _,
            n_unjoined: _,
            has_exited: _,
            handlers_user: _,
            has_refused: _,
            named_semaphores: _,
            unseen_words: _,
            clock: _,
            times: _,
            depth: _,
            // Known over all executions.
            watch: _,
            first: _,
            checkpoints: _,
            retries: _,
            looks_for_leaks: _,
            patience: _,
            early_handlers: _,
            thread_names: _,
            has_clocks: _,
            is_test: _,
            are_races_allowed: _,
            has_loops: _,
            doubts_first_rounds: _,
            counting_loops: _,
            counted_waits: _,
            meetings: _,
            loops: _,
            disciplines: _,
            rust_mutexes: _,
            trusted: _,
            are_ends_seen: _,
            are_exits_seen: _,
            std_locks: _,
            has_handlers: _,
            has_cancellation: _,
            has_precompiled: _,
            first_assembly: _,
            weak_accesses: _,
            weak_memory: _,
            site_orders: _,
            // Of the last step, or of what is going on right now.
            newborn: _,
            joiner: _,
            n_lonely_reads: _,
            effect: _,
            value: _,
            order: _,
            passage: _,
            choice: _,
            n_moved: _,
            addition: _,
            violation: _,
            refusal: _,
            stuck: _,
            backtrace: _,
            is_backtrace_wanted: _,
            before_backtrace: _,
            script: _,
            n_followed: _,
            // Of an execution that is followed, and never gone back in.
            sites: _,
            locals: _,
            // While a file is open, no checkpoint is taken.
            files: _,
        } = self;
        self.pass_time();
        to.depth = self.depth;
        to.epoch = Thread::begin_epoch();
        to.variables.resize_with(self.variables.len(), Saved::default);
        for (part, saved) in self.variables.iter_mut().zip(&mut to.variables) {
            part.save(saved);
        }
        self.heap.save(&mut to.heap);
        to.objects = self.objects.save();
        to.threads.resize_with(self.threads.len(), Life::default);
        to.stacks.clear();
        to.storage.clear();
        for (idx, (thread, life)) in self.threads.iter().zip(&mut to.threads).enumerate() {
            life.clone_from(thread);
            if let Some(lender) = thread.lender.as_ref().filter(|_| thread.is_alive()) {
                lender.save(&mut to.storage);
            }
            if thread.status == Status::Running {
                to.stacks.extend_from_slice(coroutine::frames(idx, self.kept_from(thread)));
            }
        }
        to.keys.clone_from(&self.keys);
        to.exit_handlers.clone_from(&self.exit_handlers);
        to.quick_handlers.clone_from(&self.quick_handlers);
        to.is_shared = self.is_shared;
        to.n_unjoined = self.n_unjoined;
        to.has_exited = self.has_exited;
        to.handlers_user = self.handlers_user;
        to.has_refused = self.has_refused;
        thread::copy(&mut to.named_semaphores, &self.named_semaphores);
        thread::copy(&mut to.unseen_words, &self.unseen_words);
        to.now = self.clock.now;
        if self.has_clocks {
            to.times.clone_from(&self.times);
        }
    }

    fn restore(&mut self, from: &mut Checkpoint) {
        self.files.close();
        self.depth = from.depth;
        for (part, saved) in self.variables.iter_mut().zip(&from.variables) {
            part.restore(saved);
        }
        self.heap.restore(&from.heap);
        self.objects.restore(from.objects);
        let (mut stacks, mut storage) = (from.stacks.as_slice(), from.storage.as_slice());
        for idx in 0..self.threads.len() {
            let thread = &mut self.threads[idx];
            let Some(saved) = from.threads.get(idx) else {
                // Announced later for the first time.
                thread.forget();
                continue;
            };
            thread.go_back(saved, from.epoch);
            if thread.is_alive() {
                // A thread that had the same number later may have had another size.
                coroutine::set_size(idx, thread.stack_size);
            }
            if let Some(lender) = thread.lender.as_ref().filter(|_| thread.is_alive()) {
                storage = lender.restore(storage);
            }
            if thread.status == Status::Running {
                let start = self.kept_from(&self.threads[idx]);
                // SAFETY: the frames are those of the thread when it was suspended there.
                stacks = unsafe { coroutine::put_back(idx, start, stacks) };
            }
        }
        thread::copy(&mut self.keys, &from.keys);
        thread::copy(&mut self.exit_handlers, &from.exit_handlers);
        thread::copy(&mut self.quick_handlers, &from.quick_handlers);
        self.is_shared = from.is_shared;
        self.n_unjoined = from.n_unjoined;
        self.has_exited = from.has_exited;
        self.handlers_user = from.handlers_user;
        self.has_refused = from.has_refused;
        thread::copy(&mut self.named_semaphores, &from.named_semaphores);
        thread::copy(&mut self.unseen_words, &from.unseen_words);
        self.clock.now = from.now;
        if self.has_clocks {
            self.times.clone_from(&from.times);
        }
        self.violation = None;
        from.epoch = Thread::begin_epoch();
    }
}
