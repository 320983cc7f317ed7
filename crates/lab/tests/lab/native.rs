//! The C programs of the lab have as many executions as they have traces.

use mazurka_lab::native::Case;

/// Small sizes; the counts are those of the published tables.
const CASES: [(&str, u32, u64); 16] = [
    ("indexer", 11, 1),
    ("indexer", 12, 8),
    ("indexer", 13, 64),
    ("filesystem", 13, 1),
    ("filesystem", 16, 8),
    ("filesystem", 18, 32),
    ("readers", 3, 8),
    ("readers", 8, 256),
    ("nwriters", 4, 24),
    ("nwriters", 6, 720),
    ("fib", 3, 141),
    ("fib", 4, 1_107),
    ("lastzero", 6, 144),
    ("lastzero", 8, 704),
    ("increments", 3, 1_680),
    ("bigheap", 16, 12_870),
];

#[test]
fn one_execution_of_every_trace() {
    let folder = std::env::temp_dir().join(format!("mazurka-lab-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let mut wrong = Vec::new();
    for (name, size, traces) in CASES {
        let case = Case { name, size, traces, genmc: None };
        match case.explore(&folder) {
            Ok(measured) if measured.executions == traces => {}
            Ok(measured) => wrong.push(format!("{name}({size}): {}", measured.executions)),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Ten times as many executions of one program take as much memory.
#[test]
fn memory_is_flat() {
    let folder = std::env::temp_dir().join(format!("mazurka-lab-flat-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let case = Case { name: "increments", size: 6, traces: 17_153_136, genmc: None };
    let peak = |executions: u64| {
        let measured = case.explore_first(&folder, executions).expect("it can be explored");
        assert_eq!(measured.executions, executions);
        measured.peak_memory
    };
    let (few, many) = (peak(100_000), peak(1_000_000));
    let _ = std::fs::remove_dir_all(&folder);
    // One byte more for each execution would be seen.
    assert!(many < few + (1 << 19), "{few} bytes for few executions, {many} for many");
}
