//! What people are told of files that are no models: everything, where it is, in words that they
//! know.

use expect_test::{Expect, expect};
use mazurka_promela::{Options, translate};

/// All faults of a text, each on a line with its place.
fn check(text: &str, expected: Expect) {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let file = folder.path().join("model.pml");
    std::fs::write(&file, text).expect("there is room for a file");
    let shown = match translate(&file, &Options::default()) {
        Ok(_) => "no fault\n".to_owned(),
        Err(faults) => faults
            .iter()
            .map(|fault| {
                let place = fault
                    .place()
                    .map_or(String::new(), |(_, line, column)| format!("{line}:{column}: "));
                let label = if fault.label.is_empty() { "" } else { ": " };
                format!("{place}{} {}{label}{}\n", fault.code, fault.message, fault.label)
            })
            .collect(),
    };
    let folder = folder.path().to_string_lossy().into_owned();
    expected.assert_eq(&shown.replace(&folder, "FOLDER"));
}

#[test]
fn all_faults_of_a_file_are_told_at_once() {
    check(
        "byte x;\nactive proctype p() {\n  x = ;\n  y = 1;\n  if\n  :: x -> )\n  :: else\n  fi;\n  x = 2 3\n}\nproctype q( { skip }\ninit { skip }\n",
        expect![[r#"
            3:7: P003 syntax error: saw `;`: expected an expression
            6:11: P003 syntax error: saw `)`: expected an expression
            9:9: P003 syntax error: saw `3`: expected `;` between statements
            11:13: P003 syntax error: saw `{`: expected a type
        "#]],
    );
}

#[test]
fn names_and_types() {
    check(
        "byte x[3]; chan c = [1] of { byte };\ntypedef t { byte a };\nt s;\nactive proctype p() {\n  y = 1;\n  x = 2;\n  x!3;\n  s.b = 1;\n  s = 4;\n  run r();\n  run p(1);\n  c.a = 2;\n  _pid = 3\n}\n",
        expect![[r#"
            5:3: P011 undeclared variable: y
            6:3: P012 missing array index for 'x'
            7:3: P012 missing array index for 'x'
            8:5: P011 no field 'b' defined in structure 's'
            9:3: P012 incomplete structure ref 's'
            10:7: P011 proctype r not found
            11:7: P012 wrong number of parameters: saw 1, expected 0
            12:5: P011 no field 'a' defined in structure 'c'
            13:3: P012 invalid assignment to _pid
        "#]],
    );
}

#[test]
fn jumps_and_labels() {
    check(
        "active proctype p() {\n  break;\n  goto nowhere;\nhere: skip;\nhere: skip;\n  d_step { goto here };\n  if :: else -> skip :: else -> skip fi\n}\n",
        expect![[r#"
            2:3: P013 misplaced break statement
            3:8: P013 undefined label nowhere
            5:1: P013 label here redeclared
            6:12: P013 non_local jump in d_step sequence
            7:3: P013 duplicate `else'
        "#]],
    );
}

#[test]
fn what_is_not_supported_says_so() {
    check(
        "c_decl { int x; int y; long z; };\n\
         c_decl { int u; };\n\
         c_decl { int f(void) { return 1; } };\n\
         c_track \"&u\" \"8\";\n\
         c_state \"int *p\" \"Global\";\n\
         c_state \"int h\" \"Hidden\";\n\
         c_code { int g; };\n\
         byte b; chan q = [1] of { byte };\n\
         active proctype p() { byte l;\n\
         c_code { u = 1; };\n\
         c_code { v = 1; };\n\
         c_code { now.b = f(3); };\n\
         c_code { int k; };\n\
         c_code { now.b = 010; };\n\
         c_code { now.b = Pp->l++; };\n\
         c_code { return; };\n\
         c_track \"&u\" \"4\"; skip }\n",
        expect![[r#"
            1:24: P010 embedded C with `long` is not supported
            3:15: P010 embedded C with something else than variables of numbers is not supported
            4:14: P010 embedded C with the size `8` for `u` is not supported
            5:9: P003 syntax error: saw `*`: expected the name of a variable
            6:17: P010 embedded C with a `c_state` that is "Hidden" is not supported
            7:1: P010 embedded C with a function or a statement outside of processes is not supported
            11:10: P010 embedded C with `v`, which no `c_decl` before it has, is not supported
            12:18: P010 embedded C with a call of `f` is not supported
            13:10: P010 embedded C with a declaration within a `c_code` is not supported
            14:18: P010 embedded C with an octal number is not supported
            15:23: P010 embedded C with an assignment in an expression is not supported
            16:10: P010 embedded C with `return` is not supported
            17:1: P010 embedded C with `c_track` within a process is not supported
        "#]],
    );
}

#[test]
fn names_in_embedded_c() {
    check(
        "byte b; chan q = [1] of { byte };\n\
         active proctype p() { byte l;\n\
         c_code { Pother->l = 1; };\n\
         c_code { now.q = 1; };\n\
         c_code { now.nothing = 1; };\n\
         c_code { now.b = Pp->l; };\n\
         { byte inner; c_code { Pp->inner = 1; } } }\n",
        expect![[r#"
            3:10: P011 undeclared variable: Pother->l
            4:10: P011 undeclared variable: now.q
            5:10: P011 undeclared variable: now.nothing
            7:24: P011 undeclared variable: Pp->inner
        "#]],
    );
}

#[test]
fn formulas() {
    check(
        "byte x;\nltl a { [] (x ==) }\nltl b { <> y }\nltl c { [] p[0]@gone }\nactive proctype p() { x = 1 }\n",
        expect![[r#"
            2:17: P014 expected a formula, found `)`
            3:12: P011 undeclared variable: y
            4:17: P011 unknown label 'gone'
        "#]],
    );
}

/// What may be meant is told; a formula may end as a statement does.
#[test]
fn formulas_that_bind_otherwise() {
    let text = "byte x;\nltl a { [] x == 1 }\nltl b { ! <> x + 1 < 2 || x };\nltl c { [] (x == 1); }\nltl d { 1 == [] x }\ninit { skip }\n";
    check(
        text,
        expect![[r#"
            2:14: P014 expected a logical operator, since an operand is a temporal formula, found `==`
            3:16: P014 expected a logical operator, since an operand is a temporal formula, found `+`
            5:11: P014 expected a logical operator, since an operand is a temporal formula, found `==`
        "#]],
    );
    let Err(faults) = mazurka_promela::translate_text("x.pml", text) else {
        panic!("it has faults")
    };
    let shown = faults.to_string();
    for help in ["`[] (x == 1)` is what", "`! <> (x + 1 < 2)` is what"] {
        assert!(shown.contains(help), "{shown}");
    }
}

#[test]
fn the_smallest_number() {
    let head = "int x = -2147483648; chan c = [1] of { int }; byte y;\n";
    let body = "init { x = - 2147483648; c!-2147483648; c?-2147483648; if :: -2147483648 < x :: else fi }\n";
    let formula = "ltl p { [] (x == -2147483648) }\n";
    check(
        &format!("{head}{body}{formula}"),
        expect![[r#"
        no fault
    "#]],
    );
    check(
        "int x = 2147483648; int y = -2147483649; init { x = y - 2147483648 }\n",
        expect![[r#"
            1:9: P003 value out of range: numbers have 32 bits and a sign
            1:30: P003 value out of range: numbers have 32 bits and a sign
            1:57: P003 value out of range: numbers have 32 bits and a sign
        "#]],
    );
}

#[test]
fn structs_as_parameters() {
    check(
        "typedef U { byte z[2] };\ntypedef T { byte a; U u };\nT g; U h; T k[2];\nproctype P(byte n; T t) { t.u.z[1] = n }\nproctype Q(U u) { skip }\nactive proctype R(T t) { assert(t.a == 0) }\ninit { run P(1, g); run P(2, k[1]); run Q(g.u); run Q(h); run P(1, h); run P(1, 2); run P(g, g) }\n",
        expect![[r#"
            7:68: P012 'h' is no T
            7:81: P012 '2' is no T
            7:91: P012 incomplete structure ref 'g'
        "#]],
    );
}

#[test]
fn files_that_are_no_models() {
    check(
        "",
        expect![[r#"
        P001 `FOLDER/model.pml` is empty
    "#]],
    );
    check(
        "byte \0x;\n",
        expect![[r#"
        P001 `FOLDER/model.pml` is a binary file, not Promela
    "#]],
    );
    check(
        "#include \"gone.h\"\ninit { skip }\n",
        expect![[r#"
        1:10: P002 gone.h: No such file or directory
    "#]],
    );
    check(
        "byte x;\n",
        expect![[r#"
        P015 no runable process
    "#]],
    );
    check(
        "#define A B\ninit { A = 1 }\n",
        expect![[r#"
            2:0: P011 undeclared variable: B
        "#]],
    );
}

#[test]
fn inlines() {
    check(
        "byte x;\ninline f(a) { a = 1; g(a) }\ninline g(a) { f(a) }\ninit { f(x); f(); f(x, x) }\n",
        expect![[r#"
            3:15: P003 cyclic inline attempt on: f
            4:14: P003 wrong nr of params on call of 'f': 0, not 1
            4:19: P003 wrong nr of params on call of 'f': 2, not 1
        "#]],
    );
}

#[test]
fn runs_and_returns_in_the_wrong_place() {
    check(
        "byte x; chan c = [1] of { byte };\nproctype a() { skip }\ninline none(v) { x = v }\ninit {\n  (run a() > 0);\n  x = run a() + run a();\n  if :: !run a() fi;\n  c!run a()\n}\n",
        expect![[r#"
            5:4: P012 use of run operator in compound expression
            6:17: P012 use of run operator in compound expression
            7:10: P012 use of run operator in compound expression
            8:5: P012 use of run operator in compound expression
        "#]],
    );
    check(
        "byte x;\ninline none(v) { x = v }\ninline some(v) { return v }\ninit {\n  x = none(3);\n  some(3);\n  return 4\n}\n",
        expect![[r#"
            3:18: P003 return statement outside inline
            5:7: P003 `none` returns no value
            7:3: P003 return statement outside inline
        "#]],
    );
}

#[test]
fn labels_where_nobody_stands() {
    check(
        "chan c = [1] of { byte }; byte x;\nactive proctype p() {\nend: do\n  :: end1: c?x\n  :: c?1 -> progress: x = 1\n  od;\n  { accept: x = 2 };\n  atomic { L: x = 3; goto L }\n}\n",
        expect![[r#"
            4:6: P013 label end1 placed incorrectly
            7:5: P013 label accept placed incorrectly
        "#]],
    );
}

#[test]
fn declarations_in_the_words_of_spin() {
    check(
        "byte a[0]; byte b : 3; unsigned c : 40; hidden bit d; hidden chan e = [1] of { byte };\nbyte f = { 1, 2 }; mtype = { g }; byte g;\nproctype p(byte h[2]) { hidden byte i; skip }\nactive proctype q() priority 300 { skip }\nproctype r() provided (run q()) { skip }\nltl s { [] (f == 0) } ltl s { [] (f == 0) }\n",
        expect![[r#"
            1:8: P012 bad array size for 'a'
            1:12: P012 only an unsigned can have width-field
            1:24: P012 invalid width-field
            1:52: P012 bit variable (d) cannot be hidden
            1:67: P012 cannot hide channels (e)
            2:6: P012 f must be an array
            2:40: P011 redeclaration of 'g'
            3:17: P012 array in parameter list, h
            3:37: P012 cannot hide non-globals (i)
            4:17: P012 bad process priority, valid range: 1..255
            5:24: P012 invalid PROVIDED clause
            6:13: P011 undeclared variable: f
            6:27: P011 claim s redefined
        "#]],
    );
    check(
        "typedef t { byte a };\ntypedef t { byte b };\ninline f() { skip }\ninline f() { skip }\ninit { }\nactive proctype p() { mtype = { x }; g(); select(x : 5 .. 1) }\n",
        expect![[r#"
            2:9: P003 syntax error: saw `t`: expected the name of a new type
            4:8: P003 procedure name f redefined
            5:8: P003 syntax error: saw `}`: expected a statement
            6:23: P003 mtype declaration must be global
            6:38: P003 undeclared variable: g
            6:54: P003 bad range in select statement
        "#]],
    );
}

#[test]
fn statements_in_the_words_of_spin() {
    check(
        "chan c = [2] of { byte }; byte x; mtype:u = { a }; mtype:v = { b }; mtype:u m;\nactive proctype p() {\n  c!1,2;\n  x!1;\n  xr x;\n  x[1] = 1;\n  c = 3;\n  x = c + 1;\n  m = b;\n  x = np_;\n  d_step { skip unless skip };\n  d_step { q[1]@here }\n}\nproctype q() { here: skip }\nnever { c!1 }\n",
        expect![[r#"
            3:3: P012 too many pars in send
            4:3: P012 bad channel name 'x'
            5:6: P012 xr or xs of non-chan 'x'
            6:3: P012 ref to scalar 'x' using array index
            7:7: P012 invalid asgn to chan
            8:7: P012 invalid use of chan name
            9:7: P012 'm' is type 'u' but 'b' is type 'v'
            10:7: P013 using np_ outside never claim
            11:12: P013 'unless' inside d_step
            12:12: P013 remote reference in d_step
            15:1: P012 never claim contains i/o stmnts
        "#]],
    );
}

#[test]
fn nothing_has_to_stand_behind_a_brace_or_an_else() {
    check(
        "byte x;\ninit { if :: x == 1 -> skip :: else x = 2 fi; { x = 3 } x = 4; atomic { skip } x = 5 }\n",
        expect![[r#"
            no fault
        "#]],
    );
}
