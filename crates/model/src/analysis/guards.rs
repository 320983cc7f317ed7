//! Lock sets: which mutexes are held at each location, and which objects are used only under a
//! mutex.
//!
//! A location has the mutexes that are held on all paths to it, as far as they are objects of the
//! program: by name, or elements of an array by an index that has not changed since. An object is
//! guarded by a mutex if every use of it in the program is under that mutex, or each element under
//! the mutex of the same index in another array.

use super::PointsTo;
use super::points_to::Abstract;
use crate::{
    Action, Base, Binary, Callee, Edge, Expr, Layout, LocationId, ObjectIdx, Place, Program,
    RoutineId, Storage,
};

/// What guards an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// One mutex: this element of an object.
    Fixed(ObjectIdx, u32),
    /// For each element, the mutex of the same index in this object.
    SameIndex(ObjectIdx),
}

/// The locks of a program, and what they guard.
#[derive(Clone, Debug)]
pub struct Guards {
    objects: Vec<Option<Guard>>,
    /// For each routine and each of its locations, what is held there.
    held: Vec<Vec<Option<Vec<Held>>>>,
}

/// A mutex that is held: which element of which object.
#[derive(Clone, Debug, PartialEq)]
struct Held {
    object: ObjectIdx,
    index: Index,
}

#[derive(Clone, Debug, PartialEq)]
enum Index {
    Number(u32),
    Value(Expr),
}

impl Guards {
    /// Analyses a program.
    pub fn of(program: &Program, points_to: &PointsTo) -> Self {
        let releases = routines_that_release(program, points_to);
        let held = (0..program.routines.len())
            .map(|idx| held_in(program, points_to, &releases, RoutineId(idx as u32)))
            .collect();
        let mut guards = Self { objects: vec![None; program.objects.len()], held };
        guards.objects = (0..program.objects.len())
            .map(|idx| guards.guard_of(program, points_to, ObjectIdx(idx as u32)))
            .collect();
        guards
    }

    /// What guards an object, if anything does. Then no thread uses it without holding that.
    pub fn guard(&self, object: ObjectIdx) -> Option<Guard> {
        self.objects[object.0 as usize]
    }

    /// The mutexes that are surely held at a location, as elements of objects; those whose index is
    /// not a constant are left out.
    pub fn held_at(&self, routine: RoutineId, location: LocationId) -> Vec<(ObjectIdx, u32)> {
        let held = &self.held[routine.0 as usize][location.0 as usize];
        let numbers = held.iter().flatten().filter_map(|held| match held.index {
            Index::Number(number) => Some((held.object, number)),
            Index::Value(_) => None,
        });
        numbers.collect()
    }

    fn guard_of(
        &self,
        program: &Program,
        points_to: &PointsTo,
        object: ObjectIdx,
    ) -> Option<Guard> {
        if program.objects[object.0 as usize].storage != Storage::Shared {
            return None;
        }
        let mut candidates: Option<Vec<Guard>> = None;
        for (idx, routine) in program.routines.iter().enumerate() {
            let id = RoutineId(idx as u32);
            for (from, edge) in routine.edges() {
                for place in uses(&edge.action) {
                    if !points_to.targets(id, place).contains(&Abstract::Object(object)) {
                        continue;
                    }
                    // A location that is never reached has no uses.
                    let Some(held) = &self.held[idx][from.0 as usize] else { continue };
                    let here = under(program, place, held);
                    candidates = Some(match candidates {
                        Some(before) => before.into_iter().filter(|g| here.contains(g)).collect(),
                        None => here,
                    });
                }
            }
        }
        candidates?.first().copied()
    }
}

/// The guards that a use of a place has, with these mutexes held.
fn under(program: &Program, place: &Place, held: &[Held]) -> Vec<Guard> {
    let own = element(program, place);
    let guards = held.iter().flat_map(|held| {
        let same = own.as_ref().is_some_and(|own| own.index == held.index);
        let fixed = match held.index {
            Index::Number(number) => Some(Guard::Fixed(held.object, number)),
            Index::Value(_) => None,
        };
        same.then_some(Guard::SameIndex(held.object)).into_iter().chain(fixed)
    });
    guards.collect()
}

/// The places of an action that it reads or writes as memory. Of a mutex, none.
fn uses(action: &Action) -> Vec<&Place> {
    match action {
        Action::Load { from, .. } | Action::Await { from, .. } => vec![from],
        Action::Store { to, .. } | Action::Fill { to, .. } => vec![to],
        Action::Modify { on, .. } | Action::CompareExchange { on, .. } => vec![on],
        Action::Copy { to, from, .. } => vec![to, from],
        _ => Vec::new(),
    }
}

/// Which element of which object a place is; none if that cannot be said.
fn element(program: &Program, place: &Place) -> Option<Held> {
    let Base::Object(object) = place.base else { return None };
    let layout = program.objects[object.0 as usize].layout;
    let size = match program.layouts[layout.0 as usize] {
        Layout::Array { element, .. } => program.size_of(element),
        _ => program.size_of(layout),
    };
    let index = match &place.offset {
        Expr::Const { bits, .. } => Index::Number((*bits / u64::from(size.max(1))) as u32),
        Expr::Binary(Binary::Multiply, index, scale)
            if scale.as_const() == Some(u64::from(size)) && !index.reads_memory() =>
        {
            Index::Value((**index).clone())
        }
        _ => return None,
    };
    Some(Held { object, index })
}

/// Which routines may give back a mutex, themselves or in what they call.
fn routines_that_release(program: &Program, points_to: &PointsTo) -> Vec<bool> {
    let mut releases = vec![false; program.routines.len()];
    loop {
        let mut changed = false;
        for (idx, routine) in program.routines.iter().enumerate() {
            let does = routine.edges().any(|(_, edge)| match &edge.action {
                Action::Unlock { .. } | Action::MutexInit { .. } => true,
                Action::Call { callee, .. } => {
                    let callees = points_to.callees(RoutineId(idx as u32), callee);
                    callees.iter().any(|callee| releases[callee.0 as usize])
                }
                _ => false,
            });
            changed |= does && !releases[idx];
            releases[idx] |= does;
        }
        if !changed {
            return releases;
        }
    }
}

/// What is held at each location of a routine; none where nothing leads to.
fn held_in(
    program: &Program,
    points_to: &PointsTo,
    releases: &[bool],
    id: RoutineId,
) -> Vec<Option<Vec<Held>>> {
    let routine = program.routine(id);
    let mut held: Vec<Option<Vec<Held>>> = vec![None; routine.locations.len()];
    held[routine.start.0 as usize] = Some(Vec::new());
    let mut to_visit = vec![routine.start];
    while let Some(from) = to_visit.pop() {
        let before = held[from.0 as usize].clone().expect("something leads there");
        for edge in &routine.location(from).edges {
            let after = after(program, points_to, releases, id, edge, before.clone());
            let target = &mut held[edge.to.0 as usize];
            let merged = match target {
                Some(known) => known.iter().filter(|held| after.contains(held)).cloned().collect(),
                None => after,
            };
            if target.as_ref() != Some(&merged) {
                *target = Some(merged);
                to_visit.push(edge.to);
            }
        }
    }
    held
}

/// What is held after an edge.
fn after(
    program: &Program,
    points_to: &PointsTo,
    releases: &[bool],
    id: RoutineId,
    edge: &Edge,
    mut held: Vec<Held>,
) -> Vec<Held> {
    match &edge.action {
        Action::Unlock { mutex, .. } | Action::MutexInit { mutex, .. } => {
            let targets = points_to.targets(id, mutex);
            let own = element(program, mutex);
            held.retain(|held| {
                let is_other = match (&own, &held.index) {
                    (Some(Held { index: Index::Number(a), .. }), Index::Number(b)) => a != b,
                    _ => false,
                };
                is_other || !targets.contains(&Abstract::Object(held.object))
            });
        }
        Action::Call { callee, .. } => {
            let callees = points_to.callees(id, callee);
            let is_unknown = callees.is_empty() && matches!(callee, Callee::Pointer(_));
            if is_unknown || callees.iter().any(|callee| releases[callee.0 as usize]) {
                held.clear();
            }
        }
        _ => {}
    }
    if let Action::Lock { mutex, .. } = &edge.action
        && let Some(taken) = element(program, mutex)
        && !held.contains(&taken)
    {
        held.push(taken);
    }
    // An index that changes is another one.
    let targets = edge.action.targets();
    held.retain(|held| match &held.index {
        Index::Number(_) => true,
        Index::Value(value) => {
            let mut is_changed = false;
            value.visit(&mut |part| {
                if let Expr::Register { register, .. } = part {
                    is_changed |= targets.contains(register);
                }
            });
            !is_changed
        }
    });
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, RoutineBuilder, Sync, Type};

    /// A routine that uses `array[i]` under `locks[i]`, and perhaps changes `i` in between.
    fn program(changes_index: bool, unlocks_first: bool) -> Program {
        let mut program = Program::new("");
        let array = program.array(Type::I32, 4);
        let array = Place::object(program.object("array", array));
        let element = program.sync(Sync::Mutex);
        let locks = program.layout(Layout::Array { element, count: 4 });
        let locks = Place::object(program.object("locks", locks));
        let mut routine = RoutineBuilder::new("");
        let i = routine.parameter("i", Type::I32);
        let mutex = locks.element(routine.get(i), 4);
        routine.then(Action::Lock { mutex: mutex.clone(), to: None });
        if unlocks_first {
            routine.then(Action::Unlock { mutex: mutex.clone(), to: None });
        }
        if changes_index {
            routine.assign(i, Expr::int(Type::I32, 0));
        }
        let place = array.element(routine.get(i), 4);
        routine.store(place, Expr::int(Type::I32, 1), Access::Plain);
        routine.then(Action::Unlock { mutex, to: None });
        program.add_routine(routine.finish());
        program
    }

    #[test]
    fn elements_are_guarded_by_the_mutex_of_the_same_index() {
        let guard =
            |program: &Program| Guards::of(program, &PointsTo::of(program)).guard(ObjectIdx(0));
        assert_eq!(guard(&program(false, false)), Some(Guard::SameIndex(ObjectIdx(1))));
        assert_eq!(guard(&program(true, false)), None);
        assert_eq!(guard(&program(false, true)), None);
    }

    #[test]
    fn one_mutex_guards_all_that_is_used_under_it() {
        let mut program = Program::new("");
        let layout = program.scalar(Type::I32);
        let x = Place::object(program.object("x", layout));
        let layout = program.sync(Sync::Mutex);
        let mutex = Place::object(program.object("mutex", layout));
        let mut routine = RoutineBuilder::new("");
        routine.then(Action::Lock { mutex: mutex.clone(), to: None });
        let here = routine.here();
        routine.store(x.clone(), Expr::int(Type::I32, 1), Access::Plain);
        routine.then(Action::Unlock { mutex, to: None });
        let mut bare = RoutineBuilder::new("");
        bare.store(x, Expr::int(Type::I32, 2), Access::Plain);
        let id = program.add_routine(routine.finish());
        let guards = Guards::of(&program, &PointsTo::of(&program));
        assert_eq!(guards.guard(ObjectIdx(0)), Some(Guard::SameIndex(ObjectIdx(1))));
        assert_eq!(guards.held_at(id, here), [(ObjectIdx(1), 0)]);
        program.add_routine(bare.finish());
        let guards = Guards::of(&program, &PointsTo::of(&program));
        assert_eq!(guards.guard(ObjectIdx(0)), None);
    }
}
