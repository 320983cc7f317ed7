//! How far jobs are: for people, and for Prometheus (text-based exposition format 0.0.4).

use crate::block_on;
use crate::broker::{Access, Broker, BrokerError, Queue, committed};
use crate::job::Signed;
use crate::ledger::Ledger;
use crate::record::{Sign, UnitId};
use mazurka_check::{Fault, Faults};
use mazurka_core::Statistics;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// How far a job is.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct JobStatus {
    /// Its name.
    pub job: String,
    /// What its asker calls the program.
    pub program: String,
    /// What all records together have counted: exact.
    pub statistics: Statistics,
    /// Units that have a record.
    pub recorded: u64,
    /// Units that are known and have none.
    pub open: u64,
    /// The queue.
    pub queue: Queue,
    /// How often the job began again, since more was known of the program.
    pub restarts: u32,
    /// Units that the asker had to put into the queue again, since the broker had lost them.
    pub requeued: u64,
    /// The workers that have been heard of.
    pub workers: Vec<WorkerStatus>,
}

/// How far a worker is with a job.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WorkerStatus {
    /// Its name.
    pub name: String,
    /// How many slices it explores at a time.
    pub jobs: u32,
    /// Executions that it has explored, those of slices without a record included.
    pub executions: u64,
    /// Executions a second, lately.
    pub rate: f64,
    /// Slices that have its record.
    pub slices: u64,
    /// Slices that came to nothing: another worker was faster, or they have failed.
    pub lost: u64,
    /// Units that it was given after another worker.
    pub redelivered: u64,
    /// Why it does not take the job, if it does not.
    pub refuses: Option<String>,
    /// Whether it was heard of lately.
    pub is_alive: bool,
}

impl JobStatus {
    /// Executions a second of all workers, lately.
    pub fn rate(&self) -> f64 {
        self.workers.iter().map(|worker| worker.rate).sum()
    }
}

/// The signs of workers, and when they came.
#[derive(Debug, Default)]
pub(crate) struct Signs {
    workers: BTreeMap<String, Heard>,
}

#[derive(Debug)]
struct Heard {
    sign: Sign,
    at: Instant,
    rate: f64,
}

/// A worker that was silent for so long is taken for dead.
const SILENCE: Duration = Duration::from_secs(10);

impl Signs {
    /// Hears what is written under a key. Whether it is a sign.
    pub(crate) fn hear(&mut self, key: &str, value: &[u8]) -> bool {
        let Some(name) = key.strip_prefix("w.") else { return false };
        let Ok(sign) = serde_json::from_slice::<Sign>(value) else { return true };
        let now = Instant::now();
        let before = self.workers.get(name);
        let total = |sign: &Sign| sign.executions + sign.running;
        let rate = before.map_or(0.0, |before| {
            let new = total(&sign).saturating_sub(total(&before.sign)) as f64;
            let seconds = now.duration_since(before.at).as_secs_f64().max(0.05);
            0.5 * before.rate + 0.5 * (new / seconds)
        });
        self.workers.insert(name.to_owned(), Heard { sign, at: now, rate });
        true
    }

    /// How many slices all workers that take the job explore at a time.
    pub(crate) fn n_lanes(&self) -> u32 {
        let alive = self.workers.values().filter(|heard| heard.is_alive());
        alive.filter(|heard| heard.sign.refuses.is_none()).map(|heard| heard.sign.jobs).sum()
    }

    /// Executions of slices that have no record yet.
    pub(crate) fn running(&self) -> u64 {
        let alive = self.workers.values().filter(|heard| heard.is_alive());
        alive.map(|heard| heard.sign.running).sum()
    }

    pub(crate) fn workers(&self) -> Vec<WorkerStatus> {
        let worker = |(name, heard): (&String, &Heard)| WorkerStatus {
            name: name.clone(),
            jobs: heard.sign.jobs,
            executions: heard.sign.executions + heard.sign.running,
            rate: if heard.is_alive() { heard.rate } else { 0.0 },
            slices: heard.sign.slices,
            lost: heard.sign.in_vain,
            redelivered: heard.sign.redelivered,
            refuses: heard.sign.refuses.clone(),
            is_alive: heard.is_alive(),
        };
        self.workers.iter().map(worker).collect()
    }
}

impl Heard {
    fn is_alive(&self) -> bool {
        self.at.elapsed() < SILENCE
    }
}

/// How far all jobs are. Rates of workers are not known from one look.
pub fn status(access: &Access) -> Result<Vec<JobStatus>, Faults> {
    let all = block_on(async {
        let broker = Broker::connect(access, false).await?;
        let mut all = Vec::new();
        for (id, bytes) in broker.jobs().await? {
            match of_job(&broker, &id, &bytes).await {
                Ok(status) => all.push(status),
                // It has come to its end just now.
                Err(BrokerError::Gone) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok::<_, Fault>(all)
    })?;
    Ok(all?)
}

async fn of_job(broker: &Broker, id: &str, bytes: &[u8]) -> Result<JobStatus, BrokerError> {
    let job = Signed::from_bytes(bytes).and_then(|signed| signed.unchecked());
    let program = job.map_or_else(|error| error.to_string(), |job| job.name);
    let (mut ledger, mut signs) = (Ledger::new(UnitId::root(id)), Signs::default());
    let mut behind = 0;
    loop {
        let records = broker.records(id, behind).await?;
        let Some(last) = records.last() else { break };
        behind = last.sequence;
        for record in records {
            if signs.hear(&record.key, &record.value) {
                continue;
            }
            if let Some(unit) = committed(&record.key) {
                let commit = broker.read_commit(&record.value).await?;
                // What cannot be read is of another version, and not counted.
                let _ = ledger.record(unit, commit);
            }
        }
    }
    Ok(JobStatus {
        job: id.to_owned(),
        program,
        statistics: ledger.statistics(),
        recorded: ledger.n_recorded() as u64,
        open: ledger.n_open() as u64,
        queue: broker.queue(id).await?,
        workers: signs.workers(),
        ..JobStatus::default()
    })
}

/// Ends jobs: this one, or all of them if none is named. How many there were.
pub fn cancel(access: &Access, job: Option<&str>) -> Result<usize, Faults> {
    let ended = block_on(async {
        let broker = Broker::connect(access, false).await?;
        let jobs = broker.jobs().await?;
        let mut ended = 0;
        for (id, _) in jobs.iter().filter(|(id, _)| job.is_none_or(|job| job == id)) {
            broker.end_job(id).await?;
            ended += 1;
        }
        match (ended, job) {
            (0, Some(job)) => Err(Fault::input(format!("there is no job `{job}`"))),
            _ => Ok(ended),
        }
    })?;
    Ok(ended?)
}

/// The same as Prometheus reads it.
pub fn prometheus(jobs: &[JobStatus]) -> String {
    let mut text = String::new();
    let mut metric = |name: &str, kind: &str, help: &str, values: Vec<(String, String)>| {
        if values.is_empty() {
            return;
        }
        let _ = writeln!(text, "# HELP mazurka_{name} {help}\n# TYPE mazurka_{name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(text, "mazurka_{name}{{{labels}}} {value}");
        }
    };
    type OfJob = (&'static str, &'static str, &'static str, fn(&JobStatus) -> u64);
    let of_jobs: [OfJob; 9] = [
        ("executions_total", "counter", "Executions in commit records.", |it| {
            it.statistics.executions
        }),
        ("steps_total", "counter", "Steps in commit records.", |it| it.statistics.transitions),
        ("slices_total", "counter", "Units with a commit record.", |it| it.recorded),
        ("units_open", "gauge", "Units without a commit record.", |it| it.open),
        ("units_waiting", "gauge", "Units in the queue.", |it| it.queue.waiting),
        ("units_taken", "gauge", "Units that a worker has taken.", |it| it.queue.taken),
        ("units_redelivered", "gauge", "Units that are delivered again.", |it| {
            it.queue.redelivered
        }),
        ("units_requeued_total", "counter", "Units that the broker had lost.", |it| it.requeued),
        ("restarts_total", "counter", "How often the search began again.", |it| it.restarts.into()),
    ];
    let label = |job: &JobStatus| {
        format!("job=\"{}\",program=\"{}\"", escaped(&job.job), escaped(&job.program))
    };
    for (name, kind, help, value) in of_jobs {
        let values = jobs.iter().map(|job| (label(job), value(job).to_string())).collect();
        metric(name, kind, help, values);
    }
    type OfWorker = (&'static str, &'static str, &'static str, fn(&WorkerStatus) -> String);
    let of_workers: [OfWorker; 6] = [
        ("worker_executions_total", "counter", "Executions of a worker.", |it| {
            it.executions.to_string()
        }),
        ("worker_executions_per_second", "gauge", "Executions a second, lately.", |it| {
            format!("{:.1}", it.rate)
        }),
        ("worker_slices_total", "counter", "Slices with a record of the worker.", |it| {
            it.slices.to_string()
        }),
        ("worker_slices_lost_total", "counter", "Slices that came to nothing.", |it| {
            it.lost.to_string()
        }),
        ("worker_redelivered_total", "counter", "Units that another worker had before.", |it| {
            it.redelivered.to_string()
        }),
        (
            "worker_up",
            "gauge",
            "Whether the worker was heard of lately, and takes the job.",
            |it| u8::from(it.is_alive && it.refuses.is_none()).to_string(),
        ),
    ];
    for (name, kind, help, value) in of_workers {
        let of_job = |job: &JobStatus| {
            let label = label(job);
            let one = |worker: &WorkerStatus| {
                (format!("{label},worker=\"{}\"", escaped(&worker.name)), value(worker))
            };
            job.workers.iter().map(one).collect::<Vec<_>>()
        };
        metric(name, kind, help, jobs.iter().flat_map(of_job).collect());
    }
    text
}

/// The value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

impl JobStatus {
    /// The line of the events that says how far the job is.
    pub fn event(&self, elapsed: Duration) -> serde_json::Value {
        let workers: Vec<_> = self
            .workers
            .iter()
            .map(|worker| {
                serde_json::json!({
                    "name": worker.name,
                    "jobs": worker.jobs,
                    "executions": worker.executions,
                    "rate": worker.rate,
                    "slices": worker.slices,
                    "lost_slices": worker.lost,
                    "redelivered": worker.redelivered,
                    "alive": worker.is_alive,
                    "refuses": worker.refuses,
                })
            })
            .collect();
        serde_json::json!({
            "event": "fleet",
            "time_s": elapsed.as_secs_f64(),
            "job": self.job,
            "executions": self.statistics.executions,
            "recorded": self.recorded,
            "open": self.open,
            "waiting": self.queue.waiting,
            "taken": self.queue.taken,
            "redelivered": self.queue.redelivered,
            "requeued": self.requeued,
            "restarts": self.restarts,
            "workers": workers,
        })
    }
}

/// Jobs for people.
pub fn text(jobs: &[JobStatus]) -> String {
    if jobs.is_empty() {
        return "no search is there\n".to_owned();
    }
    let mut text = String::new();
    for job in jobs {
        text.push_str(&format!(
            "{}  {}: {} executions in {} records; {} units open, {} wait, {} taken ({} of them \
             again)\n",
            job.job,
            job.program,
            job.statistics.executions,
            job.recorded,
            job.open,
            job.queue.waiting,
            job.queue.taken,
            job.queue.redelivered,
        ));
        for worker in &job.workers {
            let what = match &worker.refuses {
                Some(why) => format!("refuses: {why}"),
                None => format!(
                    "{} executions, {} slices, {} lost, {} redelivered",
                    worker.executions, worker.slices, worker.lost, worker.redelivered
                ),
            };
            text.push_str(&format!("  {}: {what}\n", worker.name));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prometheus_reads_totals_and_workers() {
        let worker = WorkerStatus {
            name: "a-1".into(),
            executions: 7,
            rate: 1.25,
            is_alive: true,
            ..WorkerStatus::default()
        };
        let job = JobStatus {
            job: "j".into(),
            program: "x \"1\".c".into(),
            open: 2,
            workers: vec![worker],
            ..JobStatus::default()
        };
        let text = prometheus(&[job]);
        for line in [
            "# TYPE mazurka_executions_total counter",
            "mazurka_units_open{job=\"j\",program=\"x \\\"1\\\".c\"} 2",
            "mazurka_worker_executions_total{job=\"j\",program=\"x \\\"1\\\".c\",worker=\"a-1\"} 7",
            "mazurka_worker_up{job=\"j\",program=\"x \\\"1\\\".c\",worker=\"a-1\"} 1",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
        assert_eq!(prometheus(&[]), "");
    }

    #[test]
    fn a_sign_is_heard_and_lanes_are_those_that_take_the_job() {
        let mut signs = Signs::default();
        let sign = |sign: &Sign| serde_json::to_vec(sign).expect("it can be written");
        assert!(signs.hear("w.a", &sign(&Sign { jobs: 2, running: 5, ..Sign::default() })));
        let refuses = Some("why".to_owned());
        assert!(signs.hear("w.b", &sign(&Sign { jobs: 4, refuses, ..Sign::default() })));
        assert!(!signs.hear("c.00", b""));
        assert_eq!((signs.n_lanes(), signs.running()), (2, 5));
    }
}
