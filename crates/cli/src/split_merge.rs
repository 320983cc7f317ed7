//! `mazurka split` and `mazurka merge`: one search on many machines that share nothing but files.

use crate::arguments::{Arguments, Choice, Command, Given};
use crate::output::Output;
use crate::tell::{Screen, show, style, tell};
use crate::{Done, Failure, chosen_engine, obey, prepare};
use mazurka_check::split_merge::{self, Split, Together};
use mazurka_check::{Input, Task};
use mazurka_explore::Saved;
use mazurka_report::{Colour, ExitStatus, Page};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A search that is to be split.
pub(crate) struct Splitting {
    pub(crate) task: Task,
    pub(crate) engine: Choice,
    /// The options that were given.
    pub(crate) given: Given,
    pub(crate) n_parts: u32,
    pub(crate) folder: PathBuf,
}

/// Begins a search, and writes what is left as parts.
pub(crate) fn split(splitting: Splitting) -> Done {
    let Splitting { mut task, engine, given, n_parts, folder } = splitting;
    if task.options.resume.is_some() || task.options.save.is_some() {
        let text = "`mazurka split` begins a search of its own: `--resume` and `--save` go with \
                    its parts";
        return Err(Failure::input(text).into());
    }
    crate::fleet::refuse(
        &task,
        "mazurka split",
        "`mazurka check --workers URL` deals out by itself",
    )?;
    refuse_parts_of_others(&folder)?;
    let output = Output::default();
    let engine = chosen_engine(engine, &task, &output);
    prepare(&mut task, engine, given, &output)?;
    let screen = Screen::new(&task, engine, &output);
    let split = split_merge::split(&task, engine, n_parts, &folder, &screen)?;
    drop(screen);
    let files = match split {
        Split::Decided(outcome) => return tell(&outcome, &task, &output),
        Split::Parts(files) => files,
    };
    let mut page = Page::new(style());
    let text = format!("{} into {n_parts} parts", task.input.name());
    page.headline(Colour::Doing, "Split", &text, "");
    let mut text = page.into_text();
    text.push_str("\nOn any machine with the same program:\n");
    for file in &files {
        text.push_str(&format!("{}\n", task.resume_command(engine, file)));
    }
    let merge = mazurka_check::quoted(vec!["mazurka".to_owned(), "merge".to_owned()]);
    text.push_str(&format!(
        "\nThen, with the files that these leave:\n{merge} {}\n",
        all_in(&folder)
    ));
    show(&text);
    Ok(ExitStatus::Holds)
}

/// Parts of an older search in the same folder would be merged with those of this one.
fn refuse_parts_of_others(folder: &Path) -> Result<(), Failure> {
    let Ok(mut files) = std::fs::read_dir(folder) else { return Ok(()) };
    let is_part = |path: PathBuf| path.extension().is_some_and(|it| it == "mzs");
    match files.any(|file| file.is_ok_and(|file| is_part(file.path()))) {
        false => Ok(()),
        true => {
            let text = format!("there are parts of a search in `{}` already", folder.display());
            Err(Failure::input(text).help("remove them, or name another folder"))
        }
    }
}

fn all_in(folder: &Path) -> String {
    mazurka_check::quoted(vec![folder.to_string_lossy().into_owned()]) + "/*.mzs"
}

/// Tells what all parts of a search have come to.
pub(crate) fn merge(files: &[PathBuf], output: Output) -> Done {
    // The parts are what the task is made of here.
    let faults = output.begin(&Task::files(files));
    if !faults.is_empty() {
        return Err(faults);
    }
    let together = split_merge::merge(files)?;
    match &together.whole {
        Some(whole) => conclude(whole, &together, output),
        None => {
            let command = command(&together, Path::new("part.mzs"))?;
            let (mut task, engine) = asked(command)?;
            task.options.resume = None;
            let engine = chosen_engine(engine, &task, &Output::quiet());
            tell(&together.unfinished(&task, engine), &task, &output)
        }
    }
}

/// Has the engine conclude from a search of which nothing is left, or in which something goes
/// wrong.
fn conclude(whole: &Saved, together: &Together, output: Output) -> Done {
    let unwritable = |error: std::io::Error| {
        Failure::input(format!("there is no folder for what is merged: {error}"))
    };
    let folder = tempfile::TempDir::new().map_err(unwritable)?;
    let path = folder.path().join("whole.mzs");
    whole.write(&path).map_err(unwritable)?;
    let mut command = command(together, &path)?;
    command.set_output(output);
    obey(command)
}

/// The command of the search of some parts, that goes on with a file.
fn command(together: &Together, saved: &Path) -> Result<Command, Vec<Failure>> {
    let mut words: Vec<OsString> = vec!["mazurka".into()];
    let mut is_file = false;
    for word in &together.words {
        words.push(if is_file { saved.as_os_str().to_owned() } else { word.into() });
        is_file = !is_file && word == "--resume";
    }
    Arguments::of(words).map(|arguments| arguments.command)
}

/// The task of a command that explores.
fn asked(command: Command) -> Result<(Task, Choice), Failure> {
    match command {
        Command::Check { files, engine, chosen, arguments, .. } => {
            let input = Input::Files { files, arguments };
            Ok((Task::new(input).options(chosen.options), engine))
        }
        Command::Run { chosen, program, .. } => {
            Ok((Task::program(program).options(chosen.options), Choice::Auto))
        }
        _ => Err(Failure::defect("a part was made by a command that explores nothing")),
    }
}
