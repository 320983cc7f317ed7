//! The programs of `corpus/c` as circuits: what their first lines expect is what all states say.

mod kit;

use mazurka_explore::replay;
use mazurka_model::{Races, Vm};
use mazurka_symbolic::{Encode, Interleaving, Meaning, encode};
use std::path::{Path, PathBuf};

#[test]
fn tried() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c");
    let wanted = std::env::var("ONLY").unwrap_or_default();
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|entry| entry.expect("the corpus can be read").path())
        .filter(|path| path.extension().is_some_and(|it| it == "c"))
        .filter(|path| path.to_string_lossy().contains(&wanted))
        .collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a program can be read");
        for line in text.lines().filter_map(|line| line.strip_prefix("// expect")) {
            let (flags, verdict) = line.split_once(':').expect("flags and a verdict");
            let flags: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
            if flags.iter().any(|it| it.contains("leak")) {
                continue;
            }
            let name =
                format!("{} {}", file.file_name().unwrap().to_string_lossy(), flags.join(" "));
            let options = mazurka_c::Options { flags, ..Default::default() };
            let program = mazurka_c::translate(std::slice::from_ref(&file), &options).unwrap();
            let start = std::time::Instant::now();
            let encoding = match encode(&program, &Encode::default(), &Interleaving) {
                Ok(encoding) => encoding,
                Err(refusals) => {
                    println!("{name}: REFUSED {refusals:?}");
                    continue;
                }
            };
            let circuit = &encoding.circuit;
            print!(
                "{name}: {} latches {} inputs {} ands {} bads {:.2}s; expected{verdict}; ",
                circuit.latches.len(),
                circuit.inputs.len(),
                circuit.aig.n_ands(),
                circuit.bads.len(),
                start.elapsed().as_secs_f64()
            );
            if circuit.inputs.len() > 12 {
                println!("too many inputs");
                continue;
            }
            let found = kit::search(circuit, 20_000);
            print!("{} states{}", found.n_states, if found.is_cut { " CUT" } else { "" });
            for (idx, witness) in found.witnesses.iter().enumerate() {
                let Some(witness) = witness else { continue };
                if let Meaning::Bound(_) = encoding.meanings[idx] {
                    print!("; {}", circuit.bads[idx].name);
                    continue;
                }
                let mut vm = Vm::new(program.clone(), Races::Error).unwrap();
                let lifted = encoding.lift(witness, &mut vm).unwrap();
                let mut vm = Vm::new(program.clone(), Races::Error).unwrap();
                let replay = replay(&mut vm, &lifted.schedule).unwrap();
                let seen = replay.violation.clone().map(|(_, it)| it.kind.name());
                let seen = seen.or(replay.deadlock(&vm).map(|it| it.kind.name()));
                print!(
                    "; {} at {} whole {} seen {seen:?}",
                    circuit.bads[idx].name,
                    witness.depth(),
                    lifted.is_whole
                );
            }
            println!();
        }
    }
}
