//! Which tests of a cargo project are meant, in the words of `cargo test`.

use crate::Failure;
use clap::Args;
use std::path::{Path, PathBuf};

/// Which tests of a cargo project, named as cargo does.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Only tests with a name that contains one of these; may also stand behind `--`
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// What `cargo test` hands to the harness.
    #[arg(last = true, hide = true)]
    behind: Vec<String>,
    /// No tests with a name that contains this; may be given several times
    #[arg(long, value_name = "NAME")]
    skip: Vec<String>,
    /// The names are those of tests, in full
    #[arg(long)]
    exact: bool,
    /// Only tests that are marked to be ignored
    #[arg(long)]
    ignored: bool,
    /// Tests that are marked to be ignored, too
    #[arg(long)]
    include_ignored: bool,
    /// Only this package
    #[arg(short, long, value_name = "SPEC")]
    package: Vec<String>,
    /// All packages of the workspace
    #[arg(long, alias = "all")]
    workspace: bool,
    /// With `--workspace`: all but this package
    #[arg(long, value_name = "SPEC", requires = "workspace")]
    exclude: Vec<String>,
    /// Only the tests of the library
    #[arg(long)]
    lib: bool,
    /// Only this file of tests
    #[arg(long, value_name = "NAME")]
    test: Vec<String>,
    /// Only what cargo tests if nothing is said: the library, binaries and files of tests
    #[arg(long)]
    tests: bool,
    /// Only the tests of this binary
    #[arg(long, value_name = "NAME")]
    bin: Vec<String>,
    /// Only the tests of binaries
    #[arg(long)]
    bins: bool,
    /// Only the tests of this example
    #[arg(long, value_name = "NAME")]
    example: Vec<String>,
    /// Only the tests of examples
    #[arg(long)]
    examples: bool,
    /// Only the tests of this benchmark
    #[arg(long, value_name = "NAME")]
    bench: Vec<String>,
    /// Only the tests of benchmarks
    #[arg(long)]
    benches: bool,
    /// The tests of all targets, examples and benchmarks among them
    #[arg(long)]
    all_targets: bool,
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
    /// Build with this profile
    #[arg(long, value_name = "NAME", conflicts_with = "release")]
    profile: Option<String>,
    /// The project
    #[arg(long, value_name = "Cargo.toml")]
    manifest_path: Option<String>,
    /// The folder to build in: in `mazurka` there
    #[arg(long, value_name = "DIR")]
    target_dir: Option<String>,
    /// Without the network
    #[arg(long)]
    offline: bool,
    /// With the versions of `Cargo.lock`
    #[arg(long)]
    locked: bool,
    /// Both
    #[arg(long)]
    frozen: bool,
}

/// Which of the tests of a program are wanted, as libtest decides it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    names: Vec<String>,
    skip: Vec<String>,
    exact: bool,
    ignored: bool,
    include_ignored: bool,
    /// Whether the words behind `--` ask for the names.
    pub(crate) lists: bool,
}

impl Filter {
    /// Whether a test has one of the names, and none of those to be skipped.
    pub(crate) fn wants(&self, test: &str) -> bool {
        let is_meant = |name: &String| self.means(name, test);
        (self.names.is_empty() || self.names.iter().any(is_meant))
            && !self.skip.iter().any(is_meant)
    }

    fn means(&self, name: &str, test: &str) -> bool {
        if self.exact { test == name } else { test.contains(name) }
    }

    /// Whether a wanted test is run, with or without the mark that it is to be ignored; nothing if
    /// it is not even counted.
    pub(crate) fn runs(&self, is_ignored: bool) -> Option<bool> {
        match (self.ignored && !self.include_ignored, is_ignored) {
            (true, false) => None,
            (true, true) => Some(true),
            (false, is_ignored) => Some(!is_ignored || self.include_ignored),
        }
    }

    /// The names that mean no test of all there are.
    pub(crate) fn meaningless<'a>(&'a self, tests: &[&str]) -> Vec<&'a str> {
        let is_test = |name: &&str| !tests.iter().any(|test| self.means(name, test));
        self.names.iter().map(String::as_str).filter(is_test).collect()
    }

    /// The words that lead to it.
    fn words(&self) -> Vec<String> {
        let switches = [
            ("--exact", self.exact),
            ("--ignored", self.ignored),
            ("--include-ignored", self.include_ignored),
        ];
        let mut words = in_words(&[("--skip", &self.skip)], &switches);
        words.extend(self.names.iter().cloned());
        words
    }
}

impl Selection {
    /// The tests that are wanted: by our own words, and by those behind `--`, which are libtest's.
    pub(crate) fn filter(&self) -> Result<Filter, Vec<Failure>> {
        let mut filter = Filter {
            names: self.names.clone(),
            skip: self.skip.clone(),
            exact: self.exact,
            ignored: self.ignored,
            include_ignored: self.include_ignored,
            lists: false,
        };
        let mut failures = Vec::new();
        let mut words = self.behind.iter();
        while let Some(word) = words.next() {
            let (flag, value) = match word.split_once('=') {
                Some((flag, value)) if word.starts_with("--") => (flag, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            match flag {
                "--skip" => match value.or_else(|| words.next().cloned()) {
                    Some(name) => filter.skip.push(name),
                    None => failures.push(Failure::input("`--skip` needs a name behind it")),
                },
                "--exact" => filter.exact = true,
                "--ignored" => filter.ignored = true,
                "--include-ignored" => filter.include_ignored = true,
                "--list" => filter.lists = true,
                "--test-threads" => {
                    if value.is_none() {
                        words.next();
                    }
                    failures.push(
                        refused(flag)
                            .help("`--jobs N`, before `--`, says how many tests run at a time"),
                    );
                }
                "--nocapture" | "--no-capture" | "--show-output" => {
                    let help = "what a test prints is shown below its violation, and by `--replay`";
                    failures.push(refused(flag).help(help));
                }
                _ if flag.starts_with('-') => {
                    let help = "there may be names, `--skip`, `--exact`, `--ignored`, \
                                `--include-ignored` and `--list`; options of Mazurka go before `--`";
                    failures.push(refused(flag).help(help));
                }
                _ => filter.names.push(word.clone()),
            }
        }
        if failures.is_empty() { Ok(filter) } else { Err(failures) }
    }

    /// What cargo is told: by default what it tests without being told, but not to build examples.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = self.package_words(None);
        match self.names_targets() {
            true => words.extend(self.target_words()),
            false => words.push("--tests".to_owned()),
        }
        words
    }

    /// The flags that select targets.
    fn target_words(&self) -> Vec<String> {
        let lists = [
            ("--test", &self.test),
            ("--bin", &self.bin),
            ("--example", &self.example),
            ("--bench", &self.bench),
        ];
        let switches = [
            ("--lib", self.lib),
            ("--tests", self.tests),
            ("--bins", self.bins),
            ("--examples", self.examples),
            ("--benches", self.benches),
            ("--all-targets", self.all_targets),
        ];
        in_words(&lists, &switches)
    }

    /// Whether certain targets are selected: cargo runs no examples of the documentation then.
    pub(crate) fn names_targets(&self) -> bool {
        !self.target_words().is_empty()
    }

    /// The same without which of the targets; of one package, if that is named.
    fn package_words(&self, package: Option<&str>) -> Vec<String> {
        let mut words = self.manifest_words();
        let (one, none) = (package.map(|it| vec![it.to_owned()]), Vec::new());
        let exclude = if package.is_some() { &none } else { &self.exclude };
        let profile: Vec<String> = self.profile.iter().cloned().collect();
        let lists = [
            ("--package", one.as_ref().unwrap_or(&self.package)),
            ("--exclude", exclude),
            ("--features", &self.features),
            ("--profile", &profile),
        ];
        let switches = [
            ("--workspace", self.workspace && package.is_none()),
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
        let switches =
            [("--offline", self.offline), ("--locked", self.locked), ("--frozen", self.frozen)];
        in_words(&[("--manifest-path", &path)], &switches)
    }

    /// Whether the manifest is there, whatever it says: the one that is named, or that of a folder
    /// around this one.
    pub(crate) fn has_manifest(&self) -> bool {
        match &self.manifest_path {
            Some(path) => Path::new(path).is_file(),
            None => std::env::current_dir().is_ok_and(|here| {
                here.ancestors().any(|folder| folder.join("Cargo.toml").is_file())
            }),
        }
    }

    /// Where to build, if that is said.
    pub(crate) fn target_folder(&self) -> Option<&Path> {
        self.target_dir.as_deref().map(Path::new)
    }

    /// The names, if they are those of source files of C or C++.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let files: Vec<PathBuf> = self.names.iter().map(PathBuf::from).collect();
        let is_source = |file: &PathBuf| mazurka_check::language_of(file).is_some();
        if files.iter().all(is_source) { files } else { Vec::new() }
    }

    /// Where to build, in words.
    fn folder_words(&self) -> Vec<String> {
        let folder: Vec<String> = self.target_dir.iter().cloned().collect();
        in_words(&[("--target-dir", &folder)], &[])
    }

    /// The words of the command that builds a program of the tests again, and takes one test of it.
    /// `package` and `target` are what selects the program: others may have a test of the same
    /// name.
    pub(crate) fn again(
        &self,
        package: Option<&str>,
        target: &[String],
        test: &str,
    ) -> Vec<String> {
        let mut words = vec!["mazurka".to_owned(), "test".to_owned()];
        words.extend(self.package_words(package));
        words.extend(self.folder_words());
        words.extend(target.iter().cloned());
        words.extend(["--exact".to_owned(), test.to_owned()]);
        words
    }

    /// The words of the command that selects the same tests.
    pub(crate) fn all_again(&self, filter: &Filter) -> Vec<String> {
        let mut words = vec!["mazurka".to_owned(), "test".to_owned()];
        words.extend(self.package_words(None));
        words.extend(self.folder_words());
        words.extend(self.target_words());
        words.extend(filter.words());
        words
    }
}

fn refused(flag: &str) -> Failure {
    Failure::input(format!("`{flag}` is not supported behind `--`"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        selection: Selection,
    }

    fn selection(words: &str) -> Selection {
        Words::parse_from(["test"].into_iter().chain(words.split_whitespace())).selection
    }

    fn wanted(words: &str) -> Vec<&'static str> {
        let filter = selection(words).filter().expect("all words are known");
        let all = [("add", false), ("add_all", false), ("remove", false), ("remove_all", true)];
        let is_run = |(name, is_ignored): &(&str, bool)| {
            filter.wants(name) && filter.runs(*is_ignored) == Some(true)
        };
        all.into_iter().filter(is_run).map(|(name, _)| name).collect()
    }

    #[test]
    fn tests_are_filtered_as_libtest_does() {
        assert_eq!(wanted(""), ["add", "add_all", "remove"]);
        assert_eq!(wanted("add"), ["add", "add_all"]);
        assert_eq!(wanted("--exact add"), ["add"]);
        assert_eq!(wanted("--skip all"), ["add", "remove"]);
        assert_eq!(wanted("--skip add --exact"), ["add_all", "remove"]);
        assert_eq!(wanted("add --skip _all --skip rem"), ["add"]);
        assert_eq!(wanted("--include-ignored all"), ["add_all", "remove_all"]);
        assert_eq!(wanted("--ignored"), ["remove_all"]);
        assert_eq!(wanted("--ignored --include-ignored re"), ["remove", "remove_all"]);
        assert_eq!(wanted("-- add --skip=all"), ["add"]);
        assert_eq!(wanted("-- --ignored --exact remove_all"), ["remove_all"]);
        assert!(selection("-- --list").filter().expect("it is known").lists);
    }

    #[test]
    fn all_that_is_not_known_behind_the_dashes_is_told() {
        let words = "-- --nocapture --test-threads 1 add --shuffle --skip";
        let failures = selection(words).filter().expect_err("there are unknown words");
        let told: Vec<&str> = failures.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(
            told,
            [
                "`--nocapture` is not supported behind `--`",
                "`--test-threads` is not supported behind `--`",
                "`--shuffle` is not supported behind `--`",
                "`--skip` needs a name behind it",
            ]
        );
    }

    #[test]
    fn cargo_is_told_which_targets() {
        assert_eq!(selection("name").words(), ["--tests"]);
        assert_eq!(selection("--lib -p a").words(), ["--package", "a", "--lib"]);
        let words = "--workspace --exclude b --test it -r --target-dir t --skip x";
        assert_eq!(
            selection(words).words(),
            ["--exclude", "b", "--workspace", "--release", "--test", "it"]
        );
        let target = ["--test".to_owned(), "it".to_owned()];
        assert_eq!(
            selection(words).again(Some("a"), &target, "x::y").join(" "),
            "mazurka test --package a --release --target-dir t --test it --exact x::y"
        );
        let filter = selection(words).filter().expect("all words are known");
        assert_eq!(
            selection(words).all_again(&filter).join(" "),
            "mazurka test --exclude b --workspace --release --target-dir t --test it --skip x"
        );
    }
}
