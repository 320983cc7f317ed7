//! The programs: trees of threads over two atomics, two plain numbers, a string, and a pointer to
//! memory that is allocated and freed.

use crate::support::Random;
use crate::support::c11::c_order;
use mazurka_core::MemoryOrder as Order;
use std::fmt::Write as _;

/// What a thread does next. It has a number `r` and a pointer `q` of its own, and shares the
/// atomics `a` and `b`, the plain `x` and `y`, the string `s` and the atomic pointer `p`.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    Load(char, Order),
    Store(char, i32, Order),
    Add(char, Order),
    Fence(Order),
    Read(char),
    Write(char, i32),
    /// `r = strlen(s)`.
    Length,
    /// `strcpy(s, …)`.
    CopyString(&'static str),
    /// `memset(s + from, c, n)`.
    Fill {
        from: u32,
        n: u32,
        with: u8,
    },
    /// `r = memcmp(s, …, 3) == 0`.
    Compare(&'static str),
    /// `snprintf(s, 8, "%d", …)`.
    Print(i32),
    /// `sscanf("7", "%d", &…)`.
    Scan(char),
    /// `memmove(s + 1, s, 3)`.
    Move,
    /// `memcpy(…, s, 4)`, and the first byte.
    CopyOut,
    /// `q = calloc(1, 8)`.
    New,
    /// `p = q`.
    Publish,
    /// `q = p`.
    Take,
    /// `q = exchange(p, NULL)`.
    Steal,
    /// `q[0] = …`, if there is something.
    WriteHeap(u8),
    /// `r = q[0]`, if there is something.
    ReadHeap,
    /// `r = strlen(q)`, if there is something.
    HeapLength,
    /// `free(q)`.
    Free,
    Lock,
    Unlock,
    Spawn(usize),
    Join(usize),
    /// `exit(0)`.
    Exit,
    /// `assert(r != …)`.
    Assert(i32),
    /// The next so many are left out unless `r` has this value.
    Unless(i32, usize),
}
use Statement as S;

/// The first thread is `main`.
pub(crate) struct Program {
    pub(crate) threads: Vec<Vec<Statement>>,
}

impl Program {
    pub(crate) fn new(random: &mut Random) -> Self {
        let n_threads = 2 + random.below(3) as usize;
        let n_parts = [0, 0, 2, 1, 1][n_threads];
        let is_about_heap = random.below(4) == 0;
        let mut threads: Vec<Vec<Statement>> = Vec::new();
        for thread in 0..n_threads {
            let mut statements = Vec::new();
            let n_own = if thread == 0 { random.below(2) } else { n_parts + random.below(2) };
            for _ in 0..n_own {
                match is_about_heap && random.below(4) > 0 {
                    true => heap_part(random, &mut statements),
                    false => part(random, &mut statements),
                }
            }
            threads.push(statements);
        }
        // Each but the first is started by one before it, and waited for there, or not at all.
        for child in (1..n_threads).rev() {
            let parent = if random.below(3) == 0 { random.below(child as u64) as usize } else { 0 };
            let statements = &mut threads[parent];
            let spawns: Vec<usize> = gaps(statements);
            let at = spawns[random.below(spawns.len().min(2) as u64) as usize];
            statements.insert(at, S::Spawn(child));
            if random.below(5) > 0 {
                let gaps: Vec<usize> = gaps(statements).into_iter().filter(|it| *it > at).collect();
                let at = gaps[random.below(gaps.len() as u64) as usize];
                statements.insert(at, S::Join(child));
            }
        }
        if random.below(3) == 0 {
            threads[0].push(any_read(random));
            threads[0].push(S::Assert(random.below(3) as i32));
        }
        if is_about_heap {
            threads[0].splice(0..0, [S::New, S::WriteHeap(1), S::Publish]);
        }
        Self { threads }
    }

    pub(crate) fn in_c(&self) -> String {
        let mut text = "#include <assert.h>\n#include <pthread.h>\n#include <stdio.h>\n\
                        #include <stdlib.h>\n#include <string.h>\nint a, b, x, y;\n\
                        char s[8] = \"abc\", *p;\nlong kept;\n\
                        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\npthread_t t[4];\n"
            .to_owned();
        for number in 1..self.threads.len() {
            _ = writeln!(text, "void *t{number}(void *arg);");
        }
        for (number, statements) in self.threads.iter().enumerate() {
            _ = match number {
                0 => writeln!(text, "int main(void) {{"),
                _ => writeln!(text, "void *t{number}(void *arg) {{"),
            };
            text += "    long r = 0, sum = 0; char *q = NULL;\n";
            let mut left = None;
            for statement in statements {
                if let S::Unless(value, n) = statement {
                    _ = writeln!(text, "    if (r == {value}) {{");
                    left = Some(*n);
                    continue;
                }
                _ = writeln!(text, "    {}", in_c(statement));
                left = left.map(|n| n - 1);
                if left == Some(0) {
                    text += "    }\n";
                    left = None;
                }
            }
            text += match number {
                // Kept, so that no compiler leaves out what `main` reads.
                0 => "    kept = sum + (q != NULL);\n    return 0;\n}\n",
                _ => "    (void)arg;\n    return (void *)(sum + (q != NULL));\n}\n",
            };
        }
        text
    }
}

/// Where something can be put: not into blocks.
fn gaps(statements: &[Statement]) -> Vec<usize> {
    let (mut gaps, mut inside, mut is_locked) = (Vec::new(), 0, false);
    for (at, statement) in statements.iter().enumerate() {
        if inside == 0 && !is_locked {
            gaps.push(at);
        }
        inside = match statement {
            S::Unless(_, n) => *n,
            _ => inside.saturating_sub(1),
        };
        match statement {
            S::Lock => is_locked = true,
            S::Unlock => is_locked = false,
            _ => {}
        }
    }
    gaps.push(statements.len());
    gaps
}

/// A few statements that make sense together.
fn part(random: &mut Random, to: &mut Vec<Statement>) {
    match random.below(13) {
        0 | 1 => {
            to.push(any_write(random));
            maybe_fence(random, to);
            to.push(S::Store(atomic(random), 1, store_order(random)));
        }
        2..5 => {
            to.push(S::Load(atomic(random), load_order(random)));
            maybe_fence(random, to);
            to.push(S::Unless(random.below(3).min(1) as i32, 1));
            to.push(if random.below(3) == 0 { any_write(random) } else { any_read(random) });
        }
        5 => {
            let read = any_read(random);
            to.extend([S::Lock, any_write(random), read, S::Unlock]);
        }
        6 => {
            to.push(S::Load(atomic(random), load_order(random)));
            to.extend([S::Unless(random.below(2) as i32, 1), S::Exit]);
        }
        7 => to.extend([S::New, S::WriteHeap(1), S::Publish]),
        8 => {
            to.push(S::Take);
            to.push(match random.below(4) {
                0 => S::Free,
                1 => S::HeapLength,
                2 => S::WriteHeap(0),
                _ => S::ReadHeap,
            });
        }
        9 => to.extend([S::Steal, S::HeapLength, S::Free]),
        10 => {
            to.push(any_read(random));
            to.push(S::Assert(random.below(4) as i32));
        }
        11 => to.push(S::Add(atomic(random), Order::ALL[random.below(5) as usize])),
        _ => to.push(any_write(random)),
    }
}

/// A few statements about the memory that is shared, most of them in order by a lock.
fn heap_part(random: &mut Random, to: &mut Vec<Statement>) {
    let uses = match random.below(4) {
        0 => S::HeapLength,
        1 => S::WriteHeap(0),
        _ => S::ReadHeap,
    };
    to.extend(match random.below(8) {
        0..3 => [S::Lock, S::Take, uses, S::Unlock].to_vec(),
        3 | 4 => [S::Lock, S::Take, S::Free, S::Unlock].to_vec(),
        5 => [S::Lock, S::Steal, uses, S::Free, S::Unlock].to_vec(),
        6 => [S::Steal, S::Free].to_vec(),
        _ => [S::Take, uses].to_vec(),
    });
}

/// A plain access that reads, directly or by the library.
fn any_read(random: &mut Random) -> Statement {
    match random.below(6) {
        0 | 1 => S::Read(plain(random)),
        2 | 3 => S::Length,
        4 => S::Compare(["abc", "abd", "aaa"][random.below(3) as usize]),
        _ => S::CopyOut,
    }
}

/// A plain access that writes.
fn any_write(random: &mut Random) -> Statement {
    match random.below(8) {
        0 | 1 => S::Write(plain(random), 1 + random.below(2) as i32),
        2 | 3 => S::CopyString(["", "a", "abcd"][random.below(3) as usize]),
        4 => S::Fill {
            from: random.below(4) as u32,
            n: 1 + random.below(2) as u32,
            with: b'a' + random.below(2) as u8,
        },
        5 => S::Print(random.below(200) as i32),
        6 => S::Scan(plain(random)),
        _ => S::Move,
    }
}

fn plain(random: &mut Random) -> char {
    if random.below(4) == 0 { 'y' } else { 'x' }
}

fn atomic(random: &mut Random) -> char {
    if random.below(4) == 0 { 'b' } else { 'a' }
}

fn maybe_fence(random: &mut Random, to: &mut Vec<Statement>) {
    if random.below(4) == 0 {
        to.push(S::Fence(Order::ALL[1 + random.below(4) as usize]));
    }
}

fn load_order(random: &mut Random) -> Order {
    [Order::Relaxed, Order::Acquire, Order::SequentiallyConsistent][random.below(3) as usize]
}

fn store_order(random: &mut Random) -> Order {
    [Order::Relaxed, Order::Release, Order::SequentiallyConsistent][random.below(3) as usize]
}

fn in_c(statement: &Statement) -> String {
    // What is read is used, or the compiler leaves it out.
    let used = |text: &str| format!("r = {text}; sum = 3 * sum + r;");
    let with_heap = |text: &str| format!("if (q) {{ {text} }}");
    match statement {
        S::Load(object, by) => format!("r = __atomic_load_n(&{object}, {});", c_order(*by)),
        S::Store(object, value, by) => {
            format!("__atomic_store_n(&{object}, {value}, {});", c_order(*by))
        }
        S::Add(object, by) => format!("r = __atomic_fetch_add(&{object}, 1, {});", c_order(*by)),
        S::Fence(by) => format!("__atomic_thread_fence({});", c_order(*by)),
        S::Read(object) => used(&object.to_string()),
        S::Write(object, value) => format!("{object} = {value};"),
        S::Length => used("(long)strlen(s)"),
        S::CopyString(text) => format!("strcpy(s, \"{text}\");"),
        S::Fill { from, n, with } => format!("memset(s + {from}, '{}', {n});", *with as char),
        S::Compare(text) => used(&format!("memcmp(s, \"{text}\", 3) == 0")),
        S::Print(value) => format!("snprintf(s, sizeof s, \"%d\", {value});"),
        S::Scan(object) => format!("sscanf(\"7\", \"%d\", &{object});"),
        S::Move => "memmove(s + 1, s, 3);".to_owned(),
        S::CopyOut => format!("{{ char c[4]; memcpy(c, s, 4); {} }}", used("c[0]")),
        S::New => "q = calloc(1, 8);".to_owned(),
        S::Publish => "__atomic_store_n(&p, q, __ATOMIC_SEQ_CST);".to_owned(),
        S::Take => "q = __atomic_load_n(&p, __ATOMIC_SEQ_CST);".to_owned(),
        S::Steal => "q = __atomic_exchange_n(&p, NULL, __ATOMIC_SEQ_CST);".to_owned(),
        S::WriteHeap(value) => with_heap(&format!("q[0] = {value};")),
        S::ReadHeap => with_heap(&used("q[0]")),
        S::HeapLength => with_heap(&used("(long)strlen(q)")),
        S::Free => "free(q);".to_owned(),
        S::Lock => "pthread_mutex_lock(&m);".to_owned(),
        S::Unlock => "pthread_mutex_unlock(&m);".to_owned(),
        S::Spawn(child) => format!("pthread_create(&t[{child}], NULL, t{child}, NULL);"),
        S::Join(child) => format!("pthread_join(t[{child}], NULL);"),
        S::Exit => "exit(0);".to_owned(),
        S::Assert(value) => format!("assert(r != {value});"),
        S::Unless(..) => unreachable!("it opens a block"),
    }
}
