//! What `cargo metadata` and the manifests say of a project: where its packages are, which targets
//! have a harness of their own, and whether there are examples in the documentation.

use mazurka_check::Fault;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The packages of a project, and where cargo builds them.
#[derive(Debug, Deserialize)]
pub(crate) struct Project {
    pub(crate) target_directory: PathBuf,
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

/// A target, as `cargo metadata` and the messages of a build describe it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
    #[serde(default)]
    src_path: PathBuf,
    #[serde(default)]
    doctest: bool,
}

impl Target {
    /// `test`, `bin`, `example`, `bench`; the kinds of libraries are all `lib`.
    pub(crate) fn kind(&self) -> &str {
        let kinds = ["test", "bin", "example", "bench"];
        let kind = self.kind.first().map_or("lib", String::as_str);
        if kinds.contains(&kind) { kind } else { "lib" }
    }
}

impl Project {
    /// What `cargo metadata` has printed.
    pub(crate) fn of(metadata: &[u8]) -> Option<Self> {
        serde_json::from_slice(metadata).ok()
    }

    fn package(&self, manifest: &Path) -> Option<&Package> {
        self.packages.iter().find(|package| package.manifest_path == manifest)
    }

    /// The name of the package with this manifest.
    pub(crate) fn package_name(&self, manifest: &Path) -> Option<&str> {
        self.package(manifest).map(|package| package.name.as_str())
    }

    /// Whether `cargo test` would run examples of the documentation of this package.
    pub(crate) fn has_doc_tests(&self, manifest: &Path) -> bool {
        let targets = self.package(manifest).map_or(&[][..], |package| &package.targets);
        let mut tested = targets.iter().filter(|target| target.doctest);
        tested.any(|target| target.src_path.parent().is_some_and(folder_has_examples))
    }
}

/// The targets of a manifest with `harness = false`, each with its kind.
#[derive(Debug, Default)]
pub(crate) struct OwnHarness(Vec<(&'static str, Option<String>)>);

impl OwnHarness {
    /// Reads a manifest.
    pub(crate) fn read(manifest: &Path) -> Result<Self, Fault> {
        let name = manifest.display();
        let text = std::fs::read_to_string(manifest)
            .map_err(|error| Fault::input(format!("`{name}` cannot be read: {error}")))?;
        Self::of(&text).map_err(|error| {
            Fault::input(format!("`{name}` is not understood: {}", error.message()))
        })
    }

    fn of(manifest: &str) -> Result<Self, toml::de::Error> {
        #[derive(Deserialize)]
        struct Entry {
            name: Option<String>,
            harness: Option<bool>,
        }
        #[derive(Deserialize)]
        struct Manifest {
            lib: Option<Entry>,
            #[serde(default)]
            bin: Vec<Entry>,
            #[serde(default)]
            test: Vec<Entry>,
            #[serde(default)]
            example: Vec<Entry>,
            #[serde(default)]
            bench: Vec<Entry>,
        }
        let Manifest { lib, bin, test, example, bench } = toml::from_str(manifest)?;
        let lib = lib.into_iter().map(|entry| ("lib", Entry { name: None, ..entry }));
        let lists = [("bin", bin), ("test", test), ("example", example), ("bench", bench)];
        let others =
            lists.into_iter().flat_map(|(kind, all)| all.into_iter().map(move |it| (kind, it)));
        let own = lib.chain(others).filter(|(_, entry)| entry.harness == Some(false));
        Ok(Self(own.map(|(kind, entry)| (kind, entry.name)).collect()))
    }

    /// Whether a target has a harness of its own.
    pub(crate) fn has(&self, target: &Target) -> bool {
        self.0.iter().any(|(kind, name)| {
            *kind == target.kind() && name.as_ref().is_none_or(|name| *name == target.name)
        })
    }
}

/// Manifests that were read, each once.
#[derive(Default)]
pub(crate) struct Manifests(BTreeMap<PathBuf, OwnHarness>);

impl Manifests {
    pub(crate) fn own_harness(&mut self, manifest: &Path) -> Result<&OwnHarness, Fault> {
        if !self.0.contains_key(manifest) {
            self.0.insert(manifest.to_owned(), OwnHarness::read(manifest)?);
        }
        Ok(&self.0[manifest])
    }
}

/// Whether a file of Rust below a folder has an example in its documentation. What cannot be read
/// has none.
fn folder_has_examples(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().map(|entry| entry.path()).any(|path| match path.is_dir() {
        true => folder_has_examples(&path),
        false if path.extension().is_some_and(|it| it == "rs") => {
            std::fs::read_to_string(&path).is_ok_and(|text| has_examples(&text))
        }
        false => false,
    })
}

/// Whether documentation in a source text has a block of code that `cargo test` would run.
fn has_examples(text: &str) -> bool {
    let mut is_inside = false;
    for line in text.lines().map(str::trim_start) {
        // What is in another file is not looked at: most of it is a README with an example.
        if line.contains("doc = include_str!") {
            return true;
        }
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(words) = comment.map(str::trim).and_then(|it| it.strip_prefix("```")) else {
            continue;
        };
        is_inside = !is_inside;
        let mut words = words.split([',', ' ']).filter(|word| !word.is_empty());
        let is_run =
            |word: &str| ["rust", "should_panic"].contains(&word) || word.starts_with("edition");
        if is_inside && words.all(is_run) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harnesses_of_their_own_are_in_the_manifest() {
        let own = OwnHarness::of(
            "[package]\nname = \"a\"\n[[test]]\nname = \"ui\"\nharness = false\n\
             [[test]]\nname = \"it\"\n[[bench]]\nname = \"speed\"\nharness = false\n",
        );
        let own = own.expect("it is a manifest");
        let target = |kind: &str, name: &str| Target {
            name: name.to_owned(),
            kind: vec![kind.to_owned()],
            src_path: PathBuf::new(),
            doctest: false,
        };
        assert!(own.has(&target("test", "ui")) && own.has(&target("bench", "speed")));
        assert!(!own.has(&target("test", "it")) && !own.has(&target("bin", "ui")));
        assert!(!own.has(&target("lib", "a")));
        let own = OwnHarness::of("[lib]\nharness = false\n").expect("it is a manifest");
        assert!(own.has(&target("rlib", "a")) && !own.has(&target("test", "a")));
    }

    #[test]
    fn examples_are_code_that_would_run() {
        assert!(has_examples(
            "/// Adds.\n/// ```\n/// assert_eq!(1 + 1, 2);\n/// ```\nfn f() {}\n"
        ));
        assert!(has_examples("    //! ```rust,edition2021\n    //! f();\n    //! ```\n"));
        assert!(has_examples("#![doc = include_str!(\"../README.md\")]\n"));
        assert!(!has_examples("/// ```text\n/// a\n/// ```\n/// ```ignore\n/// b\n/// ```\n"));
        assert!(!has_examples("/// ```no_run\n/// f();\n/// ```\n// ```\nlet x = \"```\";\n"));
    }
}
