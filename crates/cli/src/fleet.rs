//! `--workers`, `mazurka worker` and `mazurka fleet`: searches over many machines, if this command
//! was built with them.

use crate::arguments::FleetCommand;
use crate::output::Output;
use crate::{Done, Failure};
use mazurka_check::{Engine, Task};
use std::path::PathBuf;

#[cfg(all(feature = "fleet", target_os = "linux"))]
pub(crate) use with::{ask, obey, slice, work};
#[cfg(not(all(feature = "fleet", target_os = "linux")))]
pub(crate) use without::{ask, obey, slice, work};

/// Refuses workers where a command does without them.
pub(crate) fn refuse(task: &Task, command: &str, help: &str) -> Result<(), Failure> {
    match task.options.workers {
        Some(_) => Err(Failure::input(format!("`{command}` takes no `--workers`")).help(help)),
        None => Ok(()),
    }
}

/// What a command says that was built without it.
#[cfg(not(all(feature = "fleet", target_os = "linux")))]
mod without {
    use super::*;

    fn missing<T>() -> Result<T, Vec<Failure>> {
        let text = "this `mazurka` was built without searches over many machines";
        let help = "`cargo install --path crates/cli --features fleet` has them, on Linux; `mazurka \
                    split` needs no more than files";
        Err(Failure::input(text).help(help).into())
    }

    pub(crate) fn ask(_: &Task, _: &'static dyn Engine, _: &Output) -> Done {
        missing()
    }

    pub(crate) fn work(
        _: String,
        _: Option<u32>,
        _: &[PathBuf],
        _: &str,
        _: Option<String>,
    ) -> Done {
        missing()
    }

    pub(crate) fn obey(_: FleetCommand) -> Done {
        missing()
    }

    pub(crate) fn slice(_: u32) -> Done {
        missing()
    }
}

#[cfg(all(feature = "fleet", target_os = "linux"))]
mod with {
    use super::*;
    use crate::tell::{Screen, show, tell};
    use crate::{interrupt, runtime};
    use mazurka_fleet::keys::{self, PrivateKey, PublicKey};
    use mazurka_fleet::{Access, Ask, JobStatus, Sandbox, Work};
    use mazurka_report::ExitStatus;
    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::time::{Duration, Instant};

    const SLICE: Duration = Duration::from_secs(5);
    /// How long an asker waits for the first worker before it says so.
    const ALONE_FOR: Duration = Duration::from_secs(5);

    /// The broker, with what the environment says of its credentials, by the names that NATS' own
    /// tools have for them.
    fn access(url: String) -> Access {
        let file = |name: &str| {
            std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        Access {
            url,
            credentials: file("NATS_CREDS"),
            authorities: file("NATS_CA"),
            certificate: file("NATS_CERT").zip(file("NATS_KEY")),
        }
    }

    fn read(path: &Path) -> Result<String, Failure> {
        let text = std::fs::read_to_string(path);
        text.map_err(|error| {
            Failure::input(format!("`{}` cannot be read: {error}", path.display()))
        })
    }

    /// Has workers decide a task.
    pub(crate) fn ask(task: &Task, engine: &'static dyn Engine, output: &Output) -> Done {
        let url = task.options.workers.clone().unwrap_or_default();
        let Some(path) = &task.options.sign_key else {
            let failure =
                Failure::input("workers take only jobs that are signed: `--sign-key FILE`");
            return Err(failure.help("`mazurka fleet keygen FILE` makes a key").into());
        };
        let key = PrivateKey::parse(&read(path)?)
            .map_err(|error| Failure::input(format!("`{}`: {error}", path.display())))?;
        let slice = task.options.slice.unwrap_or(SLICE);
        let library = runtime::library()?;
        let ask = Ask { access: access(url), key, task, engine, slice, library };
        let screen = Screen::new(task, engine, output);
        let watch = Watch { output, begun: Instant::now(), told: RefCell::default() };
        let outcome = mazurka_fleet::ask(&ask, &screen, &|status| watch.see(status))?;
        drop(screen);
        tell(&outcome, task, output)
    }

    /// Shows how far workers are.
    struct Watch<'a> {
        output: &'a Output,
        begun: Instant,
        /// Sentences that were told.
        told: RefCell<BTreeSet<String>>,
    }

    impl Watch<'_> {
        fn see(&self, status: &JobStatus) {
            self.output.other_event(|elapsed| status.event(elapsed));
            if let Some(path) = self.output.file("html") {
                // What is shown on the way is no reason to lose a verdict.
                let _ = std::fs::write(path, mazurka_fleet::page(status));
            }
            for worker in &status.workers {
                if let Some(why) = &worker.refuses {
                    self.say_once(format!("worker {} does not take the job: {why}", worker.name));
                }
            }
            let takes_none = status.workers.iter().all(|worker| worker.refuses.is_some());
            if takes_none && self.begun.elapsed() >= ALONE_FOR {
                self.say_once("no worker takes the job so far: `mazurka worker URL` is one".into());
            }
        }

        fn say_once(&self, text: String) {
            if !self.output.quiet && !self.told.borrow().contains(&text) {
                remark!("note: {text}");
                self.told.borrow_mut().insert(text);
            }
        }
    }

    /// Works for a broker until an interrupt.
    pub(crate) fn work(
        url: String,
        jobs: Option<u32>,
        trust_key: &[PathBuf],
        slice_memory: &str,
        name: Option<String>,
    ) -> Done {
        let (mut failures, mut trusted) = (Vec::new(), Vec::new());
        for path in trust_key {
            let keys = read(path).and_then(|text| {
                let wrong = |error| Failure::input(format!("`{}`: {error}", path.display()));
                PublicKey::parse_all(&text).map_err(wrong)
            });
            match keys {
                Ok(keys) => trusted.extend(keys),
                Err(failure) => failures.push(failure),
            }
        }
        let mut options = mazurka_check::Options::new();
        if let Err(failure) = options.set("memory-limit", slice_memory) {
            let text = failure.to_string().replace("--memory-limit", "--slice-memory");
            failures.push(Failure::input(text));
        }
        let name = name.unwrap_or_else(default_name);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || !name.chars().all(is_plain) {
            failures.push(Failure::input(format!(
                "`{name}` is no name of a worker: it has letters, digits, `-` and `_`"
            )));
        }
        if !failures.is_empty() {
            return Err(failures);
        }
        let cores = std::thread::available_parallelism().map_or(1, |it| it.get() as u32);
        let sandbox = Sandbox::new(options.memory_limit);
        let user = sandbox.user.map_or("your own user".to_owned(), |user| format!("user {user}"));
        remark!(
            "This worker runs the programs of others: of all who hold the private key of {} that \
             it trusts, as {user}, in folders of their own. Where that is not enough, run it in a \
             container.",
            if trusted.len() == 1 { "the one" } else { "one of those" }
        );
        let work = Work {
            access: access(url),
            trusted,
            jobs: jobs.unwrap_or(cores),
            sandbox,
            library: runtime::library()?,
            name: name.clone(),
        };
        let say = |text: &str| remark!("worker {name}: {text}");
        mazurka_fleet::work(&work, interrupt::flag(), &say)?;
        Ok(ExitStatus::Holds)
    }

    /// Host and process.
    fn default_name() -> String {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let host: String = host.trim().chars().map(plain).collect();
        format!("{}-{}", if host.is_empty() { "worker" } else { &host }, std::process::id())
    }

    /// Looks at a broker, or makes a key.
    pub(crate) fn obey(command: FleetCommand) -> Done {
        match command {
            FleetCommand::Status { url, prometheus } => {
                let jobs = mazurka_fleet::status(&access(url))?;
                let text = match prometheus {
                    true => mazurka_fleet::prometheus(&jobs),
                    false => mazurka_fleet::text(&jobs),
                };
                show(&text);
            }
            FleetCommand::Cancel { url, job } => {
                let ended = mazurka_fleet::cancel(&access(url), job.as_deref())?;
                show(&format!(
                    "{ended} {} ended\n",
                    if ended == 1 { "search" } else { "searches" }
                ));
            }
            FleetCommand::Keygen { file } => keygen(&file)?,
        }
        Ok(ExitStatus::Holds)
    }

    /// Writes a new key to two files, neither of which is there.
    fn keygen(file: &Path) -> Result<(), Failure> {
        let public = keys::write_pair(file)?;
        show(&format!(
            "{}: for `mazurka check --workers URL --sign-key`, to be kept secret\n{}: for `mazurka \
             worker URL --trust-key`\n",
            file.display(),
            public.display()
        ));
        Ok(())
    }

    /// Explores one slice for a worker.
    pub(crate) fn slice(parent: u32) -> Done {
        mazurka_fleet::run_slice(parent)?;
        Ok(ExitStatus::Holds)
    }
}
