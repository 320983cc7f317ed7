//! Several engines side by side: the first to know stops the others.
//!
//! Which of them that is depends on the machine. What it says does not: an execution, or a proof
//! that there is none, and never both.

use super::{Answer, Engine, Job, Outcome, Progress, bdd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Who takes part. Bounded search comes first: it has the shortest executions.
const MEMBERS: [Engine; 4] = [Engine::Bounded, Engine::Bdd, Engine::Ic3, Engine::Induction];

enum News {
    Progress(Progress),
    Outcome(Box<Outcome>),
}

pub(super) fn decide(job: &mut Job<'_>) -> Outcome {
    let is_over = Arc::new(AtomicBool::new(false));
    let (tell, news) = channel();
    let mut best: Option<Outcome> = None;
    let mut n_passed = 0;
    thread::scope(|scope| {
        for engine in MEMBERS {
            let (watch, tell) = (job.watch.until(&is_over), tell.clone());
            let circuit = job.circuit;
            scope.spawn(move || {
                let mut progress =
                    |progress: &Progress| send(&tell, News::Progress(progress.clone()));
                let mut job = Job { engine, circuit, watch: &watch, progress: &mut progress };
                let outcome = match engine {
                    // It cannot be stopped in the middle of an operation.
                    Engine::Bdd => bdd::decide(&mut job, bdd::FEW_NODES),
                    _ => engine.run(&mut job),
                };
                send(&tell, News::Outcome(Box::new(outcome)));
            });
        }
        drop(tell);
        for news in news {
            match news {
                // All go from depth to depth: the engine that is ahead is heard.
                News::Progress(progress) if progress.depth == n_passed => {
                    n_passed += 1;
                    (job.progress)(&progress);
                }
                News::Progress(_) => {}
                News::Outcome(outcome) => {
                    let is_better = best.as_ref().is_none_or(|best| rank(&outcome) > rank(best));
                    if is_better {
                        best = Some(*outcome);
                    }
                    if best.as_ref().is_some_and(is_final) {
                        is_over.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
    });
    best.expect("everybody answers")
}

fn send(tell: &Sender<News>, news: News) {
    tell.send(news).expect("the news are read until all have told theirs");
}

/// Whether no engine can know more.
fn is_final(outcome: &Outcome) -> bool {
    matches!(outcome.answer, Answer::Safe(_) | Answer::Unsafe(_))
}

/// How much an answer says.
fn rank(outcome: &Outcome) -> (u8, usize) {
    match outcome.answer {
        Answer::Safe(_) | Answer::Unsafe(_) => (3, 0),
        Answer::SafeTo { depth } => (2, depth),
        Answer::Unknown { depth: Some(depth), .. } => (1, depth),
        Answer::Unknown { depth: None, .. } => (0, 0),
    }
}
