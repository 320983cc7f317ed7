//! Programs of known size, as one-line texts.

use std::fmt::Write as _;

/// One writer and `n` readers of one variable: 2^n traces.
pub fn readers(n: usize) -> String {
    format!("x=1{}", " | r=x".repeat(n))
}

/// `n` stores to one variable: n! traces.
pub fn writers(n: usize) -> String {
    (1..=n).map(|value| format!("x={value}")).collect::<Vec<_>>().join(" | ")
}

/// Two threads, `k` rounds of `i+=j` and `j+=i`, each as load, load, store.
pub fn fib(k: usize) -> String {
    let thread = |a: &str, b: &str| format!("r1={a}; r2={b}; {a}=r1+r2; ").repeat(k);
    format!("i=1, j=1 || {} | {}", thread("i", "j"), thread("j", "i"))
}

/// `n` threads of `len` steps each. Every `period`-th step is an atomic exchange of a variable
/// that two threads share, each such variable used once by each of the two; the others are stores
/// to variables of the thread's own.
pub fn long(n: usize, len: usize, period: usize) -> String {
    let mut text = String::new();
    for thread in 0..n {
        let separator = if thread == 0 { "" } else { " | " };
        text.push_str(separator);
        for step in 0..len {
            let at = if step % period == period - 1 {
                // Neighbours meet: 0 with 1, 2 with 3.
                format!("swap(s{}_{}, 1); ", thread / 2, step / period)
            } else {
                format!("v{thread}_{}={step}; ", step % 4)
            };
            text.push_str(&at);
        }
    }
    text
}

/// `n` threads of `len` stores each to variables of their own: one trace.
pub fn private(n: usize, len: usize) -> String {
    let thread =
        |idx: usize| (0..len).map(|step| format!("v{idx}_{}={step}; ", step % 4)).collect();
    (0..n).map(thread).collect::<Vec<String>>().join(" | ")
}

/// The Indexer of POPL 2005, Fig. 1, with `n` threads of 4 messages each.
pub fn indexer(n: usize) -> String {
    let mut text = String::from("t[128] || ");
    for tid in 1..=n {
        let separator = if tid == 1 { "" } else { " | " };
        let _ = write!(
            text,
            "{separator}r1=0; while r1<4 {{ r1=r1+1; r2=r1*11+{tid}; r3=(r2*7)%128; \
             r4=cas(t[r3],0,r2); while r4==0 {{ r3=(r3+1)%128; r4=cas(t[r3],0,r2) }} }}"
        );
    }
    text
}

/// The file system of POPL 2005, Fig. 7, with `n` threads: 26 blocks, 32 inodes.
pub fn filesystem(n: usize) -> String {
    let mut text = String::from("inode[32], busy[26] || ");
    for tid in 0..n {
        let (inode, first) = (tid % 32, (tid % 32 * 2) % 26);
        let separator = if tid == 0 { "" } else { " | " };
        let _ = write!(text, "{separator}acq({inode}); r=inode[{inode}]; if r==0 {{ ");
        // The search for a free block, unrolled: locks have literal numbers.
        for offset in 0..26 {
            let block = (first + offset) % 26;
            let lock = 32 + block;
            let _ = write!(
                text,
                "acq({lock}); r1=busy[{block}]; if r1==0 {{ busy[{block}]=1; \
                 inode[{inode}]={block}+1; rel({lock}) }} else {{ rel({lock}); "
            );
        }
        let _ = write!(text, "{}", "} ".repeat(26));
        let _ = write!(text, "}}; rel({inode})");
    }
    text
}
