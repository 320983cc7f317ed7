//! Reductions on random models: what goes wrong in all states goes wrong in those that are left, and nothing
//! else does.

mod generate;

use mazurka_core::{Told, Violation};
use mazurka_promela::translate_text;
use mazurka_statespace::{
    Labels, Machine, Moves, Options, Order, Reduction, Step, Storage, Stuck, Transitions, search,
};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Larger models take too long here.
const MOST: usize = 4_000;

/// A machine that remembers what went wrong.
#[derive(Clone)]
struct Logged {
    machine: Machine,
    log: Arc<Mutex<BTreeSet<String>>>,
}

impl Transitions for Logged {
    fn reduce(&mut self, reduction: Reduction) {
        self.machine.reduce(reduction);
    }

    fn initial(&mut self, state: &mut Vec<u8>) {
        self.machine.initial(state);
    }

    fn expand(&mut self, state: &[u8], moves: &mut Moves) {
        self.machine.expand(state, moves);
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        let is_valid = self.machine.is_valid_end(state);
        // The numbers of processes depend on who died when.
        let mut standing: Vec<String> = (self.machine.stuck(state).processes.iter())
            .map(|told| {
                let name = told.thread.split(':').next().unwrap_or("");
                let line = told.location.as_ref().map_or(0, |place| place.line);
                format!("{name} {} {line}", told.operation)
            })
            .collect();
        standing.sort();
        self.tell(format!("end {is_valid} {}", standing.join(", ")));
        is_valid
    }

    fn stuck(&mut self, state: &[u8]) -> Stuck {
        self.machine.stuck(state)
    }

    fn violation(&mut self, state: &[u8], step: Step, fault: u32) -> Violation {
        let violation = self.machine.violation(state, step, fault);
        self.tell(format!("edge {}: {}", step.edge, violation.message));
        violation
    }

    fn describe(&mut self, state: &[u8], step: Step) -> Vec<Told> {
        self.machine.describe(state, step)
    }

    fn process_name(&mut self, state: &[u8], process: u32) -> String {
        self.machine.process_name(state, process)
    }

    fn labels(&mut self, state: &[u8]) -> Labels {
        self.machine.labels(state)
    }

    fn n_edges(&self) -> usize {
        self.machine.n_edges()
    }
}

impl Logged {
    fn tell(&self, what: String) {
        self.log.lock().expect("nobody panics with it").insert(what);
    }
}

/// What goes wrong, where a program ends, and how many states were stored.
fn searched(machine: &Machine, set: impl Fn(&mut Options)) -> (BTreeSet<String>, u64, bool) {
    let logged = Logged { machine: machine.clone(), log: Arc::default() };
    let mut options = Options::default();
    options.all_violations = true;
    options.states = Some(MOST);
    set(&mut options);
    let outcome = search(&logged, &options).expect("the options go together");
    let log = logged.log.lock().expect("nobody panics with it").clone();
    let n_states = outcome.statistics.states;
    (log, n_states, n_states >= MOST as u64)
}

#[test]
fn nothing_is_lost_in_random_models() {
    let (mut n_models, mut n_wrong, mut n_reduced, mut n_single) = (0, 0, 0, 0);
    for seed in 0..seeds() {
        let text = generate::model(seed);
        let Ok(model) = translate_text("model.pml", &text) else {
            panic!("seed {seed} is no model:\n{text}")
        };
        let machine = Machine::new(&model.program).expect("the machine runs all of Promela");
        let (all, n_states, is_large) = searched(&machine, |it| it.reduction = Reduction::None);
        if is_large {
            continue;
        }
        n_models += 1;
        n_wrong += usize::from(all.iter().any(|it| !it.starts_with("end true")));
        for (reduction, order, jobs) in [
            (Reduction::Ample, Order::DepthFirst, 1),
            (Reduction::Stubborn, Order::DepthFirst, 1),
            (Reduction::Stubborn, Order::BreadthFirst, 1),
            (Reduction::Stubborn, Order::DepthFirst, 2),
        ] {
            let (some, n_some, _) = searched(&machine, |options| {
                (options.reduction, options.order, options.jobs) = (reduction, order, jobs);
                options.storage = if jobs > 1 { Storage::Exact } else { Storage::Tree };
            });
            assert_eq!(some, all, "seed {seed}, {reduction:?}, {order:?}, {jobs} jobs:\n{text}");
            assert!(n_some <= n_states, "seed {seed}: {n_some} states of {n_states}\n{text}");
            n_reduced += usize::from(n_some < n_states);
            n_single += usize::from(n_some < n_states && reduction == Reduction::Ample);
        }
    }
    let counts =
        format!("{n_models} models, {n_wrong} wrong, {n_reduced} reduced, {n_single} by one");
    assert!(n_models as u64 > seeds() / 2 && n_wrong > n_models / 4, "{counts}");
    assert!(n_reduced > 2 * n_models && n_single > n_models / 2, "{counts}");
}

/// How many models: enough to find a mistake with, unless the environment asks for more.
fn seeds() -> u64 {
    std::env::var("MAZURKA_SEEDS").ok().and_then(|it| it.parse().ok()).unwrap_or(3000)
}
