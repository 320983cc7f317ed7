//! Semaphores with names: they begin with each execution and end with it, and no other program sees
//! them.

use crate::heap;
use crate::machine;
use crate::pthread;
use crate::real::replace;
use crate::syscall::fail_with;
use std::ffi::{CStr, c_char, c_int, c_uint};

/// A name has at most so many bytes behind its slash.
const MAX_NAME: usize = 250;
const MAX_VALUE: c_uint = c_int::MAX as c_uint;

/// A semaphore that was opened in the execution in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedSemaphore {
    /// Nothing once it was unlinked.
    name: Option<Vec<u8>>,
    address: usize,
    n_open: usize,
    /// What it was opened as, for people.
    label: String,
}

/// Stands for all names, as the address for the operations on them.
static NAMES: u8 = 0;

/// What people call the thing at an address, if it has to do with names.
pub(crate) fn name_of(address: usize) -> Option<String> {
    if address == &raw const NAMES as usize {
        return Some("the named semaphores".to_owned());
    }
    machine::with(|machine| {
        let all = &machine.named_semaphores;
        all.iter().find(|it| it.address == address).map(|it| it.label.clone())
    })
}

fn touch_names() {
    machine::visible_write(&raw const NAMES as usize, 1);
}

/// The name without its slashes, or the error.
fn checked(name: *const c_char) -> Result<Vec<u8>, c_int> {
    // SAFETY: the program gives a string.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let first = name.iter().position(|&byte| byte != b'/').unwrap_or(name.len());
    let name = &name[first..];
    match name.len() {
        0 => Err(libc::EINVAL),
        _ if name.contains(&b'/') => Err(libc::EINVAL),
        len if len > MAX_NAME => Err(libc::ENAMETOOLONG),
        _ => Ok(name.to_vec()),
    }
}

fn find(name: &[u8]) -> Option<usize> {
    machine::with(|machine| {
        machine.named_semaphores.iter().position(|it| it.name.as_deref() == Some(name))
    })
}

fn open(name: *const c_char, flags: c_int, value: c_uint) -> Result<usize, c_int> {
    // Who is suspended owns nothing outside of its stack.
    touch_names();
    let name = checked(name)?;
    let (creates, is_new) = (flags & libc::O_CREAT != 0, flags & libc::O_EXCL != 0);
    match find(&name) {
        Some(_) if creates && is_new => return Err(libc::EEXIST),
        Some(idx) => {
            return Ok(machine::with(|machine| {
                machine.named_semaphores[idx].n_open += 1;
                machine.named_semaphores[idx].address
            }));
        }
        None if !creates => return Err(libc::ENOENT),
        None if value > MAX_VALUE => return Err(libc::EINVAL),
        None => {}
    }
    let pointer: *mut libc::sem_t = heap::malloc(size_of::<libc::sem_t>()).cast();
    pthread::create_named_semaphore(pointer, value);
    let label = format!("semaphore /{}", String::from_utf8_lossy(&name));
    let semaphore =
        NamedSemaphore { name: Some(name), address: pointer as usize, n_open: 1, label };
    machine::with(|machine| machine.named_semaphores.push(semaphore));
    Ok(pointer as usize)
}

/// Whether a semaphore with a name is at an address.
pub(crate) fn is_semaphore(address: usize) -> bool {
    machine::with(|machine| machine.named_semaphores.iter().any(|it| it.address == address))
}

fn close(address: usize) -> Result<(), c_int> {
    touch_names();
    let is_last = machine::with(|machine| -> Result<bool, c_int> {
        let all = &mut machine.named_semaphores;
        let idx = all.iter().position(|it| it.address == address && it.n_open > 0);
        let idx = idx.ok_or(libc::EINVAL)?;
        all[idx].n_open -= 1;
        let is_last = all[idx].n_open == 0 && all[idx].name.is_none();
        if is_last {
            all.remove(idx);
        }
        Ok(is_last)
    })?;
    if is_last {
        // SAFETY: it was allocated when it was opened, and nobody may use it any more.
        unsafe { heap::free(address as *mut _) };
    }
    Ok(())
}

fn unlink(name: *const c_char) -> Result<(), c_int> {
    touch_names();
    let name = checked(name).map_err(|_| libc::ENOENT)?;
    let idx = find(&name).ok_or(libc::ENOENT)?;
    let unused = machine::with(|machine| {
        let semaphore = &mut machine.named_semaphores[idx];
        semaphore.name = None;
        (semaphore.n_open == 0).then(|| machine.named_semaphores.remove(idx).address)
    });
    if let Some(address) = unused {
        // SAFETY: as in `close`.
        unsafe { heap::free(address as *mut _) };
    }
    Ok(())
}

fn answer(result: Result<(), c_int>) -> c_int {
    result.map_or_else(|error| fail_with(error) as c_int, |()| 0)
}

replace! {
    fn sem_open(
        name: *const c_char,
        flags: c_int,
        _mode: c_uint,
        value: c_uint,
    ) -> *mut libc::sem_t {
        match open(name, flags, value) {
            Ok(address) => address as *mut libc::sem_t,
            Err(error) => {
                fail_with(error);
                libc::SEM_FAILED
            }
        }
    }

    fn sem_close(semaphore: *mut libc::sem_t) -> c_int {
        answer(close(semaphore as usize))
    }

    fn sem_unlink(name: *const c_char) -> c_int {
        answer(unlink(name))
    }
}
