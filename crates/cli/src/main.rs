//! The command `mazurka`: arguments in, a verdict and an exit status out.
//!
//! `arguments` is what can be said. `native` explores programs that run themselves: `compiler`
//! makes them with `assembler`, `runtime` has the library that they are linked with, `program`
//! runs them, `tests` and `cargo` do so for the tests of a project. `vm` explores models of C
//! files, `statespace` stores their states, `symbolic` decides circuits of them, and `promela`
//! takes models of that language; `temporal` has the properties of executions that never end.
//! `doctor` tries what can be checked on this machine. What came of it is told by
//! `mazurka-report`.

#![expect(clippy::print_stderr, reason = "it is a command: mistakes of its user go there")]

mod arguments;
mod assembler;
mod automaton;
mod cargo;
mod command_line;
mod compiler;
mod deadline;
mod doctor;
mod interrupt;
mod memory;
mod native;
mod os;
mod program;
mod promela;
mod results;
mod runtime;
mod simulate;
mod statespace;
mod symbolic;
mod temporal;
mod tests;
mod vm;
mod watch;
mod watchdog;

use arguments::{Arguments, Build, Command, Conduct, Engine, Modelling, Output, Temporal};
use compiler::Language;
use mazurka_core::{Limit, Schedule, Verdict, ViolationKind};
use mazurka_explore::{Bound, OptionError, Options};
use mazurka_report::{Colour, ExitStatus, Page, Report, Style, json, text};
use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

/// Why there is no verdict.
#[derive(Debug)]
struct Failure {
    status: ExitStatus,
    message: String,
    help: Option<&'static str>,
    /// Whether the message is a whole diagnosis already, with its place.
    is_rendered: bool,
}

impl Failure {
    /// The user is wrong.
    fn input(message: impl Into<String>) -> Self {
        let status = ExitStatus::WrongInput;
        Self { status, message: message.into(), help: None, is_rendered: false }
    }

    /// We are wrong.
    fn defect(message: impl Into<String>) -> Self {
        let status = ExitStatus::Defect;
        Self { status, message: message.into(), help: None, is_rendered: false }
    }

    fn help(mut self, help: &'static str) -> Self {
        self.help = Some(help);
        self
    }
}

impl From<OptionError> for Failure {
    fn from(error: OptionError) -> Self {
        Self::input(error.to_string())
    }
}

impl From<Failure> for Vec<Failure> {
    fn from(failure: Failure) -> Self {
        vec![failure]
    }
}

fn main() -> ExitCode {
    if let Some(words) = assembler::step() {
        return assembler::run_step(&words);
    }
    // The compiler understands `--help` and the like itself.
    let mut words = std::env::args_os().skip(1);
    let language = words.next().and_then(|word| language(&word));
    let done = if let Some(language) = language {
        match compiler::become_wrapper(language, &words.collect::<Vec<_>>()) {
            Ok(status) => return assembler::exit_code(status),
            Err(failure) => Err(failure.into()),
        }
    } else {
        interrupt::catch();
        Arguments::read().and_then(|arguments| obey(arguments.command))
    };
    let status = done.unwrap_or_else(|failures| {
        for Failure { message, help, is_rendered, .. } in &failures {
            let prefix = if *is_rendered { "" } else { "error: " };
            eprintln!("{prefix}{message}");
            help.iter().for_each(|help| eprintln!("help: {help}"));
        }
        failures.iter().map(|failure| failure.status).max().unwrap_or(ExitStatus::Defect)
    });
    status.into()
}

/// Does what was asked for.
fn obey(command: Command) -> Done {
    match command {
        Command::Check { files, build, modelling, storing, temporal, search, output, .. }
            if promela::is_among(&files) =>
        {
            promela::file(&files).map_err(Into::into).and_then(|file| {
                let jobs = modelling.jobs;
                promela::check(file, &build, jobs, &storing, &temporal, &search, &output)
            })
        }
        Command::Check { files, engine: Engine::Vm, build, modelling, search, output, .. } => {
            vm::check(&files, &build, &modelling, &search, &output)
        }
        Command::Check {
            files,
            engine: Engine::Statespace,
            build,
            modelling,
            storing,
            temporal,
            search,
            output,
            ..
        } => statespace::check(&files, &build, &modelling, &storing, &temporal, &search, &output),
        Command::Check {
            files,
            engine,
            build,
            modelling,
            solving,
            temporal,
            search,
            output,
            ..
        } if engine.is_symbolic() => {
            let asked = symbolic::Asked { engine, solving, temporal, search };
            symbolic::check(&files, &build, &modelling, &asked, &output)
        }
        Command::Check { files, build, search, output, .. } => {
            search.asked().and_then(|it| native::check(&files, &build, &it, &output))
        }
        Command::Model { files, build, format, .. } if promela::is_among(&files) => {
            promela::file(&files)
                .map_err(Into::into)
                .and_then(|file| promela::model(file, &build, format))
        }
        Command::Model { files, build, modelling, format } => {
            vm::model(&files, &build, &modelling, format)
        }
        Command::Circuit { files, build, modelling, solving, temporal, format } => {
            symbolic::circuit(&files, &build, &modelling, &solving, &temporal, format)
        }
        Command::Simulate { file, build, simulation } => {
            simulate::simulate(&file, &build, &simulation)
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
        Command::Cc { arguments } => compile(Language::C, &arguments),
        Command::Cxx { arguments } => compile(Language::Cxx, &arguments),
        Command::Run { search, output, program } => {
            search.asked().and_then(|it| native::run(&program, &it, &output))
        }
        Command::Test { selection, search, replay: Some(schedule), debugger, .. } => search
            .asked()
            .and_then(|it| tests::replay(&selection, &it.conduct, &schedule, debugger)),
        Command::Test { selection, search, output, .. } => {
            search.asked().and_then(|it| tests::run(&selection, &it, &output))
        }
        Command::Replay { files, build, temporal, trail: Some(trail), .. } => promela::file(&files)
            .map_err(Into::into)
            .and_then(|file| simulate::replay_trail(file, &build, &temporal, &trail)),
        Command::Replay {
            files,
            engine,
            build,
            modelling,
            temporal,
            schedule,
            conduct,
            debugger,
            program,
            ..
        } => {
            let is_model = matches!(engine, Engine::Vm | Engine::Statespace);
            let model = is_model.then_some((engine, &modelling));
            let how = Following { conduct, temporal, is_debugged: debugger };
            replay(files, &build, model, schedule, &how, program)
        }
    }
}

type Done = Result<ExitStatus, Vec<Failure>>;

/// The language that a command is the compiler of.
fn language(command: &OsString) -> Option<Language> {
    match command.to_str() {
        Some("cc") => Some(Language::C),
        Some("c++") => Some(Language::Cxx),
        _ => None,
    }
}

fn compile(language: Language, arguments: &[OsString]) -> Done {
    match compiler::become_wrapper(language, arguments)? {
        status if status.success() => Ok(ExitStatus::Holds),
        _ => Err(Failure::input("the compiler has failed").into()),
    }
}

/// Says what is checked.
fn announce(name: &str, output: &Output) {
    if output.is_told() {
        show(&text::checking(name, 0, &style()));
    }
}

/// Tells what came of a search, unless its deadline was faster: that ends the command then.
fn tell(report: &Report<'_>, output: &Output) -> Done {
    deadline::begin_to_tell();
    tell_now(report, output)
}

fn tell_now(report: &Report<'_>, output: &Output) -> Done {
    if let Verdict::Violated(found) = report.verdict
        && found.violation.kind == ViolationKind::Unsupported
    {
        let text = format!("{}: this engine cannot do that", found.violation.message);
        return Err(Failure::input(text).into());
    }
    let style = style();
    if output.is_told() {
        show(&text::verdict(report, &style));
    } else if !output.is_json_alone() {
        show(&format!("{}\n", text::one_line(report, &style)));
    }
    if let Some(path) = &output.json {
        let object = format!("{}\n", json::render(report));
        if output.is_json_alone() {
            write(&object)?;
        } else if let Err(error) = std::fs::write(path, object) {
            let text = format!("`{}` cannot be written: {error}", path.display());
            return Err(Failure::input(text).into());
        }
    }
    Ok(report.verdict.into())
}

/// What is to be told of how a search was done.
fn add_search(report: &mut Report<'_>, options: &Options) {
    let (verdict, statistics) = (report.verdict, report.statistics);
    report.options.extend(arguments::in_force(options));
    let takes_once = options.reduction.takes_traces_once();
    let has_all = matches!(verdict, Verdict::Holds(_)) && takes_once;
    let is_cut = statistics.bound_exceeded;
    report.traces = (has_all && !is_cut && !options.iterate).then_some(statistics.executions);
    report.bound_exceeded = (!options.bounds.is_empty()).then_some(is_cut);
    if let Some(bound) = options.main_bound()
        && matches!(verdict, Verdict::Holds(_))
        && is_cut
        && !options.iterate
    {
        let more = Bound::new(bound.kind, bound.limit.saturating_add(1));
        report.tips.push(format!(
            "`--bound {more}` sees more; `--iterate` goes on until the bound cuts nothing"
        ));
    }
    if let Verdict::Inconclusive(limit) = verdict {
        report.tips.extend(tip(limit).map(str::to_owned));
    }
}

/// What to try next, of the options that there are.
fn tip(limit: &Limit) -> Option<&'static str> {
    match limit {
        Limit::Executions(_) => Some("a larger `--max-executions` sees more"),
        Limit::Time(_) => Some("a longer `--time-limit` sees more"),
        Limit::Memory(_) => Some("a larger `--memory-limit` sees more"),
        Limit::Depth(_) => Some("a larger `--max-depth` sees more of the rest"),
        Limit::Stuck { .. } => Some("a longer `--time-limit` lets it go on, if it is not for ever"),
        _ => None,
    }
}

/// How a schedule is followed.
struct Following {
    conduct: Conduct,
    /// What the execution is held against, if it is one of a model.
    temporal: Temporal,
    is_debugged: bool,
}

/// Follows a schedule. It may be the last of the files or of the program's arguments.
fn replay(
    mut files: Vec<PathBuf>,
    build: &Build,
    model: Option<(Engine, &Modelling)>,
    schedule: Option<Schedule>,
    how: &Following,
    mut program: Vec<OsString>,
) -> Done {
    let Following { conduct, temporal, is_debugged } = how;
    let schedule = match schedule {
        Some(schedule) => schedule,
        None => {
            let last = match program.is_empty() {
                true => files.last().map(|file| file.as_os_str().to_owned()),
                false => program.last().cloned(),
            };
            let last = last.map(|word| word.to_string_lossy().into_owned());
            let is_schedule = |word: &String| {
                word.starts_with(Schedule::PREFIX) || word.starts_with(arguments::IN_FILE)
            };
            let Some(text) = last.filter(is_schedule) else {
                let failure = Failure::input("there is no schedule to follow");
                return Err(failure.help("copy it from the line `Replay:`: mzk1:…").into());
            };
            if program.is_empty() {
                files.pop().map(drop)
            } else {
                program.pop().map(drop)
            };
            arguments::schedule(&text)
                .map_err(|error| Failure::input(format!("`{text}` is no schedule: {error}")))?
        }
    };
    if promela::is_among(&files) {
        return simulate::replay(promela::file(&files)?, build, temporal, &schedule);
    }
    if let (false, true, Some((engine, modelling))) = (files.is_empty(), program.is_empty(), model)
    {
        return match engine {
            Engine::Statespace => {
                statespace::replay(&files, build, modelling, temporal, conduct, &schedule)
            }
            _ => vm::replay(&files, build, modelling, conduct, &schedule),
        };
    }
    let wishes = conduct.replaying(&schedule);
    match (files.is_empty(), program.is_empty()) {
        (true, true) => {
            let failure = Failure::input("there is no program to follow the schedule");
            Err(failure.help("name its C files or, behind `--`, the program").into())
        }
        (false, false) => {
            Err(Failure::input("name either C files or, behind `--`, a program; not both").into())
        }
        (false, true) => native::replay_files(&files, build, &wishes, *is_debugged),
        (true, false) => native::replay_program(&program, &wishes, *is_debugged),
    }
}

/// Shows one line that begins with a word in colour.
fn say(colour: Colour, word: &str, text: &str) {
    let mut page = Page::new(style());
    page.headline(colour, word, text, "");
    show(&page.into_text());
}

fn names(files: &[PathBuf]) -> String {
    let names: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
    names.join(" ")
}

/// The command that builds the same program again.
fn replay_command(files: &[PathBuf], build: &Build) -> String {
    let mut words = vec!["mazurka".to_owned(), "replay".to_owned()];
    words.extend(files.iter().map(|file| file.to_string_lossy().into_owned()));
    words.extend(build.define.iter().map(|define| format!("-D{define}")));
    if let Some(flags) = &build.cflags {
        words.extend(["--cflags".to_owned(), quoted(flags.0.iter().map(Into::into))]);
    }
    quoted(words.iter().map(Into::into))
}

/// Words as a shell reads them.
fn quoted<'a>(words: impl Iterator<Item = std::borrow::Cow<'a, str>>) -> String {
    let words: Vec<String> = words
        .map(|word| shlex::try_quote(&word).map_or_else(|_| word.to_string(), |it| it.to_string()))
        .collect();
    words.join(" ")
}

/// In colour if standard output is a terminal and `NO_COLOR` does not object, or if
/// `CLICOLOR_FORCE` asks for it; as wide as the terminal is.
fn style() -> Style {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let terminal = || terminal_size::terminal_size_of(std::io::stdout());
    let width = columns.or_else(|| terminal().map(|(width, _)| usize::from(width.0)));
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(|name| is_set(name));
    let locale = locale.and_then(|name| std::env::var(name).ok()).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    let is_unicode = locale.is_empty() || locale.contains("utf-8") || locale.contains("utf8");
    Style::new()
        .width(width.filter(|&width| width > 0).unwrap_or(80))
        .colour(is_set("CLICOLOR_FORCE") || std::io::stdout().is_terminal() && !is_set("NO_COLOR"))
        .ascii(!is_unicode)
}

/// Writes what was asked for, and says so if that cannot be done.
fn write(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("the standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a text at once. Whoever closes the pipe has seen enough: that is no error.
fn show(text: &str) {
    let mut stdout = std::io::stdout();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
