//! The report for a terminal.
//!
//! [`checking`] before it begins and [`verdict`] when it is over, or [`render`] for both.

use crate::executions;
use crate::interleaving::Interleaving;
use crate::lines;
use crate::number::{counted, exact_time, grouped, time};
use crate::replay::push_command;
use crate::why::why;
use crate::{Colour, Page, Report, Style};
use mazurka_core::{
    Access, Counterexample, Coverage, Limit, Location, StateCoverage, Verdict, Violation,
    ViolationKind, Wait,
};

/// The whole text.
pub fn render(report: &Report<'_>, style: &Style) -> String {
    checking(report.name, report.n_threads, style) + &verdict(report, style)
}

/// What is about to be checked.
pub fn checking(name: &str, n_threads: usize, style: &Style) -> String {
    let mut page = Page::new(*style);
    let text = match n_threads {
        0 => name.to_owned(),
        n => format!("{name} ({})", counted(n as u64, "thread")),
    };
    page.headline(Colour::Doing, "Checking", &text, "");
    page.into_text()
}

/// What came of it.
///
/// A schedule is one word, to be copied, so it is never broken; if it is too long for the line, it
/// stands on one of its own, and if it is too long to copy, the text says how to do without.
/// Nothing else is wider than the style allows.
pub fn verdict(report: &Report<'_>, style: &Style) -> String {
    let mut page = Page::new(*style);
    let elapsed = time(report.elapsed);
    match report.verdict {
        Verdict::Holds(coverage) => {
            page.headline(
                Colour::Good,
                "Holds",
                &coverage.scope(),
                &format!("{}{elapsed}", size(report)),
            );
            page.line("");
            page.paragraph("Covered:", &coverage.to_string());
            notes(report).iter().for_each(|note| page.paragraph("", note));
            lines::sentence(report).iter().for_each(|text| page.paragraph("Reached:", text));
            tips(&mut page, &report.tips);
            executions::push(&mut page, report, style);
        }
        Verdict::Violated(found) => violation(report, found, style, &mut page),
        Verdict::Inconclusive(limit) => {
            let aside = format!("{}{elapsed}", size(report));
            page.headline(Colour::Open, "Stop", &limit_in_words(limit), &aside);
            let text = match report.proved {
                Some(_) => "the rest: nothing wrong in what was explored of it".to_owned(),
                None if is_within_first(report) => format!(
                    "nothing wrong in the first {} of an execution, which had not ended by then; \
                     nothing proved",
                    counted(report.statistics.max_depth, "step")
                ),
                None => "nothing wrong in what was explored, and nothing proved".to_owned(),
            };
            if let Some(proved) = report.proved {
                page.headline(Colour::Good, "Proved", &proved.to_string(), "");
            }
            if let Some(rung) = report.rungs.last() {
                let executions = counted(rung.executions, "execution");
                let words = format!("within {}: {executions}", preemptions(rung.preemptions));
                page.headline(Colour::Good, "", &format!("{words}, {}", time(rung.time)), "");
            }
            if let Some(sample) = report.sample {
                page.headline(Colour::Open, "Sampled", &sample.to_string(), "");
            }
            page.headline(Colour::Open, "Unverified", &text, "");
            notes(report).iter().for_each(|note| page.headline(Colour::Open, "", note, ""));
            lines::sentence(report).iter().for_each(|text| page.paragraph("Reached:", text));
            match report.tips.is_empty() && is_within_first(report) {
                true => tips(&mut page, &[SHORTER_EXECUTIONS.to_owned()]),
                false => tips(&mut page, &report.tips),
            }
            executions::push(&mut page, report, style);
        }
        other => page.headline(Colour::Open, "Unverified", other.name(), &elapsed),
    }
    page.into_text()
}

/// What to try where not even one execution has ended.
const SHORTER_EXECUTIONS: &str = "a program with fewer rounds is seen to its end, for instance a test of \
                                  Rust that makes fewer under `cfg!(mazurka)`; or a longer `--time-limit`";

/// Whether the search was stopped within its first execution.
fn is_within_first(report: &Report<'_>) -> bool {
    let statistics = report.statistics;
    let is_none = statistics.executions == 0 && statistics.states == 0 && report.sample.is_none();
    is_none && statistics.transitions > 0 && statistics.max_depth > 0
}

/// One line, for those who see many: a test that passes, or that does not.
pub fn one_line(report: &Report<'_>, style: &Style) -> String {
    let what = match report.verdict {
        Verdict::Holds(coverage) => format!("holds {}", coverage.scope()),
        Verdict::Violated(found) => format!("violated: {}", headline(found).0),
        Verdict::Inconclusive(limit) => format!("unverified: {}", limit_in_words(limit)),
        other => other.name().to_owned(),
    };
    let threads = match report.n_threads {
        0 => String::new(),
        n => format!(" ({})", counted(n as u64, "thread")),
    };
    let size = size(report);
    let size = size.trim_end_matches(", ");
    let sep = if size.is_empty() && threads.is_empty() { "" } else { ", " };
    let assuming = match report.verdict {
        Verdict::Holds(coverage) => assumed(coverage),
        _ => String::new(),
    };
    let time = time(report.elapsed);
    let counts = format!("{size}{threads}");
    let counts = counts.trim_start();
    let line = format!("mazurka: {what}: {counts}{sep}{time}{assuming}");
    style.clean_line(&line)
}

/// What a claim takes for granted, to go behind it.
fn assumed(coverage: &Coverage) -> String {
    let all: Vec<String> = coverage.assumptions().iter().map(ToString::to_string).collect();
    if all.is_empty() { String::new() } else { format!(", assuming {}", all.join(" and ")) }
}

/// What goes below the coverage.
fn notes(report: &Report<'_>) -> Vec<String> {
    let mut notes = report.notes.clone();
    notes.extend(report.state_coverage.map(|StateCoverage { local_states, traces, .. }| {
        format!(
            "visited: {}, {:.2} times each; {}, {:.2} times each",
            counted(local_states.unique, "local state"),
            local_states.ratio(),
            counted(traces.unique, "trace"),
            traces.ratio(),
        )
    }));
    notes
}

/// How much was searched, to be followed by the time.
fn size(report: &Report<'_>) -> String {
    let statistics = report.statistics;
    let size = match (report.traces, statistics.states, statistics.executions) {
        (Some(traces), ..) => counted(traces, "trace"),
        (None, states @ 1.., _) => counted(states, "state"),
        (None, 0, executions @ 1..) => counted(executions, "execution"),
        (None, 0, 0) => return String::new(),
    };
    format!("{size}, ")
}

fn violation(report: &Report<'_>, found: &Counterexample, style: &Style, page: &mut Page) {
    let mut aside = time(report.elapsed);
    if report.statistics.executions > 0 {
        aside = format!("execution {}, {aside}", grouped(report.statistics.executions));
    }
    let (text, circle) = headline(found);
    page.headline(Colour::Bad, "Violated", &text, &aside);
    circle.iter().for_each(|wait| page.headline(Colour::Bad, "", wait, ""));
    for line in found.accesses.iter().flat_map(stack) {
        page.headline(Colour::Bad, "", &line, "");
    }
    notes(report).iter().for_each(|note| page.headline(Colour::Bad, "", note, ""));
    let interleaving = Interleaving {
        thread_names: &report.thread_names,
        object_names: &report.object_names,
        loop_start: report.loop_start,
        is_full: report.is_full,
        sources: Some(&report.sources),
        ..Interleaving::from(found)
    };
    let lines = interleaving.lines();
    let table = interleaving.render_lines(&lines, style);
    if found.schedule.is_empty() && found.story.is_empty() {
        page.headline(Colour::Aside, "", "before the first step", "");
    }
    if !table.is_empty() {
        page.line("");
        table.lines().for_each(|line| page.line(line));
    }
    page.line("");
    why(&lines, found, report.loop_start).iter().for_each(|why| page.paragraph("Why:", why));
    if !found.end.is_empty() {
        page.paragraph("End:", &at_end(&found.end));
    }
    if let Some(hidden) = interleaving.hidden(&lines) {
        page.paragraph("Shown:", &hidden);
    }
    if let Some(shortest) = report.shortest {
        page.paragraph("Shortest:", &shortest.to_string());
    }
    push_command(page, report, &found.schedule, style);
    tips(page, &report.tips);
}

/// What variables hold in the end, as many of them as people read.
fn at_end(all: &[String]) -> String {
    const MOST: usize = 24;
    let shown = all[..all.len().min(MOST)].join(", ");
    match all.len().checked_sub(MOST) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {}", counted(more as u64, "variable") + " more"),
    }
}

fn preemptions(n: u32) -> String {
    counted(n.into(), "preemption")
}

/// An access of a data race: its place, and the calls that led there.
fn stack(access: &Access) -> impl Iterator<Item = String> + '_ {
    let what = if access.write { "writes" } else { "reads" };
    let stack = &access.stack[..end_of_test(&access.stack)];
    stack.iter().enumerate().map(move |(depth, place)| {
        let function = match &place.function {
            Some(function) => format!(" in {function}"),
            None => String::new(),
        };
        match depth {
            0 => format!("{} {what} it at {place}{function}", access.thread),
            _ => format!("called from {place}{function}"),
        }
    })
}

/// Where the function of a Rust test ends in a stack: it is called from a closure of its own name,
/// which the harness has made.
fn end_of_test(stack: &[Location]) -> usize {
    let is_made = |pair: &[Location]| match [&pair[0].function, &pair[1].function] {
        [Some(inner), Some(outer)] => outer.strip_suffix("::{{closure}}") == Some(inner),
        _ => false,
    };
    let end = stack.windows(2).position(is_made);
    end.map_or(stack.len(), |end| end + 1)
}

/// What goes wrong and, in a deadlock, who waits for whom, one by one, and where.
pub(crate) fn headline(found: &Counterexample) -> (String, Vec<String>) {
    let message = &found.violation.message;
    let title = title(&found.violation);
    if found.violation.kind != ViolationKind::Deadlock {
        return (titled(title, found.violation.summary()), Vec::new());
    }
    // The circle comes after a colon, one member after the other, in the order of the waits.
    let Some((what, circle)) = message.split_once(": ") else {
        let places = found.waits.iter().flat_map(|wait| places_of(wait, found)).collect();
        return (titled(title, message), places);
    };
    let members: Vec<&str> = circle.split("; ").collect();
    let mut lines = Vec::new();
    for (idx, member) in members.iter().enumerate() {
        lines.push((*member).to_owned());
        let wait = found.waits.get(idx).filter(|_| members.len() == found.waits.len());
        lines.extend(wait.map(|wait| places_of(wait, found)).unwrap_or_default());
    }
    (titled(title, what), lines)
}

/// Where a thread has taken what others wait for, and where it waits.
fn places_of(wait: &Wait, found: &Counterexample) -> Vec<String> {
    let is_wanted = |object| {
        let others = found.waits.iter().filter(|it| it.holders.contains(wait.thread));
        others.filter_map(|it| it.operation.object()).any(|wanted| wanted == object)
    };
    let took = wait.holds.iter().filter_map(|&step| {
        let idx = step.checked_sub(1)?;
        let object = found.execution.steps.get(idx)?.operation.object()?;
        let told = found.story.get(idx).filter(|_| is_wanted(object))?;
        let (name, place) = (told.object.as_deref()?, told.location.as_ref()?);
        Some(format!("took {name} at {}", short(place)))
    });
    let waits = wait.location.as_ref().map(|place| format!("waits at {}", short(place)));
    took.chain(waits).map(|line| format!("  {line}")).collect()
}

/// A place, without the function of a library in it.
fn short(place: &Location) -> String {
    Location { within: None, ..place.clone() }.to_string()
}

/// The words that people search for.
fn title(violation: &Violation) -> &'static str {
    match violation.kind {
        // The message names the property.
        ViolationKind::Ltl => "ltl",
        _ => violation.title(),
    }
}

/// A message under its title, if it does not begin with that itself.
fn titled(title: &str, message: &str) -> String {
    let (start, rest) =
        (message.get(..title.len()), message.get(title.len()..).unwrap_or_default());
    // `overflow.c:3` is a file.
    let ends = rest.is_empty() || rest.starts_with([' ', ':', ',']);
    match ends && start.is_some_and(|start| start.eq_ignore_ascii_case(title)) {
        true => format!("{title}{rest}"),
        false => format!("{title}: {message}"),
    }
}

fn tips(page: &mut Page, tips: &[String]) {
    tips.iter().for_each(|tip| page.paragraph("Tip:", tip));
}

fn limit_in_words(limit: &Limit) -> String {
    match limit {
        Limit::Time(limit) => format!("time limit, {}", exact_time(*limit)),
        Limit::Executions(n) => format!("execution limit, {}", grouped(*n)),
        Limit::Depth(n) => format!("depth limit, {}", counted(*n as u64, "step")),
        Limit::States(n) => format!("state limit, {}", counted(*n as u64, "state")),
        Limit::Memory(n) => format!("memory limit, {} MB", grouped(n.div_ceil(1_000_000))),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{self, Sample};
    use crate::style::columns;
    use expect_test::{Expect, expect};
    use mazurka_core::{Assumption, Bound, Property};
    use std::time::Duration;

    fn check(sample: &Sample, expect: Expect) {
        expect.assert_eq(&render(&sample.report(), &Style::new()));
    }

    #[test]
    fn a_file_in_a_message_is_no_title() {
        assert_eq!(titled("Overflow", "overflow.c:6: a sum"), "Overflow: overflow.c:6: a sum");
        assert_eq!(titled("Data race", "data race on `x`"), "Data race on `x`");
        assert_eq!(titled("Livelock", "livelock: it"), "Livelock: it");
    }

    #[test]
    fn an_assertion_with_three_threads() {
        check(
            &samples::lost_update(),
            expect![[r#"
                   Checking counter.rs (3 threads)
                   Violated Assertion failed: `counter == 2`: left is 1      execution 2, 0.01 s

                  step  main               worker-1           worker-2          tests/counter.rs
                     1  spawn worker-1                                           21:9
                     2  spawn worker-2                                           22:9
                     3                     load counter = 0                      11:9
                        preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
                     4                                        load counter = 0   11:9
                     5                                        store counter 0→1  12:9
                     6                     store counter 1→1                     12:9
                     7  join worker-1                                            24:9
                     8  join worker-2                                            24:9
                     9  load counter = 1                                         25:9
                        ✗ assertion fails

                Replay: mzk1:0x2.1.2x2.1.0x3
            "#]],
        );
    }

    #[test]
    fn a_deadlock_names_the_circle() {
        check(
            &samples::deadlock(),
            expect![[r#"
                   Checking counter.rs (2 threads)
                   Violated Deadlock: 2 threads wait for each other          execution 2, 0.01 s
                            alice holds accounts and waits for log, held by bob
                            bob holds log and waits for accounts, held by alice

                  step  alice             bob                 bank.rs
                     1  acquire accounts                      14:9
                        preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
                     2                    acquire log         30:9
                        ✗ acquire log     ✗ acquire accounts

                Replay: mzk1:0.1
            "#]],
        );
    }

    #[test]
    fn a_data_race() {
        check(
            &samples::data_race(),
            expect![[r#"
                   Checking counter.rs (2 threads)
                   Violated Data race on `data`: writer writes it at step 1 and reader reads it
                            at step 2, and nothing orders the two            execution 2, 0.01 s

                  step  writer  reader
                     1  yield
                     2          load ready = 0
                                ✗ data race

                Replay: mzk1:0.1
            "#]],
        );
    }

    #[test]
    fn a_data_race_with_its_stacks() {
        let Verdict::Violated(mut found) = samples::data_race().verdict else {
            unreachable!("it is violated")
        };
        let place = |line, function: &str| mazurka_core::Location {
            file: "queue.c".to_owned(),
            line,
            column: 5,
            function: Some(function.to_owned()),
            within: None,
            is_library: false,
        };
        let access = |thread: &str, write, step, stack| Access {
            thread: thread.to_owned(),
            by: Some(samples::thread(step - 1)),
            write,
            step,
            memory: Some("data".to_owned()),
            value: Some(if write { "0→7" } else { "= 7" }.to_owned()),
            stack,
        };
        found.accesses = vec![
            access("writer", true, 1, vec![place(7, "put"), place(20, "work")]),
            access("reader", false, 2, vec![place(12, "get")]),
        ];
        check(
            &Sample { n_threads: 2, ..Sample::of(Verdict::Violated(found)) },
            expect![[r#"
                   Checking counter.rs (2 threads)
                   Violated Data race on `data`: writer writes it at step 1 and reader reads it
                            at step 2, and nothing orders the two            execution 2, 0.01 s
                            writer writes it at queue.c:7:5 in put
                            called from queue.c:20:5 in work
                            reader reads it at queue.c:12:5 in get

                  step  writer             reader            queue.c
                        ✗ writes data 0→7                     7:5
                                           ✗ reads data = 7  12:5

                    Why: no lock, atomic, join or start of a thread leads from the access of
                         writer to that of reader.
                  Shown: 0 of 2 steps; `--trace full` shows all
                Replay: mzk1:0.1
            "#]],
        );
    }

    /// Two threads that each read under a lock and write under it later.
    fn withdrawals(n_more: usize) -> Counterexample {
        use mazurka_core::Operation as O;
        let lock = samples::object(0);
        let mut story = samples::Story::new(&["alice", "bob"], &["lock"]).file("bank.rs");
        for thread in [0, 1, 1, 0] {
            story =
                story.step(thread, O::Acquire(lock), "", 5).step(thread, O::Release(lock), "", 7);
        }
        let mut found = story.counterexample(ViolationKind::Assertion, "no");
        let access = |step: usize, by: usize, memory: &str, value: &str| Access {
            thread: ["alice", "bob"][by].to_owned(),
            by: Some(samples::thread(by)),
            write: !value.starts_with('='),
            step,
            memory: Some(memory.to_owned()),
            value: Some(value.to_owned()),
            stack: vec![Location {
                file: "bank.rs".to_owned(),
                line: 6,
                column: 9,
                function: None,
                within: None,
                is_library: false,
            }],
        };
        found.shared = vec![
            access(1, 0, "balance", "= 10"),
            access(1, 0, "heap(bank.rs:3)+0x8", "= 77"),
            access(3, 1, "balance", "= 10"),
            access(5, 1, "balance", "10→2"),
        ];
        found.shared.extend((0..n_more).map(|_| access(7, 0, "log", "= 1")));
        found.shared.push(access(7, 0, "balance", "2→-2"));
        found
    }

    #[test]
    fn plain_accesses_that_locks_order_have_rows() {
        // Every line is indented, and `expect!` takes away what all lines have.
        let table = |found: &Counterexample| {
            format!("80 columns:\n{}", Interleaving::from(found).render(&Style::new()))
        };
        expect![[r#"
            80 columns:
              step  alice                bob                  bank.rs
                 1  acquire lock                              5:9
                    reads balance = 10                        6:9
                 2  release lock                              7:9
                    preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
                 3                       acquire lock         5:9
                                         reads balance = 10   6:9
                 4                       release lock         7:9
                 5                       acquire lock         5:9
                                         writes balance 10→2  6:9
                 6                       release lock         7:9
                 7  acquire lock                              5:9
                    writes balance 2→-2                       6:9
                 8  release lock                              7:9
                    ✗ assertion fails
        "#]]
        .assert_eq(&table(&withdrawals(0)));
        // Of many, the writes are told.
        let many = table(&withdrawals(20));
        assert!(!many.contains("reads"), "{many}");
        assert!(many.contains("writes balance 10→2") && many.contains("writes balance 2→-2"));
    }

    #[test]
    fn a_livelock_is_a_stem_and_a_cycle() {
        check(
            &samples::livelock(2),
            expect![[r#"
                   Checking counter.rs (2 threads)
                   Violated Livelock: an execution did not end within 5 001 steps
                                                                             execution 2, 0.01 s

                  step  main            other          polite.rs
                     1  store turn 0→1                  3:9
                        from here on for ever ─ ─ ─ ─ ─
                     2  load turn = 1                   5:9
                     3  yield                           6:9
                     4                  load turn = 1  15:9
                     5                  yield          16:9
                     6  load turn = 1                   5:9
                     7  yield                           6:9
                     8                  load turn = 1  15:9
                     9                  yield          16:9
                        ↺ back to step 2

                    Why: steps 2 to 9 are repeated for ever: main reads turn = 1 at
                         polite.rs:5:9 each time; other reads turn = 1 at polite.rs:15:9 each
                         time.
                Replay: mzk1:0x3.1x2.0x2.1x2
            "#]],
        );
        let text = render(&samples::livelock(1250).report(), &Style::new());
        let (shown, schedule) = text.rsplit_once("Replay:\n").expect("it is too long for a line");
        assert!(schedule.starts_with("mzk1:0x3.1x2.0x2.1x2.") && schedule.lines().count() == 1);
        expect![[r#"
            80 columns:
               Checking counter.rs (2 threads)
               Violated Livelock: an execution did not end within 5 001 steps
                                                                         execution 2, 0.01 s

              step  main            other          polite.rs
                 1  store turn 0→1                  3:9
                    from here on for ever ─ ─ ─ ─ ─
                 2  load turn = 1                   5:9
                 3  yield                           6:9
                 4                  load turn = 1  15:9
                 5                  yield          16:9
                    … steps 2 to 5 again, 1 248 times
              4998  load turn = 1                   5:9
              4999  yield                           6:9
              5000                  load turn = 1  15:9
              5001                  yield          16:9
                    ↺ back to step 2

                Why: steps 2 to 5001 are repeated for ever: main reads turn = 1 at
                     polite.rs:5:9 each time; other reads turn = 1 at polite.rs:15:9 each
                     time.
        "#]]
        .assert_eq(&format!("80 columns:\n{shown}"));
    }

    #[test]
    fn a_schedule_that_is_too_long_to_copy_goes_to_a_file() {
        let sample = samples::livelock(1250);
        let mut report = sample.report();
        report.replay_with = Some("mazurka replay a.pml --schedule");
        let text = render(&report, &Style::new());
        let (_, replay) = text.rsplit_once("\n\n").expect("it comes last");
        expect![[r#"
                Why: steps 2 to 5001 are repeated for ever: main reads turn = 1 at
                     polite.rs:5:9 each time; other reads turn = 1 at polite.rs:15:9 each
                     time.
            Replay, after `--json FILE` has kept its 5 001 steps:
            mazurka replay a.pml --schedule @FILE
        "#]]
        .assert_eq(replay);
    }

    #[test]
    fn nothing_need_have_happened() {
        check(
            &samples::stuck_at_once(),
            expect![[r#"
                   Checking counter.rs (1 thread)
                   Violated Deadlock: 1 thread waits for ever                execution 2, 0.01 s
                            main waits to receive from queue
                            before the first step

                  step  main
                        ✗ receive

                Replay: mzk1:
            "#]],
        );
        check(
            &samples::wrong_at_once(),
            expect![[r#"
                   Checking counter.rs (1 thread)
                   Violated Crash: `main` panicked: no
                            configuration                                    execution 2, 0.01 s
                            before the first step

                Replay: mzk1:
            "#]],
        );
    }

    #[test]
    fn twelve_threads_are_a_list() {
        check(
            &samples::twelve(),
            expect![[r#"
                   Checking counter.rs (12 threads)
                   Violated Overflow: `ticket + 1` overflows                 execution 2, 0.01 s

                                                             src/ticket.rs
                     1  main: spawn w1                        7:9
                     2  main: spawn w2                        7:9
                     3  main: spawn w3                        7:9
                     4  main: spawn w4                        7:9
                     5  main: spawn w5                        7:9
                     6  main: spawn w6                        7:9
                     7  main: spawn w7                        7:9
                     8  main: spawn w8                        7:9
                     9  main: spawn w9                        7:9
                    10  main: spawn w10                       7:9
                    11  main: spawn w11                       7:9
                    12  w1: read-modify-write ticket 0→1     12:9
                    13  w2: read-modify-write ticket 1→2     12:9
                    14  w3: read-modify-write ticket 2→3     12:9
                    15  w4: read-modify-write ticket 3→4     12:9
                    16  w5: read-modify-write ticket 4→5     12:9
                    17  w6: read-modify-write ticket 5→6     12:9
                    18  w7: read-modify-write ticket 6→7     12:9
                    19  w8: read-modify-write ticket 7→8     12:9
                    20  w9: read-modify-write ticket 8→9     12:9
                    21  w10: read-modify-write ticket 9→10   12:9
                    22  w11: read-modify-write ticket 10→11  12:9
                        w11: ✗ overflows

                Replay: mzk1:0x11.1.2.3.4.5.6.7.8.9.10.11
            "#]],
        );
    }

    #[test]
    fn a_long_name_is_broken() {
        let names = ["main", "a-thread-with-a-name-of-forty-characters", "worker"];
        check(
            &samples::lost_update_with(&names, "counter.rs"),
            expect![[r#"
                   Checking counter.rs (3 threads)
                   Violated Assertion failed: `counter == 2`: left is 1      execution 2, 0.01 s

                  step  main      a-thread-with-a-name-of-forty-characters  worker    counter.rs
                     1  spawn a-thread-with-a-name-of-forty-characters                      21:9
                     2  spawn worker                                                        22:9
                     3            load counter = 0                                          11:9
                        preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
                     4                                                      load counter =  11:9
                                                                              0
                     5                                                      store counter   12:9
                                                                              0→1
                     6            store counter 1→1                                         12:9
                     7  join a-thread-with-a-name-of-forty-characters                       24:9
                     8  join worker                                                         24:9
                     9  load counter = 1                                                    25:9
                        ✗ assertion fails

                Replay: mzk1:0x2.1.2x2.1.0x3
            "#]],
        );
    }

    #[test]
    fn a_long_path_goes_below_its_step() {
        let names = ["main", "a", "b"];
        let path = "crates/a/very/long/path/to/counter.rs";
        check(
            &samples::lost_update_with(&names, path),
            expect![[r#"
                   Checking counter.rs (3 threads)
                   Violated Assertion failed: `counter == 2`: left is 1      execution 2, 0.01 s

                  step  main               a                  b
                                                           crates/a/very/long/path/to/counter.rs
                     1  spawn a                                                  21:9
                     2  spawn b                                                  22:9
                     3                     load counter = 0                      11:9
                        preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
                     4                                        load counter = 0   11:9
                     5                                        store counter 0→1  12:9
                     6                     store counter 1→1                     12:9
                     7  join a                                                   24:9
                     8  join b                                                   24:9
                     9  load counter = 1                                         25:9
                        ✗ assertion fails

                Replay: mzk1:0x2.1.2x2.1.0x3
            "#]],
        );
    }

    #[test]
    fn odd_names_keep_their_columns() {
        check(
            &samples::odd_names(),
            expect![[r#"
                   Checking counter.rs (3 threads)
                   Violated Assertion failed: \u{1b}[2J`é`
                            left: 1
                            right: 2                                         execution 2, 0.01 s

                  step  główny           工作线程        evil\u{1b}[31m\u{202e}name  źródła/λ.rs
                     1  spawn 工作线程                                                       1:9
                     2  spawn evil\u{1b}[31m\u{202e}name                                     2:9
                     3                   load счётчик = "日本"                               3:9
                     4                                   notify-one счётчик, wakes 工作线程  4:9
                     5                                   try-acquire счётчик, failed
                                                         ✗ assertion fails

                Replay: mzk1:0x2.1.2x2
            "#]],
        );
        let ascii = Style::new().ascii(true);
        expect![[r#"
               Checking counter.rs (3 threads)
               Violated Assertion failed: \u{1b}[2J`\u{e9}`
                        left: 1
                        right: 2                                         execution 2, 0.01 s

                                                          \u{17a}r\u{f3}d\u{142}a/\u{3bb}.rs
                 1  g\u{142}\u{f3}wny: spawn \u{5de5}\u{4f5c}\u{7ebf}\u{7a0b}            1:9
                 2  g\u{142}\u{f3}wny: spawn evil\u{1b}[31m\u{202e}name                  2:9
                 3  \u{5de5}\u{4f5c}\u{7ebf}\u{7a0b}: load                               3:9
                      \u{441}\u{447}\u{451}\u{442}\u{447}\u{438}\u{43a} =
                      "\u{65e5}\u{672c}"
                 4  evil\u{1b}[31m\u{202e}name: notify-one                               4:9
                      \u{441}\u{447}\u{451}\u{442}\u{447}\u{438}\u{43a}, wakes
                      \u{5de5}\u{4f5c}\u{7ebf}\u{7a0b}
                 5  evil\u{1b}[31m\u{202e}name: try-acquire
                      \u{441}\u{447}\u{451}\u{442}\u{447}\u{438}\u{43a}, failed
                    evil\u{1b}[31m\u{202e}name: x assertion fails

            Replay: mzk1:0x2.1.2x2
        "#]]
        .assert_eq(&render(&samples::odd_names().report(), &ascii));
    }

    #[test]
    fn five_thousand_steps_are_folded() {
        let text = render(&samples::five_thousand().report(), &Style::new());
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() < 500, "{}", lines.len());
        expect![[r#"
            first:
               Checking counter.rs (2 threads)
               Violated Invalid memory access: `tail` is past the end of the buffer
                                                                         execution 2, 0.01 s

              step  producer              consumer
                 1  store head 0→1
                 2  store head 1→2
                 3  store head 2→3
                    … 1 994 steps of producer
              1998  store head 1997→1998
              1999  store head 1998→1999
              2000  store head 1999→2000
                    preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
              2001                        store tail 0→1
              2002                        store tail 1→2
              2003                        store tail 2→3
                    … 1 994 steps of consumer
              3998                        store tail 1997→1998
              3999                        store tail 1998→1999
              4000                        store tail 1999→2000
                    preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
              4001  load head = 0
                    preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
              4002                        load tail = 1"#]]
        .assert_eq(&format!("first:\n{}", lines[..24].join("\n")));
        expect![[r#"
              4998                        load tail = 997
                    preempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─
              4999  load head = 998
              5000                        load tail = 999
                                          ✗ invalid memory access

            Replay:"#]]
        .assert_eq(&lines[lines.len() - 8..lines.len() - 1].join("\n"));
    }

    #[test]
    fn colours_are_for_words_and_frames() {
        let text = render(&samples::deadlock().report(), &Style::new().colour(true));
        expect![[r#"
            ESC[1;36m   CheckingESC[0m counter.rs (2 threads)
            ESC[1;31m   ViolatedESC[0m Deadlock: 2 threads wait for each other          execution 2, 0.01 s
            ESC[1;31m           ESC[0m alice holds accounts and waits for log, held by bob
            ESC[1;31m           ESC[0m bob holds log and waits for accounts, held by alice

            ESC[2m  step  alice             bob                 bank.rsESC[0m
                 1  acquire accounts                      ESC[2m14:9ESC[0m
                    ESC[2mpreempted ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ESC[0m
                 2                    acquire log         ESC[2m30:9ESC[0m
            ESC[1;31m        ✗ acquire log     ✗ acquire accountsESC[0m

            Replay: mzk1:0.1
        "#]].assert_eq(&text.replace('\x1b', "ESC"));
    }

    fn holds() -> Sample {
        let coverage = Coverage::of([
            Property::Assertion,
            Property::Deadlock,
            Property::Race,
            Property::Livelock,
        ])
        .within(Bound::Preemption(2))
        .assuming(Assumption::Printing);
        Sample::of(Verdict::Holds(coverage))
    }

    #[test]
    fn a_pass_says_what_it_covers() {
        check(
            &Sample::of(Verdict::Holds(Coverage::of([Property::Deadlock]))),
            expect![[r#"
               Checking counter.rs (3 threads)
                  Holds in every interleaving                           2 executions, 0.01 s

            Covered: no deadlock in any execution
        "#]],
        );
        let sample = holds();
        let mut report = sample.report();
        report.traces = Some(18_204);
        report.elapsed = Duration::from_millis(2_130);
        report.notes.push("source: 18 300 executions stand for 1.1 M interleavings".to_owned());
        let visits = crate::samples::state_coverage();
        report.state_coverage = Some(&visits);
        report.tips.push("`--bound none` drops the limit".to_owned());
        expect![[r#"
               Checking counter.rs (3 threads)
                  Holds within the bound                                18 204 traces, 2.1 s

            Covered: no assertion failure, deadlock, data race or livelock in any execution
                     with at most 2 preemptions, assuming what prints succeeds
                     source: 18 300 executions stand for 1.1 M interleavings
                     visited: 49 local states, 1.22 times each; 1 trace, 2.00 times each
                Tip: `--bound none` drops the limit
        "#]]
        .assert_eq(&render(&report, &Style::new()));
        expect!["mazurka: holds within the bound: 18 204 traces (3 threads), 2.1 s, assuming what prints succeeds"]
            .assert_eq(&one_line(&report, &Style::new()));
    }

    #[test]
    fn a_search_that_is_stopped_in_its_first_execution_says_how_far_it_came() {
        let mut sample = Sample::of(Verdict::Inconclusive(Limit::Time(Duration::from_secs(2))));
        sample.statistics.executions = 0;
        sample.statistics.transitions = 41_343;
        sample.statistics.max_depth = 41_343;
        expect![[r#"
                   Stop time limit, 2 s                                               0.01 s
             Unverified nothing wrong in the first 41 343 steps of an execution, which had
                        not ended by then; nothing proved
                Tip: a program with fewer rounds is seen to its end, for instance a test of
                     Rust that makes fewer under `cfg!(mazurka)`; or a longer `--time-limit`
            mazurka: unverified: time limit, 2 s: (3 threads), 0.01 s"#]]
        .assert_eq(
            &(verdict(&sample.report(), &Style::new())
                + &one_line(&sample.report(), &Style::new())),
        );
    }

    #[test]
    fn a_limit_is_no_pass() {
        let limits = [
            Limit::Time(Duration::from_secs(60)),
            Limit::Executions(10_000),
            Limit::Depth(1),
            Limit::States(5_000_000),
            Limit::Memory(8_000_000_000),
            Limit::Interrupted,
        ];
        let mut text = String::new();
        for limit in limits {
            let sample = Sample::of(Verdict::Inconclusive(limit));
            text += &verdict(&sample.report(), &Style::new());
            text += &one_line(&sample.report(), &Style::new());
            text += "\n\n";
        }
        expect![[r#"
                   Stop time limit, 60 s                                2 executions, 0.01 s
             Unverified nothing wrong in what was explored, and nothing proved
            mazurka: unverified: time limit, 60 s: 2 executions (3 threads), 0.01 s

                   Stop execution limit, 10 000                         2 executions, 0.01 s
             Unverified nothing wrong in what was explored, and nothing proved
            mazurka: unverified: execution limit, 10 000: 2 executions (3 threads), 0.01 s

                   Stop depth limit, 1 step                             2 executions, 0.01 s
             Unverified nothing wrong in what was explored, and nothing proved
            mazurka: unverified: depth limit, 1 step: 2 executions (3 threads), 0.01 s

                   Stop state limit, 5 000 000 states                   2 executions, 0.01 s
             Unverified nothing wrong in what was explored, and nothing proved
            mazurka: unverified: state limit, 5 000 000 states: 2 executions (3 threads), 0.01 s

                   Stop memory limit, 8 000 MB                          2 executions, 0.01 s
             Unverified nothing wrong in what was explored, and nothing proved
            mazurka: unverified: memory limit, 8 000 MB: 2 executions (3 threads), 0.01 s

                   Stop interrupted                                     2 executions, 0.01 s
             Unverified nothing wrong in what was explored, and nothing proved
            mazurka: unverified: interrupted: 2 executions (3 threads), 0.01 s

        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn a_schedule_is_never_broken() {
        let sample = samples::lost_update();
        let mut report = sample.report();
        report.replay_with = Some("cargo mazurka replay tests/counter.rs --test lost_update");
        let text = render(&report, &Style::new());
        let lines: Vec<&str> = text.lines().rev().take(2).collect();
        expect![[r#"
            cargo mazurka replay tests/counter.rs --test lost_update mzk1:0x2.1.2x2.1.0x3
            Replay:"#]]
        .assert_eq(&lines.join("\n"));
    }

    #[test]
    fn a_violation_fits_on_a_line() {
        let lines = [samples::deadlock(), samples::odd_names(), samples::wrong_at_once()]
            .map(|sample| one_line(&sample.report(), &Style::new()));
        expect![[r#"
            mazurka: violated: Deadlock: 2 threads wait for each other: 2 executions (2 threads), 0.01 s
            mazurka: violated: Assertion failed: \u{1b}[2J`é` left: 1 right: 2: 2 executions (3 threads), 0.01 s
            mazurka: violated: Crash: `main` panicked: no configuration: 2 executions (1 thread), 0.01 s"#]].assert_eq(&lines.join("\n"));
    }

    /// A text without its colours.
    fn stripped(text: &str) -> String {
        let mut parts = text.split("\x1b[");
        let mut stripped = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            stripped.push_str(part.split_once('m').expect("only colours are used").1);
        }
        stripped
    }

    #[test]
    fn no_line_is_wider_than_it_may_be_and_colours_change_nothing_else() {
        let mut samples = samples::all();
        samples.push(("holds", holds()));
        samples.push(("stopped", Sample::of(Verdict::Inconclusive(Limit::Interrupted))));
        for (name, sample) in &samples {
            for width in [0, 40, 41, 47, 60, 72, 79, 80, 81, 100, 132, 200] {
                for ascii in [false, true] {
                    let style = Style::new().width(width).ascii(ascii);
                    let text = render(&sample.report(), &style);
                    assert!(!text.contains('\x1b'), "{name}: an escape code without colours");
                    assert!(!ascii || text.is_ascii(), "{name}: not ASCII");
                    for line in text.lines().filter(|line| !line.starts_with("mzk1:")) {
                        let is_ok = columns(line) <= width.max(Style::MIN_WIDTH);
                        assert!(is_ok, "{name} at {width}: {line}");
                        assert_eq!(line, line.trim_end(), "{name}: blanks at the end");
                    }
                    let coloured = render(&sample.report(), &style.colour(true));
                    assert_eq!(stripped(&coloured), text, "{name} at {width}");
                }
            }
        }
    }
}
