//! Random programs of two threads that call functions of the C library on shared buffers, and an
//! enumeration of their interleavings: both must agree on which of them have a data race.
//!
//! The judge takes every interleaving, one call at a time, knows what each call reads and writes
//! from its description in the standard, and orders accesses by the program and one mutex.

use crate::program::{CLANG, Compilers, GCC, Program as Built};
use mazurka_core::Verdict;
use serde_json::json;
use std::fmt::Write as _;

/// How many files are made by full effort.
const N_FILES: u64 = 8;
/// How many programs are in one file.
const N_IN_FILE: usize = 25;
const BUFFER: usize = 16;
/// Nothing is written beyond, so that every buffer has an end.
const USED: usize = 7;
/// Behind two buffers: a number of four bytes, and what `strtok` keeps.
const NUMBER: usize = 2 * BUFFER;
const TOKEN: usize = NUMBER + 4;
const N_BYTES: usize = TOKEN + 1;
const TEXTS: [&str; 5] = ["", "1", "12a", "ab", "12ab1"];

/// Numbers that only look random: the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// What a thread does next, to a buffer or to both.
#[derive(Clone, Copy, Debug)]
enum Call {
    Strlen(usize),
    Strcpy(usize, usize),
    Strncpy(usize, usize, usize),
    Memcpy(usize, usize),
    Memset(usize, usize, usize),
    Memcmp(usize),
    Strcmp,
    Strchr(usize),
    Atoi(usize),
    Snprintf(usize, usize),
    Sscanf(usize, usize),
    Strdup(usize),
    Frexp,
    ReadNumber,
    Strtok,
    Read(usize, usize),
    Write(usize, usize),
    Lock,
    Unlock,
}

impl Call {
    fn random(random: &mut Random) -> Self {
        let (buffer, at, text) = (random.below(2), random.below(USED), random.below(TEXTS.len()));
        match random.below(17) {
            0 => Self::Strlen(buffer),
            1 => Self::Strcpy(buffer, text),
            2 => Self::Strncpy(buffer, text, at),
            3 => Self::Memcpy(buffer, at),
            4 => Self::Memset(buffer, at, random.below(USED - at + 1)),
            5 => Self::Memcmp(at),
            6 => Self::Strcmp,
            7 => Self::Strchr(buffer),
            8 => Self::Atoi(buffer),
            9 => Self::Snprintf(buffer, at),
            10 => Self::Sscanf(buffer, 1 + random.below(TEXTS.len() - 1)),
            11 => Self::Strdup(buffer),
            12 => Self::Frexp,
            13 => Self::ReadNumber,
            14 => Self::Strtok,
            15 => Self::Read(buffer, at),
            _ => Self::Write(buffer, at),
        }
    }

    fn source(self) -> String {
        let name = |buffer: usize| ["one", "two"][buffer];
        match self {
            Self::Strlen(it) => format!("use(strlen({}));", name(it)),
            Self::Strcpy(it, text) => format!("strcpy({}, \"{}\");", name(it), TEXTS[text]),
            Self::Strncpy(it, text, n) => {
                format!("strncpy({}, \"{}\", {n});", name(it), TEXTS[text])
            }
            Self::Memcpy(it, n) => format!("memcpy({}, {}, {n});", name(it), name(1 - it)),
            Self::Memset(it, at, n) => format!("memset({} + {at}, 'b', {n});", name(it)),
            Self::Memcmp(n) => format!("use(memcmp(one, two, {n}));"),
            Self::Strcmp => "use(strcmp(one, two));".to_owned(),
            Self::Strchr(it) => format!("use((long)strchr({}, 'a'));", name(it)),
            Self::Atoi(it) => format!("use(atoi({}));", name(it)),
            Self::Snprintf(it, n) => {
                format!("snprintf({}, {n}, \"%s\", {});", name(it), name(1 - it))
            }
            Self::Sscanf(it, text) => {
                format!("use(sscanf(\"{}\", \"%6s\", {}));", TEXTS[text], name(it))
            }
            Self::Strdup(it) => format!("free(strdup({}));", name(it)),
            Self::Frexp => "use(frexp(3.5 + sink, &number) > 0);".to_owned(),
            Self::ReadNumber => "use(number);".to_owned(),
            Self::Strtok => "char mine[] = \"a,b\"; use((long)strtok(mine, \",\"));".to_owned(),
            Self::Read(it, at) => format!("use({}[{at}]);", name(it)),
            Self::Write(it, at) => format!("{}[{at}] = '1';", name(it)),
            Self::Lock => "pthread_mutex_lock(&mutex);".to_owned(),
            Self::Unlock => "pthread_mutex_unlock(&mutex);".to_owned(),
        }
    }
}

/// What is in memory, who knows of what, and what was accessed.
#[derive(Clone)]
struct State {
    memory: [u8; 2 * BUFFER],
    clocks: [[u32; 2]; 2],
    released: [u32; 2],
    holder: Option<usize>,
    /// For each byte and thread, when it last read and wrote it.
    last: [[[u32; 2]; 2]; N_BYTES],
    has_race: bool,
}

impl State {
    fn byte(&self, buffer: usize, at: usize) -> u8 {
        self.memory[buffer * BUFFER + at]
    }

    fn len(&self, buffer: usize) -> usize {
        (0..BUFFER).find(|&at| self.byte(buffer, at) == 0).expect("a buffer has an end")
    }

    fn access(&mut self, thread: usize, start: usize, len: usize, write: bool) {
        let other = 1 - thread;
        for byte in start..start + len {
            let [read, written] = self.last[byte][other];
            let known = self.clocks[thread][other];
            self.has_race |= written > known || write && read > known;
            self.last[byte][thread][usize::from(write)] = self.clocks[thread][thread];
        }
    }

    fn read(&mut self, thread: usize, buffer: usize, at: usize, len: usize) {
        self.access(thread, buffer * BUFFER + at, len, false);
    }

    fn write(&mut self, thread: usize, buffer: usize, at: usize, bytes: &[u8]) {
        let start = buffer * BUFFER + at;
        self.access(thread, start, bytes.len(), true);
        self.memory[start..start + bytes.len()].copy_from_slice(bytes);
    }

    fn text(&self, buffer: usize) -> Vec<u8> {
        (0..=self.len(buffer)).map(|at| self.byte(buffer, at)).collect()
    }

    /// Whether the thread can make the call; if so, it does.
    fn take(&mut self, me: usize, call: Call) -> bool {
        let text = |idx: usize| [TEXTS[idx].as_bytes(), b"\0"].concat();
        match call {
            Call::Strlen(it) | Call::Strdup(it) => self.read(me, it, 0, self.len(it) + 1),
            Call::Strcpy(it, idx) | Call::Sscanf(it, idx) => self.write(me, it, 0, &text(idx)),
            Call::Strncpy(it, idx, n) => {
                let mut bytes = text(idx);
                bytes.resize(n, 0);
                self.write(me, it, 0, &bytes);
            }
            Call::Memcpy(it, n) => {
                let bytes: Vec<u8> = (0..n).map(|at| self.byte(1 - it, at)).collect();
                self.read(me, 1 - it, 0, n);
                self.write(me, it, 0, &bytes);
            }
            Call::Memset(it, at, n) => self.write(me, it, at, &vec![b'b'; n]),
            Call::Memcmp(n) => (0..2).for_each(|it| self.read(me, it, 0, n)),
            Call::Strcmp => {
                let is_end =
                    |&at: &usize| self.byte(0, at) != self.byte(1, at) || self.byte(0, at) == 0;
                let n = (0..BUFFER).find(is_end).expect("a buffer has an end") + 1;
                (0..2).for_each(|it| self.read(me, it, 0, n));
            }
            Call::Strchr(it) => {
                let is_end = |&at: &usize| matches!(self.byte(it, at), b'a' | 0);
                let n = (0..BUFFER).find(is_end).expect("a buffer has an end") + 1;
                self.read(me, it, 0, n);
            }
            Call::Atoi(it) => {
                let is_end = |&at: &usize| !self.byte(it, at).is_ascii_digit();
                let n = (0..BUFFER).find(is_end).expect("a buffer has an end") + 1;
                self.read(me, it, 0, n);
            }
            Call::Snprintf(it, n) => {
                let mut bytes = self.text(1 - it);
                self.read(me, 1 - it, 0, bytes.len());
                bytes.truncate(n);
                if let Some(last) = bytes.last_mut() {
                    *last = 0;
                }
                self.write(me, it, 0, &bytes);
            }
            Call::Frexp => self.access(me, NUMBER, 4, true),
            Call::ReadNumber => self.access(me, NUMBER, 4, false),
            Call::Strtok => self.access(me, TOKEN, 1, true),
            Call::Read(it, at) => self.read(me, it, at, 1),
            Call::Write(it, at) => self.write(me, it, at, b"1"),
            Call::Lock if self.holder.is_some() => return false,
            Call::Lock => {
                self.holder = Some(me);
                for (known, released) in self.clocks[me].iter_mut().zip(self.released) {
                    *known = released.max(*known);
                }
            }
            Call::Unlock => {
                self.holder = None;
                self.released = self.clocks[me];
                self.clocks[me][me] += 1;
            }
        }
        true
    }
}

/// Whether some interleaving has a race.
fn has_race(threads: &[Vec<Call>; 2], at: [usize; 2], state: &State) -> bool {
    state.has_race
        || (0..2).any(|me| {
            let Some(&call) = threads[me].get(at[me]) else { return false };
            let mut next = state.clone();
            let mut after = at;
            after[me] += 1;
            next.take(me, call) && has_race(threads, after, &next)
        })
}

fn judged(threads: &[Vec<Call>; 2]) -> bool {
    let mut memory = [0; 2 * BUFFER];
    memory[..4].copy_from_slice(b"12ab");
    memory[BUFFER..BUFFER + 3].copy_from_slice(b"12a");
    let start = State {
        memory,
        clocks: [[1, 0], [0, 1]],
        released: [0, 0],
        holder: None,
        last: [[[0; 2]; 2]; N_BYTES],
        has_race: false,
    };
    has_race(threads, [0, 0], &start)
}

fn random_thread(random: &mut Random) -> Vec<Call> {
    let mut calls: Vec<Call> = (0..1 + random.below(3)).map(|_| Call::random(random)).collect();
    // Most often, some of it holds the mutex.
    if random.below(4) > 0 {
        let start = random.below(2).min(calls.len() - 1);
        let end = start + 1 + random.below(calls.len() - start);
        calls.insert(end, Call::Unlock);
        calls.insert(start, Call::Lock);
    }
    calls
}

fn source(programs: &[[Vec<Call>; 2]]) -> String {
    let mut text = String::from(
        "#include <math.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         #include <string.h>\nstatic char one[16] = \"12ab\", two[16] = \"12a\";\n\
         static int number;\n__thread long sink;\n\
         static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;\n\
         static void use(long value) { sink = sink * 3 + (value & 1); }\n",
    );
    for (idx, threads) in programs.iter().enumerate() {
        for (thread, calls) in threads.iter().enumerate() {
            let _ = writeln!(text, "static void *f{idx}_{thread}(void *unused) {{");
            for call in calls {
                let call = call.source();
                // A declaration has a block of its own.
                let _ = writeln!(text, "    {{ {call} }}");
            }
            let _ = writeln!(text, "    return unused;\n}}");
        }
    }
    let _ = writeln!(text, "int main(int argc, char **argv) {{\n    pthread_t a, b;");
    let _ = writeln!(text, "    switch (argc > 1 ? atoi(argv[1]) : -1) {{");
    for idx in 0..programs.len() {
        let _ = writeln!(
            text,
            "    case {idx}: pthread_create(&a, 0, f{idx}_0, 0); \
             pthread_create(&b, 0, f{idx}_1, 0); break;"
        );
    }
    text + "    default: return 1;\n    }\n    pthread_join(a, 0);\n    return pthread_join(b, 0);\n}\n"
}

#[test]
fn races_in_functions_of_the_library_are_those_of_an_enumeration() {
    let makers: [(Compilers, &str); 5] =
        [(GCC, "-O0"), (CLANG, "-O2"), (GCC, "-O2"), (CLANG, "-O0"), (GCC, "-O1")];
    let folder = std::env::temp_dir().join(format!("mazurka-random-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room");
    let (mut n_races, mut n_all) = (0, 0);
    for file in mazurka_effort::seeds(0..N_FILES) {
        let mut random = Random(file + 1);
        let programs: Vec<[Vec<Call>; 2]> = (0..N_IN_FILE)
            .map(|_| [random_thread(&mut random), random_thread(&mut random)])
            .collect();
        std::fs::write(folder.join("random.c"), source(&programs)).expect("there is room");
        let (by, level) = makers[file as usize % makers.len()];
        let built = Built::build_in(&folder, by, "random", &[level, "-w"]);
        for (idx, threads) in programs.iter().enumerate() {
            let answer = built.explore_with(&[&idx.to_string()], &json!({}));
            let found = match &answer.verdict {
                Some(Verdict::Holds(_)) => false,
                Some(Verdict::Violated(found)) => found.violation.kind.name() == "race",
                _ => panic!("file {file}, program {idx}: {:?}: {threads:?}", answer.error),
            };
            let judged = judged(threads);
            let message = answer.message;
            assert_eq!(
                found, judged,
                "file {file}, program {idx} ({level}): {message}: {threads:?}"
            );
            n_races += usize::from(judged);
            n_all += 1;
        }
    }
    std::fs::remove_dir_all(&folder).expect("it is there");
    // Both kinds are there.
    assert!(n_races > n_all / 10 && n_races < n_all * 9 / 10, "{n_races} of {n_all}");
}
