//! Accesses for which the source language does not promise sequential consistency: atomics with a
//! weaker order, and what is volatile and not atomic.
//!
//! An engine that searches sequentially consistent executions assumes that no more happens than in
//! those, and says which accesses that is about. A program without data races in which all atomics
//! are sequentially consistent has no others (ISO/IEC 14882:2020, 6.9.2.2, note 22).

use super::{Abstract, PointsTo};
use crate::{Access, Action, Base, Place, Program, RoutineId};
use mazurka_core::{Location, MemoryOrder, WeakAccess};

/// All of them, in the order of the source.
pub fn weak_accesses(program: &Program) -> Vec<WeakAccess> {
    let mut found = Vec::new();
    // Most programs have none, and need no analysis.
    let mut points_to = None;
    for (at, routine) in program.routines.iter().enumerate() {
        for edge in routine.locations.iter().flat_map(|location| &location.edges) {
            let Some((place, order)) = weak_access(&edge.action) else { continue };
            let points_to = points_to.get_or_insert_with(|| PointsTo::of(program));
            let routine_id = RoutineId(at as u32);
            if points_to.is_private(routine_id, place) {
                continue;
            }
            let file = program.files.get(edge.span.file.0 as usize);
            let location = file.filter(|_| edge.span.is_known()).map(|file| Location {
                file: file.clone(),
                line: edge.span.line,
                column: edge.span.column,
                function: Some(routine.name.clone()),
                within: None,
                is_library: false,
            });
            let object = name(program, points_to, routine_id, place);
            found.push(WeakAccess { object, order, location });
        }
    }
    found.sort_by(|one, other| (&one.location, one).cmp(&(&other.location, other)));
    found.dedup();
    found
}

/// What an action accesses weakly, and how: `None` for a volatile access.
fn weak_access(action: &Action) -> Option<(&Place, Option<MemoryOrder>)> {
    let (place, order) = match action {
        Action::Load { from: place, access, .. } | Action::Store { to: place, access, .. } => {
            match *access {
                Access::Atomic(order) => (place, order),
                Access::Volatile => return Some((place, None)),
                Access::Plain | Access::Private => return None,
            }
        }
        Action::Modify { on, order, .. } => (on, *order),
        Action::CompareExchange { on, order, failure, .. } => {
            (on, if order.is_weak() { *order } else { *failure })
        }
        _ => return None,
    };
    order.is_weak().then_some((place, Some(order)))
}

/// What people call the object that a place is in.
fn name(program: &Program, points_to: &PointsTo, routine: RoutineId, place: &Place) -> String {
    let of_object = |object| match object {
        Abstract::Object(object) => program.objects[object.0 as usize].name.clone(),
        Abstract::Frame(routine, local) => {
            program.routine(routine).objects[local as usize].name.clone()
        }
        Abstract::Block(_) => "allocated memory".to_owned(),
        Abstract::Routine(routine) => program.routine(routine).name.clone(),
    };
    match &place.base {
        Base::Object(object) => of_object(Abstract::Object(*object)),
        Base::Frame(local) => of_object(Abstract::Frame(routine, *local)),
        Base::Pointer(_) | Base::Channel(_) => {
            let mut names: Vec<String> =
                points_to.targets(routine, place).into_iter().map(of_object).collect();
            names.sort();
            names.dedup();
            match <[String; 1]>::try_from(names) {
                Ok([name]) => name,
                Err(_) => "memory".to_owned(),
            }
        }
    }
}
