//! What packed states mean, in a file: the values of parts in the order of their numbers, and which
//! bits each number has. What is remembered of moves is not saved: it follows from the program.

use super::ByParts;
use super::cache::Cache;
use super::fields::Bits;
use super::numbers::Values;
use super::sets::Remembered;
use crate::saved::{Reader, Writer};
use std::io;

impl ByParts {
    /// Writes what the words of states mean.
    pub(crate) fn save(&self, out: &mut Writer) -> io::Result<()> {
        let parts = self.numbers.lock();
        out.all(&parts, |values, out| out.all(values.from(0), |value, out| out.text(value)))?;
        out.all(&self.bits, |bits, out| out.word(bits.place()))?;
        out.word(u64::from(self.n_tries))
    }

    /// Has words mean what they meant when a search of the same program was saved.
    pub(crate) fn load(&mut self, from: &mut Reader) -> io::Result<()> {
        let mut parts = self.numbers.lock();
        let mut bytes = 0;
        for part in 0..from.len()? {
            if part == parts.len() {
                parts.push(Values::of_process());
            }
            for expected in 0..from.len()? {
                let (number, more) = parts[part].number(&from.text()?);
                // The values of the initial state are there, with the first numbers.
                if number as usize != expected {
                    return Err(io::Error::other("a value has another number"));
                }
                bytes += more;
            }
        }
        drop(parts);
        self.numbers.take(bytes);
        self.bits = from.all(|from| from.word().map(Bits::at))?.into();
        self.n_tries = from.word()? as u32;
        self.numbers.begin();
        // All of it may be by other bits.
        self.unpacked = None;
        self.recent.clear();
        self.values.clear();
        self.masks.clear();
        self.touched.clear();
        self.listens.clear();
        self.cache = Cache::new();
        self.remembered = Remembered::new(&self.machine.code);
        (self.n_asked, self.n_found, self.n_before) = (0, 0, 0);
        Ok(())
    }
}
