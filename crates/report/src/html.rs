//! A counterexample as a page: one file without network, with a space-time diagram.
//!
//! Columns are threads and rows are steps. Everything that is to be read is in the document before
//! any script runs, so that the page prints, is searched, and is read aloud; the script moves the
//! highlight, folds long runs and follows the keyboard. Rows have a fixed height, so that the
//! arrows between them are drawn here.

use crate::diagram::{Diagram, Row};
use crate::interleaving::{Interleaving, Names, Who};
use crate::{Report, Sources, Style, text, why};
use mazurka_core::{Counterexample, DecisivePair, Location, Verdict};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

const SCRIPT: &str = include_str!("html/page.js");
const STYLE: &str = include_str!("html/page.css");

/// The height of a row and the width of a column, in CSS pixels; `page.css` has them, too.
const ROW: usize = 28;
const COLUMN: usize = 240;
const GUTTER: usize = 56;
/// How many lines of the source are shown before and after the one of a step.
const CONTEXT: u32 = 3;
/// From so many rows on, runs of one thread that nothing else follows are folded at first.
const FOLD_FROM: usize = 400;
/// The shortest run that is folded.
const FOLD_RUN: usize = 4;

/// The page.
pub fn render(report: &Report<'_>) -> String {
    let mut page = String::new();
    let title = match report.verdict {
        Verdict::Violated(found) => {
            format!("{}: {}", found.violation.title(), found.violation.summary())
        }
        Verdict::Holds(_) => format!("Holds: {}", report.name),
        _ => format!("Unverified: {}", report.name),
    };
    let _ = write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escaped(&title)
    );
    match (report.verdict, Diagram::shown(report)) {
        (Verdict::Violated(found), Some(diagram)) => {
            violation(report, found, &diagram, &mut page);
        }
        _ => {
            let told = text::render(report, &Style::new());
            let _ = write!(
                page,
                "<header><h1>{}</h1></header>\n<main><pre class=\"told\">{}</pre></main>\n",
                escaped(&title),
                escaped(&told)
            );
        }
    }
    page += "</body>\n</html>\n";
    page
}

fn violation(report: &Report<'_>, found: &Counterexample, diagram: &Diagram, page: &mut String) {
    let n_rows = diagram.rows.len();
    let n_preempted = diagram.rows.iter().filter(|row| row.is_preempted).count();
    let counted = |n: usize, what: &str| crate::counted(n as u64, what);
    let _ = write!(
        page,
        "<header>\n<h1><span class=\"cross\" aria-hidden=\"true\">✗</span> {}</h1>\n\
         <p class=\"sub\">{} · {} · {} · {}</p>\n</header>\n<main>\n<section class=\"diagram\" \
         aria-label=\"Execution\" style=\"--threads:{}\">\n",
        escaped(&text::headline(found).0),
        escaped(report.name),
        counted(diagram.threads.len(), "thread"),
        counted(found.execution.steps.len().max(found.story.len()), "step"),
        counted(n_preempted, "preemption"),
        diagram.threads.len()
    );
    arrows(diagram, page);
    table(diagram, page);
    if let Some(pair) = &found.decisive {
        swapped(report, found, pair, page);
    }
    page.push_str("</section>\n<aside>\n");
    let _ = write!(
        page,
        "<section class=\"why\"><h2>Why</h2><p>{}</p>",
        escaped(&found.violation.message)
    );
    for why in why::why_of(report, found) {
        let _ = write!(page, "<p class=\"because\">{}</p>", linked(&why));
    }
    for note in &report.notes {
        let _ = write!(page, "<p>{}</p>", escaped(note));
    }
    for access in &found.accesses {
        let verb = if access.write { "writes" } else { "reads" };
        let place = access.stack.first().map_or(String::new(), |place| format!(" at {place}"));
        let step = access.step;
        let _ = write!(
            page,
            "<p><a href=\"#step={step}\">Step {step}</a>: {} {verb}{}</p>",
            escaped(&access.thread),
            escaped(&place)
        );
    }
    let _ = write!(
        page,
        "</section>\n<section class=\"walk\" hidden><h2>Row <output>1</output> of {n_rows}</h2>\
         <input type=\"range\" min=\"1\" max=\"{n_rows}\" value=\"1\" aria-label=\"Step\">\
         <p class=\"now\"></p><p class=\"hint\">Arrow keys move from step to step.</p></section>\n\
         <section class=\"watch\" hidden><h2>Values</h2><table><tbody></tbody></table></section>\n\
         <section class=\"source\" hidden><h2>Source</h2><pre></pre></section>\n"
    );
    if let Some(command) = report.replay_with {
        let _ = writeln!(
            page,
            "<section class=\"replay\"><h2>Replay</h2><pre>{} {}</pre></section>",
            escaped(command),
            escaped(&found.schedule.to_string())
        );
    }
    page.push_str("</aside>\n</main>\n");
    let data = data(diagram, &report.sources).to_string();
    // A `<` could end the element or begin a comment in it.
    let _ = write!(
        page,
        "<script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{SCRIPT}</script>\n",
        data.replace('<', "\\u003c")
    );
}

/// The execution in which the pair that decides comes the other way round.
fn swapped(report: &Report<'_>, found: &Counterexample, pair: &DecisivePair, page: &mut String) {
    let shown = Interleaving {
        story: &pair.story,
        thread_names: &report.thread_names,
        object_names: &report.object_names,
        is_full: report.is_full,
        ..Interleaving::new(&pair.execution)
    };
    let names = Names::of(&shown);
    let lines = shown.lines();
    let threads: BTreeSet<&Who> = lines.iter().map(|line| &line.who).collect();
    let steps = found.execution.steps.iter().zip(&pair.execution.steps);
    let parts = steps.take_while(|(here, there)| here.decision == there.decision).count();
    let _ = write!(
        page,
        "<details class=\"swap\"><summary>The same execution with step {} before step {}: nothing \
         goes wrong</summary>\n<table><thead><tr><th scope=\"col\">step</th>",
        pair.second, pair.first
    );
    for who in &threads {
        let _ = write!(page, "<th scope=\"col\">{}</th>", escaped(&names.who(who)));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for line in &lines {
        let is_other = line.steps.iter().any(|&idx| idx >= parts);
        let class = if is_other { " class=\"other\"" } else { "" };
        let number = line.number.map_or(String::new(), |number| number.to_string());
        let _ = write!(page, "<tr{class}><th scope=\"row\">{number}</th>");
        for who in &threads {
            let text = if **who == line.who { escaped(&line.text) } else { String::new() };
            let _ = write!(page, "<td>{text}</td>");
        }
        page.push_str("</tr>\n");
    }
    let _ = write!(
        page,
        "</tbody></table>\n<p>From step {} on it is another one: {}</p></details>\n",
        parts + 1,
        escaped(&pair.schedule.to_string())
    );
}

/// A sentence in which the steps it names are links to them.
fn linked(sentence: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut is_step = false;
    for word in sentence.split(' ') {
        let number = word.trim_end_matches(|it: char| !it.is_ascii_digit());
        let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
        words.push(match is_step && is_number {
            true => {
                let rest = &word[number.len()..];
                format!("<a href=\"#step={number}\">{number}</a>{}", escaped(rest))
            }
            false => escaped(word),
        });
        is_step = matches!(word, "step" | "steps") || is_step && (is_number || word == "and");
    }
    words.join(" ")
}

/// The arrows between rows: the transitive reduction of happens-before.
fn arrows(diagram: &Diagram, page: &mut String) {
    let height = (diagram.rows.len() + 2) * ROW;
    let width = GUTTER + diagram.threads.len() * COLUMN;
    let _ = write!(
        page,
        "<svg class=\"arrows\" width=\"{width}\" height=\"{height}\" aria-hidden=\"true\">\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" \
         markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>"
    );
    for (to, row) in diagram.rows.iter().enumerate() {
        for edge in &row.follows {
            let from = edge.from;
            let kind = if edge.is_race { "race" } else { "sync" };
            let (x1, x2) = (dot(diagram.rows[from].thread), dot(row.thread));
            let _ = write!(
                page,
                "<path class=\"{kind}\" data-from=\"{from}\" data-to=\"{to}\" data-x1=\"{x1}\" \
                 data-x2=\"{x2}\" d=\"{}\" marker-end=\"url(#tip)\"/>",
                curve(x1, middle(from), x2, middle(to))
            );
        }
    }
    page.push_str("</svg>\n");
}

/// Where the dot of a step is, from the left.
fn dot(thread: usize) -> usize {
    GUTTER + thread * COLUMN + 10
}

/// The middle of a row, from the top: the heads of the columns come first.
fn middle(row: usize) -> usize {
    (row + 1) * ROW + ROW / 2
}

fn curve(x1: usize, y1: usize, x2: usize, y2: usize) -> String {
    let bend = (y2.abs_diff(y1) / 2).min(ROW * 2);
    format!("M{x1} {y1}C{x1} {} {x2} {} {x2} {y2}", y1 + bend, y2 - bend)
}

fn table(diagram: &Diagram, page: &mut String) {
    page.push_str("<table class=\"steps\"><thead><tr><th scope=\"col\">step</th>");
    for (idx, name) in diagram.threads.iter().enumerate() {
        let _ = write!(page, "<th scope=\"col\" class=\"t{}\">{}</th>", idx % 6, escaped(name));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    let folds = folds(diagram);
    for (idx, row) in diagram.rows.iter().enumerate() {
        let mut classes = format!("t{}", row.thread % 6);
        if row.is_preempted {
            classes += " preempted";
        }
        if diagram.loop_start == Some(idx) {
            classes += " loop";
        }
        let fold = folds.get(&idx).map_or(String::new(), |n| format!(" data-fold=\"{n}\""));
        let _ = write!(
            page,
            "<tr{} class=\"{classes}\" data-row=\"{idx}\"{fold}><th scope=\"row\">{}</th>",
            row.number.map_or(String::new(), |number| format!(" id=\"s{number}\"")),
            row.number.map_or(String::new(), |number| number.to_string())
        );
        for thread in 0..diagram.threads.len() {
            match thread == row.thread {
                true => cell(row, page),
                false => page.push_str("<td></td>"),
            }
        }
        page.push_str("</tr>\n");
    }
    if !diagram.ends.is_empty() {
        page.push_str("<tr class=\"wrong\"><th scope=\"row\"><span class=\"cross\">✗</span></th>");
        for thread in 0..diagram.threads.len() {
            let end = diagram.ends.iter().find(|(of, _)| *of == thread);
            let text = end.map_or(String::new(), |(_, what)| format!("✗ {}", escaped(what)));
            let _ = write!(page, "<td title=\"{text}\">{text}</td>");
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table>\n");
}

fn cell(row: &Row, page: &mut String) {
    let place = row.location.as_ref().map_or(String::new(), short);
    let text = escaped(&row.text);
    let preempted =
        if row.is_preempted { "<span class=\"sr\">after a preemption: </span>" } else { "" };
    let _ = write!(
        page,
        "<td><button type=\"button\" title=\"{text}\">{preempted}<span>{text}</span> \
         <small>{}</small></button></td>",
        escaped(&place)
    );
}

/// The file without its folders, and the line.
fn short(place: &Location) -> String {
    let file = place.file.rsplit('/').next().unwrap_or(&place.file);
    format!("{file}:{}", place.line)
}

/// The first rows of runs to fold, with their lengths.
fn folds(diagram: &Diagram) -> BTreeMap<usize, usize> {
    let mut folds = BTreeMap::new();
    if diagram.rows.len() < FOLD_FROM {
        return folds;
    }
    let mut is_cause = vec![false; diagram.rows.len()];
    diagram.rows.iter().flat_map(|row| &row.follows).for_each(|edge| is_cause[edge.from] = true);
    let is_quiet = |idx: usize| {
        let row = &diagram.rows[idx];
        row.follows.is_empty() && !is_cause[idx] && !row.is_preempted
    };
    let mut start = 0;
    while start < diagram.rows.len() {
        let thread = diagram.rows[start].thread;
        let run = (start..diagram.rows.len())
            .take_while(|&idx| is_quiet(idx) && diagram.rows[idx].thread == thread)
            .count();
        if run >= FOLD_RUN {
            folds.insert(start, run);
        }
        start += run.max(1);
    }
    folds
}

/// What the script needs: values, places and source lines, each file once.
fn data(diagram: &Diagram, sources: &Sources) -> serde_json::Value {
    let rows: Vec<_> = diagram
        .rows
        .iter()
        .map(|row| {
            let place = row.location.as_ref();
            json!({
                "number": row.number,
                "thread": diagram.threads[row.thread],
                "text": row.text,
                "object": row.object,
                "value": row.value,
                "file": place.map(|place| &place.file),
                "line": place.map(|place| place.line),
                "follows": row.follows.iter().map(|edge| edge.from).collect::<Vec<_>>(),
            })
        })
        .collect();
    let mut lines: BTreeMap<&str, BTreeMap<u32, &str>> = BTreeMap::new();
    let places = || diagram.rows.iter().filter_map(|row| row.location.as_ref());
    let texts: BTreeMap<&str, Arc<str>> = places()
        .filter_map(|place| Some((place.file.as_str(), sources.text(&place.file)?)))
        .collect();
    for place in places() {
        let Some(text) = texts.get(place.file.as_str()) else { continue };
        let from = place.line.saturating_sub(CONTEXT).max(1);
        let shown = text.lines().enumerate().skip(from as usize - 1).take(2 * CONTEXT as usize + 1);
        let of_file = lines.entry(&place.file).or_default();
        of_file.extend(shown.map(|(idx, line)| (idx as u32 + 1, line)));
    }
    json!({ "rows": rows, "lines": lines, "row": ROW })
}

/// Text in an element or an attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\n' => safe.push('\n'),
            char if char.is_control() => safe.push('\u{fffd}'),
            char => safe.push(char),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn the_page_has_every_step_before_any_script_runs() {
        let sample = samples::lost_update();
        let source = |file: &str| (file == "tests/counter.rs").then(|| "line\n".repeat(30));
        let page = render(&Report { sources: Sources::new(source), ..sample.report() });
        for (number, text) in [(3, "load counter = 0"), (6, "store counter 1→1")] {
            assert!(page.contains(&format!("<tr id=\"s{number}\"")));
            assert!(page.contains(&format!("title=\"{text}\"")), "{text}");
        }
        assert!(page.contains("<td title=\"✗ assertion fails\">"));
        assert!(page.contains("class=\"race\" data-from=\"2\" data-to=\"4\""));
        assert!(!page.contains("http://") && !page.contains("https://"), "no network");
    }

    #[test]
    fn the_reversed_pair_has_a_table_and_a_reason() {
        let mut sample = samples::lost_update();
        let Verdict::Violated(found) = &mut sample.verdict else { unreachable!("it is violated") };
        let (mut execution, mut story) = (found.execution.clone(), found.story.clone());
        // One thread after the other.
        for order in [(2, 4), (3, 5)] {
            execution.steps.swap(order.0, order.1);
            story.swap(order.0, order.1);
        }
        let schedule = execution.schedule();
        found.decisive = Some(DecisivePair { first: 3, second: 5, execution, story, schedule });
        let page = render(&sample.report());
        for words in [
            "with step 5 before step 3: nothing goes wrong",
            "steps <a href=\"#step=3\">3</a> and <a href=\"#step=5\">5</a> race on counter.",
            "From step 3 on it is another one",
        ] {
            assert!(page.contains(words), "{words}");
        }
    }

    #[test]
    fn names_of_the_program_cannot_leave_their_element() {
        let names = ["main", "</script><script>alert(1)</script>", "\"><b>"];
        let sample = samples::lost_update_with(&names, "a</script>.rs");
        let sources = Sources::new(|_| Some("<!-- <script> -->\n".repeat(30)));
        let page = render(&Report { sources, ..sample.report() });
        assert_eq!(page.matches("<script>").count(), 1, "only our own");
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("<b>"));
    }

    #[test]
    fn verdicts_without_an_execution_are_told_as_text() {
        let sample = samples::Sample::of(Verdict::Holds(mazurka_core::Coverage::of([
            mazurka_core::Property::Deadlock,
        ])));
        let page = render(&sample.report());
        assert!(page.contains("<h1>Holds: counter.rs</h1>") && page.contains("no deadlock"));
    }
}
