//! The models that are installed with SPIN: whatever SPIN accepts is accepted here, and nothing
//! else.

use mazurka_effort::has_tool;
use mazurka_promela::{Options, translate};
use std::path::{Path, PathBuf};
use std::process::Command;

const EXAMPLES: &str = "/usr/share/doc/spin/examples";

/// All models below a folder.
fn models(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("SPIN and its examples are installed");
    for entry in entries {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            models(&path, found);
        } else if path.extension().is_some_and(|it| it == "pml") {
            found.push(path);
        }
    }
    found.sort();
}

/// Whether SPIN can make a verifier of a model. It looks for included files where it runs.
fn is_accepted_by_spin(model: &Path) -> bool {
    let folder = tempfile::tempdir().expect("there is room for a verifier");
    let beside = model.parent().expect("a model is in a folder").read_dir();
    for entry in beside.expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_file() {
            let name = path.file_name().expect("a file has a name");
            std::fs::copy(&path, folder.path().join(name)).expect("there is room for a model");
        }
    }
    let mut command = Command::new("spin");
    command.arg("-a").arg(model.file_name().expect("a file has a name"));
    let output = command.current_dir(folder.path()).output().expect("SPIN is installed");
    output.status.success()
}

#[test]
fn what_spin_accepts_is_accepted() {
    if !has_tool("spin") {
        return;
    }
    let mut found = Vec::new();
    models(Path::new(EXAMPLES), &mut found);
    assert!(found.len() > 60, "only {} models are installed", found.len());
    let mut wrong = Vec::new();
    for model in &found {
        let ours = translate(model, &Options::default());
        if let Err(faults) = &ours
            && is_accepted_by_spin(model)
        {
            wrong.push(format!("{} is accepted by SPIN:\n{faults}", model.display()));
        }
        if ours.is_ok() && !is_accepted_by_spin(model) {
            wrong.push(format!("{} is not accepted by SPIN", model.display()));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), found.len(), wrong.join("\n\n"));
}
