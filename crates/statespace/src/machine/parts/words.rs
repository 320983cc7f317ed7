//! Packing and unpacking: from the bytes of a state to its word, and back.

use super::super::touched::{MOST, Parts};
use super::ByParts;
use super::cut::CONTROL;
use super::fields::{BLANK, Word};
use super::numbers::{Lost, Value, Values};
use crate::transitions::Transitions as _;
use std::ops::Range;
use std::sync::Arc;

/// Where a value, or a piece of it, is in the bytes of a state.
#[derive(Clone, Debug)]
pub(super) struct ValuePlace {
    part: usize,
    bytes: Range<usize>,
    /// Where it begins in the value.
    start: usize,
}

impl ByParts {
    /// The value of a part of a state.
    fn value(&mut self, word: Word, part: usize) -> &Value {
        let number = self.bits[part].get(word) as usize;
        self.hear_of(part, number);
        &self.values[part][number]
    }

    /// Makes sure that a value is known.
    #[inline]
    pub(super) fn hear_of(&mut self, part: usize, number: usize) {
        if self.values.get(part).is_none_or(|values| values.len() <= number) {
            let parts = self.numbers.lock();
            self.values.resize(parts.len().max(self.values.len()), Vec::new());
            let values = &mut self.values[part];
            values.extend_from_slice(parts[part].from(values.len()));
        }
    }

    /// Writes the bytes of a state to `state`.
    pub(super) fn unpack(&mut self, word: Word, state: &mut Vec<u8>) {
        state.clear();
        let (control, cut) = (Arc::clone(self.value(word, CONTROL)), Arc::clone(&self.cut));
        let (alone, routines) = (control[0], &control[1..]);
        state.extend_from_slice(&[routines.len() as u8, alone]);
        for part in 1..cut.process(0) {
            state.extend_from_slice(self.value(word, part));
        }
        for (process, &routine) in routines.iter().enumerate() {
            let mut at = 0;
            for (piece, part) in &cut.pieces[usize::from(routine)] {
                let value = self.value(word, cut.process(process) + part);
                let start = if *part == 0 { at } else { 0 };
                state.extend_from_slice(&value[start..start + piece.len()]);
                at += if *part == 0 { piece.len() } else { 0 };
            }
        }
    }

    /// The bytes of a state, in memory that is given back after its use. Only what
    /// differs from the last state is written.
    pub(super) fn bytes_of(&mut self, word: Word) -> Vec<u8> {
        let mut state = std::mem::take(&mut self.state);
        let last = self.unpacked.replace(word).filter(|_| !state.is_empty());
        let number = self.bits[CONTROL].get(word) as usize;
        let control = last.map(|last| self.bits[CONTROL].get(last) as usize);
        if control != Some(number) {
            self.hear_of(CONTROL, number);
            let values = &self.values[CONTROL];
            let fits = control.is_some_and(|it| values[it][1..] == values[number][1..]);
            if !fits {
                self.unpack(word, &mut state);
                self.place_values(number);
                return state;
            }
            state[1] = values[number][0];
        }
        let changed = last.unwrap_or(word) ^ word;
        let (bits, places) = (Arc::clone(&self.bits), std::mem::take(&mut self.places));
        for place in places.iter().filter(|it| bits[it.part].mask & changed != 0) {
            let value = self.value(word, place.part);
            state[place.bytes.clone()].copy_from_slice(&value[place.start..][..place.bytes.len()]);
        }
        self.places = places;
        #[cfg(debug_assertions)]
        {
            let mut whole = Vec::new();
            self.unpack(word, &mut whole);
            assert_eq!(state, whole, "what does not differ is the same");
        }
        state
    }

    /// Finds out where values are in a state with processes of these routines, by the number of who
    /// there is.
    fn place_values(&mut self, control: usize) {
        let cut = Arc::clone(&self.cut);
        self.places.clear();
        for (idx, range) in cut.shared.iter().enumerate() {
            self.places.push(ValuePlace { part: 1 + idx, bytes: range.clone(), start: 0 });
        }
        let mut begin = self.machine.code.globals.len();
        let control = Arc::clone(&self.values[CONTROL][control]);
        for (process, &routine) in control[1..].iter().enumerate() {
            let mut at = 0;
            for (piece, part) in &cut.pieces[usize::from(routine)] {
                let start = if *part == 0 { at } else { 0 };
                at += if *part == 0 { piece.len() } else { 0 };
                let bytes = begin + piece.start..begin + piece.end;
                self.places.push(ValuePlace { part: cut.process(process) + part, bytes, start });
            }
            begin += self.machine.code.routines[usize::from(routine)].size as usize;
        }
        // Pieces of one value are behind each other.
        self.places.sort_by_key(|place| place.part);
    }

    /// The word of a state that differs, from the one whose bytes were [written](Self::bytes_of)
    /// last, in some parts at most.
    ///
    /// # Panics
    ///
    /// If it differs elsewhere.
    pub(super) fn pack_near(
        &mut self,
        state: &[u8],
        (old, near): (&[u8], Word),
        parts: Parts,
    ) -> Word {
        debug_assert_eq!(self.unpacked, Some(near), "it is known where its values are");
        let is_moved = |&at: &u32| state.get(at as usize) != old.get(at as usize);
        let processes = &self.machine.tables.processes;
        if state[0] != old[0] || processes.iter().any(is_moved) {
            return self.pack(state, Some((old, near)));
        }
        let (mut word, mut value) = (near, std::mem::take(&mut self.value));
        let (places, mut known) = (std::mem::take(&mut self.places), std::mem::take(&mut self.old));
        known.clear();
        known.extend_from_slice(old);
        for pieces in places.chunk_by(|left, right| left.part == right.part) {
            let part = pieces[0].part;
            let differs =
                |place: &ValuePlace| old[place.bytes.clone()] != state[place.bytes.clone()];
            if !parts.contains(part) || !pieces.iter().any(differs) {
                continue;
            }
            value.clear();
            for place in pieces {
                value.extend_from_slice(&state[place.bytes.clone()]);
                known[place.bytes.clone()].copy_from_slice(&state[place.bytes.clone()]);
            }
            word = word & !self.bits[part].mask | self.number(part, &value);
        }
        if state[1] != old[1] {
            known[1] = state[1];
            let control = self.bits[CONTROL].get(near) as usize;
            value.clear();
            value.extend_from_slice(&self.values[CONTROL][control]);
            value[0] = state[1];
            word = word & !self.bits[CONTROL].mask | self.number(CONTROL, &value);
        }
        assert!(known == state, "a process writes to what it touches");
        (self.value, self.places, self.old) = (value, places, known);
        debug_assert!(self.is_lost() || word == self.pack(state, Some((old, near))));
        word
    }

    /// The word of a state. Where it is the same as a state `near`, whose word is known, no number
    /// is looked for. If some number does not fit, the search is lost.
    pub(super) fn pack(&mut self, state: &[u8], near: Option<(&[u8], Word)>) -> Word {
        let (code, cut) = (Arc::clone(&self.machine.code), Arc::clone(&self.cut));
        let (old, near) = near.unwrap_or_default();
        let mut word = BLANK;
        for (idx, range) in cut.shared.iter().enumerate() {
            let value = &state[range.clone()];
            word |= match old.get(range.clone()) == Some(value) {
                true => near & self.bits[1 + idx].mask,
                false => self.number(1 + idx, value),
            };
        }
        // Processes come and go at the end, so that those which were there before are where they
        // were.
        let n_old = old.first().map_or(0, |&it| usize::from(it));
        let mut value = std::mem::take(&mut self.value);
        let mut at = code.globals.len();
        let starts = at;
        for process in 0..usize::from(state[0]) {
            let routine = usize::from(state[at]);
            let record = at..at + code.routines[routine].size as usize;
            at = record.end;
            let first = cut.process(process);
            let before = old.get(record.clone()).filter(|_| process < n_old);
            let new = &state[record];
            if before == Some(new) {
                let parts = &self.bits[first..first + cut.n_each];
                word |= parts.iter().fold(0, |word, bits| word | near & bits.mask);
                continue;
            }
            value.clear();
            for (piece, part) in &cut.pieces[routine] {
                match part {
                    0 => value.extend_from_slice(&new[piece.clone()]),
                    part => word |= self.number(first + part, &new[piece.clone()]),
                }
            }
            word |= self.number(first, &value);
        }
        word |= match old.get(..2) == Some(&state[..2]) {
            true => near & self.bits[CONTROL].mask,
            false => {
                value.clear();
                value.push(state[1]);
                let mut at = starts;
                for _ in 0..state[0] {
                    value.push(state[at]);
                    at += code.routines[usize::from(state[at])].size as usize;
                }
                self.number(CONTROL, &value)
            }
        };
        self.value = value;
        word
    }

    /// The bits of the number of a value.
    fn number(&mut self, part: usize, value: &[u8]) -> Word {
        if part >= MOST {
            self.numbers.lose(Lost::Pointless);
            return 0;
        }
        let mut parts = self.numbers.lock();
        let n_shared = self.cut.process(0);
        while parts.len() <= part || !(parts.len() - n_shared).is_multiple_of(self.cut.n_each) {
            parts.push(Values::of_process());
        }
        let (number, bytes) = parts[part].number(value);
        drop(parts);
        self.numbers.take(bytes);
        let bits = self.bits.get(part).and_then(|bits| bits.of(number));
        bits.unwrap_or_else(|| {
            self.numbers.lose(Lost::Full);
            0
        })
    }
}
