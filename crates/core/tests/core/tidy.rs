//! The rules of the house: which crate may use which, how a file begins, and what none contains.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Every folder of `crates/`, and the crates it may use.
const MAY_USE: [(&str, &[&str]); 23] = [
    ("core", &[]),
    ("effort", &[]),
    ("embed", &[]),
    ("explore", &["core"]),
    ("native", &["core", "explore", "protocol"]),
    ("protocol", &["core", "explore"]),
    ("mazurka", &["core", "explore", "report"]),
    ("model", &["core"]),
    ("c", &["model", "source"]),
    ("ltl", &[]),
    ("promela", &["model", "ltl", "source"]),
    ("statespace", &["core", "model", "ltl"]),
    ("symbolic", &["core", "model", "ltl", "source"]),
    ("report", &["core"]),
    (
        "check",
        &[
            "core",
            "explore",
            "model",
            "c",
            "ltl",
            "promela",
            "protocol",
            "source",
            "statespace",
            "symbolic",
            "embed",
            "native",
        ],
    ),
    ("fleet", &["check", "core", "explore"]),
    ("runner", &["check", "core", "protocol", "report"]),
    ("cli", &ALL),
    ("lab", &ALL),
    ("script", &["core"]),
    ("source", &[]),
    ("tour", &["core", "explore", "report"]),
    ("xtask", &[]),
];

/// All but the test kit, the lab and the tour.
#[rustfmt::skip]
const ALL: [&str; 18] = [
    "core", "explore", "native", "mazurka", "model", "c", "ltl", "promela", "statespace",
    "symbolic", "report", "check", "cli", "source", "embed", "protocol", "fleet", "runner",
];

/// The test kit: tests, examples and benchmarks may use it, and crates that are not published.
const TEST_KIT: [&str; 2] = ["script", "effort"];

/// What the tests of a crate may use beyond that: a crate with a `System` holds it against
/// searches.
const TESTS_MAY_USE: [(&str, &str); 5] = [
    ("model", "explore"),
    ("statespace", "promela"),
    ("symbolic", "c"),
    ("symbolic", "explore"),
    ("symbolic", "statespace"),
];

// Written in two pieces each, so that this file does not contain them.
const UNFINISHED: [&str; 3] =
    [concat!("to", "do!"), concat!("unimple", "mented!"), concat!("#[", "ignore")];
const MACHINE_PATHS: [&str; 2] = [concat!("/", "work"), concat!("/", "root")];

#[test]
fn crates_use_only_what_they_may() {
    let workspace = workspace_dependencies(&manifest(&root().join("Cargo.toml")));
    let mut wrong = Vec::new();
    for (path, manifest) in manifests() {
        wrong.extend(wrong_uses(&folder_of(&path), &manifest, &workspace));
    }
    complain(&wrong);
}

#[test]
fn a_wrong_use_is_noticed_however_it_is_written() {
    let check = |folder: &str, manifest: &str| {
        let workspace = BTreeMap::from([("engine".to_owned(), "mazurka-explore".to_owned())]);
        wrong_uses(folder, &manifest.parse().expect("the test has a manifest"), &workspace)
    };
    assert_eq!(check("explore", "[dependencies]\nmazurka-core.workspace = true"), [""; 0]);
    assert_eq!(check("model", "[dev-dependencies]\nmazurka-explore = '1'"), [""; 0]);
    assert_eq!(check("model", "[dependencies]\nmazurka-explore = '1'").len(), 1);
    assert_eq!(
        check("core", "[dependencies]\nmazurka-explore = '1'"),
        ["crates/core may not use mazurka-explore in [dependencies]"]
    );
    assert_eq!(
        check("core", "[dependencies.other]\npackage = 'mazurka'"),
        ["crates/core may not use mazurka in [dependencies]"]
    );
    assert_eq!(
        check("ltl", "[target.'cfg(unix)'.build-dependencies]\nengine = { workspace = true }"),
        ["crates/ltl may not use mazurka-explore in [build-dependencies]"]
    );
    assert_eq!(
        check("core", "[dependencies]\nmazurka-script.workspace = true"),
        ["crates/core may not use mazurka-script in [dependencies]"]
    );
    assert_eq!(
        check("core", "[dev-dependencies]\nmazurka-script = '1'\nengine.workspace = true"),
        ["crates/core may not use mazurka-explore in [dev-dependencies]"]
    );
    assert_eq!(
        check("lab", "[dependencies]\nmazurka-script = '1'\n[package]\npublish = false"),
        [""; 0]
    );
    assert_eq!(
        check("cli", "[dependencies]\nmazurka-lab = '1'\nmazurka-script = '1'"),
        [
            "crates/cli may not use mazurka-lab in [dependencies]",
            "crates/cli may not use mazurka-script in [dependencies]"
        ]
    );
    assert_eq!(check("mazurka", "[dependencies]\nmazurka-macros.workspace = true"), [""; 0]);
    assert_eq!(check("annex", ""), ["crates/annex is unknown: add it to the table in tidy.rs"]);
}

#[test]
fn manifests_inherit_lints_and_license() {
    let mut wrong = Vec::new();
    for (path, manifest) in manifests() {
        let inherits = |table: Option<&Value>| {
            table.and_then(|table| table.get("workspace")).and_then(Value::as_bool) == Some(true)
        };
        if !inherits(manifest.get("lints")) {
            wrong.push(format!("{} does not inherit the lints", shown(&path)));
        }
        if !inherits(manifest.get("package").and_then(|package| package.get("license"))) {
            wrong.push(format!("{} does not inherit the license", shown(&path)));
        }
    }
    complain(&wrong);
}

/// Saved searches are in a format that reads fields by their order: one that is left out moves all
/// that follow.
#[test]
fn what_is_saved_is_written_whole() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let is_saved = ["core/src", "explore/src"].iter().any(|part| shown(&path).contains(part));
        if is_saved && text.contains("skip_serializing") {
            wrong.push(format!("{} leaves out fields when it is saved", shown(&path)));
        }
    }
    complain(&wrong);
}

#[test]
fn files_begin_with_what_they_are_about() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        if !text.starts_with("//! ") {
            wrong.push(format!("{} does not begin with `//!`", shown(&path)));
        }
    }
    complain(&wrong);
}

#[test]
fn reductions_and_bounds_name_their_source_and_their_liberties() {
    let folders = ["reduction", "bound"].map(|name| root().join("crates/explore/src").join(name));
    let mut wrong = Vec::new();
    for (path, text) in folders.iter().flat_map(|folder| texts(folder, &["rs"])) {
        if path.ends_with("mod.rs") {
            continue;
        }
        let header: Vec<_> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
        for word in ["Implements", "Differs"] {
            if !header.iter().any(|line| line.trim_start().starts_with(word)) {
                wrong.push(format!("{} has no line that begins `{word}`", shown(&path)));
            }
        }
    }
    complain(&wrong);
}

#[test]
fn nothing_is_left_unfinished() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        for word in UNFINISHED {
            wrong.extend(lines_with(&path, &text, |line| line.contains(word)));
        }
    }
    complain(&wrong);
}

#[test]
fn no_file_names_a_place_on_somebody_s_machine() {
    let mut wrong = Vec::new();
    for (path, text) in texts(&root(), &["rs", "toml", "md", "run", "yml"]) {
        wrong.extend(lines_with(&path, &text, names_machine_path));
    }
    complain(&wrong);
    let [first, second] = MACHINE_PATHS;
    assert!(names_machine_path(first) && names_machine_path(&format!("see `{second}/x`")));
    assert!(!names_machine_path(&format!("the search{first}er, a{second}/x, {second}s")));
}

/// What is wrong with what the crate in a folder of `crates/` uses. `workspace` has the packages
/// behind the names in the workspace's table.
fn wrong_uses(folder: &str, manifest: &Table, workspace: &BTreeMap<String, String>) -> Vec<String> {
    let Some((_, may_use)) = MAY_USE.iter().find(|(known, _)| *known == folder) else {
        return vec![format!("crates/{folder} is unknown: add it to the table in tidy.rs")];
    };
    let publish = manifest.get("package").and_then(|package| package.get("publish"));
    let is_published = publish.and_then(Value::as_bool) != Some(false);
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let targets = targets.filter_map(|(_, target)| target.as_table());
    let mut wrong = Vec::new();
    for table in std::iter::once(manifest).chain(targets) {
        for section in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let uses = table.get(section).and_then(Value::as_table).into_iter().flatten();
            for (name, how) in uses {
                let inherits = how.get("workspace").and_then(Value::as_bool) == Some(true);
                let renamed = match inherits {
                    true => workspace.get(name).map(String::as_str),
                    false => how.get("package").and_then(Value::as_str),
                };
                let package = renamed.unwrap_or(name);
                let Some(used) = home_of(package) else { continue };
                let in_private = section == "dev-dependencies" || !is_published;
                let is_tested = TESTS_MAY_USE.contains(&(folder, used));
                let may = may_use.contains(&used)
                    || in_private && TEST_KIT.contains(&used)
                    || section == "dev-dependencies" && is_tested;
                if used != folder && !may {
                    wrong.push(format!("crates/{folder} may not use {package} in [{section}]"));
                }
            }
        }
    }
    wrong
}

/// The folder of one of our packages; `None` for the packages of others.
fn home_of(package: &str) -> Option<&str> {
    match package {
        "mazurka" | "mazurka-macros" => Some("mazurka"),
        _ => package.strip_prefix("mazurka-"),
    }
}

/// The packages behind the names of `[workspace.dependencies]`.
fn workspace_dependencies(manifest: &Table) -> BTreeMap<String, String> {
    let all = manifest["workspace"]["dependencies"].as_table().expect("it is a table");
    let package = |(name, how): (&String, &Value)| {
        let package = how.get("package").and_then(Value::as_str).unwrap_or(name);
        (name.clone(), package.to_owned())
    };
    all.iter().map(package).collect()
}

/// Whether a line has one of [`MACHINE_PATHS`] in it, as the beginning of a path.
fn names_machine_path(line: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '}');
    MACHINE_PATHS.iter().any(|path| {
        line.match_indices(path).any(|(start, _)| {
            let before = line[..start].chars().next_back();
            let after = line[start + path.len()..].chars().next();
            !before.is_some_and(is_part)
                && !after.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        })
    })
}

/// The code map is true: each crate has its page, which names every file beside its `lib.rs` and no
/// file that is not there.
#[test]
fn every_crate_has_a_page_of_its_files() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the map can be read");
    let mut wrong = Vec::new();
    for (manifest, _) in manifests() {
        let folder = manifest.parent().expect("it is in a folder");
        let path = folder.join("ARCHITECTURE.md");
        if !map.contains(&format!("]({})", shown(&path))) {
            wrong.push(format!("ARCHITECTURE.md does not lead to {}", shown(&path)));
        }
        let page = fs::read_to_string(&path).unwrap_or_default();
        let files = files(&folder.join("src"));
        for file in files.iter().filter(|file| file.parent() == Some(&folder.join("src"))) {
            let name = file.file_name().expect("a file has a name").to_string_lossy();
            let is_named =
                page.contains(&format!("`{name}`")) || page.contains(&format!("/{name}`"));
            if !is_named && !matches!(&*name, "lib.rs" | "main.rs" | "known.txt") {
                wrong.push(format!("{} does not name `{name}`", shown(&path)));
            }
        }
        let inside: Vec<_> = self::files(folder).iter().map(|file| shown(file)).collect();
        for name in page.split('`').filter(|it| it.ends_with(".rs") && !it.contains(' ')) {
            let is_there = root().join("crates").join(name).is_file()
                || inside.iter().any(|file| file.ends_with(&format!("/{name}")));
            if !is_there {
                wrong.push(format!("{} names `{name}`, which is not there", shown(&path)));
            }
        }
    }
    complain(&wrong);
}

fn lines_with(path: &Path, text: &str, is_wrong: impl Fn(&str) -> bool) -> Vec<String> {
    let lines = text.lines().enumerate().filter(|(_, line)| is_wrong(line));
    lines.map(|(idx, line)| format!("{}:{}: {}", shown(path), idx + 1, line.trim())).collect()
}

fn complain(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the crate is in its workspace")
}

/// A path as seen from the root.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The manifests of all crates, those of folders within folders included.
fn manifests() -> Vec<(PathBuf, Table)> {
    let paths = files(&root().join("crates"));
    let paths = paths.into_iter().filter(|path| path.ends_with("Cargo.toml"));
    let manifests: Vec<_> = paths.map(|path| (path.clone(), manifest(&path))).collect();
    assert!(manifests.len() >= 3, "where are the crates?");
    manifests
}

fn manifest(path: &Path) -> Table {
    let text = fs::read_to_string(path).expect("a manifest can be read");
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", shown(path)))
}

/// Which folder of `crates/` a file is in.
fn folder_of(path: &Path) -> String {
    let inside = path.strip_prefix(root().join("crates")).expect("it is in there");
    let first = inside.components().next().expect("it is in a folder");
    first.as_os_str().to_string_lossy().into_owned()
}

/// Every Rust file of every crate: in `src`, `tests`, `examples` and `benches`.
fn sources() -> Vec<(PathBuf, String)> {
    let is_code = |path: &Path| {
        let inside = path.strip_prefix(root().join("crates")).expect("it is in there");
        let mut folders = inside.iter().map(|part| part.to_string_lossy());
        folders.any(|part| matches!(&*part, "src" | "tests" | "examples" | "benches"))
    };
    let mut sources = texts(&root().join("crates"), &["rs"]);
    sources.retain(|(path, _)| is_code(path));
    assert!(sources.len() > 20, "where are the sources?");
    sources
}

/// The files below a folder whose names end in one of these, with their contents.
fn texts(folder: &Path, endings: &[&str]) -> Vec<(PathBuf, String)> {
    let has_ending = |path: &PathBuf| {
        let ending = path.extension().or(path.file_name()).unwrap_or_default();
        endings.iter().any(|&known| ending == known)
    };
    let read = |path: PathBuf| {
        let text = fs::read(&path).expect("a file can be read");
        (path, String::from_utf8_lossy(&text).into_owned())
    };
    files(folder).into_iter().filter(has_ending).map(read).collect()
}

/// The files below a folder, in order, without what is built or hidden.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(&folder).expect("a folder can be read") {
            let entry = entry.expect("a folder can be read");
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_hidden = name.starts_with('.') && name != ".ci" || name == "target";
            match entry.file_type().expect("a file has a type") {
                kind if kind.is_dir() && !is_hidden => todo.push(entry.path()),
                kind if kind.is_file() && !is_hidden => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}
