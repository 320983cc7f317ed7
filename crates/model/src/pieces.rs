//! Large choices: numbers of which there are too many to try, chosen piece by piece.
//!
//! A solver picks one of 2⁶⁴ numbers without trying the others. For the machine to follow what it
//! picked, each such choice is several, of 16 bits each.

use crate::{
    Action, Binary, Edge, Expr, Location, LocationId, Program, Register, RegisterId, Routine, Span,
    Type,
};

/// How many bits of a number are chosen at once.
pub const PIECE_BITS: u32 = 16;

/// Makes every choice that the machine would refuse one piece by piece, from the lowest bits on. A
/// program without such choices stays as it is. The pieces together may be more than the greatest
/// number.
pub fn split_choices(program: &mut Program) {
    for routine in &mut program.routines {
        for location in 0..routine.locations.len() {
            for number in 0..routine.locations[location].edges.len() {
                let Edge { action, to: behind, span, .. } =
                    routine.locations[location].edges[number].clone();
                let Some(mut pieces) = pieces(routine, &action) else { continue };
                let first = pieces.remove(0);
                let begin = chain(routine, pieces, behind, span);
                let edge = &mut routine.locations[location].edges[number];
                (edge.action, edge.to) = (first, begin);
            }
        }
    }
}

/// The choices that a choice is made of, and what makes a number of them; none if it is small
/// enough.
fn pieces(routine: &mut Routine, action: &Action) -> Option<Vec<Action>> {
    let &Action::Choose { to, low, high } = action else { return None };
    let range = high.wrapping_sub(low) as u64;
    if range < u64::from(u32::MAX) {
        return None;
    }
    let n_bits = u64::BITS - range.leading_zeros();
    let mut value = Expr::int(Type::U64, low);
    let mut actions = Vec::new();
    for shift in (0..n_bits).step_by(PIECE_BITS as usize) {
        let register = RegisterId(routine.registers.len() as u32);
        let (ty, span) = (Type::U64, Span::NONE);
        routine.registers.push(Register { name: String::new(), ty, is_channel: false, span });
        let width = PIECE_BITS.min(n_bits - shift);
        actions.push(Action::Choose { to: register, low: 0, high: (1 << width) - 1 });
        let shift = Expr::int(ty, i64::from(shift));
        let part = Expr::binary(Binary::ShiftLeft, Expr::Register { register, ty }, shift);
        value = Expr::binary(Binary::Add, value, part);
    }
    let ty = routine.registers[to.0 as usize].ty;
    actions.push(Action::Assign { to, value: value.convert(ty) });
    Some(actions)
}

/// Adds a way of new locations that carries out actions and leads `behind`; says where it begins.
fn chain(
    routine: &mut Routine,
    actions: Vec<Action>,
    behind: LocationId,
    span: Span,
) -> LocationId {
    let begin = routine.locations.len() as u32;
    let n_actions = actions.len() as u32;
    for (action, next) in actions.into_iter().zip(1..) {
        let to = if next == n_actions { behind } else { LocationId(begin + next) };
        let edges = vec![Edge::new(action, to, span)];
        routine.locations.push(Location { edges, ..Location::default() });
    }
    LocationId(begin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, Place, Races, RoutineBuilder, Vm};
    use mazurka_core::{Decision, System as _, ThreadId};

    #[test]
    fn pieces_make_a_number() {
        let mut program = Program::new("");
        let layout = program.scalar(Type::I64);
        let object = program.object("x", layout);
        let mut main = RoutineBuilder::new("main");
        let to = main.register("n", Type::I64);
        main.then(Action::Choose { to, low: i64::MIN, high: i64::MAX });
        main.store(Place::object(object), main.get(to), Access::ATOMIC);
        let routine = program.add_routine(main.finish());
        program.process("", routine, Vec::new());
        assert!(Vm::new(program.clone(), Races::Allow).is_err(), "these are too many to try");
        split_choices(&mut program);
        let mut vm = Vm::new(program, Races::Allow).expect("these are not");
        for choice in [0x1234, 0, 0xffff, 0x7fff, 0] {
            vm.step(Decision { thread: ThreadId::new(0), choice }).expect("nothing goes wrong");
        }
        assert_eq!(vm.peek(object, 0, Type::I64) as i64, 0x7fff_ffff_0000_1234 + i64::MIN);
    }
}
