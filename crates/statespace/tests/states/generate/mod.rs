//! Random small Promela models, as text: a little of everything that a reduction may get wrong.

use mazurka_core::fold::mix;
use std::fmt::Write as _;

/// Numbers from a seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(mix(0x00c0_ffee, seed))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = mix(self.0, 0x1234_5678);
        (self.0 >> 20) as usize % bound
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// The model of a seed.
pub(crate) fn model(seed: u64) -> String {
    let mut random = Random::new(seed);
    let features = Features::draw(&mut random);
    let mut writer = Writer {
        random,
        features,
        depth: 0,
        is_init: false,
        process: 0,
        in_loop: 0,
        in_atomic: false,
    };
    writer.model()
}

/// What a model has in it. Rare words make everything else dependent, so most models lack them.
#[derive(Clone, Copy, Debug)]
struct Features {
    n_processes: usize,
    /// Processes with two statements have more of their ways searched.
    is_short: bool,
    /// Processes are started by `init`, one of them maybe by another process, or are there from the
    /// beginning.
    is_started: bool,
    has_rendezvous: bool,
    has_sorted: bool,
    has_polls: bool,
    has_timeouts: bool,
    has_promises: bool,
    has_counts: bool,
    has_remote: bool,
    has_own_channels: bool,
    has_provided: bool,
    has_trace: bool,
    has_unless: bool,
    /// Which channel it is changes on the way.
    has_passing: bool,
    /// Variables with fields, among them arrays of bits.
    has_records: bool,
    /// Messages of two fields.
    has_pairs: bool,
    /// `select` and `for`.
    has_ranges: bool,
    /// Expressions with a condition.
    has_choices: bool,
    /// Looks at channels before they are used, and guards of several parts, some of which may go
    /// wrong.
    has_looks: bool,
}

impl Features {
    fn draw(random: &mut Random) -> Self {
        Self {
            n_processes: 2 + random.below(2),
            is_short: random.one_in(2),
            is_started: random.one_in(2),
            has_rendezvous: random.one_in(2),
            has_sorted: random.one_in(6),
            has_polls: random.one_in(3),
            has_timeouts: random.one_in(4),
            has_promises: random.one_in(4),
            has_counts: random.one_in(5),
            has_remote: random.one_in(8),
            has_own_channels: random.one_in(4),
            has_provided: random.one_in(10),
            has_trace: random.one_in(10),
            has_unless: random.one_in(5),
            has_passing: random.one_in(5),
            has_records: random.one_in(4),
            has_pairs: random.one_in(3),
            has_ranges: random.one_in(5),
            has_choices: random.one_in(5),
            has_looks: random.one_in(3),
        }
    }
}

struct Writer {
    random: Random,
    features: Features,
    /// How deep statements are nested.
    depth: usize,
    is_init: bool,
    process: usize,
    in_loop: usize,
    /// What goes round without interruption may never end.
    in_atomic: bool,
}

impl Writer {
    fn model(&mut self) -> String {
        let mut text = String::from("byte g, h, k; byte a[2];\n");
        text += "chan c = [1] of { byte }; chan d = [2] of { byte };\n";
        text += "chan q[2] = [1] of { byte }; chan v; chan m = [1] of { chan };\n";
        let room = if self.features.has_rendezvous { 0 } else { 1 };
        let _ = writeln!(text, "chan r = [{room}] of {{ byte }};");
        if self.features.has_records {
            text += "typedef S { byte v; bit w[2] }; S e; S f[2];\n";
        }
        if self.features.has_pairs {
            let room = room + self.random.below(2);
            let _ = writeln!(text, "chan p = [{room}] of {{ byte, bool }};");
        }
        if self.features.has_trace {
            text += match self.random.below(2) {
                0 => "trace { do :: c!_ -> c?_ od }\n",
                _ => "notrace { d!1; d!1 }\n",
            };
        }
        for process in 0..self.features.n_processes {
            self.process = process;
            text += &self.proctype();
        }
        if self.features.is_started {
            text += &self.init();
        }
        text
    }

    fn proctype(&mut self) -> String {
        let active = if self.features.is_started { "" } else { "active " };
        let parameters = if self.features.is_started { "chan x; byte n" } else { "" };
        let provided = match self.features.has_provided && self.random.one_in(3) {
            true => " provided (g != 2)",
            false => "",
        };
        let mut text = format!("{active}proctype P{}({parameters}){provided} {{\n", self.process);
        if !self.features.is_started {
            text += "chan x = c; byte n = 1;\n";
        }
        text += "byte y, z;\n";
        if self.features.has_own_channels {
            text += "chan o = [1] of { byte };\n";
        }
        if self.features.has_promises && self.random.one_in(2) {
            let (end, channel) =
                (self.random.pick(&["xs", "xr"]), self.random.pick(&["c", "d", "x"]));
            let _ = writeln!(text, "{end} {channel};");
        }
        text += "L0: skip;\n";
        let n_statements = match self.features.is_short {
            true => 1 + self.random.below(2),
            false => 2 + self.random.below(4),
        };
        text += &self.sequence(n_statements);
        text + "; L1: skip\n}\n"
    }

    fn init(&mut self) -> String {
        self.is_init = true;
        let mut runs = String::new();
        for process in 0..self.features.n_processes {
            let run = self.run(process);
            if self.random.one_in(3) {
                let _ = writeln!(runs, "{};", self.assignment());
            }
            let _ = writeln!(runs, "{run};");
        }
        match self.random.one_in(2) {
            true => format!("init {{ byte y, z, n; chan x = c; atomic {{\n{runs}}} }}\n"),
            false => format!("init {{ byte y, z, n; chan x = c;\n{runs}}}\n"),
        }
    }

    fn run(&mut self, process: usize) -> String {
        let channels = ["c", "d", "r", "q[0]", "q[1]"];
        let channel = match self.features.has_own_channels && !self.is_init && self.random.one_in(2)
        {
            true => "o",
            false => self.random.pick(&channels),
        };
        let number = self.random.below(2);
        let run = format!("run P{process}({channel}, {number})");
        if self.features.has_counts && self.random.one_in(3) { format!("y = {run}") } else { run }
    }

    fn sequence(&mut self, n_statements: usize) -> String {
        let statements: Vec<String> = (0..n_statements).map(|_| self.statement()).collect();
        statements.join(";\n") + "\n"
    }

    fn statement(&mut self) -> String {
        let is_deep = self.depth > 1;
        if self.features.has_looks && self.random.one_in(4) {
            return self.look();
        }
        match self.random.below(if is_deep { 10 } else { 14 }) {
            0..3 => self.assignment(),
            3 => format!("assert({})", self.condition()),
            4 => format!("({})", self.condition()),
            5 | 6 => self.send(),
            7 | 8 => self.receive(),
            9 => self.rare(),
            10 => self.nested("if", "fi"),
            11 if !self.in_atomic => self.nested("do", "od"),
            11 | 12 if !self.in_atomic => {
                self.in_atomic = true;
                let body = self.block(2);
                self.in_atomic = false;
                format!("atomic {{ {body} }}")
            }
            _ => self.d_step(),
        }
    }

    /// A look at a channel before something is done to it: most often, what it makes sure of.
    fn look(&mut self) -> String {
        let channel = match self.random.one_in(3) {
            true => self.channel(),
            false => {
                self.random.pick(&["c", "d", "q[0]", "q[1]", if self.is_init { "c" } else { "x" }])
            }
        };
        let other = match self.random.one_in(4) {
            true => self.channel(),
            false => channel,
        };
        let (probes, more) = match self.random.one_in(2) {
            true => (
                ["nfull(@)", "empty(@)", "len(@) < 1", "nfull(@) && n < 2"],
                format!("{other}!{}", self.value()),
            ),
            false => (
                ["nempty(@)", "full(@)", "len(@) > 0", "@?[1]"],
                format!("{other}?{}", self.random.pick(&["y", "g", "_", "1"])),
            ),
        };
        let mut probe = self.random.pick(&probes).replace('@', channel);
        if self.random.one_in(4) {
            let part = self.conjunct();
            probe = if self.random.one_in(2) {
                format!("{probe} && {part}")
            } else {
                format!("{part} && {probe}")
            };
        }
        let between = match self.random.below(4) {
            0 => format!("{};", self.assignment()),
            1 if self.random.one_in(2) => format!("{};", self.send()),
            2 if self.random.one_in(2) => {
                format!("if :: {} :: {} fi;", self.send(), self.assignment())
            }
            _ => String::new(),
        };
        let behind = match self.random.one_in(3) {
            true => format!("; {}", self.assignment()),
            false => String::new(),
        };
        let sequence = format!("{probe} -> {between} {more}{behind}");
        match self.in_atomic || self.random.one_in(4) {
            true => sequence,
            false => format!("atomic {{ {sequence} }}"),
        }
    }

    /// A part of a guard.
    fn conjunct(&mut self) -> String {
        match self.random.below(5) {
            0 => format!("6 / {} > 1", self.random.pick(&["y", "g", "(z + 1)"])),
            1 => "a[g] < 2".to_owned(),
            2 => "y == 0".to_owned(),
            3 => self.random.pick(&["nempty(d)", "nfull(d)", "c?[1]", "!(c?[0])"]).to_owned(),
            _ => self.simple(),
        }
    }

    fn pass(&mut self) -> String {
        let channel = self.random.pick(&["c", "d", "q[0]", "x"]);
        match self.random.below(4) {
            0 => format!("m!{channel}"),
            1 => "m?x".to_owned(),
            2 => "m?v".to_owned(),
            _ => format!("v = {channel}"),
        }
    }

    fn rare(&mut self) -> String {
        if self.features.has_passing && self.random.one_in(2) {
            return self.pass();
        }
        let can_start = self.features.is_started && !self.is_init && self.in_loop == 0;
        match self.random.below(9) {
            // Only later ones, so that it comes to an end.
            0 if can_start && self.process + 1 < self.features.n_processes => {
                self.run(self.process + 1)
            }
            1 if self.in_loop > 0 => "break".to_owned(),
            2 => "printf(\"%d\\n\", y)".to_owned(),
            3 if self.features.has_unless && self.depth == 0 => {
                self.depth += 2;
                let (main, escape) = (self.assignment(), self.condition());
                let more = self.statement();
                self.depth -= 2;
                format!("{{ {main}; {more} }} unless {{ ({escape}) -> z = 1 }}")
            }
            4 if self.features.has_timeouts => match self.random.below(2) {
                0 => "timeout".to_owned(),
                _ => format!("(timeout && {})", self.condition()),
            },
            7 if self.features.has_ranges => {
                format!("select({} : 0 .. {})", self.random.pick(&["y", "z"]), self.random.below(3))
            }
            8 if self.features.has_ranges && self.depth == 0 => {
                let last = self.random.below(3);
                format!("for (z : 0 .. {last}) {{ {} }}", self.block(2))
            }
            5 if self.depth == 0 && self.random.one_in(2) => {
                format!("if :: y < 2 -> y++; goto L0 :: else -> {} fi", self.assignment())
            }
            _ => "skip".to_owned(),
        }
    }

    fn block(&mut self, most: usize) -> String {
        self.depth += 1;
        let n_statements = 1 + self.random.below(most);
        let text = self.sequence(n_statements);
        self.depth -= 1;
        text
    }

    fn nested(&mut self, open: &str, close: &str) -> String {
        let is_loop = open == "do";
        let end = if is_loop && self.random.one_in(2) { "end_" } else { "l_" };
        let mut text = match is_loop {
            true => format!("{end}{}: do\n", self.random.below(1 << 40)),
            false => "if\n".to_owned(),
        };
        self.in_loop += usize::from(is_loop);
        for _ in 0..1 + self.random.below(2) {
            let first = match self.random.below(4) {
                0 => self.send(),
                1 => self.receive(),
                _ => format!("({})", self.condition()),
            };
            let _ = writeln!(text, ":: {first} -> {}", self.block(2));
        }
        if self.random.one_in(2) {
            let _ = writeln!(text, ":: else -> {}", if is_loop { "break" } else { "skip" });
        } else if is_loop && self.random.one_in(2) {
            text += ":: break\n";
        }
        self.in_loop -= usize::from(is_loop);
        text + close
    }

    fn d_step(&mut self) -> String {
        let mut text = format!("d_step {{ {}", self.assignment());
        for _ in 0..self.random.below(3) {
            let _ = write!(text, "; {}", self.assignment());
        }
        text + " }"
    }

    fn assignment(&mut self) -> String {
        let fields = ["e.v", "e.w[n % 2]", "f[1].v", "f[n % 2].w[1]"];
        let to = match self.random.below(8) {
            0..4 if self.features.has_records && self.random.one_in(2) => self.random.pick(&fields),
            0 | 1 => "y",
            2 => "z",
            3 | 4 => self.random.pick(&["g", "h", "k"]),
            // One that this process may be alone with.
            5 => ["g", "h", "k"][self.process % 3],
            6 => "a[n % 2]",
            _ => "a[0]",
        };
        match self.random.below(3) {
            0 => format!("{to} = {}", self.random.below(3)),
            1 => format!("{to} = ({to} + 1) % 3"),
            _ => format!("{to} = {}", self.value()),
        }
    }

    fn value(&mut self) -> String {
        if self.features.has_records && self.random.one_in(4) {
            return self.random.pick(&["e.v", "e.w[0]", "f[n % 2].w[1]", "f[0].v"]).to_owned();
        }
        if self.features.has_choices && self.random.one_in(8) {
            return format!("({} -> {} : {})", self.simple(), self.value(), self.value());
        }
        match self.random.below(9) {
            0 | 1 => "y".to_owned(),
            2 => "z".to_owned(),
            3 => self.random.pick(&["g", "h", "k"]).to_owned(),
            4 => "a[y % 2]".to_owned(),
            5 if self.features.has_counts => self.random.pick(&["_pid", "_nr_pr"]).to_owned(),
            6 if self.features.has_polls => {
                format!("len({})", self.random.pick(&["c", "d", "x"]))
            }
            7 if self.features.has_remote => "P0:y".to_owned(),
            _ => self.random.below(3).to_string(),
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(10) {
            0 if self.features.has_polls => {
                let probe = self.random.pick(&["nempty", "empty", "nfull", "full"]);
                format!("{probe}({})", self.random.pick(&["c", "d", "q[0]", "r"]))
            }
            1 if self.features.has_polls => {
                format!("{}?[{}]", self.random.pick(&["c", "d"]), self.random.below(2))
            }
            2 if self.features.has_remote => "P0@L0".to_owned(),
            3 => format!("{} && {} != 1", self.simple(), self.value()),
            4 | 5 if self.features.has_looks => {
                format!("{} && {}", self.conjunct(), self.conjunct())
            }
            _ => self.simple(),
        }
    }

    fn simple(&mut self) -> String {
        let operator = self.random.pick(&["==", "!=", "<", ">="]);
        format!("{} {operator} {}", self.value(), self.random.below(3))
    }

    fn channel(&mut self) -> &'static str {
        if self.features.has_own_channels && !self.is_init && self.random.one_in(5) {
            return "o";
        }
        if self.features.has_passing && self.random.one_in(6) {
            return "v";
        }
        let own = ["c", "d", "r"][self.process % 3];
        let mine = if self.is_init { "c" } else { "x" };
        self.random.pick(&["c", "d", "r", "q[0]", "q[n % 2]", own, mine, mine])
    }

    fn send(&mut self) -> String {
        let sign = if self.features.has_sorted && self.random.one_in(2) { "!!" } else { "!" };
        if self.features.has_pairs && self.random.one_in(3) {
            return format!("p{sign}{},{}", self.value(), self.value());
        }
        let channel = self.channel();
        format!("{channel}{sign}{}", self.value())
    }

    fn receive(&mut self) -> String {
        if self.features.has_pairs && self.random.one_in(3) {
            let first = self.random.pick(&["y", "g", "0", "1", "_", "eval(z)"]);
            let second = self.random.pick(&["z", "h", "true", "0", "_"]);
            let sign = self.random.pick(&["?", "??"]);
            return format!("p{sign}{first},{second}");
        }
        let channel = self.channel();
        let field = match self.random.below(6) {
            0 => self.random.below(2).to_string(),
            1 => "eval(y)".to_owned(),
            2 => "_".to_owned(),
            3 => "g".to_owned(),
            4 => "z".to_owned(),
            _ => "y".to_owned(),
        };
        match self.random.below(6) {
            0 if channel != "r" => format!("{channel}?<{field}>"),
            1 if channel != "r" => format!("{channel}??{field}"),
            _ => format!("{channel}?{field}"),
        }
    }
}
