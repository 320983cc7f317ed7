//! What engines tell on the way as lines of JSON, for `--events`.
//!
//! Every line is an object with `event`, `file`, which is what is checked, and `time_s`, the seconds
//! since the command began. The first of a check is a `phase`, the last one its `verdict`, or an
//! `error` where there is none.
//!
//! | `event` | keys |
//! |---|---|
//! | `phase` | `phase`: `compiling`, `translating`, `learning`, `searching`, `proving`, `minimising` or `replaying` |
//! | `progress` | `executions`, `blocked_executions`, `transitions`, `states`, `max_depth`, `frontier`, `rate`, `memory_bytes`, `estimate` (`null`, or `executions` and `spread`) |
//! | `gauge` | `states`, `depth`, `clauses`, `conflicts`, `rate`, `memory_bytes` |
//! | `proved` | `coverage` |
//! | `memory` | `limit_bytes`: more is in use |
//! | `verdict` | `verdict`, `engine` |
//! | `error` | `reason` |

use mazurka_core::{Event, Verdict};
use serde_json::{Value, json};
use std::time::Duration;

/// An event of a check, which has a name, as a line without its end; nothing if it is of a kind that
/// is not told.
pub fn line(name: &str, event: &Event, elapsed: Duration, memory: Option<u64>) -> Option<String> {
    let time = elapsed.as_micros() as f64 / 1e6;
    let mut object: Value = match event {
        Event::Phase(phase) => json!({ "event": "phase", "time_s": time, "phase": phase.name() }),
        Event::Progress(now) => json!({
            "event": "progress",
            "time_s": time,
            "executions": now.statistics.executions,
            "blocked_executions": now.statistics.blocked_executions,
            "transitions": now.statistics.transitions,
            "states": now.statistics.states,
            "max_depth": now.statistics.max_depth,
            "frontier": now.frontier,
            "rate": now.rate,
            "memory_bytes": memory,
            "estimate": now.estimate,
        }),
        Event::Gauged(now) => json!({
            "event": "gauge",
            "time_s": time,
            "states": now.states,
            "depth": now.depth,
            "clauses": now.clauses,
            "conflicts": now.conflicts,
            "rate": now.rate,
            "memory_bytes": memory,
        }),
        Event::Proved(coverage) => {
            json!({ "event": "proved", "time_s": time, "coverage": coverage.to_string() })
        }
        Event::OutOfMemory { limit } => {
            json!({ "event": "memory", "time_s": time, "limit_bytes": limit })
        }
        _ => return None,
    };
    object["file"] = name.into();
    Some(object.to_string())
}

/// The last line of a check.
pub fn verdict(name: &str, verdict: &Verdict, engine: &str, elapsed: Duration) -> String {
    let time = elapsed.as_micros() as f64 / 1e6;
    let verdict = verdict.name();
    let object = json!({
        "event": "verdict", "file": name, "time_s": time, "verdict": verdict, "engine": engine,
    });
    object.to_string()
}

/// The last line of a check that has no verdict.
pub fn error(name: &str, reason: &str, elapsed: Duration) -> String {
    let time = elapsed.as_micros() as f64 / 1e6;
    json!({ "event": "error", "file": name, "time_s": time, "reason": reason }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use mazurka_core::{Coverage, Phase, Progress, Property, Reading, Statistics};

    fn check(event: &Event, expect: Expect) {
        let line = line("x.c", event, Duration::from_millis(1500), Some(4096)).unwrap();
        assert!(!line.contains('\n'));
        expect.assert_eq(&line);
    }

    #[test]
    fn events_are_lines() {
        check(
            &Event::Phase(Phase::Searching),
            expect![[r#"{"event":"phase","file":"x.c","phase":"searching","time_s":1.5}"#]],
        );
        let (statistics, elapsed) = (Statistics::default(), Duration::from_secs(1));
        let now = Progress { statistics, elapsed, rate: 2.0, frontier: 3, estimate: None };
        check(
            &Event::Progress(now),
            expect![[
                r#"{"blocked_executions":0,"estimate":null,"event":"progress","executions":0,"file":"x.c","frontier":3,"max_depth":0,"memory_bytes":4096,"rate":2.0,"states":0,"time_s":1.5,"transitions":0}"#
            ]],
        );
        let now = Reading { states: 7, depth: 0, clauses: 0, conflicts: 0, rate: 7.0, elapsed };
        check(
            &Event::Gauged(now),
            expect![[
                r#"{"clauses":0,"conflicts":0,"depth":0,"event":"gauge","file":"x.c","memory_bytes":4096,"rate":7.0,"states":7,"time_s":1.5}"#
            ]],
        );
        check(
            &Event::Proved(Coverage::of([Property::Assertion])),
            expect![[
                r#"{"coverage":"no assertion failure in any execution","event":"proved","file":"x.c","time_s":1.5}"#
            ]],
        );
    }
}
