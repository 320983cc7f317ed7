//! Lowering: from the tree to a [`Program`]; names, types, and the graphs of the processes.
//!
//! A process may ask where another one stands, and what that one's variables hold, before that
//! other type of process has been read. So everything is lowered twice: the first time to know all
//! labels and variables ([`Known`]), the second time for good.

mod declaration;
mod expression;
mod graph;
mod statement;
mod types;

use crate::fault::code;
use crate::tree::{Expression, ExpressionKind, Name, Proctype, Sequence, TypeName, Unit};
use crate::{Model, lexer, parse};
use graph::{ElementId, ElementKind, Graph};
use mazurka_ltl::{Formula, ParseError};
use mazurka_model::{
    Action, Exclusive, Expr, FrameObject, LocationId, ObjectIdx, Process, Program, Register,
    RegisterId, Routine, RoutineId, Span as ModelSpan, Symbol, SymbolSet, Trace, Type,
};
use mazurka_source::{Fault, Sources, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use types::{Shape, Struct, Variable};

/// A fault was told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported;

pub(crate) type Lowered<T> = Result<T, Reported>;

/// The most processes there can be.
const MOST_PROCESSES: i32 = 255;

/// The program that units make, or all that is wrong with them.
pub(crate) fn lower(
    name: &str,
    sources: &Sources,
    units: &[Unit],
) -> Result<Model, Vec<(Fault, Span)>> {
    let mut first = Lowerer::new(name, sources, None);
    first.units(units);
    let (known, mut faults) = (first.found, first.faults);
    let mut second = Lowerer::new(name, sources, Some(&known));
    let model = second.units(units);
    // Both find the same, but for what only the second can know.
    faults.extend(second.faults);
    match faults.is_empty() {
        true => Ok(model),
        false => Err(faults),
    }
}

/// What is known of all processes once they were read: keys are a type of process and a name in it.
#[derive(Debug, Default)]
struct Known {
    /// The labels that are places of their own.
    labels: FxHashMap<(String, String), LocationId>,
    all_labels: FxHashSet<(String, String)>,
    locals: FxHashMap<(String, String), Variable>,
    /// The labels that others ask about.
    remote_labels: FxHashSet<(String, String)>,
    /// How many fields the longest messages have.
    most_fields: usize,
}

struct Lowerer<'a> {
    sources: &'a Sources,
    program: Program,
    faults: Vec<(Fault, Span)>,
    known: Option<&'a Known>,
    found: Known,
    structs: Vec<Struct>,
    /// The set and the value of each name of a value.
    symbols: FxHashMap<String, (SymbolSet, i32)>,
    /// The subtypes of `mtype`, with how many symbols each has.
    symbol_sets: Vec<(String, i32)>,
    globals: FxHashMap<String, Variable>,
    /// What variables of the program hold in the beginning, where that is not zero.
    first_values: FxHashMap<(ObjectIdx, u32), i64>,
    /// How many channels the program has.
    n_channels: u32,
    /// How many bytes its variables have.
    n_bytes: u64,
    routines: FxHashMap<String, RoutineId>,
    /// The types of parameters, with the widths that some have.
    parameters: FxHashMap<String, Vec<(TypeName, Option<i32>)>>,
    /// Labels that others ask about, as far as they were seen.
    remote_labels: FxHashSet<(String, String)>,
    /// The names of the formulas that were read.
    formula_names: FxHashSet<String>,
    /// The process that is being read.
    process: InProgress,
    /// The number that SPIN gives to the next element of a graph.
    next_number: u32,
}

/// A process that is being read.
#[derive(Default)]
struct InProgress {
    name: String,
    is_claim: bool,
    registers: Vec<Register>,
    objects: Vec<FrameObject>,
    prologue: Vec<Action>,
    /// How many bytes its variables have.
    n_bytes: u64,
    exclusive: Vec<Exclusive>,
    graph: Graph,
    /// The blocks that are open: the names declared in each.
    scopes: Vec<FxHashMap<String, Variable>>,
    /// The numbers of the blocks that are open.
    path: Vec<u32>,
    n_blocks: u32,
    /// Where `break` goes, for each loop that is open.
    exits: Vec<ElementId>,
    /// Whether nothing but declarations was read.
    is_at_start: bool,
    /// Whether it is about the inside of a `d_step`.
    is_indivisible: bool,
    /// The number of the process that the statement at hand has started, until it is asked for.
    born: Option<RegisterId>,
}

impl<'a> Lowerer<'a> {
    fn new(name: &str, sources: &'a Sources, known: Option<&'a Known>) -> Self {
        Self {
            sources,
            program: Program::new(name),
            faults: Vec::new(),
            known,
            found: Known::default(),
            structs: Vec::new(),
            symbols: FxHashMap::default(),
            symbol_sets: Vec::new(),
            globals: FxHashMap::default(),
            first_values: FxHashMap::default(),
            n_channels: 0,
            n_bytes: 0,
            routines: FxHashMap::default(),
            parameters: FxHashMap::default(),
            remote_labels: FxHashSet::default(),
            formula_names: FxHashSet::default(),
            process: InProgress::default(),
            next_number: 0,
        }
    }

    fn fault<T>(&mut self, code: &'static str, message: &str, span: Span) -> Lowered<T> {
        self.faults.push((Fault::new(code, message), span));
        Err(Reported)
    }

    fn span(&mut self, span: Span) -> ModelSpan {
        model_span(&mut self.program, self.sources, span)
    }

    fn units(&mut self, units: &[Unit]) -> Model {
        for unit in units {
            if let Unit::Proctype(proctype) = unit {
                self.announce(proctype);
            }
        }
        for unit in units {
            // What is wrong was told; the rest may have faults of its own.
            let _ = self.unit(unit);
        }
        let formulas = units.iter().filter(|unit| matches!(unit, Unit::Formula { .. }));
        let formulas = formulas.enumerate();
        let formulas = formulas.filter_map(|(idx, unit)| self.formula(unit, idx).ok().flatten());
        let formulas = formulas.collect();
        let mut propositions = Vec::new();
        for unit in units {
            if let Unit::Proposition { text, span } = unit {
                self.process = InProgress::default();
                propositions.extend(self.proposition(text, *span));
            }
        }
        if self.program.processes.is_empty() && self.faults.is_empty() {
            let fault = Fault::new(code::NO_PROCESS, "no runable process")
                .help("write `init { … }`, or `active` in front of a `proctype`");
            self.faults.push((fault, Span::default()));
        }
        self.found.remote_labels = std::mem::take(&mut self.remote_labels);
        let program = std::mem::take(&mut self.program);
        Model { program, formulas, asked: Vec::new(), propositions }
    }

    /// Gives a type of processes its number, and notes its parameters.
    fn announce(&mut self, proctype: &Proctype) {
        let name = &proctype.name;
        if self.routines.contains_key(&name.text) {
            let message = format!("proctype {} redeclared", name.text);
            let _ = self.fault::<()>(code::NAME, &message, name.span);
            return;
        }
        let id = self.program.declare(&name.text);
        self.routines.insert(name.text.clone(), id);
        let mut parameters = Vec::new();
        for declaration in &proctype.parameters {
            for variable in &declaration.variables {
                if variable.count.is_some() {
                    let message = format!("array in parameter list, {}", variable.name.text);
                    let _ = self.fault::<()>(code::TYPE, &message, variable.name.span);
                }
                parameters.push((declaration.ty.clone(), variable.width));
            }
        }
        self.parameters.insert(name.text.clone(), parameters);
    }

    fn routine_of(&self, name: &str) -> Option<RoutineId> {
        self.routines.get(name).copied()
    }

    fn unit(&mut self, unit: &Unit) -> Lowered<()> {
        match unit {
            Unit::Declaration(declaration) => self.global(declaration),
            Unit::Struct { name, fields } => self.define_struct(name, fields),
            Unit::Symbols { subtype, names } => {
                self.define_symbols(subtype.as_ref(), names);
                Ok(())
            }
            Unit::Proctype(proctype) => self.proctype(proctype),
            Unit::Never { name, body, span } => self.claim(name.as_ref(), body, *span),
            Unit::Trace { is_forbidden, body, span } => self.trace(*is_forbidden, body, *span),
            Unit::Formula { .. } | Unit::Proposition { .. } => Ok(()),
        }
    }

    /// The last symbol of a list is the smallest, and a later list goes on from there.
    fn define_symbols(&mut self, subtype: Option<&Name>, names: &[Name]) {
        let set = self.symbol_set(subtype.map(|name| name.text.as_str()));
        let known = &mut self.symbol_sets[set.0 as usize].1;
        let before = *known;
        *known += names.len() as i32;
        for (idx, name) in names.iter().enumerate() {
            let value = before + (names.len() - idx) as i32;
            if self.symbols.insert(name.text.clone(), (set, value)).is_some() {
                let message = format!("`{}` redeclared", name.text);
                let _ = self.fault::<()>(code::NAME, &message, name.span);
            }
            let symbol = Symbol { name: name.text.clone(), value: value as u64, set };
            self.program.symbols.push(symbol);
        }
        if before + names.len() as i32 > 255 {
            let _ = self.fault::<()>(code::TYPE, "too many mtype elements (>255)", names[0].span);
        }
    }

    fn proctype(&mut self, proctype: &Proctype) -> Lowered<()> {
        let name = &proctype.name;
        let id = self.routine_of(&name.text).ok_or(Reported)?;
        self.process = InProgress { name: name.text.clone(), ..InProgress::default() };
        self.process.scopes.push(FxHashMap::default());
        for declaration in &proctype.parameters {
            let _ = self.local(declaration, &mut graph::Sequence::default(), true);
        }
        let n_parameters = self.process.registers.len() as u32;
        let provided = match &proctype.provided {
            Some(condition) => Some(self.provided(condition)?),
            None => None,
        };
        let (routine, n_bytes) = self.routine(&proctype.body, name.span);
        let priority = self.priority(proctype.priority.unwrap_or(1), name.span)?;
        self.program.has_priorities |= proctype.priority.is_some();
        self.program.define(id, Routine { n_parameters, provided, priority, ..routine });
        let n_active = match &proctype.active {
            Some(count) => self.constant(count)?,
            None => 0,
        };
        if n_active.saturating_add(self.program.processes.len() as i32) > MOST_PROCESSES {
            return self.fault(code::TYPE, "max nr of processes is 255", name.span);
        }
        self.n_bytes += n_bytes * u64::from(n_active.unsigned_abs());
        if self.n_bytes > declaration::MOST_BYTES {
            return self.too_large(declaration::MOST_BYTES, name);
        }
        for _ in 0..n_active {
            let arguments = vec![0; n_parameters as usize];
            let process = Process { name: name.text.clone(), routine: id, arguments };
            self.program.processes.push(process);
        }
        Ok(())
    }

    /// What has to be true for a process to move.
    fn provided(&mut self, condition: &Expression) -> Lowered<Expr> {
        match condition.kind {
            ExpressionKind::Run { .. } => {
                self.fault(code::TYPE, "invalid PROVIDED clause", condition.span)
            }
            _ => self.truth(condition),
        }
    }

    /// A priority that is a number in the text.
    fn priority(&mut self, priority: i32, span: Span) -> Lowered<u8> {
        match u8::try_from(priority) {
            Ok(priority) if priority > 0 => Ok(priority),
            _ => {
                let message = "bad process priority, valid range: 1..255";
                self.fault(code::TYPE, message, span)
            }
        }
    }

    fn claim(&mut self, name: Option<&Name>, body: &Sequence, span: Span) -> Lowered<()> {
        if self.program.claim.is_some() {
            let fault = Fault::new(code::UNSUPPORTED, "more than one never claim")
                .help("keep one, or write the properties as `ltl` blocks");
            self.faults.push((fault, span));
            return Err(Reported);
        }
        let name = name.map_or_else(|| "never".to_owned(), |name| name.text.clone());
        self.process = InProgress { name, is_claim: true, ..InProgress::default() };
        self.process.scopes.push(FxHashMap::default());
        let (routine, _) = self.routine(body, span);
        let is_message = |action: &Action| matches!(action, Action::Send(_) | Action::Receive(_));
        if routine.edges().any(|(_, edge)| is_message(&edge.action)) {
            return self.fault(code::TYPE, "never claim contains i/o stmnts", span);
        }
        self.program.claim = Some(self.program.add_routine(routine));
        Ok(())
    }

    fn trace(&mut self, is_forbidden: bool, body: &Sequence, span: Span) -> Lowered<()> {
        if self.program.trace.is_some() {
            let name = if is_forbidden { "notrace" } else { "trace" };
            return self.fault(code::NAME, &format!("{name} redefined"), span);
        }
        let name = if is_forbidden { "notrace" } else { "trace" }.to_owned();
        self.process = InProgress { name, is_claim: true, ..InProgress::default() };
        self.process.scopes.push(FxHashMap::default());
        let (routine, _) = self.routine(body, span);
        let is_event = |action: &Action| {
            matches!(
                action,
                Action::Send(_) | Action::Receive(_) | Action::Skip | Action::Return { .. }
            )
        };
        if let Some((_, edge)) = routine.edges().find(|(_, edge)| !is_event(&edge.action)) {
            let message = format!("not an event: {}", edge.text);
            return self.fault(code::TYPE, &message, span);
        }
        let routine = self.program.add_routine(routine);
        self.program.trace = Some(Trace { routine, is_forbidden });
        Ok(())
    }

    /// The graph of a body, and how many bytes the variables of a process have that runs it.
    fn routine(&mut self, body: &Sequence, span: Span) -> (Routine, u64) {
        self.process.is_at_start = true;
        self.process.graph.next_number = self.next_number;
        let mut sequence = graph::Sequence::default();
        self.statements(body, &mut sequence);
        let end = self.process.graph.add(ElementKind::End, span, "-end-");
        self.process.graph.append(&mut sequence, end);
        self.next_number = self.process.graph.next_number;
        let process = std::mem::take(&mut self.process);
        let first = process.graph.close(&sequence).expect("there is at least its end").first;
        let locals = process.scopes.into_iter().flatten();
        for (name, variable) in locals {
            self.found.locals.insert((process.name.clone(), name), variable);
        }
        let (program, sources) = (&mut self.program, self.sources);
        let mut spans = |span: Span| model_span(program, sources, span);
        let (shape, wrong) = process.graph.finish(first, &mut spans);
        for (message, span) in wrong {
            let _ = self.fault::<()>(code::CONTROL, &message, span);
        }
        for (label, location) in shape.labels {
            self.found.labels.insert((process.name.clone(), label), location);
        }
        let n_bytes = process.n_bytes;
        let routine = Routine {
            name: process.name,
            registers: process.registers,
            n_parameters: 0,
            result: None,
            objects: process.objects,
            locations: shape.locations,
            start: shape.start,
            end: shape.end,
            prologue: process.prologue,
            provided: None,
            priority: 1,
            exclusive: process.exclusive,
            span: self.span(span),
        };
        (routine, n_bytes)
    }

    fn lookup(&self, name: &str) -> Option<Variable> {
        if let Some(variable) = self.lookup_in_c(name) {
            return variable;
        }
        let local = self.process.scopes.iter().rev().find_map(|scope| scope.get(name));
        local.or_else(|| self.globals.get(name)).cloned()
    }

    /// What a name in embedded C stands for, if it is one of the model or of the process: numbers,
    /// and none of a channel.
    fn lookup_in_c(&self, name: &str) -> Option<Option<Variable>> {
        let variable = match (name.strip_prefix(parse::GLOBAL), name.split_once("->")) {
            (Some(name), _) => self.globals.get(name),
            // Variables of blocks have other names in C.
            (None, Some((process, name))) if process.strip_prefix('P')? == self.process.name => {
                self.process.scopes.first().and_then(|scope| scope.get(name))
            }
            (None, Some(_)) => None,
            (None, None) => return None,
        };
        let is_channel = |it: &&Variable| matches!(it.shape, Shape::Scalar(it) if it.is_channel);
        Some(variable.filter(|it| !is_channel(it)).cloned())
    }

    fn add_register(&mut self, name: &str, ty: Type, span: Span) -> RegisterId {
        let span = self.span(span);
        let name = name.to_owned();
        self.process.registers.push(Register { name, ty, is_channel: false, span });
        RegisterId(self.process.registers.len() as u32 - 1)
    }

    /// A formula, with what its propositions mean. One without a name has its number, as in SPIN.
    fn formula(&mut self, unit: &Unit, idx: usize) -> Lowered<Option<crate::NamedFormula>> {
        let Unit::Formula { name, text, span } = unit else { return Ok(None) };
        if let Some(name) = name
            && !self.formula_names.insert(name.text.clone())
        {
            return self.fault(code::NAME, &format!("claim {} redefined", name.text), name.span);
        }
        self.process = InProgress::default();
        let text = without_markers(text);
        let within = |start: usize, end: usize| Span {
            start: span.start + start as u32,
            end: span.start + end as u32,
            ..*span
        };
        let (mut atoms, mut places) = (Vec::new(), Vec::new());
        let formula = match Formula::parse_placed(&text, &mut atoms, &mut places) {
            Ok(formula) => formula,
            Err(ParseError { offset, len, expected, found, help }) => {
                let fault =
                    Fault::new(code::FORMULA, format!("expected {expected}, found {found}"));
                let fault = match help {
                    Some(help) => fault.help(format!("`{help}` is what may be meant")),
                    None => fault,
                };
                self.faults.push((fault, within(offset, offset + len)));
                return Err(Reported);
            }
        };
        let propositions: Vec<Lowered<Expr>> = places
            .iter()
            .map(|it| self.proposition(&text[it.clone()], within(it.start, it.end)))
            .collect();
        let propositions = propositions.into_iter().collect::<Lowered<_>>()?;
        let name = name.as_ref().map_or_else(|| format!("ltl_{idx}"), |name| name.text.clone());
        Ok(Some(crate::NamedFormula { name, formula, atoms, propositions }))
    }

    /// What a proposition at a place means: a truth value.
    fn proposition(&mut self, text: &str, span: Span) -> Lowered<Expr> {
        let n_before = self.faults.len();
        let (tokens, faults) = lexer::tokens(text, span.text_idx);
        let proctypes: Vec<String> = self.routines.keys().cloned().collect();
        let parsed = parse::parse_expression(text, tokens, &proctypes);
        self.faults.extend(faults);
        let proposition = match parsed {
            Ok(expression) => self.truth(&expression),
            Err(more) => {
                self.faults.extend(more);
                Err(Reported)
            }
        };
        // The text was cut out, so its places count from where it stood.
        for (_, place) in &mut self.faults[n_before..] {
            let start = (span.start + place.start).min(span.end);
            let end = (span.start + place.end).clamp(start, span.end);
            *place = if start < end { Span { start, end, ..span } } else { span };
        }
        if self.faults.len() > n_before { Err(Reported) } else { proposition }
    }
}

/// A text with spaces in place of the lines that only say where others come from.
fn without_markers(text: &str) -> String {
    let blank = |line: &str| match line.starts_with('#') {
        true => " ".repeat(line.len()),
        false => line.to_owned(),
    };
    text.split_inclusive('\n').map(blank).collect()
}

fn model_span(program: &mut Program, sources: &Sources, span: Span) -> ModelSpan {
    if sources.texts.is_empty() {
        return ModelSpan::NONE;
    }
    let spot = sources.spot(span);
    ModelSpan { file: program.file(&spot.file), line: spot.line, column: spot.column }
}
