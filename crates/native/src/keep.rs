//! Searches that are saved: what the next process has to know before it goes on.
//!
//! Units of a search say which thread moves, so threads get the numbers that they had. And they
//! were found with what was learnt by then, so that is learnt again: by the executions that have
//! taught it, in their order ([`learnt`]). If less or more is known after that, something in the
//! program is not repeated, and nothing that was explored counts. A program that has changed may
//! teach the same: it is refused by its [`fingerprint`].

use crate::fingerprint;
use crate::learnt;
use crate::machine;
use crate::plain_accesses::CUT;
use crate::system::Native;
use mazurka_core::{Decision, Next, Schedule, System as _, ThreadId};
use mazurka_explore::{Options, Saved, retake};
use mazurka_protocol::{Failed, RunOptions};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::Ordering;

const ENGINE: &str = "native";
/// The program is recognised by so many steps.
const MAX_STEPS: usize = 1_000;

/// What is saved beside the search.
#[derive(Serialize, Deserialize)]
struct Notes {
    /// So that no other engine reads it.
    engine: String,
    /// What tells the program from others.
    program: u64,
    run: RunOptions,
    /// Of the program.
    arguments: Vec<OsString>,
    /// Whose child each thread is, but for the first.
    parents: Vec<ThreadId>,
    teachers: Vec<Schedule>,
    /// How much is known after them.
    known: u64,
}

fn arguments() -> Vec<OsString> {
    std::env::args_os().skip(1).collect()
}

/// Takes the execution by which a search that is saved recognises its program, and notes what it
/// has taught.
pub(crate) fn note_first() {
    Native.reset();
    let mut schedule = Schedule::new();
    while schedule.len() < MAX_STEPS {
        let mut threads = (0..Native.n_threads()).map(ThreadId::new);
        let is_enabled = |&it: &ThreadId| matches!(Native.next(it), Next::Enabled { .. });
        let Some(first) = threads.find(is_enabled) else { break };
        schedule.push(Decision::of(first));
        if Native.step(Decision::of(first)).is_err() {
            break;
        }
    }
    learnt::note(&schedule);
}

/// Writes a search to a file.
pub(crate) fn save(mut saved: Saved, run: &RunOptions, path: &Path) -> Result<(), String> {
    let (known, teachers) = learnt::all();
    let parents = machine::with(|machine| machine.parents());
    let notes = Notes {
        engine: ENGINE.to_owned(),
        program: fingerprint::of_program()?,
        run: run.clone(),
        arguments: arguments(),
        parents,
        teachers,
        known,
    };
    saved.set_system(postcard::to_stdvec(&notes).expect("everything in it can be written"));
    saved.write(path).map_err(|error| format!("`{}` cannot be written: {error}", path.display()))
}

/// Reads a search from a file, and learns what it knew. Nothing if that cannot be learnt: the
/// search then begins anew, unless it is a part of one.
pub(crate) fn resume(
    path: &Path,
    run: &RunOptions,
    options: &Options,
) -> Result<Option<Saved>, Failed> {
    let wrong = |what: &str| Failed::WrongInput(format!("`{}`: {what}", path.display()));
    let other_program =
        || wrong("the saved search belongs to another program, or another version of this one");
    let saved = Saved::read(path).map_err(|error| wrong(&error.to_string()))?;
    let notes: Option<Notes> = postcard::from_bytes(saved.system()).ok();
    let notes = notes
        .filter(|notes| notes.engine == ENGINE)
        .ok_or_else(|| wrong("the saved search is not one of a program that runs itself"))?;
    if notes.program != fingerprint::of_program()? {
        return Err(other_program());
    }
    if notes.arguments != arguments() {
        return Err(wrong("the saved search is one with other arguments of the program"));
    }
    if &notes.run != run {
        return Err(wrong(
            "the saved search is one with another `--allow`, `--trust`, `--retries` or `--property`",
        ));
    }
    saved.fits(options).map_err(|error| wrong(&error.to_string()))?;
    machine::with(|machine| machine.number(&notes.parents));
    learnt::begin();
    for teacher in &notes.teachers {
        let is_followed = retake(&mut Native, teacher);
        CUT.store(false, Ordering::Relaxed);
        learnt::keep(teacher);
        // What one process has learnt in its order may be impossible in another one. A search at
        // its start then knows the rest, and loses nothing.
        if !is_followed && !saved.is_at_start() {
            return Err(other_program());
        }
    }
    match learnt::all().0 == notes.known {
        true => Ok(Some(saved)),
        false if saved.part().is_some() => Err(Failed::Void),
        false => Ok(None),
    }
}
