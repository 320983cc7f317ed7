//! `mazurka doctor`: what can be checked on this machine, for people and as JSON.

use crate::tell::{show, style};
use crate::{Done, Failure};
use clap::Args;
use mazurka_report::{Colour, ExitStatus, Page};
use mazurka_runner::doctor::{Findings, Status};
use std::path::{Path, PathBuf};

/// Where the findings go.
#[derive(Clone, Debug, Args)]
pub(crate) struct Told {
    /// Write the result as JSON; to `-`, and nothing else is printed on standard output
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Print the verdict on one line
    #[arg(long)]
    quiet: bool,
}

impl Told {
    fn is_json_alone(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }
}

/// Looks at everything, and says what is usable.
pub(crate) fn examine(output: &Told) -> Done {
    let findings = Findings::gather(&crate::toolchain())?;
    if !output.quiet && !output.is_json_alone() {
        show(&text(&findings));
    } else if !output.is_json_alone() {
        let word = if findings.is_ready { "ready" } else { "not ready" };
        show(&format!("{word}: {}\n", findings.summary()));
    }
    if let Some(path) = &output.json {
        let text = serde_json::to_string(&findings).expect("all keys are strings") + "\n";
        if output.is_json_alone() {
            show(&text);
        } else if let Err(error) = std::fs::write(path, text) {
            let text = format!("`{}` cannot be written: {error}", path.display());
            return Err(Failure::input(text).into());
        }
    }
    // What could be checked is not: a script that goes on would find nothing.
    Ok(if findings.is_ready { ExitStatus::Holds } else { ExitStatus::Violated })
}

/// All of it for people.
fn text(findings: &Findings) -> String {
    let mut page = Page::new(style());
    page.line(&format!("Mazurka {}, {}", findings.mazurka, findings.system));
    page.line("");
    page.line("What can be checked");
    for door in &findings.doors {
        let text = format!("{:<15} mazurka {:<26} {}", door.name, door.command, door.detail);
        say(&mut page, door.status, &text, door.remedy.as_deref());
    }
    page.line("");
    page.line("What was found");
    for tool in &findings.tools {
        let version = tool.version.as_deref().unwrap_or_default();
        let detail = tool.detail.as_deref().unwrap_or_default();
        let text = format!("{:<15} {version:<8} {detail}", tool.name);
        say(&mut page, tool.status, &text, tool.remedy.as_deref());
    }
    page.line("");
    let (colour, word, text) = match findings.is_ready {
        true => (Colour::Good, "Ready", "everything can be checked here".to_owned()),
        false => {
            let text = format!("not everything can be checked here: {}", findings.summary());
            (Colour::Bad, "Not ready", text)
        }
    };
    page.line(&format!("{} {text}", style().paint(colour, &format!("{word:>9}"))));
    page.into_text()
}

/// One line, and below it the line that helps.
fn say(page: &mut Page, status: Status, text: &str, remedy: Option<&str>) {
    let (colour, word) = match status {
        Status::Ok => (Colour::Good, "ok"),
        Status::Missing => (Colour::Open, "missing"),
        Status::Unusable => (Colour::Bad, "unusable"),
    };
    // Names of files are not broken into lines: they are to be copied.
    page.line(&format!("{} {}", style().paint(colour, &format!("{word:>9}")), text));
    if let Some(remedy) = remedy {
        page.line(&format!("{:>9} {remedy}", "try:"));
    }
}
