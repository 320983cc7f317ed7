//! Where the parts of a state are: who there is, the variables and channels that all processes
//! share, and of each process what is its own, its channels, and what it was promised.

use super::super::code::{Cell, Code, Field, Node, Routine, Target};
use super::super::footprint::{Part, parts, range};
use std::ops::Range;

/// The part that tells which processes there are, and who goes on alone.
pub(super) const CONTROL: usize = 0;

/// The bytes of a state that tell the same.
const HEAD: usize = 2;

/// The most parts before the processes.
const MOST_SHARED: usize = 128;

/// An array with more elements is one part.
const MOST_ELEMENTS: u32 = 32;

/// Where the parts are before the processes.
#[derive(Clone, Debug)]
pub(in crate::machine) struct Cut {
    /// The variables and channels that all share, in this order, from the part after [`CONTROL`]
    /// on.
    pub(super) shared: Vec<Range<usize>>,
    /// Which of them may ever change.
    pub(super) is_written: Vec<bool>,
    /// By byte before the processes, the part that it belongs to.
    of_byte: Vec<u8>,
    /// By routine, what a process is made of, piece by piece: the bytes, and which of its parts
    /// they belong to.
    pub(super) pieces: Vec<Vec<(Range<usize>, usize)>>,
    /// How many parts a process has, the first of which is all that others do not ask for.
    pub(super) n_each: usize,
    /// Which of them may have what it promised of a channel: the channel's number.
    pub(super) promised: Vec<usize>,
}

impl Cut {
    /// Cuts the states of a program; `None` if there would be too many parts.
    pub(super) fn new(code: &Code) -> Option<Self> {
        [true, false].into_iter().find_map(|elements| Self::finer(code, elements))
    }

    /// The first part of a process.
    #[inline]
    pub(super) fn process(&self, process: usize) -> usize {
        1 + self.shared.len() + process * self.n_each
    }

    /// The parts that a byte may belong to, in a state with processes of these routines that begin
    /// here.
    pub(in crate::machine) fn parts_of(
        &self,
        at: usize,
        processes: &[u32],
        routines: &[u8],
    ) -> Range<usize> {
        if let Some(&part) = self.of_byte.get(at) {
            return usize::from(part)..usize::from(part) + 1;
        }
        let process = processes.partition_point(|&start| start as usize <= at) - 1;
        let (first, offset) = (self.process(process), at - processes[process] as usize);
        let pieces = routines.get(process).map_or(&[][..], |&it| &self.pieces[usize::from(it)]);
        match pieces.iter().find(|(piece, _)| piece.contains(&offset)) {
            Some((_, part)) => first + part..first + part + 1,
            // A process has come or gone: it may be any.
            None => first..first + self.n_each,
        }
    }

    /// Cuts, and arrays into their elements if that is said.
    fn finer(code: &Code, elements: bool) -> Option<Self> {
        let len = code.globals.len();
        let mut bytes = Bytes { begins: vec![false; len + 1], is_written: vec![false; len] };
        bytes.cut(HEAD..len, 0);
        for node in &code.nodes {
            match *node {
                Node::Global { at, cell } => {
                    bytes.cut(at as usize..(at + cell.bytes()) as usize, 0)
                }
                Node::GlobalAt { at, size, cell, .. } => {
                    bytes.array(at, size, if elements { cell.bytes() } else { 0 });
                }
                _ => {}
            }
        }
        targets(code, |target| {
            let (start, end) = range(target);
            match target {
                Target::Global { .. } => bytes.cut(start as usize..end as usize, 0),
                Target::GlobalAt { ty, .. } => {
                    bytes.array(
                        start,
                        end - start,
                        if elements { Cell::of(ty).bytes() } else { 0 },
                    );
                }
                Target::Local { .. } | Target::LocalAt { .. } => return,
            }
            bytes.write(start as usize..end as usize);
        });
        let channels = code.channels.iter().map(|&(at, kind)| {
            let size = code.kinds[kind as usize].size as usize;
            at as usize..at as usize + size
        });
        let last = code.last.map(|at| at as usize..at as usize + 1);
        for whole in channels.chain(code.scratch.iter().cloned()).chain(last) {
            bytes.cut(whole.clone(), 0);
            bytes.write(whole);
        }
        let pieces: Vec<_> = code.routines.iter().map(|routine| pieces(code, routine)).collect();
        let mut promised: Vec<usize> = Vec::new();
        for (routine, pieces) in code.routines.iter().zip(&pieces) {
            let is_promised = |(piece, part): &&(Range<usize>, usize)| {
                *part > 0 && promises(code, routine).any(|(at, _)| at == piece.start)
            };
            promised.extend(pieces.iter().filter(is_promised).map(|(_, part)| *part));
        }
        promised.sort_unstable();
        promised.dedup();
        let last = pieces.iter().flatten().map(|(_, part)| *part).max();
        bytes.parts(pieces, 1 + last.unwrap_or_default(), promised)
    }
}

/// What a process is made of.
fn pieces(code: &Code, routine: &Routine) -> Vec<(Range<usize>, usize)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    let channels = routine
        .channels
        .iter()
        .map(|&(start, kind)| (start as usize, code.kinds[kind as usize].size as usize));
    // A process that uses a channel looks at what others were promised, which hardly ever changes.
    let mut apart: Vec<_> =
        channels.chain(promises(code, routine)).filter(|(_, size)| *size > 0).collect();
    apart.sort_unstable();
    apart.dedup();
    for (idx, (start, size)) in apart.into_iter().enumerate() {
        pieces.extend([(at..start, 0), (start..start + size, idx + 1)]);
        at = start + size;
    }
    pieces.push((at..routine.size as usize, 0));
    pieces.retain(|(piece, _)| !piece.is_empty());
    pieces
}

/// Where the channels are of which a process promises something, if these are its own variables.
fn promises(code: &Code, routine: &Routine) -> impl Iterator<Item = (usize, usize)> {
    routine.exclusive.iter().filter_map(|(_, node)| match code.nodes[node.0 as usize] {
        Node::Local { at, cell } => Some((at as usize, cell.bytes() as usize)),
        _ => None,
    })
}

/// What is known of the bytes before the processes.
struct Bytes {
    /// Whether a part begins here.
    begins: Vec<bool>,
    is_written: Vec<bool>,
}

impl Bytes {
    /// Has parts begin and end where something does, and within it every so many bytes, unless that
    /// is 0.
    fn cut(&mut self, range: Range<usize>, every: usize) {
        self.begins[range.start] = true;
        self.begins[range.end] = true;
        if every > 0 {
            range.step_by(every).for_each(|at| self.begins[at] = true);
        }
    }

    fn array(&mut self, at: u32, size: u32, element: u32) {
        let is_small = element > 0 && size / element <= MOST_ELEMENTS;
        let every = if is_small { element as usize } else { 0 };
        self.cut(at as usize..(at + size) as usize, every);
    }

    fn write(&mut self, range: Range<usize>) {
        self.is_written[range].fill(true);
    }

    fn parts(
        self,
        pieces: Vec<Vec<(Range<usize>, usize)>>,
        n_each: usize,
        promised: Vec<usize>,
    ) -> Option<Cut> {
        let len = self.is_written.len();
        let begins = (HEAD..len).filter(|&at| self.begins[at]);
        let starts: Vec<usize> = begins.collect();
        if starts.len() > MOST_SHARED {
            return None;
        }
        let ends = starts.iter().skip(1).copied().chain([len]);
        let shared: Vec<_> = starts.iter().zip(ends).map(|(&start, end)| start..end).collect();
        let mut of_byte = vec![CONTROL as u8; len];
        for (idx, part) in shared.iter().enumerate() {
            of_byte[part.clone()].fill(1 + idx as u8);
        }
        let writes = |part: &Range<usize>| self.is_written[part.clone()].contains(&true);
        let is_written = shared.iter().map(writes).collect();
        Some(Cut { shared, is_written, of_byte, pieces, n_each, promised })
    }
}

/// Tells everything that may be written.
fn targets(code: &Code, mut tell: impl FnMut(Target)) {
    for edge in &code.edges {
        parts(code, edge, |part| {
            if let Part::Write(target) = part {
                tell(target);
            }
        });
    }
    for routine in &code.routines {
        routine.prologue.iter().for_each(|(target, _)| tell(*target));
    }
    for field in code.messages.iter().flat_map(|message| &message.fields) {
        if let Field::To(target) = *field {
            tell(target);
        }
    }
}
