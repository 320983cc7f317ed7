//! The preprocessor: from a file to text with its macros expanded.
//!
//! What SPIN leaves to the preprocessor of C is done here, since a process of its own takes longer
//! than many searches. Models are cut into the tokens of C (`token`), lines that begin with `#` are
//! obeyed (`directive`, `condition`), macros are expanded (`macros`, `expand`), and what comes out
//! is written line by line, each as far as possible where it stood, with markers that say where
//! that was (`write`).
//!
//! It knows no macro of a machine or a compiler, so that a model means the same everywhere. Apart
//! from that, `tests/promela/preprocessor.rs` holds it to what `gcc -E` makes of a text.

mod condition;
mod directive;
mod expand;
mod macros;
mod token;
mod write;

use crate::fault::code;
use expand::{Expansion, Reading};
use macros::{Macro, Meaning};
use mazurka_source::{Fault, Language, Spot, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use token::{Buffer, Kind, Place, Token};
use write::Writer;

const LANGUAGE: Language = Language {
    name: "Promela",
    code: code::FILE,
    smallest: "the smallest model is `init { skip }`",
};

/// More than any file that a person writes.
const MOST_BYTES: u64 = 32 << 20;

/// Where files are looked for after all other folders.
const SYSTEM: [&str; 2] = ["/usr/local/include", "/usr/include"];

/// Flags that make no difference to a model, by how they begin.
const WITHOUT_EFFECT: [&str; 11] =
    ["-W", "-w", "-O", "-g", "-f", "-m", "-std=", "-ansi", "-pedantic", "-pthread", "-undef"];

/// Something that cannot be gone on from.
type Stop = Box<Fault>;

/// A preprocessor, with the macros that are defined by now.
pub(crate) struct Preprocessor {
    flags: Flags,
    macros: BTreeMap<Rc<str>, Rc<Macro>>,
    /// The files that include each other, the innermost last.
    buffers: Vec<Buffer>,
    /// A file that is read from the next line on.
    included: Option<Buffer>,
    /// Files that are not to be included again.
    once: BTreeSet<PathBuf>,
    /// The names of all files, by their numbers.
    files: Vec<String>,
    /// What they say.
    texts: BTreeMap<u32, String>,
    expansions: Vec<Expansion>,
    /// A token that was read and is still to come.
    ahead: Option<Token>,
    reading: Reading,
    /// Whether the tokens are those of a directive.
    is_directive: bool,
    /// If not 0, nothing is expanded.
    n_plain: usize,
    /// How many arguments are being expanded within each other.
    n_nested: usize,
    /// Where the outermost macro stands that is being expanded, or the last token of the file.
    invoked: Place,
    n_expanded: usize,
    counter: u64,
    faults: Vec<Fault>,
}

/// What a preprocessor is told.
#[derive(Debug, Default)]
struct Flags {
    /// What is defined (`Ok`) and not defined any more (`Err`), in this order.
    macros: Vec<Result<String, String>>,
    /// Folders for names in quotes alone.
    quoted: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    /// Files to be read before the model.
    files: Vec<PathBuf>,
}

impl Flags {
    fn parse(words: &[String]) -> Result<Self, Vec<Fault>> {
        let mut flags = Self::default();
        let (mut system, mut last) = (Vec::new(), Vec::new());
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let with_value =
                ["-D", "-U", "-iquote", "-isystem", "-idirafter", "-include", "-imacros", "-I"];
            let Some(flag) = with_value.into_iter().find(|flag| word.starts_with(flag)) else {
                if WITHOUT_EFFECT.iter().any(|it| word.starts_with(it)) {
                    continue;
                }
                let fault = Fault::new(code::FILE, format!("`{word}` means nothing to a model"));
                let help = "a model is told -D, -U, -I, -iquote, -isystem, -idirafter and -include";
                return Err(vec![fault.help(help)]);
            };
            let value = match &word[flag.len()..] {
                "" => words.next().cloned(),
                value => Some(value.to_owned()),
            };
            let Some(value) = value else {
                return Err(vec![Fault::new(code::FILE, format!("`{flag}` lacks its value"))]);
            };
            match flag {
                "-D" => flags.macros.push(Ok(value)),
                "-U" => flags.macros.push(Err(value)),
                "-iquote" => flags.quoted.push(value.into()),
                "-isystem" => system.push(value.into()),
                "-idirafter" => last.push(value.into()),
                "-I" => flags.folders.push(value.into()),
                _ => flags.files.push(value.into()),
            }
        }
        flags.folders.extend(system);
        flags.folders.extend(SYSTEM.map(PathBuf::from));
        flags.folders.extend(last);
        Ok(flags)
    }
}

impl Preprocessor {
    /// One that is told the same as the preprocessor of C would be.
    pub(crate) fn new(flags: &[String]) -> Result<Self, Vec<Fault>> {
        let mut made = Self {
            flags: Flags::parse(flags)?,
            macros: BTreeMap::new(),
            buffers: Vec::new(),
            included: None,
            once: BTreeSet::new(),
            files: Vec::new(),
            texts: BTreeMap::new(),
            expansions: Vec::new(),
            ahead: None,
            reading: Reading::Text,
            is_directive: false,
            n_plain: 0,
            n_nested: 0,
            invoked: Place::default(),
            n_expanded: 0,
            counter: 0,
            faults: Vec::new(),
        };
        for known in [
            Macro::known("__LINE__", Meaning::Line),
            Macro::known("__FILE__", Meaning::File),
            Macro::known("__INCLUDE_LEVEL__", Meaning::Level),
            Macro::known("__COUNTER__", Meaning::Counter),
        ] {
            made.macros.insert(known.name.clone(), Rc::new(known));
        }
        // A run is to repeat, whenever it is.
        let fixed = [
            "__STDC__=1",
            "__STDC_VERSION__=199901L",
            "__STDC_HOSTED__=1",
            "__DATE__=\"??? ?? ????\"",
            "__TIME__=\"??:??:??\"",
            "__TIMESTAMP__=\"??? ??? ?? ??:??:?? ????\"",
        ];
        let given = std::mem::take(&mut made.flags.macros);
        let fixed = fixed.into_iter().map(|it| Ok(it.to_owned()));
        for definition in fixed.chain(given) {
            match definition {
                Ok(definition) => {
                    let defined = Macro::given(&definition, 0).map_err(|(_, _, text)| {
                        vec![Fault::new(code::PREPROCESSOR, format!("`-D{definition}`: {text}"))]
                    })?;
                    made.macros.insert(defined.name.clone(), Rc::new(defined));
                }
                Err(name) => {
                    made.macros.remove(&*name);
                }
            }
        }
        Ok(made)
    }

    /// The text of a file with its macros expanded, with line markers.
    pub(crate) fn file(&mut self, file: &Path) -> Result<String, Vec<Fault>> {
        let text = read(file, LANGUAGE).map_err(|fault| vec![*fault])?;
        let mut writer = Writer::default();
        for path in std::mem::take(&mut self.flags.files) {
            let text = read_included(&path).map_err(|error| {
                vec![Fault::new(code::PREPROCESSOR, format!("{}: {error}", path.display()))]
            })?;
            self.run(&path.to_string_lossy(), Some(&path), text, &mut writer);
        }
        self.run(&file.to_string_lossy(), Some(file), text, &mut writer);
        self.finish(writer)
    }

    /// A text from elsewhere, with the macros of what was read before expanded in it.
    pub(crate) fn text(&mut self, name: &str, text: &str) -> Result<String, Vec<Fault>> {
        let mut writer = Writer::of(self.file_number(name));
        self.run(name, None, text.to_owned(), &mut writer);
        self.finish(writer)
    }

    fn finish(&mut self, writer: Writer) -> Result<String, Vec<Fault>> {
        match self.faults.is_empty() {
            true => Ok(writer.text),
            false => Err(std::mem::take(&mut self.faults)),
        }
    }

    fn run(&mut self, name: &str, path: Option<&Path>, text: String, writer: &mut Writer) {
        let number = self.file_number(name);
        let folder = path.and_then(Path::parent).map(Path::to_owned);
        let mut buffer = Buffer::new(number, folder, &text);
        buffer.path = path.and_then(|path| path.canonicalize().ok());
        self.texts.insert(number, text);
        self.buffers = vec![buffer];
        if let Err(fault) = self.write_all(writer) {
            self.faults.push(*fault);
        } else {
            self.close_conditions();
        }
    }

    fn write_all(&mut self, writer: &mut Writer) -> Result<(), Stop> {
        loop {
            let token = self.token()?;
            if token.kind == Kind::End {
                writer.end();
                return Ok(());
            }
            let place = self.shown_at(&token);
            let is_own = self.expansions.is_empty();
            writer.write(&token, place, is_own, &self.files);
            if writer.text.len() as u64 > MOST_BYTES {
                return Err(self.wrong(place, 1, "the macros expand to too much"));
            }
        }
    }

    fn buffer(&mut self) -> &mut Buffer {
        self.buffers.last_mut().expect("there is always one")
    }

    /// Goes back to the file that has included the one that is at its end; whether there is one.
    fn close_file(&mut self) -> bool {
        if self.buffers.len() == 1 {
            return false;
        }
        self.close_conditions();
        self.buffers.pop();
        true
    }

    /// Notes the conditions that are still open at the end of a file.
    fn close_conditions(&mut self) {
        for condition in std::mem::take(&mut self.buffer().conditions) {
            let text = format!("unterminated {}", condition.directive);
            let fault = self.wrong(condition.place, condition.directive.len() - 1, &text);
            self.faults.push(*fault);
        }
    }

    /// Forgets everything that was to be expanded.
    fn give_up(&mut self) {
        for macros in self.macros.values() {
            macros.is_busy.set(false);
        }
        self.expansions.clear();
        (self.n_plain, self.n_nested, self.ahead) = (0, 0, None);
        self.reading = Reading::Text;
    }

    /// The number of a file with this name.
    fn file_number(&mut self, name: &str) -> u32 {
        let known = self.files.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.files.push(name.to_owned());
            self.files.len() - 1
        }) as u32
    }

    fn file_name(&self, file: u32) -> &str {
        self.files.get(file as usize).map_or("", String::as_str)
    }

    fn stop(&self, (place, len, text): macros::Wrong) -> Stop {
        self.wrong(place, len, &text)
    }

    /// Something that is wrong in a file.
    fn wrong(&self, place: Place, len: usize, text: &str) -> Stop {
        let mut fault = Fault::new(code::PREPROCESSOR, text);
        let Place { file, line, column } = place;
        let name = self.file_name(file).to_owned();
        fault.spot = Some(Spot { file: name, line, column: column + 1, len: len as u32 });
        let lines = self.texts.get(&file).map(|text| text.lines());
        fault.line =
            lines.and_then(|mut it| it.nth((line as usize).checked_sub(1)?)).map(str::to_owned);
        Box::new(fault)
    }
}

/// The text of a file as it is.
pub(crate) fn written(file: &Path) -> Result<String, Vec<Fault>> {
    read(file, LANGUAGE).map_err(|fault| vec![*fault])
}

/// The text of a file that another one includes. It may be empty.
fn read_included(path: &Path) -> Result<String, String> {
    let data = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "No such file or directory".to_owned(),
        _ => error.to_string(),
    })?;
    if !data.is_file() {
        return Err("it is no regular file".to_owned());
    }
    if data.len() > MOST_BYTES {
        return Err(format!("it has {} MiB, more than {}", data.len() >> 20, MOST_BYTES >> 20));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    if bytes.contains(&0) {
        return Err("it is a binary file, not Promela".to_owned());
    }
    String::from_utf8(bytes).map_err(|_| "it is not in UTF-8, so it cannot be shown".to_owned())
}
