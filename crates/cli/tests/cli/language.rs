//! C itself: random sequential programs compute the same with gcc and as a model.
//!
//! A program is made from a seed: variables of all integer types, a struct with a bit-field, a
//! union, arrays, functions, loops, `switch`, `goto`. Undefined behaviour is kept out by
//! construction: arithmetic is unsigned or wide enough, divisors are not 0, shifts and indices are
//! masked. It ends with a number that depends on everything. gcc makes a program of it that prints
//! the number; the model has it in a global variable.

use crate::support::Random;
use mazurka_core::{Decision, Next, System as _, ThreadId};
use mazurka_effort::seeds;
use mazurka_model::{ObjectIdx, Races, Type, Vm};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

/// The programs that are made.
const SEEDS: Range<u64> = 0..300;
/// How many go into one file, so that gcc starts less often.
const BATCH: u64 = 25;

const TYPES: [&str; 11] = [
    "_Bool",
    "char",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned int",
    "long",
    "unsigned long",
    "long long",
];

/// The text of one program: a function that returns a number.
struct Program {
    random: Random,
    number: u64,
}

impl Program {
    fn text(mut self) -> String {
        let n = self.number;
        let types: Vec<&str> = (0..6).map(|_| self.random.pick(&TYPES)).collect();
        let bits = self.random.pick(&["int", "unsigned int", "signed int"]);
        let function = [
            self.operation("p", "q"),
            self.operation("q", "p"),
            self.operation("p", "p"),
            self.operation("p", "r"),
        ];
        let constants: Vec<String> = (0..5).map(|_| self.constant()).collect();
        let statements: Vec<String> = (0..8).map(|_| self.statement(2)).collect();
        format!(
            "struct S{n} {{ {t0} a; {t1} b[3]; {bits} c : 5; {t2} d; }};
union U{n} {{ unsigned long whole; unsigned char bytes[8]; unsigned short halves[4]; }};
static struct S{n} g{n} = {{ .b = {{ [1] = 5 }}, .d = 3 }};
static {t3} h{n}[4] = {{ 1, 2, [3] = 9 }};
static {t4} f{n}({t5} p, {t0} q) {{
    {t1} r = {f0};
    if ({f1})
        return {f2};
    return {f3};
}}
static struct S{n} k{n}(struct S{n} s) {{
    s.a = s.d, s.b[2] = s.a;
    s.c = (s.c + 1) & 7;
    return s;
}}
static unsigned long run{n}(void) {{
    {t2} x = {c0};
    {t3} y = {c1};
    {t5} z = {c2};
    {t4} v[3] = {{ {c3}, {c4} }}, *p = &v[1];
    struct S{n} s = {{ 1, {{ 2, 3 }} }};
    union U{n} u = {{ 0 }};
    unsigned long sum = 0;
    int i = 0;
    double w = 1.5;
    {statements}
    for (i = 0; i < 3; i++)
        sum = sum * 31 + (unsigned long)v[i] + (unsigned long)s.b[i];
    for (i = 0; i < 8; i++)
        sum = sum * 17 + u.bytes[i];
    sum = sum * 31 + (unsigned long)x;
    sum = sum * 31 + (unsigned long)y + (unsigned long)g{n}.d + (unsigned long)h{n}[3];
    sum = sum * 31 + (unsigned long)z + (unsigned long)s.a + (unsigned long)s.c;
    sum = sum * 31 + (unsigned long)s.d + (unsigned long)(long)w;
    return sum + sizeof s * 3 + sizeof(union U{n}) + _Alignof(struct S{n});
}}
",
            t0 = types[0],
            t1 = types[1],
            t2 = types[2],
            t3 = types[3],
            t4 = types[4],
            t5 = types[5],
            f0 = function[0],
            f1 = function[1],
            f2 = function[2],
            f3 = function[3],
            c0 = constants[0],
            c1 = constants[1],
            c2 = constants[2],
            c3 = constants[3],
            c4 = constants[4],
            statements = statements.join("\n    "),
        )
    }

    fn constant(&mut self) -> String {
        let small = self.random.below(300);
        match self.random.below(5) {
            0 => format!("{small}"),
            1 => format!("-{small}"),
            2 => format!("{small}u"),
            3 => format!("0x{:x}L", self.random.below(1 << 30) * 7),
            _ => format!("'{}'", self.random.pick(&["a", "\\n", "\\x7f", "\\0", "Z"])),
        }
    }

    fn variable(&mut self) -> String {
        let n = self.number;
        match self.random.below(9) {
            0 => "x".to_owned(),
            1 => "y".to_owned(),
            2 => "z".to_owned(),
            3 => format!("v[{} & 1]", self.random.pick(&["x", "y", "z", "sum"])),
            4 => self.random.pick(&["s.a", "s.d", "s.c", "s.b[1]"]).to_owned(),
            5 => format!("h{n}[{}]", self.random.below(4)),
            6 => format!("g{n}.b[{}]", self.random.below(3)),
            7 => "*p".to_owned(),
            _ => self.random.pick(&["u.whole", "u.bytes[3]", "u.halves[1]"]).to_owned(),
        }
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 {
            return if self.random.below(3) == 0 { self.constant() } else { self.variable() };
        }
        let left = self.expression(depth - 1);
        let right = self.expression(depth - 1);
        match self.random.below(12) {
            0 => format!("({left} ? {right} : {})", self.variable()),
            1 => format!("f{}({left}, {right})", self.number),
            2 => format!("({left} && {right})"),
            3 => format!("({left} || !{right})"),
            4 => format!("(({}){left})", self.random.pick(&TYPES)),
            5 => format!("({left}, {right})"),
            6 => format!("(long)(w * 2 + (double)(({left}) % 1000))"),
            _ => self.operation(&left, &right),
        }
    }

    /// An operator that is defined for all values.
    fn operation(&mut self, left: &str, right: &str) -> String {
        let sum = self.random.pick(&["+", "-", "*"]);
        let quotient = self.random.pick(&["/", "%"]);
        match self.random.below(9) {
            0 => format!("((unsigned long){left} {sum} {right})"),
            1 => format!("((unsigned){left} {sum} (unsigned){right})"),
            2 => format!("({left} {} {right})", self.random.pick(&["&", "|", "^"])),
            3 => format!(
                "({left} {} {right})",
                self.random.pick(&["<", "<=", ">", ">=", "==", "!="])
            ),
            4 => format!("((unsigned long)({left}) {quotient} (({right} & 15) + 1))"),
            5 => format!("((unsigned char){left} {quotient} ((signed char){right} | 1))"),
            6 => format!(
                "((unsigned long){left} {} ({right} & 31))",
                self.random.pick(&["<<", ">>"])
            ),
            7 => format!("((int)(short){left} {sum} (int)(signed char){right})"),
            _ => format!("(~{left} >> ({right} & 7))"),
        }
    }

    fn statement(&mut self, depth: u32) -> String {
        let n = self.number;
        let value = self.expression(2);
        let place = self.variable();
        if depth == 0 {
            return format!("{place} = {value};");
        }
        let inner = self.statement(depth - 1);
        let other = self.statement(depth - 1);
        let few = self.random.below(5);
        let mark = self.random.0 >> 33;
        match self.random.below(13) {
            0 => format!("if ({value}) {{ {inner} }} else {{ {other} }}"),
            1 => format!(
                "for (int j = 0; j < {few}; j++) {{ {inner} if (j == 2) continue; {other} }}"
            ),
            2 => format!("{{ int j = 0; while (j++ < 3) {{ {inner} if ({value}) break; }} }}"),
            3 => format!(
                "switch ((int)({value}) & 3) {{ case 0: {inner} case 1: {other} break; \
                 case 2 ... 3: {place} = 1; default: sum++; }}"
            ),
            4 => format!("{place} {} {value};", self.random.pick(&["|=", "&=", "^="])),
            5 => format!(
                "sum {} (unsigned long)({value});",
                self.random.pick(&["+=", "-=", "*=", "^=", "/= 1 |"])
            ),
            6 => format!("s = k{n}(s); {inner}"),
            7 => format!("p = &v[({value}) & 1]; (*p) = {few}; p += 1; p--; {inner}"),
            8 => format!(
                "{{ struct S{n} t = s, *q = &t; q->a = {value}; s = (({value}) & 1) ? t : *&s; \
                 {inner} }}"
            ),
            9 => format!("w = w / 3 + ({value}) % 7; {inner}"),
            10 => format!(
                "{{ static int count; sum += ++count; goto skip{mark}; {inner} skip{mark}:; }}"
            ),
            11 => format!("i = {few}; do {{ {inner} }} while (i-- > 1);"),
            _ => format!("{place} = {value}; {inner}"),
        }
    }
}

/// A file with several programs; each puts its number into a table.
fn file(first: u64) -> String {
    let numbers = first..first + BATCH;
    let mut text = "extern int printf(const char *, ...);\nunsigned long result[64];\n".to_owned();
    for number in numbers.clone() {
        let state = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        text.push_str(&Program { random: Random(state), number }.text());
    }
    text.push_str("int main(void) {\n");
    for number in numbers {
        let _ = writeln!(text, "    result[{}] = run{number}();", number - first);
    }
    let _ = writeln!(text, "    for (int i = 0; i < {BATCH}; i++)");
    text.push_str("        printf(\"%lu\\n\", result[i]);\n    return 0;\n}\n");
    text
}

/// A file of `snprintf`s with random formats; what each writes and returns makes a number.
fn formats(first: u64) -> String {
    let mut text = "#include <stdio.h>\nunsigned long result[64];\n\
        static unsigned long number(int n, const char *text) {\n\
        \x20   unsigned long number = n;\n\
        \x20   while (*text)\n        number = number * 31 + *text++;\n\
        \x20   return number;\n}\nint main(void) {\n    char to[80];\n"
        .to_owned();
    for idx in 0..BATCH {
        let state = (first + idx).wrapping_add(1).wrapping_mul(0x2545_f491_4f6c_dd1d);
        let mut random = Random(state);
        let room = if random.below(4) == 0 { 1 + random.below(12) } else { 80 };
        let (mut format, mut arguments) = (String::new(), String::new());
        for _ in 0..=random.below(2) {
            let (part, more) = conversion(&mut random);
            format.push_str(&part);
            arguments.push_str(&more);
        }
        let _ = writeln!(
            text,
            "    int n{idx} = snprintf(to, {room}, \"{format}\"{arguments});\n    \
             result[{idx}] = number(n{idx}, to);"
        );
    }
    let _ = writeln!(text, "    for (int i = 0; i < {BATCH}; i++)");
    text.push_str("        printf(\"%lu\\n\", result[i]);\n    return 0;\n}\n");
    text
}

/// A file of functions of numbers with a fraction; the bits of each value make a number.
fn functions(first: u64) -> String {
    let mut text = "#include <math.h>\n#include <stdio.h>\n#include <string.h>\n\
        unsigned long result[64];\n\
        static unsigned long bits(double value) {\n\
        \x20   unsigned long bits;\n\
        \x20   if (isnan(value))\n        return 1;\n\
        \x20   memcpy(&bits, &value, sizeof bits);\n\
        \x20   return bits;\n}\nint main(void) {\n    volatile double x, y;\n    int exponent;\n"
        .to_owned();
    let one = [
        "sqrt",
        "floor",
        "ceil",
        "trunc",
        "round",
        "rint",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "fabs",
        "nearbyint",
        "lround",
        "lrint",
        "signbit",
        "isfinite",
    ];
    let two = ["pow", "atan2", "hypot", "fmod", "copysign", "fmin", "fmax", "fdim", "isless"];
    for idx in 0..BATCH {
        let state = (first + idx).wrapping_add(1).wrapping_mul(0xd134_2543_de82_ef95);
        let mut random = Random(state);
        let mut number = || {
            let (whole, part) = (random.below(40) as i64 - 20, random.below(1000));
            format!("{whole}.{part:03}")
        };
        let (x, y) = (number(), number());
        let value = match random.below(5) {
            0 => format!("{}(x, y)", random.pick(&two)),
            1 => format!("{}f((float)x)", random.pick(&one[..22])),
            2 => "frexp(x, &exponent) + exponent".to_owned(),
            _ => format!("{}(x)", random.pick(&one)),
        };
        let _ = writeln!(text, "    x = {x}, y = {y};\n    result[{idx}] = bits({value});");
    }
    let _ = writeln!(text, "    for (int i = 0; i < {BATCH}; i++)");
    text.push_str("        printf(\"%lu\\n\", result[i]);\n    return 0;\n}\n");
    text
}

/// Some text, a conversion, and its arguments.
fn conversion(random: &mut Random) -> (String, String) {
    let mut arguments = String::new();
    let flags: String = "-0+ #".chars().filter(|_| random.below(4) == 0).collect();
    let mut amount = |random: &mut Random, before: &str| match random.below(4) {
        0 => {
            let _ = write!(arguments, ", {}", random.below(12) as i64 - 4);
            format!("{before}*")
        }
        1 => format!("{before}{}", 1 + random.below(11)),
        _ => String::new(),
    };
    let (width, precision) = (amount(random, ""), amount(random, "."));
    let letter = random.pick(&["d", "i", "u", "x", "X", "o", "c", "s"]);
    let length = match letter {
        "c" | "s" => "",
        _ => random.pick(&["", "hh", "h", "l", "ll", "z"]),
    };
    let values = ["0", "1", "-1", "65", "-129", "70000", "2147483647", "1234567"];
    let value = random.pick(&values);
    let _ = match (letter, length) {
        ("s", _) => write!(arguments, ", \"{}\"", random.pick(&["", "a", "some text"])),
        (_, "l" | "ll" | "z") => write!(arguments, ", {value}L * {value}L * {value}L"),
        ("c", _) => write!(arguments, ", {}", 33 + random.below(90)),
        _ => write!(arguments, ", {value}"),
    };
    let flags = match letter {
        "c" | "s" => flags.replace(['0', '+', ' ', '#'], ""),
        _ => flags,
    };
    let text = random.pick(&["", "%%", "<", "a b"]);
    (format!("{text}%{flags}{width}{precision}{length}{letter}"), arguments)
}

/// What the model computes.
fn model(path: &Path) -> Result<Vec<u64>, String> {
    let options = mazurka_c::Options { overflow: false, ..Default::default() };
    let program =
        mazurka_c::translate(&[path.to_owned()], &options).map_err(|it| it.to_string())?;
    let result = program.objects.iter().position(|object| object.name == "result");
    let result = ObjectIdx(result.expect("it is in use") as u32);
    let mut vm = Vm::new(program, Races::Error).map_err(|errors| format!("{errors:?}"))?;
    let main = ThreadId::new(0);
    while matches!(vm.next(main), Next::Enabled { .. }) {
        vm.step(Decision::of(main)).map_err(|failure| failure.violation.message)?;
    }
    Ok((0..BATCH).map(|idx| vm.peek(result, idx as u32 * 8, Type::U64)).collect())
}

/// What gcc's program prints; nothing if gcc itself crashes, as gcc 12 does at `(_Bool)(68u,
/// '\n')`.
fn reference(path: &Path) -> Option<Vec<u64>> {
    let program = path.with_extension("out");
    let mut gcc = Command::new("gcc");
    gcc.args(["-w", "-O0", "-fwrapv", "-o"]).arg(&program).arg(path).arg("-lm");
    let compiled = gcc.output().expect("gcc runs");
    let said = String::from_utf8_lossy(&compiled.stderr);
    if said.contains("internal compiler error") {
        return None;
    }
    assert!(compiled.status.success(), "gcc refuses {}: {said}", path.display());
    let output = Command::new(&program).output().expect("what gcc made runs");
    assert!(output.status.success(), "{} fails: {:?}", path.display(), output.status);
    let text = String::from_utf8(output.stdout).expect("it prints numbers");
    Some(text.lines().map(|line| line.parse().expect("it prints numbers")).collect())
}

#[test]
fn random_programs_compute_the_same_with_gcc() {
    compare(file);
}

#[test]
fn random_formats_are_printed_as_gcc_does() {
    compare(formats);
}

#[test]
fn functions_of_numbers_have_the_values_of_the_c_library() {
    compare(functions);
}

/// Both make the same of all files.
fn compare(file: fn(u64) -> String) {
    let seeds = seeds(SEEDS);
    let n_programs = seeds.end - seeds.start;
    let folder = tempfile::tempdir().expect("there is room");
    let (mut wrong, mut n_crashes) = (Vec::new(), 0);
    for first in seeds.step_by(BATCH as usize) {
        let path = folder.path().join(format!("{first}.c"));
        std::fs::write(&path, file(first)).expect("there is room");
        let Some(expected) = reference(&path) else {
            n_crashes += 1;
            continue;
        };
        let found = model(&path).unwrap_or_else(|error| panic!("seeds from {first}: {error}"));
        assert_eq!(expected.len(), found.len());
        for (idx, (expected, found)) in expected.iter().zip(&found).enumerate() {
            if expected != found {
                let seed = first + idx as u64;
                wrong.push(format!("seed {seed}: {found}, and gcc says {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(n_crashes <= n_programs / 500, "gcc crashes {n_crashes} times");
}
