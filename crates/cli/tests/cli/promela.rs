//! Promela on the command line: verdicts, simulations, and what is refused.

use crate::support::{Said, run, with_file};
use std::io::Write as _;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// What the command says in a folder with one file `x.pml`.
fn mazurka(text: &str, arguments: &[&str]) -> Said {
    with_file("x.pml", text, arguments)
}

const COUNTER: &str = "byte n, n_done;
active [2] proctype add() { byte seen; seen = n; n = seen + 1; n_done++ }
active proctype check() { n_done == 2; assert(n == 2) }
";

#[test]
fn a_lost_update_is_found_and_told() {
    let said = mazurka(COUNTER, &["check", "x.pml"]);
    assert_eq!(said.status, Some(1), "{}{}", said.stdout, said.stderr);
    for part in ["Assertion failed: `n == 2`", "(n 0→1)", "add:0", "add:1", "seen = n", "2:40"] {
        assert!(said.stdout.contains(part), "`{part}` is not in:\n{}", said.stdout);
    }
    let command = said.stdout.lines().find_map(|line| line.strip_prefix("Replay: mazurka "));
    let words: Vec<&str> = command.expect("it can be replayed").split_whitespace().collect();
    let again = mazurka(COUNTER, &words);
    assert_eq!(again.status, Some(1), "{}{}", again.stdout, again.stderr);
    assert!(again.stdout.contains("assertion violated (n == 2)"), "{}", again.stdout);
    let other = mazurka(COUNTER, &["replay", "x.pml", "--schedule", "mzk1:9x3"]);
    assert_eq!(other.status, Some(2), "{}", other.stdout);
}

/// Two processes that take turns four thousand times before one goes wrong.
const LONG: &str = "byte turn; short n;
active [2] proctype p() { do :: turn == _pid -> d_step { n++; turn = 1 - _pid }; assert(n < 4000) od }
";

#[test]
fn a_long_schedule_is_followed_from_a_file() {
    let folder = TempDir::new().expect("a folder can be made");
    let file = folder.path().join("found.json");
    let json = file.to_str().expect("it is UTF-8");
    let arguments = ["check", "x.pml", "--reduction", "none", "--json", json];
    let said = mazurka(LONG, &arguments);
    assert_eq!(said.status, Some(1), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.ends_with("mazurka replay x.pml --schedule @FILE\n"), "{}", said.stdout);
    let at_file = format!("@{json}");
    for words in [&["replay", "x.pml", "--schedule", &at_file][..], &["replay", "x.pml", &at_file]]
    {
        let again = mazurka(LONG, words);
        assert_eq!(again.status, Some(1), "{}{}", again.stdout, again.stderr);
        assert!(again.stdout.contains("assertion violated (n < 4000)"), "{}", again.stdout);
    }
    for (text, complaint) in [
        ("{\"verdict\": \"holds\", \"violation\": null}", "tells of no violation"),
        ("mzk2:0", "expected"),
    ] {
        std::fs::write(&file, text).expect("it can be written");
        let refused = mazurka(LONG, &["replay", "x.pml", &at_file]);
        assert_eq!(refused.status, Some(2), "{}", refused.stdout);
        assert!(refused.stderr.contains(complaint), "{}", refused.stderr);
    }
    let missing = mazurka(LONG, &["replay", "x.pml", "--schedule", "@nowhere"]);
    assert_eq!(missing.status, Some(2), "{}", missing.stdout);
    assert!(missing.stderr.contains("nowhere: No such file"), "{}", missing.stderr);
}

#[test]
fn a_wrong_end_names_who_waits() {
    let said = mazurka("chan c = [0] of { byte };\ninit { c!1 }\n", &["check", "x.pml"]);
    assert_eq!(said.status, Some(1), "{}", said.stdout);
    assert!(said.stdout.contains("Invalid end state"), "{}", said.stdout);
    assert!(said.stdout.contains("init:0 waits for `c!1`"), "{}", said.stdout);
}

#[test]
fn what_holds_says_what_was_never_reached() {
    let text = "byte x;\nactive proctype p() { if :: x == 1 -> x = 2 :: else fi }\n";
    let said = mazurka(text, &["check", "x.pml"]);
    assert_eq!(said.status, Some(0), "{}", said.stdout);
    assert!(said.stdout.contains("never reached: x.pml:2"), "{}", said.stdout);
    let json = mazurka(text, &["check", "x.pml", "--json", "-"]);
    let object: serde_json::Value = serde_json::from_str(&json.stdout).expect("it is an object");
    assert_eq!(object["verdict"], "holds");
}

#[test]
fn macros_are_given_and_files_included() {
    let text = "#include \"gone.h\"\n#if N > 2\n#error too many\n#endif\ninit { assert(N) }\n";
    let said = mazurka(text, &["check", "x.pml", "-DN=3"]);
    assert_eq!(said.status, Some(2), "{}", said.stdout);
    for part in ["gone.h: No such file or directory", "x.pml:1:10", "#error too many", "x.pml:3:2"]
    {
        assert!(said.stderr.contains(part), "`{part}` is not in:\n{}", said.stderr);
    }
    let text = "init { assert(N) }\n";
    assert_eq!(mazurka(text, &["check", "x.pml", "-D", "N"]).status, Some(0));
    assert_eq!(mazurka(text, &["check", "x.pml", "-DN=0"]).status, Some(1));
    let said = mazurka(text, &["check", "x.pml", "--cflags", "-DN -c"]);
    assert_eq!(said.status, Some(2), "{}", said.stdout);
    assert!(said.stderr.contains("`-c` means nothing to a model"), "{}", said.stderr);
}

#[test]
fn a_limit_says_what_else_can_be_tried() {
    let text = "int n; active proctype p() { do :: n >= 0 -> n++ od }\n";
    let tip = |arguments: &[&str]| {
        let limit = ["check", "x.pml", "--memory-limit", "1MB"];
        let said = mazurka(text, &[&limit, arguments].concat());
        assert_eq!(said.status, Some(3), "{}{}", said.stdout, said.stderr);
        // Whatever it names is an option of this search.
        assert!(!said.stdout.contains("--bound"), "{}", said.stdout);
        said.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(tip(&[]).contains("a larger `--memory-limit` sees more; `--storage bitstate` needs"));
    assert!(tip(&["--reduction", "none"]).contains("`--reduction stubborn` stores fewer states"));
}

#[test]
fn a_simulation_repeats_with_its_seed() {
    let with_seed = |seed: &str| mazurka(COUNTER, &["simulate", "x.pml", "--seed", seed]).stdout;
    assert_eq!(with_seed("1"), with_seed("1"));
    let all: Vec<String> = (0..8).map(|seed| with_seed(&seed.to_string())).collect();
    assert!(all.iter().any(|one| *one != all[0]), "{}", all[0]);
}

#[test]
fn a_simulation_tells_what_is_printed_and_how_it_ends() {
    let said = mazurka("init { printf(\"%d and %d\\n\", 1, 2) }\n", &["simulate", "x.pml"]);
    assert_eq!(said.status, Some(0), "{}", said.stdout);
    assert!(said.stdout.contains("prints 1 and 2"), "{}", said.stdout);
    let said = mazurka("init { do :: skip od }\n", &["simulate", "x.pml", "--steps", "9"]);
    assert_eq!(said.status, Some(3), "{}", said.stdout);
}

#[test]
fn faults_are_shown_at_their_places() {
    let said = mazurka("init { x = 1;\n y = 2 }\n", &["check", "x.pml"]);
    assert_eq!(said.status, Some(2), "{}", said.stdout);
    for part in ["undeclared variable: x", "x.pml:1:8", "undeclared variable: y", "x.pml:2:2"] {
        assert!(said.stderr.contains(part), "`{part}` is not in:\n{}", said.stderr);
    }
}

/// What a simulation prints, given these answers.
fn interactive(text: &str, answers: &str) -> Said {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("x.pml"), text).expect("there is room");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args(["simulate", "x.pml", "--interactive"]).current_dir(folder.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command can be started");
    let mut stdin = child.stdin.take().expect("it was asked for");
    // A reader that has seen enough closes the pipe.
    let _ = stdin.write_all(answers.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Said { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn a_user_chooses_the_steps() {
    let text = "byte x;\nactive proctype p() { x = 1 }\nactive proctype q() { assert(x == 0) }\n";
    interactive(text, "2\n1\n").ends_with(1).prints(&["assertion violated (x == 0)", "Which step"]);
    interactive(text, "1\n1\n1\n1\n").ends_with(0).prints(&["Ended"]);
    // A number that is none, one that is too large, none at all, and the end of what there is to
    // read.
    let said = interactive(text, "one\n7\n\n-1\n0\n");
    let mistakes = said.stdout.matches("a number of the list, `b` to take back a step, or `q`");
    assert_eq!(mistakes.count(), 5);
    said.ends_with(3);
    interactive(text, "q\n2\n").ends_with(3).prints(&["Stopped after 0 steps"]);
    interactive(text, "").ends_with(3);
}

#[test]
fn a_user_sees_values_and_takes_back_steps() {
    let text = "byte x; chan c = [2] of { byte };\n\
                active proctype p() { x = 1; c!7 }\nactive proctype q() { assert(x == 0) }\n";
    // The last choice decides, also behind the end.
    let said = interactive(text, "2\n1\nb\nb\n1\n1\n1\n1\n1\n");
    let said = said.prints(&[
        "Values: x = 0, c = []",
        "Values: x = 1, c = []",
        "assertion violated (x == 0)",
        "Back (`b`) or stop (`q`)?",
        "Back after 1 step",
        "Back after 0 steps",
        "c = [(7)]",
        "Ended after",
    ]);
    said.ends_with(0);
    interactive(text, "2\n1\nq\n").ends_with(1);
    interactive(text, "b\nb\n").ends_with(3).prints(&["there is no step to take back"]);
}

#[test]
fn a_trail_is_written_and_followed() {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("x.pml"), COUNTER).expect("there is room");
    let said = run(folder.path(), &["check", "x.pml", "--trail", "x.trail"]);
    said.ends_with(1).prints(&["`x.trail` has it as a trail"]);
    let replay = |trail: &str| run(folder.path(), &["replay", "x.pml", "--trail", trail]);
    replay("x.trail").ends_with(1).prints(&["assertion violated (n == 2)"]);
    replay("other.trail").refuses("`other.trail` cannot be read");
    replay("x.pml").refuses("line 1 is no step");
    std::fs::write(folder.path().join("y.trail"), "1:7:0\n").expect("there is room");
    replay("y.trail").refuses("the step of line 1 is not possible");
    let nowhere = ["check", "x.pml", "--trail", "none/x.trail"];
    run(folder.path(), &nowhere).refuses("`none/x.trail` cannot be written");
}

#[test]
fn progress_is_looked_for_if_asked() {
    let check = |text: &str| mazurka(text, &["check", "x.pml", "--property", "livelock"]);
    let idle = "byte x;\nactive proctype p() { do :: x = 1 - x od }\n";
    check(idle).ends_with(1).prints(&["there is no progress", "x = 1 - x"]);
    let busy = "byte x;\nactive proctype p() { do :: true -> progress: x = 1 - x od }\n";
    check(busy).ends_with(0).prints(&["non-progress cycle"]);
    mazurka(idle, &["check", "x.pml"]).ends_with(0);
}

/// Where no state is between two steps, no search sees a process come by a label.
#[test]
fn labels_that_are_passed_without_a_state_are_refused() {
    let model = |steps: &str| format!("byte x;\nactive proctype p() {{ do :: {steps} od }}\n");
    let livelock = ["check", "x.pml", "--property", "livelock"];
    for block in ["atomic { x = 1; ~: x = 0 }", "d_step { x = 1; ~: x = 0 }"] {
        let accepts = model(&block.replace('~', "accept"));
        let why = "x.pml:2:";
        mazurka(&accepts, &["check", "x.pml"]).refuses(why);
        // Where it is not looked at, it may stand.
        mazurka(&accepts, &["check", "x.pml", "--property", "assert"]).ends_with(0);
        mazurka(&accepts, &livelock).ends_with(1);
        let progress = model(&block.replace('~', "progress"));
        mazurka(&progress, &livelock).refuses("comes by the label progress, which is progress");
        mazurka(&progress, &["check", "x.pml"]).ends_with(0);
    }
    let said = mazurka(&model("x = 1; accept: atomic { x = 2; x = 0 }"), &["check", "x.pml"]);
    said.ends_with(1).prints(&["accepts again and again"]);
    let said = mazurka(&model("x = 1; progress: d_step { x = 2; x = 0 }"), &livelock);
    said.ends_with(0);
}

/// What goes on for ever is found beside more states than there is time for, and told although
/// nothing is found out about fairness before the time is over.
#[test]
fn all_searches_take_turns() {
    let text = "byte a[5];
active [5] proctype p() { do :: a[_pid]++; assert(a[0] + a[1] + a[2] + a[3] + a[4] < 1275) od }
ltl f { <> (a[0] == 1) }
";
    for arguments in [&[][..], &["--ltl-name", "f"]] {
        let words = [&["check", "x.pml", "--time-limit", "8s"][..], arguments].concat();
        mazurka(text, &words).ends_with(1).prints(&["goes on for ever"]);
    }
}

#[test]
fn processes_of_any_number_can_be_named() {
    let text = "active [200] proctype p() { assert(_pid != 150) }\n";
    let said = mazurka(text, &["check", "x.pml"]).ends_with(1);
    let command = said.stdout.lines().find_map(|line| line.strip_prefix("Replay: mazurka "));
    let words: Vec<&str> = command.expect("it can be replayed").split_whitespace().collect();
    mazurka(text, &words).ends_with(1).prints(&["assertion violated (_pid != 150)"]);
}

#[test]
fn shorter_ways_are_found_if_asked() {
    let text = "byte n;\nactive proctype p() { do :: n < 9 -> n++ :: n == 2 -> break od; assert(n != 2) }\n";
    let length = |arguments: &[&str]| {
        let said = mazurka(text, &[&["check", "x.pml", "--json", "-"], arguments].concat());
        let object: serde_json::Value = serde_json::from_str(&said.stdout).expect("an object");
        assert_eq!(object["verdict"], "violated", "{}", said.stdout);
        object["violation"]["steps"].as_array().expect("it has steps").len()
    };
    let shortest = length(&["--order", "bfs", "--reduction", "none"]);
    assert_eq!(shortest, 6);
    assert_eq!(length(&["--shorten"]), shortest);
    assert_eq!(length(&["--order", "bfs"]), shortest);
    assert!(length(&[]) >= shortest);
}

#[test]
fn messages_are_told_by_name() {
    let text = "mtype = { ping, pong };\nchan c = [1] of { mtype, byte };\n\
        active proctype p() { byte n = 7; c!ping,n; c!pong,3 }\n\
        active proctype q() { byte m; c?ping,m; c?pong,3; assert(false) }\n";
    let said = mazurka(text, &["check", "x.pml"]).ends_with(1);
    let said = said.prints(&["c!ping,n", "(ping, 7)", "c!pong,3"]);
    assert!(!said.stdout.contains("(2"), "{}", said.stdout);
}

#[test]
fn values_of_variables_are_told_by_name() {
    let text = "mtype = { ping, pong };\nmtype:fruit = { apple, pear };\n\
                chan c = [1] of { mtype, mtype:fruit, byte };\n\
                init { mtype m = ping; mtype:fruit f = apple; byte n;\n\
                c!m,f,1; c?m,f,n; printf(\"%e %e %e %e\\n\", m, f, pear, n) }\n";
    let said = mazurka(text, &["simulate", "x.pml"]).ends_with(0);
    said.prints(&["c!m,f,1 (ping, apple, 1)", "c?m,f,n (ping, apple, 1)", "ping apple pear pong"]);
}

#[test]
fn a_value_that_is_cut_off_is_told_and_is_wrong_if_asked() {
    let text = "byte x; bit b; chan c = [1] of { byte };\nproctype p(bit y) { skip }\n\
                init { x = 300; c!257; c?x; run p(2); d_step { x = 0; x-- } }\n";
    let told = |cut: &str| format!("value ({cut}) truncated in assignment");
    let simulated = mazurka(text, &["simulate", "x.pml"]).ends_with(0);
    let cut = ["300->44 (8)", "257->1 (8)", "2->0 (1)", "-1->255 (8)"].map(told);
    simulated.prints(&cut.each_ref().map(String::as_str));
    mazurka(text, &["check", "x.pml"]).ends_with(0);
    let asked = mazurka(text, &["check", "x.pml", "--property", "overflow"]).ends_with(1);
    let asked = asked.prints(&[&cut[0]]);
    let command = asked.stdout.lines().find_map(|line| line.strip_prefix("Replay: mazurka "));
    let words: Vec<&str> = command.expect("it can be replayed").split_whitespace().collect();
    mazurka(text, &words).ends_with(1).prints(&[&cut[0]]);
    let fits = "byte x;\ninit { x = 255 }\n";
    let fits = mazurka(fits, &["check", "x.pml", "--property", "overflow"]).ends_with(0);
    fits.prints(&["truncated value"]);
}

#[test]
fn what_goes_wrong_at_run_time_is_a_violation() {
    let check = |text: &str, words: &str| {
        mazurka(text, &["check", "x.pml"]).ends_with(1).prints(&[words]);
    };
    check("byte a[2], i;\ninit { i = 2; a[i] = 1 }\n", "invalid array index");
    check("byte x;\ninit { x = 1 / x }\n", "division by zero");
    check("proctype p() { false }\ninit { do :: run p() od }\n", "too many processes");
    let unset = "chan d = [1] of { byte };\nchan c;\n\
                 init { if :: len(d) == 1 -> c = d :: else fi; c!1 }\n";
    check(unset, "uninitialized chan");
    check("chan c = [1] of { byte };\ninit { d_step { c!1; c!2 } }\n", "block in d_step seq");
}

#[test]
fn what_is_no_model_is_refused() {
    mazurka("", &["check", "x.pml"]).refuses("`x.pml` is empty");
    mazurka(" \n\n", &["check", "x.pml"]).refuses("`x.pml` is empty");
    mazurka("init\0{ skip }", &["check", "x.pml"]).refuses("`x.pml` is a binary file");
    mazurka("init { skip }", &["check", "y.pml"]).refuses("`y.pml` does not exist");
    mazurka("#include \"none.h\"\ninit { skip }", &["check", "x.pml"]).refuses("none.h");
    mazurka("byte x;\n", &["check", "x.pml"]).refuses("no runable process");
    mazurka("init { c_code { x = 1; } }\n", &["check", "x.pml"]).refuses("embedded C");
}
