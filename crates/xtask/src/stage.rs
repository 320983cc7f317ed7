//! The stages that a change goes through: `lint`, `quick`, `full`.
//!
//! How much the tests try is said by `MAZURKA_EFFORT`, which `mazurka-effort` reads. What could not
//! be run since a tool is missing is counted at the end; where `CI` is set, nothing may be left
//! out.

use crate::command::{Done, cargo, heading, output, run, target};
use crate::tools;
use clap::ValueEnum;
use std::collections::BTreeMap;
use std::time::Instant;

/// The part of the command that a plain build leaves out. It is tested all the same.
pub(crate) const FLEET: &str = "--features=mazurka-cli/fleet";

/// A stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// Formatting, clippy and documentation
    Lint,
    /// The quick tests of all crates
    Quick,
    /// All tests, of the lab too, and the tour
    Full,
}

impl Stage {
    /// Runs it; `words` are more of them for `cargo test`.
    pub(crate) fn run(self, may_install: bool, words: &[String]) -> Done {
        let start = Instant::now();
        match self {
            Self::Lint => lint()?,
            Self::Quick => test(&["test", "--locked", FLEET], "quick", may_install, words)?,
            Self::Full => {
                let all = ["test", "--workspace", "--locked", "--no-fail-fast", FLEET];
                test(&all, "full", may_install, words)?;
                tour()?;
            }
        }
        heading(&format!("all is well, after {} s", start.elapsed().as_secs()));
        Ok(())
    }
}

fn lint() -> Done {
    tools::component(&mut cargo(), "fmt", "rustfmt")?;
    tools::component(&mut cargo(), "clippy", "clippy")?;
    heading("formatting");
    run(cargo().args(["fmt", "--all", "--", "--check"]))?;
    heading("clippy");
    let clippy = ["clippy", "--workspace", "--all-targets", "--locked", FLEET];
    run(cargo().args(clippy).args(["--", "-D", "warnings"]))?;
    heading("the command without its optional parts");
    // With all crates that can do without, so that dependencies have the features that they have for
    // clippy, and the solver is not compiled once more.
    let least = ["check", "--workspace", "--no-default-features", "--exclude", "mazurka-lab"];
    run(cargo().args(least).arg("--locked"))?;
    heading("documentation");
    let doc = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked", FLEET];
    run(cargo().args(doc).env("RUSTDOCFLAGS", "-D warnings"))?;
    packages()?;
    book()
}

/// Packages all crates that are published. They are not built from there once more.
fn packages() -> Done {
    heading("packages");
    let mut package = cargo();
    package.args(["package", "--workspace", "--no-verify", "--allow-dirty", "--locked", "--quiet"]);
    for unpublished in ["effort", "lab", "script", "tour", "xtask"] {
        package.arg(format!("--exclude=mazurka-{unpublished}"));
    }
    run(&mut package)
}

/// The pages of the book. This program is compiled once more for them, by a profile that optimises
/// nothing.
#[cfg(not(feature = "book"))]
pub(crate) fn book() -> Done {
    const THIS: [&str; 6] =
        ["--locked", "--profile=book", "--package", "mazurka-xtask", "--features", "book"];
    run(cargo().args(["test", "--quiet"]).args(THIS).args(["--", "book::"]))?;
    run(cargo().args(["run", "--quiet"]).args(THIS).args(["--", "book"]))
}

/// The pages of the book.
#[cfg(feature = "book")]
pub(crate) fn book() -> Done {
    crate::book::build()
}

fn test(command: &[&str], effort: &str, may_install: bool, words: &[String]) -> Done {
    let is_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    let missing = tools::install(may_install)?;
    for tool in &missing {
        println!("`{}` is not installed: {}", tool.name, tool.use_for);
    }
    if missing.iter().any(|tool| tool.is_needed || is_ci) {
        return Err("the tests need what is not installed".to_owned());
    }
    // Who asks for another effort gets it.
    let effort = std::env::var("MAZURKA_EFFORT").unwrap_or_else(|_| effort.to_owned());
    heading(&format!("tests, effort {effort}"));
    let folder = target().join("xtask");
    let skipped = folder.join("skipped.txt");
    let made = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&skipped, ""));
    made.map_err(|error| format!("{}: {error}", skipped.display()))?;
    let mut command_line = cargo();
    command_line.args(command).args(words);
    let done = run(command_line.env("MAZURKA_EFFORT", effort).env("MAZURKA_SKIPPED", &skipped));
    let text = std::fs::read_to_string(&skipped).unwrap_or_default();
    heading(&left_out(&text));
    match is_ci && !text.is_empty() {
        true => Err("nothing may be left out where `CI` is set".to_owned()),
        false => done,
    }
}

/// What tests were left out, by the tools that they would need. Each line of the text is `TOOL:
/// TEST …`.
fn left_out(text: &str) -> String {
    let mut by_tool: BTreeMap<&str, BTreeMap<&str, ()>> = BTreeMap::new();
    for (tool, test) in text.lines().filter_map(|line| line.split_once(": ")) {
        by_tool.entry(tool).or_default().insert(test, ());
    }
    let total: usize = by_tool.values().map(BTreeMap::len).sum();
    let tools: Vec<_> =
        by_tool.iter().map(|(tool, tests)| format!("{tool} ({})", tests.len())).collect();
    match total {
        0 => "no test was left out for want of a tool".to_owned(),
        1 => format!("1 test was left out for want of a tool: {}", tools.join(", ")),
        _ => format!("{total} tests were left out for want of a tool: {}", tools.join(", ")),
    }
}

/// The tour as people see it, and as other programs read it.
fn tour() -> Done {
    const SAYS: [&str; 4] = [
        "Violated Deadlock",
        "Holds in every interleaving",
        "Assertion failed: `",
        "Replay: mzk1:",
    ];
    heading("the tour");
    let tour = ["run", "--locked", "--package", "mazurka-tour"];
    let text = output(cargo().args(tour))?;
    print!("{text}");
    if let Some(words) = SAYS.into_iter().find(|words| !text.contains(words)) {
        return Err(format!("the tour does not say `{words}`"));
    }
    let object = output(cargo().args(tour).args(["--", "--json", "x=1 | r=x"]))?;
    print!("{object}");
    let is_object = object.trim_end().lines().count() == 1 && object.starts_with("{\"mazurka\":");
    match is_object && object.contains("\"verdict\":\"holds\"") {
        true => Ok(()),
        false => Err("the tour does not print one JSON object that says `holds`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted_by_tools_each_test_once() {
        assert_eq!(left_out(""), "no test was left out for want of a tool");
        assert_eq!(
            left_out("spin: a is left out\n"),
            "1 test was left out for want of a tool: spin (1)"
        );
        let text =
            "spin: a is left out\ngdb: c is left out\nspin: b is left out\nspin: a is left out\n";
        assert_eq!(left_out(text), "3 tests were left out for want of a tool: gdb (1), spin (2)");
    }
}
