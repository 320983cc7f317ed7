//! Bytes of a stack that other threads have accessed: shared memory, no part of its thread's state.
//!
//! To the byte: what stands beside them in the same word may be a variable that no other thread
//! accesses, and that the instrumentation therefore says nothing about.

const WORD: usize = 8;

/// Such bytes of one stack.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedBytes {
    /// Words, ascending, and which of their bytes.
    words: Vec<(usize, u8)>,
}

/// The bytes of a word at which an access to so many bytes begins and ends there.
fn mask(word: usize, address: usize, len: usize) -> u8 {
    (0..WORD)
        .fold(0, |mask, at| mask | u8::from((address..address + len).contains(&(word + at))) << at)
}

impl SharedBytes {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.words.iter().map(|(_, mask)| mask.count_ones() as usize).sum()
    }

    /// Adds those of an access. Whether any is new.
    pub(crate) fn add(&mut self, address: usize, len: usize) -> bool {
        let mut is_new = false;
        for word in (address / WORD * WORD..address + len).step_by(WORD) {
            let bytes = mask(word, address, len);
            match self.words.binary_search_by_key(&word, |it| it.0) {
                Ok(idx) => {
                    is_new |= bytes & !self.words[idx].1 != 0;
                    self.words[idx].1 |= bytes;
                }
                Err(idx) => {
                    self.words.insert(idx, (word, bytes));
                    is_new = true;
                }
            }
        }
        is_new
    }

    /// Whether one of them is at an address.
    #[inline]
    pub(crate) fn contains(&self, address: usize) -> bool {
        self.overlaps(address, 1)
    }

    /// Whether any of them is in a piece of memory.
    #[inline]
    pub(crate) fn overlaps(&self, address: usize, len: usize) -> bool {
        self.from(address / WORD * WORD)
            .take_while(|(word, _)| *word < address + len)
            .any(|(word, bytes)| bytes & mask(word, address, len) != 0)
    }

    /// The words at an address and above with some of them, ascending, and which of their bytes
    /// are.
    #[inline]
    pub(crate) fn from(&self, address: usize) -> impl Iterator<Item = (usize, u8)> + '_ {
        let first = self.words.partition_point(|&(word, _)| word < address);
        self.words[first..].iter().copied()
    }

    /// All of them, ascending.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = usize> + '_ {
        let bytes = |&(word, bytes): &(usize, u8)| {
            (0..WORD).filter(move |at| bytes >> at & 1 == 1).map(move |at| word + at)
        };
        self.words.iter().flat_map(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_a_word_are_apart() {
        let mut bytes = SharedBytes::default();
        assert!(bytes.add(0x1004, 4));
        assert!(!bytes.add(0x1005, 2));
        assert!(bytes.add(0x100f, 2));
        assert_eq!(bytes.len(), 6);
        let all: Vec<usize> = bytes.addresses().collect();
        assert_eq!(all, [0x1004, 0x1005, 0x1006, 0x1007, 0x100f, 0x1010]);
        for (address, len, expected) in [
            (0x1000, 4, false),
            (0x1000, 5, true),
            (0x1007, 1, true),
            (0x1008, 7, false),
            (0x1008, 8, true),
            (0x1011, 8, false),
        ] {
            assert_eq!(bytes.overlaps(address, len), expected, "{address:#x} {len}");
        }
        assert_eq!(bytes.from(0x1008).collect::<Vec<_>>(), [(0x1008, 0x80), (0x1010, 1)]);
    }
}
