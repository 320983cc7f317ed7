//! Every project of `examples/`: its mistake is found, and its repair holds.

use crate::support::Said;
use crate::support::checkout::{Checkout, root};

/// What a command says of a mistake and of its repair, in words that matter.
struct Example {
    command: &'static str,
    status: i32,
    words: &'static [&'static str],
}

const fn violated(command: &'static str, words: &'static [&'static str]) -> Example {
    Example { command, status: 1, words }
}

const fn holds(command: &'static str, words: &'static [&'static str]) -> Example {
    Example { command, status: 0, words }
}

/// Runs commands, one after the other, in a fresh copy of the examples.
#[track_caller]
fn check(examples: &[Example]) {
    let checkout = Checkout::new();
    for Example { command, status, words } in examples {
        let said = checkout.shell(command).ends_with(*status).prints(words);
        if !command.starts_with("mazurka") {
            continue;
        }
        if *status == 1 {
            replays(&checkout, &said);
        }
        // What is shown to a reader is the same on all machines.
        let paths = ["/tmp/", "/home/", env!("CARGO_MANIFEST_DIR")];
        let path = paths.iter().find(|path| said.stdout.contains(**path));
        assert_eq!(path, None, "{command}:\n{}", said.stdout);
    }
}

/// The last line is the one to try next, and it comes to the same end.
#[track_caller]
fn replays(checkout: &Checkout, said: &Said) {
    let (_, behind) = said.stdout.split_once("Replay:").expect("there is one");
    let command = behind.trim_start().lines().next().expect("it is behind the colon");
    assert!(command.starts_with("mazurka "), "{command}");
    checkout.shell(command).ends_with(1);
}

#[test]
fn bank() {
    check(&[
        violated(
            "mazurka check examples/bank.c",
            &[
                "Violated Deadlock: 2 threads wait for each other",
                "holds alice.lock and waits for bob.lock",
                "holds bob.lock and waits for alice.lock",
                "examples/bank.c:15",
                "\nReplay: mazurka replay examples/bank.c --schedule mzk1:",
            ],
        ),
        holds("mazurka check examples/bank_fixed.c", &["Holds in every interleaving", "2 traces"]),
    ]);
}

#[test]
fn thread_pool_with_make() {
    check(&[
        holds("make --quiet --directory examples/thread_pool CC='mazurka cc'", &[]),
        violated(
            "mazurka run -- examples/thread_pool/test",
            &["Violated Data race on `numbers[1]", "in square", "thread_pool/test.c:18"],
        ),
        holds("mazurka run -- examples/thread_pool/test_fixed", &["Holds in every interleaving"]),
    ]);
}

#[test]
fn ring_buffer_with_cmake() {
    check(&[
        holds("CC='mazurka cc' cmake -S examples/ring_buffer -B examples/ring_buffer/build", &[]),
        holds("cmake --build examples/ring_buffer/build", &[]),
        violated(
            "mazurka run -- examples/ring_buffer/build/ring_test",
            &["Violated Data race on `ring.items[0]`", "in ring_get", "in ring_put"],
        ),
        holds(
            "mazurka run -- examples/ring_buffer/build/ring_test_fixed",
            &["Holds in every execution that C11 allows"],
        ),
    ]);
}

#[test]
fn cache() {
    check(&[
        violated(
            "mazurka check examples/cache.cpp",
            &["Violated Data race", "examples/cache.cpp:18", "examples/cache.cpp:28"],
        ),
        holds("mazurka check examples/cache_fixed.cpp", &["Holds in every interleaving"]),
    ]);
}

#[test]
fn latch() {
    check(&[
        violated(
            "mazurka check examples/latch.cpp",
            &["Violated Deadlock", "sleeps on done.reached_zero", "notify-one"],
        ),
        holds("mazurka check examples/latch_fixed.cpp", &["Holds in every interleaving"]),
    ]);
}

#[test]
fn queue() {
    check(&[violated(
        "mazurka test --manifest-path examples/queue/Cargo.toml",
        &[
            "Violated test lost_wakeup everything_arrives",
            "Holds test lost_wakeup_fixed everything_arrives",
            "Violated Deadlock",
            "sleeps on queue.changed",
            "examples/queue/src/lib.rs",
            "Summary 2 tests: 1 hold, 1 violated",
        ],
    )]);
}

#[test]
fn stack() {
    check(&[violated(
        "mazurka test --manifest-path examples/stack/Cargo.toml",
        &[
            "Violated test aba no_slot_has_two_owners",
            "Holds test aba_fixed no_slot_has_two_owners",
            "slot 1 has two owners",
            "examples/stack/src/lib.rs",
            "Summary 2 tests: 1 hold, 1 violated",
        ],
    )]);
}

#[test]
fn async_mailbox() {
    check(&[violated(
        "mazurka test --manifest-path examples/async_mailbox/Cargo.toml",
        &[
            "Violated test missed_message the_message_is_received",
            "Holds test missed_message_fixed the_message_is_received",
            "Violated Deadlock",
            "examples/async_mailbox/src/executor.rs",
            "Summary 2 tests: 1 hold, 1 violated",
        ],
    )]);
}

#[test]
fn fetch_with_a_mistake_in_its_dependency() {
    check(&[
        violated(
            "mazurka test --manifest-path examples/fetch/Cargo.toml",
            &[
                "Violated test fallback there_is_always_an_answer",
                "Violated Data race",
                "<reply::Sender<T> as core::ops::drop::Drop>::drop",
                "<reply::Receiver<T> as core::ops::drop::Drop>::drop",
                "swap heap(lib.rs:37)",
                "109 │ match slot.state.swap(",
            ],
        ),
        holds(
            "mazurka test --manifest-path examples/fetch/Cargo.toml --features fixed",
            &["Holds test fallback there_is_always_an_answer", "Summary 1 test: 1 hold"],
        ),
    ]);
}

#[test]
fn alternating_bit() {
    check(&[
        violated(
            "mazurka check examples/alternating_bit.pml",
            &["Violated", "number == next_received"],
        ),
        holds("mazurka check examples/alternating_bit_fixed.pml", &["Holds"]),
    ]);
}

#[test]
fn leader_election() {
    check(&[
        violated("mazurka check examples/leader_election.pml", &["ltl elected fails"]),
        holds("mazurka check examples/leader_election_fixed.pml", &["Holds"]),
    ]);
}

#[test]
fn lift() {
    check(&[
        violated(
            "mazurka check examples/lift.pml --fairness weak",
            &["ltl top fails", "from here on for ever"],
        ),
        holds(
            "mazurka check examples/lift_fixed.pml --fairness weak",
            &["Holds", "weakly fair to every process"],
        ),
    ]);
}

/// A mistake lies beside its repair, and the index names both.
#[test]
fn every_example_is_in_the_index() {
    let index = std::fs::read_to_string(root().join("examples/README.md")).expect("it is there");
    for entry in std::fs::read_dir(root().join("examples")).expect("it is a folder") {
        let name = entry.expect("it can be read").file_name().to_string_lossy().into_owned();
        if name != "README.md" && !name.starts_with('.') {
            assert!(index.contains(&format!("]({name}")), "`{name}` is not in the index");
        }
    }
}
