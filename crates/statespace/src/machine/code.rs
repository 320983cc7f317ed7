//! Compiled models: everything that can be known before a run is a number here.
//!
//! A state is these bytes, one behind the other; whatever is not used has none:
//!
//! | what                | bytes                                                                    |
//! |---------------------|--------------------------------------------------------------------------|
//! | how many processes  | 1                                                                        |
//! | who keeps control   | 1: the process plus one; 0 in all states but transient ones              |
//! | who moved last      | 1, if the program asks                                                   |
//! | the trace           | 2, if there is one: where its routine stands                             |
//! | objects             | as the program lays them out                                             |
//! | channels            | the number of messages, then the messages, oldest first, then zeroes     |
//! | each process        | its routine (1), its location (2), its priority (1, if there are any), its registers, the objects of its frame, its channels |

use super::footprint::{Footprint, Head, Use};
use super::variables::Named;
use mazurka_core::{Detail, Violation};
use mazurka_model::{
    Assumption, Binary, Compare, LocationId, RegisterId, RoutineId, Span, SymbolSet, Type, Unary,
    ViolationKind,
};
use std::collections::BTreeMap;
use std::ops::Range;

/// A node of an expression, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeId(pub(super) u32);

/// A part of an expression. Its value is a number of 64 bits, canonical in its type.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    Const(i64),
    /// Memory of the program, at a fixed place.
    Global {
        at: u32,
        cell: Cell,
    },
    /// Memory of the program, in an object of `size` bytes.
    GlobalAt {
        at: u32,
        offset: NodeId,
        size: u32,
        cell: Cell,
    },
    /// Memory of the process that asks, from the beginning of its part of the state.
    Local {
        at: u32,
        cell: Cell,
    },
    LocalAt {
        at: u32,
        offset: NodeId,
        size: u32,
        cell: Cell,
    },
    Unary(Unary, Type, NodeId),
    Binary(Binary, Type, NodeId, NodeId),
    /// The operators on 32 bits, which nearly all are.
    Add(NodeId, NodeId),
    Subtract(NodeId, NodeId),
    Compare(Compare, Type, NodeId, NodeId),
    Equal(NodeId, NodeId),
    Less(NodeId, NodeId),
    Not(NodeId),
    Convert(Type, NodeId),
    If(NodeId, NodeId, NodeId),
    Index(NodeId, u32),
    Thread,
    Length(NodeId),
    Full(NodeId),
    Empty(NodeId),
    /// By its number in [`Code::messages`].
    Poll(u32),
    OwnChannel(u32),
    Processes,
    Last,
    Timeout,
    NonProgress,
    Enabled(NodeId),
    Location(NodeId),
    Priority(NodeId),
    At {
        process: Option<NodeId>,
        routine: u8,
        location: u16,
    },
    Remote {
        process: Option<NodeId>,
        routine: u8,
        at: u32,
        cell: Cell,
    },
    RemoteAt {
        process: Option<NodeId>,
        routine: u8,
        at: u32,
        offset: NodeId,
        size: u32,
        cell: Cell,
    },
}

/// How a number lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    I64,
}

impl Cell {
    pub(super) fn of(ty: Type) -> Self {
        match (ty.bytes(), ty.is_signed()) {
            (1, false) => Self::U8,
            (1, true) => Self::I8,
            (2, false) => Self::U16,
            (2, true) => Self::I16,
            (4, false) => Self::U32,
            (4, true) => Self::I32,
            _ => Self::I64,
        }
    }

    pub(super) fn bytes(self) -> u32 {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 => 4,
            Self::I64 => 8,
        }
    }

    #[inline]
    pub(super) fn load(self, state: &[u8], at: usize) -> i64 {
        let two = || [state[at], state[at + 1]];
        let four = || [state[at], state[at + 1], state[at + 2], state[at + 3]];
        match self {
            Self::U8 => i64::from(state[at]),
            Self::I8 => i64::from(state[at] as i8),
            Self::U16 => i64::from(u16::from_le_bytes(two())),
            Self::I16 => i64::from(i16::from_le_bytes(two())),
            Self::U32 => i64::from(u32::from_le_bytes(four())),
            Self::I32 => i64::from(i32::from_le_bytes(four())),
            Self::I64 => {
                let bytes = state[at..at + 8].try_into().expect("these are 8 bytes");
                i64::from_le_bytes(bytes)
            }
        }
    }

    #[inline]
    pub(super) fn store(self, state: &mut [u8], at: usize, value: i64) {
        let bytes = value.to_le_bytes();
        let n_bytes = self.bytes() as usize;
        state[at..at + n_bytes].copy_from_slice(&bytes[..n_bytes]);
    }
}

/// Where something is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Global { at: u32, ty: Type },
    GlobalAt { at: u32, offset: NodeId, size: u32, ty: Type },
    Local { at: u32, ty: Type },
    LocalAt { at: u32, offset: NodeId, size: u32, ty: Type },
}

/// What an edge does.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Skip,
    Store {
        to: Target,
        value: NodeId,
    },
    Check {
        condition: NodeId,
        fault: u32,
    },
    Send(u32),
    Receive(u32),
    Spawn {
        routine: u8,
        arguments: Box<[NodeId]>,
        to: Option<Target>,
    },
    SetPriority {
        process: NodeId,
        priority: NodeId,
    },
    Indivisible {
        start: u16,
        end: u16,
    },
    Print {
        text: Box<str>,
        arguments: Box<[NodeId]>,
        symbols: Box<[SymbolSet]>,
    },
    /// The process dies, if it is the youngest.
    Die,
}

impl Step {
    /// Whether it may take what another process hands over.
    pub(super) fn may_receive(&self) -> bool {
        matches!(self, Self::Receive(_) | Self::Indivisible { .. })
    }
}

/// A message, sent or received.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) channel: NodeId,
    pub(super) fields: Box<[Field]>,
    pub(super) anywhere: bool,
    pub(super) keep: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Field {
    Value(NodeId),
    Ignore,
    To(Target),
}

/// An edge.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) guard: Option<NodeId>,
    pub(super) otherwise: bool,
    pub(super) step: Step,
    pub(super) to: u16,
    pub(super) atomic: bool,
    pub(super) escape: Option<u32>,
    pub(super) routine: RoutineId,
    pub(super) span: Span,
    pub(super) text: Box<str>,
    /// The number by which another tool knows it.
    pub(super) number: Option<u32>,
}

/// A place where a process can stand.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) edges: Range<u32>,
    pub(super) is_end: bool,
    pub(super) is_progress: bool,
    pub(super) is_accept: bool,
    /// What matters there, whatever its process does, see `Analysis::next`; the rest is in
    /// [`Code::heads`].
    pub(super) next: Footprint,
    /// What its process may come to use from here on.
    pub(super) future: Footprint,
    /// Whether the edges concern no other process.
    pub(super) is_local: bool,
    /// The bytes of its process that are not read any more.
    pub(super) dead: Box<[Range<u32>]>,
    /// Whether the edges are parts of the step that leads here.
    pub(super) is_merged: bool,
    /// Whether an edge may change what a property looks at.
    pub(super) is_visible: bool,
}

/// A type of processes.
#[derive(Clone, Debug, Default)]
pub(super) struct Routine {
    pub(super) name: String,
    pub(super) places: Vec<Place>,
    pub(super) start: u16,
    /// How many bytes a process has in a state.
    pub(super) size: u32,
    /// Where its parameters are.
    pub(super) parameters: Vec<(u32, Cell)>,
    /// Its own channels: where they are, and what.
    pub(super) channels: Vec<(u32, u16)>,
    pub(super) prologue: Vec<(Target, NodeId)>,
    pub(super) provided: Option<NodeId>,
    pub(super) priority: u8,
    /// The ends of channels that it alone may use, as the user promises: whether for sending, and
    /// the number of the channel.
    pub(super) exclusive: Vec<(bool, NodeId)>,
    /// What it may do to channels that never are others.
    pub(super) uses: Vec<Use>,
    /// Where its registers are, for people.
    pub(super) registers: Vec<(RegisterId, u32, Cell)>,
    /// Its variables, for people.
    pub(super) named: Vec<Named>,
    /// What people call its channels.
    pub(super) channel_names: Vec<String>,
}

/// What a channel is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChannelKind {
    pub(super) capacity: u32,
    /// Where each field is in a message, and its type.
    pub(super) fields: Vec<(u32, Type)>,
    /// Which names the values of fields have, for people.
    pub(super) symbols: Vec<Option<SymbolSet>>,
    /// The bytes of a message.
    pub(super) message: u32,
    /// All bytes.
    pub(super) size: u32,
}

impl ChannelKind {
    /// How many messages make it full. As in SPIN, one for rendezvous is not: it has none.
    pub(super) fn full(&self) -> u32 {
        self.capacity.max(1)
    }
}

/// Something that can go wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) kind: ViolationKind,
    pub(super) message: String,
    pub(super) detail: Option<Detail>,
}

impl Fault {
    pub(super) fn violation(&self) -> Violation {
        let Self { kind, message, detail } = self.clone();
        Violation { kind, message, detail }
    }
}

/// The faults that every program may have, by their numbers.
pub(super) mod fault {
    pub(in super::super) const INDEX: u32 = 0;
    pub(in super::super) const CHANNEL: u32 = 1;
    pub(in super::super) const FIELDS: u32 = 2;
    pub(in super::super) const PROCESSES: u32 = 3;
    pub(in super::super) const CHANNELS: u32 = 4;
    pub(in super::super) const BLOCKED: u32 = 5;
    pub(in super::super) const ENDLESS: u32 = 6;
    pub(in super::super) const DIVISION: u32 = 7;
    pub(in super::super) const TRACE: u32 = 8;
    pub(in super::super) const NO_TRACE: u32 = 9;
    pub(in super::super) const EXCLUSIVE_SEND: u32 = 10;
    pub(in super::super) const EXCLUSIVE_RECEIVE: u32 = 11;
    pub(in super::super) const TRUNCATED: u32 = 12;
    pub(in super::super) const ENABLED: u32 = 13;
    pub(in super::super) const POLLS: u32 = 14;
}

/// A program, ready to run.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub(super) name: String,
    pub(super) files: Vec<String>,
    pub(super) nodes: Vec<Node>,
    pub(super) messages: Vec<Message>,
    pub(super) edges: Vec<Edge>,
    /// By number of an edge, what it does first.
    pub(super) heads: Vec<Head>,
    pub(super) routines: Vec<Routine>,
    pub(super) kinds: Vec<ChannelKind>,
    pub(super) faults: Vec<Fault>,
    pub(super) assumptions: Vec<Assumption>,
    /// Names of values, for people.
    pub(super) symbols: BTreeMap<(SymbolSet, i64), String>,
    /// The part of the initial state before the processes.
    pub(super) globals: Vec<u8>,
    /// The channels of the program: where they are, and what.
    pub(super) channels: Vec<(u32, u16)>,
    /// What people call them.
    pub(super) channel_names: Vec<String>,
    /// Memory that is as it was in the beginning in every stored state.
    pub(super) scratch: Vec<Range<usize>>,
    /// Where the variables of the program are that are parts of the state.
    pub(super) variables: Vec<Range<usize>>,
    /// The numbers in them, for people.
    pub(super) named: Vec<Named>,
    /// Those of them that nothing depends on.
    pub(super) idle: Vec<Range<usize>>,
    /// Who runs from the beginning.
    pub(super) processes: Vec<(u8, Vec<i64>)>,
    /// Where the process that moved last is kept.
    pub(super) last: Option<u32>,
    pub(super) trace: Option<Trace>,
    pub(super) has_priorities: bool,
    pub(super) uses_timeout: bool,
    /// The propositions of the property under test.
    pub(super) propositions: Vec<NodeId>,
    /// Whether a process promises to be the only one at an end of a channel.
    pub(super) has_exclusive: bool,
    /// Whether it is wrong to store a value that there is no room for; else it is cut off.
    pub(super) finds_truncation: bool,
    /// Whether it is known what places use, so that a reduction is possible.
    pub(super) reduces: bool,
    /// Whether messages are sent that do not go to the end of a channel.
    pub(super) sorts: bool,
    /// Where the first register of a process may be.
    pub(super) record: u32,
}

/// What the order of messages may look like.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    pub(super) routine: u8,
    pub(super) is_forbidden: bool,
    /// The location at its end.
    pub(super) end: u16,
    /// Where in a state its location is kept.
    pub(super) at: u32,
}

impl Code {
    pub(super) fn place(&self, routine: u8, location: u16) -> &Place {
        &self.routines[routine as usize].places[location as usize]
    }
}

/// The number of a location in a state.
pub(super) fn location(id: LocationId) -> u16 {
    id.0 as u16
}
