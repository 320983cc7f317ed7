//! `mazurka orders`: which memory orders of a program, or of the code under the tests of a project,
//! are needed.

use crate::arguments::{Choice, Chosen, OfPrograms, SelectionArguments};
use crate::tell::{say, show};
use crate::{Done, Failure, chosen_engine, prepare, test_run};
use mazurka_check::orders::{Judge, Judged, MODEL, diff};
use mazurka_check::{Engine, Input, Language, Task};
use mazurka_core::MemoryOrder;
use mazurka_protocol::{AtomicAccess, AtomicSite, OrderChange};
use mazurka_report::{Colour, ExitStatus, counted};
use serde_json::{Value, json};
use std::time::Duration;

/// How long one search may take, if nothing is said.
const LIMIT: Duration = Duration::from_secs(10);

/// What `mazurka orders` is asked.
pub(crate) struct OrdersRequest {
    pub(crate) selection: SelectionArguments,
    pub(crate) engine: Choice,
    pub(crate) chosen: Chosen<OfPrograms>,
    pub(crate) json: bool,
    pub(crate) diff: bool,
}

/// Judges all sites and tells what came of it.
pub(crate) fn run(asked: OrdersRequest) -> Done {
    let OrdersRequest { selection, engine, chosen, json, diff } = asked;
    let files = selection.files();
    let is_told = !json && !diff;
    let output = crate::output::Output::default();
    let (tasks, engine) = match files.is_empty() {
        false => {
            let input = Input::Files { files, arguments: Vec::new() };
            let mut task = Task::new(input).options(chosen.options);
            if task.input.language()? == Language::Promela {
                let text = "`mazurka orders` is for C and C++ programs, and for the tests of cargo \
                            projects: a model has no memory orders";
                return Err(Failure::input(text).into());
            }
            let engine = chosen_engine(engine, &task, &output);
            prepare(&mut task, engine, chosen.given, &output)?;
            (vec![task], engine)
        }
        true => {
            let mut task = Task::program(Vec::new()).options(chosen.options);
            let engine = chosen_engine(engine, &task, &output);
            prepare(&mut task, engine, chosen.given, &output)?;
            (test_run::tasks(&selection.selection()?.0, &task)?, engine)
        }
    };
    if is_told {
        let name = match &tasks[..] {
            [task] => task.input.name(),
            tasks => counted(tasks.len() as u64, "test"),
        };
        say(Colour::Doing, "Checking", &name);
    }
    judge(tasks, engine, json, diff)
}

fn judge(tasks: Vec<Task>, engine: &'static dyn Engine, json: bool, as_diff: bool) -> Done {
    let model = tasks.first().and_then(|task| task.options.memory).unwrap_or(MODEL);
    let judge = Judge::new(tasks, engine, LIMIT)?;
    if judge.n_tasks() == 0 {
        let why = judge.left_out.iter().map(|(name, why)| format!("{name}: {why}"));
        let text = format!("nothing holds under `--memory {model}`, so no order can be judged");
        let why: Vec<String> = why.collect();
        return Err(Failure::input(text).help(why.join("; ")).into());
    }
    let mut judged = Vec::new();
    for site in &judge.sites {
        let it = judge.judge(site);
        if !json && !as_diff {
            show(&format!("{}\n", line(&it)));
        }
        judged.push(it);
    }
    let together = judge.together(&judged);
    if json {
        show(&format!("{}\n", to_json(&judge, &judged, &together, model.name())));
    } else if as_diff {
        let (text, unwritten) = diff(&together, |file| std::fs::read_to_string(file).ok());
        show(&text);
        unwritten.iter().for_each(|change| {
            remark!("note: {}: the order cannot be written there", place(&change.site));
        });
    } else {
        summary(&judge, &judged, &together);
    }
    Ok(if judged.iter().any(is_open) { ExitStatus::Inconclusive } else { ExitStatus::Holds })
}

/// Whether something weaker than what is known to do was not decided.
fn is_open(it: &Judged) -> bool {
    !it.open.is_empty()
}

fn place(site: &AtomicSite) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let file = std::path::Path::new(&site.file);
    let file = file.strip_prefix(&here).unwrap_or(file).display();
    match site.column {
        0 => format!("{file}:{}", site.line),
        column => format!("{file}:{}:{column}", site.line),
    }
}

/// What is said of a site.
fn line(it: &Judged) -> String {
    let Judged { site, weaker, refuted, open } = it;
    let mut words = Vec::new();
    match weaker {
        Some(MemoryOrder::Relaxed) if site.access == AtomicAccess::Fence => {
            words.push("could be left out: no test fails".to_owned());
        }
        Some(order) => words.push(format!("could be {order}: no test fails")),
        None if refuted.is_empty() && open.is_empty() => {
            words.push("as weak as can be".to_owned());
        }
        None if open.is_empty() => words.push("needed".to_owned()),
        None => {}
    }
    words.extend(refuted.iter().map(|it| {
        let with = match (site.access, it.order) {
            (AtomicAccess::Fence, MemoryOrder::Relaxed) => "without it".to_owned(),
            (_, order) => format!("if it is {order}"),
        };
        format!("{with}, {} fails: {}", it.task, it.message)
    }));
    words.extend(
        open.iter().map(|(order, why)| format!("not decided whether {order} would do: {why}")),
    );
    let (access, order) = (site.access.name(), site.order);
    format!("{}: {order} {access}: {}", place(site), words.join("; "))
}

fn summary(judge: &Judge, judged: &[Judged], together: &[OrderChange]) {
    let n = |is: &dyn Fn(&Judged) -> bool| judged.iter().filter(|it| is(it)).count();
    let weaker = n(&|it| it.weaker.is_some());
    let needed = n(&|it| it.weaker.is_none() && it.open.is_empty() && !it.refuted.is_empty());
    let open = n(&|it| is_open(it));
    let sites = match judged.len() {
        1 => "1 atomic access".to_owned(),
        n => format!("{n} atomic accesses"),
    };
    show("\n");
    let text = format!("{sites}: {weaker} could be weaker, {needed} needed, {open} not decided");
    say(Colour::Good, "Summary", &text);
    if weaker > together.len() {
        let text = format!("not all of them at once: {} can be", together.len());
        say(Colour::Open, "", &text);
    }
    for (name, why) in &judge.left_out {
        say(Colour::Open, "Left out", &format!("{name}: {why}"));
    }
}

fn to_json(judge: &Judge, judged: &[Judged], together: &[OrderChange], model: &str) -> Value {
    let sites = judged.iter().map(|it| {
        let Judged { site, weaker, refuted, open } = it;
        let verdict = match (weaker, refuted.is_empty(), open.is_empty()) {
            (Some(_), ..) => "weaker",
            (None, _, false) => "undecided",
            (None, false, true) => "needed",
            (None, true, true) => "weakest",
        };
        let refuted = refuted
            .iter()
            .map(|it| json!({ "order": it.order.name(), "test": it.task, "message": it.message }));
        let open = open.iter().map(|(order, why)| json!({ "order": order.name(), "why": why }));
        json!({
            "file": site.file, "line": site.line, "column": site.column,
            "access": site.access.name(), "order": site.order.name(),
            "verdict": verdict, "weaker": weaker.map(MemoryOrder::name),
            "refuted": refuted.collect::<Vec<_>>(), "undecided": open.collect::<Vec<_>>(),
        })
    });
    let together = together.iter().map(|change| {
        let AtomicSite { file, line, column, .. } = &change.site;
        json!({ "file": file, "line": line, "column": column, "order": change.order.name() })
    });
    let left_out = judge.left_out.iter().map(|(name, why)| json!({ "name": name, "why": why }));
    json!({
        "mazurka": env!("CARGO_PKG_VERSION"), "memory": model, "tests": judge.n_tasks(),
        "sites": sites.collect::<Vec<_>>(), "together": together.collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
    })
}
