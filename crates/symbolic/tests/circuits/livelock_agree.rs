//! Random programs, most of which never end: every engine for the circuit finds an execution
//! without end exactly where the graph of all states has one that is fair to every thread.

use crate::temporal_agree::{Random, script};
use crate::translate;
use mazurka_effort::seeds;
use mazurka_model::{Program, Races};
use mazurka_script::Script;
use mazurka_statespace::{Moves, Successor, Threads, Transitions as _};
use mazurka_symbolic::{
    Encode, Engine, Finding, Limits, Meaning, Question, Schedule, Temporal, check,
};
use std::collections::{BTreeMap, BTreeSet};

/// The states of a program, by number, with the steps from each: who takes it, and where it leads.
fn graph(program: &Program) -> Vec<Vec<(u32, usize)>> {
    let mut threads = Threads::new(program.clone(), Races::Allow).expect("scripts are simple");
    let mut first = Vec::new();
    threads.initial(&mut first);
    let mut numbers = BTreeMap::from([(first.clone(), 0)]);
    let (mut states, mut graph): (_, Vec<Vec<(u32, usize)>>) = (vec![first], Vec::new());
    let mut moves = Moves::new();
    while graph.len() < states.len() {
        moves.clear();
        threads.expand(&states[graph.len()].clone(), &mut moves);
        let mut steps = Vec::new();
        for (idx, made) in moves.iter().enumerate() {
            if made.successor == Successor::None {
                continue;
            }
            let n_known = states.len();
            let to = *numbers.entry(moves.state(idx).to_vec()).or_insert(n_known);
            if to == n_known {
                states.push(moves.state(idx).to_vec());
            }
            steps.push((made.step.process, to));
        }
        graph.push(steps);
    }
    graph
}

/// The states that can be reached from one, by at least one step, among some.
fn reached(graph: &[Vec<(u32, usize)>], among: &BTreeSet<usize>, from: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut to_visit = vec![from];
    while let Some(state) = to_visit.pop() {
        for &(_, to) in &graph[state] {
            if among.contains(&to) && reached.insert(to) {
                to_visit.push(to);
            }
        }
    }
    reached
}

/// Whether some states have a round in which everybody moves who could move somewhere in it. In the
/// largest round through a state, a state in which a thread could move that does not do so anywhere
/// in it is of no use.
fn has_fair_round(graph: &[Vec<(u32, usize)>], among: &BTreeSet<usize>) -> bool {
    let mut left = among.clone();
    while let Some(&state) = left.first() {
        let ahead = reached(graph, among, state);
        let mut round = ahead.clone();
        round.retain(|&it| reached(graph, among, it).contains(&state));
        left.remove(&state);
        if round.is_empty() {
            continue;
        }
        left.retain(|it| !round.contains(it));
        let inside = |state: &usize| graph[*state].iter().filter(|(_, to)| round.contains(to));
        let movers: BTreeSet<u32> = round.iter().flat_map(inside).map(|(who, _)| *who).collect();
        let is_fair = |state: &usize| graph[*state].iter().all(|(who, _)| movers.contains(who));
        let rest: BTreeSet<usize> = round.iter().copied().filter(is_fair).collect();
        if rest == round || has_fair_round(graph, &rest) {
            return true;
        }
    }
    false
}

/// Whether an engine finds an execution without end, after the machine has gone round in it.
fn finds(program: &Program, engine: Engine, depth: Option<usize>, text: &str) -> bool {
    let encode = Encode {
        races: false,
        plain_steps: true,
        deadlock: false,
        temporal: Some(Temporal::livelock()),
        ..Encode::default()
    };
    let limits = Limits { depth, ..Limits::default() };
    let question = Question { encode, schedule: Schedule::Interleaving, engine, limits };
    let reply = check(program, &question).expect("scripts are simple");
    match &reply.finding {
        Finding::Unsafe(witness) => {
            let threads = Threads::new(program.clone(), Races::Allow).expect("scripts are simple");
            let lifted = reply.encoding.lift(witness, &mut threads.vm()).expect("it is one");
            assert!(lifted.meaning == Meaning::GoesOn && lifted.is_whole, "{text}: {lifted:?}");
            true
        }
        Finding::Safe => false,
        Finding::SafeTo(_) if depth.is_some() => false,
        other => panic!("{text}: {other:?}"),
    }
}

/// Whether a program has a livelock; all engines agree on that.
fn has_livelock(script: &str, engines: &[Engine]) -> bool {
    let program = translate::translate(&Script::parse(script).expect(script)).program;
    let graph = graph(&program);
    let expected = has_fair_round(&graph, &(0..graph.len()).collect());
    for &engine in engines {
        let depth = (engine == Engine::Bounded && !expected).then_some(8);
        let found = finds(&program, engine, depth, script);
        assert_eq!(found, expected, "{}: {script}", engine.name());
    }
    expected
}

#[test]
fn executions_without_end_are_found_where_there_are_any() {
    let (mut n_found, seeds) = (0, seeds(0..60));
    let n_seeds = seeds.end - seeds.start;
    for seed in seeds {
        let mut random = Random::new(seed);
        // One thread may end the loops of the others.
        let ends = if random.below(2) == 0 { " | k=1" } else { "" };
        let script = format!("x=0, y=0, k=0 || {}{ends}", script(&mut random));
        let other = if seed % 2 == 0 { Engine::Ic3 } else { Engine::Bdd };
        n_found += u64::from(has_livelock(&script, &[Engine::Bounded, other]));
    }
    assert!(0 < n_found && n_found < n_seeds, "{n_found} of {n_seeds}");
}

const ALL: [Engine; 4] = [Engine::Bounded, Engine::Induction, Engine::Ic3, Engine::Bdd];

#[test]
fn whoever_waits_for_what_never_comes_goes_round() {
    assert!(has_livelock("while x==0 {yield} | y=1", &ALL));
    assert!(!has_livelock("while x==0 {yield} | x=1", &ALL));
    // Both wait for the other one.
    assert!(has_livelock("while x==0 {yield}; y=1 | while y==0 {yield}; x=1", &ALL));
    // The one that could end it is blocked.
    assert!(has_livelock("while x==0 {yield} | acq(0); acq(0); x=1", &ALL));
}

#[test]
fn it_is_none_to_be_unfair() {
    // Polling with a lock: the thread that ends it can have the lock again and again.
    let polls = "while k==0 {acq(0); rel(0)} | acq(0); k=1; rel(0)";
    assert!(!has_livelock(polls, &ALL));
    // To end is no livelock, and neither is a deadlock.
    assert!(!has_livelock("x=1 | y=1", &ALL));
    assert!(!has_livelock("await(x==1) | y=1", &ALL));
}
