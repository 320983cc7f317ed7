//! The state of a running script: cells, and a log of what they held before.

use super::code::{Cell, Code, Condition, HALT, Operand, Pc, UNBORN, Variable};
use super::fingerprint::Fingerprint;
use mazurka_core::{
    Accessed, Addition, Fence, Injection, MemoryOrder, Operation, Part, PlainAccess, ThreadId,
};

/// A state, and the way back to every earlier one.
///
/// Messages are written behind one another and stay where they are when they are received, so
/// that going back is setting the two ends of the queue.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(super) cells: Vec<i64>,
    pub(super) queues: Vec<Vec<i64>>,
    /// What each changed cell held before, oldest change first.
    log: Vec<(Cell, i64)>,
    /// How long the log was before each step.
    pub(super) marks: Vec<usize>,
    pub(crate) accesses: Vec<PlainAccess>,
    /// Whether joins are taken as soon as they are possible, in the step that makes them so.
    pub(crate) joins_at_once: bool,
    /// Those of the last step.
    pub(crate) parts: Vec<Part>,
    /// What the last step added.
    pub(crate) addition: Option<Addition>,
    /// The memory order of the last step's operation.
    pub(crate) order: MemoryOrder,
    /// The fences in the last step.
    pub(crate) fences: Vec<Fence>,
    /// How the operation of this step accesses memory.
    pub(super) injection: Injection,
    /// What the last step's operation accessed.
    pub(crate) accessed: Option<Accessed>,
}

impl Machine {
    pub(crate) fn new(code: &Code) -> Self {
        Self {
            cells: code.initial.clone(),
            queues: vec![Vec::new(); code.n_channels],
            log: Vec::new(),
            marks: Vec::new(),
            accesses: Vec::new(),
            joins_at_once: false,
            parts: Vec::new(),
            addition: None,
            order: MemoryOrder::default(),
            fences: Vec::new(),
            injection: Injection::default(),
            accessed: None,
        }
    }

    pub(super) fn into_cells(self) -> Vec<i64> {
        self.cells
    }

    pub(crate) fn reset(&mut self, code: &Code) {
        self.cells.copy_from_slice(&code.initial);
        self.join_at_once(code);
        self.log.clear();
        self.marks.clear();
        self.accesses.clear();
        self.parts.clear();
        self.fences.clear();
    }

    /// How many steps were taken.
    pub(crate) fn n_steps(&self) -> usize {
        self.marks.len()
    }

    /// Undoes all steps from `depth` on; there are as many.
    pub(crate) fn undo(&mut self, depth: usize) {
        self.accesses.clear();
        let Some(&mark) = self.marks.get(depth) else { return };
        self.marks.truncate(depth);
        for &(cell, value) in self.log[mark..].iter().rev() {
            self.cells[cell as usize] = value;
        }
        self.log.truncate(mark);
    }

    /// Begins a step that can be undone.
    pub(super) fn mark(&mut self) {
        self.marks.push(self.log.len());
        self.accesses.clear();
        self.parts.clear();
        self.addition = None;
        self.order = MemoryOrder::default();
        self.fences.clear();
        self.accessed = None;
    }

    pub(super) fn set(&mut self, cell: Cell, value: i64) {
        let old = std::mem::replace(&mut self.cells[cell as usize], value);
        self.log.push((cell, old));
    }

    pub(super) fn set_result(&mut self, cell: Option<Cell>, value: i64) {
        if let Some(cell) = cell {
            self.set(cell, value);
        }
    }

    pub(super) fn get(&self, cell: Cell) -> i64 {
        self.cells[cell as usize]
    }

    pub(super) fn pc(&self, thread_idx: usize) -> Pc {
        self.cells[thread_idx] as Pc
    }

    #[inline]
    pub(super) fn value(&self, code: &Code, operand: Operand) -> i64 {
        match operand {
            Operand::Constant(value) => value,
            Operand::Cell(cell) => self.get(cell),
            Operand::Node(node) => self.node_value(code, node),
        }
    }

    #[inline(never)]
    fn node_value(&self, code: &Code, node: u32) -> i64 {
        let node = &code.nodes[node as usize];
        node.op.apply(self.value(code, node.left), self.value(code, node.right))
    }

    pub(super) fn holds(&self, code: &Code, condition: &Condition) -> bool {
        let (left, right) = (self.value(code, condition.left), self.value(code, condition.right));
        condition.relation.holds(left, right)
    }

    /// The cell of a variable, whose index was checked.
    pub(super) fn cell(&self, code: &Code, variable: &Variable) -> Cell {
        variable.cell + self.value(code, variable.index) as u32
    }

    /// The threads that sleep on the condition variable whose cells begin at `cell`.
    pub(super) fn sleepers(&self, cell: Cell) -> u128 {
        u128::from(self.get(cell) as u64) | u128::from(self.get(cell + 1) as u64) << 64
    }

    pub(super) fn set_sleepers(&mut self, cell: Cell, sleepers: u128) {
        for (cell, bits) in [(cell, sleepers as u64), (cell + 1, (sleepers >> 64) as u64)] {
            if self.get(cell) as u64 != bits {
                self.set(cell, bits as i64);
            }
        }
    }

    /// Calls `visit` with every number of the state, in an order that the script fixes.
    fn visit_state(&self, code: &Code, mut visit: impl FnMut(i64)) {
        self.cells[..code.n_canonical].iter().for_each(|&value| visit(value));
        for (channel, queue) in self.queues.iter().enumerate() {
            let ends = code.n_canonical + 2 * channel;
            let (head, tail) = (self.cells[ends] as usize, self.cells[ends + 1] as usize);
            visit((tail - head) as i64);
            queue[head..tail].iter().for_each(|&message| visit(message));
        }
    }

    pub(crate) fn state(&self, code: &Code) -> Vec<i64> {
        let mut state = Vec::with_capacity(self.cells.len());
        self.visit_state(code, |value| state.push(value));
        state
    }

    pub(crate) fn fingerprint(&self, code: &Code) -> u128 {
        let mut fingerprint = Fingerprint::new();
        self.visit_state(code, |value| fingerprint.add(value));
        fingerprint.finish()
    }

    /// Variables, plain memory and locals, and then for each thread whether it has ended.
    pub(crate) fn outcome(&self, code: &Code) -> Vec<i64> {
        let ended = (0..code.n_threads()).map(|idx| i64::from(self.pc(idx) == HALT));
        code.outcome.iter().map(|&cell| self.get(cell)).chain(ended).collect()
    }

    pub(crate) fn future(&self, code: &Code, thread: ThreadId, visit: &mut dyn FnMut(Operation)) {
        let pc = match self.pc(thread.index()) {
            UNBORN => code.starts[thread.index()],
            pc => pc,
        };
        if pc != HALT {
            code.futures.visit(pc, visit);
        }
    }
}
