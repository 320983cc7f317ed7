//! Which tests of a cargo project are meant.

use clap::Args;
use std::path::PathBuf;

/// Which tests of a cargo project, named as cargo does.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Only tests with a name that contains one of these; may also stand behind `--`
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[arg(last = true, hide = true)]
    more_names: Vec<String>,
    /// The names are those of tests, in full
    #[arg(long)]
    exact: bool,
    /// Tests that are marked to be ignored, too
    #[arg(long)]
    pub(crate) include_ignored: bool,
    /// Only this package
    #[arg(short, long, value_name = "SPEC")]
    package: Vec<String>,
    /// All packages of the workspace
    #[arg(long)]
    workspace: bool,
    /// Only the tests of the library
    #[arg(long)]
    lib: bool,
    /// Only this file of tests
    #[arg(long, value_name = "NAME")]
    test: Vec<String>,
    /// All files of tests
    #[arg(long)]
    tests: bool,
    /// Only the tests of this binary
    #[arg(long, value_name = "NAME")]
    bin: Vec<String>,
    /// Features to build with
    #[arg(short = 'F', long, value_name = "FEATURES")]
    features: Vec<String>,
    /// Build with all features
    #[arg(long)]
    all_features: bool,
    /// Build without the default features
    #[arg(long)]
    no_default_features: bool,
    /// Build with optimisations
    #[arg(short, long)]
    release: bool,
    /// The project
    #[arg(long, value_name = "Cargo.toml")]
    manifest_path: Option<String>,
    /// Without the network
    #[arg(long)]
    offline: bool,
    /// With the versions of `Cargo.lock`
    #[arg(long)]
    locked: bool,
}

impl Selection {
    /// What cargo is told.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = self.package_words();
        let lists = [("--test", &self.test), ("--bin", &self.bin)];
        words.extend(in_words(&lists, &[("--lib", self.lib), ("--tests", self.tests)]));
        words
    }

    /// The same without which of the targets.
    fn package_words(&self) -> Vec<String> {
        let mut words = self.manifest_words();
        let lists = [("--package", &self.package), ("--features", &self.features)];
        let switches = [
            ("--workspace", self.workspace),
            ("--all-features", self.all_features),
            ("--no-default-features", self.no_default_features),
            ("--release", self.release),
        ];
        words.extend(in_words(&lists, &switches));
        words
    }

    /// What every command of cargo is told.
    pub(crate) fn manifest_words(&self) -> Vec<String> {
        let path: Vec<String> = self.manifest_path.iter().cloned().collect();
        let switches = [("--offline", self.offline), ("--locked", self.locked)];
        in_words(&[("--manifest-path", &path)], &switches)
    }

    /// The names, if they are those of source files of C or C++.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let files: Vec<PathBuf> = self.names.iter().map(PathBuf::from).collect();
        let is_source = |file: &PathBuf| mazurka_check::language_of(file).is_some();
        if files.iter().all(is_source) { files } else { Vec::new() }
    }

    /// Whether a test was asked for.
    pub(crate) fn wants(&self, test: &str) -> bool {
        let mut names = self.names.iter().chain(&self.more_names).peekable();
        let is_one = |name: &String| if self.exact { test == name } else { test.contains(name) };
        names.peek().is_none() || names.any(is_one)
    }

    /// The words of the command that builds a program of the tests again, and takes one test of it. `target` is
    /// what selects the program, if there is such a flag: others may have a test of the same name.
    pub(crate) fn again(&self, target: &[String], test: &str) -> Vec<String> {
        let mut words = vec!["mazurka".to_owned(), "test".to_owned()];
        match target {
            [] => words.extend(self.words()),
            _ => words.extend(self.package_words().iter().chain(target).cloned()),
        }
        words.extend(["--exact".to_owned(), test.to_owned()]);
        words
    }
}

/// Flags with their values, and flags that are on.
fn in_words(lists: &[(&str, &Vec<String>)], switches: &[(&str, bool)]) -> Vec<String> {
    let mut words = Vec::new();
    for (flag, values) in lists {
        words.extend(values.iter().flat_map(|value| [(*flag).to_owned(), value.clone()]));
    }
    let switches = switches.iter().filter(|(_, is_on)| *is_on);
    words.extend(switches.map(|(flag, _)| (*flag).to_owned()));
    words
}
