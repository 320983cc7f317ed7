//! Litmus tests: the small programs by which memory models are known, with all orders and fences.

use crate::agree::check;
use crate::program::{Op, Program, Statement};
use crate::search::{options, search};
use mazurka_core::MemoryOrder::{
    self, Acquire, AcquireRelease, Relaxed, Release, SequentiallyConsistent as Sc,
};
use mazurka_explore::MemoryModel;

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

/// What stands between two accesses of a thread.
const FENCES: [Option<MemoryOrder>; 5] =
    [None, Some(Acquire), Some(Release), Some(AcquireRelease), Some(Sc)];

fn read(x: usize, order: MemoryOrder) -> Op {
    Op::Read(x, order)
}

fn write(x: usize, order: MemoryOrder) -> Op {
    Op::Write(x, 1, order)
}

/// A shape: what each thread does, and how it is known.
struct Shape {
    name: &'static str,
    threads: &'static [&'static [(char, usize, i64)]],
}

/// `R` reads and `W` writes the variable, the latter this value; `U` adds one.
const SHAPES: [Shape; 14] = [
    Shape { name: "SB", threads: &[&[('W', X, 1), ('R', Y, 0)], &[('W', Y, 1), ('R', X, 0)]] },
    Shape { name: "MP", threads: &[&[('W', X, 1), ('W', Y, 1)], &[('R', Y, 0), ('R', X, 0)]] },
    Shape { name: "LB", threads: &[&[('R', X, 0), ('W', Y, 1)], &[('R', Y, 0), ('W', X, 1)]] },
    Shape { name: "S", threads: &[&[('W', X, 2), ('W', Y, 1)], &[('R', Y, 0), ('W', X, 1)]] },
    Shape { name: "R", threads: &[&[('W', X, 1), ('W', Y, 1)], &[('W', Y, 2), ('R', X, 0)]] },
    Shape { name: "2+2W", threads: &[&[('W', X, 1), ('W', Y, 2)], &[('W', Y, 1), ('W', X, 2)]] },
    Shape { name: "CoRR", threads: &[&[('W', X, 1)], &[('R', X, 0), ('R', X, 0)]] },
    Shape { name: "CoWR", threads: &[&[('W', X, 1), ('R', X, 0)], &[('W', X, 2)]] },
    Shape { name: "CoWW", threads: &[&[('W', X, 1), ('W', X, 2)], &[('R', X, 0)]] },
    Shape {
        name: "WRC",
        threads: &[&[('W', X, 1)], &[('R', X, 0), ('W', Y, 1)], &[('R', Y, 0), ('R', X, 0)]],
    },
    Shape {
        name: "ISA2",
        threads: &[
            &[('W', X, 1), ('W', Y, 1)],
            &[('R', Y, 0), ('W', Z, 1)],
            &[('R', Z, 0), ('R', X, 0)],
        ],
    },
    Shape {
        name: "Z6",
        threads: &[
            &[('W', X, 1), ('W', Y, 1)],
            &[('W', Y, 2), ('W', Z, 1)],
            &[('R', Z, 0), ('R', X, 0)],
        ],
    },
    Shape {
        name: "IRIW",
        threads: &[
            &[('W', X, 1)],
            &[('W', Y, 1)],
            &[('R', X, 0), ('R', Y, 0)],
            &[('R', Y, 0), ('R', X, 0)],
        ],
    },
    Shape {
        name: "MP+U",
        threads: &[&[('W', X, 1), ('W', Y, 1)], &[('U', Y, 0)], &[('R', Y, 0), ('R', X, 0)]],
    },
];

/// The shape with these orders for reads, writes and updates, and this fence between accesses.
fn program(shape: &Shape, orders: [MemoryOrder; 3], fence: Option<MemoryOrder>) -> Program {
    let op = |&(kind, x, value): &(char, usize, i64)| match kind {
        'R' => Op::Read(x, orders[0]),
        'W' => Op::Write(x, value, orders[1]),
        _ => Op::Add(x, orders[2]),
    };
    let thread = |accesses: &&[(char, usize, i64)]| {
        let mut thread: Vec<Statement> = Vec::new();
        for access in *accesses {
            if !thread.is_empty() {
                thread.extend(fence.map(|fence| Statement::from(Op::Fence(fence))));
            }
            thread.push(op(access).into());
        }
        thread
    };
    Program { threads: shape.threads.iter().map(thread).collect(), strong: None }
}

/// Every shape with all orders of its reads and writes, and every fence: 14 · 9 · 5 programs, under
/// four models.
#[test]
fn shapes_with_all_orders_and_fences() {
    let mut all = Vec::new();
    for shape in &SHAPES {
        for reads in [Relaxed, Acquire, Sc] {
            for writes in [Relaxed, Release, Sc] {
                for fence in FENCES {
                    let update = if writes == Relaxed { Relaxed } else { AcquireRelease };
                    all.push((shape.name, program(shape, [reads, writes, update], fence)));
                }
            }
        }
    }
    assert_eq!(all.len(), 630);
    for (name, program) in mazurka_effort::sample(all) {
        for model in MemoryModel::ALL {
            assert!(check(&program, model).is_some(), "{name} is small");
        }
    }
}

/// How many graphs there are under each model, and whether threads see what only weak memory shows.
#[track_caller]
fn counts(program: &Program, weak: &[&[i64]], expected: [(usize, bool); 3]) {
    let models = [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Rc11];
    for (model, (n_graphs, is_seen)) in models.into_iter().zip(expected) {
        let found = search(program, options(model));
        let is_weak = |graph: &crate::oracle::Graph| {
            let seen = |thread: &Vec<crate::oracle::Event>| -> Vec<i64> {
                let reads = thread.iter().filter(|event| matches!(event.op, Op::Read(..)));
                reads.map(|event| event.read).collect()
            };
            graph.threads.iter().map(seen).eq(weak.iter().map(|thread| thread.to_vec()))
        };
        let is_seen_here = found.graphs.iter().any(is_weak);
        assert_eq!((found.graphs.len(), is_seen_here), (n_graphs, is_seen), "{model}");
    }
}

/// The numbers that an enumeration in another language has found.
#[test]
fn known_counts() {
    let sb = |order| {
        Program::new(&[&[write(X, order), read(Y, order)], &[write(Y, order), read(X, order)]])
    };
    counts(&sb(Relaxed), &[&[0], &[0]], [(3, false), (4, true), (4, true)]);
    counts(&sb(Sc), &[&[0], &[0]], [(3, false), (3, false), (3, false)]);
    let fenced = Program::new(&[
        &[write(X, Relaxed), Op::Fence(Sc), read(Y, Relaxed)],
        &[write(Y, Relaxed), Op::Fence(Sc), read(X, Relaxed)],
    ]);
    counts(&fenced, &[&[0], &[0]], [(3, false), (3, false), (3, false)]);
    let mp =
        |w, r| Program::new(&[&[write(X, Relaxed), write(Y, w)], &[read(Y, r), read(X, Relaxed)]]);
    counts(&mp(Relaxed, Relaxed), &[&[], &[1, 0]], [(3, false), (3, false), (4, true)]);
    counts(&mp(Release, Acquire), &[&[], &[1, 0]], [(3, false), (3, false), (3, false)]);
    let lb = Program::new(&[
        &[read(X, Relaxed), write(Y, Relaxed)],
        &[read(Y, Relaxed), write(X, Relaxed)],
    ]);
    counts(&lb, &[&[1], &[1]], [(3, false), (3, false), (3, false)]);
    let iriw = |w, r| {
        Program::new(&[
            &[write(X, w)],
            &[write(Y, w)],
            &[read(X, r), read(Y, r)],
            &[read(Y, r), read(X, r)],
        ])
    };
    let weak: [&[i64]; 4] = [&[], &[], &[1, 0], &[1, 0]];
    counts(&iriw(Release, Acquire), &weak, [(15, false), (15, false), (16, true)]);
    counts(&iriw(Sc, Sc), &weak, [(15, false), (15, false), (15, false)]);
    let ww = Program::new(&[
        &[Op::Write(X, 1, Relaxed), Op::Write(Y, 2, Relaxed)],
        &[Op::Write(Y, 1, Relaxed), Op::Write(X, 2, Relaxed)],
        &[read(X, Relaxed), read(X, Relaxed)],
        &[read(Y, Relaxed), read(Y, Relaxed)],
    ]);
    let weak: [&[i64]; 4] = [&[], &[], &[2, 1], &[2, 1]];
    counts(&ww, &weak, [(108, false), (108, false), (144, true)]);
}

/// On x86, a fence that is not sequentially consistent is no instruction.
#[test]
fn weak_fences_are_nothing_under_total_store_order() {
    let sb = |fence| {
        Program::new(&[
            &[write(X, Relaxed), Op::Fence(fence), read(Y, Relaxed)],
            &[write(Y, Relaxed), Op::Fence(fence), read(X, Relaxed)],
        ])
    };
    for fence in [Acquire, Release, AcquireRelease] {
        counts(&sb(fence), &[&[0], &[0]], [(3, false), (4, true), (4, true)]);
    }
    counts(&sb(Sc), &[&[0], &[0]], [(3, false), (3, false), (3, false)]);
}

/// Where a tool that strengthens the model has fewer: *scb* of RC11 has *sb≠loc ; hb ; sb≠loc*, and
/// not *sb ; hb ; sb*. In `Z6.U`, what comes before the update by synchronisation is not before it
/// in *psc*, for the update is of the object that synchronises; in `WWmerge`, two stores to one
/// variable follow each other.
#[test]
fn counts_of_rc11_to_the_letter() {
    let z6u = Program::new(&[
        &[Op::Write(X, 1, Sc), Op::Write(Y, 1, Release)],
        &[Op::Add(Y, Sc), read(Y, Relaxed)],
        &[Op::Write(Y, 3, Sc), read(X, Sc)],
    ]);
    let wwmerge = Program::new(&[
        &[read(X, Acquire), read(Y, Sc)],
        &[Op::Write(X, 1, Sc), Op::Write(X, 2, Sc)],
        &[write(Y, Sc), read(X, Sc)],
    ]);
    for (program, n_graphs) in [(z6u, 24), (wwmerge, 18)] {
        assert_eq!(check(&program, MemoryModel::Rc11), Some(n_graphs));
    }
}

/// A load may return the eighth-oldest store, and a fence between relaxed accesses counts.
#[test]
fn history_has_no_limit() {
    let stores: Vec<Op> = (1..=9).map(|value| Op::Write(X, value, Relaxed)).collect();
    let program = Program::new(&[&stores, &[read(X, Relaxed)]]);
    let found = search(&program, options(MemoryModel::Rc11));
    assert_eq!(found.graphs.len(), 10);
}
