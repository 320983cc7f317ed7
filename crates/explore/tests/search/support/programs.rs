//! Programs whose numbers of traces the literature and other tools agree on, in any size.

use super::script;
use mazurka_script::Script;

/// Threads that all do the same.
pub(crate) fn parallel(n_threads: usize, thread: impl Fn(usize) -> String) -> String {
    (0..n_threads).map(thread).collect::<Vec<_>>().join(" | ")
}

/// One writer and N readers of one variable: 2^N traces.
pub(crate) fn readers(n: usize) -> Script {
    script(&format!("x=1 | {}", parallel(n, |_| "r=x".to_owned())))
}

/// N stores to one variable: N! traces.
pub(crate) fn nwriters(n: usize) -> Script {
    script(&parallel(n, |idx| format!("x={}", idx + 1)))
}

/// A thread that looks for the last zero in an array, from its end, and N threads that each make
/// their element one more than the one before: (N+3)·2^(N-2) traces.
pub(crate) fn lastzero(n: usize) -> Script {
    let len = n + 1;
    let search = format!("r={n}; r1=a[{n}]; while r1 != 0 {{ r=r-1; r1=a[r] }}");
    let writers = parallel(n, |idx| format!("r=a[{idx}]; a[{}]=r+1", idx + 1));
    script(&format!("a[{len}] || {search} | {writers}"))
}

/// Two threads that take turns in adding the other's number to their own, in K rounds.
pub(crate) fn fib(k: usize) -> Script {
    let thread = |mine: &str, other: &str| {
        let round = format!("r={mine}; r1={other}; {mine}=r+r1");
        vec![round; k].join("; ")
    };
    script(&format!("i=1, j=1 || {} | {}", thread("i", "j"), thread("j", "i")))
}

/// Programs that go round in circles, with finitely many states, and whether something is wrong
/// with them: behind what one thread repeats for ever, another has a step that must not be ignored.
pub(crate) const CYCLIC: [(&str, bool); 12] = [
    // Waiting that ends, and waiting that need not.
    ("while(x!=1) yield | x=1", false),
    ("r=y; r=y | x=1; yield; x=1 | while(x!=1) yield", false),
    ("while(x!=1) yield; y=1 | x=1; r=y; assert(r == 0)", true),
    ("while(x!=1) yield; r=y; assert(r == 1) | y=1; x=1", false),
    ("while(x!=1) yield; r=y; assert(r == 1) | x=1; y=1", true),
    // No thread ends, and the loops have nothing to do with the thread that fails.
    ("while(x==0) yield | y=1; assert(tid == 0)", true),
    ("while(x==0) { y=1; y=0 } | z=1; assert(tid == 0)", true),
    ("while(x==0) { y=1; y=0 } | while(z==0) { w=1; w=0 } | v=1; v=2; assert(tid == 0)", true),
    ("while(x==0) { y=1; y=0 } | while(x==0) { r=y; r=0 } | v=1; v=2; v=3", false),
    // Two that take turns for ever; a third looks at them once.
    (
        "while(z==0) { await(x==0); x=1 } | while(z==0) { await(x==1); x=0 } | r=x; assert(r == 0)",
        true,
    ),
    (
        "while(z==0) { await(x==0); x=1 } | while(z==0) { await(x==1); x=0 } | r=x; assert(r <= 1)",
        false,
    ),
    // A lock that goes round.
    (
        "while(z==0) { acq(0); y=1; y=0; rel(0) } | acq(0); r=y; assert(r == 0); rel(0) | r=y; assert(r == 0)",
        true,
    ),
];
