//! Parts of the library that need nothing of it: it cannot have a test harness inside.

#[path = "../../src/before_wait.rs"]
mod before_wait;
#[path = "../../src/library/callers.rs"]
mod callers;
#[path = "../../src/futex_wake_op.rs"]
mod futex_wake_op;
#[path = "../../src/wake_choices.rs"]
mod wake_choices;

use before_wait::{Expected, expected, is_announced, is_pending, note};
use futex_wake_op::Change;
use iced_x86::{Decoder, DecoderOptions, Instruction, Register};
use mazurka_core::{ThreadId, ThreadSet};
use wake_choices::{n_subsets, subset};

#[test]
fn every_set_of_a_size_has_a_number() {
    let all: ThreadSet = [1, 4, 5, 9, 12].into_iter().map(ThreadId::new).collect();
    for (size, n_sets) in [(0, 1), (1, 5), (2, 10), (3, 10), (4, 5), (5, 1)] {
        assert_eq!(n_subsets(all.len(), size), n_sets);
        let mut sets: Vec<Vec<ThreadId>> =
            (0..n_sets).map(|number| subset(all, size, number).iter().collect()).collect();
        assert!(sets.iter().all(|set| set.len() == size), "{sets:?}");
        sets.sort();
        sets.dedup();
        assert_eq!(sets.len(), n_sets as usize, "no set has two numbers");
    }
    assert_eq!(n_subsets(60, 30), u32::MAX);
}

#[test]
fn a_change_is_what_the_call_says() {
    // Shift, add: 1 << 3; greater than -2.
    let change = Change::decode((8 | 1) << 28 | 4 << 24 | 3 << 12 | 0xffe).expect("known");
    assert_eq!(change.apply(5), 13);
    assert!(change.compare(-1i32 as u32) && !change.compare(-2i32 as u32));
    // And not, minus one; equal to 7.
    let change = Change::decode(3 << 28 | 0xfff << 12 | 7).expect("known");
    assert_eq!(change.apply(0xabcd), 0);
    assert!(change.compare(7) && !change.compare(8));
    assert!(Change::decode(5 << 28).is_none());
    assert!(Change::decode(6 << 24).is_none());
}

const LOAD: &[u8] = &[0x41, 0x8b, 0x06];
const COMPARE: &[u8] = &[0x44, 0x39, 0xf8];
const JUMP_UNLESS_EQUAL: &[u8] = &[0x75, 0x40];
const FUTEX: &[u8] = &[0xbf, 0xca, 0, 0, 0];
const WORD: &[u8] = &[0x4c, 0x89, 0xf6];
const WAIT: &[u8] = &[0xba, 0x89, 0, 0, 0];
const NUMBER: &[u8] = &[0x44, 0x89, 0xf9];
const CALL: &[u8] = &[0x41, 0xff, 0xd5];

const TEST: &[u8] = &[0x48, 0x85, 0xc0];
const JUMP_UNLESS_NEGATIVE: &[u8] = &[0x79, 0x00];
const WAITING: [&[u8]; 10] =
    [LOAD, COMPARE, JUMP_UNLESS_EQUAL, FUTEX, WORD, WAIT, NUMBER, CALL, TEST, JUMP_UNLESS_NEGATIVE];

/// The word is in r14, what is expected in r15, and r13 is filled from the only slot that there is.
/// The first jump leads to the end.
fn found_in(parts: &[&[u8]]) -> Option<Expected> {
    let read_slot = [0x4c, 0x8b, 0x2d, 0, 1, 0, 0];
    let first_jump = parts.iter().take_while(|part| !matches!(part[0], 0x74 | 0x75));
    let behind = read_slot.len() + first_jump.map(|part| part.len()).sum::<usize>() + 2;
    let mut code = [&read_slot[..], &parts.concat()].concat();
    code[behind - 1] = (code.len() - behind) as u8;
    let decoder = Decoder::with_ip(64, &code, 0x1000, DecoderOptions::NONE);
    let function: Vec<Instruction> = decoder.into_iter().collect();
    expected(&function, 1, Instruction::is_ip_rel_memory_operand)
}

#[test]
fn the_wait_of_a_condition_variable_is_known() {
    let found = found_in(&WAITING);
    let found = found.expect("it is one");
    assert_eq!(found, Expected::In(Register::R15D));
    assert_eq!(found.value(|register| if register == Register::R15D { 7 } else { 8 }), 7);
}

/// `cmp dword ptr [r14], -1` and `mov ecx, -1`.
#[test]
fn so_is_one_for_a_number() {
    let compare = [0x41, 0x83, 0x3e, 0xff];
    let number = [0xb9, 0xff, 0xff, 0xff, 0xff];
    let mut parts = WAITING.to_vec();
    parts[6] = &number;
    parts.splice(..2, [&compare[..]]);
    let found = found_in(&parts);
    assert_eq!(found, Some(Expected::Number(u32::MAX)));
}

#[test]
fn what_is_anything_else_is_none() {
    let wrong: [(&str, usize, &[u8]); 11] = [
        ("a load from elsewhere", 0, &[0x41, 0x8b, 0x46, 0x04]),
        ("one of another size", 0, &[0x49, 0x8b, 0x06]),
        ("no comparison of it", 1, &[0x44, 0x39, 0xfb]),
        ("a jump if it is equal", 2, &[0x74, 0x40]),
        ("another call of the system", 3, &[0xbf, 0xcb, 0, 0, 0]),
        ("another word", 4, &[0x4c, 0x89, 0xe6]),
        ("a wake", 5, &[0xba, 0x81, 0, 0, 0]),
        ("another number", 6, &[0x44, 0x89, 0xe1]),
        ("another function", 7, &[0x41, 0xff, 0xd4]),
        ("no look at its result", 8, &[0x48, 0x85, 0xdb]),
        ("another way on", 9, &[0x79, 0x01]),
    ];
    for (what, idx, part) in wrong {
        let mut parts = WAITING;
        parts[idx] = part;
        assert_eq!(found_in(&parts), None, "{what}");
    }
}

/// `mov r15d, eax`, `mov [rcx], eax`, a jump over what comes then, and `xchg rax, r14`.
#[test]
fn nothing_else_happens_on_the_way() {
    for between in [&[0x41, 0x89, 0xc7][..], &[0x89, 0x01], &[0xeb, 0x00], &[0x4c, 0x87, 0xf0]] {
        let mut parts = WAITING.to_vec();
        parts.insert(6, between);
        assert_eq!(found_in(&parts), None, "{between:?}");
    }
    // `mov eax, ecx`
    let mut parts = WAITING.to_vec();
    parts.insert(1, &[0x89, 0xc8]);
    assert_eq!(found_in(&parts), None, "something else is compared");
    // `mov r14d, [r14]` and `cmp r14d, r15d`
    let mut parts = WAITING;
    parts[..2].copy_from_slice(&[&[0x45, 0x8b, 0x36], &[0x45, 0x39, 0xfe]]);
    assert_eq!(found_in(&parts), None, "the word is no longer known");
}

#[test]
fn a_word_is_asked_for_once() {
    note(0x1234);
    assert!(is_pending());
    assert!(is_announced(0x1234));
    assert!(!is_announced(0x1234));
    note(0x1234);
    assert!(!is_announced(0x5678));
    assert!(!is_pending());
}

#[test]
fn a_call_belongs_to_the_function_that_it_returns_to() {
    for code in [128..130, 16..20, 40..64, 32..40] {
        callers::leave_alone(code);
    }
    assert!(!callers::are_left_alone(17), "not all functions are known yet");
    callers::settle();
    for (address, expected) in [
        (16, false),
        (17, true),
        // A few bytes between two functions have no code.
        (25, true),
        // A call that does not return may be the last instruction.
        (64, true),
        (65, false),
        (128, false),
        (130, true),
        (131, false),
    ] {
        assert_eq!(callers::are_left_alone(address), expected, "{address}");
    }
}
