//! What travels, to the letter: a change of it needs a new version of the protocol.

use expect_test::{Expect, expect};
use mazurka_core::{Limit, Statistics, Verdict, Violation, ViolationKind};
use mazurka_explore::{BoundKind, Options};
use mazurka_protocol::{
    Action, Failed, Progress, ProtocolError, Replayed, Reply, Report, Request, RunOptions, Saving,
    VERSION, progress_path, read, write,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A file in a folder that goes away.
fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("file.json");
    (folder, path)
}

/// A value is written in this form, and is the same again once it is read.
fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, form: &Expect) {
    let (_folder, path) = file();
    write(&path, value).expect("it can be written");
    form.assert_eq(&std::fs::read_to_string(&path).expect("it is there"));
    assert_eq!(&read::<T>(&path).expect("it can be read"), value);
    let left = std::fs::read_dir(path.parent().expect("it is in a folder")).expect("it is there");
    assert_eq!(left.count(), 1, "nothing is left beside it");
}

#[test]
fn requests() {
    let mut options = Options::new().bound(BoundKind::Preemption, 2);
    options.time_limit = Some(Duration::from_millis(1500));
    let saving = Saving {
        path: "a.mzk".into(),
        after: Duration::from_secs(10),
        every: Saving::EVERY,
        is_asked: false,
    };
    let run = RunOptions { allow: vec!["skip=socket".to_owned()], ..RunOptions::default() };
    check(
        &Request { action: Action::Explore, options, run, save: Some(saving), resume: None },
        &expect![[
            r#"{"version":4,"content":{"action":"Explore","options":{"reduction":"Optimal","memory":null,"sleep":true,"stateful":false,"bounds":[{"kind":"Preemption","limit":2}],"bpor_opt":null,"iterate":false,"jobs":1,"max_depth":100000,"livelock":true,"deadlock":true,"race":true,"stop_at_first":true,"max_executions":null,"time_limit":{"secs":1,"nanos":500000000},"progress_every":{"secs":0,"nanos":200000000},"room":262144,"coverage":false,"order":"DepthFirst","seed":0,"ladder":false,"shorten":false,"sample":null,"fair":true,"fringe":1000000,"n_shown":0},"run":{"leak":true,"allow":["skip=socket"],"trust":[],"strict":false,"retries":null,"is_time_virtual":false,"is_test":false,"checkpoints":true,"alone":256,"check_checkpoints":false,"orders":[],"tells_atomics":false,"tells_lines":false},"save":{"path":"a.mzk","after":{"secs":10,"nanos":0},"every":{"secs":60,"nanos":0},"is_asked":false},"resume":null}}"#
        ]],
    );
    let schedule = "mzk1:0x3.2~1.1".parse().expect("it is a schedule");
    check(
        &Request { action: Action::Replay(schedule), ..Request::default() },
        &expect![[
            r#"{"version":4,"content":{"action":{"Replay":"mzk1:0x3.2~1.1"},"options":{"reduction":"Optimal","memory":null,"sleep":true,"stateful":false,"bounds":[],"bpor_opt":null,"iterate":false,"jobs":1,"max_depth":100000,"livelock":true,"deadlock":true,"race":true,"stop_at_first":true,"max_executions":null,"time_limit":null,"progress_every":{"secs":0,"nanos":200000000},"room":262144,"coverage":false,"order":"DepthFirst","seed":0,"ladder":false,"shorten":false,"sample":null,"fair":true,"fringe":1000000,"n_shown":0},"run":{"leak":true,"allow":[],"trust":[],"strict":false,"retries":null,"is_time_virtual":false,"is_test":false,"checkpoints":true,"alone":256,"check_checkpoints":false,"orders":[],"tells_atomics":false,"tells_lines":false},"save":null,"resume":null}}"#
        ]],
    );
}

#[test]
fn replies() {
    let mut statistics = Statistics::default();
    statistics.executions = 7;
    let verdict = Verdict::Inconclusive(Limit::Executions(7));
    let report = Report::new(verdict, statistics, Duration::from_secs(1));
    check(
        &Reply::Explored(Box::new(report)),
        &expect![[
            r#"{"version":4,"content":{"Explored":{"verdict":{"Inconclusive":{"Executions":7}},"statistics":{"executions":7,"blocked_executions":0,"transitions":0,"replayed":0,"refused_reversals":0,"states":0,"states_matched":0,"max_depth":0,"bound_exceeded":false},"proved":null,"warnings":[],"time":{"secs":1,"nanos":0},"restarts":0,"tree":null,"coverage":null,"sample":null,"cost":null,"shortest":null,"rungs":[],"is_saved":false,"used":{"threads":0,"peak_memory":null,"user":{"secs":0,"nanos":0},"system":{"secs":0,"nanos":0}},"atomics":[],"shown":[],"lines":null}}}"#
        ]],
    );
    let violation = Violation::new(ViolationKind::Panic, "no".to_owned());
    check(
        &Reply::Replayed(Replayed { violation: Some((3, violation)), atomics: Vec::new() }),
        &expect![[
            r#"{"version":4,"content":{"Replayed":{"violation":[3,{"kind":"panic","message":"no","detail":null}],"atomics":[]}}}"#
        ]],
    );
    check(
        &Reply::Failed(Failed::Defect("ours".to_owned())),
        &expect![[r#"{"version":4,"content":{"Failed":{"Defect":"ours"}}}"#]],
    );
    check(
        &Progress::default(),
        &expect![[r#"{"version":4,"content":{"search":null,"proved":[]}}"#]],
    );
    assert_eq!(progress_path(Path::new("a/r.json")), Path::new("a/r.json.progress"));
}

#[test]
fn what_the_other_side_should_not_have_written_is_refused() {
    let (_folder, path) = file();
    let check = |text: &str, expected: &str| {
        std::fs::write(&path, text).expect("it can be written");
        let error = read::<Request>(&path).expect_err("it is wrong").to_string();
        let error = error.replace(&*path.to_string_lossy(), "FILE");
        assert_eq!(error, expected, "{text}");
    };
    let other = |theirs: &str| {
        format!(
            "the command and the library in the program are of different versions of Mazurka: the \
             other side speaks version {theirs} of their protocol, this one version {VERSION}"
        )
    };
    check(r#"{"version": 999, "content": []}"#, &other("999"));
    check(r#"{"version": 0}"#, &other("0"));
    check(r#"{"verdict": null, "error": "old"}"#, &other("0"));
    check("", "`FILE` is not understood: EOF while parsing a value at line 1 column 0");
    let (_other, missing) = file();
    let error = read::<Request>(&missing).expect_err("there is none");
    assert!(matches!(error, ProtocolError::Unreadable { .. }), "{error}");
}
