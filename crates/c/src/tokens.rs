//! Rewriting of tokens: what the grammar does not have, in a form that it has.
//!
//! | in the text               | what is parsed               |
//! |---------------------------|------------------------------|
//! | `__thread int x;`         | `_Thread_local int x;`       |
//! | `main() { … }`            | `int main() { … }`           |
//! | `__auto_type x = e;`      | `__typeof__(e) x = e;`       |
//! | `a ?: b`                  | `a ? __mazurka_same : b`     |
//! | `typedef _Atomic struct { … } atomic_flag;`, of the compiler's header | the same without `_Atomic` |
//! | `a$b`, `größe`            | `a__mazurka_char_24_b`, …: see [`spelled`] |
//! | `#pragma …`, comments     | nothing                      |
//!
//! Lines stay where they are.

use std::borrow::Cow;

/// Stands between `?` and `:` for what is in front of them.
pub(crate) const SAME: &str = "__mazurka_same";

/// How deep brackets may be nested, and how many operators may stand in front of an operand: as
/// many as with other compilers. The parser calls itself for each.
pub(crate) const DEEPEST: usize = 256;

/// Operators that may stand in front of an operand.
const PREFIXES: [&str; 6] = ["!", "~", "-", "+", "*", "&"];

/// Where a text is nested too deep for the parser, and how long what stands there is.
pub(crate) fn too_deep(text: &str) -> Option<(usize, usize)> {
    let (mut depth, mut n_prefixes) = (0usize, 0usize);
    for Token { text, start } in tokens(text) {
        match text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        n_prefixes = if PREFIXES.contains(&text) { n_prefixes + 1 } else { 0 };
        if depth > DEEPEST || n_prefixes > DEEPEST {
            return Some((start, text.len()));
        }
    }
    None
}

/// A piece of the text that is no space.
#[derive(Clone, Copy, Debug)]
struct Token<'t> {
    text: &'t str,
    start: usize,
}

/// The text that is parsed.
pub(crate) fn rewrite(text: &str) -> String {
    let text = &without_comments(text);
    let text = &*with_plain_names(text);
    let tokens = tokens(text);
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    let mut depth = 0u32;
    let mut is_start = true;
    for (idx, token) in tokens.iter().enumerate() {
        let next = tokens.get(idx + 1).map_or("", |it| it.text);
        let end = token.start + token.text.len();
        match token.text {
            "__thread" => edits.push((token.start, end, "_Thread_local".to_owned())),
            "__auto_type" => {
                if let Some(value) = automatic(text, &tokens[idx + 1..]) {
                    edits.push((token.start, end, format!("__typeof__({value})")));
                }
            }
            "?" if next == ":" => edits.push((end, end, format!(" {SAME} "))),
            "_Atomic" if next == "struct" && is_flag(&tokens[idx + 1..]) => {
                edits.push((token.start, end, String::new()));
            }
            // `t (*f)(void);` is no function without a type.
            word if depth == 0
                && is_start
                && next == "("
                && is_name(word)
                && tokens.get(idx + 2).is_some_and(|it| it.text != "*") =>
            {
                edits.push((token.start, token.start, "int ".to_owned()));
            }
            directive if directive.starts_with("#pragma") => {
                edits.push((token.start, end, String::new()));
            }
            _ => {}
        }
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_start = depth == 0 && matches!(token.text, ";" | "}")
            || token.text.starts_with('#') && is_start;
    }
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for (start, end, new) in edits {
        result.push_str(&text[done..start]);
        result.push_str(&new);
        done = end;
    }
    result.push_str(&text[done..]);
    result
}

/// Stands in front of the number of a character that the grammar does not have in names.
const CHARACTER: &str = "__mazurka_char_";

/// The text with all characters of names written as the grammar has them.
fn with_plain_names(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !text.contains(|c: char| matches!(c, '$' | '\\') || !c.is_ascii()) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for Token { text: word, start } in tokens(text) {
        if !word.bytes().next().is_some_and(is_word_byte) || word.chars().all(is_plain) {
            continue;
        }
        result.push_str(&text[done..start]);
        let mut rest = word;
        while let Some(mut c) = rest.chars().next() {
            let mut len = c.len_utf8();
            // The preprocessor writes some as `\u00f6` or `\U000000f6`.
            let n_digits = match rest.get(..2) {
                Some("\\u") => 4,
                Some("\\U") => 8,
                _ => 0,
            };
            if let Some(digits) = rest.get(2..2 + n_digits).filter(|it| !it.is_empty())
                && let Some(written) = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
            {
                (c, len) = (written, 2 + n_digits);
            }
            match is_plain(c) {
                true => result.push(c),
                false => result.push_str(&format!("{CHARACTER}{:x}_", u32::from(c))),
            }
            rest = &rest[len..];
        }
        done = start + word.len();
    }
    result.push_str(&text[done..]);
    Cow::Owned(result)
}

/// A text with names as the user has spelled them.
pub(crate) fn spelled(text: &str) -> Cow<'_, str> {
    let mut parts = text.split(CHARACTER);
    let first = parts.next().unwrap_or_default();
    if first.len() == text.len() {
        return Cow::Borrowed(text);
    }
    let mut result = first.to_owned();
    for part in parts {
        let character = part.split_once('_').and_then(|(number, rest)| {
            let number = u32::from_str_radix(number, 16).ok()?;
            Some((char::from_u32(number)?, rest))
        });
        match character {
            Some((character, rest)) => {
                result.push(character);
                result.push_str(rest);
            }
            None => {
                result.push_str(CHARACTER);
                result.push_str(part);
            }
        }
    }
    Cow::Owned(result)
}

/// The value that a variable of automatic type gets: `x = value ;`.
fn automatic<'t>(text: &'t str, tokens: &[Token<'t>]) -> Option<&'t str> {
    let [name, equals, first, ..] = tokens else { return None };
    if !is_name(name.text) || equals.text != "=" {
        return None;
    }
    let mut depth = 0;
    for token in &tokens[2..] {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            ";" | "," if depth == 0 => return Some(text[first.start..token.start].trim_end()),
            _ => {}
        }
    }
    None
}

/// Whether this is the struct that the compiler's header calls `atomic_flag`: what is done to one
/// is done by functions that say themselves that they are atomic.
fn is_flag(tokens: &[Token<'_>]) -> bool {
    let end = tokens.iter().position(|token| token.text == "}");
    end.is_some_and(|end| tokens.get(end + 1).is_some_and(|it| it.text == "atomic_flag"))
}

/// Whether a word may be the name of a function.
fn is_name(word: &str) -> bool {
    let is_word = word.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_reserved = matches!(
        word,
        "_Static_assert"
            | "__attribute__"
            | "__attribute"
            | "__asm__"
            | "__asm"
            | "asm"
            | "__extension__"
            | "_Alignas"
            | "__typeof__"
            | "__typeof"
            | "typeof"
            | "_Atomic"
            | "__declspec"
    );
    is_word && !is_reserved && !word.starts_with(|c: char| c.is_ascii_digit())
}

/// Blanks in the place of comments, which only files that were not preprocessed have.
fn without_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'') => at = end_of_quote(&bytes, at, quote),
            b'/' if matches!(bytes.get(at + 1), Some(b'*' | b'/')) => {
                let is_line = bytes[at + 1] == b'/';
                let end = match is_line {
                    true => bytes[at..].iter().position(|&it| it == b'\n'),
                    false => bytes[at + 2..].windows(2).position(|it| it == b"*/").map(|it| it + 4),
                };
                let end = end.map_or(bytes.len(), |len| at + len);
                bytes[at..end].iter_mut().filter(|it| **it != b'\n').for_each(|it| *it = b' ');
                at = end;
            }
            _ => at += 1,
        }
    }
    String::from_utf8(bytes).expect("whole characters became blanks")
}

/// Behind the string or character that begins at `start`.
fn end_of_quote(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// Words, strings, lines that begin with `#`, and single characters for the rest.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut is_line_start = true;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'\n' => {
                is_line_start = true;
                at += 1;
                continue;
            }
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'#' if is_line_start => {
                at += bytes[at..].iter().position(|&it| it == b'\n').unwrap_or(bytes.len() - at);
            }
            quote @ (b'"' | b'\'') => at = end_of_quote(bytes, at, quote),
            byte if is_word_byte(byte) => {
                at += bytes[at..].iter().take_while(|&&it| is_word_byte(it)).count();
            }
            _ => at += 1,
        }
        is_line_start = false;
        if let Some(text) = text.get(start..at) {
            tokens.push(Token { text, start });
        }
    }
    tokens
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'\\') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, rewrite, spelled, too_deep};

    #[test]
    fn names_have_all_characters_that_the_compiler_allows() {
        let check = |from: &str, to: &str| {
            assert_eq!(rewrite(from), to);
            assert_eq!(spelled(to), from);
        };
        check("int a$b;", "int a__mazurka_char_24_b;");
        check("int $, größe;", "int __mazurka_char_24_, gr__mazurka_char_f6___mazurka_char_df_e;");
        check("char *s = \"$a\", c = '$';", "char *s = \"$a\", c = '$';");
        check("# 1 \"a$b.c\"\nint x;", "# 1 \"a$b.c\"\nint x;");
        assert_eq!(rewrite("f$() { }"), "int f__mazurka_char_24_() { }");
        assert_eq!(rewrite("int a\\u00f6, \\U000000f6;"), rewrite("int aö, ö;"));
        assert_eq!(spelled("__mazurka_char_zz_"), "__mazurka_char_zz_");
    }

    #[test]
    fn old_and_foreign_words_are_translated() {
        let check = |from: &str, to: &str| assert_eq!(rewrite(from), to);
        check("static __thread int x;", "static _Thread_local int x;");
        check("main() { f(); }", "int main() { f(); }");
        check("int x;\nold(a, b) int a; { }", "int x;\nint old(a, b) int a; { }");
        check("f() {} void(*g)(void) = f;", "int f() {} void(*g)(void) = f;");
        check("_Static_assert(1, \"(\");", "_Static_assert(1, \"(\");");
        check("{ __auto_type p = (&x); f(p); }", "{ __typeof__((&x)) p = (&x); f(p); }");
        check("# 1 \"a.c\"\nmain() {}", "# 1 \"a.c\"\nint main() {}");
        check("#pragma once\nint x;", "\nint x;");
        check("int x; // y\n/* main() */ int z;", "int x;     \n             int z;");
        check("char *s = \"__thread\";", "char *s = \"__thread\";");
        check("x ?: y ? : z;", "x ? __mazurka_same : y ? __mazurka_same  : z;");
        check(
            "typedef _Atomic struct { char c; } atomic_flag;",
            "typedef  struct { char c; } atomic_flag;",
        );
        check(
            "typedef _Atomic struct { char c; } flag;",
            "typedef _Atomic struct { char c; } flag;",
        );
    }

    #[test]
    fn what_is_nested_too_deep_has_a_place() {
        let nested = |n: usize| format!("int x = {}1{};", "(".repeat(n), ")".repeat(n));
        assert_eq!(too_deep(&nested(DEEPEST)), None);
        assert_eq!(too_deep(&nested(100_000)), Some((8 + DEEPEST, 1)));
        assert_eq!(too_deep(&format!("x = {}y;", "!".repeat(100_000))), Some((4 + DEEPEST, 1)));
        assert_eq!(too_deep("char *s = \"((((\"; /* { */"), None);
    }
}
