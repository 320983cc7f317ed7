//! Programs as tests in Rust, which tell every outcome that they come to.

use super::program::{Atomic, Deed, Program};
use std::fmt::Write;

/// What all tests have in common. An outcome is written to a file by the machine's own instruction:
/// what the explorer would see of it is no part of the program.
const BEGINNING: &str = r#"//! Made by a test.
#![allow(unused, static_mut_refs)]
use std::arch::asm;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::sync::{Arc, Condvar, Mutex, RwLock, TryLockError};
use std::thread;

struct Shared {
    mutexes: [Mutex<(u32, u32)>; 2],
    condvars: [Condvar; 2],
    rwlock: RwLock<u32>,
    atomics: [AtomicU32; 2],
}

const fn shared() -> Shared {
    Shared {
        mutexes: [const { Mutex::new((0, 0)) }; 2],
        condvars: [const { Condvar::new() }; 2],
        rwlock: RwLock::new(0),
        atomics: [const { AtomicU32::new(0) }; 2],
    }
}

fn mixed(value: u32, with: u32) -> u32 {
    value.wrapping_mul(31).wrapping_add(with).wrapping_add(1)
}

unsafe fn system_call(number: usize, a: usize, b: usize, c: usize) -> isize {
    let result: isize;
    unsafe {
        asm!("syscall", inlateout("rax") number as isize => result, in("rdi") a, in("rsi") b,
             in("rdx") c, in("r10") 0o644, out("rcx") _, out("r11") _);
    }
    result
}

fn tell(name: &str, shared: &Shared, notes: &[u32]) {
    let mut all = Vec::new();
    for mutex in &shared.mutexes {
        let (count, value) = *mutex.lock().unwrap();
        all.extend([count, value]);
    }
    all.push(*shared.rwlock.read().unwrap());
    all.extend(shared.atomics.iter().map(|it| it.load(SeqCst)));
    all.extend(notes);
    let outcome = all.iter().fold(7u32, |sum, it| (sum ^ it).wrapping_mul(0x9e37_79b1).rotate_left(11));
    let path = format!("{}/{name}\0", std::env::var("MAZURKA_OUTCOMES").unwrap());
    unsafe {
        let (open, write, close) = (2, 1, 3);
        // To append, and to write; it is there.
        let file = system_call(open, path.as_ptr() as usize, 0o2001, 0);
        assert!(file >= 0);
        system_call(write, file as usize, &raw const outcome as usize, 4);
        system_call(close, file as usize, 0, 0);
    }
}
"#;

/// A file with a test for each program.
pub(crate) fn file<'a>(programs: impl IntoIterator<Item = (&'a str, &'a Program)>) -> String {
    let mut text = BEGINNING.to_owned();
    for (name, program) in programs {
        write_test(&mut text, name, program).expect("a string takes all");
    }
    text
}

fn write_test(text: &mut String, name: &str, program: &Program) -> std::fmt::Result {
    writeln!(text, "\n#[test]\nfn {name}() {{")?;
    match program.is_counted {
        true => writeln!(text, "    let shared = Arc::new(shared());")?,
        false => {
            writeln!(text, "    static SHARED: Shared = shared();\n    let shared = &SHARED;")?
        }
    }
    writeln!(text, "    let mut note_0 = 0u32;")?;
    writeln!(text, "    let thread_0 = thread::current();")?;
    let own = &program.threads[0].deeds;
    for n_done in 0..=own.len() {
        for (idx, thread) in program.threads.iter().enumerate().skip(1) {
            if program.before[idx] == n_done {
                write_spawn(text, program, idx, &thread.deeds)?;
            }
        }
        if let Some(&deed) = own.get(n_done) {
            write_deed(text, "    ", 0, deed)?;
        }
    }
    for idx in 1..program.threads.len() {
        writeln!(text, "    let note_{idx} = join_{idx}.join().unwrap();")?;
    }
    let notes: Vec<String> = (0..program.threads.len()).map(|idx| format!("note_{idx}")).collect();
    writeln!(text, "    tell(\"{name}\", &shared, &[{}]);\n}}", notes.join(", "))
}

fn write_spawn(
    text: &mut String,
    program: &Program,
    idx: usize,
    deeds: &[Deed],
) -> std::fmt::Result {
    writeln!(text, "    let join_{idx} = {{")?;
    if program.is_counted {
        writeln!(text, "        let shared = shared.clone();")?;
    }
    let targets = deeds.iter().filter_map(|deed| match deed {
        Deed::Unpark(thread) => Some(thread),
        _ => None,
    });
    let mut targets: Vec<usize> = targets.copied().collect();
    targets.sort_unstable();
    targets.dedup();
    for target in targets {
        writeln!(text, "        let thread_{target} = thread_{target}.clone();")?;
    }
    writeln!(text, "        thread::spawn(move || {{\n            let mut note_{idx} = 0u32;")?;
    for &deed in deeds {
        write_deed(text, "            ", idx, deed)?;
    }
    writeln!(text, "            note_{idx}\n        }})\n    }};")?;
    writeln!(text, "    let thread_{idx} = join_{idx}.thread().clone();")
}

fn write_deed(text: &mut String, margin: &str, me: usize, deed: Deed) -> std::fmt::Result {
    let lock = |name: &str, mutex: usize| {
        format!("let mut {name} = shared.mutexes[{mutex}].lock().unwrap();")
    };
    let change = |name: &str| format!("{name}.1 = mixed({name}.1, {me});");
    let note = |what: &str| format!("note_{me} = mixed(note_{me}, {what});");
    let notify = |condvar: usize, is_all: bool| {
        let how = if is_all { "all" } else { "one" };
        format!("shared.condvars[{condvar}].notify_{how}();")
    };
    let line = match deed {
        Deed::Section(mutex) => format!("{{ {} {} }}", lock("it", mutex), change("it")),
        Deed::Nested(outer) => format!(
            "{{ {} {} {} {} }}",
            lock("it", outer),
            lock("other", 1 - outer),
            change("it"),
            change("other")
        ),
        Deed::TryLock(mutex) => format!(
            "match shared.mutexes[{mutex}].try_lock() {{ Ok(mut it) => {{ {} }} Err(_) => {{ {} }} }};",
            change("it"),
            note("100")
        ),
        Deed::Signal { mutex, condvar, is_inside, is_all } => format!(
            "{{ {} {} it.0 += 1; {} {} }}",
            lock("it", mutex),
            change("it"),
            if is_inside { "" } else { "drop(it);" },
            notify(condvar, is_all)
        ),
        Deed::Notify { condvar, is_all } => notify(condvar, is_all),
        Deed::WaitOnce { mutex, condvar } => format!(
            "{{ {} it = shared.condvars[{condvar}].wait(it).unwrap(); {} }}",
            lock("it", mutex),
            change("it")
        ),
        Deed::WaitUntil { mutex, condvar, count, is_while: false } => format!(
            "{{ {} while it.0 < {count} {{ it = shared.condvars[{condvar}].wait(it).unwrap(); }} {} }}",
            lock("it", mutex),
            change("it")
        ),
        Deed::WaitUntil { mutex, condvar, count, is_while: true } => format!(
            "{{ {} it = shared.condvars[{condvar}].wait_while(it, |it| it.0 < {count}).unwrap(); {} }}",
            lock("it", mutex),
            change("it")
        ),
        Deed::Read => format!("{{ let it = shared.rwlock.read().unwrap(); {} }}", note("*it")),
        Deed::Write => {
            format!("{{ let mut it = shared.rwlock.write().unwrap(); *it = mixed(*it, {me}); }}")
        }
        Deed::TryWrite => format!(
            "match shared.rwlock.try_write() {{ Ok(mut it) => *it = mixed(*it, {me}), Err(_) => {{ {} }} }};",
            note("200")
        ),
        Deed::Park => "thread::park();".to_owned(),
        Deed::Unpark(thread) => format!("thread_{thread}.unpark();"),
        Deed::Atomic { atomic, operation, value, order, is_noted } => {
            let call = atomic_call(operation, value, order);
            let call = format!("shared.atomics[{atomic}].{call}");
            match (is_noted, operation) {
                (true, Atomic::Store) => {
                    format!(
                        "let old = shared.atomics[{atomic}].swap({value}, SeqCst); {}",
                        note("old")
                    )
                }
                (true, Atomic::CompareExchange | Atomic::Update) => {
                    format!("let (Ok(old) | Err(old)) = {call}; {}", note("old"))
                }
                (true, _) => format!("let old = {call}; {}", note("old")),
                (false, _) => format!("{call};"),
            }
        }
    };
    writeln!(text, "{margin}{line}")
}

fn atomic_call(operation: Atomic, value: u32, order: usize) -> String {
    let order_of = |names: [&'static str; 5]| names[order];
    let both = order_of(["SeqCst", "Relaxed", "Acquire", "Release", "AcqRel"]);
    let load = order_of(["SeqCst", "Relaxed", "Acquire", "Relaxed", "Acquire"]);
    let store = order_of(["SeqCst", "Relaxed", "Relaxed", "Release", "Release"]);
    match operation {
        Atomic::Load => format!("load({load})"),
        Atomic::Store => format!("store({value}, {store})"),
        Atomic::Swap => format!("swap({value}, {both})"),
        Atomic::CompareExchange => {
            format!("compare_exchange({value}, {value} + 1, {both}, {load})")
        }
        Atomic::Update => {
            format!("fetch_update({both}, {load}, |it| (it < {value}).then(|| it + 1))")
        }
        Atomic::Add => format!("fetch_add({value}, {both})"),
        Atomic::Sub => format!("fetch_sub({value}, {both})"),
        Atomic::And => format!("fetch_and({value}, {both})"),
        Atomic::Or => format!("fetch_or({value}, {both})"),
        Atomic::Xor => format!("fetch_xor({value}, {both})"),
        Atomic::Nand => format!("fetch_nand({value}, {both})"),
        Atomic::Max => format!("fetch_max({value}, {both})"),
        Atomic::Min => format!("fetch_min({value}, {both})"),
    }
}
