//! Executions that never end: every search, reduction and fairness against the whole product, on
//! random programs with random formulae and automata; and two programs on which the algorithm as
//! published finds nothing.

use crate::kit::{Act, Edge, Place, Random, Table, formula, spins_inside};
use mazurka_core::{Verdict, ViolationKind};
use mazurka_effort::{seeds, share};
use mazurka_ltl::{
    Automaton, Cube, Edge as Way, Formula, Pool, State, Stuttering, stuttering, translate,
};
use mazurka_statespace::{
    Construction, CycleSearch, Cycles, Fairness, Moves, Options, Outcome, Property, Reduction,
    Safety, Successor, Transitions, search_cycles,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A process that takes a step, and whether that is independent of all others.
type Mover = (u32, bool);

/// The whole graph of a program, without any reduction.
struct Whole {
    /// For every state, the steps: who, and where to.
    steps: Vec<Vec<(Option<Mover>, usize)>>,
    /// Who can move in a state, and whether that is independent of all others.
    enabled: Vec<BTreeMap<u32, bool>>,
    letters: Vec<u64>,
}

impl Whole {
    /// What a program is whose executions stay where they end.
    fn new(table: &Table, letter: impl Fn(&mut Table, &[u8]) -> u64) -> Self {
        Self::staying(table, letter, true)
    }

    fn staying(table: &Table, letter: impl Fn(&mut Table, &[u8]) -> u64, stays: bool) -> Self {
        let mut table = table.clone();
        let mut numbers = BTreeMap::new();
        let mut states = Vec::new();
        let mut first = Vec::new();
        table.initial(&mut first);
        numbers.insert(first.clone(), 0);
        states.push(first);
        let (mut steps, mut enabled, mut letters) = (Vec::new(), Vec::new(), Vec::new());
        let mut at = 0;
        while at < states.len() {
            let state: Vec<u8> = states[at].clone();
            letters.push(letter(&mut table, &state));
            let mut arrivals = Vec::new();
            let mut able = BTreeMap::new();
            let mut todo: Vec<(Option<Mover>, Vec<u8>)> = vec![(None, state)];
            let mut is_end = false;
            while let Some((who, from)) = todo.pop() {
                let mut moves = Moves::new();
                table.expand(&from, &mut moves);
                is_end |= moves.is_empty();
                let groups = moves.groups().iter();
                let safety = groups.map(|it| (it.process, it.safety == Safety::Independent));
                let safety: BTreeMap<u32, bool> = safety.collect();
                if who.is_none() {
                    able.clone_from(&safety);
                }
                for idx in 0..moves.len() {
                    let process = moves[idx].step.process;
                    let mover = who.unwrap_or((process, safety[&process]));
                    let to = moves.state(idx).to_vec();
                    match moves[idx].successor {
                        Successor::None => {}
                        Successor::Transient => todo.push((Some(mover), to)),
                        Successor::Stored => {
                            let number = *numbers.entry(to.clone()).or_insert_with(|| {
                                states.push(to);
                                states.len() - 1
                            });
                            arrivals.push((Some(mover), number));
                        }
                    }
                }
            }
            if is_end && stays {
                arrivals.push((None, at));
            }
            steps.push(arrivals);
            enabled.push(able);
            at += 1;
        }
        Self { steps, enabled, letters }
    }

    /// Whether the product with an automaton has a fair execution that is accepted, or one that
    /// cannot be continued but would be accepted in any case.
    fn accepts(&self, automaton: &Automaton, fairness: Fairness) -> bool {
        let product = Product::new(self, automaton);
        product.has_fair(&(0..product.nodes.len()).collect(), fairness) || product.has_bad_prefix()
    }
}

struct Product<'a> {
    whole: &'a Whole,
    automaton: &'a Automaton,
    nodes: Vec<(usize, usize)>,
    steps: Vec<Vec<(Option<Mover>, usize)>>,
    /// The same, backwards.
    steps_back: Vec<Vec<(Option<Mover>, usize)>>,
}

impl<'a> Product<'a> {
    fn new(whole: &'a Whole, automaton: &'a Automaton) -> Self {
        let mut numbers = BTreeMap::from([((0, 0), 0)]);
        let (mut nodes, mut steps) = (vec![(0, 0)], Vec::<Vec<(Option<Mover>, usize)>>::new());
        let mut at = 0;
        while at < nodes.len() {
            let (state, place): (usize, usize) = nodes[at];
            let mut all = Vec::new();
            for way in &automaton.states[place].edges {
                if way.guard.takes(whole.letters[state]) {
                    for &(who, to) in &whole.steps[state] {
                        let number = *numbers.entry((to, way.target)).or_insert_with(|| {
                            nodes.push((to, way.target));
                            nodes.len() - 1
                        });
                        all.push((who, number));
                    }
                }
            }
            steps.push(all);
            at += 1;
        }
        let mut steps_back = vec![Vec::new(); nodes.len()];
        for (from, all) in steps.iter().enumerate() {
            all.iter().for_each(|&(who, to)| steps_back[to].push((who, from)));
        }
        Self { whole, automaton, nodes, steps, steps_back }
    }

    /// Whether some way ends where the automaton accepts whatever comes next.
    fn has_bad_prefix(&self) -> bool {
        let accepts_all = self.automaton.universal();
        self.nodes.iter().any(|&(state, place)| {
            let ways = self.automaton.states[place].edges.iter();
            let mut taken = ways.filter(|way| way.guard.takes(self.whole.letters[state]));
            taken.any(|way| accepts_all[way.target])
        })
    }

    fn has_fair(&self, within: &BTreeSet<usize>, fairness: Fairness) -> bool {
        let mut left = within.clone();
        while let Some(&node) = left.first() {
            let component: BTreeSet<usize> = reach(&self.steps, node, within)
                .intersection(&reach(&self.steps_back, node, within))
                .copied()
                .collect();
            left.remove(&node);
            left = left.difference(&component).copied().collect();
            // Empty if the node is on no cycle.
            if !component.iter().any(|&it| self.automaton.states[self.nodes[it].1].is_accepting) {
                continue;
            }
            let taken: Vec<Mover> = component
                .iter()
                .flat_map(|&it| &self.steps[it])
                .filter(|(_, to)| component.contains(to))
                .filter_map(|(who, _)| *who)
                .collect();
            let has_dependent = taken.iter().any(|(_, is_independent)| !is_independent);
            let able = |node: &usize| &self.whole.enabled[self.nodes[*node].0];
            let is_due = |node: &usize, process: &u32| match able(node).get(process) {
                None => false,
                Some(is_independent) => {
                    fairness != Fairness::Trace || *is_independent || !has_dependent
                }
            };
            let is_starved = |process: &u32| {
                !taken.iter().any(|(who, _)| who == process)
                    && match fairness {
                        Fairness::Weak => component.iter().all(|it| is_due(it, process)),
                        Fairness::None => false,
                        _ => component.iter().any(|it| is_due(it, process)),
                    }
            };
            let starved: Vec<u32> = (0..8).filter(is_starved).collect();
            if starved.is_empty() {
                return true;
            }
            if matches!(fairness, Fairness::Strong | Fairness::Trace) {
                let rest = component
                    .iter()
                    .copied()
                    .filter(|it| !starved.iter().any(|process| is_due(it, process)))
                    .collect();
                if self.has_fair(&rest, fairness) {
                    return true;
                }
            }
        }
        false
    }
}

impl Product<'_> {
    /// Whether there is a lasso of fewer steps that is accepted and fair, by going all ways round
    /// from every node.
    fn has_shorter(&self, n_steps: usize, fairness: Fairness) -> bool {
        let mut distance = vec![usize::MAX; self.nodes.len()];
        distance[0] = 0;
        let mut todo = std::collections::VecDeque::from([0]);
        while let Some(at) = todo.pop_front() {
            for &(_, to) in &self.steps[at] {
                if distance[to] == usize::MAX {
                    distance[to] = distance[at] + 1;
                    todo.push_back(to);
                }
            }
        }
        (0..self.nodes.len()).any(|root| {
            let most = n_steps.saturating_sub(distance[root] + 1);
            self.comes_back(&mut vec![root], &mut Vec::new(), most, fairness)
        })
    }

    /// Whether some way of at most so many more steps leads back to its first node.
    fn comes_back(
        &self,
        way: &mut Vec<usize>,
        movers: &mut Vec<Option<Mover>>,
        most: usize,
        fairness: Fairness,
    ) -> bool {
        if most == 0 {
            return false;
        }
        let last = *way.last().expect("it begins somewhere");
        self.steps[last].iter().any(|&(who, to)| {
            movers.push(who);
            let mut is_found = to == way[0] && self.is_good(way, movers, fairness);
            if !is_found {
                way.push(to);
                is_found = self.comes_back(way, movers, most - 1, fairness);
                way.pop();
            }
            movers.pop();
            is_found
        })
    }

    /// Whether a loop is accepted and fair.
    fn is_good(&self, nodes: &[usize], movers: &[Option<Mover>], fairness: Fairness) -> bool {
        let accepts = |&it: &usize| self.automaton.states[self.nodes[it].1].is_accepting;
        let has_dependent = movers.iter().flatten().any(|(_, is_independent)| !is_independent);
        let able = |node: usize, process: u32| {
            let enabled = self.whole.enabled[self.nodes[node].0].get(&process);
            enabled.is_some_and(|is_independent| {
                fairness != Fairness::Trace || *is_independent || !has_dependent
            })
        };
        let is_starved = |process: u32| {
            let moves = movers.iter().flatten().any(|&(who, _)| who == process);
            let mut due = nodes.iter().map(|&node| able(node, process));
            !moves
                && match fairness {
                    Fairness::None => false,
                    Fairness::Weak => due.all(|it| it),
                    _ => due.any(|it| it),
                }
        };
        nodes.iter().any(accepts) && !(0..8).any(is_starved)
    }
}

/// Where one can get from a node by at least one step, within some nodes.
fn reach(
    steps: &[Vec<(Option<Mover>, usize)>],
    from: usize,
    within: &BTreeSet<usize>,
) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut todo = vec![from];
    while let Some(at) = todo.pop() {
        for &(_, to) in &steps[at] {
            if within.contains(&to) && seen.insert(to) {
                todo.push(to);
            }
        }
    }
    seen
}

fn random_formula(random: &mut Random, depth: usize) -> String {
    let proposition =
        |random: &mut Random| ["p", "q", "!p", "!q", "true"][random.below(5)].to_owned();
    formula(random, depth, &proposition)
}

fn automaton_of(text: &str) -> Option<Automaton> {
    let mut atoms = vec!["p".to_owned(), "q".to_owned()];
    let formula = Formula::parse(text, &mut atoms).expect("the formula is one");
    let mut pool = Pool::new();
    let node = pool.add(&formula);
    translate(&mut pool, node, &atoms).ok()
}

fn random_automaton(random: &mut Random) -> Automaton {
    let n_states = 1 + random.below(3);
    let states = (0..n_states).map(|_| {
        let edges = (0..1 + random.below(3)).map(|_| {
            let guard = match random.below(5) {
                0 => Cube::TRUE,
                n => Cube::literal(random.below(2), n % 2 == 0),
            };
            Way { guard, target: random.below(n_states) }
        });
        let edges = edges.collect();
        State { is_accepting: random.one_in(2), edges }
    });
    let states = states.collect();
    Automaton { atoms: vec!["p".to_owned(), "q".to_owned()], states }
}

/// All options that go together. Steps that go wrong are left alone.
fn combinations() -> Vec<Options> {
    let mut all = Vec::new();
    for cycle_search in CycleSearch::ALL {
        for fairness in Fairness::ALL {
            if cycle_search == CycleSearch::Nested && fairness != Fairness::None {
                continue;
            }
            for construction in Construction::ALL {
                for reduction in [Reduction::None, Reduction::default()] {
                    let mut options = Options::default();
                    options.cycle_search = cycle_search;
                    options.fairness = fairness;
                    options.construction = construction;
                    options.reduction = reduction;
                    options.ignored = vec![ViolationKind::Assertion];
                    all.push(options);
                }
            }
        }
    }
    all
}

fn run(table: &Table, cycles: Cycles<'_>, options: &Options) -> Outcome {
    let table = Table { log: Arc::default(), ..table.clone() };
    search_cycles(&table, cycles, options).expect("the options go together")
}

fn is_violated(outcome: &Outcome) -> bool {
    match outcome.verdict {
        Verdict::Violated(_) => true,
        Verdict::Holds(_) => false,
        ref other => panic!("{other:?}"),
    }
}

fn letter(table: &mut Table, state: &[u8]) -> u64 {
    let n_propositions = table.n_propositions();
    (0..n_propositions).filter(|&it| table.holds(it, state)).fold(0, |bits, it| bits | 1 << it)
}

/// A random property, and the automaton of what violates it.
fn random_property(random: &mut Random) -> Option<(Property, Automaton)> {
    if random.one_in(12) {
        let automaton = random_automaton(random);
        return Some((Property::new("it", automaton.clone()), automaton));
    }
    let mut atoms = vec!["p".to_owned(), "q".to_owned()];
    let formula = Formula::parse(&random_formula(random, 2), &mut atoms);
    let formula = formula.expect("the formula is one");
    let property = Property::formula("it", &formula, &atoms).ok()?;
    let automaton = property.violations().expect("it is about no labels").clone();
    Some((property, automaton))
}

#[test]
fn every_search_agrees_with_the_whole_product() {
    let (mut n_violated, mut n_fair) = (0, 0);
    // By fairness and construction, how often the reduction has made a difference.
    let mut n_reduced: BTreeMap<_, usize> = BTreeMap::new();
    for seed in seeds(0..1500) {
        let mut random = Random::new(77_000 + seed);
        let table = Table::random(&mut random);
        if spins_inside(&table) {
            continue;
        }
        let Some((property, automaton)) = random_property(&mut random) else { continue };
        let whole = Whole::new(&table, letter);
        let expected = Fairness::ALL.map(|fairness| whole.accepts(&automaton, fairness));
        n_fair += usize::from(expected[0] && !expected.iter().all(|it| *it));
        let mut n_nodes = BTreeMap::new();
        for mut options in combinations() {
            // To go on after a violation changes no verdict, and neither does what is left alone
            // behind it.
            options.all_violations = seed % 2 == 1;
            options.all_steps = seed % 3 == 1;
            let outcome = run(&table, Cycles::Accepted(&property), &options);
            let fairness = Fairness::ALL.iter().position(|it| *it == options.fairness);
            let expected = expected[fairness.expect("it is one of all")];
            assert_eq!(
                is_violated(&outcome),
                expected,
                "seed {seed}, {options:?}\n{automaton:?}\n{table:#?}"
            );
            n_violated += usize::from(expected);
            if !expected {
                let cell = (options.fairness.name(), options.construction.name());
                let key = (options.cycle_search.name(), cell);
                let n_before = *n_nodes.entry(key).or_insert(outcome.statistics.states);
                let is_less = outcome.statistics.states < n_before;
                *n_reduced.entry(cell).or_default() += usize::from(is_less);
            }
        }
    }
    assert!(n_violated > share(1000), "{n_violated} were violated");
    assert!(n_fair > share(20), "{n_fair} hold by fairness alone");
    // Off line no automaton is known, and only the nodes of the product count: there a reduction
    // tells least.
    assert!(n_reduced.len() == 8 && n_reduced.values().all(|it| *it > share(30)), "{n_reduced:?}");
}

/// A search that goes on after a violation comes to every node of the product, and tells the same.
#[test]
fn no_lasso_is_shorter_than_the_one_that_is_told() {
    let mut n_compared = 0;
    for seed in seeds(0..1500) {
        let mut random = Random::new(78_000 + seed);
        let mut table = Table::random(&mut random);
        // An indivisible sequence is one step, and several that are told.
        table.processes.iter_mut().flatten().for_each(|place| place.atomic = false);
        if spins_inside(&table) {
            continue;
        }
        let Some((property, automaton)) = random_property(&mut random) else { continue };
        let whole = Whole::new(&table, letter);
        let product = Product::new(&whole, &automaton);
        for fairness in Fairness::ALL {
            let mut options = Options::default();
            options.fairness = fairness;
            options.ignored = vec![ViolationKind::Assertion];
            let outcome = run(&table, Cycles::Accepted(&property), &options);
            let Verdict::Violated(found) = &outcome.verdict else { continue };
            let says = outcome.notes.iter().any(|note| note.starts_with("shortest: "));
            // Going all ways is for short ones.
            let n_steps = found.story.len();
            if !says || n_steps > 6 {
                continue;
            }
            n_compared += 1;
            assert!(
                !product.has_shorter(n_steps, fairness),
                "seed {seed}, {fairness:?}, {n_steps} steps\n{automaton:?}\n{table:#?}"
            );
        }
    }
    assert!(n_compared > share(300), "{n_compared} were compared");
}

#[test]
fn a_search_that_goes_on_finds_all_nodes() {
    let mut n_violated = 0;
    for seed in seeds(0..600) {
        let mut random = Random::new(31_000 + seed);
        let table = Table::random(&mut random);
        let Some((property, automaton)) = random_property(&mut random) else { continue };
        if spins_inside(&table) {
            continue;
        }
        let whole = Whole::new(&table, letter);
        let n_nodes = Product::new(&whole, &automaton).nodes.len() as u64;
        let plain = |it: &Options| {
            it.reduction == Reduction::None
                && it.construction == Construction::OnTheFly
                && it.cycle_search == CycleSearch::Components
        };
        for mut options in combinations().into_iter().filter(plain) {
            options.all_violations = true;
            // What the automaton has no use for is no node.
            options.all_steps = false;
            let outcome = run(&table, Cycles::Accepted(&property), &options);
            let expected = whole.accepts(&automaton, options.fairness);
            let found = (is_violated(&outcome), outcome.statistics.states);
            assert_eq!(found, (expected, n_nodes), "seed {seed}, {options:?}");
            n_violated += usize::from(expected);
        }
    }
    assert!(n_violated > share(400), "{n_violated} were violated");
}

/// With two processes that each change one proposition, a formula that has a part for each is
/// checked on fewer states than one that has both in one part.
#[test]
fn parts_of_a_formula_keep_no_order() {
    let acts = |variable| [Act::Set(variable, 1), Act::Set(variable, 0), Act::Set(variable, 1)];
    // Without the third one fairness would not be needed.
    let idler = process(&[Act::Nothing], true);
    let mut table = program(vec![process(&acts(0), false), process(&acts(1), false), idler]);
    table.propositions = vec![(0, 1), (1, 1)];
    let mut atoms = vec!["p".to_owned(), "q".to_owned()];
    let formula = Formula::parse("<> p && <> q", &mut atoms).expect("the formula is one");
    let property = Property::formula("it", &formula, &atoms).expect("it is small");
    let unknown = Property::new("it", automaton_of("[] !p || [] !q").expect("it is small"));
    let mut options = Options::default();
    options.fairness = Fairness::Weak;
    let n_states = |property| {
        let outcome = run(&table, Cycles::Accepted(property), &options);
        assert!(!is_violated(&outcome));
        outcome.statistics.states
    };
    let (whole, apart) = (n_states(&unknown), n_states(&property));
    assert!(apart < whole, "{apart} of {whole}");
}

/// A step that goes wrong is found while it is about something else, however the graph is made.
#[test]
fn a_step_that_goes_wrong_is_found_on_the_way() {
    let acts = [Act::Set(0, 1), Act::Assert(0, 1)];
    let table = program(vec![process(&acts, false), process(&[Act::Set(1, 0)], true)]);
    let property = Property::new("it", automaton_of("false").expect("it is small"));
    for mut options in combinations() {
        assert!(!is_violated(&run(&table, Cycles::Accepted(&property), &options)), "{options:?}");
        options.ignored.clear();
        let outcome = run(&table, Cycles::Accepted(&property), &options);
        let Verdict::Violated(found) = outcome.verdict else { panic!("{options:?}") };
        assert_eq!(found.violation.kind, ViolationKind::Assertion);
    }
}

#[test]
fn labels_are_looked_at() {
    let (mut n_violated, mut n_ended) = ([0; 2], 0);
    let often = automaton_of("[] <> p").expect("it is small");
    let never = automaton_of("<> [] !p").expect("it is small");
    for seed in seeds(0..800) {
        let mut table = Table::random(&mut Random::new(5000 + seed));
        table.watches_labels = true;
        if spins_inside(&table) {
            continue;
        }
        let accept = Whole::new(&table, |table, state| u64::from(table.labels(state).accept));
        let is_progress = |table: &mut Table, state: &[u8]| table.labels(state).progress;
        let is_progress = |table: &mut Table, state: &[u8]| u64::from(is_progress(table, state));
        let progress = Whole::staying(&table, is_progress, false);
        n_ended += usize::from(
            Whole::new(&table, is_progress).accepts(&never, Fairness::None)
                && !progress.accepts(&never, Fairness::None),
        );
        for options in combinations() {
            let found = is_violated(&run(&table, Cycles::Acceptance, &options));
            assert_eq!(found, accept.accepts(&often, options.fairness), "{seed} {options:?}");
            n_violated[0] += usize::from(found);
            let found = is_violated(&run(&table, Cycles::NonProgress, &options));
            assert_eq!(found, progress.accepts(&never, options.fairness), "{seed} {options:?}");
            n_violated[1] += usize::from(found);
        }
    }
    assert!(n_violated.iter().all(|&it| it > share(200)), "{n_violated:?}");
    assert!(n_ended > share(40), "{n_ended} only end without progress");
}

/// A process that goes through its acts, and from the last place back to the first if it loops.
fn process(acts: &[Act], loops: bool) -> Vec<Place> {
    let n_places = acts.len() + usize::from(!loops);
    let place = |at: usize| {
        let edge = |&act: &Act| Edge { guard: None, act, to: (at + 1) % n_places };
        Place { edges: acts.get(at).map(edge).into_iter().collect(), ..Place::default() }
    };
    (0..n_places).map(place).collect()
}

fn program(processes: Vec<Vec<Place>>) -> Table {
    Table {
        processes,
        n_variables: 2,
        n_channels: 0,
        propositions: vec![(0, 1)],
        watches_labels: false,
        log: Arc::default(),
    }
}

/// An automaton from its ways, each with whether `p` holds, and which states accept.
fn claim(accepting: &[usize], ways: &[(usize, bool, usize)]) -> Automaton {
    let n_states = ways.iter().map(|&(from, _, to)| from.max(to) + 1).max().expect("it has ways");
    let mut states = vec![State::default(); n_states];
    accepting.iter().for_each(|&it| states[it].is_accepting = true);
    for &(from, p, target) in ways {
        states[from].edges.push(Way { guard: Cube::literal(0, p), target });
    }
    Automaton { atoms: vec!["p".to_owned()], states }
}

/// Ample sets that belong to nodes of the product miss this: `p` is set beside a process that goes
/// round for itself, and the automaton guesses when.
#[test]
fn a_guess_of_the_automaton_is_not_lost() {
    let table = program(vec![process(&[Act::Set(0, 1)], false), process(&[Act::Set(1, 0)], true)]);
    let automaton = claim(&[1], &[(0, false, 0), (0, false, 1), (1, true, 1)]);
    assert_eq!(stuttering(&automaton), Stuttering::Invariant);
    let property = Property::new("it", automaton);
    for options in combinations().into_iter().filter(|it| it.fairness == Fairness::None) {
        let cycles = Cycles::Accepted(&property);
        assert!(is_violated(&run(&table, cycles, &options)), "{options:?}");
    }
}

/// Nor is it enough that all successors of the automaton share one.
#[test]
fn a_second_guess_is_not_lost_either() {
    let table = program(vec![
        process(&[Act::Set(0, 1), Act::Set(0, 0)], true),
        process(&[Act::Set(1, 0)], true),
    ]);
    let automaton = claim(
        &[0],
        &[
            (0, false, 1),
            (0, false, 2),
            (0, true, 0),
            (0, true, 1),
            (1, false, 2),
            (1, true, 1),
            (2, false, 1),
            (2, true, 0),
            (2, true, 1),
        ],
    );
    assert_eq!(stuttering(&automaton), Stuttering::Invariant);
    let property = Property::new("it", automaton);
    for options in combinations().into_iter().filter(|it| it.fairness == Fairness::None) {
        let cycles = Cycles::Accepted(&property);
        assert!(is_violated(&run(&table, cycles, &options)), "{options:?}");
    }
}

/// A program that ends stays as it is, and a process that has ended is not neglected.
#[test]
fn an_end_is_fair() {
    let table = program(vec![process(&[Act::Set(0, 1)], false), process(&[Act::Set(0, 2)], false)]);
    // Not: from some point on, always p.
    let property = Property::new("it", automaton_of("[] <> !p").expect("it is small"));
    for options in combinations() {
        let cycles = Cycles::Accepted(&property);
        let outcome = run(&table, cycles, &options);
        assert!(is_violated(&outcome), "{options:?}");
        assert_eq!(outcome.loop_start, None, "nothing happens any more");
    }
}

#[test]
fn what_repetition_matters_to_is_not_reduced() {
    let table = program(vec![process(&[Act::Set(0, 1)], false), process(&[Act::Set(1, 0)], true)]);
    let property = Property::new("it", automaton_of("X X p").expect("it is small"));
    let outcome = run(&table, Cycles::Accepted(&property), &Options::default());
    assert!(is_violated(&outcome));
    assert_eq!(
        outcome.notes[0],
        "without reduction: it matters to the property how often a state is repeated"
    );
}

/// An execution that ends goes without progress for ever, but not on.
#[test]
fn an_end_is_no_livelock() {
    let table = program(vec![process(&[Act::Set(0, 1)], false), process(&[Act::Set(0, 2)], false)]);
    let around = program(vec![process(&[Act::Set(0, 1)], false), process(&[Act::Set(1, 0)], true)]);
    for options in combinations() {
        assert!(!is_violated(&run(&table, Cycles::NonProgress, &options)), "{options:?}");
        assert!(is_violated(&run(&around, Cycles::NonProgress, &options)), "{options:?}");
    }
}

/// What is violated by a prefix is told up to there, by the fewest steps, under every fairness.
#[test]
fn a_bad_prefix_needs_no_cycle() {
    let round = process(&[Act::Set(0, 2), Act::Set(0, 1), Act::Set(0, 0)], true);
    let mut table = program(vec![round, process(&[Act::Nothing], true)]);
    table.propositions = vec![(0, 1), (0, 2)];
    for (text, is_safety, n_steps) in [
        ("[] !p", true, 2),
        ("!p W false", true, 2),
        ("!<> p", true, 2),
        ("[] (p -> [] p)", true, 3),
        ("p || [] !p", true, 2),
        ("false", true, 0),
        ("[] (!p || X false)", true, 2),
        ("p V !p", true, 2),
        // By its meaning, not by its syntax.
        ("[] (!p || <> q && [] !q)", true, 2),
        // In part: that is violated before anything goes round.
        ("[] !p && [] <> q", false, 2),
    ] {
        let mut atoms = vec!["p".to_owned(), "q".to_owned()];
        let formula = Formula::parse(text, &mut atoms).expect("the formula is one");
        let property = Property::formula("it", &formula, &atoms).expect("it is small");
        assert_eq!(property.is_safety(), is_safety, "{text}");
        for options in combinations() {
            let outcome = run(&table, Cycles::Accepted(&property), &options);
            assert_eq!(outcome.loop_start, None, "{text} {options:?}");
            let Verdict::Violated(found) = outcome.verdict else { panic!("{text} {options:?}") };
            let message = "it fails: however it goes on from here";
            assert_eq!(found.violation.message, message, "{text} {options:?}");
            let is_shortest = property.is_safety() && options.reduction == Reduction::None;
            let told = found.story.len();
            assert!(
                told == n_steps || told > n_steps && !is_shortest,
                "{text}: {told} {options:?}"
            );
        }
    }
}
