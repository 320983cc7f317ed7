//! Formulae as they are written.

use std::fmt;

/// A formula of linear temporal logic over numbered atoms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// Holds or does not, always.
    Constant(bool),
    /// A proposition, by its number.
    Atom(usize),
    /// An operator with one operand.
    Unary(Unary, Box<Formula>),
    /// An operator with two operands.
    Binary(Binary, Box<Formula>, Box<Formula>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `!`: it does not hold.
    Not,
    /// `X`: it holds in the next position.
    Next,
    /// `[]`: it holds from here on.
    Always,
    /// `<>`: it holds here or later.
    Eventually,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `&&`: both hold.
    And,
    /// `||`: one of them holds.
    Or,
    /// `->`: if the first holds, so does the second.
    Implies,
    /// `<->`: both hold, or neither does.
    Equivalent,
    /// `U`: the second holds here or later, and the first until then.
    Until,
    /// `W`: as `U`, or the first holds for ever.
    WeakUntil,
    /// `V`: the second holds up to and including when the first holds, or for ever.
    Release,
}

impl Unary {
    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Not => "!",
            Self::Next => "X",
            Self::Always => "[]",
            Self::Eventually => "<>",
        }
    }
}

impl Binary {
    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Self::And => "&&",
            Self::Or => "||",
            Self::Implies => "->",
            Self::Equivalent => "<->",
            Self::Until => "U",
            Self::WeakUntil => "W",
            Self::Release => "V",
        }
    }
}

impl Formula {
    /// `operator operand`.
    pub fn unary(operator: Unary, operand: Self) -> Self {
        Self::Unary(operator, Box::new(operand))
    }

    /// `left operator right`.
    pub fn binary(operator: Binary, left: Self, right: Self) -> Self {
        Self::Binary(operator, Box::new(left), Box::new(right))
    }

    /// The number of its operators and operands.
    pub fn size(&self) -> usize {
        match self {
            Self::Constant(_) | Self::Atom(_) => 1,
            Self::Unary(_, operand) => 1 + operand.size(),
            Self::Binary(_, left, right) => 1 + left.size() + right.size(),
        }
    }

    /// The formula in SPIN's syntax, with the atoms' own texts and all parentheses.
    pub fn display<'a>(&'a self, atoms: &'a [String]) -> impl fmt::Display + 'a {
        Shown { formula: self, atoms }
    }

    /// Whether it holds on the word `letters`, whose positions from `loop_start` on are repeated
    /// for ever. A letter is the set of atoms that hold, as bits.
    ///
    /// The definition of the logic, computed as it stands: what automata are held against.
    ///
    /// # Panics
    ///
    /// If `loop_start` is not a position of the word.
    pub fn holds_on(&self, letters: &[u64], loop_start: usize) -> bool {
        assert!(loop_start < letters.len(), "a lasso has a loop");
        self.positions(letters, loop_start)[0]
    }

    /// For each position of a lasso whether the formula holds there.
    fn positions(&self, letters: &[u64], loop_start: usize) -> Vec<bool> {
        let len = letters.len();
        let next = |idx: usize| if idx + 1 < len { idx + 1 } else { loop_start };
        // From an assumption about the future, twice around the loop is enough to settle.
        let settle = |begin: bool, now: &dyn Fn(usize, bool) -> bool| {
            let mut values = vec![begin; len];
            for _ in 0..2 {
                for idx in (0..len).rev() {
                    values[idx] = now(idx, values[next(idx)]);
                }
            }
            values
        };
        match self {
            Self::Constant(value) => vec![*value; len],
            Self::Atom(atom) => letters.iter().map(|letter| letter >> atom & 1 == 1).collect(),
            Self::Unary(operator, operand) => {
                let operand = operand.positions(letters, loop_start);
                match operator {
                    Unary::Not => operand.iter().map(|value| !value).collect(),
                    Unary::Next => (0..len).map(|idx| operand[next(idx)]).collect(),
                    Unary::Always => settle(true, &|idx, later| operand[idx] && later),
                    Unary::Eventually => settle(false, &|idx, later| operand[idx] || later),
                }
            }
            Self::Binary(operator, left, right) => {
                let left = left.positions(letters, loop_start);
                let right = right.positions(letters, loop_start);
                let each = |value: fn(bool, bool) -> bool| {
                    left.iter().zip(&right).map(|(&left, &right)| value(left, right)).collect()
                };
                let until = |idx: usize, later| right[idx] || left[idx] && later;
                match operator {
                    Binary::And => each(|left, right| left && right),
                    Binary::Or => each(|left, right| left || right),
                    Binary::Implies => each(|left, right| !left || right),
                    Binary::Equivalent => each(|left, right| left == right),
                    Binary::Until => settle(false, &until),
                    Binary::WeakUntil => settle(true, &until),
                    Binary::Release => {
                        settle(true, &|idx, later| right[idx] && (left[idx] || later))
                    }
                }
            }
        }
    }
}

struct Shown<'a> {
    formula: &'a Formula,
    atoms: &'a [String],
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |formula| Shown { formula, atoms: self.atoms };
        match self.formula {
            Formula::Constant(value) => write!(f, "{value}"),
            Formula::Atom(atom) => f.write_str(&shown_atom(&self.atoms[*atom])),
            Formula::Unary(operator, operand) => {
                let space = if *operator == Unary::Not { "" } else { " " };
                write!(f, "{}{space}{}", operator.sign(), part(operand))
            }
            Formula::Binary(operator, left, right) => {
                write!(f, "({} {} {})", part(left), operator.sign(), part(right))
            }
        }
    }
}

/// An atom so that nothing around it changes its meaning.
pub(crate) fn shown_atom(text: &str) -> String {
    let is_word = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_enclosed = text.starts_with('(') && closes_at(text) == Some(text.len() - 1);
    if is_word || is_enclosed { text.to_owned() } else { format!("({text})") }
}

/// Where the parenthesis that a text begins with is closed.
fn closes_at(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (idx, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(idx);
                }
            }
            _ => {}
        }
    }
    None
}
