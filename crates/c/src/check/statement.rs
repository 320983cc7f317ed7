//! Statements: loops and `switch` become labels and jumps.

use super::expression::number;
use super::{Checked, Checker, Scope};
use crate::tree::{Case, Expression, LabelId, Statement};
use crate::types::Type;
use lang_c::ast::{self, BlockItem, ForInitializer, Label};
use lang_c::span::Node;

/// A `switch` whose cases are being collected.
#[derive(Debug)]
pub(super) struct Switch {
    ty: Type,
    cases: Vec<Case>,
    default: Option<LabelId>,
}

impl<'a> Checker<'a> {
    /// A statement, added to those before it.
    pub(super) fn statement(
        &mut self,
        it: &'a Node<ast::Statement>,
        to: &mut Vec<Statement>,
    ) -> Checked<()> {
        use ast::Statement as S;
        let span = self.span(it.span);
        match &it.node {
            S::Labeled(it) => self.labeled(&it.node, to),
            S::Compound(items) => self.block(items, to),
            S::Expression(None) => Ok(()),
            S::Expression(Some(it)) => {
                to.push(Statement::Expression(self.expression(it)?));
                Ok(())
            }
            S::If(it) => {
                let condition = self.condition(&it.node.condition);
                let mut then = Vec::new();
                let done = self.scoped(&it.node.then_statement, &mut then);
                let mut otherwise = Vec::new();
                let done = match &it.node.else_statement {
                    Some(it) => self.scoped(it, &mut otherwise).and(done),
                    None => done,
                };
                to.push(Statement::If(condition?, then, otherwise));
                done
            }
            S::Switch(it) => self.switch(&it.node, to),
            S::While(it) => {
                let (again, out) = (self.label(""), self.label(""));
                to.push(Statement::Label(again));
                let done = self.unless(&it.node.expression, out, to);
                let done = self.looped(&it.node.statement, out, again, to).and(done);
                to.push(Statement::Goto(again));
                to.push(Statement::Label(out));
                done
            }
            S::DoWhile(it) => {
                let (again, next, out) = (self.label(""), self.label(""), self.label(""));
                to.push(Statement::Label(again));
                let done = self.looped(&it.node.statement, out, next, to);
                to.push(Statement::Label(next));
                let condition = self.condition(&it.node.expression)?;
                to.push(Statement::If(condition, vec![Statement::Goto(again)], Vec::new()));
                to.push(Statement::Label(out));
                done
            }
            S::For(it) => {
                self.scopes.push(Scope::default());
                let done = self.for_loop(&it.node, to);
                self.scopes.pop();
                done
            }
            S::Goto(name) => {
                let label = self.named_label(&name.node.name);
                to.push(Statement::Goto(label));
                Ok(())
            }
            S::Continue => match self.frame.continues.last() {
                Some(&label) => {
                    to.push(Statement::Goto(label));
                    Ok(())
                }
                None => Err(self.invalid(span, "`continue` outside of a loop")),
            },
            S::Break => match self.frame.breaks.last() {
                Some(&label) => {
                    to.push(Statement::Goto(label));
                    Ok(())
                }
                None => Err(self.invalid(span, "`break` outside of a loop")),
            },
            S::Return(value) => {
                let result = self.frame.result.clone().unwrap_or(Type::Void);
                let value = match value {
                    None => None,
                    Some(it) => {
                        let value = self.expression(it)?;
                        Some(self.convert(value, &result, span)?)
                    }
                };
                to.push(Statement::Return(value, span));
                Ok(())
            }
            S::Asm(it) => match &it.node {
                // A barrier for the compiler: there is none to hold back.
                ast::AsmStatement::GnuExtended(it)
                    if it.outputs.is_empty()
                        && it.inputs.is_empty()
                        && it
                            .template
                            .node
                            .iter()
                            .all(|part| part.trim_matches('"').is_empty()) =>
                {
                    Ok(())
                }
                _ => Err(self.unsupported(span, "inline assembly")),
            },
        }
    }

    fn block(&mut self, items: &'a [Node<BlockItem>], to: &mut Vec<Statement>) -> Checked<()> {
        self.scopes.push(Scope::default());
        let mut result = Ok(());
        for item in items {
            // What is wrong was reported; what follows may be wrong in other ways.
            let done = match &item.node {
                BlockItem::Declaration(it) => self.declaration(it).map(|it| to.extend(it)),
                BlockItem::StaticAssert(_) => Ok(()),
                BlockItem::Statement(it) => self.statement(it, to),
            };
            result = result.and(done);
        }
        self.scopes.pop();
        result
    }

    /// A statement with a scope of its own.
    fn scoped(&mut self, it: &'a Node<ast::Statement>, to: &mut Vec<Statement>) -> Checked<()> {
        self.scopes.push(Scope::default());
        let done = self.statement(it, to);
        self.scopes.pop();
        done
    }

    fn condition(&mut self, it: &'a Node<ast::Expression>) -> Checked<Expression> {
        let value = self.expression(it)?;
        self.truth(value)
    }

    /// Jumps to `out` unless the condition is true.
    fn unless(
        &mut self,
        it: &'a Node<ast::Expression>,
        out: LabelId,
        to: &mut Vec<Statement>,
    ) -> Checked<()> {
        let condition = self.condition(it)?;
        to.push(Statement::If(condition, Vec::new(), vec![Statement::Goto(out)]));
        Ok(())
    }

    /// The body of a loop.
    fn looped(
        &mut self,
        it: &'a Node<ast::Statement>,
        out: LabelId,
        next: LabelId,
        to: &mut Vec<Statement>,
    ) -> Checked<()> {
        self.frame.breaks.push(out);
        self.frame.continues.push(next);
        let done = self.scoped(it, to);
        self.frame.breaks.pop();
        self.frame.continues.pop();
        done
    }

    fn for_loop(&mut self, it: &'a ast::ForStatement, to: &mut Vec<Statement>) -> Checked<()> {
        let first = match &it.initializer.node {
            ForInitializer::Empty | ForInitializer::StaticAssert(_) => Ok(()),
            ForInitializer::Expression(it) => {
                self.expression(it).map(|it| to.push(Statement::Expression(it)))
            }
            ForInitializer::Declaration(it) => self.declaration(it).map(|it| to.extend(it)),
        };
        let (again, next, out) = (self.label(""), self.label(""), self.label(""));
        to.push(Statement::Label(again));
        let condition = match &it.condition {
            Some(it) => self.unless(it, out, to),
            None => Ok(()),
        };
        let body = self.looped(&it.statement, out, next, to);
        to.push(Statement::Label(next));
        let step = match &it.step {
            Some(it) => self.expression(it).map(|it| to.push(Statement::Expression(it))),
            None => Ok(()),
        };
        to.push(Statement::Goto(again));
        to.push(Statement::Label(out));
        first.and(condition).and(body).and(step)
    }

    fn switch(&mut self, it: &'a ast::SwitchStatement, to: &mut Vec<Statement>) -> Checked<()> {
        let value = self.expression(&it.expression)?;
        let span = value.span;
        let Type::Int(int) = value.ty else {
            return Err(self.invalid(span, "`switch` over what is no integer"));
        };
        let ty = Type::Int(int.promoted());
        let value = self.convert(value, &ty, span)?;
        let out = self.label("");
        self.frame.switches.push(Switch { ty, cases: Vec::new(), default: None });
        self.frame.breaks.push(out);
        let mut body = Vec::new();
        let done = self.scoped(&it.statement, &mut body);
        self.frame.breaks.pop();
        let Switch { cases, default, .. } = self.frame.switches.pop().expect("it was put there");
        to.push(Statement::Switch(value, cases, default.unwrap_or(out)));
        to.extend(body);
        to.push(Statement::Label(out));
        done
    }

    fn labeled(&mut self, it: &'a ast::LabeledStatement, to: &mut Vec<Statement>) -> Checked<()> {
        let span = self.span(it.label.span);
        let label = match &it.label.node {
            Label::Identifier(name) => self.named_label(&name.node.name),
            Label::Case(value) => {
                let label = self.label("");
                let low = self.case_value(value)?;
                self.add_case(Case { low, high: low, label }, span)?;
                label
            }
            Label::CaseRange(range) => {
                let label = self.label("");
                let low = self.case_value(&range.node.low)?;
                let high = self.case_value(&range.node.high)?;
                self.add_case(Case { low, high, label }, span)?;
                label
            }
            Label::Default => {
                let label = self.label("");
                match self.frame.switches.last_mut() {
                    Some(switch) => switch.default = Some(label),
                    None => return Err(self.invalid(span, "`default` outside of `switch`")),
                }
                label
            }
        };
        to.push(Statement::Label(label));
        self.statement(&it.statement, to)
    }

    fn add_case(&mut self, case: Case, span: mazurka_source::Span) -> Checked<()> {
        match self.frame.switches.last_mut() {
            Some(switch) => {
                switch.cases.push(case);
                Ok(())
            }
            None => Err(self.invalid(span, "`case` outside of `switch`")),
        }
    }

    /// The value of a `case`, in the type of its `switch`.
    fn case_value(&mut self, it: &'a Node<ast::Expression>) -> Checked<i64> {
        let span = self.span(it.span);
        let ty = self.frame.switches.last().map_or(Type::INT, |switch| switch.ty.clone());
        let value = self.constant_int(it)?;
        let value = number(value, Type::Int(crate::types::Int::Long), span);
        let value = self.convert(value, &ty, span)?;
        match super::fold(&value) {
            Some(crate::tree::Constant::Int(value)) => Ok(value),
            _ => Err(self.invalid(span, "a `case` whose value is not known beforehand")),
        }
    }

    fn named_label(&mut self, name: &str) -> LabelId {
        if let Some(&label) = self.frame.labels.get(name) {
            return label;
        }
        let label = self.label(name);
        self.frame.labels.insert(name.to_owned(), label);
        label
    }
}
