//! Machine code and interpreter tell the same moves of every state, to the byte.
//!
//! The models are those of `corpus/promela`, which have every word of the language in them, those
//! that are installed with SPIN, and random ones.

use crate::generate::Random;
use crate::installed;
use mazurka_promela::{self as promela, translate, translate_text};
use mazurka_statespace::{Machine, Moves, Optimisations, Reduction, Successor, Tier, Transitions};
use rustc_hash::FxHashSet;
use std::fmt::Write as _;

/// How many states of a model are looked at.
const STATES: usize = 1_000;

/// What was compared.
#[derive(Debug, Default)]
struct Compared {
    moves: usize,
    /// How many of them went wrong.
    wrong: usize,
    /// How many locations had machine code.
    locations: usize,
}

impl Compared {
    fn add(&mut self, other: Self) {
        self.moves += other.moves;
        self.wrong += other.wrong;
        self.locations += other.locations;
    }
}

#[test]
fn installed_models_and_our_own() {
    let (mut n_models, mut sum) = (0, Compared::default());
    for path in installed::models() {
        let Ok(model) = translate(&path, &promela::Options::default()) else { continue };
        let machine = Machine::new(&model.program).expect("the machine can run all of Promela");
        for machine in [machine.clone(), machine.trusting()] {
            let compared = compare(&machine);
            sum.add(compared.unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        }
        n_models += 1;
    }
    assert!(sum.locations > 5_000, "{sum:?}");
    assert!(n_models > 80, "only {n_models} models are there");
}

#[test]
fn random_models() {
    let sum = compare_all(200, crate::generate::model);
    assert!(sum.moves > 30_000 && sum.locations > 2_000, "{sum:?}");
}

#[test]
fn random_models_that_go_wrong() {
    let sum = compare_all(200, |seed| wrong_model(&mut Random::new(seed)));
    assert!(sum.moves > 15_000 && sum.wrong > 400 && sum.locations > 2_000, "{sum:?}");
}

/// Compares on the models of so many seeds.
fn compare_all(n_seeds: u64, model: impl Fn(u64) -> String) -> Compared {
    let mut sum = Compared::default();
    for seed in 0..n_seeds {
        let text = model(seed);
        let model = translate_text("random.pml", &text)
            .unwrap_or_else(|errors| panic!("seed {seed}: {errors:?}\n{text}"));
        let Ok(machine) = Machine::new(&model.program) else { continue };
        let compared = compare(&machine);
        sum.add(compared.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}")));
    }
    sum
}

/// Compares without reduction and with it, where steps end differently.
fn compare(machine: &Machine) -> Result<Compared, String> {
    let mut sum = Compared::default();
    for (reduction, optimisations) in [
        (Reduction::None, Optimisations::NONE),
        (Reduction::None, Optimisations::default()),
        (Reduction::Ample, Optimisations::default()),
    ] {
        let mut machine = machine.clone();
        machine.reduce(reduction, optimisations);
        sum.add(compare_with(machine)?);
    }
    Ok(sum)
}

/// Holds both against each other.
fn compare_with(machine: Machine) -> Result<Compared, String> {
    let mut interpreted = machine.clone().with_tier(Tier::Interpreted);
    let mut compiled = machine.with_tier(Tier::Compiled);
    let mut first = Vec::new();
    interpreted.initial(&mut first);
    let mut seen = FxHashSet::from_iter([first.clone()]);
    let mut to_do = vec![first];
    let (mut ours, mut theirs) = (Moves::new(), Moves::new());
    let mut compared = Compared::default();
    while let Some(state) = to_do.pop().filter(|_| seen.len() < STATES) {
        ours.clear();
        theirs.clear();
        interpreted.expand(&state, &mut theirs);
        compiled.expand(&state, &mut ours);
        let is_same = ours.iter().eq(theirs.iter())
            && ours.groups() == theirs.groups()
            && (0..ours.len()).all(|idx| {
                ours.state(idx) == theirs.state(idx) && ours.passed(idx) == theirs.passed(idx)
            });
        if !is_same {
            return Err(format!("in {state:?}\n{ours:?}\nis not\n{theirs:?}"));
        }
        compared.moves += ours.len();
        compared.wrong += ours.iter().filter(|made| made.fault.is_some()).count();
        for idx in 0..ours.len() {
            let next = ours.state(idx);
            if ours[idx].successor != Successor::None && seen.insert(next.to_vec()) {
                to_do.push(next.to_vec());
            }
        }
    }
    compared.locations = compiled.n_compiled();
    Ok(compared)
}

/// A model with what machine code does by itself: arithmetic, arrays, channels of several kinds,
/// both halves of rendezvous, atomic sequences. Much of it goes wrong: indices, divisions, channels
/// that are none, messages of another length.
pub(crate) fn wrong_model(random: &mut Random) -> String {
    let mut text = String::from(
        "chan a = [0] of { byte };\nchan b = [2] of { byte };\nchan c = [2] of { byte, short };\n\
         chan d = [0] of { byte, short };\nbyte x; short y; bit z; int w = 3; unsigned u : 3 = 5;\n\
         byte s[3]; short t[2]; chan e;\n",
    );
    for process in 0..2 + random.below(2) {
        let _ = writeln!(text, "active proctype p{process}() {{\nbyte m; short n; byte l[3];");
        if random.one_in(2) {
            let _ = writeln!(text, "chan o = [1] of {{ byte }};");
        }
        let _ = writeln!(text, "do");
        for _ in 0..1 + random.below(3) {
            let is_atomic = random.one_in(3);
            let _ = write!(text, ":: {}", if is_atomic { "atomic { " } else { "" });
            let n_statements = 1 + random.below(3);
            let statements: Vec<_> = (0..n_statements).map(|_| statement(random)).collect();
            let _ =
                writeln!(text, "{}{}", statements.join("; "), if is_atomic { " }" } else { "" });
        }
        if random.one_in(3) {
            let _ = writeln!(text, ":: else -> {}", statement(random));
        }
        let _ = writeln!(text, "od\n}}");
    }
    text
}

fn statement(random: &mut Random) -> String {
    let variable =
        random.pick(&["x", "y", "z", "w", "u", "m", "n", "s[m]", "t[z]", "l[x]", "s[1]"]);
    let channel = random.pick(&["a", "b", "c", "d", "a", "b", "c", "d", "e"]);
    let value = expression(random, 2);
    let other = expression(random, 1);
    match random.below(14) {
        0..3 => format!("{variable} = {value}"),
        3 => format!("{value} -> {variable} = {other}"),
        4 => format!("assert({value})"),
        5 => format!("e = {}", random.pick(&["a", "b", "c", "d", "b"])),
        6 | 7 => match channel {
            "c" | "d" => format!("{channel}!{value},{other}"),
            _ => format!("{channel}!{value}"),
        },
        8 => format!("{}!!{value}", random.pick(&["b", "b", "e"])),
        9 | 10 => match channel {
            "c" | "d" => format!("{channel}?m,{variable}"),
            _ => format!("{channel}?{variable}"),
        },
        11 => {
            let how = random.pick(&["?", "??", "?"]);
            format!("c{how}eval({value}),{variable}")
        }
        12 => format!("b{}<{variable}>", random.pick(&["?", "??"])),
        _ => format!("d?{},_", random.below(3)),
    }
}

fn expression(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.one_in(3) {
        let words = ["0", "1", "2", "7", "x", "y", "z", "w", "u", "m", "n", "s[x]", "t[m]", "l[2]"];
        return random.pick(&words).to_owned();
    }
    let (left, right) = (expression(random, depth - 1), expression(random, depth - 1));
    match random.below(16) {
        0..11 => {
            let operators =
                ["+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||", "&", "|", "<<", ">>"];
            format!("({left} {} {right})", random.pick(&operators))
        }
        11 => format!("(!{left})"),
        12 => format!("(-{left})"),
        13 => format!("({left} -> {right} : 1)"),
        14 => format!("({} + {left})", random.pick(&["len(b)", "len(c)", "len(e)", "_pid"])),
        _ => {
            let asks =
                ["full(b)", "empty(c)", "nfull(b)", "b?[1]", "c??[2,1]", "timeout", "nempty(e)"];
            format!("({} -> {left} : {right})", random.pick(&asks))
        }
    }
}
