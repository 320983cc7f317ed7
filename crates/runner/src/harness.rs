//! The test harness of Rust (libtest): how one test of a program is run by it, and what it prints
//! around the words of the test.

use crate::cargo::TestProgram;
use mazurka_check::Outcome;
use mazurka_core::{Detail, Verdict, ViolationKind};
use std::ffi::OsString;

/// The harness, told to run one test on its first thread.
pub(crate) fn words(program: &TestProgram, test: &str) -> Vec<OsString> {
    let mut words = vec![program.program.clone().into_os_string(), test.into()];
    words.extend(
        ["--exact", "--include-ignored", "--test-threads=1", "--nocapture"].map(OsString::from),
    );
    words
}

/// Takes the message of a panic from what the test prints.
pub(crate) fn name_panic(outcome: &mut Outcome) {
    let printed = outcome.printed.as_deref().unwrap_or_default();
    if let Verdict::Violated(found) = &mut outcome.verdict
        && found.violation.kind == ViolationKind::Panic
        && let Some((message, detail)) = panics(printed)
    {
        found.violation.message = message;
        found.violation.detail = Some(detail);
    }
}

/// What a test has printed, without the words of the harness around it.
pub(crate) fn by_the_test(printed: &str, test: &str) -> String {
    let begun = printed.split_once(&format!("\ntest {test}")).and_then(|(_, line)| {
        // Between the name and the dots may be what the test is expected to do.
        line.split_once(" ... ").filter(|(words, _)| !words.contains('\n'))
    });
    let text = begun.map_or(printed, |(_, behind)| behind);
    let ended = ["FAILED\n\nfailures:\n", "ok\n\ntest result: ok."].map(|words| text.rfind(words));
    let text = ended.into_iter().flatten().max().map_or(text, |at| &text[..at]);
    match text.trim_matches('\n') {
        "" => String::new(),
        text => format!("{text}\n"),
    }
}

/// The panics that a harness has printed, as the standard library words them, in one sentence.
/// And what the first of them is.
fn panics(printed: &str) -> Option<(String, Detail)> {
    let mut lines = printed.lines().peekable();
    let mut panics = Vec::new();
    let mut detail = None;
    while let Some(line) = lines.next() {
        let Some((_, rest)) = line.split_once("thread '") else { continue };
        let Some((thread, place)) = rest.split_once("panicked at ") else { continue };
        let thread = thread.rsplit_once('\'').map_or(thread, |(name, _)| name);
        let mut message = Vec::new();
        // The harness prints its own word behind that of the last one.
        let is_of_panic = |line: &&str| !line.is_empty() && !line.starts_with("note: ");
        while let Some(line) = lines.next_if(|line| is_of_panic(line) && *line != "FAILED") {
            message.push(line.trim());
        }
        let place = place.trim_end_matches(':');
        detail.get_or_insert_with(|| {
            let asserted = asserted(&message).map(|it| format!("{it} in {thread} at {place}"));
            asserted.map_or(Detail::Panic, Detail::Assertion)
        });
        panics.push(format!("`{thread}` panicked at {place}: {}", message.join(" ")));
    }
    // A test that should have panicked, or should have done so with other words.
    let expectation = printed.lines().find(|line| {
        line.starts_with("note: test did not panic as expected")
            || line.starts_with("note: panic did not contain expected string")
    });
    panics.extend(expectation.map(|line| line.trim_start_matches("note: ").to_owned()));
    let detail = detail.unwrap_or(Detail::Panic);
    (!panics.is_empty()).then(|| (panics.join("; then "), detail))
}

/// What an assertion of Rust says that has failed, as the standard library words it: its expression
/// and, if there are two, both sides.
fn asserted(message: &[&str]) -> Option<String> {
    let (first, rest) = message.split_first()?;
    if let Some(expression) = first.strip_prefix("assertion failed: ") {
        return Some(format!("`{expression}`"));
    }
    let first = first.strip_prefix("assertion `")?;
    let (expression, own) = first.split_once("` failed")?;
    let own = own.strip_prefix(": ").map(|words| format!(" ({words})")).unwrap_or_default();
    let sides = match rest {
        [] => String::new(),
        sides => format!(": {}", sides.join(", ")),
    };
    Some(format!("`{expression}`{own}{sides}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_found_in_what_is_printed() {
        let printed = "test a ... \nthread 'main' (77) panicked at src/lib.rs:3:9:\nassertion failed\n  \
                       left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1`\n\nthread '<unnamed>' \
                       panicked at a.rs:1:1:\nno\n";
        assert_eq!(
            panics(printed),
            Some((
                "`main` panicked at src/lib.rs:3:9: assertion failed left: 1 right: 2; then \
                 `<unnamed>` panicked at a.rs:1:1: no"
                    .to_owned(),
                Detail::Panic
            ))
        );
        assert_eq!(panics("all is well"), None);
    }

    #[test]
    fn assertions_are_told_once() {
        let check = |printed: &str, expected: &str| {
            let printed = format!("thread 'main' (7) panicked at a.rs:3:9:\n{printed}\nFAILED\n");
            let (message, detail) = panics(&printed).expect("there is one");
            assert!(!message.contains("FAILED"), "{message}");
            let text = match detail {
                Detail::Assertion(text) => text,
                other => format!("{other:?}"),
            };
            assert_eq!(text, expected);
        };
        check("assertion failed: x.is_some()", "`x.is_some()` in main at a.rs:3:9");
        check(
            "assertion `left == right` failed\n  left: 1\n right: 2",
            "`left == right`: left: 1, right: 2 in main at a.rs:3:9",
        );
        check(
            "assertion `left == right` failed: lost\n  left: 1\n right: 2",
            "`left == right` (lost): left: 1, right: 2 in main at a.rs:3:9",
        );
        check("the assertion of the year", "Panic");
    }

    #[test]
    fn words_of_the_harness_are_left_out() {
        let check = |printed: &str, expected: &str| assert_eq!(by_the_test(printed, "a"), expected);
        let end =
            "\n\nfailures:\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed\n\n";
        check("\nrunning 1 test\ntest a ... ", "");
        check(&format!("\nrunning 1 test\ntest a ... FAILED{end}"), "");
        check(&format!("\nrunning 1 test\ntest a ... \nno\nFAILED{end}"), "no\n");
        check("\nrunning 1 test\ntest a - should panic ... one\ntwo ... \n", "one\ntwo ... \n");
        check("\nrunning 1 test\ntest a ... 7\nok\n\ntest result: ok. 1 passed\n\n", "7\n");
        check("something else", "something else\n");
    }
}
