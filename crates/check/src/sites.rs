//! The atomic accesses of a model, and other orders for some of them.

use mazurka_core::MemoryOrder;
use mazurka_model::{Access, Action, Edge, Program};
use mazurka_protocol::{AtomicAccess, AtomicSite, OrderChange, is_at_most, of_load};

/// All places with an atomic access or a fence, in the order of the source.
pub(crate) fn sites_of(program: &Program) -> Vec<AtomicSite> {
    let routines = program.routines.iter().flat_map(|routine| &routine.locations);
    let edges = routines.flat_map(|location| &location.edges);
    let mut all: Vec<_> = edges.filter_map(|edge| site(edge, &program.files)).collect();
    all.sort();
    all.dedup();
    all
}

/// Gives some places another order.
pub(crate) fn change(program: &mut Program, changes: &[OrderChange]) {
    if changes.is_empty() {
        return;
    }
    let Program { files, routines, .. } = program;
    let locations = routines.iter_mut().flat_map(|routine| &mut routine.locations);
    for edge in locations.flat_map(|location| &mut location.edges) {
        let Some(site) = site(edge, files) else { continue };
        let Some(change) = changes.iter().find(|change| change.is_of(&site)) else { continue };
        set_order(&mut edge.action, change.order);
    }
}

fn site(edge: &Edge, files: &[String]) -> Option<AtomicSite> {
    let (access, order) = match &edge.action {
        Action::Load { access: Access::Atomic(order), .. } => (AtomicAccess::Load, *order),
        Action::Store { access: Access::Atomic(order), .. } => (AtomicAccess::Store, *order),
        Action::Modify { order, .. } | Action::CompareExchange { order, .. } => {
            (AtomicAccess::Update, *order)
        }
        Action::Fence(order) => (AtomicAccess::Fence, *order),
        _ => return None,
    };
    let file = files.get(edge.span.file.0 as usize).filter(|_| edge.span.is_known())?;
    let (line, column) = (edge.span.line, edge.span.column);
    Some(AtomicSite { file: file.clone(), line, column, access, order })
}

fn set_order(action: &mut Action, new: MemoryOrder) {
    match action {
        Action::Load { access: Access::Atomic(order), .. }
        | Action::Store { access: Access::Atomic(order), .. }
        | Action::Modify { order, .. }
        | Action::Fence(order) => *order = new,
        Action::CompareExchange { order, failure, .. } => {
            let as_load = of_load(new);
            *failure = match is_at_most(new, *order) {
                true => (*failure).min(as_load),
                false => (*failure).max(as_load),
            };
            *order = new;
        }
        _ => {}
    }
}
