//! The programs, as source text.

use crate::support::Random;

/// A test.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(super) body: String,
}

const BEGINNING: &str = r#"
use std::arch::asm;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, Barrier, LazyLock, Mutex, Once, OnceLock, RwLock, RwLockWriteGuard};
use std::thread;
use std::time::Duration;

struct Shared {
    once: Once,
    cell: OnceLock<u32>,
    rwlock: RwLock<u32>,
    barrier: Barrier,
    atomic: AtomicU32,
    mutex: Mutex<u32>,
}

const fn shared() -> Shared {
    Shared {
        once: Once::new(),
        cell: OnceLock::new(),
        rwlock: RwLock::new(0),
        barrier: Barrier::new(2),
        atomic: AtomicU32::new(0),
        mutex: Mutex::new(0),
    }
}

/// Adds its number to what is shared when it is dropped.
struct Noted(&'static AtomicU32, u32);

impl Drop for Noted {
    fn drop(&mut self) {
        let old = self.0.load(SeqCst);
        self.0.store(mixed(old, self.1), SeqCst);
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

fn tell(name: &str, notes: &[u32]) {
    let outcome = notes.iter().fold(7u32, |sum, it| (sum ^ it).wrapping_mul(0x9e37_79b1).rotate_left(11));
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

/// A file with all of them.
pub(crate) fn file(cases: &[Case]) -> String {
    let mut text = BEGINNING.to_owned();
    for Case { name, body } in cases {
        text.push_str(&format!(
            "\n#[test]\nfn {name}() {{\n    static SHARED: Shared = shared();\n    \
             let shared = &SHARED;\n    let note: Vec<u32> = {{ {body} }};\n    \
             tell(\"{name}\", &note);\n}}\n"
        ));
    }
    text
}

/// Two threads with these bodies, each of which gives a number; and what is noted in the end.
fn two(one: &str, other: &str) -> String {
    format!(
        "let h = thread::spawn(move || -> u32 {{ {one} }}); let m: u32 = {{ {other} }}; \
         vec![m, h.join().unwrap(), shared.atomic.load(SeqCst)]"
    )
}

/// A thread takes what is sent until the sender has gone, and both ends go at any time.
fn iterated(channel: &str) -> String {
    format!(
        "let (tx, rx) = {channel}; let h = thread::spawn(move || {{ let s: u32 = rx.iter().sum(); drop(rx); \
         s + shared.atomic.load(SeqCst) }}); tx.send(1).unwrap(); drop(tx); shared.atomic.store(8, SeqCst); vec![h.join().unwrap()]"
    )
}

/// Messages that say when they are dropped are left in a channel when both ends go.
fn left(channel: &str) -> String {
    format!(
        "let (tx, rx) = {channel}; tx.send(Noted(&SHARED.atomic, 1)).is_ok(); let h = thread::spawn(move || drop(tx)); \
         drop(rx.try_recv()); let a = shared.atomic.load(SeqCst); drop(rx); vec![a, shared.atomic.load(SeqCst), {{ h.join().unwrap(); 0 }}]"
    )
}

/// A thread sends, and the other one waits for some time.
fn timeout(channel: &str) -> String {
    format!(
        "let (tx, rx) = {channel}; let h = thread::spawn(move || tx.send(1).is_ok() as u32); let a = \
         rx.recv_timeout(Duration::from_millis(5)).unwrap_or(9); drop(rx); vec![a, h.join().unwrap()]"
    )
}

/// A program for every row of the table.
pub(crate) fn rows() -> Vec<Case> {
    let once = "shared.once.call_once(|| { shared.atomic.fetch_add(1, SeqCst); }); shared.atomic.load(SeqCst)";
    let force = "shared.once.call_once_force(|_| shared.atomic.store(5, SeqCst)); shared.atomic.load(SeqCst)";
    let panics = "let r = catch_unwind(|| shared.once.call_once(|| if shared.atomic.fetch_add(1, SeqCst) == 0 { panic!() })); r.is_ok().into()";
    let lazy = "static L: LazyLock<u32> = LazyLock::new(|| SHARED.atomic.fetch_add(3, SeqCst)); *L";
    let read = "*shared.rwlock.read().unwrap()";
    let write = "let mut g = shared.rwlock.write().unwrap(); *g += 1; *g";
    let both =
        "let a = *shared.rwlock.read().unwrap(); *shared.rwlock.write().unwrap() += a + 1; a";
    let recursive =
        "let a = shared.rwlock.read().unwrap(); let b = shared.rwlock.read().unwrap(); *a + *b";
    let inside = "let g = shared.rwlock.read().unwrap(); shared.atomic.fetch_add(1, SeqCst) + *g";
    let seen = "let g = shared.rwlock.read().unwrap(); let a = shared.atomic.load(SeqCst); shared.atomic.load(SeqCst) * 4 + a + *g";
    let downgraded = "let mut g = shared.rwlock.write().unwrap(); *g += 1; let g = RwLockWriteGuard::downgrade(g); shared.atomic.fetch_add(1, SeqCst) + *g";
    let wait = "shared.barrier.wait().is_leader().into()";
    let tried = "shared.rwlock.try_write().map_or(9, |mut g| { *g += 2; *g })";
    let tried_read = "shared.rwlock.try_read().map_or(9, |g| *g)";
    let bodies = [
        ("once", two(once, once)),
        ("once_force", two(force, once)),
        ("once_panics", two(panics, panics)),
        ("once_lock", two("*shared.cell.get_or_init(|| 1)", "*shared.cell.get_or_init(|| 2)")),
        ("once_lock_set", two("shared.cell.set(1).is_ok().into()", "shared.cell.get().copied().unwrap_or(7)")),
        ("once_lock_get", two("*shared.cell.get_or_init(|| 1)", "shared.cell.get().copied().unwrap_or(7)")),
        ("once_wait", two("shared.once.call_once(|| shared.atomic.store(2, SeqCst)); 0", "shared.once.wait(); shared.atomic.load(SeqCst)")),
        ("once_nested", two("*shared.cell.get_or_init(|| { shared.once.call_once(|| ()); 4 })", once)),
        ("lazy_lock", two(lazy, lazy)),
        ("read_write", two(read, write)),
        ("write_write", two(write, both)),
        ("try_write", two(tried, write)),
        ("try_read", two(tried_read, write)),
        ("write_waits", format!("let w = thread::spawn(move || -> u32 {{ {write} }}); {}", two(inside, seen).replace("vec![m,", "vec![w.join().unwrap(), m,"))),
        ("read_twice", two(recursive, write)),
        ("read_before_threads", format!("let first = shared.rwlock.read().unwrap(); let w = thread::spawn(move || -> u32 {{ {write} }}); let second = *shared.rwlock.read().unwrap(); drop(first); vec![second, w.join().unwrap()]")),
        ("readers_wait_for_each_other", format!("let (tx, rx) = channel(); let w = thread::spawn(move || -> u32 {{ {write} }}); let r = thread::spawn(move || {{ let g = shared.rwlock.read().unwrap(); tx.send(*g).unwrap(); }}); let g = shared.rwlock.read().unwrap(); let a = rx.recv().unwrap(); drop(g); r.join().unwrap(); vec![a, w.join().unwrap()]")),
        ("try_read_beside", format!("let w = thread::spawn(move || -> u32 {{ {write} }}); {}", two(inside, tried_read).replace("vec![m,", "vec![w.join().unwrap(), m,"))),
        ("downgrade", two(downgraded, inside)),
        ("downgrade_before_writer", two(downgraded, write)),
        ("downgrade_beside", format!("let w = thread::spawn(move || -> u32 {{ {write} }}); {}", two(downgraded, tried_read).replace("vec![m,", "vec![w.join().unwrap(), m,"))),
        ("lock_panics", two("catch_unwind(|| { let _g = shared.rwlock.write().unwrap_or_else(|it| it.into_inner()); panic!() }).is_err() as u32", "shared.rwlock.read().is_err() as u32")),
        ("lock_forgotten", two("std::mem::forget(shared.rwlock.read().unwrap()); 0", "shared.rwlock.try_write().is_ok() as u32 + 2 * shared.rwlock.try_read().is_ok() as u32")),
        ("barrier", two(wait, wait)),
        ("barrier_alone", two(wait, "0")),
        ("barrier_of_two_for_one", "shared.barrier.wait(); vec![]".to_owned()),
        ("bounded_full_alone", "let (tx, rx) = sync_channel(1); tx.send(1u32).unwrap(); tx.send(2).unwrap(); drop(rx); vec![]".to_owned()),
        ("rendezvous_alone", "let (tx, rx) = sync_channel(0); tx.send(1u32).unwrap(); drop(rx); vec![]".to_owned()),
        ("park", "let t = thread::current(); let h = thread::spawn(move || { t.unpark(); t.unpark(); shared.atomic.fetch_add(1, SeqCst) }); thread::park(); let a = shared.atomic.load(SeqCst); vec![a, h.join().unwrap()]".to_owned()),
        ("park_twice", "let t = thread::current(); let h = thread::spawn(move || { t.unpark(); t.unpark(); }); thread::park(); thread::park(); h.join().unwrap(); vec![]".to_owned()),
        ("park_after_receive", "let (tx, rx) = channel(); let t = thread::current(); let h = thread::spawn(move || { t.unpark(); tx.send(1).unwrap(); }); let a = rx.recv().unwrap(); thread::park(); h.join().unwrap(); vec![a]".to_owned()),
        ("park_after_receive_bounded", "let (tx, rx) = sync_channel(1); let t = thread::current(); let h = thread::spawn(move || { t.unpark(); tx.send(1).unwrap(); }); let a = rx.recv().unwrap(); thread::park(); h.join().unwrap(); vec![a]".to_owned()),
        ("park_after_scope", "let t = thread::current(); thread::scope(|s| { s.spawn(move || t.unpark()); }); thread::park(); vec![]".to_owned()),
        ("channel_one", "let (tx, rx) = channel(); let h = thread::spawn(move || { tx.send(1).unwrap(); shared.atomic.fetch_add(1, SeqCst) }); let a = rx.recv().unwrap(); let b = rx.try_recv().is_err() as u32; vec![a, b, h.join().unwrap(), shared.atomic.load(SeqCst)]".to_owned()),
        ("channel_try", "let (tx, rx) = channel(); let h = thread::spawn(move || { tx.send(1).unwrap(); }); let a = rx.try_recv().map_or(7, |it| it); h.join().unwrap(); vec![a]".to_owned()),
        ("channel_closed", "let (tx, rx) = channel::<u32>(); let h = thread::spawn(move || drop(tx)); let a = rx.recv().is_err() as u32; h.join().unwrap(); vec![a]".to_owned()),
        ("channel_no_receiver", "let (tx, rx) = channel(); let h = thread::spawn(move || drop(rx)); let a = tx.send(Noted(&SHARED.atomic, 3)).is_ok() as u32; h.join().unwrap(); vec![a, shared.atomic.load(SeqCst)]".to_owned()),
        ("channel_dropped", "let (tx, rx) = channel(); let h = thread::spawn(move || { tx.send(Noted(&SHARED.atomic, 1)).is_ok() as u32 }); let a = shared.atomic.load(SeqCst); drop(rx); let b = shared.atomic.load(SeqCst); vec![a, b, h.join().unwrap()]".to_owned()),
        ("bounded", "let (tx, rx) = sync_channel(1); let h = thread::spawn(move || { tx.send(1).unwrap(); tx.send(2).unwrap(); shared.atomic.fetch_add(1, SeqCst) }); let a = rx.recv().unwrap(); let b = shared.atomic.load(SeqCst); vec![a, b, h.join().unwrap()]".to_owned()),
        ("bounded_try", "let (tx, rx) = sync_channel(1); let h = thread::spawn(move || tx.try_send(1).is_ok() as u32 * 2 + tx.try_send(2).is_ok() as u32); let a = rx.recv().unwrap_or(9); vec![a, h.join().unwrap()]".to_owned()),
        ("rendezvous", "let (tx, rx) = sync_channel(0); let h = thread::spawn(move || { shared.atomic.store(1, SeqCst); tx.send(1).unwrap(); shared.atomic.fetch_add(1, SeqCst) }); let a = rx.recv().unwrap(); let b = shared.atomic.load(SeqCst); vec![a, b, h.join().unwrap()]".to_owned()),
        ("channel_iterated", iterated("channel()")),
        ("bounded_iterated", iterated("sync_channel(1)")),
        ("channel_left", left("channel()")),
        ("bounded_left", left("sync_channel(2)")),
        ("channel_timeout", timeout("channel()")),
        ("bounded_timeout", timeout("sync_channel(1)")),
        ("rendezvous_timeout", timeout("sync_channel(0)")),
        ("channel_timeout_alone", "let (tx, rx) = channel::<u32>(); let a = rx.recv_timeout(Duration::from_millis(5)).is_err(); let b = tx.send(1).is_ok(); vec![a.into(), b.into()]".to_owned()),
        ("bounded_timeout_alone", "let (tx, rx) = sync_channel::<u32>(1); let h = thread::spawn(move || { shared.atomic.fetch_add(1, SeqCst); }); let a = rx.recv_timeout(Duration::from_millis(5)).is_err(); h.join().unwrap(); let b = tx.send(1).is_ok(); vec![a.into(), b.into()]".to_owned()),
        ("park_timeout", "let t = thread::current(); let h = thread::spawn(move || { shared.atomic.store(1, SeqCst); t.unpark(); }); thread::park_timeout(Duration::from_millis(5)); let a = shared.atomic.load(SeqCst); h.join().unwrap(); vec![a]".to_owned()),
        ("scope", "let mut own = 0; thread::scope(|s| { s.spawn(|| shared.atomic.fetch_add(1, SeqCst)); own = shared.atomic.load(SeqCst); }); vec![own, shared.atomic.load(SeqCst)]".to_owned()),
        ("scope_nested", "thread::scope(|s| { s.spawn(move || { s.spawn(|| shared.atomic.store(2, SeqCst)); }); }); vec![shared.atomic.load(SeqCst)]".to_owned()),
        ("scope_panics", "let r = catch_unwind(AssertUnwindSafe(|| thread::scope(|s| { s.spawn(|| if shared.atomic.load(SeqCst) == 1 { panic!() }); shared.atomic.store(1, SeqCst); }))); vec![r.is_ok().into()]".to_owned()),
        ("detached", "let h = thread::spawn(|| SHARED.atomic.store(1, SeqCst)); let a = shared.atomic.load(SeqCst); drop(h); vec![a, shared.atomic.load(SeqCst)]".to_owned()),
        ("detached_at_end", "let g = shared.mutex.lock().unwrap(); let _h = thread::spawn(|| *SHARED.mutex.lock().unwrap() += 1); drop(g); vec![*shared.mutex.lock().unwrap()]".to_owned()),
        ("detached_two", "let _a = thread::spawn(|| SHARED.atomic.store(1, SeqCst)); let _b = thread::spawn(|| SHARED.atomic.load(SeqCst)); vec![shared.atomic.load(SeqCst)]".to_owned()),
        ("result_dropped", "let h = thread::spawn(|| Noted(&SHARED.atomic, 5)); let a = shared.atomic.load(SeqCst); drop(h); vec![a, shared.atomic.load(SeqCst)]".to_owned()),
        ("is_finished", "let h = thread::spawn(|| ()); let a = h.is_finished(); h.join().unwrap(); vec![a.into()]".to_owned()),
    ];
    let named = |(name, body): (&str, String)| Case { name: name.to_owned(), body };
    bodies.into_iter().map(named).collect()
}

/// A random program over one lock for readers and writers, which threads hold while they do other
/// things: `main` and two threads.
pub(crate) fn random_locks(seed: u64) -> Case {
    let mut random = Random(seed * 6007 + 5);
    let deed = |me: usize, random: &mut Random| {
        let inner = match random.below(7) {
            0 => "*shared.rwlock.read().unwrap()",
            1 => "shared.rwlock.try_read().map_or(7, |g| *g)",
            2 => "shared.rwlock.try_write().is_ok() as u32",
            3 => "{ let mut g = shared.mutex.lock().unwrap(); *g = mixed(*g, ME); *g }",
            4 => "shared.barrier.wait().is_leader() as u32",
            _ => "shared.atomic.fetch_add(ME, SeqCst)",
        };
        let text = match random.below(9) {
            0 | 1 => "{ let mut g = shared.rwlock.write().unwrap(); *g = mixed(*g, ME); *g }",
            2 => {
                "{ let g = shared.rwlock.write().unwrap(); let g = RwLockWriteGuard::downgrade(g); *g + INNER }"
            }
            3 => "shared.rwlock.try_write().map_or(9, |mut g| { *g += ME; *g })",
            4 => {
                "{ let mut g = shared.mutex.lock().unwrap(); *g += *shared.rwlock.read().unwrap(); *g }"
            }
            5 => "shared.rwlock.try_read().map_or(9, |g| *g + INNER)",
            _ => "{ let g = shared.rwlock.read().unwrap(); *g + INNER }",
        };
        let text = text.replace("INNER", inner).replace("ME", &(me + 1).to_string());
        format!("note = mixed(note, {text});")
    };
    let spawn = |name: &str, deeds: &str| {
        format!("let {name} = thread::spawn(move || {{ let mut note = 0u32; {deeds} note }});")
    };
    let deeds: Vec<String> = (0..3).map(|me| deed(me, &mut random)).collect();
    let body = format!(
        "{} {} let mut note = 0u32; {} let a = a.join().unwrap(); let b = b.join().unwrap(); \
         vec![note, a, b, shared.atomic.load(SeqCst), *shared.rwlock.read().unwrap()]",
        spawn("a", &deeds[1]),
        spawn("b", &deeds[2]),
        deeds[0]
    );
    Case { name: format!("lock_{seed}"), body }
}

/// A random program: `main` and two threads, each with one or two deeds.
pub(crate) fn random(seed: u64) -> Case {
    let mut random = Random(seed * 7919 + 1);
    let deed = |me: usize, random: &mut Random| {
        let text = match random.below(13) {
            0 => "*shared.cell.get_or_init(|| ME)",
            1 => "{ shared.once.call_once(|| { shared.atomic.fetch_add(ME, SeqCst); }); 0 }",
            2 => "*shared.rwlock.read().unwrap()",
            3 | 4 => "{ let mut g = shared.rwlock.write().unwrap(); *g = mixed(*g, ME); *g }",
            5 => "shared.rwlock.try_write().map_or(9, |mut g| { *g += ME; *g })",
            6 | 7 => "tx.send(ME).is_ok() as u32",
            8 => "shared.atomic.fetch_add(ME, SeqCst)",
            9 => "{ let mut g = shared.mutex.lock().unwrap(); *g = mixed(*g, ME); *g }",
            10 => "{ unparked.unpark(); 0 }",
            11 => "shared.barrier.wait().is_leader() as u32",
            _ => "shared.cell.get().copied().unwrap_or(8)",
        };
        format!("note = mixed(note, {});", text.replace("ME", &(me + 1).to_string()))
    };
    let mut deeds: Vec<String> =
        (0..3).map(|me| deed(me, &mut random) + &deed(me, &mut random)).collect();
    let more = [
        "",
        "note = mixed(note, rx.try_recv().unwrap_or(6));",
        "note = mixed(note, rx.recv().unwrap_or(5));",
        "thread::park();",
    ];
    deeds[0].push_str(more[random.below(more.len() as u64) as usize]);
    let body = match random.below(3) {
        0 => format!(
            "let mut notes = [0; 2]; let mut note = 0u32; let [a, b] = &mut notes; thread::scope(|s| {{ \
             let (ta, tb, ua, ub) = (tx.clone(), tx.clone(), unparked.clone(), unparked.clone()); \
             s.spawn(move || {{ let (tx, unparked, mut note) = (ta, ua, 0u32); {} *a = note; drop((tx, unparked)); }}); \
             s.spawn(move || {{ let (tx, unparked, mut note) = (tb, ub, 0u32); {} *b = note; drop((tx, unparked)); }}); {} }}); \
             drop(tx); vec![note, notes[0], notes[1], rx.iter().fold(0, mixed), shared.atomic.load(SeqCst), *shared.rwlock.read().unwrap()]",
            deeds[1], deeds[2], deeds[0]
        ),
        _ => {
            let spawn = |name: &str, deeds: &str| {
                format!(
                    "let {name} = {{ let (tx, unparked) = (tx.clone(), unparked.clone()); thread::spawn(move || {{ \
                     let mut note = 0u32; {deeds} drop((tx, unparked)); note }}) }};"
                )
            };
            format!(
                "{} {} let mut note = 0u32; {} drop(tx); let a = a.join().unwrap(); let b = b.join().unwrap(); \
                 vec![note, a, b, rx.iter().fold(0, mixed), shared.atomic.load(SeqCst), *shared.rwlock.read().unwrap()]",
                spawn("a", &deeds[1]),
                spawn("b", &deeds[2]),
                deeds[0]
            )
        }
    };
    let body = format!("let (tx, rx) = channel::<u32>(); let unparked = thread::current(); {body}");
    Case { name: format!("seed_{seed}"), body }
}
