//! The cost of a step, in instructions: flat in the depth, and at most linear in the threads.
//!
//! Counts by callgrind, so that nothing else on the machine matters. Needs valgrind, and says so if
//! it is missing. The program that is measured has its debug assertions; the rates of an optimised
//! one are in `RESULTS.md`.

use std::process::Command;

/// The instructions and the steps of one search.
struct Cost {
    instructions: f64,
    steps: f64,
    executions: f64,
}

impl Cost {
    fn per_step(&self) -> f64 {
        self.instructions / self.steps
    }
}

fn cost(reduction: &str, program: &str) -> Cost {
    let name =
        format!("mazurka-flat-{}-{reduction}-{}", std::process::id(), program.replace('/', "_"));
    let out = std::env::temp_dir().join(name);
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--log-file={}", out.display()))
        .arg(env!("CARGO_BIN_EXE_explore"))
        .args([reduction, program])
        .output()
        .unwrap_or_else(|error| panic!("valgrind is needed (`apt-get install valgrind`): {error}"));
    let table = String::from_utf8(output.stdout).expect("it is there");
    assert!(output.status.success(), "{table}\n{}", String::from_utf8_lossy(&output.stderr));
    let row: Vec<&str> = table.lines().last().expect("it is there").split_whitespace().collect();
    let log = std::fs::read_to_string(&out).expect("it is there");
    std::fs::remove_file(&out).expect("it is there");
    let collected =
        log.lines().find_map(|line| line.split_once("Collected :")).expect("it is there").1;
    Cost {
        instructions: collected.trim().parse().expect("it is there"),
        steps: row[5].parse().expect("it is there"),
        executions: row[3].parse().expect("it is there"),
    }
}

#[test]
fn a_step_costs_the_same_at_any_depth() {
    if !mazurka_effort::has_tool("valgrind") {
        return;
    }
    // What was measured, debug assertions included, and 15 % more: a slower step is noticed.
    for (reduction, budget) in [("dpor", 5_100.0), ("optimal", 3_000.0)] {
        // The same conflicts, with more and more private steps between them.
        let short = cost(reduction, "long4x50/10");
        let long = cost(reduction, "long4x200/40");
        assert_eq!(short.executions, long.executions, "{reduction}: the same traces");
        let (near, far) = (short.per_step(), long.per_step());
        let shown = format!("{reduction}: {near:.0} instructions a step at 200, {far:.0} at 800");
        assert!(far < 1.25 * near, "{shown}");
        assert!(near < budget, "{shown}");
    }
}

#[test]
fn a_step_costs_at_most_linearly_more_with_more_threads() {
    if !mazurka_effort::has_tool("valgrind") {
        return;
    }
    for reduction in ["dpor", "optimal"] {
        // One trace each. What reading the program costs drops out of the difference.
        let per_step = |threads: usize| {
            let [short, long] =
                [50, 150].map(|len| cost(reduction, &format!("private{threads}x{len}")));
            (long.instructions - short.instructions) / (long.steps - short.steps)
        };
        let (near, far) = (per_step(4), per_step(32));
        let shown =
            format!("{reduction}: {near:.0} instructions a step with 4 threads, {far:.0} with 32");
        assert!(far < 8.0 * near, "{shown}");
    }
}
