//! Orders by place: which atomic accesses and fences the program has, and another order for some of
//! them.
//!
//! Whether an order is needed, or a stronger one would help, is found out by a search in which one
//! place has another order than the program says. A place is where the program itself spells the
//! order: the innermost function on the stack that is not of the language's own atomics. Accesses
//! inside of libraries, of the standard library among them, have no place here and keep their
//! orders; so do atomics of more than 8 bytes, and those in code that was compiled without the
//! instrumentation.
//!
//! It takes a look at the stack for every access, so it is off unless it is asked for.

use crate::atomics::Orders;
use crate::machine;
use crate::names;
use mazurka_core::MemoryOrder;
use mazurka_protocol::{AtomicAccess, AtomicSite, OrderChange, is_at_most, of_load};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether anything is asked for.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// What is known of places, over all executions.
#[derive(Debug, Default)]
pub(crate) struct SiteOrders {
    changes: Vec<OrderChange>,
    /// By the addresses to return to: which of the sites an access is, if it is one.
    known: FxHashMap<(AtomicAccess, Vec<usize>), Option<usize>>,
    sites: Vec<AtomicSite>,
}

/// Has accesses at some places take other orders, and tells of all places if that is asked for.
pub(crate) fn begin(changes: &[OrderChange], is_told: bool) {
    machine::with(|machine| machine.site_orders.changes = changes.to_vec());
    IS_ON.store(is_told || !changes.is_empty(), Ordering::Relaxed);
}

/// The orders of an access that the running thread is about to make.
#[inline]
pub(crate) fn of_access(orders: Orders, access: AtomicAccess) -> Orders {
    match IS_ON.load(Ordering::Relaxed) {
        true => look_up(orders, access),
        false => orders,
    }
}

/// The order of a fence that the running thread has come to.
#[inline]
pub(crate) fn of_fence(order: MemoryOrder) -> MemoryOrder {
    match IS_ON.load(Ordering::Relaxed) {
        true => look_up(Orders { write: order, read: order }, AtomicAccess::Fence).write,
        false => order,
    }
}

#[cold]
fn look_up(orders: Orders, access: AtomicAccess) -> Orders {
    let key = (access, names::backtrace());
    machine::with(|machine| {
        let it = &mut machine.site_orders;
        let site = match it.known.get(&key) {
            Some(&site) => site,
            None => {
                let site = it.site(&key.1, access, orders);
                it.known.insert(key, site);
                site
            }
        };
        site.and_then(|site| it.change_of(site)).map_or(orders, |order| changed(orders, order))
    })
}

/// The sites that were met, in the order of the source.
pub(crate) fn all() -> Vec<AtomicSite> {
    let mut all = machine::with(|machine| machine.site_orders.sites.clone());
    all.sort();
    all
}

impl SiteOrders {
    /// The number of the site of an access, with this stack.
    fn site(&mut self, stack: &[usize], access: AtomicAccess, orders: Orders) -> Option<usize> {
        let place = names::atomic_site(stack)?;
        let order = if access == AtomicAccess::Load { orders.read } else { orders.write };
        let (file, line, column) = (place.file, place.line, place.column);
        let site = AtomicSite { file, line, column, access, order };
        let known = self.sites.iter().position(|it| *it == site);
        Some(known.unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        }))
    }

    fn change_of(&self, site: usize) -> Option<MemoryOrder> {
        let site = &self.sites[site];
        self.changes.iter().find(|change| change.is_of(site)).map(|change| change.order)
    }
}

/// The orders of an access that is to have another one: as a load, what is left of that.
fn changed(orders: Orders, order: MemoryOrder) -> Orders {
    let as_load = of_load(order);
    let read = match is_at_most(order, orders.write) {
        true => orders.read.min(as_load),
        false => orders.read.max(as_load),
    };
    Orders { write: order, read }
}
