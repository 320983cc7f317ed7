//! A program as a graph of states: the seam between programs and the search that stores states.
//!
//! A state is a string of bytes, whatever its program likes to write into it; two states are the
//! same if and only if their bytes are. The search keeps them, compares them, and asks what comes
//! next. It never looks inside.
//!
//! Who implements [`Transitions`] answers for this:
//!
//! - **Everything is in the bytes.** What [`expand`](Transitions::expand) says depends on the state
//!   it is given, and on nothing that was asked before. Asked twice, it says the same in the same
//!   order: a path is kept as the numbers of its moves, and a counterexample is replayed by them.
//! - **One form.** What makes no difference to the future is not in the bytes, or always the same
//!   there: unused room is zero, and the names of what was made on the way do not depend on the
//!   way.
//! - **A move is one small step.** What a language calls indivisible without a choice in it is one
//!   move: both halves of a rendezvous, all of a `d_step`. An atomic block with choices in it is
//!   several moves, with [transient](Successor::Transient) states between them.

use crate::machine::ByParts;
use crate::options::{Fairness, Optimisations, Reduction};
use mazurka_core::{Assumption, Decision, Location, Property, Told, Violation};
use std::ops::Range;

/// A program, as the search sees it. A clone is for another worker, and tells the same of every
/// state.
pub trait Transitions: Clone + Send + Sync {
    /// What a search of all states is going to leave out; told before it begins. A program may then
    /// have fewer states: those behind which a process does what concerns no other process may be
    /// [transient](Successor::Transient), by [`Optimisations::merging`].
    fn reduce(&mut self, _reduction: Reduction, _optimisations: Optimisations) {}

    /// The same for a search that is about executions which never end: a step that may change what
    /// the property looks at leads from a state that is stored. Under fairness, who moves
    /// between two such states takes the first move, or is the partner in it.
    fn reduce_watched(
        &mut self,
        _reduction: Reduction,
        _optimisations: Optimisations,
        _fairness: Fairness,
    ) {
    }

    /// Appends the bytes of the initial state. It is a stored one.
    fn initial(&mut self, state: &mut Vec<u8>);

    /// Tells every step that is possible in `state`, stored or transient, to `moves`, which is
    /// empty.
    ///
    /// In a transient state these are the moves of the process that may not be interrupted. There
    /// is at least one: a state in which that process can only wait is not transient, since the
    /// others may move there.
    fn expand(&mut self, state: &[u8], moves: &mut Moves);

    /// Whether it can tell the moves of a state set by set, by [`expand_set`](Self::expand_set).
    #[doc(hidden)]
    fn tells_sets(&self) -> bool {
        false
    }

    /// Tells the moves of one set that may stand for all others, as [`expand`](Self::expand) would
    /// tell them, and returns how many such sets there are. Sets are counted from 0, in the order
    /// in which `expand` tells them; behind the last one come all moves that are in none of them.
    /// Others are not even made.
    #[doc(hidden)]
    fn expand_set(&mut self, _state: &[u8], _set: u32, _moves: &mut Moves) -> u32 {
        unreachable!("only a program that tells sets is asked for one")
    }

    /// Whether the program may stop in `state`, where no step is possible: all processes are at
    /// their end or where they may wait for ever.
    fn is_valid_end(&mut self, state: &[u8]) -> bool;

    /// What is wrong with stopping in `state`, which is not a valid end.
    fn stuck(&mut self, state: &[u8]) -> Stuck;

    /// What went wrong in a move, by the [`fault`](Move::fault) that it was given. The move leads
    /// away from `state`.
    fn violation(&mut self, state: &[u8], step: Step, fault: u32) -> Violation;

    /// A move as a decision of a schedule: who moves, and which of its moves. Two moves may be the
    /// same decision where the program does the same in both.
    fn decision(&self, moves: &Moves, idx: usize) -> Decision {
        crate::confirm::decision(moves, idx)
    }

    /// A step for people; several entries where it does several things that are better told apart,
    /// such as the two halves of a rendezvous. Never none. The step leads away from `state`.
    fn describe(&mut self, state: &[u8], step: Step) -> Vec<Told>;

    /// What a step has changed, for people: `x 0→1`. It leads from `before` to `after`.
    fn changed_variables(&mut self, _before: &[u8], _after: &[u8], _step: Step) -> Vec<String> {
        Vec::new()
    }

    /// What variables and channels hold in `state`, for people: `x = 1`.
    fn variables(&mut self, _state: &[u8]) -> Vec<String> {
        Vec::new()
    }

    /// A move for people, with what it changes. It leads away from `state`.
    fn describe_move(&mut self, state: &[u8], moves: &Moves, idx: usize) -> Vec<Told> {
        let made = moves[idx];
        let mut told = self.describe(state, made.step);
        if made.successor != Successor::None
            && let changes = self.changed_variables(state, moves.state(idx), made.step)
            && let Some(last) = told.last_mut()
            && !changes.is_empty()
        {
            let before = last.value.take();
            last.value = Some(before.into_iter().chain(changes).collect::<Vec<_>>().join(", "));
        }
        told
    }

    /// What people call a process of `state`.
    fn process_name(&mut self, state: &[u8], process: u32) -> String;

    /// What the labels of the places where its processes stand say of a state.
    fn labels(&mut self, _state: &[u8]) -> Labels {
        Labels::default()
    }

    /// How many propositions the property under test is about.
    fn n_propositions(&self) -> usize {
        0
    }

    /// Whether a proposition, counted from 0, is true in `state`.
    fn holds(&mut self, proposition: usize, _state: &[u8]) -> bool {
        panic!("proposition {proposition} of a program without any")
    }

    /// Which propositions are true in `state`, as bits.
    fn letter(&mut self, state: &[u8]) -> u64 {
        let holds = (0..self.n_propositions()).filter(|&idx| self.holds(idx, state));
        holds.fold(0, |letter, idx| letter | 1 << idx)
    }

    /// The same, and which propositions cannot be computed in `state`, as bits: computing one goes
    /// wrong, as it would in the program.
    fn reading(&mut self, state: &[u8]) -> (u64, u64) {
        (self.letter(state), 0)
    }

    /// What goes wrong when a proposition is computed in `state`, if something does.
    fn undefined(&mut self, _proposition: usize, _state: &[u8]) -> Option<Violation> {
        None
    }

    /// Which propositions the next step of a process may change, and which ones others may, before
    /// it is taken or ever.
    fn sight(&mut self, _state: &[u8], _process: u32) -> Sight {
        Sight { changes: u64::MAX, by_others: u64::MAX }
    }

    /// How many edges its control-flow graphs have. [`Step::edge`] is below it.
    fn n_edges(&self) -> usize {
        0
    }

    /// An edge for people, to be told if no step ever takes it. `None` if it is not in the source.
    fn edge(&self, _edge: u32) -> Option<Described> {
        None
    }

    /// What may go wrong in a move and would have been found, as in "no … in any execution".
    fn faults(&self) -> Vec<Property> {
        vec![Property::Assertion]
    }

    /// What it is called to stop where it is not [valid](Self::is_valid_end), as in the same
    /// sentence.
    fn wrong_end(&self) -> Property {
        Property::InvalidEnd
    }

    /// What a verdict about this program takes for granted.
    fn assumptions(&self) -> Vec<Assumption> {
        Vec::new()
    }

    /// The same program with states that are packed, if there is one: its moves are the same, in
    /// the same order.
    #[doc(hidden)]
    fn by_parts(&self) -> Option<ByParts> {
        None
    }

    /// What tells it from all other programs, if its states mean the same to another process that
    /// has the same program: then a search of it can be saved.
    #[doc(hidden)]
    fn fingerprint(&self) -> Option<u128> {
        None
    }

    /// What its states mean beyond the program, as far as that was found on the way by all clones:
    /// a search that is saved has it.
    #[doc(hidden)]
    fn learnt(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Learns what the same program had [learnt](Self::learnt) in another process. Whether it can.
    #[doc(hidden)]
    fn learn(&self, words: &[u32]) -> bool {
        words.is_empty()
    }

    /// Whether nothing that it says is of use any more, so that a search may stop: states that are
    /// packed did not fit.
    #[doc(hidden)]
    fn is_lost(&self) -> bool {
        false
    }

    /// From now on it is asked about states only that it was asked about before, so that it is not
    /// lost any more.
    #[doc(hidden)]
    fn settle(&mut self) {}
}

/// Which step a move is. Within one state no two moves have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Who takes it. The number is that of the process within the state it leads away from.
    pub process: u32,
    /// The edge it takes; several processes may share a graph and its edges.
    pub edge: u32,
    /// Which of the ways to take this edge.
    pub choice: u32,
    /// In a rendezvous: who takes the other half.
    pub partner: Option<u32>,
}

/// Where a move leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Successor {
    /// To a state like any other.
    Stored,
    /// Into an indivisible sequence of moves. The search goes on from there at once and does not
    /// keep the state: it counts neither as a state nor as a place where others could move, and a
    /// program that goes on for ever without leaving transient states is found out by the depth
    /// limit alone.
    Transient,
    /// Nowhere: the step goes wrong and nothing comes after it. It has a fault. The state counts
    /// for nothing and may be empty.
    None,
}

/// What a reduction may conclude from the moves of one process in one state.
///
/// It is about the process's *next* step, whichever it is: all edges that leave the place where it
/// stands, also those that are not possible now. Where the step begins an indivisible sequence, it
/// is about all that the sequence may do. "Others" are all other processes, also those yet to come,
/// and what they may do before the process has moved, however long that takes. A step that ends its
/// process or starts another one is [`Dependent`](Self::Dependent), unless that cannot be observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Safety {
    /// Others may do what does not commute with it, or make more of its edges possible, or fewer.
    Dependent,
    /// It commutes with everything that others may do, and nothing they do makes more of its edges
    /// possible, or fewer. But it may itself make possible what others wait for. Sending into a
    /// channel that has room, where no other process sends, is of this kind.
    Commutes,
    /// It commutes with everything that others may do, and neither makes the other possible or
    /// impossible. What is about variables that no other process uses is of this kind.
    Independent,
}

/// What labels say of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Labels {
    /// Some process is where it makes progress.
    pub progress: bool,
    /// Some process is at an accepting place.
    pub accept: bool,
}

/// Who may change what of the propositions, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sight {
    /// What the next step of a process may change.
    pub changes: u64,
    /// What other processes may change.
    pub by_others: u64,
}

/// A state in which the program should not have stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// What is wrong.
    pub violation: Violation,
    /// Who stands where, one entry for each process that has not ended.
    pub processes: Vec<Told>,
}

/// A piece of the source, for people.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Described {
    /// What stands there.
    pub text: String,
    /// Where.
    pub location: Option<Location>,
}

/// The moves that are possible in one state, by process.
///
/// It is made once and used again and again: the successors are in one piece of memory, and adding
/// a move allocates nothing once that has grown. A program adds its moves like this, for each
/// process that has any:
///
/// ```
/// # use mazurka_statespace::{Moves, Safety, Step, Successor};
/// # let (mut moves, state) = (Moves::new(), [7, 0]);
/// let step = Step { process: 0, edge: 3, choice: 0, partner: None };
/// moves.push(step, Successor::Stored, &[8, 0]);
/// moves.fault(1);
/// moves.push(Step { edge: 4, ..step }, Successor::None, &[]);
/// moves.close(0, Safety::Dependent, false);
/// assert_eq!(moves.groups().len(), 1);
/// assert_eq!(moves.state(0), [8, 0]);
/// assert_eq!(moves[1].fault, Some(1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Moves {
    bytes: Vec<u8>,
    moves: Vec<Move>,
    groups: Vec<Group>,
    /// The groups that may stand for all others, by their numbers: sets, one behind the other.
    members: Vec<u32>,
    /// Where each set ends in `members`.
    sets: Vec<u32>,
    /// How many of the sets, the first ones, have one member.
    n_single: u32,
    /// The edges that moves pass on their way, beside their own.
    passed: Vec<u32>,
    /// What the next move is to have.
    fault: Option<u32>,
    /// How many moves were left out so far.
    n_skipped: u32,
}

/// One possible step, and where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Which step.
    pub step: Step,
    /// Whether its successor is kept.
    pub successor: Successor,
    /// Something goes wrong in it, by a number that [`Transitions::violation`] explains. If there
    /// is a successor all the same, a search that looks for more than one violation goes on there.
    pub fault: Option<u32>,
    /// The end of its successor in `Moves::bytes`; it begins at the end of the one before.
    end: u32,
    /// The end of what it passes in `Moves::passed`.
    passed_end: u32,
}

/// The moves of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Whose moves these are.
    pub process: u32,
    /// What a reduction may conclude about them.
    pub safety: Safety,
    /// Whether one of them, or of the indivisible sequences that begin with them, may change what
    /// the property looks at: whether a proposition holds, or the [`Labels`] of the state.
    pub visible: bool,
    /// The number of the move after its last one; its first is where the group before ends.
    end: u32,
    /// How many moves of groups before it were left out, see [`Transitions::expand_set`].
    n_skipped: u32,
}

impl Moves {
    /// No moves.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all moves, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.moves.clear();
        self.groups.clear();
        self.members.clear();
        self.sets.clear();
        self.n_single = 0;
        self.passed.clear();
        self.fault = None;
        self.n_skipped = 0;
    }

    /// Adds a move of the process whose group is going to be [closed](Self::close) next.
    pub fn push(&mut self, step: Step, successor: Successor, state: &[u8]) {
        self.bytes.extend_from_slice(state);
        self.seal(step, successor);
    }

    /// Adds a move whose successor has `len` bytes, and returns these bytes, zeroes, to be written.
    pub fn push_blank(&mut self, step: Step, successor: Successor, len: usize) -> &mut [u8] {
        let start = self.bytes.len();
        self.bytes.resize(start + len, 0);
        self.seal(step, successor);
        &mut self.bytes[start..]
    }

    /// Begins with a move whose successor is this state but for what is changed now.
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "machine code calls it"))]
    pub(crate) fn begin(&mut self, state: &[u8]) -> &mut [u8] {
        self.bytes.extend_from_slice(state);
        self.unfinished()
    }

    /// The successor that was begun and is not [sealed](Self::seal).
    pub(crate) fn unfinished(&mut self) -> &mut [u8] {
        let start = self.moves.last().map_or(0, |made| made.end);
        &mut self.bytes[start as usize..]
    }

    /// Forgets a successor that was begun, if there is one.
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "machine code calls it"))]
    pub(crate) fn abandon(&mut self) {
        let start = self.moves.last().map_or(0, |made| made.end);
        self.bytes.truncate(start as usize);
    }

    /// Says what goes wrong in the move that is added next.
    pub fn fault(&mut self, fault: u32) {
        self.fault = Some(fault);
    }

    /// Says that the move that is added next takes this edge, too: the other half of a rendezvous,
    /// a statement within a `d_step`. It counts as reached if the move is made.
    pub fn pass(&mut self, edge: u32) {
        self.passed.push(edge);
    }

    /// Ends the moves of a process: all that were added since the last group are its.
    ///
    /// Without a move there is no group.
    pub fn close(&mut self, process: u32, safety: Safety, visible: bool) {
        let first = self.groups.last().map_or(0, |group| group.end);
        let end = self.moves.len() as u32;
        if end > first {
            debug_assert!(
                self.moves[first as usize..].iter().all(|made| made.step.process == process),
                "a group is of one process"
            );
            let n_skipped = self.n_skipped;
            self.groups.push(Group { process, safety: Safety::Dependent, visible, end, n_skipped });
            self.allow(self.groups.len() - 1, safety);
        }
    }

    /// Says what a reduction may conclude of a group, by its number, which was closed as
    /// [`Dependent`](Safety::Dependent).
    pub fn allow(&mut self, group: usize, safety: Safety) {
        self.groups[group].safety = safety;
        if safety >= Safety::Commutes {
            debug_assert_eq!(self.n_single as usize, self.sets.len(), "larger sets come later");
            self.n_single += 1;
            self.members.push(group as u32);
            self.sets.push(self.members.len() as u32);
        }
    }

    /// Says that some groups, by their numbers, may together stand for all others: what is said of
    /// one group in [`Safety::Commutes`] is true of all their steps and the processes of the other
    /// groups.
    pub fn prefer(&mut self, groups: &[u32]) {
        self.members.extend_from_slice(groups);
        self.sets.push(self.members.len() as u32);
    }

    /// How many sets of groups may stand for all others; only those of one group, or all.
    pub(crate) fn n_sets(&self, reduction: Reduction) -> u32 {
        match reduction {
            Reduction::None => 0,
            Reduction::Ample => self.n_single,
            Reduction::Stubborn => self.sets.len() as u32,
        }
    }

    /// The groups of the first sets.
    pub(crate) fn members(&self, n_sets: u32) -> &[u32] {
        let end = if n_sets == 0 { 0 } else { self.sets[n_sets as usize - 1] };
        &self.members[..end as usize]
    }

    /// Leaves out so many moves, those of a process whose group comes next.
    pub(crate) fn skip(&mut self, n_moves: u32) {
        self.n_skipped += n_moves;
    }

    /// The number that a move of a group has among all moves of its state, none of which was left
    /// out.
    pub(crate) fn number(&self, group: usize, idx: u32) -> u32 {
        idx + self.groups[group].n_skipped
    }

    /// The same for a move, whatever its group.
    pub(crate) fn number_of(&self, idx: usize) -> u32 {
        let group = self.groups.partition_point(|group| group.end as usize <= idx);
        idx as u32 + self.groups.get(group).map_or(0, |group| group.n_skipped)
    }

    /// How many moves there are.
    pub fn len(&self) -> usize {
        self.moves.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// The moves, process by process.
    pub fn iter(&self) -> impl Iterator<Item = &Move> {
        self.moves.iter()
    }

    /// The successor of a move, by the number of the move.
    #[inline]
    pub fn state(&self, idx: usize) -> &[u8] {
        let start = if idx == 0 { 0 } else { self.moves[idx - 1].end };
        &self.bytes[start as usize..self.moves[idx].end as usize]
    }

    /// The edges that a move takes beside its own.
    pub fn passed(&self, idx: usize) -> &[u32] {
        let start = if idx == 0 { 0 } else { self.moves[idx - 1].passed_end };
        &self.passed[start as usize..self.moves[idx].passed_end as usize]
    }

    /// The groups, in the order in which they were closed.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The numbers of the moves of a group, by the number of the group.
    pub fn of_group(&self, idx: usize) -> Range<usize> {
        let start = if idx == 0 { 0 } else { self.groups[idx - 1].end };
        start as usize..self.groups[idx].end as usize
    }

    /// Adds a move whose successor is there already.
    pub(crate) fn seal(&mut self, step: Step, successor: Successor) {
        let fault = self.fault.take();
        debug_assert!(
            successor != Successor::None || fault.is_some(),
            "it leads nowhere, and why?"
        );
        self.moves.push(Move {
            step,
            successor,
            fault,
            end: self.bytes.len() as u32,
            passed_end: self.passed.len() as u32,
        });
    }
}

impl std::ops::Index<usize> for Moves {
    type Output = Move;

    #[inline]
    fn index(&self, idx: usize) -> &Move {
        &self.moves[idx]
    }
}
