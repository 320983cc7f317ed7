//! Temporal properties: which ones, as automata, and what came of them.

use crate::engines::Series;
use crate::fault::all_or_faults;
use crate::options::{self, faults};
use crate::{Fault, Faults, Options, translate, walk};
use mazurka_core::{Schedule, Verdict, ViolationKind};
use mazurka_ltl::{Atoms, Automaton, Formula, Lasso, hoa};
use mazurka_model::{
    Action, Expr, Labels, LocationId, Program, PropositionError, Routine, RoutineId,
    add_first_steps, add_stops, proposition,
};
use mazurka_promela::{ExtraProperties, Model, NamedFormula};
use mazurka_statespace::{
    Claim, CycleSearch, Cycles, Fairness, Options as Stored, Order, Outcome, Property, Saving,
    SearchError, Storage, Transitions, claim, search_cycles, search_cycles_saving,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long it may take to find out whether fairness would help.
pub(crate) const SECOND_LOOK: Duration = Duration::from_secs(10);

/// How many states may be looked at for that, however few the first search has seen.
const FEW_STATES: usize = 1 << 14;

/// How many times as many as that has seen.
const TIMES: usize = 4;

/// A property that is to be checked.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// What people call it.
    pub(crate) name: String,
    /// What its propositions mean.
    pub(crate) propositions: Vec<Expr>,
    kind: Kind,
    /// The never claim that it is, if it is one.
    claim: Option<Claim>,
}

#[derive(Debug)]
enum Kind {
    /// What an automaton accepts is wrong.
    Property(Property),
    /// It is wrong to come by labels that accept, again and again.
    Labels,
    /// It is wrong to come by no progress label from some point on.
    Progress,
}

impl Wanted {
    /// A formula.
    pub(crate) fn formula(
        name: String,
        formula: &Formula,
        atoms: &Atoms,
        propositions: Vec<Expr>,
    ) -> Result<Self, Fault> {
        let too_large = |error| Fault::input(format!("{name}: {error}"));
        let property = Property::formula(&name, formula, atoms).map_err(too_large)?;
        Ok(Self { name, propositions, kind: Kind::Property(property), claim: None })
    }

    fn named(formula: &NamedFormula, name: String) -> Result<Self, Fault> {
        Self::formula(name, &formula.formula, &formula.atoms, formula.propositions.clone())
    }

    /// An automaton.
    fn automaton(
        name: String,
        automaton: Automaton,
        propositions: Vec<Expr>,
        has_labels: bool,
    ) -> Self {
        let property = Property::new(&name, automaton);
        let property = if has_labels { property.with_labels() } else { property };
        Self { name, propositions, kind: Kind::Property(property), claim: None }
    }

    /// What a search is asked to look for.
    pub(crate) fn cycles(&self) -> Cycles<'_> {
        match &self.kind {
            Kind::Labels => Cycles::Acceptance,
            Kind::Progress => Cycles::NonProgress,
            Kind::Property(property) => Cycles::Accepted(property),
        }
    }

    /// Whether it is violated however an execution goes on that comes by these letters first.
    pub(crate) fn has_bad_prefix(&self, letters: &[u64]) -> bool {
        matches!(&self.kind, Kind::Property(property) if property.has_bad_prefix(letters))
    }

    /// The automaton that accepts what is wrong, if one does.
    pub(crate) fn violations(&self) -> Option<&Automaton> {
        match &self.kind {
            Kind::Property(property) => property.violations(),
            Kind::Labels | Kind::Progress => None,
        }
    }

    /// Whether it may matter to it how often a state is repeated.
    pub(crate) fn counts_steps(&self) -> bool {
        matches!(&self.kind, Kind::Property(property) if property.counts_steps())
    }

    /// Whether an execution violates it. Unknown if it is about labels.
    pub(crate) fn is_violated_by(&self, word: &Lasso) -> Option<bool> {
        match &self.kind {
            Kind::Property(property) => property.is_violated_by(word),
            Kind::Labels | Kind::Progress => None,
        }
    }

    /// An execution that violates it as a trail for SPIN, if it is one of a model: with what its
    /// never claim does, if that is what is violated. SPIN makes claims of its own of formulae, and
    /// follows the rest without them.
    pub(crate) fn trail(&self, program: &Program, schedule: &Schedule) -> Option<String> {
        let claim = self.claim.as_ref()?;
        let machine = translate::machine(program, &self.propositions).ok()?;
        let (letters, starts) = walk::letters(&machine, schedule);
        if let Some(moves) = claim.moves_to_violation(&letters) {
            return machine.trail_beside(schedule, &starts, &moves);
        }
        let words = walk::words(&machine, schedule);
        words.iter().find_map(|read| {
            machine.trail_beside(schedule, &read.starts, &claim.moves(&read.word)?)
        })
    }
}

/// What is asked of a model on the command line, and the automaton that is among it.
pub(crate) fn asked(options: &Options) -> Result<(ExtraProperties, Option<Automaton>), Faults> {
    let mut asked = ExtraProperties { formulas: options.ltl.clone(), ..ExtraProperties::default() };
    let Some(file) = &options.automaton else { return Ok((asked, None)) };
    let name = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| Fault::input(format!("`{name}` cannot be read: {error}")))?;
    if !text.trim_start().starts_with("HOA:") {
        asked.claim = Some(file.clone());
        return Ok((asked, None));
    }
    let automaton = hoa::read(&text)
        .map_err(|error| Fault::input(format!("`{name}` is no automaton: {error}")))?;
    asked.propositions.clone_from(&automaton.atoms);
    Ok((asked, Some(automaton)))
}

/// The properties that are to be checked: those that are asked for or, if there are none, all of
/// the model.
pub(crate) fn wanted(
    model: &Model,
    options: &Options,
    automaton: Option<Automaton>,
) -> Result<Vec<Wanted>, Faults> {
    let mut all = Vec::new();
    for formula in &model.asked {
        all.push(Wanted::named(formula, format!("ltl `{}`", formula.name)));
    }
    for name in &options.ltl_name {
        all.push(by_name(model, name));
    }
    let file = options.automaton.as_deref();
    if let (Some(automaton), Some(file)) = (automaton, file) {
        let propositions = model.propositions.clone();
        let name = format!("the automaton `{}`", file.display());
        all.push(Ok(Wanted::automaton(name, automaton, propositions, false)));
    } else if let Some(file) = file {
        all.extend(of_claim(&model.program, format!("the never claim `{}`", file.display())));
    }
    if !options.asks_for_temporal() {
        for formula in &model.formulas {
            all.push(Wanted::named(formula, format!("ltl {}", formula.name)));
        }
        if options.looks_for(options::Property::Ltl) {
            all_seen(&model.program, "accepts", |labels| labels.accept)?;
        }
        match of_claim(&model.program, "the never claim".to_owned()) {
            Some(claim) => all.push(claim),
            None if accepts_by_labels(&model.program) => all.push(Ok(Wanted {
                name: "the accept labels".to_owned(),
                propositions: Vec::new(),
                kind: Kind::Labels,
                claim: None,
            })),
            None => {}
        }
    }
    all_or_faults(all.into_iter().map(|it| it.map_err(Faults::from)))
}

/// That there is always progress again.
pub(crate) fn progress(program: &Program) -> Result<Wanted, Faults> {
    all_seen(program, "is progress", |labels| labels.progress)?;
    let (name, propositions) = ("progress".to_owned(), Vec::new());
    Ok(Wanted { name, propositions, kind: Kind::Progress, claim: None })
}

/// The properties of a C program that are asked for: over its global variables.
pub(crate) fn wanted_of_threads(
    program: &Program,
    options: &Options,
) -> Result<Vec<Wanted>, Faults> {
    let (asked, automaton) = asked(options)?;
    let mut all: Vec<Result<Wanted, Faults>> =
        options.ltl.iter().map(|text| of_text(program, text)).collect();
    if let (Some(automaton), Some(file)) = (automaton, &options.automaton) {
        let whole = |atom: &String| (atom.clone(), 0, atom.clone());
        let propositions = meanings(program, automaton.atoms.iter().map(whole));
        let name = format!("the automaton `{}`", file.display());
        all.push(propositions.map(|it| Wanted::automaton(name, automaton, it, false)));
    }
    if asked.claim.is_some() {
        let text = "a never claim is for a Promela model; write the automaton in the HOA format";
        all.push(Err(Fault::input(text).into()));
    }
    for name in &options.ltl_name {
        let text = format!("a C program has no `ltl {name}`; write the formula behind `--ltl`");
        all.push(Err(Fault::input(text).into()));
    }
    all_or_faults(all)
}

/// Makes the threads of a program stop where properties look, and begin with a step where steps are
/// counted.
pub(crate) fn add_stops_for(program: &mut Program, wanted: &[Wanted]) {
    let propositions: Vec<Expr> = wanted.iter().flat_map(|it| it.propositions.clone()).collect();
    add_stops(program, &propositions);
    if wanted.iter().any(Wanted::counts_steps) {
        add_first_steps(program);
    }
}

/// A formula about a C program.
fn of_text(program: &Program, text: &str) -> Result<Wanted, Faults> {
    let (mut atoms, mut places) = (Vec::new(), Vec::new());
    let formula = Formula::parse_placed(text, &mut atoms, &mut places)
        .map_err(|error| Fault::formula(text, &error))?;
    let parts = places.iter().map(|it| (text.to_owned(), it.start, text[it.clone()].to_owned()));
    let propositions = meanings(program, parts)?;
    Ok(Wanted::formula(format!("ltl `{text}`"), &formula, &atoms, propositions)?)
}

/// What propositions mean, each a part of a text that begins somewhere in it.
fn meanings(
    program: &Program,
    parts: impl Iterator<Item = (String, usize, String)>,
) -> Result<Vec<Expr>, Faults> {
    all_or_faults(parts.map(|(text, start, part)| {
        proposition(program, &part).map_err(|PropositionError { place, message }| {
            let place = start + place.start..start + place.end;
            Fault::marked(&text, place, &message).into()
        })
    }))
}

fn by_name(model: &Model, name: &str) -> Result<Wanted, Fault> {
    let known = model.formulas.iter().find(|formula| formula.name == name);
    known.map_or_else(
        || {
            let names: Vec<_> = model.formulas.iter().map(|it| format!("`{}`", it.name)).collect();
            let names = match names.is_empty() {
                true => "it has none".to_owned(),
                false => format!("there is {}", names.join(", ")),
            };
            Err(Fault::input(format!("the model has no `ltl {name}`: {names}")))
        },
        |formula| Wanted::named(formula, format!("ltl {name}")),
    )
}

/// The claim of a program, if it has one.
fn of_claim(program: &Program, name: String) -> Option<Result<Wanted, Fault>> {
    Some(match claim(program)? {
        Ok(claim) => {
            let has_labels = accepts_by_labels(program);
            let (automaton, propositions) = (claim.automaton.clone(), claim.propositions.clone());
            let wanted = Wanted::automaton(name, automaton, propositions, has_labels);
            Ok(Wanted { claim: Some(claim), ..wanted })
        }
        Err(error) => {
            let file = program.files.get(error.span.file.0 as usize).map_or("", String::as_str);
            let place = format!("{file}:{}:{}", error.span.line, error.span.column);
            Err(Fault::input(format!("{place}: {error} cannot be checked")))
        }
    })
}

/// Whether a process has labels that accept.
fn accepts_by_labels(program: &Program) -> bool {
    let accepts = |routine: &Routine| routine.locations.iter().any(|it| it.labels.accept);
    processes(program).any(accepts)
}

/// What processes run.
fn processes(program: &Program) -> impl Iterator<Item = &Routine> {
    let is_process = |idx: usize| {
        let id = RoutineId(idx as u32);
        program.claim != Some(id) && program.trace.is_none_or(|trace| trace.routine != id)
    };
    let all = program.routines.iter().enumerate();
    all.filter(move |(idx, _)| is_process(*idx)).map(|(_, routine)| routine)
}

/// Refuses labels that a process can come by without a state: within an atomic sequence, behind a
/// step that goes on, or within a `d_step`. An execution that comes by them for ever would not be
/// seen to.
fn all_seen(program: &Program, does: &str, is_meant: fn(&Labels) -> bool) -> Result<(), Faults> {
    let mut unseen = Vec::new();
    for routine in processes(program) {
        let edges = || routine.locations.iter().flat_map(|it| &it.edges);
        let mut within: Vec<bool> = vec![false; routine.locations.len()];
        for edge in edges() {
            if edge.atomic {
                within[edge.to.0 as usize] = true;
            }
            if let Action::Indivisible { start, end } = edge.action {
                mark_between(routine, start, end, &mut within);
            }
        }
        for (location, _) in routine.locations.iter().zip(within).filter(|(_, it)| *it) {
            if is_meant(&location.labels) {
                let span = location.edges.first().map_or(routine.span, |edge| edge.span);
                let name = location.name.as_deref().unwrap_or("of a process");
                let place = translate::place(&program.files, span);
                let text = format!(
                    "{place}: a process comes by the label {name}, which {does}, without a state: \
                     it is within an atomic sequence"
                );
                unseen.push(Fault::input(text).help("put the label in front of the sequence"));
            }
        }
    }
    if unseen.is_empty() { Ok(()) } else { Err(unseen.into_iter().collect()) }
}

/// Marks the locations of a `d_step`, without the one behind it.
fn mark_between(routine: &Routine, start: LocationId, end: LocationId, within: &mut [bool]) {
    let mut known = vec![false; within.len()];
    let mut open = vec![start];
    while let Some(location) = open.pop() {
        let idx = location.0 as usize;
        if location != end && !std::mem::replace(&mut known[idx], true) {
            within[idx] = true;
            open.extend(routine.locations[idx].edges.iter().map(|edge| edge.to));
        }
    }
}

/// What came of a property.
pub(crate) type Checked = Result<Outcome, Faults>;

/// Checks properties, as many at a time as there are `jobs`, or one after the other if they are
/// saved; what came of each, in their order. `make` makes the program that knows about
/// propositions, and `options` says what is left of the limits.
pub(crate) fn check<T: Transitions>(
    make: impl Fn(&[Expr]) -> Result<T, Faults> + Sync,
    wanted: &[&Wanted],
    options: impl Fn() -> Stored + Sync,
    jobs: usize,
    (series, round): (&Series, Option<usize>),
) -> Vec<Checked> {
    if series.is_on() {
        let check = |property: &&Wanted| {
            let program = make(&property.propositions)?;
            series.search(round, |saving| check_one(&program, property, &options(), saving))
        };
        return wanted.iter().map(check).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(wanted.len()) {
            scope.spawn(|| {
                loop {
                    let idx = next.fetch_add(1, Ordering::Relaxed);
                    let Some(property) = wanted.get(idx) else { return };
                    let program = make(&property.propositions);
                    let saving = Saving::default();
                    let check = |it: T| check_one(&it, property, &options(), &saving);
                    let checked = program.and_then(|it| check(it).map_err(not_searched));
                    done.lock().expect("the lock is not poisoned").push((idx, checked));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("the lock is not poisoned");
    done.sort_by_key(|(idx, _)| *idx);
    done.into_iter().map(|(_, checked)| checked).collect()
}

fn check_one<T: Transitions>(
    program: &T,
    wanted: &Wanted,
    options: &Stored,
    saving: &Saving,
) -> Result<Outcome, SearchError> {
    let begun = Instant::now();
    let mut outcome = search_cycles_saving(program, wanted.cycles(), options, saving)?;
    let again = |options: &Stored| search_cycles(program, wanted.cycles(), options).ok();
    let limited = second_look(options, &outcome, begun.elapsed());
    outcome.notes.extend(would_fairness_help(&outcome, &limited, again));
    outcome.notes.extend(around_the_loop(program, wanted, &outcome));
    Ok(outcome)
}

/// Of a violation that goes on for ever: which propositions hold all around the loop, which never
/// do, and since which step.
fn around_the_loop<T: Transitions>(
    program: &T,
    wanted: &Wanted,
    outcome: &Outcome,
) -> Option<String> {
    let (Verdict::Violated(found), Some(_)) = (&outcome.verdict, outcome.loop_start) else {
        return None;
    };
    let atoms = &wanted.violations()?.atoms;
    let words = walk::words(program, &found.schedule);
    let is_violating = |read: &&walk::Read| wanted.is_violated_by(&read.word) == Some(true);
    let read = words.iter().find(is_violating)?;
    // A rendezvous is one decision and two rows.
    let is_numbered = found.story.len() == found.schedule.decisions().len();
    let steps = is_numbered.then_some(read.starts.as_slice());
    let told =
        atoms.iter().enumerate().filter_map(|(bit, atom)| lasting(&read.word, bit, atom, steps));
    let told = told.collect::<Vec<_>>().join("; ");
    (!told.is_empty()).then(|| format!("for ever: {told}"))
}

/// What is to be said of a proposition that does not change around a loop; `steps` has, for each
/// letter, how many steps come before it.
fn lasting(word: &Lasso, bit: usize, atom: &str, steps: Option<&[usize]>) -> Option<String> {
    let holds = |letter: &u64| letter >> bit & 1 == 1;
    let in_loop = word.letters.get(word.loop_start..)?;
    let truth = holds(in_loop.first()?);
    if in_loop.iter().any(|letter| holds(letter) != truth) {
        return None;
    }
    let since = word.letters.iter().rposition(|letter| holds(letter) != truth);
    let since = since.map(|last| steps.and_then(|steps| steps.get(last + 1)));
    Some(match (truth, since) {
        (true, None) => format!("`{atom}` always holds"),
        (false, None) => format!("`{atom}` never holds"),
        (true, Some(Some(step))) => format!("`{atom}` holds from step {step} on"),
        (false, Some(Some(step))) => format!("`{atom}` does not hold from step {step} on"),
        (true, Some(None)) => format!("`{atom}` holds around the loop"),
        (false, Some(None)) => format!("`{atom}` does not hold around the loop"),
    })
}

/// The options for another look at what was found to be violated: the answer does not wait for it
/// much longer than it took, and is there before the time is over.
fn second_look(options: &Stored, outcome: &Outcome, elapsed: Duration) -> Stored {
    let mut limited = options.clone();
    let n_states = usize::try_from(outcome.statistics.states).unwrap_or(usize::MAX);
    let most = n_states.saturating_mul(TIMES).max(FEW_STATES);
    limited.states = Some(options.states.map_or(most, |limit| limit.min(most)));
    let left = |limit: Duration| limit.saturating_sub(elapsed) / 4;
    limited.time = Some(options.time.map_or(SECOND_LOOK, |limit| left(limit).min(SECOND_LOOK)));
    limited
}

/// Why a search that is not saved was not done.
fn not_searched(error: SearchError) -> Faults {
    match error {
        SearchError::Options(errors) => faults(errors),
        other => Fault::defect(format!("{other:?}")).into(),
    }
}

/// Whether what goes on for ever in a violation would be ruled out by more fairness, in words.
fn would_fairness_help(
    outcome: &Outcome,
    options: &Stored,
    search: impl Fn(&Stored) -> Option<Outcome>,
) -> Option<String> {
    let is_lasso = outcome.loop_start.is_some();
    if !is_lasso
        || !matches!(&outcome.verdict, Verdict::Violated(it) if it.violation.kind == ViolationKind::Ltl)
    {
        return None;
    }
    let stronger: &[Fairness] = match options.fairness {
        Fairness::None | Fairness::Trace => &[Fairness::Weak, Fairness::Strong],
        Fairness::Weak => &[Fairness::Strong],
        _ => return None,
    };
    for &fairness in stronger {
        let mut options = options.clone();
        options.fairness = fairness;
        options.cycle_search = CycleSearch::Components;
        match search(&options)?.verdict {
            Verdict::Holds(_) => {
                let name = fairness.name();
                return Some(format!("it needs fairness: it holds with `--fairness {name}`"));
            }
            Verdict::Violated(_) => {}
            _ => return None,
        }
    }
    Some("it fails under strong fairness, too".to_owned())
}

/// Options for a search of cycles that was not asked for: what does not go with it is left
/// alone, and what goes wrong in a step was looked for before.
pub(crate) fn plain(options: &Stored) -> Stored {
    let mut plain = options.clone();
    (plain.order, plain.storage) = (Order::DepthFirst, Storage::Tree);
    (plain.jobs, plain.shorten, plain.depth) = (1, false, None);
    plain.all_steps = false;
    plain
}

/// The same options for one job.
pub(crate) fn one_job(options: &Stored) -> Stored {
    let mut alone = options.clone();
    alone.jobs = 1;
    alone
}
