//! Concurrent programs as one-line texts: the oracle's system, its generator and its shrinker.
//!
//! `x=5 || r=x; x=r+1 | acq(0); x=2; rel(0)` is a program of two threads. [`Script::parse`]
//! compiles it into a [`System`](mazurka_core::System) whose steps can be undone;
//! [`generate`](generate()) writes such programs from a seed, and [`shrink`](shrink()) makes one
//! that fails a test smaller.
//!
//! # The language
//!
//! Threads are separated by `|`, statements by `;`. A header that `||` ends declares what does
//! not begin as zero: `x=5, a[8]=1, sem(0)=2, chan(0)=1, bar(0)=2, plain(y)=3`. Locals are named
//! `r`, `r12` or `rx1` (an `r`, then digits or letters and digits), begin as zero and are a
//! thread's own; every other name is a shared variable. Locks, condition variables, semaphores,
//! barriers and channels are numbered, each kind apart.
//!
//! | statement                                 | operation                                     |
//! |-------------------------------------------|-----------------------------------------------|
//! | `r=x`, `x=e`                              | load, store                                   |
//! | `r=add(x,e)`, `r=swap(x,e)`               | read-modify-write                             |
//! | `r=cas(x,e,e)`                            | the same; a load where it would fail          |
//! | `add(x,e)`                                | addition, if `x` is not awaited               |
//! | `r=count(x,e,n)`                          | the same; `r` is whether `x` was `n`          |
//! | `await(x==e)`                             | await                                         |
//! | `await(x==e,e)`                           | the same, and writes in the same step         |
//! | `acq(n)`, `rel(n)`, `r=tryacq(n)`         | mutex                                         |
//! | `racq`, `rrel`, `wacq`, `wrel`, `tryracq`, `trywacq` | reader-writer lock                 |
//! | `wait(c,m)`, `notify(c)`, `notifyall(c)`  | condition variable                            |
//! | `sleep(c,x,e)`                            | sleeps on the condition variable if `x==e`, as a futex does |
//! | `r=twait(c,m)`, `r=tsleep(c,x,e)` | the same two, which may end at any moment: `r` is 1 if they did, and 0 if woken |
//! | `down(n)`, `up(n)`, `r=trydown(n)`        | semaphore                                     |
//! | `bar(n)`                                  | barrier: arrive, then leave                   |
//! | `send(n,e)`, `r=trysend(n,e)`, `r=recv(n)`, `r=tryrecv(n)` | channel                      |
//! | `spawn(k)`, `join(k)`                     | threads, by their place in the text           |
//! | `yield`, `r=choose(n)`                    | yield, choose                                 |
//! | `r=e`, `assert(e==e)`, `r=plain(x)`, `plain(x)=e` | none: part of the step before         |
//! | `if e==e {…} else {…}`, `while e==e {…}`  | none, or a load if the left side is shared    |
//!
//! Expressions are over numbers, locals and `tid`, with `+ - * %`; they wrap around, and the
//! remainder by zero is zero.

pub mod ast;
mod display;
pub mod generate;
mod parse;
mod random;
mod run;
mod script;
pub mod shrink;

pub use generate::{Shape, generate};
pub use parse::ScriptError;
pub use script::Script;
pub use shrink::shrink;
