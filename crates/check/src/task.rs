//! Tasks: what is to be checked, and how.

use crate::auto::choose;
use crate::engine::{Accepts, ENGINES, Engine, Feature, Language, Listener};
use crate::native::{Toolchain, interrupted};
use crate::options::{Options, Row, TABLE};
use crate::{Fault, FaultKind, Faults, Outcome, Replay, memory_model, saved_file};
use mazurka_core::Schedule;
use mazurka_explore::{Order, Saved};
use mazurka_protocol::{OrderChange, Saving};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// What is to be checked, and how: all that an engine is told.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Task {
    /// The program.
    pub input: Input,
    /// How.
    pub options: Options,
    /// Makes a search stop, once true.
    pub stop: Option<&'static AtomicBool>,
    /// Where and when a search is saved of which the options say nothing.
    pub saving: Option<Saving>,
    /// What native programs are built with.
    pub toolchain: Option<Toolchain>,
    /// Orders in the place of those that the program has, where an engine takes one execution after
    /// another.
    pub changes: Vec<OrderChange>,
    /// Whether to tell which atomic accesses there are.
    pub tells_atomics: bool,
    /// Whether its time limit is what a run of several has left, and not one of its own.
    pub shares_time: bool,
    /// When it was made: its files are read later.
    pub(crate) begun: SystemTime,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// The source files of one program, and the arguments that it is run with.
    Files {
        /// The files.
        files: Vec<PathBuf>,
        /// What `main` is given.
        arguments: Vec<OsString>,
    },
    /// A program that was built for a check already.
    Program {
        /// The program and its arguments.
        words: Vec<OsString>,
        /// What its user calls it.
        name: String,
        /// Where it runs, if not here.
        folder: Option<PathBuf>,
        /// Whether it is the harness of tests in Rust, and runs one.
        is_test: bool,
    },
}

impl Input {
    /// What people call it.
    pub fn name(&self) -> String {
        match self {
            Self::Files { files, .. } => {
                let names: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
                names.join(" ")
            }
            Self::Program { name, .. } => name.clone(),
        }
    }

    /// What it is written in: C++ if a part of it is. All that is wrong with the files, if no
    /// program can be made of them.
    pub fn language(&self) -> Result<Language, Faults> {
        match self {
            Self::Files { files, .. } => language_of_files(files),
            Self::Program { .. } => Ok(Language::Program),
        }
    }

    /// The files that it is made of.
    pub fn files(&self) -> &[PathBuf] {
        match self {
            Self::Files { files, .. } => files,
            Self::Program { .. } => &[],
        }
    }

    /// Where it runs, if not here.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Files { .. } => None,
            Self::Program { folder, .. } => folder.as_deref(),
        }
    }

    /// The arguments that its user gives it.
    pub fn arguments(&self) -> &[OsString] {
        match self {
            Self::Files { arguments, .. } => arguments,
            Self::Program { words, .. } => words.get(1..).unwrap_or_default(),
        }
    }
}

/// The language of one file, by the end of its name.
pub fn language_of(file: &Path) -> Option<Language> {
    let extension = file.extension().and_then(OsStr::to_str)?;
    Language::ALL.into_iter().find(|language| language.extensions().contains(&extension))
}

fn language_of_files(files: &[PathBuf]) -> Result<Language, Faults> {
    let mut faults = Faults::new();
    let mut languages = Vec::new();
    for file in files {
        match language_of(file) {
            Some(language) if !file.is_dir() => languages.push(language),
            _ => faults.push(not_source(file)),
        }
    }
    if languages.contains(&Language::Promela) && files.len() > 1 {
        let text = "a model is one file, and does not go with others";
        faults.push(Fault::input(text).help("`#include` the others in it"));
    }
    if files.is_empty() {
        faults.push(Fault::input("there is nothing to check"));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let first = [Language::Promela, Language::Cxx].into_iter().find(|it| languages.contains(it));
    Ok(first.unwrap_or(Language::C))
}

/// What is to be said of files that cannot be read.
fn unreadable(file: &Path) -> Option<Fault> {
    let name = file.display();
    match std::fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Some(Fault::input(format!("`{name}` does not exist")))
        }
        Err(error) => Some(Fault::input(format!("`{name}` cannot be read: {error}"))),
        Ok(_) => None,
    }
}

/// What is to be said of a file that no engine takes.
fn not_source(file: &Path) -> Fault {
    if let Some(fault) = unreadable(file) {
        return fault;
    }
    let name = file.display();
    if file.is_dir() {
        let has = |inside: &str| file.join(inside).exists();
        let fault = Fault::input(format!("`{name}` is a directory"));
        return if has("Cargo.toml") {
            let manifest = file.join("Cargo.toml");
            fault.help(format!(
                "`mazurka test --manifest-path {}` checks its tests",
                manifest.display()
            ))
        } else if has("CMakeLists.txt") {
            fault.help(format!(
                "build it by `CC=\"mazurka cc\" CXX=\"mazurka c++\" cmake -S {name} -B build && \
                 cmake --build build`, then `mazurka run build/PROGRAM`"
            ))
        } else if has("Makefile") || has("makefile") || has("configure") {
            fault.help(format!(
                "build it by `make -C {name} CC=\"mazurka cc\" CXX=\"mazurka c++\"`, then `mazurka \
                 run {name}/PROGRAM`"
            ))
        } else {
            fault.help("name the files of one program")
        };
    }
    if file.extension().is_some_and(|it| it == "rs") {
        let fault = Fault::input(format!("`{name}` is written in Rust"));
        return fault.help("`mazurka test` checks the tests of a cargo project");
    }
    let known: Vec<String> = Language::ALL
        .into_iter()
        .flat_map(Language::extensions)
        .map(|extension| format!(".{extension}"))
        .collect();
    Fault::input(format!(
        "`{name}` is no source file: its name ends in none of {}",
        known.join(" ")
    ))
}

impl Task {
    /// To check the program that these files make, with the options that there are by default.
    pub fn files(files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let files = files.into_iter().map(Into::into).collect();
        Self::new(Input::Files { files, arguments: Vec::new() })
    }

    /// To check a program that was built for it, with its arguments.
    pub fn program(words: Vec<OsString>) -> Self {
        let name = words.first().map(|word| word.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        Self::new(Input::Program { words, name, folder: None, is_test: false })
    }

    /// To check a program with the options that there are by default.
    pub fn new(input: Input) -> Self {
        Self {
            input,
            options: Options::default(),
            stop: None,
            saving: None,
            toolchain: None,
            changes: Vec::new(),
            tells_atomics: false,
            shares_time: false,
            begun: SystemTime::now(),
        }
    }

    /// With these options.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// All that keeps an engine from the task: what it does not support, with the engines that do,
    /// and what does not go together.
    pub fn faults_for(&self, engine: &dyn Engine) -> Faults {
        let mut faults = self.unsupported(engine);
        faults.extend(self.lines_that_are_not_known());
        faults.extend(self.options.save.as_deref().and_then(saved_file::refusal));
        if let Some(what) = self.why_not_saved(engine).filter(|_| self.options.save.is_some()) {
            faults.push(Fault::input(format!("`--save` does not go with {what}")));
        }
        let Ok(language) = self.input.language() else { return faults };
        let knows = |engine: &dyn Engine, language, property| {
            engine.supports().of(language).is_some_and(|it| it.knows(property))
        };
        for &property in &self.options.property {
            if engine.supports().of(language).is_some() && !knows(engine, language, property) {
                let what = format!("--property {}", property.name());
                faults.push(refused(&what, language, |it, language| knows(it, language, property)));
            }
        }
        // A file that is not there says nothing about the options, nor does where to save.
        let n_unreadable = self.input.files().iter().filter_map(|file| unreadable(file)).count();
        let no_place = self.options.save.as_deref().and_then(saved_file::refusal);
        if faults.len() == n_unreadable + usize::from(no_place.is_some()) {
            faults.extend(engine.conflicts(self));
        }
        faults
    }

    /// The option that keeps a search of executions from being saved, and why: what is left of it
    /// says nothing to another process.
    pub(crate) fn why_not_saved(&self, engine: &dyn Engine) -> Option<String> {
        // A run of tests saves those that are over, too.
        let is_of_tests = match &self.input {
            Input::Program { words, is_test, .. } => *is_test || words.is_empty(),
            Input::Files { .. } => false,
        };
        if !engine.supports().features.contains(&Feature::Executions) || is_of_tests {
            return None;
        }
        let options = &self.options;
        let is_best_first = matches!(options.explored().order, Order::BestFirst(_));
        let number = "what is left has the numbers of one process in it";
        if let Some(model) = options.graphs_of() {
            return Some(format!("`--memory {model}`: {number}"));
        }
        let all = [
            (is_best_first, "--order best-first", number),
            (options.sample.is_some(), "--sample", "what is drawn at random is drawn again"),
            (options.coverage, "--coverage", "what was counted is not saved"),
            (options.stateful, "--stateful", "the states are not saved"),
        ];
        let (_, what, why) = all.into_iter().find(|(is_set, ..)| *is_set)?;
        Some(format!("`{what}`: {why}"))
    }

    /// What does not go with telling which lines were reached: searches that do not come to all of
    /// them, or whose first part has not told.
    fn lines_that_are_not_known(&self) -> Faults {
        let options = &self.options;
        let mut faults = Faults::new();
        let mut refuse = |is_asked: bool, what: &str| {
            if options.show_lines && is_asked {
                faults.push(Fault::input(format!("`--show lines` does not go with {what}")));
            }
        };
        refuse(options.resume.is_some(), "`--resume`: what was reached before was not saved");
        let temporal = "`--ltl`, `--ltl-name` and `--automaton`: a search for one property leaves out \
                        what does not matter to it";
        refuse(options.asks_for_temporal(), temporal);
        refuse(options.workers.is_some(), "`--workers`: they do not tell which lines they reach");
        faults
    }

    /// The files and options that an engine does not take.
    fn unsupported(&self, engine: &dyn Engine) -> Faults {
        let support = engine.supports();
        let language = match self.input.language() {
            Ok(language) => language,
            Err(mut faults) => {
                faults.extend(self.unsupported_in_any_language(engine));
                return faults;
            }
        };
        let mut faults: Faults =
            self.input.files().iter().filter_map(|file| unreadable(file)).collect();
        if support.of(language).is_none() {
            let takes = support.inputs.iter().map(|it| it.language.programs());
            let takes = crate::listed(takes);
            let others = engines_that(|it| it.supports().of(language).is_some());
            let fault = Fault::input(format!("`--engine {}` is for {takes}", engine.name()));
            faults.push(fault.help(format!("{} takes {}", others, language.programs())));
        }
        // What to look at where the engine does not take the language at all: its options all the
        // same.
        let features = support.features;
        for row in TABLE {
            let values = (row.get)(&self.options);
            if values.is_empty() {
                continue;
            }
            if !row.is_for(features, language) {
                faults.push(refused(&format!("--{}", row.name), language, |it, language| {
                    row.is_for(it.supports().features, language)
                }));
                continue;
            }
            if row.names.is_empty() {
                continue;
            }
            for value in values {
                let name = value.split([':', '=']).next().unwrap_or_default();
                let has = |features: &[Feature]| {
                    let mut names = row.names.iter().filter(|names| features.contains(&names.0));
                    names.any(|names| (names.1)().contains(&name))
                };
                if !has(features) {
                    let what = format!("--{} {name}", row.name);
                    faults.push(refused(&what, language, |it, _| has(it.supports().features)));
                }
            }
        }
        if !self.input.arguments().is_empty() && !features.contains(&Feature::Processes) {
            faults.push(refused("-- ARGUMENTS", language, |it, _| {
                it.supports().features.contains(&Feature::Processes)
            }));
        }
        faults
    }

    /// The options that an engine does not take, whatever the program is written in. Where no one
    /// knows that, the engine is taken for the one that was asked for only if it was.
    fn unsupported_in_any_language(&self, engine: &dyn Engine) -> Faults {
        if choose(self, true).0.name() == engine.name() {
            return Faults::new();
        }
        let features = engine.supports().features;
        let is_for = |row: &Row, engine: &dyn Engine| {
            let features = engine.supports().features;
            Language::ALL.into_iter().any(|language| row.is_for(features, language))
        };
        let is_refused = |row: &&Row| {
            let is_set = !(row.get)(&self.options).is_empty();
            is_set && Language::ALL.into_iter().all(|language| !row.is_for(features, language))
        };
        let refused = |row: &Row| {
            let engines = engines_that(|engine| is_for(row, engine));
            Fault::input(format!("`--{}` is for {engines}", row.name))
        };
        TABLE.iter().filter(is_refused).map(refused).collect()
    }

    /// Has an engine decide it, if that can.
    pub fn check_by(
        &self,
        engine: &dyn Engine,
        listener: &dyn Listener,
    ) -> Result<Outcome, Faults> {
        match self.faults_for(engine) {
            faults if faults.is_empty() => {
                let checked = memory_model::check(self, listener, || engine.check(self, listener));
                checked.map_err(|faults| self.interrupted_or(faults))
            }
            faults => Err(faults),
        }
    }

    /// Has an engine follow a schedule, if it can. Another engine may have found it.
    pub fn replay_by(
        &self,
        engine: &dyn Engine,
        schedule: &Schedule,
        listener: &dyn Listener,
    ) -> Result<Replay, Faults> {
        match self.unsupported(engine) {
            faults if faults.is_empty() => engine
                .replay(self, schedule, listener)
                .map_err(|faults| self.interrupted_or(faults)),
            faults => Err(faults),
        }
    }

    /// Why there is no outcome: if the user has interrupted it, that and nothing else. An interrupt
    /// at a terminal ends compilers, too, and it is no fault of a file that one had no time for it.
    pub(crate) fn interrupted_or(&self, faults: Faults) -> Faults {
        const UNTIL_IT_IS_HEARD: Duration = Duration::from_millis(20);
        // What is our own fault is told all the same.
        let is_of_input =
            |fault: &Fault| matches!(fault.kind, FaultKind::Input | FaultKind::Unlinkable);
        if !faults.iter().all(is_of_input) {
            return faults;
        }
        if self.stop.is_some() && !self.is_stopped() {
            std::thread::sleep(UNTIL_IT_IS_HEARD);
        }
        match self.is_stopped() {
            true => interrupted(&self.input.name()).into(),
            false => faults,
        }
    }

    /// The same with the memory model that an outcome is about: for the command that replays it,
    /// and for the options that were in force.
    #[must_use]
    pub fn decided(&self, outcome: &Outcome) -> Self {
        let mut task = self.clone();
        task.options.memory = outcome.memory.or(task.options.memory);
        task
    }

    /// Where and when a search is saved, as the options say or else by default.
    pub fn saving(&self) -> Option<Saving> {
        self.options.saving().or_else(|| self.saving.clone())
    }

    /// Whether a search is to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// The command that follows a schedule with an engine; the schedule goes behind it.
    pub fn replay_command(&self, engine: &dyn Engine) -> String {
        let mut words = vec!["mazurka".to_owned(), "replay".to_owned()];
        words.extend(self.input.files().iter().map(|file| file.to_string_lossy().into_owned()));
        words.extend(self.options.compiler_flags());
        if choose(self, true).0.name() != engine.name() {
            words.extend(["--engine".to_owned(), engine.name().to_owned()]);
        }
        words.extend(self.options.words(|row| row.is_of_schedules));
        let behind: &[OsString] = match &self.input {
            Input::Files { arguments, .. } => arguments,
            Input::Program { words, .. } => words,
        };
        match behind.is_empty() {
            true => words.push("--schedule".to_owned()),
            false => words.push("--".to_owned()),
        }
        words.extend(behind.iter().map(|word| word.to_string_lossy().into_owned()));
        quoted(words)
    }

    /// The command that goes on with a search of an engine that is saved in a file.
    pub fn resume_command(&self, engine: &dyn Engine, saved: &Path) -> String {
        let mut words = vec!["mazurka".to_owned()];
        words.extend(self.resume_words(engine, saved));
        quoted(words)
    }

    /// The words of that command, without its name.
    pub(crate) fn resume_words(&self, engine: &dyn Engine, saved: &Path) -> Vec<String> {
        let command = if self.input.files().is_empty() { "run" } else { "check" };
        let mut words = vec![command.to_owned()];
        words.extend(self.input.files().iter().map(|file| file.to_string_lossy().into_owned()));
        words.extend(self.options.flags.iter().cloned());
        let mut options = self.options.clone();
        if let Some(saved) = Saved::read(saved).ok().filter(|_| options.iterate) {
            // It was raised by then.
            options.bound = saved.bounds().to_vec();
        }
        if choose(self, true).0.name() != engine.name() {
            words.extend(["--engine".to_owned(), engine.name().to_owned()]);
        }
        words.extend(options.words(|row| !matches!(row.name, "save" | "resume" | "cflags")));
        words.extend(["--resume".to_owned(), saved.to_string_lossy().into_owned()]);
        let behind: &[OsString] = match &self.input {
            Input::Files { arguments, .. } => arguments,
            Input::Program { words, .. } => words,
        };
        if !behind.is_empty() {
            words.push("--".to_owned());
        }
        words.extend(behind.iter().map(|word| word.to_string_lossy().into_owned()));
        words
    }

    /// The options that were in force, as the JSON output has them.
    pub fn in_force(&self, engine: &dyn Engine) -> Vec<(String, Value)> {
        let support = engine.supports();
        let Ok(language) = self.input.language() else { return Vec::new() };
        let rows = TABLE.iter().filter(|row| row.is_for(support.features, language));
        let options = self.options.resolved(support.features);
        let mut all: Vec<(String, Value)> = rows
            .filter_map(|row| row.json.map(|(key, value)| (key.to_owned(), value(&options))))
            .collect();
        if let Some(accepts) = support.of(language) {
            all.push(("property".to_owned(), self.properties(accepts)));
        }
        all
    }

    /// What is looked for, by name.
    fn properties(&self, accepts: &Accepts) -> Value {
        let always = accepts.properties.iter().filter(|it| self.options.looks_for(**it));
        let named = accepts.if_named.iter().filter(|it| self.options.names(**it));
        always.chain(named).map(|it| it.name()).collect::<Vec<_>>().into()
    }

    /// Sets what the environment says of options that the command line says nothing of, and that an
    /// engine uses. `variable` looks one up.
    pub fn add_environment(
        &mut self,
        engine: &dyn Engine,
        is_given: impl Fn(&str) -> bool,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<(), Faults> {
        let Ok(language) = self.input.language() else { return Ok(()) };
        let features = engine.supports().features;
        let mut faults = Faults::new();
        for row in TABLE.iter().filter(|row| row.is_for(features, language)) {
            let name = row.variable();
            let Some(value) = variable(&name).filter(|_| !is_given(row.name)) else { continue };
            if let Err(error) = (row.set)(&mut self.options, &value) {
                faults.push(Fault::input(format!("`{name}={value}`: {error}")));
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// What is left of the time limit, if there is one, after so long.
    pub(crate) fn time_left(&self, elapsed: Duration) -> Option<Duration> {
        self.options.time_limit.map(|limit| limit.saturating_sub(elapsed))
    }
}

/// The engines that can do something, as one asks for them.
fn engines_that(can: impl Fn(&dyn Engine) -> bool) -> String {
    let names = ENGINES.iter().filter(|engine| can(**engine)).map(|engine| engine.name());
    match &names.collect::<Vec<_>>()[..] {
        [] => "no engine".to_owned(),
        [name] => format!("`--engine {name}`"),
        names => {
            let names = names.iter().map(|name| format!("`{name}`"));
            format!("`--engine` {}", crate::listed(names))
        }
    }
}

/// That something is not for an engine, and for which ones it is; for programs in which language,
/// if none takes it in this one.
fn refused(what: &str, language: Language, can: impl Fn(&dyn Engine, Language) -> bool) -> Fault {
    let takes = |engine: &dyn Engine, language| {
        engine.supports().of(language).is_some() && can(engine, language)
    };
    let takes_it = |language: Language| ENGINES.iter().any(|engine| takes(*engine, language));
    if takes_it(language) {
        let engines = engines_that(|engine| takes(engine, language));
        return Fault::input(format!("`{what}` is for {engines}"));
    }
    let languages = Language::ALL.into_iter().filter(|&it| takes_it(it)).map(Language::programs);
    Fault::input(format!("`{what}` is for {}", crate::listed(languages)))
}

/// Words as a shell reads them.
pub fn quoted(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let quoted =
        |word: &str| shlex::try_quote(word).map_or_else(|_| word.to_owned(), |it| it.into_owned());
    words.into_iter().map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(" ")
}
