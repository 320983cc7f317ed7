//! Automata accept exactly the words that satisfy their formula: held against the definition of the
//! logic on words, and against an independent construction on all words.

use crate::tableau;
use mazurka_effort::{seeds, share};
use mazurka_ltl::{
    Automaton, Binary, Cube, Edge, Formula, Lasso, Pool, State, Stuttering, Unary, accepts,
    common_word, complement, hoa, is_stutter_invariant, negated_terminal, stuttering, translate,
};

const N_ATOMS: usize = 2;

/// A generator of numbers that is the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn formula(&mut self, size: usize) -> Formula {
        if size <= 1 {
            return match self.below(8) {
                0 => Formula::Constant(self.below(2) == 0),
                _ => Formula::Atom(self.below(N_ATOMS)),
            };
        }
        const UNARY: [Unary; 4] = [Unary::Not, Unary::Next, Unary::Always, Unary::Eventually];
        const BINARY: [Binary; 7] = [
            Binary::And,
            Binary::Or,
            Binary::Implies,
            Binary::Equivalent,
            Binary::Until,
            Binary::WeakUntil,
            Binary::Release,
        ];
        if size == 2 || self.below(2) == 0 {
            let operator = UNARY[self.below(4)];
            return Formula::unary(operator, self.formula(size - 1));
        }
        let left = 1 + self.below(size - 2);
        let operator = BINARY[self.below(7)];
        Formula::binary(operator, self.formula(left), self.formula(size - 1 - left))
    }

    fn word(&mut self) -> Lasso {
        let letters: Vec<u64> =
            (0..1 + self.below(6)).map(|_| self.below(1 << N_ATOMS) as u64).collect();
        let loop_start = self.below(letters.len());
        Lasso { letters, loop_start }
    }
}

fn atoms() -> Vec<String> {
    (0..N_ATOMS).map(|idx| format!("p{idx}")).collect()
}

/// The automaton of a formula, and that of its negation.
fn automata(formula: &Formula) -> [Automaton; 2] {
    let mut pool = Pool::new();
    let normal = pool.add(formula);
    let negation = pool.not(normal);
    [normal, negation].map(|it| translate(&mut pool, it, &atoms()).expect("it is small"))
}

/// All words with a stem and a loop of at most these lengths together.
fn words(max_len: usize) -> Vec<Lasso> {
    let n_letters = 1usize << N_ATOMS;
    let mut all = Vec::new();
    for len in 1..=max_len {
        for code in 0..n_letters.pow(len as u32) {
            let letters: Vec<u64> =
                (0..len).map(|idx| (code / n_letters.pow(idx as u32) % n_letters) as u64).collect();
            all.extend((0..len).map(|loop_start| Lasso { letters: letters.clone(), loop_start }));
        }
    }
    all
}

#[test]
fn automata_accept_what_satisfies_the_formula() {
    let mut numbers = Numbers(0x5eed);
    let short = words(3);
    for round in seeds(0..3000) {
        let size = 1 + numbers.below(9);
        let formula = numbers.formula(size);
        let [automaton, negation] = automata(&formula);
        let random: Vec<Lasso> = (0..40).map(|_| numbers.word()).collect();
        for word in random.iter().chain(short.iter().filter(|_| round % 10 == 0)) {
            let holds = formula.holds_on(&word.letters, word.loop_start);
            let shown = || format!("{} on {word:?}", formula.display(&atoms()));
            assert_eq!(accepts(&automaton, word), holds, "{}", shown());
            assert_eq!(accepts(&negation, word), !holds, "negation of {}", shown());
        }
    }
}

#[test]
fn an_independent_construction_gives_the_same_language() {
    let mut numbers = Numbers(0xface);
    for _ in seeds(0..1500) {
        let size = 1 + numbers.below(7);
        let formula = numbers.formula(size);
        let [automaton, negation] = automata(&formula);
        let plain = tableau::automaton(&formula, &atoms());
        let opposite = tableau::automaton(&Formula::unary(Unary::Not, formula.clone()), &atoms());
        let shown = formula.display(&atoms()).to_string();
        assert_eq!(common_word(&automaton, &opposite), None, "{shown}");
        assert_eq!(common_word(&plain, &negation), None, "{shown}");
        assert_eq!(common_word(&automaton, &negation), None, "{shown}");
    }
}

#[test]
fn complements_accept_the_rest() {
    let mut numbers = Numbers(0xc0de);
    let short = words(2);
    let mut n_ranked = 0;
    for _ in seeds(0..200) {
        let size = 1 + numbers.below(6);
        let formula = numbers.formula(size);
        let [automaton, _] = automata(&formula);
        let Some(rest) = complement(&automaton) else { continue };
        n_ranked += usize::from(!automaton.is_deterministic());
        assert_eq!(common_word(&automaton, &rest), None);
        for word in &short {
            assert_ne!(accepts(&automaton, word), accepts(&rest, word), "{word:?}");
        }
    }
    assert!(n_ranked > share(20), "only {n_ranked} were not deterministic");
}

#[test]
fn stutter_invariance_is_told_exactly() {
    let mut numbers = Numbers(0xbeef);
    let (mut n_with_next, mut n_sensitive) = (0, 0);
    for _ in seeds(0..1000) {
        let size = 1 + numbers.below(7);
        let formula = numbers.formula(size);
        let mut pool = Pool::new();
        let normal = pool.add(&formula);
        let [automaton, negation] = automata(&formula);
        let shown = formula.display(&atoms()).to_string();
        match is_stutter_invariant(&automaton, &negation) {
            Stuttering::Sensitive(word) => {
                n_sensitive += 1;
                assert!(!pool.is_next_free(normal), "{shown}");
                // Some way to take out repetitions changes the answer: all short ones are tried.
                assert!(has_two_answers(&formula, &word), "{shown} on {word:?}");
            }
            Stuttering::Invariant => {
                n_with_next += usize::from(!pool.is_next_free(normal));
                for _ in 0..20 {
                    let word = numbers.word();
                    let longer = repeated(&word, &mut numbers);
                    let holds = |it: &Lasso| formula.holds_on(&it.letters, it.loop_start);
                    assert_eq!(holds(&word), holds(&longer), "{shown} on {word:?}, {longer:?}");
                }
            }
            Stuttering::Unknown => panic!("two atoms are few: {shown}"),
        }
        if automaton.states.len() <= 3 && stuttering(&automaton) != Stuttering::Unknown {
            let by_complement = stuttering(&automaton) == Stuttering::Invariant;
            let by_formula = is_stutter_invariant(&automaton, &negation) == Stuttering::Invariant;
            assert_eq!(by_complement, by_formula, "{shown}");
        }
    }
    assert!(n_sensitive > share(50) && n_with_next > 5, "{n_sensitive} and {n_with_next}");
}

/// The word with some of its letters repeated.
fn repeated(word: &Lasso, numbers: &mut Numbers) -> Lasso {
    let mut longer = Lasso { letters: Vec::new(), loop_start: 0 };
    for (idx, &letter) in word.letters.iter().enumerate() {
        if idx == word.loop_start {
            longer.loop_start = longer.letters.len();
        }
        longer.letters.extend(std::iter::repeat_n(letter, 1 + numbers.below(3)));
    }
    longer
}

/// Whether the formula holds on some words that differ from this one in repetitions, and not on
/// others.
fn has_two_answers(formula: &Formula, word: &Lasso) -> bool {
    // The loop is unrolled once, so that what is taken out of its first round is in the stem.
    let mut letters = word.letters.clone();
    letters.extend_from_within(word.loop_start..);
    let loop_start = word.letters.len();
    let removable: Vec<usize> = (1..letters.len())
        .filter(|&idx| letters[idx] == letters[idx - 1] && idx != loop_start)
        .collect();
    let mut answers = Vec::new();
    for choice in 0..1u32 << removable.len().min(16) {
        let is_out = |idx: &usize| {
            removable.iter().position(|it| it == idx).is_some_and(|at| choice >> at & 1 == 1)
        };
        let kept: Vec<usize> = (0..letters.len()).filter(|idx| !is_out(idx)).collect();
        let start = kept.iter().position(|&idx| idx >= loop_start).expect("a letter stays");
        let shorter: Vec<u64> = kept.iter().map(|&idx| letters[idx]).collect();
        answers.push(formula.holds_on(&shorter, start));
    }
    answers.contains(&true) && answers.contains(&false)
}

#[test]
fn hoa_reads_what_it_writes() {
    let mut numbers = Numbers(0xdada);
    for _ in seeds(0..300) {
        let size = 1 + numbers.below(8);
        let formula = numbers.formula(size);
        let [automaton, negation] = automata(&formula);
        let text = hoa::write(&automaton, "a \"quoted\" name");
        let again = hoa::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(again.atoms, automaton.atoms);
        assert_eq!(common_word(&again, &negation), None, "{text}");
        for _ in 0..30 {
            let word = numbers.word();
            assert_eq!(accepts(&again, &word), accepts(&automaton, &word), "{text}");
        }
    }
}

/// Accepts what begins with these letters.
fn beginning_with(letters: &[u64]) -> Automaton {
    let edge = |(idx, &letter): (usize, &u64)| {
        let guard = Cube { holds: letter, fails: !letter & ((1 << N_ATOMS) - 1) };
        State { is_accepting: false, edges: vec![Edge { guard, target: idx + 1 }] }
    };
    let mut states: Vec<State> = letters.iter().enumerate().map(edge).collect();
    let stay = Edge { guard: Cube::TRUE, target: letters.len() };
    states.push(State { is_accepting: true, edges: vec![stay] });
    Automaton { atoms: atoms(), states }
}

/// A prefix is told to be bad only if no word that begins with it satisfies the formula; and if the
/// automaton is terminal, every violation has one, told as soon as it is one.
#[test]
fn bad_prefixes_decide_safety() {
    let mut numbers = Numbers(0x5eed_5afe);
    let (mut n_safety, mut n_bad, mut n_late) = (0, 0, 0);
    let all = words(3);
    for size in 1..=8 {
        for _ in 0..150 {
            let formula = numbers.formula(size);
            let [positive, _] = automata(&formula);
            let (negative, _) = negated_terminal(&formula, &atoms()).expect("it is small");
            let universal = negative.universal();
            let is_safety = negative.is_terminal(&universal);
            n_safety += usize::from(is_safety);
            for word in &all {
                let violates = !formula.holds_on(&word.letters, word.loop_start);
                assert_eq!(accepts(&negative, word), violates, "{formula:?} {word:?}");
                let around = word.letters[word.loop_start..].iter().cycle();
                let before = word.letters[..word.loop_start].iter();
                let long: Vec<u64> = before.chain(around).copied().take(24).collect();
                let is_bad = negative.is_bad_prefix(&universal, &long);
                assert!(violates || !is_bad, "{formula:?} {word:?}");
                assert!(!(is_safety && violates) || is_bad, "{formula:?} {word:?}");
            }
            for word in all.iter().filter(|word| word.loop_start == 0) {
                let is_told = negative.is_bad_prefix(&universal, &word.letters);
                let is_bad = common_word(&positive, &beginning_with(&word.letters)).is_none();
                assert!(is_bad || !is_told, "{formula:?} {word:?}");
                n_bad += usize::from(is_bad);
                n_late += usize::from(is_bad && !is_told && is_safety);
            }
        }
    }
    assert!(n_safety > share(400) && n_bad > share(1000), "{n_safety} {n_bad}");
    assert_eq!(n_late, 0, "of {n_bad}");
}
