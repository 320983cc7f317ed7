//! `--list`: the names of the tests that a run would explore, for people and for programs.

use super::cargo::{Built, TestProgram};
use super::{Found, Wanted};
use crate::Failure;
use crate::output::Output;
use crate::tell::show;
use mazurka_report::counted;
use serde_json::{Value, json};

/// Tells the tests: a line each, or as an object.
pub(super) fn tell(found: &Found<'_>, built: &Built, output: &Output) -> Result<(), Vec<Failure>> {
    output.write_json(&format!("{}\n", object(found, built)), "--list")?;
    if output.is_json_alone() {
        return Ok(());
    }
    // In the order of the run, ignored ones among the others of their program.
    for program in &built.programs {
        let is_of = |wanted: &&Wanted<'_>| std::ptr::eq(wanted.program, program);
        for wanted in found.wanted.iter().filter(is_of) {
            show(&format!("{}\n", wanted.name()));
        }
        for wanted in found.ignored.iter().filter(is_of) {
            show(&format!("{} (ignored)\n", wanted.name()));
        }
    }
    if !output.quiet {
        let n_ignored = match found.ignored.len() {
            0 => String::new(),
            n => format!(", {n} ignored"),
        };
        eprintln!("{}{n_ignored}", counted(found.wanted.len() as u64, "test"));
        for left_out in &built.left_out {
            eprintln!("not run: {}: {}", left_out.name(), left_out.reason());
        }
    }
    Ok(())
}

fn object(found: &Found<'_>, built: &Built) -> Value {
    let test = |wanted: &Wanted<'_>, is_run: bool| {
        let TestProgram { name, package, target, .. } = wanted.program;
        json!({
            "name": wanted.name(), "package": package, "program": name, "target": target,
            "test": wanted.test, "ignored": wanted.is_ignored, "run": is_run,
        })
    };
    let wanted = found.wanted.iter().map(|it| test(it, true));
    let ignored = found.ignored.iter().map(|it| test(it, false));
    let left_out = built.left_out.iter();
    let left_out = left_out.map(|it| json!({"name": it.name(), "reason": it.reason()}));
    json!({
        "mazurka": env!("CARGO_PKG_VERSION"),
        "tests": wanted.chain(ignored).collect::<Vec<_>>(),
        "not_run": left_out.collect::<Vec<_>>(),
    })
}
