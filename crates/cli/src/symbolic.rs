//! C files as a circuit: the engines that decide it, and `mazurka circuit`.

mod temporal;

use crate::arguments::{
    Build, CircuitFormat, Engine, Modelling, Output, RacesAre, Search, Solving, Temporal,
};
use crate::deadline::Deadline;
use crate::{Done, Failure, interrupt, memory, names, tell, vm};
use mazurka_core::{
    Assumption, Bound, Counterexample, Coverage, Limit, Location, Property, Statistics, Verdict,
    ViolationKind,
};
use mazurka_explore::replay;
use mazurka_model::{
    Action, Goal, Program, Races, Span, Sync, Vm, assumptions_in, split_choices, with_goal,
};
use mazurka_report::{ExitStatus, Report};
use mazurka_symbolic::{
    self as circuits, Bounds, Encode, Finding, ProofError, Question, Refusal, Reply,
};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is asked of a program, and of whom.
pub(crate) struct Asked {
    pub(crate) engine: Engine,
    pub(crate) solving: Solving,
    pub(crate) temporal: Temporal,
    pub(crate) search: Search,
}

/// Decides a program as a circuit.
pub(crate) fn check(
    files: &[PathBuf],
    build: &Build,
    modelling: &Modelling,
    asked: &Asked,
    output: &Output,
) -> Done {
    let name = names(files);
    let Asked { engine, solving, search, .. } = asked;
    let conduct = &search.conduct;
    let program = vm::announced(files, build, modelling, conduct, output)?;
    if asked.temporal.is_given() {
        return temporal::check(files, program, build, modelling, asked, output);
    }
    let question = question(*engine, modelling, solving, search);
    let start = Instant::now();
    let _deadline = Deadline::start(&name, engine.name(), search.time_limit(), output);
    let Decided { verdict, notes, loop_start, machine, reply } =
        decide(&program, &question, conduct.asks_for_livelock(), start)?;
    let replay = conduct.told_to(vm::replay_command(files, build, modelling, machine));
    let replay = format!("{replay} --schedule");
    let statistics = Statistics::default();
    let engine_name = engine.name();
    let mut report = Report::new(&name, engine_name, &verdict, &statistics, start.elapsed());
    report.replay_with = Some(&replay);
    report.peak_memory = memory::peak();
    report.options = in_force(&question, modelling);
    report.options.push(("livelock".to_owned(), conduct.asks_for_livelock().into()));
    report.loop_start = loop_start;
    report.notes = notes;
    if let Some(path) = &solving.proof {
        report.notes.push(prove(&reply, path, &question)?);
    }
    let proved = proved(&reply);
    report.proved = proved.as_deref();
    report.tips.extend(tip(&reply));
    tell(&report, output)
}

/// What was decided about a program.
struct Decided {
    verdict: Verdict,
    notes: Vec<String>,
    loop_start: Option<usize>,
    /// The engine that follows a schedule.
    machine: &'static str,
    reply: Reply,
}

/// How deep a search to a depth looks for one thing, at first, before it looks for another.
const FIRST_DEPTH: usize = 16;

/// Decides everything, and executions that never end if those are asked for. A search that ends at no depth looks for both
/// to a depth, and then to twice that one: else it might never come to the second.
fn decide(
    program: &Program,
    question: &Question,
    with_livelock: bool,
    start: Instant,
) -> Result<Decided, Vec<Failure>> {
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
) -> Result<(Decided, bool), Vec<Failure>> {
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
    let reply =
        circuits::check(program, &left()).map_err(|refusals| refused(&program.files, &refusals))?;
    let verdict = whole(verdict(program, question, &reply, with_livelock)?);
    let mut is_cut = matches!(reply.finding, Finding::SafeTo(_));
    let verdict = match verdict {
        Verdict::Holds(coverage) => {
            Verdict::Holds(coverage.assuming_all(vacuous(program, &left())))
        }
        other => other,
    };
    let notes = vec![size_of(&reply)];
    let mut decided = Decided { verdict, notes, loop_start: None, machine: "vm", reply };
    if let (Verdict::Holds(coverage), true) = (&decided.verdict, with_livelock) {
        let endless = temporal::livelock(program, &left())?;
        is_cut = match endless.reply.finding {
            Finding::Safe => is_cut,
            Finding::SafeTo(_) => true,
            Finding::Unsafe(_) | Finding::Unknown(..) => false,
        };
        decided.verdict = match whole(endless.verdict) {
            Verdict::Holds(more) => Verdict::Holds(coverage.clone().and(more)),
            other => other,
        };
        (decided.loop_start, decided.machine) = (endless.loop_start, "statespace");
        let notes = endless.notes.iter().map(|note| format!("executions without end: {note}"));
        decided.notes.extend(notes);
        decided.reply.add(endless.reply);
    }
    Ok((decided, is_cut))
}

/// Writes the circuit of a program, its bad states with names.
pub(crate) fn circuit(
    files: &[PathBuf],
    build: &Build,
    modelling: &Modelling,
    solving: &Solving,
    temporal: &Temporal,
    format: CircuitFormat,
) -> Done {
    if solving.proof.is_some() {
        return Err(Failure::input("`--proof` goes with `mazurka check` alone").into());
    }
    let mut program = vm::translate(files, build, modelling, true)?;
    let is_error = modelling.races == RacesAre::Error;
    let mut encode = encode(is_error, is_error, true, solving);
    let mut schedule = solving.schedule;
    if temporal.is_given() {
        schedule = circuits::Schedule::Interleaving;
        temporal::add_to(&mut encode, &mut program, temporal)?;
    }
    let encoding = circuits::sized(&program, &encode, schedule)
        .map_err(|refusals| refused(&program.files, &refusals))?;
    let mut to = std::io::stdout().lock();
    let written = match format {
        CircuitFormat::Aag => encoding.circuit.write_aag(&mut to),
        CircuitFormat::Aig => encoding.circuit.write_aig(&mut to),
        CircuitFormat::Btor2 => encoding.circuit.write_btor2(&mut to),
    };
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("the circuit cannot be written: {error}")).into())
        }
        _ => Ok(ExitStatus::Holds),
    }
}

/// Writes a proof of what was found, and the formula that it refutes; says so.
fn prove(reply: &Reply, path: &Path, question: &Question) -> Result<String, Failure> {
    let Some(formula) = reply.formula() else {
        return Ok("nothing was proved, and no proof was written".to_owned());
    };
    let mut beside = path.as_os_str().to_owned();
    beside.push(".cnf");
    let beside = Path::new(&beside);
    let failed = |error: &dyn std::fmt::Display| {
        Failure::input(format!("the proof cannot be written: {error}"))
    };
    let mut file =
        std::fs::File::create(beside).map(BufWriter::new).map_err(|error| failed(&error))?;
    formula.write(&mut file).and_then(|()| file.flush()).map_err(|error| failed(&error))?;
    let limits = circuits::Limits { depth: None, ..question.limits.clone() };
    match formula.refute(&limits, Some(path)) {
        Ok(()) => Ok(format!(
            "{} refutes {}, a formula of {} clauses",
            path.display(),
            beside.display(),
            formula.n_clauses()
        )),
        Err(ProofError::Satisfiable) => {
            Err(Failure::defect("what was proved does not hold: its formula has a model"))
        }
        Err(error) => Err(failed(&error)),
    }
}

fn question(engine: Engine, modelling: &Modelling, solving: &Solving, search: &Search) -> Question {
    let is_error = modelling.races == RacesAre::Error;
    let races = is_error && search.conduct.has_races();
    Question {
        encode: encode(is_error, races, search.conduct.has_deadlock(), solving),
        schedule: solving.schedule,
        engine: match engine {
            Engine::Induction => circuits::Engine::Induction,
            Engine::Ic3 => circuits::Engine::Ic3,
            Engine::Bdd => circuits::Engine::Bdd,
            Engine::Portfolio => circuits::Engine::Portfolio,
            _ => circuits::Engine::Bounded,
        },
        limits: circuits::Limits {
            time: search.time_limit(),
            memory: search.memory_limit,
            depth: solving.depth,
            stop: Some(interrupt::flag()),
            ..circuits::Limits::default()
        },
    }
}

/// How a program becomes a circuit: what a race is to the machine, and what is looked for.
fn encode(is_error: bool, races: bool, deadlock: bool, solving: &Solving) -> Encode {
    let bounds = Bounds { recursion: solving.recursion, ..Bounds::default() };
    Encode { races, plain_steps: !is_error, deadlock, temporal: None, bounds }
}

/// What the answer about a circuit says about the program.
fn verdict(
    program: &Program,
    question: &Question,
    reply: &Reply,
    looks_for_livelock: bool,
) -> Result<Verdict, Failure> {
    Ok(match &reply.finding {
        Finding::Unsafe(witness) => {
            let races = match question.encode.plain_steps {
                true => Races::Allow,
                false => Races::Error,
            };
            let mut program = program.clone();
            split_choices(&mut program);
            let vm = Vm::new(program, races)
                .map_err(|errors| Failure::input(format!("the machine runs no {errors:?}")))?;
            let (lifted, mut vm) =
                reply.encoding.lift_by(witness, || vm.clone()).map_err(differs)?;
            Verdict::Violated(Box::new(shown(&mut vm, &lifted.schedule)?))
        }
        Finding::Unknown(_, why) => Verdict::Inconclusive(why.clone()),
        Finding::Safe | Finding::SafeTo(_) => {
            // Whoever goes round for ever moves: to a circuit that is no deadlock.
            let spins = (!looks_for_livelock).then_some(Assumption::NoSpinning);
            let assumptions = program.assumptions.iter().cloned().chain(spins);
            let coverage = coverage(program, question, reply, None);
            Verdict::Holds(coverage.assuming_all(assumptions))
        }
    })
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
    let location = |span: Span| Location {
        file: program.files.get(span.file.0 as usize).cloned().unwrap_or_default(),
        line: span.line,
        column: span.column,
        function: None,
        within: None,
    };
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

/// Whether semaphores come to an end. A circuit does not see who waits for one, unless that one goes on.
fn destroys_semaphores(program: &Program) -> bool {
    let locations = program.routines.iter().flat_map(|routine| &routine.locations);
    let mut actions = locations.flat_map(|location| &location.edges).map(|edge| &edge.action);
    actions.any(|action| matches!(action, Action::Destroy(Sync::Semaphore, _)))
}

/// The counterexample that a schedule leads the machine to.
fn shown(vm: &mut Vm, schedule: &mazurka_core::Schedule) -> Result<Counterexample, Failure> {
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
        violation,
        schedule: schedule.clone(),
        execution: again.execution,
        story: again.story,
        waits,
        accesses: Vec::new(),
    })
}

fn differs(error: impl std::fmt::Display) -> Failure {
    Failure::defect(format!("the machine does not do what the circuit does: {error}"))
}

/// What a circuit has not got, with its places in `files`.
fn refused(files: &[String], refusals: &[Refusal]) -> Vec<Failure> {
    let place = |refusal: &Refusal| {
        let file = files.get(refusal.span.file.0 as usize).map_or("", String::as_str);
        let (line, column) = (refusal.span.line, refusal.span.column);
        let failure = Failure::input(format!("{file}:{line}:{column}: {refusal}"));
        match refusal.what.contains("bound on recursion") {
            true => failure.help("`--recursion N` lets it call itself up to N times"),
            false => failure,
        }
    };
    refusals.iter().map(place).collect()
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

/// What is known where a limit was reached.
fn proved(reply: &Reply) -> Option<String> {
    let depth = match &reply.finding {
        Finding::Unknown(depth, _) => *depth,
        _ => None,
    };
    depth.map(|depth| format!("nothing goes wrong in {depth} steps"))
}

/// What to try next.
fn tip(reply: &Reply) -> Option<String> {
    matches!(reply.finding, Finding::SafeTo(_)).then(|| "a larger `--depth` sees more".to_owned())
}

/// Options as the JSON output has them.
fn in_force(question: &Question, modelling: &Modelling) -> Vec<(String, serde_json::Value)> {
    let Question { encode, limits, .. } = question;
    let all = [
        ("schedule", question.schedule.name().into()),
        ("depth", limits.depth.into()),
        ("deadlock", encode.deadlock.into()),
        ("race", encode.races.into()),
        ("recursion", encode.bounds.recursion.into()),
        ("races", vm::races_name(modelling.races).into()),
        ("time_limit_s", limits.time.map(|limit| limit.as_secs_f64()).into()),
        ("memory_limit", limits.memory.into()),
    ];
    all.map(|(name, value)| (name.to_owned(), value)).into()
}
