//! Random programs with loops, random formulae, every fairness: every engine for the circuit says
//! what a search through all states of the product says, without any reduction.

use crate::translate;
use mazurka_core::Verdict;
use mazurka_effort::seeds;
use mazurka_ltl::Formula;
use mazurka_model::{Expr, Program, Races, add_first_steps, add_stops, proposition};
use mazurka_script::Script;
use mazurka_statespace::{
    Cycles, Fairness as Judged, Options, Property, Reduction, Threads, search_cycles,
};
use mazurka_symbolic::{
    Encode, Engine, Fairness, Finding, Limits, Meaning, Question, Schedule, Temporal, check,
};
use std::fmt::Write as _;

/// Numbers from a seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for _ in 0..4 {
            random.below(2);
        }
        random
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// A program of two threads, most of which never end.
pub(crate) fn script(random: &mut Random) -> String {
    let threads: Vec<String> = (0..2).map(|_| thread(random)).collect();
    threads.join(" | ")
}

fn thread(random: &mut Random) -> String {
    let mut text = String::new();
    if random.below(3) == 0 {
        text += &statements(random, 1, 1);
        text += "; ";
    }
    let n = 1 + random.below(2);
    let body = statements(random, n, 1);
    match random.below(6) {
        0 => text += &body,
        1 => write!(text, "while {} {{{body}}}", test(random)).expect("a string has room"),
        // No thread writes `k`.
        _ => write!(text, "while k==0 {{{body}}}").expect("a string has room"),
    }
    text
}

fn statements(random: &mut Random, n: usize, depth: usize) -> String {
    let all: Vec<String> = (0..n).map(|_| statement(random, depth)).collect();
    all.join("; ")
}

fn statement(random: &mut Random, depth: usize) -> String {
    let variable = random.pick(&["x", "y"]);
    match random.below(if depth > 0 { 9 } else { 5 }) {
        0..=2 => format!("{variable}={}", random.below(2)),
        3 => format!("r={variable}"),
        4 => "yield".to_owned(),
        5 => format!("await({variable}=={})", random.below(2)),
        6 => format!("acq(0); {}; rel(0)", statements(random, 1, 0)),
        7 => format!("if {} {{{}}}", test(random), statements(random, 1, 0)),
        _ => format!("r={variable}; if r==1 {{{}}}", statements(random, 1, 0)),
    }
}

fn test(random: &mut Random) -> String {
    format!("{}=={}", random.pick(&["x", "y"]), random.below(2))
}

/// A formula. Where steps are counted, it may matter how often a state is repeated.
fn formula(random: &mut Random, atoms: &[&str], depth: usize, counts_steps: bool) -> String {
    let part = |random: &mut Random| formula(random, atoms, depth - 1, counts_steps);
    match random.below(if depth == 0 { 1 } else { 9 }) {
        0 => format!("({})", random.pick(atoms)),
        1 | 3 | 5 if counts_steps => format!("X {}", part(random)),
        1 => format!("!{}", part(random)),
        2 | 3 => format!("[] {}", part(random)),
        4 | 5 => format!("<> {}", part(random)),
        6 => format!("({} U {})", part(random), part(random)),
        7 => format!("({} && {})", part(random), part(random)),
        _ => format!("({} -> {})", part(random), part(random)),
    }
}

/// A program, and a property of it.
struct Case {
    program: Program,
    text: String,
    propositions: Vec<Expr>,
    property: Property,
}

impl Case {
    fn new(seed: u64, counts_steps: bool) -> Self {
        let mut random = Random::new(seed);
        // Everybody has a local, and every variable is there.
        let script = format!("x=0, y=0, k=0 || {}", script(&mut random));
        let known: &[&str] = match script.matches("r=").count() {
            0 => &["x[0]==1", "y[0]==1"],
            _ => &["x[0]==1", "y[0]==1", "t0:r==1"],
        };
        let program = translate::translate(&Script::parse(&script).expect(&script)).program;
        let known: Vec<&str> =
            known.iter().copied().filter(|it| proposition(&program, it).is_ok()).collect();
        // Fairness matters most to what is to happen.
        let formula = match random.below(6) {
            _ if counts_steps => formula(&mut random, &known, 3, true),
            0 => format!("<> ({})", random.pick(&known)),
            1 => format!("[] <> ({})", random.pick(&known)),
            2 => format!("[] (({}) -> <> ({}))", random.pick(&known), random.pick(&known)),
            _ => formula(&mut random, &known, 2, false),
        };
        Self::of(program, &format!("seed {seed}, `{formula}` of {script}"), &formula)
    }

    fn of(mut program: Program, text: &str, formula: &str) -> Self {
        let (mut atoms, mut places) = (Vec::new(), Vec::new());
        let parsed = Formula::parse_placed(formula, &mut atoms, &mut places).expect(text);
        let meaning = |atom: &String| proposition(&program, atom).expect(text);
        let propositions: Vec<Expr> = atoms.iter().map(meaning).collect();
        let property = Property::formula("it", &parsed, &atoms).expect(text);
        add_stops(&mut program, &propositions);
        if property.counts_steps() {
            add_first_steps(&mut program);
        }
        Self { program, text: text.to_owned(), propositions, property }
    }

    /// Whether it is violated, by a search over states.
    fn judge(&self, fairness: Judged) -> bool {
        let threads = Threads::new(self.program.clone(), Races::Allow).expect("scripts are simple");
        let threads = threads.watching(self.propositions.clone());
        let mut options = Options::default();
        (options.reduction, options.fairness) = (Reduction::None, fairness);
        let outcome = search_cycles(&threads, Cycles::Accepted(&self.property), &options);
        match outcome.expect("the options go together").verdict {
            Verdict::Holds(_) => false,
            Verdict::Violated(_) => true,
            other => panic!("{}: {other:?}", self.text),
        }
    }

    /// What an engine finds, after the machine has followed it.
    fn decide(&self, engine: Engine, fairness: Fairness, depth: Option<usize>) -> Finding {
        let temporal = Temporal {
            propositions: self.propositions.clone(),
            automaton: self.property.violations().expect("it has no labels").clone(),
            fairness,
            ends: true,
        };
        let encode = Encode {
            races: false,
            plain_steps: true,
            deadlock: false,
            temporal: Some(temporal),
            ..Encode::default()
        };
        let limits = Limits { depth, ..Limits::default() };
        let question = Question { encode, schedule: Schedule::Interleaving, engine, limits };
        let reply = check(&self.program, &question).expect("scripts are simple");
        if let Finding::Unsafe(witness) = &reply.finding {
            let threads =
                Threads::new(self.program.clone(), Races::Allow).expect("scripts are simple");
            let lifted = reply.encoding.lift(witness, &mut threads.vm()).expect("it is one");
            let automaton = self.property.violations().expect("it has no labels");
            let is_safety = automaton.is_terminal(&automaton.universal());
            let is_meant = match lifted.meaning {
                Meaning::BadPrefix | Meaning::Stays => true,
                Meaning::GoesOn => !is_safety,
                _ => false,
            };
            let name = engine.name();
            assert!(is_meant && lifted.is_whole, "{name}, {fairness:?}, {}: {lifted:?}", self.text);
        }
        reply.finding
    }

    /// Whether it is violated, with every fairness.
    fn check(&self, engines: &[Engine]) -> [bool; 4] {
        let all: [usize; 4] = std::array::from_fn(|idx| idx);
        all.map(|idx| {
            let (judged, fairness) = (Judged::ALL[idx], Fairness::ALL[idx]);
            let is_violated = self.judge(judged);
            for &engine in engines {
                // What holds is never proved by looking further and further.
                let depth = (engine == Engine::Bounded && !is_violated).then_some(8);
                let finding = self.decide(engine, fairness, depth);
                let is_right = match finding {
                    Finding::Unsafe(_) => is_violated,
                    Finding::Safe => !is_violated,
                    Finding::SafeTo(_) => !is_violated && engine == Engine::Bounded,
                    Finding::Unknown(..) => false,
                };
                let name = engine.name();
                assert!(is_right, "{name}, {fairness:?}, violated: {is_violated}: {}", self.text);
            }
            is_violated
        })
    }
}

/// Holds engines to the search of states, for many programs.
fn every_engine_agrees(seeds: std::ops::Range<u64>, counts_steps: bool) {
    let mut n_violated = [0; 4];
    let mut n_counting = 0;
    let n_seeds = seeds.end - seeds.start;
    for seed in seeds {
        let case = Case::new(seed, counts_steps);
        n_counting += u64::from(case.property.counts_steps());
        // Induction would go through all paths without a loop, which can be long.
        let other = [Engine::Ic3, Engine::Bdd, Engine::Portfolio][seed as usize % 3];
        for (n, is_violated) in n_violated.iter_mut().zip(case.check(&[Engine::Bounded, other])) {
            *n += u64::from(is_violated);
        }
    }
    // Fairness takes executions away, and some of everything is left.
    let [none, weak, strong, trace] = n_violated;
    assert!(none >= weak && weak >= strong && strong > 0 && none < n_seeds, "{n_violated:?}");
    assert_eq!(trace, none, "{n_violated:?}");
    assert_eq!(counts_steps, n_counting > 0, "{n_counting}");
}

#[test]
fn every_engine_says_of_loops_what_a_search_of_states_says() {
    every_engine_agrees(seeds(0..40), false);
}

#[test]
fn every_engine_counts_the_steps_that_a_search_of_states_counts() {
    every_engine_agrees(seeds(0..40), true);
}

/// A script, a formula, and whether it is violated without fairness, with weak and with strong.
/// What is asked of traces rules out no execution of threads.
fn expect(script: &str, formula: &str, expected: [bool; 3]) {
    let program = translate::translate(&Script::parse(script).expect(script)).program;
    let case = Case::of(program, &format!("`{formula}` of {script}"), formula);
    let engines = [Engine::Bounded, Engine::Induction, Engine::Ic3, Engine::Bdd, Engine::Portfolio];
    let [none, weak, strong] = expected;
    assert_eq!(case.check(&engines), [none, weak, strong, none], "{}", case.text);
}

#[test]
fn a_step_of_the_machine_is_one_of_the_automaton() {
    // Both begin, then one of them writes; and it cannot be done in two steps.
    let two = "x=1 | y=1";
    expect(two, "X X X X (x[0]==1 && y[0]==1)", [false; 3]);
    expect(two, "X X X (x[0]==1 && y[0]==1)", [true; 3]);
    expect(two, "!(X X (x[0]==1))", [true; 3]);
    expect(two, "!(X (x[0]==1))", [false; 3]);
    // What has ended stays as it is, and the automaton goes on.
    expect(two, "X X X X X X X (x[0]==0)", [true; 3]);
    // A loop of two steps: what is so in every second state is no matter of stuttering.
    let flips = "while k==0 {x=1; x=0}";
    expect(flips, "[] (x[0]==1 -> X X (x[0]==0))", [false; 3]);
    expect(flips, "[] (x[0]==1 -> X (x[0]==0))", [false; 3]);
    expect(flips, "[] (x[0]==0 -> X (x[0]==1))", [true; 3]);
}

#[test]
fn each_fairness_rules_out_its_executions() {
    // The first thread may be left out for ever unless fairness is weak at least.
    let always_able = "x=1 | k=0; while k==0 {y=0}";
    expect(always_able, "<> (x[0]==1)", [true, false, false]);
    // It can take the lock again and again, and not always.
    let often_able = "acq(0); x=1; rel(0) | while k==0 {acq(0); y=0; rel(0)}";
    expect(often_able, "<> (x[0]==1)", [true, true, false]);
    // No fairness helps.
    let alternates = "while k==0 {x=1; x=0} | y=1";
    expect(alternates, "<> [] (x[0]==0)", [true, true, true]);
}

#[test]
fn whoever_has_ended_stays_there() {
    expect("x=1 | y=1", "<> (x[0]==1)", [false; 3]);
    expect("x=1 | y=1", "[] <> (x[0]==0)", [true; 3]);
    expect("x=1; x=2 | y=1", "<> [] (x[0]==1)", [true; 3]);
    // A deadlock is an end, too.
    expect("await(x==1); y=1 | await(y==1); x=1", "<> (x[0]==1)", [true; 3]);
    expect("await(x==1); y=1 | await(y==1); x=1", "[] (x[0]==0)", [false; 3]);
}
