//! Flags of the compiler among the arguments of a command: `mazurka check x.c -DN=3 -Iinclude -lm`.
//!
//! Our own options begin with two dashes. A word that begins with one goes to the compiler, with
//! the next one if that is its value.

use clap::Command;
use mazurka_check::native::WITH_VALUE;
use std::ffi::OsString;

/// What is ours all the same.
const OURS: [&str; 3] = ["-h", "-V", "-"];

/// Takes the flags of the compiler out of the words behind a command, up to `--`.
pub(super) fn split(command: &Command, words: Vec<OsString>) -> (Vec<OsString>, Vec<String>) {
    let takes_value = |word: &str| {
        let name = word.strip_prefix("--")?;
        let argument = command.get_arguments().find(|it| it.get_long() == Some(name))?;
        Some(argument.get_action().takes_values())
    };
    let (mut ours, mut flags) = (Vec::new(), Vec::new());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy().into_owned();
        if text == "--" {
            ours.push(word);
            ours.extend(words);
            break;
        }
        if text.starts_with("--") || !text.starts_with('-') || OURS.contains(&text.as_str()) {
            let has_value = takes_value(&text) == Some(true);
            ours.push(word);
            if has_value {
                ours.extend(words.next());
            }
            continue;
        }
        let has_value = WITH_VALUE.contains(&text.as_str());
        flags.push(text);
        if has_value {
            flags.extend(words.next().map(|value| value.to_string_lossy().into_owned()));
        }
    }
    (ours, flags)
}
