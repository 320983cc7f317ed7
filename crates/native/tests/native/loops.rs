//! Loops that wait or try again: how many executions programs of the literature have, and random
//! programs with such loops against an enumeration of all states, in which loops really go round.
//!
//! The environment has `MAZURKA_CHECK_LOOPS=1` for all of them: what the runtime computes of a
//! thread is then compared to what the thread does.

use crate::program::{CLANG, Compilers, GCC, Program};
use mazurka_core::Verdict;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The programs that the lab measures.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../lab/programs/loops")
}

/// The executions of a program that holds, and how many ended with a thread held in a loop.
fn counts(by: Compilers, name: &str, flags: &[&str]) -> (u64, u64) {
    let program = Program::build_in(&folder(), by, name, flags);
    let answer = program.explore(&json!({}));
    let is_proved = matches!(answer.verdict, Some(Verdict::Holds(_)));
    assert!(is_proved, "{name} {flags:?}: {} {:?}", answer.message, answer.error);
    (answer.statistics.executions, answer.statistics.blocked_executions)
}

#[test]
fn programs_have_as_many_executions_as_outcomes() {
    for (name, size, expected) in [
        ("ticket", "-DN=5", (120, 0)),
        ("mcs", "-DN=3", (24, 24)),
        ("central_barrier", "-DN=3", (36, 0)),
        ("treiber", "-DN=2", (10, 10)),
        ("cas_counter", "-DN=4", (24, 124)),
        ("seqlock", "-DN=1", (3, 5)),
        ("seqlock", "-DN=2", (9, 55)),
        ("linuxrwlocks", "-DN=2", (14, 136)),
        ("michael_scott", "-DN=2", (6, 4)),
        ("test_and_set", "-DN=5", (120, 0)),
        ("reader_writer", "-DN=2", (22, 2)),
        ("chase_lev", "-DN=1", (15, 0)),
    ] {
        for level in ["-O0", "-O1", "-O2"] {
            assert_eq!(counts(GCC, name, &[size, level]), expected, "gcc {name} {size} {level}");
        }
    }
}

#[test]
fn code_of_clang_that_is_not_optimised_has_as_many_executions() {
    if !mazurka_effort::has_tool("clang") {
        return;
    }
    for (name, flags, expected) in [
        ("mcs", &["-DN=3", "-O0"][..], (24, 24)),
        ("michael_scott", &["-DN=2", "-O0"], (6, 4)),
        ("michael_scott", &["-DN=3", "-DDEQUEUERS=1", "-O0"], (666, 750)),
        ("treiber", &["-DN=3", "-O0"], (270, 942)),
    ] {
        assert_eq!(counts(CLANG, name, flags), expected, "clang {name} {flags:?}");
    }
}

/// Programs of the literature: how many executions they have to their ends, and how many at the
/// most end with a thread held. How many of those there are depends on what the compiler keeps.
#[test]
fn programs_of_the_literature_have_as_many_executions_as_outcomes() {
    for (name, size, outcomes, most_held) in [
        ("peterson", "-DN=1", 4, 6),
        ("peterson", "-DN=2", 48, 88),
        ("dekker", "-DN=1", 4, 6),
        ("bakery", "-DN=2", 9, 0),
        ("filter", "-DN=2", 4, 6),
        ("lamport_fast", "-DN=2", 16, 0),
        ("burns", "-DN=2", 11, 9),
        ("clh", "-DN=3", 6, 0),
        ("anderson", "-DN=3", 6, 0),
        ("ttas", "-DN=3", 36, 0),
        ("cas_lock", "-DN=3", 6, 0),
        ("dissemination_barrier", "-DN=3", 1, 0),
        ("spsc_ring", "-DN=3", 9, 2),
        ("bounded_mpmc", "-DN=2", 4, 16),
        ("mpsc", "-DN=3", 6, 0),
        ("two_lock_queue", "-DN=2", 8, 0),
        ("harris_list", "-DN=2", 17, 8),
        ("hazard_pointer", "-DN=2", 49, 0),
        ("rcu", "-DN=2", 84, 0),
        ("reference_count", "-DN=2", 48, 8),
        ("once", "-DN=3", 12, 0),
        ("fetch_max", "-DN=3", 12, 7),
        ("left_right", "-DN=2", 39, 0),
        ("semaphore", "-DN=2", 4, 0),
        ("elimination", "-DN=3", 63, 0),
    ] {
        for level in ["-O0", "-O2"] {
            let (executions, held) = counts(GCC, name, &[size, level]);
            assert_eq!(executions, outcomes, "gcc {name} {size} {level}");
            assert!(held <= most_held, "gcc {name} {size} {level}: {held} are held");
        }
    }
}

#[test]
fn what_a_call_is_given_belongs_to_the_state_of_a_loop() {
    for wrong in ["-DWRONG=5", "-DWRONG=7"] {
        for level in ["-O0", "-O1", "-O2"] {
            let answer = Program::build("operands", &[wrong, level]).explore(&json!({}));
            let is_found = matches!(answer.verdict, Some(Verdict::Violated(_)));
            assert!(is_found, "{wrong} {level}: {} {:?}", answer.message, answer.error);
        }
    }
}

/// Clang reads it into a part of a register.
#[test]
fn a_byte_that_is_copied_belongs_to_the_state_of_a_loop() {
    let has_clang = mazurka_effort::has_tool("clang");
    for by in [Some(GCC), has_clang.then_some(CLANG)].into_iter().flatten() {
        for level in ["-O0", "-O1", "-O2"] {
            let answer = Program::build_by(by, "second_look", &[level]).explore(&json!({}));
            let is_found = matches!(answer.verdict, Some(Verdict::Violated(_)));
            assert!(is_found, "{level}: {} {:?}", answer.message, answer.error);
        }
    }
}

#[test]
fn what_stands_beside_a_shared_variable_belongs_to_the_state_of_a_loop() {
    let has_clang = mazurka_effort::has_tool("clang");
    for by in [Some(GCC), has_clang.then_some(CLANG)].into_iter().flatten() {
        for level in ["-O0", "-O1", "-O2"] {
            for place in ["-DBEFORE", "-DBEHIND"] {
                let answer =
                    Program::build_by(by, "neighbours", &[level, place]).explore(&json!({}));
                let is_found = matches!(answer.verdict, Some(Verdict::Violated(_)));
                assert!(is_found, "{level} {place}: {} {:?}", answer.message, answer.error);
            }
        }
    }
}

/// A program whose assertion fails if a loop went round so often.
fn rounds(by: Compilers, case: &str, wrong: i32, level: &str) -> (String, bool, String) {
    let flags = [&*format!("-DCASE={case}"), &*format!("-DWRONG={wrong}"), level];
    let answer = Program::build_by(by, "rounds", &flags).explore(&json!({}));
    assert!(answer.error.is_none(), "{flags:?}: {:?}", answer.error);
    let is_found = matches!(answer.verdict, Some(Verdict::Violated(_)));
    (format!("{flags:?}: {}", answer.message), is_found, answer.message)
}

const ROUNDS_ASSUMED: &str = "that it does not matter how often a loop that waits goes round";

#[test]
fn an_execution_with_any_number_of_rounds_is_found_where_the_number_matters() {
    let has_clang = mazurka_effort::has_tool("clang");
    // How many rounds there may be.
    for (case, wrong, never) in [
        ("AFTER_STORE", 4, 7),
        ("BACK_OFF", 4, 7),
        ("FUNCTION", 5, 8),
        ("SUM", 5, 7),
        ("ARRAY", 4, 7),
        ("NESTED", 7, 13),
        ("FLOATING", 5, 12),
        ("STEP_OF_STRUCT", 4, 8),
        ("TWO_PHASES", 7, 10),
        ("CHANGES", 5, 9),
        ("LATER_READ", 5, 7),
        ("LATE_MARK", 1, 2),
        ("LATE_VOLATILE", 1, 2),
        ("LATE_IN_CALLER", 1, 2),
        ("MODULO", 4, 5),
        ("MODULO_YIELD", 4, 5),
        ("HEAP", 4, 7),
        ("OF_THREAD", 4, 7),
    ] {
        for by in [Some(GCC), has_clang.then_some(CLANG)].into_iter().flatten() {
            for level in ["-O0", "-O2"] {
                let (what, is_found, message) = rounds(by, case, wrong, level);
                // A hundred rounds are not unrolled unless a branch depends on their number.
                let is_late = case.starts_with("LATE_");
                let is_said = is_late && message.contains(ROUNDS_ASSUMED);
                assert!(is_found || is_said, "{what}");
                if !is_late {
                    let (what, is_found, message) = rounds(by, case, never, level);
                    assert!(!is_found, "{what}");
                    let is_assumed = message.contains(ROUNDS_ASSUMED);
                    assert!(!is_assumed && !message.contains("never ends by itself"), "{what}");
                }
            }
        }
    }
}

#[test]
fn where_a_loop_that_counts_for_ever_is_cut_the_claim_says_so_if_the_count_matters() {
    for level in ["-O0", "-O2"] {
        for case in ["ENDLESS", "ENDLESS_YIELD", "ENDLESS_SWAP"] {
            let (what, is_found, message) = rounds(GCC, case, 40, level);
            assert!(is_found || message.contains(ROUNDS_ASSUMED), "{what}");
        }
        let (what, is_found, message) = rounds(GCC, "ENDLESS_DEAD", 2, level);
        assert!(!is_found && !message.contains(ROUNDS_ASSUMED), "{what}");
    }
}

#[test]
fn the_claim_says_how_often_a_lock_is_tried_for_in_vain() {
    for (wrong, is_wrong) in [(2, true), (4, false)] {
        let (what, is_found, message) = rounds(GCC, "TRY_LOCK", wrong, "-O0");
        assert_eq!(is_found, is_wrong, "{what}");
        assert!(is_found || message.contains("in vain more than 2 times"), "{what}");
    }
}

/// A register of a thread.
type Register = usize;

/// A number that a thread computes.
#[derive(Clone, Copy, Debug)]
enum Expression {
    Constant(u8),
    Register(Register),
    /// A register and a constant, modulo 4.
    Sum(Register, u8),
}

/// What a thread does next, in the model.
#[derive(Clone, Copy, Debug)]
enum Instruction {
    Load(Register, usize),
    Store(usize, Expression),
    Add(usize, u8),
    /// The same, and learns what was there.
    Fetch(Register, usize, i8),
    /// Writes, and learns what was there.
    Exchange(Register, usize, Expression),
    /// Swaps, or learns what was found and goes elsewhere.
    Swap(usize, Register, Expression, usize),
    Set(Register, Expression),
    Jump(usize),
    /// Goes elsewhere if two numbers are the same, or are not.
    JumpIf(Expression, Expression, bool, usize),
    /// Takes a number to its result.
    Note(Register),
}

use Expression as E;
use Instruction as I;

const N_VARIABLES: usize = 3;
const N_REGISTERS: usize = 3;

/// Numbers that only look random: the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// A thread in both forms.
#[derive(Default)]
struct Thread {
    model: Vec<Instruction>,
    text: String,
}

impl Thread {
    fn random(random: &mut Random, me: usize) -> Self {
        let mut thread = Self::default();
        for _ in 0..1 + random.below(3) {
            thread.add(random, me);
        }
        thread
    }

    fn say(&mut self, text: &str) {
        writeln!(self.text, "    {text}").expect("a text takes more text");
    }

    /// Adds one statement in both forms. Registers: 0 to 2 are `a`, `b` and `n`.
    fn add(&mut self, random: &mut Random, me: usize) {
        let (x, y) = (random.below(N_VARIABLES), random.below(N_VARIABLES));
        let (c, d) = (random.below(3) as u8, random.below(3) as u8);
        let start = self.model.len();
        let wait = ["", "sched_yield();"][random.below(2)];
        match random.below(20) {
            0 => {
                self.say(&format!("atomic_store(&x[{x}], {c});"));
                self.model.push(I::Store(x, E::Constant(c)));
            }
            1 => {
                self.say(&format!("atomic_fetch_add(&x[{x}], {c});"));
                self.model.push(I::Add(x, c));
            }
            2 => {
                self.say(&format!("a = atomic_load(&x[{x}]); r = r * 8 + a;"));
                self.model.extend([I::Load(0, x), I::Note(0)]);
            }
            3 => {
                self.say(&format!("while (atomic_load(&x[{x}]) == {c}) {{ {wait} }}"));
                let value = (E::Register(0), E::Constant(c));
                self.model.extend([I::Load(0, x), I::JumpIf(value.0, value.1, true, start)]);
            }
            4 => {
                // The value that is read last is used, and `b` decides.
                self.say(&format!(
                    "while ((a = atomic_load(&x[{x}])) == (b + {c}) % 4) {{ {wait} }}"
                ));
                self.say("r = r * 8 + a;");
                let jump = I::JumpIf(E::Register(0), E::Sum(1, c), true, start);
                self.model.extend([I::Load(0, x), jump, I::Note(0)]);
            }
            5 => {
                self.say(&format!("a = atomic_load(&x[{x}]);"));
                self.say(&format!(
                    "while (!atomic_compare_exchange_strong(&x[{x}], &a, (a + 1) % 4)) {{ {wait} }}"
                ));
                self.say("r = r * 8 + a;");
                let swap = I::Swap(x, 0, E::Sum(0, 1), start + 1);
                self.model.extend([I::Load(0, x), swap, I::Note(0)]);
            }
            6 => {
                self.say(&format!("for (;;) {{ a = atomic_load(&x[{x}]); if (a == {c}) break;"));
                self.say(&format!(
                    "if (atomic_compare_exchange_weak(&x[{x}], &a, {d})) break; {wait} }}"
                ));
                self.say("r = r * 8 + a;");
                self.model.extend([
                    I::Load(0, x),
                    I::JumpIf(E::Register(0), E::Constant(c), true, start + 3),
                    I::Swap(x, 0, E::Constant(d), start),
                    I::Note(0),
                ]);
            }
            7 => {
                self.say(&format!(
                    "do {{ a = atomic_load(&x[{x}]); b = atomic_load(&x[{y}]); {wait} }}"
                ));
                self.say("while (a != b); r = r * 8 + a;");
                let jump = I::JumpIf(E::Register(0), E::Register(1), false, start);
                self.model.extend([I::Load(0, x), I::Load(1, y), jump, I::Note(0)]);
            }
            8 => {
                self.say(&format!("while ((a = atomic_load(&x[{x}])) == {c})"));
                self.say(&format!("    while ((b = atomic_load(&x[{y}])) == {d}) {{ {wait} }}"));
                self.model.extend([
                    I::Load(0, x),
                    I::JumpIf(E::Register(0), E::Constant(c), false, start + 5),
                    I::Load(1, y),
                    I::JumpIf(E::Register(1), E::Constant(d), true, start + 2),
                    I::Jump(start),
                ]);
            }
            9 => {
                self.say(&format!("do {{ a = atomic_load(&x[{x}]); b = atomic_load(&x[{y}]); }}"));
                self.say(&format!("while (atomic_load(&x[{x}]) != a); r = r * 8 + b;"));
                let jump = I::JumpIf(E::Register(2), E::Register(0), false, start);
                self.model.extend([I::Load(0, x), I::Load(1, y), I::Load(2, x), jump, I::Note(1)]);
                // The register of the last one is the model's alone.
                self.say("n = a;");
            }
            10 => {
                self.say(&format!("n = 0; while (n < 2 && atomic_load(&x[{x}]) == {c}) n++;"));
                self.say("r = r * 8 + n;");
                let leaves =
                    |value: Register, to| I::JumpIf(E::Register(value), E::Constant(c), false, to);
                // The two rounds one after the other.
                self.model.extend([
                    I::Set(2, E::Constant(0)),
                    I::Load(0, x),
                    leaves(0, start + 7),
                    I::Set(2, E::Constant(1)),
                    I::Load(0, x),
                    leaves(0, start + 7),
                    I::Set(2, E::Constant(2)),
                    I::Note(2),
                ]);
                self.say("a = 0;");
                self.model.push(I::Set(0, E::Constant(0)));
            }
            11 => {
                self.say(&format!("a = atomic_load(&x[{x}]); do cell[{me}] = a;"));
                self.say(&format!(
                    "while (!atomic_compare_exchange_strong(&x[{x}], &a, (a + {c}) % 4));"
                ));
                self.say(&format!("r = r * 8 + cell[{me}];"));
                let swap = I::Swap(x, 0, E::Sum(0, c), start + 1);
                self.model.extend([I::Load(0, x), swap, I::Note(0)]);
            }
            // An attempt that is taken back, and made again once the variable has changed.
            kind @ (12 | 13) => {
                let (read, note) = match kind {
                    12 => ("", ""),
                    _ => ("a = ", "r = r * 8 + a;"),
                };
                self.say(&format!("while (({read}atomic_fetch_add(&x[{x}], {d})) == {c}) {{"));
                self.say(&format!("atomic_fetch_sub(&x[{x}], {d});"));
                self.say(&format!("while (atomic_load(&x[{x}]) == {c}) {{ {wait} }} }} {note}"));
                self.model.extend([
                    I::Fetch(0, x, d as i8),
                    I::JumpIf(E::Register(0), E::Constant(c), false, start + 6),
                    I::Fetch(2, x, -(d as i8)),
                    I::Load(2, x),
                    I::JumpIf(E::Register(2), E::Constant(c), true, start + 3),
                    I::Jump(start),
                ]);
                if kind == 13 {
                    self.model.push(I::Note(0));
                }
                if random.below(2) == 0 {
                    self.say(&format!("atomic_fetch_sub(&x[{x}], {d});"));
                    self.model.push(I::Fetch(2, x, -(d as i8)));
                }
            }
            // A lock that is taken by an exchange, and one that is looked at before.
            kind @ (15 | 16) => {
                let take = format!("(a = atomic_exchange(&x[{x}], {d})) == {d}");
                if kind == 15 {
                    self.say(&format!("while ({take}) {{ {wait} }} r = r * 8 + a;"));
                    let again = I::JumpIf(E::Register(0), E::Constant(d), true, start);
                    self.model.extend([I::Exchange(0, x, E::Constant(d)), again]);
                } else {
                    self.say(&format!("do while ((b = atomic_load(&x[{x}])) == {d}) {{ {wait} }}"));
                    self.say(&format!("while ({take}); r = r * 8 + a;"));
                    self.model.extend([
                        I::Load(1, x),
                        I::JumpIf(E::Register(1), E::Constant(d), true, start),
                        I::Exchange(0, x, E::Constant(d)),
                        I::JumpIf(E::Register(0), E::Constant(d), true, start),
                    ]);
                }
                self.model.push(I::Note(0));
            }
            // A lock that is taken by a compare-and-swap, and one that may be given up.
            kind @ (17 | 18) => {
                self.say(&format!("a = {c};"));
                self.say(&format!("while (!atomic_compare_exchange_strong(&x[{x}], &a, {d})) {{"));
                self.model.extend([
                    I::Set(0, E::Constant(c)),
                    I::Swap(x, 0, E::Constant(d), start + 3),
                    I::Jump(start + 6),
                ]);
                if kind == 18 {
                    let e = (c + 1) % 3;
                    self.say(&format!("if (a == {e}) break;"));
                    let leave = I::JumpIf(E::Register(0), E::Constant(e), true, start + 6);
                    self.model.extend([leave, I::Jump(start), I::Jump(start), I::Note(0)]);
                } else {
                    self.model.extend([I::Jump(start), I::Jump(start), I::Jump(start), I::Note(0)]);
                }
                self.say(&format!("a = {c}; {wait} }} r = r * 8 + a;"));
            }
            // An addition of whose result one thing is learnt.
            14 => {
                self.say(&format!("r = r * 8 + (atomic_fetch_add(&x[{x}], {d}) == {c} ? 1 : 2);"));
                self.model.extend([
                    I::Fetch(2, x, d as i8),
                    I::JumpIf(E::Register(2), E::Constant(c), true, start + 4),
                    I::Set(2, E::Constant(2)),
                    I::Jump(start + 5),
                    I::Set(2, E::Constant(1)),
                    I::Note(2),
                ]);
            }
            _ => {
                self.say(&format!(
                    "b = atomic_load(&x[{x}]); atomic_store(&x[{y}], (b + {c}) % 4);"
                ));
                self.model.extend([I::Load(1, x), I::Store(y, E::Sum(1, c))]);
            }
        }
    }
}

fn is_access(instruction: Instruction) -> bool {
    use Instruction::{Add, Exchange, Fetch, Load, Store, Swap};
    matches!(instruction, Load(..) | Store(..) | Add(..) | Fetch(..) | Exchange(..) | Swap(..))
}

/// A state of the model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    variables: [i32; N_VARIABLES],
    threads: Vec<(usize, [i32; N_REGISTERS], u32)>,
}

impl State {
    fn value(&self, thread: usize, expression: Expression) -> i32 {
        let registers = self.threads[thread].1;
        match expression {
            E::Constant(constant) => constant.into(),
            E::Register(register) => registers[register],
            E::Sum(register, constant) => (registers[register] + i32::from(constant)) % 4,
        }
    }

    /// A thread takes its next access, and all up to the one after it.
    fn step(&self, thread: usize, code: &[Instruction]) -> Self {
        let mut next = self.clone();
        let mut has_accessed = false;
        while let Some(&instruction) = code.get(next.threads[thread].0) {
            if is_access(instruction) && std::mem::replace(&mut has_accessed, true) {
                break;
            }
            next.take(thread, instruction);
        }
        next
    }

    fn take(&mut self, thread: usize, instruction: Instruction) {
        let mut to = self.threads[thread].0 + 1;
        match instruction {
            I::Load(register, x) => self.threads[thread].1[register] = self.variables[x],
            I::Store(x, value) => self.variables[x] = self.value(thread, value),
            I::Add(x, value) => self.variables[x] += i32::from(value),
            I::Fetch(register, x, value) => {
                self.threads[thread].1[register] = self.variables[x];
                self.variables[x] += i32::from(value);
            }
            I::Exchange(register, x, value) => {
                let value = self.value(thread, value);
                self.threads[thread].1[register] = self.variables[x];
                self.variables[x] = value;
            }
            I::Swap(x, register, value, otherwise) => {
                if self.threads[thread].1[register] == self.variables[x] {
                    self.variables[x] = self.value(thread, value);
                } else {
                    self.threads[thread].1[register] = self.variables[x];
                    to = otherwise;
                }
            }
            I::Set(register, value) => {
                self.threads[thread].1[register] = self.value(thread, value);
            }
            I::Jump(target) => to = target,
            I::JumpIf(a, b, wanted, target) => {
                if (self.value(thread, a) == self.value(thread, b)) == wanted {
                    to = target;
                }
            }
            I::Note(register) => {
                let value = self.threads[thread].1[register] as u32;
                let result = &mut self.threads[thread].2;
                *result = (*result * 8).wrapping_add(value) % 512;
            }
        }
        self.threads[thread].0 = to;
    }

    fn outcome(&self) -> u64 {
        let results = self.threads.iter().map(|it| u64::from(it.2));
        let results = results.fold(0, |all, result| all * 512 + result);
        let add = |all: u64, value: i32| all.wrapping_mul(64).wrapping_add(value as u64);
        self.variables.iter().fold(results, |all, &value| add(all, value))
    }
}

/// Whether an infinite execution changes variables again and again, by the states before each:
/// whether two states on one cycle differ in variables.
fn changes_for_ever(before: &BTreeMap<State, Vec<State>>) -> bool {
    let states: Vec<&State> = before.keys().collect();
    let number = |state: &State| states.binary_search(&state).expect("all states are there");
    let earlier: Vec<Vec<usize>> =
        before.values().map(|all| all.iter().map(number).collect()).collect();
    let mut later = vec![Vec::new(); states.len()];
    for (idx, all) in earlier.iter().enumerate() {
        all.iter().for_each(|&it| later[it].push(idx));
    }
    // Strongly connected components, by Kosaraju's algorithm.
    let mut order = Vec::new();
    let mut is_visited = vec![false; states.len()];
    for start in 0..states.len() {
        let mut stack = vec![(start, false)];
        while let Some((idx, is_left)) = stack.pop() {
            if is_left {
                order.push(idx);
            } else if !std::mem::replace(&mut is_visited[idx], true) {
                stack.push((idx, true));
                stack.extend(later[idx].iter().map(|&next| (next, false)));
            }
        }
    }
    let mut component = vec![usize::MAX; states.len()];
    for &start in order.iter().rev() {
        let mut stack = vec![start];
        while let Some(idx) = stack.pop() {
            if component[idx] == usize::MAX {
                component[idx] = start;
                stack.extend(&earlier[idx]);
            }
        }
    }
    (0..states.len()).any(|idx| states[idx].variables != states[component[idx]].variables)
}

/// What executions can end with, and whether one can go round for ever. Nothing if there are too
/// many states, or if an infinite execution changes variables again and again.
fn enumerate(threads: &[Thread]) -> Option<(BTreeSet<u64>, bool)> {
    const MAX_STATES: usize = 20_000;
    let first = State {
        variables: [0; N_VARIABLES],
        threads: vec![(0, [0; N_REGISTERS], 0); threads.len()],
    };
    let is_over = |state: &State| {
        state.threads.iter().zip(threads).all(|(it, thread)| it.0 >= thread.model.len())
    };
    let mut before: BTreeMap<State, Vec<State>> = BTreeMap::new();
    let mut to_visit = vec![first.clone()];
    before.insert(first, Vec::new());
    let mut ends = Vec::new();
    while let Some(state) = to_visit.pop() {
        if is_over(&state) {
            ends.push(state);
            continue;
        }
        for (idx, thread) in threads.iter().enumerate() {
            if state.threads[idx].0 >= thread.model.len() {
                continue;
            }
            let next = state.step(idx, &thread.model);
            if !before.contains_key(&next) {
                to_visit.push(next.clone());
            }
            before.entry(next).or_default().push(state.clone());
        }
        if before.len() > MAX_STATES {
            return None;
        }
    }
    if changes_for_ever(&before) {
        return None;
    }
    let outcomes = ends.iter().map(State::outcome).collect();
    let mut good: BTreeSet<State> = ends.iter().cloned().collect();
    while let Some(state) = ends.pop() {
        for earlier in &before[&state] {
            if good.insert(earlier.clone()) {
                ends.push(earlier.clone());
            }
        }
    }
    Some((outcomes, good.len() < before.len()))
}

/// The program. Its argument is an outcome that fails; without, all but the expected ones fail.
fn source(threads: &[Thread], outcomes: &BTreeSet<u64>) -> String {
    let mut text = String::from(
        "#include <assert.h>\n#include <pthread.h>\n#include <sched.h>\n#include <stdatomic.h>\n\
         #include <stdlib.h>\n\n\
         /* Not static: no compiler may suppose that it is never written. */\natomic_int x[3];\n\
         static int cell[4];\nstatic unsigned results[4];\n\n",
    );
    for (idx, thread) in threads.iter().enumerate() {
        writeln!(
            text,
            "static void *work{idx}(void *arg) {{\n    int a = 0, b = 0, n = 0;\n    unsigned r = 0;\n\
             {}    (void)a, (void)b, (void)n;\n    results[{idx}] = r % 512;\n    return arg;\n}}\n",
            thread.text
        )
        .expect("a text takes more text");
    }
    let n = threads.len();
    let all: Vec<String> = outcomes.iter().map(|outcome| format!("{outcome}u")).collect();
    let works: Vec<String> = (0..n).map(|idx| format!("work{idx}")).collect();
    writeln!(
        text,
        "static const unsigned long expected[] = {{ {} }};\n\
         int main(int argc, char **argv) {{\n    pthread_t threads[{n}];\n\
         \x20   void *(*works[])(void *) = {{ {} }};\n\
         \x20   for (int i = 0; i < {n}; i++) pthread_create(&threads[i], 0, works[i], 0);\n\
         \x20   for (int i = 0; i < {n}; i++) pthread_join(threads[i], 0);\n\
         \x20   unsigned long outcome = 0;\n\
         \x20   for (int i = 0; i < {n}; i++) outcome = outcome * 512 + results[i];\n\
         \x20   for (int i = 0; i < 3; i++) outcome = outcome * 64 + atomic_load(&x[i]);\n\
         \x20   if (argc > 1) {{\n        assert(outcome != strtoul(argv[1], 0, 10));\n\
         \x20       return 0;\n    }}\n    int is_expected = 0;\n\
         \x20   for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)\n\
         \x20       is_expected |= expected[i] == outcome;\n    assert(is_expected);\n}}",
        if all.is_empty() { "~0ul".to_owned() } else { all.join(", ") },
        works.join(", ")
    )
    .expect("a text takes more text");
    text
}

/// Every search finds what the enumeration has found, and nothing else.
#[test]
fn random_loops_have_the_outcomes_of_all_executions() {
    const N_PROGRAMS: u64 = 400;
    const MAX_OUTCOMES: usize = 12;
    let has_clang = mazurka_effort::has_tool("clang");
    let (mut n_held, mut n_stuck) = (0, 0);
    for seed in mazurka_effort::seeds(0..N_PROGRAMS) {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x51);
        let n_threads = 2 + random.below(2);
        let threads: Vec<Thread> =
            (0..n_threads).map(|me| Thread::random(&mut random, me)).collect();
        let Some((outcomes, is_stuck)) = enumerate(&threads) else { continue };
        let text = source(&threads, &outcomes);
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::write(folder.path().join("random.c"), &text).expect("a file can be written");
        let by = if has_clang && random.below(3) == 0 { CLANG } else { GCC };
        let level = ["-O0", "-O1", "-O2"][random.below(3)];
        let program = Program::build_in(folder.path(), by, "random", &[level]);
        let explore = |arguments: &[&str], options: &Value| {
            let answer = program.explore_with(arguments, options);
            assert!(answer.error.is_none(), "seed {seed} {level}: {:?}\n{text}", answer.error);
            n_held += usize::from(answer.statistics.blocked_executions > 0);
            answer
        };
        let mut explore = explore;
        let found = explore(&[], &json!({}));
        let is_proved = matches!(found.verdict, Some(Verdict::Holds(_)));
        assert_eq!(is_proved, !is_stuck, "seed {seed} {level}: {}\n{text}", found.message);
        n_stuck += usize::from(is_stuck);
        let ends = |reduction: &str| json!({ "reduction": reduction, "deadlock": false, "livelock": false });
        for reduction in ["optimal", "source", "dpor"] {
            let found = explore(&[], &ends(reduction));
            let is_proved = matches!(found.verdict, Some(Verdict::Holds(_)));
            assert!(is_proved, "seed {seed} {level} {reduction}: {}\n{text}", found.message);
        }
        for outcome in outcomes.iter().take(MAX_OUTCOMES) {
            let found = explore(&[&outcome.to_string()], &ends("optimal"));
            let is_found = matches!(found.verdict, Some(Verdict::Violated(_)));
            assert!(is_found, "seed {seed} {level}: {outcome}: {}\n{text}", found.message);
        }
    }
    assert!(n_held > 0 && n_stuck > 0, "{n_held} searches with held threads, {n_stuck} stuck");
}
