//! Reductions on random models: what goes wrong in all states goes wrong in those that are left,
//! and nothing else does.

use mazurka_core::{Told, Violation};
use mazurka_effort::seeds;
use mazurka_promela::translate_text;
use mazurka_statespace::{
    Labels, Machine, Moves, Optimisations, Options, Order, Reduction, Step, Storage, Stuck,
    Transitions, search,
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
    fn reduce(&mut self, reduction: Reduction, optimisations: Optimisations) {
        self.machine.reduce(reduction, optimisations);
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
        self.log.lock().expect("the lock is not poisoned").insert(what);
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
    let log = logged.log.lock().expect("the lock is not poisoned").clone();
    let n_states = outcome.statistics.states;
    (log, n_states, n_states >= MOST as u64)
}

/// What goes wrong in a model, and where it ends, which has to be the same however it is searched;
/// and how many states that took, all of them and with the strongest reduction. Nothing if there
/// are too many.
fn check(text: &str) -> Option<(BTreeSet<String>, u64, [u64; 4])> {
    let Ok(model) = translate_text("model.pml", text) else { panic!("no model:\n{text}") };
    let machine = Machine::new(&model.program).expect("the machine runs all of Promela");
    let (all, n_states, is_large) = searched(&machine, |options| {
        (options.reduction, options.optimisations) = (Reduction::None, Optimisations::NONE);
    });
    if is_large {
        return None;
    }
    let every = Optimisations::default();
    let mut merging = Optimisations::NONE;
    merging.merging = true;
    for optimisations in [every, merging] {
        let (some, n_some, _) = searched(&machine, |options| {
            (options.reduction, options.optimisations) = (Reduction::None, optimisations);
        });
        assert_same(&some, &all, &format!("{optimisations:?}:\n{text}"));
        assert!(n_some <= n_states, "{optimisations:?}: {n_some} states of {n_states}\n{text}");
    }
    let (some, ..) = searched(&machine, |it| it.optimisations = Optimisations::NONE);
    assert_same(&some, &all, &format!("sets alone:\n{text}"));
    let reduced = [
        (Reduction::Ample, Order::DepthFirst, 1),
        (Reduction::Stubborn, Order::DepthFirst, 1),
        (Reduction::Stubborn, Order::BreadthFirst, 1),
        (Reduction::Stubborn, Order::DepthFirst, 2),
    ]
    .map(|(reduction, order, jobs)| {
        let (some, n_some, _) = searched(&machine, |options| {
            (options.reduction, options.order, options.jobs) = (reduction, order, jobs);
            options.storage = if jobs > 1 { Storage::Exact } else { Storage::Tree };
        });
        assert_same(&some, &all, &format!("{reduction:?}, {order:?}, {jobs} jobs:\n{text}"));
        assert!(n_some <= n_states, "{n_some} states of {n_states}\n{text}");
        n_some
    });
    Some((all, n_states, reduced))
}

/// The same goes wrong, and the same ends are reached. Where nothing comes after what goes wrong,
/// that takes with it what others would have done: there, only whether something goes wrong has to
/// be the same.
fn assert_same(some: &BTreeSet<String>, all: &BTreeSet<String>, how: &str) {
    let ends_all = |it: &String| it.contains("division by zero") || it.contains("index");
    if !all.iter().any(ends_all) {
        return assert_eq!(some, all, "{how}");
    }
    let is_wrong = |it: &String| !it.starts_with("end true");
    assert!(some.is_subset(all) && some.iter().any(is_wrong), "{some:?} of {all:?}: {how}");
}

/// Whether something is found in a small model, however it is searched.
fn finds(text: &str, what: &str) -> bool {
    let (all, ..) = check(text).expect("it is small");
    all.iter().any(|it| it.contains(what))
}

#[test]
fn nothing_is_lost_in_random_models() {
    let (mut n_models, mut n_wrong, mut n_reduced, mut n_single) = (0, 0, 0, 0);
    let seeds = seeds(0..6000);
    for seed in seeds.clone() {
        let Some((all, n_states, reduced)) = check(&crate::generate::model(seed)) else { continue };
        n_models += 1;
        n_wrong += usize::from(all.iter().any(|it| !it.starts_with("end true")));
        n_single += usize::from(reduced[0] < n_states);
        n_reduced += usize::from(reduced[1] < reduced[0]);
    }
    let counts = format!("{n_models} models, {n_wrong} wrong, {n_single} and {n_reduced} reduced");
    assert!(2 * n_models > seeds.count() && n_wrong > n_models / 4, "{counts}");
    assert!(n_single > n_models / 2 && n_reduced > n_models / 20, "{counts}");
}

#[test]
fn a_process_that_goes_round_does_not_hide_the_others() {
    let text = "byte g; active proctype p() { do :: skip od } active proctype q() { g = 1; assert(g == 0) }";
    assert!(finds(text, "assertion violated"));
}

#[test]
fn who_dies_early_makes_room_for_the_number_of_another() {
    let text = "proctype a() { skip } proctype b() { assert(_pid == 2) } init { run a(); run b() }";
    assert!(finds(text, "assertion violated"));
    let text = "proctype a() { skip } init { run a(); assert(_nr_pr == 1) }";
    assert!(finds(text, "assertion violated"));
    let text = "proctype a() { skip } init { pid p; run a(); p = run a(); assert(p == 1) }";
    assert!(finds(text, "assertion violated"));
}

#[test]
fn too_many_processes_are_too_many_if_none_of_them_dies() {
    let text =
        "proctype a() { skip } init { byte i; do :: i < 255 -> run a(); i++ :: else -> break od }";
    let model = translate_text("model.pml", text).expect("it is a model");
    let machine = Machine::new(&model.program).expect("the machine runs all of Promela");
    let (found, ..) = searched(&machine, |options| options.states = Some(200_000));
    assert!(found.iter().any(|it| it.contains("too many processes")), "{found:?}");
}

#[test]
fn an_else_waits_for_what_others_send() {
    let text = "chan c = [1] of { byte }; active proctype p() { c!1 }
        active proctype q() { if :: c?1 :: else -> assert(false) fi }";
    assert!(finds(text, "assertion violated"));
}

#[test]
fn an_else_waits_for_others_to_be_ready() {
    let text = "chan r = [0] of { byte }; active proctype p() { skip; r?_ }
        active proctype q() { if :: r!1 :: else -> assert(false) fi }";
    assert!(finds(text, "assertion violated"));
    let text =
        "byte g; chan r = [0] of { byte }; active proctype p() { atomic { g = 1; g = 2 }; r?_ }
        active proctype q() { if :: r!1 :: else -> assert(false) fi }";
    assert!(finds(text, "assertion violated"));
}

#[test]
fn an_atomic_sequence_that_waits_is_seen_half_done() {
    let text = "byte g, h; chan c = [1] of { byte };
        active proctype p() { c!1; atomic { g = 1; c!2; h = 1 } }
        active proctype q() { c?1; c?2 }
        active proctype s() { (g == 1); assert(h == 1) }";
    assert!(finds(text, "assertion violated"));
    let text = "byte g, h; chan r = [0] of { byte };
        active proctype p() { atomic { g = 1; r!2; h = 1 } }
        active proctype q() { skip; r?2 }
        active proctype s() { (g == 1); assert(h == 1) }";
    assert!(finds(text, "assertion violated"));
}

#[test]
fn a_promise_about_a_channel_is_checked_and_not_believed() {
    let text = "chan c = [2] of { byte }; active proctype p() { xs c; c!1 }
        active proctype q() { c!2; c?2 -> assert(false) }";
    assert!(finds(text, "xs assertion violated"));
    // Where the other one is in the way, nothing is left to receive.
    let text = "chan c = [1] of { byte }; active proctype p() { xr c; c?1 }
        active proctype q() { c!1 } active proctype s() { c?1 -> assert(false) }";
    assert!(finds(text, "xr assertion violated"));
    let text = "chan c = [1] of { byte }; active proctype p() { xs c; c!1 }
        active proctype q() { c?1 }";
    assert!(!finds(text, "assertion violated"));
}

#[test]
fn messages_that_are_sorted_in_do_not_commute() {
    let text = "chan c = [2] of { byte }; active proctype p() { c!!2; c!!1 }
        active proctype q() { byte x; c?x; assert(x == 1) }";
    assert!(finds(text, "assertion violated"));
    let text = "chan c = [2] of { byte }; active proctype p() { c!!2; c!!1 }
        active proctype q() { byte x; c?x; assert(x == 2) }";
    assert!(finds(text, "assertion violated"));
}

#[test]
fn the_channel_of_a_process_goes_when_it_dies() {
    let text = "chan m = [1] of { chan };
        proctype a() { chan o = [1] of { byte }; m!o }
        init { chan x; run a(); m?x; x!1 }";
    assert!(finds(text, "uninitialized chan"));
    assert!(finds(text, "end true"));
}

#[test]
fn a_local_variable_that_others_ask_for_is_not_local() {
    let text = "active proctype p() { byte y; y = 1; L: y = 0 }
        active proctype q() { assert(!(p:y == 1 && p@L)) }";
    assert!(finds(text, "assertion violated"));
}

#[test]
fn a_timeout_waits_for_everybody() {
    let text = "byte g; active proctype p() { timeout; assert(g == 1) }
        active proctype q() { byte y; y = 1; y = 2; g = 1 }";
    assert!(!finds(text, "assertion violated"));
    let text = "byte g; active proctype p() { timeout; assert(g == 0) }
        active proctype q() { byte y; y = 1; y = 2; g = 1 }";
    assert!(finds(text, "assertion violated"));
}

/// Variables of the program that nothing depends on are no part of a state; what is asked for in
/// any way is.
#[test]
fn what_nothing_depends_on_is_left_out() {
    let count = |text: &str, reduction: Option<Reduction>| {
        let model = translate_text("idle.pml", text).unwrap_or_else(|faults| panic!("{faults}"));
        let machine = Machine::new(&model.program).expect("the machine runs it");
        let mut options = Options::default();
        match reduction {
            Some(reduction) => options.reduction = reduction,
            None => {
                (options.reduction, options.optimisations) = (Reduction::None, Optimisations::NONE);
            }
        }
        search(&machine, &options).expect("the options go together").statistics.states
    };
    // The same where they are hidden, which makes no state, and is wrong if they are asked for.
    let model = |variables: &str, step: &str, ask: &str| {
        let text = |hidden: &str| {
            let variables = variables.replace('~', hidden);
            format!(
                "{variables} byte x; chan c = [1] of {{ byte }};
                 active [2] proctype p() {{
                   byte i; do :: i < 3 -> i++; x = 1 - x; {step} :: else -> break od; {ask}
                 }}"
            )
        };
        [text(""), text("hidden")]
    };
    for (variables, step) in [
        ("~ byte w = 4;", "w = x"),
        ("~ int n;", "n++"),
        ("~ byte a[3];", "a[i % 3] = _pid"),
        ("~ byte a[3];", "a[i % 3] = 2 * a[i % 3] + _pid"),
        ("~ byte a[4]; ~ byte w;", "w = a[i] + _pid; a[_pid] = w"),
        ("typedef T { byte v[3]; byte b }; ~ T t[2];", "t[_pid].v[i % 3] = t[x].b + 1; t[x].b++"),
        ("typedef T { byte a; byte b }; ~ T t;", "t.b = t.a + x"),
        ("~ byte v; ~ byte w;", "atomic { v = 2 * w + _pid; w = v }"),
    ] {
        let [open, hidden] = model(variables, step, "skip");
        for reduction in Reduction::ALL.map(Some) {
            assert_eq!(count(&open, reduction), count(&hidden, reduction), "{step}");
        }
        let [open, hidden] = [open, hidden].map(|it| count(&it, None));
        // A counter of steps may be known by where the processes are.
        assert!(open > hidden || open == hidden && step == "n++", "{step}: {open}, {hidden}");
    }
    for (variables, step, ask) in [
        ("~ int n;", "n = 2 * n + _pid", "assert(n < 999)"),
        ("~ int n;", "n = 2 * n + _pid", "printf(\"%d\", n)"),
        ("~ int n; ~ byte m;", "n = 2 * n + _pid; m = n", "assert(m < 255)"),
        ("~ int n;", "n = 2 * n + _pid", "if :: c?eval(n) :: else fi"),
        ("~ int n = 9; ~ int m;", "n = 2 * n + _pid; m = 1 / n", "skip"),
        ("~ int n; ~ byte b[99];", "n = 2 * n + _pid; b[n] = 1", "skip"),
        ("~ byte a[9]; ~ byte b[9];", "a[i] = 2 * a[i] + _pid; b[a[i]]++", "skip"),
        ("~ byte a[9];", "a[0] = 2 * a[0] + _pid; a[i] = 6 / (a[0] + 1)", "skip"),
    ] {
        let [open, hidden] = model(variables, step, ask);
        let [open, hidden] = [open, hidden].map(|it| count(&it, Some(Reduction::Stubborn)));
        assert!(open > hidden, "{step}; {ask}: {open}, not more than {hidden}");
    }
}
