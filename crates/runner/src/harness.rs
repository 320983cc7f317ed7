//! The test harness of Rust (libtest): how one test of a program is run by it, and what it prints
//! around the words of the test.

use crate::cargo::TestProgram;
use mazurka_check::Outcome;
use mazurka_core::{Verdict, ViolationKind};
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
        && let Some(message) = panics(printed)
    {
        found.violation.message = message;
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
fn panics(printed: &str) -> Option<String> {
    let mut lines = printed.lines().peekable();
    let mut panics = Vec::new();
    while let Some(line) = lines.next() {
        let Some((_, rest)) = line.split_once("thread '") else { continue };
        let Some((thread, place)) = rest.split_once("panicked at ") else { continue };
        let thread = thread.rsplit_once('\'').map_or(thread, |(name, _)| name);
        let mut message = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.is_empty() && !line.starts_with("note: "))
        {
            message.push(line.trim());
        }
        let place = place.trim_end_matches(':');
        panics.push(format!("`{thread}` panicked at {place}: {}", message.join(" ")));
    }
    // A test that should have panicked, or should have done so with other words.
    let expectation = printed.lines().find(|line| {
        line.starts_with("note: test did not panic as expected")
            || line.starts_with("note: panic did not contain expected string")
    });
    panics.extend(expectation.map(|line| line.trim_start_matches("note: ").to_owned()));
    (!panics.is_empty()).then(|| panics.join("; then "))
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
            panics(printed).as_deref(),
            Some(
                "`main` panicked at src/lib.rs:3:9: assertion failed left: 1 right: 2; then \
                 `<unnamed>` panicked at a.rs:1:1: no"
            )
        );
        assert_eq!(panics("all is well"), None);
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
