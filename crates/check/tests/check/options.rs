//! The table of options holds to its own rules: what a row reads it writes, what it does not know
//! it refuses, and its words are there.

use mazurka_check::options::{Group, Options, Row, TABLE, Takes, row};
use mazurka_check::{ENGINES, Language};
use std::collections::BTreeSet;

/// A value that is not what an option has by default.
fn another(row: &Row) -> &'static str {
    match row.name {
        "races" => "allow",
        "nondet" => "-1..3",
        "extern" => "next_ticket=nondet",
        "property" => "deadlock,race",
        "allow" => "skip=socket",
        "retries" | "seed" | "jobs" | "depth" | "recursion" | "max-executions" | "max-depth" => "7",
        "trust" => "libz,deflate",
        "ltl" => "[] (n == 1)",
        "ltl-name" => "safe",
        "automaton" | "trail" | "proof" | "sign-key" => "a file",
        "workers" => "nats://host",
        "save" | "resume" => "/a file",
        "memory" => "rc11",
        "fairness" => "weak",
        "cycles" => "nested",
        "construction" => "off-line",
        "bound" => "preemption=2",
        "bpor-opt" => "transitive,sleep",
        "reduction" => "dpor",
        "sleep" | "ladder" => "off",
        "sample" => "pct:3",
        "time" => "any",
        "trace" => "full",
        "show" => "executions=3",
        "order" => "best-first:preemptions,random",
        "storage" => "bitstate",
        "schedule" => "mpor",
        "time-limit" | "slice" => "90s",
        "memory-limit" => "8G",
        _ => "on",
    }
}

#[test]
fn what_a_row_reads_it_writes() {
    for row in TABLE {
        let mut options = Options::new();
        assert!((row.get)(&options).is_empty(), "{row:?} is told though it is as by default");
        let set = (row.set)(&mut options, another(row));
        set.unwrap_or_else(|error| panic!("{row:?}: {error}"));
        if row.name == "cflags" {
            continue;
        }
        assert_eq!((row.get)(&options), [another(row)], "{row:?}");
        let words = options.words(|it| it.name == row.name);
        let expected = match row.takes {
            Takes::Nothing => vec![format!("--{}", row.name)],
            _ => vec![format!("--{}", row.name), another(row).to_owned()],
        };
        assert_eq!(words, expected);
        let mut again = Options::new();
        again.set(row.name, another(row)).unwrap();
        assert_eq!(again, options, "{row:?}");
        if let Some((key, value)) = row.json {
            assert_ne!(value(&options), value(&Options::new()), "{key} does not tell");
        }
    }
    let mut options = Options::new();
    options.set("cflags", "-DA='x y' -lm").unwrap();
    assert_eq!(options.flags, ["-DA=x y", "-lm"]);
    options.set("memory", "sc").unwrap();
    assert!(options.set("memory", "strong").is_err());
}

#[test]
fn what_a_row_does_not_know_it_refuses() {
    // Texts that may be anything.
    let free = [
        "cflags",
        "trust",
        "ltl",
        "ltl-name",
        "automaton",
        "trail",
        "proof",
        "save",
        "resume",
        "workers",
        "sign-key",
    ];
    for row in TABLE.iter().filter(|row| !free.contains(&row.name)) {
        let mut options = Options::new();
        let error = (row.set)(&mut options, "no such value").expect_err(row.name);
        assert!(!error.is_empty() && !error.ends_with('.'), "{row:?}: {error}");
        let fault = options.set(row.name, "no such value").expect_err(row.name);
        assert!(fault.message.starts_with(&format!("`--{} no such value`: ", row.name)));
        // Where `--help` lists all values, the error does, too.
        if let Takes::One(values) = row.takes
            && values.contains('|')
        {
            let plain = values.replace("[:D]", "");
            let missing: Vec<&str> = plain.split('|').filter(|it| !error.contains(it)).collect();
            assert!(missing.is_empty(), "`--{}`: {error} does not list {missing:?}", row.name);
        }
    }
    assert!(Options::new().set("nothing", "x").is_err());
}

#[test]
fn every_row_has_its_words() {
    let names: BTreeSet<&str> = TABLE.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), TABLE.len(), "no name is there twice");
    let keys: Vec<&str> = TABLE.iter().filter_map(|row| row.json.map(|(key, _)| key)).collect();
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len(), "no key is there twice");
    for row in TABLE {
        assert!(!row.help.is_empty() && !row.help.ends_with('.'), "{row:?}");
        assert!(!row.described().is_empty() && !row.manual.ends_with('.'), "{row:?}");
        assert!(row.variable().starts_with("MAZURKA_"), "{row:?}");
        let is_used = |language| {
            let mut features = ENGINES.iter().map(|engine| engine.supports().features);
            features.any(|features| row.is_for(features, language))
        };
        assert!(Language::ALL.into_iter().any(is_used), "no engine uses {row:?}");
    }
    let n_common = TABLE.iter().filter(|row| row.is_common).count();
    assert!(n_common <= 10, "{n_common} options are among those that most people need");
    assert!(Group::ALL.into_iter().all(|group| TABLE.iter().any(|row| row.group == group)));
    assert_eq!(row("time-limit").unwrap().variable(), "MAZURKA_TIME_LIMIT");
}
