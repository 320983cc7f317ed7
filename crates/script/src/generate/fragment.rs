//! Writes the bodies of threads, a few statements that belong together at a time.

use super::price;
use super::shape::{Feature, Shape};
use crate::ast::{
    BinaryOp, Block, Expr, Local, Relation, Shared, Side, Statement, Test, Update, Verb,
};
use crate::random::Random;
use mazurka_core::MemoryOrder;

/// Writes one script.
pub(super) struct Writer<'a> {
    pub(super) random: Random,
    shape: &'a Shape,
    theme: Vec<Feature>,
    n_variables: usize,
    threads: Vec<Thread>,
    /// The thread that is being written.
    thread_idx: usize,
    /// How many sides of a conversation over a condition variable there are.
    n_conversations: usize,
}

/// A thread as far as it is written.
#[derive(Clone, Default)]
struct Thread {
    body: Block,
    n_locals: usize,
}

impl<'a> Writer<'a> {
    pub(super) const VARIABLES: [&'static str; 3] = ["x", "y", "z"];
    pub(super) const ARRAY: &'static str = "a";
    pub(super) const ARRAY_LEN: u32 = 2;

    pub(super) fn new(
        random: Random,
        shape: &'a Shape,
        theme: Vec<Feature>,
        n_variables: usize,
        n_threads: usize,
    ) -> Self {
        Self {
            random,
            shape,
            theme,
            n_variables,
            threads: vec![Thread::default(); n_threads],
            thread_idx: 0,
            n_conversations: 0,
        }
    }

    /// Adds something to a thread that is at least one operation and at most `most`; says how
    /// many it is.
    pub(super) fn extend(&mut self, thread_idx: usize, most: usize) -> usize {
        self.thread_idx = thread_idx;
        let share = if self.threads[thread_idx].body.is_empty() { 85 } else { 60 };
        for _ in 0..6 {
            let (n_locals, n_conversations) =
                (self.threads[thread_idx].n_locals, self.n_conversations);
            let fragment = match self.theme.is_empty() || !self.random.percent(share) {
                true => vec![self.access()],
                false => self.fragment(),
            };
            let price = price(&fragment);
            if (1..=most).contains(&price) {
                self.threads[thread_idx].body.extend(fragment);
                return price;
            }
            self.threads[thread_idx].n_locals = n_locals;
            self.n_conversations = n_conversations;
        }
        let access = self.access();
        self.threads[thread_idx].body.push(access);
        1
    }

    /// The bodies of all threads.
    pub(super) fn take_threads(&mut self) -> Vec<Block> {
        self.threads.drain(..).map(|thread| thread.body).collect()
    }

    /// Statements of the theme.
    fn fragment(&mut self) -> Block {
        let mut feature = self.theme[self.random.below(self.theme.len())];
        if self.threads[self.thread_idx].body.is_empty() && self.theme.contains(&Feature::Condvars)
        {
            // It takes several threads to talk.
            feature = Feature::Condvars;
        }
        match feature {
            Feature::Branches => self.branch(),
            Feature::Cas => vec![self.update()],
            Feature::Awaits | Feature::AwaitUpdates => {
                let relation = self.random.pick(&[
                    Relation::Equal,
                    Relation::NotEqual,
                    Relation::GreaterOrEqual,
                ]);
                let (on, value) = (self.variable(), self.constant());
                let new = (feature == Feature::AwaitUpdates).then(|| self.constant());
                vec![Statement::Await { on, relation, value, new }]
            }
            Feature::Arrays => self.array(),
            Feature::Locks => self.lock(None),
            Feature::RwLocks => self.rwlock(),
            Feature::Condvars => self.condvar(),
            Feature::Futexes => self.futex(),
            Feature::Semaphores => self.semaphore(),
            Feature::Barriers => vec![call(Verb::Barrier, 0)],
            Feature::Channels => self.channel(),
            // What spawns and joins is put in at the end.
            Feature::SpawnJoin => vec![self.access()],
            Feature::Choose => {
                let alternatives = if self.random.percent(75) { 2 } else { 3 };
                vec![Statement::Choose { local: Some(self.fresh()), alternatives }, self.store()]
            }
            Feature::Yields => vec![Statement::Yield],
            Feature::Assertions => {
                let (local, load) = self.load();
                let right = self.constant();
                let left = Expr::Local(local);
                vec![load, Statement::Assert { left, relation: Relation::NotEqual, right }]
            }
            Feature::Plain => {
                let name = "p".to_owned();
                let plain = match self.random.percent(50) {
                    true => Statement::PlainLoad { local: self.fresh(), name },
                    false => Statement::PlainStore { name, value: self.value() },
                };
                let access = self.access();
                if self.random.percent(50) { vec![plain, access] } else { vec![access, plain] }
            }
        }
    }

    fn access(&mut self) -> Statement {
        if self.random.percent(45) { self.load().1 } else { self.store() }
    }

    fn accesses(&mut self, most: usize) -> Block {
        (0..self.random.between(0, most)).map(|_| self.access()).collect()
    }

    fn load(&mut self) -> (Local, Statement) {
        let from = self.variable();
        let local = self.fresh();
        (local.clone(), Statement::Load { local, from })
    }

    fn store(&mut self) -> Statement {
        Statement::Store { to: self.variable(), value: self.value() }
    }

    fn update(&mut self) -> Statement {
        let on = self.variable();
        let update = match self.random.below(5) {
            0 => Update::Add(self.constant()),
            1 => Update::Swap(self.value()),
            _ => {
                let expected = Expr::Number(self.random.below(3) as i64);
                Update::CompareAndSwap { expected, new: self.value() }
            }
        };
        let local = self.random.percent(60).then(|| self.fresh());
        Statement::Update { local, on, update }
    }

    fn branch(&mut self) -> Block {
        let relation = self.random.pick(&Relation::ALL);
        let left = match self.any_local() {
            Some(local) if self.random.percent(50) => Side::Own(local),
            _ => Side::Shared(self.variable()),
        };
        let test = Test { left, relation, right: self.constant() };
        let then = vec![self.access_or_update()];
        let otherwise = match self.random.percent(35) {
            true => vec![self.access_or_update()],
            false => Block::new(),
        };
        vec![Statement::If { test, then, otherwise }]
    }

    fn access_or_update(&mut self) -> Statement {
        let is_update = self.shape.cas && self.random.percent(30);
        if is_update { self.update() } else { self.access() }
    }

    fn array(&mut self) -> Block {
        let local = self.any_local();
        let index = match local {
            Some(local) if self.random.percent(50) => {
                let len = Expr::Number(i64::from(Self::ARRAY_LEN));
                Expr::Binary(Box::new(local), BinaryOp::Remainder, Box::new(len))
            }
            _ => Expr::Number(self.random.below(Self::ARRAY_LEN as usize) as i64),
        };
        let element = Shared {
            name: Self::ARRAY.to_owned(),
            index: Some(index),
            order: MemoryOrder::default(),
        };
        match self.random.percent(50) {
            true => vec![Statement::Load { local: self.fresh(), from: element }],
            false => vec![Statement::Store { to: element, value: self.value() }],
        }
    }

    /// A critical section, not of the mutex that is held already.
    fn lock(&mut self, held: Option<u32>) -> Block {
        let mutex = match held {
            Some(held) => 1 - held,
            None => self.random.below(2) as u32,
        };
        if held.is_none() && self.random.percent(15) {
            let local = self.fresh();
            let mut then = self.accesses(1);
            then.push(call(Verb::Release, mutex));
            return vec![
                Statement::Call {
                    local: Some(local.clone()),
                    verb: Verb::TryAcquire,
                    number: mutex,
                },
                if_is_one(local, then),
            ];
        }
        let mut block = vec![call(Verb::Acquire, mutex)];
        if held.is_none() && self.shape.nested_locks && self.random.percent(45) {
            block.append(&mut self.lock(Some(mutex)));
        } else {
            block.append(&mut self.accesses(2));
        }
        if !self.random.percent(8) {
            block.push(call(Verb::Release, mutex));
        }
        block
    }

    fn rwlock(&mut self) -> Block {
        let is_read = self.random.percent(55);
        let inside = if is_read { self.load().1 } else { self.store() };
        let (acquire, attempt, release) = match is_read {
            true => (Verb::ReadAcquire, Verb::TryReadAcquire, Verb::ReadRelease),
            false => (Verb::WriteAcquire, Verb::TryWriteAcquire, Verb::WriteRelease),
        };
        let mut block = if self.random.percent(70) { vec![inside] } else { Block::new() };
        if self.random.percent(20) {
            let local = self.fresh();
            block.push(call(release, 0));
            return vec![
                Statement::Call { local: Some(local.clone()), verb: attempt, number: 0 },
                if_is_one(local, block),
            ];
        }
        block.insert(0, call(acquire, 0));
        if !self.random.percent(8) {
            block.push(call(release, 0));
        }
        block
    }

    /// One side of a conversation about the first variable, under the mutex 0.
    fn condvar(&mut self) -> Block {
        let flag = Shared {
            name: Self::VARIABLES[0].to_owned(),
            index: None,
            order: MemoryOrder::default(),
        };
        let wait = Statement::Wait { condvar: 0, mutex: 0 };
        let verb = if self.random.percent(35) { Verb::NotifyAll } else { Verb::Notify };
        let notify = call(verb, 0);
        let set = Statement::Store { to: flag.clone(), value: Expr::Number(1) };
        let (acquire, release) = (call(Verb::Acquire, 0), call(Verb::Release, 0));
        // First a thread that waits, then one that wakes, and then one more of either.
        self.n_conversations += 1;
        let side = match self.n_conversations {
            1 => self.random.below(3),
            2 => self.random.between(3, 6),
            _ if self.random.percent(50) => 2,
            _ => self.random.between(3, 6),
        };
        match side {
            0 | 1 => {
                let left = Side::Shared(flag);
                let test = Test { left, relation: Relation::Equal, right: Expr::Number(0) };
                let check = Statement::If { test, then: vec![wait], otherwise: Block::new() };
                vec![acquire, check, release]
            }
            2 => vec![acquire, wait, release],
            3 => vec![acquire, set, notify, release],
            4 => vec![set, notify],
            5 => vec![acquire, notify, release],
            _ => vec![notify],
        }
    }

    /// Sleeps on the first variable, or changes it and wakes who sleeps there.
    fn futex(&mut self) -> Block {
        let word = Shared {
            name: Self::VARIABLES[0].to_owned(),
            index: None,
            order: MemoryOrder::default(),
        };
        let verb = if self.random.percent(35) { Verb::NotifyAll } else { Verb::Notify };
        let notify = call(verb, 0);
        let set = Statement::Store { to: word.clone(), value: Expr::Number(1) };
        let sleep = Statement::Sleep { condvar: 0, on: word, value: self.constant() };
        match self.random.below(7) {
            0 | 1 => vec![sleep],
            2 => vec![sleep, self.load().1],
            3 | 4 => vec![set, notify],
            5 => vec![notify, self.access()],
            _ => vec![notify],
        }
    }

    fn semaphore(&mut self) -> Block {
        match self.random.below(6) {
            0 => vec![call(Verb::Up, 0)],
            1 => vec![call(Verb::Down, 0)],
            2 => vec![self.store(), call(Verb::Up, 0)],
            3 => vec![call(Verb::Down, 0), self.load().1],
            4 => {
                vec![Statement::Call { local: Some(self.fresh()), verb: Verb::TryDown, number: 0 }]
            }
            _ => {
                let mut block = vec![call(Verb::Down, 0)];
                block.append(&mut self.accesses(1));
                block.push(call(Verb::Up, 0));
                block
            }
        }
    }

    fn channel(&mut self) -> Block {
        let channel = u32::from(self.random.percent(25));
        let statement = match self.random.below(10) {
            0..4 => Statement::Send { channel, value: self.value() },
            4 => {
                let value = self.value();
                Statement::TrySend { local: Some(self.fresh()), channel, value }
            }
            5..8 => {
                Statement::Call { local: Some(self.fresh()), verb: Verb::Receive, number: channel }
            }
            8 => call(Verb::Receive, channel),
            _ => Statement::Call {
                local: Some(self.fresh()),
                verb: Verb::TryReceive,
                number: channel,
            },
        };
        vec![statement]
    }

    fn variable(&mut self) -> Shared {
        let name = Self::VARIABLES[self.random.below(self.n_variables)];
        Shared { name: name.to_owned(), index: None, order: MemoryOrder::default() }
    }

    fn constant(&mut self) -> Expr {
        Expr::Number(self.random.between(0, 3) as i64)
    }

    /// A constant, or a local and a constant.
    fn value(&mut self) -> Expr {
        let constant = Expr::Number(self.random.between(1, 3) as i64);
        match self.any_local() {
            Some(local) if self.random.percent(45) => {
                Expr::Binary(Box::new(local), BinaryOp::Add, Box::new(constant))
            }
            _ => constant,
        }
    }

    /// A local that something was put into, perhaps on another branch.
    fn any_local(&mut self) -> Option<Expr> {
        let n_locals = self.threads[self.thread_idx].n_locals;
        let idx = (n_locals > 0).then(|| self.random.below(n_locals))?;
        Some(Expr::Local(local(idx)))
    }

    fn fresh(&mut self) -> Local {
        let n_locals = &mut self.threads[self.thread_idx].n_locals;
        *n_locals += 1;
        local(*n_locals - 1)
    }
}

fn local(idx: usize) -> Local {
    Local(if idx == 0 { "r".to_owned() } else { format!("r{idx}") })
}

fn call(verb: Verb, number: u32) -> Statement {
    Statement::Call { local: None, verb, number }
}

fn if_is_one(local: Local, then: Block) -> Statement {
    let left = Side::Own(Expr::Local(local));
    let test = Test { left, relation: Relation::Equal, right: Expr::Number(1) };
    Statement::If { test, then, otherwise: Block::new() }
}
