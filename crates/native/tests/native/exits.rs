//! The end of the process, against an enumeration: random trees of threads that store, assert,
//! lock, register handlers and end themselves or the process in every way there is.
//!
//! [`World::explore`] takes the definitions: the process ends in the step that ends it, and no
//! thread moves after that. The library lets others go on, and has to come to the same answer with
//! every reduction.

use crate::numbers;
use crate::program::{GCC, Program};
use mazurka_core::Verdict;
use rustc_hash::FxHashSet;
use serde_json::json;
use std::fmt::Write as _;

/// How many programs are made by full effort.
const N_PROGRAMS: u64 = 40;
const MAX_THREADS: usize = 4;
const N_HANDLERS: usize = 2;

/// A statement of a thread or a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Statement {
    Store(usize, u8),
    /// That a variable does not have a value.
    Assert(usize, u8),
    Lock,
    Unlock,
    Create(usize),
    Join(usize),
    Register(usize),
    End(End),
}

/// How a thread ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum End {
    /// From `main`, that is an exit.
    Return,
    Thread,
    Exit,
    AtOnce,
    Quickly,
}

#[derive(Debug)]
struct Text {
    threads: Vec<Vec<Statement>>,
    handlers: Vec<Vec<Statement>>,
}

/// Numbers that only look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

impl Text {
    fn random(random: &mut Random) -> Self {
        let n_threads = 2 + random.below(MAX_THREADS as u64 - 1) as usize;
        let mut threads = vec![Vec::new(); n_threads];
        let parents: Vec<usize> =
            (0..n_threads).map(|idx| random.below(idx.max(1) as u64) as usize).collect();
        for (idx, statements) in threads.iter_mut().enumerate() {
            let children = (idx + 1..n_threads).filter(|&child| parents[child] == idx);
            let mut left: Vec<usize> = children.collect();
            let mut begun = Vec::new();
            for _ in 0..2 + random.below(3) {
                statements.push(simple(random));
                if let Some(child) = left.pop() {
                    statements.push(Statement::Create(child));
                    begun.push(child);
                }
                if random.below(4) == 0
                    && let Some(child) = begun.pop()
                {
                    statements.push(Statement::Join(child));
                }
                if random.below(5) == 0 {
                    statements.push(Statement::Register(random.below(N_HANDLERS as u64) as usize));
                }
            }
            for child in left.into_iter().chain(begun) {
                if parents[child] == idx && !statements.contains(&Statement::Create(child)) {
                    statements.push(Statement::Create(child));
                }
                if random.below(2) == 0 {
                    statements.push(Statement::Join(child));
                }
            }
            let end = match random.below(10) {
                0 | 1 => End::Exit,
                2 => End::AtOnce,
                3 => End::Quickly,
                4 | 5 => End::Thread,
                _ => End::Return,
            };
            statements.push(Statement::End(end));
        }
        let handlers = (0..N_HANDLERS)
            .map(|_| {
                let mut statements: Vec<_> =
                    (0..1 + random.below(2)).map(|_| simple(random)).collect();
                if random.below(6) == 0 {
                    statements.push(Statement::End(End::Exit));
                }
                statements
            })
            .collect();
        Self { threads, handlers }
    }

    fn c(&self) -> String {
        let mut text = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
             #include <stdlib.h>\n#include <unistd.h>\natomic_int x[2];\n\
             pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\npthread_t t[8];\n"
            .to_owned();
        for idx in 1..self.threads.len() {
            _ = writeln!(text, "void *t{idx}(void *);");
        }
        for (idx, statements) in self.handlers.iter().enumerate() {
            _ = writeln!(text, "void h{idx}(void) {{");
            statements.iter().for_each(|it| _ = writeln!(text, "    {}", it.c()));
            text += "}\n";
        }
        for (idx, statements) in self.threads.iter().enumerate().rev() {
            match idx {
                0 => text += "int main(void) {\n",
                _ => _ = writeln!(text, "void *t{idx}(void *unused) {{\n    (void)unused;"),
            }
            statements.iter().for_each(|it| _ = writeln!(text, "    {}", it.c()));
            text += "}\n";
        }
        text
    }
}

/// A statement that handlers may have, too.
fn simple(random: &mut Random) -> Statement {
    let variable = random.below(2) as usize;
    let value = 1 + random.below(2) as u8;
    match random.below(12) {
        0..5 => Statement::Store(variable, value),
        5..9 => Statement::Assert(variable, value),
        9 | 10 => Statement::Lock,
        _ => Statement::Unlock,
    }
}

impl Statement {
    fn c(self) -> String {
        match self {
            Self::Store(variable, value) => format!("x[{variable}] = {value};"),
            Self::Assert(variable, value) => format!("assert(x[{variable}] != {value});"),
            Self::Lock => "pthread_mutex_lock(&m);".to_owned(),
            // A thread that does not hold it must not give it back.
            Self::Unlock => {
                "if (pthread_mutex_trylock(&m) == 0) pthread_mutex_unlock(&m);".to_owned()
            }
            Self::Create(child) => format!("pthread_create(&t[{child}], 0, t{child}, 0);"),
            Self::Join(child) => format!("pthread_join(t[{child}], 0);"),
            Self::Register(handler) => format!("atexit(h{handler});"),
            Self::End(End::Return) => "return 0;".to_owned(),
            Self::End(End::Thread) => "pthread_exit(0);".to_owned(),
            Self::End(End::Exit) => "exit(0);".to_owned(),
            Self::End(End::AtOnce) => "_exit(0);".to_owned(),
            Self::End(End::Quickly) => "quick_exit(0);".to_owned(),
        }
    }
}

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Unborn,
    At(usize),
    Ended,
    /// Has called `exit`, and waits for the right to.
    Exits,
    /// Is about to take a handler off the list, or is in one.
    Handles,
    In(usize, usize),
}

/// A state of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    places: Vec<Place>,
    variables: [u8; 2],
    holder: Option<usize>,
    exiting: Option<usize>,
    list: Vec<usize>,
    is_over: bool,
}

/// What can go wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    assertion: bool,
    deadlock: bool,
}

impl World {
    fn explore(text: &Text) -> Found {
        let mut places = vec![Place::Unborn; text.threads.len()];
        places[0] = Place::At(0);
        let start = Self {
            places,
            variables: [0; 2],
            holder: None,
            exiting: None,
            list: Vec::new(),
            is_over: false,
        };
        let mut found = Found::default();
        let mut seen = FxHashSet::default();
        let mut open = vec![start];
        while let Some(world) = open.pop() {
            if world.is_over || !seen.insert(world.clone()) {
                continue;
            }
            let mut can_move = false;
            for idx in 0..world.places.len() {
                let mut next = world.clone();
                match next.step(text, idx) {
                    None => {}
                    Some(true) => {
                        can_move = true;
                        open.push(next);
                    }
                    Some(false) => {
                        can_move = true;
                        found.assertion = true;
                    }
                }
            }
            let is_left = |place: &Place| !matches!(place, Place::Unborn | Place::Ended);
            found.deadlock |= !can_move && world.places.iter().any(is_left);
        }
        found
    }

    /// Nothing if the thread cannot move; whether its assertion holds.
    fn step(&mut self, text: &Text, idx: usize) -> Option<bool> {
        match self.places[idx] {
            Place::Unborn => None,
            // The last thread of all has ended, and `main` by itself.
            Place::Ended => {
                let all = self.places.iter().all(|it| matches!(it, Place::Unborn | Place::Ended));
                (idx == 0 && all).then(|| self.places[0] = Place::Exits)?;
                Some(true)
            }
            Place::Exits => {
                self.exiting.is_none_or(|it| it == idx).then_some(())?;
                self.exiting = Some(idx);
                self.places[idx] = Place::Handles;
                Some(true)
            }
            Place::Handles => {
                match self.list.pop() {
                    Some(handler) => self.places[idx] = Place::In(handler, 0),
                    None => self.is_over = true,
                }
                Some(true)
            }
            Place::In(handler, at) => match text.handlers[handler].get(at) {
                None => {
                    self.places[idx] = Place::Handles;
                    Some(true)
                }
                Some(&statement) => self.take(idx, statement, Place::In(handler, at + 1)),
            },
            Place::At(at) => self.take(idx, text.threads[idx][at], Place::At(at + 1)),
        }
    }

    fn take(&mut self, idx: usize, statement: Statement, then: Place) -> Option<bool> {
        let mut then = then;
        match statement {
            Statement::Store(variable, value) => self.variables[variable] = value,
            Statement::Assert(variable, value) if self.variables[variable] == value => {
                return Some(false);
            }
            Statement::Assert(..) => {}
            Statement::Lock => {
                self.holder.is_none().then_some(())?;
                self.holder = Some(idx);
            }
            // It is tried, and given back at once.
            Statement::Unlock => {}
            Statement::Create(child) => self.places[child] = Place::At(0),
            Statement::Join(child) => (self.places[child] == Place::Ended).then_some(())?,
            Statement::Register(handler) => self.list.push(handler),
            Statement::End(End::Return) if idx == 0 => then = Place::Exits,
            Statement::End(End::Return | End::Thread) => then = Place::Ended,
            Statement::End(End::Exit) => then = Place::Exits,
            Statement::End(End::AtOnce | End::Quickly) => self.is_over = true,
        }
        self.places[idx] = then;
        Some(true)
    }
}

#[test]
fn the_end_of_the_process_is_as_enumerated() {
    let mut n_found = [0; 3];
    for seed in mazurka_effort::seeds(0..N_PROGRAMS) {
        let text = Text::random(&mut Random(seed));
        let found = World::explore(&text);
        let folder = tempfile::TempDir::new().expect("there is room");
        let source = match seed % 3 {
            0 => numbers::used_before(&text.c()),
            _ => text.c(),
        };
        std::fs::write(folder.path().join("exits.c"), source).expect("there is room");
        let flags = [["-O0", "-w"], ["-O2", "-w"]][seed as usize % 2];
        let program = Program::build_in(folder.path(), GCC, "exits", &flags);
        let reductions: &[&str] = match seed % 4 {
            0 => &["optimal", "none"],
            1 => &["optimal", "dpor"],
            2 => &["optimal", "source"],
            _ => &["optimal", "monotonic"],
        };
        for (reduction, deadlock) in reductions.iter().flat_map(|&it| [(it, false), (it, true)]) {
            let is_wrong = found.assertion || deadlock && found.deadlock;
            let answer = program.explore(&json!({
                "reduction": reduction, "deadlock": deadlock, "leak": false,
            }));
            let said = match &answer.verdict {
                Some(Verdict::Holds(_)) => false,
                Some(Verdict::Violated(violated)) => {
                    let kind = violated.violation.kind.name();
                    assert!(
                        kind == "assertion" && found.assertion || kind == "deadlock" && deadlock,
                        "seed {seed}, {reduction}: {kind}\n{}",
                        text.c()
                    );
                    true
                }
                _ => panic!("seed {seed}: {} {:?}\n{}", answer.message, answer.error, text.c()),
            };
            assert_eq!(said, is_wrong, "seed {seed}, {reduction}, {found:?}\n{}", text.c());
        }
        n_found[usize::from(found.assertion) + usize::from(found.deadlock)] += 1;
    }
    let is_enough = n_found.iter().all(|&n| n > 0) || !mazurka_effort::is_full();
    assert!(is_enough, "programs of all kinds: {n_found:?}");
}
