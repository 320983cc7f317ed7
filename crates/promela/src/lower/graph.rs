//! Control-flow graphs of processes: which places are states, and which steps lead from one to the
//! next.
//!
//! Two readers of a model must agree on this to agree on the number of its states. So the rules are
//! SPIN's, to the letter: statements are *elements* in sequences, each with the one that follows
//! it. A jump (`goto`, `break`, the end of an option) is no step of its own where it follows a
//! step, but it is one where it comes first in an option, or where it leads out of an atomic
//! sequence. A block is a place of its own, apart from the place of its first statement. The first
//! steps of all options are the steps of the selection.

use crate::tree::Name;
use mazurka_model::{
    Action, Branching, Edge, Expr, Labels, Location, LocationId, Span as ModelSpan,
};
use mazurka_source::Span;

/// An element, by the order in which they were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ElementId(pub(crate) usize);

/// Elements, one behind the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    pub(crate) first: ElementId,
    pub(crate) last: ElementId,
    /// The last one that was written; `last` may be where all options go on.
    extent: ElementId,
}

#[derive(Debug)]
pub(crate) enum ElementKind {
    /// A statement.
    Step {
        guard: Option<Expr>,
        otherwise: bool,
        action: Action,
    },
    /// Where the options of a selection meet, and where a loop goes round.
    Meet,
    /// Behind a loop.
    Exit,
    Goto(Target),
    /// A selection, or the head of a loop.
    Choice(Vec<Chain>),
    Block {
        chain: Chain,
        kind: BlockKind,
    },
    Unless {
        main: Chain,
        escape: Chain,
    },
    /// The end of the process.
    End,
    /// The end of an indivisible step.
    StepEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Plain,
    Atomic,
    Indivisible,
}

/// Where a jump goes.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Label(Name, Vec<u32>),
    Element(ElementId),
}

#[derive(Debug)]
struct Element {
    kind: ElementKind,
    next: Option<ElementId>,
    /// Whether others do not run behind it.
    atom: bool,
    /// Whether it is the last of an atomic sequence.
    ends_atom: bool,
    /// Of an atomic block, the last element in it.
    end_of_atom: Option<ElementId>,
    /// Which indivisible step it is in, if it is in one.
    within: Option<ElementId>,
    /// The escapes that are open to it, the outermost first.
    escapes: Vec<Chain>,
    labels: Labels,
    name: Option<String>,
    span: Span,
    text: String,
    /// The number that SPIN gives it: by the order in which SPIN makes its elements.
    number: Option<u32>,
}

#[derive(Debug)]
struct Label {
    name: Name,
    scope: Vec<u32>,
    element: ElementId,
}

/// All elements of a process.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    elements: Vec<Element>,
    labels: Vec<Label>,
    /// What is wrong with jumps and labels.
    pub(crate) wrong: Vec<(String, Span)>,
    /// The number that SPIN gives to the next element.
    pub(crate) next_number: u32,
}

/// A sequence in the making.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    first: Option<ElementId>,
    last: Option<ElementId>,
}

/// A step that leads away from a place.
#[derive(Clone, Copy, Debug)]
struct Way {
    source: ElementId,
    escape: Option<ElementId>,
}

/// What a process looks like in the end.
pub(crate) struct Shape {
    pub(crate) locations: Vec<Location>,
    pub(crate) start: LocationId,
    pub(crate) end: LocationId,
    /// The labels that are places of their own.
    pub(crate) labels: Vec<(String, LocationId)>,
}

impl Graph {
    pub(crate) fn add(&mut self, kind: ElementKind, span: Span, text: &str) -> ElementId {
        // SPIN makes the end of a loop behind the loop, and needs none for an indivisible step.
        let is_counted = !matches!(kind, ElementKind::Exit | ElementKind::StepEnd);
        let number = is_counted.then_some(self.next_number);
        self.next_number += u32::from(is_counted);
        self.elements.push(Element {
            kind,
            next: None,
            atom: false,
            ends_atom: false,
            end_of_atom: None,
            within: None,
            escapes: Vec::new(),
            labels: Labels::default(),
            name: None,
            span,
            text: text.to_owned(),
            number,
        });
        ElementId(self.elements.len() - 1)
    }

    fn at(&self, id: ElementId) -> &Element {
        &self.elements[id.0]
    }

    fn at_mut(&mut self, id: ElementId) -> &mut Element {
        &mut self.elements[id.0]
    }

    /// Adds an element at the end of a sequence.
    pub(crate) fn append(&mut self, sequence: &mut Sequence, id: ElementId) {
        match sequence.last {
            Some(last) => self.at_mut(last).next = Some(id),
            None => sequence.first = Some(id),
        }
        sequence.last = Some(id);
    }

    /// The sequence as it is; `None` if nothing was added to it.
    pub(crate) fn close(&self, sequence: &Sequence) -> Option<Chain> {
        let (first, last) = (sequence.first?, sequence.last?);
        Some(Chain { first, last, extent: last })
    }

    pub(crate) fn label(&mut self, name: &Name, scope: &[u32], element: ElementId) {
        let is_known = |label: &Label| label.name.text == name.text && label.scope == scope;
        if self.labels.iter().any(is_known) {
            self.wrong.push((format!("label {} redeclared", name.text), name.span));
        }
        self.labels.push(Label { name: name.clone(), scope: scope.to_vec(), element });
        let begins = |word: &str| name.text.starts_with(word);
        let element = self.at_mut(element);
        element.labels.end |= begins("end");
        element.labels.progress |= begins("progress");
        element.labels.accept |= begins("accept");
        element.name.get_or_insert_with(|| name.text.clone());
    }

    /// A selection: `is_loop` for one that goes round. The element is where its labels go.
    pub(crate) fn choice(
        &mut self,
        sequence: &mut Sequence,
        mut options: Vec<Chain>,
        exit: Option<ElementId>,
        span: Span,
    ) -> ElementId {
        let is_else = |graph: &Self, chain: &Chain| {
            matches!(graph.at(chain.first).kind, ElementKind::Step { otherwise: true, .. })
        };
        if options.iter().filter(|option| is_else(self, option)).count() > 1 {
            self.wrong.push(("duplicate `else'".to_owned(), span));
        }
        options.sort_by_key(|option| is_else(self, option));
        let head = self.add(ElementKind::Choice(Vec::new()), span, "");
        let meet = self.add(ElementKind::Meet, span, "");
        for option in &mut options {
            self.at_mut(option.last).next = Some(meet);
            option.last = meet;
        }
        self.at_mut(head).kind = ElementKind::Choice(options);
        match exit {
            Some(exit) => {
                self.at_mut(exit).number = Some(self.next_number);
                self.next_number += 1;
                self.append(sequence, meet);
                self.append(sequence, head);
                self.append(sequence, exit);
            }
            None => {
                self.append(sequence, head);
                self.append(sequence, meet);
            }
        }
        head
    }

    pub(crate) fn unless(
        &mut self,
        sequence: &mut Sequence,
        mut main: Chain,
        mut escape: Chain,
        span: Span,
    ) -> ElementId {
        let head = self.add(ElementKind::Unless { main, escape }, span, "");
        let meet = self.add(ElementKind::Meet, span, "");
        for chain in [&mut main, &mut escape] {
            self.at_mut(chain.last).next = Some(meet);
            chain.last = meet;
        }
        self.at_mut(head).kind = ElementKind::Unless { main, escape };
        self.attach(main, escape);
        self.append(sequence, head);
        self.append(sequence, meet);
        head
    }

    /// Opens an escape to everything in a chain.
    fn attach(&mut self, chain: Chain, escape: Chain) {
        let mut at = Some(chain.first);
        while let Some(id) = at {
            self.attach_to(id, escape);
            if id == chain.extent {
                break;
            }
            at = self.at(id).next;
        }
    }

    fn attach_to(&mut self, id: ElementId, escape: Chain) {
        if self.at(id).escapes.iter().any(|open| open.first == escape.first) {
            return;
        }
        for inner in self.at(id).escapes.clone() {
            self.attach(inner, escape);
        }
        self.at_mut(id).escapes.insert(0, escape);
        match &self.at(id).kind {
            ElementKind::Unless { main, .. } => self.attach(*main, escape),
            ElementKind::Choice(options) => {
                options.clone().into_iter().for_each(|option| self.attach(option, escape));
            }
            ElementKind::Block { chain, kind: BlockKind::Indivisible } => {
                self.attach_to(chain.first, escape);
            }
            ElementKind::Block { chain, .. } => self.attach(*chain, escape),
            _ => {}
        }
    }

    /// Makes a block atomic: no other process runs between the elements of its chain.
    pub(crate) fn make_atomic(&mut self, block: ElementId, chain: Chain) {
        self.walk_atomic(chain);
        let end = self.end_of(chain);
        self.at_mut(block).end_of_atom = Some(end);
        let last = self.at_mut(end);
        last.atom = false;
        last.ends_atom = true;
    }

    /// The last element of a chain, within the blocks that are last.
    fn end_of(&self, chain: Chain) -> ElementId {
        let mut last = chain.last;
        loop {
            let element = self.at(last);
            last = match &element.kind {
                ElementKind::Block { kind: BlockKind::Indivisible, .. } => return last,
                ElementKind::Block { chain, .. } => match element.end_of_atom {
                    Some(end) => return end,
                    None => chain.last,
                },
                ElementKind::Unless { main, .. } => main.last,
                _ => return last,
            };
        }
    }

    /// Has everything in a chain keep control. In a block that is atomic already, that is so but
    /// for its last element: nested blocks are walked once.
    fn walk_atomic(&mut self, chain: Chain) {
        let mut at = chain.first;
        loop {
            let element = self.at_mut(at);
            element.atom = true;
            let end_of_atom = element.end_of_atom;
            let within = match &mut element.kind {
                ElementKind::Block { kind: BlockKind::Indivisible, .. } => Vec::new(),
                ElementKind::Block { chain, kind } => {
                    *kind = BlockKind::Plain;
                    match end_of_atom {
                        Some(_) => Vec::new(),
                        None => vec![*chain],
                    }
                }
                ElementKind::Choice(options) => options.clone(),
                ElementKind::Unless { main, escape } => vec![*main, *escape],
                _ => Vec::new(),
            };
            if let Some(end) = end_of_atom {
                self.at_mut(end).atom = true;
            }
            within.into_iter().for_each(|chain| self.walk_atomic(chain));
            match self.at(at).next {
                Some(next) if at != chain.last => at = next,
                _ => return,
            }
        }
    }

    /// Makes a chain one step: `block`, with everything that was made since `first`.
    pub(crate) fn make_indivisible(&mut self, chain: Chain, first: ElementId, block: ElementId) {
        let end = self.add(ElementKind::StepEnd, self.at(block).span, "");
        self.at_mut(chain.last).next = Some(end);
        let block_idx = block.0 - first.0;
        for (idx, element) in self.elements[first.0..].iter_mut().enumerate() {
            if idx == block_idx {
                continue;
            }
            element.within = Some(block);
            // Blocks within are parts of the same step.
            if let ElementKind::Block { kind, .. } = &mut element.kind {
                *kind = BlockKind::Plain;
            }
        }
    }

    /// Takes the numbers of all elements that were made since `first` back: SPIN has none of them.
    pub(crate) fn uncount(&mut self, first: ElementId) {
        for element in &mut self.elements[first.0..] {
            self.next_number -= u32::from(element.number.take().is_some());
        }
    }

    /// The number that the next element is going to have.
    pub(crate) fn next_id(&self) -> ElementId {
        ElementId(self.elements.len())
    }

    fn target(&mut self, id: ElementId) -> Option<ElementId> {
        let (name, scope) = match &self.at(id).kind {
            ElementKind::Goto(Target::Element(target)) => return Some(*target),
            ElementKind::Goto(Target::Label(name, scope)) => (name.clone(), scope.clone()),
            _ => return None,
        };
        let same = self.labels.iter().filter(|label| label.name.text == name.text);
        let rank = |label: &&Label| match scope.starts_with(&label.scope) {
            true => label.scope.len() + 1,
            false => 0,
        };
        let found = same.max_by_key(rank).map(|label| label.element);
        if found.is_none() {
            self.wrong.push((format!("undefined label {}", name.text), name.span));
            let target = ElementId(0);
            self.at_mut(id).kind = ElementKind::Goto(Target::Element(target));
        }
        found
    }

    /// Lets the ends of blocks lead on, and jumps keep or lose control.
    fn tie(&mut self) {
        // A block is made behind what is in it, and what is last in one goes on where that one
        // does.
        for idx in (0..self.elements.len()).rev() {
            let next = self.elements[idx].next;
            if let ElementKind::Block { chain, kind } = self.elements[idx].kind
                && kind != BlockKind::Indivisible
            {
                self.at_mut(chain.last).next = next;
            }
        }
        for idx in 0..self.elements.len() {
            let id = ElementId(idx);
            let Some(target) = self.target(id) else { continue };
            if self.at(target).within != self.at(id).within {
                let message = match self.at(id).within {
                    Some(_) => "non_local jump in d_step sequence",
                    None => "jump into d_step sequence",
                };
                self.wrong.push((message.to_owned(), self.at(id).span));
            }
            let is_atomic = |element: &Element| element.atom || element.ends_atom;
            let goes_in = is_atomic(self.at(target));
            let element = self.at_mut(id);
            if is_atomic(element) && !goes_in {
                element.atom = false;
                element.ends_atom = true;
            } else if element.ends_atom && goes_in {
                element.ends_atom = false;
                element.atom = true;
            }
        }
    }

    /// The place that is reached by going on at an element, from a step that keeps control or not.
    fn hunt(&mut self, from: ElementId, keeps_control: bool) -> ElementId {
        let mut at = from;
        // Jumps that lead to each other and nowhere else are given up, as a place.
        for _ in 0..self.elements.len() {
            let next = match &self.at(at).kind {
                ElementKind::Goto(_) => self.target(at),
                ElementKind::Meet | ElementKind::Exit => self.at(at).next,
                ElementKind::Unless { main, .. } => Some(main.first),
                _ => return at,
            };
            match next {
                Some(next) if keeps_control && !self.at(next).atom => return at,
                Some(next) => at = next,
                None => return at,
            }
        }
        at
    }

    /// The first element of a chain that is a place or a step.
    fn beginning(&self, chain: Chain) -> ElementId {
        let mut at = chain.first;
        loop {
            at = match &self.at(at).kind {
                ElementKind::Meet => match self.at(at).next {
                    Some(next) => next,
                    None => return at,
                },
                ElementKind::Unless { main, .. } => main.first,
                _ => return at,
            };
        }
    }

    /// The steps that are possible at an element, without escapes.
    fn steps(&self, id: ElementId, ways: &mut Vec<Way>) {
        match &self.at(id).kind {
            ElementKind::Choice(options) => {
                options.iter().for_each(|option| self.steps(self.beginning(*option), ways));
            }
            ElementKind::Block { chain, kind } if *kind != BlockKind::Indivisible => {
                self.steps(self.beginning(*chain), ways);
            }
            ElementKind::Unless { main, .. } => self.steps(self.beginning(*main), ways),
            ElementKind::StepEnd => {}
            _ => ways.push(Way { source: id, escape: None }),
        }
    }

    /// The steps of all elements, with escapes in front.
    fn ways(&self) -> Vec<Vec<Way>> {
        let mut all: Vec<Vec<Way>> = (0..self.elements.len())
            .map(|idx| {
                let mut ways = Vec::new();
                self.steps(ElementId(idx), &mut ways);
                ways
            })
            .collect();
        for idx in 0..all.len() {
            let mut escaped: Vec<Way> = Vec::new();
            for way in all[idx].clone() {
                for escape in self.at(way.source).escapes.iter().rev() {
                    let group = self.beginning(*escape);
                    for step in all[group.0].clone() {
                        let known = escaped.iter().chain(&all[idx]);
                        if known.into_iter().all(|other| other.source != step.source) {
                            escaped.insert(0, Way { source: step.source, escape: Some(group) });
                        }
                    }
                }
            }
            escaped.append(&mut all[idx]);
            all[idx] = escaped;
        }
        all
    }

    /// Writes the locations of a process that begins with `first`.
    pub(crate) fn finish(
        mut self,
        first: ElementId,
        spans: &mut dyn FnMut(Span) -> ModelSpan,
    ) -> (Shape, Vec<(String, Span)>) {
        self.tie();
        let ways = self.ways();
        let mut writer = Writer {
            numbers: vec![None; self.elements.len()],
            locations: Vec::new(),
            todo: Vec::new(),
        };
        let start = self.hunt(first, false);
        let start = writer.number(&self, start);
        let end = LocationId(u32::MAX);
        while let Some(id) = writer.todo.pop() {
            let from = writer.numbers[id.0].expect("it was numbered when it was found");
            for way in &ways[id.0] {
                let edge = self.edge(*way, end, &mut writer, spans);
                writer.locations[from.0 as usize].edges.push(edge);
            }
        }
        let end = LocationId(writer.locations.len() as u32);
        writer.locations.push(Location::default());
        for edge in writer.locations.iter_mut().flat_map(|location| &mut location.edges) {
            if edge.to == LocationId(u32::MAX) {
                edge.to = end;
            }
        }
        let labels = self
            .labels
            .iter()
            .filter_map(|label| Some((label.name.text.clone(), writer.numbers[label.element.0]?)));
        let labels = labels.collect();
        (Shape { locations: writer.locations, start, end, labels }, self.wrong)
    }

    fn edge(
        &mut self,
        way: Way,
        end: LocationId,
        writer: &mut Writer,
        spans: &mut dyn FnMut(Span) -> ModelSpan,
    ) -> Edge {
        let element = self.at(way.source);
        let (keeps_control, next) = (element.atom && element.within.is_none(), element.next);
        let next = match self.at(way.source).kind {
            ElementKind::Goto(_) => self.target(way.source),
            _ => next,
        };
        let to = match next {
            Some(next) => {
                let place = self.hunt(next, keeps_control);
                writer.number(self, place)
            }
            None => end,
        };
        let (guard, otherwise, action) = match &self.at(way.source).kind {
            ElementKind::Step { guard, otherwise, action } => {
                (guard.clone(), *otherwise, action.clone())
            }
            ElementKind::Block { chain, .. } => {
                let (first, last) = (chain.first, chain.last);
                let place = self.hunt(first, false);
                let start = writer.number(self, place);
                let last = self.at(last).next.expect("an indivisible step has its end");
                let end = writer.number(self, last);
                (None, false, Action::Indivisible { start, end })
            }
            ElementKind::End => (None, false, Action::Return { value: None }),
            _ => (None, false, Action::Skip),
        };
        let element = self.at(way.source);
        Edge {
            guard,
            otherwise,
            atomic: keeps_control,
            escape: way.escape.map(|group| group.0 as u32),
            text: element.text.clone(),
            number: element.number,
            ..Edge::new(action, to, spans(element.span))
        }
    }
}

/// Numbers places as they are found.
struct Writer {
    numbers: Vec<Option<LocationId>>,
    locations: Vec<Location>,
    todo: Vec<ElementId>,
}

impl Writer {
    fn number(&mut self, graph: &Graph, id: ElementId) -> LocationId {
        if let Some(number) = self.numbers[id.0] {
            return number;
        }
        let number = LocationId(self.locations.len() as u32);
        self.numbers[id.0] = Some(number);
        let element = graph.at(id);
        let is_end = matches!(element.kind, ElementKind::End);
        self.locations.push(Location {
            name: element.name.clone(),
            edges: Vec::new(),
            branching: Branching::Choice,
            labels: Labels { end: element.labels.end || is_end, ..element.labels },
        });
        self.todo.push(id);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What [`Graph::make_atomic`] is to do, said without memory: everything is walked again.
    fn make_atomic_again(graph: &mut Graph, chain: Chain) {
        walk_again(graph, chain);
        match &graph.at(chain.last).kind {
            ElementKind::Block { chain, kind: BlockKind::Plain | BlockKind::Atomic } => {
                make_atomic_again(graph, *chain);
            }
            ElementKind::Unless { main, .. } => make_atomic_again(graph, *main),
            _ => {
                let last = graph.at_mut(chain.last);
                (last.atom, last.ends_atom) = (false, true);
            }
        }
    }

    fn walk_again(graph: &mut Graph, chain: Chain) {
        let mut at = chain.first;
        loop {
            let element = graph.at_mut(at);
            element.atom = true;
            let within = match &mut element.kind {
                ElementKind::Block { kind: BlockKind::Indivisible, .. } => Vec::new(),
                ElementKind::Block { chain, kind } => {
                    *kind = BlockKind::Plain;
                    vec![*chain]
                }
                ElementKind::Choice(options) => options.clone(),
                ElementKind::Unless { main, escape } => vec![*main, *escape],
                _ => Vec::new(),
            };
            within.into_iter().for_each(|chain| walk_again(graph, chain));
            match graph.at(at).next {
                Some(next) if at != chain.last => at = next,
                _ => return,
            }
        }
    }

    struct Nest {
        seed: u64,
        graph: Graph,
        is_plain: bool,
    }

    impl Nest {
        fn below(&mut self, bound: u64) -> u64 {
            self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            (self.seed >> 33) % bound
        }

        fn chain(&mut self, depth: u64) -> Chain {
            let mut sequence = Sequence::default();
            for _ in 0..=self.below(3) {
                let span = Span::default();
                let what = if depth == 0 { 0 } else { self.below(7) };
                match what {
                    0 | 1 => {
                        let (guard, action) = (None, Action::Skip);
                        let kind = ElementKind::Step { guard, otherwise: false, action };
                        let step = self.graph.add(kind, span, "");
                        self.graph.append(&mut sequence, step);
                    }
                    2 => {
                        let options = (0..=self.below(2)).map(|_| self.chain(depth - 1)).collect();
                        self.graph.choice(&mut sequence, options, None, span);
                    }
                    3 => {
                        let (main, escape) = (self.chain(depth - 1), self.chain(depth - 1));
                        self.graph.unless(&mut sequence, main, escape, span);
                    }
                    _ => {
                        let kinds = [BlockKind::Plain, BlockKind::Indivisible, BlockKind::Atomic];
                        let kind = kinds[(what as usize - 4).min(2)];
                        let first = self.graph.next_id();
                        let chain = self.chain(depth - 1);
                        let block = self.graph.add(ElementKind::Block { chain, kind }, span, "");
                        match kind {
                            BlockKind::Plain => {}
                            BlockKind::Indivisible => {
                                self.graph.make_indivisible(chain, first, block);
                            }
                            BlockKind::Atomic if self.is_plain => {
                                make_atomic_again(&mut self.graph, chain);
                            }
                            BlockKind::Atomic => self.graph.make_atomic(block, chain),
                        }
                        self.graph.append(&mut sequence, block);
                    }
                }
            }
            self.graph.close(&sequence).expect("it is not empty")
        }
    }

    #[test]
    fn blocks_within_atomic_ones_are_walked_once() {
        let mut n_ends = 0;
        for seed in 0..2000 {
            let [(first, n), (second, _)] = [false, true].map(|is_plain| {
                let mut nest = Nest { seed, graph: Graph::default(), is_plain };
                nest.chain(7);
                let elements = nest.graph.elements.iter();
                let told: Vec<_> = elements
                    .map(|it| {
                        let kind = match &it.kind {
                            ElementKind::Block { kind, .. } => Some(*kind),
                            _ => None,
                        };
                        (it.atom, it.ends_atom, kind)
                    })
                    .collect();
                let n = told.iter().filter(|it| it.1).count();
                (told, n)
            });
            assert_eq!(first, second, "seed {seed}");
            n_ends += n;
        }
        assert!(n_ends > 2000, "{n_ends}");
    }

    /// A cube of this many would take minutes.
    #[test]
    fn nested_atomics_take_linear_time() {
        let mut graph = Graph::default();
        let span = Span::default();
        let mut last = graph.add(ElementKind::Meet, span, "");
        for _ in 0..100_000 {
            let mut sequence = Sequence::default();
            graph.append(&mut sequence, last);
            let chain = graph.close(&sequence).expect("it is not empty");
            let kind = BlockKind::Atomic;
            last = graph.add(ElementKind::Block { chain, kind }, span, "");
            graph.make_atomic(last, chain);
        }
        assert!(graph.elements[0].ends_atom && !graph.elements[0].atom);
    }
}
