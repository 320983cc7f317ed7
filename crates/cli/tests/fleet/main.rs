//! `--workers`: searches by workers of a real broker on loopback. Workers are killed, the broker is
//! restarted, and the totals are those of one search.

mod support;

use serde_json::Value;
use std::time::{Duration, Instant};
use support::{Fleet, Said, nats_is_here};

/// `N` stores to one variable: N! traces.
const WRITERS: &str = include_str!("../../../lab/programs/nwriters.c");
/// The Indexer of POPL 2005: 8^(N-11) traces, from 11 threads on.
const INDEXER: &str = include_str!("../../../lab/programs/indexer.c");

fn json(said: &Said) -> Value {
    let parsed = serde_json::from_str(&said.stdout);
    parsed.unwrap_or_else(|error| panic!("{error}: {}{}", said.stdout, said.stderr))
}

/// Workers are killed every second and the broker twice, and nothing is lost or counted twice.
#[test]
fn totals_are_exact_whoever_is_killed() {
    if !nats_is_here() {
        return;
    }
    // The large ones take a minute, and longer where others work, too.
    let programs = match mazurka_effort::is_full() {
        true => [("i.c", INDEXER, 16, 32_768), ("w.c", WRITERS, 9, 362_880)],
        false => [("i.c", INDEXER, 15, 4_096), ("w.c", WRITERS, 8, 40_320)],
    };
    let mut fleet = Fleet::start();
    for (file, text, n, traces) in programs {
        fleet.write(file, text);
        let define = format!("-DN={n}");
        let asked = fleet.ask(&["check", file, &define, "--slice", "200ms", "--json", "-"]);
        (0..4).for_each(|_| fleet.add_worker(&[]));
        let (begun, mut n_killed) = (Instant::now(), 0);
        while !asked.is_finished() {
            std::thread::sleep(Duration::from_secs(1));
            fleet.kill_worker(n_killed % 4);
            n_killed += 1;
            if n_killed == 2 || n_killed == 4 {
                fleet.restart_server();
            }
            assert!(begun.elapsed() < Duration::from_secs(400), "{file} comes to no end");
        }
        let said = asked.join().expect("it does not panic").ends_with(0);
        let answer = json(&said);
        assert_eq!(answer["verdict"], "holds", "{file}: {}", said.stderr);
        assert_eq!(answer["stats"]["traces"], traces, "{file}, {n_killed} killed");
        assert_eq!(answer["stats"]["executions"], traces, "{file}, {n_killed} killed");
    }
}

#[test]
fn a_violation_is_found_by_a_worker_and_replayed_by_the_asker() {
    if !nats_is_here() {
        return;
    }
    let mut fleet = Fleet::start();
    // The first of eight writers is the last one to be the first of an execution, and then wrong.
    fleet.write("b.c", BUG);
    (0..2).for_each(|_| fleet.add_worker(&[]));
    let words = ["check", "b.c", "--slice", "300ms", "--json", "-", "--html", "b.html"];
    let said = fleet.ask(&[&words[..], &["--events", "b.jsonl"]].concat());
    let answer = json(&said.join().expect("it does not panic").ends_with(1));
    assert_eq!(answer["violation"]["kind"], "assertion");
    let schedule = answer["violation"]["schedule"].as_str().expect("it has one");
    fleet.run(&["replay", "b.c", "--schedule", schedule]).ends_with(1);
    // It was dealt out, and not found in the first thousand executions.
    let events = fleet.read("b.jsonl");
    let told = events.lines().filter(|line| line.contains("\"event\":\"fleet\"")).count();
    assert!(told > 0, "{events}");
    assert!(fleet.read("b.html").contains("b.c"), "the page is that of the verdict in the end");
}

/// Seven threads of which each notes whether it is the first. The last one must not be.
const BUG: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_int x;\n\
    static void *work(void *who) { int me = (int)(long)who; int old = atomic_exchange(&x, me);\n\
    assert(!(old == 0 && me == 8)); return 0; }\n\
    int main(void) {\n    pthread_t all[8];\n    for (long i = 0; i < 8; i++) \
    pthread_create(&all[i], 0, work, (void *)(i + 1));\n    for (int i = 0; i < 8; i++) \
    pthread_join(all[i], 0);\n    return 0;\n}\n";

/// A thread that is started only where the last writer was the first: no search of a thousand
/// executions knows of it.
const SECRET: &str = "#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_int x, y;\n\
    static void *late(void *who) { atomic_store(&y, 1); return 0; }\n\
    static void *work(void *who) { int me = (int)(long)who; int old = atomic_exchange(&x, me);\n\
    if (old == 0 && me == 7) { pthread_t it; pthread_create(&it, 0, late, 0); \
    atomic_store(&y, 2); pthread_join(it, 0); } return 0; }\n\
    int main(void) {\n    pthread_t all[7];\n    for (long i = 0; i < 7; i++) \
    pthread_create(&all[i], 0, work, (void *)(i + 1));\n    for (int i = 0; i < 7; i++) \
    pthread_join(all[i], 0);\n    return 0;\n}\n";

#[test]
fn a_worker_that_learns_more_has_the_search_begin_again() {
    if !nats_is_here() {
        return;
    }
    let mut fleet = Fleet::start();
    fleet.write("s.c", SECRET);
    let alone = json(&fleet.run(&["check", "s.c", "--ladder", "off", "--json", "-"]).ends_with(0));
    (0..2).for_each(|_| fleet.add_worker(&[]));
    let words = ["check", "s.c", "--slice", "300ms", "--json", "-", "--events", "s.jsonl"];
    let answer = json(&fleet.ask(&words).join().expect("it does not panic").ends_with(0));
    for key in ["executions", "traces", "blocked_executions"] {
        assert_eq!(answer["stats"][key], alone["stats"][key], "{key}");
    }
    // Six times 720 as before, and 720 with two orders of the new stores.
    assert_eq!(answer["stats"]["traces"], 6 * 720 + 2 * 720);
    assert!(
        fleet.read("s.jsonl").contains("\"phase\":\"learning\""),
        "nothing was learnt on the way"
    );
}

#[test]
fn strangers_and_other_versions_are_refused_by_name() {
    if !nats_is_here() {
        return;
    }
    let mut fleet = Fleet::start();
    fleet.write("w.c", WRITERS);
    fleet.run(&["fleet", "keygen", "stranger"]).ends_with(0);
    fleet.add_worker_that_trusts("stranger.pub");
    let other = fleet.other_library();
    fleet.add_worker(&[("MAZURKA_NATIVE", other.to_str().expect("it is text"))]);
    let words = ["check", "w.c", "-DN=8", "--time-limit", "8s", "--save", "w.mzs"];
    let said = fleet.ask(&words).join().expect("it does not panic").ends_with(3);
    for part in ["not signed by a key that this worker trusts", "with another runtime library"] {
        assert!(said.stderr.contains(part), "no `{part}` in {}", said.stderr);
    }
    // Nothing was explored but by the asker, and that is saved: one process goes on with it.
    let alone = fleet.run(&["check", "w.c", "-DN=8", "--resume", "w.mzs", "--json", "-"]);
    assert_eq!(json(&alone.ends_with(0))["stats"]["traces"], 40_320);
    // And so do workers.
    fleet.ask(&words).join().expect("it does not panic").ends_with(3);
    fleet.add_worker(&[]);
    let rest = ["check", "w.c", "-DN=8", "--resume", "w.mzs", "--slice", "1s", "--json", "-"];
    let answer = json(&fleet.ask(&rest).join().expect("it does not panic").ends_with(0));
    assert_eq!(answer["stats"]["traces"], 40_320);
}

#[test]
fn a_broker_that_is_silent_for_a_while_is_waited_for() {
    if !nats_is_here() {
        return;
    }
    let mut fleet = Fleet::start();
    fleet.write("w.c", WRITERS);
    (0..2).for_each(|_| fleet.add_worker(&[]));
    let asked = fleet.ask(&["check", "w.c", "-DN=8", "--slice", "200ms", "--json", "-"]);
    let begun = Instant::now();
    while !fleet.run(&["fleet", "status", &fleet.url()]).stdout.contains("executions in") {
        assert!(
            begun.elapsed() < Duration::from_secs(60) && !asked.is_finished(),
            "no job is there"
        );
    }
    fleet.signal_server("-STOP");
    // Longer than any worker may be silent.
    std::thread::sleep(Duration::from_secs(6));
    fleet.signal_server("-CONT");
    let answer = json(&asked.join().expect("it does not panic").ends_with(0));
    assert_eq!(answer["stats"]["traces"], 40_320);
}

#[test]
fn a_broker_without_room_is_told_of() {
    if !nats_is_here() {
        return;
    }
    let fleet = Fleet::with_room("16KB");
    fleet.write("w.c", WRITERS);
    let said = fleet.ask(&["check", "w.c"]).join().expect("it does not panic").ends_with(2);
    assert!(said.stderr.contains("the broker has no room left"), "{}", said.stderr);
}

/// Asker and workers speak TLS, know the broker by an authority of its own, and are known by
/// certificates. Who has none of it is told so.
#[test]
fn a_broker_with_certificates() {
    if !nats_is_here() || !mazurka_effort::has_tool("openssl") {
        return;
    }
    let mut fleet = Fleet::encrypted();
    fleet.write("w.c", WRITERS);
    (0..2).for_each(|_| fleet.add_worker(&[]));
    let words = ["check", "w.c", "-DN=7", "--slice", "300ms", "--json", "-"];
    let answer = json(&fleet.ask(&words).join().expect("it does not panic").ends_with(0));
    assert_eq!(answer["stats"]["traces"], 5_040);
    fleet.run(&["fleet", "status", &fleet.url()]).ends_with(0).prints("no search is there");
    fleet.forget(&["NATS_CERT", "NATS_KEY"]);
    let refused = |fleet: &Fleet| {
        let said = fleet.run(&["fleet", "status", &fleet.url()]).ends_with(2);
        assert!(said.stderr.contains("no broker answers at tls://127.0.0.1"), "{}", said.stderr);
    };
    refused(&fleet);
    fleet.forget(&["NATS_CA"]);
    refused(&fleet);
}

#[test]
fn searches_are_looked_at_and_ended() {
    if !nats_is_here() {
        return;
    }
    let fleet = Fleet::start();
    let url = fleet.url();
    fleet.write("w.c", WRITERS);
    fleet.run(&["fleet", "status", &url]).ends_with(0).prints("no search is there");
    let asked = fleet.ask(&["check", "w.c"]);
    let begun = Instant::now();
    let job = loop {
        let said = fleet.run(&["fleet", "status", &url]).ends_with(0);
        if said.stdout.contains("1000 executions in 1 records") {
            break said.stdout.split_whitespace().next().expect("it has a name").to_owned();
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{}{}", said.stdout, said.stderr);
        std::thread::sleep(Duration::from_millis(100));
    };
    let text = fleet.run(&["fleet", "status", &url, "--prometheus"]).ends_with(0);
    text.prints(&format!("mazurka_executions_total{{job=\"{job}\",program=\"w.c\"}} 1000"));
    fleet.run(&["fleet", "cancel", &url, "nobody"]).ends_with(2);
    fleet.run(&["fleet", "cancel", &url, &job]).ends_with(0).prints("1 search ended");
    let said = asked.join().expect("it does not panic").ends_with(3);
    assert!(said.stderr.contains("was cancelled"), "{}", said.stderr);
    fleet.run(&["fleet", "status", &url]).ends_with(0).prints("no search is there");
}

#[test]
fn what_cannot_be_dealt_out_is_said_at_once() {
    if !nats_is_here() {
        return;
    }
    let fleet = Fleet::start();
    fleet.write("w.c", WRITERS);
    let refused = |words: &[&str], part: &str| {
        let all = [&["check", "w.c"], words].concat();
        let said = fleet.ask(&all).join().expect("it does not panic").ends_with(2);
        assert!(said.stderr.contains(part), "no `{part}` in {}", said.stderr);
    };
    refused(&["--engine", "vm"], "`--workers` is for `--engine native`");
    refused(&["--jobs", "2", "--iterate", "--bound", "local-depth=3"], "each worker has its own");
    refused(&["--jobs", "2", "--iterate", "--bound", "local-depth=3"], "with `--iterate`");
    refused(&["--reduction", "dpor"], "needs `--reduction optimal`");
    let url = fleet.url();
    let unsigned = fleet.run(&["check", "w.c", "--workers", &url]).ends_with(2);
    assert!(unsigned.stderr.contains("--sign-key"), "{}", unsigned.stderr);
    let nobody = ["check", "w.c", "--workers", "nats://127.0.0.1:1", "--sign-key", "key"];
    let said = fleet.run(&nobody).ends_with(2);
    assert!(said.stderr.contains("no broker answers at nats://127.0.0.1:1"), "{}", said.stderr);
    fleet.run(&["fleet", "keygen", "key"]).ends_with(2);
    let wrong = ["worker", &url, "--trust-key", "w.c", "--trust-key", "none", "--name", "a b"];
    let said = fleet.run(&wrong).ends_with(2);
    for part in ["line 1 is no public key", "`none` cannot be read", "is no name of a worker"] {
        assert!(said.stderr.contains(part), "no `{part}` in {}", said.stderr);
    }
}
