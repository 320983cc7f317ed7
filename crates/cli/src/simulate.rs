//! `mazurka simulate`: one execution of a Promela model, at random or as its user says.

use crate::arguments::Simulation;
use crate::tell::{say, show, style};
use crate::{Done, Failure};
use mazurka_check::walk::{Taken, Walk, is_truncation};
use mazurka_check::{Ending, Language, Options, Replay, Task, translate};
use mazurka_core::Told;
use mazurka_promela::ExtraProperties;
use mazurka_report::{Colour, ExitStatus, Page, counted};
use mazurka_statespace::Machine;
use std::fmt::Write as _;
use std::io::BufRead as _;
use std::path::Path;

/// Runs one execution, and tells each of its steps.
pub(crate) fn simulate(file: &Path, options: &Options, simulation: &Simulation) -> Done {
    if Task::files([file]).input.language()? != Language::Promela {
        let failure = Failure::input("`mazurka simulate` is for Promela models");
        return Err(failure.help("`mazurka replay` follows a schedule of a program").into());
    }
    let model = translate::promela(file, options, ExtraProperties::default())?;
    let machine = translate::machine(&model.program, &[])?.finding_truncation();
    say(Colour::Doing, "Simulating", &file.to_string_lossy());
    match simulation.interactive {
        true => Interactive::new(machine).run(simulation.steps),
        false => at_random(machine, simulation),
    }
}

fn at_random(machine: Machine, simulation: &Simulation) -> Done {
    let mut walk = Walk::new(machine);
    let mut chance = Chance(simulation.seed);
    for _ in 0..simulation.steps {
        if let Some(end) = end_of(&mut walk) {
            return Ok(end);
        }
        let idx = chance.below(walk.n_moves());
        if let Some(status) = take(&mut walk, idx) {
            return Ok(status);
        }
    }
    Ok(stopped(simulation.steps))
}

/// Tells how it ends, if no step is possible.
fn end_of(walk: &mut Walk<Machine>) -> Option<ExitStatus> {
    if walk.n_moves() > 0 {
        return None;
    }
    Some(match walk.stuck() {
        Some(stuck) => violated(&stuck.violation.message, &stuck.processes),
        None => ended(walk.n_steps()),
    })
}

/// Takes a step and tells it; how it ends, if the step goes wrong.
fn take(walk: &mut Walk<Machine>, idx: usize) -> Option<ExitStatus> {
    let Taken { told, fault } = walk.take(idx);
    let note = fault.as_ref().filter(|it| is_truncation(it)).map(|it| it.message.as_str());
    show_step(walk.n_steps(), &told, note);
    let fault = fault.filter(|it| !is_truncation(it))?;
    Some(violated(&fault.message, &[]))
}

fn stopped(n_steps: usize) -> ExitStatus {
    say(Colour::Open, "Stopped", &format!("after {}", counted(n_steps as u64, "step")));
    ExitStatus::Inconclusive
}

/// An execution whose steps are chosen by the user.
struct Interactive {
    machine: Machine,
    walk: Walk<Machine>,
    /// What was chosen so far.
    taken: Vec<usize>,
}

/// What the user wants.
enum Answer {
    /// This step, from 0.
    Take(usize),
    /// The last step is not to have happened.
    Back,
    /// No more.
    Quit,
}

impl Interactive {
    fn new(machine: Machine) -> Self {
        Self { walk: Walk::new(machine.clone()), machine, taken: Vec::new() }
    }

    /// Asks for one step after another, at most so many. Behind the end, a step can be taken back.
    fn run(mut self, most: usize) -> Done {
        let mut end: Option<ExitStatus> = None;
        loop {
            end = end.or_else(|| end_of(&mut self.walk));
            if end.is_none() && self.taken.len() >= most {
                return Ok(stopped(self.taken.len()));
            }
            self.show_values();
            match self.ask(end.is_some())? {
                Answer::Take(idx) => {
                    end = take(&mut self.walk, idx);
                    self.taken.push(idx);
                }
                Answer::Back => {
                    end = None;
                    self.back();
                }
                Answer::Quit => return Ok(end.unwrap_or_else(|| stopped(self.taken.len()))),
            }
        }
    }

    /// What variables and channels hold.
    fn show_values(&mut self) {
        let values = self.walk.variables();
        if !values.is_empty() {
            let mut page = Page::new(style());
            page.paragraph("Values:", &values.join(", "));
            show(&page.into_text());
        }
    }

    /// Takes back the last step: all but that are taken once more.
    fn back(&mut self) {
        if self.taken.pop().is_none() {
            show("there is no step to take back\n");
            return;
        }
        self.walk = Walk::new(self.machine.clone());
        self.taken.iter().for_each(|&idx| drop(self.walk.take(idx)));
        say(Colour::Doing, "Back", &format!("after {}", counted(self.taken.len() as u64, "step")));
    }

    /// Lets the user choose among the steps that are possible, none at the end.
    fn ask(&mut self, is_end: bool) -> Result<Answer, Failure> {
        let n_moves = if is_end { 0 } else { self.walk.n_moves() };
        loop {
            for idx in 0..n_moves {
                let both: Vec<String> = self.walk.told(idx).iter().map(line).collect();
                show(&format!("{:>6}: {}\n", idx + 1, both.join("\n        ")));
            }
            let question = match n_moves {
                0 => "Back (`b`) or stop (`q`)? ".to_owned(),
                n => format!("Which step, 1 to {n}, back (`b`) or stop (`q`)? "),
            };
            show(&question);
            let mut answer = String::new();
            let read = std::io::stdin().lock().read_line(&mut answer);
            let n_bytes = read.map_err(|error| Failure::input(format!("no answer: {error}")))?;
            if n_bytes == 0 {
                // The question has no line end.
                show("\n");
            }
            match answer.trim() {
                "q" => return Ok(Answer::Quit),
                _ if n_bytes == 0 => return Ok(Answer::Quit),
                "b" => return Ok(Answer::Back),
                other => match other.parse::<usize>() {
                    Ok(number) if (1..=n_moves).contains(&number) => {
                        return Ok(Answer::Take(number - 1));
                    }
                    _ if is_end => show("`b` to take back the last step, or `q` to stop\n"),
                    _ => show("a number of the list, `b` to take back a step, or `q` to stop\n"),
                },
            }
        }
    }
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
    let steps = counted(n_steps as u64, "step");
    say(Colour::Good, "Ended", &format!("after {steps}, as it may"));
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
