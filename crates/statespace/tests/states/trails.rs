//! Trails: SPIN follows ours, and we follow SPIN's.

use crate::installed::{self, Copied};
use mazurka_core::Verdict;
use mazurka_model::Action;
use mazurka_statespace::{Options, TrailError, search};

/// The numbers of the ends of all processes are right only if all statements before them are
/// counted.
#[test]
fn statements_have_the_numbers_of_spin() {
    let (mut n_models, mut n_ends, mut wrong) = (0, 0, Vec::new());
    for path in installed::models() {
        let copied = Copied::new(&path);
        if !copied.spin(&["-o3", "-a"]).0 {
            continue;
        }
        n_models += 1;
        let table = std::fs::read_to_string(copied.file("pan.t")).expect("SPIN writes it");
        let ends = table.lines().filter(|line| line.contains("\"-end-\""));
        let number = |line: &str| line.split("settr(").nth(1)?.split(',').next()?.parse().ok();
        let theirs: Vec<u32> = ends.filter_map(number).collect();
        let program = copied.model().program;
        // An end that is never reached is not among ours.
        let edges = program.routines.iter().flat_map(|routine| routine.edges());
        let ends = edges.filter(|(_, edge)| matches!(edge.action, Action::Return { .. }));
        let ours: Vec<u32> = ends.filter_map(|(_, edge)| edge.number).collect();
        n_ends += ours.len();
        if !ours.iter().all(|end| theirs.contains(end)) {
            wrong.push(format!("{}: {theirs:?} {ours:?}", path.display()));
        }
    }
    assert!(n_models > 80 && n_ends > 100, "{n_models} models, {n_ends} ends");
    assert!(wrong.is_empty(), "{} of {n_models}:\n{}", wrong.len(), wrong.join("\n"));
}

/// What SPIN says of a trail of ours.
fn followed_by_spin(copied: &Copied) -> (String, String) {
    let machine = copied.machine();
    let outcome = search(&machine, &Options::default()).expect("the options go together");
    let Verdict::Violated(found) = outcome.verdict else { panic!("{} holds", copied.name) };
    let trail = machine.trail(&found.schedule, None).expect("every statement has a number");
    assert_eq!(machine.follow(&trail), Ok(found.schedule.clone()), "{trail}");
    std::fs::write(copied.file("our.trail"), trail).expect("there is room for it");
    let (_, said) = copied.spin(&["-t", "-k", "our.trail"]);
    (found.violation.message, said)
}

#[test]
fn spin_follows_our_trails() {
    let fails = "text of failed assertion";
    for (model, message, wanted) in [
        ("Book_1991/p96.1.pml", "invalid end state", "trail ends after"),
        ("Book_1991/p116.pml", "", ""),
        ("Book_1991/p312.pml", "assertion", fails),
        ("Book_1991/p105.1.pml", "invalid end state", "trail ends after"),
        ("Book_1991/p319.pml", "", ""),
        ("snoopy.pml", "", ""),
        ("werkplaats.pml", "", ""),
    ] {
        let copied = Copied::new(&installed::example(model));
        let (found, said) = followed_by_spin(&copied);
        assert!(found.contains(message), "{model}: {found}");
        assert!(said.contains(wanted), "{model}: {found}\n{said}");
        // A trail that SPIN cannot follow is lost.
        assert!(!said.contains("lost") && !said.contains("trail ends after 0"), "{model}:\n{said}");
        assert!(said.contains("trail ends after"), "{model}: {found}\n{said}");
        assert_eq!(found.contains("assertion violated"), said.contains(fails), "{model}:\n{said}");
    }
}

#[test]
fn we_follow_the_trails_of_spin() {
    for model in ["Book_1991/p116.pml", "Book_1991/p319.pml", "werkplaats.pml", "snoopy.pml"] {
        let copied = Copied::new(&installed::example(model));
        assert!(copied.make_verifier(&["-o3"], &["-DSAFETY", "-DNOCLAIM", "-DNOREDUCE"]));
        copied.verify(&["-m100000"]);
        let trail = std::fs::read_to_string(copied.file(&format!("{}.trail", copied.name)));
        let trail = trail.expect("SPIN finds something");
        let schedule = copied.machine().follow(&trail).unwrap_or_else(|error| {
            panic!("{model}: {error}\n{trail}");
        });
        assert!(schedule.len() > 1, "{model}:\n{trail}");
    }
}

#[test]
fn a_trail_of_something_else_is_refused() {
    let copied = Copied::new(&installed::example("Book_1991/p116.pml"));
    let machine = copied.machine();
    assert_eq!(machine.follow("1:0:8\n2:7:3\n"), Err(TrailError::Step(2)));
    assert_eq!(machine.follow("1:0:8\nhello\n"), Err(TrailError::Line(2)));
    assert_eq!(machine.follow("1:0:8\n2:0\n"), Err(TrailError::Line(2)));
    assert!(machine.follow("-4:-4:-4\n1:0:8\n").is_ok());
}
