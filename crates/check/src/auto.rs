//! `--engine auto`: the engines that suit a program, one after the other and side by side.
//!
//! A Promela model has one engine. A program that can be run is run: no engine claims more, and
//! none needs less of it to be understood. If that takes long, engines that take the program as a
//! model begin beside it, on the cores there are, and the first conclusive answer wins: a search of
//! executions may be endless where there are few states, and the other way round. They also begin
//! if the program cannot be run at all, since it calls what only models have, such as
//! `__VERIFIER_nondet_int`. Where nothing runs natively, the machine is the first.

use crate::engine::{ENGINES, Engine, Feature, Language, Listener};
use crate::{FaultKind, Faults, Outcome, Task, memory_model};
use mazurka_core::Verdict;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long the first engine is alone, if there is no limit.
const ALONE: Duration = Duration::from_secs(20);
/// Of a time limit, the first engine is alone for this part.
const SHARE: u32 = 3;
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What the first engine does.
const RUNNING: u8 = 0;
/// It has ended, without an answer.
const OPEN: u8 = 1;
/// It has ended, and that is all.
const CLOSED: u8 = 2;
/// It does not take the program.
const REFUSED: u8 = 3;

/// The engine that suits the program of a task: the first that takes it; and why it is not the
/// first of all, if it is not.
pub fn choose(task: &Task, runs_natively: bool) -> (&'static dyn Engine, Option<&'static str>) {
    let language = task.input.language().unwrap_or(Language::C);
    let takes = |engine: &&&'static dyn Engine| engine.supports().of(language).is_some();
    let is_here = |engine: &&&'static dyn Engine| {
        runs_natively || !engine.supports().features.contains(&Feature::Processes)
    };
    let first = ENGINES.iter().find(takes).expect("every language has an engine");
    match ENGINES.iter().filter(takes).find(is_here) {
        Some(engine) if engine.name() != first.name() => (*engine, Some("programs run natively")),
        _ => (*first, None),
    }
}

/// Has the engine that suits a task decide it, and others beside it if that takes long.
pub fn check(
    task: &Task,
    first: &'static dyn Engine,
    listener: &dyn Listener,
) -> Result<Outcome, Faults> {
    let checked =
        memory_model::check(task, listener, || check_interleavings(task, first, listener));
    checked.map_err(|faults| task.interrupted_or(faults))
}

/// The same under the memory model that the task names, or in interleavings if it names none.
fn check_interleavings(
    task: &Task,
    first: &'static dyn Engine,
    listener: &dyn Listener,
) -> Result<Outcome, Faults> {
    let others = others(task, first);
    if others.is_empty() {
        return match task.faults_for(first) {
            faults if faults.is_empty() => first.check(task, listener),
            faults => Err(faults),
        };
    }
    // What is set stays set: a flag for each check, which no later one may find.
    let stop: &'static AtomicBool = Box::leak(Box::default());
    let mut alone = task.clone();
    alone.stop = Some(stop);
    let faults = alone.faults_for(first);
    if !faults.is_empty() {
        return Err(faults);
    }
    let share = task.options.time_limit.map_or(ALONE, |limit| limit / SHARE);
    let state = AtomicU8::new(RUNNING);
    let (outcome, answer) = std::thread::scope(|scope| {
        let beside = scope.spawn(|| answer_beside(task, &others, share, &state, stop));
        let outcome = first.check(&alone, listener);
        let ended = match &outcome {
            _ if task.is_stopped() => CLOSED,
            Ok(outcome) if !is_conclusive(outcome) => OPEN,
            Err(faults) if is_unlinkable(faults) => REFUSED,
            _ => CLOSED,
        };
        state.store(ended, Ordering::Relaxed);
        (outcome, beside.join().expect("it does not panic"))
    });
    let by = |mut answer: Outcome, why: String| {
        let name = answer.engine.name();
        answer.notes.push(format!("`--engine {name}` has answered: {why}"));
        answer
    };
    let first = first.name();
    match (outcome, answer) {
        (Ok(outcome), Some(answer)) if !is_conclusive(&outcome) => Ok(by(
            answer,
            format!("`{first}` had come to no end after {share:.0?}, and others began beside it"),
        )),
        (Err(_), Some(answer)) => {
            Ok(by(answer, format!("the program cannot be run, and `--engine {first}` tells why")))
        }
        (outcome, _) => outcome,
    }
}

/// The engines that can take a task as a model, and say the same with the options that it has.
fn others(task: &Task, first: &'static dyn Engine) -> Vec<&'static dyn Engine> {
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let is_other = |engine: &&dyn Engine| {
        let features = engine.supports().features;
        let is_model = features.contains(&Feature::Temporal);
        is_model && engine.name() != first.name() && task.faults_for(*engine).is_empty()
    };
    // A search that is saved, or goes on, is one of the engine that has begun it.
    let is_saved = task.options.save.is_some() || task.options.resume.is_some();
    let runs = first.supports().features.contains(&Feature::Processes) && !is_saved;
    let all = ENGINES.iter().copied().filter(is_other);
    // Of those that decide circuits, the one that has the others in it.
    let mut all: Vec<&'static dyn Engine> = all.collect();
    if let (true, [.., _, _]) = (runs, &all[..]) {
        let last = all.pop().expect("there are two");
        all.truncate(1);
        all.push(last);
    }
    all.truncate(if runs { n_cores } else { 0 });
    all
}

/// The engine that takes a model as the first one takes a program, by its executions.
fn executions_of_model(task: &Task) -> Option<&'static dyn Engine> {
    let takes = |engine: &&'static dyn Engine| {
        let features = engine.supports().features;
        let is_model = !features.contains(&Feature::Processes);
        is_model && features.contains(&Feature::Executions) && task.faults_for(*engine).is_empty()
    };
    ENGINES.iter().copied().find(takes)
}

/// Waits for the first engine to be long or to end without an answer, has others begin, and stops
/// the first one once another has an answer. Nothing, if none of them has one. Where the first one
/// has refused the program, what they say without an answer is better than nothing.
fn answer_beside(
    task: &Task,
    others: &[&'static dyn Engine],
    share: Duration,
    state: &AtomicU8,
    stop: &'static AtomicBool,
) -> Option<Outcome> {
    let begun = Instant::now();
    let is = |wanted: u8| state.load(Ordering::Relaxed) == wanted;
    let pass_on = || stop.fetch_or(task.is_stopped(), Ordering::Relaxed);
    while begun.elapsed() < share && is(RUNNING) {
        pass_on();
        std::thread::sleep(LOOK_EVERY);
    }
    let is_refused = is(REFUSED);
    if is(CLOSED) || task.is_stopped() {
        return None;
    }
    let halt: &'static AtomicBool = Box::leak(Box::default());
    let (send, answers) = channel::<Outcome>();
    let model = executions_of_model(task).filter(|_| is_refused);
    for engine in model.into_iter().chain(others.iter().copied()) {
        let (mut task, send) = (task.clone(), send.clone());
        task.stop = Some(halt);
        // The file is that of the first engine.
        task.saving = None;
        task.options.time_limit = task.time_left(begun.elapsed());
        // It is not waited for where another one is faster.
        std::thread::spawn(move || {
            if let Ok(outcome) = engine.check(&task, &()) {
                // The receiver may be gone.
                let _ = send.send(outcome);
            }
        });
    }
    drop(send);
    let is_late = || task.time_left(begun.elapsed()).is_some_and(|left| left.is_zero());
    let (mut answer, mut open) = (None, None);
    while answer.is_none() && !is(CLOSED) && !task.is_stopped() && !is_late() {
        match answers.recv_timeout(LOOK_EVERY) {
            Ok(outcome) if is_conclusive(&outcome) => answer = Some(outcome),
            Ok(outcome) => open = Some(outcome),
            // None of them has an answer.
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    halt.store(true, Ordering::Relaxed);
    stop.fetch_or(answer.is_some(), Ordering::Relaxed);
    // Interrupts are passed on until the first engine is over.
    while is(RUNNING) {
        pass_on();
        std::thread::sleep(LOOK_EVERY);
    }
    answer.or(open.filter(|_| is_refused))
}

fn is_unlinkable(faults: &Faults) -> bool {
    faults.iter().all(|fault| fault.kind == FaultKind::Unlinkable)
}

fn is_conclusive(outcome: &Outcome) -> bool {
    !matches!(outcome.verdict, Verdict::Inconclusive(_))
}
