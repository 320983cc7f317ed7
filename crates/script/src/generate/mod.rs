//! Writes random scripts from a seed: small, closed, and different in their final states.

mod fragment;
mod shape;

pub use shape::Shape;

use crate::Script;
use crate::ast::{Block, Declaration, Program, Side, Statement, Test, Verb};
use crate::random::Random;
use fragment::Writer;
use mazurka_core::ThreadId;
use shape::Feature;

/// The script that `seed` gives: always the same one for the same seed and shape.
///
/// It ends under every schedule: it has no loops. It may well deadlock, and with
/// [`Shape::assertions`] or [`Shape::arrays`] it may violate something.
pub fn generate(seed: u64, shape: &Shape) -> Script {
    let mut random = Random::new(seed);
    let max_total = shape.max_total.max(1);
    let (low, high) = (*shape.n_threads.start(), *shape.n_threads.end());
    let n_threads = random.between(low, high).clamp(1, max_total.min(ThreadId::MAX));
    let (low, high) = (*shape.n_variables.start(), *shape.n_variables.end());
    let n_variables = random.between(low, high).clamp(1, Writer::VARIABLES.len());

    // A few features in one program meet more often than all of them would.
    let mut theme = Vec::new();
    let features = shape.features();
    for _ in 0..random.between(1, 3).min(features.len()) {
        theme.push(random.pick(&features));
    }

    let n_threads = match theme.contains(&Feature::Condvars) && random.percent(80) {
        // Conversations are long; with many threads none would get to its end.
        true => n_threads.min(3),
        false => n_threads,
    };

    let budget = match theme.contains(&Feature::Condvars) {
        true => max_total,
        false => max_total - random.below(max_total / 3 + 1),
    };
    let mut budget = Budget {
        rest: budget.max(n_threads),
        of_threads: vec![shape.max_per_thread.max(1); n_threads],
    };
    let has_spawns = theme.contains(&Feature::SpawnJoin);
    let parents = if has_spawns { parents(&mut random, &mut budget) } else { Vec::new() };

    let mut writer = Writer::new(random, shape, theme, n_variables, n_threads);
    let first = writer.random.below(n_threads);
    for opened in 0..n_threads {
        // Something must be left for each thread that has nothing yet.
        let most = budget.rest - (n_threads - opened - 1);
        let thread_idx = (first + opened) % n_threads;
        budget.pay(thread_idx, writer.extend(thread_idx, most.min(budget.of_threads[thread_idx])));
    }
    while let Some(thread_idx) = budget.any_thread(&mut writer.random) {
        let most = budget.rest.min(budget.of_threads[thread_idx]);
        budget.pay(thread_idx, writer.extend(thread_idx, most));
    }
    let mut threads = writer.take_threads();
    for parent in parents {
        insert_spawn(&mut writer.random, &mut threads[parent.thread], &parent);
    }
    let declarations = declarations(&mut writer, &threads);
    Script::new(Program { declarations, threads })
}

/// Which thread spawns which, and whether it joins it.
struct Parent {
    thread: usize,
    child: usize,
    joins: bool,
}

/// How many operations can still be added.
struct Budget {
    rest: usize,
    of_threads: Vec<usize>,
}

impl Budget {
    fn pay(&mut self, thread_idx: usize, price: usize) {
        self.rest -= price;
        self.of_threads[thread_idx] -= price;
    }

    /// A thread that can have one more.
    fn any_thread(&self, random: &mut Random) -> Option<usize> {
        let can_have_more: Vec<usize> =
            (0..self.of_threads.len()).filter(|&idx| self.of_threads[idx] > 0).collect();
        (self.rest > 0 && !can_have_more.is_empty()).then(|| random.pick(&can_have_more))
    }
}

/// Decides who spawns whom, and pays for it.
fn parents(random: &mut Random, budget: &mut Budget) -> Vec<Parent> {
    let n_threads = budget.of_threads.len();
    let mut parents = Vec::new();
    for child in 1..n_threads {
        let thread = if random.percent(75) { 0 } else { random.below(child) };
        let joins = random.percent(60);
        let price = 1 + usize::from(joins);
        // Each thread must be able to do something else, too.
        let is_affordable = budget.of_threads[thread] > price && budget.rest >= price + n_threads;
        if random.percent(80) && is_affordable {
            budget.pay(thread, price);
            parents.push(Parent { thread, child, joins });
        }
    }
    parents
}

fn insert_spawn(random: &mut Random, block: &mut Block, parent: &Parent) {
    let spawn_idx = random.below(block.len() + 1);
    block.insert(spawn_idx, Statement::Spawn(parent.child));
    if parent.joins {
        let join_idx = random.between(spawn_idx + 1, block.len());
        block.insert(join_idx, Statement::Join(parent.child));
    }
}

/// Declares what needs it, and some of what does not.
fn declarations(writer: &mut Writer<'_>, threads: &[Block]) -> Vec<Declaration> {
    let mut declarations = Vec::new();
    let mut has = [false; 4];
    let mut note = |statement: &Statement| match statement {
        Statement::Load { from: shared, .. }
        | Statement::Store { to: shared, .. }
        | Statement::Update { on: shared, .. }
        | Statement::Await { on: shared, .. }
        | Statement::If { test: Test { left: Side::Shared(shared), .. }, .. } => {
            has[0] |= shared.index.is_some();
        }
        Statement::Call { verb: Verb::Down | Verb::Up | Verb::TryDown, .. } => has[1] = true,
        Statement::Call { verb: Verb::Receive | Verb::TryReceive, .. }
        | Statement::Send { .. }
        | Statement::TrySend { .. } => has[2] = true,
        Statement::Call { verb: Verb::Barrier, .. } => has[3] = true,
        _ => {}
    };
    threads.iter().for_each(|thread| crate::ast::visit(thread, &mut note));
    let [array, semaphore, channel, barrier] = has;
    let random = &mut writer.random;
    if random.percent(15) {
        declarations
            .push(Declaration::Variable { name: Writer::VARIABLES[0].to_owned(), value: 1 });
    }
    if array {
        let value = random.below(2) as i64;
        let name = Writer::ARRAY.to_owned();
        declarations.push(Declaration::Array { name, len: Writer::ARRAY_LEN, value });
    }
    if semaphore && random.percent(70) {
        let permits = random.between(0, 2) as u32;
        declarations.push(Declaration::Semaphore { number: 0, permits });
    }
    if channel && random.percent(60) {
        let capacity = random.between(1, 2) as u32;
        declarations.push(Declaration::Channel { number: 0, capacity });
    }
    if barrier && random.percent(40) {
        let parties = random.between(1, threads.len()) as u32;
        declarations.push(Declaration::Barrier { number: 0, parties });
    }
    declarations
}

/// The most visible operations that one run through the block can take; a choice counts for as
/// many as it has alternatives.
fn price(block: &[Statement]) -> usize {
    let of_one = |statement: &Statement| match statement {
        Statement::Assign { .. }
        | Statement::PlainLoad { .. }
        | Statement::PlainStore { .. }
        | Statement::Fence(_)
        | Statement::Assert { .. } => 0,
        // It multiplies the executions as an operation does that others can come between.
        Statement::Choose { alternatives, .. } => *alternatives as usize,
        Statement::Wait { .. }
        | Statement::Sleep { .. }
        | Statement::Call { verb: Verb::Barrier, .. } => 2,
        Statement::Timed { .. } => 3,
        Statement::If { test, .. } => {
            let [then, otherwise] = statement.blocks();
            usize::from(matches!(test.left, Side::Shared(_))) + price(then).max(price(otherwise))
        }
        _ => 1,
    };
    block.iter().map(of_one).sum()
}
