//! Every engine against a judge that goes through all states, on random circuits.

use crate::random::{Random, Truth, circuit, judge};
use mazurka_effort::{seeds, share};
use mazurka_symbolic::{Answer, Certificate, Circuit, Engine, Found, Frames, Limits, Property};

const N_CIRCUITS: u64 = 1_500;

#[test]
fn all_engines_say_what_is_true() {
    let mut n_safe = [0; Engine::ALL.len()];
    let mut n_unsafe = 0;
    for seed in 0..N_CIRCUITS {
        let circuit = circuit(&mut Random::new(seed));
        let truth = judge(&circuit);
        n_unsafe += u32::from(truth.depth().is_some());
        for (n_safe, engine) in n_safe.iter_mut().zip(Engine::ALL) {
            *n_safe += u32::from(check(engine, &circuit, &truth, seed));
        }
    }
    // The circuits are neither all safe nor all unsafe, nor trivial.
    assert!((400..1_100).contains(&n_unsafe), "{n_unsafe}");
    assert!(n_safe.iter().all(|&n| n > share(50)), "{n_safe:?}");
}

/// Holds one engine to the truth. Returns whether it proved that nothing bad ever happens.
fn check(engine: Engine, circuit: &Circuit, truth: &Truth, seed: u64) -> bool {
    // Bounded search would not end by itself.
    let depth = (engine == Engine::Bounded).then_some(truth.diameter + 2);
    let limits = Limits { depth, ..Limits::default() };
    let what = format!("seed {seed}, {}", engine.name());
    let mut passed = Vec::new();
    let outcome = engine.decide(circuit, &limits, &mut |progress| passed.push(progress.depth));
    assert!(passed.iter().copied().eq(0..passed.len()), "{what}: {passed:?}");
    if let Some(depth) = truth.depth() {
        assert!(passed.len() <= depth, "{what}: {passed:?}, but there is an execution of {depth}");
    }
    match outcome.answer {
        Answer::Unsafe(witness) => {
            assert!(truth.depth().is_some(), "{what}: nothing bad is reachable");
            circuit.simulate(&witness).unwrap_or_else(|error| panic!("{what}: {error}"));
            let Property::Bad(idx) = witness.property else { panic!("{what}: no bad state") };
            assert!(truth.bads.contains_key(&idx), "{what}");
            if !matches!(engine, Engine::Ic3 | Engine::Portfolio) {
                assert_eq!(Some(witness.depth()), truth.depth(), "{what}");
            }
            false
        }
        Answer::Safe(certificate) => {
            assert_eq!(truth.depth(), None, "{what}: something bad is reachable");
            if let Certificate::Finite { n_frames } = certificate {
                assert!(truth.n_frames.is_some_and(|longest| longest <= n_frames), "{what}");
            }
            let checked = certificate.check(circuit, &Limits::default());
            checked.unwrap_or_else(|error| panic!("{what}: {error}"));
            true
        }
        Answer::SafeTo { depth } => {
            assert_eq!((engine, Some(depth)), (Engine::Bounded, limits.depth), "{what}");
            assert_eq!(truth.depth(), None, "{what}: something bad is reachable");
            false
        }
        Answer::Unknown { why, .. } => panic!("{what}: there are no limits, but {why}"),
    }
}

#[test]
fn every_bad_state_is_found_at_its_depth() {
    let mut n_found = 0;
    for seed in seeds(0..300) {
        let circuit = circuit(&mut Random::new(seed));
        let truth = judge(&circuit);
        let mut frames = Frames::new(&circuit, &Limits::default());
        let mut found = std::collections::BTreeMap::new();
        while frames.depth() <= truth.diameter + 1 {
            match frames.search().expect("no limits") {
                Found::Bad(witness) => {
                    circuit.simulate(&witness).expect("an execution");
                    let Property::Bad(idx) = witness.property else { panic!("no bad state") };
                    assert_eq!(found.insert(idx, frames.depth()), None);
                    frames.ignore(idx);
                }
                Found::Nothing => frames.deepen(),
                Found::End => break,
            }
        }
        n_found += found.len();
        assert_eq!(found, truth.bads, "seed {seed}");
    }
    assert!(n_found > share(200), "{n_found}");
}
