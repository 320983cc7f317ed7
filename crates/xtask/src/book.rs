//! The book as pages: built by mdBook as a library, and every link of the pages followed.
//!
//! Pages name files of the repository by links, which lead somewhere where the sources are read.
//! The pages of the built book have the names without the links.

use crate::command::{Done, heading, root, target};
use mdbook_driver::MDBook;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Builds the book into the folder of what is built, and follows the links of its pages.
pub(crate) fn build() -> Done {
    heading("the book");
    let folder = target().join("book");
    let said = |error: mdbook_driver::errors::Error| format!("{error:#}");
    let mut book = MDBook::load(root().join("book")).map_err(said)?;
    book.config.build.build_dir.clone_from(&folder);
    book.book.for_each_chapter_mut(|chapter| {
        let depth = chapter.path.as_ref().map_or(0, |path| path.components().count() - 1);
        chapter.content = without_links_to_sources(&chapter.content, depth);
    });
    book.build().map_err(said)?;
    let pages = pages(&folder)?;
    let dead = dead_links(&pages);
    println!("{}: {} pages", folder.join("index.html").display(), pages.len());
    match dead.is_empty() {
        true => Ok(()),
        false => Err(format!("links of the book that lead nowhere:\n{}", dead.join("\n"))),
    }
}

/// A text without its links that leave the folder of the book's texts, from a page which is so many
/// folders deep. What they are called stays.
fn without_links_to_sources(text: &str, depth: usize) -> String {
    let leaves = |link: &str| {
        let ups = Path::new(link).components().take_while(|it| *it == Component::ParentDir);
        ups.count() > depth
    };
    let mut parts = text.split("](");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match (part.split_once(')'), plain.rfind('[')) {
            (Some((link, rest)), Some(begin)) if leaves(link) => {
                plain.remove(begin);
                plain += rest;
            }
            _ => plain = plain + "](" + part,
        }
    }
    plain
}

/// A page: what can be linked to in it, and where its links lead.
#[derive(Debug, Default)]
struct Page {
    names: BTreeSet<String>,
    links: BTreeSet<String>,
}

/// All pages below a folder, but for the one of everything, in which each link stands a second time.
fn pages(folder: &Path) -> Done<BTreeMap<PathBuf, Page>> {
    let mut pages = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let said = |error| format!("{}: {error}", folder.display());
        for entry in fs::read_dir(&folder).map_err(said)? {
            let path = entry.map_err(said)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "html") {
                let text = fs::read_to_string(&path).map_err(said)?;
                let is_whole = path.ends_with("print.html") || path.ends_with("404.html");
                let page = Page {
                    names: attributes(&text, "id"),
                    links: if is_whole { BTreeSet::new() } else { attributes(&text, "href") },
                };
                pages.insert(path, page);
            }
        }
    }
    Ok(pages)
}

/// The values of an attribute, wherever it stands in a page.
fn attributes(page: &str, name: &str) -> BTreeSet<String> {
    let begin = format!(" {name}=\"");
    let values = page.split(&*begin).skip(1).filter_map(|rest| rest.split_once('"'));
    values.map(|(value, _)| value.to_owned()).collect()
}

/// Links of pages that lead to no file, or to nothing in the page that they lead to.
fn dead_links(pages: &BTreeMap<PathBuf, Page>) -> Vec<String> {
    let mut dead = Vec::new();
    for (path, page) in pages {
        let folder = path.parent().expect("a page is in a folder");
        for link in page.links.iter().filter(|link| !link.contains(':')) {
            let (file, name) = link.split_once('#').unwrap_or((link, ""));
            let to = if file.is_empty() { path.clone() } else { plain_path(&folder.join(file)) };
            let is_there = match pages.get(&to) {
                Some(page) => name.is_empty() || page.names.contains(name),
                None => to.is_file(),
            };
            if !is_there {
                dead.push(format!("{}: {link}", path.display()));
            }
        }
    }
    dead
}

/// A path without the steps that lead up again.
fn plain_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_leave_the_book_become_their_names() {
        let text = "[`a`](../../a.rs), [b](b.md#c) and [d](../d.md)";
        assert_eq!(without_links_to_sources(text, 1), "`a`, [b](b.md#c) and [d](../d.md)");
        assert_eq!(without_links_to_sources(text, 0), "`a`, [b](b.md#c) and d");
    }

    #[test]
    fn links_to_nothing_are_found() {
        let page = |names: &[&str], links: &[&str]| Page {
            names: names.iter().map(|&it| it.to_owned()).collect(),
            links: links.iter().map(|&it| it.to_owned()).collect(),
        };
        let pages = BTreeMap::from([
            (PathBuf::from("/b/a.html"), page(&["x"], &["#x", "#y", "how/c.html#z", "d.html"])),
            (PathBuf::from("/b/how/c.html"), page(&["z"], &["../a.html#x", "../a.html#z"])),
        ]);
        let dead = ["/b/a.html: #y", "/b/a.html: d.html", "/b/how/c.html: ../a.html#z"];
        assert_eq!(dead_links(&pages), dead);
    }
}
