//! Promela on the command line: verdicts, simulations, and what is refused.

mod support;

use support::{Said, with_file};

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
    for part in ["assertion violated (n == 2)", "add:0", "add:1", "seen = n", "x.pml:2"] {
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

#[test]
fn a_wrong_end_names_who_waits() {
    let said = mazurka("chan c = [0] of { byte };\ninit { c!1 }\n", &["check", "x.pml"]);
    assert_eq!(said.status, Some(1), "{}", said.stdout);
    assert!(said.stdout.contains("invalid end state"), "{}", said.stdout);
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
