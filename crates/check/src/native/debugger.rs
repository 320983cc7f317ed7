//! The command that follows a schedule under gdb.

use super::{build, lasting_folder};
use crate::engines::replaying;
use crate::{Fault, Faults, Task, quoted};
use mazurka_core::Schedule;
use mazurka_protocol::{REPORT, REQUEST};
use std::path::Path;

/// What gdb is told. The library puts invalid instructions into precompiled code, and catches them.
const COMMANDS: [&str; 4] = [
    "handle SIGILL nostop noprint pass",
    "set breakpoint pending on",
    "break mazurka_violation",
    "run",
];

/// The line for a shell that follows a schedule of a task under the debugger, up to where something
/// goes wrong. The program is still to be there when that is run, and its report goes to a file
/// that is not read.
pub fn debugger_command(task: &Task, schedule: &Schedule) -> Result<String, Faults> {
    let lasting = lasting_folder()?;
    let program = build(task, &lasting)?;
    let (report, asked) = (lasting.join("report.json"), lasting.join("request.json"));
    mazurka_protocol::write(&asked, &replaying(task, schedule)).map_err(|error| {
        Fault::input(format!("`{}` cannot be written: {error}", asked.display()))
    })?;
    let mut words = vec!["env".to_owned()];
    if let Some(folder) = task.input.folder().map(Path::display) {
        words.extend(["-C".to_owned(), folder.to_string()]);
        words.push(format!("CARGO_MANIFEST_DIR={folder}"));
    }
    words.extend([
        format!("{REPORT}={}", report.display()),
        format!("{REQUEST}={}", asked.display()),
        "gdb".to_owned(),
    ]);
    words.extend(COMMANDS.iter().flat_map(|command| ["-ex".to_owned(), (*command).to_owned()]));
    words.push("--args".to_owned());
    words.extend(program.iter().map(|word| word.to_string_lossy().into_owned()));
    Ok(quoted(words))
}
