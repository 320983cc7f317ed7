//! What people are told of values: an address is the name of what is there.

use crate::program::{CLANG, GCC, Program};
use mazurka_core::Verdict;
use serde_json::json;

#[test]
fn pointers_are_names() {
    for by in [GCC, CLANG] {
        let program = Program::build_by(by, "pointers", &["-w"]);
        let answer = program.explore(&json!({}));
        let Some(Verdict::Violated(found)) = &answer.verdict else {
            panic!("{} {:?}", answer.message, answer.error);
        };
        let told = found.story.iter().filter_map(|told| {
            let (object, value) = (told.object.as_deref()?, told.value.as_deref()?);
            let is_number_alone = object == "word" || object.starts_with("here ");
            let of_thread = told.thread == "main.1" && !is_number_alone;
            // An address is kept as the number that it is.
            let is_number =
                |it: &str| it.chars().all(|it| it.is_ascii_digit() || "= →".contains(it));
            assert_eq!(told.raw.is_some(), !is_number(value), "{told:?}");
            assert!(told.raw.as_deref().is_none_or(is_number), "{told:?}");
            of_thread.then(|| format!("{object} {value}"))
        });
        let expected = [
            "head = null",
            "head null→&node",
            "head &node→&node#2",
            "inner null→&node#2.next",
            "head = &node#2",
            "head &node#2→&nodes[1]",
            "head &nodes[1]→null",
            "local null→&here (local of thread in main.1)",
            "plain null→&heap(pointers.c:45)+0x4",
            "number 0→5",
            "inner &node#2.next→&pair[2]",
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
        let word = found
            .story
            .iter()
            .find(|it| it.object.as_deref() == Some("word") && it.operation == "store");
        let word = word.and_then(|it| it.value.as_deref()).expect("it was stored");
        assert!(!word.contains('&'), "four bytes are no address: {word}");
    }
}
