//! flume: calls of its channels that wait by blocking, which are single operations on what senders
//! and receivers share.
//!
//! A channel is a queue behind a mutex; a thread that has to wait parks. Where a program waits for
//! a channel in a future, or selects among several, all of them are explored: a wake is then code
//! of an executor. Whatever else looks at a channel (`len`, `drain`, `is_disconnected`) has the
//! same effect.

use super::Kind::{Select, SharedCall};
use super::{Kind, Library, Row};

const fn row(path: &'static str, kind: Kind) -> Row {
    Row { path, kind, library: Library::Flume }
}

pub(super) static ROWS: &[Row] = &[
    row("flume::Shared<T>::send_sync", SharedCall),
    row("flume::Shared<T>::recv_sync", SharedCall),
    row("flume::Shared<T>::disconnect_all", SharedCall),
    row("flume::*AsyncSignal::new", Select),
    row("<flume::*AsyncSignal as flume::signal::Signal>::fire", Select),
    row("<flume::select::SelectSignal as flume::signal::Signal>::fire", Select),
    row("flume::select::Selector<T>::new", Select),
];
