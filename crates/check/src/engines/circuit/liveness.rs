//! Temporal properties of C files, and livelocks, decided on a circuit.

use super::{Decided, coverage, differs, refused, shown, size_of};
use crate::engines::Statespace;
use crate::temporal::{SECOND_LOOK, Wanted, add_stops_for, wanted_of_threads};
use crate::{Fault, Faults, Options, Task, translate};
use mazurka_core::{
    Assumption, Counterexample, Coverage, Property, System as _, ThreadId, Verdict, Violation,
    ViolationKind,
};
use mazurka_explore::replay;
use mazurka_model::{Program, Races, Vm as Machine, split_choices};
use mazurka_statespace::{BAD_PREFIX, Fairness, Moves, Threads, Transitions as _};
use mazurka_symbolic::{
    self as circuits, Encode, Finding, Lifted, Limits, Meaning, Question, Round, Schedule,
};
use std::time::Instant;

/// Decides the temporal properties of a program, and whether steps go wrong on the way.
pub(super) fn decide_all(
    program: &Program,
    wanted: &[Wanted],
    question: &mut Question,
    task: &Task,
    begun: Instant,
) -> Result<Decided, Faults> {
    question.schedule = Schedule::Interleaving;
    (question.encode.deadlock, question.encode.plain_steps) = (false, true);
    let mut all = Vec::new();
    for wanted in wanted {
        question.encode.temporal = Some(temporal_of(program, wanted, &task.options)?);
        let limits = Limits { time: task.time_left(begun.elapsed()), ..question.limits.clone() };
        let question = Question { limits, ..question.clone() };
        let decided = decide(program, &Target::Property(wanted), &question)?;
        let is_violated = matches!(decided.verdict, Verdict::Violated(_));
        all.push(decided);
        if is_violated {
            break;
        }
    }
    let notes = notes(wanted, &all);
    let mut decided = conclude(all);
    decided.notes = notes;
    Ok(decided)
}

/// Makes a temporal property a part of a circuit that is written for others.
pub(super) fn add_to(
    encode: &mut Encode,
    program: &mut Program,
    options: &Options,
) -> Result<(), Faults> {
    let wanted = wanted(program, options)?;
    let [wanted] = &wanted[..] else {
        return Err(Fault::input("a circuit has one temporal property").into());
    };
    (encode.deadlock, encode.plain_steps) = (false, true);
    encode.temporal = Some(temporal_of(program, wanted, options)?);
    Ok(())
}

/// The properties that are asked for, of a program that stops where they look.
pub(super) fn wanted(program: &mut Program, options: &Options) -> Result<Vec<Wanted>, Faults> {
    let wanted = wanted_of_threads(program, options)?;
    add_stops_for(program, &wanted);
    Ok(wanted)
}

/// A property as a circuit has it.
fn temporal_of(
    program: &Program,
    wanted: &Wanted,
    options: &Options,
) -> Result<circuits::Temporal, Faults> {
    let fairness = match options.fairness.unwrap_or_default() {
        Fairness::None => circuits::Fairness::None,
        Fairness::Weak => circuits::Fairness::Weak,
        Fairness::Strong => circuits::Fairness::Strong,
        Fairness::Trace => circuits::Fairness::Trace,
        other => {
            let text = format!("`--fairness {}` does not go with a circuit", other.name());
            return Err(Fault::input(text).help("`--engine statespace` takes it").into());
        }
    };
    if wanted.counts_steps() {
        // A choice that the machine makes piece by piece is more than one step of it.
        Threads::new(program.clone(), Races::Allow)
            .map_err(|errors| translate::not_run(&program.files, errors))?;
    }
    let automaton = wanted.violations().expect("a C program has no labels that accept").clone();
    let propositions = wanted.propositions.clone();
    Ok(circuits::Temporal { propositions, automaton, fairness, ends: true })
}

/// What executions must not do.
enum Target<'a> {
    Property(&'a Wanted),
    /// They must not go on for ever, if that is fair to every thread.
    Livelock,
}

impl Target<'_> {
    /// What is not there, where nothing is found.
    fn covered(&self) -> Property {
        match self {
            Self::Property(wanted) => Property::Temporal(wanted.name.clone()),
            Self::Livelock => Property::Livelock,
        }
    }

    /// What is wrong, if that is how it goes on; without a round it is wrong already.
    fn violation(&self, how: &str, round: Option<&Round>, vm: &Machine) -> Violation {
        match self {
            Self::Property(wanted) => {
                let message = format!("{} fails: {how}", wanted.name);
                Violation::new(ViolationKind::Ltl, message)
            }
            Self::Livelock => {
                let movers = round.map_or(&[][..], |round| &round.movers);
                let who = named(vm, movers);
                let what = match movers.len() {
                    1 => "goes round for ever, and no other thread can move",
                    _ => "go round for ever, and none of them comes to an end by it",
                };
                Violation::new(ViolationKind::Livelock, format!("{who} {what}"))
            }
        }
    }
}

/// Looks for executions that never end.
pub(super) fn livelock(program: &Program, question: &Question) -> Result<Decided, Faults> {
    let mut question = question.clone();
    question.schedule = Schedule::Interleaving;
    let encode = &mut question.encode;
    (encode.deadlock, encode.races, encode.plain_steps) = (false, false, true);
    encode.temporal = Some(circuits::Temporal::livelock());
    decide(program, &Target::Livelock, &question)
}

fn decide(program: &Program, sought: &Target<'_>, question: &Question) -> Result<Decided, Faults> {
    let reply = circuits::check(program, question)
        .map_err(|refusals| refused(&program.files, &refusals, &Statespace))?;
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
    Ok(Decided { verdict, proved: None, loop_start, notes, replays: &Statespace, reply })
}

/// The program as a search of states has it, where every access is a step.
fn threads(program: &Program, question: &Question) -> Result<Threads, Faults> {
    let races = if question.encode.races { Races::Error } else { Races::Allow };
    let mut split = program.clone();
    split_choices(&mut split);
    Threads::stepping(split, races).map_err(|errors| translate::not_run(&program.files, errors))
}

/// The counterexample that an execution of the circuit is, once the machine has followed it.
fn told(
    threads: &mut Threads,
    vm: &mut Machine,
    sought: &Target<'_>,
    lifted: Lifted,
) -> Result<Counterexample, Fault> {
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
        end: Vec::new(),
        violation,
        schedule,
        execution: again.execution,
        story: again.story,
        waits: Vec::new(),
        accesses: Vec::new(),
        shared: Vec::new(),
        joins: Vec::new(),
        failed: None,
        decisive: None,
    })
}

/// The data race of the state that a machine is in.
fn race(threads: &mut Threads, vm: &Machine) -> Option<Violation> {
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

fn named(vm: &Machine, threads: &[ThreadId]) -> String {
    let names = threads.iter().map(|&thread| vm.thread_name(thread).into_owned());
    names.collect::<Vec<_>>().join(", ")
}

/// Says to whom a round is not as fair as it could be.
fn notes_of(round: &Round, question: &Question, vm: &Machine) -> Vec<String> {
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

/// The first violation, or else the first limit, or else everything that was proved.
fn conclude(mut all: Vec<Decided>) -> Decided {
    let violated = all.iter().position(|it| matches!(it.verdict, Verdict::Violated(_)));
    let cut = || all.iter().position(|it| matches!(it.verdict, Verdict::Inconclusive(_)));
    if let Some(decisive) = violated.or_else(cut) {
        return all.swap_remove(decisive);
    }
    let coverages = all.iter().filter_map(|it| match &it.verdict {
        Verdict::Holds(coverage) => Some(coverage.clone()),
        _ => None,
    });
    let coverage = coverages.reduce(Coverage::and).expect("something was asked");
    Decided { verdict: Verdict::Holds(coverage), ..all.swap_remove(0) }
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
