//! The book: every chapter is in its list, every link leads somewhere, and the page of papers is what
//! the headers of the source files say. `readme.rs` runs the console blocks.
//!
//! `UPDATE_EXPECT=1` writes the page of papers anew.

use crate::support::checkout::root;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn chapters() -> Vec<PathBuf> {
    let files = fs::read_dir(root().join("book/src")).expect("the book is there");
    let mut files: Vec<PathBuf> = files.map(|it| it.expect("it can be read").path()).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "md"));
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
        let name = chapter.file_name().expect("it is a file").to_string_lossy().into_owned();
        let is_there = name == "SUMMARY.md" || summary.contains(&format!("]({name})"));
        assert!(is_there, "{name} is not in the list");
    }
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

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|it| it == "rs") {
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

/// The page of papers.
fn papers() -> String {
    let mut crates: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    files.sort();
    for file in files {
        let name = file.strip_prefix(root()).expect("it is below").to_string_lossy().into_owned();
        if name.contains("/tests/") || name.contains("/target/") {
            continue;
        }
        if let Some((what, implements)) = header(&read(&file)) {
            let folder = name.split('/').nth(1).unwrap_or_default().to_owned();
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
