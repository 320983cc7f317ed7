//! Data races are found where plain accesses are in fact unordered, and nowhere else.
//!
//! The judge is enumeration again: an access is over once its thread has taken its next step, or
//! was joined; until then, a conflicting one races with it. Two accesses that
//! nothing orders can always be brought that close, since all that is not before either of
//! them can be left out.

use crate::support::{all_options, name, script};
use expect_test::{Expect, expect};
use mazurka_core::{
    Decision, Next, Operation, PlainAccess, Schedule, System, ThreadId, ThreadSet, Verdict,
};
use mazurka_effort::{seeds, share};
use mazurka_explore::{Explorer, Options};
use mazurka_script::{Script, Shape, generate, shrink};

/// Whether some interleaving has a race; `None` if there are more than `max`.
fn has_race(script: &Script, max: usize) -> Option<bool> {
    let mut script = script.clone();
    script.reset();
    let fresh = vec![Vec::new(); script.n_threads()];
    let mut search = Enumeration { script, schedule: Schedule::new(), found: false, n_left: max };
    search.go(&fresh, ThreadSet::EMPTY);
    (search.found || search.n_left > 0).then_some(search.found)
}

struct Enumeration {
    script: Script,
    schedule: Schedule,
    found: bool,
    n_left: usize,
}

impl Enumeration {
    /// All that can follow. `fresh` has the accesses of each thread's last step.
    fn go(&mut self, fresh: &[Vec<PlainAccess>], joined: ThreadSet) {
        let depth = self.schedule.len();
        let mut has_ended = true;
        for thread in (0..self.script.n_threads()).map(ThreadId::new) {
            let Next::Enabled { operation, choices } = self.script.next(thread) else { continue };
            has_ended = false;
            for choice in 0..choices {
                let decision = Decision { thread, choice };
                let _ = self.script.step(decision);
                self.schedule.push(decision);
                let mut joined = joined;
                if let Operation::Join(other) = operation {
                    joined.insert(other);
                }
                let mut after = fresh.to_vec();
                after[thread.index()] = self.script.accesses().to_vec();
                self.found |= races(&after, thread, joined);
                if !self.found && self.n_left > 0 {
                    self.go(&after, joined);
                }
                self.script.rewind(&self.schedule, depth).expect("scripts repeat");
                self.schedule.truncate(depth);
            }
        }
        self.n_left = self.n_left.saturating_sub(usize::from(has_ended));
    }
}

/// Whether the last step of `thread` conflicts with the last one of another thread.
fn races(fresh: &[Vec<PlainAccess>], thread: ThreadId, joined: ThreadSet) -> bool {
    let others = fresh
        .iter()
        .enumerate()
        .filter(|&(idx, _)| idx != thread.index() && !joined.contains(ThreadId::new(idx)));
    let mut others = others.flat_map(|(_, accesses)| accesses);
    others.any(|other| {
        let mut mine = fresh[thread.index()].iter();
        mine.any(|access| access.object == other.object && (access.write || other.write))
    })
}

fn run(script: &Script, mut options: Options) -> Verdict {
    // Only races can go wrong then.
    options.deadlock = false;
    let outcome = Explorer::new(options).run(|| script.clone());
    outcome.unwrap_or_else(|error| panic!("{script}\n{error}")).verdict
}

#[test]
fn on_random_programs() {
    // Arrays have ends, beyond which other things go wrong.
    let everything = Shape { plain: true, assertions: false, arrays: false, ..Shape::everything() };
    let locks = Shape { plain: true, branches: false, cas: false, ..Shape::locks() };
    let variables = Shape { plain: true, ..Shape::variables() };
    let wrong = |script: &Script| {
        let expected = if has_race(script, 1_500)? { "violated" } else { "holds" };
        all_options().into_iter().find_map(|options| {
            let verdict = run(script, options.clone());
            let is_wrong = verdict.name() != expected;
            is_wrong.then(|| format!("{} says {}", name(&options), verdict.name()))
        })
    };
    let (mut n_racy, mut n_free) = (0, 0);
    for shape in [everything, locks, variables] {
        for seed in seeds(0..1_000) {
            let script = generate(seed, &shape);
            match has_race(&script, 1_500) {
                Some(true) => n_racy += 1,
                Some(false) if script.to_string().contains("plain") => n_free += 1,
                _ => {}
            }
            if let Some(what) = wrong(&script) {
                let small = shrink(&script, |smaller| wrong(smaller).is_some());
                panic!("seed {seed}: {what}\n  {script}\nshrunk: {:?}\n  {small}", wrong(&small));
            }
        }
    }
    assert!(n_racy > share(100) && n_free > share(100), "{n_racy} have races, {n_free} have none");
}

/// What the default search says; every other one, and enumeration, come to the same.
fn check(text: &str, expect: Expect) {
    let script = script(text);
    let verdict = run(&script, Options::new());
    let is_violated = matches!(verdict, Verdict::Violated(_));
    assert_eq!(has_race(&script, 100_000), Some(is_violated), "{text}");
    for options in all_options() {
        assert_eq!(run(&script, options.clone()).name(), verdict.name(), "{}", name(&options));
    }
    expect.assert_eq(&match verdict {
        Verdict::Violated(counterexample) => counterexample.violation.message,
        other => other.name().to_owned(),
    });
}

#[test]
fn plain_accesses() {
    check(
        "plain(p)=1 | plain(p)=2",
        expect![
            "data race on `p`: T0 writes it at step 1 and T1 writes it at step 2, and nothing orders the two"
        ],
    );
    check(
        "plain(p)=1 | r=plain(p)",
        expect![
            "data race on `p`: T0 writes it at step 1 and T1 reads it at step 2, and nothing orders the two"
        ],
    );
    check("r=plain(p) | r=plain(p)", expect!["holds"]);
    check("plain(p)=1 | plain(q)=2", expect!["holds"]);
    // Whether they meet depends on what was read.
    check(
        "x=1; plain(p)=1 | r=x; if r==0 { r=plain(p) }",
        expect![
            "data race on `p`: T1 reads it at step 1 and T0 writes it at step 2, and nothing orders the two"
        ],
    );
}

#[test]
fn messages_are_passed_through_an_atomic() {
    check("plain(p)=1; x=1 | if x==1 { r=plain(p); assert(r == 1) }", expect!["holds"]);
    check("plain(p)=1; x=1 | await(x==1); r=plain(p); assert(r == 1)", expect!["holds"]);
    check(
        "plain(p)=1; x=1 | r=cas(x,1,2); if r==1 { r=plain(p); assert(r == 1) }",
        expect!["holds"],
    );
    // Too early, or not looked at.
    check(
        "x=1; plain(p)=1 | if x==1 { r=plain(p) }",
        expect![
            "data race on `p`: T0 writes it at step 1 and T1 reads it at step 2, and nothing orders the two"
        ],
    );
    check(
        "plain(p)=1; x=1 | r=x; r=plain(p)",
        expect![
            "data race on `p`: T0 writes it at step 1 and T1 reads it at step 2, and nothing orders the two"
        ],
    );
    // A load publishes nothing.
    check(
        "plain(p)=1; r=x | x=1; r=plain(p)",
        expect![
            "data race on `p`: T0 writes it at step 1 and T1 reads it at step 2, and nothing orders the two"
        ],
    );
}

#[test]
fn locks_order_what_they_guard() {
    check("acq(0); plain(p)=1; rel(0) | acq(0); plain(p)=2; rel(0)", expect!["holds"]);
    check(
        "acq(0); plain(p)=1; rel(0) | acq(1); plain(p)=2; rel(1)",
        expect![
            "data race on `p`: T0 writes it at step 1 and T1 writes it at step 3, and nothing orders the two"
        ],
    );
    check(
        "acq(0); plain(p)=1; rel(0) | acq(0); rel(0); plain(p)=2",
        expect![
            "data race on `p`: T1 writes it at step 2 and T0 writes it at step 3, and nothing orders the two"
        ],
    );
    check(
        "acq(0); plain(p)=1; rel(0) | r=tryacq(0); if r==1 { plain(p)=2; rel(0) }",
        expect!["holds"],
    );
    check(
        "acq(0); plain(p)=1; rel(0) | r=tryacq(0); plain(p)=2",
        expect![
            "data race on `p`: T0 writes it at step 1 and T1 writes it at step 2, and nothing orders the two"
        ],
    );
    check(
        "wacq(0); plain(p)=1; wrel(0) | racq(0); r=plain(p); rrel(0) | racq(0); r=plain(p); rrel(0)",
        expect!["holds"],
    );
    check(
        "racq(0); plain(p)=1; rrel(0) | racq(0); r=plain(p); rrel(0)",
        expect![
            "data race on `p`: T0 writes it at step 1 and T1 reads it at step 3, and nothing orders the two"
        ],
    );
}

#[test]
fn other_synchronisation() {
    check("plain(p)=1; send(0,1) | recv(0); r=plain(p); assert(r == 1)", expect!["holds"]);
    check(
        "send(0,1); plain(p)=1 | recv(0); r=plain(p)",
        expect![
            "data race on `p`: T0 writes it at step 1 and T1 reads it at step 2, and nothing orders the two"
        ],
    );
    check("chan(0)=1 || send(0,1); send(0,1); plain(p)=1 | plain(p)=2; recv(0)", expect!["holds"]);
    check(
        "spawn(1); plain(p)=1 | plain(p)=2",
        expect![
            "data race on `p`: T0 writes it at step 1 and T1 writes it at step 2, and nothing orders the two"
        ],
    );
    check(
        "plain(p)=1; spawn(1); join(1); r=plain(p); assert(r == 2) | plain(p)=2",
        expect!["holds"],
    );
    check(
        "plain(p)=1; spawn(1); r=plain(p) | plain(p)=2",
        expect![
            "data race on `p`: T0 reads it at step 2 and T1 writes it at step 3, and nothing orders the two"
        ],
    );
    check("sem(0)=0 || plain(p)=1; up(0) | down(0); r=plain(p); assert(r == 1)", expect!["holds"]);
    check("bar(0)=2 || plain(p)=1; bar(0) | bar(0); r=plain(p); assert(r == 1)", expect!["holds"]);
    check(
        "bar(0)=2 || bar(0); plain(p)=1 | bar(0); r=plain(p)",
        expect![
            "data race on `p`: T1 reads it at step 3 and T0 writes it at step 4, and nothing orders the two"
        ],
    );
    check(
        "acq(0); if x==0 { wait(0,0) }; r=plain(p); rel(0) | acq(0); plain(p)=1; x=1; notify(0); rel(0)",
        expect!["holds"],
    );
}
