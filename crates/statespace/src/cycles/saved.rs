//! Searches of the product that are saved and go on: the states that were come to, in the order of
//! their numbers, the steps between them, and the path of the search.
//!
//! States get their numbers in the order in which they are stored, so they are stored again in that
//! order. A search takes its steps in an order that depends on nothing else, and is stopped only
//! between two of them or within a walk, which is saved, too: one that goes on
//! comes to the same nodes, and to the same end.

use super::lasso::Found;
use super::product::Product;
use super::{Cycles, Searched};
use crate::options::{Construction, Options};
use crate::saved::{self, Checkpoints, Reader, Writer, fingerprint};
use crate::search::Save;
use crate::search_limits::{Ended, Watch};
use crate::transitions::Transitions;
use std::io;

/// A search of the product that can be stopped and go on.
pub(super) trait Resumable<'g, 'a, T: Transitions> {
    /// Searches, from its beginning or from where it was.
    fn run(&mut self, watch: &Watch<'_>) -> (Ended, Option<Found>);

    /// What it searches.
    fn product(&self) -> &Product<'g, 'a, T>;

    /// The same, to change it.
    fn product_mut(&mut self) -> &mut Product<'g, 'a, T>;

    /// Writes how far it is.
    fn save(&self, out: &mut Writer) -> io::Result<()>;

    /// Goes back to where it was.
    fn load(&mut self, from: &mut Reader) -> io::Result<()>;

    /// What came of it.
    fn searched(&self, ended: Ended, found: Option<Found>) -> Searched;
}

/// What a search asks for, in the words that a file has of it.
pub(super) fn words(cycles: Cycles<'_>, options: &Options) -> String {
    let Options { fairness, cycle_search, all_steps, construction, .. } = options;
    let property = fingerprint(&(cycles.letters(), cycles.automaton(), cycles.parts()));
    let mut words = saved::words(options);
    words.push_str(&format!(" --fairness {} --cycles {}", fairness.name(), cycle_search.name()));
    if *construction != Construction::OnTheFly {
        words.push_str(&format!(" --construction {}", construction.name()));
    }
    if !all_steps {
        words.push_str(" as far as the property goes");
    }
    words.push_str(&format!(" for {} ({property:032x})", cycles.subject()));
    words
}

/// How a search is saved, and what it goes on from.
pub(super) struct Keeper<'k, 's, T> {
    pub(super) checkpoints: &'k mut Checkpoints<'s>,
    /// Which of the searches for one property it is.
    pub(super) stage: Stage,
    /// Behind what the program is loaded from.
    pub(super) file: Option<Reader>,
    /// Writes what packed states mean.
    pub(super) save: Option<Save<T>>,
}

/// Which of the searches for one property a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// That of all executions, before the one of fair ones.
    Unfair,
    /// The one that decides.
    Asked,
}

impl Stage {
    pub(super) fn load(from: &mut Reader) -> io::Result<Self> {
        Ok(if from.flag()? { Self::Asked } else { Self::Unfair })
    }
}

impl<T: Transitions> Keeper<'_, '_, T> {
    /// Writes a search that pauses, or that a limit has stopped.
    fn write<'g, 'a>(
        &mut self,
        ended: &Ended,
        search: &impl Resumable<'g, 'a, T>,
        is_building: bool,
    ) where
        T: 'g,
        'a: 'g,
    {
        let (stage, save) = (self.stage, self.save);
        let limit = match ended {
            Ended::Limit(limit) => Some(limit),
            Ended::Done | Ended::Cut(_) | Ended::Paused => None,
        };
        let product = search.product();
        let bytes = product.bytes() + product.graph.store_bytes();
        self.checkpoints.write(limit, save.is_some(), bytes, |out| {
            let program = product.graph.program_ref();
            saved::save_learnt(&program.learnt(), out)?;
            out.flag(stage == Stage::Asked)?;
            save.map_or(Ok(()), |save| save(program, out))?;
            product.graph.save(out)?;
            product.save(out)?;
            search.save(out)?;
            out.flag(is_building)
        });
    }
}

/// Searches the product, from the beginning or from where a file says, and then what is beside it
/// if that is asked for.
pub(super) fn drive<'g, 'a: 'g, T: Transitions + 'g>(
    mut search: impl Resumable<'g, 'a, T>,
    keeper: &mut Keeper<'_, '_, T>,
    watch: &Watch<'_>,
    all_steps: bool,
) -> io::Result<Searched> {
    let mut is_building = false;
    if let Some(mut from) = keeper.file.take() {
        search.product_mut().graph.load(&mut from)?;
        search.product_mut().load(&mut from)?;
        search.load(&mut from)?;
        is_building = from.flag()?;
    }
    let mut watch = *watch;
    loop {
        // A search that goes on after a violation is not interrupted to be saved.
        if !watch.goes_on() {
            watch.pause_at(keeper.checkpoints.next());
        }
        let (ended, found) = match is_building {
            true => {
                let built = search.product_mut().graph.build(&watch);
                (built.err().unwrap_or(Ended::Done), None)
            }
            false => search.run(&watch),
        };
        let is_done = ended == Ended::Done && found.is_none();
        if is_done && all_steps && !is_building {
            // The automaton may have had no use for some states.
            is_building = true;
            continue;
        }
        let may_go_on = matches!(ended, Ended::Limit(_) | Ended::Paused);
        let is_lost = search.product().graph.program_ref().is_lost();
        if may_go_on && found.is_none() && !is_lost {
            keeper.write(&ended, &search, is_building);
        }
        if ended != Ended::Paused || is_lost {
            return Ok(search.searched(ended, found));
        }
    }
}
