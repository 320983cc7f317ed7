//! Shows how far a search is: in place on a terminal, else a line a minute.
//!
//! A search in this process tells a [`Display`]; one in another process writes files, and a [`Watch`]
//! looks at them.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mazurka_core::Progress;
use mazurka_report::{Colour, Page, Style, progress};
use serde::de::DeserializeOwned;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(250);
const LINE_EVERY: Duration = Duration::from_secs(60);

/// A thread that looks at what a program writes beside its report.
pub(crate) struct Watch {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins to look; `report` is where the report of the program will be.
    ///
    /// What is proved on the way is printed if there is something to print `before` it.
    pub(crate) fn start(report: &Path, style: Style, before: Option<String>) -> Self {
        let beside = |ending: &str| {
            let mut path = report.as_os_str().to_owned();
            path.push(ending);
            PathBuf::from(path)
        };
        let (progress, proved) = (beside(".progress"), beside(".proved"));
        let (end, is_over) = channel();
        let thread = std::thread::spawn(move || {
            let mut display = Display::new(style);
            let mut n_told = 0;
            loop {
                let is_on = is_over.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout);
                if let Some(before) = &before
                    && let Some(proved) = read::<Vec<String>>(&proved)
                {
                    proved.iter().skip(n_told).for_each(|it| display.proved(before, it));
                    n_told = proved.len();
                }
                if !is_on {
                    break;
                }
                read(&progress).iter().for_each(|now| display.progress(now));
            }
        });
        Self { end: Some(end), thread: Some(thread) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // What is shown on the way is no reason to lose a verdict.
            let _ = thread.join();
        }
    }
}

/// What a file says, if it is there.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// Where it is shown.
pub(crate) struct Display {
    style: Style,
    bar: Option<ProgressBar>,
    last_line: Instant,
}

impl Display {
    pub(crate) fn new(style: Style) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.with_style(ProgressStyle::with_template("{msg}").expect("it is a template"))
        });
        Self { style, bar, last_line: Instant::now() }
    }

    /// Prints what was proved on the way, `before` first.
    pub(crate) fn proved(&self, before: &str, sentence: &str) {
        let mut page = Page::new(self.style);
        page.headline(Colour::Good, "Proved", &format!("{before}{sentence}"), "");
        match &self.bar {
            Some(bar) => bar.suspend(|| crate::show(&page.into_text())),
            None => crate::show(&page.into_text()),
        }
    }

    /// Shows how far the search is.
    pub(crate) fn progress(&mut self, now: &Progress) {
        match &self.bar {
            Some(bar) => bar.set_message(progress::lines(now, &self.style).join("\n")),
            None if self.last_line.elapsed() >= LINE_EVERY => {
                self.last_line = Instant::now();
                eprintln!("{}", progress::line(now, &self.style));
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
