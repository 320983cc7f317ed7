//! Temporal properties of C files, decided on a circuit.

use super::{
    Asked, coverage, differs, in_force, prove, proved, question, refused, shown, size_of, tip,
};
use crate::arguments::{Build, Modelling, Output, Temporal};
use crate::deadline::{self, Deadline};
use crate::temporal::{SECOND_LOOK, Wanted, add_stops_for, again, wanted_of_threads};
use crate::{Done, Failure, memory, names, tell, vm};
use mazurka_core::{
    Assumption, Counterexample, Coverage, Property, Statistics, System as _, ThreadId, Verdict,
    Violation, ViolationKind,
};
use mazurka_explore::replay;
use mazurka_model::{Program, Races, Vm, split_choices};
use mazurka_report::Report;
use mazurka_statespace::{BAD_PREFIX, Fairness, Moves, Threads, Transitions as _};
use mazurka_symbolic::{
    self as circuits, Encode, Finding, Lifted, Limits, Meaning, Question, Reply, Round, Schedule,
};
use std::path::PathBuf;
use std::time::Instant;

/// What was found out about a property.
pub(super) struct Decided {
    pub(super) verdict: Verdict,
    /// The step, from 1, that follows the last one again.
    pub(super) loop_start: Option<usize>,
    pub(super) notes: Vec<String>,
    pub(super) reply: Reply,
}

/// Decides the temporal properties of a program, and whether steps go wrong on the way.
pub(super) fn check(
    files: &[PathBuf],
    mut program: Program,
    build: &Build,
    modelling: &Modelling,
    asked: &Asked,
    output: &Output,
) -> Done {
    let Asked { engine, solving, temporal, search } = asked;
    let wanted = wanted(&mut program, temporal)?;
    if wanted.len() > 1 && solving.proof.is_some() {
        return Err(Failure::input("`--proof` goes with one temporal property").into());
    }
    let mut question = question(*engine, modelling, solving, search);
    question.schedule = Schedule::Interleaving;
    (question.encode.deadlock, question.encode.plain_steps) = (false, true);
    let start = Instant::now();
    let time = deadline::for_all(search.time_limit(), wanted.len());
    let _deadline = Deadline::start(&names(files), engine.name(), time, output);
    let mut all = Vec::new();
    for wanted in &wanted {
        question.encode.temporal = Some(temporal_of(&program, wanted, temporal)?);
        let limits = &question.limits;
        let time = limits.time.map(|time| time.saturating_sub(start.elapsed()));
        let question = Question { limits: Limits { time, ..limits.clone() }, ..question.clone() };
        let decided = decide(&program, &Sought::Property(wanted), &question)?;
        let is_violated = matches!(decided.verdict, Verdict::Violated(_));
        all.push(decided);
        if is_violated {
            break;
        }
    }
    let Conclusion { verdict, decisive } = conclude(&all);
    let replay = vm::replay_command(files, build, modelling, "statespace");
    let replay = format!("{} --schedule", again(temporal, replay));
    let (name, statistics) = (names(files), Statistics::default());
    let mut report = Report::new(&name, engine.name(), &verdict, &statistics, start.elapsed());
    report.replay_with = Some(&replay);
    report.peak_memory = memory::peak();
    report.options = in_force(&question, modelling);
    let fairness = temporal.fairness.unwrap_or_default().name();
    report.options.push(("fairness".to_owned(), fairness.into()));
    report.loop_start = decisive.loop_start;
    report.notes = notes(&wanted, &all);
    if let Some(path) = &solving.proof {
        report.notes.push(prove(&decisive.reply, path, &question)?);
    }
    let proved = proved(&decisive.reply);
    report.proved = proved.as_deref();
    report.tips.extend(tip(&decisive.reply));
    tell(&report, output)
}

/// Makes a temporal property a part of a circuit that is written for others.
pub(super) fn add_to(
    encode: &mut Encode,
    program: &mut Program,
    temporal: &Temporal,
) -> Result<(), Vec<Failure>> {
    let wanted = wanted(program, temporal)?;
    let [wanted] = &wanted[..] else {
        return Err(Failure::input("a circuit has one temporal property").into());
    };
    (encode.deadlock, encode.plain_steps) = (false, true);
    encode.temporal = Some(temporal_of(program, wanted, temporal)?);
    Ok(())
}

/// The properties that are asked for, of a program that stops where they look.
fn wanted(program: &mut Program, temporal: &Temporal) -> Result<Vec<Wanted>, Vec<Failure>> {
    if temporal.cycles.is_some() || temporal.construction.is_some() {
        let text = "`--cycles` and `--construction` do not go with a circuit";
        return Err(Failure::input(text).help("`--engine statespace` takes them").into());
    }
    let wanted = wanted_of_threads(program, temporal)?;
    if wanted.is_empty() {
        let text = "`--fairness` is about a temporal property, and there is none";
        return Err(Failure::input(text).help("`--ltl FORMULA` is one").into());
    }
    add_stops_for(program, &wanted);
    Ok(wanted)
}

/// A property as a circuit has it.
fn temporal_of(
    program: &Program,
    wanted: &Wanted,
    temporal: &Temporal,
) -> Result<circuits::Temporal, Vec<Failure>> {
    let fairness = match temporal.fairness.unwrap_or_default() {
        Fairness::None => circuits::Fairness::None,
        Fairness::Weak => circuits::Fairness::Weak,
        Fairness::Strong => circuits::Fairness::Strong,
        Fairness::Trace => circuits::Fairness::Trace,
        other => {
            let text = format!("`--fairness {}` does not go with a circuit", other.name());
            return Err(Failure::input(text).help("`--engine statespace` takes it").into());
        }
    };
    if wanted.counts_steps() {
        // A choice that the machine makes piece by piece is more than one step of it.
        Threads::new(program.clone(), Races::Allow)
            .map_err(|errors| vm::not_run(&program.files, errors))?;
    }
    let automaton = wanted.violations().expect("a C program has no labels that accept").clone();
    let propositions = wanted.propositions.clone();
    Ok(circuits::Temporal { propositions, automaton, fairness, ends: true })
}

/// What executions must not do.
enum Sought<'a> {
    Property(&'a Wanted),
    /// They must not go on for ever, if that is fair to every thread.
    Livelock,
}

impl Sought<'_> {
    /// What is not there, where nothing is found.
    fn covered(&self) -> Property {
        match self {
            Self::Property(wanted) => Property::Temporal(wanted.name.clone()),
            Self::Livelock => Property::Livelock,
        }
    }

    /// What is wrong, if that is how it goes on; without a round it is wrong already.
    fn violation(&self, how: &str, round: Option<&Round>, vm: &Vm) -> Violation {
        match self {
            Self::Property(wanted) => {
                let message = format!("{} fails: {how}", wanted.name);
                Violation { kind: ViolationKind::Ltl, message }
            }
            Self::Livelock => {
                let movers = round.map_or(&[][..], |round| &round.movers);
                let who = named(vm, movers);
                let what = match movers.len() {
                    1 => "goes round for ever, and nobody else can move",
                    _ => "go round for ever, and nobody comes to an end by it",
                };
                Violation { kind: ViolationKind::Livelock, message: format!("{who} {what}") }
            }
        }
    }
}

/// Looks for executions that never end.
pub(super) fn livelock(program: &Program, question: &Question) -> Result<Decided, Vec<Failure>> {
    let mut question = question.clone();
    question.schedule = Schedule::Interleaving;
    let encode = &mut question.encode;
    (encode.deadlock, encode.races, encode.plain_steps) = (false, false, true);
    encode.temporal = Some(circuits::Temporal::livelock());
    decide(program, &Sought::Livelock, &question)
}

fn decide(
    program: &Program,
    sought: &Sought<'_>,
    question: &Question,
) -> Result<Decided, Vec<Failure>> {
    let reply = circuits::check(program, question)
        .map_err(|refusals| refused(&program.files, &refusals))?;
    let (mut loop_start, mut notes) = (None, Vec::new());
    let verdict = match &reply.finding {
        Finding::Unsafe(witness) => {
            let mut threads = threads(program, question)?;
            let mut vm = threads.vm();
            let lifted = reply.encoding.lift(witness, &mut vm).map_err(differs)?;
            if let Some(round) = &lifted.round {
                loop_start = round.start.map(|start| start + 1);
                notes = notes_of(round, question, &vm);
                notes.extend(would_fairness_help(program, question, round));
            }
            Verdict::Violated(Box::new(told(&mut threads, &mut vm, sought, lifted)?))
        }
        Finding::Unknown(_, why) => Verdict::Inconclusive(why.clone()),
        Finding::Safe | Finding::SafeTo(_) => {
            let coverage = coverage(program, question, &reply, Some(sought.covered()));
            let fairness = fairness_of(question).assumed().map(Assumption::Fair);
            let assumptions = fairness.into_iter().chain(program.assumptions.iter().cloned());
            Verdict::Holds(coverage.assuming_all(assumptions))
        }
    };
    notes.push(size_of(&reply));
    Ok(Decided { verdict, loop_start, notes, reply })
}

/// The program as a search of states has it, where every access is a step.
fn threads(program: &Program, question: &Question) -> Result<Threads, Vec<Failure>> {
    let races = if question.encode.races { Races::Error } else { Races::Allow };
    let mut split = program.clone();
    split_choices(&mut split);
    Threads::stepping(split, races).map_err(|errors| vm::not_run(&program.files, errors))
}

/// The counterexample that an execution of the circuit is, once the machine has followed it.
fn told(
    threads: &mut Threads,
    vm: &mut Vm,
    sought: &Sought<'_>,
    lifted: Lifted,
) -> Result<Counterexample, Failure> {
    let Lifted { schedule, meaning, is_whole, round } = lifted;
    let how = match meaning {
        Meaning::GoesOn => "this goes on for ever",
        Meaning::Stays => "it stops there for ever",
        Meaning::BadPrefix => BAD_PREFIX,
        Meaning::Race => "",
        _ => return shown(vm, &schedule),
    };
    if !is_whole {
        return Err(differs(format!("{how}, and that is no violation")));
    }
    let again = replay(vm, &schedule).map_err(differs)?;
    let violation = match meaning {
        Meaning::Race => race(threads, vm).ok_or_else(|| differs("there is no data race"))?,
        _ => sought.violation(how, round.as_ref(), vm),
    };
    Ok(Counterexample {
        violation,
        schedule,
        execution: again.execution,
        story: again.story,
        waits: Vec::new(),
        accesses: Vec::new(),
    })
}

/// The data race of the state that a machine is in.
fn race(threads: &mut Threads, vm: &Vm) -> Option<Violation> {
    let (mut state, mut moves) = (Vec::new(), Moves::new());
    vm.save(&mut state);
    threads.expand(&state, &mut moves);
    let wrong = (0..moves.len()).find_map(|idx| Some((moves[idx].step, moves[idx].fault?)));
    wrong.map(|(step, fault)| threads.violation(&state, step, fault))
}

fn fairness_of(question: &Question) -> circuits::Fairness {
    question.encode.temporal.as_ref().map(|temporal| temporal.fairness).unwrap_or_default()
}

/// What is asked of executions, in words; nothing if all count.
fn assumed(fairness: circuits::Fairness) -> Option<&'static str> {
    match fairness {
        circuits::Fairness::None => None,
        circuits::Fairness::Weak => Some("is weakly fair to every process"),
        circuits::Fairness::Strong => Some("is strongly fair to every process"),
        circuits::Fairness::Trace => Some("leaves no step out that nothing depends on"),
    }
}

fn named(vm: &Vm, threads: &[ThreadId]) -> String {
    let names = threads.iter().map(|&thread| vm.thread_name(thread).into_owned());
    names.collect::<Vec<_>>().join(", ")
}

/// Says to whom a round is not as fair as it could be.
fn notes_of(round: &Round, question: &Question, vm: &Vm) -> Vec<String> {
    let mut notes = vec![match assumed(fairness_of(question)) {
        None => "no fairness is assumed".to_owned(),
        Some(what) => format!("what goes on for ever {what}"),
    }];
    let unfair = [
        ("could always move there and never does", &round.always),
        ("could move there again and again and never does", &round.often),
    ];
    let unfair = unfair.iter().filter(|(_, threads)| !threads.is_empty());
    notes.extend(unfair.map(|(what, threads)| format!("{what}: {}", named(vm, threads))));
    if !round.returns {
        let text = "every round leaves something else behind that nothing depends on";
        notes.push(text.to_owned());
    }
    notes
}

/// Whether a round would be ruled out by more fairness, in words.
fn would_fairness_help(program: &Program, question: &Question, round: &Round) -> Option<String> {
    round.start?;
    let stronger: &[(circuits::Fairness, Fairness)] = match fairness_of(question) {
        circuits::Fairness::None | circuits::Fairness::Trace => &[
            (circuits::Fairness::Weak, Fairness::Weak),
            (circuits::Fairness::Strong, Fairness::Strong),
        ],
        circuits::Fairness::Weak => &[(circuits::Fairness::Strong, Fairness::Strong)],
        circuits::Fairness::Strong => return None,
    };
    for &(fairness, named) in stronger {
        let mut question = question.clone();
        question.encode.temporal.as_mut()?.fairness = fairness;
        // Who finds a loop fast need not be good at proving that there is none.
        question.engine = circuits::Engine::Ic3;
        let time = question.limits.time;
        question.limits.time = Some(time.map_or(SECOND_LOOK, |limit| limit.min(SECOND_LOOK)));
        match circuits::check(program, &question).ok()?.finding {
            Finding::Safe => {
                let name = named.name();
                return Some(format!("it needs fairness: it holds with `--fairness {name}`"));
            }
            Finding::Unsafe(_) => {}
            _ => return None,
        }
    }
    Some("it fails under strong fairness, too".to_owned())
}

/// The verdict about all properties, and the one that decides it.
struct Conclusion<'a> {
    verdict: Verdict,
    decisive: &'a Decided,
}

/// The first violation, or else the first limit, or else everything that was proved.
fn conclude(all: &[Decided]) -> Conclusion<'_> {
    let violated = all.iter().find(|it| matches!(it.verdict, Verdict::Violated(_)));
    let cut = all.iter().find(|it| matches!(it.verdict, Verdict::Inconclusive(_)));
    if let Some(decisive) = violated.or(cut) {
        return Conclusion { verdict: decisive.verdict.clone(), decisive };
    }
    let coverages = all.iter().filter_map(|it| match &it.verdict {
        Verdict::Holds(coverage) => Some(coverage.clone()),
        _ => None,
    });
    let coverage = coverages.reduce(Coverage::and);
    let verdict = Verdict::Holds(coverage.expect("something was asked"));
    Conclusion { verdict, decisive: &all[0] }
}

/// What there is to say of all that was decided, and of what was not.
fn notes(wanted: &[Wanted], all: &[Decided]) -> Vec<String> {
    let mut notes = Vec::new();
    for (wanted, decided) in wanted.iter().zip(all) {
        let prefix = if all.len() == 1 { String::new() } else { format!("{}: ", wanted.name) };
        notes.extend(decided.notes.iter().map(|note| format!("{prefix}{note}")));
    }
    let skipped: Vec<&str> = wanted[all.len()..].iter().map(|it| it.name.as_str()).collect();
    if !skipped.is_empty() {
        notes.push(format!("not looked at, because of this: {}", skipped.join(", ")));
    }
    notes.push("with all interleavings: to a temporal property, none may be left out".to_owned());
    notes
}
