//! Processes that are started: what they do in the words of who starts them, and whether anybody
//! can tell that they have died.

use super::parts::{Part, edges_of, parts, visit};
use super::{Analysis, Footprint, Kind, UNKNOWN, Use};
use crate::machine::code::{Node, NodeId, Step, Target};

impl Analysis<'_> {
    /// What the processes that an edge starts may come to use.
    pub(super) fn started(&mut self, routine: usize, number: u32) -> Footprint {
        let mut all = Footprint::default();
        let within = match self.code.edges[number as usize].step {
            Step::Indivisible { start, end } => self.within(routine, start, end),
            _ => vec![number],
        };
        for number in within {
            let Step::Spawn { routine: callee, .. } = self.code.edges[number as usize].step else {
                continue;
            };
            let callee = callee as usize;
            let start = self.code.routines[callee].start as usize;
            let theirs = self.future[callee][start];
            all.reads |= theirs.reads;
            all.writes |= theirs.writes;
            all.uses |= theirs.uses & UNKNOWN;
            for idx in 0..self.code.routines[callee].uses.len() {
                if theirs.uses & 1 << idx != 0 {
                    let Use { kind, channel, .. } = self.code.routines[callee].uses[idx];
                    all.uses |= self.handed_over(routine, number, kind, channel);
                }
            }
            all.uses |= self.claims(routine, number);
        }
        all
    }

    /// The promises of the process that an edge starts.
    pub(super) fn claims(&mut self, routine: usize, number: u32) -> u64 {
        let Step::Spawn { routine: callee, .. } = self.code.edges[number as usize].step else {
            return 0;
        };
        if !self.code.has_exclusive {
            return 0;
        }
        let promises = self.code.routines[callee as usize].exclusive.clone();
        let promises = promises.into_iter().map(|(sends, channel)| {
            let kind = if sends { Kind::ClaimSend } else { Kind::ClaimReceive };
            self.handed_over(routine, number, kind, channel)
        });
        promises.fold(0, |all, it| all | it)
    }

    /// What a process that is started does to a channel, in the words of who starts it.
    fn handed_over(&mut self, routine: usize, number: u32, kind: Kind, channel: NodeId) -> u64 {
        match self.told_by_caller(number, channel) {
            Caller::Knows(node) => self.intern(routine, kind, node),
            Caller::IsNew => 0,
            Caller::Unknown => UNKNOWN,
        }
    }

    fn told_by_caller(&mut self, number: u32, channel: NodeId) -> Caller {
        let code = &*self.code;
        let Step::Spawn { routine: callee, arguments, .. } = &code.edges[number as usize].step
        else {
            return Caller::Unknown;
        };
        let callee = &code.routines[*callee as usize];
        match code.nodes[channel.0 as usize] {
            Node::Convert(_, inner) => self.told_by_caller(number, inner),
            Node::OwnChannel(_) => Caller::IsNew,
            Node::Local { at, .. } => {
                let parameter = callee.parameters.iter().position(|(offset, _)| *offset == at);
                let is_first = |(target, _): &&(Target, NodeId)| matches!(target, Target::Local { at: there, .. } if *there == at);
                match (parameter, callee.prologue.iter().rev().find(is_first)) {
                    (_, Some((_, value))) => self.told_by_caller(number, *value),
                    (Some(parameter), None) => Caller::Knows(arguments[parameter]),
                    (None, None) => Caller::Unknown,
                }
            }
            _ => {
                let mut is_about_callee = false;
                visit(code, channel, &mut |node| {
                    is_about_callee |= matches!(
                        node,
                        Node::Local { .. }
                            | Node::LocalAt { .. }
                            | Node::Thread
                            | Node::OwnChannel(_)
                    );
                });
                if is_about_callee { Caller::Unknown } else { Caller::Knows(channel) }
            }
        }
    }

    /// Whether anybody can tell a process that has died from one that waits to die, or the number
    /// of one process from that of another. Nobody can if the numbers are not asked for, channels
    /// are the program's, and there cannot be too many processes.
    pub(super) fn sees_deaths(&self) -> bool {
        let mut sees = false;
        let mut look = |node: &Node| {
            sees |= matches!(
                node,
                Node::Thread
                    | Node::Processes
                    | Node::At { .. }
                    | Node::Remote { .. }
                    | Node::RemoteAt { .. }
            );
        };
        for &routine in &self.routines {
            let provided = self.code.routines[routine].provided;
            provided.into_iter().for_each(|node| visit(self.code, node, &mut look));
            for number in edges_of(self.code, routine) {
                parts(self.code, &self.code.edges[number as usize], |part| {
                    if let Part::Read(node) = part {
                        visit(self.code, node, &mut look);
                    }
                });
            }
        }
        let prologues = self.routines.iter().flat_map(|&it| &self.code.routines[it].prologue);
        prologues.for_each(|(_, value)| visit(self.code, *value, &mut look));
        let is_known = |routine: &usize| {
            let routine = &self.code.routines[*routine];
            !routine.channels.is_empty() || !routine.exclusive.is_empty() && self.code.has_exclusive
        };
        let tells = |number: u32| {
            matches!(self.code.edges[number as usize].step, Step::Spawn { to: Some(_), .. })
        };
        let mut begun = self.code.processes.iter().map(|(routine, _)| *routine as usize);
        let most = begun.try_fold(0, |sum, it| Some(sum + self.population(it, &mut Vec::new())?));
        sees || self.routines.iter().any(is_known)
            || self.routines.iter().flat_map(|&it| edges_of(self.code, it)).any(tells)
            || most.is_none_or(|most| most >= usize::from(u8::MAX))
    }

    /// How many processes there may be because of one, itself included; unless there is no telling.
    fn population(&self, routine: usize, above: &mut Vec<usize>) -> Option<usize> {
        if above.contains(&routine) {
            return None;
        }
        above.push(routine);
        let mut most: usize = 1;
        for number in edges_of(self.code, routine) {
            let edge = &self.code.edges[number as usize];
            let (start, end) = match edge.step {
                Step::Spawn { routine: callee, .. } => {
                    let goes_round =
                        self.reachable(routine, edge.to, |_, _| true).contains(&number);
                    most = most.saturating_add(self.population(callee as usize, above)?);
                    if goes_round { return None } else { continue }
                }
                Step::Indivisible { start, end } => (start, end),
                _ => continue,
            };
            let mut within = self.within(routine, start, end).into_iter();
            if within.any(|it| matches!(self.code.edges[it as usize].step, Step::Spawn { .. })) {
                return None;
            }
        }
        above.pop();
        Some(most)
    }

    /// Whether it never changes which channels the promises are about.
    pub(super) fn has_stable_promises(&self) -> bool {
        let mut promises = self.routines.iter().flat_map(|&routine| {
            self.code.routines[routine].exclusive.iter().map(move |(_, node)| (routine, *node))
        });
        !self.code.has_exclusive
            || promises.all(|(routine, node)| {
                let mut is_written = false;
                visit(self.code, node, &mut |it| {
                    if let Node::Global { at, .. } | Node::GlobalAt { at, .. } = *it {
                        is_written |= self.bit(at) != 0;
                    }
                });
                !is_written && self.is_stable(routine, node)
            })
    }
}

/// What who starts a process knows of a channel that the process uses.
enum Caller {
    Knows(NodeId),
    /// The process makes it.
    IsNew,
    Unknown,
}
