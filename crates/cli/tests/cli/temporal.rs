//! Temporal properties on the command line: verdicts with their loops, fairness, and what is
//! refused.

use crate::support::{Said, run, with_file};
use tempfile::TempDir;

/// What the command says of a file `x.pml`, without the ends of lines.
fn mazurka(text: &str, arguments: &[&str]) -> Said {
    let said = with_file("x.pml", text, &[&["check", "x.pml"], arguments].concat());
    let words: Vec<&str> = said.stdout.split_whitespace().collect();
    Said { stdout: words.join(" "), ..said }
}

/// One process that goes through a critical section, and one that goes round for itself.
const TURN: &str = "#define critical (n == 1)
byte n;
active proctype worker() { do :: n++; n-- od }
active proctype idler() { do :: skip od }
ltl often { [] <> critical }
ltl never_two { [] (n < 2) }
";

#[test]
fn every_ltl_block_of_a_model_is_checked() {
    let said = mazurka(TURN, &[]).ends_with(1);
    let said =
        said.prints(&["ltl often fails: this goes on for ever", "ltl never_two: no violation"]);
    // The stem, the loop below a rule, who is left out of it, and what would help.
    said.prints(&[
        "idler:1",
        "for ever",
        "could always move there and never does: worker:0",
        "it needs fairness: it holds with `--fairness weak`",
    ]);
    let said = mazurka(TURN, &["--fairness", "weak"]).ends_with(0);
    said.prints(&[
        "violation of ltl often",
        "violation of ltl never_two",
        "assertion failure",
        "invalid end state",
        "that it is weakly fair to every process",
    ]);
    // They need not be read.
    let said = mazurka(TURN, &["--property", "assert,deadlock"]).ends_with(0);
    assert!(!said.stdout.contains("ltl"), "{}", said.stdout);
}

#[test]
fn one_property_can_be_asked_for() {
    let said = mazurka(TURN, &["--ltl-name", "never_two"]).ends_with(0);
    said.prints(&["no assertion failure or violation of ltl never_two in any execution"]);
    // Macros of the model are known.
    mazurka(TURN, &["--ltl", "<> critical"]).ends_with(1).prints(&["ltl `<> critical` fails"]);
    mazurka(TURN, &["--ltl", "[] (n < 2)", "--ltl", "[] (n >= 0)", "--jobs", "2"])
        .ends_with(0)
        .prints(&["violation of ltl `[] (n < 2)`", "violation of ltl `[] (n >= 0)`"]);
    mazurka(TURN, &["--ltl-name", "gone"]).refuses("there is `often`, `never_two`");
}

#[test]
fn a_loop_is_replayed() {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("x.pml"), TURN).expect("there is room");
    for property in [["--ltl-name", "often"], ["--ltl", "[] (critical -> [] critical)"]] {
        let said = run(folder.path(), &[&["check", "x.pml"], &property[..]].concat()).ends_with(1);
        let at = said.stdout.find("mazurka replay").expect("it can be replayed");
        let words = shlex::split(said.stdout[at..].lines().next().expect("there is a line"));
        let words = words.expect("it is what a shell reads");
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let how = match property[0] {
            "--ltl" => "fails: however it goes on",
            _ => "fails: this goes on for ever",
        };
        run(folder.path(), &words).ends_with(1).prints(&[how]);
        // It is a violation of that, and of nothing else.
        let other: Vec<&str> = words
            .iter()
            .map(|&word| if word == property[1] { "[] (n < 2)" } else { word })
            .map(|word| if word == "--ltl-name" { "--ltl" } else { word })
            .collect();
        run(folder.path(), &other).ends_with(0);
    }
}

#[test]
fn json_has_the_loop() {
    let said = mazurka(TURN, &["--ltl-name", "often", "--json", "-"]).ends_with(1);
    let object: serde_json::Value = serde_json::from_str(&said.stdout).expect("it is an object");
    let violation = &object["violation"];
    assert_eq!(violation["kind"], "ltl", "{violation}");
    let n_steps = violation["steps"].as_array().expect("it has steps").len() as u64;
    let start = violation["loop_start"].as_u64().expect("it has a loop");
    assert!((1..=n_steps).contains(&start), "{violation}");
    assert_eq!(object["options"]["fairness"], "none");
}

/// What is violated by a prefix is told up to there, without a loop, also where there is no end of
/// states.
#[test]
fn a_bad_prefix_is_told_without_a_loop() {
    let text = "int x; byte y; active proctype a() { do :: x++ :: y = 1 - y od }\n";
    let models = [
        "ltl small { [] (x < 3) }\n",
        "ltl small { [] (x < 3) } ltl other { [] <> (y == 1) }\n",
        "ltl small { (x < 2) W (x < 0) && [] ((x == 1) -> X (x < 3)); }\n",
        "ltl small { [] (x < 3) && [] <> (y == 0) }\n",
    ];
    for formula in models {
        for more in [&[][..], &["--fairness", "strong"], &["--reduction", "none"]] {
            let arguments = [&["--json", "-", "--time-limit", "60s"], more].concat();
            let said = mazurka(&format!("{text}{formula}"), &arguments).ends_with(1);
            let object: serde_json::Value = serde_json::from_str(&said.stdout).expect("an object");
            let violation = &object["violation"];
            assert_eq!(violation["kind"], "ltl", "{formula} {violation}");
            assert_eq!(violation.get("loop_start"), None, "{formula} {violation}");
            let n_steps = violation["steps"].as_array().expect("it has steps").len();
            assert!(n_steps <= 4 || formula.contains("[] <> (y == 0)"), "{formula} {violation}");
        }
    }
}

/// What cannot be computed is as wrong in a formula as in the model; where the rest decides, it is
/// not asked for.
#[test]
fn a_proposition_that_cannot_be_computed_is_told() {
    let text = "chan c; byte a[2]; byte i; active proctype p() { i = 1; i = 2; i = 3 }\n";
    for (formula, message) in [
        ("[] (len(c) == 0)", "ref to uninitialized chan name"),
        ("<> full(c)", "ref to uninitialized chan name"),
        ("[] <> !(nempty(c))", "ref to uninitialized chan name"),
        ("[] (i < 3 || a[i] == 0)", "invalid array index"),
        ("<> (7 / (i - 2) == 1)", "division by zero"),
    ] {
        let message = format!("{message}, in ltl");
        mazurka(text, &["--ltl", formula]).ends_with(1).prints(&[&message]);
    }
    mazurka(text, &["--ltl", "[] (i < 4 || len(c) == 0)"]).ends_with(0);
}

/// An execution that ends is no livelock, and one that goes round for ever is.
#[test]
fn an_end_is_no_livelock() {
    let ends = "chan c = [1] of { byte };
active proctype server() { end: do :: c?_ -> skip od }
active proctype client() { c!1 }
";
    let around = "byte x; active proctype p() { do :: x = 1 - x od }\n";
    let progress = "byte x; active proctype p() { do :: skip; progress: x = 1 - x od }\n";
    for fairness in ["none", "weak", "strong", "trace"] {
        for reduction in ["none", "ample", "stubborn"] {
            let arguments =
                ["--property", "livelock", "--fairness", fairness, "--reduction", reduction];
            mazurka(ends, &arguments).ends_with(0);
            mazurka(around, &arguments).ends_with(1).prints(&["there is no progress"]);
            mazurka(progress, &arguments).ends_with(0);
        }
    }
}

/// Texts that are nested deeper than anything can follow.
#[test]
fn depth_has_a_limit() {
    let n = 100_000;
    let nested = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(n), close.repeat(n))
    };
    for text in [
        format!("init {{ int x; x = {} }}\n", nested("(", "1", ")")),
        format!("init {{ int x; x = {} }}\n", nested("- ", "1", "")),
        format!("init {{ int x; x = {} }}\n", nested("1 + ", "1", "")),
        format!("byte a[2]; init {{ {} == 1 }}\n", nested("a[", "1", "]")),
        format!("init {{ {} }}\n", nested("{", "skip", "}")),
        format!("init {{ {} }}\n", nested("if :: ", "skip", " fi")),
        format!("init {{ {} }}\n", nested("atomic { ", "skip", "}")),
        format!("byte x; init {{ x = 1 }} ltl p {{ {} }}\n", nested("(", "x == 1", ")")),
        format!("byte x; init {{ x = 1 }} ltl p {{ {} }}\n", nested("[] ", "x", "")),
        format!("byte x; init {{ x = 1 }} ltl p {{ {} }}\n", nested("x || ", "x", "")),
    ] {
        let said = mazurka(&text, &[]).ends_with(2);
        assert!(said.stderr.contains("nested"), "{}", &said.stderr[..said.stderr.len().min(900)]);
    }
    let large = "typedef A { byte b[65535] }; typedef B { A a[65535] }; B x; init { skip }\n";
    mazurka(large, &[]).refuses("is too large");
    mazurka("init { skip }\n", &["--jobs", "100000"]).refuses("at most 1024");
    let formula = nested("(", "x == 1", ")")[n - 9_000..n + 9_006].to_owned();
    mazurka("byte x; init { skip }\n", &["--ltl", &formula]).refuses("nested");
}

#[test]
fn repetition_turns_the_reduction_off() {
    let said = mazurka(TURN, &["--ltl", "X X true"]).ends_with(0);
    assert!(!said.stdout.contains("without reduction"), "{}", said.stdout);
    mazurka(TURN, &["--ltl", "X (n < 2)"])
        .ends_with(0)
        .prints(&["without reduction: it matters to the property how often a state is repeated"]);
}

#[test]
fn never_claims_are_properties() {
    const GUESS: &str = "bit p = 0;
active proctype A() { p = 1 }
active proctype B() { bit x = 0; do :: x = 0 od }
never {
S0: if :: !p -> goto S0 :: !p -> goto accept_S1 fi;
accept_S1: if :: p -> goto accept_S1 fi
}
";
    // With its reduction, SPIN finds nothing here.
    mazurka(GUESS, &[]).ends_with(1).prints(&["the never claim fails", "p = 1"]);
    // The end of a claim is a violation, and so is a failed assertion in it.
    let end = "byte x; active proctype p() { x = 1; x = 2 } never { x == 0; x == 1; x == 2 }\n";
    mazurka(end, &[]).ends_with(1).prints(&["the never claim fails: however it goes on from here"]);
    let other = "byte x; active proctype p() { x = 1; x = 2 } never { x == 0; x == 2 }\n";
    mazurka(other, &[])
        .ends_with(0)
        .prints(&["no assertion failure, invalid end state or violation of the never claim"]);
    let asserts = "byte x; active proctype p() { x = 1 } never { do :: atomic { x == 1 -> assert(!(x == 1)) } :: true od }\n";
    mazurka(asserts, &[]).ends_with(1).prints(&["the never claim fails"]);
    let variables = "byte x; active proctype p() { x = 1 } never { byte n; do :: n = 1 od }\n";
    mazurka(variables, &[]).refuses("a never claim with variables cannot be checked");
}

#[test]
fn accept_labels_are_properties() {
    let text = "byte x; active proctype p() { do :: x = 0; accept: x = 1 od }\n";
    mazurka(text, &[]).ends_with(1).prints(&["it accepts again and again"]);
    let text = "byte x; active proctype p() { x = 0; accept: x = 1 }\n";
    mazurka(text, &[]).ends_with(0).prints(&["acceptance cycle"]);
    // Beside a claim, they accept if only that goes on.
    let text =
        "byte x; active proctype p() { do :: x = 0; accept: x = 1 od } never { do :: x < 2 od }\n";
    mazurka(text, &[]).ends_with(1).prints(&["the never claim fails"]);
    let text =
        "byte x; active proctype p() { do :: x = 0; accept: x = 1 od } never { do :: x < 1 od }\n";
    mazurka(text, &[]).ends_with(0);
}

#[test]
fn automata_come_from_files() {
    let folder = TempDir::new().expect("there is room");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("there is room");
    };
    write("x.pml", TURN);
    write("claim", "never { do :: true :: critical -> break od; accept: do :: !critical od }\n");
    let negation = run(folder.path(), &["automaton", "--negate", "<> critical", "--format", "hoa"]);
    write("x.hoa", &negation.ends_with(0).stdout);
    let check = |file: &str, more: &[&str]| {
        run(folder.path(), &[&["check", "x.pml", "--automaton", file], more].concat())
    };
    check("claim", &[]).ends_with(1).prints(&["the never claim `claim` fails"]);
    check("claim", &["--fairness", "strong"]).ends_with(0);
    check("x.hoa", &[]).ends_with(1).prints(&["the automaton `x.hoa` fails"]);
    check("x.hoa", &["--fairness", "weak"]).ends_with(0);
    write("wrong.hoa", "HOA: v1\nStates: 1\n");
    check("wrong.hoa", &[]).refuses("`wrong.hoa` is no automaton");
    write("unknown.hoa", &negation_of("<> nothing", &folder));
    check("unknown.hoa", &[]).refuses("undeclared variable: nothing");
    write("text", "hello\n");
    check("text", &[]).ends_with(2);
    check("gone", &[]).refuses("`gone` cannot be read");
}

fn negation_of(formula: &str, folder: &TempDir) -> String {
    run(folder.path(), &["automaton", "--negate", formula, "--format", "hoa"]).ends_with(0).stdout
}

#[test]
fn an_assertion_that_fails_is_found_on_the_way() {
    let text = "byte x; active proctype p() { x = 1; assert(x == 0) }\n";
    let said = mazurka(text, &["--ltl", "[] (x < 2)"]).ends_with(1);
    said.prints(&["Assertion failed: `x == 0`"]);
}

/// What is wrong is shown with a caret below it, all at once.
/// Who has moved last is a part of the state where a formula asks for it, as where a claim does.
#[test]
fn formulae_ask_who_moved_last() {
    let model = "byte x, z;\nactive proctype a() { do :: x = 1 - x od }\n\
                 active proctype b() { do :: z = 1 - z od }\n";
    let ask = |formula: &str, more: &[&str]| {
        let text = format!("{model}ltl p {{ {formula} }}\n");
        mazurka(&text, &[&["--ltl-name", "p"], more].concat())
    };
    ask("[] (_last == 0)", &[]).ends_with(1);
    ask("[] <> (_last == 0)", &[]).ends_with(1);
    ask("[] (_last != 2)", &[]).ends_with(0);
    ask("<> (_last == 1)", &["--fairness", "weak"]).ends_with(0);
    mazurka(model, &["--ltl", "[] (_last == 0)"]).ends_with(1);
    mazurka(model, &["--ltl", "[] ! timeout"]).refuses("`timeout` in a formula");
}

#[test]
fn wrong_formulae_are_shown_with_a_caret() {
    let check = |formulas: &[&str], parts: &[&str]| {
        let arguments: Vec<&str> = formulas.iter().flat_map(|it| ["--ltl", it]).collect();
        let said = mazurka(TURN, &arguments).ends_with(2);
        for part in parts {
            assert!(said.stderr.contains(part), "no `{part}` in:\n{}", said.stderr);
        }
    };
    check(
        &["[] (n < 2"],
        &["expected an operator or `)`, found the end", "[] (n < 2\n", "         ^"],
    );
    check(&["[] (n < 2))"], &["expected an operator or the end of the formula, found `)`"]);
    check(&["[] <> "], &["expected a formula, found the end"]);
    check(&["[] (n U )"], &["expected a formula, found `)`", "       ^"]);
    check(
        &["[] (m < 2) && <> k", "<> worker[0]@gone"],
        &["undeclared variable: m", "undeclared variable: k", "unknown label 'gone'", "    ^\n"],
    );
    check(&["[] worker:x == 1"], &["x"]);
    with_file("x.c", "int main(void) { return 0; }\n", &["check", "x.c", "--ltl", "[] 1"]).refuses(
        "is for `--engine` `statespace`, `bmc`, `induction`, `ic3`, `bdd` and `portfolio`",
    );
}

/// SPIN finds nothing with `-f`: what has ended is not neglected.
#[test]
fn an_end_is_fair() {
    let text = "byte n; active proctype A() { n = 1 } active proctype B() { n = 2 }\n";
    for fairness in ["none", "weak", "strong", "trace"] {
        mazurka(text, &["--ltl", "<> [] (n == 1)", "--fairness", fairness])
            .ends_with(1)
            .prints(&["it stops there for ever"]);
    }
}

/// Two threads that take turns, for ever.
const THREADS: &str = "#include <pthread.h>
#include <stdatomic.h>
struct slot { int used; char n[3]; };
static struct slot slots[2];
_Atomic int turn;
void *work(void *p) { for (;;) { while (atomic_load(&turn) != 1); slots[1].n[2] = 1; atomic_store(&turn, 0); } return 0; }
int main(void)
{
	pthread_t other;
	pthread_create(&other, 0, work, 0);
	for (;;) { while (atomic_load(&turn) != 0); atomic_store(&turn, 1); }
}
";

#[test]
fn formulae_are_about_global_variables_of_c() {
    let check = |arguments: &[&str]| {
        let all = [&["check", "x.c", "--engine", "statespace", "--races", "allow"], arguments];
        with_file("x.c", THREADS, &all.concat())
    };
    check(&["--ltl", "[] (turn == 0 || turn == 1)"])
        .ends_with(0)
        .prints(&["`[] (turn == 0 || turn == 1)` in any execution"]);
    check(&["--ltl", "[] <> (turn == 1)"]).ends_with(1).prints(&[
        "ltl `[] <> (turn == 1)` fails: this goes on for ever",
        "could always move there and never does",
        "it needs fairness: it holds with `--fairness weak`",
        "back to step",
    ]);
    check(&["--ltl", "[] <> (turn == 1) && <> [] (slots[1].n[2] == 1)", "--fairness", "weak"])
        .ends_with(0);
    let wrong =
        check(&["--ltl", "<> gone && [] (slots[2].used == 0) && [] slots[0].m", "--ltl", "[] ("]);
    let wrong = wrong.ends_with(2);
    for part in [
        "there is no global variable `gone`\n",
        "  |    ^^^^\n",
        "there are 2 elements, from 0 on",
        "there is no field `m` here",
        "expected a formula, found the end",
    ] {
        assert!(wrong.stderr.contains(part), "no `{part}` in:\n{}", wrong.stderr);
    }
    check(&["--ltl-name", "p"]).refuses("`--ltl-name` is for Promela models");
}

/// Two threads that come by a label with locals of their own, one of them in memory.
const LOCALS: &str = "#include <pthread.h>
_Atomic int go;
struct pair { int first; int second; };
void *work(void *p)
{
	int n = 0;
	struct pair seen = { 0, 0 };
	for (;;) {
		n = n < 2 ? n + 1 : 0;
		seen.second = n;
wait:		while (!go);
		go = 0;
	}
	return 0;
}
int main(void)
{
	pthread_t one, two;
	pthread_create(&one, 0, work, 0);
	pthread_create(&two, 0, work, 0);
	for (;;) go = 1;
}
";

#[test]
fn circuits_show_a_bad_prefix_up_to_its_last_state() {
    let text = "#include <pthread.h>
#include <stdatomic.h>
atomic_uint x;
void *count(void *arg) { for (;;) atomic_fetch_add(&x, 1); return arg; }
int main(void) { pthread_t t; pthread_create(&t, 0, count, 0); pthread_join(t, 0); }
";
    let steps = |engine: &str, fairness: &str| {
        let (ltl, limit) = ("[] (x < 3)", "60s");
        let wanted = ["--engine", engine, "--ltl", ltl, "--fairness", fairness, "--time-limit"];
        let said = with_file("x.c", text, &[&["check", "x.c"], &wanted[..], &[limit]].concat());
        let wanted = ["ltl `[] (x < 3)` fails: however it goes on from here", "x 2→3"];
        let said = said.ends_with(1).prints(&wanted);
        let steps = said.stdout.lines().filter(|line| line.contains("x.c:"));
        steps.map(str::to_owned).collect::<Vec<_>>()
    };
    for fairness in ["none", "strong"] {
        let expected = steps("statespace", fairness);
        for engine in ["bmc", "ic3", "induction", "portfolio"] {
            assert_eq!(steps(engine, fairness), expected, "{engine}, {fairness}");
        }
    }
}

#[test]
fn formulae_are_about_locals_and_labels_of_threads() {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("x.c"), LOCALS).expect("there is room");
    let check = |formula: &str| {
        run(folder.path(), &["check", "x.c", "--engine", "statespace", "--ltl", formula])
    };
    check("[] (work[1]:n >= 0 && work[1]:n <= 2)").ends_with(0);
    check("[] (work[1]:seen.second <= 2) && <> work[1]@wait").ends_with(1);
    check("[] (work[2]:n < 2)").ends_with(1).prints(&["fails"]);
    // Thread 1 is the first that runs it, and main does not.
    check("[] (work:n == work[1]:n) && [] (work[0]:n == 0)").ends_with(0);
    // No process has to pass the label again: others may always be faster than who waits there.
    let said = check("[] <> work[1]@wait").ends_with(1).prints(&[
        "this goes on for ever",
        "it fails under strong fairness, too",
        "Replay:",
    ]);
    let at = said.stdout.find("mazurka replay").expect("it can be replayed");
    let words = shlex::split(said.stdout[at..].lines().next().expect("there is a line"));
    let words = words.expect("it is what a shell reads");
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    run(folder.path(), &words).ends_with(1).prints(&["fails: this goes on for ever"]);
    for (formula, message, part) in [
        ("[] (work:gone == 1)", "`work` has no local `gone`", "gone"),
        ("<> work[1]@gone", "`work` has no label `gone` that it can come to", "gone"),
        ("<> (work:seen == 1)", "`seen` is no number", "seen"),
        ("<> work", "expected `:` and a local, or `@` and a label, found the end", ""),
        ("<> work[x]:n", "`x` is no number", "x"),
    ] {
        let place = formula.rfind(part).expect("it is a part of it");
        let carets = format!("  | {}{}\n", " ".repeat(place), "^".repeat(part.len().max(1)));
        let said = check(formula).ends_with(2);
        assert!(said.stderr.contains(message), "{formula}: {}", said.stderr);
        assert!(said.stderr.contains(&carets), "{formula}: {}", said.stderr);
    }
}

/// Within an atomic block no process looks, and behind it one does.
#[test]
fn atomic_blocks_of_c_are_seen_from_outside() {
    let text = "#include <pthread.h>
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
void *work(void *p)
{
	int n = 0, box[2] = { 0, 0 };
	__VERIFIER_atomic_begin();
	n = 1;
inside:	box[1] = 1;
	n = 2;
	box[1] = 2;
	__VERIFIER_atomic_end();
	n = 3;
	box[1] = 3;
	return 0;
}
int main(void)
{
	pthread_t other;
	pthread_create(&other, 0, work, 0);
	pthread_join(other, 0);
}
";
    let check = |formula: &str| {
        with_file("x.c", text, &["check", "x.c", "--engine", "statespace", "--ltl", formula])
    };
    for local in ["work:n", "work:box[1]"] {
        check(&format!("[] ({local} != 1)")).ends_with(0);
        check(&format!("[] ({local} != 2)")).ends_with(1);
        check(&format!("[] ({local} != 3)")).ends_with(1);
    }
    check("[] !work@inside").ends_with(0);
}

/// SPIN follows what a never claim does beside the processes, and we follow SPIN's trail of it.
#[test]
fn a_trail_has_the_moves_of_the_claim() {
    let text = "byte n;
active proctype A() { do :: n = 1 - n od }
active proctype B() { byte x; do :: x = 1 - x od }
never {
S0:	do :: true :: n == 1 -> goto accept od;
accept:	do :: n == 1 od
}
";
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join("x.pml"), text).expect("there is room");
    run(folder.path(), &["check", "x.pml", "--trail", "x.trail"]).ends_with(1);
    let trail = std::fs::read_to_string(folder.path().join("x.trail")).expect("it was written");
    assert!(trail.starts_with("-2:2:-2\n1:0:"), "{trail}");
    if !mazurka_effort::has_tool("spin") {
        return;
    }
    let mut spin = std::process::Command::new("spin");
    spin.args(["-t", "-k", "x.trail", "-p", "x.pml"]).current_dir(folder.path());
    let said = spin.output().expect("SPIN is installed").stdout;
    let said = String::from_utf8_lossy(&said);
    let n_steps = trail.lines().filter(|line| !line.starts_with('-')).count();
    for part in [
        "Never claim moves to line 6",
        "START OF CYCLE",
        &format!("trail ends after {n_steps} steps"),
    ] {
        assert!(said.contains(part), "no `{part}` in:\n{said}\n{trail}");
    }
    assert!(!said.contains("lost"), "{said}");
    run(folder.path(), &["replay", "x.pml", "--trail", "x.trail"])
        .ends_with(1)
        .prints(&["the never claim fails: this goes on for ever"]);
}

/// Nested search knows nothing of fairness, and it is said what is done instead.
#[test]
fn a_search_that_has_no_fairness_is_replaced() {
    mazurka(TURN, &["--cycles", "nested", "--fairness", "weak"])
        .ends_with(0)
        .prints(&["by components: nested search knows nothing of fairness"]);
}

/// Two claims that guess: with its reduction, SPIN finds nothing where an ample set belongs to a
/// state of the program and one of the claim.
#[test]
fn guesses_of_a_claim_are_not_lost() {
    const SECOND: &str = "bit p = 0;
active proctype A() { do :: p = 1; p = 0 od }
active proctype B() { bit x = 0; do :: x = 0 od }
never {
accept_S0: if :: !p -> goto S1 :: !p -> goto S2 :: p -> goto accept_S0 :: p -> goto S1 fi;
S1: if :: !p -> goto S2 :: p -> goto S1 fi;
S2: if :: !p -> goto S1 :: p -> goto accept_S0 :: p -> goto S1 fi
}
";
    for cycles in ["components", "nested"] {
        for construction in ["on-the-fly", "off-line"] {
            let how = ["--cycles", cycles, "--construction", construction];
            let said = mazurka(SECOND, &how).ends_with(1).prints(&["the never claim fails"]);
            assert!(!said.stdout.contains("without reduction"), "{}", said.stdout);
        }
    }
}

/// A rendezvous is a step of who sends, and changes where the other one stands, and what it knows.
#[test]
fn a_rendezvous_is_seen_on_both_sides() {
    let text = "chan r = [0] of { byte }; byte g, got;
active proctype from() { r!1 }
active proctype to() { byte x; r?x; there: do :: (g == 5) od }
active proctype other() { g = 1 }
active proctype reader() { (g == 1) }
";
    let global = text.replace("r?x", "r?got");
    for (text, seen) in [(text, "to@there"), (text, "to:x == 1"), (&global, "got == 1")] {
        for order in [format!("[] (g == 1 -> {seen})"), format!("[] ({seen} -> g == 1)")] {
            let said = mazurka(text, &["--ltl", &order]).ends_with(1);
            assert!(!said.stdout.contains("without reduction"), "{}", said.stdout);
        }
    }
}

/// Both halves of a rendezvous are steps of their processes, and neither is possible without the
/// other.
#[test]
fn a_rendezvous_is_fair_to_both() {
    let text = "chan c = [0] of { bit }; byte n;
active proctype from() { do :: c!1 od }
active proctype to() { bit b; do :: c?b -> n = 1 - n od }
active proctype idler() { do :: skip od }
";
    mazurka(text, &["--ltl", "[] <> (n == 1)"]).ends_with(1);
    mazurka(text, &["--ltl", "[] <> (n == 1)", "--fairness", "weak"]).ends_with(0);
    // Whether it can be sent depends on who receives: that is possible again and again, and not
    // always.
    let waits = "chan c = [0] of { bit }; byte n;
active proctype from() { c!1; n = 1 }
active proctype to() { bit b; do :: c?b :: true -> skip od }
";
    mazurka(waits, &["--ltl", "<> (n == 1)", "--fairness", "weak"])
        .ends_with(1)
        .prints(&["it needs fairness: it holds with `--fairness strong`", "again and again"]);
    mazurka(waits, &["--ltl", "<> (n == 1)", "--fairness", "strong"]).ends_with(0);
}
