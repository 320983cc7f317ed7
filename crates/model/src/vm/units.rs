//! How the bytes of an object are numbered: as shared objects of operations, and as plain memory.
//!
//! A *unit* is what an operation is about: a scalar of the layout, or something that has no finer
//! parts (a union, a lock); a barrier has two. A *piece* is what is watched for data races: as fine
//! as any access of the program may be, so that two accesses have a piece in common exactly if they
//! overlap.

use crate::{Layout, LayoutId, Program, Sync};

/// The numbering of one layout, repeated as often as an object has room for it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Units {
    pub(super) units: Map,
    pub(super) pieces: Map,
    /// What it was made from, for names.
    pub(super) layout: LayoutId,
}

/// From bytes to numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Map {
    /// Parts of the same size, two to the power of this.
    Even(u8),
    /// The numbers of the bytes of one repetition, and how many numbers that has.
    Table(Vec<u32>, u32),
    /// All bytes have the same number.
    One,
}

impl Map {
    #[inline]
    pub(super) fn number(&self, offset: u32) -> u32 {
        match self {
            Self::Even(shift) => offset >> shift,
            Self::Table(table, count) => {
                let period = table.len() as u32;
                match offset < period {
                    true => table[offset as usize],
                    false => offset / period * count + table[(offset % period) as usize],
                }
            }
            Self::One => 0,
        }
    }

    /// How many numbers an object of so many bytes has.
    pub(super) fn count(&self, size: u32) -> u32 {
        size.checked_sub(1).map_or(0, |last| self.number(last) + 1)
    }

    /// The map that numbers parts of these sizes one after the other. A size that is no power of
    /// two, or a mixture, needs a table.
    fn of(sizes: &[u32]) -> Self {
        if let [first, rest @ ..] = sizes
            && first.is_power_of_two()
            && rest.iter().all(|size| size == first)
        {
            return Self::Even(first.trailing_zeros() as u8);
        }
        let table = sizes
            .iter()
            .enumerate()
            .flat_map(|(number, &size)| std::iter::repeat_n(number as u32, size as usize))
            .collect();
        Self::Table(table, sizes.len() as u32)
    }
}

impl Units {
    /// The numbering of a layout where no access is finer than `finest` bytes.
    pub(super) fn of(program: &Program, layout: LayoutId, finest: u32) -> Self {
        let mut element = layout;
        while let Layout::Array { element: inner, count: 1.. } = program.layouts[element.0 as usize]
        {
            element = inner;
        }
        let mut leaves = Vec::new();
        leaves_of(program, element, &mut leaves);
        leaves.retain(|leaf| leaf.size > 0);
        if leaves.is_empty() {
            return Self { units: Map::One, pieces: Map::One, layout };
        }
        let sizes: Vec<u32> = leaves.iter().map(|leaf| leaf.size).collect();
        let pieces = sizes.iter().flat_map(|&size| split(size, finest)).collect::<Vec<_>>();
        // Bytes of which nothing is known are one unit, however many there are.
        let units = match program.layouts[element.0 as usize] {
            Layout::Bytes(_) => Map::One,
            _ => Map::of(&leaves.iter().flat_map(Leaf::units).collect::<Vec<_>>()),
        };
        Self { units, pieces: Map::of(&pieces), layout }
    }
}

/// A scalar of a layout, or a gap.
struct Leaf {
    size: u32,
    is_barrier: bool,
}

impl Leaf {
    fn new(size: u32) -> Self {
        Self { size, is_barrier: false }
    }

    /// The sizes of its units. A barrier is two: one for every other round (`meetings.rs`).
    fn units(&self) -> impl Iterator<Item = u32> + use<> {
        let first = if self.is_barrier { Sync::Barrier.bytes() / 2 } else { self.size };
        [first, self.size - first].into_iter().filter(|&size| size > 0)
    }
}

/// The scalars of a layout, gaps included, in their order.
fn leaves_of(program: &Program, layout: LayoutId, leaves: &mut Vec<Leaf>) {
    match &program.layouts[layout.0 as usize] {
        Layout::Array { element, count } => {
            (0..*count).for_each(|_| leaves_of(program, *element, leaves));
        }
        Layout::Struct { fields, size, .. } => {
            let mut end = 0;
            for field in fields {
                if field.offset > end {
                    leaves.push(Leaf::new(field.offset - end));
                }
                // Bit fields share their bytes: what begins before the last one ended is in it.
                let field_end = field.offset + program.size_of(field.layout);
                if field.offset < end {
                    if field_end > end {
                        let last = leaves.last_mut().expect("a field was before it");
                        *last = Leaf::new(last.size + field_end - end);
                    }
                } else {
                    leaves_of(program, field.layout, leaves);
                }
                end = end.max(field_end);
            }
            if *size > end {
                leaves.push(Leaf::new(size - end));
            }
        }
        it => {
            let is_barrier = matches!(it, Layout::Sync { kind: Sync::Barrier, .. });
            leaves.push(Leaf { size: program.size_of(layout), is_barrier });
        }
    }
}

/// A scalar as pieces of the finest size.
fn split(size: u32, finest: u32) -> impl Iterator<Item = u32> {
    let piece = finest.min(size).max(1);
    let rest = size % piece;
    std::iter::repeat_n(piece, (size / piece) as usize).chain((rest > 0).then_some(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Field, Type};

    #[test]
    fn fields_are_units_of_their_own_and_so_are_those_of_every_element() {
        let mut program = Program::new("");
        let (int, byte) = (program.scalar(Type::I32), program.scalar(Type::U8));
        let field = |name: &str, offset, layout| Field { name: name.to_owned(), offset, layout };
        let pair = program.layout(Layout::Struct {
            name: "pair".to_owned(),
            fields: vec![field("a", 0, int), field("b", 4, byte)],
            size: 8,
        });
        let pairs = program.layout(Layout::Array { element: pair, count: 3 });
        let units = Units::of(&program, pairs, 1);
        // The gap behind `b` is a unit that is not used.
        assert_eq!(
            [0, 3, 4, 5, 8, 12].map(|offset| units.units.number(offset)),
            [0, 0, 1, 2, 3, 4]
        );
        assert_eq!(units.units.count(24), 9);
        assert_eq!([0, 3, 4, 8].map(|offset| units.pieces.number(offset)), [0, 3, 4, 8]);
    }

    #[test]
    fn pieces_are_as_coarse_as_all_accesses_allow() {
        let mut program = Program::new("");
        let ints = program.array(Type::I32, 10);
        let units = Units::of(&program, ints, 4);
        assert_eq!(units.units, Map::Even(2));
        assert_eq!(units.pieces, Map::Even(2));
        assert_eq!(Units::of(&program, ints, 2).pieces, Map::Even(1));
        assert_eq!(units.units.count(40), 10);
    }
}
