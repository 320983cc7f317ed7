//! A row of the table of options.

use super::Options;
use crate::engine::{Feature, Language};
use serde_json::Value;

/// All that is known of one option. Everything people and machines are told of it comes from here.
#[derive(Clone, Copy)]
pub struct Row {
    /// Its name: `--name` on the command line.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What people want who look for it.
    pub group: Group,
    /// Whether it is among those that `--help` has, and not only `--help-all`.
    pub is_common: bool,
    /// What an engine must be able to do for it, one of these; nothing if it is for all engines.
    pub uses: &'static [Feature],
    /// The languages it is for; all if there are none.
    pub languages: &'static [Language],
    /// The names that a value may begin with, where they differ between engines.
    pub names: &'static [Names],
    /// Whether its value may begin with a dash.
    pub is_free: bool,
    /// Whether a schedule means something else without it, so that it is told with a schedule.
    pub is_of_schedules: bool,
    /// What it does, on a line.
    pub help: &'static str,
    /// What there is to say beside that.
    pub more: &'static str,
    /// What the manual says, where that is more than both.
    pub manual: &'static str,
    /// Its key in the JSON form of the options, with its value there.
    pub json: Option<InJson>,
    /// Sets it.
    pub set: fn(&mut Options, &str) -> Result<(), String>,
    /// What it is set to, as on the command line; nothing if it is what it is by default.
    pub get: fn(&Options) -> Vec<String>,
}

/// A key in the JSON form of the options, and its value there.
pub(super) type InJson = (&'static str, fn(&Options) -> Value);

impl Row {
    /// A row to begin with.
    pub(super) const NEW: Self = Self {
        name: "",
        takes: Takes::Nothing,
        group: Group::Search,
        is_common: false,
        uses: &[],
        languages: &[],
        names: &[],
        is_free: false,
        is_of_schedules: false,
        help: "",
        more: "",
        manual: "",
        json: None,
        set: |_, _| Ok(()),
        get: |_| Vec::new(),
    };

    /// The environment variable that says the same where the command line says nothing:
    /// `MAZURKA_TIME_LIMIT` for `--time-limit`.
    pub fn variable(&self) -> String {
        format!("MAZURKA_{}", self.name.to_uppercase().replace('-', "_"))
    }

    /// How it is written: `--time-limit TIME`.
    pub fn usage(&self) -> String {
        match self.takes {
            Takes::Nothing => format!("--{}", self.name),
            Takes::One(value) | Takes::Many(value) => format!("--{} {value}", self.name),
        }
    }

    /// What the manual says of it: the help and what there is beside it, if nothing else.
    pub fn described(&self) -> String {
        match (self.manual, self.more) {
            ("", "") => self.help.to_owned(),
            ("", more) => format!("{}. {more}", self.help),
            (manual, _) => manual.to_owned(),
        }
    }

    /// Whether engines with these features use it, for programs in this language.
    pub fn is_for(&self, features: &[Feature], language: Language) -> bool {
        let has_feature = self.uses.is_empty() || self.uses.iter().any(|it| features.contains(it));
        has_feature && (self.languages.is_empty() || self.languages.contains(&language))
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.usage())
    }
}

/// The names that a value may begin with, for engines with a feature.
#[derive(Clone, Copy)]
pub struct Names(pub Feature, pub fn() -> Vec<&'static str>);

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// It is there or not.
    Nothing,
    /// A value, called so.
    One(&'static str),
    /// A value, and may be given several times.
    Many(&'static str),
}

impl Takes {
    /// Whether there is a value behind the flag.
    pub fn has_value(self) -> bool {
        self != Self::Nothing
    }
}

/// What people want who look for an option. `--help` and the manual have them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Group {
    /// To say what is wrong.
    Properties,
    /// To stop sooner.
    Limits,
    /// To see less, and say so.
    Bounds,
    /// To say how the program is made.
    Program,
    /// To say what a model of the program may do.
    Model,
    /// To say which infinite executions are wrong.
    Temporal,
    /// To search in another way.
    Search,
    /// To store states in another way.
    States,
    /// To decide a circuit in another way.
    Circuits,
    /// To be shown more, or in another way.
    Output,
}

impl Group {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Properties,
        Self::Limits,
        Self::Bounds,
        Self::Program,
        Self::Model,
        Self::Temporal,
        Self::Search,
        Self::States,
        Self::Circuits,
        Self::Output,
    ];

    /// The heading above its options.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Properties => "What to look for",
            Self::Limits => "When to stop",
            Self::Bounds => "Bounds on executions",
            Self::Program => "How the program is built and run",
            Self::Model => "What a model of C may do",
            Self::Temporal => "Temporal properties",
            Self::Search => "How to search",
            Self::States => "How to store states",
            Self::Circuits => "How to decide a circuit",
            Self::Output => "What is shown",
        }
    }
}
