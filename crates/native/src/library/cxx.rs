//! The rows of the library of C++: strings, trees, lists, hashes and streams, whose functions come
//! compiled.
//!
//! Names are those of the Itanium C++ ABI as libstdc++ exports them. A member of a string that is
//! not `const` changes the string, all of it, as far as data races are concerned (section
//! `res.on.data.races` of the standard); those that only give access, such as `begin`, do not.
//! Objects for the standard streams may be used by several threads at once; any other stream is
//! changed by each user of it.

use super::Effect::{Also, Instead, Read, Write, WriteAfter};
use super::extent::Extent::{Bytes, Count, Text, TextIfSo};
use super::extent::text;
use super::{Call, rows};
use std::ffi::CStr;
use std::ops::Range;
use std::sync::OnceLock;

const STRING: usize = 32;
/// Where a string has its length, and where its characters are if they are few.
const LEN: usize = 8;
const LOCAL: usize = 16;
const NODE: usize = 32;
const LINK: usize = 16;

/// A member of a string.
struct Member {
    is_const: bool,
    kind: Kind,
    /// What the arguments behind the string itself are.
    arguments: [Argument; N_ARGUMENTS],
}

const N_ARGUMENTS: usize = 5;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Any,
    /// It only gives access.
    Access,
    /// Nothing is there yet.
    Constructor,
    /// From a range of characters.
    OfRange,
    /// It returns a string, and its own comes behind that.
    Substring,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Argument {
    Other,
    /// A string of C, or as many characters as the next argument says.
    Text,
    Characters,
    /// Room for as many.
    Room,
    String,
}

impl Member {
    /// By its name.
    const fn of(name: &str) -> Self {
        const CLASS: usize = "St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE".len();
        let name = name.as_bytes();
        let is_const = name[3] == b'K';
        let at = 3 + is_const as usize + CLASS;
        let (token, end) = token(name, at);
        let mut arguments = [Argument::Other; N_ARGUMENTS];
        let kind = if is_one_of(token, &ACCESS) {
            Kind::Access
        } else if is_same(token, b"_M_construct") && name[end] == b'I' {
            Kind::OfRange
        } else if is_same(token, b"C1") || is_same(token, b"C2") || is_same(token, b"_M_construct")
        {
            Kind::Constructor
        } else if is_same(token, b"substr") {
            Kind::Substring
        } else {
            Kind::Any
        };
        if name[end] == b'E' {
            let mut at = end + 1;
            let mut idx = 0;
            while at < name.len() && idx < N_ARGUMENTS {
                let rest = name.split_at(at).1;
                let (argument, len) = argument(rest);
                if len == 0 {
                    break;
                }
                arguments[idx] = argument;
                at += len;
                idx += 1;
            }
        }
        Self { is_const, kind, arguments }
    }

    fn tell(&self, call: &Call<'_>) {
        let first = u8::from(self.kind == Kind::Substring);
        let string = call.word(first);
        match self.kind {
            Kind::Access => call.read(string, LOCAL),
            Kind::Constructor => call.write(string, STRING),
            Kind::OfRange => {
                call.write(string, STRING);
                call.read(call.word(1), call.word(2).saturating_sub(call.word(1)));
            }
            Kind::Any | Kind::Substring if self.is_const => read_string(call, string),
            Kind::Any | Kind::Substring => change_string(call, string),
        }
        for (idx, &argument) in (first + 1..).zip(&self.arguments) {
            // As many as are in registers.
            if argument == Argument::Other || idx > 5 {
                continue;
            }
            let address = call.word(idx);
            let count = || if idx < 5 { call.word(idx + 1) } else { 0 };
            match argument {
                Argument::Text => call.read(address, text(address)),
                Argument::Characters => call.read(address, count()),
                Argument::Room => call.write(address, count()),
                Argument::String => read_string(call, address),
                Argument::Other => {}
            }
        }
    }
}

/// Members that only give access to a string.
const ACCESS: [&[u8]; 24] = [
    b"at",
    b"ix",
    b"begin",
    b"end",
    b"rbegin",
    b"rend",
    b"cbegin",
    b"cend",
    b"crbegin",
    b"crend",
    b"front",
    b"back",
    b"data",
    b"c_str",
    b"size",
    b"length",
    b"capacity",
    b"max_size",
    b"empty",
    b"_M_data",
    b"_M_local_data",
    b"_M_is_local",
    b"_M_length",
    b"_M_create",
];

/// The name of a member, or its letters if it is an operator, and what is behind it.
const fn token(name: &[u8], at: usize) -> (&[u8], usize) {
    let mut start = at;
    let mut len = 0;
    while name[start].is_ascii_digit() {
        len = len * 10 + (name[start] - b'0') as usize;
        start += 1;
    }
    if len == 0 {
        len = 2;
    }
    (name.split_at(start).1.split_at(len).0, start + len)
}

/// An argument by the beginning of a list of types, and how much of it that is; nothing, if it is
/// not known.
const fn argument(types: &[u8]) -> (Argument, usize) {
    const REFERENCES: [&[u8]; 3] = [b"RKS4_", b"OS4_", b"RS4_"];
    let mut idx = 0;
    while idx < REFERENCES.len() {
        if begins(types, REFERENCES[idx]) {
            return (Argument::String, REFERENCES[idx].len());
        }
        idx += 1;
    }
    if begins(types, b"PKcm") {
        return (Argument::Characters, 3);
    }
    if begins(types, b"PKc") {
        return (Argument::Text, 3);
    }
    if begins(types, b"Pcm") {
        return (Argument::Room, 2);
    }
    match types[0] {
        b'm' | b'c' => (Argument::Other, 1),
        _ => (Argument::Other, 0),
    }
}

const fn begins(text: &[u8], start: &[u8]) -> bool {
    text.len() >= start.len() && is_same(text.split_at(start.len()).0, start)
}

const fn is_one_of(text: &[u8], all: &[&[u8]]) -> bool {
    let mut idx = 0;
    while idx < all.len() {
        if is_same(text, all[idx]) {
            return true;
        }
        idx += 1;
    }
    false
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// A word of the program's memory.
fn word_at(address: usize) -> usize {
    // SAFETY: the program gives an object with a word there.
    unsafe { *(address as *const usize) }
}

/// Reads a string and its characters.
fn read_string(call: &Call<'_>, string: usize) {
    if string != 0 {
        call.read(string, LOCAL);
        call.read(word_at(string), word_at(string + LEN) + 1);
    }
}

/// Changes a string, and the characters that it has elsewhere.
fn change_string(call: &Call<'_>, string: usize) {
    if string == 0 {
        return;
    }
    call.write(string, STRING);
    if word_at(string) != string + LOCAL {
        call.write(word_at(string), word_at(string + LEN) + 1);
    }
}

macro_rules! strings {
    ($($name:ident)*) => {$(
        rows!(@one $name $name [Also(|call| {
            const MEMBER: Member = Member::of(stringify!($name));
            MEMBER.tell(call);
        })]);
    )*};
}

strings! {
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE11_M_is_localEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE12find_last_ofEPKcm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE12find_last_ofEPKcmm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE12find_last_ofERKS4_m
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE12find_last_ofEcm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE13_M_local_dataEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE13find_first_ofEPKcm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE13find_first_ofEPKcmm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE13find_first_ofERKS4_m
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE13find_first_ofEcm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE16find_last_not_ofEPKcm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE16find_last_not_ofEPKcmm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE16find_last_not_ofERKS4_m
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE16find_last_not_ofEcm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE17find_first_not_ofEPKcm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE17find_first_not_ofEPKcmm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE17find_first_not_ofERKS4_m
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE17find_first_not_ofEcm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE2atEm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE3endEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4backEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4cendEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4copyEPcmm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4dataEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4findEPKcm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4findEPKcmm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4findERKS4_m
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4findEcm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4rendEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4sizeEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5beginEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5c_strEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5crendEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5emptyEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5frontEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5rfindEPKcm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5rfindEPKcmm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5rfindERKS4_m
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5rfindEcm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6cbeginEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6lengthEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6rbeginEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6substrEmm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7_M_dataEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareEPKc
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareERKS4_
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareEmmPKc
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareEmmPKcm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareEmmRKS4_
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareEmmRKS4_mm
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7crbeginEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE8capacityEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE8max_sizeEv
    _ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEixEm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE10_M_destroyEm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE10_M_disposeEv
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE10_M_replaceEmmPKcm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE11_M_capacityEm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE12_M_constructEmc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE13_M_local_dataEv
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE13_M_set_lengthEm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE13shrink_to_fitEv
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE14_M_replace_auxEmmmc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE18_M_construct_aux_2Emc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE2atEm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE3endEv
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4backEv
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4dataEv
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4rendEv
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4swapERS4_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5beginEv
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5clearEv
_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5eraseEN9__gnu_cxx17__normal_iteratorIPKcS4_EE
_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5eraseEN9__gnu_cxx17__normal_iteratorIPcS4_EE
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5eraseEmm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE5frontEv
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKcm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendERKS4_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendERKS4_mm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendESt16initializer_listIcE
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEmc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6assignEOS4_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6assignEPKc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6assignEPKcm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6assignERKS4_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6assignERKS4_mm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6assignESt16initializer_listIcE
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6assignEmc
_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6insertEN9__gnu_cxx17__normal_iteratorIPcS4_EEc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6insertEmPKc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6insertEmPKcm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6insertEmRKS4_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6insertEmRKS4_mm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6insertEmmc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6rbeginEv
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6resizeEm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6resizeEmc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7_M_dataEPc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7replaceEmmPKc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7replaceEmmPKcm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7replaceEmmRKS4_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7replaceEmmRKS4_mm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7replaceEmmmc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7reserveEm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7reserveEv
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE8_M_eraseEmm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE8pop_backEv
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_assignERKS4_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_lengthEm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_mutateEmmPKcm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9push_backEc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1ENS4_12__sv_wrapperERKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1EOS4_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1EOS4_RKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1EPKcRKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1EPKcmRKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1ERKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1ERKS4_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1ERKS4_RKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1ERKS4_mRKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1ERKS4_mm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1ERKS4_mmRKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1ESt16initializer_listIcERKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1EmcRKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1Ev
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1IPKcvEET_S8_RKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1IPcvEET_S7_RKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2ENS4_12__sv_wrapperERKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2EOS4_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2EOS4_RKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2EPKcRKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2EPKcmRKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2ERKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2ERKS4_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2ERKS4_RKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2ERKS4_mRKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2ERKS4_mm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2ERKS4_mmRKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2ESt16initializer_listIcERKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2EmcRKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2Ev
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2IPKcvEET_S8_RKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2IPcvEET_S7_RKS3_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEED1Ev
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEED2Ev
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEaSEOS4_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEaSEPKc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEaSERKS4_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEaSESt16initializer_listIcE
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEaSEc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEixEm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEpLEPKc
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEpLERKS4_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEpLESt16initializer_listIcE
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEpLEc
}

// Condition variables, whose constructors come compiled, and write them.
rows! {
    _ZNSt18condition_variableC1Ev _ZNSt18condition_variableC2Ev
    _ZNSt18condition_variableD1Ev _ZNSt18condition_variableD2Ev
        => [Write(0, Bytes(48))];
}

rows! {
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7_S_copyEPcPKcm
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7_S_moveEPcPKcm
        => [Read(1, Count(2)), Write(0, Count(2))];
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_S_assignEPcmc => [Write(0, Count(1))];
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE13_S_copy_charsEPcPKcS7_
    _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE13_S_copy_charsEPcS5_S5_
        => [Also(|call| {
            let len = call.word(2).saturating_sub(call.word(1));
            call.read(call.word(1), len);
            call.write(call.word(0), len);
        })];
    _ZSt11_Hash_bytesPKvmm _ZSt15_Fnv_hash_bytesPKvmm => [Read(0, Count(1))];
}

// Lists: a node has a pointer to the next and one to the one before.
rows! {
    _ZNSt8__detail15_List_node_base7_M_hookEPS0_ => [Write(0, Bytes(16)), Also(|call| {
        let position = call.word(1);
        call.write(position + 8, 8);
        call.write(word_at(position + 8), 8);
    })];
    _ZNSt8__detail15_List_node_base9_M_unhookEv => [Read(0, Bytes(16)), Also(|call| {
        let node = call.word(0);
        call.write(word_at(node) + 8, 8);
        call.write(word_at(node + 8), 8);
    })];
    _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_ => [Instead(|call| {
        let nodes = [0, 1, 2].map(|idx| call.word(idx));
        let others = nodes.map(|node| word_at(node + 8));
        call.make();
        for node in nodes.into_iter().chain(others) {
            call.write(node, LINK);
        }
        0
    })];
    _ZNSt8__detail15_List_node_base4swapERS0_S1_ => [Instead(|call| {
        let lists = [0, 1].map(|idx| call.word(idx));
        for list in lists {
            call.write(list, LINK);
            call.write(word_at(list), LINK);
            call.write(word_at(list + 8), LINK);
        }
        call.make()
    })];
    _ZNSt8__detail15_List_node_base10_M_reverseEv => [Also(|call| {
        let first = call.word(0);
        let mut node = first;
        loop {
            call.write(node, LINK);
            node = word_at(node);
            if node == first {
                break;
            }
        }
    })];
}

// Trees: a node has a colour, and pointers to its parent, its left and its right child.
rows! {
    _ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base _ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base
        => [Also(|call| go_on(call, RIGHT, LEFT))];
    _ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base _ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base
        => [Also(|call| {
            call.read(call.word(0), 16);
            go_on(call, LEFT, RIGHT);
        })];
    _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_ => [Instead(|call| {
        call.write(call.word(1), NODE);
        changes_tree(call, call.word(2), call.word(3))
    })];
    _ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_ => [Instead(|call| {
        call.write(call.word(0), NODE);
        changes_tree(call, call.word(0), call.word(1))
    })];
}

const PARENT: usize = 8;
const LEFT: usize = 16;
const RIGHT: usize = 24;

/// What is read on the way from a node of a tree to the next, or to the one before.
fn go_on(call: &Call<'_>, side: usize, other: usize) {
    let child = |node: usize, at: usize| {
        call.read(node + at, 8);
        word_at(node + at)
    };
    let mut node = call.word(0);
    let mut next = child(node, side);
    if next != 0 {
        while next != 0 {
            node = next;
            next = child(node, other);
        }
        return;
    }
    let mut parent = child(node, PARENT);
    while parent != 0 && node == child(parent, side) {
        node = parent;
        parent = child(node, PARENT);
        // The header is the parent of the root, and the other way round.
        if child(parent, PARENT) == node {
            break;
        }
    }
}

/// A tree is changed at a node. The words that differ afterwards were written: of the nodes on the
/// way to the root, and their children and grandchildren; the header has the root, the first and
/// the last.
fn changes_tree(call: &Call<'_>, node: usize, header: usize) -> usize {
    const MAX_NODES: usize = 7 * 64;
    let mut before = [(0, [0; 4]); MAX_NODES];
    let mut n_nodes = 0;
    let mut note = |node: usize| {
        let is_new = node != 0 && n_nodes < MAX_NODES;
        if is_new && before[..n_nodes].iter().all(|&(known, _)| known != node) {
            before[n_nodes] = (node, words(node));
            n_nodes += 1;
        }
    };
    note(header);
    let mut at = node;
    while at != 0 && at != header {
        for node in family(at) {
            note(node);
        }
        at = word_at(at + PARENT);
    }
    // The node that takes the place of one which is removed, and its family.
    let mut next = if node == header { 0 } else { word_at(node + RIGHT) };
    while next != 0 && node != header {
        for node in family(next) {
            note(node);
        }
        next = word_at(next + LEFT);
    }
    call.read(header, NODE);
    call.read(node, NODE);
    let result = call.make();
    // The number of nodes and the first of them are there in any case.
    call.write(header, NODE);
    for &(node, old) in &before[..n_nodes] {
        for (idx, (old, new)) in old.into_iter().zip(words(node)).enumerate() {
            if old != new {
                call.write(node + idx * 8, 8);
            }
        }
    }
    result
}

fn words(node: usize) -> [usize; 4] {
    [0, PARENT, LEFT, RIGHT].map(|at| word_at(node + at))
}

/// A node, its children and its grandchildren.
fn family(node: usize) -> [usize; 7] {
    let child = |node: usize, at: usize| if node == 0 { 0 } else { word_at(node + at) };
    let (left, right) = (child(node, LEFT), child(node, RIGHT));
    [
        node,
        left,
        right,
        child(left, LEFT),
        child(left, RIGHT),
        child(right, LEFT),
        child(right, RIGHT),
    ]
}

/// Where the standard streams are, which any thread may use.
fn standard_streams() -> &'static [Range<usize>] {
    static STREAMS: OnceLock<Vec<Range<usize>>> = OnceLock::new();
    /// How long the longest of them is, with its base.
    const STREAM_LEN: usize = 280;
    const NAMES: [&CStr; 8] = [
        c"_ZSt4cout",
        c"_ZSt4cerr",
        c"_ZSt4clog",
        c"_ZSt3cin",
        c"_ZSt5wcout",
        c"_ZSt5wcerr",
        c"_ZSt5wclog",
        c"_ZSt4wcin",
    ];
    STREAMS.get_or_init(|| {
        // SAFETY: the names are strings.
        let addresses =
            NAMES.map(|name| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize);
        let found = addresses.into_iter().filter(|&address| address != 0);
        found.map(|address| address..address + STREAM_LEN).collect()
    })
}

/// Uses a stream: its first words stand for all of it.
fn stream(call: &Call<'_>) {
    let stream = call.word(0);
    if !standard_streams().iter().any(|range| range.contains(&stream)) {
        call.write(stream, 8);
    }
}

/// Reads from a stream or writes to it, and so changes its buffer, which code that headers have in
/// the program looks at.
fn uses(call: &Call<'_>) {
    /// Where a table of virtual functions says how far its object is from the base of all streams,
    /// where that has its buffer, and the pointers in a buffer.
    const DISTANCE: usize = 24;
    const BUFFER: usize = 232;
    const POINTERS: Range<usize> = 8..56;
    let stream = call.word(0);
    if standard_streams().iter().any(|range| range.contains(&stream)) {
        return;
    }
    call.write(stream, 8);
    let base = stream.wrapping_add(word_at(word_at(stream) - DISTANCE));
    let buffer = word_at(base + BUFFER);
    if buffer != 0 {
        call.write(buffer + POINTERS.start, POINTERS.len());
    }
}

fn stream_read(call: &Call<'_>) {
    read_stream(call, call.word(0));
}

fn read_stream(call: &Call<'_>, stream: usize) {
    if !standard_streams().iter().any(|range| range.contains(&stream)) {
        call.read(stream, 8);
    }
}

rows! {
    _ZNKRSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEv
    _ZNKRSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEv
    _ZNKRSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strEv
    _ZNKRSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEv
    _ZNKSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEv
    _ZNKSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEv
    _ZNKSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strEv
    _ZNKSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEv
    _ZNOSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEv
    _ZNOSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEv
    _ZNOSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strEv
    _ZNOSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEv
        => [Also(|call| read_stream(call, call.word(1)))];
    _ZNKSi6gcountEv
    _ZNKSt13basic_filebufIcSt11char_traitsIcEE7is_openEv
    _ZNKSt13basic_fstreamIcSt11char_traitsIcEE5rdbufEv
    _ZNKSt13basic_fstreamIcSt11char_traitsIcEE7is_openEv
    _ZNKSt14basic_ifstreamIcSt11char_traitsIcEE5rdbufEv
    _ZNKSt14basic_ifstreamIcSt11char_traitsIcEE7is_openEv
    _ZNKSt14basic_ofstreamIcSt11char_traitsIcEE5rdbufEv
    _ZNKSt14basic_ofstreamIcSt11char_traitsIcEE7is_openEv
    _ZNKSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE13get_allocatorEv
    _ZNKSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE4viewEv
    _ZNKSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE4viewEv
    _ZNKSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE5rdbufEv
    _ZNKSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE4viewEv
    _ZNKSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE5rdbufEv
    _ZNKSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE4viewEv
    _ZNKSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE5rdbufEv
    _ZNKSt9basic_iosIcSt11char_traitsIcEE10exceptionsEv
    _ZNKSt9basic_iosIcSt11char_traitsIcEE3badEv
    _ZNKSt9basic_iosIcSt11char_traitsIcEE3eofEv
    _ZNKSt9basic_iosIcSt11char_traitsIcEE3tieEv
    _ZNKSt9basic_iosIcSt11char_traitsIcEE4failEv
    _ZNKSt9basic_iosIcSt11char_traitsIcEE4fillEv
    _ZNKSt9basic_iosIcSt11char_traitsIcEE4goodEv
    _ZNKSt9basic_iosIcSt11char_traitsIcEE5rdbufEv
    _ZNKSt9basic_iosIcSt11char_traitsIcEE5widenEc
    _ZNKSt9basic_iosIcSt11char_traitsIcEE6narrowEcc
    _ZNKSt9basic_iosIcSt11char_traitsIcEE7rdstateEv
    _ZNKSt9basic_iosIcSt11char_traitsIcEEcvPvEv
    _ZNKSt9basic_iosIcSt11char_traitsIcEEcvbEv
    _ZNKSt9basic_iosIcSt11char_traitsIcEEntEv
        => [Also(stream_read)];
    _ZNSd4swapERSd
    _ZNSdC1EOSd
    _ZNSdC1EPSt15basic_streambufIcSt11char_traitsIcEE
    _ZNSdC1Ev
    _ZNSdC2EOSd
    _ZNSdC2EPSt15basic_streambufIcSt11char_traitsIcEE
    _ZNSdC2Ev
    _ZNSdD0Ev
    _ZNSdD1Ev
    _ZNSdD2Ev
    _ZNSdaSEOSd
    _ZNSi4swapERSi
    _ZNSiC1EOSi
    _ZNSiC1EPSt15basic_streambufIcSt11char_traitsIcEE
    _ZNSiC1Ev
    _ZNSiC2EOSi
    _ZNSiC2EPSt15basic_streambufIcSt11char_traitsIcEE
    _ZNSiC2Ev
    _ZNSiD0Ev
    _ZNSiD1Ev
    _ZNSiD2Ev
    _ZNSiaSEOSi
    _ZNSo4swapERSo
    _ZNSoC1EOSo
    _ZNSoC1EPSt15basic_streambufIcSt11char_traitsIcEE
    _ZNSoC1ERSd
    _ZNSoC1Ev
    _ZNSoC2EOSo
    _ZNSoC2EPSt15basic_streambufIcSt11char_traitsIcEE
    _ZNSoC2ERSd
    _ZNSoC2Ev
    _ZNSoD0Ev
    _ZNSoD1Ev
    _ZNSoD2Ev
    _ZNSoaSEOSo
    _ZNSt13basic_filebufIcSt11char_traitsIcEE13_M_set_bufferEl
    _ZNSt13basic_filebufIcSt11char_traitsIcEE14_M_get_ext_posER11__mbstate_t
    _ZNSt13basic_filebufIcSt11char_traitsIcEE15_M_create_pbackEv
    _ZNSt13basic_filebufIcSt11char_traitsIcEE16_M_destroy_pbackEv
    _ZNSt13basic_filebufIcSt11char_traitsIcEE19_M_terminate_outputEv
    _ZNSt13basic_filebufIcSt11char_traitsIcEE22_M_convert_to_externalEPcl
    _ZNSt13basic_filebufIcSt11char_traitsIcEE26_M_destroy_internal_bufferEv
    _ZNSt13basic_filebufIcSt11char_traitsIcEE27_M_allocate_internal_bufferEv
    _ZNSt13basic_filebufIcSt11char_traitsIcEE4openERKSsSt13_Ios_Openmode
    _ZNSt13basic_filebufIcSt11char_traitsIcEE4swapERS2_
    _ZNSt13basic_filebufIcSt11char_traitsIcEE4syncEv
    _ZNSt13basic_filebufIcSt11char_traitsIcEE5closeEv
    _ZNSt13basic_filebufIcSt11char_traitsIcEE5imbueERKSt6locale
    _ZNSt13basic_filebufIcSt11char_traitsIcEE6setbufEPcl
    _ZNSt13basic_filebufIcSt11char_traitsIcEE6xsgetnEPcl
    _ZNSt13basic_filebufIcSt11char_traitsIcEE6xsputnEPKcl
    _ZNSt13basic_filebufIcSt11char_traitsIcEE7_M_seekElSt12_Ios_Seekdir11__mbstate_t
    _ZNSt13basic_filebufIcSt11char_traitsIcEE7seekoffElSt12_Ios_SeekdirSt13_Ios_Openmode
    _ZNSt13basic_filebufIcSt11char_traitsIcEE7seekposESt4fposI11__mbstate_tESt13_Ios_Openmode
    _ZNSt13basic_filebufIcSt11char_traitsIcEE8overflowEi
    _ZNSt13basic_filebufIcSt11char_traitsIcEE9pbackfailEi
    _ZNSt13basic_filebufIcSt11char_traitsIcEE9showmanycEv
    _ZNSt13basic_filebufIcSt11char_traitsIcEE9underflowEv
    _ZNSt13basic_filebufIcSt11char_traitsIcEEC1EOS2_
    _ZNSt13basic_filebufIcSt11char_traitsIcEEC1Ev
    _ZNSt13basic_filebufIcSt11char_traitsIcEEC2EOS2_
    _ZNSt13basic_filebufIcSt11char_traitsIcEEC2Ev
    _ZNSt13basic_filebufIcSt11char_traitsIcEED0Ev
    _ZNSt13basic_filebufIcSt11char_traitsIcEED1Ev
    _ZNSt13basic_filebufIcSt11char_traitsIcEED2Ev
    _ZNSt13basic_filebufIcSt11char_traitsIcEEaSEOS2_
    _ZNSt13basic_fstreamIcSt11char_traitsIcEE4openERKSsSt13_Ios_Openmode
    _ZNSt13basic_fstreamIcSt11char_traitsIcEE4swapERS2_
    _ZNSt13basic_fstreamIcSt11char_traitsIcEE5closeEv
    _ZNSt13basic_fstreamIcSt11char_traitsIcEE7is_openEv
    _ZNSt13basic_fstreamIcSt11char_traitsIcEEC1EOS2_
    _ZNSt13basic_fstreamIcSt11char_traitsIcEEC1ERKSsSt13_Ios_Openmode
    _ZNSt13basic_fstreamIcSt11char_traitsIcEEC1Ev
    _ZNSt13basic_fstreamIcSt11char_traitsIcEEC2EOS2_
    _ZNSt13basic_fstreamIcSt11char_traitsIcEEC2ERKSsSt13_Ios_Openmode
    _ZNSt13basic_fstreamIcSt11char_traitsIcEEC2Ev
    _ZNSt13basic_fstreamIcSt11char_traitsIcEED0Ev
    _ZNSt13basic_fstreamIcSt11char_traitsIcEED1Ev
    _ZNSt13basic_fstreamIcSt11char_traitsIcEED2Ev
    _ZNSt13basic_fstreamIcSt11char_traitsIcEEaSEOS2_
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEE4openERKSsSt13_Ios_Openmode
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEE4swapERS2_
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEE5closeEv
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEE7is_openEv
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1EOS2_
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1ERKSsSt13_Ios_Openmode
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1Ev
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEEC2EOS2_
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEEC2ERKSsSt13_Ios_Openmode
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEEC2Ev
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEED0Ev
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEED1Ev
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEED2Ev
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEEaSEOS2_
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEE4openERKSsSt13_Ios_Openmode
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEE4swapERS2_
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEE5closeEv
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEE7is_openEv
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEEC1EOS2_
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEEC1ERKSsSt13_Ios_Openmode
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEEC1Ev
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEEC2EOS2_
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEEC2ERKSsSt13_Ios_Openmode
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEEC2Ev
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEED0Ev
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEED1Ev
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEED2Ev
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEEaSEOS2_
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE14__xfer_bufptrsC1ERKS4_PS4_
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE14__xfer_bufptrsC2ERKS4_PS4_
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE14__xfer_bufptrsD1Ev
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE14__xfer_bufptrsD2Ev
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE15_M_update_egptrEv
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE17_M_stringbuf_initESt13_Ios_Openmode
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE4swapERS4_
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE6setbufEPcl
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE7_M_syncEPcmm
_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE7seekoffElSt12_Ios_SeekdirSt13_Ios_Openmode
_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE7seekposESt4fposI11__mbstate_tESt13_Ios_Openmode
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE8_M_pbumpEPcS5_l
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE8overflowEi
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE9pbackfailEi
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE9showmanycEv
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE9underflowEv
_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC1EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC1EOS4_
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC1EOS4_ONS4_14__xfer_bufptrsE
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC1EOS4_RKS3_
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC1EOS4_RKS3_ONS4_14__xfer_bufptrsE
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC1ERKS3_
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC1ESt13_Ios_Openmode
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC1ESt13_Ios_OpenmodeRKS3_
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC1Ev
_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2EOS4_
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2EOS4_ONS4_14__xfer_bufptrsE
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2EOS4_RKS3_
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2EOS4_RKS3_ONS4_14__xfer_bufptrsE
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2ERKS3_
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2ESt13_Ios_Openmode
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2ESt13_Ios_OpenmodeRKS3_
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2Ev
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEED0Ev
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEED1Ev
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEED2Ev
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEaSEOS4_
    _ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE4swapERS4_
_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
    _ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1EOS4_
    _ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1ESt13_Ios_Openmode
    _ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1ESt13_Ios_OpenmodeRKS3_
    _ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1Ev
_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC2EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
    _ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC2EOS4_
    _ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC2ESt13_Ios_Openmode
    _ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC2ESt13_Ios_OpenmodeRKS3_
    _ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC2Ev
    _ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEED0Ev
    _ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEED1Ev
    _ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEED2Ev
    _ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEaSEOS4_
    _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE4swapERS4_
_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
    _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1EOS4_
    _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1ESt13_Ios_Openmode
    _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1ESt13_Ios_OpenmodeRKS3_
    _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1Ev
_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC2EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
    _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC2EOS4_
    _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC2ESt13_Ios_Openmode
    _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC2ESt13_Ios_OpenmodeRKS3_
    _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC2Ev
    _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEED0Ev
    _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEED1Ev
    _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEED2Ev
    _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEaSEOS4_
    _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE4swapERS4_
_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
    _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1EOS4_
    _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1ESt13_Ios_Openmode
    _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1ESt13_Ios_OpenmodeRKS3_
    _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1Ev
_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC2EONS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
    _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC2EOS4_
    _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC2ESt13_Ios_Openmode
    _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC2ESt13_Ios_OpenmodeRKS3_
    _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC2Ev
    _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEED0Ev
    _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEED1Ev
    _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEED2Ev
    _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEaSEOS4_
    _ZNSt9basic_iosIcSt11char_traitsIcEE10exceptionsESt12_Ios_Iostate
    _ZNSt9basic_iosIcSt11char_traitsIcEE11_M_setstateESt12_Ios_Iostate
    _ZNSt9basic_iosIcSt11char_traitsIcEE15_M_cache_localeERKSt6locale
    _ZNSt9basic_iosIcSt11char_traitsIcEE3tieEPSo
    _ZNSt9basic_iosIcSt11char_traitsIcEE4fillEc
    _ZNSt9basic_iosIcSt11char_traitsIcEE4initEPSt15basic_streambufIcS1_E
    _ZNSt9basic_iosIcSt11char_traitsIcEE4moveEOS2_
    _ZNSt9basic_iosIcSt11char_traitsIcEE4moveERS2_
    _ZNSt9basic_iosIcSt11char_traitsIcEE4swapERS2_
    _ZNSt9basic_iosIcSt11char_traitsIcEE5clearESt12_Ios_Iostate
    _ZNSt9basic_iosIcSt11char_traitsIcEE5imbueERKSt6locale
    _ZNSt9basic_iosIcSt11char_traitsIcEE5rdbufEPSt15basic_streambufIcS1_E
    _ZNSt9basic_iosIcSt11char_traitsIcEE7copyfmtERKS2_
    _ZNSt9basic_iosIcSt11char_traitsIcEE8setstateESt12_Ios_Iostate
    _ZNSt9basic_iosIcSt11char_traitsIcEE9set_rdbufEPSt15basic_streambufIcS1_E
    _ZNSt9basic_iosIcSt11char_traitsIcEEC1EPSt15basic_streambufIcS1_E
    _ZNSt9basic_iosIcSt11char_traitsIcEEC1Ev
    _ZNSt9basic_iosIcSt11char_traitsIcEEC2EPSt15basic_streambufIcS1_E
    _ZNSt9basic_iosIcSt11char_traitsIcEEC2Ev
    _ZNSt9basic_iosIcSt11char_traitsIcEED0Ev
    _ZNSt9basic_iosIcSt11char_traitsIcEED1Ev
    _ZNSt9basic_iosIcSt11char_traitsIcEED2Ev
    => [Also(stream)];
    _ZNSi10_M_extractIPvEERSiRT_
    _ZNSi10_M_extractIdEERSiRT_
    _ZNSi10_M_extractIlEERSiRT_
    _ZNSi10_M_extractImEERSiRT_
    _ZNSi10_M_extractIxEERSiRT_
    _ZNSi10_M_extractIyEERSiRT_
    _ZNSirsERPv
    _ZNSirsERd
    _ZNSirsERl
    _ZNSirsERm
    _ZNSirsERx
    _ZNSirsERy
        => [Also(uses), Write(1, Bytes(8))];
    _ZNSi10_M_extractIbEERSiRT_
    _ZNSi3getERc
    _ZNSirsERb
    _ZStrsISt11char_traitsIcEERSt13basic_istreamIcT_ES5_Ra
    _ZStrsISt11char_traitsIcEERSt13basic_istreamIcT_ES5_Rh
    _ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_RS3_
        => [Also(uses), Write(1, Bytes(1))];
    _ZNSi10_M_extractIeEERSiRT_
    _ZNSirsERe
        => [Also(uses), Write(1, Bytes(16))];
    _ZNSi10_M_extractIfEERSiRT_
    _ZNSi10_M_extractIjEERSiRT_
    _ZNSirsERf
    _ZNSirsERi
    _ZNSirsERj
        => [Also(uses), Write(1, Bytes(4))];
    _ZNSi10_M_extractItEERSiRT_
    _ZNSirsERs
    _ZNSirsERt
        => [Also(uses), Write(1, Bytes(2))];
    _ZNSi3getEPcl
    _ZNSi3getEPclc
    _ZNSi7getlineEPcl
    _ZNSi7getlineEPclc
    _ZStrsISt11char_traitsIcEERSt13basic_istreamIcT_ES5_Pa
    _ZStrsISt11char_traitsIcEERSt13basic_istreamIcT_ES5_Ph
    _ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_PS3_
        => [Also(uses), WriteAfter(1, TextIfSo)];
    _ZNSi3getERSt15basic_streambufIcSt11char_traitsIcEE
    _ZNSi3getERSt15basic_streambufIcSt11char_traitsIcEEc
    _ZNSi3getEv
    _ZNSi4peekEv
    _ZNSi4syncEv
    _ZNSi5seekgESt4fposI11__mbstate_tE
    _ZNSi5seekgElSt12_Ios_Seekdir
    _ZNSi5tellgEv
    _ZNSi5ungetEv
    _ZNSi6ignoreEl
    _ZNSi6ignoreEli
    _ZNSi6ignoreEv
    _ZNSi7putbackEc
    _ZNSirsEPFRSiS_E
    _ZNSirsEPFRSt8ios_baseS0_E
    _ZNSirsEPFRSt9basic_iosIcSt11char_traitsIcEES3_E
    _ZNSirsEPSt15basic_streambufIcSt11char_traitsIcEE
    _ZNSo3putEc
    _ZNSo5flushEv
    _ZNSo5seekpESt4fposI11__mbstate_tE
    _ZNSo5seekpElSt12_Ios_Seekdir
    _ZNSo5tellpEv
    _ZNSo9_M_insertIPKvEERSoT_
    _ZNSo9_M_insertIbEERSoT_
    _ZNSo9_M_insertIdEERSoT_
    _ZNSo9_M_insertIeEERSoT_
    _ZNSo9_M_insertIlEERSoT_
    _ZNSo9_M_insertImEERSoT_
    _ZNSo9_M_insertIxEERSoT_
    _ZNSo9_M_insertIyEERSoT_
    _ZNSolsEDn
    _ZNSolsEPFRSoS_E
    _ZNSolsEPFRSt8ios_baseS0_E
    _ZNSolsEPFRSt9basic_iosIcSt11char_traitsIcEES3_E
    _ZNSolsEPKv
    _ZNSolsEPSt15basic_streambufIcSt11char_traitsIcEE
    _ZNSolsEb
    _ZNSolsEd
    _ZNSolsEe
    _ZNSolsEf
    _ZNSolsEi
    _ZNSolsEj
    _ZNSolsEl
    _ZNSolsEm
    _ZNSolsEs
    _ZNSolsEt
    _ZNSolsEx
    _ZNSolsEy
    _ZSt2wsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_
    _ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_
    _ZSt4endsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_
    _ZSt5flushIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_
    _ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_a
    _ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c
    _ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_h
    _ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_St12_Setiosflags
    _ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_St13_Setprecision
    _ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_St14_Resetiosflags
    _ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_St5_Setw
    _ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_St8_Setbase
    _ZStlsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_St8_SetfillIS3_E
    _ZStlsIdcSt11char_traitsIcEERSt13basic_ostreamIT0_T1_ES6_RKSt7complexIT_E
    _ZStlsIecSt11char_traitsIcEERSt13basic_ostreamIT0_T1_ES6_RKSt7complexIT_E
    _ZStlsIfcSt11char_traitsIcEERSt13basic_ostreamIT0_T1_ES6_RKSt7complexIT_E
    _ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_St12_Setiosflags
    _ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_St13_Setprecision
    _ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_St14_Resetiosflags
    _ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_St5_Setw
    _ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_St8_Setbase
    _ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_St8_SetfillIS3_E
    _ZStrsIdcSt11char_traitsIcEERSt13basic_istreamIT0_T1_ES6_RSt7complexIT_E
    _ZStrsIecSt11char_traitsIcEERSt13basic_istreamIT0_T1_ES6_RSt7complexIT_E
    _ZStrsIfcSt11char_traitsIcEERSt13basic_istreamIT0_T1_ES6_RSt7complexIT_E
        => [Also(uses)];
    _ZNSi4readEPcl
    _ZNSi8readsomeEPcl
        => [Also(uses), Write(1, Count(2))];
    _ZNSo5writeEPKcl
    _ZNSo8_M_writeEPKcl
    _ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l
        => [Also(uses), Read(1, Count(2))];
    _ZNSt13basic_filebufIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode
    _ZNSt13basic_fstreamIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode
    _ZNSt13basic_fstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode
    _ZNSt13basic_fstreamIcSt11char_traitsIcEEC2EPKcSt13_Ios_Openmode
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode
    _ZNSt14basic_ifstreamIcSt11char_traitsIcEEC2EPKcSt13_Ios_Openmode
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode
    _ZNSt14basic_ofstreamIcSt11char_traitsIcEEC2EPKcSt13_Ios_Openmode
        => [Also(stream), Read(1, Text)];
_ZNSt13basic_filebufIcSt11char_traitsIcEE4openERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode
_ZNSt13basic_fstreamIcSt11char_traitsIcEE4openERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode
_ZNSt13basic_fstreamIcSt11char_traitsIcEEC1ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode
_ZNSt13basic_fstreamIcSt11char_traitsIcEEC2ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode
_ZNSt14basic_ifstreamIcSt11char_traitsIcEE4openERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode
_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode
_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC2ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode
_ZNSt14basic_ofstreamIcSt11char_traitsIcEE4openERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode
_ZNSt14basic_ofstreamIcSt11char_traitsIcEEC1ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode
_ZNSt14basic_ofstreamIcSt11char_traitsIcEEC2ERKNSt7__cxx1112basic_stringIcS1_SaIcEEESt13_Ios_Openmode
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEONS_12basic_stringIcS2_S3_EE
    _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strERKNS_12basic_stringIcS2_S3_EE
_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC1ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
    _ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEONS_12basic_stringIcS2_S3_EE
    _ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strERKNS_12basic_stringIcS2_S3_EE
_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC2ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
    _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strEONS_12basic_stringIcS2_S3_EE
    _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strERKNS_12basic_stringIcS2_S3_EE
_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC2ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
    _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEONS_12basic_stringIcS2_S3_EE
    _ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strERKNS_12basic_stringIcS2_S3_EE
_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC2ERKNS_12basic_stringIcS2_S3_EESt13_Ios_Openmode
    => [Also(stream), Also(|call| read_string(call, call.word(1)))];
    _ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKa
    _ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc
    _ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKh
        => [Also(uses), Read(1, Text)];
_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RKNSt7__cxx1112basic_stringIS4_S5_T1_EE
    => [Also(uses), Also(|call| read_string(call, call.word(1)))];
_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE
_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EES4_
_ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE
    => [Also(uses), Also(|call| change_string(call, call.word(1)))];
}
