//! Numbers and names of what is made on the way: threads, and objects of the heap and of frames.
//!
//! Numbers are given out once and kept for all executions and all clones of a machine, since an
//! engine compares operations of different executions by them.

use super::code::{Code, Kind, ObjectInfo, Origin, Pc};
use super::machine::Thread;
use crate::{Layout, LayoutId, Program};
use mazurka_core::ThreadId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Who made an object, after how many others, how large it is and what it is made of.
pub(super) type Made = (u32, u32, u32, u32);

/// All numbers given out so far.
#[derive(Debug)]
pub(super) struct Names {
    program: Arc<Program>,
    objects: FxHashMap<Made, (u32, u32)>,
    /// What was made, in the order of the first units, and in that of the first pieces.
    made: Vec<Named>,
    n_units: u32,
    n_pieces: u32,
    /// For each thread, who spawned it after how many others; `None` for the first ones.
    threads: Vec<Option<(u32, u32)>>,
}

/// In the place of the parent of the first threads, where numbers are written.
const NOBODY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Named {
    first_unit: u32,
    first_piece: u32,
    units: u32,
    size: u32,
    kind: Kind,
    thread: u32,
    number: u32,
}

impl Names {
    pub(super) fn new(program: Arc<Program>, code: &Code) -> Self {
        let threads = vec![None; program.processes.len()];
        Self {
            program,
            objects: FxHashMap::default(),
            made: Vec::new(),
            n_units: code.n_units,
            n_pieces: code.n_pieces,
            threads,
        }
    }

    pub(super) fn n_threads(&self) -> usize {
        self.threads.len()
    }

    /// The number of the thread that `parent` spawns after `n_before` others, if it is one of the
    /// first `most`.
    pub(super) fn thread(&mut self, parent: u32, n_before: u32, most: usize) -> Option<u32> {
        let key = Some((parent, n_before));
        let known = self.threads.iter().position(|&other| other == key);
        if known.is_none() && self.threads.len() < most {
            self.threads.push(key);
            return Some(self.threads.len() as u32 - 1);
        }
        known.map(|known| known as u32)
    }

    /// The first numbers of the units and the pieces of an object.
    pub(super) fn made(&mut self, code: &Code, key: Made, kind: Kind) -> (u32, u32) {
        if let Some(&known) = self.objects.get(&key) {
            return known;
        }
        let (thread, number, size, units) = key;
        let (first_unit, first_piece) = (self.n_units, self.n_pieces);
        let map = &code.units[units as usize];
        self.n_units += map.units.count(size);
        self.n_pieces += map.pieces.count(size);
        self.made.push(Named { first_unit, first_piece, units, size, kind, thread, number });
        self.objects.insert(key, (first_unit, first_piece));
        (first_unit, first_piece)
    }

    /// Writes all numbers, in the order in which they were given out.
    pub(super) fn save(&self, mut write: impl FnMut(u32), kind_number: fn(Kind) -> u32) {
        write(self.threads.len() as u32);
        for thread in &self.threads {
            let (parent, n_before) = thread.unwrap_or((NOBODY, 0));
            [parent, n_before].into_iter().for_each(&mut write);
        }
        write(self.made.len() as u32);
        for &Named { thread, number, size, units, kind, .. } in &self.made {
            [thread, number, size, units, kind_number(kind)].into_iter().for_each(&mut write);
        }
    }

    /// Gives out numbers as they were written. Nothing if they cannot be: those that were given out
    /// before are others.
    pub(super) fn load(
        &mut self,
        code: &Code,
        words: &mut dyn Iterator<Item = u32>,
        kind: impl Fn(u32) -> Option<Kind>,
    ) -> Option<()> {
        for idx in 0..words.next()? as usize {
            let (parent, n_before) = (words.next()?, words.next()?);
            let thread = (parent != NOBODY).then_some((parent, n_before));
            match self.threads.get(idx) {
                Some(known) if *known != thread => return None,
                Some(_) => {}
                None => self.threads.push(thread),
            }
        }
        for idx in 0..words.next()? as usize {
            let key: Made = (words.next()?, words.next()?, words.next()?, words.next()?);
            let kind = kind(words.next()?)?;
            let known = self.made.get(idx).map(|it| (it.thread, it.number, it.size, it.units));
            let is_new = known.is_none() && !self.objects.contains_key(&key);
            if !is_new && known != Some(key) || key.3 as usize >= code.units.len() {
                return None;
            }
            self.made(code, key, kind);
        }
        Some(())
    }

    /// What people call an object.
    pub(super) fn object(&self, code: &Code, threads: &[Thread], object: &ObjectInfo) -> String {
        if matches!(object.kind, Kind::Static | Kind::Constant) {
            let idx = code.objects.iter().position(|other| other.address == object.address);
            return idx.map_or_else(String::new, |idx| self.program.objects[idx].name.clone());
        }
        let at = self.made.partition_point(|made| made.first_unit <= object.first_unit);
        // Objects without a byte have no unit, so several may begin with the same.
        let mut candidates = self.made[..at].iter().rev();
        candidates
            .find(|made| made.first_unit == object.first_unit && made.size == object.size)
            .map_or_else(String::new, |named| self.made_text(code, threads, named, ""))
    }

    /// What people call the unit of an operation.
    pub(super) fn unit(&self, code: &Code, threads: &[Thread], unit: u32) -> String {
        if code.atomic_unit == Some(unit) {
            return "memory".to_owned();
        }
        let of_static = code.objects.iter().enumerate().rev().find(|(_, object)| {
            object.first_unit <= unit && object.size > 0 && unit < code.n_units
        });
        if let Some((idx, object)) = of_static {
            let units = &code.units[object.units as usize];
            let number = unit - object.first_unit;
            let offset = first_byte(object.size, |offset| units.units.number(offset) >= number);
            return self.program.objects[idx].name.clone() + &self.path(units.layout, offset);
        }
        self.made_part(
            code,
            threads,
            unit,
            |named| named.first_unit,
            |units, offset| units.units.number(offset),
        )
    }

    /// What people call a piece of plain memory.
    pub(super) fn piece(&self, code: &Code, threads: &[Thread], piece: u32) -> String {
        let of_static = code.objects.iter().enumerate().rev().find(|(_, object)| {
            object.first_piece <= piece && object.size > 0 && piece < code.n_pieces
        });
        if let Some((idx, object)) = of_static {
            let units = &code.units[object.units as usize];
            let number = piece - object.first_piece;
            let offset = first_byte(object.size, |offset| units.pieces.number(offset) >= number);
            return self.program.objects[idx].name.clone() + &self.path(units.layout, offset);
        }
        self.made_part(
            code,
            threads,
            piece,
            |named| named.first_piece,
            |units, offset| units.pieces.number(offset),
        )
    }

    fn made_part(
        &self,
        code: &Code,
        threads: &[Thread],
        number: u32,
        first: impl Fn(&Named) -> u32,
        number_of: impl Fn(&super::units::Units, u32) -> u32,
    ) -> String {
        let at = self.made.partition_point(|made| first(made) <= number);
        let Some(named) = self.made[..at].iter().rev().find(|made| made.size > 0) else {
            return format!("object {number}");
        };
        let units = &code.units[named.units as usize];
        let number = number - first(named);
        let offset = first_byte(named.size, |offset| number_of(units, offset) >= number);
        let element = self.program.size_of(units.layout).max(1);
        let path = match named.size > element {
            true => format!("[{}]{}", offset / element, self.path(units.layout, offset % element)),
            false => self.path(units.layout, offset),
        };
        self.made_text(code, threads, named, &path)
    }

    /// The way from the beginning of a layout to the scalar at `offset`: `[3].next`.
    fn path(&self, layout: LayoutId, offset: u32) -> String {
        match &self.program.layouts[layout.0 as usize] {
            Layout::Array { element, .. } => {
                let size = self.program.size_of(*element).max(1);
                format!("[{}]{}", offset / size, self.path(*element, offset % size))
            }
            Layout::Struct { fields, .. } => {
                let field = fields.iter().rev().find(|field| field.offset <= offset);
                field.map_or_else(String::new, |field| {
                    format!(".{}{}", field.name, self.path(field.layout, offset - field.offset))
                })
            }
            _ => String::new(),
        }
    }

    /// What people call a thread: the name of its process, or what it runs and which of those that
    /// run the same it is.
    pub(super) fn thread_text(&self, threads: &[Thread], thread: usize) -> String {
        let process = self.program.processes.get(thread);
        if let Some(process) = process.filter(|process| !process.name.is_empty()) {
            return process.name.clone();
        }
        let routine = threads.get(thread).and_then(|it| it.routine);
        let name = routine.map(|routine| &self.program.routines[routine as usize].name);
        match name.filter(|name| !name.starts_with("__")) {
            Some(name) => {
                let alike = threads[..thread].iter().filter(|it| it.routine == routine);
                format!("{name}#{}", alike.count() + 1)
            }
            None => ThreadId::new(thread).to_string(),
        }
    }

    /// What people call something made on the way, and a part of it: in the words of the source
    /// where it is known what has made it, as the native engine does.
    fn made_text(&self, code: &Code, threads: &[Thread], named: &Named, path: &str) -> String {
        let thread = self.thread_text(threads, named.thread as usize);
        let made = threads.get(named.thread as usize).map_or(&[][..], |thread| &thread.made);
        let object = made.get(named.number as usize);
        let is_it = |it: &&ObjectInfo| it.first_unit == named.first_unit && it.size == named.size;
        let origin = object.filter(is_it).map_or(Origin::Unknown, |object| object.origin);
        let text = match origin {
            Origin::Allocated(pc) => self.allocated(code, pc).map(|place| {
                let before = &made[..named.number as usize];
                let n_before = before.iter().filter(|other| other.origin == origin).count();
                let number =
                    if n_before > 0 { format!("#{}", n_before + 1) } else { String::new() };
                let of = if named.thread > 0 { format!(" of {thread}") } else { String::new() };
                format!("heap({place}){number}{path}{of}")
            }),
            Origin::Local { routine, number } => {
                let routine = self.program.routines.get(routine as usize);
                let local = routine.and_then(|routine| routine.objects.get(number as usize));
                routine.zip(local).filter(|(_, local)| !local.name.is_empty()).map(
                    |(routine, local)| {
                        let within = match named.thread {
                            0 => String::new(),
                            _ => format!(" in {thread}"),
                        };
                        format!("{}{path} (local of {}{within})", local.name, routine.name)
                    },
                )
            }
            Origin::Own(object) => {
                let object = self.program.objects.get(object as usize);
                object.map(|object| format!("{}{path} of {thread}", object.name))
            }
            Origin::Unknown => None,
        };
        text.unwrap_or_else(|| {
            let what = match named.kind {
                Kind::Heap => "block",
                Kind::PerThread => "own",
                _ => "local",
            };
            format!("{what} {}{path} of {thread}", named.number)
        })
    }

    /// Where an instruction stands: the file without its folders, and the line.
    fn allocated(&self, code: &Code, pc: Pc) -> Option<String> {
        let (span, _) = code.origins.get(pc as usize)?;
        let file = self.program.files.get(span.file.0 as usize).filter(|_| span.is_known())?;
        let file = file.rsplit('/').next().unwrap_or_default();
        Some(format!("{file}:{}", span.line))
    }
}

/// The first offset below `size` that is far enough.
fn first_byte(size: u32, is_far_enough: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, size.saturating_sub(1));
    while low < high {
        let middle = low + (high - low) / 2;
        match is_far_enough(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}
