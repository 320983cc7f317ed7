//! Points-to and escape analysis: which objects a pointer may point to, and which several threads
//! may access.
//!
//! Implements the inclusion-based analysis of Andersen, *Program Analysis and Specialization for
//! the C Programming Language* (1994), chapter 4.
//!
//! | thesis                              | here                                    |
//! |-------------------------------------|-----------------------------------------|
//! | abstract location                   | [`Abstract`]                            |
//! | `p = &x`, `p = q`, `p = *q`, `*p = q` | [`PointsTo::edge`]                    |
//! | the least solution                  | the last round of [`PointsTo::of`] changes nothing |
//!
//! Differs from the thesis: an object is one location, whatever its fields. Every number may carry
//! a pointer, since programs turn one into the other. Constraints are not kept as a graph: the
//! edges of the program are gone through until nothing changes.

use crate::{
    Action, Base, Callee, Edge, Expr, InitValue, Message, MessageField, ObjectIdx, Place, Program,
    RegisterId, Routine, RoutineId, Storage,
};

/// What a pointer may point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Abstract {
    /// An object of the program.
    Object(ObjectIdx),
    /// A local of a routine whose address is taken, in any of its frames.
    Frame(RoutineId, u32),
    /// Whatever one allocation makes: the number counts [`Action::Allocate`]s in their order.
    Block(u32),
    /// A routine.
    Routine(RoutineId),
}

/// The solution for a program.
#[derive(Clone, Debug)]
pub struct PointsTo {
    /// All there is to point to, in ascending order.
    objects: Vec<Abstract>,
    /// For each routine, its registers.
    registers: Vec<Vec<Set>>,
    /// What each object holds.
    contents: Vec<Set>,
    /// What each routine returns.
    returns: Vec<Set>,
    /// What threads leave to those who join them.
    results: Set,
    /// What threads are given when they are spawned.
    given: Set,
    is_shared: Vec<bool>,
    changed: bool,
}

/// A set of numbers of objects.
#[derive(Clone, Debug, Default, PartialEq)]
struct Set(Vec<u64>);

impl Set {
    fn insert(&mut self, number: usize) {
        if self.0.len() <= number / 64 {
            self.0.resize(number / 64 + 1, 0);
        }
        self.0[number / 64] |= 1 << (number % 64);
    }

    /// Adds all of another set; says whether that added anything.
    fn add(&mut self, other: &Self) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut changed = false;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            changed |= more & !*word != 0;
            *word |= more;
        }
        changed
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(idx, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| idx * 64 + bit)
        })
    }
}

impl PointsTo {
    /// Analyses a program.
    pub fn of(program: &Program) -> Self {
        let mut solution = Self::empty(program);
        for (idx, object) in program.objects.iter().enumerate() {
            for init in &object.init {
                let target = match init.value {
                    InitValue::Object(object, _) => Abstract::Object(object),
                    InitValue::Routine(routine) => Abstract::Routine(routine),
                    InitValue::Bytes(_) | InitValue::Bits(..) => continue,
                };
                let target = solution.number(target);
                solution.contents[idx].insert(target);
            }
        }
        solution.changed = true;
        while std::mem::take(&mut solution.changed) {
            let mut n_blocks = 0;
            for (idx, routine) in program.routines.iter().enumerate() {
                for (_, edge) in routine.edges() {
                    solution.edge(program, idx, edge, &mut n_blocks);
                }
            }
        }
        solution.share(program);
        solution
    }

    fn empty(program: &Program) -> Self {
        let statics = (0..program.objects.len()).map(|idx| Abstract::Object(ObjectIdx(idx as u32)));
        let frames = program.routines.iter().enumerate().flat_map(|(idx, routine)| {
            let id = RoutineId(idx as u32);
            (0..routine.objects.len()).map(move |number| Abstract::Frame(id, number as u32))
        });
        let n_blocks = program
            .routines
            .iter()
            .flat_map(Routine::edges)
            .filter(|(_, edge)| matches!(edge.action, Action::Allocate { .. }))
            .count();
        let blocks = (0..n_blocks).map(|number| Abstract::Block(number as u32));
        let routines =
            (0..program.routines.len()).map(|idx| Abstract::Routine(RoutineId(idx as u32)));
        let objects: Vec<Abstract> = statics.chain(frames).chain(blocks).chain(routines).collect();
        let n_objects = objects.len();
        Self {
            objects,
            registers: program
                .routines
                .iter()
                .map(|routine| vec![Set::default(); routine.registers.len()])
                .collect(),
            contents: vec![Set::default(); n_objects],
            returns: vec![Set::default(); program.routines.len()],
            results: Set::default(),
            given: Set::default(),
            is_shared: vec![false; n_objects],
            changed: false,
        }
    }

    /// What a place in a routine may be in.
    pub fn targets(&self, routine: RoutineId, place: &Place) -> Vec<Abstract> {
        self.place(routine.0 as usize, place).iter().map(|number| self.objects[number]).collect()
    }

    /// The routines that may be called.
    pub fn callees(&self, routine: RoutineId, callee: &Callee) -> Vec<RoutineId> {
        match callee {
            Callee::Routine(routine) => vec![*routine],
            Callee::Pointer(pointer) => {
                let targets = self.expr(routine.0 as usize, pointer);
                let routines = targets.iter().filter_map(|number| match self.objects[number] {
                    Abstract::Routine(routine) => Some(routine),
                    _ => None,
                });
                routines.collect()
            }
        }
    }

    /// Whether a second thread may come to an object; if not, only the one that made it can.
    pub fn is_shared(&self, object: Abstract) -> bool {
        self.is_shared[self.number(object)]
    }

    /// Whether a place can only be used by one thread.
    pub fn is_private(&self, routine: RoutineId, place: &Place) -> bool {
        let targets = self.place(routine.0 as usize, place);
        let mut targets = targets.iter().peekable();
        targets.peek().is_some() && targets.all(|number| !self.is_shared[number])
    }

    fn number(&self, object: Abstract) -> usize {
        self.objects.binary_search(&object).expect("all objects are numbered")
    }

    fn one(&self, object: Abstract) -> Set {
        let mut set = Set::default();
        set.insert(self.number(object));
        set
    }

    fn place(&self, routine: usize, place: &Place) -> Set {
        match &place.base {
            Base::Object(object) => self.one(Abstract::Object(*object)),
            Base::Frame(number) => self.one(Abstract::Frame(RoutineId(routine as u32), *number)),
            Base::Pointer(pointer) => self.expr(routine, pointer),
            Base::Channel(_) => Set::default(),
        }
    }

    /// What the value of an expression may point to.
    fn expr(&self, routine: usize, value: &Expr) -> Set {
        let mut set = Set::default();
        // What only decides between values, or where in an object one is, counts as well: that is
        // more than can be, and simple.
        value.visit(&mut |part| match part {
            Expr::Register { register, .. } => {
                set.add(&self.registers[routine][register.0 as usize]);
            }
            Expr::Routine(target) => set.insert(self.number(Abstract::Routine(*target))),
            Expr::Address(place) => {
                set.add(&self.place(routine, place));
            }
            Expr::Read { from, .. } => {
                for number in self.place(routine, from).iter() {
                    set.add(&self.contents[number]);
                }
            }
            Expr::Const { ty, bits } if *ty == crate::Type::Pointer => {
                let pointer = crate::Pointer::from_bits(*bits);
                if let Some(object) = pointer.static_object() {
                    set.insert(self.number(Abstract::Object(object)));
                }
                if let Some(target) = pointer.routine() {
                    set.insert(self.number(Abstract::Routine(target)));
                }
            }
            _ => {}
        });
        set
    }

    fn add_to_register(&mut self, routine: usize, register: RegisterId, set: &Set) {
        self.changed |= self.registers[routine][register.0 as usize].add(set);
    }

    fn add_to_place(&mut self, routine: usize, place: &Place, set: &Set) {
        for number in self.place(routine, place).iter() {
            self.changed |= self.contents[number].add(set);
        }
    }

    fn contents_of(&self, routine: usize, place: &Place) -> Set {
        let mut set = Set::default();
        for number in self.place(routine, place).iter() {
            set.add(&self.contents[number]);
        }
        set
    }

    fn edge(&mut self, program: &Program, routine: usize, edge: &Edge, n_blocks: &mut u32) {
        match &edge.action {
            Action::Assign { to, value } => {
                let set = self.expr(routine, value);
                self.add_to_register(routine, *to, &set);
            }
            Action::Load { to, from, .. } | Action::Await { to, from, .. } => {
                let set = self.contents_of(routine, from);
                self.add_to_register(routine, *to, &set);
            }
            Action::Store { to, value, .. } => {
                let set = self.expr(routine, value);
                self.add_to_place(routine, to, &set);
            }
            Action::Modify { old, on, value, .. } => {
                let set = self.contents_of(routine, on);
                old.iter().for_each(|old| self.add_to_register(routine, *old, &set));
                let set = self.expr(routine, value);
                self.add_to_place(routine, on, &set);
            }
            Action::CompareExchange { old, on, new, .. } => {
                let set = self.contents_of(routine, on);
                old.iter().for_each(|old| self.add_to_register(routine, *old, &set));
                let set = self.expr(routine, new);
                self.add_to_place(routine, on, &set);
            }
            Action::Copy { to, from, .. } => {
                let set = self.contents_of(routine, from);
                self.add_to_place(routine, to, &set);
            }
            Action::Allocate { to, .. } => {
                let set = self.one(Abstract::Block(*n_blocks));
                *n_blocks += 1;
                self.add_to_register(routine, *to, &set);
            }
            Action::Call { callee, arguments, to } => {
                for callee in self.callees(RoutineId(routine as u32), callee) {
                    self.pass(program, routine, callee, arguments);
                    let set = self.returns[callee.0 as usize].clone();
                    to.iter().for_each(|to| self.add_to_register(routine, *to, &set));
                }
            }
            Action::Spawn { routine: callee, arguments, .. } => {
                for argument in arguments {
                    let set = self.expr(routine, argument);
                    self.changed |= self.given.add(&set);
                }
                for callee in self.callees(RoutineId(routine as u32), callee) {
                    self.pass(program, routine, callee, arguments);
                    let set = self.returns[callee.0 as usize].clone();
                    self.changed |= self.results.add(&set);
                }
            }
            Action::Return { value: Some(value) } => {
                let set = self.expr(routine, value);
                self.changed |= self.returns[routine].add(&set);
            }
            Action::ExitProcess { value: Some(value) } => {
                let set = self.expr(routine, value);
                self.changed |= self.results.add(&set);
            }
            Action::Join { to: Some(to), .. } => {
                let set = self.results.clone();
                self.add_to_register(routine, *to, &set);
            }
            Action::Send(message) | Action::TrySend(message, _) => self.sent(routine, message),
            Action::Receive(message) | Action::TryReceive(message, _) => {
                self.received(routine, message);
            }
            _ => {}
        }
    }

    fn pass(&mut self, program: &Program, routine: usize, callee: RoutineId, arguments: &[Expr]) {
        let n_parameters = program.routine(callee).n_parameters as usize;
        for (idx, argument) in arguments.iter().take(n_parameters).enumerate() {
            let set = self.expr(routine, argument);
            self.add_to_register(callee.0 as usize, RegisterId(idx as u32), &set);
        }
    }

    fn sent(&mut self, routine: usize, message: &Message) {
        for field in &message.fields {
            if let MessageField::Value(value) = field {
                let set = self.expr(routine, value);
                self.add_to_place(routine, &message.channel, &set);
            }
        }
    }

    fn received(&mut self, routine: usize, message: &Message) {
        let set = self.contents_of(routine, &message.channel);
        for field in &message.fields {
            match field {
                MessageField::Register(to) => self.add_to_register(routine, *to, &set),
                MessageField::Place(to, _) => self.add_to_place(routine, to, &set),
                MessageField::Value(_) | MessageField::Ignore => {}
            }
        }
    }

    /// Finds what several threads may come to: shared objects, what threads pass to each other, and
    /// all that is reachable from there.
    fn share(&mut self, program: &Program) {
        let is_for_all = |object: &Abstract| match object {
            Abstract::Object(object) => {
                program.objects[object.0 as usize].storage != Storage::PerThread
            }
            _ => false,
        };
        let mut to_visit: Vec<usize> =
            (0..self.objects.len()).filter(|&number| is_for_all(&self.objects[number])).collect();
        to_visit.extend(self.given.iter());
        to_visit.extend(self.results.iter());
        while let Some(number) = to_visit.pop() {
            if !std::mem::replace(&mut self.is_shared[number], true) {
                to_visit.extend(self.contents[number].iter());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, Layout, RoutineBuilder, Type};

    #[test]
    fn a_block_is_shared_once_its_pointer_is() {
        let mut program = Program::new("");
        let layout = program.layout(Layout::Scalar(Type::Pointer));
        let global = Place::object(program.object("global", layout));
        let mut main = RoutineBuilder::new("main");
        let local = main.frame_object("local", layout);
        let [p, q, r] = ["p", "q", "r"].map(|name| main.register(name, Type::Pointer));
        let size = Expr::int(Type::U64, 8);
        for to in [p, q] {
            main.then(Action::Allocate { to, size: size.clone(), element: layout });
        }
        // The second block is in the first one, and the first one in the local: both private.
        main.store(Place::pointer(main.get(p)), main.get(q), Access::Plain);
        main.store(local.clone(), main.get(p), Access::Plain);
        main.load(r, local.clone(), Access::Plain);
        let routine = RoutineId(0);
        let through = Place::pointer(main.get(r));
        let mut shared = program.clone();
        let before = main.here();
        main.store(global, main.get(r), Access::Plain);
        let with_store = main.finish();
        let mut without_store = with_store.clone();
        without_store.locations[before.0 as usize].edges[0].action = Action::Skip;
        program.add_routine(without_store);
        shared.add_routine(with_store);

        let solution = PointsTo::of(&program);
        assert_eq!(solution.targets(routine, &through), [Abstract::Block(0)]);
        assert!(solution.is_private(routine, &through));
        assert!(solution.is_private(routine, &local));
        let solution = PointsTo::of(&shared);
        assert!(!solution.is_private(routine, &through));
        assert!(solution.is_shared(Abstract::Block(1)), "it is in a block that is shared");
        assert!(solution.is_private(routine, &local), "its own address went nowhere");
    }
}
