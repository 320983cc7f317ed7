//! States as numbers of their parts, and moves that are found once for all states in which they are the same.
//!
//! Every value that a part of a state has had is kept once and has a number, and a state is these numbers, packed
//! into one word. A process looks at few parts to find its moves: where those are the same, its moves are, and they
//! turn the same bits. So most states are never seen as a whole, neither to find out what comes next nor to be stored.
//!
//! Implements local transition caching of Blom, van de Pol and Weber, *Bridging the Gap between Enumerative and
//! Symbolic Model Checkers* (University of Twente, 2009), on states that are collapsed as in Holzmann, *State
//! Compression in SPIN* (SPIN 1997).
//!
//! | papers                      | here                                                      |
//! |-----------------------------|-----------------------------------------------------------|
//! | state vector of slots       | [`Cut`]                                                   |
//! | collapsed components        | [`Numbers`]                                               |
//! | transition cache of a group | [`Cache`], a process in a value of its own is a group     |
//! | dependency matrix           | the masks of [`ByParts`]                                  |
//!
//! Differs from the papers: what a process depends on is not known beforehand but observed, by an interpreter that
//! notes what it [touches](super::touched). A mask is what a process in one value of its own has touched so far.
//! It may grow, and what was found before stays true: moves that were found by looking at some parts are those of
//! every state that agrees on these. A number has a fixed width in a word, and all are chosen anew, and the search
//! begins again, if one is too small; it is given up if all of them together are, or if moves are found more
//! often than they are remembered.

mod cache;
mod cut;
mod fields;
mod numbers;

pub(super) use cut::Cut;
pub(crate) use numbers::Lost;

use super::Machine;
use super::steps::{Offers, Partners, channel_bit};
use super::touched::{MOST, Parts};
use super::view::View;
use crate::options::Reduction;
use crate::transitions::{Moves, Safety, Step, Stuck, Successor, Transitions};
use cache::{Cache, Entry, Kept, Seen, Unit};
use cut::CONTROL;
use fields::{BLANK, Bits, Word};
use mazurka_core::{Told, Violation};
use numbers::{Numbers, Value, Values};
use std::cell;
use std::cmp::Reverse;
use std::sync::Arc;

/// How often moves of a process are asked for, each time that they have to be found, at least: else it is slower than
/// finding all of them. In the beginning, when nothing is known yet, it may be less.
const WORTH: [u64; 2] = [3, 10];

/// How many are found before that is judged, each time, and up to when it is the beginning.
const WINDOW: u64 = 1 << 13;
const BEGINNING: u64 = 1 << 16;

/// How many entries the moves that are remembered may have.
const MOST_REMEMBERED: usize = 1 << 21;

/// How many questions are asked before what is remembered is no longer held against the machine in all states, but in
/// every sixteenth.
#[cfg(debug_assertions)]
const COMPARED: u64 = 1 << 17;

/// No number of a process is larger.
const MOST_PROCESSES: usize = 255;

/// How often bits are given anew before that is given up.
const MOST_TRIES: u32 = 100;

/// A [`Machine`] whose states are packed.
#[derive(Clone, Debug)]
pub struct ByParts {
    machine: Machine,
    cut: Arc<Cut>,
    numbers: Arc<Numbers>,
    /// By part, where its number is.
    bits: Arc<[Bits]>,
    n_tries: u32,
    /// By part and number, the value, as far as this worker has heard of it.
    values: Vec<Vec<Value>>,
    /// By process and number of its value, what its moves depend on.
    masks: Vec<Vec<Word>>,
    /// By process and number of its value, the channels by which it may take what others send.
    listens: Vec<Vec<Option<u64>>>,
    cache: Cache,
    /// How much of its memory is counted.
    n_counted: usize,
    n_asked: u64,
    n_found: u64,
    /// How many had been asked for when the last window began.
    n_before: u64,
    /// Memory that is used again.
    state: Vec<u8>,
    moves: Moves,
    value: Vec<u8>,
    sorted: Vec<(Place, usize)>,
}

/// Where a move comes among those of its process: edge by edge, the youngest partner first, choice by choice.
type Place = (u32, Reverse<Option<u32>>, u32);

impl ByParts {
    /// Packs the states of a machine, if it can be done.
    pub(super) fn new(machine: &Machine) -> Option<Self> {
        let code = &machine.code;
        if code.has_priorities || code.trace.is_some() || code.finds_truncation {
            return None;
        }
        let cut = Arc::new(Cut::new(code)?);
        let numbers = Arc::new(Numbers::new(&cut, &code.globals));
        let mut machine = machine.clone();
        for tables in [&mut machine.tables, &mut machine.steps.work.tables] {
            tables.touched.set(Arc::clone(&cut));
        }
        let mut new = Self {
            machine,
            cut,
            numbers,
            bits: Arc::new([]),
            n_tries: 0,
            values: Vec::new(),
            masks: Vec::new(),
            listens: Vec::new(),
            cache: Cache::new(),
            n_counted: 0,
            n_asked: 0,
            n_found: 0,
            n_before: 0,
            state: Vec::new(),
            moves: Moves::new(),
            value: Vec::new(),
            sorted: Vec::new(),
        };
        // The values of the initial state.
        let mut state = Vec::new();
        new.machine.initial(&mut state);
        new.pack(&state, None);
        new.try_again().then_some(new)
    }

    /// Why the search so far is of no use, if it is not.
    pub(crate) fn lost(&self) -> Option<Lost> {
        self.numbers.lost()
    }

    /// Gets ready for another search, with bits for all values that were met; `false` if there are too few.
    pub(crate) fn try_again(&mut self) -> bool {
        let Some(bits) = self.numbers.assign().filter(|_| self.n_tries < MOST_TRIES) else {
            return false;
        };
        self.n_tries += 1;
        self.numbers.begin();
        self.bits = bits.into();
        self.cache = Cache::new();
        self.masks.clear();
        (self.n_asked, self.n_found, self.n_before) = (0, 0, 0);
        true
    }

    /// The memory that values and remembered moves take.
    pub(crate) fn memory(&self) -> impl Fn() -> u64 + Sync + use<> {
        let numbers = Arc::clone(&self.numbers);
        move || numbers.bytes()
    }

    /// The value of a part of a state.
    fn value(&mut self, word: Word, part: usize) -> &Value {
        let number = self.bits[part].get(word) as usize;
        self.hear_of(part, number);
        &self.values[part][number]
    }

    /// Makes sure that a value is known.
    #[inline]
    fn hear_of(&mut self, part: usize, number: usize) {
        if self.values.get(part).is_none_or(|values| values.len() <= number) {
            let parts = self.numbers.lock();
            self.values.resize(parts.len().max(self.values.len()), Vec::new());
            let values = &mut self.values[part];
            values.extend_from_slice(parts[part].from(values.len()));
        }
    }

    /// Writes the bytes of a state to `state`.
    fn unpack(&mut self, word: Word, state: &mut Vec<u8>) {
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

    /// The word of a state. Where it is the same as a state `near`, whose word is known, no number is looked for. If some
    /// number does not fit, the search is lost.
    fn pack(&mut self, state: &[u8], near: Option<(&[u8], Word)>) -> Word {
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
        // Processes come and go at the end, so that those which were there before are where they were.
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

    /// Tells the moves of a process to `moves`.
    #[inline]
    fn moves_of(&mut self, word: Word, unit: Unit, n_processes: u32, moves: &mut Moves) {
        let Some(entry) = self.entry(word, unit) else { return };
        if entry.seen.offers != 0 {
            self.moves_with_others(word, unit, entry, n_processes, moves);
        } else {
            self.cache.moves(entry).for_each(|number| self.tell(word, number, moves));
        }
        moves.close(unit.process, Safety::Dependent, entry.seen.is_visible);
    }

    /// The same for a process that sends what others may take.
    fn moves_with_others(
        &mut self,
        word: Word,
        unit: Unit,
        alone: Entry,
        n_processes: u32,
        moves: &mut Moves,
    ) {
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.clear();
        let place = |cache: &Cache, number: usize| {
            let Step { edge, choice, partner, .. } = cache.get(number).step;
            ((edge, Reverse(partner), choice), number)
        };
        sorted.extend(self.cache.moves(alone).map(|number| place(&self.cache, number)));
        for other in (0..n_processes).filter(|&other| other != unit.process) {
            if self.listens(word, other) & alone.seen.offers != 0 {
                let unit = Unit { partner: Some(other), ..unit };
                let Some(entry) = self.entry(word, unit) else { return };
                sorted.extend(self.cache.moves(entry).map(|number| place(&self.cache, number)));
            }
        }
        sorted.sort_unstable_by_key(|(place, _)| *place);
        sorted.iter().for_each(|&(_, number)| self.tell(word, number, moves));
        self.sorted = sorted;
    }

    /// The channels by which a process may take what another one sends, as bits.
    #[inline]
    fn listens(&mut self, word: Word, process: u32) -> u64 {
        let process = process as usize;
        let number = self.bits[self.cut.process(process)].get(word) as usize;
        match self.listens.get(process).and_then(|known| known.get(number)) {
            Some(Some(channels)) => *channels,
            _ => self.find_channels(word, process, number),
        }
    }

    /// Finds them out. Where it is not the process alone that says so, it may be any.
    #[cold]
    fn find_channels(&mut self, word: Word, process: usize, number: usize) -> u64 {
        let mut state = std::mem::take(&mut self.state);
        self.unpack(word, &mut state);
        let Machine { code, tables, .. } = &mut self.machine;
        tables.scan(code, &state);
        tables.touched.begin();
        let fault = cell::Cell::new(None);
        let view = View::new(code, &state, tables, false, &fault);
        let channels = view.listens(process as u32).map(channel_bit);
        let channels = channels.fold(0, |all, channel| all | channel);
        let touched = tables.touched.end();
        let own = self.cut.process(process);
        let is_own = |part: usize| part == own || touched[part / 64] >> (part % 64) & 1 == 0;
        let is_known = fault.get().is_none() && (0..MOST).all(is_own);
        let channels = if is_known { channels } else { u64::MAX };
        self.state = state;
        if self.listens.len() <= process {
            self.listens.resize(process + 1, Vec::new());
        }
        let known = &mut self.listens[process];
        if known.len() <= number {
            known.resize(number + 1, None);
        }
        known[number] = Some(channels);
        channels
    }

    /// Tells a move that is remembered.
    #[inline]
    fn tell(&self, word: Word, number: usize, moves: &mut Moves) {
        let kept = self.cache.get(number);
        if let Some(fault) = kept.fault {
            moves.fault(fault);
        }
        self.cache.passed(kept).iter().for_each(|&edge| moves.pass(edge));
        match kept.successor {
            Successor::None => moves.push(kept.step, Successor::None, &[]),
            successor => moves.push(kept.step, successor, &(word ^ kept.turns).to_le_bytes()),
        }
    }

    /// What is remembered of a process, or is found now; `None` if the search is lost.
    #[inline]
    fn entry(&mut self, word: Word, unit: Unit) -> Option<Entry> {
        let number = self.bits[self.cut.process(unit.process as usize)].get(word) as usize;
        let masks = self.masks.get(self.masks_of(unit)).and_then(|masks| masks.get(number));
        self.n_asked += 1;
        let known = masks.and_then(|mask| self.cache.find(word & mask, unit));
        known.or_else(|| {
            self.find_moves(word, unit);
            if self.is_lost() {
                return None;
            }
            let mask = self.masks[self.masks_of(unit)][number];
            self.cache.find(word & mask, unit)
        })
    }

    /// Where the masks of a process are, for itself or with a partner.
    #[inline]
    fn masks_of(&self, Unit { process, partner, .. }: Unit) -> usize {
        let n_most = MOST_PROCESSES + 1;
        process as usize * n_most + partner.map_or(0, |partner| partner as usize + 1)
    }

    /// Finds the moves of a process, and remembers them. They are there afterwards.
    #[cold]
    fn find_moves(&mut self, word: Word, unit: Unit) {
        self.n_found += 1;
        if self.n_found.is_multiple_of(WINDOW) {
            self.judge();
        }
        let mut state = std::mem::take(&mut self.state);
        let mut found = std::mem::take(&mut self.moves);
        self.unpack(word, &mut state);
        let (touched, seen) = self.observe(&state, unit, &mut found);
        let own = self.cut.process(unit.process as usize);
        let is_touched = |part: &usize| {
            *part == CONTROL || *part == own || touched[part / 64] >> (part % 64) & 1 == 1
        };
        // Whoever comes was nothing before, as the part says which tells who there is; and whoever goes is nothing then.
        let n_each = self.cut.n_each;
        let counts = (0..found.len()).filter_map(|idx| found.state(idx).first());
        let others = counts.filter(|&count| *count != state[0]).map(|&count| {
            let first = self.cut.process(usize::from(count.max(state[0]) - 1));
            first..first + n_each
        });
        let others: Vec<_> = others.collect();
        let is_of_use =
            |part: &usize| is_touched(part) || others.iter().any(|parts| parts.contains(part));
        let parts = (0..self.bits.len()).filter(is_of_use);
        let mask = parts.fold(0, |mask, part| mask | self.bits[part].mask);
        let first = self.cache.n_moves();
        for idx in 0..found.len() {
            let turns = match found[idx].successor {
                Successor::None => 0,
                _ => word ^ self.pack(found.state(idx), Some((&state, word))),
            };
            assert!(self.is_lost() || turns & !mask == 0, "a process writes to what it touches");
            self.cache.push(Kept::new(&found[idx], turns), found.passed(idx));
        }
        let (number, place) = (self.bits[own].get(word) as usize, self.masks_of(unit));
        if self.masks.len() <= place {
            self.masks.resize(place + 1, Vec::new());
        }
        let masks = &mut self.masks[place];
        if masks.len() <= number {
            masks.resize(number + 1, 0);
        }
        masks[number] |= mask;
        self.cache.insert(word & masks[number], unit, first, seen);
        self.state = state;
        self.moves = found;
    }

    /// Finds the moves of a process in a state, and tells what it has touched for that.
    fn observe(&mut self, state: &[u8], unit: Unit, found: &mut Moves) -> (Parts, Seen) {
        let Machine { code, tables, steps, .. } = &mut self.machine;
        tables.scan(code, state);
        let fault = cell::Cell::new(None);
        let view = View::new(code, state, tables, unit.timeout, &fault);
        // What comes after others, and what escapes from others, is not known without them.
        let mut edges = view.place_of(unit.process).edges.clone();
        let is_apart = edges.all(|number| {
            let edge = &code.edges[number as usize];
            !edge.otherwise && edge.escape.is_none()
        });
        let ways = match unit.partner {
            Some(partner) => [Partners::Only(partner); 2],
            None if is_apart => [Partners::Nobody, Partners::All],
            None => [Partners::All; 2],
        };
        for partners in ways {
            (steps.partners, steps.offers) = (partners, Offers::default());
            found.clear();
            tables.touched.begin();
            steps.work.tables.touched.begin();
            steps.moves_of(view, unit.process, found);
            if !steps.offers.is_wrong {
                break;
            }
        }
        let is_visible = state[1] != 0 || view.place_of(unit.process).is_visible;
        let Offers { channels, .. } = std::mem::take(&mut steps.offers);
        steps.partners = Partners::All;
        let (own, of_work) = (tables.touched.end(), steps.work.tables.touched.end());
        let touched = std::array::from_fn(|idx| own[idx] | of_work[idx]);
        (touched, Seen { is_visible, offers: channels })
    }

    /// Finds out whether it is worth while to remember moves.
    fn judge(&mut self) {
        let asked = self.n_asked - self.n_before;
        self.n_before = self.n_asked;
        let worth = WORTH[usize::from(self.n_found > BEGINNING)];
        if asked < worth * WINDOW {
            self.numbers.lose(Lost::Pointless);
        }
        let bytes = self.cache.bytes();
        self.numbers.take(bytes.saturating_sub(self.n_counted));
        self.n_counted = self.n_counted.max(bytes);
        if self.cache.len() > MOST_REMEMBERED {
            self.cache = Cache::new();
        }
    }

    /// Asks the machine about a state.
    fn ask<T>(&mut self, state: &[u8], ask: impl FnOnce(&mut Machine, &[u8]) -> T) -> T {
        let mut bytes = Vec::new();
        self.unpack(word(state), &mut bytes);
        ask(&mut self.machine, &bytes)
    }

    /// Holds what is said of a state against what the machine says of it.
    #[cfg(debug_assertions)]
    fn compare(&mut self, word: Word, moves: &Moves) {
        let mut state = Vec::new();
        self.unpack(word, &mut state);
        let (mut expected, mut successor) = (Moves::new(), Vec::new());
        self.machine.expand(&state, &mut expected);
        assert_eq!(moves.len(), expected.len(), "as many moves of {state:?}");
        assert_eq!(moves.groups(), expected.groups());
        for idx in 0..moves.len() {
            let (made, other) = (&moves[idx], &expected[idx]);
            assert_eq!(
                (made.step, made.successor, made.fault),
                (other.step, other.successor, other.fault)
            );
            assert_eq!(moves.passed(idx), expected.passed(idx));
            if made.successor != Successor::None {
                self.unpack(self::word(moves.state(idx)), &mut successor);
                assert_eq!(successor, expected.state(idx), "from {state:?} by {:?}", made.step);
            }
        }
    }
}

#[inline]
fn word(state: &[u8]) -> Word {
    Word::from_le_bytes(state.try_into().expect("a packed state has as many bytes"))
}

impl Transitions for ByParts {
    fn reduce(&mut self, reduction: Reduction) {
        self.machine.reduce(reduction);
    }

    fn initial(&mut self, state: &mut Vec<u8>) {
        let mut bytes = Vec::new();
        self.machine.initial(&mut bytes);
        let word = self.pack(&bytes, None);
        state.extend_from_slice(&word.to_le_bytes());
    }

    fn expand(&mut self, state: &[u8], moves: &mut Moves) {
        let word = word(state);
        let number = self.bits[CONTROL].get(word) as usize;
        self.hear_of(CONTROL, number);
        let control = &self.values[CONTROL][number];
        let (alone, n_processes) = (u32::from(control[0]), control.len() as u32 - 1);
        for timeout in [false, true] {
            let processes = if alone == 0 { 0..n_processes } else { alone - 1..alone };
            for process in processes.rev() {
                let unit = Unit { process, partner: None, timeout };
                self.moves_of(word, unit, n_processes, moves);
            }
            if self.is_lost() {
                return;
            }
            let (code, reduction) = (&self.machine.code, self.machine.reduction);
            let reduces = code.reduces && reduction != Reduction::None;
            if reduces && !timeout && alone == 0 && moves.groups().len() > 1 {
                let mut state = std::mem::take(&mut self.state);
                self.unpack(word, &mut state);
                let Machine { code, tables, sets, .. } = &mut self.machine;
                tables.scan(code, &state);
                sets.find(code, tables, &state, (reduction, false), moves);
                self.state = state;
            }
            if !moves.is_empty() || !self.machine.code.uses_timeout {
                break;
            }
        }
        #[cfg(debug_assertions)]
        if self.n_asked < COMPARED || self.n_asked.is_multiple_of(16) {
            self.compare(word, moves);
        }
    }

    fn is_lost(&self) -> bool {
        self.lost().is_some()
    }

    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.ask(state, Machine::is_valid_end)
    }

    fn stuck(&mut self, state: &[u8]) -> Stuck {
        self.ask(state, Machine::stuck)
    }

    fn violation(&mut self, state: &[u8], step: Step, fault: u32) -> Violation {
        self.ask(state, |machine, state| machine.violation(state, step, fault))
    }

    fn describe(&mut self, state: &[u8], step: Step) -> Vec<Told> {
        self.ask(state, |machine, state| machine.describe(state, step))
    }

    fn process_name(&mut self, state: &[u8], process: u32) -> String {
        self.ask(state, |machine, state| machine.process_name(state, process))
    }

    fn n_edges(&self) -> usize {
        self.machine.n_edges()
    }
}
