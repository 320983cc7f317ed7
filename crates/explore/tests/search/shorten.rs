//! Shortening: no execution with fewer preemptions, switches or steps goes wrong, by enumeration.

use mazurka_core::{Cost, Decision, Next, System as _, ThreadId, Verdict, ViolationKind};
use mazurka_explore::{Explorer, Options, Outcome, replay};
use mazurka_script::{Script, Shape, generate};

fn shortened(program: &Script, ladder: bool) -> Outcome {
    let mut options = Options::new();
    (options.shorten, options.ladder) = (true, ladder);
    Explorer::new(options).run(|| program.clone()).expect("the options go together")
}

/// The least cost of an execution that violates an assertion, by plain enumeration; `None` if there
/// are too many executions.
struct Enumeration {
    least: Option<Cost>,
    left: u32,
}

impl Enumeration {
    fn of(program: &Script) -> Option<Option<Cost>> {
        let mut all = Self { least: None, left: 200_000 };
        let mut system = program.clone();
        system.reset();
        all.go(&system, None, Cost::default()).then_some(all.least)
    }

    fn go(&mut self, system: &Script, last: Option<ThreadId>, before: Cost) -> bool {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || before.steps > 60 {
            return false;
        }
        (0..system.n_threads()).map(ThreadId::new).all(|thread| {
            let Next::Enabled { choices, .. } = system.next(thread) else { return true };
            (0..choices).all(|choice| {
                let left = last.filter(|&last| last != thread);
                let could = |it: ThreadId| matches!(system.next(it), Next::Enabled { .. });
                let cost = Cost {
                    preemptions: before.preemptions + u32::from(left.is_some_and(could)),
                    switches: before.switches + u32::from(left.is_some()),
                    steps: before.steps + 1,
                };
                let mut after = system.clone();
                match after.step(Decision { thread, choice }) {
                    Ok(_) => self.go(&after, Some(thread), cost),
                    Err(failure) => {
                        if failure.violation.kind == ViolationKind::Assertion {
                            self.least = Some(self.least.map_or(cost, |least| least.min(cost)));
                        }
                        true
                    }
                }
            })
        })
    }
}

#[test]
fn no_failing_execution_of_a_random_program_is_shorter() {
    let mut n_shortened = 0;
    for seed in mazurka_effort::seeds(0..2_000) {
        let program = generate(seed, &Shape::everything());
        for ladder in [false, true] {
            let outcome = shortened(&program, ladder);
            let Verdict::Violated(found) = &outcome.verdict else { continue };
            if found.violation.kind != ViolationKind::Assertion {
                continue;
            }
            let Some(Some(least)) = Enumeration::of(&program) else { continue };
            let shortest = outcome.shortest.expect("it was asked for");
            let is_least = shortest.has_fewest_preemptions
                && shortest.has_fewest_switches
                && shortest.has_fewest_steps;
            assert!(is_least, "seed {seed}, {program}: {shortest:?}");
            assert_eq!(shortest.cost, least, "seed {seed}, ladder {ladder}: {program}");
            assert_eq!(found.execution.steps.len(), least.steps as usize);
            n_shortened += 1;
        }
    }
    assert!(n_shortened >= mazurka_effort::share(60), "{n_shortened}");
}

#[test]
fn a_lost_update_is_shown_with_one_preemption_in_as_few_steps_as_there_are() {
    let text = "spawn(1); spawn(2); join(1); join(2); r=x; assert(r==2) | r=x; x=r+1; y=1; y=2 \
                | z=1; r=x; x=r+1; z=2";
    let program: Script = text.parse().expect("it is a program");
    let outcome = shortened(&program, true);
    let shortest = outcome.shortest.expect("it was asked for");
    assert_eq!(shortest.cost.preemptions, 1);
    let Verdict::Violated(found) = outcome.verdict else { panic!("{:?}", outcome.verdict) };
    let again = replay(&mut program.clone(), &found.schedule).expect("it can be followed");
    assert_eq!(again.violation.map(|(_, it)| it.kind), Some(ViolationKind::Assertion));
}
