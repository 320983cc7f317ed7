//! The command `mazurka`: arguments in, a verdict and an exit status out.
//!
//! `arguments` is what can be said, and `tell` what is printed. `mazurka-check` has the engines.
//! `runtime` has the library that native programs are linked with, `test_run` is about the tests of
//! a cargo project, `parts` and `fleet` about searches on several machines, `doctor` tries what can
//! be checked on this machine.

/// Writes a line to standard error. Where nobody can read it, that is no reason to fail.
macro_rules! remark {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

mod arguments;
mod automaton;
mod deadline;
mod doctor;
mod first_try;
mod fleet;
mod interrupt;
mod orders;
mod output;
mod progress_display;
mod runtime;
mod saving;
mod simulate;
mod split_merge;
mod tell;
mod test_run;

use arguments::{Arguments, Choice, Chosen, CircuitFormat, Command, Format, Given};
use mazurka_check::native::compiler::{self, Language as Compiled};
use mazurka_check::native::{Toolchain, assembler, debugger_command};
use mazurka_check::{
    Engine, Fault as Failure, Feature, Input, Language, Options, Task, auto, circuit, translate,
};
use mazurka_core::Schedule;
use mazurka_promela::ExtraProperties;
use mazurka_report::ExitStatus;
use output::Output;
use simulate::tell_replay;
use split_merge::Splitting;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tell::{Screen, all_shown, complain, show, tell};

type Done = Result<ExitStatus, Vec<Failure>>;

fn main() -> ExitCode {
    if let Some(words) = assembler::step() {
        return assembler::run_step(&words);
    }
    // The compiler understands `--help` and the like itself.
    let mut words = std::env::args_os().skip(1);
    let language = words.next().and_then(|word| language(&word));
    let done = if let Some(language) = language {
        match compiler::become_wrapper(language, &words.collect::<Vec<_>>(), &toolchain()) {
            Ok(status) => return assembler::exit_code(status),
            Err(failure) => Err(failure.into()),
        }
    } else {
        interrupt::catch();
        Arguments::read().and_then(|arguments| obey(arguments.command))
    };
    let done = done.and_then(|status| all_shown().map(|()| status).map_err(Into::into));
    done.unwrap_or_else(|failures| complain(&failures)).into()
}

/// Does what was asked for.
fn obey(command: Command) -> Done {
    match command {
        Command::Check { files, engine, chosen, output, arguments } => {
            let input = Input::Files { files, arguments };
            let mut task = Task::new(input).options(chosen.options);
            task.options.show_lines |= output.needs_lines();
            let is_auto = matches!(engine, Choice::Auto);
            let engine = chosen_engine(engine, &task, &output);
            let ready = prepare(&mut task, engine, chosen.given, &output);
            let checked = ready.and_then(|()| check(&task, engine, is_auto, &output));
            checked.inspect_err(|all| output.failed(&task.input.name(), engine.name(), all))
        }
        Command::Split { files, into, out, engine, chosen, program } => {
            let words = Words { files, program };
            let Chosen { options, given, .. } = *chosen;
            let task = words.task(options)?;
            split_merge::split(Splitting { task, engine, given, n_parts: into, folder: out })
        }
        Command::Merge { files, output } => split_merge::merge(&files, output),
        Command::Worker { url, jobs, trust_key, slice_memory, name } => {
            fleet::work(url, jobs, &trust_key, &slice_memory, name)
        }
        Command::Fleet { what } => fleet::obey(what),
        Command::Slice { parent } => fleet::slice(parent),
        Command::Run { output, chosen, program } => {
            let mut task = Task::program(program).options(chosen.options);
            task.options.show_lines |= output.needs_lines();
            let engine = chosen_engine(Choice::Auto, &task, &output);
            let ready = prepare(&mut task, engine, chosen.given, &output);
            let checked = ready.and_then(|()| check(&task, engine, false, &output));
            checked.inspect_err(|all| output.failed(&task.input.name(), engine.name(), all))
        }
        Command::Test { selection, run, chosen, replay, debugger, output } => {
            let mut task = Task::program(Vec::new()).options(chosen.options);
            task.options.show_lines |= output.needs_lines();
            let engine = chosen_engine(Choice::Auto, &task, &output);
            let ready = prepare(&mut task, engine, chosen.given, &output);
            let help = "`mazurka run --workers URL -- TEST_PROGRAM NAME --exact` explores one test";
            let ready = ready.and_then(|()| Ok(fleet::refuse(&task, "mazurka test", help)?));
            let done = ready.and_then(|()| match replay {
                Some(schedule) => test_run::replay(&selection, &task, engine, &schedule, debugger),
                None => test_run::run(&selection, &run, &task, engine, &output),
            });
            done.inspect_err(|all| output.failed("mazurka test", engine.name(), all))
        }
        Command::Orders { selection, engine, chosen, json, diff } => {
            orders::run(orders::OrdersRequest {
                selection: *selection,
                engine,
                chosen: *chosen,
                json,
                diff,
            })
        }
        Command::Model { files, chosen, format } => {
            chosen.given.refuse()?;
            model(files, &chosen.options, format)
        }
        Command::Circuit { files, chosen, format } => {
            chosen.given.refuse()?;
            write_circuit(&Task::files(files).options(chosen.options), format)
        }
        Command::Simulate { file, chosen, simulation } => {
            chosen.given.refuse()?;
            simulate::simulate(&file, &chosen.options, &simulation)
        }
        Command::Automaton { formula, negate, format } => {
            automaton::automaton(&formula, negate, format)
        }
        Command::Doctor { output } => doctor::examine(&output),
        Command::Completions { shell } => {
            show(&Arguments::completions(shell));
            Ok(ExitStatus::Holds)
        }
        Command::Man { folder } => {
            Arguments::write_manual(&folder).map(|()| ExitStatus::Holds).map_err(Into::into)
        }
        Command::Cc { arguments } => compile(Compiled::C, &arguments),
        Command::Cxx { arguments } => compile(Compiled::Cxx, &arguments),
        Command::Replay { files, engine, chosen, schedule, trail, debugger, program } => {
            chosen.given.refuse()?;
            let words = Words { files, program };
            match trail {
                Some(trail) => replay_trail(words, chosen.options, &trail),
                None => replay(words, engine, chosen.options, schedule, debugger),
            }
        }
    }
}

/// Has an engine decide a task, or those that suit it, and tells what came of it.
fn check(task: &Task, engine: &'static dyn Engine, is_auto: bool, output: &Output) -> Done {
    if task.options.workers.is_some() {
        return fleet::ask(task, engine, output);
    }
    let screen = Screen::new(task, engine, output);
    let outcome = match is_auto {
        true => auto::check(task, engine, &screen)?,
        false => task.check_by(engine, &screen)?,
    };
    drop(screen);
    tell(&outcome, task, output)
}

/// The engine that is asked, or the one that suits the program: the first that takes it.
fn chosen_engine(choice: Choice, task: &Task, output: &Output) -> &'static dyn Engine {
    if let Choice::Of(engine) = choice {
        return engine;
    }
    let (chosen, why) = mazurka_check::choose(task, runtime::is_here());
    if let Some(why) = why.filter(|_| !output.quiet) {
        let name = chosen.name();
        remark!("note: a model is explored (`--engine {name}`): {why} {}", runtime::NOWHERE_ELSE);
    }
    chosen
}

/// Adds what the environment says, and refuses what the engine does not support, and places that
/// the output cannot be written to.
fn prepare(
    task: &mut Task,
    engine: &dyn Engine,
    given: Given,
    output: &Output,
) -> Result<(), Vec<Failure>> {
    let Given { names, wrong } = given;
    task.stop = Some(interrupt::flag());
    task.saving = saving::by_default(task);
    task.toolchain = Some(toolchain());
    let variable = |name: &str| std::env::var(name).ok();
    let mut failures = wrong;
    let variables = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for (name, meant) in mazurka_check::options::misspelt(variables) {
        remark!("warning: `{name}` sets nothing; `{meant}` is what may be meant");
    }
    let added = task.add_environment(engine, |name| names.contains(&name), variable);
    failures.extend(added.err().into_iter().flatten());
    failures.extend(task.faults_for(engine));
    if task.options.memory_limit.is_some() && !mazurka_check::memory::is_measured() {
        let text = "`--memory-limit` is not supported here: the system does not tell how much is \
                    in use";
        failures.push(Failure::input(text));
    }
    failures.extend(output.begin(task));
    if failures.is_empty() { Ok(()) } else { Err(failures) }
}

/// What native programs are built with: the library that is inside this command.
fn toolchain() -> Toolchain {
    Toolchain { library: runtime::library, command: None }
}

/// The language that a command is the compiler of.
fn language(command: &OsString) -> Option<Compiled> {
    match command.to_str() {
        Some("cc") => Some(Compiled::C),
        Some("c++") => Some(Compiled::Cxx),
        _ => None,
    }
}

fn compile(language: Compiled, arguments: &[OsString]) -> Done {
    match compiler::become_wrapper(language, arguments, &toolchain())? {
        status if status.success() => Ok(ExitStatus::Holds),
        _ => Err(Failure::input("the compiler has failed").into()),
    }
}

/// Shows a model.
fn model(files: Vec<PathBuf>, options: &Options, format: Format) -> Done {
    let task = Task::files(files);
    let program = match (task.input.language()?, task.input.files()) {
        (Language::Promela, [file]) => {
            translate::promela(file, options, ExtraProperties::default())?.program
        }
        (_, files) => translate::c(files, options)?,
    };
    show(&match format {
        Format::Text => mazurka_model::text(&program),
        Format::Dot => mazurka_model::dot(&program),
    });
    Ok(ExitStatus::Holds)
}

/// Writes the circuit of a program, its bad states with names.
fn write_circuit(task: &Task, format: CircuitFormat) -> Done {
    if task.input.language()? != Language::C {
        return Err(Failure::input("`mazurka circuit` is for C programs").into());
    }
    let circuit = circuit::encoding(task)?.circuit;
    let mut to = std::io::stdout().lock();
    let written = match format {
        CircuitFormat::Aag => circuit.write_aag(&mut to),
        CircuitFormat::Aig => circuit.write_aig(&mut to),
        CircuitFormat::Btor2 => circuit.write_btor2(&mut to),
    };
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("the circuit cannot be written: {error}")).into())
        }
        _ => Ok(ExitStatus::Holds),
    }
}

/// The words behind `mazurka replay`.
struct Words {
    files: Vec<PathBuf>,
    program: Vec<OsString>,
}

impl Words {
    /// The schedule that is the last of the files or of the program's arguments.
    fn take_schedule(&mut self) -> Result<Schedule, Failure> {
        let is_schedule =
            |word: &str| word.starts_with(Schedule::PREFIX) || word.starts_with(arguments::IN_FILE);
        let last = match self.program.is_empty() {
            true => self.files.last().map(|file| file.to_string_lossy().into_owned()),
            false => self.program.last().map(|word| word.to_string_lossy().into_owned()),
        };
        let Some(text) = last.filter(|word| is_schedule(word)) else {
            let failure = Failure::input("there is no schedule to follow");
            return Err(failure.help("copy it from the line `Replay:`: mzk1:…"));
        };
        match self.program.is_empty() {
            true => self.files.pop().map(drop),
            false => self.program.pop().map(drop),
        };
        arguments::schedule(&text)
            .map_err(|error| Failure::input(format!("`{text}` is no schedule: {error}")))
    }

    /// The task that they are, and the program that it is about.
    fn task(self, options: Options) -> Result<Task, Failure> {
        let Self { files, program } = self;
        match (files.is_empty(), program.is_empty()) {
            (true, true) => {
                let failure = Failure::input("there is no program");
                Err(failure.help("name its C files or, behind `--`, the program"))
            }
            (true, false) => Ok(Task::program(program).options(options)),
            (false, _) => {
                Ok(Task::new(Input::Files { files, arguments: program }).options(options))
            }
        }
    }
}

/// Follows a schedule. It may be the last of the files or of the program's arguments.
fn replay(
    mut words: Words,
    choice: Choice,
    options: Options,
    schedule: Option<Schedule>,
    is_debugged: bool,
) -> Done {
    let schedule = match schedule {
        Some(schedule) => schedule,
        None => words.take_schedule()?,
    };
    let mut task = words.task(options)?;
    (task.toolchain, task.stop) = (Some(toolchain()), Some(interrupt::flag()));
    let engine = chosen_engine(choice, &task, &Output::quiet());
    if is_debugged && engine.supports().features.contains(&Feature::Processes) {
        show(&format!("{}\n", debugger_command(&task, &schedule)?));
        return Ok(ExitStatus::Holds);
    }
    follow(&task, engine, &schedule)
}

/// Has an engine follow a schedule, and tells what came of it.
fn follow(task: &Task, engine: &'static dyn Engine, schedule: &Schedule) -> Done {
    let output = Output::default();
    let screen = Screen::new(task, engine, &output);
    let replay = task.replay_by(engine, schedule, &screen)?;
    deadline::begin_to_tell();
    drop(screen);
    Ok(tell_replay(&replay))
}

/// Follows a trail of a Promela model, ours or SPIN's.
fn replay_trail(words: Words, options: Options, trail: &Path) -> Done {
    let mut task = words.task(options)?;
    task.stop = Some(interrupt::flag());
    let (Language::Promela, [file]) = (task.input.language()?, task.input.files()) else {
        return Err(Failure::input("`--trail` is for Promela models").into());
    };
    let name = trail.display();
    let text = std::fs::read_to_string(trail)
        .map_err(|error| Failure::input(format!("`{name}` cannot be read: {error}")))?;
    let model = translate::promela(file, &task.options, ExtraProperties::default())?;
    let machine = translate::machine(&model.program, &[])?;
    let schedule =
        machine.follow(&text).map_err(|error| Failure::input(format!("`{name}`: {error}")))?;
    follow(&task, chosen_engine(Choice::Auto, &task, &Output::quiet()), &schedule)
}
