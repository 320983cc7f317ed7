//! What people are told of values: an address is the name of what is there.

use crate::program::{CLANG, GCC, Program};
use mazurka_core::{Access, Verdict};
use serde_json::json;
use std::collections::BTreeMap;

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

/// What a plain write leaves is what the next access to the same memory finds, whatever is compiled
/// how.
#[test]
fn plain_accesses_have_the_values_of_the_moment() {
    for by in [GCC, CLANG] {
        for level in ["-O0", "-Og", "-O2"] {
            let program = Program::build_by(by, "plain_values", &["-w", level]);
            let answer = program.explore(&json!({}));
            let Some(Verdict::Violated(found)) = &answer.verdict else {
                panic!("{level}: {} {:?}", answer.message, answer.error);
            };
            let told = found.shared.iter().filter_map(|access| {
                let memory = access.memory.as_deref()?;
                Some(format!(
                    "{} {memory} {}",
                    access.thread,
                    access.value.as_deref().unwrap_or("?")
                ))
            });
            let told: Vec<String> = told.collect();
            chained(&found.shared);
            for wanted in [
                "main number 3→65654",
                "main.1 number 65654→65655",
                "main.1 small -1→-2",
                "main.1 ushort_ 65535→0",
                "main.1 real 1.5→3.0",
                "main.1 large -0.25→999999.75",
                "main.1 pointer null→&target[1]",
                "main.1 pair.first 1→2",
                "main.1 pair.second 0.5→2.5",
                "main.1 wide.a 1→5",
                "main.1 wide.d 4→8",
                "main.1 text[0] 97→120",
                "main.1 flag false→true",
                "main.1 block &heap(plain_values.c:98)→null",
                "main.1 written[0] 0→-1",
                "main.1 written[3] 0→-1",
            ] {
                assert!(told.iter().any(|it| it == wanted), "{level}: {wanted}: {told:#?}");
            }
            // Bits are no number.
            assert!(told.iter().all(|it| !it.contains(" bits") || it.ends_with(" ?")), "{told:#?}");
        }
    }
}

/// What each access finds is what the one before it has left.
pub(crate) fn chained(accesses: &[Access]) {
    let mut left: BTreeMap<&str, &str> = BTreeMap::new();
    for access in accesses {
        let (Some(memory), Some(value)) = (access.memory.as_deref(), access.value.as_deref())
        else {
            continue;
        };
        let (before, after) = match value.split_once('→') {
            Some((before, after)) => (before, after),
            None => (&value["= ".len()..], &value["= ".len()..]),
        };
        let known = left.insert(memory, after);
        // What has no name by then may have one later.
        let is_known = |it: &str| !it.is_empty() && it != "an address";
        let is_it =
            !is_known(before) || known.is_none_or(|known| !is_known(known) || known == before);
        assert!(is_it, "{memory} holds {known:?}, and not what is told: {access:?}");
    }
}
