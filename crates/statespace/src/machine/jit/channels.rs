//! Messages and channels as machine code.

use super::super::code::{Cell, ChannelKind, Field, Message, Node, NodeId, fault};
use super::bridge::{MOST_FIELDS, offset};
use super::emit::{Call, Emitted, Emitter, Finish, MEMORY, Unsupported, at};
use super::expressions::Spot;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};

/// A channel of a state: its number, and where it is.
#[derive(Clone, Copy)]
pub(super) struct Channel {
    number: Value,
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    /// It is always there, and always of this kind.
    Fixed { at: i32, kind: usize },
    /// So many bytes into the state, and its kind.
    Found { at: Value, kind: Value },
}

/// A channel whose kind is known.
#[derive(Clone, Copy)]
struct Known<'a> {
    number: Value,
    place: Place,
    kind: &'a ChannelKind,
}

impl<'a> Emitter<'a, '_> {
    /// The channel of a number.
    fn channel(&mut self, node: NodeId) -> Emitted<Channel> {
        if let Node::Const(constant) = self.code.nodes[node.0 as usize] {
            let idx = usize::try_from(constant - 1).ok();
            if let Some(&(place, kind)) = idx.and_then(|idx| self.code.channels.get(idx)) {
                let place = Place::Fixed { at: at(place)?, kind: usize::from(kind) };
                return Ok(Channel { number: self.constant(constant), place });
            }
        }
        let number = self.value(node)?;
        let one = self.constant(1);
        let idx = self.builder.ins().isub(number, one);
        let n_channels = self.load(Cell::I64, self.context, offset::N_CHANNELS);
        let is_none = self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, idx, n_channels);
        self.fault_if(is_none, fault::CHANNEL);
        let three = self.constant(3);
        let bytes = self.builder.ins().ishl(idx, three);
        let channels = self.load(Cell::I64, self.context, offset::CHANNELS);
        let entry = self.builder.ins().iadd(channels, bytes);
        let (at, kind) = (self.load(Cell::U32, entry, 0), self.load(Cell::U32, entry, 4));
        Ok(Channel { number, place: Place::Found { at, kind } })
    }

    /// Emits code for every kind that a channel may be of, among those that `fits`, and code for
    /// all others. All of it ends by going somewhere else.
    fn by_kind(
        &mut self,
        Channel { number, place }: Channel,
        fits: impl Fn(&ChannelKind) -> bool,
        mut then: impl FnMut(&mut Self, Known<'a>) -> Emitted<()>,
        otherwise: impl FnOnce(&mut Self) -> Emitted<()>,
    ) -> Emitted<()> {
        let code = self.code;
        match place {
            Place::Fixed { kind, .. } if fits(&code.kinds[kind]) => {
                return then(self, Known { number, place, kind: &code.kinds[kind] });
            }
            Place::Fixed { .. } => {}
            Place::Found { kind: is, .. } => {
                for (idx, kind) in code.kinds.iter().enumerate().filter(|(_, kind)| fits(kind)) {
                    let [yes, no] = [(); 2].map(|()| self.builder.create_block());
                    let wanted = self.constant(idx as i64);
                    let is_it = self.builder.ins().icmp(IntCC::Equal, is, wanted);
                    self.builder.ins().brif(is_it, yes, &[], no, &[]);
                    self.builder.switch_to_block(yes);
                    then(self, Known { number, place, kind })?;
                    self.builder.switch_to_block(no);
                }
            }
        }
        otherwise(self)
    }

    /// Where a channel is in the state that is looked at.
    fn spot_of(&mut self, place: Place) -> Spot {
        match place {
            Place::Fixed { at, .. } => Spot { address: self.look.state, plus: at },
            Place::Found { at, .. } => {
                Spot { address: self.builder.ins().iadd(self.look.state, at), plus: 0 }
            }
        }
    }

    /// How many messages a channel with room for some has.
    fn length(&mut self, channel: Known<'_>) -> Value {
        let spot = self.spot_of(channel.place);
        self.load(Cell::U8, spot.address, spot.plus)
    }

    /// Something about the length of a channel, and the length at which it is full.
    pub(super) fn length_of(
        &mut self,
        node: NodeId,
        ask: impl Fn(&mut Self, Value, u32) -> Value,
    ) -> Emitted<Value> {
        let channel = self.channel(node)?;
        let done = self.builder.create_block();
        let result = self.builder.append_block_param(done, types::I64);
        let then = |emitter: &mut Self, channel: Known<'a>| {
            let length = match channel.kind.capacity {
                0 => emitter.constant(0),
                _ => emitter.length(channel),
            };
            let value = ask(emitter, length, channel.kind.full());
            emitter.builder.ins().jump(done, &[value.into()]);
            Ok(())
        };
        let otherwise = |emitter: &mut Self| {
            let zero = emitter.constant(0);
            emitter.builder.ins().jump(done, &[zero.into()]);
            Ok(())
        };
        self.by_kind(channel, |_| true, then, otherwise)?;
        self.builder.switch_to_block(done);
        Ok(result)
    }

    /// Whether a message could be received. It may have fewer fields than the channel's.
    pub(super) fn poll(&mut self, message: u32) -> Emitted<Value> {
        let message = &self.code.messages[message as usize];
        let channel = self.channel(message.channel)?;
        let [no, done] = [(); 2].map(|()| self.builder.create_block());
        let result = self.builder.append_block_param(done, types::I64);
        let then = |emitter: &mut Self, channel: Known<'a>| {
            if channel.kind.capacity > 0 {
                emitter.receivable(message, channel, no)?;
                let one = emitter.constant(1);
                emitter.builder.ins().jump(done, &[one.into()]);
            } else {
                let always = emitter.constant(1);
                emitter.fault_if(always, fault::POLLS);
                emitter.builder.ins().jump(no, &[]);
            }
            Ok(())
        };
        let otherwise = |emitter: &mut Self| {
            emitter.builder.ins().jump(no, &[]);
            Ok(())
        };
        self.by_kind(channel, |_| true, then, otherwise)?;
        self.builder.switch_to_block(no);
        let zero = self.constant(0);
        self.builder.ins().jump(done, &[zero.into()]);
        self.builder.switch_to_block(done);
        Ok(result)
    }

    /// Looks for a message that fits, in a channel with room for some. Goes to `no` if there is
    /// none; else tells where the message is, without what is fixed, its place, and how many there
    /// are.
    fn receivable(
        &mut self,
        message: &Message,
        channel: Known<'_>,
        no: Block,
    ) -> Emitted<(Spot, Value, Value)> {
        let spot = self.spot_of(channel.place);
        let first = Spot { plus: spot.plus + 1, ..spot };
        let length = self.length(channel);
        let zero = self.constant(0);
        if !message.anywhere {
            let some = self.builder.create_block();
            self.builder.ins().brif(length, some, &[], no, &[]);
            self.builder.switch_to_block(some);
            self.matches(message, channel.kind, first, no)?;
            return Ok((first, zero, length));
        }
        let [next, look, other] = [(); 3].map(|()| self.builder.create_block());
        let place = self.builder.append_block_param(next, types::I64);
        self.builder.ins().jump(next, &[zero.into()]);
        self.builder.switch_to_block(next);
        let is_left = self.builder.ins().icmp(IntCC::UnsignedLessThan, place, length);
        self.builder.ins().brif(is_left, look, &[], no, &[]);
        self.builder.switch_to_block(other);
        let one = self.constant(1);
        let following = self.builder.ins().iadd(place, one);
        self.builder.ins().jump(next, &[following.into()]);
        self.builder.switch_to_block(look);
        let here = self.message_at(first, place, channel.kind);
        self.matches(message, channel.kind, here, other)?;
        Ok((here, place, length))
    }

    /// The message in a place of a channel whose first message is here.
    fn message_at(&mut self, first: Spot, place: Value, kind: &ChannelKind) -> Spot {
        let size = self.constant(i64::from(kind.message));
        let bytes = self.builder.ins().imul(place, size);
        Spot { address: self.builder.ins().iadd(first.address, bytes), ..first }
    }

    /// Goes to `no` unless the message that is here has the values that are wanted.
    fn matches(
        &mut self,
        message: &Message,
        kind: &ChannelKind,
        here: Spot,
        no: Block,
    ) -> Emitted<()> {
        for (field, (place, ty)) in message.fields.iter().zip(&kind.fields) {
            let Field::Value(wanted) = field else { continue };
            let there = self.load(Cell::of(*ty), here.address, here.plus + at(*place)?);
            self.unless_equal(there, *wanted, no)?;
        }
        Ok(())
    }

    fn unless_equal(&mut self, there: Value, wanted: NodeId, no: Block) -> Emitted<()> {
        let wanted = self.value(wanted)?;
        let yes = self.builder.create_block();
        let is_equal = self.builder.ins().icmp(IntCC::Equal, there, wanted);
        self.builder.ins().brif(is_equal, yes, &[], no, &[]);
        self.builder.switch_to_block(yes);
        Ok(())
    }

    /// An edge that sends: into a channel, or to its receiver.
    pub(super) fn send(&mut self, message: u32, finish: Finish) -> Emitted<()> {
        let message = &self.code.messages[message as usize];
        if message.anywhere || message.fields.len() > MOST_FIELDS {
            return self.leave_to_interpreter(finish);
        }
        let channel = self.channel(message.channel)?;
        let fits = |kind: &ChannelKind| kind.fields.len() == message.fields.len();
        let then = |emitter: &mut Self, channel: Known<'a>| match channel.kind.capacity {
            0 => emitter.hand_over(message, channel, finish),
            _ => emitter.put(message, channel, finish),
        };
        self.by_kind(channel, fits, then, |emitter| emitter.leave_to_interpreter(finish))
    }

    fn sent(&mut self, message: &Message, kind: &ChannelKind) -> Emitted<Vec<Value>> {
        let fields = message.fields.iter().zip(&kind.fields);
        fields
            .map(|(field, (_, ty))| match field {
                Field::Value(value) => {
                    let value = self.value(*value)?;
                    Ok(self.canonical(*ty, value))
                }
                Field::Ignore | Field::To(_) => Ok(self.constant(0)),
            })
            .collect()
    }

    /// Sends into a channel with room for messages.
    fn put(&mut self, message: &Message, channel: Known<'_>, finish: Finish) -> Emitted<()> {
        let kind = channel.kind;
        let length = self.length(channel);
        let (room, capacity) =
            (self.builder.create_block(), self.constant(i64::from(kind.capacity)));
        let has_room = self.builder.ins().icmp(IntCC::UnsignedLessThan, length, capacity);
        self.builder.ins().brif(has_room, room, &[], finish.next, &[]);
        self.builder.switch_to_block(room);
        let values = self.sent(message, kind)?;
        let old = self.begin(Call::Begin);
        let spot = self.spot_of(channel.place);
        let first = Spot { plus: spot.plus + 1, ..spot };
        let here = self.message_at(first, length, kind);
        for ((place, ty), value) in kind.fields.iter().zip(values) {
            self.store(Cell::of(*ty), value, Spot { plus: here.plus + at(*place)?, ..here });
        }
        let one = self.constant(1);
        let longer = self.builder.ins().iadd(length, one);
        self.store(Cell::U8, longer, spot);
        self.finish_edge(finish, None);
        self.look = old;
        Ok(())
    }

    /// Hands a message over to its receiver.
    fn hand_over(&mut self, message: &Message, channel: Known<'_>, finish: Finish) -> Emitted<()> {
        // The interpreter knows whose fault it is if a field goes wrong.
        let faults = std::mem::replace(&mut self.faults, self.builder.create_block());
        self.builder.append_block_param(self.faults, types::I64);
        let values = self.sent(message, channel.kind)?;
        self.builder.ins().store(MEMORY, channel.number, self.context, offset::CHANNEL);
        for (idx, value) in values.iter().enumerate() {
            self.builder.ins().store(MEMORY, *value, self.context, offset::VALUES + 8 * idx as i32);
        }
        let (edge, n_values) =
            (self.constant(finish.number.into()), self.constant(values.len() as i64));
        let taken = self.call(Call::Rendezvous, &[self.process, edge, n_values]);
        self.moved_if(taken);
        self.builder.ins().jump(finish.next, &[]);
        self.builder.switch_to_block(self.faults);
        self.faults = faults;
        self.leave_to_interpreter(finish)
    }

    /// An edge that receives out of a channel.
    pub(super) fn receive(&mut self, message: u32, finish: Finish) -> Emitted<()> {
        let message = &self.code.messages[message as usize];
        let channel = self.channel(message.channel)?;
        let fits = |kind: &ChannelKind| kind.fields.len() == message.fields.len();
        let then = |emitter: &mut Self, channel: Known<'a>| {
            if channel.kind.capacity == 0 {
                if message.keep {
                    return emitter.leave_to_interpreter(finish);
                }
                emitter.builder.ins().jump(finish.next, &[]);
                return Ok(());
            }
            emitter.take(message, channel, finish)
        };
        self.by_kind(channel, fits, then, |emitter| emitter.leave_to_interpreter(finish))
    }

    fn take(&mut self, message: &Message, channel: Known<'_>, finish: Finish) -> Emitted<()> {
        let kind = channel.kind;
        let (here, place, length) = self.receivable(message, channel, finish.next)?;
        let mut values = Vec::new();
        for (field, (offset, ty)) in message.fields.iter().zip(&kind.fields) {
            if let Field::To(_) = field {
                let plus = here.plus + at(*offset)?;
                values.push(self.load(Cell::of(*ty), here.address, plus));
            }
        }
        let before = self.spot_of(channel.place);
        let old = self.begin(Call::Begin);
        if !message.keep {
            let after = self.spot_of(channel.place);
            match message.anywhere {
                true => self.remove(channel, place, length)?,
                false => self.shift(kind, before, after),
            }
            let one = self.constant(1);
            let shorter = self.builder.ins().isub(length, one);
            self.store(Cell::U8, shorter, after);
        }
        self.deliver(message, &values)?;
        self.finish_edge(finish, None);
        self.look = old;
        Ok(())
    }

    /// Takes the message in a place out of a channel.
    fn remove(&mut self, channel: Known<'_>, place: Value, length: Value) -> Emitted<()> {
        let first = match channel.place {
            Place::Fixed { at, .. } => self.constant(i64::from(at) + 1),
            Place::Found { at, .. } => {
                let one = self.constant(1);
                self.builder.ins().iadd(at, one)
            }
        };
        let size = self.constant(i64::from(channel.kind.message));
        self.call(Call::Remove, &[first, place, size, length]);
        Ok(())
    }

    /// Writes the messages of a channel but for the first. Behind the last one there are zeroes,
    /// which come along.
    fn shift(&mut self, kind: &ChannelKind, from: Spot, to: Spot) {
        let size = kind.message as i32;
        let end = kind.size as i32;
        let mut done = 1;
        while done + size < end {
            let left = end - size - done;
            let (ty, bytes) = match left {
                8.. => (types::I64, 8),
                4.. => (types::I32, 4),
                2.. => (types::I16, 2),
                _ => (types::I8, 1),
            };
            let from_plus = from.plus + done + size;
            let part = self.builder.ins().load(ty, MEMORY, from.address, from_plus);
            self.builder.ins().store(MEMORY, part, to.address, to.plus + done);
            done += bytes;
        }
        let zero = self.builder.ins().iconst(types::I8, 0);
        for byte in end - size..end {
            self.builder.ins().store(MEMORY, zero, to.address, to.plus + byte);
        }
    }

    /// Puts fields of a message where they go, one after the other.
    fn deliver(&mut self, message: &Message, values: &[Value]) -> Emitted<()> {
        let targets = message.fields.iter().filter_map(|field| match field {
            Field::To(to) => Some(*to),
            Field::Value(_) | Field::Ignore => None,
        });
        for (to, value) in targets.zip(values) {
            let (spot, ty) = self.spot(to)?;
            let value = self.canonical(ty, *value);
            self.store(Cell::of(ty), value, spot);
        }
        Ok(())
    }

    /// An edge that takes what is handed over, if it is the message in the context.
    pub(super) fn take_over(
        &mut self,
        message: u32,
        finish: Finish,
        wrong_after: Block,
    ) -> Emitted<()> {
        let message = &self.code.messages[message as usize];
        if message.fields.len() > MOST_FIELDS {
            return Err(Unsupported);
        }
        let channel = self.value(message.channel)?;
        if message.keep {
            self.builder.ins().jump(finish.next, &[]);
            return Ok(());
        }
        let sent = self.load(Cell::I64, self.context, offset::CHANNEL);
        let same = self.builder.create_block();
        let is_same = self.builder.ins().icmp(IntCC::Equal, sent, channel);
        self.builder.ins().brif(is_same, same, &[], finish.next, &[]);
        self.builder.switch_to_block(same);
        let mut values = Vec::new();
        for (idx, field) in message.fields.iter().enumerate() {
            let value = self.load(Cell::I64, self.context, offset::VALUES + 8 * idx as i32);
            match field {
                Field::Value(wanted) => self.unless_equal(value, *wanted, finish.next)?,
                Field::To(_) => values.push(value),
                Field::Ignore => {}
            }
        }
        let old = self.begin(Call::BeginTaken);
        self.faults = wrong_after;
        self.deliver(message, &values)?;
        self.finish_edge(finish, None);
        self.look = old;
        Ok(())
    }

    /// Goes to `yes` if a message could be sent, to `ask` if the interpreter has to find out, and
    /// to `no` if not.
    pub(super) fn can_send(&mut self, message: u32, [yes, no, ask]: [Block; 3]) -> Emitted<()> {
        let channel = self.channel(self.code.messages[message as usize].channel)?;
        let then = |emitter: &mut Self, channel: Known<'a>| {
            if channel.kind.capacity == 0 {
                emitter.builder.ins().jump(ask, &[]);
                return Ok(());
            }
            let length = emitter.length(channel);
            let capacity = emitter.constant(i64::from(channel.kind.capacity));
            let has_room = emitter.builder.ins().icmp(IntCC::UnsignedLessThan, length, capacity);
            emitter.builder.ins().brif(has_room, yes, &[], no, &[]);
            Ok(())
        };
        let otherwise = |emitter: &mut Self| {
            emitter.builder.ins().jump(ask, &[]);
            Ok(())
        };
        self.by_kind(channel, |_| true, then, otherwise)
    }

    /// The same for a message that could be received.
    pub(super) fn can_receive(&mut self, message: u32, [yes, no, ask]: [Block; 3]) -> Emitted<()> {
        let message = &self.code.messages[message as usize];
        let channel = self.channel(message.channel)?;
        let fits = |kind: &ChannelKind| kind.fields.len() == message.fields.len();
        let then = |emitter: &mut Self, channel: Known<'a>| {
            if channel.kind.capacity == 0 {
                emitter.builder.ins().jump(no, &[]);
                return Ok(());
            }
            emitter.receivable(message, channel, no)?;
            emitter.builder.ins().jump(yes, &[]);
            Ok(())
        };
        let otherwise = |emitter: &mut Self| {
            emitter.builder.ins().jump(ask, &[]);
            Ok(())
        };
        self.by_kind(channel, fits, then, otherwise)
    }
}
