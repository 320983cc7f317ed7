//! Searches a Promela model and tells what it took: `states MODEL [none|ample|stubborn] [STORAGE]
//! [ORDER] [JOBS] [auto|interpreted|compiled] [plain]`. The last word switches off dead variables
//! and merging.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use mazurka_statespace::{
    Machine, Optimisations, Options, Order, Reduction, Storage, Tier, search,
};
use std::time::Instant;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |idx: usize| words.get(idx).map_or("", String::as_str);
    let model = mazurka_promela::translate(word(0).as_ref(), &mazurka_promela::Options::default())
        .unwrap_or_else(|_| panic!("`{}` is no model", word(0)));
    let machine = Machine::new(&model.program).expect("the machine runs all of Promela").trusting();
    let machine = machine.with_tier(match word(5) {
        "interpreted" => Tier::Interpreted,
        "compiled" => Tier::Compiled,
        _ => Tier::Auto,
    });
    let mut options = Options::default();
    options.all_violations = true;
    options.reduction =
        Reduction::ALL.into_iter().find(|it| it.name() == word(1)).unwrap_or_default();
    options.storage = Storage::ALL.into_iter().find(|it| it.name() == word(2)).unwrap_or_default();
    options.order = Order::ALL.into_iter().find(|it| it.name() == word(3)).unwrap_or_default();
    options.jobs = word(4).parse().unwrap_or(1);
    if word(6) == "plain" {
        options.optimisations = Optimisations::NONE;
    }
    let (start, before) = (Instant::now(), processor_time());
    let outcome = search(&machine, &options).expect("the options go together");
    let processor_s = (processor_time() - before) as f64 / 1e9;
    let counted = outcome.statistics;
    println!(
        "{}: {} states, {} matched, depth {}, {} violations, {:.1} bytes a state, {:.2} s, \
         {processor_s:.4} s of the processor",
        outcome.verdict.name(),
        counted.states,
        counted.states_matched,
        counted.max_depth,
        outcome.violations,
        outcome.store_bytes as f64 / counted.states as f64,
        start.elapsed().as_secs_f64(),
    );
}

/// The time that this thread has had of the processor, in nanoseconds: with one job, that of the
/// search.
fn processor_time() -> u64 {
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    said.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or_default()
}
