//! Which tests of a cargo project are meant, in the words of `cargo test`.

use std::path::Path;

/// Which tests of a cargo project, named as cargo does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Which of the tests that the programs have.
    pub filter: Filter,
    /// Only these packages.
    pub package: Vec<String>,
    /// All packages of the workspace.
    pub workspace: bool,
    /// With [`workspace`](Self::workspace): all but these packages.
    pub exclude: Vec<String>,
    /// Only the tests of the library.
    pub lib: bool,
    /// Only these files of tests.
    pub test: Vec<String>,
    /// Only what cargo tests if nothing is said: the library, binaries and files of tests.
    pub tests: bool,
    /// Only the tests of these binaries.
    pub bin: Vec<String>,
    /// Only the tests of binaries.
    pub bins: bool,
    /// Only the tests of these examples.
    pub example: Vec<String>,
    /// Only the tests of examples.
    pub examples: bool,
    /// Only the tests of these benchmarks.
    pub bench: Vec<String>,
    /// Only the tests of benchmarks.
    pub benches: bool,
    /// The tests of all targets, examples and benchmarks among them.
    pub all_targets: bool,
    /// Features to build with.
    pub features: Vec<String>,
    /// Build with all features.
    pub all_features: bool,
    /// Build without the default features.
    pub no_default_features: bool,
    /// Build with optimisations.
    pub release: bool,
    /// Build with this profile.
    pub profile: Option<String>,
    /// The manifest of the project, if it is not that of a folder around this one.
    pub manifest_path: Option<String>,
    /// The folder to build in: in `mazurka` there.
    pub target_dir: Option<String>,
    /// Without the network.
    pub offline: bool,
    /// With the versions of `Cargo.lock`.
    pub locked: bool,
    /// Both.
    pub frozen: bool,
}

/// Which of the tests of a program are wanted, as libtest decides it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Those with a name that contains one of these; all, if there is none.
    pub names: Vec<String>,
    /// None with a name that contains one of these.
    pub skip: Vec<String>,
    /// The names are those of tests, in full.
    pub exact: bool,
    /// Only tests that are marked to be ignored.
    pub ignored: bool,
    /// Tests that are marked to be ignored, too.
    pub include_ignored: bool,
}

impl Filter {
    /// Whether a test has one of the names, and none of those to be skipped.
    pub fn wants(&self, test: &str) -> bool {
        let is_meant = |name: &String| self.means(name, test);
        (self.names.is_empty() || self.names.iter().any(is_meant))
            && !self.skip.iter().any(is_meant)
    }

    fn means(&self, name: &str, test: &str) -> bool {
        if self.exact { test == name } else { test.contains(name) }
    }

    /// Whether a wanted test is run, with or without the mark that it is to be ignored; nothing if
    /// it is not even counted.
    pub fn runs(&self, is_ignored: bool) -> Option<bool> {
        match (self.ignored && !self.include_ignored, is_ignored) {
            (true, false) => None,
            (true, true) => Some(true),
            (false, is_ignored) => Some(!is_ignored || self.include_ignored),
        }
    }

    /// The names that mean no test of all there are.
    pub fn meaningless<'a>(&'a self, tests: &[&str]) -> Vec<&'a str> {
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
    /// What cargo is told: by default what it tests without being told, but not to build examples.
    pub fn words(&self) -> Vec<String> {
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
    pub fn names_targets(&self) -> bool {
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
    pub fn manifest_words(&self) -> Vec<String> {
        let path: Vec<String> = self.manifest_path.iter().cloned().collect();
        let switches =
            [("--offline", self.offline), ("--locked", self.locked), ("--frozen", self.frozen)];
        in_words(&[("--manifest-path", &path)], &switches)
    }

    /// Whether the manifest is there, whatever it says: the one that is named, or that of a folder
    /// around this one.
    pub fn has_manifest(&self) -> bool {
        match &self.manifest_path {
            Some(path) => Path::new(path).is_file(),
            None => std::env::current_dir().is_ok_and(|here| {
                here.ancestors().any(|folder| folder.join("Cargo.toml").is_file())
            }),
        }
    }

    /// Where to build, if that is said.
    pub fn target_folder(&self) -> Option<&Path> {
        self.target_dir.as_deref().map(Path::new)
    }

    /// Where to build, in words.
    fn folder_words(&self) -> Vec<String> {
        let folder: Vec<String> = self.target_dir.iter().cloned().collect();
        in_words(&[("--target-dir", &folder)], &[])
    }

    /// The words of the command that builds a program of the tests again, and takes one test of it.
    /// `package` and `target` are what selects the program: others may have a test of the same
    /// name.
    pub fn again(&self, package: Option<&str>, target: &[String], test: &str) -> Vec<String> {
        let mut words = vec!["mazurka".to_owned(), "test".to_owned()];
        words.extend(self.package_words(package));
        words.extend(self.folder_words());
        words.extend(target.iter().cloned());
        words.extend(["--exact".to_owned(), test.to_owned()]);
        words
    }

    /// The words of the command that selects the same tests.
    pub fn all_again(&self) -> Vec<String> {
        let mut words = vec!["mazurka".to_owned(), "test".to_owned()];
        words.extend(self.package_words(None));
        words.extend(self.folder_words());
        words.extend(self.target_words());
        words.extend(self.filter.words());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(filter: &Filter) -> Vec<&'static str> {
        let all = [("add", false), ("add_all", false), ("remove", false), ("remove_all", true)];
        let is_run = |(name, is_ignored): &(&str, bool)| {
            filter.wants(name) && filter.runs(*is_ignored) == Some(true)
        };
        all.into_iter().filter(is_run).map(|(name, _)| name).collect()
    }

    fn list(words: &str) -> Vec<String> {
        words.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn tests_are_filtered_as_libtest_does() {
        let check = |change: &dyn Fn(&mut Filter), expected: &[&str]| {
            let mut filter = Filter::default();
            change(&mut filter);
            assert_eq!(wanted(&filter), expected, "{filter:?}");
        };
        check(&|_| {}, &["add", "add_all", "remove"]);
        check(&|it| it.names = list("add"), &["add", "add_all"]);
        check(&|it| (it.names, it.exact) = (list("add"), true), &["add"]);
        check(&|it| it.skip = list("all"), &["add", "remove"]);
        check(&|it| (it.skip, it.exact) = (list("add"), true), &["add_all", "remove"]);
        check(&|it| (it.names, it.skip) = (list("add"), list("_all rem")), &["add"]);
        let all = |it: &mut Filter| (it.include_ignored, it.names) = (true, list("all"));
        check(&all, &["add_all", "remove_all"]);
        check(&|it| it.ignored = true, &["remove_all"]);
        let both = |it: &mut Filter| {
            (it.ignored, it.include_ignored, it.names) = (true, true, list("re"));
        };
        check(&both, &["remove", "remove_all"]);
        let named = Filter { names: list("add no_such"), ..Filter::default() };
        assert_eq!(named.meaningless(&["add", "remove"]), ["no_such"]);
    }

    #[test]
    fn cargo_is_told_which_targets() {
        let named = Selection {
            filter: Filter { names: list("name"), ..Filter::default() },
            ..Selection::default()
        };
        assert_eq!(named.words(), ["--tests"]);
        let library = Selection { lib: true, package: list("a"), ..Selection::default() };
        assert_eq!(library.words(), ["--package", "a", "--lib"]);
        let all = Selection {
            filter: Filter { skip: list("x"), ..Filter::default() },
            workspace: true,
            exclude: list("b"),
            test: list("it"),
            release: true,
            target_dir: Some("t".to_owned()),
            ..Selection::default()
        };
        assert_eq!(all.words(), ["--exclude", "b", "--workspace", "--release", "--test", "it"]);
        assert_eq!(
            all.again(Some("a"), &list("--test it"), "x::y").join(" "),
            "mazurka test --package a --release --target-dir t --test it --exact x::y"
        );
        assert_eq!(
            all.all_again().join(" "),
            "mazurka test --exclude b --workspace --release --target-dir t --test it --skip x"
        );
    }
}
