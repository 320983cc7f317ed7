//! Awaits: a loop that reads one variable until it has a wanted value is one step that waits.
//!
//! The loop: a visible load, then nothing but assignments to registers and jumps, up to one
//! condition that leads back to the load or out. No register that is assigned on the way is live
//! before the load (`liveness.rs`). So a round that leads back changes nothing and ends where it
//! began: an execution with it equals, for all others, the one without it. The load then is an
//! `Operation::Await` that is possible once the round would lead out, and exactly the executions
//! without rounds in vain are left. Happens-before loses what a load in vain has acquired, so no
//! race is lost with it.
//!
//! A read-modify-write is the same if it would write what it has read, such as the exchange of a
//! spin lock that is taken: an `Operation::AwaitModify`, which is possible where it would change the
//! variable or the round would lead out.
//!
//! The condition is that of the jump, with the value that would be read in place of the register
//! that it is read into, as an await of the program has it ([`Source::Seen`]). A loop that reads
//! two variables is not one step and stays as it is; `spin.rs` holds its thread.
//!
//! After Jonsson, Lång and Sagonas, *Awaiting for Godot: Stateless Model Checking that Avoids
//! Executions where Nothing Happens* (FMCAD 2022). Differs from the paper: loops are found in the
//! code as it runs, after registers that are dead are known, and not in its source.

use super::code::{Code, Instruction, NOWHERE, Node, Op, Operand, Pc, Source};
use Instruction as I;
use rustc_hash::FxHashMap;

/// The longest way from the load to the condition and back.
const MAX_LEN: usize = 32;

/// What each access waits for that is such a loop.
pub(super) type Awaits = FxHashMap<Pc, Operand>;

/// Finds the loops. Adds conditions to the nodes of the code.
pub(super) fn find(code: &mut Code) -> Awaits {
    let mut awaits = Awaits::default();
    for pc in 0..code.instructions.len() as Pc {
        let (I::Load { visible: true, to, .. } | I::Modify { old: to, .. }) =
            code.instructions[pc as usize]
        else {
            continue;
        };
        if to != NOWHERE
            && let Some(until) = Round::of(code, pc, to).and_then(|round| round.condition(code))
        {
            awaits.insert(pc, until);
        }
    }
    awaits
}

/// A way from a load back to it.
struct Round {
    /// The values of registers at the condition, where they were assigned since the load.
    values: Vec<(u32, Value)>,
    condition: Operand,
    /// Whether it leads out where the condition holds.
    leaves_if: bool,
}

#[derive(Clone, Copy)]
enum Value {
    /// What was read.
    Seen,
    /// An expression over the values before.
    Of(Operand),
}

impl Round {
    fn of(code: &Code, load: Pc, to: u32) -> Option<Self> {
        let mut values = vec![(to, Value::Seen)];
        let mut pc = load + 1;
        for _ in 0..MAX_LEN {
            match code.instructions[pc as usize] {
                I::Jump(target) => pc = target,
                I::Assign { to, value } => {
                    values.push((to, Value::Of(value)));
                    pc += 1;
                }
                I::JumpUnless { condition, otherwise } => {
                    let (holds, fails) =
                        (leads_to(code, pc + 1, load), leads_to(code, otherwise, load));
                    let are_dead = || values.iter().all(|it| !code.lives.contains(load, it.0));
                    let is_await = holds != fails && are_dead();
                    return is_await.then_some(Self { values, condition, leaves_if: fails });
                }
                _ => return None,
            }
        }
        None
    }

    /// The condition to leave it, over registers before the load and the value that would be read.
    fn condition(&self, code: &mut Code) -> Option<Operand> {
        let holds = self.substitute(code, self.condition, self.values.len())?;
        if self.leaves_if {
            return Some(holds);
        }
        let constant = |code: &mut Code, bits: u64| {
            code.constants.push(bits);
            Operand::new(Source::Constant(code.constants.len() as u32 - 1))
        };
        let (no, yes) = (constant(code, 0), constant(code, 1));
        let parts = Node { op: Op::Parts, left: no, right: yes };
        code.nodes.push(Node { op: Op::If, left: holds, right: holds });
        code.nodes.push(parts);
        Some(Operand::new(Source::Node(code.nodes.len() as u32 - 2)))
    }

    /// An expression at the place behind the first `n_values` assignments.
    fn substitute(&self, code: &mut Code, operand: Operand, n_values: usize) -> Option<Operand> {
        match operand.source() {
            Source::Constant(_) => Some(operand),
            Source::Seen => None,
            Source::Register(register) => {
                let assigned = self.values[..n_values].iter();
                match assigned.enumerate().rev().find(|(_, it)| it.0 == register) {
                    None => Some(operand),
                    Some((_, (_, Value::Seen))) => Some(Operand::new(Source::Seen)),
                    Some((idx, &(_, Value::Of(value)))) => self.substitute(code, value, idx),
                }
            }
            Source::Node(number) => {
                let Node { op, left, right } = code.nodes[number as usize];
                let left = self.substitute(code, left, n_values)?;
                let right = self.substitute(code, right, n_values)?;
                let parts = match op {
                    Op::If => {
                        let parts = code.nodes[number as usize + 1];
                        let left = self.substitute(code, parts.left, n_values)?;
                        let right = self.substitute(code, parts.right, n_values)?;
                        Some(Node { left, right, ..parts })
                    }
                    _ => None,
                };
                code.nodes.push(Node { op, left, right });
                let number = code.nodes.len() as u32 - 1;
                code.nodes.extend(parts);
                Some(Operand::new(Source::Node(number)))
            }
        }
    }
}

/// Whether jumps alone lead from a place to another one. What is assigned on the way back would
/// have to be dead, too; loops are not compiled like that.
fn leads_to(code: &Code, mut from: Pc, to: Pc) -> bool {
    for _ in 0..MAX_LEN {
        match code.instructions[from as usize] {
            _ if from == to => return true,
            I::Jump(target) => from = target,
            _ => return false,
        }
    }
    false
}
