//! How fine the accesses of a program to an object may be: what decides the size of its pieces.

use crate::{Action, Base, Expr, Place, Program, Routine};

/// The finest accesses, in bytes: powers of two up to 8.
#[derive(Clone, Debug)]
pub(super) struct Finest {
    /// Through pointers: to whatever they point to.
    pointers: u32,
    /// To each object by its name.
    objects: Vec<u32>,
    /// To locals whose address is taken, by name.
    frames: u32,
}

impl Finest {
    pub(super) fn of(program: &Program) -> Self {
        let mut finest = Self { pointers: 8, objects: vec![8; program.objects.len()], frames: 8 };
        for (_, edge) in program.routines.iter().flat_map(Routine::edges) {
            finest.add_action(&edge.action);
        }
        finest
    }

    /// Of accesses through pointers.
    pub(super) fn of_pointers(&self) -> u32 {
        self.pointers
    }

    /// Of accesses to locals by name.
    pub(super) fn of_frames(&self) -> u32 {
        self.frames
    }

    /// Of all accesses to an object.
    pub(super) fn of_object(&self, idx: usize) -> u32 {
        self.objects[idx].min(self.pointers)
    }

    fn add_action(&mut self, action: &Action) {
        match action {
            Action::Load { from, ty, .. } | Action::Await { from, ty, .. } => {
                self.add(from, ty.bytes());
            }
            Action::Store { to, value, .. } => self.add(to, value.ty().bytes()),
            Action::Modify { on, value, .. } => self.add(on, value.ty().bytes()),
            Action::CompareExchange { on, expected, .. } => self.add(on, expected.ty().bytes()),
            Action::Copy { to, from, size } => {
                self.add(to, grain(to, size));
                self.add(from, grain(from, size));
            }
            Action::Fill { to, size, .. } => self.add(to, grain(to, size)),
            _ => {}
        }
    }

    fn add(&mut self, place: &Place, size: u32) {
        let finest = match &place.base {
            Base::Pointer(_) | Base::Channel(_) => &mut self.pointers,
            Base::Object(object) => &mut self.objects[object.0 as usize],
            Base::Frame(_) => &mut self.frames,
        };
        *finest = size.min(*finest);
    }
}

/// The largest power of two up to 8 that a range of bytes begins and ends at multiples of.
fn grain(place: &Place, size: &Expr) -> u32 {
    match (place.offset.as_const(), size.as_const()) {
        (Some(offset), Some(size)) => 1 << (offset | size | 8).trailing_zeros(),
        _ => 1,
    }
}
