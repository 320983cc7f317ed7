//! What an engine does not take is refused: all of it at once, with the engines that do.

use mazurka_check::{ENGINES, Options, Task, choose, engine};

/// All that is said of a task, a line each.
fn refused(file: &str, engine_name: &str, options: &[(&str, &str)]) -> Vec<String> {
    let folder = std::env::temp_dir().join(format!("mazurka-support-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room");
    let path = folder.join(file);
    std::fs::write(&path, "int main(void) { return 0; }\n").expect("there is room");
    let mut task = Task::files([path]).options(Options::new());
    options
        .iter()
        .for_each(|(name, value)| task.options.set(name, value).expect("it is an option"));
    let faults = task.faults_for(engine(engine_name).expect("it is an engine"));
    faults.iter().map(|fault| fault.message.clone()).collect()
}

#[test]
fn all_mistakes_are_told_at_once() {
    let models = "`vm`, `statespace`, `bmc`, `induction`, `ic3`, `bdd` and `portfolio`";
    assert_eq!(
        refused(
            "x.c",
            "native",
            &[("spurious-wakeups", "on"), ("nondet", "0..1"), ("property", "overflow,race")]
        ),
        [
            format!("`--spurious-wakeups` is for `--engine` {models}"),
            format!("`--nondet` is for `--engine` {models}"),
            format!("`--property overflow` is for `--engine` {models}"),
        ]
    );
    assert_eq!(
        refused("x.c", "vm", &[("proof", "p"), ("trail", "t"), ("reduction", "ample")]),
        [
            "`--reduction ample` is for `--engine statespace`",
            "`--trail` is for Promela models",
            "`--proof` is for `--engine` `bmc`, `induction`, `ic3`, `bdd` and `portfolio`",
        ]
    );
    assert_eq!(
        refused("x.c", "bmc", &[("bound", "preemption=1"), ("property", "leak")]),
        [
            "`--bound` is for `--engine` `native` and `vm`",
            "`--property leak` is for `--engine` `native`, `vm` and `statespace`",
        ]
    );
    assert_eq!(
        refused("x.pml", "bmc", &[("depth", "5")]),
        ["`--engine bmc` is for C programs"],
        "its own options are no further mistake"
    );
    assert_eq!(refused("x.cc", "vm", &[]), ["`--engine vm` is for C programs"], "C++ has no model");
}

/// Options that go together are not refused, and whatever is refused names an engine that takes it.
#[test]
fn whatever_is_refused_is_taken_by_another() {
    for &engine in ENGINES {
        for fault in Task::files(["nothing.c"]).faults_for(engine) {
            assert_eq!(fault.message, "`nothing.c` does not exist");
        }
    }
    let model = Task::files(["x.pml"]);
    assert_eq!(choose(&model, true).0.name(), "statespace");
    let program = Task::files(["x.c", "y.cc"]);
    assert_eq!(choose(&program, true).0.name(), "native");
    let (model, why) = choose(&Task::files(["x.c"]), false);
    assert_eq!((model.name(), why.is_some()), ("vm", true));
}

#[test]
fn what_is_no_program_is_told_what_to_use() {
    let help = |name: &str, inside: &str| {
        let folder = std::env::temp_dir().join(format!("mazurka-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("there is room");
        std::fs::write(folder.join(inside), "").unwrap();
        let faults = Task::files([&folder]).input.language().unwrap_err();
        faults[0].help.clone().unwrap()
    };
    assert!(help("cargo", "Cargo.toml").contains("mazurka test --manifest-path"));
    assert!(help("make", "Makefile").contains("make -C"));
    assert!(help("cmake", "CMakeLists.txt").contains("cmake --build"));
    let rust = Task::files([concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs")]).input.language();
    assert!(rust.unwrap_err()[0].help.as_deref().unwrap().contains("mazurka test"));
}
