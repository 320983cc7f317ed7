//! Data races by the definition of C11: random programs with memory orders and fences, in C and in
//! Rust, and an enumeration of their sequentially consistent executions that knows nothing of
//! clocks.
//!
//! The judge takes every interleaving, plain accesses included, and orders its events by the letter
//! of the standard (`support/c11.rs`). Every engine must say the same of every program.

use crate::support::c11::{Event, What, c_order, is_racy};
use crate::support::{Random, say, with_file};
use mazurka_core::MemoryOrder as Order;
use mazurka_effort::seeds;
use std::fmt::Write as _;
use std::ops::Range;
use std::process::Command;
use tempfile::TempDir;

/// The programs that are made.
const SEEDS: Range<u64> = 0..200;

/// The engines that see every program, by the arguments that choose them.
const ENGINES: [&[&str]; 4] = [
    &["--engine", "native"],
    &["--engine", "vm"],
    &["--engine", "vm", "--reduction", "dpor"],
    &["--engine", "statespace"],
];

/// One engine sees a program in so many.
const CIRCUITS_EVERY: u64 = 4;

/// What a thread does next. Variables are `a` and `b`, atomic but for what says otherwise, and `x`
/// and `y`, plain; there is one local.
#[derive(Clone, Debug)]
enum Statement {
    Load(char, Order),
    Store(char, i32, Order),
    Add(char, Order),
    Swap(char, i32, Order),
    CompareExchange {
        object: char,
        expected: i32,
        new: i32,
        order: Order,
        failure: Order,
    },
    Fence(Order),
    Read(char),
    Write(char, i32),
    Lock,
    Unlock,
    /// The rest, this many, is left out unless the local has this value.
    Unless(i32, usize),
}
use Statement as S;

struct Program {
    threads: Vec<Vec<Statement>>,
}

impl Program {
    fn new(random: &mut Random) -> Self {
        let n_threads = 2 + random.below(2);
        let n_parts = if n_threads == 2 { 2 } else { 1 };
        let thread = |random: &mut Random| {
            let mut statements = Vec::new();
            for _ in 0..n_parts + random.below(2) {
                part(random, &mut statements);
            }
            statements
        };
        Self { threads: (0..n_threads).map(|_| thread(random)).collect() }
    }
}

/// A few statements: data that is published, data that is looked for, or anything.
fn part(random: &mut Random, to: &mut Vec<Statement>) {
    let data = || random_plain as fn(&mut Random) -> Statement;
    match random.below(8) {
        0 | 1 => {
            to.push(data()(random));
            maybe_fence(random, to);
            to.push(change(random));
        }
        2..5 => {
            let object = atomic(random);
            to.push(match random.below(4) {
                0 => change(random),
                _ => S::Load(object, load_order(random)),
            });
            maybe_fence(random, to);
            to.push(S::Unless(random.below(2) as i32 + i32::from(random.below(3) > 0), 1));
            to.push(data()(random));
        }
        5 => to.extend([S::Lock, data()(random), change(random), S::Unlock]),
        6 => to.push(change(random)),
        _ => to.push(data()(random)),
    }
}

/// A plain access, now and then to what others access atomically.
fn random_plain(random: &mut Random) -> Statement {
    let object = match random.below(12) {
        0 => atomic(random),
        1..4 => 'y',
        _ => 'x',
    };
    match random.below(3) {
        0 => S::Read(object),
        _ => S::Write(object, random.below(3) as i32),
    }
}

fn atomic(random: &mut Random) -> char {
    if random.below(4) == 0 { 'b' } else { 'a' }
}

fn maybe_fence(random: &mut Random, to: &mut Vec<Statement>) {
    let fences =
        [Order::Acquire, Order::Release, Order::AcquireRelease, Order::SequentiallyConsistent];
    if random.below(3) == 0 {
        to.push(S::Fence(fences[random.below(4) as usize]));
    }
}

/// An operation that writes.
fn change(random: &mut Random) -> Statement {
    let object = atomic(random);
    let any = Order::ALL[random.below(5) as usize];
    let value = 1 + random.below(2) as i32;
    match random.below(6) {
        0 => S::Add(object, any),
        1 => S::Swap(object, value, any),
        2 => S::CompareExchange {
            object,
            expected: random.below(2) as i32,
            new: value,
            order: any,
            failure: load_order(random),
        },
        _ => {
            let orders = [Order::Relaxed, Order::Release, Order::SequentiallyConsistent];
            S::Store(object, value, orders[random.below(3) as usize])
        }
    }
}

fn load_order(random: &mut Random) -> Order {
    [Order::Relaxed, Order::Acquire, Order::SequentiallyConsistent][random.below(3) as usize]
}

/// All executions of a program, one step at a time.
struct Judge<'a> {
    threads: &'a [Vec<Statement>],
    events: Vec<Event>,
}

#[derive(Clone)]
struct State {
    at: Vec<usize>,
    locals: Vec<i32>,
    memory: [i32; 4],
    holder: Option<usize>,
}

impl Judge<'_> {
    /// Whether some execution has a data race.
    fn finds_race(program: &Program) -> bool {
        let n_threads = program.threads.len();
        let state = State {
            at: vec![0; n_threads],
            locals: vec![0; n_threads],
            memory: [0; 4],
            holder: None,
        };
        Judge { threads: &program.threads, events: Vec::new() }.goes_wrong(&state)
    }

    fn goes_wrong(&mut self, state: &State) -> bool {
        let mut has_moved = false;
        for thread in 0..self.threads.len() {
            let mut next = state.clone();
            let Some(event) = self.step(&mut next, thread) else { continue };
            has_moved = true;
            self.events.push(event);
            if self.goes_wrong(&next) {
                return true;
            }
            self.events.pop();
        }
        !has_moved && is_racy(&self.events)
    }

    /// Takes the next step of a thread, if it can.
    fn step(&self, state: &mut State, thread: usize) -> Option<Event> {
        while let Some(S::Unless(value, n)) = self.threads[thread].get(state.at[thread]) {
            let is_left_out = state.locals[thread] != *value;
            state.at[thread] += 1 + if is_left_out { *n } else { 0 };
        }
        let statement = self.threads[thread].get(state.at[thread])?;
        state.at[thread] += 1;
        let index = |object: char| "abxy".find(object).expect("it is a variable");
        let access = |object, reads, writes, is_atomic, order| {
            let bytes = (index(object) as u32, index(object) as u32 + 1);
            Some(Event { thread, what: What::Access { bytes, reads, writes, is_atomic }, order })
        };
        let none = Order::Relaxed;
        match *statement {
            S::Load(object, order) => {
                state.locals[thread] = state.memory[index(object)];
                access(object, true, false, true, order)
            }
            S::Store(object, value, order) => {
                state.memory[index(object)] = value;
                access(object, false, true, true, order)
            }
            S::Add(object, order) => {
                state.locals[thread] = state.memory[index(object)];
                state.memory[index(object)] += 1;
                access(object, true, true, true, order)
            }
            S::Swap(object, value, order) => {
                state.locals[thread] = state.memory[index(object)];
                state.memory[index(object)] = value;
                access(object, true, true, true, order)
            }
            S::CompareExchange { object, expected, new, order, failure } => {
                let old = state.memory[index(object)];
                state.locals[thread] = old;
                if old != expected {
                    return access(object, true, false, true, failure);
                }
                state.memory[index(object)] = new;
                access(object, true, true, true, order)
            }
            S::Fence(order) => Some(Event { thread, what: What::Fence, order }),
            S::Read(object) => {
                state.locals[thread] = state.memory[index(object)];
                access(object, true, false, false, none)
            }
            S::Write(object, value) => {
                state.memory[index(object)] = value;
                access(object, false, true, false, none)
            }
            S::Lock if state.holder.is_some() => None,
            S::Lock => {
                state.holder = Some(thread);
                Some(Event { thread, what: What::Lock, order: none })
            }
            S::Unlock => {
                state.holder = None;
                Some(Event { thread, what: What::Unlock, order: none })
            }
            S::Unless(..) => unreachable!("it was passed"),
        }
    }
}

/// The program in C.
fn in_c(program: &Program) -> String {
    let mut text = "#include <pthread.h>\nint a, b, x, y;\n\
                    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
        .to_owned();
    for (number, statements) in program.threads.iter().enumerate() {
        _ = writeln!(text, "void *t{number}(void *arg) {{\n    int r = 0, s = 0;");
        let mut open = None;
        for statement in statements {
            _ = writeln!(text, "    {}", c_statement(statement));
            close(&mut open, statement, &mut text);
        }
        text += "    (void)arg;\n    return (void *)(long)s;\n}\n";
    }
    let n_threads = program.threads.len();
    _ = writeln!(text, "int main(void) {{\n    pthread_t t[{n_threads}];");
    for thread in 0..n_threads {
        _ = writeln!(text, "    pthread_create(&t[{thread}], 0, t{thread}, 0);");
    }
    for thread in 0..n_threads {
        _ = writeln!(text, "    pthread_join(t[{thread}], 0);");
    }
    text + "    return 0;\n}\n"
}

/// Closes a block behind its last statement.
fn close(open: &mut Option<usize>, statement: &Statement, text: &mut String) {
    if let S::Unless(_, n) = statement {
        *open = Some(*n);
        return;
    }
    if let Some(n) = open {
        *n -= 1;
        if *n == 0 {
            *open = None;
            text.push_str("    }\n");
        }
    }
}

fn c_statement(statement: &Statement) -> String {
    match statement {
        S::Load(object, order) => format!("r = __atomic_load_n(&{object}, {});", c_order(*order)),
        S::Store(object, value, order) => {
            format!("__atomic_store_n(&{object}, {value}, {});", c_order(*order))
        }
        S::Add(object, order) => {
            format!("r = __atomic_fetch_add(&{object}, 1, {});", c_order(*order))
        }
        S::Swap(object, value, order) => {
            format!("r = __atomic_exchange_n(&{object}, {value}, {});", c_order(*order))
        }
        S::CompareExchange { object, expected, new, order, failure } => format!(
            "r = {expected}; __atomic_compare_exchange_n(&{object}, &r, {new}, 0, {}, {});",
            c_order(*order),
            c_order(*failure)
        ),
        S::Fence(order) => format!("__atomic_thread_fence({});", c_order(*order)),
        // Used, or the compiler leaves it out.
        S::Read(object) => format!("r = {object}; s = 3 * s + r;"),
        S::Write(object, value) => format!("{object} = {value};"),
        S::Lock => "pthread_mutex_lock(&m);".to_owned(),
        S::Unlock => "pthread_mutex_unlock(&m);".to_owned(),
        S::Unless(value, _) => format!("if (r == {value}) {{"),
    }
}

/// What an engine says: whether it finds a data race. The definition is about sequentially
/// consistent executions.
fn finds(text: &str, engine: &[&str]) -> bool {
    let arguments = ["check", "x.c", "--property", "race", "--memory", "sc", "--json", "-"];
    let said = with_file("x.c", text, &[&arguments, engine].concat());
    let json: serde_json::Value = serde_json::from_str(&said.stdout)
        .unwrap_or_else(|_| panic!("{engine:?}: {}{}\n{text}", said.stdout, said.stderr));
    match (json["verdict"].as_str(), json["violation"]["kind"].as_str()) {
        (Some("holds"), _) => false,
        (Some("violated"), Some("race")) => true,
        other => panic!("{engine:?}: {other:?}\n{text}"),
    }
}

/// The programs whose number has this remainder by 2: halves, so that two cores share them.
fn all_engines_agree(half: u64) {
    let (mut n_races, mut n_seen) = (0, 0);
    let mut wrong = Vec::new();
    for seed in seeds(SEEDS).filter(|seed| seed % 2 == half) {
        let program = Program::new(&mut Random(7919 * seed + 5));
        let expected = Judge::finds_race(&program);
        let text = in_c(&program);
        let circuits: &[&str] = &["--engine", "portfolio"];
        let is_small = program.threads.iter().map(Vec::len).sum::<usize>() <= 12;
        let circuits = (seed / 2 % CIRCUITS_EVERY == 0 && is_small).then_some(circuits);
        for engine in ENGINES.into_iter().chain(circuits) {
            if finds(&text, engine) != expected {
                wrong.push(format!("seed {seed}, {engine:?}: a race is {expected} of\n{text}"));
            }
        }
        n_races += u64::from(expected);
        n_seen += 1;
    }
    let n_wrong = wrong.len();
    wrong.truncate(5);
    assert!(wrong.is_empty(), "{n_wrong} answers are wrong:\n{}", wrong.join("\n"));
    // Neither answer is always right.
    let share = n_seen / 5..=n_seen - n_seen / 5;
    assert!(share.contains(&n_races), "{n_races} of {n_seen} have a race");
}

#[test]
fn engines_find_the_races_of_the_definition() {
    all_engines_agree(0);
}

#[test]
fn engines_find_the_races_of_the_definition_in_others() {
    all_engines_agree(1);
}

/// The program as a test in Rust.
fn in_rust(program: &Program, name: &str) -> String {
    let mut text = format!(
        "#[test]\nfn {name}() {{\n    static V: [AtomicI32; 4] = [const {{ AtomicI32::new(0) }}; 4];\n    \
         static M: Mutex<()> = Mutex::new(());\n    let threads = [\n"
    );
    for statements in &program.threads {
        text += "        std::thread::spawn(|| {\n    let mut r = 0;\n    let mut guard: Option<std::sync::MutexGuard<()>> = None;\n";
        let mut open = None;
        for statement in statements {
            _ = writeln!(text, "    {}", rust_statement(statement));
            close(&mut open, statement, &mut text);
        }
        text += "    let _ = (r, guard.is_some(), &mut guard, &mut r);\n        }),\n";
    }
    text + "    ];\n    threads.map(|thread| thread.join().unwrap());\n}\n"
}

fn rust_order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "Relaxed",
        Order::Acquire => "Acquire",
        Order::Release => "Release",
        Order::AcquireRelease => "AcqRel",
        Order::SequentiallyConsistent => "SeqCst",
    }
}

fn rust_statement(statement: &Statement) -> String {
    let v = |object: &char| format!("V[{}]", "abxy".find(*object).expect("it is a variable"));
    match statement {
        S::Load(object, order) => format!("r = {}.load({});", v(object), rust_order(*order)),
        S::Store(object, value, order) => {
            format!("{}.store({value}, {});", v(object), rust_order(*order))
        }
        S::Add(object, order) => format!("r = {}.fetch_add(1, {});", v(object), rust_order(*order)),
        S::Swap(object, value, order) => {
            format!("r = {}.swap({value}, {});", v(object), rust_order(*order))
        }
        S::CompareExchange { object, expected, new, order, failure } => format!(
            "r = {}.compare_exchange({expected}, {new}, {}, {}).unwrap_or_else(|old| old);",
            v(object),
            rust_order(*order),
            rust_order(*failure)
        ),
        S::Fence(order) => format!("fence({});", rust_order(*order)),
        S::Read(object) => {
            format!("r = std::hint::black_box(unsafe {{ *{}.as_ptr() }});", v(object))
        }
        S::Write(object, value) => format!("unsafe {{ *{}.as_ptr() = {value} }};", v(object)),
        S::Lock => "guard = Some(M.lock().unwrap());".to_owned(),
        S::Unlock => "drop(guard.take());".to_owned(),
        S::Unless(value, _) => format!("if r == {value} {{"),
    }
}

#[test]
fn tests_in_rust_have_the_races_of_the_definition() {
    let seeds = seeds(0..SEEDS.end / 2);
    let project = TempDir::new().expect("there is room");
    std::fs::create_dir_all(project.path().join("src")).expect("there is room");
    let manifest = "[package]\nname = \"orders\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    std::fs::write(project.path().join("Cargo.toml"), manifest).expect("there is room");
    let mut text = "#![cfg(test)]\n#![allow(unused)]\nuse std::sync::Mutex;\n\
                    use std::sync::atomic::{AtomicI32, Ordering::*, fence};\n"
        .to_owned();
    let mut expected = Vec::new();
    for seed in seeds {
        let program = Program::new(&mut Random(7919 * seed + 5));
        let name = format!("p{seed}");
        text += &in_rust(&program, &name);
        let verdict = if Judge::finds_race(&program) { "violated race" } else { "holds" };
        expected.push((name, verdict.to_owned()));
    }
    std::fs::write(project.path().join("src/lib.rs"), &text).expect("there is room");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command
        .args(["test", "--property", "race", "--memory", "sc", "--json", "-"])
        .current_dir(project.path());
    command.env_remove("LD_LIBRARY_PATH");
    let said = say(&mut command);
    let mut found: Vec<(String, String)> = Vec::new();
    for line in said.stdout.lines() {
        let value: serde_json::Value = serde_json::from_str(line).expect("a line is an object");
        let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let name = word(&value["file"]).rsplit(' ').next().unwrap_or_default().to_owned();
        let verdict = format!("{} {}", word(&value["verdict"]), word(&value["violation"]["kind"]));
        found.push((name, verdict.trim().to_owned()));
    }
    found.sort();
    expected.sort();
    let wrong: Vec<_> = expected.iter().filter(|it| !found.contains(it)).collect();
    assert!(wrong.is_empty(), "wanted {wrong:?}\n{}\n{text}", said.stderr);
    assert_eq!(found.len(), expected.len(), "{}", said.stderr);
}
