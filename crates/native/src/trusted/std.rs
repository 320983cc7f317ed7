//! Rust's standard library: which of its functions are single operations, and which steps of it
//! never matter.
//!
//! Paths are as `rustc` writes them, without type arguments of precompiled code and without the
//! hash of a symbol. A function that is not listed is explored, and one that is listed and was
//! inlined is, too.
//!
//! To add a row: the path, its [`Kind`], which says what the operation is, where the object comes
//! from, and what is released and acquired; and a program in `cli/tests/cli/rust_trust` that is
//! explored with and without the list.

use super::Kind::{
    ArrayClose, ArrayDiscard, ArrayDrop, ArrayReceive, ArraySend, BarrierWait, Downgrade, Hidden,
    HiddenOfChannels, IsFinished, ListClose, ListDiscard, ListDrop, ListReceive, ListSend,
    ListTryReceive, Once, OnceCall, OnceWait, Open, OpenResult, Park, ParkTimeout, Read,
    ReadUnlock, Scope, ScopedSpawn, ThreadStart, TryRead, TryWrite, Unpark, Write, WriteUnlock,
    ZeroCall,
};
use super::{Kind, Library, Row};

const fn row(path: &'static str, kind: Kind) -> Row {
    Row { path, kind, library: Library::Std }
}

/// All of them.
pub(super) static ROWS: &[Row] = &[
    // To be done once. The word that the first look is at is the object.
    row("std::sync::once::Once::call_once", Once),
    row("std::sync::once::Once::call_once_force", Once),
    row("std::sync::once_lock::OnceLock<T>::get_or_init", Once),
    row("std::sync::once_lock::OnceLock<T>::get_or_try_init", Once),
    row("std::sync::once_lock::OnceLock<T>::initialize", Once),
    row("<std::sync::lazy_lock::LazyLock<T,F> as core::ops::deref::Deref>::deref", Once),
    row("std::sync::lazy_lock::LazyLock<T,F>::force", Once),
    row("<std::sys::sync::once::futex::Once>::call", OnceCall),
    row("<std::sys::sync::once::futex::Once>::wait", OnceWait),
    row("std::sync::once::Once::call_once::{{closure}}", Open),
    row("std::sync::once::Once::call_once_force::{{closure}}", Open),
    // The same closures of the library's own, which comes compiled.
    row("<std::sync::once::Once>::call_once*::{closure#0}", Open),
    row("<<std::sync::once::Once>::call_once*::{shim:vtable#0}", Open),
    // Locks for readers and writers. The guard's first read-modify-write is of the lock's word.
    row("std::sync::poison::rwlock::RwLock<T>::read", Read),
    row("std::sync::poison::rwlock::RwLock<T>::write", Write),
    row("std::sync::poison::rwlock::RwLock<T>::try_read", TryRead),
    row("std::sync::poison::rwlock::RwLock<T>::try_write", TryWrite),
    row(
        "<std::sync::poison::rwlock::RwLockReadGuard<T> as core::ops::drop::Drop>::drop",
        ReadUnlock,
    ),
    row(
        "<std::sync::poison::rwlock::RwLockWriteGuard<T> as core::ops::drop::Drop>::drop",
        WriteUnlock,
    ),
    row("std::sync::poison::rwlock::RwLockWriteGuard<T>::downgrade", Downgrade),
    // A token for each thread. The first read-modify-write of four bytes is of it.
    row("std::thread::functions::park", Park),
    row("std::thread::functions::park_timeout", ParkTimeout),
    row("<std::thread::thread::Thread>::park", Park),
    row("std::thread::thread::Thread::unpark", Unpark),
    row("<std::thread::thread::Thread>::unpark", Unpark),
    // Barriers: the object is the first argument.
    row("<std::sync::barrier::Barrier>::wait", BarrierWait),
    // Channels, by their three kinds: the object is `self`.
    row("std::sync::mpmc::list::Channel<T>::send", ListSend),
    row("std::sync::mpmc::list::Channel<T>::recv", ListReceive),
    row("std::sync::mpmc::list::Channel<T>::try_recv", ListTryReceive),
    row("std::sync::mpmc::list::Channel<T>::disconnect_senders", ListClose),
    row("std::sync::mpmc::list::Channel<T>::disconnect_receivers", ListDrop),
    row("std::sync::mpmc::list::Channel<T>::discard_all_messages", ListDiscard),
    row("<std::sync::mpmc::list::Channel<T> as core::ops::drop::Drop>::drop", ListDiscard),
    row("std::sync::mpmc::array::Channel<T>::send", ArraySend),
    row("std::sync::mpmc::array::Channel<T>::recv", ArrayReceive),
    row("std::sync::mpmc::array::Channel<T>::try_send", ArraySend),
    row("std::sync::mpmc::array::Channel<T>::try_recv", ArrayReceive),
    row("std::sync::mpmc::array::Channel<T>::disconnect_senders", ArrayClose),
    row("std::sync::mpmc::array::Channel<T>::disconnect_receivers", ArrayDrop),
    row("std::sync::mpmc::array::Channel<T>::discard_all_messages", ArrayDiscard),
    row("<std::sync::mpmc::array::Channel<T> as core::ops::drop::Drop>::drop", ArrayDiscard),
    row("std::sync::mpmc::zero::Channel<T>::send", ZeroCall),
    row("std::sync::mpmc::zero::Channel<T>::recv", ZeroCall),
    row("std::sync::mpmc::zero::Channel<T>::try_send", ZeroCall),
    row("std::sync::mpmc::zero::Channel<T>::try_recv", ZeroCall),
    row("std::sync::mpmc::zero::Channel<T>::disconnect", ZeroCall),
    // Threads: numbers, names and results of threads, whose counts no program can tell apart.
    row("std::thread::scoped::scope", Scope),
    row("std::thread::scoped::scope::{{closure}}", Open),
    row("<std::thread::scoped::ScopeData>::increment_num_running_threads", ScopedSpawn),
    row("<std::sys::thread::unix::Thread>::new::thread_start", ThreadStart),
    row("std::sys::backtrace::__rust_begin_short_backtrace", Open),
    row(
        "<std::thread::lifecycle::Packet<T> as core::ops::drop::Drop>::drop::{{closure}}",
        OpenResult,
    ),
    row("core::ptr::drop_in_place<std::sync::mpmc::context::Context>", HiddenOfChannels),
    row("std::thread::functions::spawn", Hidden),
    row("std::thread::builder::Builder::spawn_unchecked", Hidden),
    row("std::thread::lifecycle::spawn_unchecked", Hidden),
    row("std::thread::scoped::Scope::spawn", Hidden),
    row("std::thread::scoped::<impl std::thread::builder::Builder>::spawn_scoped", Hidden),
    row("std::thread::lifecycle::JoinInner<T>::join", Hidden),
    row("std::thread::current::current", Hidden),
    row("std::thread::current::current_or_unnamed", Hidden),
    row("std::thread::current::init_current", Hidden),
    row("<std::thread::id::ThreadId>::new", Hidden),
    row("std::thread::join_handle::JoinHandle<T>::is_finished", IsFinished),
    row("std::thread::scoped::ScopedJoinHandle<T>::is_finished", IsFinished),
];
