//! Programs over crates that have lists of their own.

use super::source::Case;

/// What the project of these programs depends on.
pub(crate) const DEPENDENCIES: &str = "\n[dependencies]\nparking_lot = \"0.12\"\n\
    crossbeam-channel = \"0.5\"\nflume = { version = \"0.11\", default-features = false }\n";

/// The lists.
pub(crate) const LISTS: &str = "std,parking_lot,crossbeam-channel,flume";

const LOCKS: &str = "use parking_lot::{Condvar, Mutex, RwLock, RwLockWriteGuard}; static M: Mutex<u32> = Mutex::new(0); \
    static C: Condvar = Condvar::new(); static L: RwLock<u32> = RwLock::new(0); let _ = (&M, &C, &L);";

/// Two threads, each of which gives a number, and `main`, which gives one, too.
fn three(one: &str, other: &str, own: &str) -> String {
    format!(
        "{LOCKS} let a = thread::spawn(move || -> u32 {{ {one} }}); let b = thread::spawn(move || -> u32 {{ {other} }}); \
         let m: u32 = {{ {own} }}; vec![m, a.join().unwrap(), b.join().unwrap(), shared.atomic.load(SeqCst), *M.lock(), *L.read()]"
    )
}

fn two(one: &str, own: &str) -> String {
    three(one, "0", own)
}

/// A sender in another thread, which sends two messages, and a receiver.
fn channel(make: &str, send: &str, receive: &str) -> String {
    format!(
        "let (tx, rx) = {make}; let h = thread::spawn(move || -> u32 {{ {send} }}); let m: u32 = {{ {receive} }}; \
         vec![m, h.join().unwrap(), shared.atomic.load(SeqCst)]"
    )
}

/// A program for every row of the tables.
pub(crate) fn rows() -> Vec<Case> {
    let add = "let mut g = M.lock(); *g = mixed(*g, 1); *g";
    let twice = "let mut g = M.lock(); *g = mixed(*g, 2); drop(g); let mut g = M.lock(); *g = mixed(*g, 5); *g";
    let tried = "M.try_lock().map_or(9, |mut g| { *g += 4; *g })";
    let fair = "let mut g = M.lock(); *g += 2; parking_lot::MutexGuard::unlock_fair(g); 0";
    let wait = "let mut g = M.lock(); while *g == 0 { C.wait(&mut g); } *g";
    let wait_once = "let mut g = M.lock(); if *g == 0 { C.wait(&mut g); } *g";
    let set_and_notify = "*M.lock() = 3; C.notify_one() as u32";
    let notify_inside = "let mut g = M.lock(); *g = 3; C.notify_all() as u32";
    let read = "let g = L.read(); *g";
    let write = "let mut g = L.write(); *g = mixed(*g, 1); *g";
    let inside = "let g = L.read(); shared.atomic.fetch_add(1, SeqCst) + *g";
    let downgraded = "let mut g = L.write(); *g += 1; let g = RwLockWriteGuard::downgrade(g); shared.atomic.fetch_add(1, SeqCst) + *g";
    let tried_read = "L.try_read().map_or(9, |g| *g)";
    let tried_write = "L.try_write().map_or(9, |mut g| { *g += 2; *g })";
    let send = "let a = tx.send(1).is_ok(); let b = tx.send(2).is_ok(); shared.atomic.fetch_add(1, SeqCst); a as u32 + 2 * b as u32";
    let receive = "let a = rx.recv().unwrap_or(7); let c = shared.atomic.load(SeqCst); let b = rx.recv().unwrap_or(8); a * 8 + b + c";
    let receive_all = "rx.iter().fold(0, mixed)";
    let receive_one = "let a = rx.recv().unwrap_or(7); drop(rx); a";
    let try_receive =
        "let a = rx.try_recv().unwrap_or(7); let b = rx.try_recv().unwrap_or(8); a * 8 + b";
    let try_send = "tx.try_send(1).is_ok() as u32 * 2 + tx.try_send(2).is_ok() as u32";
    let look = "rx.len() as u32 * 4 + rx.is_empty() as u32";
    let limited =
        "let a = rx.recv_timeout(std::time::Duration::from_millis(3)).unwrap_or(9); drop(rx); a";
    let dropped = "let a = tx.send(Noted(&SHARED.atomic, 3)).is_ok(); a as u32";
    let shared_by_two = "let (tx, rx) = MAKE; let other = rx.clone(); let h = thread::spawn(move || other.recv().unwrap_or(7)); \
        let s = thread::spawn(move || { let a = tx.send(1).is_ok(); a as u32 }); let a = rx.recv().unwrap_or(8); \
        vec![a, h.join().unwrap(), s.join().unwrap()]";
    let mut bodies: Vec<(String, String)> = [
        ("mutex", two(add, twice)),
        ("mutex_three", three(add, add, tried)),
        ("mutex_try", two(tried, add)),
        ("mutex_fair", two(fair, add)),
        ("mutex_locked_before", format!("{LOCKS} let g = M.lock(); let h = thread::spawn(|| M.try_lock().is_some() as u32); let t = thread::spawn(|| *M.lock()); drop(g); vec![h.join().unwrap(), t.join().unwrap()]")),
        ("mutex_looked_at", two("M.is_locked() as u32", add)),
        ("condvar", two(set_and_notify, wait)),
        ("condvar_inside", two(notify_inside, wait)),
        ("condvar_lost", two("*M.lock() = 0; C.notify_one() as u32", wait_once)),
        ("condvar_two", three(notify_inside, wait, wait)),
        ("condvar_one_of_two", three("let mut g = M.lock(); *g = 3; drop(g); C.notify_one(); C.notify_one() as u32", wait, wait)),
        ("condvar_alone", two("0", wait_once)),
        ("condvar_alone_before", format!("{LOCKS} let mut g = M.lock(); C.wait(&mut g); vec![*g]")),
        ("condvar_limited", two(set_and_notify, "let mut g = M.lock(); C.wait_for(&mut g, std::time::Duration::from_millis(1)).timed_out() as u32")),
        ("rwlock", two(write, read)),
        ("rwlock_writers", three(write, write, read)),
        ("rwlock_try", three(write, tried_read, tried_write)),
        ("rwlock_downgrade", two(downgraded, write)),
        ("rwlock_readers", three(inside, inside, write)),
        ("rwlock_twice", two(write, "let a = L.read(); let b = L.read(); *a + *b")),
        ("rwlock_upgradable", two(write, "let g = L.upgradable_read(); *g")),
    ]
    .map(|(name, body)| (name.to_owned(), body))
    .into();
    for (name, path) in [("crossbeam", "crossbeam_channel"), ("flume", "flume")] {
        let makes = [
            ("unbounded", format!("{path}::unbounded()")),
            ("bounded", format!("{path}::bounded(1)")),
            ("rendezvous", format!("{path}::bounded(0)")),
        ];
        for (kind, make) in makes {
            let deeds = [
                ("both", send, receive),
                ("all", send, receive_all),
                ("one", send, receive_one),
                ("try", send, try_receive),
                ("try_send", try_send, receive_one),
                ("look", send, look),
                ("limited", try_send, limited),
            ];
            for (deed, send, receive) in deeds {
                bodies.push((format!("{name}_{kind}_{deed}"), channel(&make, send, receive)));
            }
            let noted = "let a = shared.atomic.load(SeqCst); drop(rx); a";
            bodies.push((format!("{name}_{kind}_dropped"), channel(&make, dropped, noted)));
            bodies.push((format!("{name}_{kind}_two"), shared_by_two.replace("MAKE", &make)));
        }
    }
    bodies.push((
        "crossbeam_select".to_owned(),
        "let (tx, rx) = crossbeam_channel::unbounded(); let (ty, ry) = crossbeam_channel::unbounded(); \
         let h = thread::spawn(move || { tx.send(1u32).unwrap(); }); let i = thread::spawn(move || { ty.send(2u32).unwrap(); }); \
         let a = crossbeam_channel::select_biased! { recv(rx) -> it => it.unwrap_or(5), recv(ry) -> it => it.unwrap_or(6) }; \
         h.join().unwrap(); i.join().unwrap(); vec![a]"
            .to_owned(),
    ));
    bodies.into_iter().map(|(name, body)| Case { name, body }).collect()
}
