//! Limits hold, in every engine and whatever is being done; and nothing is left behind.

use crate::support::{Said, say, with_file};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Six threads with long bodies: making a circuit of it takes minutes.
fn large() -> String {
    let mut text = "#include <pthread.h>\n#include <assert.h>\nint a[400], b[400], x;\n\
         pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
        .to_owned();
    for thread in 0..6 {
        text += &format!("void *t{thread}(void *_) {{ int i, j, r = 0;\n");
        for k in 0..60 {
            text += &format!(
                "pthread_mutex_lock(&m); i = (a[{k}] * 7 + x) % 400; if (i < 0) i = -i;\n\
                 a[i] = b[(i * 3) % 400] * (r + {k}) % 97; r += a[i] / {};\n\
                 for (j = 0; j < i; j++) b[j] += a[i]; x = r; pthread_mutex_unlock(&m);\n",
                k + 1
            );
        }
        text += "return 0; }\n";
    }
    text += "int main(void) { pthread_t p[6];\n";
    for thread in 0..6 {
        text += &format!("pthread_create(&p[{thread}], 0, t{thread}, 0);\n");
    }
    text + "for (int i = 0; i < 6; i++) pthread_join(p[i], 0);\nassert(x != 12345); }\n"
}

#[test]
fn a_circuit_that_takes_long_to_make_is_not_waited_for() {
    let begun = Instant::now();
    let arguments = ["check", "large.c", "--engine", "bmc", "--time-limit", "1s"];
    let said = with_file("large.c", large(), &arguments);
    said.ends_with(3).prints(&["time limit, 1 s"]);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

const FAILS: &str = "#include <stdio.h>\n#include <assert.h>\n\
     int main(void) { printf(\"\\033[31mred\\a\\n\"); fflush(stdout); assert(0); }\n";

#[test]
fn what_a_program_prints_cannot_control_the_terminal() {
    let said = with_file("fails.c", FAILS, &["check", "fails.c", "--engine", "native"]);
    let Said { stdout, .. } = said.ends_with(1);
    assert!(stdout.contains("\\u{1b}[31mred\\u{7}\n"), "{stdout}");
    assert!(!stdout.contains('\u{1b}'), "{stdout}");
}

#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("fails.c"), FAILS).expect("there is room");
    for engine in ["native", "vm"] {
        let full = std::fs::File::create("/dev/full").expect("there is one");
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        command.args(["check", "fails.c", "--json", "-", "--engine", engine]);
        let said = say(command.current_dir(folder.path()).stdout(full));
        let said = said.ends_with(2);
        assert!(said.stderr.contains("standard output cannot be written"), "{}", said.stderr);
    }
}

/// So is a verdict for people that they cannot read.
#[test]
fn a_verdict_that_cannot_be_shown_is_an_error() {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("fine.c"), "int main(void) { return 0; }\n")
        .expect("there is room");
    let all: [&[&str]; 3] = [
        &["check", "fine.c", "--engine", "vm"],
        &["check", "fine.c", "--quiet"],
        &["model", "fine.c"],
    ];
    for words in all {
        let full = std::fs::File::create("/dev/full").expect("there is one");
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        let said = say(command.args(words).current_dir(folder.path()).stdout(full));
        let said = said.ends_with(2);
        assert!(said.stderr.contains("standard output cannot be written"), "{}", said.stderr);
        // A reader that has seen enough is none.
        let (reader, writer) = std::io::pipe().expect("there is one");
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        say(command.args(words).current_dir(folder.path()).stdout(writer)).ends_with(0);
    }
}

/// A home that is not there is not made, and nothing needs it.
#[test]
fn a_home_that_is_not_there_stays_so() {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("fine.c"), "int main(void) { return 0; }\n")
        .expect("there is room");
    let home = folder.path().join("home");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args(["check", "fine.c", "--quiet"]).current_dir(folder.path());
    say(command.env("HOME", &home).env_remove("XDG_CACHE_HOME")).ends_with(0);
    assert!(!home.exists());
}

const WAITS: &str = "#include <unistd.h>\n\
     int main(void) { int ends[2]; char byte; pipe(ends); return read(ends[0], &byte, 1); }\n";

/// The folder of a run, once there is one and its program runs.
fn folder_of_run(temporary: &TempDir) -> Option<std::path::PathBuf> {
    let entries = std::fs::read_dir(temporary.path()).ok()?;
    entries.flatten().map(|entry| entry.path()).find(|path| {
        let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        name.starts_with("mazurka-run-") && path.join("program").exists()
    })
}

#[test]
fn a_command_that_is_killed_takes_the_program_with_it() {
    let (folder, temporary) = (TempDir::new(), TempDir::new());
    let (folder, temporary) = (folder.expect("there is room"), temporary.expect("there is room"));
    std::fs::write(folder.path().join("waits.c"), WAITS).expect("there is room");
    std::fs::write(folder.path().join("fails.c"), FAILS).expect("there is room");
    let command = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        command.args(arguments).current_dir(folder.path()).env("TMPDIR", temporary.path());
        command
    };
    let arguments = ["check", "waits.c", "--engine", "native", "--allow", "real=pipe"];
    let mut waiting = command(&arguments);
    let mut waiting = waiting.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    let begun = Instant::now();
    let children = format!("/proc/{0}/task/{0}/children", waiting.id());
    let mut program = None;
    while program.is_none() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
        if let Some(path) = folder_of_run(&temporary) {
            let all = std::fs::read_to_string(&children).unwrap_or_default();
            let is_it = |id: &&str| {
                let exe = std::fs::read_link(format!("/proc/{id}/exe"));
                exe.is_ok_and(|exe| exe == path.join("program"))
            };
            program = all.split_whitespace().find(is_it).map(str::to_owned);
            let mode = std::fs::metadata(&path).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "nobody else looks into it");
        }
    }
    let program = program.expect("the program was started");
    // By then it has asked for the signal.
    std::thread::sleep(Duration::from_millis(200));
    waiting.kill().expect("it runs");
    waiting.wait().expect("it has ended");
    let begun = Instant::now();
    let state = || std::fs::read_to_string(format!("/proc/{program}/stat")).unwrap_or_default();
    while !state().is_empty() && !state().contains(") Z") {
        assert!(begun.elapsed() < Duration::from_secs(10), "it goes on: {}", state());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(folder_of_run(&temporary).is_some(), "nobody could remove it yet");
    say(&mut command(&["check", "fails.c", "--engine", "native"])).ends_with(1);
    assert!(folder_of_run(&temporary).is_none(), "the next command removes it");
}

/// Threads that are started one after the other are as many as a program likes.
#[test]
fn numbers_of_threads_are_used_again() {
    let threads = "#include <pthread.h>\n\
         void *nothing(void *unused) { return unused; }\n\
         int main(void) {\n\
             for (int i = 0; i < 200; i++) { pthread_t t; \n\
                 pthread_create(&t, 0, nothing, 0); \n\
                 pthread_join(t, 0); }\n\
             return 0;\n}\n";
    for engine in ["native", "vm", "statespace"] {
        let said = with_file("threads.c", threads, &["check", "threads.c", "--engine", engine]);
        said.ends_with(0);
    }
}

/// A thread that few executions start is one more that the search knows of: its rungs and the
/// search itself are resumed all the same.
#[test]
fn a_thread_that_few_executions_start_is_the_same_program() {
    let rare = "#include <pthread.h>\n#include <stdatomic.h>\n\
         atomic_int x, y;\n\
         void *late(void *unused) { atomic_store(&y, 1); return unused; }\n\
         void *work(void *who) {\n\
             if (atomic_exchange(&x, (int)(long)who) == 0 && (long)who == 7) { pthread_t it;\n\
                 pthread_create(&it, 0, late, 0); atomic_store(&y, 2); pthread_join(it, 0); }\n\
             return 0;\n}\n\
         int main(void) {\n\
             pthread_t all[7];\n\
             for (long i = 0; i < 7; i++) pthread_create(&all[i], 0, work, (void *)(i + 1));\n\
             for (int i = 0; i < 7; i++) pthread_join(all[i], 0);\n\
             return 0;\n}\n";
    let words = ["check", "rare.c", "--engine", "native", "--jobs", "1"];
    with_file("rare.c", rare, &words).ends_with(0).prints(&["5 760 traces"]);
}
