//! A job: the program, how it is explored, and what was known of it when it was dealt out; signed.

use crate::keys::{PrivateKey, PublicKey};
use crate::record::{Hash, of_bytes, to_bytes};
use mazurka_check::options::TABLE;
use mazurka_check::{Fault, Input, Options, Task};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// The version of everything that travels between an asker and workers.
pub const FORM: u32 = 1;

/// Options of the asker's command that say nothing about how a unit is explored.
const OWN: [&str; 8] =
    ["save", "resume", "time-limit", "max-executions", "memory-limit", "jobs", "cflags", "ladder"];
/// Options about the fleet itself.
const OF_FLEET: [&str; 3] = ["workers", "sign-key", "slice"];

/// Which build of the command explores: its units are understood by no other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// [`FORM`].
    pub form: u32,
    /// The version of Mazurka.
    pub mazurka: String,
    /// The runtime library that native programs are run with.
    pub library: Hash,
}

impl Version {
    /// That of this command, with a runtime library.
    pub fn of(library: &Path) -> Result<Self, Fault> {
        let bytes = std::fs::read(library).map_err(|error| {
            Fault::input(format!("`{}` cannot be read: {error}", library.display()))
        })?;
        let mazurka = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Self { form: FORM, mazurka, library: Hash::of(&bytes) })
    }
}

/// A search for workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its name.
    pub id: String,
    /// What the asker calls the program.
    pub name: String,
    /// The build that explores it.
    pub version: Version,
    /// The program.
    pub program: Hash,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The libraries that the program loads, by name, with their content.
    pub libraries: Vec<(String, Hash)>,
    /// The options of the search: name and value.
    pub options: Vec<(String, String)>,
    /// What has to be known of the program before a unit is explored.
    pub known: Hash,
    /// How long a unit is explored before the rest of it is dealt out again.
    pub slice: Duration,
    /// How long a worker may be silent before its unit goes to another one.
    pub patience: Duration,
}

impl Job {
    /// The options of a task that a worker has to know.
    pub fn options_of(options: &Options) -> Vec<(String, String)> {
        let is_shared = |name: &str| !OWN.contains(&name) && !OF_FLEET.contains(&name);
        let rows = TABLE.iter().filter(|row| is_shared(row.name));
        rows.flat_map(|row| (row.get)(options).into_iter().map(|it| (row.name.to_owned(), it)))
            .collect()
    }

    /// The task that explores a unit, where the program is a file in the current folder.
    pub fn task(&self, program: &Path) -> Result<Task, Fault> {
        let mut words = vec![program.as_os_str().to_owned()];
        words.extend(self.arguments.iter().cloned());
        let mut task = Task::program(words);
        if let Input::Program { name, .. } = &mut task.input {
            name.clone_from(&self.name);
        }
        for (name, value) in &self.options {
            task.options.set(name, value)?;
        }
        task.options.ladder = false;
        task.options.jobs = Some(1);
        Ok(task)
    }
}

/// A job as it travels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    job: Vec<u8>,
    signature: Vec<u8>,
}

/// What is signed begins with this, so that a signature is of nothing else.
const PURPOSE: &[u8] = b"mazurka-job-1\n";

impl Signed {
    /// Signs a job.
    pub fn new(job: &Job, key: &PrivateKey) -> Self {
        let job = to_bytes(job);
        let signature = key.sign(&[PURPOSE, &job[..]].concat());
        Self { job, signature }
    }

    /// The job, if one of these keys has signed it.
    pub fn open(&self, trusted: &[PublicKey]) -> Result<Job, JobError> {
        let text = [PURPOSE, &self.job[..]].concat();
        if !trusted.iter().any(|key| key.has_signed(&text, &self.signature)) {
            return Err(JobError::Untrusted);
        }
        self.unchecked()
    }

    /// The job, whatever key has signed it: to be looked at.
    pub fn unchecked(&self) -> Result<Job, JobError> {
        of_bytes(&self.job).ok_or(JobError::Unreadable)
    }

    /// Its binary form.
    pub fn to_bytes(&self) -> Vec<u8> {
        to_bytes(self)
    }

    /// Reads the binary form.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, JobError> {
        of_bytes(bytes).ok_or(JobError::Unreadable)
    }
}

/// Why a job is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// It is not signed by a trusted key.
    #[error("it is not signed by a key that this worker trusts")]
    Untrusted,
    /// It is of another version, or none.
    #[error("it is of another version of Mazurka")]
    Unreadable,
    /// The asker has another build of the command.
    #[error("it needs Mazurka {theirs} with another runtime library, and this is {ours}")]
    OtherVersion {
        /// The asker's version.
        theirs: String,
        /// The worker's version.
        ours: String,
    },
    /// The program would load something else here.
    #[error("these libraries are not the asker's here: {}", .0.join(", "))]
    OtherLibraries(Vec<String>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::generate;

    fn job() -> Job {
        let mut options = Options::new();
        for (name, value) in
            [("races", "allow"), ("bound", "preemption=2"), ("jobs", "3"), ("time-limit", "5s")]
        {
            options.set(name, value).expect("it is an option");
        }
        Job {
            id: "j".into(),
            name: "x.c".into(),
            version: Version { form: FORM, mazurka: "1".into(), library: Hash::of(b"l") },
            program: Hash::of(b"p"),
            arguments: vec!["a".into()],
            libraries: Vec::new(),
            options: Job::options_of(&options),
            known: Hash::of(b"k"),
            slice: Duration::from_secs(5),
            patience: Duration::from_secs(10),
        }
    }

    #[test]
    fn only_a_job_that_is_signed_by_a_trusted_key_is_opened() {
        let (private, public) = generate().expect("there are random numbers");
        let key = PrivateKey::parse(&private).expect("it is one");
        let trusted = PublicKey::parse_all(&public).expect("it is one");
        let signed = Signed::from_bytes(&Signed::new(&job(), &key).to_bytes());
        let mut signed = signed.expect("it was written so");
        assert_eq!(signed.open(&trusted), Ok(job()));
        assert_eq!(signed.open(&[]), Err(JobError::Untrusted));
        let last = signed.job.len() - 1;
        signed.job[last] ^= 1;
        assert_eq!(signed.open(&trusted), Err(JobError::Untrusted));
        assert_eq!(Signed::from_bytes(b"x"), Err(JobError::Unreadable));
    }

    #[test]
    fn a_worker_has_the_options_of_the_search_and_its_own_limits() {
        let task = job().task(Path::new("./program")).expect("the options are known");
        assert_eq!(task.input.name(), "x.c");
        assert_eq!(
            task.options.words(|_| true).join(" "),
            "--races allow --bound preemption=2 --ladder off --jobs 1"
        );
        assert_eq!(task.options.time_limit, None);
    }
}
