//! What goes wrong in models is a violation, in SPIN's words; what cannot be run is refused.

use mazurka_core::Verdict;
use mazurka_promela::{self as promela, translate};
use mazurka_statespace::{Machine, Options, search};

/// What a search says of a model: nothing if it holds.
fn check(text: &str, expected: &str) {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let file = folder.path().join("model.pml");
    std::fs::write(&file, text).expect("there is room for a file");
    let model = translate(&file, &promela::Options::default()).expect("it is a model");
    let said = match Machine::new(&model.program) {
        Err(errors) => errors[0].to_string(),
        Ok(machine) => {
            let outcome = search(&machine, &Options::default()).expect("these options are fine");
            match outcome.verdict {
                Verdict::Violated(found) => found.violation.message,
                Verdict::Holds(_) => "holds".to_owned(),
                other => format!("{other:?}"),
            }
        }
    };
    assert_eq!(said, expected, "{text}");
}

#[test]
fn indices_are_checked_wherever_they_are() {
    let array = "byte a[3]; byte i = 3;";
    check(&format!("{array} init {{ a[i] = 1 }}"), "invalid array index");
    check(&format!("{array} init {{ a[0 - 1] = 1 }}"), "invalid array index");
    check(&format!("{array} init {{ if :: a[i] == 0 :: else fi }}"), "invalid array index");
    check(&format!("{array} init {{ if :: i < 3 && a[i] == 0 :: else fi }}"), "holds");
    let inner = "typedef t { byte a[2]; byte b }; t s; byte i = 2;";
    check(&format!("{inner} init {{ s.a[i] = 1 }}"), "invalid array index");
    check(&format!("{inner} init {{ d_step {{ i--; s.a[i] = 1 }} }}"), "holds");
    let received = "chan c = [1] of { byte }; byte a[2]; byte i = 2;";
    check(&format!("{received} init {{ c!1; c?a[i] }}"), "invalid array index");
}

#[test]
fn channels_are_checked() {
    let none = "ref to uninitialized chan name";
    check("chan c; chan d = [1] of { byte }; init { c!1 }", none);
    check("chan c; init { if :: c?_ :: else fi }", none);
    check("chan c = [1] of { byte, byte }; init { c!1 }", "wrong nr of msg fields");
    check("chan c = [1] of { byte, byte }; init { c!1,2; c?_ }", "wrong nr of msg fields");
    check("chan c = [1] of { byte, byte }; init { c!1,2; assert(c?[1]) }", "holds");
}

/// As in SPIN's verifier; a bit of its own has only two values, and so has one beside other fields.
#[test]
fn bits_in_arrays_and_alone_in_messages_are_bytes() {
    check("bit a[2]; init { a[1] = 2; assert(a[1] == 2) }", "holds");
    check("typedef t { bool a[1] }; t s; init { s.a[0] = 2; assert(s.a[0] == 2) }", "holds");
    check("init { bit a[2]; a[1] = 2; assert(a[1] == 2) }", "holds");
    check("chan c = [1] of { bit }; byte n; init { c!2; c?n; assert(n == 2) }", "holds");
    for capacity in [0, 1] {
        let pair = format!("chan c = [{capacity}] of {{ byte, bit }}; byte m, n;");
        let both = "active proctype a() { c!3,3 } active proctype b()";
        check(&format!("{pair} {both} {{ c?m,n; assert(m == 3 && n == 1) }}"), "holds");
        check(&format!("{pair} {both} {{ c?3,1 }}"), "holds");
        check(&format!("{pair} {both} {{ c?3,3 }}"), "invalid end state");
    }
    check("bit b; init { b = 2; assert(b == 0) }", "holds");
    check("typedef t { bit b }; t s; init { s.b = 3; assert(s.b == 1) }", "holds");
}

#[test]
fn a_channel_for_rendezvous_is_never_full() {
    check("chan c = [0] of { byte }; init { nfull(c); empty(c); assert(len(c) == 0) }", "holds");
    check("chan c = [0] of { byte }; init { full(c) }", "invalid end state");
    let polls = "polling rv chan";
    check("chan c = [0] of { byte }; init { if :: c?<_> :: true fi }", polls);
    check("chan c = [0] of { byte }; init { if :: c?[1] :: true fi }", polls);
    check(
        "chan c = [0] of { byte }; active proctype p() { c!1 } active proctype q() { c?<_> }",
        polls,
    );
}

#[test]
fn nobody_asks_whether_it_can_move_itself() {
    let own = "used: enabled(pid=thisproc)";
    check("active proctype p() { if :: enabled(0) :: else fi }", own);
    check("active proctype p() { if :: enabled(1) :: else fi }", "holds");
    let [first, second] =
        ["active proctype p() { enabled(1) }", "active proctype q() { enabled(0) }"];
    check(&format!("{first} {second}"), own);
    check(&format!("{first} active proctype q() {{ skip }}"), "invalid end state");
}

#[test]
fn promises_about_channels_are_checked() {
    let text = "chan c = [2] of { byte };
        active proctype owner() { xs c; c!1 }
        active proctype other() { c!2 }";
    check(text, "xs assertion violated: another process sends, too");
    check(&text.replace("c!2", "c?_"), "holds");
    check(
        &text.replace("xs c; c!1", "xr c; c?_").replace("c!2", "c!2; c?_"),
        "xr assertion violated: another process receives, too",
    );
}

#[test]
fn processes_end_in_time() {
    check("proctype p() { false } init { do :: run p() od }", "too many processes");
    check(
        "proctype p() { skip } init { byte n; do :: n < 9 -> run p(); n++; _nr_pr == 1 :: else -> break od }",
        "holds",
    );
}

#[test]
fn indivisible_steps_go_on_and_end() {
    check("byte x; init { d_step { skip; x == 1; x = 2 } }", "block in d_step seq");
    check("init { d_step { do :: skip od } }", "a d_step does not end");
}

#[test]
fn assertions_ends_and_numbers() {
    check("byte x; init { assert(x == 1) }", "assertion violated (x == 1)");
    check("init { false }", "invalid end state");
    check("init { end: false }", "holds");
    check("byte x; init { x = 1 / x }", "division by zero");
    check("byte x = 255; init { x++; assert(x == 0) }", "holds");
    check("short x = 32767; init { x++; assert(x == -32768) }", "holds");
    check("unsigned x : 3; init { x = 9; assert(x == 1) }", "holds");
    check(
        "hidden byte h = 4; init { h = 5; assert(h == 4); atomic { h = 6; assert(h == 6) } }",
        "holds",
    );
}

#[test]
fn what_goes_wrong_before_the_first_step_is_refused() {
    let wrong = "an initial state that goes wrong (invalid array index) cannot be stored in states";
    check("byte a[2]; byte i = 2; active proctype p() { byte x = a[i]; skip }", wrong);
    check(
        "chan c[256] = [1] of { bit }; init { skip }",
        "more than 255 channels cannot be stored in states",
    );
}
