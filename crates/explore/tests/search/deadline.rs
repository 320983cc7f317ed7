//! A search stops in the middle of an execution when it has to.

use mazurka_core::{Limit, Verdict};
use mazurka_explore::{Explorer, Options, Reduction};
use mazurka_script::Script;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// One thread of so many steps.
fn long(n_steps: usize) -> Script {
    vec!["x=1"; n_steps].join("; ").parse().expect("it is a script")
}

/// One thread that never ends: an execution has a moment to end by itself.
fn endless() -> Script {
    "while 0==0 { x=1 }".parse().expect("it is a script")
}

#[test]
fn a_long_execution_is_abandoned() {
    let flag = AtomicBool::new(true);
    for reduction in Reduction::ALL {
        let mut options = Options::new();
        options.reduction = reduction;
        options.max_depth = usize::MAX;
        let explorer = Explorer::new(options).abandon_when(&flag);
        let outcome = explorer.run(endless).expect("it can be searched");
        let is_it = matches!(outcome.verdict, Verdict::Inconclusive(Limit::Interrupted));
        assert!(is_it, "{reduction}: {:?}", outcome.verdict);
        assert_eq!(outcome.statistics.executions, 0, "{reduction}");
        // Of others, what is left is not known in the middle of an execution.
        assert_eq!(outcome.saved.is_some(), reduction == Reduction::Optimal, "{reduction}");
    }
}

#[test]
fn a_search_that_is_through_has_its_verdict() {
    let outcome = Explorer::new(Options::new()).run(|| long(1000)).expect("it can be searched");
    assert!(matches!(outcome.verdict, Verdict::Holds(_)), "{:?}", outcome.verdict);
}

#[test]
fn the_time_is_looked_at_within_an_execution() {
    let mut options = Options::new();
    options.time_limit = Some(Duration::ZERO);
    options.max_depth = usize::MAX;
    let outcome = Explorer::new(options).run(endless).expect("it can be searched");
    assert!(matches!(outcome.verdict, Verdict::Inconclusive(Limit::Time(_))));
}
