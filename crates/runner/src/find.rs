//! Test discovery: the tests that programs have, and which of them are wanted.

use crate::cargo::{self, Build, Built, TestProgram};
use crate::harness;
use crate::{Event, Listener};
use mazurka_check::{Fault, Input, Task};

/// A test that is wanted.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// The program that it is in.
    pub program: &'a TestProgram,
    /// Its name there.
    pub test: String,
    /// Whether it is marked to be ignored.
    pub is_ignored: bool,
}

/// Tests of the programs that were built.
#[derive(Debug)]
pub struct Found<'a> {
    /// Those to be explored.
    pub wanted: Vec<Wanted<'a>>,
    /// Those with a wanted name that are ignored.
    pub ignored: Vec<Wanted<'a>>,
    /// How many there are in all.
    pub n_tests: usize,
}

impl Wanted<'_> {
    /// What people call it: the program and the test.
    pub fn name(&self) -> String {
        format!("{} {}", self.program.name, self.test)
    }

    /// The task to check it, with all else that another task says.
    pub fn task(&self, like: &Task) -> Task {
        let words = harness::words(self.program, &self.test);
        let folder = Some(self.program.folder.clone());
        let mut task = like.clone();
        task.input = Input::Program { words, name: self.name(), folder, is_test: true };
        task
    }
}

impl Built {
    /// The tests of all programs that the selection of the build wants.
    pub fn find(
        &self,
        build: &Build<'_>,
        listener: &dyn Listener,
    ) -> Result<Found<'_>, Vec<Fault>> {
        let filter = &build.selection.filter;
        let (mut wanted, mut ignored, mut failures) = (Vec::new(), Vec::new(), Vec::new());
        let mut names = Vec::new();
        for program in &self.programs {
            match cargo::list(build, program) {
                Ok(tests) => {
                    for test in tests {
                        names.push(test.name.clone());
                        let runs = filter.runs(test.is_ignored);
                        let runs = runs.filter(|_| filter.wants(&test.name));
                        let cargo::Test { name: test, is_ignored } = test;
                        let found = Wanted { program, test, is_ignored };
                        match runs {
                            Some(true) => wanted.push(found),
                            Some(false) => ignored.push(found),
                            None => {}
                        }
                    }
                }
                Err(failure) => failures.push(failure),
            }
        }
        if !failures.is_empty() {
            return Err(failures);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if !wanted.is_empty() || !ignored.is_empty() {
            for name in filter.meaningless(&names) {
                listener.event(&Event::UnknownName(name));
            }
        }
        Ok(Found { wanted, ignored, n_tests: names.len() })
    }

    /// Why no test is run, if none of those that were found is wanted.
    pub fn nothing_to_run(&self, found: &Found<'_>) -> Fault {
        let left_out: Vec<String> =
            self.left_out.iter().map(|it| format!("`{}`", it.name())).collect();
        let not_run = match left_out.is_empty() {
            true => String::new(),
            false => format!(" beside what is not run here: {}", left_out.join(", ")),
        };
        match found.n_tests {
            0 => Fault::input(format!("no test was run: there are none{not_run}")),
            n => Fault::input(format!("no test was run: none of {n} has such a name"))
                .help("`mazurka test --list` shows all"),
        }
    }
}
