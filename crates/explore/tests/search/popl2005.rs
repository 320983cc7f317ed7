//! Flanagan and Godefroid, *Dynamic Partial-Order Reduction for Model Checking Software* (POPL
//! 2005): the worked example of section 3, the indexer of Fig. 1 and the file system of Fig. 7.
//!
//! | paper                                     | here                                       |
//! |-------------------------------------------|--------------------------------------------|
//! | section 3, two processes on *x* and *y*   | [`the_worked_example_of_section_3`]        |
//! | Fig. 1, the indexer                       | [`indexer`]                                |
//! | Fig. 6: one execution up to 11 threads    | [`the_indexer_of_figure_1`]                |
//! | Fig. 7, the file system                   | [`filesystem`]                             |
//! | Fig. 8: one execution up to 13 threads    | [`the_file_system_of_figure_7`]            |
//!
//! Differs from the paper: its figures measure time, so the counts beyond one execution are those
//! of GenMC and Nidhugg. The locks of Fig. 7 are arrays; here the block that a thread tries is
//! written out for as many tries as it can need.

use crate::support::script;
use expect_test::{Expect, expect};
use mazurka_core::Verdict;
use mazurka_explore::{Ended, Explorer, Options, Reduction};
use mazurka_script::Script;
use std::sync::Mutex;

const DYNAMIC: [Reduction; 3] = [Reduction::Dpor, Reduction::Source, Reduction::Optimal];

/// How many executions a search takes to find that nothing is wrong.
fn n_executions(program: &Script, reduction: Reduction) -> u64 {
    let outcome = Explorer::new(Options::new().reduction(reduction)).run(|| program.clone());
    let outcome = outcome.expect("the search comes to an end");
    assert!(matches!(outcome.verdict, Verdict::Holds(_)), "{program}: {:?}", outcome.verdict);
    let statistics = outcome.statistics;
    assert_eq!(statistics.blocked_executions, 0, "{program}: {reduction}");
    statistics.executions
}

/// The executions in their order: the steps, and what *x* is in the end.
fn executions(program: &str, options: Options) -> String {
    let shown = Mutex::new(Vec::new());
    let watch = |ended: Ended<'_, Script>| {
        let x = ended.system.outcome()[0];
        shown
            .lock()
            .expect("the lock is not poisoned")
            .push(format!("{}: x is {x}", ended.schedule));
    };
    let program = script(program);
    Explorer::new(options).observe(&watch).run(|| program.clone()).expect("it is a program");
    shown.into_inner().expect("the lock is not poisoned").join("\n")
}

#[test]
fn the_worked_example_of_section_3() {
    // First x=1; x=2; y=1; x=3. Then the last two dependent steps the other way round, with y=1
    // before them; in that execution x=3 meets x=1, which gives the third.
    let check = |sleep, expect: Expect| {
        let options = Options::new().reduction(Reduction::Dpor).sleep(sleep);
        expect.assert_eq(&executions("x=1; x=2 | y=1; x=3", options));
    };
    check(
        true,
        expect![[r#"
        mzk1:0x2.1x2: x is 3
        mzk1:0.1x2.0: x is 2
        mzk1:1x2.0x2: x is 2"#]],
    );
    // Without sleep sets, Fig. 3 meets two of the three again, in other orders.
    check(
        false,
        expect![[r#"
        mzk1:0x2.1x2: x is 3
        mzk1:0.1x2.0: x is 2
        mzk1:0.1.0.1: x is 3
        mzk1:1x2.0x2: x is 2
        mzk1:1.0x2.1: x is 3
        mzk1:1.0.1.0: x is 2"#]],
    );
    for reduction in DYNAMIC {
        assert_eq!(n_executions(&script("x=1; x=2 | y=1; x=3"), reduction), 3, "{reduction}");
    }
}

/// Fig. 1: each thread enters `max` numbers of its own into a hash table of 128 places.
fn indexer(n_threads: usize, max: usize) -> Script {
    let thread = |tid: usize| {
        format!(
            "while r < {max} {{ \
                r=r+1; rw0=r*11+{tid}; rh0=rw0*7%128; rok0=cas(t[rh0],0,rw0); \
                while rok0 == 0 {{ rh0=(rh0+1)%128; rok0=cas(t[rh0],0,rw0) }} \
            }}"
        )
    };
    let threads: Vec<_> = (1..=n_threads).map(thread).collect();
    script(&format!("t[128] || {}", threads.join(" | ")))
}

#[test]
fn the_indexer_of_figure_1() {
    for reduction in Reduction::ALL {
        assert_eq!(n_executions(&indexer(1, 4), reduction), 1, "{reduction}");
    }
    for reduction in DYNAMIC {
        assert_eq!(n_executions(&indexer(2, 1), reduction), 1, "{reduction}");
        for n_threads in 1..=11 {
            assert_eq!(n_executions(&indexer(n_threads, 4), reduction), 1, "{reduction}");
        }
    }
    for n_threads in 12..=14 {
        let expected = 8u64.pow(n_threads - 11);
        let program = indexer(n_threads as usize, 4);
        assert_eq!(n_executions(&program, Reduction::Optimal), expected, "{n_threads} threads");
    }
}

/// Fig. 7: each thread gives its inode a block, if it has none yet. 26 blocks, 32 inodes.
fn filesystem(n_threads: usize) -> Script {
    const N_BLOCKS: usize = 26;
    const N_INODES: usize = 32;
    let thread = |tid: usize| {
        let inode = tid % N_INODES;
        // From the last try to the first; none comes to it.
        let mut tries = "assert(0 == 1)".to_owned();
        for attempt in (0..3).rev() {
            let block = (inode * 2 + attempt) % N_BLOCKS;
            let (lock, value) = (N_INODES + block, block + 1);
            tries = format!(
                "acq({lock}); if busy[{block}] == 0 {{ \
                    busy[{block}]=1; inode[{inode}]={value}; rel({lock}) \
                }} else {{ rel({lock}); {tries} }}"
            );
        }
        format!("acq({inode}); if inode[{inode}] == 0 {{ {tries} }}; rel({inode})")
    };
    let threads: Vec<_> = (1..=n_threads).map(thread).collect();
    script(&format!("inode[{N_INODES}], busy[{N_BLOCKS}] || {}", threads.join(" | ")))
}

#[test]
fn the_file_system_of_figure_7() {
    for reduction in DYNAMIC {
        for n_threads in [1, 2, 13] {
            assert_eq!(n_executions(&filesystem(n_threads), reduction), 1, "{reduction}");
        }
    }
    for n_threads in [14, 16, 18, 22] {
        let expected = 1 << (n_threads - 13);
        let program = filesystem(n_threads);
        assert_eq!(n_executions(&program, Reduction::Optimal), expected, "{n_threads} threads");
    }
}
