//! The book: every chapter is in its list, every link leads somewhere, the page of papers is what
//! the headers of the source files say, every technique has its file, and every assumption, bound,
//! property and exit status has its paragraph. `readme.rs` runs the console blocks.
//!
//! `UPDATE_EXPECT=1` writes the page of papers anew.

use crate::support::checkout::root;
use mazurka_core::{Assumption, Fairness, Location, MemoryOrder, WeakAccess};
use mazurka_report::ExitStatus;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The pages of the book, in the folders that they are in.
pub(super) fn chapters() -> Vec<PathBuf> {
    let mut files = Vec::new();
    below(&root().join("book/src"), "md", &mut files);
    files.sort();
    files
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_chapter_is_in_the_list() {
    let summary = read(&root().join("book/src/SUMMARY.md"));
    for chapter in chapters() {
        let name = chapter.strip_prefix(root().join("book/src")).expect("it is below");
        let name = name.to_string_lossy().into_owned();
        let is_there = name == "SUMMARY.md" || summary.contains(&format!("]({name})"));
        assert!(is_there, "{name} is not in the list");
    }
}

/// mdBook makes an empty page of a file that the list names and that is not there, and takes a list
/// for one chapter only if each of its lines is one link.
#[test]
fn the_list_is_one_that_mdbook_reads() {
    let summary = read(&root().join("book/src/SUMMARY.md"));
    for line in summary.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let link = line.trim_start().trim_start_matches("- ");
        let is_one = link.starts_with('[') && link.ends_with(".md)");
        assert!(is_one && link.matches("](").count() == 1, "`{line}` is not one link");
    }
    let settings = read(&root().join("book/book.toml"));
    assert!(settings.contains("\nsrc = \"src\"\n"), "{settings}");
}

/// The names that a page gives its headings, as mdBook makes them.
fn headings(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let slug = |line: &str| {
        let kept = line.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
        kept.map(|it| if it == ' ' { '-' } else { it }).collect()
    };
    headings.map(slug).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    for chapter in chapters() {
        let text = read(&chapter);
        let targets = text.split("](").skip(1).filter_map(|it| it.split_once(')'));
        let inside = targets.map(|(target, _)| target).filter(|it| !it.contains("://"));
        for target in inside {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let folder = chapter.parent().expect("it is in a folder");
            let path = if file.is_empty() { chapter.clone() } else { folder.join(file) };
            let is_there = path.exists()
                && (heading.is_empty() || headings(&read(&path)).iter().any(|it| it == heading));
            if !is_there {
                wrong.push(format!("{}: {target}", chapter.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "dead links:\n{}", wrong.join("\n"));
}

/// All files below a folder whose names end like that.
fn below(folder: &Path, extension: &str, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            below(&path, extension, all);
        } else if path.extension().is_some_and(|it| it == extension) {
            all.push(path);
        }
    }
}

/// What a file is, by the first line of its header, and the paragraph that says what it implements.
fn header(text: &str) -> Option<(String, String)> {
    let lines: Vec<&str> =
        text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
    let begin = lines.iter().position(|line| line.starts_with("Implements "))?;
    let join = |lines: &[&str]| {
        let lines: Vec<&str> = lines.iter().copied().take_while(|it| !it.is_empty()).collect();
        lines.join(" ")
    };
    let first_sentence = |text: String| match text.split_once(". ") {
        Some((first, _)) if !first.ends_with("et al") => format!("{first}."),
        _ => text,
    };
    Some((first_sentence(join(&lines)), join(&lines[begin..])))
}

/// A text of rustdoc without its links to items, which lead nowhere in a book.
fn without_items(text: &str) -> String {
    let mut parts = text.split("](");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((target, rest)) if target.contains("::") => {
                let begin = plain.rfind('[').expect("the link begins");
                plain.remove(begin);
                plain += rest;
            }
            _ => plain = plain + "](" + part,
        }
    }
    plain
}

#[test]
fn links_to_items_are_left_out() {
    assert_eq!(without_items("for [`A`](b::A), [c](d.md)."), "for `A`, [c](d.md).");
    assert_eq!(without_items("none"), "none");
}

/// The page of papers.
fn papers() -> String {
    let mut crates: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut files = Vec::new();
    below(&root().join("crates"), "rs", &mut files);
    files.sort();
    for file in files {
        let name = file.strip_prefix(root()).expect("it is below").to_string_lossy().into_owned();
        if name.contains("/tests/") || name.contains("/target/") {
            continue;
        }
        if let Some((what, implements)) = header(&read(&file)) {
            let folder = name.split('/').nth(1).unwrap_or_default().to_owned();
            let (what, implements) = (without_items(&what), without_items(&implements));
            let row = format!("- [`{name}`](../../{name}): {what}\n  {implements}\n");
            crates.entry(folder).or_default().push(row);
        }
    }
    let mut page = "# Papers\n\nWhich published technique lives in which file: the header of each has the \
                    correspondence, line by line where\nthere is one, and every deviation. This page is made of the \
                    headers.\n"
        .to_owned();
    for (name, rows) in crates {
        page += &format!("\n## {name}\n\n{}", rows.concat());
    }
    page
}

#[test]
fn the_page_of_papers_is_what_the_headers_say() {
    let path = root().join("book/src/papers.md");
    let now = papers();
    assert!(now.matches("Implements").count() >= 40, "where are the headers?");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &now).expect("it can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == now, "`UPDATE_EXPECT=1` writes {} anew", path.display());
}

/// The list of techniques: one row each, and every row leads to the file that it names.
#[test]
fn every_technique_has_its_file() {
    let page = read(&root().join("book/src/techniques.md"));
    let rows: Vec<&str> = page.lines().filter(|line| line.contains("](../../crates/")).collect();
    assert!(rows.len() >= 40, "there are {} techniques", rows.len());
    let mut names = BTreeSet::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [technique, link] = cells[..] else { panic!("`{row}` has not two cells") };
        let link = link.trim_end_matches('|').trim_end();
        let (name, target) = link.split_once("](../../crates/").expect("the row has a link");
        let (name, target) = (name.trim_start_matches('['), target.trim_end_matches(')'));
        assert_eq!(name, target, "{technique}");
        assert!(root().join("crates").join(target).is_file(), "{technique}: {target}");
        assert!(names.insert(technique), "{technique} is there twice");
    }
}

/// The codes that a type of `core/src/claim.rs` has in its JSON form, by the source.
fn codes(of: &str) -> BTreeSet<String> {
    let source = read(&root().join("crates/core/src/claim.rs"));
    let (_, rest) = source.split_once(&format!("impl {of} {{")).expect("the type has methods");
    let (_, rest) = rest.split_once("pub fn code(&self)").expect("it has codes");
    let (body, _) = rest.split_once("\n    }\n").expect("the method ends");
    let arms = body.split("=> \"").skip(1).filter_map(|arm| arm.split_once('"'));
    let codes: BTreeSet<String> = arms.map(|(code, _)| code.to_owned()).collect();
    assert!(codes.len() > 5, "{of} has codes: {codes:?}");
    codes
}

/// The codes that a section of the page has, behind what each of them begins with.
fn listed(page: &str, section: &str, begins: &str) -> BTreeSet<String> {
    let section = match page.split_once(&format!("\n## {section}\n")) {
        Some((_, rest)) => rest.split("\n## ").next().unwrap_or_default(),
        None => panic!("there is no section `{section}`"),
    };
    let rows = section.lines().filter_map(|line| line.strip_prefix(begins));
    rows.filter_map(|row| row.split_once('`')).map(|(code, _)| code.to_owned()).collect()
}

#[test]
fn every_code_of_a_claim_is_explained() {
    let page = read(&root().join("book/src/assumptions.md"));
    let headings = page.lines().filter_map(|line| line.strip_prefix("### `"));
    let explained: BTreeSet<String> =
        headings.map(|line| line.trim_end_matches('`').to_owned()).collect();
    assert_eq!(explained, codes("Assumption"), "assumptions");
    assert_eq!(listed(&page, "Bounds", "| `"), codes("Bound"), "bounds");
    assert_eq!(listed(&page, "Properties", "| `"), codes("Property"), "properties");
}

/// The sentences on the page are those that a verdict has.
#[test]
fn every_assumption_is_quoted_as_it_is_told() {
    let page = read(&root().join("book/src/assumptions.md"));
    let place = |file: &str| Location {
        file: file.to_owned(),
        line: 7,
        column: 3,
        function: None,
        within: None,
        is_library: false,
    };
    let c = || Some(place("x.c"));
    let named = |name: &str| name.to_owned();
    let order = Some(MemoryOrder::Relaxed);
    let ready = WeakAccess { object: named("ready"), order, location: c() };
    let allocation = |function: &str, moves| Assumption::Allocation {
        function: named(function),
        is_uninitialised: true,
        moves,
    };
    let external = |function: &str, is_nondeterministic| Assumption::Extern {
        function: named(function),
        is_nondeterministic,
    };
    let all = [
        Assumption::SequentialConsistency(vec![ready]),
        Assumption::RacesAllowed,
        Assumption::NoRace,
        Assumption::NoEarlyEnd,
        Assumption::CompiledAtomics,
        Assumption::OrderedAtomics(vec![named("x")]),
        Assumption::Assembly(c()),
        Assumption::UnseenAssembly(place("x.rs")),
        Assumption::Fair(Fairness::Weak),
        Assumption::Fair(Fairness::Strong),
        Assumption::Fair(Fairness::Trace),
        Assumption::NoSpinning,
        Assumption::HashCollision { bits: 64, odds: 1e-9 },
        Assumption::Bitstate { bits: 3, odds: 1e-9 },
        Assumption::NoSpuriousWakeups(c()),
        Assumption::NoSpuriousFailure,
        Assumption::NothingSurvives(c()),
        Assumption::NothingEnds(c()),
        Assumption::Uninitialised(c()),
        allocation("malloc", false),
        allocation("realloc", true),
        Assumption::Printing,
        Assumption::PrintingReturnsZero,
        Assumption::ClocksStandStill,
        external("measure", true),
        external("log_line", false),
        Assumption::NondetRange { low: 0, high: 7 },
        Assumption::SemaphoresOutliveWaits,
        Assumption::TimedWaits(0),
        Assumption::TimedWaits(2),
        Assumption::DeferredCancellation,
        Assumption::TrustedCalls(vec![named("std")]),
        Assumption::VirtualTime,
        Assumption::EndlessLoop(100_000),
        Assumption::RoundsOfWaits,
        Assumption::RepeatedCall(named("getpid")),
        Assumption::FailingCall(named("socket")),
        Assumption::UninstrumentedCalls {
            library: named("libz"),
            functions: vec![named("deflate")],
        },
        Assumption::LongAccesses(64 << 10),
        Assumption::LoadedLibraries(named("dlopen")),
    ];
    let told: BTreeSet<&str> = all.iter().map(Assumption::code).collect();
    assert_eq!(told.into_iter().map(str::to_owned).collect::<BTreeSet<_>>(), codes("Assumption"));
    let mut quoted: BTreeSet<&str> =
        page.lines().filter_map(|line| line.strip_prefix("> assuming ")).collect();
    for assumption in &all {
        let sentence = assumption.to_string();
        assert!(quoted.remove(&*sentence), "the page does not quote\n> assuming {sentence}");
    }
    assert!(quoted.is_empty(), "quoted, and told by no assumption above: {quoted:?}");
}

#[test]
fn every_exit_status_is_explained() {
    let page = read(&root().join("book/src/json.md"));
    for status in ExitStatus::ALL {
        let row = format!("\n| {} | ", status.code());
        assert!(page.contains(&row), "{status:?} has no row");
    }
}

/// The keys of the JSON object are those that the page has, no more and no fewer.
#[test]
fn every_key_of_the_json_object_is_explained() {
    let page = read(&root().join("book/src/json.md"));
    let schema = read(&root().join("crates/report/schema.json"));
    let schema: serde_json::Value = serde_json::from_str(&schema).expect("it is JSON");
    let keys = |of: &serde_json::Value| -> Vec<String> {
        of["properties"].as_object().expect("it is an object").keys().cloned().collect()
    };
    for part in ["Checked", "NotChecked", "Stats", "Violated"] {
        for key in keys(&schema["$defs"][part]) {
            let is_there = page.lines().any(|line| {
                let first = line.strip_prefix("| ").and_then(|line| line.split(" | ").next());
                first.is_some_and(|cell| cell.split(", ").any(|it| it == format!("`{key}`")))
            });
            assert!(is_there, "`{key}` has no row");
        }
    }
}

/// The glossary is in order, has each word once, and has the words of the field that the book is
/// about.
#[test]
fn the_glossary_has_each_word_once() {
    let page = read(&root().join("book/src/glossary.md"));
    let entries = page.lines().filter_map(|line| line.strip_prefix("- **"));
    let words: Vec<&str> =
        entries.filter_map(|entry| entry.split_once("**: ")).map(|it| it.0).collect();
    assert_eq!(words.len(), page.lines().filter(|line| line.starts_with("- ")).count(), "form");
    let keys: Vec<String> = words.iter().map(|it| it.to_lowercase().replace('ü', "u")).collect();
    let mut sorted = keys.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(keys, sorted, "in the order of the alphabet, and each once");
    for word in [
        "ample set",
        "causal past",
        "execution",
        "execution graph",
        "happens-before",
        "k-induction",
        "linearization",
        "nested depth-first search",
        "persistent set",
        "race",
        "sleep set",
        "source set",
        "strong fairness",
        "stubborn set",
        "trace",
        "weak fairness",
    ] {
        assert!(words.contains(&word), "`{word}` is missing");
    }
}
