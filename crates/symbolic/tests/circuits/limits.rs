//! Limits stop engines where they are, and the formula of bounded search grows by the same amount
//! at every depth.

use mazurka_core::Limit;
use mazurka_symbolic::{Answer, Circuit, Depth, Engine, Limits, Lit, Word};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Two words that are multiplied in different orders, step by step: never different, and hard to
/// prove.
fn hard() -> Circuit {
    const WIDTH: usize = 24;
    let mut circuit = Circuit::new();
    let mut word = |name: &str, init| {
        Word::from(
            (0..WIDTH).map(|idx| circuit.latch(format!("{name}{idx}"), init)).collect::<Vec<_>>(),
        )
    };
    let [a, b, c] = ["a", "b", "c"].map(|name| word(name, None));
    let [x, y] = ["x", "y"].map(|name| word(name, Some(false)));
    let ab = circuit.aig.multiply(&a, &b);
    let left = circuit.aig.multiply(&ab, &c);
    let bc = circuit.aig.multiply(&b, &c);
    let right = circuit.aig.multiply(&a, &bc);
    for (word, next) in [(&a, &a), (&b, &b), (&c, &c), (&x, &left), (&y, &right)] {
        for (&latch, &next) in word.bits().iter().zip(next.bits()) {
            circuit.set_next(latch, next);
        }
    }
    let same = circuit.aig.equal(&x, &y);
    circuit.bad(!same, "different");
    circuit
}

#[test]
fn time_is_up_in_the_middle_of_a_call() {
    let circuit = hard();
    for engine in Engine::ALL {
        let limits = Limits { time: Some(Duration::from_millis(300)), ..Limits::default() };
        let start = Instant::now();
        let answer = engine.decide(&circuit, &limits, &mut |_| {}).answer;
        // Others use the machine, too.
        assert!(start.elapsed() < Duration::from_secs(30), "{}", engine.name());
        let Answer::Unknown { why, .. } = answer else { panic!("{}: {answer:?}", engine.name()) };
        let is_full = engine == Engine::Bdd && matches!(why, Limit::Memory(_));
        assert!(is_full || why == Limit::Time(Duration::from_millis(300)), "{}", engine.name());
    }
}

#[test]
fn whoever_is_asked_to_stop_stops() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let circuit = hard();
    let limits = Limits { stop: Some(&STOP), ..Limits::default() };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            STOP.store(true, Ordering::Relaxed);
        });
        let answer = Engine::Portfolio.decide(&circuit, &limits, &mut |_| {}).answer;
        // The first frame is not hard.
        assert!(
            matches!(answer, Answer::Unknown { depth: Some(0), why: Limit::Interrupted }),
            "{answer:?}"
        );
    });
}

#[test]
fn memory_is_limited() {
    let limits = Limits { memory: Some(1 << 20), ..Limits::default() };
    let answer = Engine::Bounded.decide(&hard(), &limits, &mut |_| {}).answer;
    assert!(matches!(answer, Answer::Unknown { depth: None, why: Limit::Memory(_) }), "{answer:?}");
}

/// A word that becomes anything but one more than it was, and is bad where it is full.
fn walk(width: usize) -> Circuit {
    let mut circuit = Circuit::new();
    let word: Vec<_> = (0..width).map(|idx| circuit.latch(format!("x{idx}"), None)).collect();
    let inputs: Vec<_> = (0..width).map(|idx| circuit.input(format!("i{idx}"))).collect();
    let (word, inputs) = (Word::from(word), Word::from(inputs));
    let sum = circuit.aig.add(&word, &inputs);
    for (&latch, &next) in word.bits().iter().zip(sum.bits()) {
        circuit.set_next(latch, next);
    }
    let small = circuit.aig.less(&inputs, &Word::constant(width, 2), false);
    circuit.constrain(small);
    let begins_small = circuit.aig.less(&word, &Word::constant(width, 1 << (width - 1)), false);
    let full = circuit.aig.equals_number(&word, (1 << width) - 1);
    let begun = circuit.latch("begun", Some(false));
    circuit.set_next(begun, Lit::TRUE);
    let begins = circuit.aig.or(begun, begins_small);
    circuit.constrain(begins);
    circuit.bad(full, "full");
    circuit
}

#[test]
fn the_formula_grows_by_the_same_amount_at_every_depth() {
    let circuit = walk(12);
    let limits = Limits { depth: Some(60), ..Limits::default() };
    let outcome = Engine::Bounded.decide(&circuit, &limits, &mut |_| {});
    assert!(matches!(outcome.answer, Answer::SafeTo { depth: 60 }), "{:?}", outcome.answer);
    let depths = &outcome.statistics.depths;
    assert_eq!(depths.len(), 61);
    let growth = |size: fn(&Depth) -> u64| -> Vec<u64> {
        depths.windows(2).map(|pair| size(&pair[1]) - size(&pair[0])).collect()
    };
    for growth in [growth(|depth| depth.clauses), growth(|depth| depth.variables)] {
        // The first frames are simpler, since the initial values are known.
        let (early, late) = (growth[5..10].iter().max(), growth[50..].iter().max());
        assert_eq!(early, late, "{growth:?}");
        assert!(growth.iter().max() <= early, "{growth:?}");
    }
}
