//! `mazurka simulate`: one execution of a Promela model, at random or as its user says.

use crate::arguments::Simulation;
use crate::tell::{say, show};
use crate::{Done, Failure};
use mazurka_check::walk::{Taken, Walk, is_truncation};
use mazurka_check::{Ending, Options, Replay, translate};
use mazurka_core::Told;
use mazurka_promela::ExtraProperties;
use mazurka_report::{Colour, ExitStatus};
use mazurka_statespace::Machine;
use std::fmt::Write as _;
use std::io::BufRead as _;
use std::path::Path;

/// Runs one execution, and tells each of its steps.
pub(crate) fn simulate(file: &Path, options: &Options, simulation: &Simulation) -> Done {
    let model = translate::promela(file, options, ExtraProperties::default())?;
    let machine = translate::machine(&model.program, &[])?;
    say(Colour::Doing, "Simulating", &file.to_string_lossy());
    let mut walk = Walk::new(machine.finding_truncation());
    let mut chance = Chance(simulation.seed);
    for _ in 0..simulation.steps {
        if walk.n_moves() == 0 {
            return Ok(match walk.stuck() {
                Some(stuck) => violated(&stuck.violation.message, &stuck.processes),
                None => ended(walk.n_steps()),
            });
        }
        let idx = match simulation.interactive {
            true => match ask(&mut walk)? {
                Some(idx) => idx,
                None => return Ok(ExitStatus::Inconclusive),
            },
            false => chance.below(walk.n_moves()),
        };
        let Taken { told, fault } = walk.take(idx);
        let note = fault.as_ref().filter(|it| is_truncation(it)).map(|it| it.message.as_str());
        show_step(walk.n_steps(), &told, note);
        if let Some(violation) = fault.filter(|it| !is_truncation(it)) {
            return Ok(violated(&violation.message, &[]));
        }
    }
    let text = format!("after {} steps", simulation.steps);
    say(Colour::Open, "Stopped", &text);
    Ok(ExitStatus::Inconclusive)
}

/// Tells what came of following a schedule.
pub(crate) fn tell_replay(replay: &Replay) -> ExitStatus {
    for step in &replay.steps {
        show_step(step.number, &step.told, step.note.as_deref());
    }
    match &replay.ending {
        ending @ Ending::Violated { stuck, .. } => {
            violated(&ending.message().unwrap_or_default(), stuck)
        }
        Ending::Ended(n_steps) => ended(*n_steps),
        _ => {
            say(Colour::Open, "Followed", "nothing goes wrong in this execution");
            ExitStatus::Holds
        }
    }
}

fn violated(message: &str, stuck: &[Told]) -> ExitStatus {
    say(Colour::Bad, "Violated", message);
    stuck.iter().for_each(|told| show(&format!("        {}\n", line(told))));
    ExitStatus::Violated
}

fn ended(n_steps: usize) -> ExitStatus {
    say(Colour::Good, "Ended", &format!("after {n_steps} steps, as it may"));
    ExitStatus::Holds
}

fn show_step(number: usize, told: &[Told], note: Option<&str>) {
    told.iter().for_each(|told| show(&format!("{number:>6}  {}\n", line(told))));
    note.iter().for_each(|note| show(&format!("        {note}\n")));
}

/// A step on one line.
fn line(told: &Told) -> String {
    let mut line = format!("{:<16} {}", told.thread, told.operation);
    if let Some(value) = &told.value {
        let _ = write!(line, " {}", value.trim_end());
    }
    if let Some(place) = &told.location {
        let _ = write!(line, "    {}:{}", place.file, place.line);
    }
    line
}

/// Lets the user choose; nothing if there is nothing more to read.
fn ask(walk: &mut Walk<Machine>) -> Result<Option<usize>, Failure> {
    loop {
        for idx in 0..walk.n_moves() {
            let told = walk.told(idx);
            let both: Vec<String> = told.iter().map(line).collect();
            show(&format!("{:>6}: {}\n", idx + 1, both.join("\n        ")));
        }
        show(&format!("Which step, 1 to {}? ", walk.n_moves()));
        let mut answer = String::new();
        let read = std::io::stdin().lock().read_line(&mut answer);
        let n_bytes = read.map_err(|error| Failure::input(format!("no answer: {error}")))?;
        let answer = answer.trim();
        if n_bytes == 0 || answer == "q" {
            return Ok(None);
        }
        match answer.parse::<usize>() {
            Ok(number) if (1..=walk.n_moves()).contains(&number) => return Ok(Some(number - 1)),
            _ => show("a number of the list, or `q` to stop\n"),
        }
    }
}

/// Numbers drawn from a seed.
struct Chance(u64);

impl Chance {
    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) % n as u64) as usize
    }
}
