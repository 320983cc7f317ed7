//! How far a job is, as a page that refreshes itself: one file without network.

use crate::status::{JobStatus, WorkerStatus};
use std::fmt::Write as _;

/// So often a browser reads it again, in seconds.
const REFRESH: u32 = 2;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;\
    padding:0 1rem;color:#1d2330;background:#fff}table{border-collapse:collapse;width:100%;\
    margin:1rem 0}th,td{text-align:right;padding:.3rem .7rem;border-bottom:1px solid #d8dce6;\
    font-variant-numeric:tabular-nums}th:first-child,td:first-child{text-align:left}\
    .gone{color:#8a92a6}.refuses{color:#a11}@media(prefers-color-scheme:dark){body{color:#e6e9f2;\
    background:#14171f}th,td{border-color:#333a4a}.refuses{color:#f77}}";

/// The page of a job that is explored.
pub fn page(job: &JobStatus) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"refresh\" content=\"{REFRESH}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Exploring {name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>Exploring {name}</h1>\n<table>\n",
        name = escaped(&job.program),
    );
    let rows = [
        ("Job", job.job.clone()),
        ("Executions in records", grouped(job.statistics.executions)),
        ("Executions a second", grouped(job.rate() as u64)),
        ("Units with a record", grouped(job.recorded)),
        ("Units without one", grouped(job.open)),
        ("Units that wait", grouped(job.queue.waiting)),
        ("Units that are delivered again", grouped(job.queue.redelivered)),
        ("Units that the broker had lost", grouped(job.requeued)),
        ("Searches that were void", job.restarts.to_string()),
    ];
    for (name, value) in rows {
        let _ = writeln!(page, "<tr><td>{name}</td><td>{}</td></tr>", escaped(&value));
    }
    page += "</table>\n<table>\n<tr><th>Worker</th><th>Slices at a time</th><th>Executions</th>\
             <th>A second</th><th>Slices</th><th>Lost</th><th>Redelivered</th></tr>\n";
    job.workers.iter().for_each(|worker| row(worker, &mut page));
    page += "</table>\n</body>\n</html>\n";
    page
}

fn row(worker: &WorkerStatus, page: &mut String) {
    let name = escaped(&worker.name);
    if let Some(why) = &worker.refuses {
        let _ = writeln!(
            page,
            "<tr class=\"refuses\"><td>{name}</td><td colspan=\"6\">{}</td></tr>",
            escaped(why)
        );
        return;
    }
    let class = if worker.is_alive { "" } else { " class=\"gone\"" };
    let cells = [
        u64::from(worker.jobs),
        worker.executions,
        worker.rate as u64,
        worker.slices,
        worker.lost,
        worker.redelivered,
    ];
    let cells: String = cells.map(|cell| format!("<td>{}</td>", grouped(cell))).concat();
    let _ = writeln!(page, "<tr{class}><td>{name}</td>{cells}</tr>");
}

/// A number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_refreshes_and_says_who_refuses() {
        let workers = vec![
            WorkerStatus { name: "a".into(), executions: 1234567, ..WorkerStatus::default() },
            WorkerStatus {
                name: "b".into(),
                refuses: Some("<libc>".into()),
                ..WorkerStatus::default()
            },
        ];
        let job = JobStatus { program: "x&y.c".into(), workers, ..JobStatus::default() };
        let page = page(&job);
        for part in ["http-equiv=\"refresh\"", "x&amp;y.c", "1,234,567", "&lt;libc&gt;"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert_eq!([0, 999, 1000, 12_345_678].map(grouped), ["0", "999", "1,000", "12,345,678"]);
    }
}
