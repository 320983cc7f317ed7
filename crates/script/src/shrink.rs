//! Makes a failing script smaller: cuts it down as long as it still fails.
//!
//! Implements Zeller and Hildebrandt, *Simplifying and Isolating Failure-Inducing Input*
//! (IEEE TSE 28(2), 2002), section 3: a 1-minimal test case.
//!
//! Differs from the paper: cuts one piece of the syntax tree at a time and never several, since
//! scripts are short; and replaces by something simpler where nothing can be cut.

use crate::Script;
use crate::ast::{Block, Declaration, Expr, Program, Shared, Side, Statement, Update, visit_mut};

/// The smallest script that can be reached from `script`, cut by cut, while `fails` says so.
///
/// `script` itself is not asked about: if no cut fails, it comes back as it was. The result is
/// in its initial state. `fails` sees scripts in their initial state and may run them.
pub fn shrink(script: &Script, mut fails: impl FnMut(&Script) -> bool) -> Script {
    let mut smallest = Script::new(script.program().clone());
    loop {
        let mut has_shrunk = false;
        for cut in [drop_thread, cut_statement, drop_declaration, simplify] {
            let mut idx = 0;
            loop {
                let mut program = smallest.program().clone();
                if !cut(&mut program, idx) {
                    break;
                }
                let candidate = Script::new(program);
                if fails(&candidate) {
                    // What is now at the same place was not tried yet.
                    smallest = Script::new(candidate.program().clone());
                    has_shrunk = true;
                } else {
                    idx += 1;
                }
            }
        }
        if !has_shrunk {
            return smallest;
        }
    }
}

/// Counts down to the cut that was asked for.
struct Countdown(usize);

impl Countdown {
    /// Whether this is the one.
    fn is_over(&mut self) -> bool {
        let over = self.0 == 0;
        self.0 = self.0.wrapping_sub(1);
        over
    }
}

/// Takes the thread at `idx` out, with what spawns and joins it; false if there is none, or no
/// other.
fn drop_thread(program: &mut Program, idx: usize) -> bool {
    if idx >= program.threads.len() || program.threads.len() == 1 {
        return false;
    }
    program.threads.remove(idx);
    for thread in &mut program.threads {
        drop_calls(thread, idx);
        visit_mut(thread, &mut |statement| {
            if let Statement::Spawn(target) | Statement::Join(target) = statement
                && *target > idx
            {
                *target -= 1;
            }
        });
    }
    true
}

fn drop_calls(block: &mut Block, thread_idx: usize) {
    block.retain(|statement| {
        !matches!(statement, Statement::Spawn(target) | Statement::Join(target)
            if *target == thread_idx)
    });
    visit_mut(block, &mut |statement| match statement {
        Statement::If { then, otherwise, .. } => {
            drop_calls(then, thread_idx);
            drop_calls(otherwise, thread_idx);
        }
        Statement::While { body, .. } => drop_calls(body, thread_idx),
        _ => {}
    });
}

/// Makes the cut number `idx` among the statements: takes one out, or puts a block in its place.
fn cut_statement(program: &mut Program, idx: usize) -> bool {
    let mut countdown = Countdown(idx);
    program.threads.iter_mut().any(|thread| cut_block(thread, &mut countdown))
}

fn cut_block(block: &mut Block, countdown: &mut Countdown) -> bool {
    for idx in 0..block.len() {
        if countdown.is_over() {
            block.remove(idx);
            return true;
        }
        let inner: &mut [&mut Block] = match &mut block[idx] {
            Statement::If { then, otherwise, .. } => &mut [then, otherwise],
            Statement::While { body, .. } => &mut [body],
            _ => continue,
        };
        for inner in inner {
            if countdown.is_over() {
                let inner = std::mem::take(*inner);
                block.splice(idx..=idx, inner);
                return true;
            }
            if cut_block(inner, countdown) {
                return true;
            }
        }
    }
    false
}

/// Takes the declaration number `idx` out of those that are not used.
fn drop_declaration(program: &mut Program, idx: usize) -> bool {
    let mut countdown = Countdown(idx);
    let found = program.declarations.iter().position(|declaration| {
        let is_needed = matches!(declaration, Declaration::Array { name, .. }
            if uses_array(program, name));
        !is_needed && countdown.is_over()
    });
    found.map(|idx| program.declarations.remove(idx)).is_some()
}

fn uses_array(program: &Program, array: &str) -> bool {
    let mut is_used = false;
    program.visit(&mut |statement| {
        is_used |= shared(statement).is_some_and(|shared| shared.name == array);
    });
    is_used
}

/// The variable that a statement is about.
fn shared(statement: &Statement) -> Option<&Shared> {
    match statement {
        Statement::Load { from: shared, .. }
        | Statement::Store { to: shared, .. }
        | Statement::Update { on: shared, .. }
        | Statement::Await { on: shared, .. } => Some(shared),
        Statement::If { test, .. } | Statement::While { test, .. } => match &test.left {
            Side::Shared(shared) => Some(shared),
            Side::Own(_) => None,
        },
        _ => None,
    }
}

/// Makes the simplification number `idx` among the expressions and numbers.
fn simplify(program: &mut Program, idx: usize) -> bool {
    let mut countdown = Countdown(idx);
    let mut is_done = false;
    for thread in &mut program.threads {
        visit_mut(thread, &mut |statement| {
            if let Statement::Choose { alternatives, .. } = statement {
                is_done = is_done || simplify_count(alternatives, &mut countdown);
            }
            for_each_expr(statement, &mut |expr| {
                is_done = is_done || simplify_expr(expr, &mut countdown);
            });
        });
    }
    for declaration in &mut program.declarations {
        let count = match declaration {
            Declaration::Array { len, .. } => len,
            Declaration::Semaphore { permits, .. } => permits,
            Declaration::Channel { capacity, .. } => capacity,
            Declaration::Barrier { parties, .. } => parties,
            Declaration::Variable { .. } | Declaration::Plain { .. } => continue,
        };
        is_done = is_done || simplify_count(count, &mut countdown);
    }
    is_done
}

fn simplify_count(count: &mut u32, countdown: &mut Countdown) -> bool {
    for smaller in [1, 2] {
        if smaller < *count && countdown.is_over() {
            *count = smaller;
            return true;
        }
    }
    false
}

/// Puts a number or one of its operands in the place of an expression, or does so inside of it.
fn simplify_expr(expr: &mut Expr, countdown: &mut Countdown) -> bool {
    for number in [0, 1] {
        let is_simpler = match expr {
            Expr::Number(now) => *now != 0 && *now != number,
            _ => true,
        };
        if is_simpler && countdown.is_over() {
            *expr = Expr::Number(number);
            return true;
        }
    }
    let Expr::Binary(left, _, right) = expr else { return false };
    if countdown.is_over() {
        *expr = (**left).clone();
        return true;
    }
    if countdown.is_over() {
        *expr = (**right).clone();
        return true;
    }
    simplify_expr(left, countdown) || simplify_expr(right, countdown)
}

/// Calls `change` with every expression of a statement, those of its blocks not included.
fn for_each_expr(statement: &mut Statement, change: &mut impl FnMut(&mut Expr)) {
    let mut in_shared = |shared: &mut Shared| {
        if let Some(index) = &mut shared.index {
            change(index);
        }
    };
    match statement {
        Statement::Load { from, .. } => in_shared(from),
        Statement::Assign { value, .. }
        | Statement::Send { value, .. }
        | Statement::TrySend { value, .. }
        | Statement::PlainStore { value, .. } => change(value),
        Statement::Store { to: shared, value } | Statement::Sleep { on: shared, value, .. } => {
            in_shared(shared);
            change(value);
        }
        Statement::Timed { wait, .. } => for_each_expr(wait, change),
        Statement::Await { on, value, new, .. } => {
            in_shared(on);
            change(value);
            new.as_mut().map(change);
        }
        Statement::Update { on, update, .. } => {
            in_shared(on);
            match update {
                Update::CompareAndSwap { expected, new } => {
                    change(expected);
                    change(new);
                }
                Update::Add(value) | Update::Swap(value) | Update::Count { value, .. } => {
                    change(value);
                }
            }
        }
        Statement::Assert { left, right, .. } => {
            change(left);
            change(right);
        }
        Statement::If { test, .. } | Statement::While { test, .. } => {
            match &mut test.left {
                Side::Own(expr) => change(expr),
                Side::Shared(shared) => in_shared(shared),
            }
            change(&mut test.right);
        }
        Statement::Call { .. }
        | Statement::Wait { .. }
        | Statement::Spawn(_)
        | Statement::Join(_)
        | Statement::Yield
        | Statement::Choose { .. }
        | Statement::Fence(_)
        | Statement::PlainLoad { .. } => {}
    }
}
