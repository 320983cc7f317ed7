//! The progress display: in place on a terminal, else a line a minute.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mazurka_check::memory::resident;
use mazurka_core::Reading;
use mazurka_report::{Colour, Page, Style, progress};
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

const LINE_EVERY: Duration = Duration::from_secs(60);

/// Where it is shown.
pub(crate) struct Display {
    style: Style,
    bar: Option<ProgressBar>,
    /// When the last line was printed; none if there is nothing to say how far the search is.
    last_line: Option<Instant>,
}

impl Display {
    pub(crate) fn new(style: Style) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.with_style(ProgressStyle::with_template("{msg}").expect("it is a template"))
        });
        Self { style, bar, last_line: Some(Instant::now()) }
    }

    /// One for a search beside others: how far each is, is not shown.
    pub(crate) fn silent(style: Style) -> Self {
        Self { style, bar: None, last_line: None }
    }

    /// Prints what was proved on the way, `before` first.
    pub(crate) fn proved(&self, before: &str, sentence: &str) {
        let mut page = Page::new(self.style);
        page.headline(Colour::Good, "Proved", &format!("{before}{sentence}"), "");
        match &self.bar {
            Some(bar) => bar.suspend(|| crate::tell::show(&page.into_text())),
            None => crate::tell::show(&page.into_text()),
        }
    }

    /// Shows how far a search is that takes no executions.
    pub(crate) fn gauged(&mut self, now: &Reading) {
        let memory = resident(std::process::id());
        match &self.bar {
            Some(bar) => bar.set_message(progress::gauged(now, memory, &self.style)),
            None if self.last_line.is_some_and(|last| last.elapsed() >= LINE_EVERY) => {
                self.last_line = Some(Instant::now());
                remark!("{}", progress::gauged_line(now, memory));
            }
            None => {}
        }
    }

    /// Shows how far the search is.
    pub(crate) fn progress(&mut self, now: &mazurka_core::Progress) {
        match &self.bar {
            Some(bar) => bar.set_message(progress::lines(now, &self.style).join("\n")),
            None if self.last_line.is_some_and(|last| last.elapsed() >= LINE_EVERY) => {
                self.last_line = Some(Instant::now());
                remark!("{}", progress::line(now, &self.style));
            }
            None => {}
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
