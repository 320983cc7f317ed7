//! Instructions of a search, counted by callgrind: `cargo bench -p mazurka-lab`.
//!
//! Needs valgrind and `cargo install gungraun-runner`. What must not grow is in the names: steps
//! per execution and threads; divide by the steps that `--bin explore` prints for the same program.

#![expect(missing_docs, reason = "the macros make public items without any")]

use gungraun::{library_benchmark, library_benchmark_group, main};
use mazurka_explore::{Explorer, Options, Reduction};
use mazurka_lab::programs;
use mazurka_script::Script;
use std::hint::black_box;

fn setup(reduction: Reduction, text: String) -> (Options, Script) {
    let script = Script::parse(&text).expect("the programs of the lab are well formed");
    (Options::new().reduction(reduction), script)
}

fn dpor_long(len: usize) -> (Options, Script) {
    setup(Reduction::Dpor, programs::long(4, len, 10))
}

fn optimal_long(len: usize) -> (Options, Script) {
    setup(Reduction::Optimal, programs::long(4, len, 10))
}

fn optimal_writers(n: usize) -> (Options, Script) {
    setup(Reduction::Optimal, programs::writers(n))
}

#[library_benchmark]
#[bench::dpor_4_threads_of_30_steps(args = (30), setup = dpor_long)]
#[bench::dpor_4_threads_of_50_steps(args = (50), setup = dpor_long)]
#[bench::optimal_4_threads_of_30_steps(args = (30), setup = optimal_long)]
#[bench::optimal_4_threads_of_50_steps(args = (50), setup = optimal_long)]
#[bench::optimal_7_writers(args = (7), setup = optimal_writers)]
fn search((options, script): (Options, Script)) -> u64 {
    let outcome =
        Explorer::new(options).run(|| script.clone()).expect("the program is deterministic");
    black_box(outcome.statistics.transitions)
}

library_benchmark_group!(name = searches; benchmarks = search);
main!(library_benchmark_groups = searches);
