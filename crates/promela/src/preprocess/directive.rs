//! Lines that begin with `#`.

use super::condition;
use super::expand::Reading;
use super::macros;
use super::token::{Buffer, Condition, Kind, Place, Token};
use super::{Preprocessor, Stop};
use mazurka_source::plain_name;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// How deep files may include each other.
const DEEPEST: usize = 200;

impl Preprocessor {
    /// Obeys the directive behind a `#`, and goes to the end of its line. What is wrong with it is
    /// noted.
    pub(super) fn obey(&mut self, hash: &Token) -> Result<(), Stop> {
        let reading = std::mem::take(&mut self.reading);
        let n_plain = std::mem::take(&mut self.n_plain);
        let invoked = self.invoked;
        self.is_directive = true;
        let done = self.directive(hash);
        if let Err(fault) = done {
            self.faults.push(*fault);
            self.give_up();
        }
        self.skip_line()?;
        self.is_directive = false;
        (self.reading, self.n_plain, self.invoked) = (reading, n_plain, invoked);
        if let Some(buffer) = self.included.take() {
            // The rest of the line is read by now: what comes next is in the file.
            if self.reading != Reading::Text {
                let text = "#include within the arguments of a macro";
                return Err(self.wrong(hash.place, 1, text));
            }
            self.buffers.push(buffer);
        }
        Ok(())
    }

    fn directive(&mut self, hash: &Token) -> Result<(), Stop> {
        let name = self.buffer().next();
        match name.kind {
            Kind::Newline => {
                self.buffer().back_to_newline();
                Ok(())
            }
            Kind::End => Ok(()),
            Kind::Name => self.named(&name),
            _ if self.buffer().is_skipping() => Ok(()),
            Kind::Number => self.line(Some(name)),
            _ => Err(self.wrong(hash.place, 1, "invalid preprocessing directive")),
        }
    }

    fn named(&mut self, name: &Token) -> Result<(), Stop> {
        let is_skipping = self.buffer().is_skipping();
        match &*name.text {
            "if" | "ifdef" | "ifndef" => self.begin(name, is_skipping),
            "elif" | "elifdef" | "elifndef" => self.otherwise(name),
            "else" => self.otherwise(name),
            "endif" => match self.buffer().conditions.pop() {
                Some(_) => Ok(()),
                None => Err(self.misplaced(name)),
            },
            _ if is_skipping => Ok(()),
            "define" => self.define(),
            "undef" => self.undefine(),
            "include" | "include_next" | "import" => self.include(name),
            "line" => self.line(None),
            "error" => {
                let text = self.rest_of_line();
                Err(self.wrong(name.place, name.text.len(), format!("#error {text}").trim_end()))
            }
            "pragma" => {
                let what = self.buffer().next();
                if what.is_name("once") {
                    let path = self.buffer().path.clone();
                    self.once.extend(path);
                } else if matches!(what.kind, Kind::Newline) {
                    self.buffer().back_to_newline();
                }
                Ok(())
            }
            "warning" | "ident" | "sccs" | "assert" | "unassert" => Ok(()),
            other => {
                let text = format!("invalid preprocessing directive #{other}");
                Err(self.wrong(name.place, name.text.len(), &text))
            }
        }
    }

    fn misplaced(&mut self, name: &Token) -> Stop {
        let text = format!("#{} without #if", name.text);
        self.wrong(name.place, name.text.len(), &text)
    }

    /// `#if`, `#ifdef`, `#ifndef`.
    fn begin(&mut self, name: &Token, is_skipping: bool) -> Result<(), Stop> {
        // What cannot be decided does not hold, and is closed by an `#endif` all the same.
        let holds = is_skipping
            || self.holds(name).unwrap_or_else(|fault| {
                self.faults.push(*fault);
                self.give_up();
                false
            });
        let directive = match &*name.text {
            "if" => "#if",
            "ifdef" => "#ifdef",
            _ => "#ifndef",
        };
        self.buffer().conditions.push(Condition {
            place: name.place,
            directive,
            is_skipped: is_skipping || !holds,
            // Within what is left out, nothing is ever taken.
            is_decided: holds,
        });
        Ok(())
    }

    /// `#elif`, `#else`.
    fn otherwise(&mut self, name: &Token) -> Result<(), Stop> {
        let Some(condition) = self.buffer().conditions.last() else {
            return Err(self.misplaced(name));
        };
        let (is_last, is_decided) = (condition.directive == "#else", condition.is_decided);
        if is_last {
            let text = format!("#{} after #else", name.text);
            return Err(self.wrong(name.place, name.text.len(), &text));
        }
        let is_else = &*name.text == "else";
        let condition = self.buffer().conditions.last_mut().expect("it was there");
        condition.directive = if is_else { "#else" } else { "#elif" };
        // What the directive says is read, whatever becomes of the lines.
        condition.is_skipped = is_decided;
        let holds = if is_decided || is_else { Ok(!is_decided) } else { self.holds(name) };
        let condition = self.buffer().conditions.last_mut().expect("it was there");
        let is_taken = matches!(holds, Ok(true));
        condition.is_skipped = !is_taken;
        condition.is_decided |= is_taken;
        holds.map(|_| ())
    }

    /// Whether what a directive asks for is so.
    fn holds(&mut self, name: &Token) -> Result<bool, Stop> {
        let wants = match &*name.text {
            "ifdef" | "elifdef" => true,
            "ifndef" | "elifndef" => false,
            _ => return condition::holds(self, name),
        };
        let token = self.lex()?;
        if token.kind == Kind::End {
            let text = format!("no macro name given in #{} directive", name.text);
            return Err(self.wrong(name.place, name.text.len(), &text));
        }
        macros::name_of_macro(&token).map_err(|wrong| self.stop(wrong))?;
        Ok(self.macros.contains_key(&token.text) == wants)
    }

    fn define(&mut self) -> Result<(), Stop> {
        let (tokens, end) = self.line_tokens()?;
        let made = macros::parse(&tokens, end).map_err(|wrong| self.stop(wrong))?;
        self.macros.insert(made.name.clone(), Rc::new(made));
        Ok(())
    }

    fn undefine(&mut self) -> Result<(), Stop> {
        let (tokens, end) = self.line_tokens()?;
        let Some(name) = tokens.first() else {
            return Err(self.wrong(end, 1, "no macro name given in #undef directive"));
        };
        macros::name_of_macro(name).map_err(|wrong| self.stop(wrong))?;
        self.macros.remove(&name.text);
        Ok(())
    }

    /// The tokens up to the end of the line, as they are, and where that is.
    fn line_tokens(&mut self) -> Result<(Vec<Token>, Place), Stop> {
        let mut tokens = Vec::new();
        loop {
            let place = self.buffer().place();
            let token = self.lex()?;
            if token.kind == Kind::End {
                return Ok((tokens, place));
            }
            tokens.push(token);
        }
    }

    fn rest_of_line(&mut self) -> String {
        let mut text = String::new();
        loop {
            let token = self.buffer().next();
            match token.kind {
                Kind::Newline => {
                    self.buffer().back_to_newline();
                    return text;
                }
                Kind::End => return text,
                _ => {
                    if token.is_spaced && !text.is_empty() {
                        text.push(' ');
                    }
                    text.push_str(&token.text);
                }
            }
        }
    }

    /// `#line 7 "file"`, or `# 7 "file"`, of which the number was read.
    fn line(&mut self, number: Option<Token>) -> Result<(), Stop> {
        let number = match number {
            Some(number) => number,
            None => self.token()?,
        };
        let Some(line) = number.text.parse::<u32>().ok().filter(|_| number.kind == Kind::Number)
        else {
            let text = format!("\"{}\" after #line is not a positive integer", number.text);
            return Err(self.wrong(number.place, number.text.len().max(1), &text));
        };
        let name = self.token()?;
        match name.kind {
            Kind::Text => {
                let file = self.file_number(&unquoted(&name.text));
                self.buffer().file = file;
            }
            Kind::End => {}
            _ => {
                let text = format!("\"{}\" is not a valid filename", name.text);
                return Err(self.wrong(name.place, name.text.len(), &text));
            }
        }
        // The line behind this one has the number.
        let here = self.buffer().place().line;
        self.buffer().shift += i64::from(line) - i64::from(here) - 1;
        Ok(())
    }

    fn include(&mut self, directive: &Token) -> Result<(), Stop> {
        let angled = self.buffer().angled();
        let place = directive.place;
        let (name, is_angled, at) = match angled {
            Some(name) => (name, true, place),
            None => self.included_name(directive)?,
        };
        if name.is_empty() {
            let text = format!("empty filename in #{}", directive.text);
            return Err(self.wrong(at, 1, &text));
        }
        if self.buffers.len() >= DEEPEST {
            let text = format!("#include nested depth {DEEPEST} exceeds maximum of {DEEPEST}");
            return Err(self.wrong(at, 1, &text));
        }
        let len = name.len() + 2;
        let Some(path) = self.find_file(&name, is_angled) else {
            return Err(self.wrong(at, len, &format!("{name}: No such file or directory")));
        };
        let full = path.canonicalize().unwrap_or_else(|_| path.clone());
        if self.once.contains(&full) {
            return Ok(());
        }
        if &*directive.text == "import" {
            self.once.insert(full.clone());
        }
        let text = match super::read_included(&path) {
            Ok(text) => text,
            Err(error) => return Err(self.wrong(at, len, &format!("{name}: {error}"))),
        };
        let number = self.file_number(&path.to_string_lossy());
        let mut buffer = Buffer::new(number, path.parent().map(Path::to_owned), &text);
        buffer.path = Some(full);
        self.texts.insert(number, text);
        self.included = Some(buffer);
        Ok(())
    }

    /// The name of a file that is written in quotes, or as macros.
    fn included_name(&mut self, directive: &Token) -> Result<(String, bool, Place), Stop> {
        let first = self.token()?;
        if first.kind == Kind::Text {
            // What is between the quotes is a name, backslashes and all.
            let name = first.text.trim_start_matches('"').trim_end_matches('"');
            return Ok((name.to_owned(), false, first.place));
        }
        if first.is_sign("<") {
            let mut name = String::new();
            loop {
                let token = self.token()?;
                if token.is_sign(">") {
                    return Ok((name, true, first.place));
                }
                if token.kind == Kind::End {
                    return Err(self.wrong(first.place, 1, "missing terminating > character"));
                }
                if token.is_spaced && !name.is_empty() {
                    name.push(' ');
                }
                name.push_str(&token.text);
            }
        }
        let text = format!("#{} expects \"FILENAME\" or <FILENAME>", directive.text);
        Err(self.wrong(directive.place, directive.text.len(), &text))
    }

    /// Whether there is such a file to include.
    pub(super) fn find_file(&mut self, name: &str, is_angled: bool) -> Option<PathBuf> {
        let name = Path::new(name);
        if name.is_absolute() {
            return name.is_file().then(|| name.to_owned());
        }
        let here = if is_angled { None } else { self.buffer().folder.clone() };
        let quoted = self.flags.quoted.iter().filter(|_| !is_angled);
        let folders = quoted.chain(&self.flags.folders);
        let folders = here.iter().chain(folders);
        let mut paths = folders.map(|folder| plain_name(&folder.join(name)));
        paths.find(|path| path.is_file())
    }
}

/// What a string says.
fn unquoted(text: &str) -> String {
    let inside = text.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(text);
    inside.replace("\\\"", "\"").replace("\\\\", "\\")
}
