//! The tests that a run would explore, as the object that `--list --json` writes.

use crate::cargo::{Built, TestProgram};
use crate::find::{Found, Wanted};
use serde_json::{Value, json};

impl Found<'_> {
    /// The object.
    pub fn to_json(&self, built: &Built) -> Value {
        let test = |wanted: &Wanted<'_>, is_run: bool| {
            let TestProgram { name, package, target, .. } = wanted.program;
            json!({
                "name": wanted.name(), "package": package, "program": name, "target": target,
                "test": wanted.test, "ignored": wanted.is_ignored, "run": is_run,
            })
        };
        let wanted = self.wanted.iter().map(|it| test(it, true));
        let ignored = self.ignored.iter().map(|it| test(it, false));
        let left_out = built.left_out.iter();
        let left_out = left_out.map(|it| json!({"name": it.name(), "reason": it.reason()}));
        json!({
            "mazurka": env!("CARGO_PKG_VERSION"),
            "tests": wanted.chain(ignored).collect::<Vec<_>>(),
            "not_run": left_out.collect::<Vec<_>>(),
        })
    }

    /// Lines for people: in the order of the run, ignored ones behind the others of their program.
    pub fn lines(&self, built: &Built) -> Vec<String> {
        let mut lines = Vec::new();
        for program in &built.programs {
            let is_of = |wanted: &&Wanted<'_>| std::ptr::eq(wanted.program, program);
            lines.extend(self.wanted.iter().filter(is_of).map(Wanted::name));
            let ignored = self.ignored.iter().filter(is_of);
            lines.extend(ignored.map(|wanted| format!("{} (ignored)", wanted.name())));
        }
        lines
    }
}
