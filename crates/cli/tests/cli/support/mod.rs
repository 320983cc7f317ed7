//! What the command says.

#![allow(dead_code, reason = "every test uses a part of it")]

pub(crate) mod c11;
pub(crate) mod checkout;
pub(crate) mod schema;

use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// What the command has said.
pub(crate) struct Said {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    #[track_caller]
    pub(crate) fn ends_with(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{}{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn prints(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stdout.contains(word), "no `{word}` in:\n{}", self.stdout);
        }
        self
    }

    /// Nothing was checked, and this is why.
    #[track_caller]
    pub(crate) fn refuses(self, message: &str) {
        let said = self.ends_with(2);
        assert!(said.stderr.contains(message), "no `{message}` in:\n{}", said.stderr);
    }
}

/// What a command says.
pub(crate) fn say(command: &mut Command) -> Said {
    let output = command.output().expect("the command can be started");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints UTF-8");
    Said { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// What `mazurka` says in a folder.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Said {
    say(Command::new(env!("CARGO_BIN_EXE_mazurka")).args(arguments).current_dir(folder))
}

/// What `mazurka` says in a folder with one file.
pub(crate) fn with_file(name: &str, text: impl AsRef<[u8]>, arguments: &[&str]) -> Said {
    let folder = TempDir::new().expect("there is room");
    std::fs::write(folder.path().join(name), text).expect("there is room");
    run(folder.path(), arguments)
}

/// Numbers that only look random: the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    pub(crate) fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}
