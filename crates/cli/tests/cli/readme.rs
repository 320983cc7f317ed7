//! The README and the book show what the command prints: every `console` block of them is run, and
//! the README's picture is made of what `mazurka test` prints.
//!
//! In a block, a line that begins with `$ ` is a command, and the lines up to the next one are what
//! it prints on standard output. Compared are all lines, with two liberties:
//!
//! - a time, such as `0.02 s`, stands for any time;
//! - `…` stands for any text within a line, and on a line of its own for any number of lines.
//!
//! A block that begins with a language and `file=NAME`, as in "c,file=queue.c", is a file: it is
//! there when the commands of its page run.
//!
//! `UPDATE_EXPECT=1` rewrites blocks that differ, and the picture.

use crate::support::Said;
use crate::support::checkout::{Checkout, root};
use anstyle::{AnsiColor, Color, RgbColor};
use anstyle_svg::{Term, VGA};
use std::fs;

/// Files whose blocks are run, beside the pages of the book that have some.
const READMES: [&str; 2] = ["README.md", "examples/README.md"];

/// What the README's picture shows, and where it is typed.
const COMMAND: &str = "mazurka test";
const FOLDER: &str = "examples/fetch";
/// How wide the picture's terminal is.
const COLUMNS: &str = "110";

/// Files whose blocks are run.
fn documents() -> Vec<String> {
    let pages = super::book::chapters().into_iter().filter_map(|page| {
        let text = fs::read_to_string(&page).expect("it can be read");
        let name = page.strip_prefix(root()).expect("it is below");
        text.contains("\n```console\n").then(|| name.to_string_lossy().into_owned())
    });
    READMES.map(str::to_owned).into_iter().chain(pages).collect()
}

/// The files that a document has as blocks, by their names.
fn files(document: &str) -> Vec<(&str, String)> {
    let mut all: Vec<(&str, String)> = Vec::new();
    let mut is_inside = false;
    for line in document.lines() {
        let begins = line.strip_prefix("```").and_then(|it| it.split_once(",file="));
        match (is_inside, begins) {
            (false, Some((_, name))) => {
                all.push((name, String::new()));
                is_inside = true;
            }
            (true, _) if line == "```" => is_inside = false,
            (true, _) => {
                let (_, text) = all.last_mut().expect("a block has begun");
                *text += line;
                text.push('\n');
            }
            (false, None) => {}
        }
    }
    all
}

/// A command in a block, and the lines of the document that show what it prints.
#[derive(Debug, PartialEq)]
struct Shown<'a> {
    command: &'a str,
    /// The number of the first line, and the lines.
    first: usize,
    lines: Vec<&'a str>,
}

/// The commands of all `console` blocks.
fn shown(document: &str) -> Vec<Shown<'_>> {
    let mut all: Vec<Shown<'_>> = Vec::new();
    let mut is_inside = false;
    for (number, line) in document.lines().enumerate() {
        match (is_inside, line.strip_prefix("$ ")) {
            (false, _) => is_inside = line == "```console",
            (true, _) if line == "```" => is_inside = false,
            (true, Some(command)) => {
                all.push(Shown { command, first: number + 1, lines: Vec::new() });
            }
            (true, None) => {
                let last = all.last_mut().filter(|it| it.first + it.lines.len() == number);
                last.unwrap_or_else(|| panic!("line {}: no command before it", number + 1))
                    .lines
                    .push(line);
            }
        }
    }
    all
}

/// Whether lines are what was printed.
fn fits(shown: &[&str], printed: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        ["…", rest @ ..] => (0..=printed.len()).any(|skipped| fits(rest, &printed[skipped..])),
        [line, rest @ ..] => match printed {
            [first, others @ ..] => line_fits(line, first) && fits(rest, others),
            [] => false,
        },
    }
}

/// Whether a line is what was printed, apart from times and what `…` stands for.
fn line_fits(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (timeless(shown), timeless(printed));
    let mut rest = printed.as_str();
    let mut parts = shown.split('…');
    let first = parts.next().expect("there is always one");
    let Some(behind) = rest.strip_prefix(first) else { return false };
    rest = behind;
    let mut is_open = false;
    for part in parts {
        is_open = part.is_empty();
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.is_empty() || is_open
}

/// The line with all times replaced, and without the space that lines them up.
fn timeless(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_time = |at: usize| {
        let word = words[at];
        let unit = words.get(at + 1).is_some_and(|unit| ["s", "s,"].contains(unit));
        unit && word.split_once('.').is_some_and(|(whole, part)| {
            [whole, part].iter().all(|it| it.bytes().all(|byte| byte.is_ascii_digit()))
        })
    };
    let times: Vec<usize> = (0..words.len()).filter(|&at| is_time(at)).collect();
    if times.is_empty() {
        return line.trim_end().to_owned();
    }
    let indent = words.iter().take_while(|word| word.is_empty()).count();
    let words = words.iter().enumerate().skip(indent).filter(|(_, word)| !word.is_empty());
    let words: Vec<&str> =
        words.map(|(at, &word)| if times.contains(&at) { "0.00" } else { word }).collect();
    " ".repeat(indent) + &words.join(" ")
}

fn is_updating() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some()
}

#[test]
fn every_block_shows_what_the_command_prints() {
    let checkout = Checkout::new();
    let mut wrong = Vec::new();
    let documents = documents();
    assert!(documents.len() >= 10, "where are the pages? {documents:?}");
    for name in &documents {
        let path = root().join(name);
        let document = fs::read_to_string(&path).expect("it is there");
        let commands = shown(&document);
        assert!(!commands.is_empty(), "{name} has no blocks");
        for (file, text) in files(&document) {
            checkout.write(file, &text);
        }
        let mut lines: Vec<String> = document.lines().map(str::to_owned).collect();
        let said: Vec<Said> = commands.iter().map(|it| checkout.shell(it.command)).collect();
        // From the last to the first, so that the numbers of lines stay right.
        for (Shown { command, first, lines: expected }, said) in commands.iter().zip(&said).rev() {
            assert!(matches!(said.status, Some(0 | 1)), "`{command}` fails:\n{}", said.stderr);
            let printed: Vec<&str> = said.stdout.lines().collect();
            if !fits(expected, &printed) {
                wrong.push(format!("{name}: `{command}` prints\n{}", said.stdout));
                let printed = printed.iter().map(|&line| line.to_owned());
                lines.splice(*first..first + expected.len(), printed);
            }
        }
        if is_updating() && !wrong.is_empty() {
            fs::write(&path, lines.join("\n") + "\n").expect("it can be written");
        }
    }
    assert!(wrong.is_empty() || is_updating(), "{}", wrong.join("\n"));
}

/// A terminal with a command in it and what the command prints. Colours have a contrast of 4.5 or
/// more.
fn picture(printed: &str) -> String {
    let rgb = |number: u32| {
        let [_, red, green, blue] = number.to_be_bytes();
        RgbColor(red, green, blue)
    };
    let mut palette = VGA;
    for (colour, number) in [
        (AnsiColor::Red, 0xff_7b_72),
        (AnsiColor::Green, 0x7e_e7_87),
        (AnsiColor::Yellow, 0xe3_b3_41),
        (AnsiColor::Cyan, 0x76_e3_ea),
    ] {
        palette.0[colour as usize] = rgb(number);
    }
    let (text, ground) = (Color::Rgb(rgb(0xe6_ed_f3)), Color::Rgb(rgb(0x0d_11_17)));
    let terminal = Term::new().palette(palette).fg_color(text).bg_color(ground);
    let svg = terminal.render_svg(&format!("$ {COMMAND}\n{printed}"));
    // It shrinks with the page that it is on.
    let (head, body) = svg.split_once(" xmlns").expect("it has a name space");
    let numbers: Vec<&str> = head.split('"').filter_map(|it| it.strip_suffix("px")).collect();
    let [width, height] = numbers[..] else { panic!("it has a width and a height: {head}") };
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" xmlns{body}"
    )
}

/// The characters of a picture, without their places and colours.
fn text_of(picture: &str) -> String {
    let (mut text, mut is_inside) = (String::new(), false);
    for (at, part) in picture.split('<').enumerate() {
        let (tag, behind) =
            if at == 0 { ("", part) } else { part.split_once('>').unwrap_or_default() };
        match tag.split(' ').next() {
            Some("text") => is_inside = true,
            Some("/text") => is_inside = false,
            _ => {}
        }
        if is_inside {
            text.push_str(behind);
        }
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[test]
fn the_picture_shows_what_the_command_prints() {
    let checkout = Checkout::new();
    let line = format!("cd {FOLDER} && {COMMAND}");
    let terminal = [("CLICOLOR_FORCE", "1"), ("COLUMNS", COLUMNS)];
    let said = checkout.shell_with(&line, &terminal).ends_with(1);
    let new = picture(&said.stdout);
    let path = root().join("book/src/mazurka_test.svg");
    let kept = text_of(&fs::read_to_string(&path).unwrap_or_default());
    let now = text_of(&new);
    let is_same = fits(&kept.lines().collect::<Vec<_>>(), &now.lines().collect::<Vec<_>>());
    if is_updating() && !is_same {
        fs::write(&path, new).expect("it can be written");
    }
    let is_well = is_same || is_updating();
    assert!(is_well, "the picture shows\n{kept}\nand the command prints\n{now}");
    assert!(now.contains("Violated") && now.contains("Replay"), "{now}");
    assert!(said.stdout.contains('\x1b'), "it is in colour");
}

#[test]
fn blocks_are_found_and_compared() {
    let document = "text\n```console\n$ a\nb\n\n$ c\n```\n```sh\n$ d\n```\n";
    let expected = [
        Shown { command: "a", first: 3, lines: vec!["b", ""] },
        Shown { command: "c", first: 6, lines: Vec::new() },
    ];
    assert_eq!(shown(document), expected);
    let document = "```c,file=a.c\nb\n\n```\n```c\nd\n```\n```promela,file=e.pml\n```\n";
    assert_eq!(files(document), [("a.c", "b\n\n".to_owned()), ("e.pml", String::new())]);
    assert!(fits(&["a 0.10 s", "…", "z"], &["a 22.01 s", "b", "c", "z"]));
    assert!(fits(&["Holds x      3 traces, 0.10 s"], &["Holds x     3 traces, 22.01 s"]));
    assert!(!fits(&["Holds x      3 traces, 0.10 s"], &["Holds x     4 traces, 22.01 s"]));
    assert!(!fits(&["a", "…", "z"], &["a", "b"]));
    assert!(line_fits("a … c", "a b c") && line_fits("a …", "a b c"));
    assert!(line_fits("…c", "a c") && line_fits("a … b … c", "a x b y c"));
    assert!(!line_fits("a … c", "a b d") && !line_fits("a", "a b") && !line_fits("a", "b a"));
}

/// What the documents link to is there.
#[test]
fn links_lead_somewhere() {
    for name in READMES {
        let path = root().join(name);
        let document = fs::read_to_string(&path).expect("it is there");
        let targets = document.split("](").skip(1).filter_map(|it| it.split_once(')'));
        let inside = targets.map(|(target, _)| target).filter(|it| !it.contains("://"));
        for target in inside {
            let file = target.split('#').next().expect("there is always one");
            let folder = path.parent().expect("it is in a folder");
            assert!(folder.join(file).exists(), "{name} links to {target}");
        }
    }
}
