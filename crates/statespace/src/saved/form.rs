//! The binary form of a saved search: words and bytes, one behind the other, and a checksum of all
//! of them at the end.
//!
//! A file is held against its checksum before anything in it is believed, in a pass of its own: so
//! what reads it need not ask whether lengths are those that were written.

use mazurka_core::fold::mix;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};

/// What all files begin with; the number is the version of the form.
const MAGIC: [u8; 16] = *b"mzk-states-0003\n";

/// What all versions begin with.
const FAMILY: &[u8] = b"mzk-states-";

/// How many bytes are copied at a time.
const BLOCK: usize = 1 << 16;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// A saved search, as it was written.
    Whole,
    /// One of another version.
    OtherVersion,
    /// Something else.
    NotSaved,
    /// A saved search that was cut off or changed.
    Damaged,
}

/// Something that is a part of a saved search.
pub(crate) trait Form: Sized {
    fn save(&self, out: &mut Writer) -> io::Result<()>;
    fn load(from: &mut Reader) -> io::Result<Self>;
}

/// Writes a search.
pub(crate) struct Writer {
    out: BufWriter<File>,
    sum: Sum,
}

impl Writer {
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let mut writer = Self { out: BufWriter::with_capacity(BLOCK, file), sum: Sum::default() };
        writer.out.write_all(&MAGIC)?;
        Ok(writer)
    }

    pub(crate) fn word(&mut self, word: u64) -> io::Result<()> {
        self.bytes(&word.to_le_bytes())
    }

    pub(crate) fn len(&mut self, len: usize) -> io::Result<()> {
        self.word(len as u64)
    }

    pub(crate) fn flag(&mut self, flag: bool) -> io::Result<()> {
        self.bytes(&[u8::from(flag)])
    }

    /// Bytes whose number the reader knows.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.add(bytes);
        self.out.write_all(bytes)
    }

    /// Bytes with their number before them.
    pub(crate) fn text(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.len(bytes.len())?;
        self.bytes(bytes)
    }

    /// Things with their number before them.
    pub(crate) fn all<T>(
        &mut self,
        things: &[T],
        mut save: impl FnMut(&T, &mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.len(things.len())?;
        things.iter().try_for_each(|thing| save(thing, self))
    }

    /// Ends with the checksum, and waits for the disk.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let sum = self.sum.finish();
        self.out.write_all(&sum.to_le_bytes())?;
        self.out.into_inner()?.sync_all()
    }
}

/// Reads a search from a file that is [whole](Check::Whole).
pub(crate) struct Reader {
    from: BufReader<File>,
}

impl Reader {
    /// Begins behind what all files begin with.
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let mut from = BufReader::with_capacity(BLOCK, file);
        from.read_exact(&mut [0; MAGIC.len()])?;
        Ok(Self { from })
    }

    pub(crate) fn word(&mut self) -> io::Result<u64> {
        let mut word = [0; 8];
        self.from.read_exact(&mut word)?;
        Ok(u64::from_le_bytes(word))
    }

    pub(crate) fn len(&mut self) -> io::Result<usize> {
        Ok(self.word()? as usize)
    }

    pub(crate) fn flag(&mut self) -> io::Result<bool> {
        let mut byte = [0];
        self.from.read_exact(&mut byte)?;
        Ok(byte[0] != 0)
    }

    pub(crate) fn bytes(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.from.read_exact(bytes)
    }

    pub(crate) fn text(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.len()?];
        self.from.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    pub(crate) fn all<T>(
        &mut self,
        mut load: impl FnMut(&mut Self) -> io::Result<T>,
    ) -> io::Result<Vec<T>> {
        let len = self.len()?;
        (0..len).map(|_| load(self)).collect()
    }
}

/// Holds a file against its checksum.
pub(crate) fn check(file: &File) -> io::Result<Check> {
    let len = file.metadata()?.len();
    let mut from = BufReader::with_capacity(BLOCK, file);
    let mut magic = Vec::new();
    from.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic)?;
    if magic != MAGIC {
        let is_other = magic.starts_with(FAMILY);
        return Ok(if is_other { Check::OtherVersion } else { Check::NotSaved });
    }
    let Some(mut left) = len.checked_sub(MAGIC.len() as u64 + 8) else {
        return Ok(Check::Damaged);
    };
    let (mut sum, mut block) = (Sum::default(), vec![0; BLOCK]);
    while left > 0 {
        let part = &mut block[..left.min(BLOCK as u64) as usize];
        from.read_exact(part)?;
        sum.add(part);
        left -= part.len() as u64;
    }
    let mut last = [0; 8];
    from.read_exact(&mut last)?;
    let is_whole = sum.finish() == u64::from_le_bytes(last);
    Ok(if is_whole { Check::Whole } else { Check::Damaged })
}

/// A checksum of bytes, however they are cut into pieces.
#[derive(Default)]
struct Sum {
    sum: u64,
    /// Bytes that are not a whole word yet.
    rest: [u8; 8],
    n_rest: usize,
    len: u64,
}

impl Sum {
    fn add(&mut self, mut bytes: &[u8]) {
        self.len += bytes.len() as u64;
        if self.n_rest > 0 {
            let more = bytes.len().min(8 - self.n_rest);
            self.rest[self.n_rest..self.n_rest + more].copy_from_slice(&bytes[..more]);
            self.n_rest += more;
            bytes = &bytes[more..];
            if self.n_rest < 8 {
                return;
            }
            self.sum = mix(self.sum, u64::from_le_bytes(self.rest));
            self.n_rest = 0;
        }
        let (words, rest) = bytes.as_chunks::<8>();
        self.sum = words.iter().fold(self.sum, |sum, word| mix(sum, u64::from_le_bytes(*word)));
        self.rest[..rest.len()].copy_from_slice(rest);
        self.n_rest = rest.len();
    }

    fn finish(&self) -> u64 {
        let mut rest = [0; 8];
        rest[..self.n_rest].copy_from_slice(&self.rest[..self.n_rest]);
        mix(mix(self.sum, u64::from_le_bytes(rest)), self.len)
    }
}

/// A hash of what a value says of itself, all of it.
pub(crate) fn fingerprint(value: &impl std::fmt::Debug) -> u128 {
    struct Sums([Sum; 2]);
    impl std::fmt::Write for Sums {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.iter_mut().for_each(|sum| sum.add(text.as_bytes()));
            Ok(())
        }
    }
    let other = Sum { sum: 0x243f_6a88_85a3_08d3, ..Sum::default() };
    let mut sums = Sums([Sum::default(), other]);
    std::fmt::Write::write_fmt(&mut sums, format_args!("{value:?}"))
        .expect("nothing goes wrong where nothing is written to");
    u128::from(sums.0[0].finish()) << 64 | u128::from(sums.0[1].finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_does_not_depend_on_the_pieces() {
        let bytes: Vec<u8> = (0..200_u8).collect();
        let sum = |sizes: &[usize]| {
            let (mut sum, mut at, mut sizes) = (Sum::default(), 0, sizes.iter().cycle());
            while at < bytes.len() {
                let end = bytes.len().min(at + sizes.next().expect("it goes round"));
                sum.add(&bytes[at..end]);
                at = end;
            }
            sum.finish()
        };
        let whole = sum(&[200]);
        assert_eq!(sum(&[1]), whole);
        assert_eq!(sum(&[8, 3, 13]), whole);
        let mut other = Sum::default();
        other.add(&bytes[1..]);
        assert_ne!(other.finish(), whole);
    }

    #[test]
    fn fingerprints_tell_values_apart() {
        assert_eq!(fingerprint(&[1, 2]), fingerprint(&[1, 2]));
        assert_ne!(fingerprint(&[1, 2]), fingerprint(&[1, 3]));
    }
}
