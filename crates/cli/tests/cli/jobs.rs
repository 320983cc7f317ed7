//! `--jobs`, `--save` and `--resume`: however a search is divided, by processes or over time, it
//! comes to the same.

use crate::support::{Random, Said, run, say};
use mazurka_core::{Statistics, Verdict};
use mazurka_effort::sample;
use mazurka_protocol::{REPORT, REQUEST, Reply, Report, Request};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The programs of `corpus/c` that hold natively, and the flags with which they do.
fn programs() -> Vec<(PathBuf, Vec<String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c");
    let files = std::fs::read_dir(folder).expect("the corpus is there");
    let mut files: Vec<PathBuf> = files.map(|it| it.expect("it can be read").path()).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "c"));
    files.sort();
    let mut programs = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a program can be read");
        if text.lines().any(|line| line.starts_with("// vm:") || line.starts_with("// options:")) {
            continue;
        }
        let expected = text.lines().filter_map(|line| line.strip_prefix("// expect"));
        for line in expected {
            let (flags, verdict) = line.split_once(':').expect("flags and a verdict");
            let flags: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
            if verdict.trim() == "holds" && !flags.iter().any(|flag| flag.starts_with("--")) {
                programs.push((file.clone(), flags));
            }
        }
    }
    assert!(programs.len() > 30, "where is the corpus?");
    sample(programs)
}

fn mazurka() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mazurka"))
}

/// What a program says that so many processes explore, from its first execution on.
fn explore(program: &Path, jobs: usize) -> Report {
    let (asked, report) = (program.with_extension("asked"), program.with_extension("report"));
    let mut request = Request::default();
    request.options.jobs = jobs;
    request.run.alone = 1;
    mazurka_protocol::write(&asked, &request).expect("there is room");
    let mut command = Command::new(program);
    let output = command.env(REQUEST, &asked).env(REPORT, &report).output();
    output.expect("the program can be started");
    match mazurka_protocol::read(&report) {
        Ok(Reply::Explored(report)) => *report,
        other => panic!("{}: {other:?}", program.display()),
    }
}

/// Everything that is counted, but for steps that are taken again.
fn counted(report: &Report) -> Statistics {
    let mut statistics = report.statistics;
    statistics.replayed = 0;
    statistics
}

#[test]
fn several_processes_count_what_one_does() {
    let folder = TempDir::new().expect("there is room");
    for (idx, (file, flags)) in programs().into_iter().enumerate() {
        let program = folder.path().join(format!("program{idx}"));
        let mut command = mazurka();
        command.args(["cc", "-O1", "-g"]).arg(&file).args(&flags).arg("-o").arg(&program);
        say(&mut command).ends_with(0);
        let alone = explore(&program, 1);
        let what = format!("{} {}", file.display(), flags.join(" "));
        assert!(matches!(alone.verdict, Verdict::Holds(_)), "{what}: {:?}", alone.verdict);
        for jobs in [2, 3] {
            let together = explore(&program, jobs);
            assert_eq!(together.verdict, alone.verdict, "{what}");
            assert_eq!(counted(&together), counted(&alone), "{what}");
        }
    }
}

const INCREMENTS: &str = "#include <pthread.h>\n#include <stdatomic.h>\natomic_int x;\n\
     void *add(void *_) { for (int i = 0; i < 3; i++) x = x + 1; return 0; }\n\
     void *start(void *_) { pthread_t p; pthread_create(&p, 0, add, 0); pthread_join(p, 0); return 0; }\n\
     int main(void) { pthread_t p, q; pthread_create(&p, 0, start, 0); pthread_create(&q, 0, start, 0);\n\
     pthread_join(p, 0); pthread_join(q, 0); }\n";

fn folder_with(text: &str) -> TempDir {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("increments.c"), text).expect("there is room");
    folder
}

/// The numbers of a search, but for steps that are taken again, and its exit status.
fn numbers(folder: &Path, arguments: &[&str]) -> (Value, Option<i32>) {
    let Said { stdout, stderr, status } = run(folder, &[arguments, &["--json", "-"]].concat());
    let report: Value =
        serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stdout}{stderr}"));
    let stats = &report["stats"];
    let names = ["executions", "blocked_executions", "transitions", "max_depth"];
    (names.iter().map(|name| stats[*name].clone()).collect(), status)
}

#[test]
fn searches_that_are_stopped_at_random_moments_come_to_the_same() {
    for (engine, jobs) in [("native", "1"), ("native", "2"), ("vm", "1")] {
        let folder = folder_with(INCREMENTS);
        let always = ["check", "increments.c", "--engine", engine, "--jobs", jobs];
        let (whole, status) = numbers(folder.path(), &always);
        assert_eq!(status, Some(0), "{engine}");
        let all = whole[0].as_u64().expect("executions are counted");
        let mut random = Random(42);
        let (mut resumed, mut n_stopped) = (false, 0);
        let last = loop {
            // About twenty of them.
            let most = (1 + random.below(all / 10)).to_string();
            let mut arguments = [&always[..], &["--max-executions", &most]].concat();
            arguments.extend(if resumed { ["--resume", "saved"] } else { ["--save", "saved"] });
            let (now, status) = numbers(folder.path(), &arguments);
            if status != Some(3) {
                assert_eq!(status, Some(0), "{engine}");
                break now;
            }
            (resumed, n_stopped) = (true, n_stopped + 1);
            assert!(folder.path().join("saved").exists(), "{engine}");
        };
        assert_eq!(last, whole, "{engine}, stopped {n_stopped} times");
        assert!(n_stopped >= 10, "{engine}: stopped {n_stopped} times");
        assert!(!folder.path().join("saved").exists(), "nothing is left");
    }
}

#[test]
fn the_last_line_is_the_command_that_goes_on() {
    for engine in ["native", "vm"] {
        let folder = folder_with(INCREMENTS);
        let arguments = ["check", "increments.c", "--engine", engine, "--jobs", "1"];
        let stopped = [&arguments[..], &["--max-executions", "5", "--save", "here.mzk"]].concat();
        let Said { stdout, .. } = run(folder.path(), &stopped).ends_with(3);
        let last = stdout.lines().last().unwrap_or_default();
        let command = last.trim().strip_prefix("Resume: mazurka ");
        let command = command.unwrap_or_else(|| panic!("{stdout}"));
        let command = command.replace("--max-executions 5", "");
        let words: Vec<&str> = command.split_whitespace().collect();
        run(folder.path(), &words).ends_with(0).prints(&["Holds"]);
    }
}

#[test]
fn what_is_no_search_of_this_program_is_refused() {
    for (engine, other) in [("native", "vm"), ("vm", "native")] {
        let folder = folder_with(INCREMENTS);
        let resume = |engine: &str, more: &[&str]| {
            let always = ["check", "increments.c", "--engine", engine, "--resume", "saved"];
            run(folder.path(), &[&always[..], more].concat())
        };
        let path = folder.path().join("saved");
        resume(engine, &[]).refuses("it cannot be read");
        std::fs::write(&path, "").expect("there is room");
        resume(engine, &[]).refuses("not a saved search");
        std::fs::write(&path, "int main(void) {}").expect("there is room");
        resume(engine, &[]).refuses("not a saved search");
        std::fs::remove_file(&path).expect("it is there");
        let save = ["check", "increments.c", "--engine", engine, "--max-executions", "5"];
        run(folder.path(), &[&save[..], &["--save", "saved"]].concat()).ends_with(3);
        let bytes = std::fs::read(&path).expect("it is saved");
        std::fs::write(&path, &bytes[..bytes.len() - 9]).expect("there is room");
        resume(engine, &[]).refuses("the saved search is damaged");
        std::fs::write(&path, &bytes).expect("there is room");
        resume(engine, &["--reduction", "source"]).refuses("cannot go on with");
        resume(other, &[]).refuses("the saved search is not one of");
        let changed = INCREMENTS.replace("x = x + 1", "x = x + 1, x = 7");
        std::fs::write(folder.path().join("increments.c"), changed).expect("there is room");
        // A program that runs itself may also find that it knows too little, and begin anew.
        if engine == "vm" {
            resume(engine, &[]).refuses("another program");
        }
    }
}

/// Two processes that count, for a moment or two.
const COUNTERS: &str = "int x, y, z;\n\
    active proctype a() { do :: x < 150 -> x++ :: x > 100 -> x = x - 50 od }\n\
    active proctype b() { do :: y < 150 -> y++ :: y > 100 -> y = y - 30 od }\n\
    active proctype c() { do :: z < 9 -> z++ :: else -> break od; assert(x < 151) }\n";

/// Threads that start others, in either order, and count.
const COUNTERS_IN_C: &str = "#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_int x, y;\n\
    static void *count(void *to) {\n    for (int i = 0; i < 8; i++) \
    atomic_fetch_add((atomic_int *)to, 1);\n    return 0;\n}\n\
    static void *start(void *to) {\n    pthread_t t;\n    pthread_create(&t, 0, count, to);\n    \
    count(&x);\n    pthread_join(t, 0);\n    return 0;\n}\n\
    int main(void) {\n    pthread_t a, b;\n    pthread_create(&a, 0, start, &x);\n    \
    pthread_create(&b, 0, start, &y);\n    pthread_join(a, 0);\n    pthread_join(b, 0);\n    \
    return 0;\n}\n";

#[test]
fn stored_states_are_saved() {
    let files = [("counters.pml", COUNTERS), ("counters.c", COUNTERS_IN_C)];
    let ways = [&["--jobs", "1"][..], &["--jobs", "2"], &["--order", "bfs"]];
    for ((name, text), more) in files.into_iter().flat_map(|it| ways.map(|way| (it, way))) {
        let folder = TempDir::new().expect("there is room");
        let at = folder.path();
        std::fs::write(at.join(name), text).expect("there is room");
        let always = ["check", name, "--engine", "statespace", "--reduction", "none"];
        let always = [&always[..], more].concat();
        let stats = |said: &Said| {
            let report: Value = serde_json::from_str(&said.stdout).expect("it is JSON");
            (report["stats"]["states"].clone(), report["stats"]["transitions"].clone())
        };
        let whole = run(at, &[&always[..], &["--json", "-"]].concat()).ends_with(0);
        let limits = ["--time-limit", "20ms", "--save", "here.mzk"];
        let Said { stdout, .. } = run(at, &[&always[..], &limits].concat()).ends_with(3);
        let last = stdout.lines().last().unwrap_or_default();
        let command = last.trim().strip_prefix("Resume: mazurka ");
        let command = command.unwrap_or_else(|| panic!("{stdout}"));
        let command = command.replace("--time-limit 20ms", "--json -");
        let words: Vec<&str> = command.split_whitespace().collect();
        let resumed = run(at, &words).ends_with(0);
        assert_eq!(stats(&resumed), stats(&whole), "{name} {more:?}");
        assert!(!at.join("here.mzk").exists(), "nothing is left");
        run(at, &words).refuses("it cannot be read");
    }
}

/// A search that is stopped after so long again and again, by the command that it tells; then the
/// last one, without that limit.
fn in_slices(at: &Path, words: &[&str], limit: &str) -> (Said, u32) {
    let mut words: Vec<String> = words.iter().map(|&it| it.to_owned()).collect();
    words.extend(["--time-limit", limit, "--save", "here.mzk"].map(str::to_owned));
    for n_stops in 0..200 {
        let said = run(at, &words.iter().map(String::as_str).collect::<Vec<_>>());
        let last = said.stdout.lines().last().unwrap_or_default().trim().to_owned();
        let Some(command) = last.strip_prefix("Resume: mazurka ") else {
            return (said, n_stops);
        };
        let said = said.ends_with(3);
        words = shlex::split(command).unwrap_or_else(|| panic!("{}", said.stdout));
    }
    panic!("it does not come to an end");
}

/// All searches of a model are in one file: of states, and one for each property.
#[test]
fn searches_for_infinite_executions_are_saved() {
    let small = COUNTERS.replace("150", "40").replace("100", "25").replace("- 50", "- 20");
    let in_promela = format!(
        "{small}ltl bounded {{ [] (x != 200) }}\nltl again {{ [] (x == 151 -> <> (y == 1)) }}\n"
    );
    let pml = "counters.pml";
    let asked: [&[&str]; 2] = [
        &["check", pml, "--reduction", "none"],
        &["check", pml, "--reduction", "none", "--ltl", "[] (y <= 40)"],
    ];
    let mut n_stopped = 0;
    for words in asked {
        let folder = TempDir::new().expect("there is room");
        let at = folder.path();
        std::fs::write(at.join(pml), &in_promela).expect("there is room");
        let whole = run(at, words).ends_with(0);
        let (last, n_stops) = in_slices(at, words, "150ms");
        n_stopped += n_stops;
        // The numbers of all searches are in the verdict; its time is not the same.
        let counted = |said: &Said| {
            let lines = said.stdout.lines().filter(|line| line.contains("steps between them"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(!counted(&whole).is_empty(), "{}", whole.stdout);
        assert_eq!(counted(&last.ends_with(0)), counted(&whole), "{words:?}");
        assert!(!at.join("here.mzk").exists(), "nothing is left");
    }
    assert!(n_stopped > 0, "nothing was stopped");
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join(pml), &in_promela).expect("there is room");
    let built = ["check", pml, "--construction", "off-line", "--save", "here.mzk"];
    run(folder.path(), &built).refuses("a graph that is built first cannot be saved");
}

/// A file that is no saved search is neither replaced nor removed.
#[test]
fn files_of_others_are_left_alone() {
    let folder = folder_with(INCREMENTS);
    let at = folder.path();
    std::fs::create_dir(at.join("folder")).expect("there is room");
    for engine in ["native", "vm", "statespace"] {
        let save = |to: &str| {
            run(at, &["check", "increments.c", "--engine", engine, "--quiet", "--save", to])
        };
        save("increments.c").refuses("increments.c` is there, and is no saved search");
        assert!(at.join("increments.c").exists());
        save("folder").refuses("folder` is a directory");
        save("/dev/null").refuses("`/dev/null` is no file that can be replaced");
        // What `mktemp` makes is as good as nothing.
        std::fs::write(at.join("empty"), "").expect("there is room");
        assert_ne!(save("empty").status, Some(2));
    }
}
