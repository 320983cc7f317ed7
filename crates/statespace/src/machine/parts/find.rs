//! Cache misses: the interpreter finds a move, and what it touches meanwhile is recorded.

use super::super::Machine;
use super::super::steps::{Offers, Partners, channel_bit};
use super::super::touched::{MOST, Parts};
use super::super::view::View;
use super::cache::{Kept, Seen, Unit};
use super::cut::CONTROL;
use super::fields::Word;
use super::{ByParts, WINDOW};
use crate::transitions::{Moves, Successor, Transitions as _};
use std::cell;

impl ByParts {
    /// Finds them out. Where it is not the process alone that says so, it may be any.
    #[cold]
    pub(super) fn find_channels(&mut self, word: Word, process: usize, number: usize) -> u64 {
        let state = self.bytes_of(word);
        let Machine { code, tables, .. } = &mut self.machine;
        tables.scan(code, &state);
        tables.touched.begin();
        let fault = cell::Cell::new(None);
        let view = View::new(code, &state, tables, false, &fault);
        let channels = view
            .listens(process as u32)
            .map(|channels| channels.map(channel_bit).fold(0, |all, channel| all | channel));
        let touched = tables.touched.end();
        let own = self.cut.process(process);
        let is_foreign = |part: usize| part != own && touched.contains(part);
        let is_known = fault.get().is_none() && !(0..MOST).any(is_foreign);
        let channels = channels.filter(|_| is_known).unwrap_or(u64::MAX);
        self.state = state;
        *at(&mut self.listens, process, number) = Some(channels);
        channels
    }

    /// Finds the moves of a process, and remembers them. They are there afterwards.
    #[cold]
    pub(super) fn find_moves(&mut self, word: Word, unit: Unit) {
        self.n_found += 1;
        if self.n_found.is_multiple_of(WINDOW) {
            self.judge();
        }
        let state = self.bytes_of(word);
        let mut found = std::mem::take(&mut self.moves);
        let (touched, seen) = self.observe(&state, unit, &mut found);
        let own = self.cut.process(unit.process as usize);
        // Also those that have no bits yet, or do not exist: they may have some when bits are given
        // anew.
        let mut parts = touched;
        [CONTROL, own].into_iter().for_each(|part| parts.insert(part));
        // Whoever comes was nothing before, as the part says which tells who there is; and whoever
        // goes is nothing then.
        let counts = (0..found.len()).filter_map(|idx| found.state(idx).first());
        for &count in counts.filter(|&count| *count != state[0]) {
            let first = self.cut.process(usize::from(count.max(state[0]) - 1));
            (first..first + self.cut.n_each).for_each(|part| parts.insert(part));
        }
        let used = parts.iter().filter_map(|part| self.bits.get(part));
        let mask = used.fold(0, |mask, bits| mask | bits.mask);
        let first = self.cache.n_moves();
        for idx in 0..found.len() {
            let turns = match found[idx].successor {
                Successor::None => 0,
                _ => word ^ self.pack_near(found.state(idx), (&state, word), parts),
            };
            assert!(self.is_lost() || turns & !mask == 0, "a process writes to what it touches");
            self.cache.push(Kept::new(&found[idx], turns), found.passed(idx));
        }
        // What did not fit was not packed.
        if !self.is_lost() {
            let (number, place) = (self.bits[own].get(word) as usize, self.masks_of(unit));
            let touched = at(&mut self.touched, place, number);
            *touched = touched.and(parts);
            let known = at(&mut self.masks, place, number);
            *known |= mask;
            self.cache.insert(word & *known, unit, first, seen);
        }
        self.state = state;
        self.moves = found;
    }

    /// Finds the moves of a process in a state, and tells what it has touched for that.
    fn observe(&mut self, state: &[u8], unit: Unit, found: &mut Moves) -> (Parts, Seen) {
        let Machine { code, tables, steps, sets, .. } = &mut self.machine;
        tables.scan(code, state);
        let fault = cell::Cell::new(None);
        let view = View::new(code, state, tables, unit.timeout, &fault);
        // What comes after others, and what escapes from others, is not known without them; and
        // where one may not run at all, what goes wrong in finding that out is told with whoever is
        // asked next.
        let mut edges = view.place_of(unit.process).edges.clone();
        let is_apart = code.routines.iter().all(|routine| routine.provided.is_none())
            && edges.all(|number| {
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
        let is_asked = self.remembers && unit.partner.is_none() && !unit.timeout && state[1] == 0;
        let next = if is_asked { self.remembered.next(sets, view, unit.process) } else { 0 };
        let is_visible = state[1] != 0 || view.place_of(unit.process).is_visible;
        let Offers { channels, .. } = std::mem::take(&mut steps.offers);
        steps.partners = Partners::All;
        let touched = tables.touched.end().and(steps.work.tables.touched.end());
        (touched, Seen { is_visible, offers: channels, next })
    }
}

/// A place in a table, which is made as large as that.
pub(super) fn at<T: Clone + Default>(table: &mut Vec<Vec<T>>, row: usize, column: usize) -> &mut T {
    if table.len() <= row {
        table.resize(row + 1, Vec::new());
    }
    let row = &mut table[row];
    if row.len() <= column {
        row.resize(column + 1, T::default());
    }
    &mut row[column]
}
