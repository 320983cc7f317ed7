//! Interrupts: the first one asks the program under test to end its search and tell what it has
//! covered, the second one ends it at once.

use rustix::process::{Pid, Signal, kill_process};
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The program that runs now.
static RUNNING: Mutex<Option<Pid>> = Mutex::new(None);
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt is passed on.
pub(crate) fn catch() {
    // Without it an interrupt ends us at once, and nothing is lost but the summary.
    let _ = ctrlc::set_handler(|| {
        let is_second = IS_INTERRUPTED.swap(true, Ordering::Relaxed);
        let signal = if is_second { Signal::KILL } else { Signal::INT };
        if let Ok(Some(program)) = RUNNING.lock().as_deref().copied() {
            // It may have ended just now.
            let _ = kill_process(program, signal);
        } else if is_second {
            std::process::exit(130);
        }
    });
}

/// What is set once the user wants an end of it.
pub(crate) fn flag() -> &'static AtomicBool {
    &IS_INTERRUPTED
}

/// Whether the user wants an end of it.
pub(crate) fn is_interrupted() -> bool {
    IS_INTERRUPTED.load(Ordering::Relaxed)
}

/// A program that hears of interrupts.
pub(crate) struct Interruptible(Child);

impl Interruptible {
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        // Held until the number is known: an interrupt in between waits.
        let mut running = RUNNING.lock().expect("nobody panics with it");
        let child = command.spawn()?;
        *running = Some(Pid::from_child(&child));
        Ok(Self(child))
    }

    pub(crate) fn wait(mut self) -> io::Result<ExitStatus> {
        self.0.wait()
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        *RUNNING.lock().expect("nobody panics with it") = None;
    }
}
