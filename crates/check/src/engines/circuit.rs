//! The engines that decide a circuit of C files: `bmc`, `induction`, `ic3`, `bdd` and `portfolio`.
//!
//! They differ in who decides, and share everything else: the circuit, what it is asked, how an
//! execution of it becomes one of the program, and what is claimed where there is none.

mod liveness;

use super::{Statespace, Vm};
use crate::engine::{Accepts, Engine, Feature, Language, Listener, Support};
use crate::options::Property as Asked;
use crate::ticker::gauged;
use crate::{Fault, FaultKind, Faults, Outcome, Replay, Task, translate};
use mazurka_core::{
    Assumption, Bound, Counterexample, Coverage, Event, Limit, Phase, Property, Schedule, Solving,
    Statistics, Verdict, ViolationKind,
};
use mazurka_explore::replay;
use mazurka_model::{
    Action, Goal, Program, Races, Span, Sync, Vm as Machine, assumptions_in, split_choices,
    with_goal,
};
use mazurka_symbolic::{
    self as circuits, Bounds, Encode, Encoding, Finding, ProofError, Question, Refusal, Reply,
};
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

/// An engine that decides a circuit.
pub(crate) struct Circuit {
    name: &'static str,
    decides: circuits::Engine,
}

/// All executions of 0 steps, then of 1, and so on.
pub(crate) static BMC: Circuit = Circuit { name: "bmc", decides: circuits::Engine::Bounded };
/// k-induction.
pub(crate) static INDUCTION: Circuit =
    Circuit { name: "induction", decides: circuits::Engine::Induction };
/// Looks for an invariant, clause by clause.
pub(crate) static IC3: Circuit = Circuit { name: "ic3", decides: circuits::Engine::Ic3 };
/// Collects the reachable states in a decision diagram.
pub(crate) static BDD: Circuit = Circuit { name: "bdd", decides: circuits::Engine::Bdd };
/// All of the others side by side.
pub(crate) static PORTFOLIO: Circuit =
    Circuit { name: "portfolio", decides: circuits::Engine::Portfolio };

impl Engine for Circuit {
    fn name(&self) -> &'static str {
        self.name
    }

    fn supports(&self) -> Support {
        use Asked::{Assert, Deadlock, Livelock, Ltl, Memory, Overflow, Race};
        use Feature::{Circuits, Models, Temporal};
        Support {
            inputs: &[Accepts {
                language: Language::C,
                properties: &[Assert, Deadlock, Race, Memory, Overflow],
                if_named: &[Livelock, Ltl],
            }],
            features: &[Circuits, Models, Temporal],
        }
    }

    fn conflicts(&self, task: &Task) -> Faults {
        let options = &task.options;
        let mut faults = Faults::new();
        if options.fairness.is_some() && !options.asks_for_temporal() {
            let text = "`--fairness` is about a temporal property, and there is none";
            faults.push(Fault::input(text).help("`--ltl FORMULA` is one"));
        }
        let n_properties = options.ltl.len() + usize::from(options.automaton.is_some());
        if n_properties > 1 && options.proof.is_some() {
            faults.push(Fault::input("`--proof` goes with one temporal property"));
        }
        faults
    }

    fn check(&self, task: &Task, listener: &dyn Listener) -> Result<Outcome, Faults> {
        listener.event(&Event::Phase(Phase::Translating));
        let mut program = translate::c(task.input.files(), &task.options)?;
        let wanted = match task.options.asks_for_temporal() {
            true => liveness::wanted(&mut program, &task.options)?,
            false => Vec::new(),
        };
        listener.event(&Event::Phase(Phase::Proving));
        let begun = Instant::now();
        let mut question = question(self.decides, task);
        let with_livelock = task.options.names(Asked::Livelock);
        let decided = gauged(listener, |gauge| {
            question.limits.gauge = Some(gauge);
            match wanted.is_empty() {
                true => decide(&program, &question, with_livelock, begun),
                false => liveness::decide_all(&program, &wanted, &mut question, task, begun),
            }
        })?;
        let Decided { verdict, proved, mut notes, loop_start, replays, reply } = decided;
        let mut unwritten = Vec::new();
        if let Some(path) = &task.options.proof {
            match prove(&reply, path, &question) {
                Ok(note) => notes.push(note),
                Err(fault) if fault.kind == FaultKind::Input => unwritten.push(fault.message),
                Err(fault) => return Err(fault.into()),
            }
        }
        let engine = engine_of(self);
        let mut outcome = Outcome::new(engine, verdict, Statistics::default(), begun);
        outcome.solving = Some(solving(&reply));
        outcome.notes = notes;
        outcome.unwritten = unwritten;
        outcome.loop_start = loop_start;
        outcome.replays = replays;
        outcome.proved = proved;
        outcome.add_tips(task);
        if matches!(reply.finding, Finding::SafeTo(_)) {
            outcome.tips.push("a larger `--depth` sees more".to_owned());
        }
        Ok(outcome)
    }

    fn replay(
        &self,
        task: &Task,
        schedule: &Schedule,
        listener: &dyn Listener,
    ) -> Result<Replay, Faults> {
        match task.options.asks_for_temporal() {
            true => Statespace.replay(task, schedule, listener),
            false => Vm.replay(task, schedule, listener),
        }
    }
}

/// The engine of the table that this is.
fn engine_of(circuit: &Circuit) -> &'static dyn Engine {
    let all: [&'static Circuit; 5] = [&BMC, &INDUCTION, &IC3, &BDD, &PORTFOLIO];
    let found = all.into_iter().find(|it| it.decides == circuit.decides);
    found.expect("every engine of circuits is in the table")
}

/// The circuit of the program that a task is about, as others may decide it; its bad states have
/// names.
pub fn encoding(task: &Task) -> Result<Encoding, Faults> {
    let options = &task.options;
    if options.proof.is_some() {
        return Err(Fault::input("`--proof` goes with `mazurka check` alone").into());
    }
    let mut program = translate::c(task.input.files(), options)?;
    let is_error = options.races == Races::Error;
    let mut encode = encode(is_error, is_error, true, task);
    let mut schedule = options.schedule;
    if options.is_temporal() {
        schedule = circuits::Schedule::Interleaving;
        liveness::add_to(&mut encode, &mut program, options)?;
    }
    circuits::sized(&program, &encode, schedule)
        .map_err(|refusals| refused(&program.files, &refusals, &Statespace))
}

/// What was decided about a program.
struct Decided {
    verdict: Verdict,
    /// What is known where a limit was reached.
    proved: Option<Coverage>,
    notes: Vec<String>,
    loop_start: Option<usize>,
    /// The engine that follows a schedule.
    replays: &'static dyn Engine,
    reply: Reply,
}

/// How deep a search to a depth looks for one thing, at first, before it looks for another.
const FIRST_DEPTH: usize = 16;

/// Decides everything, and executions that never end if those are asked for. A search that ends at
/// no depth looks for both to a depth, and then to twice that one: else it might never come to the
/// second.
fn decide(
    program: &Program,
    question: &Question,
    with_livelock: bool,
    start: Instant,
) -> Result<Decided, Faults> {
    let is_endless =
        question.engine == circuits::Engine::Bounded && question.limits.depth.is_none();
    if !(with_livelock && is_endless) {
        return Ok(decide_once(program, question, with_livelock, start)?.0);
    }
    let mut question = question.clone();
    let mut depth = FIRST_DEPTH;
    loop {
        question.limits.depth = Some(depth);
        match decide_once(program, &question, with_livelock, start)? {
            (_, true) => depth *= 2,
            (decided, false) => return Ok(decided),
        }
    }
}

/// The same for one depth; tells also whether something could be found beyond it.
fn decide_once(
    program: &Program,
    question: &Question,
    with_livelock: bool,
    start: Instant,
) -> Result<(Decided, bool), Faults> {
    let left = || {
        let time = question.limits.time.map(|time| time.saturating_sub(start.elapsed()));
        let limits = circuits::Limits { time, ..question.limits.clone() };
        Question { limits, ..question.clone() }
    };
    // Who gives a time means all that it takes.
    let whole = |verdict: Verdict| match (verdict, question.limits.time) {
        (Verdict::Inconclusive(Limit::Time(_)), Some(time)) => {
            Verdict::Inconclusive(Limit::Time(time))
        }
        (other, _) => other,
    };
    let reply = circuits::check(program, &left())
        .map_err(|refusals| refused(&program.files, &refusals, &Vm))?;
    let verdict = whole(verdict(program, question, &reply, with_livelock)?);
    let mut is_cut = matches!(reply.finding, Finding::SafeTo(_));
    let verdict = match verdict {
        Verdict::Holds(coverage) => {
            Verdict::Holds(coverage.assuming_all(vacuous(program, &left())))
        }
        other => other,
    };
    let notes = vec![size_of(&reply)];
    let proved = match reply.finding {
        Finding::Unknown(Some(depth), _) => {
            let coverage = coverage(program, question, &reply, None).within(Bound::Frames(depth));
            Some(coverage.assuming_all(assumed(program, with_livelock)))
        }
        _ => None,
    };
    let mut decided = Decided { verdict, proved, notes, loop_start: None, replays: &Vm, reply };
    if let (Verdict::Holds(coverage), true) = (&decided.verdict, with_livelock) {
        let endless = liveness::livelock(program, &left())?;
        is_cut = match endless.reply.finding {
            Finding::Safe => is_cut,
            Finding::SafeTo(_) => true,
            Finding::Unsafe(_) | Finding::Unknown(..) => false,
        };
        let known = coverage.clone();
        decided.verdict = match whole(endless.verdict) {
            Verdict::Holds(more) => Verdict::Holds(known.and(more)),
            other => {
                decided.proved = Some(known.assuming(Assumption::NoSpinning));
                other
            }
        };
        (decided.loop_start, decided.replays) = (endless.loop_start, &Statespace);
        let notes = endless.notes.iter().map(|note| format!("executions without end: {note}"));
        decided.notes.extend(notes);
        decided.reply.add(endless.reply);
    }
    Ok((decided, is_cut))
}

/// Writes a proof of what was found, and the formula that it refutes; says so.
fn prove(reply: &Reply, path: &Path, question: &Question) -> Result<String, Fault> {
    let Some(formula) = reply.formula() else {
        return Ok("nothing was proved, and no proof was written".to_owned());
    };
    let mut beside = path.as_os_str().to_owned();
    beside.push(".cnf");
    let beside = Path::new(&beside);
    let failed = |error: &dyn std::fmt::Display| {
        Fault::input(format!("`{}`: the proof cannot be written: {error}", path.display()))
    };
    let mut file =
        std::fs::File::create(beside).map(BufWriter::new).map_err(|error| failed(&error))?;
    formula.write(&mut file).and_then(|()| file.flush()).map_err(|error| failed(&error))?;
    let limits = circuits::Limits { depth: None, ..question.limits.clone() };
    // The solver does not say what becomes of a file; and what is written to a device is not seen
    // again.
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file()) || !path.exists();
    let refuted = if is_file {
        formula.refute(&limits, Some(path)).and_then(|()| Ok(is_proof(path)?))
    } else {
        tempfile::NamedTempFile::new().map_err(ProofError::File).and_then(|scratch| {
            formula.refute(&limits, Some(scratch.path()))?;
            let mut to = std::fs::OpenOptions::new().write(true).open(path)?;
            std::io::copy(&mut std::fs::File::open(scratch.path())?, &mut to)?;
            Ok(())
        })
    };
    match refuted {
        Ok(()) => Ok(format!(
            "{} refutes {}, a formula of {} clauses",
            path.display(),
            beside.display(),
            formula.n_clauses()
        )),
        Err(ProofError::Satisfiable) => {
            Err(Fault::defect("what was proved does not hold: its formula has a model"))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Looks whether a file has a proof to its end: a clause of nothing.
fn is_proof(path: &Path) -> std::io::Result<()> {
    const END: u64 = 1 << 16;
    let mut file = std::fs::File::open(path)?;
    let len = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(len.saturating_sub(END)))?;
    let mut text = String::new();
    file.take(END).read_to_string(&mut text)?;
    let is_empty_clause = |line: &str| line.split_whitespace().nth(1) == Some("0");
    match text.ends_with('\n') && text.lines().any(is_empty_clause) {
        true => Ok(()),
        false => Err(std::io::Error::other("it has no end; is there room?")),
    }
}

fn question(engine: circuits::Engine, task: &Task) -> Question {
    let options = &task.options;
    let is_error = options.races == Races::Error;
    let races = is_error && options.looks_for(Asked::Race);
    Question {
        encode: encode(is_error, races, options.looks_for(Asked::Deadlock), task),
        schedule: options.schedule,
        engine,
        limits: circuits::Limits {
            time: options.time_limit,
            memory: options.memory_limit,
            depth: options.depth,
            stop: task.stop,
            ..circuits::Limits::default()
        },
    }
}

/// How a program becomes a circuit: what a race is to the machine, and what is looked for.
fn encode(is_error: bool, races: bool, deadlock: bool, task: &Task) -> Encode {
    let bounds = Bounds { recursion: task.options.recursion, ..Bounds::default() };
    Encode { races, plain_steps: !is_error, deadlock, temporal: None, bounds }
}

/// What the answer about a circuit says about the program.
fn verdict(
    program: &Program,
    question: &Question,
    reply: &Reply,
    looks_for_livelock: bool,
) -> Result<Verdict, Fault> {
    Ok(match &reply.finding {
        Finding::Unsafe(witness) => {
            let races = match question.encode.plain_steps {
                true => Races::Allow,
                false => Races::Error,
            };
            let mut program = program.clone();
            split_choices(&mut program);
            let vm = Machine::new(program, races)
                .map_err(|errors| Fault::input(format!("the machine runs no {errors:?}")))?;
            let (lifted, mut vm) =
                reply.encoding.lift_by(witness, || vm.clone()).map_err(differs)?;
            Verdict::Violated(Box::new(shown(&mut vm, &lifted.schedule)?))
        }
        Finding::Unknown(_, why) => Verdict::Inconclusive(why.clone()),
        Finding::Safe | Finding::SafeTo(_) => {
            let coverage = coverage(program, question, reply, None);
            Verdict::Holds(coverage.assuming_all(assumed(program, looks_for_livelock)))
        }
    })
}

/// What is assumed of a program beside its own assumptions.
fn assumed(program: &Program, looks_for_livelock: bool) -> impl Iterator<Item = Assumption> {
    // A thread that goes round for ever moves: to a circuit that is no deadlock.
    let spins = (!looks_for_livelock).then_some(Assumption::NoSpinning);
    program.assumptions.iter().cloned().chain(spins)
}

/// How long it may take to see whether assumptions leave anything to prove.
const VACUITY_TIME: Duration = Duration::from_secs(5);

/// The assumptions that no execution gets past, as far as that can be told in a short time.
fn vacuous(program: &Program, question: &Question) -> Vec<Assumption> {
    let start = Instant::now();
    let limit = question.limits.time.unwrap_or(VACUITY_TIME).min(VACUITY_TIME);
    let can_reach = |goal: Goal| {
        let encode = Encode { races: false, deadlock: false, ..question.encode.clone() };
        let time = Some(limit.saturating_sub(start.elapsed()));
        let limits = circuits::Limits { time, ..question.limits.clone() };
        let question = Question { encode, limits, ..question.clone() };
        match circuits::check(&with_goal(program, goal), &question).ok()?.finding {
            Finding::Unsafe(_) => Some(true),
            Finding::Safe | Finding::SafeTo(_) => Some(false),
            Finding::Unknown(..) => None,
        }
    };
    let location = |span: Span| translate::location(&program.files, span);
    let assumptions = assumptions_in(program);
    let is_wall = |span: &&Span| {
        can_reach(Goal::Behind(**span)) == Some(false)
            && can_reach(Goal::Before(**span)) == Some(true)
    };
    let walls: Vec<&Span> = assumptions.iter().filter(is_wall).collect();
    let all = walls.iter().map(|span| Assumption::NothingSurvives(Some(location(**span))));
    match assumptions.first() {
        Some(first)
            if walls.is_empty()
                && can_reach(Goal::Exit) == Some(false)
                && can_reach(Goal::ExitWithoutAssumptions) == Some(true) =>
        {
            vec![Assumption::NothingEnds(Some(location(*first)))]
        }
        _ => all.collect(),
    }
}

/// What nothing was found of, beside a temporal property if there is one.
fn coverage(
    program: &Program,
    question: &Question,
    reply: &Reply,
    temporal: Option<Property>,
) -> Coverage {
    let Encode { deadlock, races, .. } = question.encode;
    let looked_for = [(deadlock, Property::Deadlock), (races, Property::Race)];
    let looked_for = looked_for.into_iter().filter(|(is_on, _)| *is_on);
    let properties = { temporal }
        .into_iter()
        .chain([Property::Assertion])
        .chain(program.properties.iter().cloned())
        .chain(looked_for.map(|(_, property)| property));
    let mut coverage = Coverage::of(properties);
    if let Finding::SafeTo(depth) = reply.finding {
        coverage = coverage.within(Bound::Frames(depth));
    }
    if !races {
        coverage = coverage.assuming(Assumption::RacesAllowed);
    }
    if destroys_semaphores(program) {
        coverage = coverage.assuming(Assumption::SemaphoresOutliveWaits);
    }
    match &reply.bound {
        Some(bound) => coverage.within(bound.claim()),
        None => coverage,
    }
}

/// Whether semaphores come to an end. A circuit does not see who waits for one, unless that one
/// goes on.
fn destroys_semaphores(program: &Program) -> bool {
    let locations = program.routines.iter().flat_map(|routine| &routine.locations);
    let mut actions = locations.flat_map(|location| &location.edges).map(|edge| &edge.action);
    actions.any(|action| matches!(action, Action::Destroy(Sync::Semaphore, _)))
}

/// The counterexample that a schedule leads the machine to.
fn shown(vm: &mut Machine, schedule: &Schedule) -> Result<Counterexample, Fault> {
    let again = replay(vm, schedule).map_err(differs)?;
    let violation = again.violation.clone().map(|(_, violation)| violation);
    let violation = violation.or_else(|| again.deadlock(vm));
    let Some(violation) = violation else {
        return Err(differs("nothing goes wrong"));
    };
    let waits = match violation.kind {
        ViolationKind::Deadlock => again.waits(vm),
        _ => Vec::new(),
    };
    Ok(Counterexample {
        end: Vec::new(),
        violation,
        schedule: schedule.clone(),
        execution: again.execution,
        story: again.story,
        waits,
        accesses: Vec::new(),
        shared: Vec::new(),
        joins: again.joins,
        failed: again.failed,
        decisive: None,
    })
}

fn differs(error: impl std::fmt::Display) -> Fault {
    Fault::defect(format!("the machine does not do what the circuit does: {error}"))
}

/// What a circuit has not got, with its places in `files`, and the engine that takes it.
fn refused(files: &[String], refusals: &[Refusal], takes: &dyn Engine) -> Faults {
    let fault = |refusal: &Refusal| {
        let place = translate::place(files, refusal.span);
        let fault =
            Fault::input(format!("{place}: {refusal}; `--engine {}` takes it", takes.name()));
        match refusal.recurses {
            true => fault.help("`--recursion N` lets it call itself up to N times"),
            false => fault,
        }
    };
    refusals.iter().map(fault).collect()
}

/// How large the circuit was.
fn size_of(reply: &Reply) -> String {
    let circuit = &reply.encoding.circuit;
    format!(
        "{}: {} latches and {} gates; {} clauses, {} conflicts",
        reply.engine.name(),
        circuit.latches.len(),
        circuit.aig.n_ands(),
        reply.statistics.clauses,
        reply.statistics.conflicts
    )
}

/// What the solver did.
fn solving(reply: &Reply) -> Solving {
    let (circuit, counted) = (&reply.encoding.circuit, &reply.statistics);
    let mut solving = Solving::default();
    solving.latches = circuit.latches.len() as u64;
    solving.gates = circuit.aig.n_ands() as u64;
    solving.clauses = counted.clauses;
    solving.calls = counted.calls;
    solving.conflicts = counted.conflicts;
    solving.decisions = counted.decisions;
    solving.propagations = counted.propagations;
    solving
}
