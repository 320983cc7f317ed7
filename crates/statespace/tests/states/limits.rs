//! What stops a search, and what the verdict says then.

use mazurka_core::{Limit, Told, Verdict, Violation, ViolationKind};
use mazurka_statespace::{
    Moves, Options, OptionsError, Order, Outcome, Safety, Step, Storage, Stuck, Successor,
    Transitions, search,
};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Processes that count from 0 to 9, each for itself, and end: 10 to their number states.
#[derive(Clone)]
struct Counters(usize);

impl Transitions for Counters {
    fn initial(&mut self, state: &mut Vec<u8>) {
        state.resize(state.len() + self.0, 0);
    }

    fn expand(&mut self, state: &[u8], moves: &mut Moves) {
        for process in 0..self.0 {
            if state[process] < 9 {
                let number = process as u32;
                let step = Step { process: number, edge: 0, choice: 0, partner: None };
                let next = moves.push_blank(step, Successor::Stored, self.0);
                next.copy_from_slice(state);
                next[process] += 1;
                moves.close(number, Safety::Dependent, false);
            }
        }
    }

    fn is_valid_end(&mut self, _state: &[u8]) -> bool {
        true
    }

    fn stuck(&mut self, _state: &[u8]) -> Stuck {
        unreachable!("all ends are valid")
    }

    fn violation(&mut self, _state: &[u8], _step: Step, _fault: u32) -> Violation {
        Violation::new(ViolationKind::Assertion, "nothing goes wrong".to_owned())
    }

    fn describe(&mut self, _state: &[u8], _step: Step) -> Vec<Told> {
        Vec::new()
    }

    fn process_name(&mut self, _state: &[u8], process: u32) -> String {
        process.to_string()
    }
}

fn run(set: impl Fn(&mut Options)) -> Outcome {
    let mut options = Options::default();
    set(&mut options);
    search(&Counters(5), &options).expect("they go together")
}

fn limit(outcome: &Outcome) -> &Limit {
    match &outcome.verdict {
        Verdict::Inconclusive(limit) => limit,
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_of_them() {
    for jobs in [1, 2] {
        for storage in Storage::ALL {
            let outcome = run(|options| (options.jobs, options.storage) = (jobs, storage));
            let counted = outcome.statistics;
            let Verdict::Holds(coverage) = outcome.verdict else { panic!("{:?}", outcome.verdict) };
            let is_sure = coverage.to_string()
                == "no assertion failure or invalid end state in any execution";
            assert_eq!(is_sure, storage.is_exact(), "{coverage}");
            if storage.is_exact() {
                assert_eq!(counted.states, 100_000);
                assert_eq!(counted.transitions, 5 * 9 * 10_000);
                assert_eq!(counted.states_matched, 5 * 9 * 10_000 - 99_999);
            }
        }
    }
}

#[test]
fn odds_are_told() {
    let outcome = run(|options| options.storage = Storage::Bitstate(12));
    let Verdict::Holds(coverage) = outcome.verdict else { panic!("{:?}", outcome.verdict) };
    assert!(outcome.statistics.states < 5000, "the table is full");
    assert!(coverage.to_string().contains("taken for another one by its 3 bits"), "{coverage}");
    let outcome = run(|options| options.storage = Storage::Compact);
    let Verdict::Holds(coverage) = outcome.verdict else { panic!("{:?}", outcome.verdict) };
    assert!(coverage.to_string().contains("with a probability of 2.7e-10"), "{coverage}");
}

#[test]
fn a_limit_is_not_a_proof() {
    for jobs in [1, 2] {
        let states = run(|options| (options.jobs, options.states) = (jobs, Some(1000)));
        assert_eq!(*limit(&states), Limit::States(1000));
        assert!(states.statistics.states > 1000);
        let time = run(|options| (options.jobs, options.time) = (jobs, Some(Duration::ZERO)));
        assert_eq!(*limit(&time), Limit::Time(Duration::ZERO));
        let memory = run(|options| (options.jobs, options.memory) = (jobs, Some(100_000)));
        assert_eq!(*limit(&memory), Limit::Memory(100_000));
        static STOP: AtomicBool = AtomicBool::new(true);
        let stopped = run(|options| (options.jobs, options.stop) = (jobs, Some(&STOP)));
        assert_eq!(*limit(&stopped), Limit::Interrupted);
    }
    let depth = run(|options| options.depth = Some(44));
    assert_eq!(*limit(&depth), Limit::Depth(44));
    let depth = run(|options| options.depth = Some(45));
    assert!(matches!(depth.verdict, Verdict::Holds(_)));
    assert_eq!(depth.statistics.max_depth, 45);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let mut options = Options::default();
    (options.jobs, options.shorten, options.depth) = (2, true, Some(7));
    let errors = search(&Counters(1), &options).unwrap_err();
    assert_eq!(errors, [OptionsError::Shorten, OptionsError::Depth]);
    options.order = Order::BreadthFirst;
    options.jobs = 0;
    assert_eq!(search(&Counters(1), &options).unwrap_err().len(), 3);
}
