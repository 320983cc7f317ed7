//! Interrupts: the first one asks the program under test to end its search and tell what it has
//! covered, the second one ends it at once.

use crate::os::{self, Signal};
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The program that runs now.
static RUNNING: Mutex<Option<u32>> = Mutex::new(None);
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Whether a search in this process is to stop, for whatever reason.
static IS_STOPPED: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt is passed on.
pub(crate) fn catch() {
    // Without it an interrupt ends us at once, and nothing is lost but the summary.
    let _ = ctrlc::set_handler(|| match IS_INTERRUPTED.swap(true, Ordering::Relaxed) {
        false => ask(),
        true if send(Signal::Kill) => {}
        true => std::process::exit(130),
    });
}

/// Asks for an end of the search, here or in the program that runs now.
pub(crate) fn ask() {
    IS_STOPPED.store(true, Ordering::Relaxed);
    send(Signal::Interrupt);
}

/// Ends the program that runs now.
pub(crate) fn end() {
    send(Signal::Kill);
}

/// Says whether there is a program to get the signal.
fn send(signal: Signal) -> bool {
    let Ok(Some(program)) = RUNNING.lock().as_deref().copied() else { return false };
    os::send(program, signal);
    true
}

/// What is set once a search in this process is to stop.
pub(crate) fn flag() -> &'static AtomicBool {
    &IS_STOPPED
}

/// Whether a search is to stop, for whatever reason.
pub(crate) fn is_stopped() -> bool {
    IS_STOPPED.load(Ordering::Relaxed)
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
        *running = Some(child.id());
        Ok(Self(child))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
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
