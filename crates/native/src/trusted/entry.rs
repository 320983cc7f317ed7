//! Entry and exit of a listed function: its first instructions lead here, and it returns through
//! here.
//!
//! A jump at the entry of the function leads over a piece of code (`precompiled`) to
//! [`mazurka_trusted`], which keeps the registers that arguments are in and calls `bracket`. That
//! calls the function itself ([`Frame::call`]) with the same registers and a copy of what may be
//! arguments on the stack, and gives back what it returns. Both ways out are seen: a return, and a
//! panic, for `bracket` is a Rust function with something to drop. The unwinder and debuggers see
//! two frames more on the stack.

use super::{Row, bracket};
use crate::coroutine;
use std::arch::global_asm;
use std::ffi::c_void;

/// A function that is listed, and where it goes on behind the jump.
#[repr(C)]
pub(crate) struct Hook {
    row: &'static Row,
    body: usize,
}

/// The registers in which arguments come and results go.
#[repr(C)]
pub(crate) struct Frame {
    arguments: [usize; 6],
    /// rax, r10, r11 and nothing.
    others: [usize; 4],
    vectors: [[usize; 2]; 8],
    hook: &'static Hook,
    /// Where arguments on the stack would begin.
    stack: usize,
}

/// How much a frame is, see the assembly below.
const FRAME_LEN: usize = 224;
const _: () = assert!(size_of::<Frame>() == FRAME_LEN);

impl Frame {
    pub(crate) fn row(&self) -> &'static Row {
        self.hook.row
    }

    /// An argument that comes in a register, from 0.
    pub(crate) fn argument(&self, idx: usize) -> usize {
        self.arguments[idx]
    }

    /// What the program is to find where results are, if the function is not called.
    pub(crate) fn set_result(&mut self, value: usize) {
        self.others[0] = value;
    }

    /// Calls the function itself.
    pub(crate) fn call(&mut self) {
        const N_COPIED: usize = 8;
        static NOTHING: [usize; N_COPIED] = [0; N_COPIED];
        // The first function of a thread has none, and nothing is above it.
        let end = self.stack + size_of_val(&NOTHING);
        if coroutine::is_own_stack(self.stack) && !coroutine::is_own_stack(end) {
            self.stack = NOTHING.as_ptr() as usize;
        }
        // SAFETY: the registers are those with which the program called it.
        unsafe { mazurka_trusted_body(std::ptr::from_mut(self).cast()) };
    }
}

/// The code that leads from the entry of a function to its bracket; its own first instructions are
/// expected behind it.
pub(crate) fn head(row: &'static Row, piece: usize) -> Vec<u8> {
    // push [hook]; jmp [common]; then these two.
    const CODE_LEN: usize = 6 + 6;
    const TABLE_LEN: usize = 2 * 8;
    let hook = Box::leak(Box::new(Hook { row, body: piece + CODE_LEN + TABLE_LEN }));
    let mut code = vec![0xff, 0x35];
    code.extend(6u32.to_le_bytes());
    code.extend([0xff, 0x25]);
    code.extend(8u32.to_le_bytes());
    for word in [std::ptr::from_ref(hook) as usize, mazurka_trusted as *const () as usize] {
        code.extend(word.to_le_bytes());
    }
    code
}

global_asm!(
    ".globl mazurka_trusted",
    ".hidden mazurka_trusted",
    ".type mazurka_trusted,@function",
    "mazurka_trusted:",
    ".cfi_startproc",
    ".cfi_def_cfa rsp, 16",
    "push rbp",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_offset rbp, -24",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "sub rsp, {len}",
    "and rsp, -16",
    "mov [rsp], rdi",
    "mov [rsp + 8], rsi",
    "mov [rsp + 16], rdx",
    "mov [rsp + 24], rcx",
    "mov [rsp + 32], r8",
    "mov [rsp + 40], r9",
    "mov [rsp + 48], rax",
    "mov [rsp + 56], r10",
    "mov [rsp + 64], r11",
    "movups [rsp + 80], xmm0",
    "movups [rsp + 96], xmm1",
    "movups [rsp + 112], xmm2",
    "movups [rsp + 128], xmm3",
    "movups [rsp + 144], xmm4",
    "movups [rsp + 160], xmm5",
    "movups [rsp + 176], xmm6",
    "movups [rsp + 192], xmm7",
    "mov rax, [rbp + 8]",
    "mov [rsp + 208], rax",
    "lea rax, [rbp + 24]",
    "mov [rsp + 216], rax",
    "mov rdi, rsp",
    "call {bracket}",
    "mov rax, [rsp + 48]",
    "mov rdx, [rsp + 16]",
    "mov rcx, [rsp + 24]",
    "movups xmm0, [rsp + 80]",
    "movups xmm1, [rsp + 96]",
    "mov rsp, rbp",
    "pop rbp",
    ".cfi_def_cfa rsp, 16",
    "lea rsp, [rsp + 8]",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size mazurka_trusted, . - mazurka_trusted",
    ".globl mazurka_trusted_body",
    ".hidden mazurka_trusted_body",
    ".type mazurka_trusted_body,@function",
    "mazurka_trusted_body:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "push rbx",
    ".cfi_offset rbx, -24",
    "sub rsp, 8",
    "mov rbx, rdi",
    "mov rax, [rbx + 216]",
    "push [rax + 56]",
    "push [rax + 48]",
    "push [rax + 40]",
    "push [rax + 32]",
    "push [rax + 24]",
    "push [rax + 16]",
    "push [rax + 8]",
    "push [rax]",
    "movups xmm0, [rbx + 80]",
    "movups xmm1, [rbx + 96]",
    "movups xmm2, [rbx + 112]",
    "movups xmm3, [rbx + 128]",
    "movups xmm4, [rbx + 144]",
    "movups xmm5, [rbx + 160]",
    "movups xmm6, [rbx + 176]",
    "movups xmm7, [rbx + 192]",
    "mov rsi, [rbx + 8]",
    "mov rdx, [rbx + 16]",
    "mov rcx, [rbx + 24]",
    "mov r8, [rbx + 32]",
    "mov r9, [rbx + 40]",
    "mov rax, [rbx + 48]",
    "mov r10, [rbx + 56]",
    "mov r11, [rbx + 208]",
    "mov rdi, [rbx]",
    "call [r11 + 8]",
    "mov [rbx + 48], rax",
    "mov [rbx + 16], rdx",
    "mov [rbx + 24], rcx",
    "movups [rbx + 80], xmm0",
    "movups [rbx + 96], xmm1",
    "lea rsp, [rbp - 8]",
    "pop rbx",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size mazurka_trusted_body, . - mazurka_trusted_body",
    len = const FRAME_LEN,
    bracket = sym bracket,
);

unsafe extern "C-unwind" {
    fn mazurka_trusted();
    fn mazurka_trusted_body(frame: *mut c_void);
}
