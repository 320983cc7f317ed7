//! States as numbers of their parts, and moves that are found once for all states in which they are
//! the same.
//!
//! Every value that a part of a state has had is kept once and has a number, and a state is these
//! numbers, packed into one word. A process looks at few parts to find its moves: where those are
//! the same, its moves are, and they turn the same bits. So most states are never seen as a whole,
//! neither to find out what comes next nor to be stored.
//!
//! Implements local transition caching of Blom, van de Pol and Weber, *Bridging the Gap between
//! Enumerative and Symbolic Model Checkers* (University of Twente, 2009), on states that are
//! collapsed as in Holzmann, *State Compression in SPIN* (SPIN 1997).
//!
//! | papers                      | here                                                      |
//! |-----------------------------|-----------------------------------------------------------|
//! | state vector of slots       | [`Cut`]                                                   |
//! | collapsed components        | [`Numbers`]                                               |
//! | transition cache of a group | [`Cache`], a process in a value of its own is a group     |
//! | dependency matrix           | the masks of [`ByParts`]                                  |
//!
//! Differs from the papers: what a process depends on is not known beforehand but observed, by an
//! interpreter that notes what it [touches](super::touched). A mask is what a process in one value
//! of its own has touched so far. It may grow, and what was found before stays true: moves that
//! were found by looking at some parts are those of every state that agrees on these. A number has
//! a fixed width in a word, and all are chosen anew, and the search begins again with what is
//! remembered, if one is too small; it is given up if all of them together are, or if moves are
//! found more often than they are remembered.

mod cache;
mod cut;
mod fields;
mod find;
mod numbers;
mod saved;
mod sets;
mod words;

pub(super) use cut::Cut;
pub(crate) use numbers::Lost;

use super::Machine;
use super::stubborn::{self, Found, Mover};
use super::touched::Parts;
use crate::options::{Fairness, Optimisations, Reduction};
use crate::transitions::{Labels, Moves, Safety, Sight, Step, Stuck, Successor, Transitions};
use cache::{Cache, Entry, Recent, Unit};
use cut::CONTROL;
use fields::{Bits, Word};
use mazurka_core::{Told, Violation};
use numbers::{Numbers, Value};
use sets::Remembered;
use std::cmp::Reverse;
use std::sync::Arc;
use words::ValuePlace;

/// How often moves of a process are asked for, each time that they have to be found, at least: else
/// it is slower than finding all of them. In the beginning, when nothing is known yet, it may be
/// less.
const WORTH: [u64; 2] = [3, 10];

/// How many are found before that is judged, each time, and up to when it is the beginning.
const WINDOW: u64 = 1 << 13;
const BEGINNING: u64 = 1 << 16;

/// How many entries the moves that are remembered may have before all are forgotten. Tests see it
/// happen.
const MOST_REMEMBERED: usize = if cfg!(debug_assertions) { 1 << 12 } else { 1 << 21 };

/// How many questions are asked before what is remembered is no longer held against the machine in
/// all states, but in every sixteenth.
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
    /// The parts that these masks are made of.
    touched: Vec<Vec<Parts>>,
    /// By process and number of its value, the channels by which it may take what others send.
    listens: Vec<Vec<Option<u64>>>,
    cache: Cache,
    /// By process, what was of use last.
    recent: Vec<Recent>,
    /// What processes do next and later, and whether that is asked for.
    remembered: Remembered,
    remembers: bool,
    /// Those who can move in the state at hand, how many moves they have, and what is remembered of
    /// them.
    movers: Vec<Mover>,
    entries: Vec<(Entry, u32)>,
    /// The channels by which processes may take what others send, if that was asked for; and what
    /// is remembered of those who send and those who take it.
    hears: Vec<u64>,
    with_others: Vec<(u32, Entry)>,
    found: Found,
    /// How much of its memory is counted.
    n_counted: usize,
    n_asked: u64,
    n_found: u64,
    /// How many had been asked for when the last window began.
    n_before: u64,
    /// Whether that is no matter any more.
    is_settled: bool,
    /// Memory that is used again: the bytes of the state that was looked at last, which one it is,
    /// and where its values are there.
    state: Vec<u8>,
    unpacked: Option<Word>,
    places: Vec<ValuePlace>,
    old: Vec<u8>,
    moves: Moves,
    value: Vec<u8>,
    sorted: Vec<(Place, usize)>,
}

/// Where a move comes among those of its process: edge by edge, the youngest partner first, choice
/// by choice.
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
        let code = &Arc::clone(code);
        let mut machine = machine.clone();
        for tables in [&mut machine.tables, &mut machine.steps.work.tables] {
            tables.touched.set(Arc::clone(&cut));
        }
        let remembered = Remembered::new(code);
        let mut new = Self {
            remembers: machine.reduction != Reduction::None && remembered.is_on,
            remembered,
            machine,
            cut,
            numbers,
            bits: Arc::new([]),
            n_tries: 0,
            values: Vec::new(),
            masks: Vec::new(),
            touched: Vec::new(),
            listens: Vec::new(),
            cache: Cache::new(),
            recent: Vec::new(),
            movers: Vec::new(),
            entries: Vec::new(),
            hears: Vec::new(),
            with_others: Vec::new(),
            found: Found::default(),
            n_counted: 0,
            n_asked: 0,
            n_found: 0,
            n_before: 0,
            is_settled: false,
            state: Vec::new(),
            unpacked: None,
            places: Vec::new(),
            old: Vec::new(),
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

    /// Gets ready for another search, with bits for all values that were met; `false` if there are
    /// too few.
    pub(crate) fn try_again(&mut self) -> bool {
        let Some(bits) = self.numbers.assign().filter(|_| self.n_tries < MOST_TRIES) else {
            return false;
        };
        self.n_tries += 1;
        self.unpacked = None;
        self.recent.clear();
        self.remembered.forget();
        self.numbers.begin();
        let (old, new) = (std::mem::replace(&mut self.bits, bits.into()), Arc::clone(&self.bits));
        // Where a part had one value so far, it had no bits, and that value has the number 0.
        let translate = |word: Word| {
            let parts = old.iter().zip(new.iter());
            parts.fold(0, |all, (old, new)| all | old.moved(word, *new))
        };
        self.cache.translate(translate);
        for (masks, touched) in self.masks.iter_mut().zip(&self.touched) {
            for (mask, touched) in masks.iter_mut().zip(touched) {
                let parts = (0..new.len()).filter(|&part| touched.contains(part));
                *mask = parts.fold(0, |mask, part| mask | new[part].mask);
            }
        }
        (self.n_asked, self.n_found, self.n_before) = (0, 0, 0);
        true
    }

    /// The memory that values and remembered moves take.
    pub(crate) fn memory(&self) -> impl Fn() -> u64 + Sync + use<> {
        let numbers = Arc::clone(&self.numbers);
        move || numbers.bytes()
    }

    /// Tells the moves of a process to `moves`.
    #[inline]
    fn moves_of(&mut self, word: Word, process: u32, entry: Entry, moves: &mut Moves) {
        if entry.seen.offers != 0 {
            self.moves_with_others(word, process, entry, moves);
        } else {
            self.cache.moves(entry).for_each(|number| self.tell(word, number, moves));
        }
        moves.close(process, Safety::Dependent, entry.seen.is_visible);
    }

    /// How many moves a process has; nothing if the search is lost. What others take of what it
    /// sends is kept.
    #[inline]
    fn n_moves_of(
        &mut self,
        word: Word,
        unit: Unit,
        entry: Entry,
        n_processes: u32,
    ) -> Option<u32> {
        let mut n_moves = self.cache.moves(entry).len();
        if entry.seen.offers != 0 {
            if self.hears.is_empty() {
                for process in 0..n_processes {
                    let channels = self.listens(word, process);
                    self.hears.push(channels);
                }
            }
            for other in (0..n_processes).filter(|&other| other != unit.process) {
                if self.hears[other as usize] & entry.seen.offers != 0 {
                    let with = self.entry(word, Unit { partner: Some(other), ..unit })?;
                    n_moves += self.cache.moves(with).len();
                    self.with_others.push((unit.process, with));
                }
            }
        }
        Some(n_moves as u32)
    }

    /// Finds those who can move, the youngest first; nothing if the search is lost.
    #[inline]
    fn find_movers(
        &mut self,
        word: Word,
        units: impl Iterator<Item = Unit>,
        n_processes: u32,
    ) -> Option<()> {
        self.movers.clear();
        self.entries.clear();
        self.hears.clear();
        self.with_others.clear();
        self.remembered.now.resize(n_processes as usize, 0);
        for unit in units {
            let entry = self.entry(word, unit)?;
            self.remembered.now[unit.process as usize] = entry.seen.next;
            let n_moves = self.n_moves_of(word, unit, entry, n_processes)?;
            if n_moves > 0 {
                let is_visible = entry.seen.is_visible;
                self.movers.push(Mover { process: unit.process, is_visible });
                self.entries.push((entry, n_moves));
            }
        }
        Some(())
    }

    /// Tells the moves of one set, counted from 0, and how many there are; or all moves, and all
    /// sets.
    fn expand_some(&mut self, word: Word, set: Option<u32>, moves: &mut Moves) -> u32 {
        if self.cache.len() > MOST_REMEMBERED {
            self.cache = Cache::new();
            self.recent.clear();
        }
        let number = self.bits[CONTROL].get(word) as usize;
        self.hear_of(CONTROL, number);
        let control = &self.values[CONTROL][number];
        let (alone, n_processes) = (u32::from(control[0]), control.len() as u32 - 1);
        for timeout in [false, true] {
            let processes = if alone == 0 { 0..n_processes } else { alone - 1..alone };
            let units = processes.rev().map(|process| Unit { process, partner: None, timeout });
            if self.cache.is_large() {
                for unit in units.clone().filter(|&unit| self.recent(word, unit).is_none()) {
                    self.masked(word, unit).into_iter().for_each(|it| self.cache.touch(it, unit));
                }
            }
            let (code, reduction) = (&self.machine.code, self.machine.reduction);
            let reduces = code.reduces && reduction != Reduction::None && !timeout && alone == 0;
            if self.find_movers(word, units, n_processes).is_none() {
                return 0;
            }
            let has_sets = reduces && self.movers.len() > 1;
            if has_sets {
                self.find_sets(word, n_processes);
            }
            let n_sets = match reduction {
                _ if !has_sets => 0,
                Reduction::None => 0,
                Reduction::Ample => self.found.single.len() as u32,
                Reduction::Stubborn => {
                    self.found.single.len() as u32 + u32::from(!self.found.several.is_empty())
                }
            };
            let entries = std::mem::take(&mut self.entries);
            for (group, &(entry, n_moves)) in entries.iter().enumerate() {
                let process = self.movers[group].process;
                if set.is_some_and(|set| !self.is_in_set(group as u32, set, n_sets)) {
                    moves.skip(n_moves);
                    continue;
                }
                self.moves_of(word, process, entry, moves);
            }
            let can_move = !entries.is_empty();
            self.entries = entries;
            if has_sets && set.is_none() {
                self.found.tell(moves);
            }
            if can_move || !self.machine.code.uses_timeout {
                return n_sets;
            }
        }
        0
    }

    /// Whether a group belongs to a set, or, behind the last set, to none.
    fn is_in_set(&self, group: u32, set: u32, n_sets: u32) -> bool {
        let Found { single, several } = &self.found;
        let is_single = |set: usize| single.get(set).is_some_and(|&(it, _)| it == group);
        match n_sets {
            0 => true,
            _ if set < n_sets && (set as usize) < single.len() => is_single(set as usize),
            _ if set < n_sets => several.contains(&group),
            _ => {
                let has_several = n_sets as usize > single.len();
                let is_several = has_several && several.contains(&group);
                !(is_several || single.iter().any(|&(it, _)| it == group))
            }
        }
    }

    /// Finds who may stand for all others.
    fn find_sets(&mut self, word: Word, n_processes: u32) {
        let how = (self.machine.reduction, self.machine.steps.ending.is_watched);
        if self.remembers {
            self.begin_sets(word, n_processes);
            stubborn::choose(&mut self.remembered, how, &self.movers, &mut self.found);
            return;
        }
        let state = self.bytes_of(word);
        let Machine { code, tables, sets, .. } = &mut self.machine;
        tables.scan(code, &state);
        self.found.clone_from(sets.find(code, tables, &state, how, &self.movers));
        self.state = state;
    }

    /// The same for a process that sends what others may take.
    fn moves_with_others(&mut self, word: Word, process: u32, alone: Entry, moves: &mut Moves) {
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.clear();
        let place = |cache: &Cache, number: usize| {
            let Step { edge, choice, partner, .. } = cache.get(number).step;
            ((edge, Reverse(partner), choice), number)
        };
        sorted.extend(self.cache.moves(alone).map(|number| place(&self.cache, number)));
        for &(_, entry) in self.with_others.iter().filter(|(sender, _)| *sender == process) {
            sorted.extend(self.cache.moves(entry).map(|number| place(&self.cache, number)));
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
        self.n_asked += 1;
        match self.recent(word, unit) {
            Some(entry) => Some(entry),
            None => self.entry_in_cache(word, unit),
        }
    }

    /// What was of use to a process last, if it is again.
    #[inline]
    fn recent(&self, word: Word, unit: Unit) -> Option<Entry> {
        let recent = self.recent.get(unit.process as usize)?;
        let is_same = recent.is_of(word) && unit.partner.is_none() && !unit.timeout;
        is_same.then_some(recent.entry)
    }

    fn entry_in_cache(&mut self, word: Word, unit: Unit) -> Option<Entry> {
        let known = self.masked(word, unit).and_then(|word| self.cache.find(word, unit));
        let entry = known.or_else(|| {
            self.find_moves(word, unit);
            let word = self.masked(word, unit).filter(|_| !self.is_lost())?;
            self.cache.find(word, unit)
        })?;
        if unit.partner.is_none() && !unit.timeout {
            let process = unit.process as usize;
            let number = self.bits[self.cut.process(process)].get(word) as usize;
            if self.recent.len() <= process {
                self.recent.resize(process + 1, Recent::NONE);
            }
            let mask = self.masks[self.masks_of(unit)][number];
            self.recent[process] = Recent { mask, entry };
        }
        Some(entry)
    }

    /// What counts for a process of a state, if anything is known of the value that it has.
    #[inline]
    fn masked(&self, word: Word, unit: Unit) -> Option<Word> {
        let number = self.bits[self.cut.process(unit.process as usize)].get(word) as usize;
        let masks = self.masks.get(self.masks_of(unit))?;
        masks.get(number).map(|mask| word & mask)
    }

    /// Where the masks of a process are, for itself or with a partner.
    #[inline]
    fn masks_of(&self, Unit { process, partner, .. }: Unit) -> usize {
        let n_most = MOST_PROCESSES + 1;
        process as usize * n_most + partner.map_or(0, |partner| partner as usize + 1)
    }

    /// Finds out whether it is worth while to remember moves.
    fn judge(&mut self) {
        let asked = self.n_asked - self.n_before;
        self.n_before = self.n_asked;
        let worth = WORTH[usize::from(self.n_found > BEGINNING)];
        if asked < worth * WINDOW && !self.is_settled {
            self.numbers.lose(Lost::Pointless);
        }
        let bytes = self.cache.bytes();
        self.numbers.take(bytes.saturating_sub(self.n_counted));
        self.n_counted = self.n_counted.max(bytes);
    }

    /// Asks the machine about a state.
    fn ask<T>(&mut self, state: &[u8], ask: impl FnOnce(&mut Machine, &[u8]) -> T) -> T {
        let bytes = self.bytes_of(word(state));
        let answer = ask(&mut self.machine, &bytes);
        self.state = bytes;
        answer
    }

    /// Holds the moves of a set against all that are said of a state.
    #[cfg(debug_assertions)]
    fn compare_set(&mut self, word: Word, set: u32, n_sets: u32, moves: &Moves) {
        let mut all = Moves::new();
        self.expand_some(word, None, &mut all);
        if self.is_lost() {
            return;
        }
        self.compare(word, &all);
        let reduction = self.machine.reduction;
        assert_eq!(n_sets, all.n_sets(reduction), "as many sets");
        let mut plan = crate::ample::Plan::new(reduction, &all);
        let mut chosen = Vec::new();
        (0..=set).for_each(|_| plan.choose(&all, &mut chosen));
        chosen.sort_unstable();
        let groups = 0..moves.groups().len();
        let told = groups.flat_map(|group| moves.of_group(group).map(move |idx| (group, idx)));
        let told: Vec<u32> = told.map(|(group, idx)| moves.number(group, idx as u32)).collect();
        assert_eq!(told, chosen, "the moves of set {set} of {n_sets}");
        for (idx, &number) in chosen.iter().enumerate() {
            assert_eq!(moves[idx].step, all[number as usize].step);
            assert_eq!(moves.state(idx), all.state(number as usize));
        }
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
    fn reduce(&mut self, reduction: Reduction, optimisations: Optimisations) {
        self.machine.reduce(reduction, optimisations);
        self.remembers = self.machine.reduction != Reduction::None && self.remembered.is_on;
    }

    fn reduce_watched(
        &mut self,
        reduction: Reduction,
        optimisations: Optimisations,
        fairness: Fairness,
    ) {
        self.machine.reduce_watched(reduction, optimisations, fairness);
        self.remembers = self.machine.reduction != Reduction::None && self.remembered.is_on;
    }

    fn initial(&mut self, state: &mut Vec<u8>) {
        let mut bytes = Vec::new();
        self.machine.initial(&mut bytes);
        let word = self.pack(&bytes, None);
        state.extend_from_slice(&word.to_le_bytes());
    }

    fn expand(&mut self, state: &[u8], moves: &mut Moves) {
        let word = word(state);
        self.expand_some(word, None, moves);
        #[cfg(debug_assertions)]
        if !self.is_lost() && (self.n_asked < COMPARED || self.n_asked.is_multiple_of(16)) {
            self.compare(word, moves);
        }
    }

    fn tells_sets(&self) -> bool {
        true
    }

    fn expand_set(&mut self, state: &[u8], set: u32, moves: &mut Moves) -> u32 {
        let word = word(state);
        let n_sets = self.expand_some(word, Some(set), moves);
        #[cfg(debug_assertions)]
        if !self.is_lost() && (self.n_asked < COMPARED || self.n_asked.is_multiple_of(16)) {
            self.compare_set(word, set, n_sets, moves);
        }
        n_sets
    }

    fn is_lost(&self) -> bool {
        self.lost().is_some()
    }

    fn settle(&mut self) {
        self.is_settled = true;
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

    fn changed_variables(&mut self, before: &[u8], after: &[u8], step: Step) -> Vec<String> {
        let mut bytes = Vec::new();
        self.unpack(word(after), &mut bytes);
        self.ask(before, |machine, before| machine.changed_variables(before, &bytes, step))
    }

    fn variables(&mut self, state: &[u8]) -> Vec<String> {
        self.ask(state, Machine::variables)
    }

    fn process_name(&mut self, state: &[u8], process: u32) -> String {
        self.ask(state, |machine, state| machine.process_name(state, process))
    }

    fn labels(&mut self, state: &[u8]) -> Labels {
        self.ask(state, Machine::labels)
    }

    fn n_propositions(&self) -> usize {
        self.machine.n_propositions()
    }

    fn holds(&mut self, proposition: usize, state: &[u8]) -> bool {
        self.ask(state, |machine, state| machine.holds(proposition, state))
    }

    fn letter(&mut self, state: &[u8]) -> u64 {
        self.reading(state).0
    }

    fn reading(&mut self, state: &[u8]) -> (u64, u64) {
        self.ask(state, Machine::reading)
    }

    fn undefined(&mut self, proposition: usize, state: &[u8]) -> Option<Violation> {
        self.ask(state, |machine, state| machine.undefined(proposition, state))
    }

    fn sight(&mut self, state: &[u8], process: u32) -> Sight {
        // It depends on no state.
        self.machine.sight(state, process)
    }

    fn n_edges(&self) -> usize {
        self.machine.n_edges()
    }
}
