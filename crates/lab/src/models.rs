//! Programs of known size as control-flow graphs, for the machine of `mazurka-model`.

use mazurka_model::{
    Access, Action, Binary, Compare, Expr, MemoryOrder, Place, Program, RegisterId, RoutineBuilder,
    Sync, Type, Update,
};

const INT: Type = Type::I32;

fn int(value: i64) -> Expr {
    Expr::int(INT, value)
}

fn add(left: Expr, right: Expr) -> Expr {
    Expr::binary(Binary::Add, left, right)
}

fn times(left: Expr, right: Expr) -> Expr {
    Expr::binary(Binary::Multiply, left, right)
}

fn modulo(left: Expr, right: Expr) -> Expr {
    Expr::binary(Binary::Remainder, left, right)
}

fn equal(left: Expr, right: Expr) -> Expr {
    Expr::compare(Compare::Equal, left, right)
}

/// A process for each number of a range, which is its parameter.
fn processes(
    program: &mut Program,
    numbers: std::ops::Range<usize>,
    body: impl FnOnce(&mut RoutineBuilder, RegisterId),
) {
    let mut routine = RoutineBuilder::new("thread");
    let tid = routine.parameter("tid", INT);
    body(&mut routine, tid);
    let routine = program.add_routine(routine.finish());
    numbers.for_each(|number| program.process(&format!("T{number}"), routine, vec![number as u64]));
}

/// An array of numbers.
fn numbers(program: &mut Program, name: &str, len: u32) -> impl Fn(Expr) -> Place + use<> {
    let layout = program.array(INT, len);
    let object = program.object(name, layout);
    move |index| Place::object(object).element(index, 4)
}

/// An array of mutexes.
fn mutexes(program: &mut Program, name: &str, count: u32) -> impl Fn(Expr) -> Place + use<> {
    let element = program.sync(Sync::Mutex);
    let layout = program.layout(mazurka_model::Layout::Array { element, count });
    let object = program.object(name, layout);
    move |index| Place::object(object).element(index, Sync::Mutex.bytes())
}

/// The Indexer of POPL 2005, Fig. 1, with `n` threads of 4 messages each.
pub fn indexer(n: usize) -> Program {
    let mut program = Program::new("indexer");
    let (size, max) = (int(128), int(4));
    let table = numbers(&mut program, "table", 128);
    processes(&mut program, 1..n + 1, |thread, tid| {
        let [m, w, h] = ["m", "w", "h"].map(|name| thread.register(name, INT));
        let done = thread.register("done", Type::BOOL);
        let next_message = thread.here();
        let exit = {
            let more = Expr::compare(Compare::Less, thread.get(m), max);
            thread.branch(more)
        };
        thread.assign(m, add(thread.get(m), int(1)));
        thread.assign(w, add(times(thread.get(m), int(11)), thread.get(tid)));
        thread.assign(h, modulo(times(thread.get(w), int(7)), size.clone()));
        let attempt = thread.here();
        thread.then(Action::CompareExchange {
            success: Some(done),
            old: None,
            on: table(thread.get(h)),
            expected: int(0),
            new: thread.get(w),
            order: MemoryOrder::SequentiallyConsistent,
            failure: MemoryOrder::SequentiallyConsistent,
        });
        let taken = thread.branch(thread.get(done));
        thread.jump(next_message);
        thread.go_on_from(taken);
        thread.assign(h, modulo(add(thread.get(h), int(1)), size));
        thread.jump(attempt);
        thread.go_on_from(exit);
    });
    program
}

/// The file system of POPL 2005, Fig. 7, with `n` threads: 26 blocks, 32 inodes. The arrays are
/// shared variables like the locks.
pub fn filesystem(n: usize) -> Program {
    let mut program = Program::new("filesystem");
    let (n_blocks, n_inodes) = (26, 32);
    let locki = mutexes(&mut program, "locki", n_inodes);
    let inode = numbers(&mut program, "inode", n_inodes);
    let lockb = mutexes(&mut program, "lockb", n_blocks);
    let busy = numbers(&mut program, "busy", n_blocks);
    let (n_blocks, n_inodes) = (int(i64::from(n_blocks)), int(i64::from(n_inodes)));
    processes(&mut program, 0..n, |thread, tid| {
        let [i, b, seen] = ["i", "b", "seen"].map(|name| thread.register(name, INT));
        thread.assign(i, modulo(thread.get(tid), n_inodes));
        let at_i = thread.get(i);
        thread.then(Action::Lock { mutex: locki(at_i.clone()), to: None });
        thread.load(seen, inode(at_i.clone()), Access::Plain);
        let has_block = thread.branch(equal(thread.get(seen), int(0)));
        thread.assign(b, modulo(times(thread.get(i), int(2)), n_blocks.clone()));
        let search = thread.here();
        let at_b = thread.get(b);
        thread.then(Action::Lock { mutex: lockb(at_b.clone()), to: None });
        thread.load(seen, busy(at_b.clone()), Access::Plain);
        let is_busy = thread.branch(equal(thread.get(seen), int(0)));
        thread.store(busy(at_b.clone()), int(1), Access::Plain);
        thread.store(inode(at_i.clone()), add(at_b.clone(), int(1)), Access::Plain);
        thread.then(Action::Unlock { mutex: lockb(at_b.clone()), to: None });
        thread.jump(has_block);
        thread.go_on_from(is_busy);
        thread.then(Action::Unlock { mutex: lockb(at_b), to: None });
        thread.assign(b, modulo(add(thread.get(b), int(1)), n_blocks));
        thread.jump(search);
        thread.go_on_from(has_block);
        thread.then(Action::Unlock { mutex: locki(at_i), to: None });
    });
    program
}

/// One writer and `n` readers of one variable: 2^n traces.
pub fn readers(n: usize) -> Program {
    let mut program = Program::new("readers");
    let x = numbers(&mut program, "x", 1);
    processes(&mut program, 0..1, |thread, _| thread.store(x(int(0)), int(1), Access::ATOMIC));
    processes(&mut program, 1..n + 1, |thread, _| {
        let seen = thread.register("seen", INT);
        thread.load(seen, x(int(0)), Access::ATOMIC);
    });
    program
}

/// `n` stores to one variable: n! traces.
pub fn writers(n: usize) -> Program {
    let mut program = Program::new("writers");
    let x = numbers(&mut program, "x", 1);
    processes(&mut program, 0..n, |thread, tid| {
        let value = add(thread.get(tid), int(1));
        thread.store(x(int(0)), value, Access::ATOMIC);
    });
    program
}

/// Two threads, `k` rounds of `i+=j` and `j+=i`, each as load, load, store.
pub fn fib(k: usize) -> Program {
    let mut program = Program::new("fib");
    let pair = numbers(&mut program, "pair", 2);
    processes(&mut program, 0..2, |thread, tid| {
        let [round, mine, other] =
            ["round", "mine", "other"].map(|name| thread.register(name, INT));
        let start = thread.here();
        let less = Expr::compare(Compare::Less, thread.get(round), int(k as i64));
        let end = thread.branch(less);
        let own = thread.get(tid);
        let others = Expr::binary(Binary::Subtract, int(1), own.clone());
        thread.load(mine, pair(own.clone()), Access::ATOMIC);
        thread.load(other, pair(others), Access::ATOMIC);
        thread.store(pair(own), add(thread.get(mine), thread.get(other)), Access::ATOMIC);
        thread.assign(round, add(thread.get(round), int(1)));
        thread.jump(start);
        thread.go_on_from(end);
    });
    program
}

/// The last zero of an array that `n` threads fill from left to right, one element each, while one
/// looks for it from right to left.
pub fn lastzero(n: usize) -> Program {
    let mut program = Program::new("lastzero");
    let array = numbers(&mut program, "array", n as u32 + 1);
    processes(&mut program, 0..1, |thread, _| {
        let [i, seen] = ["i", "seen"].map(|name| thread.register(name, INT));
        thread.assign(i, int(n as i64));
        let look = thread.here();
        thread.load(seen, array(thread.get(i)), Access::ATOMIC);
        let is_zero = thread.branch(Expr::compare(Compare::NotEqual, thread.get(seen), int(0)));
        thread.assign(i, add(thread.get(i), int(-1)));
        thread.jump(look);
        thread.go_on_from(is_zero);
    });
    processes(&mut program, 1..n + 1, |thread, tid| {
        let seen = thread.register("seen", INT);
        let before = add(thread.get(tid), int(-1));
        thread.load(seen, array(before), Access::ATOMIC);
        let own = array(thread.get(tid));
        thread.store(own, add(thread.get(seen), int(1)), Access::ATOMIC);
    });
    program
}

/// `n` atomic increments of one variable.
pub fn increments(n: usize) -> Program {
    let mut program = Program::new("increments");
    let x = numbers(&mut program, "x", 1);
    processes(&mut program, 0..n, |thread, _| {
        let (on, value) = (x(int(0)), int(1));
        thread.then(Action::Modify {
            old: None,
            on,
            update: Update::Add,
            value,
            order: MemoryOrder::SequentiallyConsistent,
        });
    });
    program
}
