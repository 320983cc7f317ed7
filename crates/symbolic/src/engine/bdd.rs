//! Reachability by binary decision diagrams, ring by ring.
//!
//! Implements Burch, Clarke and Long, *Symbolic Model Checking with Partitioned Transition
//! Relations* (VLSI 1991): conjunctive partitioning and early quantification.
//!
//! | paper                                     | here                          |
//! |-------------------------------------------|-------------------------------|
//! | parts of the relation                     | [`Relation::parts`]           |
//! | variables that no later part depends on   | [`Part::last_use`]            |
//! | relational product                        | [`Relation::image`]           |
//! | counterexamples from the sets of each step | [`Reachability::witness`]    |
//!
//! Differs: variables are in the order in which a walk through the functions comes to them, the
//! next value of a latch beside it. The diagrams have a fixed capacity. An operation on them cannot
//! be interrupted, so they are in a thread of their own: the caller looks at the limits
//! meanwhile and waits no longer than these allow. A thread that is given up ends after its
//! operation.

use super::{Answer, Certificate, Job, Outcome, Statistics, Watch};
use crate::{Aig, Circuit, Latch, Lit, Node, Property, Witness};
use mazurka_core::Limit;
use oxidd::bcdd::{BCDDFunction as Bdd, BCDDManagerRef};
use oxidd::util::{OptBool, OutOfMemory};
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, HasLevel,
    Manager, ManagerRef, Node as DiagramNode, Subst, VarNo,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How many nodes all diagrams may have together. An operation on so many takes some seconds.
pub(super) const MANY_NODES: usize = 1 << 24;

/// The same where others must not be kept waiting.
pub(super) const FEW_NODES: usize = 1 << 20;

/// What a node takes, with its share of the tables.
const NODE_BYTES: u64 = 32;

/// Parts of the relation are put together until they are larger than this.
const PART_SIZE: usize = 1_000;

/// How often limits are looked at while an operation goes on.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Diagrams are as deep as there are variables.
const STACK_BYTES: usize = 64 << 20;

/// What the thread with the diagrams tells.
enum News {
    /// It is through with a depth.
    Passed(usize),
    Answer(Result<Answer, Stop>),
}

pub(super) fn decide(job: &mut Job<'_>, n_nodes: usize) -> Outcome {
    let fit = job.watch.memory().map_or(u64::MAX, |bytes| bytes / NODE_BYTES);
    let n_nodes = n_nodes.min(usize::try_from(fit).unwrap_or(usize::MAX));
    let (tell, news) = channel();
    let (circuit, watch) = (job.circuit.clone(), job.watch.clone());
    let work = move || {
        let answer = Reachability::new(&circuit, &watch, n_nodes).and_then(|mut states| {
            // A report that comes too late is lost.
            states.run(&mut |depth| drop(tell.send(News::Passed(depth))))
        });
        drop(tell.send(News::Answer(answer)));
    };
    let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    let worker = worker.expect("there is room for a thread");
    let mut depth = None;
    let answer = loop {
        match news.recv_timeout(LOOK_EVERY) {
            Ok(News::Passed(passed)) => {
                depth = Some(passed);
                job.passed(passed, &Statistics::default());
            }
            Ok(News::Answer(answer)) => break answer,
            Err(RecvTimeoutError::Timeout) => {
                if let Some(limit) = job.watch.limit() {
                    break Err(Stop::Limit(limit));
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                let panic = worker.join().expect_err("it ends with an answer, or else by a panic");
                resume_unwind(panic);
            }
        }
    };
    let answer = answer.unwrap_or_else(|stop| Answer::Unknown {
        depth,
        why: match stop {
            Stop::Limit(why) => why,
            Stop::Full => Limit::Memory(n_nodes as u64 * NODE_BYTES),
        },
    });
    job.outcome(answer, Statistics::default())
}

/// Why there is no diagram.
enum Stop {
    Limit(Limit),
    /// There are too many nodes.
    Full,
}

impl From<Limit> for Stop {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}

impl From<OutOfMemory> for Stop {
    fn from(_: OutOfMemory) -> Self {
        Self::Full
    }
}

/// The variables of a circuit.
struct Variables {
    manager: BCDDManagerRef,
    /// Of each latch, as it is. Its next value has the number after it.
    latches: Vec<VarNo>,
    inputs: Vec<VarNo>,
}

/// A part of the relation between a state, inputs and the next state.
struct Part {
    relation: Bdd,
    /// The conjunction of the variables that can be forgotten after it.
    last_use: Bdd,
}

struct Relation {
    parts: Vec<Part>,
    /// What no part depends on.
    unused: Bdd,
    /// From next values to values.
    rename: Subst<Bdd>,
}

struct Reachability<'a> {
    circuit: &'a Circuit,
    watch: &'a Watch,
    variables: Variables,
    /// The next value of each latch, as a function.
    next: Vec<Bdd>,
    constraint: Bdd,
    bad: Bdd,
    relation: Relation,
    /// The states that are reached in so many steps, and in no fewer.
    rings: Vec<Bdd>,
}

impl<'a> Reachability<'a> {
    fn new(circuit: &'a Circuit, watch: &'a Watch, n_nodes: usize) -> Result<Self, Stop> {
        let variables = Variables::new(circuit, n_nodes);
        let nodes = functions(circuit, &variables, watch)?;
        let function = |lit: Lit| signed(&nodes, lit);
        let next: Vec<_> =
            circuit.latches.iter().map(|latch| function(latch.next())).collect::<Result<_, _>>()?;
        let mut constraint = variables.constant(true);
        for &lit in &circuit.constraints {
            constraint = constraint.and(&function(lit)?)?;
        }
        let mut bad = variables.constant(false);
        for each in &circuit.bads {
            bad = bad.or(&function(each.lit)?)?;
        }
        let bad = bad.and(&constraint)?;
        let relation = Relation::new(&variables, &next, &constraint, watch)?;
        let rings = Vec::new();
        Ok(Self { circuit, watch, variables, next, constraint, bad, relation, rings })
    }

    /// Goes from ring to ring, and tells of each.
    fn run(&mut self, passed: &mut dyn FnMut(usize)) -> Result<Answer, Stop> {
        let mut ring = self.initial()?;
        let mut reached = ring.clone();
        while ring.satisfiable() {
            let bad = ring.and(&self.bad)?;
            self.rings.push(ring);
            if bad.satisfiable() {
                return Ok(Answer::Unsafe(self.witness(&bad)?));
            }
            let n_steps = self.rings.len() - 1;
            passed(n_steps);
            let image = self.relation.image(&self.rings[n_steps], self.watch)?;
            ring = image.and(&reached.not()?)?;
            reached = reached.or(&ring)?;
        }
        Ok(Answer::Safe(self.certificate(&reached)))
    }

    fn initial(&self) -> Result<Bdd, Stop> {
        let mut initial = self.variables.constant(true);
        // From the bottom, so that every conjunction is one new node.
        for (latch, &variable) in self.circuit.latches.iter().zip(&self.variables.latches).rev() {
            if let Some(value) = latch.init {
                initial = self.variables.literal(variable, value)?.and(&initial)?;
            }
        }
        Ok(initial)
    }

    /// An execution through all rings, found from its end.
    fn witness(&self, bad: &Bdd) -> Result<Witness, Stop> {
        let (mut state, inputs) = self.pick(bad);
        let mut all_inputs = vec![inputs];
        for ring in self.rings.iter().rev().skip(1) {
            let mut before = ring.and(&self.constraint)?;
            for (next, &value) in self.next.iter().zip(&state) {
                before = before.and(&if value { next.clone() } else { next.not()? })?;
            }
            let (predecessor, inputs) = self.pick(&before);
            all_inputs.push(inputs);
            state = predecessor;
        }
        all_inputs.reverse();
        let mut witness =
            Witness { latches: state, inputs: all_inputs, property: Property::Bad(0) };
        witness.settle(self.circuit, |_| true);
        Ok(witness)
    }

    /// One state and inputs out of a set that is not empty.
    fn pick(&self, set: &Bdd) -> (Vec<bool>, Vec<bool>) {
        let cube = set.pick_cube(|_, _, _| false).expect("the set is not empty");
        let value = |&variable: &VarNo| cube[variable as usize] == OptBool::True;
        (
            self.variables.latches.iter().map(value).collect(),
            self.variables.inputs.iter().map(value).collect(),
        )
    }

    /// The reached set as a graph.
    #[expect(
        clippy::mutable_key_type,
        reason = "functions are compared by the number of their node"
    )]
    fn certificate(&self, reached: &Bdd) -> Certificate {
        let mut aig = Aig::new();
        let inputs: FxHashMap<_, _> =
            self.variables.latches.iter().map(|&variable| (variable, aig.input())).collect();
        let mut known = FxHashMap::default();
        let member = graph_of(reached, &inputs, &mut aig, &mut known);
        let latches = (0..self.circuit.latches.len()).collect();
        Certificate::Set { aig, member, latches }
    }
}

impl Variables {
    fn new(circuit: &Circuit, n_nodes: usize) -> Self {
        // Tables are cleared before they are used, which would be most of the work for a small
        // circuit.
        let n_cached = (circuit.aig.n_nodes() << 10).next_power_of_two().clamp(1 << 12, 1 << 22);
        let manager = oxidd::bcdd::new_manager(n_nodes, n_cached, 1);
        let (mut latches, mut inputs) = (BTreeMap::new(), BTreeMap::new());
        let mut n_variables: VarNo = 0;
        for leaf in order(circuit) {
            match circuit.aig.node(leaf) {
                Node::Latch => {
                    latches.insert(leaf, n_variables);
                    n_variables += 2;
                }
                _ => {
                    inputs.insert(leaf, n_variables);
                    n_variables += 1;
                }
            }
        }
        // Both come out in the order of their nodes, which is that of the circuit.
        let [latches, inputs] = [latches, inputs].map(|numbers| numbers.into_values().collect());
        manager.with_manager_exclusive(|manager| manager.add_vars(n_variables));
        Self { manager, latches, inputs }
    }

    fn constant(&self, value: bool) -> Bdd {
        self.manager.with_manager_shared(|manager| match value {
            true => Bdd::t(manager),
            false => Bdd::f(manager),
        })
    }

    fn literal(&self, variable: VarNo, value: bool) -> Result<Bdd, Stop> {
        Ok(self.manager.with_manager_shared(|manager| match value {
            true => Bdd::var(manager, variable),
            false => Bdd::not_var(manager, variable),
        })?)
    }

    /// The conjunction of some variables.
    fn conjunction(&self, variables: impl IntoIterator<Item = VarNo>) -> Result<Bdd, Stop> {
        let mut variables: Vec<_> = variables.into_iter().collect();
        variables.sort_unstable();
        let mut all = self.constant(true);
        for variable in variables.into_iter().rev() {
            all = self.literal(variable, true)?.and(&all)?;
        }
        Ok(all)
    }

    /// Latches and inputs, without next values.
    fn current(&self) -> impl Iterator<Item = VarNo> + '_ {
        self.latches.iter().chain(&self.inputs).copied()
    }
}

/// All latches and inputs, in the order in which a walk through the functions comes to them: what
/// is compared or added bit by bit is beside each other.
fn order(circuit: &Circuit) -> Vec<usize> {
    let mut is_seen = vec![false; circuit.aig.n_nodes()];
    let mut leaves = Vec::new();
    let nexts = circuit.latches.iter().map(Latch::next);
    let latches = circuit.latches.iter().map(|latch| latch.lit);
    let rest = circuit.inputs.iter().map(|input| input.lit).chain(latches);
    for root in circuit.properties().chain(nexts).chain(rest) {
        let mut waiting = vec![root.node()];
        while let Some(node) = waiting.pop() {
            if std::mem::replace(&mut is_seen[node], true) {
                continue;
            }
            match circuit.aig.node(node) {
                Node::And(left, right) => waiting.extend([right.node(), left.node()]),
                Node::Input | Node::Latch => leaves.push(node),
                Node::False => {}
            }
        }
    }
    leaves
}

/// The diagrams of all nodes of a circuit.
fn functions(circuit: &Circuit, variables: &Variables, watch: &Watch) -> Result<Vec<Bdd>, Stop> {
    let mut nodes: Vec<Bdd> = Vec::with_capacity(circuit.aig.n_nodes());
    let (mut latches, mut inputs) = (variables.latches.iter(), variables.inputs.iter());
    for node in circuit.aig.nodes() {
        let bdd = match node {
            Node::False => variables.constant(false),
            Node::Latch => variables.literal(*latches.next().expect("one each"), true)?,
            Node::Input => variables.literal(*inputs.next().expect("one each"), true)?,
            Node::And(left, right) => {
                watch.look()?;
                signed(&nodes, left)?.and(&signed(&nodes, right)?)?
            }
        };
        nodes.push(bdd);
    }
    Ok(nodes)
}

fn signed(nodes: &[Bdd], lit: Lit) -> Result<Bdd, Stop> {
    let bdd = &nodes[lit.node()];
    Ok(if lit.is_negated() { bdd.not()? } else { bdd.clone() })
}

impl Relation {
    fn new(
        variables: &Variables,
        next: &[Bdd],
        constraint: &Bdd,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let mut relations = vec![constraint.clone()];
        for (function, &variable) in next.iter().zip(&variables.latches) {
            watch.look()?;
            let becomes = variables.literal(variable + 1, true)?.equiv(function)?;
            let last = relations.last_mut().expect("there is the constraint");
            match last.node_count() + becomes.node_count() < PART_SIZE {
                true => *last = last.and(&becomes)?,
                false => relations.push(becomes),
            }
        }
        let mut is_used: Vec<_> = vec![false; 2 * next.len() + variables.inputs.len()];
        let mut parts = Vec::new();
        for relation in relations.into_iter().rev() {
            let support = support(&relation);
            let last = variables.current().filter(|&variable| {
                support.contains(&variable)
                    && !std::mem::replace(&mut is_used[variable as usize], true)
            });
            let last_use = variables.conjunction(last.collect::<Vec<_>>())?;
            parts.push(Part { relation, last_use });
        }
        parts.reverse();
        let unused = variables.current().filter(|&variable| !is_used[variable as usize]);
        let unused = variables.conjunction(unused)?;
        let nexts = variables.latches.iter().map(|variable| variable + 1).collect();
        let latches = variables.latches.iter().map(|&variable| variables.literal(variable, true));
        let rename = Subst::new(nexts, latches.collect::<Result<Vec<_>, _>>()?);
        Ok(Self { parts, unused, rename })
    }

    /// The states that one step leads to.
    fn image(&self, states: &Bdd, watch: &Watch) -> Result<Bdd, Stop> {
        let mut image = states.exists(&self.unused)?;
        for part in &self.parts {
            watch.look()?;
            image = image.apply_exists(BooleanOperator::And, &part.relation, &part.last_use)?;
        }
        Ok(image.substitute(&self.rename)?)
    }
}

/// The variables that a function depends on.
#[expect(clippy::mutable_key_type, reason = "functions are compared by the number of their node")]
fn support(function: &Bdd) -> Vec<VarNo> {
    let mut known = rustc_hash::FxHashSet::default();
    let mut waiting = vec![function.clone()];
    let mut variables = Vec::new();
    while let Some(function) = waiting.pop() {
        let Some(variable) = top(&function) else { continue };
        if known.insert(function.clone()) {
            variables.push(variable);
            let (yes, no) = function.cofactors().expect("it is no constant");
            waiting.extend([yes, no]);
        }
    }
    variables.sort_unstable();
    variables.dedup();
    variables
}

/// The first variable of a function; none if it is constant.
fn top(function: &Bdd) -> Option<VarNo> {
    function.with_manager_shared(|manager, edge| match manager.get_node(edge) {
        DiagramNode::Inner(node) => Some(manager.level_to_var(node.level())),
        DiagramNode::Terminal(_) => None,
    })
}

/// A diagram as a graph: a conditional for every node.
#[expect(clippy::mutable_key_type, reason = "functions are compared by the number of their node")]
fn graph_of(
    function: &Bdd,
    inputs: &FxHashMap<VarNo, Lit>,
    aig: &mut Aig,
    known: &mut FxHashMap<Bdd, Lit>,
) -> Lit {
    let Some(variable) = top(function) else { return function.valid().into() };
    if let Some(&lit) = known.get(function) {
        return lit;
    }
    let (yes, no) = function.cofactors().expect("it is no constant");
    let [yes, no] = [yes, no].map(|cofactor| graph_of(&cofactor, inputs, aig, known));
    let lit = aig.ite(inputs[&variable], yes, no);
    known.insert(function.clone(), lit);
    lit
}
