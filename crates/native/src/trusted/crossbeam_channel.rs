//! crossbeam-channel: calls of its three kinds of channels, which are single operations on `self`.
//!
//! The standard library's channels were made of these and have the same layout. There may be
//! several receivers here, each of which learns that a channel is closed, so all calls of one
//! channel are in one order. Where a program selects among channels, all of them are explored;
//! channels of time (`after`, `tick`) always are.

use super::Kind::{
    ArrayCall, ArrayClose, ArrayDiscard, ArrayReceive, ArraySend, Hidden, ListDiscard, ListDropAll,
    MessageCall, Select, ZeroCall,
};
use super::{Kind, Library, Row};

const fn row(path: &'static str, kind: Kind) -> Row {
    Row { path, kind, library: Library::CrossbeamChannel }
}

pub(super) static ROWS: &[Row] = &[
    row("crossbeam_channel::flavors::list::Channel<T>::send", ArrayCall),
    row("crossbeam_channel::flavors::list::Channel<T>::try_send", ArrayCall),
    row("crossbeam_channel::flavors::list::Channel<T>::recv", MessageCall),
    row("crossbeam_channel::flavors::list::Channel<T>::try_recv", ArrayCall),
    row("crossbeam_channel::flavors::list::Channel<T>::len", ArrayCall),
    row("crossbeam_channel::flavors::list::Channel<T>::is_empty", ArrayCall),
    row("crossbeam_channel::flavors::list::Channel<T>::disconnect_senders", ArrayCall),
    row("crossbeam_channel::flavors::list::Channel<T>::disconnect_receivers", ListDropAll),
    row("crossbeam_channel::flavors::list::Channel<T>::discard_all_messages", ListDiscard),
    row(
        "<crossbeam_channel::flavors::list::Channel<T> as core::ops::drop::Drop>::drop",
        ListDiscard,
    ),
    row("crossbeam_channel::flavors::array::Channel<T>::send", ArraySend),
    row("crossbeam_channel::flavors::array::Channel<T>::try_send", ArraySend),
    row("crossbeam_channel::flavors::array::Channel<T>::recv", ArrayReceive),
    row("crossbeam_channel::flavors::array::Channel<T>::try_recv", ArrayReceive),
    row("crossbeam_channel::flavors::array::Channel<T>::len", ArrayCall),
    row("crossbeam_channel::flavors::array::Channel<T>::is_empty", ArrayCall),
    row(
        "<crossbeam_channel::flavors::array::Channel<T> as core::ops::drop::Drop>::drop",
        ArrayDiscard,
    ),
    row("crossbeam_channel::flavors::array::Channel<T>::is_full", ArrayCall),
    row("crossbeam_channel::flavors::array::Channel<T>::disconnect", ArrayClose),
    row("crossbeam_channel::flavors::zero::Channel<T>::send", ZeroCall),
    row("crossbeam_channel::flavors::zero::Channel<T>::try_send", ZeroCall),
    row("crossbeam_channel::flavors::zero::Channel<T>::recv", ZeroCall),
    row("crossbeam_channel::flavors::zero::Channel<T>::try_recv", ZeroCall),
    row("crossbeam_channel::flavors::zero::Channel<T>::disconnect", ZeroCall),
    row("core::ptr::drop_in_place<crossbeam_channel::context::Context>", Hidden),
    row("crossbeam_channel::select::run_select", Select),
    row("crossbeam_channel::select::run_ready", Select),
];
