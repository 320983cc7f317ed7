//! The object that `--json` prints. Its keys are a contract.
//!
//! Every key is always there, in this order, and `null` where nothing is known; only `loop_start`
//! is left out unless the violation goes on for ever, `accesses` unless it is a data race whose
//! places are known: the two have `thread`, `write`, `step` and `stack` each; `shared`, `waits`,
//! `decisive`, `end` and `why` where there is nothing of the kind; and `executions`
//! unless it was asked for and nothing goes wrong, and `lines` unless it was asked for and is known.
//!
//! | key | |
//! |---|---|
//! | `mazurka` | the version |
//! | `file`, `engine` | what was checked, and by what |
//! | `verdict` | `holds`, `violated` or `inconclusive` |
//! | `coverage` | what is proved if it holds; if it is inconclusive, what was proved before, and which limit stopped the search; else `null` |
//! | `properties` | codes of what was looked for, if it holds; else `null` |
//! | `assumptions` | what was taken for granted, if it holds, each with `code`, `text` and `places`; else `null` |
//! | `scope` | if it holds: `kind` is `all`, `fair`, `bounded` or `probable`, with `fairness`, `bounds` and `odds`; else `null` |
//! | `options` | those in force |
//! | `stats` | what was counted, `null` where the engine does not count it: `executions`, `blocked_executions`, `transitions`, `states`, `states_matched`, `unique_local_states`, `visited_local_states`, `traces`, `max_depth`, `bound_exceeded`, `time_s`, `peak_memory_bytes`, `over_time`, and of a circuit `solver`: `latches`, `gates`, `clauses`, `calls`, `conflicts`, `decisions`, `propagations` |
//! | `violation` | `null`, or `kind`, `message`, `schedule`, `steps`, `accesses`, `shared`, `waits`, `decisive`, `loop_start`, `end`, `why` |
//! | `executions` | the first executions of different traces, each with `schedule`, `steps`, `pairs` and `values`: what distinguishes it from the others |
//! | `lines` | of the program's own source: `total`, how many of them were `reached`, and the `unreached` ones as `file`, `first` and `last` |
//!
//! A pair has `first`, `relation` and `second`: two steps, from 1, that race, in this order
//! (`before`), or under a weak memory model a write and its reader (`read-by`; `first` is `null`
//! where that is the initial value). `values` are steps, from 1, that have another value elsewhere.
//! Each of the `steps` has `thread`, `operation`, `object`, `value`, `file`, `line` and `column`.
//! Of several checks, one that could not be made or was not begun has another object: `mazurka`,
//! `file`, `verdict`, which is `error` or `not-run`, and `reason`.
//!
//! `over_time`, where states are counted, has `executions`, `time_s`, `local_states` and `traces`
//! from time to time. `loop_start` is the step, from 1, that follows the last one again.

use crate::Report;
use crate::executions::{Distinction, Pair, Relation, distinctions};
use crate::interleaving::told;
use crate::why::why_of;
use mazurka_core::{
    Access, Assumption, Counterexample, Coverage, CoverageSample, DecisivePair, Fairness, Limit,
    LineCoverage, LineRange, Location, MemoryOrder, Operation, PassingExecution, Property, Solving,
    ThreadId, Told, Verdict, Wait,
};
use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// The object. Its keys are sorted, as maps are; [`render`] keeps them in their order.
pub fn value(report: &Report<'_>) -> Value {
    serde_json::to_value(Object::new(report)).expect("all keys are strings")
}

/// The object as text, on one line without its end.
pub fn render(report: &Report<'_>) -> String {
    serde_json::to_string(&Object::new(report)).expect("all keys are strings")
}

/// The object of a check, one of several, of which there is no verdict: `mazurka`, `file`,
/// `verdict`, which is `error` or `not-run`, and `reason`.
pub fn not_checked(other: &crate::NotChecked) -> String {
    let object = NotChecked {
        mazurka: env!("CARGO_PKG_VERSION"),
        file: &other.name,
        verdict: if other.is_error { NoVerdict::Error } else { NoVerdict::NotRun },
        reason: &other.reason,
    };
    serde_json::to_string(&object).expect("all keys are strings")
}

/// The JSON schema of both objects: `schema.json` beside this crate's manifest is the same.
pub fn schema() -> Value {
    serde_json::to_value(schemars::schema_for!(Line)).expect("all keys are strings")
}

/// What `--json` writes for each check. It is described and never made: each kind is written by
/// itself.
#[derive(JsonSchema)]
#[schemars(title = "What came of a check", untagged)]
#[expect(dead_code, reason = "it is there for its schema")]
enum Line {
    /// There is a verdict.
    Checked(Box<Object<'static>>),
    /// One of several checks has none.
    NotChecked(NotChecked<'static>),
}

/// A check, one of several, that could not be made or was not begun.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NotChecked")]
struct NotChecked<'a> {
    mazurka: &'static str,
    file: &'a str,
    verdict: NoVerdict,
    reason: &'a str,
}

/// Why a check has no verdict.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum NoVerdict {
    Error,
    NotRun,
}

/// The names of verdicts, for the schema.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "it is there for its schema")]
enum VerdictName {
    Holds,
    Violated,
    Inconclusive,
}

/// A check with a verdict.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Checked")]
struct Object<'a> {
    mazurka: &'static str,
    file: &'a str,
    engine: &'a str,
    #[schemars(with = "VerdictName")]
    verdict: &'static str,
    coverage: Option<String>,
    properties: Option<Vec<&'static str>>,
    assumptions: Option<Vec<Assumed>>,
    scope: Option<Scope>,
    /// What else there is to say of the verdict.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    notes: &'a [String],
    #[serde(serialize_with = "as_map")]
    #[schemars(with = "BTreeMap<String, Value>")]
    options: &'a [(String, Value)],
    stats: Stats<'a>,
    violation: Option<Violated<'a>>,
    /// The first executions in which nothing goes wrong, each of another trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    executions: Option<Vec<ExecutionObject>>,
    /// Which lines of the program's own source any execution has reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<LinesObject<'a>>,
}

impl<'a> Object<'a> {
    fn new(report: &'a Report<'a>) -> Self {
        let coverage = match report.verdict {
            Verdict::Holds(coverage) => Some(coverage.to_string()),
            Verdict::Inconclusive(limit) => Some(match report.proved {
                Some(proved) => format!("{proved}; nothing more proved: {limit}"),
                None => format!("nothing proved: {limit}"),
            }),
            _ => None,
        };
        let claimed = match report.verdict {
            Verdict::Holds(coverage) => Some(coverage),
            _ => None,
        };
        let codes =
            |coverage: &Coverage| coverage.properties().iter().map(Property::code).collect();
        let assumed =
            |coverage: &Coverage| coverage.assumptions().iter().map(Assumed::new).collect();
        let violation = match report.verdict {
            Verdict::Violated(found) => Some(Violated::new(report, found)),
            _ => None,
        };
        let is_shown = report.shows_executions && violation.is_none();
        let executions = is_shown.then(|| ExecutionObject::all(report.executions));
        Self {
            mazurka: env!("CARGO_PKG_VERSION"),
            file: report.name,
            engine: report.engine,
            verdict: report.verdict.name(),
            coverage,
            properties: claimed.map(codes),
            assumptions: claimed.map(assumed),
            scope: claimed.map(Scope::new),
            notes: &report.notes,
            options: &report.options,
            stats: Stats::new(report),
            violation,
            executions,
            lines: report.lines.map(LinesObject::new),
        }
    }
}

/// Something taken for granted.
#[derive(Serialize, JsonSchema)]
struct Assumed {
    code: &'static str,
    text: String,
    places: Vec<String>,
}

impl Assumed {
    fn new(assumption: &Assumption) -> Self {
        let place = |place: &Location| format!("{}:{}", place.file, place.line);
        let mut places: Vec<String> = assumption.places().iter().map(place).collect();
        places.dedup();
        Self { code: assumption.code(), text: assumption.to_string(), places }
    }
}

/// Which executions a claim is about: `all`, `fair` or `bounded`, with the bounds, and with the
/// odds that it is wrong where states were told apart by hashes.
#[derive(Serialize, JsonSchema)]
struct Scope {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    fairness: Option<Fairness>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Option<BTreeMap<String, Option<u64>>>")]
    bounds: BTreeMap<&'static str, Option<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    odds: Option<f64>,
}

impl Scope {
    fn new(coverage: &Coverage) -> Self {
        let fairness = coverage.fairness();
        let kind = match (coverage.is_unbounded(), fairness, coverage.odds()) {
            (_, _, Some(_)) => "probable",
            (false, ..) => "bounded",
            (true, Some(_), None) => "fair",
            (true, None, None) => "all",
        };
        let bounds = coverage.bounds().iter().map(|bound| (bound.code(), bound.limit())).collect();
        Self { kind, fairness, bounds, odds: coverage.odds() }
    }
}

#[derive(Serialize, JsonSchema)]
struct Stats<'a> {
    executions: Option<u64>,
    blocked_executions: Option<u64>,
    transitions: Option<u64>,
    states: Option<u64>,
    states_matched: Option<u64>,
    unique_local_states: Option<u64>,
    visited_local_states: Option<u64>,
    traces: Option<u64>,
    max_depth: Option<u64>,
    bound_exceeded: Option<bool>,
    time_s: f64,
    peak_memory_bytes: Option<u64>,
    #[schemars(with = "Option<Vec<BTreeMap<String, f64>>>")]
    over_time: Option<&'a [CoverageSample]>,
    #[schemars(with = "Option<BTreeMap<String, u64>>")]
    solver: Option<&'a Solving>,
}

impl<'a> Stats<'a> {
    fn new(report: &'a Report<'a>) -> Self {
        let counted = report.statistics;
        let visits = report.state_coverage;
        // A search that stores states stores the first one.
        let stores = counted.states > 0;
        // A solver takes no steps.
        let runs = report.solving.is_none();
        let bound_exceeded = report.bound_exceeded.or(match report.verdict {
            Verdict::Holds(coverage) if coverage.is_unbounded() => Some(false),
            Verdict::Inconclusive(Limit::Depth(_)) => Some(true),
            _ => None,
        });
        Self {
            executions: runs.then_some(counted.executions),
            blocked_executions: runs.then_some(counted.blocked_executions),
            transitions: runs.then_some(counted.transitions),
            states: stores.then_some(counted.states),
            states_matched: stores.then_some(counted.states_matched),
            unique_local_states: visits.map(|visits| visits.local_states.unique),
            visited_local_states: visits.map(|visits| visits.local_states.visited),
            traces: report.traces.or(visits.map(|visits| visits.traces.unique)),
            max_depth: runs.then_some(counted.max_depth),
            bound_exceeded,
            time_s: report.elapsed.as_micros() as f64 / 1e6,
            peak_memory_bytes: report.peak_memory,
            over_time: visits.map(|visits| visits.over_time.as_slice()),
            solver: report.solving,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct Violated<'a> {
    kind: &'static str,
    message: &'a str,
    schedule: String,
    steps: Vec<StepObject>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<AccessObject>>")]
    accesses: Vec<AccessObject<'a>>,
    /// Other plain accesses to memory that several threads access.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<AccessObject>>")]
    shared: Vec<AccessObject<'a>>,
    /// Of a deadlock: who waits, and for whom.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<WaitObject>>")]
    waits: Vec<WaitObject<'a>>,
    /// The racing pair that decides, if one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    decisive: Option<DecisiveObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loop_start: Option<usize>,
    /// What the variables of a model hold in the end.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    end: &'a [String],
    /// Why it goes wrong, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    why: Vec<String>,
}

impl<'a> Violated<'a> {
    fn new(report: &Report<'_>, found: &'a Counterexample) -> Self {
        let n_steps = found.execution.steps.len().max(found.story.len());
        let step = |idx| StepObject::new(told(&found.execution, &found.story, idx).into_owned());
        Self {
            kind: found.violation.kind.name(),
            message: &found.violation.message,
            schedule: found.schedule.to_string(),
            steps: (0..n_steps).map(step).collect(),
            accesses: found.accesses.iter().map(AccessObject::new).collect(),
            shared: found.shared.iter().map(AccessObject::new).collect(),
            waits: found.waits.iter().map(|wait| WaitObject::new(wait, found)).collect(),
            decisive: found.decisive.as_ref().map(DecisiveObject::new),
            loop_start: report.loop_start,
            end: &found.end,
            why: why_of(report, found),
        }
    }
}

/// A plain access.
#[derive(Serialize, JsonSchema)]
struct AccessObject<'a> {
    thread: &'a str,
    /// The thread by its number, where that is known.
    #[schemars(with = "Option<usize>")]
    by: Option<ThreadId>,
    write: bool,
    /// The step, from 1, in which it is made.
    step: usize,
    /// What people call the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<&'a str>,
    /// What it read (`= 0`) or wrote (`0→1`), where that is known.
    value: Option<&'a str>,
    /// The access itself, then the calls that led to it.
    #[schemars(with = "Vec<BTreeMap<String, Value>>")]
    stack: &'a [Location],
}

impl<'a> AccessObject<'a> {
    fn new(access: &'a Access) -> Self {
        let Access { thread, by, write, step, memory, value, stack } = access;
        let (by, write, step) = (*by, *write, *step);
        let (memory, value) = (memory.as_deref(), value.as_deref());
        Self { thread, by, write, step, memory, value, stack }
    }
}

/// A thread that waits in the end.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Wait")]
struct WaitObject<'a> {
    /// The thread by its number.
    #[schemars(with = "usize")]
    by: ThreadId,
    /// What it waits to do.
    operation: &'static str,
    /// What people call that which it waits for.
    object: Option<&'a str>,
    /// The threads that would have to move first, by their numbers; empty if any could.
    #[schemars(with = "Vec<usize>")]
    holders: Vec<ThreadId>,
    /// The steps, from 1, by which it took what it still holds.
    holds: &'a [usize],
    /// Where it waits.
    #[schemars(with = "Option<BTreeMap<String, Value>>")]
    location: Option<&'a Location>,
}

impl<'a> WaitObject<'a> {
    fn new(wait: &'a Wait, found: &'a Counterexample) -> Self {
        let joined = |of: ThreadId| {
            let steps = found.execution.steps.iter().zip(&found.story);
            let mut own =
                steps.filter(|(step, _)| step.decision.thread == of).map(|(_, told)| told);
            own.next_back().map(|told| told.thread.as_str())
        };
        let object = match wait.operation {
            Operation::Join(of) => joined(of),
            _ => wait.object.as_deref(),
        };
        Self {
            by: wait.thread,
            operation: wait.operation.name(),
            object,
            holders: wait.holders.iter().collect(),
            holds: &wait.holds,
            location: wait.location.as_ref(),
        }
    }
}

/// Two steps that race, and an execution in which they come the other way round and nothing goes
/// wrong.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Decisive")]
struct DecisiveObject {
    /// The earlier step, from 1, and the later one.
    first: usize,
    second: usize,
    /// The schedule of the other execution.
    schedule: String,
}

impl DecisiveObject {
    fn new(pair: &DecisivePair) -> Self {
        let (first, second) = (pair.first, pair.second);
        Self { first, second, schedule: pair.schedule.to_string() }
    }
}

/// How many lines there are, how many of them were reached, and which were not.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Lines")]
struct LinesObject<'a> {
    total: usize,
    reached: usize,
    unreached: Vec<RangeObject<'a>>,
}

/// Lines of a file from the first to the last.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LineRange")]
struct RangeObject<'a> {
    file: &'a str,
    first: u32,
    last: u32,
}

impl<'a> LinesObject<'a> {
    fn new(lines: &'a LineCoverage) -> Self {
        let range =
            |LineRange { file, first, last }: LineRange<'a>| RangeObject { file, first, last };
        Self {
            total: lines.n_lines(),
            reached: lines.n_reached(),
            unreached: lines.unreached().into_iter().map(range).collect(),
        }
    }
}

/// An execution in which nothing goes wrong, and what distinguishes it from the others.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Execution")]
struct ExecutionObject {
    schedule: String,
    steps: Vec<StepObject>,
    /// What not all of them have.
    pairs: Vec<PairObject>,
    /// The steps, from 1, with another value than in some other execution.
    values: Vec<usize>,
}

/// Two steps, from 1.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Pair")]
struct PairObject {
    /// Nothing where the second step reads the initial value.
    first: Option<usize>,
    relation: Relation,
    second: usize,
}

impl ExecutionObject {
    fn all(executions: &[PassingExecution]) -> Vec<Self> {
        let object = |(execution, distinction): (&PassingExecution, Distinction)| {
            let PassingExecution { schedule, story, .. } = execution;
            let pair = |pair: &Pair| PairObject {
                first: pair.first.map(|first| first + 1),
                relation: pair.relation,
                second: pair.second + 1,
            };
            Self {
                schedule: schedule.to_string(),
                steps: story.iter().cloned().map(StepObject::new).collect(),
                pairs: distinction.pairs.iter().map(pair).collect(),
                values: distinction.values.iter().map(|value| value + 1).collect(),
            }
        };
        executions.iter().zip(distinctions(executions)).map(object).collect()
    }
}

#[derive(Serialize, JsonSchema)]
struct StepObject {
    thread: String,
    operation: String,
    object: Option<String>,
    value: Option<String>,
    /// The value with numbers for addresses, if there are any in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    /// The memory order of an atomic access, if it is weaker than sequential consistency.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<&'static str>,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
}

impl StepObject {
    fn new(told: Told) -> Self {
        let Told { thread, operation, object, value, raw, order, location } = told;
        let order = order.map(MemoryOrder::name);
        let line = location.as_ref().map(|place| place.line);
        let column = location.as_ref().map(|place| place.column).filter(|&column| column > 0);
        let file = location.map(|place| place.file);
        Self { thread, operation, object, value, raw, order, file, line, column }
    }
}

/// Pairs as an object, in their order. Of two with one name the last counts.
fn as_map<S: Serializer>(pairs: &&[(String, Value)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (idx, (name, value)) in pairs.iter().enumerate() {
        if !pairs[idx + 1..].iter().any(|(later, _)| later == name) {
            map.serialize_entry(name, value)?;
        }
    }
    map.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{self, Sample};
    use expect_test::{Expect, expect};
    use std::time::Duration;

    /// The object over several lines, without the version.
    fn check(report: &Report<'_>, expect: Expect) {
        let text = serde_json::to_string_pretty(&Object::new(report)).unwrap();
        let version = format!("\"mazurka\": {:?}", env!("CARGO_PKG_VERSION"));
        assert!(text.contains(&version));
        expect.assert_eq(&text.replace(&version, "\"mazurka\": \"…\""));
        let read: Value = serde_json::from_str(&render(report)).unwrap();
        assert_eq!(read, value(report));
        assert!(!render(report).contains('\n'));
    }

    /// `UPDATE_EXPECT=1` writes it.
    #[test]
    fn the_schema_is_the_one_that_is_published() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema.json");
        let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        assert!(std::fs::read_to_string(path).unwrap_or_default() == text, "it is older");
    }

    #[test]
    fn a_check_without_a_verdict() {
        let check = |is_error: bool, verdict: &str| {
            let (name, reason) = ("it a".to_owned(), "no".to_owned());
            let object = not_checked(&crate::NotChecked { name, is_error, reason });
            let version = env!("CARGO_PKG_VERSION");
            let expected = format!(
                r#"{{"mazurka":"{version}","file":"it a","verdict":"{verdict}","reason":"no"}}"#
            );
            assert_eq!(object, expected);
        };
        check(true, "error");
        check(false, "not-run");
        let names = |kind: &str| schema()["$defs"][kind]["enum"].clone();
        let told = ["holds", "violated", "inconclusive"];
        assert_eq!(names("VerdictName"), serde_json::json!(told));
        for (_, sample) in samples::all() {
            assert!(told.contains(&sample.verdict.name()), "{}", sample.verdict.name());
        }
    }

    #[test]
    fn a_pass() {
        let coverage = Coverage::of([Property::Assertion, Property::Deadlock, Property::Race]);
        let sample = Sample::of(Verdict::Holds(coverage));
        let mut report = sample.report();
        report.traces = Some(1);
        let visits = samples::state_coverage();
        report.state_coverage = Some(&visits);
        report.peak_memory = Some(8_388_608);
        report.options = vec![
            ("reduction".to_owned(), "source".into()),
            ("sleep".to_owned(), true.into()),
            ("bounds".to_owned(), serde_json::json!({"preemption": 2})),
            ("reduction".to_owned(), "optimal".into()),
        ];
        check(
            &report,
            expect![[r#"
                {
                  "mazurka": "…",
                  "file": "counter.rs",
                  "engine": "vm",
                  "verdict": "holds",
                  "coverage": "no assertion failure, deadlock or data race in any execution",
                  "properties": [
                    "assertion",
                    "deadlock",
                    "race"
                  ],
                  "assumptions": [],
                  "scope": {
                    "kind": "all"
                  },
                  "options": {
                    "sleep": true,
                    "bounds": {
                      "preemption": 2
                    },
                    "reduction": "optimal"
                  },
                  "stats": {
                    "executions": 2,
                    "blocked_executions": 0,
                    "transitions": 19,
                    "states": null,
                    "states_matched": null,
                    "unique_local_states": 49,
                    "visited_local_states": 60,
                    "traces": 1,
                    "max_depth": 11,
                    "bound_exceeded": false,
                    "time_s": 0.01,
                    "peak_memory_bytes": 8388608,
                    "over_time": [
                      {
                        "executions": 1,
                        "time_s": 0.004,
                        "local_states": 48,
                        "traces": 1
                      },
                      {
                        "executions": 2,
                        "time_s": 0.01,
                        "local_states": 49,
                        "traces": 1
                      }
                    ],
                    "solver": null
                  },
                  "violation": null
                }"#]],
        );
    }

    #[test]
    fn a_violation() {
        check(
            &samples::deadlock().report(),
            expect![[r#"
                {
                  "mazurka": "…",
                  "file": "counter.rs",
                  "engine": "vm",
                  "verdict": "violated",
                  "coverage": null,
                  "properties": null,
                  "assumptions": null,
                  "scope": null,
                  "options": {},
                  "stats": {
                    "executions": 2,
                    "blocked_executions": 0,
                    "transitions": 19,
                    "states": null,
                    "states_matched": null,
                    "unique_local_states": null,
                    "visited_local_states": null,
                    "traces": null,
                    "max_depth": 11,
                    "bound_exceeded": null,
                    "time_s": 0.01,
                    "peak_memory_bytes": null,
                    "over_time": null,
                    "solver": null
                  },
                  "violation": {
                    "kind": "deadlock",
                    "message": "2 threads wait for each other: alice holds accounts and waits for log, held by bob; bob holds log and waits for accounts, held by alice",
                    "schedule": "mzk1:0.1",
                    "steps": [
                      {
                        "thread": "alice",
                        "operation": "acquire",
                        "object": "accounts",
                        "value": null,
                        "file": "bank.rs",
                        "line": 14,
                        "column": 9
                      },
                      {
                        "thread": "bob",
                        "operation": "acquire",
                        "object": "log",
                        "value": null,
                        "file": "bank.rs",
                        "line": 30,
                        "column": 9
                      }
                    ],
                    "waits": [
                      {
                        "by": 0,
                        "operation": "acquire",
                        "object": null,
                        "holders": [
                          1
                        ],
                        "holds": [],
                        "location": null
                      },
                      {
                        "by": 1,
                        "operation": "acquire",
                        "object": null,
                        "holders": [
                          0
                        ],
                        "holds": [],
                        "location": null
                      }
                    ]
                  }
                }"#]],
        );
    }

    #[test]
    fn a_lasso_has_a_loop() {
        let sample = samples::livelock(1);
        check(
            &sample.report(),
            expect![[r#"
                {
                  "mazurka": "…",
                  "file": "counter.rs",
                  "engine": "vm",
                  "verdict": "violated",
                  "coverage": null,
                  "properties": null,
                  "assumptions": null,
                  "scope": null,
                  "options": {},
                  "stats": {
                    "executions": 2,
                    "blocked_executions": 0,
                    "transitions": 19,
                    "states": null,
                    "states_matched": null,
                    "unique_local_states": null,
                    "visited_local_states": null,
                    "traces": null,
                    "max_depth": 11,
                    "bound_exceeded": null,
                    "time_s": 0.01,
                    "peak_memory_bytes": null,
                    "over_time": null,
                    "solver": null
                  },
                  "violation": {
                    "kind": "livelock",
                    "message": "an execution did not end within 5 001 steps",
                    "schedule": "mzk1:0x3.1x2",
                    "steps": [
                      {
                        "thread": "main",
                        "operation": "store",
                        "object": "turn",
                        "value": "0→1",
                        "file": "polite.rs",
                        "line": 3,
                        "column": 9
                      },
                      {
                        "thread": "main",
                        "operation": "load",
                        "object": "turn",
                        "value": "= 1",
                        "file": "polite.rs",
                        "line": 5,
                        "column": 9
                      },
                      {
                        "thread": "main",
                        "operation": "yield",
                        "object": null,
                        "value": null,
                        "file": "polite.rs",
                        "line": 6,
                        "column": 9
                      },
                      {
                        "thread": "other",
                        "operation": "load",
                        "object": "turn",
                        "value": "= 1",
                        "file": "polite.rs",
                        "line": 15,
                        "column": 9
                      },
                      {
                        "thread": "other",
                        "operation": "yield",
                        "object": null,
                        "value": null,
                        "file": "polite.rs",
                        "line": 16,
                        "column": 9
                      }
                    ],
                    "loop_start": 2,
                    "why": [
                      "steps 2 to 5 are repeated for ever: main reads turn = 1 at polite.rs:5:9 each time; other reads turn = 1 at polite.rs:15:9 each time."
                    ]
                  }
                }"#]],
        );
    }

    #[test]
    fn a_limit() {
        let mut sample = Sample::of(Verdict::Inconclusive(Limit::Time(Duration::from_secs(60))));
        sample.statistics.states = 77;
        sample.statistics.states_matched = 5;
        check(
            &sample.report(),
            expect![[r#"
                {
                  "mazurka": "…",
                  "file": "counter.rs",
                  "engine": "vm",
                  "verdict": "inconclusive",
                  "coverage": "nothing proved: time limit, 60s",
                  "properties": null,
                  "assumptions": null,
                  "scope": null,
                  "options": {},
                  "stats": {
                    "executions": 2,
                    "blocked_executions": 0,
                    "transitions": 19,
                    "states": 77,
                    "states_matched": 5,
                    "unique_local_states": null,
                    "visited_local_states": null,
                    "traces": null,
                    "max_depth": 11,
                    "bound_exceeded": null,
                    "time_s": 0.01,
                    "peak_memory_bytes": null,
                    "over_time": null,
                    "solver": null
                  },
                  "violation": null
                }"#]],
        );
        let depth = Sample::of(Verdict::Inconclusive(Limit::Depth(100)));
        assert_eq!(value(&depth.report())["stats"]["bound_exceeded"], true);
    }

    #[test]
    fn every_sample_is_one_object_with_the_same_keys() {
        let keys = |value: &Value| -> Vec<String> {
            value.as_object().expect("it is an object").keys().cloned().collect()
        };
        for (name, sample) in samples::all() {
            let report = sample.report();
            let object: Value = serde_json::from_str(&render(&report)).unwrap();
            let found = [&object, &object["stats"], &object["violation"]].map(keys);
            assert_eq!(found[0].len(), 11, "{name}");
            assert_eq!(found[1].len(), 14, "{name}");
            let if_known = ["loop_start", "waits", "why"];
            let n_known = if_known.iter().filter(|&&key| object["violation"].get(key).is_some());
            assert_eq!(found[2].len(), 4 + n_known.count(), "{name}");
            let has_loop = object["violation"].get("loop_start").is_some();
            assert_eq!(has_loop, report.loop_start.is_some(), "{name}");
            for step in object["violation"]["steps"].as_array().unwrap() {
                assert_eq!(
                    keys(step),
                    ["column", "file", "line", "object", "operation", "thread", "value"]
                );
            }
        }
    }
}
