//! A graph in a file: the states in the order of their numbers, with what is known of them.

use super::{Arrow, Follow, Graph, State, Walk};
use crate::cycles::fairness::Able;
use crate::saved::{Form, Reader, Writer};
use crate::store::Seen;
use crate::transitions::Transitions;
use std::io;

impl Form for Arrow {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        let Self { to, process, partner } = *self;
        out.word(u64::from(to) << 32 | u64::from(process) << 16 | u64::from(partner))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let word = from.word()?;
        Ok(Self { to: (word >> 32) as u32, process: (word >> 16) as u16, partner: word as u16 })
    }
}

impl Form for State {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        let Self { letter, start, end, on_path, is_reduced, takes_all } = *self;
        out.word(letter)?;
        out.word(u64::from(start) << 32 | u64::from(end))?;
        out.word(u64::from(on_path) << 2 | u64::from(is_reduced) << 1 | u64::from(takes_all))
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let (letter, arrows, rest) = (from.word()?, from.word()?, from.word()?);
        Ok(Self {
            letter,
            start: (arrows >> 32) as u32,
            end: arrows as u32,
            on_path: (rest >> 2) as u32,
            is_reduced: rest & 2 != 0,
            takes_all: rest & 1 != 0,
        })
    }
}

impl Form for Walk {
    fn save(&self, out: &mut Writer) -> io::Result<()> {
        out.flag(self.follow == Follow::All)?;
        out.all(&self.path, |(state, left), out| {
            out.word(u64::from(*state))?;
            out.len(left.start)?;
            out.len(left.end)
        })
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let follow = if from.flag()? { Follow::All } else { Follow::Ample };
        let path = from.all(|from| {
            let (state, start, end) = (from.word()? as u32, from.len()?, from.len()?);
            Ok((state, start..end))
        })?;
        Ok(Self { path, follow })
    }
}

impl<T: Transitions> Graph<'_, T> {
    /// Writes it. A graph with a step that goes wrong is not written: its search is over.
    pub(in crate::cycles) fn save(&self, out: &mut Writer) -> io::Result<()> {
        debug_assert!(self.fault.is_none(), "the search is over");
        let mut bytes = Vec::new();
        out.len(self.states.len())?;
        for (number, state) in (0..).zip(&self.states) {
            self.numbers.get(number, &mut bytes);
            out.text(&bytes)?;
            state.save(out)?;
        }
        out.all(&self.arrows, Form::save)?;
        let mut undefined: Vec<(u32, u64)> =
            self.undefined.iter().map(|(state, atoms)| (*state, *atoms)).collect();
        undefined.sort_unstable();
        out.all(&undefined, |(state, atoms), out| {
            out.word(u64::from(*state))?;
            out.word(*atoms)
        })?;
        out.all(&self.able, Form::save)?;
        out.word(u64::from(self.expanding))?;
        out.flag(self.is_cut)?;
        self.beside.iter().try_for_each(|&n| out.word(n))?;
        self.walking.save(out)
    }

    /// Has an empty graph know what was written.
    pub(in crate::cycles) fn load(&mut self, from: &mut Reader) -> io::Result<()> {
        debug_assert!(self.states.is_empty(), "it is empty");
        for number in 0..from.len()? as u32 {
            let bytes = from.text()?;
            let key = self.numbers.key(&bytes);
            if self.numbers.insert(key, &bytes) != Seen::New(number) {
                return Err(io::Error::other("a state has another number"));
            }
            self.states.push(State::load(from)?);
        }
        self.arrows = from.all(Arrow::load)?;
        let undefined = from.all(|from| Ok((from.word()? as u32, from.word()?)))?;
        self.undefined = undefined.into_iter().collect();
        self.able = from.all(Able::load)?;
        self.expanding = from.word()? as u32;
        self.is_cut = from.flag()?;
        self.beside = [from.word()?, from.word()?];
        self.walking = Option::<Walk>::load(from)?;
        Ok(())
    }
}
