//! Latches and inputs: all that is kept from one step to the next, and what comes in.

use super::graph::{STUCK, Thread, UNBORN};
use super::state::VarId;
use super::{Encoder, bits_for};

impl Encoder<'_> {
    /// Makes all variables.
    pub(super) fn declare(&mut self) {
        let n_bits = bits_for(self.threads.len());
        self.schedule =
            (0..n_bits).map(|bit| self.circuit.input(format!("thread.{bit}"))).collect();
        self.excused = self.variable("excused".to_owned(), 1, 0);
        self.n_excused = self.variable("excuses".to_owned(), 8, 0);
        let threads = self.threads;
        for (number, thread) in threads.iter().enumerate() {
            // Those that are there from the beginning stand behind the stations that all have.
            let begin = if thread.parent.is_none() { STUCK + 1 } else { UNBORN };
            let width = self.plan.pc_bits[number];
            let pc = self.variable(format!("pc {number}"), width, begin as u64);
            self.pcs.push(pc);
            let n_children = self.known.bounds.n_children() as usize;
            let width = bits_for(n_children + 1);
            let name = |what: &str| format!("{what} {number}");
            let n_started = self.variable(name("started by"), width, 0);
            self.n_started.push(n_started);
            let status = self.variable(name("status of"), 2, 0);
            self.statuses.push(status);
            let result = self.variable(name("result of"), 64, 0);
            self.results.push(result);
            let round = self.variable(name("round of"), 16, 0);
            self.rounds.push(round);
            self.declare_registers(number, thread);
        }
        self.number_blocks();
        self.lay_out();
        self.declare_monitor();
    }

    /// Makes the registers of a thread. What they hold before the first step is known at its first
    /// station, and so they hold nothing.
    fn declare_registers(&mut self, number: usize, thread: &Thread) {
        let mut is_live = vec![false; thread.n_registers];
        for register in thread.stops.iter().flat_map(|stop| &stop.live) {
            is_live[*register] = true;
        }
        self.registers.push(self.variables.len());
        for (context, info) in thread.contexts.iter().enumerate() {
            let routine = self.known.program.routine(info.routine);
            for (idx, register) in routine.registers.iter().enumerate() {
                let name = format!("{number}.{context}.{}%{idx}", register.name);
                let width = register.ty.bits() as usize;
                match is_live[info.first_register + idx] {
                    true => self.variable(name, width, 0),
                    false => self.variables.add_constant(width, 0),
                };
            }
        }
    }

    pub(super) fn variable(&mut self, name: String, width: usize, init: u64) -> VarId {
        let known = self.plan.constants.as_ref();
        // Of a monitor that is new, nothing is known.
        let known = known.and_then(|all| all.get(self.variables.len())).map(|bits| &bits[..]);
        self.variables.add(&mut self.circuit, name, width, init, known)
    }
}
