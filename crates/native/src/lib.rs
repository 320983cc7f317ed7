//! Runs an unmodified program natively, one thread at a time, under the explorer.
//!
//! The program is compiled with the thread sanitizer's *instrumentation* and linked against this
//! shared library instead of the sanitizer's runtime. The library wraps `main`: with
//! `MAZURKA_REPORT` set, every schedule of the program is explored and the verdict written there,
//! as the crate `mazurka-protocol` has it; without it, the program runs as ever. It is for the
//! command `mazurka`, which carries the library with it; no Rust program uses it as a dependency.
//!
//! What a thread does to shared objects comes in through the callbacks of the instrumentation
//! (`callbacks`, `atomics`) and through replaced functions of the C library (`pthread`, `futex`,
//! `syscall`, `process`, `io`).
//! Threads are coroutines on one OS thread (`coroutine`) with thread-local storage of their own
//! (`tls`); a new execution begins by putting memory back (`memory`, `heap`). `machine` knows what
//! each `thread` would do next, and is the `system` that the explorer drives.
//!
//! Liberties, each of them also said where it is taken:
//!
//! - Under `--memory sc`, memory is sequentially consistent, whatever order an atomic operation
//!   asks for. Under the other models, so are accesses that cannot be told what to read
//!   (`weak_memory`).
//! - `volatile` accesses are scheduling points, like relaxed atomics: they order nothing, and are
//!   data races with plain accesses, not with each other.
//! - Under `--time any`, a timed wait may time out at any moment, but not again and again: see
//!   `timed`. Under `--time virtual`, time passes when no thread can move: see `clock`.
//! - When the program exits while threads run, these may still go on, as if the exit took its
//!   time: that shows every state which some part of their steps leads to (`exit` says why that is
//!   right). Who waits by then has ended.
//! - A loop that changes nothing is gone round once (`spin`).
//! - What the C library keeps for itself is not put back, but for what `library` keeps in its
//!   place.

#![expect(unsafe_code, reason = "this is where the coroutines and the program's memory live")]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod after_write;
mod aliases;
mod allocator;
mod assembly;
mod atomics;
mod attempts;
mod awaits;
mod before_wait;
mod block_types;
mod callbacks;
mod cancel;
mod checkpoint;
mod clock;
mod constructors;
mod coroutine;
mod counted_waits;
mod cxx;
mod dead_slots;
mod disciplines;
mod emulate;
mod exit;
mod fingerprint;
mod futex;
mod futex_wake_op;
mod globals;
mod heap;
mod helpers;
mod image;
mod invalid;
mod io;
mod keep;
mod learnt;
mod library;
mod lifecycle;
mod lines;
mod liveness;
mod locals;
mod machine;
mod mapping;
mod meetings;
mod memory;
mod named;
mod names;
mod numbers;
mod objects;
mod operators;
mod plain_accesses;
mod plain_values;
mod pointers;
mod precompiled;
mod process;
mod process_barrier;
mod pthread;
mod reads_in_vain;
mod real;
mod report;
mod requeue;
mod reread;
mod results;
mod robust;
mod rust_assembly;
mod rust_mutex;
mod rust_runtime;
mod rwlock;
mod scalars;
mod shadow;
mod shapes;
mod shared_bytes;
mod signals;
mod site_orders;
mod sites;
mod source;
mod spin;
mod start;
mod std_locks;
mod syscall;
mod system;
mod thread;
mod time;
mod timed;
mod tls;
mod trusted;
mod try_join;
mod unwind;
mod wake_choices;
mod weak_accesses;
mod weak_memory;
mod wide_atomics;
