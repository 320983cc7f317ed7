//! What kind of number a place in memory holds, as the debug information tells, and how people
//! write it.

use crate::coroutine;
use crate::locals;
use crate::names;
use crate::sites;
use mazurka_core::ThreadId;

/// What a number is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scalar {
    /// Without a sign, or it is not known.
    #[default]
    Unsigned,
    Signed,
    Bool,
    Float,
    Pointer,
    /// It is no number: several fields, or bits of some.
    Several,
}

impl Scalar {
    /// A number of so many bytes, if it is not written as one without a sign is.
    pub(crate) fn written(self, len: usize, value: u128) -> Option<String> {
        match (self, len) {
            (Self::Signed, 1..=16) => {
                let above = 128 - 8 * len as u32;
                Some(((value << above) as i128 >> above).to_string())
            }
            (Self::Bool, 1) => match value {
                0 => Some("false".to_owned()),
                1 => Some("true".to_owned()),
                _ => None,
            },
            (Self::Float, 4) => Some(format!("{:?}", f32::from_bits(value as u32))),
            (Self::Float, 8) => Some(format!("{:?}", f64::from_bits(value as u64))),
            (Self::Pointer, 8) if value == 0 => Some("null".to_owned()),
            (Self::Pointer, 8) => Some(format!("{value:#x}")),
            _ => None,
        }
    }
}

/// What the `len` bytes at an address are. To be asked by the host.
pub(crate) fn scalar_of(address: usize, len: usize) -> Scalar {
    let idx = coroutine::stack_of(address);
    let found = sites::scalar_of(address, len).or_else(|| match idx < ThreadId::MAX {
        true => locals::scalar_of(address, idx, len),
        false => names::scalar_of(address, len),
    });
    found.unwrap_or_default()
}
