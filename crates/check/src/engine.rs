//! The trait `Engine`: what decides a task, what it supports, and the table of engines.

use crate::options::Property;
use crate::{Faults, Outcome, Replay, Task, engines};
use mazurka_core::{Event, Schedule};
use std::fmt;

/// Something that can decide a task.
///
/// To add one: a file with a type that implements it, and its line in [`ENGINES`].
pub trait Engine: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Which programs, properties and options it takes. Refusals, the JSON form of the options and
    /// `auto` are derived from it.
    fn supports(&self) -> Support;

    /// What does not go together in the options of a task, beside what the engine does not
    /// support; all of it.
    fn conflicts(&self, task: &Task) -> Faults {
        let _ = task;
        Faults::new()
    }

    /// Decides a task that the engine [supports](Task::faults_for).
    fn check(&self, task: &Task, listener: &dyn Listener) -> Result<Outcome, Faults>;

    /// Follows the schedule of one execution.
    fn replay(
        &self,
        task: &Task,
        schedule: &Schedule,
        listener: &dyn Listener,
    ) -> Result<Replay, Faults>;
}

impl fmt::Debug for dyn Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The engines, those that run the program before those that run a model of it.
pub static ENGINES: &[&dyn Engine] = &[
    &engines::Native,
    &engines::Vm,
    &engines::Statespace,
    &engines::BMC,
    &engines::INDUCTION,
    &engines::IC3,
    &engines::BDD,
    &engines::PORTFOLIO,
];

/// The engine with this name.
pub fn engine(name: &str) -> Option<&'static dyn Engine> {
    ENGINES.iter().copied().find(|engine| engine.name() == name)
}

/// What an engine takes.
#[derive(Clone, Copy, Debug)]
pub struct Support {
    /// What it can be given, and what it looks for there.
    pub inputs: &'static [Accepts],
    /// What it is able to do: options are for those who can do certain things.
    pub features: &'static [Feature],
}

impl Support {
    /// What it says of programs in a language, if it takes them.
    pub fn of(&self, language: Language) -> Option<&'static Accepts> {
        self.inputs.iter().find(|accepts| accepts.language == language)
    }
}

/// What an engine looks for in programs of a language.
#[derive(Clone, Copy, Debug)]
pub struct Accepts {
    /// The language.
    pub language: Language,
    /// What it looks for.
    pub properties: &'static [Property],
    /// What it looks for only if it is named.
    pub if_named: &'static [Property],
}

impl Accepts {
    /// Whether it can look for this.
    pub fn knows(&self, property: Property) -> bool {
        self.properties.contains(&property) || self.if_named.contains(&property)
    }
}

/// What an engine is able to do, and another one may not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// It runs the program itself.
    Processes,
    /// It takes one execution after another.
    Executions,
    /// It can tell that an execution comes to a state that another one has been in.
    Fingerprints,
    /// Several workers can share its search.
    Jobs,
    /// It makes a model of a program.
    Models,
    /// It stores states.
    States,
    /// It decides a circuit.
    Circuits,
    /// It looks at infinite executions.
    Temporal,
}

/// What a program is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cxx,
    /// Promela.
    Promela,
    /// A program that was built for a check already, a test of Rust among them.
    Program,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::C, Self::Cxx, Self::Promela, Self::Program];

    /// The ends of the names of its files.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::C => &["c", "i"],
            Self::Cxx => &["cc", "cpp", "cxx", "c++", "cp", "C", "CPP", "ii"],
            Self::Promela => &["pml", "prom", "promela", "pr", "spin"],
            Self::Program => &[],
        }
    }

    /// Programs in it, as people call them.
    pub fn programs(self) -> &'static str {
        match self {
            Self::C => "C programs",
            Self::Cxx => "C++ programs",
            Self::Promela => "Promela models",
            Self::Program => "programs that run natively",
        }
    }
}

/// Hears what an engine tells on the way.
pub trait Listener: Sync {
    /// Something happens.
    fn event(&self, event: &Event);
}

/// Hears nothing.
impl Listener for () {
    fn event(&self, _: &Event) {}
}

impl<F: Fn(&Event) + Sync> Listener for F {
    fn event(&self, event: &Event) {
        self(event);
    }
}
