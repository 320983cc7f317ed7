//! Engines from Rust, with their events: a C file is checked by three engines, which say on the way
//! what they do.
//!
//! `cargo run -p mazurka-check --example engine [FILE…]`

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use mazurka_check::{Task, engine};
use mazurka_core::{Event, Verdict};
use std::path::PathBuf;

/// A lock by one exchange, around a counter.
const LOCK: &str = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int locked;
int counter;
void *worker(void *argument) {
    while (atomic_exchange(&locked, 1)) {}
    counter++;
    atomic_store(&locked, 0);
    return argument;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, worker, 0);
    pthread_create(&other, 0, worker, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(counter == 2);
}
";

fn main() -> std::io::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        files.push(folder.path().join("lock.c"));
        std::fs::write(&files[0], LOCK)?;
    }
    for name in ["vm", "statespace", "ic3"] {
        let mut task = Task::files(files.clone());
        task.options.set("time-limit", "60s").expect("it is an option, and this is a time");
        let listener = |event: &Event| match event {
            Event::Phase(phase) => println!("{name}: {}", phase.name()),
            Event::Proved(coverage) => println!("{name}: proved {coverage}"),
            _ => {}
        };
        let engine = engine(name).expect("there is one of this name");
        match task.check_by(engine, &listener) {
            Ok(outcome) => match outcome.verdict {
                Verdict::Holds(coverage) => println!("{name}: {coverage}"),
                Verdict::Violated(found) => {
                    println!("{name}: {}, by {}", found.violation.message, found.schedule);
                }
                other => println!("{name}: {}", other.name()),
            },
            // All that is wrong with the files and the options, at once.
            Err(faults) => faults.iter().for_each(|fault| println!("{name}: {fault}")),
        }
    }
    Ok(())
}
