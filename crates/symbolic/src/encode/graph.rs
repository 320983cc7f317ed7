//! Inlining: a thread as one graph, with calls written out where they stand, and its stops.
//!
//! Implements the control of section 4.1 of Kahlon, Gupta and Sinha, *Symbolic Model Checking of
//! Concurrent Programs Using Partial Orders and On-the-Fly Transactions* (CAV 2006).
//!
//! | paper                                    | here                                          |
//! |------------------------------------------|-----------------------------------------------|
//! | basic blocks, numbered by the latches pc | [`Stop`]s: a place before a visible action    |
//! | functions inlined, call-site return      | [`Context`]: one for each way to call it      |
//! | recursion by a bounded call stack        | contexts of the same routine, up to a limit   |
//! | loops as they are                        | [`StopKind::Head`], where no visible action cuts a loop |
//!
//! Differs: a function is written out for every call, not once with a number to return by, so that
//! its registers are constant where its arguments are; and so is a loop whose counter is known
//! ([`station`](super::station)). A step goes from one visible action to the next
//! and is no basic block: the graph between two stops has no cycle, and is walked as a whole.

use super::{Bounds, Refusal};
use crate::depth_first::DepthFirst;
use mazurka_model::analysis::PointsTo;
use mazurka_model::{
    Access, Action, Callee, Edge, Expr, LocationId, Program, RegisterId, RoutineId, Span,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// One thread that there can be.
#[derive(Debug)]
pub(crate) struct Thread {
    /// Who starts it, after how many others; none for those that are there from the beginning.
    pub(crate) parent: Option<(usize, u32)>,
    /// What it may run, with the context of each.
    pub(crate) roots: Vec<(RoutineId, ContextId)>,
    pub(crate) contexts: Vec<Context>,
    /// How many registers all contexts have.
    pub(crate) n_registers: usize,
    /// Where it can be between two actions, in an order in which all invisible ways go on, but for
    /// those into heads.
    points: Vec<Point>,
    numbers: FxHashMap<Point, usize>,
    /// The numbers of all points in an order in which as many ways as possible go on, visible or
    /// not, and the places of points in it.
    passing: Vec<usize>,
    passing_ranks: Vec<usize>,
    pub(crate) stops: Vec<Stop>,
    stop_numbers: FxHashMap<StopKind, StopId>,
    calls: FxHashMap<(ContextId, LocationId, usize, RoutineId), ContextId>,
    /// For each point, after how many threads started it can be reached: bit `k` for `k`.
    n_started: Vec<u64>,
}

/// A routine in a thread, by how it was called.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) routine: RoutineId,
    /// Where it goes back to; nowhere for what the thread begins with.
    pub(crate) caller: Option<Caller>,
    /// The number of its first register among those of the thread.
    pub(crate) first_register: usize,
}

/// Who called a routine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) context: ContextId,
    /// The call: an edge of a location of the caller.
    call: (LocationId, usize),
    /// Where the caller goes on.
    pub(crate) to: LocationId,
    /// What gets the result.
    pub(crate) result: Option<RegisterId>,
}

/// A context of a thread, by its number.
pub(crate) type ContextId = usize;

/// A stop of a thread, by its number: the value of its program counter.
pub(crate) type StopId = usize;

/// Where a thread is: a location in a context, within so many atomic blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Point {
    pub(crate) context: ContextId,
    pub(crate) location: LocationId,
    pub(crate) n_atomic: u32,
}

/// Where a thread can stand between two steps.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) kind: StopKind,
    /// The registers whose values matter here.
    pub(crate) live: BTreeSet<usize>,
}

/// Why a thread stands somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum StopKind {
    /// No thread has started it.
    Unborn,
    /// It has ended.
    Ended,
    /// It is not to go on: an assumption does not hold, or a bound was reached.
    Stuck,
    /// It was started, and runs this one of its roots.
    Begin(usize),
    /// A loop in which nothing is visible begins here.
    Head(Point),
    /// Before this edge, whose action is visible. Some actions are two steps, of which this is the
    /// second if `is_second`.
    Edge { point: Point, edge: usize, is_second: bool },
}

pub(crate) const UNBORN: StopId = 0;
pub(crate) const ENDED: StopId = 1;
pub(crate) const STUCK: StopId = 2;

/// What is known of a program before it is encoded.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) program: &'a Program,
    pub(crate) points_to: &'a PointsTo,
    pub(crate) bounds: &'a Bounds,
    /// The registers that matter wherever their routine is being run.
    pub(crate) watched: &'a [(RoutineId, RegisterId)],
}

/// All threads of a program.
pub(crate) fn threads(known: &Known<'_>) -> Result<Vec<Thread>, Vec<Refusal>> {
    let program = known.program;
    let mut threads: Vec<Thread> = Vec::new();
    let mut refusals = Vec::new();
    for process in &program.processes {
        threads.push(Thread::new(known, None, vec![process.routine], &mut refusals));
    }
    let mut parent = 0;
    while parent < threads.len() && refusals.is_empty() {
        for (number, routines) in threads[parent].children(known) {
            let parent = Some((parent, number));
            threads.push(Thread::new(known, parent, routines, &mut refusals));
            if threads.len() > Bounds::MAX_THREADS {
                refusals.push(Refusal::new("more threads than fit into a circuit", Span::NONE));
                return Err(refusals);
            }
        }
        parent += 1;
    }
    if refusals.is_empty() { Ok(threads) } else { Err(refusals) }
}

impl Thread {
    fn new(
        known: &Known<'_>,
        parent: Option<(usize, u32)>,
        routines: Vec<RoutineId>,
        refusals: &mut Vec<Refusal>,
    ) -> Self {
        let mut thread = Self {
            parent,
            roots: Vec::new(),
            contexts: Vec::new(),
            n_registers: 0,
            points: Vec::new(),
            numbers: FxHashMap::default(),
            passing: Vec::new(),
            passing_ranks: Vec::new(),
            stops: Vec::new(),
            stop_numbers: FxHashMap::default(),
            calls: FxHashMap::default(),
            n_started: Vec::new(),
        };
        for kind in [StopKind::Unborn, StopKind::Ended, StopKind::Stuck] {
            thread.stop(kind);
        }
        for routine in routines {
            let context = thread.context(known.program, routine, None);
            thread.roots.push((routine, context));
            let kind = StopKind::Begin(thread.roots.len() - 1);
            thread.stop(kind);
        }
        thread.find_points(known, refusals);
        thread.find_heads(known);
        thread.find_live(known);
        thread.count_started(known);
        thread
    }

    /// Where a root begins.
    pub(crate) fn begin(&self, program: &Program, root: usize) -> Point {
        let (routine, context) = self.roots[root];
        Point { context, location: program.routine(routine).start, n_atomic: 0 }
    }

    /// The stop of this kind.
    pub(crate) fn stop_at(&self, kind: StopKind) -> Option<StopId> {
        self.stop_numbers.get(&kind).copied()
    }

    /// The place of a point in the order of walks.
    pub(crate) fn rank(&self, point: Point) -> usize {
        self.numbers[&point]
    }

    /// The point at a place in the order of walks.
    pub(crate) fn point_at(&self, rank: usize) -> Point {
        self.points[rank]
    }

    /// The place of a point in the order of ways of all kinds.
    pub(crate) fn passing_rank(&self, point: Point) -> usize {
        self.passing_ranks[self.numbers[&point]]
    }

    /// The point at a place in the order of ways of all kinds.
    pub(crate) fn passed_at(&self, rank: usize) -> Point {
        self.points[self.passing[rank]]
    }

    /// All points.
    pub(crate) fn points(&self) -> impl Iterator<Item = Point> + '_ {
        self.points.iter().copied()
    }

    /// Whether the thread may come to a point again.
    pub(crate) fn is_on_cycle(&self, known: &Known<'_>, point: Point) -> bool {
        let mut seen = vec![false; self.points.len()];
        let mut to_visit = self.successors(known, point);
        while let Some(next) = to_visit.pop() {
            if next == point {
                return true;
            }
            if !std::mem::replace(&mut seen[self.numbers[&next]], true) {
                to_visit.extend(self.successors(known, next));
            }
        }
        false
    }

    fn successors(&self, known: &Known<'_>, point: Point) -> Vec<Point> {
        if self.is_end(known.program, point) {
            return self.back(point).into_iter().collect();
        }
        let n_edges = self.edges(known.program, point).len();
        (0..n_edges).flat_map(|edge| self.after(known, point, edge)).collect()
    }

    /// The number of a register among those of the thread.
    pub(crate) fn register(&self, context: ContextId, register: RegisterId) -> usize {
        self.contexts[context].first_register + register.0 as usize
    }

    /// The edges of a point.
    pub(crate) fn edges<'a>(&self, program: &'a Program, point: Point) -> &'a [Edge] {
        let routine = program.routine(self.contexts[point.context].routine);
        &routine.location(point.location).edges
    }

    /// Whether a point is the end of its routine.
    pub(crate) fn is_end(&self, program: &Program, point: Point) -> bool {
        program.routine(self.contexts[point.context].routine).end == point.location
    }

    /// Where a routine that ends at a point goes back to.
    pub(crate) fn back(&self, point: Point) -> Option<Point> {
        let caller = self.contexts[point.context].caller?;
        Some(Point { context: caller.context, location: caller.to, n_atomic: point.n_atomic })
    }

    /// The context of a call; none if that goes too deep.
    pub(crate) fn callee(
        &self,
        point: Point,
        edge: usize,
        routine: RoutineId,
    ) -> Option<ContextId> {
        self.calls.get(&(point.context, point.location, edge, routine)).copied()
    }

    /// The routines that a call in a context may mean.
    pub(crate) fn callees(
        &self,
        known: &Known<'_>,
        context: ContextId,
        callee: &Callee,
    ) -> Vec<RoutineId> {
        if let Callee::Pointer(pointer) = callee
            && let Some(routine) = self.handed_down(known.program, context, pointer)
        {
            return vec![routine];
        }
        known.points_to.callees(self.contexts[context].routine, callee)
    }

    /// The routine that a value in a context is, if it was named by the caller, and handed
    /// down.
    fn handed_down(
        &self,
        program: &Program,
        context: ContextId,
        value: &Expr,
    ) -> Option<RoutineId> {
        let Context { routine, caller, .. } = &self.contexts[context];
        let routine = program.routine(*routine);
        let register = match value {
            Expr::Routine(routine) => return Some(*routine),
            Expr::Reinterpret(_, value) => return self.handed_down(program, context, value),
            Expr::Register { register, .. } => *register,
            _ => return None,
        };
        let actions = routine.edges().map(|(_, edge)| &edge.action);
        let mut changes = actions.filter(|action| action.targets().contains(&register));
        let (first, second) = (changes.next(), changes.next());
        match (first, second) {
            (None, None) if register.0 < routine.n_parameters => {
                let Caller { context, call: (location, edge), .. } = (*caller)?;
                let caller = program.routine(self.contexts[context].routine);
                match &caller.location(location).edges[edge].action {
                    Action::Call { arguments, .. } => {
                        self.handed_down(program, context, arguments.get(register.0 as usize)?)
                    }
                    _ => None,
                }
            }
            (Some(Action::Assign { value, .. }), None) if register.0 >= routine.n_parameters => {
                self.handed_down(program, context, value)
            }
            _ => None,
        }
    }

    /// What an invisible edge leads to.
    pub(crate) fn after(&self, known: &Known<'_>, point: Point, number: usize) -> Vec<Point> {
        let edge = &self.edges(known.program, point)[number];
        let goes_on = Point { location: edge.to, ..point };
        match &edge.action {
            Action::Call { callee, .. } => {
                let callees = self.callees(known, point.context, callee).into_iter();
                let contexts = callees.filter_map(|callee| self.callee(point, number, callee));
                contexts.map(|context| self.begin_of(known.program, context, point)).collect()
            }
            Action::Return { .. } => self.back(point).into_iter().collect(),
            Action::ExitProcess { .. } | Action::ExitProgram => Vec::new(),
            Action::AtomicBegin => vec![Point { n_atomic: point.n_atomic + 1, ..goes_on }],
            Action::AtomicEnd if point.n_atomic == 0 => Vec::new(),
            Action::AtomicEnd => vec![Point { n_atomic: point.n_atomic - 1, ..goes_on }],
            action if point.n_atomic > 0 && !may_be_atomic(action) => Vec::new(),
            _ => vec![goes_on],
        }
    }

    /// Where a thread is once it was called.
    pub(crate) fn begin_of(&self, program: &Program, context: ContextId, from: Point) -> Point {
        let location = program.routine(self.contexts[context].routine).start;
        Point { context, location, n_atomic: from.n_atomic }
    }

    /// Whether an edge at a point is a step of its own.
    pub(crate) fn is_visible(&self, known: &Known<'_>, point: Point, edge: &Edge) -> bool {
        let routine = self.contexts[point.context].routine;
        if point.n_atomic > 0 || !edge.action.is_visible(true) {
            return false;
        }
        let is_private = |place| known.points_to.is_private(routine, place);
        match &edge.action {
            Action::Load { from: place, access: Access::Plain, .. }
            | Action::Store { to: place, access: Access::Plain, .. }
            | Action::Fill { to: place, .. } => !is_private(place),
            Action::Copy { to, from, .. } => !is_private(to) || !is_private(from),
            _ => true,
        }
    }

    /// The threads it may start: the number of each, and what it may run.
    fn children(&self, known: &Known<'_>) -> Vec<(u32, Vec<RoutineId>)> {
        let mut children: Vec<(u32, Vec<RoutineId>)> = Vec::new();
        for (number, &point) in self.points.iter().enumerate() {
            for edge in self.edges(known.program, point) {
                let Action::Spawn { routine: callee, .. } = &edge.action else { continue };
                let routines = self.callees(known, point.context, callee);
                let counts = self.n_started[number];
                for count in (0..known.bounds.n_children()).filter(|n| counts >> n & 1 == 1) {
                    let known = children.iter_mut().find(|(number, _)| *number == count);
                    match known {
                        Some((_, all)) => all.extend(&routines),
                        None => children.push((count, routines.clone())),
                    }
                }
            }
        }
        children.sort();
        for (_, routines) in &mut children {
            routines.sort();
            routines.dedup();
        }
        children
    }

    fn stop(&mut self, kind: StopKind) -> StopId {
        if let Some(&known) = self.stop_numbers.get(&kind) {
            return known;
        }
        let number = self.stops.len();
        self.stops.push(Stop { kind, live: BTreeSet::new() });
        self.stop_numbers.insert(kind, number);
        number
    }

    fn context(
        &mut self,
        program: &Program,
        routine: RoutineId,
        caller: Option<Caller>,
    ) -> ContextId {
        let first_register = self.n_registers;
        self.n_registers += program.routine(routine).registers.len();
        self.contexts.push(Context { routine, caller, first_register });
        self.contexts.len() - 1
    }

    /// How many frames of a routine a context is in, itself included if it is one.
    fn n_frames_of(&self, routine: RoutineId, context: ContextId) -> u32 {
        let mut at = Some(context);
        let mut count = 0;
        while let Some(context) = at {
            let context = &self.contexts[context];
            count += u32::from(context.routine == routine);
            at = context.caller.map(|caller| caller.context);
        }
        count
    }

    /// Finds all contexts, points and stops but heads.
    fn find_points(&mut self, known: &Known<'_>, refusals: &mut Vec<Refusal>) {
        let mut to_visit: Vec<Point> =
            (0..self.roots.len()).map(|root| self.begin(known.program, root)).collect();
        while let Some(point) = to_visit.pop() {
            if self.numbers.contains_key(&point) {
                continue;
            }
            if self.points.len() == Bounds::MAX_POINTS {
                let span = known.program.routine(self.contexts[point.context].routine).span;
                refusals.push(Refusal::new(super::TOO_LARGE, span));
                return;
            }
            self.numbers.insert(point, self.points.len());
            self.points.push(point);
            if self.is_end(known.program, point) {
                to_visit.extend(self.back(point));
                continue;
            }
            for (number, edge) in self.edges(known.program, point).iter().enumerate() {
                if let Action::Call { callee, to, .. } = &edge.action {
                    self.make_calls(known, point, number, callee, *to, refusals);
                }
                if self.is_visible(known, point, edge) {
                    let kind = |is_second| StopKind::Edge { point, edge: number, is_second };
                    self.stop(kind(false));
                    if matches!(edge.action, Action::Wait { .. } | Action::BarrierWait(..)) {
                        self.stop(kind(true));
                    }
                }
                to_visit.extend(self.after(known, point, number));
            }
        }
    }

    fn make_calls(
        &mut self,
        known: &Known<'_>,
        point: Point,
        number: usize,
        callee: &Callee,
        result: Option<RegisterId>,
        refusals: &mut Vec<Refusal>,
    ) {
        let program = known.program;
        let edge = &self.edges(program, point)[number];
        for callee in self.callees(known, point.context, callee) {
            let key = (point.context, point.location, number, callee);
            if self.calls.contains_key(&key) {
                continue;
            }
            let depth = self.n_frames_of(callee, point.context);
            if depth > known.bounds.recursion {
                if known.bounds.recursion == 0 {
                    let name = &program.routine(callee).name;
                    let what =
                        format!("`{name}`, which calls itself, without a bound on recursion");
                    refusals.push(Refusal::new(&what, edge.span).of_recursion());
                }
                continue;
            }
            let call = (point.location, number);
            let caller = Caller { context: point.context, call, to: edge.to, result };
            let context = self.context(program, callee, Some(caller));
            self.calls.insert(key, context);
        }
    }

    /// Finds the loops without a visible action, and puts all points into an order in which the
    /// rest of the invisible ways go on; and into another one for ways of all kinds.
    fn find_heads(&mut self, known: &Known<'_>) {
        let successors: Vec<Vec<usize>> =
            self.points.iter().map(|&point| self.invisible(known, point)).collect();
        let search = DepthFirst::of(&successors);
        for &head in &search.heads {
            let point = self.points[head];
            self.stop(StopKind::Head(point));
        }
        self.points = search.order.iter().map(|&number| self.points[number]).collect();
        self.numbers = self.points.iter().enumerate().map(|(idx, &point)| (point, idx)).collect();
        let successors: Vec<Vec<usize>> = self
            .points
            .iter()
            .map(|&point| self.successors(known, point).iter().map(|it| self.numbers[it]).collect())
            .collect();
        self.passing = DepthFirst::of(&successors).order;
        self.passing_ranks = vec![0; self.points.len()];
        for (rank, &number) in self.passing.iter().enumerate() {
            self.passing_ranks[number] = rank;
        }
    }

    /// Where the invisible edges of a point lead.
    fn invisible(&self, known: &Known<'_>, point: Point) -> Vec<usize> {
        let program = known.program;
        if self.is_end(program, point) {
            return self.back(point).iter().map(|back| self.numbers[back]).collect();
        }
        let edges = self.edges(program, point).iter().enumerate();
        let invisible = edges.filter(|(_, edge)| !self.is_visible(known, point, edge));
        invisible
            .flat_map(|(number, _)| self.after(known, point, number))
            .map(|point| self.numbers[&point])
            .collect()
    }

    /// Finds the registers whose values matter at each stop.
    fn find_live(&mut self, known: &Known<'_>) {
        let mut live: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.points.len()];
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for number in (0..self.points.len()).rev() {
                let point = self.points[number];
                let mut here = BTreeSet::new();
                let n_edges = self.edges(known.program, point).len();
                if self.is_end(known.program, point) {
                    let back = self.back(point);
                    here.extend(back.iter().flat_map(|back| &live[self.numbers[back]]));
                    if let Some(Caller { context, result: Some(result), .. }) =
                        self.contexts[point.context].caller
                    {
                        here.remove(&self.register(context, result));
                    }
                }
                for edge in 0..n_edges {
                    here.extend(self.live_before(known, point, edge, &live));
                    if let Some(guard) = &self.edges(known.program, point)[edge].guard {
                        self.uses(point.context, guard, &mut here);
                    }
                }
                if here != live[number] {
                    live[number] = here;
                    has_changed = true;
                }
            }
        }
        for idx in 0..self.stops.len() {
            self.stops[idx].live = match self.stops[idx].kind {
                StopKind::Unborn | StopKind::Ended | StopKind::Stuck => BTreeSet::new(),
                StopKind::Begin(root) => {
                    live[self.numbers[&self.begin(known.program, root)]].clone()
                }
                StopKind::Head(point) => live[self.numbers[&point]].clone(),
                StopKind::Edge { point, edge, is_second } => {
                    let mut here = self.live_before(known, point, edge, &live);
                    if is_second {
                        // The first half has given the result: whether it was the last to arrive.
                        for after in self.after(known, point, edge) {
                            here.extend(&live[self.numbers[&after]]);
                        }
                    }
                    here
                }
            };
            let watched = self.watched_at(known, idx);
            self.stops[idx].live.extend(watched);
        }
    }

    /// The registers that are watched at a stop.
    fn watched_at(&self, known: &Known<'_>, stop: StopId) -> Vec<usize> {
        let mut registers = Vec::new();
        for context in self.calls_at(stop) {
            let watched = known.watched.iter();
            let own = watched.filter(|(routine, _)| *routine == self.contexts[context].routine);
            registers.extend(own.map(|(_, register)| self.register(context, *register)));
        }
        registers
    }

    /// The calls that a thread at a stop is in, the innermost first.
    pub(crate) fn calls_at(&self, stop: StopId) -> impl Iterator<Item = ContextId> + '_ {
        let innermost = match self.stops[stop].kind {
            StopKind::Unborn | StopKind::Ended | StopKind::Stuck => None,
            StopKind::Begin(root) => Some(self.roots[root].1),
            StopKind::Head(point) | StopKind::Edge { point, .. } => Some(point.context),
        };
        std::iter::successors(innermost, |&context| {
            self.contexts[context].caller.map(|caller| caller.context)
        })
    }

    /// The registers that matter before an edge whose guard is known to be true.
    fn live_before(
        &self,
        known: &Known<'_>,
        point: Point,
        number: usize,
        live: &[BTreeSet<usize>],
    ) -> BTreeSet<usize> {
        let action = &self.edges(known.program, point)[number].action;
        let mut here = BTreeSet::new();
        for after in self.after(known, point, number) {
            here.extend(&live[self.numbers[&after]]);
        }
        match action {
            Action::Call { .. } => {
                // Registers of the callee begin with arguments and zeros.
                for callee in self.after(known, point, number) {
                    let context = &self.contexts[callee.context];
                    let n = known.program.routine(context.routine).registers.len();
                    let first = context.first_register;
                    here.retain(|register| !(first..first + n).contains(register));
                }
            }
            Action::Return { .. } => {
                if let Some(Caller { context, result: Some(result), .. }) =
                    self.contexts[point.context].caller
                {
                    here.remove(&self.register(context, result));
                }
            }
            _ => {
                for target in action.targets() {
                    here.remove(&self.register(point.context, target));
                }
            }
        }
        action.visit_expressions(&mut |part| self.use_of(point.context, part, &mut here));
        here
    }

    fn uses(&self, context: ContextId, value: &Expr, used: &mut BTreeSet<usize>) {
        value.visit(&mut |part| self.use_of(context, part, used));
    }

    fn use_of(&self, context: ContextId, part: &Expr, used: &mut BTreeSet<usize>) {
        if let Expr::Register { register, .. } = part {
            used.insert(self.register(context, *register));
        }
    }

    /// Finds after how many threads started each point can be reached.
    fn count_started(&mut self, known: &Known<'_>) {
        self.n_started = vec![0; self.points.len()];
        let n_children = known.bounds.n_children();
        let mut to_visit: Vec<(Point, u64)> =
            (0..self.roots.len()).map(|root| (self.begin(known.program, root), 1)).collect();
        while let Some((point, counts)) = to_visit.pop() {
            let here = &mut self.n_started[self.numbers[&point]];
            if *here | counts == *here {
                continue;
            }
            *here |= counts;
            let here = *here;
            if self.is_end(known.program, point) {
                to_visit.extend(self.back(point).map(|back| (back, here)));
                continue;
            }
            for (number, edge) in self.edges(known.program, point).iter().enumerate() {
                let counts = match edge.action {
                    Action::Spawn { .. } => here << 1 & ((2 << n_children) - 1),
                    _ => here,
                };
                let after = self.after(known, point, number);
                to_visit.extend(after.into_iter().map(|after| (after, counts)));
            }
        }
    }
}

/// Whether an action may be in an atomic block.
pub(crate) fn may_be_atomic(action: &Action) -> bool {
    let is_access = matches!(
        action,
        Action::Load { .. }
            | Action::Store { .. }
            | Action::Modify { .. }
            | Action::CompareExchange { .. }
            | Action::Copy { .. }
            | Action::Fill { .. }
            | Action::Yield
            | Action::AtomicBegin
    );
    is_access || !action.is_visible(true)
}
