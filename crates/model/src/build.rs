//! The builder of routines: one action behind the other.

use crate::{
    Access, Action, Branching, Callee, Edge, Expr, FrameObject, LayoutId, Location, LocationId,
    Place, Register, RegisterId, Routine, RoutineId, Span, Type,
};

/// A routine in the making. Actions are added where the last one ended.
#[derive(Debug)]
pub struct RoutineBuilder {
    routine: Routine,
    /// Where the next action begins.
    here: LocationId,
    span: Span,
}

impl RoutineBuilder {
    /// A routine that does nothing yet.
    pub fn new(name: &str) -> Self {
        let routine = Routine {
            name: name.to_owned(),
            registers: Vec::new(),
            n_parameters: 0,
            result: None,
            objects: Vec::new(),
            locations: vec![Location::default(), Location::default()],
            start: LocationId(0),
            end: LocationId(1),
            prologue: Vec::new(),
            provided: None,
            priority: 1,
            exclusive: Vec::new(),
            span: Span::NONE,
        };
        Self { routine, here: LocationId(0), span: Span::NONE }
    }

    /// What is added from now on stands here in the source.
    pub fn at(&mut self, span: Span) -> &mut Self {
        if !self.routine.span.is_known() {
            self.routine.span = span;
        }
        self.span = span;
        self
    }

    /// Says what the routine returns.
    pub fn returns(&mut self, ty: Type) -> &mut Self {
        self.routine.result = Some(ty);
        self
    }

    /// Adds a parameter: before all other registers.
    ///
    /// # Panics
    ///
    /// If there is a register already that is no parameter.
    pub fn parameter(&mut self, name: &str, ty: Type) -> RegisterId {
        assert_eq!(
            self.routine.n_parameters as usize,
            self.routine.registers.len(),
            "parameters come first"
        );
        self.routine.n_parameters += 1;
        self.register(name, ty)
    }

    /// Adds a register.
    pub fn register(&mut self, name: &str, ty: Type) -> RegisterId {
        let (name, span) = (name.to_owned(), self.span);
        self.routine.registers.push(Register { name, ty, is_channel: false, span });
        RegisterId(self.routine.registers.len() as u32 - 1)
    }

    /// Adds a local whose address is taken, and says where it is.
    pub fn frame_object(&mut self, name: &str, layout: LayoutId) -> Place {
        let object = FrameObject { name: name.to_owned(), layout, span: self.span };
        self.routine.objects.push(object);
        Place::frame(self.routine.objects.len() as u32 - 1)
    }

    /// What a register holds.
    pub fn get(&self, register: RegisterId) -> Expr {
        Expr::Register { register, ty: self.routine.registers[register.0 as usize].ty }
    }

    /// Where the next action begins.
    pub fn here(&self) -> LocationId {
        self.here
    }

    /// Where the routine ends.
    pub fn end(&self) -> LocationId {
        self.routine.end
    }

    /// A new location, to which nothing leads yet.
    pub fn location(&mut self) -> LocationId {
        self.routine.locations.push(Location::default());
        LocationId(self.routine.locations.len() as u32 - 1)
    }

    /// A location, to be named or labelled.
    pub fn location_mut(&mut self, id: LocationId) -> &mut Location {
        &mut self.routine.locations[id.0 as usize]
    }

    /// Goes on from a location.
    pub fn go_on_from(&mut self, location: LocationId) {
        self.here = location;
    }

    /// Adds an edge from `from`.
    pub fn edge(&mut self, from: LocationId, guard: Option<Expr>, action: Action, to: LocationId) {
        let edge = Edge { guard, ..Edge::new(action, to, self.span) };
        self.location_mut(from).edges.push(edge);
    }

    /// Adds an edge from `from` that is taken only if no other is possible.
    pub fn otherwise(&mut self, from: LocationId, action: Action, to: LocationId) {
        let edge = Edge { otherwise: true, ..Edge::new(action, to, self.span) };
        self.location_mut(from).edges.push(edge);
    }

    /// Lets any possible edge of `location` be taken, not the first.
    pub fn choice(&mut self, location: LocationId) {
        self.location_mut(location).branching = Branching::Choice;
    }

    /// Does something, and goes on behind it.
    pub fn then(&mut self, action: Action) {
        let to = self.location();
        self.edge(self.here, None, action, to);
        self.here = to;
    }

    /// Goes on at `to`; what is added next is reached by jumps only.
    pub fn jump(&mut self, to: LocationId) {
        self.edge(self.here, None, Action::Skip, to);
        self.here = self.location();
    }

    /// Parts the ways: here goes on where `condition` is true; the location is where it is false.
    pub fn branch(&mut self, condition: Expr) -> LocationId {
        let (then, otherwise) = (self.location(), self.location());
        self.edge(self.here, Some(condition), Action::Skip, then);
        self.edge(self.here, None, Action::Skip, otherwise);
        self.here = then;
        otherwise
    }

    /// Returns; what is added next is reached by jumps only.
    pub fn ret(&mut self, value: Option<Expr>) {
        self.edge(self.here, None, Action::Return { value }, self.routine.end);
        self.here = self.location();
    }

    /// `to = value`.
    pub fn assign(&mut self, to: RegisterId, value: Expr) {
        self.then(Action::Assign { to, value });
    }

    /// `to = *from`, as the register's type.
    pub fn load(&mut self, to: RegisterId, from: Place, access: Access) {
        let ty = self.routine.registers[to.0 as usize].ty;
        self.then(Action::Load { to, from, ty, access });
    }

    /// `*to = value`.
    pub fn store(&mut self, to: Place, value: Expr, access: Access) {
        self.then(Action::Store { to, value, access });
    }

    /// `to = routine(arguments)`.
    pub fn call(&mut self, routine: RoutineId, arguments: Vec<Expr>, to: Option<RegisterId>) {
        self.then(Action::Call { callee: Callee::Routine(routine), arguments, to });
    }

    /// The routine. It returns where the last action ended. Locations that nothing leads to are
    /// left out, so those that were handed out before have other numbers now.
    pub fn finish(mut self) -> Routine {
        self.ret(None);
        let reached = self.reached();
        let mut numbers = vec![None; reached.len()];
        let mut locations = Vec::new();
        for (idx, location) in std::mem::take(&mut self.routine.locations).into_iter().enumerate() {
            if reached[idx] {
                numbers[idx] = Some(LocationId(locations.len() as u32));
                locations.push(location);
            }
        }
        let renumber = |old: LocationId| numbers[old.0 as usize].expect("an edge leads there");
        for edge in locations.iter_mut().flat_map(|location| &mut location.edges) {
            edge.to = renumber(edge.to);
        }
        let (start, end) = (renumber(self.routine.start), renumber(self.routine.end));
        Routine { locations, start, end, ..self.routine }
    }

    /// Which locations can be reached; the end always counts.
    fn reached(&self) -> Vec<bool> {
        let mut reached = vec![false; self.routine.locations.len()];
        let mut to_visit = vec![self.routine.start, self.routine.end];
        while let Some(id) = to_visit.pop() {
            if !std::mem::replace(&mut reached[id.0 as usize], true) {
                to_visit.extend(self.routine.location(id).edges.iter().map(|edge| edge.to));
            }
        }
        reached
    }
}
