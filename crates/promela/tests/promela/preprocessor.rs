//! The preprocessor, held to what `gcc -E` makes of the same text: on models, and on random texts.
//!
//! What is compared is what matters to a model: which tokens there are, which of them are on a line
//! together, and which line of which file that is. `MAZURKA_TEXTS=5000` tries more random ones.

use expect_test::{Expect, expect};
use mazurka_effort::seeds;
use mazurka_promela::preprocess;
use std::path::{Path, PathBuf};
use std::process::Command;

const EXAMPLES: &str = "/usr/share/doc/spin/examples";
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/promela");

/// A line with something on it: the file, its number there, and its tokens.
type Line = (String, u32, Vec<String>);

/// What `gcc` makes of a file; nothing if it refuses it.
fn by_gcc(file: &Path, flags: &[String]) -> Option<Vec<Line>> {
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=gnu99", "-undef", "-E", "-x", "c", "-w"]).args(flags).arg(file);
    let output = gcc.output().expect("gcc is installed");
    output.status.success().then(|| lines(&String::from_utf8_lossy(&output.stdout)))
}

fn by_us(file: &Path, flags: &[String]) -> Option<Vec<Line>> {
    preprocess(file, flags).ok().map(|text| lines(&text))
}

fn lines(text: &str) -> Vec<Line> {
    let (mut found, mut file, mut number) = (Vec::new(), String::new(), 1);
    for line in text.lines() {
        if let Some(marker) = line.strip_prefix("# ") {
            let (digits, name) = marker.split_once(' ').expect("a marker has a number and a name");
            number = digits.parse().expect("it is a number");
            file = name.trim_start_matches('"').split('"').next().unwrap_or_default().to_owned();
            continue;
        }
        let tokens = tokens(line);
        if !line.starts_with('#') && !tokens.is_empty() {
            found.push((file.clone(), number, tokens));
        }
        number += 1;
    }
    found
}

/// The tokens of a line as Promela has them, or nearly: what is joined here is joined there.
fn tokens(line: &str) -> Vec<String> {
    const LONG: [&str; 14] =
        ["->", "::", "..", "??", "!!", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "++"];
    let mut found = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let len = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if first == '"' {
            let mut is_escaped = false;
            let close = rest.char_indices().skip(1).find(|&(_, c)| {
                let closes = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                closes
            });
            close.map_or(rest.len(), |(at, _)| at + 1)
        } else {
            let long = LONG.iter().find(|sign| rest.starts_with(**sign));
            long.map_or(first.len_utf8(), |sign| sign.len())
        };
        found.push(rest[..len].to_owned());
        rest = rest[len..].trim_start();
    }
    found
}

/// Fails with what is different.
fn compare(what: &str, file: &Path, flags: &[String]) -> bool {
    let (theirs, ours) = (by_gcc(file, flags), by_us(file, flags));
    let (Some(theirs), Some(ours)) = (&theirs, &ours) else {
        let told = preprocess(file, flags).err().map(|it| it.to_string());
        assert_eq!(theirs.is_some(), ours.is_some(), "{what}: {}", told.unwrap_or_default());
        return false;
    };
    if let Some((theirs, ours)) = theirs.iter().zip(ours).find(|(theirs, ours)| theirs != ours) {
        panic!("{what}: gcc has {theirs:?}, we have {ours:?}");
    }
    assert_eq!(theirs.len(), ours.len(), "{what}: the number of lines");
    true
}

fn models(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("SPIN and its examples are installed") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            models(&path, found);
        } else if std::fs::read_to_string(&path).is_ok_and(|text| !text.trim().is_empty()) {
            found.push(path);
        }
    }
    found.sort();
}

#[test]
fn on_every_file_that_is_installed() {
    let mut found = Vec::new();
    models(Path::new(EXAMPLES), &mut found);
    models(Path::new(CORPUS), &mut found);
    let compared = found.iter().filter(|file| compare(&file.to_string_lossy(), file, &[])).count();
    assert!(compared > 80, "only {compared} files were compared");
}

#[test]
fn on_random_texts() {
    let seeds = seeds(0..150);
    let n = seeds.end - seeds.start;
    let folder = tempfile::tempdir().expect("there is room for a file");
    let file = folder.path().join("model.pml");
    let flags = ["-DD=4".to_owned(), "-D".to_owned(), "H(x)=<x>".to_owned()];
    let mut n_accepted = 0;
    for seed in seeds {
        let text = Generator { state: seed, n_open: 0 }.text();
        std::fs::write(&file, &text).expect("there is room for a file");
        n_accepted += u64::from(compare(&format!("seed {seed}:\n{text}\n"), &file, &flags));
    }
    assert!(n_accepted > n / 4, "only {n_accepted} of {n} say anything");
}

/// Texts with macros, conditions and lines that go on.
struct Generator {
    state: u64,
    /// How many conditions are open.
    n_open: usize,
}

const OBJECTS: [&str; 4] = ["A", "B", "C", "D"];
const CALLED: [&str; 4] = ["F", "G", "H", "I"];
const TOKENS: [&str; 36] = [
    "a",
    "b",
    "x",
    "1",
    "2",
    "0x1f",
    "1..3",
    "+",
    "-",
    "!",
    "?",
    ":",
    "::",
    "->",
    "=",
    "==",
    "<",
    ">",
    ".",
    "..",
    "&",
    "|",
    "\"s\\\"t\"",
    "'c'",
    "\"p q\"",
    "[",
    "]",
    "{",
    "}",
    ";",
    "@",
    "%",
    "e1",
    "1e",
    "L",
    "/* c */",
];

impl Generator {
    fn below(&mut self, bound: usize) -> usize {
        // The constants of Knuth's MMIX generator.
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005);
        self.state = self.state.wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % bound
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn text(&mut self) -> String {
        self.below(2);
        let mut text = String::new();
        for _ in 0..3 + self.below(28) {
            text += &self.line();
            text.push('\n');
        }
        text + &"#endif\n".repeat(self.n_open)
    }

    fn line(&mut self) -> String {
        match self.below(40) {
            0..=5 => format!("#define {} {}", self.pick(&OBJECTS), self.body(&[])),
            6..=7 => format!("#define F(x) {}", self.body(&["x"])),
            8..=9 => format!("#define G(x,y) {}", self.body(&["x", "y"])),
            10 => format!("#define H(x, ...) {}", self.body(&["x", "__VA_ARGS__"])),
            11 => format!("#define H(x, r...) {} [0, ## r]", self.body(&["x", "r"])),
            12 => format!("#define I(...) {} [0, ## __VA_ARGS__]", self.body(&["__VA_ARGS__"])),
            13 => format!("#undef {}", self.pick(&["A", "B", "C", "D", "F", "G", "H", "I"])),
            14..=15 => {
                self.n_open += 1;
                format!("#if {}", self.condition(0))
            }
            16 => {
                self.n_open += 1;
                let directive = self.pick(&["#ifdef", "#ifndef", "  # ifdef"]);
                format!("{directive} {}", self.pick(&OBJECTS))
            }
            17 if self.n_open > 0 => format!("#elif {}", self.condition(0)),
            18 if self.n_open > 0 => "#else".to_owned(),
            19..=20 if self.n_open > 0 => {
                self.n_open -= 1;
                "#endif".to_owned()
            }
            21 => "text /* a\n b */ more".to_owned(),
            22 => "cont \\\n inued x\\\ny".to_owned(),
            23 => "// a comment \\\n that goes on".to_owned(),
            24 => format!("G(1,\n{}\n) after", self.balanced(2, 2)),
            25 => "don't /* stop".to_owned(),
            26 => format!("#line {}", 1 + self.below(300)),
            27 => "F\n(1) F".to_owned(),
            28 => "\n".repeat(self.below(12)),
            29 => {
                format!("I(\n#ifdef A\n1\n#else\n{}\n#endif\n) z __COUNTER__", self.balanced(2, 2))
            }
            30 => "__LINE__ __INCLUDE_LEVEL__ F(__LINE__)".to_owned(),
            _ => format!("  {}", self.balanced(8, 0)),
        }
    }

    /// Tokens with as many closing as opening parentheses.
    fn balanced(&mut self, most: usize, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.below(most + 1) {
            match self.below(10) {
                0..=1 if depth < 3 => {
                    let (name, space) = (self.pick(&CALLED), self.pick(&["", " "]));
                    let n = match name {
                        "F" => 1,
                        "G" => 2,
                        _ => 1 + self.below(3),
                    };
                    let arguments: Vec<_> = (0..n).map(|_| self.balanced(3, depth + 1)).collect();
                    let comma = self.pick(&[",", ", ", " ,"]);
                    text += &format!("{name}{space}({})", arguments.join(comma));
                }
                2 if depth < 3 => text += &format!("({})", self.balanced(3, depth + 1)),
                3..=5 => text += self.pick(&OBJECTS),
                6 => text += self.pick(&CALLED),
                _ => text += self.pick(&TOKENS),
            }
            text += self.pick(&["", " ", "  "]);
        }
        text
    }

    /// What a macro with these parameters is defined as.
    fn body(&mut self, parameters: &[&str]) -> String {
        let n = self.below(7);
        let mut text = String::new();
        for idx in 0..n {
            let is_call = !parameters.is_empty();
            match self.below(8) {
                0..=2 if is_call => text += self.pick(parameters),
                3 if is_call => text += &format!("#{}", self.pick(parameters)),
                0..=3 => text += self.pick(&OBJECTS),
                4 => text += self.pick(&CALLED),
                _ => text += self.pick(&TOKENS),
            }
            text += self.pick(&["", " "]);
            if idx + 1 < n && self.below(8) == 0 {
                text += "##";
                text += self.pick(&["", " "]);
            }
        }
        text
    }

    fn condition(&mut self, depth: usize) -> String {
        let atoms = [
            "0",
            "1",
            "2",
            "3",
            "07",
            "0x10",
            "10u",
            "defined A",
            "defined(B)",
            "A",
            "B",
            "zz",
            "'a'",
            "-1",
            "5ll",
            "(-3)",
            "~0",
            "!A",
            "'\\n'",
            "F(2)",
            "__LINE__",
        ];
        let operators = [
            "+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "&", "|", "^",
            "<<", ">>", ",",
        ];
        match self.below(20) {
            _ if depth > 2 => self.pick(&atoms).to_owned(),
            0..=5 => self.pick(&atoms).to_owned(),
            6 => format!("({})", self.condition(depth + 1)),
            7 => {
                let [asked, yes, no] = std::array::from_fn(|_| self.condition(depth + 1));
                format!("({asked} ? {yes} : {no})")
            }
            _ => {
                let left = self.condition(depth + 1);
                let operator = self.pick(&operators);
                format!("{left} {operator} {}", self.condition(depth + 1))
            }
        }
    }
}

/// A text with some files beside it, and what comes out, or what is wrong.
fn check(files: &[(&str, &str)], flags: &[&str], expected: Expect) {
    let folder = tempfile::tempdir().expect("there is room for files");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it is in the folder"))
            .expect("there is room");
        std::fs::write(path, text).expect("there is room for a file");
    }
    let place = folder.path().to_string_lossy().into_owned();
    let flags: Vec<_> = flags.iter().map(|flag| flag.replace("FOLDER", &place)).collect();
    let file = folder.path().join(files[0].0);
    let text = match preprocess(&file, &flags) {
        Ok(text) => {
            assert!(compare("a text", &file, &flags));
            text
        }
        Err(faults) => {
            let show = |fault: &mazurka_promela::Fault| match fault.place() {
                Some((_, line, column)) => format!("{line}:{column}: {}\n", fault.message),
                None => format!("{}\n", fault.message),
            };
            faults.iter().map(show).collect()
        }
    };
    expected.assert_eq(&text.replace(&place, "FOLDER"));
}

#[test]
fn files_include_others() {
    check(
        &[
            (
                "model.pml",
                "#include \"sub/a.h\"\n#include <b.h>\n#define NAME \"sub/a.h\"\n#include NAME\nA B C\n",
            ),
            ("sub/a.h", "#include \"c.h\"\n#define A one\n"),
            ("sub/c.h", "#pragma once\n#define C three __INCLUDE_LEVEL__\nonce\n"),
            ("inc/b.h", "#define B two\nfrom b\n"),
        ],
        &["-IFOLDER/inc"],
        expect![[r##"
            # 3 "FOLDER/sub/c.h"
            once
            # 2 "FOLDER/inc/b.h"
            from b
            # 5 "FOLDER/model.pml"
            one two three 0
        "##]],
    );
}

#[test]
fn what_is_wrong_is_told_where_it_is() {
    check(
        &[(
            "model.pml",
            "#define F(x) x\n#if 1 +\n#endif\n#if 2 / 0\n#endif\n#else\n#include \"gone.h\"\n#error stop it\n#foo\n#define F(x,x) 1\n#define 3 4\n#define G(x) #y\n#define H a ##\n#undef\n#include\n#ifdef\n#endif\n#line x\n#if 1\n#else\n#else\n",
        )],
        &[],
        expect![[r#"
            2:7: operator '+' has no right operand
            4:7: division by zero in #if
            6:2: #else without #if
            7:10: gone.h: No such file or directory
            8:2: #error stop it
            9:2: invalid preprocessing directive #foo
            10:13: duplicate macro parameter "x"
            11:9: macro names must be identifiers
            12:14: `#` is not followed by a macro parameter
            13:13: `##` cannot appear at either end of a macro expansion
            14:7: no macro name given in #undef directive
            15:2: #include expects "FILENAME" or <FILENAME>
            16:2: no macro name given in #ifdef directive
            18:7: "x" after #line is not a positive integer
            21:2: #else after #else
            19:2: unterminated #else
        "#]],
    );
    check(
        &[("model.pml", "#define F(x) x\nint a;\nF(1, 2)\n")],
        &[],
        expect![[r#"
        3:1: macro "F" passed 2 arguments, but takes just 1
    "#]],
    );
    check(
        &[("model.pml", "#define F(x) x\nF(1\n")],
        &[],
        expect![[r#"
        2:1: unterminated argument list invoking macro "F"
    "#]],
    );
    check(
        &[("model.pml", "#define F(x) x ## +\nF(1)\n")],
        &[],
        expect![[r#"
        2:3: pasting "1" and "+" does not give a valid preprocessing token
    "#]],
    );
    check(
        &[("model.pml", "int a; /* never closed\n")],
        &[],
        expect![[r#"
        1:8: unterminated comment
    "#]],
    );
    check(
        &[("model.pml", "#include \"model.pml\"\n")],
        &[],
        expect![[r#"
        1:10: #include nested depth 200 exceeds maximum of 200
    "#]],
    );
    check(
        &[("model.pml", "#include \"empty.h\"\nx\n"), ("empty.h", "")],
        &[],
        expect![[r##"
        # 2 "FOLDER/model.pml"
        x
    "##]],
    );
    check(
        &[("model.pml", "#include \"a.h\"\nx\n"), ("a.h", "a\0b")],
        &[],
        expect![[r#"
        1:10: a.h: it is a binary file, not Promela
    "#]],
    );
    check(
        &[("model.pml", "x\n")],
        &["-q"],
        expect![[r#"
        `-q` means nothing to a model
    "#]],
    );
    check(
        &[("model.pml", "x\n")],
        &["-D3=4"],
        expect![[r#"
        `-D3=4`: macro names must be identifiers
    "#]],
    );
}

#[test]
fn macros_that_would_never_end_do() {
    let mut text = String::from("#define A0 x x\n");
    for idx in 1..40 {
        text += &format!("#define A{idx} A{0} A{0}\n", idx - 1);
    }
    check(
        &[("model.pml", &format!("{text}A39\n"))],
        &[],
        expect![[r#"
        41:1: the macros expand to too much
    "#]],
    );
    let deep = format!("#define F(x) x\n{}1{}\n", "F(".repeat(5_000), ")".repeat(5_000));
    check(
        &[("model.pml", &deep)],
        &[],
        expect![[r#"
        2:1: the macros expand to too much
    "#]],
    );
}
