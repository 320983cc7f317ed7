//! Dining philosophers as circuits, as Kahlon, Wang and Gupta (CAV 2009) describe them.
//!
//! Each philosopher is a thread with a program counter and a note whether it has eaten; the threads
//! share an array of chop-sticks. A meal is seven steps: take one chop-stick, take the other, begin
//! to eat, finish, put one back, put the other back, think. Everybody takes the chop-stick with the
//! smaller number first, so that there is no deadlock.

use mazurka_symbolic::{CellTouch, Circuit, Lit, Move, Word};

/// What is asked of the philosophers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Whether all can eat at the same time. They cannot.
    AllEat,
    /// Whether all can have eaten. They can.
    AllHaveEaten,
}

impl Question {
    /// Both.
    pub const ALL: [Self; 2] = [Self::AllEat, Self::AllHaveEaten];

    /// What the paper calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AllEat => "pa",
            Self::AllHaveEaten => "pb",
        }
    }
}

/// The circuit of a table, and who moves in it.
pub struct Table {
    /// Any philosopher who can may take the next step.
    pub circuit: Circuit,
    /// The next step of each of them, and the chop-stick it touches.
    pub moves: Vec<Move>,
}

/// How many steps the paper looks at.
pub fn depth(n_philosophers: usize) -> usize {
    7 * n_philosophers + 1
}

/// A philosopher, as latches, and where it is.
struct Philosopher {
    pc: Word,
    /// For each step, whether it comes next.
    here: Vec<Lit>,
    has_eaten: Lit,
    /// The chop-sticks, in the order in which they are taken.
    sticks: [usize; 2],
}

// The steps of a meal; the one that is not named here begins to eat.
const TAKE_FIRST: usize = 0;
const TAKE_SECOND: usize = 1;
const FINISH: usize = 3;
const PUT_SECOND: usize = 4;
const PUT_FIRST: usize = 5;
const THINK: usize = 6;

impl Philosopher {
    fn new(circuit: &mut Circuit, number: usize, n: usize) -> Self {
        let bit = |idx| circuit.latch(format!("pc{number}.{idx}"), Some(false));
        let pc = Word::from((0..3).map(bit).collect::<Vec<_>>());
        let has_eaten = circuit.latch(format!("has_eaten{number}"), Some(false));
        let here = circuit.aig.decode(&pc, THINK + 1);
        let mut sticks = [number, (number + 1) % n];
        sticks.sort_unstable();
        Self { pc, here, has_eaten, sticks }
    }

    /// The steps that touch each of its chop-sticks: the one that takes it, and the one that puts
    /// it back.
    fn touches(&self) -> [(usize, Lit, Lit); 2] {
        let [first, second] = self.sticks;
        [
            (first, self.here[TAKE_FIRST], self.here[PUT_FIRST]),
            (second, self.here[TAKE_SECOND], self.here[PUT_SECOND]),
        ]
    }

    /// What becomes of it when it moves, or does not.
    fn connect(&self, circuit: &mut Circuit, executes: Lit) {
        let later = circuit.aig.add(&self.pc, &Word::constant(3, 1));
        let begins = Word::constant(3, 0);
        let later = circuit.aig.mux(self.here[THINK], &begins, &later);
        let next = circuit.aig.mux(executes, &later, &self.pc);
        for (&bit, &next) in self.pc.bits().iter().zip(next.bits()) {
            circuit.set_next(bit, next);
        }
        let eats = circuit.aig.and(executes, self.here[FINISH]);
        let next = circuit.aig.or(self.has_eaten, eats);
        circuit.set_next(self.has_eaten, next);
    }
}

/// So many philosophers, and a question that is bad if the answer is yes.
pub fn table(n: usize, question: Question) -> Table {
    let mut circuit = Circuit::new();
    let n_bits = usize::BITS - (n - 1).leading_zeros();
    let chosen: Vec<_> = (0..n_bits).map(|idx| circuit.input(format!("chosen.{idx}"))).collect();
    let executes = circuit.aig.decode(&Word::from(chosen), n);
    let sticks: Vec<_> =
        (0..n).map(|idx| circuit.latch(format!("stick{idx}"), Some(false))).collect();
    let all: Vec<_> = (0..n).map(|it| Philosopher::new(&mut circuit, it, n)).collect();
    let mut next_sticks = sticks.clone();
    let (mut moves, mut can) = (Vec::new(), Vec::new());
    for (it, &executes) in all.iter().zip(&executes) {
        let aig = &mut circuit.aig;
        let mut waits = Vec::new();
        let mut touches = Vec::new();
        for (stick, takes, puts) in it.touches() {
            waits.push(aig.and(takes, sticks[stick]));
            let (taken, put) = (aig.and(executes, takes), aig.and(executes, puts));
            let kept = aig.and(next_sticks[stick], !put);
            next_sticks[stick] = aig.or(kept, taken);
            touches.push(CellTouch { cell: stick, when: aig.or(takes, puts), is_write: true });
        }
        let waits = aig.any(waits);
        can.push(aig.and(executes, !waits));
        moves.push(Move { executes, touches });
        it.connect(&mut circuit, executes);
    }
    for (&stick, &next) in sticks.iter().zip(&next_sticks) {
        circuit.set_next(stick, next);
    }
    let counts = circuit.aig.any(can);
    circuit.constrain(counts);
    let asked = all.iter().map(|it| match question {
        Question::AllEat => it.here[FINISH],
        Question::AllHaveEaten => it.has_eaten,
    });
    let bad = circuit.aig.all(asked);
    circuit.bad(bad, question.name());
    Table { circuit, moves }
}
