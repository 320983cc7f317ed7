//! All engines and the corpus, by one call: every engine says what a program's first lines expect
//! of what it looks for, tells what it does in order, counts something, and every violation can be
//! followed by the engine that found it.

use crate::support::run;
use crate::support::schema::violations;
use mazurka_check::options::Property;
use mazurka_check::{ENGINES, Engine, Feature, Language};
use mazurka_core::Phase;
use mazurka_effort::sample;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// One program, compiled in one way, with the verdict that is expected.
struct Case {
    file: PathBuf,
    flags: Vec<String>,
    expected: String,
    is_native: bool,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c");
    let files = std::fs::read_dir(folder).expect("the corpus is there");
    let files = files.map(|entry| entry.expect("the corpus can be read").path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|it| it == "c")).collect();
    files.sort();
    files.into_iter().flat_map(cases_of).collect()
}

fn cases_of(file: PathBuf) -> Vec<Case> {
    let text = std::fs::read_to_string(&file).expect("a program can be read");
    let is_native = !text.lines().any(|line| line.starts_with("// vm:"));
    // What needs options of its own is left to the tests of its engine.
    let is_plain = !text.lines().any(|line| line.starts_with("// options:"));
    let lines = text.lines().filter_map(|line| line.strip_prefix("// expect"));
    let lines = lines.filter_map(|line| line.split_once(':'));
    let plain = lines.filter(|(flags, _)| is_plain && !flags.contains("--property"));
    let case = |(flags, expected): (&str, &str)| Case {
        file: file.clone(),
        flags: flags.split_whitespace().map(str::to_owned).collect(),
        expected: expected.trim().to_owned(),
        is_native,
    };
    plain.map(case).collect()
}

/// Whether an engine looks for what is expected to be wrong, without being told to.
fn looks_for(engine: &dyn Engine, expected: &str) -> bool {
    let Some(kind) = expected.strip_prefix("violated ") else { return true };
    let property = match kind {
        "assertion" | "panic" => Property::Assert,
        "deadlock" => Property::Deadlock,
        "race" => Property::Race,
        "livelock" => Property::Livelock,
        "memory" => Property::Memory,
        "overflow" => Property::Overflow,
        "leak" => Property::Leak,
        other => panic!("what is {other}?"),
    };
    let accepts = engine.supports().of(Language::C).expect("all engines take C");
    accepts.properties.contains(&property)
}

/// Phases come in their order, and the verdict comes last.
fn look_at_events(text: &str, verdict: &Value) -> Result<(), String> {
    let lines = text.lines().map(serde_json::from_str);
    let lines: Vec<Value> = lines.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let phase_of = |line: &Value| {
        let name = line["phase"].as_str().expect("a phase has a name");
        Phase::ALL.into_iter().position(|phase| phase.name() == name).expect("it is known")
    };
    let phases: Vec<usize> =
        lines.iter().filter(|line| line["event"] == "phase").map(phase_of).collect();
    let times: Vec<f64> = lines.iter().filter_map(|line| line["time_s"].as_f64()).collect();
    let last = lines.last().ok_or("there are no events")?;
    let is_right = phases.len() >= 2
        && phases.is_sorted()
        && lines[0]["event"] == "phase"
        && (&last["event"], &last["verdict"]) == (&"verdict".into(), verdict)
        && times.len() == lines.len()
        && times.is_sorted();
    if is_right { Ok(()) } else { Err(format!("these are the events: {text}")) }
}

/// What came of one program in one engine.
#[derive(Default)]
struct Tally {
    n_checked: usize,
    n_replayed: usize,
}

/// Asks one engine about one program, and has it follow what it found.
fn ask(case: &Case, engine: &dyn Engine, tally: &mut Tally) -> Result<(), String> {
    let folder = tempfile::TempDir::new().expect("there is room");
    let events = folder.path().join("events");
    let within = case.file.parent().expect("it is in a folder");
    let name = case.file.file_name().expect("it is a file").to_string_lossy().into_owned();
    let flags: Vec<&str> = case.flags.iter().map(String::as_str).collect();
    // What takes longer is for the tests of that engine.
    let how = ["--engine", engine.name(), "--json", "-", "--time-limit", "1s"];
    let to = ["--events", events.to_str().expect("the name is text")];
    let said = run(within, &[&["check", &name], &flags[..], &how, &to].concat());
    let answer: Value = serde_json::from_str(&said.stdout).map_err(|_| said.stderr.clone())?;
    if answer["verdict"] == "error" {
        // Not every program is one for circuits.
        return if said.status == Some(2) { Ok(()) } else { Err(said.stderr) };
    }
    let text = std::fs::read_to_string(&events).map_err(|error| error.to_string())?;
    look_at_events(&text, &answer["verdict"])?;
    let unlike_schema = violations(&answer);
    if answer["engine"] != engine.name() || !unlike_schema.is_empty() {
        return Err(format!("{unlike_schema:?}\n{answer}"));
    }
    let verdict = answer["verdict"].as_str().ok_or("there is no verdict")?;
    if verdict == "inconclusive" {
        return Ok(());
    }
    let stats = &answer["stats"];
    let counted = stats["transitions"].as_u64().or(stats["solver"]["gates"].as_u64());
    if counted.is_none_or(|n| n == 0) {
        return Err(format!("nothing was counted: {stats}"));
    }
    let assumes = |code: &str| {
        answer["assumptions"].as_array().is_some_and(|all| all.iter().any(|it| it["code"] == code))
    };
    // Engines that store states do not call it a deadlock if a loop waits in vain: they say so.
    let is_excused = (verdict, &*case.expected) == ("holds", "violated deadlock");
    if !(case.expected.starts_with(verdict) || is_excused && assumes("no-spinning")) {
        return Err(format!("{verdict}, and expected is {}", case.expected));
    }
    tally.n_checked += 1;
    if let Some(schedule) = answer["violation"]["schedule"].as_str() {
        let how = ["--engine", engine.name(), "--schedule", schedule];
        let said = run(within, &[&["replay", &name], &flags[..], &how].concat());
        if said.status != Some(1) {
            return Err(format!("replay of {schedule}: {}{}", said.stdout, said.stderr));
        }
        tally.n_replayed += 1;
    }
    Ok(())
}

#[test]
fn every_engine_is_asked_in_one_way() {
    let cases = cases();
    assert!(cases.len() >= 60, "where is the corpus?");
    let (mut tally, mut wrong) = (Tally::default(), Vec::new());
    // Each program by a third of the engines, each engine with a third of the programs.
    let is_turn = |case: usize, engine: usize| (case + engine).is_multiple_of(3);
    for (case_idx, case) in sample(cases).into_iter().enumerate() {
        let engines = ENGINES.iter().enumerate();
        for (_, engine) in engines.filter(|(engine_idx, _)| is_turn(case_idx, *engine_idx)) {
            let runs = engine.supports().features.contains(&Feature::Processes);
            if runs && !case.is_native || !looks_for(*engine, &case.expected) {
                continue;
            }
            if let Err(what) = ask(&case, *engine, &mut tally) {
                let Case { file, flags, .. } = &case;
                wrong.push(format!("{} {flags:?} by {}: {what}", file.display(), engine.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tally.n_checked > 0 && tally.n_replayed > 0, "nothing was looked at");
}

/// The engine that `auto` takes says the same as all others.
#[test]
fn auto_has_models_begin_where_a_native_search_is_long() {
    // Many executions, and few states.
    let text = "#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int turn, n;\n\
        static void *work(void *who) {\n    for (int i = 0; i < 40; i++) \
        { atomic_store(&turn, (int)(long)who); atomic_load(&turn); }\n    return 0;\n}\n\
        int main(void) {\n    pthread_t a, b;\n    pthread_create(&a, 0, work, (void *)1);\n    \
        pthread_create(&b, 0, work, (void *)2);\n    pthread_join(a, 0);\n    \
        pthread_join(b, 0);\n    return 0;\n}\n";
    let words = ["check", "x.c", "--time-limit", "6s", "--json", "-"];
    let said = crate::support::with_file("x.c", text, &words);
    let answer: Value = serde_json::from_str(&said.stdout).expect("it is JSON");
    assert_ne!(answer["verdict"], "violated", "{answer}");
    if answer["verdict"] == "holds" {
        assert_ne!(answer["engine"], "native", "a native search has no end: {answer}");
    }
}

/// What only models have cannot be linked, and needs no option.
#[test]
fn auto_takes_programs_that_cannot_be_run_as_models() {
    let check = |body: &str| {
        let text = format!(
            "#include <assert.h>\nextern int __VERIFIER_nondet_int(void);\n\
             extern void __VERIFIER_assume(int);\nint main(void) {{\n    \
             int x = __VERIFIER_nondet_int();\n{body}    return 0;\n}}\n"
        );
        crate::support::with_file("x.c", text, &["check", "x.c", "--time-limit", "20s"])
    };
    check("    assert(x != 77);\n")
        .ends_with(1)
        .prints(&["`x != 77`", "has answered: the program cannot be run"]);
    check("    __VERIFIER_assume(x > 0 && x < 10);\n    assert(x < 20);\n")
        .ends_with(0)
        .prints(&["Holds"]);
    // What no engine takes is refused as by the one that comes first.
    check("    extern void nowhere(void);\n    nowhere();\n").refuses("nowhere");
}
