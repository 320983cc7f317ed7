//! What searches under a memory model come to: violations, races, stories, shares, saved searches.

use mazurka_core::{MemoryModel, Verdict, ViolationKind};
use mazurka_explore::{Explorer, Options, Outcome, Reduction, Saved, Warning, WeakMemory, replay};
use mazurka_script::Script;

fn explore(text: &str, options: Options) -> Outcome {
    let script: Script = text.parse().expect("the script is right");
    Explorer::new(options).run(|| script.clone()).expect("the search comes to an end")
}

fn under(text: &str, model: MemoryModel) -> Outcome {
    explore(text, Options::new().memory(model))
}

#[track_caller]
fn violation(text: &str, model: MemoryModel) -> Option<ViolationKind> {
    match under(text, model).verdict {
        Verdict::Violated(found) => Some(found.violation.kind),
        Verdict::Holds(_) => None,
        other => panic!("{other:?}"),
    }
}

/// Message passing with relaxed orders fails, as weak memory alone makes it, and the story says
/// why.
#[test]
fn a_stale_read_is_told() {
    let text = "x.rlx=1; y.rlx=1 | if y.rlx == 1 { r1=x.rlx; assert(r1 == 1) }";
    for model in [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Ra] {
        assert_eq!(violation(text, model), None, "{model}");
    }
    let outcome = under(text, MemoryModel::Rc11);
    assert_eq!(outcome.warnings, [Warning::OnlyUnder(MemoryModel::Rc11)]);
    let Verdict::Violated(found) = outcome.verdict else { panic!("it is violated") };
    assert_eq!(found.violation.kind, ViolationKind::Assertion);
    let stale = found.story.iter().filter_map(|told| told.value.as_deref());
    assert_eq!(stale.collect::<Vec<_>>(), ["(stale: 1 since step 1)"]);
    // The printed schedule is all that is needed to see it again.
    let script: Script = text.parse().expect("the script is right");
    let printed = found.schedule.to_string();
    let schedule = printed.parse().expect("it was printed");
    let again = replay(&mut WeakMemory::new(script, MemoryModel::Rc11), &schedule);
    let (_, violation) = again.expect("it can be followed").violation.expect("it fails again");
    assert_eq!(violation, found.violation);
}

/// Whether a release and an acquire order plain accesses depends on who reads from whom.
#[test]
fn data_races_are_those_of_the_graph() {
    let published =
        |w: &str, r: &str| format!("plain(d)=1; y.{w}=1 | if y.{r} == 1 {{ r1=plain(d) }}");
    for (w, r, is_race) in
        [("rlx", "acq", true), ("rel", "rlx", true), ("rel", "acq", false), ("sc", "sc", false)]
    {
        let expected = is_race.then_some(ViolationKind::Race);
        assert_eq!(violation(&published(w, r), MemoryModel::Rc11), expected, "{w} {r}");
        // There, all atomics release and acquire.
        assert_eq!(violation(&published(w, r), MemoryModel::Ra), None, "{w} {r}");
    }
    let fenced = "plain(d)=1; fence(rel); y.rlx=1 | if y.rlx == 1 { fence(acq); r1=plain(d) }";
    assert_eq!(violation(fenced, MemoryModel::Rc11), None);
    // An older write is read although a newer one, which releases, was made before.
    let older = "y.rlx=1; plain(d)=1; y.rel=2 | r1=y.acq; if r1 == 1 { r2=plain(d) }";
    assert_eq!(violation(older, MemoryModel::Rc11), Some(ViolationKind::Race));
}

/// Known mistakes in small form, and the same without them.
#[test]
fn known_mistakes() {
    let weak = |text: &str, is_wrong: bool| {
        assert_eq!(violation(text, MemoryModel::Rc11).is_some(), is_wrong, "{text}");
    };
    // A spin lock that is given back by a relaxed store.
    for (order, is_wrong) in [("rlx", true), ("rel", false)] {
        let lock = "r1=cas(l.acq,0,1); if r1 == 1 { r2=plain(d); plain(d)=r2+1; l.ORDER=0 }";
        let thread = lock.replace("ORDER", order);
        weak(&format!("{thread} | {thread}"), is_wrong);
    }
    // A sequence lock whose reader and writer have no fences.
    let writer = "s.rlx=1; W x.rlx=1; y.rlx=1; s.rel=2";
    let reader = "r1=s.acq; r2=x.rlx; r3=y.rlx; R r4=s.rlx; \
                  if r1 == r4 { if r1 == 0 { r5=r2+r3; assert(r5 == 0) } }";
    for (w, r, is_wrong) in [("", "", true), ("fence(rel);", "fence(acq);", false)] {
        weak(&format!("{} | {}", writer.replace('W', w), reader.replace('R', r)), is_wrong);
    }
    // Data that a pointer publishes, as in RCU and in double-checked locking.
    for (w, is_wrong) in [("rlx", true), ("rel", false)] {
        let text = format!("x.rlx=7; p.{w}=1 | if p.acq == 1 {{ r1=x.rlx; assert(r1 == 7) }}");
        weak(&text, is_wrong);
        let text = format!(
            "acq(0); if p.rlx == 0 {{ plain(d)=7; p.{w}=1 }}; rel(0) | if p.acq == 1 {{ r1=plain(d) }}"
        );
        weak(&text, is_wrong);
    }
    // The last owner of a reference frees without having acquired what the others did.
    for (fence, is_wrong) in [("", true), ("fence(acq);", false)] {
        let owner = "r1=plain(d); r2=add(c.rel,1); if r2 == 1 { FENCE plain(d)=9 }";
        let owner = owner.replace("FENCE", fence);
        weak(&format!("{owner} | {owner}"), is_wrong);
    }
    // A work-stealing queue (Chase and Lev) of two elements: the owner takes the last one without a
    // compare-and-swap, since the top seems far away; a thief takes both, since the bottom seems
    // to be where it was.
    for (fence, is_wrong) in [("", true), ("fence(sc);", false)] {
        let owner = "b.rlx=1; FENCE r1=t.rlx; if r1 < 1 { r9=add(n,1) }";
        let thief = "r1=t.acq; FENCE r2=b.acq; if r2 > 0 { r3=cas(t,0,1) }; \
                     r4=t.acq; FENCE r5=b.acq; \
                     if r5 > 1 { r6=cas(t,1,2); if r6 == 1 { r9=add(n,1) } }";
        let text = format!("b=2 || {owner} | {thief} | r1=n; assert(r1 < 2)");
        weak(&text.replace("FENCE", fence), is_wrong);
    }
}

/// Threads that wait for each other, and one that waits for what never comes.
#[test]
fn deadlocks_are_found() {
    let text = "acq(0); acq(1); rel(1); rel(0) | acq(1); acq(0); rel(0); rel(1)";
    for model in MemoryModel::ALL {
        assert_eq!(violation(text, model), Some(ViolationKind::Deadlock), "{model}");
    }
    // The flag is not seen, so no thread is told: weak memory alone makes that possible.
    let text =
        "x.rlx=1; r1=y.rlx; if r1 == 0 { down(0) } | y.rlx=1; r1=x.rlx; if r1 == 0 { down(0) }";
    let text = format!("sem(0)=1 || {text}");
    assert_eq!(violation(&text, MemoryModel::Sc), None);
    assert_eq!(violation(&text, MemoryModel::Tso), Some(ViolationKind::Deadlock));
}

/// What has no meaning in a graph is refused, and not explored in some other way.
#[test]
fn what_is_not_known_is_refused() {
    for text in ["await(x == 1) | x=1", "send(0,1) | r1=recv(0)"] {
        let text = if text.contains("send") { format!("chan(0)=1 || {text}") } else { text.into() };
        assert_eq!(violation(&text, MemoryModel::Rc11), Some(ViolationKind::Unsupported), "{text}");
    }
    let text = "acq(0); wait(0,0); rel(0) | r1=tryacq(0)";
    assert_eq!(violation(text, MemoryModel::Rc11), Some(ViolationKind::Unsupported));
    let options = Options::new().memory(MemoryModel::Rc11);
    let errors = [
        options.clone().reduction(Reduction::Dpor).errors(),
        options.clone().bound(mazurka_explore::BoundKind::Preemption, 1).errors(),
        options.stateful(true).errors(),
    ];
    for errors in errors {
        assert!(errors.iter().any(|it| it.to_string().contains("--memory rc11")), "{errors:?}");
    }
}

/// Where accesses and mutexes are all there is, a graph of sequential consistency is a trace.
#[test]
fn graphs_of_sequential_consistency_are_traces() {
    let programs = [
        "x=1; r1=y | y=1; r1=x",
        "r1=add(x,1); r2=y | r1=add(x,1); y=1 | r1=x; y=2",
        "acq(0); x=1; rel(0) | acq(0); r1=x; rel(0) | r1=tryacq(0); if r1 == 1 { rel(0) }",
        "x=1; y=1; z=1 | r1=z; r2=y; r3=x | x=2; r1=z",
        "acq(0); wait(0,0); rel(0) | acq(0); notify(0); rel(0) | acq(0); notifyall(0); rel(0)",
    ];
    for text in programs {
        let all = |options: Options| {
            let mut options = options;
            options.stop_at_first = false;
            explore(text, options).statistics.executions
        };
        let traces = all(Options::new());
        assert_eq!(all(Options::new().memory(MemoryModel::Sc)), traces, "{text}");
    }
}

/// Several workers, little room, and a search that is saved again and again come to the same.
#[test]
fn shared_and_saved_searches_find_the_same() {
    let text =
        "x.rlx=1; r1=y.rlx; z.rlx=1 | y.rlx=1; r1=z.rlx; x.rlx=2 | z.rlx=2; r1=x.rlx; r2=y.rlx";
    let options = || {
        let mut options = Options::new().memory(MemoryModel::Rc11);
        options.stop_at_first = false;
        options
    };
    let expected = explore(text, options()).statistics.executions;
    assert!(expected > 100, "{expected}");
    let mut shared = options();
    shared.jobs = 3;
    assert_eq!(explore(text, shared).statistics.executions, expected);
    for room in [0, 7] {
        let mut eager = options();
        eager.room = room;
        assert_eq!(explore(text, eager).statistics.executions, expected, "{room}");
    }
    let script: Script = text.parse().expect("the script is right");
    let mut saved: Option<Saved> = None;
    let total = loop {
        let mut options = options();
        options.max_executions = Some(37);
        let mut explorer = Explorer::new(options);
        if let Some(saved) = saved.take() {
            let bytes = saved.to_bytes();
            explorer = explorer.resume(Saved::from_bytes(&bytes).expect("it was written so"));
        }
        let outcome = explorer.run(|| script.clone()).expect("the search comes to an end");
        match outcome.saved {
            Some(rest) => saved = Some(rest),
            None => break outcome.statistics.executions,
        }
    };
    assert_eq!(total, expected);
}
