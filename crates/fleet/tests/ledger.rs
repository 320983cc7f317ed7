//! The protocol without a broker: units of random programs that are delivered twice, divided in
//! several ways, lost, and recorded by workers that are killed anywhere, add up to what one search
//! counts.

use mazurka_core::Statistics;
use mazurka_effort::{seeds, share};
use mazurka_explore::{Explorer, Options, Saved};
use mazurka_fleet::record::Commit;
use mazurka_fleet::{Ledger, Recorded, UnitId};
use mazurka_script::{Script, Shape, generate};
use std::collections::BTreeMap;

/// Larger programs take too long.
const MAX_EXECUTIONS: u64 = 300;

/// A search with a limit of executions, of a unit or from the start: what is left, and what was
/// counted.
fn stretch(script: &Script, unit: Option<&[u8]>, n: u64) -> (Option<Saved>, Statistics) {
    let mut options = Options::new().stop_at_first(false);
    options.max_executions = Some(n);
    let mut explorer = Explorer::new(options);
    if let Some(unit) = unit {
        explorer = explorer.resume(Saved::from_bytes(unit).expect("it was written so"));
    }
    let outcome = explorer.run(|| script.clone()).expect("it can be searched");
    (outcome.saved, outcome.statistics)
}

/// Numbers that only look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn is_one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// What goes wrong on the way, to see that it does.
#[derive(Debug, Default)]
struct Accidents {
    killed_before: u32,
    killed_behind: u32,
    refused: u32,
    forgotten: u32,
    unknown: u32,
}

/// A broker that loses things, and the asker that reads it.
struct Simulation<'a> {
    script: &'a Script,
    random: Random,
    ledger: Ledger,
    /// Whose child, the how many-th, and the unit.
    queue: Vec<(UnitId, u32, Vec<u8>)>,
    records: BTreeMap<UnitId, Commit>,
    accidents: &'a mut Accidents,
}

impl Simulation<'_> {
    fn record(&mut self, left: Saved) -> Commit {
        let n_children = 1 + self.random.below(4) as u32;
        let (results, children) = left.deal(n_children);
        let children = children.iter().map(Saved::to_bytes).collect();
        Commit {
            results: results.to_bytes(),
            children,
            worker: String::new(),
            deliveries: 1,
            longer: 0,
        }
    }

    fn enqueue(&mut self, parent: UnitId, commit: &Commit) {
        for (idx, child) in (0..).zip(&commit.children) {
            for _ in 0..1 + u32::from(self.random.is_one_in(6)) {
                self.queue.push((parent, idx, child.clone()));
            }
        }
    }

    /// A worker takes a unit, and does what workers do, as far as it comes.
    fn work(&mut self) {
        let at = self.random.below(self.queue.len() as u64) as usize;
        let (parent, idx, unit) = self.queue[at].clone();
        let id = parent.child(idx, &unit);
        if let Some(commit) = self.records.get(&id).cloned() {
            self.enqueue(id, &commit);
            self.queue.swap_remove(at);
            return;
        }
        let n = 1 + self.random.below(5);
        let (left, _) = stretch(self.script, Some(&unit), n);
        let commit = self.record(left.expect("a part is kept to its end"));
        if self.random.is_one_in(6) {
            self.accidents.killed_before += 1;
            return;
        }
        // Another worker may have been given the same unit in the meantime.
        let first = match self.random.is_one_in(8) {
            true => {
                self.accidents.refused += 1;
                let (left, _) = stretch(self.script, Some(&unit), n + 1);
                self.record(left.expect("a part is kept to its end"))
            }
            false => commit,
        };
        self.records.insert(id, first.clone());
        let recorded = self.ledger.record(id, first.clone()).expect("it can be read");
        self.accidents.unknown += u32::from(recorded == Recorded::Unknown);
        if self.random.is_one_in(10) {
            // The broker's disk has forgotten the record, which the asker has read.
            self.records.remove(&id);
            self.accidents.forgotten += 1;
            return;
        }
        if self.random.is_one_in(6) {
            self.accidents.killed_behind += 1;
            if self.random.is_one_in(2) {
                self.queue.swap_remove(at);
            }
            return;
        }
        self.enqueue(id, &first);
        self.queue.swap_remove(at);
    }

    fn run(&mut self) {
        for _ in 0..1_000_000 {
            if self.ledger.is_complete() {
                return;
            }
            if self.queue.is_empty() {
                let open = self.ledger.open();
                self.queue =
                    open.map(|(_, parent, idx, unit)| (parent, idx, unit.to_vec())).collect();
            }
            self.work();
        }
        panic!("there is no end of it: {}", self.script);
    }
}

#[test]
fn totals_are_those_of_one_search_whatever_happens() {
    let mut accidents = Accidents::default();
    let mut n_programs = 0;
    for shape in [Shape::variables(), Shape::locks(), Shape::everything()] {
        for seed in seeds(0..600) {
            let script = generate(seed, &shape);
            let (rest, whole) = stretch(&script, None, MAX_EXECUTIONS);
            if rest.is_some() {
                continue;
            }
            let (Some(left), _) = stretch(&script, None, 1) else { continue };
            n_programs += 1;
            let root = UnitId::root("job");
            let mut simulation = Simulation {
                script: &script,
                random: Random(seed),
                ledger: Ledger::new(root),
                queue: Vec::new(),
                records: BTreeMap::new(),
                accidents: &mut accidents,
            };
            let first = simulation.record(left);
            simulation.ledger.record(root, first.clone()).expect("it can be read");
            simulation.enqueue(root, &first);
            simulation.run();
            let ledger = &simulation.ledger;
            let numbers = |it: Statistics| (it.executions, it.blocked_executions, it.max_depth);
            assert_eq!(numbers(ledger.statistics()), numbers(whole), "seed {seed}: {script}");
            // The engine tells the same from the whole.
            let told = ledger.whole().expect("it can be read").expect("there is a record");
            assert_eq!(told.n_units(), 0);
            let (_, told) = stretch(&script, Some(&told.to_bytes()), u64::MAX);
            assert_eq!(numbers(told), numbers(whole), "seed {seed}: {script}");
        }
    }
    assert!(n_programs > share(300), "only {n_programs} programs were small enough");
    let Accidents { killed_before, killed_behind, refused, forgotten, unknown } = accidents;
    let fewest = [killed_before, killed_behind, refused, forgotten, unknown].into_iter().min();
    assert!(fewest > Some(share(200)), "hardly anything happened: {accidents:?}");
}

#[test]
fn what_is_open_can_be_saved_and_goes_on_alone() {
    let script: Script = Script::parse("x=1 | x=2 | x=3 | x=4 | x=5").expect("it is a program");
    let (_, whole) = stretch(&script, None, u64::MAX);
    assert_eq!(whole.executions, 120);
    let root = UnitId::root("job");
    let mut ledger = Ledger::new(root);
    assert!(!ledger.is_complete() && ledger.whole().expect("it can be read").is_none());
    let commit = |left: Saved| {
        let (results, children) = left.deal(3);
        let children = children.iter().map(Saved::to_bytes).collect();
        Commit {
            results: results.to_bytes(),
            children,
            worker: String::new(),
            deliveries: 1,
            longer: 0,
        }
    };
    let first = commit(stretch(&script, None, 10).0.expect("much is left"));
    let child = root.child(0, &first.children[0]);
    let second = commit(stretch(&script, Some(&first.children[0]), 7).0.expect("it is a part"));
    // The child's comes first: it counts once its parent's is there, and once only.
    assert_eq!(ledger.record(child, second.clone()), Ok(Recorded::Unknown));
    assert_eq!(ledger.statistics().executions, 0);
    assert_eq!(ledger.record(root, first), Ok(Recorded::First));
    assert_eq!(ledger.record(child, second), Ok(Recorded::Again));
    assert_eq!((ledger.statistics().executions, ledger.n_recorded()), (17, 2));
    let saved = ledger.whole().expect("it can be read").expect("there is a record");
    assert!(saved.part().is_none() && saved.n_units() > 2);
    let (left, total) = stretch(&script, Some(&saved.to_bytes()), u64::MAX);
    assert!(left.is_none());
    assert_eq!(total.executions, 120);
}
