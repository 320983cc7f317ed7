//! Orders as they are spelled in C, C++ and Rust, and a unified diff that spells others.

use mazurka_core::MemoryOrder;
use mazurka_protocol::{AtomicAccess, OrderChange, of_load};
use std::collections::BTreeMap;
use std::ops::Range;

/// How far behind its beginning a call is looked at.
const MAX_LEN: usize = 2_000;
/// Lines around a change.
const CONTEXT: usize = 3;

/// The diff that makes these changes, and those that cannot be written; `read` has the texts.
pub fn diff(
    changes: &[OrderChange],
    read: impl Fn(&str) -> Option<String>,
) -> (String, Vec<OrderChange>) {
    let mut by_file: BTreeMap<&str, Vec<&OrderChange>> = BTreeMap::new();
    for change in changes {
        by_file.entry(&change.site.file).or_default().push(change);
    }
    let (mut text, mut unwritten) = (String::new(), Vec::new());
    for (file, changes) in by_file {
        let before = read(file);
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for change in changes {
            match before.as_deref().and_then(|text| edits_of(text, change)) {
                Some(new) if new.iter().all(|(at, _)| !edits.iter().any(|it| it.0 == *at)) => {
                    edits.extend(new);
                }
                _ => unwritten.push(change.clone()),
            }
        }
        let Some(before) = before.filter(|_| !edits.is_empty()) else { continue };
        edits.sort_by_key(|(at, _)| at.start);
        let mut after = before.clone();
        for (at, new) in edits.into_iter().rev() {
            after.replace_range(at, &new);
        }
        text.push_str(&unified(file, &before, &after));
    }
    (text, unwritten)
}

/// What to replace in a text, and by what; nothing if the order is not spelled at the place.
fn edits_of(text: &str, change: &OrderChange) -> Option<Vec<(Range<usize>, String)>> {
    let site = &change.site;
    if site.access == AtomicAccess::Fence && change.order == MemoryOrder::Relaxed {
        return None;
    }
    let line = text.split_inclusive('\n').take(site.line as usize - 1).map(str::len).sum::<usize>();
    let start = line + (site.column as usize).saturating_sub(1);
    let spelled = spelled_in(text.get(start..)?);
    let edit = |it: &Spelled, order| (it.at.start + start..it.at.end + start, it.as_order(order));
    match &spelled[..] {
        [one] if one.order == site.order => Some(vec![edit(one, change.order)]),
        [success, failure] if success.order == site.order => {
            let mut edits = vec![edit(success, change.order)];
            let as_load = of_load(change.order);
            if as_load < failure.order {
                edits.push(edit(failure, as_load));
            }
            Some(edits)
        }
        _ => None,
    }
}

/// An order in a text.
#[derive(Debug, PartialEq, Eq)]
struct Spelled {
    at: Range<usize>,
    order: MemoryOrder,
    /// What all orders begin with that are spelled in the same way.
    style: usize,
}

/// Orders from relaxed to sequentially consistent, in each of the ways to spell them.
const STYLES: [[&str; 5]; 4] = [
    ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"],
    [
        "memory_order_relaxed",
        "memory_order_acquire",
        "memory_order_release",
        "memory_order_acq_rel",
        "memory_order_seq_cst",
    ],
    [
        "memory_order::relaxed",
        "memory_order::acquire",
        "memory_order::release",
        "memory_order::acq_rel",
        "memory_order::seq_cst",
    ],
    [
        "__ATOMIC_RELAXED",
        "__ATOMIC_ACQUIRE",
        "__ATOMIC_RELEASE",
        "__ATOMIC_ACQ_REL",
        "__ATOMIC_SEQ_CST",
    ],
];

impl Spelled {
    fn as_order(&self, order: MemoryOrder) -> String {
        let idx = MemoryOrder::ALL.iter().position(|it| *it == order).expect("all are there");
        STYLES[self.style][idx].to_owned()
    }
}

/// The orders among the arguments of the first call with such arguments, in what begins with it.
fn spelled_in(text: &str) -> Vec<Spelled> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = text.as_bytes();
    let (mut depth, mut found) = (0_usize, Vec::new());
    let mut at = 0;
    while at < bytes.len().min(MAX_LEN) {
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                if depth <= 1 && !found.is_empty() {
                    break;
                }
                let Some(less) = depth.checked_sub(1) else { break };
                depth = less;
            }
            b';' if depth == 0 => break,
            byte if is_word(byte) => {
                let spelled = order_at(&text[at..]).filter(|_| depth == 1);
                if let Some((order, style)) = spelled {
                    let end = at + STYLES[style][order].len();
                    let order = MemoryOrder::ALL[order];
                    found.push(Spelled { at: at..end, order, style });
                    at = end;
                    continue;
                }
                while at < bytes.len() && is_word(bytes[at]) {
                    at += 1;
                }
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The order that a text begins with, by its number and that of its style.
fn order_at(text: &str) -> Option<(usize, usize)> {
    STYLES.iter().enumerate().find_map(|(style, names)| {
        let is_it = |name: &&str| {
            let rest = text.strip_prefix(*name);
            rest.is_some_and(|rest| {
                !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_')
            })
        };
        names.iter().position(is_it).map(|order| (order, style))
    })
}

/// The difference of two texts with equally many lines.
fn unified(file: &str, before: &str, after: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let name = std::path::Path::new(file);
    let name = name.strip_prefix(&here).unwrap_or(name).display();
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let changed: Vec<usize> = (0..old.len()).filter(|&line| old[line] != new[line]).collect();
    let mut text = format!("--- a/{name}\n+++ b/{name}\n");
    let mut rest = &changed[..];
    while let Some(&first) = rest.first() {
        let n = rest.windows(2).take_while(|pair| pair[1] - pair[0] <= 2 * CONTEXT).count() + 1;
        let from = first.saturating_sub(CONTEXT);
        let to = (rest[n - 1] + CONTEXT + 1).min(old.len());
        text.push_str(&format!("@@ -{0},{1} +{0},{1} @@\n", from + 1, to - from));
        let mut line = from;
        while line < to {
            let end = (line..to).find(|&it| old[it] == new[it]).unwrap_or(to);
            (line..end).for_each(|it| text.push_str(&format!("-{}\n", old[it])));
            (line..end).for_each(|it| text.push_str(&format!("+{}\n", new[it])));
            line = end;
            if line < to {
                text.push_str(&format!(" {}\n", old[line]));
                line += 1;
            }
        }
        rest = &rest[n..];
    }
    text
}

#[cfg(test)]
mod unit {
    use super::*;
    use mazurka_protocol::AtomicSite;

    fn change(line: u32, column: u32, from: MemoryOrder, order: MemoryOrder) -> OrderChange {
        let access = AtomicAccess::Update;
        let file = "/no/such/a.rs".to_owned();
        OrderChange { site: AtomicSite { file, line, column, access, order: from }, order }
    }

    fn check(text: &str, change: &OrderChange, expected: Option<&str>) {
        let (diff, unwritten) = diff(std::slice::from_ref(change), |_| Some(text.to_owned()));
        let plus = diff.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++"));
        let plus: Vec<&str> = plus.map(|line| &line[1..]).collect();
        assert_eq!(
            (&plus[..], unwritten.len()),
            match &expected {
                Some(line) => (std::slice::from_ref(line), 0),
                None => (&[][..], 1),
            }
        );
    }

    #[test]
    fn orders_are_spelled_anew_where_they_stand() {
        use MemoryOrder::{
            Acquire, AcquireRelease, Relaxed, Release, SequentiallyConsistent as Sc,
        };
        let line = "a.store(b.load(Acquire), Release); c.swap(1, SeqCst);\n";
        let wanted = "a.store(b.load(Acquire), Relaxed); c.swap(1, SeqCst);";
        check(line, &change(1, 1, Release, Relaxed), Some(wanted));
        let wanted = "a.store(b.load(Relaxed), Release); c.swap(1, SeqCst);";
        check(line, &change(1, 9, Acquire, Relaxed), Some(wanted));
        let wanted = "a.store(b.load(Acquire), Release); c.swap(1, AcqRel);";
        check(line, &change(1, 36, Sc, AcquireRelease), Some(wanted));
        // What stands there is another order: a macro, or a variable.
        check(line, &change(1, 36, Acquire, Relaxed), None);
        check("a.store(1, ORDER);\n", &change(1, 1, Release, Relaxed), None);
        let text = "\n  x.get().compare_exchange(0, 1,\n    AcqRel, Acquire)\n";
        check(text, &change(2, 3, AcquireRelease, Relaxed), Some("    Relaxed, Relaxed)"));
        check(text, &change(2, 3, AcquireRelease, Acquire), Some("    Acquire, Acquire)"));
        let text = "atomic_store_explicit(&x, 1, memory_order_release);\n";
        let wanted = "atomic_store_explicit(&x, 1, memory_order_relaxed);";
        check(text, &change(1, 1, Release, Relaxed), Some(wanted));
    }
}
