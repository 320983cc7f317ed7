//! The machine of `mazurka-model` finds the published numbers of traces, each once.

use mazurka_core::Verdict;
use mazurka_explore::{Explorer, Options, Reduction};
use mazurka_lab::models;
use mazurka_model::{Program, Races, Vm};

fn executions(program: Program, reduction: Reduction) -> u64 {
    let vm = Vm::new(program, Races::Allow).expect("models can be run");
    let options = Options::new().reduction(reduction);
    let outcome = Explorer::new(options).run(|| vm.clone()).expect("models are deterministic");
    assert!(matches!(outcome.verdict, Verdict::Holds(_)), "{:?}", outcome.verdict);
    assert_eq!(outcome.statistics.blocked_executions, 0);
    outcome.statistics.executions
}

#[test]
fn as_published() {
    let optimal = |program| executions(program, Reduction::Optimal);
    for (n, traces) in [(2, 1), (11, 1), (12, 8), (13, 64), (14, 512)] {
        assert_eq!(optimal(models::indexer(n)), traces, "indexer({n})");
    }
    for (n, traces) in [(2, 1), (13, 1), (14, 2), (18, 32), (20, 128)] {
        assert_eq!(optimal(models::filesystem(n)), traces, "filesystem({n})");
    }
    for n in 1..8 {
        assert_eq!(optimal(models::readers(n)), 1 << n, "readers({n})");
        assert_eq!(optimal(models::writers(n)), (1..=n as u64).product::<u64>(), "writers({n})");
    }
    for (n, traces) in [(6, 144), (8, 704)] {
        assert_eq!(optimal(models::lastzero(n)), traces, "lastzero({n})");
    }
    for (k, traces) in [(3, 141), (4, 1_107), (5, 8_953)] {
        assert_eq!(optimal(models::fib(k)), traces, "fib({k})");
    }
}

#[test]
fn one_path_where_the_paper_has_one() {
    for reduction in [Reduction::Dpor, Reduction::Source, Reduction::Optimal] {
        assert_eq!(executions(models::indexer(11), reduction), 1, "{}", reduction.name());
        assert_eq!(executions(models::filesystem(13), reduction), 1, "{}", reduction.name());
    }
}
