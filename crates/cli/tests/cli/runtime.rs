//! The command is one file: wherever it lies and under any user, it has its runtime library with
//! it.

use crate::support::{Said, say};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const LOST_UPDATE: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_int n;\n\
    static void *add(void *x) { atomic_store(&n, atomic_load(&n) + 1); return x; }\n\
    int main(void) { pthread_t t; pthread_create(&t, 0, add, 0); add(0); pthread_join(t, 0); \
    assert(n == 2); }\n";
const LIBRARY: &str = "libmazurka_native.so";

/// A copy of the command in a folder of its own, with a program and a home.
struct Installed {
    folder: TempDir,
}

impl Installed {
    fn new() -> Self {
        let folder = TempDir::new().expect("there is room");
        let installed = Self { folder };
        fs::create_dir_all(installed.path("a, b/bin")).expect("there is room");
        fs::create_dir(installed.path("home")).expect("there is room");
        fs::copy(env!("CARGO_BIN_EXE_mazurka"), installed.command()).expect("it can be copied");
        fs::write(installed.path("lost.c"), LOST_UPDATE).expect("there is room");
        installed
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self) -> PathBuf {
        self.path("a, b/bin/mazurka")
    }

    /// How the command is started, with nothing in its environment but what it needs.
    fn start(&self, home: &Path) -> Command {
        let mut command = Command::new(self.command());
        command.env_clear().env("HOME", home).current_dir(self.folder.path());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.env("TMPDIR", self.folder.path());
        command
    }

    fn check(&self, home: &Path) -> Said {
        say(self.start(home).args(["check", "lost.c", "--quiet"]))
    }

    /// The libraries in a cache folder.
    fn unpacked(&self, cache: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(cache)).into_iter().flatten().flatten();
        entries.map(|entry| entry.path().join(LIBRARY)).filter(|path| path.is_file()).collect()
    }
}

#[test]
fn a_copied_command_unpacks_its_library_into_the_cache_of_its_user() {
    let installed = Installed::new();
    let home = installed.path("home");
    installed.check(&home).ends_with(1).prints(&["violated"]);
    let [library] = &installed.unpacked("home/.cache/mazurka")[..] else {
        panic!("there should be one library in the cache")
    };
    let mode = |path: &Path| path.metadata().expect("it is there").mode() & 0o777;
    assert_eq!(mode(library.parent().expect("it is in a folder")), 0o700);
    assert_eq!(mode(&installed.path("home/.cache/mazurka")), 0o700);
    // Once more, when it is there already; and wherever the variable says.
    installed.check(&home).ends_with(1);
    let cache = installed.path("x, y");
    let mut elsewhere = installed.start(&home);
    say(elsewhere.args(["check", "lost.c"]).env("XDG_CACHE_HOME", cache)).ends_with(1);
    assert_eq!(installed.unpacked("x, y/mazurka").len(), 1);
}

#[test]
fn without_a_home_to_write_to_the_library_is_in_a_private_temporary_folder() {
    let installed = Installed::new();
    // Nothing can be made in there, not even by root.
    installed.check(Path::new("/proc")).ends_with(1).prints(&["violated"]);
    let user = installed.folder.path().metadata().expect("it is there").uid();
    let folder = format!("mazurka-{user}");
    assert_eq!(installed.unpacked(&folder).len(), 1);
    let folder = installed.path(&folder);
    assert_eq!(folder.metadata().expect("it is there").mode() & 0o777, 0o700);
    // A folder that others may write to is none to load libraries from.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("it is ours");
    installed.check(Path::new("/proc")).refuses("the runtime library cannot be unpacked");
}

#[test]
fn where_no_program_runs_natively_a_model_is_explored_and_that_is_said() {
    let installed = Installed::new();
    let start = |words: &[&str]| {
        let mut command = installed.start(&installed.path("home"));
        say(command.args(words).env("MAZURKA_NATIVE", "none"))
    };
    let said = start(&["check", "lost.c", "--json", "-"]).ends_with(1);
    assert!(said.stdout.contains("\"engine\":\"vm\""), "{}", said.stdout);
    let note = "note: a model is explored (`--engine vm`): programs run natively only on x86-64";
    assert!(said.stderr.starts_with(note), "{}", said.stderr);
    // Options are held against the engine that is taken.
    start(&["check", "lost.c", "--nondet", "0..1"]).ends_with(1);
    start(&["check", "lost.c", "--engine", "native"]).refuses("cannot be run natively here");
    start(&["cc", "lost.c", "-o", "lost"]).refuses("cannot be run natively here");
    assert!(!installed.path("home/.cache").exists(), "nothing is unpacked");
}

#[test]
fn many_commands_may_begin_at_once() {
    let installed = Installed::new();
    let home = installed.path("home");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| installed.check(&home).ends_with(1).prints(&["violated"]));
        }
    });
    assert_eq!(installed.unpacked("home/.cache/mazurka").len(), 1);
}

#[test]
fn a_library_of_another_build_is_not_taken_by_accident() {
    let installed = Installed::new();
    // Beside the command, and where the loader looks first.
    let beside = installed.path("a, b/bin");
    fs::create_dir(beside.join("deps")).expect("there is room");
    for path in [beside.join(LIBRARY), beside.join("deps").join(LIBRARY)] {
        fs::write(path, "an older one").expect("there is room");
    }
    let mut command = installed.start(&installed.path("home"));
    command.args(["check", "lost.c"]).env("LD_LIBRARY_PATH", &beside);
    say(&mut command).ends_with(1).prints(&["Violated"]);
    // Unless it is asked for.
    let mut command = installed.start(&installed.path("home"));
    command.args(["check", "lost.c"]).env("MAZURKA_NATIVE", &beside);
    say(&mut command).ends_with(2);
}
