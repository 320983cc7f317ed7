//! The models that are installed with SPIN and our own, copies of them in sizes that a test can
//! afford, and SPIN itself.

use mazurka_effort::has_tool;
use mazurka_promela::{self as promela, Model, translate};
use mazurka_statespace::Machine;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const EXAMPLES: &str = "/usr/share/doc/spin/examples/Examples";

/// Our own models, written to have every word of the language in them.
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/promela");

/// Lines that are replaced, by how they begin, where a model as it is has more than 2 million
/// states.
const SMALLER: [(&str, &str, &str); 16] = [
    ("LTL/leader.pml", "#define N", "#define N 3"),
    ("LTL/leader.pml", "#define I", "#define I 2"),
    ("LTL/leader_pre.pml", "#define N", "#define N 3"),
    ("LTL/leader_pre.pml", "#define I", "#define I 2"),
    ("leader0.pml", "#define N", "#define N 3"),
    ("leader0.pml", "#define I", "#define I 2"),
    ("leader_trace.pml", "#define N", "#define N 3"),
    ("leader_trace.pml", "#define I", "#define I 2"),
    ("LTL/petersonN.pml", "#define N", "#define N 3"),
    ("LTL/ltl_gen.pml", "#define DEPTH_LIMIT", "#define DEPTH_LIMIT 2"),
    ("Exercises/ex_6.pml", "#define MaxSeq", "#define MaxSeq 1"),
    ("life.pml", "#define MAX", "#define MAX 3"),
    ("Book_1991/p108.pml", "\trun ack(3, 3, ch)", "\trun ack(2, 0, ch)"),
    ("priorities.pml", "\t:: printf", "\t:: a[_pid] < 3 -> a[_pid]++"),
    ("sort.pml", "#define N", "#define N 5"),
    ("eratosthenes.pml", "#define MAX", "#define MAX 10"),
];

/// All models; our own alone, if SPIN is not installed.
pub(crate) fn models() -> Vec<PathBuf> {
    let mut found = Vec::new();
    if has_tool("spin") {
        find(Path::new(EXAMPLES), &mut found);
    }
    find(Path::new(CORPUS), &mut found);
    found
}

/// A model that is installed with SPIN, by its name.
pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(EXAMPLES).join(name)
}

/// The name of a model: where it is below its folder.
pub(crate) fn name(model: &Path) -> String {
    let base = if model.starts_with(EXAMPLES) { EXAMPLES } else { CORPUS };
    model.strip_prefix(base).expect("it was found there").to_string_lossy().into_owned()
}

/// What there is to tell of some models, in the order of what is told; asked on two threads.
pub(crate) fn ask_all<M: Sync, T: Ord + Send>(
    models: &[M],
    ask: impl Fn(&M) -> Vec<T> + Sync,
) -> Vec<T> {
    let (told, next) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(model) = models.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let new = ask(model);
                    told.lock().expect("the lock is not poisoned").extend(new);
                }
            });
        }
    });
    let mut told = told.into_inner().expect("the lock is not poisoned");
    told.sort();
    told
}

fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("SPIN and its examples are installed");
    let mut paths: Vec<_> =
        entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            find(&path, found);
        } else if path.extension().is_some_and(|it| it == "pml") {
            found.push(path);
        }
    }
}

/// A model in a folder of its own, where SPIN may write what it likes.
pub(crate) struct Copied {
    folder: tempfile::TempDir,
    pub(crate) name: String,
}

impl Copied {
    /// A model as it is, with what lies beside it.
    pub(crate) fn new(model: &Path) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a model");
        let beside = model.parent().expect("a model is in a folder").read_dir();
        for entry in beside.expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            if path.is_file() {
                let name = path.file_name().expect("a file has a name");
                std::fs::copy(&path, folder.path().join(name)).expect("there is room for it");
            }
        }
        let name = model.file_name().expect("a file has a name").to_string_lossy().into_owned();
        Self { folder, name }
    }

    /// A model of our making.
    pub(crate) fn of(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a model");
        let copied = Self { folder, name: "x.pml".to_owned() };
        std::fs::write(copied.file(&copied.name), text).expect("there is room for it");
        copied
    }

    /// A model that is small enough to see all of its states.
    pub(crate) fn small(model: &Path) -> Self {
        let copied = Self::new(model);
        let name = name(model);
        let text = std::fs::read_to_string(model).expect("a model is a text");
        let is_example = model.starts_with(EXAMPLES);
        let smaller = |line: &str| {
            let mut lines = SMALLER.iter().filter(|(of, _, _)| is_example && *of == name);
            let found = lines.find(|(_, beginning, _)| line.starts_with(beginning));
            found.map_or(line, |(_, _, replacement)| replacement).to_owned() + "\n"
        };
        let text: String = text.lines().map(smaller).collect();
        std::fs::write(copied.file(&copied.name), text).expect("there is room for it");
        copied
    }

    /// A file in its folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The model as we read it.
    pub(crate) fn model(&self) -> Model {
        translate(&self.file(&self.name), &promela::Options::default()).expect("SPIN accepts it")
    }

    /// The machine that runs it.
    pub(crate) fn machine(&self) -> Machine {
        Machine::new(&self.model().program).expect("the machine runs all of Promela")
    }

    /// Lets SPIN read it; returns whether it is accepted, and what SPIN says.
    pub(crate) fn spin(&self, options: &[&str]) -> (bool, String) {
        self.run("spin", &[options, &[&self.name]].concat())
    }

    /// Makes SPIN's verifier; false if SPIN does not accept the model.
    pub(crate) fn make_verifier(&self, options: &[&str], flags: &[&str]) -> bool {
        if !self.spin(&[options, &["-a"]].concat()).0 {
            return false;
        }
        let always = ["-w", "-DVECTORSZ=8192", "-DMEMLIM=2048", "-o", "pan", "pan.c"];
        let (is_compiled, said) = self.run("gcc", &[flags, &always].concat());
        assert!(is_compiled, "{}: {said}", self.name);
        true
    }

    /// Runs SPIN's verifier.
    pub(crate) fn verify(&self, options: &[&str]) -> Verified {
        let pan = self.file("pan");
        let pan = pan.to_str().expect("the folder has a plain name");
        Verified(self.run(pan, options).1)
    }

    fn run(&self, program: &str, arguments: &[&str]) -> (bool, String) {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        let done = command.output().unwrap_or_else(|error| panic!("{program}: {error}"));
        let said = if done.stdout.is_empty() { &done.stderr } else { &done.stdout };
        (done.status.success(), String::from_utf8_lossy(said).into_owned())
    }
}

/// What SPIN's verifier says.
pub(crate) struct Verified(pub(crate) String);

impl Verified {
    /// The number in front of some words.
    pub(crate) fn number(&self, what: &str) -> u64 {
        let line = self.0.lines().find(|line| line.contains(what));
        let word = line.and_then(|line| line.split_whitespace().next());
        let number = word.and_then(|word| word.parse::<f64>().ok());
        number.unwrap_or_else(|| panic!("no line `{what}` in\n{}", self.0)) as u64
    }

    /// How many errors it has found.
    pub(crate) fn errors(&self) -> u64 {
        let after = self.0.split("errors: ").nth(1);
        let word = after.and_then(|rest| rest.split_whitespace().next());
        let number = word.and_then(|word| word.parse().ok());
        number.unwrap_or_else(|| panic!("it does not say how many errors:\n{}", self.0))
    }
}
