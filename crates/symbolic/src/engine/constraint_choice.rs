//! Optional constraints: a solver with them and one without take turns.
//!
//! Constraints on the order of steps leave less to search and make the solver slower. Where
//! everything depends on the order, they win by more with every depth; where a proof needs no
//! order, they are in its way. Which it is shows only on the way. So both searches begin, with
//! about the same time, and the one that gets further leads. It goes on alone, and as it becomes
//! slower the other one is asked now and then, at the depth that has been reached.

/// The search with all constraints.
pub(super) const REDUCED: usize = 0;

/// The search without optional ones.
pub(super) const PLAIN: usize = 1;

/// How many conflicts the search with all constraints begins with. The other one gets twice as
/// many: they take it about half the time.
const FIRST: u64 = 1_500;

/// The other one is asked once a depth costs so many times as much as it did then.
const SLOWER: u64 = 4;

/// One search or two, and whose turn it is.
#[derive(Debug)]
pub(super) struct Turns {
    is_alone: bool,
    /// Whether both are at their beginnings, and do not know of each other.
    is_beginning: bool,
    leader: usize,
    turn: usize,
    /// The conflicts that are left of the turn.
    left: u64,
    /// How far each has come.
    depths: [usize; 2],
    /// What each has spent at the depth that was reached.
    spent: [u64; 2],
    /// What the last depth took the engine that was the first to know.
    last_cost: u64,
    /// The same when the other one was asked last.
    asked_at: u64,
}

impl Turns {
    /// The turns of so many searches.
    pub(super) fn new(n_searches: usize) -> Self {
        Self {
            is_alone: n_searches == 1,
            is_beginning: n_searches > 1,
            leader: REDUCED,
            turn: REDUCED,
            left: FIRST,
            depths: [0; 2],
            spent: [0; 2],
            last_cost: 0,
            asked_at: FIRST / 2,
        }
    }

    /// Who goes on, and with how many conflicts.
    pub(super) fn next(&self) -> (usize, u64) {
        (self.turn, if self.is_alone { u64::MAX } else { self.left })
    }

    /// The depth from which it goes on, if it is not there.
    pub(super) fn start(&self) -> usize {
        if self.is_beginning { 0 } else { self.reached() }
    }

    /// The depth that was reached: nothing bad happens before.
    pub(super) fn reached(&self) -> usize {
        self.depths[REDUCED].max(self.depths[PLAIN])
    }

    /// How many conflicts it has taken to get no further than this.
    pub(super) fn spent(&self) -> u64 {
        self.spent.iter().sum()
    }

    /// Notes what a turn, or a part of it, took, and the depth it has come to.
    pub(super) fn note(&mut self, n_conflicts: u64, depth: usize) {
        let is_further = depth > self.reached();
        self.depths[self.turn] = depth;
        self.spent[self.turn] += n_conflicts;
        self.left = self.left.saturating_sub(n_conflicts);
        match self.is_beginning {
            true => self.begin(),
            false if is_further => self.pass(),
            false if self.left == 0 => self.switch(),
            false => {}
        }
        if is_further {
            self.spent = [0; 2];
        }
    }

    fn begin(&mut self) {
        let is_plain_further = self.depths[PLAIN] > self.depths[REDUCED];
        match self.turn {
            REDUCED if self.left == 0 => (self.turn, self.left) = (PLAIN, 2 * FIRST),
            PLAIN if is_plain_further || self.left == 0 => {
                self.is_beginning = false;
                self.leader = if is_plain_further { PLAIN } else { REDUCED };
                self.lead();
            }
            _ => {}
        }
    }

    /// Goes on to the next depth.
    fn pass(&mut self) {
        self.leader = self.turn;
        self.last_cost = self.spent[self.turn];
        if !self.is_alone && self.last_cost >= SLOWER * self.asked_at {
            self.asked_at = self.last_cost;
            (self.turn, self.left) = (1 - self.leader, self.last_cost);
        } else {
            self.lead();
        }
    }

    /// Lets the other one try the same depth.
    fn switch(&mut self) {
        if self.turn == self.leader {
            (self.turn, self.left) = (1 - self.leader, self.spent[self.leader]);
        } else {
            self.lead();
        }
    }

    /// It is the leader's turn, with more than it had before.
    fn lead(&mut self) {
        self.turn = self.leader;
        self.left = SLOWER * FIRST.max(self.last_cost).max(self.spent[self.leader]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets searches that need so many conflicts at each depth take turns. Returns what each has
    /// spent by the time that one of them is through, and who that is.
    fn race(costs: [&dyn Fn(usize) -> u64; 2], n_depths: usize) -> ([u64; 2], usize) {
        let mut turns = Turns::new(2);
        let (mut spent, mut depths, mut done) = ([0; 2], [0; 2], [0; 2]);
        loop {
            let (turn, conflicts) = turns.next();
            if depths[turn] < turns.start() {
                depths[turn] = turns.start();
                done[turn] = 0;
            }
            let missing = costs[turn](depths[turn]) - done[turn];
            let n_conflicts = missing.min(conflicts);
            spent[turn] += n_conflicts;
            done[turn] += n_conflicts;
            if n_conflicts == missing {
                depths[turn] += 1;
                done[turn] = 0;
            }
            if depths[turn] == n_depths {
                return (spent, turn);
            }
            turns.note(n_conflicts, depths[turn]);
        }
    }

    #[test]
    fn a_search_that_is_alone_is_never_stopped() {
        let mut turns = Turns::new(1);
        for depth in 1..50 {
            assert_eq!(turns.next(), (REDUCED, u64::MAX));
            turns.note(1 << depth.min(30), depth);
            assert_eq!((turns.start(), turns.reached()), (depth, depth));
        }
    }

    #[test]
    fn what_is_small_is_decided_with_all_constraints() {
        let (spent, by) = race([&|_| 40, &|_| 1], 30);
        assert_eq!((spent, by), ([1_200, 0], REDUCED));
    }

    #[test]
    fn a_proof_that_needs_no_order_costs_little_more_than_without_one() {
        let (spent, by) = race([&|depth| 50 * depth as u64, &|_| 300], 60);
        assert_eq!((spent, by), ([FIRST, 60 * 300], PLAIN));
    }

    #[test]
    fn where_order_matters_the_search_without_it_is_soon_left_behind() {
        let growing = |depth: usize| 1 << depth.min(20);
        let (spent, by) = race([&|depth| 20 * depth as u64, &growing], 100);
        assert_eq!((spent, by), ([20 * 99 * 100 / 2, 2 * FIRST], REDUCED));
    }

    #[test]
    fn a_leader_that_becomes_slow_is_overtaken() {
        let late = |depth: usize| if depth < 20 { 100 } else { 1 << (depth - 10).min(40) };
        let (spent, by) = race([&late, &|depth| 200 + depth as u64], 60);
        assert_eq!(by, PLAIN);
        assert!(spent[REDUCED] < 50_000 && spent[PLAIN] < 50_000, "{spent:?}");
    }
}
