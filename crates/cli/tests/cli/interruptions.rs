//! Interrupts and what is saved: whenever they come, the command ends, and tells no wrong reason;
//! and a search goes on with the program that it is of, and with no other.

use crate::support::{Said, run};
use mazurka_check::native::os::{self, Signal};
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn folder_with(name: &str, text: &str) -> TempDir {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join(name), text).expect("there is room");
    folder
}

fn start(folder: &Path, words: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args(words).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0).spawn().expect("it runs")
}

/// What it says until it ends, which is soon.
#[track_caller]
fn ended(mut child: Child) -> Said {
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it runs") {
            break status;
        }
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().expect("it runs");
            panic!("it goes on");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.take().expect("it is piped").read_to_string(&mut stdout).expect("it is text");
    child.stderr.take().expect("it is piped").read_to_string(&mut stderr).expect("it is text");
    Said { status: status.code(), stdout, stderr }
}

/// Three threads of five steps, all of which lock one mutex: what is learnt of it, and the names of
/// its threads, do not depend on what it asserts.
const LOCKS: &str = "#include <pthread.h>\n#include <assert.h>\n\
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nstatic int order, n;\n\
    static void *work(void *arg) {\n    for (int i = 0; i < 5; i++) {\n\
    pthread_mutex_lock(&lock);\n        order = order * 4 + (int)(long)arg; n++;\n\
    pthread_mutex_unlock(&lock);\n    }\n    return arg;\n}\n\
    int main(void) {\n    pthread_t t[3];\n\
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, work, (void *)(i + 1));\n\
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);\n    assert(CLAIM);\n    return 0;\n}\n";

#[test]
fn a_native_search_goes_on_with_no_other_program() {
    let folder = folder_with("v.c", &LOCKS.replace("CLAIM", "n == 15"));
    let at = folder.path();
    let stopped = ["check", "v.c", "--engine", "native", "--max-executions", "50"];
    run(at, &[&stopped[..], &["--save", "v.mzk"]].concat()).ends_with(3);
    let resume = [&stopped[..], &["--resume", "v.mzk"]].concat();
    run(at, &["split", "v.c", "--engine", "native", "--into", "2", "--out", "parts"]).ends_with(0);
    let part = [&stopped[..], &["--resume", "parts/01.mzs"]].concat();
    std::fs::write(at.join("v.c"), LOCKS.replace("CLAIM", "order != 358284015")).expect("room");
    run(at, &resume).refuses("belongs to another program");
    run(at, &part).refuses("belongs to another program");
    // It is the program, not the time or the folder of its making.
    std::fs::create_dir(at.join("other")).expect("there is room");
    std::fs::write(at.join("other/v.c"), LOCKS.replace("CLAIM", "n == 15")).expect("room");
    std::fs::copy(at.join("v.mzk"), at.join("other/v.mzk")).expect("there is room");
    run(&at.join("other"), &resume).ends_with(3);
    std::fs::copy(at.join("other/v.c"), at.join("v.c")).expect("there is room");
    run(at, &resume).ends_with(3);
    run(at, &part).ends_with(3);
}

const ENDLESS: &str = "#include <pthread.h>\n\
    static void *spin(void *unused) { for (;;) ; return unused; }\n\
    int main(void) { pthread_t t; pthread_create(&t, 0, spin, 0); pthread_join(t, 0); }\n";

#[test]
fn a_livelock_without_operations_is_replayed() {
    let folder = folder_with("spin.c", ENDLESS);
    let said = ended(start(folder.path(), &["check", "spin.c", "--engine", "native"]));
    let said = said.ends_with(1).prints(&["goes on for ever without a visible operation"]);
    let schedule = said.stdout.split_whitespace().find(|word| word.starts_with("mzk1:"));
    let schedule = schedule.expect("it is replayed").to_owned();
    let words = ["replay", "spin.c", "--engine", "native", "--schedule", &schedule];
    let said = ended(start(folder.path(), &words)).ends_with(1);
    said.prints(&["goes on for ever without a visible operation"]);
}

/// A loop that does something is no livelock, and the interrupt is heard.
#[test]
fn a_replay_is_interrupted() {
    let text = "#include <stdio.h>\nvolatile int sum;\n\
        int main(void) { fprintf(stderr, \"begun\\n\"); fflush(stderr);\n\
        int n = 0; for (;;) { __asm__ volatile(\"\" : \"+r\"(n)); n++; if (n < 0) n = 1; } }\n";
    let folder = folder_with("long.c", text);
    let words = ["replay", "long.c", "--engine", "native", "--schedule", "mzk1:0"];
    let child = start(folder.path(), &words);
    std::thread::sleep(Duration::from_millis(1500));
    os::send(child.id(), Signal::Interrupt);
    let said = ended(child);
    assert!(matches!(said.status, Some(1 | 3)), "{:?} {}{}", said.status, said.stdout, said.stderr);
}

/// A signal for the whole group, as a terminal sends it, finds the compiler at work.
#[test]
fn an_interrupted_compiler_has_refused_nothing() {
    let compiler = "#!/bin/sh\nfor word; do [ \"$word\" = --version ] && exec gcc --version; done\n\
        trap 'exit 1' INT\nsleep 30 & wait\nexit 1\n";
    let folder = folder_with("slow", compiler);
    let script = folder.path().join("slow");
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("it is ours");
    std::fs::write(folder.path().join("a.c"), "int main(void) { return 0; }\n").expect("room");
    for engine in ["native", "vm"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        command.args(["check", "a.c", "--engine", engine]).env("CC", &script);
        command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.process_group(0).spawn().expect("it runs");
        std::thread::sleep(Duration::from_millis(800));
        let group = format!("-{}", child.id());
        // Twice, as `timeout` does: that is one wish.
        for _ in 0..2 {
            Command::new("kill").args(["-INT", "--", &group]).status().expect("it runs");
        }
        let said = ended(child).ends_with(3);
        let all = said.stdout + &said.stderr;
        assert!(all.contains("interrupted"), "{engine}: {all}");
        assert!(!all.contains("does not"), "{engine}: {all}");
    }
}

#[test]
fn what_cannot_be_saved_is_refused() {
    let folder = folder_with("v.c", &LOCKS.replace("CLAIM", "n == 15"));
    for how in [
        &["--memory", "tso"][..],
        &["--sample", "pct"],
        &["--coverage"],
        &["--reduction", "source", "--order", "best-first:preemptions"],
    ] {
        let words = [&["check", "v.c", "--engine", "native", "--save", "v.mzk"], how].concat();
        run(folder.path(), &words).refuses("`--save` does not go with");
    }
    let words = ["split", "v.c", "--memory", "tso", "--into", "2", "--out", "parts"];
    run(folder.path(), &words).refuses("a search is not split with");
}

#[test]
fn a_raised_bound_goes_on_where_it_is() {
    let folder = folder_with("v.c", &LOCKS.replace("CLAIM", "n == 15"));
    let words = ["check", "v.c", "--engine", "native", "--bound", "preemption=0", "--iterate"];
    let stopped = ["--max-executions", "300", "--save", "v.mzk"];
    let said = run(folder.path(), &[&words[..], &stopped].concat()).ends_with(3);
    let line = said.stdout.lines().find_map(|line| line.trim().strip_prefix("Resume: mazurka "));
    let line = line.expect("it is saved").replace('\'', "");
    let words: Vec<&str> = line.split_whitespace().collect();
    run(folder.path(), &words).ends_with(3);
}

/// Files that a killed command was writing go away with the next one.
#[test]
fn parts_of_files_are_not_left() {
    let folder = folder_with("v.c", &LOCKS.replace("CLAIM", "n == 15"));
    let part = folder.path().join("v.mzk.part-999999999");
    std::fs::write(&part, "mzk-").expect("there is room");
    let words = ["check", "v.c", "--engine", "vm", "--max-executions", "50", "--save", "v.mzk"];
    run(folder.path(), &words).ends_with(3);
    assert!(!part.exists());
}
