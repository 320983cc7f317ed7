//! An execution as a table: one line for each step, one column for each thread.

use crate::screen::{DIM, RED, Screen, grouped};
use mazurka_core::{Effect, Execution, Next, Operation, Step, System, ThreadId, ViolationKind};
use mazurka_script::Script;

/// What an execution comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Nothing in particular.
    Open,
    /// Threads wait, and nobody can move.
    Deadlock,
    /// Something goes wrong at this step, counted from 1.
    Failed(usize, ViolationKind),
}

/// Shows the steps with a column for each thread or, if that is too wide, with one for all.
pub(crate) fn show(screen: &Screen, script: &Script, execution: &Execution, ending: Ending) {
    let rows = rows(script, execution, ending);
    let mut widths = vec![0; script.n_threads()];
    for (thread, text) in rows.iter().flat_map(Row::cells) {
        let longest = text.chars().count().max(script.thread_name(thread).len());
        widths[thread.index()] = longest.max(widths[thread.index()]);
    }
    let in_use = widths.iter().zip(0..).filter(|&(&width, _)| width > 0);
    let columns: Vec<_> = in_use.map(|(&width, idx)| (ThreadId::new(idx), width)).collect();
    let total: usize = columns.iter().map(|&(_, width)| width + 2).sum();
    let fits = 6 + total <= Screen::WIDTH;
    let line = |number: &str, text: &dyn Fn(ThreadId) -> String| {
        let mut line = format!("{number:>6}");
        for &(thread, width) in &columns {
            let text = text(thread);
            match fits {
                true => line.push_str(&format!("  {text:width$}")),
                false if text.is_empty() => {}
                false => {
                    let name = script.thread_name(thread);
                    let start = if line.len() > 6 { "\n        " } else { "  " };
                    line.push_str(&format!("{start}{name}: {text}"));
                }
            }
        }
        line.trim_end().to_owned()
    };
    if rows.is_empty() {
        return;
    }
    screen.show("\n");
    if fits {
        let names = line("step", &|thread| script.thread_name(thread).into_owned());
        screen.show(&format!("{}\n", screen.paint(DIM, &names)));
    }
    for row in &rows {
        let text = |thread| {
            let cell = row.cells().into_iter().find(|&(of, _)| of == thread);
            cell.map_or(String::new(), |(_, text)| text.to_owned())
        };
        let shown = match row {
            Row::Step(number, ..) => line(&number.to_string(), &text),
            Row::Wrong(_) => screen.paint(RED, &line("", &text)),
            Row::Preempted => {
                let dashes = "─ ".repeat(total.clamp(16, 60) / 2 - 5);
                screen.paint(DIM, &format!("        preempted {}", dashes.trim_end()))
            }
            Row::Cut(n) => {
                screen.paint(DIM, &format!("     … {} lines more …", grouped(*n as u64)))
            }
        };
        screen.show(&format!("{shown}\n"));
    }
}

/// A line of the table.
enum Row {
    Step(usize, ThreadId, String),
    /// The thread before could have gone on.
    Preempted,
    /// What goes wrong, for each thread that it is about.
    Wrong(Vec<(ThreadId, String)>),
    /// So many lines are not shown.
    Cut(usize),
}

impl Row {
    fn cells(&self) -> Vec<(ThreadId, &str)> {
        match self {
            Self::Step(_, thread, text) => vec![(*thread, text)],
            Self::Wrong(cells) => cells.iter().map(|(thread, text)| (*thread, &**text)).collect(),
            Self::Preempted | Self::Cut(_) => Vec::new(),
        }
    }
}

/// The lines of an execution; of a long one, the first and the last.
fn rows(script: &Script, execution: &Execution, ending: Ending) -> Vec<Row> {
    let mut script = script.clone();
    script.reset();
    let mut rows = Vec::new();
    let mut last: Option<&Step> = None;
    for (step, number) in execution.steps.iter().zip(1..) {
        let thread = step.decision.thread;
        if let Some(last) = last
            && last.decision.thread != thread
            && last.operation != Operation::Yield
            && matches!(script.next(last.decision.thread), Next::Enabled { .. })
        {
            rows.push(Row::Preempted);
        }
        rows.push(Row::Step(number, thread, tell(&script, step)));
        if let Ending::Failed(at, kind) = ending
            && at == number
        {
            rows.push(Row::Wrong(vec![(thread, format!("✗ {}", kind.name()))]));
        }
        // What goes wrong was told already.
        let _ = script.step(step.decision);
        last = Some(step);
    }
    if ending == Ending::Deadlock {
        let threads = (0..script.n_threads()).map(ThreadId::new);
        let waiting = threads.filter_map(|thread| match script.next(thread) {
            Next::Blocked(operation) => Some((thread, format!("✗ {}", name(&script, operation)))),
            _ => None,
        });
        rows.push(Row::Wrong(waiting.collect()));
    }
    const SHOWN: usize = 24;
    if rows.len() > 2 * SHOWN + 1 {
        let n_cut = rows.len() - 2 * SHOWN;
        rows.splice(SHOWN..SHOWN + n_cut, [Row::Cut(n_cut)]);
    }
    rows
}

/// A step in words.
fn tell(script: &Script, step: &Step) -> String {
    let operation = name(script, step.operation);
    let choice = step.decision.choice;
    match step.effect {
        Effect::Failed => format!("{operation}, failed"),
        Effect::Woke(threads) if threads.is_empty() => format!("{operation}, wakes nobody"),
        Effect::Woke(threads) => {
            let names: Vec<_> = threads.iter().map(|thread| script.thread_name(thread)).collect();
            format!("{operation}, wakes {}", names.join(", "))
        }
        Effect::Done if step.operation == Operation::Choose => format!("{operation} {choice}"),
        Effect::Done => operation,
    }
}

/// An operation with the names of what it is about.
fn name(script: &Script, operation: Operation) -> String {
    let verb = operation.name();
    match operation {
        Operation::Wait { condvar, mutex } | Operation::Reacquire { condvar, mutex } => {
            format!("{verb} {} {}", script.object_name(condvar), script.object_name(mutex))
        }
        Operation::Spawn(thread) | Operation::Join(thread) => {
            format!("{verb} {}", script.thread_name(thread))
        }
        other => match other.object() {
            Some(object) => format!("{verb} {}", script.object_name(object)),
            None => verb.to_owned(),
        },
    }
}
