//! Default places of saved searches: a cache folder, one file for each command.

use mazurka_check::Task;
use mazurka_protocol::Saving;
use std::hash::{Hash as _, Hasher as _};
use std::path::PathBuf;

/// Where and when the search of a task is saved if nothing is said.
pub(crate) fn by_default(task: &Task) -> Option<Saving> {
    let folder = cache_folder()?.join("mazurka/saved");
    let mut hash = rustc_hash::FxHasher::default();
    // The same command in the same folder has the same file.
    std::env::current_dir().ok()?.hash(&mut hash);
    task.input.name().hash(&mut hash);
    task.options.words(|row| row.name != "time-limit").hash(&mut hash);
    let path = folder.join(format!("{:016x}.mzk", hash.finish()));
    Some(Saving { path, after: Saving::AFTER, every: Saving::EVERY, is_asked: false })
}

/// Where a run of tests is saved that is interrupted, if nothing is said: a file for each process,
/// since two may run the same tests.
pub(crate) fn run_by_default() -> Option<PathBuf> {
    let name = format!("tests-{}.mzr", std::process::id());
    Some(cache_folder()?.join("mazurka/saved").join(name))
}

/// Where programs keep what can be made again.
fn cache_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    // A home that is not there, such as that of a service, is not made.
    let home = || variable("HOME").filter(|path| path.is_absolute() && path.is_dir());
    cache.or_else(|| home().map(|home| home.join(".cache")))
}
