//! Whose source a file is, and what a function is called in short. No more than words: the tests
//! include this file, too.

/// How close a file is to the author of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    Own,
    /// Fetched by cargo.
    Dependency,
    /// Came with the compiler or the system.
    System,
    /// The core of Rust's library, which everything else goes through.
    Core,
}

/// Whose a file is, by its path.
pub(crate) fn origin(file: &str) -> Origin {
    // What Rust's standard library was built with is below the last.
    const SYSTEM: [&str; 3] = ["/usr/", "/rustc/", "/rust/deps/"];
    const FETCHED: [&str; 2] = ["/registry/src/", "/git/checkouts/"];
    const CORE: [&str; 2] = ["/library/core/", "/library/alloc/"];
    if SYSTEM.iter().any(|start| file.starts_with(start)) || file.contains("/rustlib/src/") {
        if CORE.iter().any(|part| file.contains(part)) { Origin::Core } else { Origin::System }
    } else if FETCHED.iter().any(|part| file.contains(part)) {
        Origin::Dependency
    } else {
        Origin::Own
    }
}

/// The last two parts of a function's name, without types and closures: `Mutex::lock` of
/// `<std::sync::mutex::Mutex<i32>>::lock`.
pub(crate) fn short_name(name: &str) -> Option<String> {
    // Of `<Type as Trait>::function`, the trait is left out.
    let inner = name.strip_prefix('<').and_then(|rest| {
        let (of, behind) = rest.split_at(end_of_types(rest)?);
        let of = of.split_once(" as ").map_or(of, |(of, _)| of);
        Some(format!("{of}{}", &behind[1..]))
    });
    let name = inner.as_deref().unwrap_or(name);
    let mut plain = String::new();
    let mut rest = name;
    while let Some((before, types)) = rest.split_once('<') {
        plain.push_str(before);
        rest = &types[end_of_types(types)? + 1..];
    }
    plain.push_str(rest);
    let plain = plain.split('(').next().unwrap_or_default();
    let parts: Vec<&str> =
        plain.split("::").filter(|part| !part.is_empty() && !part.starts_with('{')).collect();
    let from = parts.len().saturating_sub(2);
    (!parts.is_empty()).then(|| parts[from..].join("::"))
}

/// A type without the modules that its parts are in: `Mutex<Vec<u8>>` of
/// `std::sync::Mutex<alloc::vec::Vec<u8>>`.
pub(crate) fn short_type(name: &str) -> String {
    let mut short = String::new();
    let mut rest = name;
    while let Some(at) = rest.find("::") {
        let is_part = |it: char| it.is_alphanumeric() || it == '_';
        let start = rest[..at].rfind(|it| !is_part(it)).map_or(0, |before| before + 1);
        short.push_str(&rest[..start]);
        rest = &rest[at + 2..];
    }
    short + rest
}

/// The variable or field that the value of an expression on a line of Rust is bound to: `counter`
/// of `let counter = Arc::new(…);`, `n` of `n: Arc::new(…),`.
pub(crate) fn bound_name(text: &str, line: usize) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).take(line).collect();
    let at = line.checked_sub(1)?;
    let this = *lines.get(at)?;
    // The expression may stand on a line of its own.
    let before = at.checked_sub(1).map(|before| lines[before]).filter(|it| it.ends_with('='));
    [Some(this), before].into_iter().flatten().find_map(name_of_binding)
}

fn name_of_binding(line: &str) -> Option<String> {
    let is_let = line.starts_with("let ");
    let rest = line.strip_prefix("let ").unwrap_or(line);
    let rest = rest.strip_prefix("mut ").unwrap_or(rest);
    let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
    let (name, behind) = rest.split_at(end);
    let behind = behind.trim_start();
    let is_bound = match is_let {
        true => behind.starts_with(':') && behind.contains('=') || behind.starts_with('='),
        false => behind.starts_with(": ") || behind.starts_with("= "),
    };
    let is_name = name.starts_with(|it: char| it.is_alphabetic() || it == '_') && name != "_";
    (is_name && is_bound).then(|| name.to_owned())
}

/// What says which struct an allocation of C or C++ is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Allocated {
    /// A type by its name.
    Type(String),
    /// What a variable points to.
    Pointee(String),
}

/// What the source says of the allocation on a line, the surest first: `sizeof(struct node)`,
/// `sizeof *n`, `new Node`, `n = malloc(…)`.
pub(crate) fn allocated(text: &str, line: usize) -> Vec<Allocated> {
    let lines: Vec<&str> = text.lines().map(str::trim).take(line).collect();
    let Some((this, before)) = lines.split_last() else { return Vec::new() };
    // The call may stand on a line of its own.
    let statement = match before.last() {
        Some(before) if before.ends_with('=') => format!("{before} {this}"),
        _ => (*this).to_owned(),
    };
    let mut found = Vec::new();
    if let Some((_, behind)) = statement.split_once("sizeof") {
        let behind = behind.trim_start_matches([' ', '(']);
        match behind.strip_prefix('*') {
            Some(variable) => found.extend(first_word(variable).map(Allocated::Pointee)),
            None => found.extend(first_type(behind).map(Allocated::Type)),
        }
    }
    if let Some((_, behind)) = statement.split_once("new ") {
        found.extend(first_type(behind).map(Allocated::Type));
    }
    if let Some((target, _)) = statement.split_once('=') {
        let target = target.trim_end();
        let is_word = |it: char| it.is_alphanumeric() || it == '_';
        let start = target.rfind(|it| !is_word(it)).map_or(0, |at| at + 1);
        // A field is no variable.
        let is_field = target[..start].ends_with(['.', '>']);
        found.extend(first_word(&target[start..]).filter(|_| !is_field).map(Allocated::Pointee));
    }
    found
}

fn first_word(text: &str) -> Option<String> {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let text = text.trim_start();
    let end = text.find(|it| !is_word(it)).unwrap_or(text.len());
    let word = &text[..end];
    word.starts_with(|it: char| it.is_alphabetic() || it == '_').then(|| word.to_owned())
}

/// The name of a type: without `struct` and namespaces.
fn first_type(text: &str) -> Option<String> {
    let text = text.trim_start();
    let text = text.strip_prefix("struct ").or(text.strip_prefix("class ")).unwrap_or(text);
    let word = first_word(text)?;
    match text.trim_start()[word.len()..].strip_prefix("::") {
        Some(rest) => first_type(rest),
        None => Some(word),
    }
}

/// Where the list of types ends that a text begins in.
fn end_of_types(text: &str) -> Option<usize> {
    let mut depth = 1;
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            // Not the arrow of a function's type.
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        before = character;
    }
    None
}
