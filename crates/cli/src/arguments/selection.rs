//! Which tests of a cargo project are meant, in the words of `cargo test`.

use crate::Failure;
use clap::Args;
use mazurka_runner::{Filter, Selection};
use std::path::PathBuf;

/// Which tests of a cargo project, named as cargo does.
#[derive(Clone, Debug, Args)]
pub(crate) struct SelectionArguments {
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

impl SelectionArguments {
    /// The tests that are meant: by our own words, and by those behind `--`, which are libtest's;
    /// and whether those ask for the names alone.
    pub(crate) fn selection(&self) -> Result<(Selection, bool), Vec<Failure>> {
        let (filter, is_list) = self.filter()?;
        #[rustfmt::skip]
        let Self {
            names: _, behind: _, skip: _, exact: _, ignored: _, include_ignored: _,
            package, workspace, exclude, lib, test, tests, bin, bins, example, examples, bench,
            benches, all_targets, features, all_features, no_default_features, release, profile,
            manifest_path, target_dir, offline, locked, frozen,
        } = self.clone();
        #[rustfmt::skip]
        let selection = Selection {
            filter,
            package, workspace, exclude, lib, test, tests, bin, bins, example, examples, bench,
            benches, all_targets, features, all_features, no_default_features, release, profile,
            manifest_path, target_dir, offline, locked, frozen,
        };
        Ok((selection, is_list))
    }

    fn filter(&self) -> Result<(Filter, bool), Vec<Failure>> {
        let mut filter = Filter {
            names: self.names.clone(),
            skip: self.skip.clone(),
            exact: self.exact,
            ignored: self.ignored,
            include_ignored: self.include_ignored,
        };
        let mut is_list = false;
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
                "--list" => is_list = true,
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
        if failures.is_empty() { Ok((filter, is_list)) } else { Err(failures) }
    }

    /// The names, if they are those of source files of C or C++.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let files: Vec<PathBuf> = self.names.iter().map(PathBuf::from).collect();
        let is_source = |file: &PathBuf| mazurka_check::language_of(file).is_some();
        if files.iter().all(is_source) { files } else { Vec::new() }
    }
}

fn refused(flag: &str) -> Failure {
    Failure::input(format!("`{flag}` is not supported behind `--`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        selection: SelectionArguments,
    }

    fn of(words: &str) -> Result<(Selection, bool), Vec<Failure>> {
        let words = ["test"].into_iter().chain(words.split_whitespace());
        Words::parse_from(words).selection.selection()
    }

    #[test]
    fn words_on_both_sides_of_the_dashes_count() {
        let filter = |words: &str| of(words).expect("all words are known").0.filter;
        let check = |words: &str, other: &str| assert_eq!(filter(words), filter(other), "{words}");
        check("-- add --skip=all", "add --skip all");
        check("-- --ignored --exact remove_all", "--ignored --exact remove_all");
        check("one -- two --include-ignored", "one two --include-ignored");
        assert!(of("-- --list").expect("it is known").1);
        assert!(!of("add").expect("it is known").1);
        let words = "--workspace --exclude b --test it -r --target-dir t --skip x";
        let (selection, _) = of(words).expect("all words are known");
        assert_eq!(
            selection.all_again().join(" "),
            "mazurka test --exclude b --workspace --release --target-dir t --test it --skip x"
        );
    }

    #[test]
    fn all_that_is_not_known_behind_the_dashes_is_told() {
        let words = "-- --nocapture --test-threads 1 add --shuffle --skip";
        let failures = of(words).expect_err("there are unknown words");
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
}
