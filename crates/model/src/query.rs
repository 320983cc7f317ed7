//! What an expression may ask of a whole state: for models whose engines know all of it.

use crate::{Expr, LocationId, Message, Place, RegisterId, RoutineId, Type};

/// A question about the state that no place in memory answers. The `Vm` refuses them all.
///
/// A process is known by its number, a [`Type::I32`]. Of one that does not exist, everything is 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Query {
    /// How many messages are in a channel, by its number: a [`Type::I32`].
    Length(Expr),
    /// Whether a channel has no room.
    Full(Expr),
    /// Whether a channel has no message.
    Empty(Expr),
    /// Whether the message could be received now.
    Poll(Message),
    /// The number of the channel that this object of the frame is: a [`Type::U8`].
    OwnChannel(u32),
    /// How many processes there are: a [`Type::I32`].
    Processes,
    /// The process that took the last step: a [`Type::I32`].
    Last,
    /// Whether no process can take a step, unless this is true.
    Timeout,
    /// Whether no process is where it makes progress.
    NonProgress,
    /// Whether the process could take a step.
    Enabled(Expr),
    /// The number of the location where the process stands, a [`Type::I32`].
    Location(Expr),
    /// The priority of the process, a [`Type::I32`].
    Priority(Expr),
    /// Whether the process runs this routine and stands there. The one with the smallest number if
    /// there is no expression.
    At {
        /// Which process.
        process: Option<Expr>,
        /// What it runs.
        routine: RoutineId,
        /// Where it stands.
        location: LocationId,
    },
    /// What a register of the process holds, if it runs this routine.
    Register {
        /// Which process.
        process: Option<Expr>,
        /// What it runs.
        routine: RoutineId,
        /// Which register.
        register: RegisterId,
        /// Its type.
        ty: Type,
    },
    /// What the memory of the process holds, if it runs this routine. The place is in its frame.
    Frame {
        /// Which process.
        process: Option<Expr>,
        /// What it runs.
        routine: RoutineId,
        /// Where in its frame, with an offset that the asking process computes.
        from: Place,
        /// The type it is read as.
        ty: Type,
    },
}

impl Query {
    /// The type of the answer.
    pub fn ty(&self) -> Type {
        match self {
            Self::Full(_)
            | Self::Empty(_)
            | Self::Poll(_)
            | Self::Timeout
            | Self::NonProgress
            | Self::Enabled(_)
            | Self::At { .. } => Type::BOOL,
            Self::OwnChannel(_) => Type::U8,
            Self::Length(_)
            | Self::Processes
            | Self::Last
            | Self::Location(_)
            | Self::Priority(_) => Type::I32,
            Self::Register { ty, .. } | Self::Frame { ty, .. } => *ty,
        }
    }

    /// Calls `visit` with all expressions in it, outer ones first.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match self {
            Self::Length(inner)
            | Self::Full(inner)
            | Self::Empty(inner)
            | Self::Enabled(inner)
            | Self::Location(inner)
            | Self::Priority(inner) => inner.visit(visit),
            Self::Poll(message) => message.visit(visit),
            Self::At { process, .. } | Self::Register { process, .. } => {
                process.iter().for_each(|process| process.visit(visit));
            }
            Self::Frame { process, from, .. } => {
                process.iter().for_each(|process| process.visit(visit));
                from.visit(visit);
            }
            Self::OwnChannel(_)
            | Self::Processes
            | Self::Last
            | Self::Timeout
            | Self::NonProgress => {}
        }
    }
}
