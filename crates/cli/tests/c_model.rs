//! What C means as a model, to every engine that takes it as one: the machine, the graph of states
//! and circuits.
//!
//! A case is a program, more arguments, the verdict that is expected, and words that the sentence of
//! a proof has or, with a `!`, has not.

mod support;

use support::with_file;

const ENGINES: [&[&str]; 3] = [
    &["--engine", "vm"],
    &["--engine", "statespace"],
    &["--engine", "portfolio", "--recursion", "4"],
];

const HEADER: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
extern void __VERIFIER_assume(int);
extern void __VERIFIER_error(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern int __VERIFIER_nondet_int(void);
";

struct Case {
    verdict: &'static str,
    words: &'static str,
    arguments: &'static [&'static str],
    program: &'static str,
}

/// What an engine says: the verdict, with the kind of a violation, and the sentence of a proof.
fn ask(program: &str, arguments: &[&str], engine: &[&str]) -> (String, String) {
    let text = format!("{HEADER}{program}");
    let said = with_file(
        "x.c",
        &text,
        &[&["check", "x.c", "--json", "-", "--time-limit", "60s"], engine, arguments].concat(),
    );
    if said.status == Some(2) {
        return ("refused".to_owned(), said.stderr);
    }
    let json: serde_json::Value = serde_json::from_str(&said.stdout)
        .unwrap_or_else(|_| panic!("{engine:?}: {}{}\n{text}", said.stdout, said.stderr));
    let verdict = json["verdict"].as_str().expect("there is one");
    let verdict = match json["violation"]["kind"].as_str() {
        Some(kind) => format!("{verdict} {kind}"),
        None => verdict.to_owned(),
    };
    (verdict, json["coverage"].to_string())
}

fn hold_to(cases: &[Case]) {
    let mut wrong = Vec::new();
    for case in cases {
        for engine in ENGINES {
            let (verdict, sentence) = ask(case.program, case.arguments, engine);
            let has_words = match case.words.strip_prefix('!') {
                Some(words) => !sentence.contains(words),
                None => sentence.contains(case.words),
            };
            if verdict != case.verdict || !has_words {
                wrong.push(format!("{engine:?}: {verdict}, {sentence}:\n{}", case.program));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}


/// Conversions between pointers and integers keep truth, identity and alignment.
#[test]
fn pointers_are_numbers_like_addresses() {
    hold_to(&[
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"int main(void) {
    int *p = malloc(4);
    __VERIFIER_assume(p);
    assert(0);
}
"#,
        },
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"int x;
int main(void) {
    int *p = &x;
    if ((long)p)assert(0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int x, y;
int main(void) {
    int *p = &x, *q = &x;
    assert((uintptr_t)p == (uintptr_t)q);
    q = &y;
    assert((uintptr_t)p != (uintptr_t)q);
    assert((int)(long)p != 0);
    assert((int)(long)p != (int)(long)q);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int main(void) {
    int x;
    int *p = &x, *n = 0;
    assert(!n);
    assert(!!p);
    assert(p && 1);
    _Bool b = p;
    assert(b == 1);
    _Bool c = n;
    assert(c == 0);
    assert((_Bool)(long)p);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int f(int x) {
    return x != 0;
}
int main(void) {
    int *p = malloc(4);
    assert(f(p));
    assert(f((int)(long)p));
    assert(!f(0));
    int *z = 0;
    assert(!f(z));
    free(p);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int main(void) {
    int x = 5;
    int *p = &x;
    uintptr_t u = (uintptr_t)p;
    int *q = (int *)u;
    assert(q == p);
    assert(*q == 5);
    *(int *)(uintptr_t)p = 6;
    assert(x == 6);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"void *w(void *a) {
    long i = (long)a;
    assert(i == -3 || i == 7);
    return (void *)(i+1);
}
int main(void) {
    pthread_t a, b;
    void *r;
    pthread_create(&a, 0, w, (void *)7);
    pthread_create(&b, 0, w, (void *)(long)-3);
    pthread_join(a, &r);
    assert((long)r == 8);
    assert((int)(long)r == 8);
    pthread_join(b, &r);
    assert((int)(intptr_t)r == -2);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int main(void) {
    int *p = malloc(8);
    *p = 3;
    uintptr_t u = (uintptr_t)p|1;
    assert(u&1);
    assert((u&~(uintptr_t)1) == (uintptr_t)p);
    int *q = (int *)(u&~1UL);
    assert(*q == 3);
    free(q);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"struct s {
    char c;
    long l;
};
struct s g;
int main(void) {
    int *p = malloc(8);
    assert((uintptr_t)p%8 == 0);
    assert(((uintptr_t)&g&7) == 0);
    assert((uintptr_t)&g.l%8 == 0);
    char a[4];
    assert((uintptr_t)&a[1]-(uintptr_t)&a[0] == 1);
    free(p);
}
"#,
        },
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"_Atomic uintptr_t head;
void *w(void *_) {
    int *p = malloc(4);
    *p = 1;
    head = (uintptr_t)p|1;
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    uintptr_t h = head;
    if (h&1) {
        int *p = (int *)(h&~1UL);
        assert(*p == 0);
    }
    pthread_join(t, 0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"union u {
    int *p;
    uintptr_t n;
    int h[2];
};
int main(void) {
    int x = 4;
    union u u;
    u.p = &x;
    assert(u.n == (uintptr_t)&x);
    assert(u.h[0] == (int)(uintptr_t)&x);
    u.n |= 1;
    u.n &= ~1ul;
    assert(*u.p == 4);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int y;
uintptr_t u = (uintptr_t)&y;
uintptr_t v = (uintptr_t)&y+4;
int main(void) {
    assert(u == (uintptr_t)&y);
    assert(v == u+4);
    *(int *)u = 3;
    assert(y == 3);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int a[10];
int main(void) {
    uintptr_t d = (uintptr_t)&a[3]-(uintptr_t)&a[1];
    assert(d == 8);
    assert(&a[3]-&a[1] == 2);
    assert((char *)&a[3]-(char *)a == 12);
    int *p = a+3;
    p--;
    assert(p == &a[2]);
    assert((uintptr_t)&a[3]>(uintptr_t)&a[2]);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int f(void) {
    return 3;
}
int main(void) {
    uintptr_t u = (uintptr_t)f;
    assert(u);
    int(*g)(void) = (int(*)(void))u;
    assert(g() == 3);
    if (!f)assert(0);
    assert((int)(long)f);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int x, y;
int main(void) {
    int h = (int)(long)&x;
    h ^= (int)(long)&y;
    assert(h != 0);
    short s = (short)(long)&x;
    (void)s;
    switch ((long)&x) {
        case 0:assert(0);
    }
    while (&x) {
        break;
    }
    for (int *p = &x;p;p = 0);
    assert((&x?1:0));
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"#include <stddef.h>
struct s {
    int a;
    int b;
};
int main(void) {
    struct s s = {1, 2};
    int *b = &s.b;
    struct s*p = (struct s*)((char *)b-offsetof(struct s, b));
    assert(p->a == 1);
    struct s*q = (struct s*)((uintptr_t)b-4);
    assert(q->a == 1);
}
"#,
        },
        Case {
            verdict: "violated memory",
            words: "",
            arguments: &[],
            program: r#"int main(void) {
    int x = 1;
    int n = (int)(long)&x;
    int *p = (int *)(long)n;
    return *p;
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int main(void) {
    int a = 1, b = 2;
    uintptr_t x = (uintptr_t)&a^(uintptr_t)&b;
    int *p = (int *)(x^(uintptr_t)&a);
    assert(*p == 2);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"_Atomic(int *) top;
int x;
void *w(void *_) {
    int *e = 0;
    if (__atomic_compare_exchange_n((int **)&top, &e, &x, 0, 5, 5))return 0;
    assert((long)e);
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, w, 0);
    pthread_create(&b, 0, w, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(top == &x);
}
"#,
        },
    ]);
}

/// A definition with empty parentheses has no parameters, and an old one has those that it declares.
#[test]
fn empty_parentheses_are_no_parameters() {
    hold_to(&[
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"struct foo {
    int x;
    int y;
};
struct foo f;
int main() {
    struct foo q = {.x = 42, .y = 42};
    f = q;
    assert(f.x == 42 && f.y == 42);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int f() {
    int a = 3, b = 4;
    return a+b;
}
void *w() {
    int z = 1;
    int *p = &z;
    *p = 2;
    assert(z == 2);
    return 0;
}
int main() {
    int l = f();
    assert(l == 7);
    assert(f(1, 2) == 7);
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    pthread_join(t, 0);
    int(*g)() = f;
    assert(g() == 7);
    assert(g(9) == 7);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int f(a, p, c)int a;
char *p;
char c;
{
    return *p == c?a:0;
}
int g(x) {
    return x+1;
}
long h(l)long l;
{
    return l;
}
int main() {
    char c = 7;
    assert(f(5, &c, 7) == 5);
    assert(g(2) == 3);
    assert(h(1L<<40) == 1L<<40);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int f();
int g(void);
int main() {
    int loc = f();
    assert(loc == 1 && g() == 2);
}
int f() {
    int q = 1;
    return q;
}
int g() {
    int r = 2;
    return r;
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int main(int argc, char **argv) {
    assert(argc == 1);
    assert(argv[0]);
    assert(!argv[1]);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"main(argc, argv)int argc;
char **argv;
{
    int x = 2;
    assert(argc == 1 && x == 2);
    return 0;
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int n;
int main() {
    int x = n;
    if (n++==0)main();
    assert(x<2);
    return 0;
}
"#,
        },
    ]);
}

/// Functions named `__VERIFIER_atomic_…` are one step, as blocks between `begin` and `end` are.
#[test]
fn functions_are_atomic_by_their_names() {
    hold_to(&[
        Case {
            verdict: "holds",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"int x;
int __VERIFIER_atomic_get(void) {
    return x;
}
void __VERIFIER_atomic_set(int v) {
    x = v;
}
int __VERIFIER_atomic_inc(int n) {
    if (n == 0)return 0;
    __VERIFIER_atomic_set(__VERIFIER_atomic_get()+1);
    return __VERIFIER_atomic_inc(n-1);
}
void *w(void *_) {
    __VERIFIER_atomic_inc(2);
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, w, 0);
    pthread_create(&b, 0, w, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 4);
}
"#,
        },
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"int x;
int __VERIFIER_atomic_f(int c) {
    if (c) {
        x = 1;
        return 1;
    }
    x = 2;
    x = 0;
    return 0;
}
void *w(void *_) {
    __VERIFIER_atomic_f(0);
    __VERIFIER_atomic_f(1);
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    int v = __VERIFIER_atomic_f(0);
    int y;
    __VERIFIER_atomic_begin();
    y = x;
    __VERIFIER_atomic_end();
    assert(y != 2);
    assert(y != 1);
    pthread_join(a, 0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"int x;
int __VERIFIER_atomic_f(int c) {
    if (c) {
        x = 1;
        return 1;
    }
    x = 2;
    x = 0;
    return 0;
}
void *w(void *_) {
    __VERIFIER_atomic_f(0);
    __VERIFIER_atomic_f(1);
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    int y;
    __VERIFIER_atomic_begin();
    y = x;
    __VERIFIER_atomic_end();
    assert(y != 2);
    pthread_join(a, 0);
}
"#,
        },
        Case {
            verdict: "violated race",
            words: "",
            arguments: &[],
            program: r#"int x;
void __VERIFIER_atomic_inc(void) {
    x++;
}
void *w(void *_) {
    __VERIFIER_atomic_inc();
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    x = 5;
    pthread_join(a, 0);
}
"#,
        },
        Case {
            verdict: "refused",
            words: "`pthread_mutex_lock` in a function that runs atomically",
            arguments: &[],
            program: r#"pthread_mutex_t m;
int x;
void __VERIFIER_atomic_inc(void) {
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
}
int main(void) {
    __VERIFIER_atomic_inc();
}
"#,
        },
        Case {
            verdict: "refused",
            words: "`pthread_mutex_lock` in a function that runs atomically",
            arguments: &[],
            program: r#"pthread_mutex_t m;
int x;
void h(void) {
    pthread_mutex_lock(&m);
}
void __VERIFIER_atomic_inc(void) {
    h();
}
int main(void) {
    __VERIFIER_atomic_inc();
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"int m, x;
void __VERIFIER_atomic_acq(void) {
    __VERIFIER_assume(m == 0);
    m = 1;
}
void __VERIFIER_atomic_rel(void) {
    m = 0;
}
void *w(void *_) {
    __VERIFIER_atomic_acq();
    x++;
    __VERIFIER_atomic_rel();
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, w, 0);
    pthread_create(&b, 0, w, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 2);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"int x;
void __VERIFIER_atomic_f(void) {
    x = 1;
    __VERIFIER_assume(0);
    x = 0;
}
void *w(void *_) {
    __VERIFIER_atomic_f();
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    assert(x == 0);
    return 0;
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"int x;
void __VERIFIER_atomic_f(void) {
    x = 1;
    exit(0);
}
void *w(void *_) {
    __VERIFIER_atomic_f();
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    assert(x == 0);
    pthread_join(a, 0);
    assert(0);
    return 0;
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"int x;
void __VERIFIER_atomic_inc(void) {
    int t = x;
    x = t+1;
}
void(*f)(void) = __VERIFIER_atomic_inc;
void *w(void *_) {
    f();
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, w, 0);
    pthread_create(&b, 0, w, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 2);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"struct p {
    int a, b;
};
struct p g;
struct p __VERIFIER_atomic_get(void) {
    return g;
}
void __VERIFIER_atomic_set(int v) {
    g.a = v;
    g.b = v;
}
void *w(void *_) {
    __VERIFIER_atomic_set(3);
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    struct p q = __VERIFIER_atomic_get();
    assert(q.a == q.b);
    pthread_join(a, 0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"int x;
void __VERIFIER_atomic_begin(void) {
}
void __VERIFIER_atomic_end(void) {
}
void *w(void *_) {
    __VERIFIER_atomic_begin();
    int t = x;
    x = t+1;
    __VERIFIER_atomic_end();
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, w, 0);
    pthread_create(&b, 0, w, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 2);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"int x;
void __VERIFIER_atomic_f(void) {
    x = 1;
    pthread_exit(0);
}
void *w(void *_) {
    __VERIFIER_atomic_f();
    assert(0);
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    pthread_join(a, 0);
    assert(x == 1);
    return 0;
}
"#,
        },
        Case {
            verdict: "violated race",
            words: "",
            arguments: &[],
            program: r#"int x;
void *w(void *_) {
    __VERIFIER_atomic_begin();
    for (int i = 0;i<2;i++)x++;
    __VERIFIER_atomic_end();
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    int y = x;
    pthread_join(a, 0);
    return y;
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int x;
void *w(void *_) {
    __VERIFIER_atomic_begin();
    x++;
    __VERIFIER_atomic_end();
    return 0;
}
int main(void) {
    pthread_t a;
    x = 1;
    pthread_create(&a, 0, w, 0);
    pthread_join(a, 0);
    return x;
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"_Atomic int x;
void __VERIFIER_atomic_f(void) {
    x = x+1;
}
void *w(void *_) {
    __VERIFIER_atomic_f();
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    __VERIFIER_atomic_f();
    pthread_join(a, 0);
    assert(x == 2);
}
"#,
        },
        Case {
            verdict: "refused",
            words: "any value in a function that runs atomically",
            arguments: &[],
            program: r#"int x;
void __VERIFIER_atomic_f(void) {
    x = __VERIFIER_nondet_int();
}
int main(void) {
    __VERIFIER_atomic_f();
}
"#,
        },
    ]);
}

/// A call of `reach_error` or `__VERIFIER_error` is a failed assertion, whatever its body does.
#[test]
fn errors_are_calls() {
    hold_to(&[
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"void reach_error() {
}
int main(void) {
    reach_error();
    return 0;
}
"#,
        },
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"extern void reach_error(void);
int main(void) {
    reach_error();
    return 0;
}
"#,
        },
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"void reach_error(void) {
    exit(0);
}
int main(void) {
    void(*f)(void) = reach_error;
    f();
    return 0;
}
"#,
        },
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"extern void reach_error(void);
int main(void) {
    void(*f)(void) = &reach_error;
    f();
    return 0;
}
"#,
        },
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"void reach_error(void) {
    assert(0);
}
void *w(void *_) {
    reach_error();
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    pthread_join(a, 0);
}
"#,
        },
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"int main(void) {
    __VERIFIER_error();
    return 0;
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"void reach_error(void) {
    assert(0);
}
int x;
int main(void) {
    if (x)reach_error();
    void (*f)(void) = reach_error;
    (void)f;
    return 0;
}
"#,
        },
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"static void reach_error(void) {
    while (1);
}
int main(void) {
    reach_error();
}
"#,
        },
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"void __VERIFIER_error_(void);
int reach_error(int a) {
    return a;
}
int main(void) {
    int x = reach_error(3);
    return x;
}
"#,
        },
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"void reach_error(void) {
}
void(*tab[])(void) = {reach_error};
int main(void) {
    tab[0]();
}
"#,
        },
    ]);
}

/// Assumptions that no execution survives are told.
#[test]
fn vacuous_proofs_say_so() {
    hold_to(&[
        Case {
            verdict: "holds",
            words: "gets past",
            arguments: &[],
            program: r#"int x;
int main(void) {
    __VERIFIER_assume(x == 1);
    assert(0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "every execution ends",
            arguments: &["--nondet", "0..1"],
            program: r#"_Atomic int f;
void *w(void *_) {
    __VERIFIER_assume(f == 0);
    return 0;
}
int main(void) {
    pthread_t a;
    f = __VERIFIER_nondet_int();
    pthread_create(&a, 0, w, 0);
    __VERIFIER_assume(f == 1);
    pthread_join(a, 0);
    assert(0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "!assumption at",
            arguments: &["--nondet", "-2..2"],
            program: r#"int main(void) {
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n>0);
    assert(n>0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "gets past",
            arguments: &[],
            program: r#"int x;
void *w(void *_) {
    __VERIFIER_assume(x == 1);
    assert(0);
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    return 0;
}
"#,
        },
    ]);
}

/// What initialises and destroys things to synchronise on, where data races are allowed, too.
#[test]
fn everything_is_initialised_as_circuits_have_it() {
    hold_to(&[
        Case {
            verdict: "holds",
            words: "spurious",
            arguments: &["--races", "allow"],
            program: r#"pthread_cond_t c;
pthread_mutex_t m;
int x;
void *w(void *_) {
    pthread_mutex_lock(&m);
    x = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &a);
    pthread_mutexattr_destroy(&a);
    pthread_condattr_t ca;
    pthread_condattr_init(&ca);
    pthread_cond_init(&c, &ca);
    pthread_condattr_destroy(&ca);
    pthread_create(&t, 0, w, 0);
    pthread_mutex_lock(&m);
    while (!x)pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    pthread_cond_destroy(&c);
    pthread_mutex_destroy(&m);
    return 0;
}
"#,
        },
        Case {
            verdict: "holds",
            words: "spurious",
            arguments: &[],
            program: r#"pthread_cond_t c;
pthread_mutex_t m;
int x;
void *w(void *_) {
    pthread_mutex_lock(&m);
    x = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &a);
    pthread_mutexattr_destroy(&a);
    pthread_condattr_t ca;
    pthread_condattr_init(&ca);
    pthread_cond_init(&c, &ca);
    pthread_condattr_destroy(&ca);
    pthread_create(&t, 0, w, 0);
    pthread_mutex_lock(&m);
    while (!x)pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    pthread_cond_destroy(&c);
    pthread_mutex_destroy(&m);
    return 0;
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"pthread_rwlock_t l;
int x;
void *w(void *_) {
    pthread_rwlock_wrlock(&l);
    x++;
    pthread_rwlock_unlock(&l);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_rwlock_init(&l, 0);
    pthread_create(&t, 0, w, 0);
    pthread_rwlock_rdlock(&l);
    assert(x<2);
    pthread_rwlock_unlock(&l);
    pthread_join(t, 0);
    pthread_rwlock_destroy(&l);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"#include <semaphore.h>
pthread_barrier_t b;
sem_t s;
pthread_spinlock_t sp;
int x;
pthread_once_t o = PTHREAD_ONCE_INIT;
void in(void) {
    x++;
}
void *w(void *_) {
    pthread_once(&o, in);
    pthread_barrier_wait(&b);
    sem_post(&s);
    pthread_spin_lock(&sp);
    x++;
    pthread_spin_unlock(&sp);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_JOINABLE);
    pthread_barrier_init(&b, 0, 2);
    sem_init(&s, 0, 0);
    pthread_spin_init(&sp, 0);
    pthread_create(&t, &a, w, 0);
    pthread_attr_destroy(&a);
    pthread_once(&o, in);
    pthread_barrier_wait(&b);
    sem_wait(&s);
    pthread_join(t, 0);
    assert(x == 2);
    pthread_barrier_destroy(&b);
    sem_destroy(&s);
    pthread_spin_destroy(&sp);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"struct q {
    pthread_mutex_t m;
    pthread_cond_t c;
    int x;
};
void *w(void *v) {
    struct q*q = v;
    pthread_mutex_lock(&q->m);
    q->x = 1;
    pthread_cond_broadcast(&q->c);
    pthread_mutex_unlock(&q->m);
    return 0;
}
int main(void) {
    pthread_t t;
    struct q*q = malloc(sizeof*q);
    pthread_mutex_init(&q->m, 0);
    pthread_cond_init(&q->c, 0);
    q->x = 0;
    pthread_create(&t, 0, w, q);
    pthread_mutex_lock(&q->m);
    while (!q->x)pthread_cond_wait(&q->c, &q->m);
    pthread_mutex_unlock(&q->m);
    pthread_join(t, 0);
    free(q);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"pthread_mutex_t m;
pthread_cond_t c;
int x;
void *w(void *v) {
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t t;
    m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    c = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pthread_create(&t, 0, w, 0);
    w(0);
    pthread_join(t, 0);
    assert(x == 2);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"int x;
void *w(void *v) {
    __VERIFIER_atomic_begin();
    int t = x;
    x = t+1;
    __VERIFIER_atomic_end();
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    w(0);
    pthread_join(t, 0);
    assert(x == 2);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &["--races", "allow"],
            program: r#"int main(void) {
    struct {
        pthread_mutex_t m;
        int x;
    }s = {PTHREAD_MUTEX_INITIALIZER, 3};
    pthread_mutex_lock(&s.m);
    s.x++;
    pthread_mutex_unlock(&s.m);
    assert(s.x == 4);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "spurious",
            arguments: &["--races", "allow"],
            program: r#"#include <threads.h>
cnd_t c;
mtx_t m;
int x;
int w(void *_) {
    mtx_lock(&m);
    x = 1;
    cnd_signal(&c);
    mtx_unlock(&m);
    return 0;
}
int main(void) {
    thrd_t t;
    mtx_init(&m, 0);
    cnd_init(&c);
    thrd_create(&t, w, 0);
    mtx_lock(&m);
    while (!x)cnd_wait(&c, &m);
    mtx_unlock(&m);
    thrd_join(t, 0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "spurious",
            arguments: &[],
            program: r#"#include <time.h>
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    struct timespec t = {0, 0};
    pthread_mutex_lock(&m);
    pthread_cond_timedwait(&c, &m, &t);
    pthread_mutex_unlock(&m);
}
"#,
        },
    ]);
}

/// Names have all characters that the compiler allows.
#[test]
fn names_have_dollars() {
    hold_to(&[
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"#define a$m 3
struct s$t {
    int f$1;
};
_Bool main$tmp;
static int $(int x$) {
    return x$;
}
int main(void) {
    struct s$t v = {.f$1 = a$m};
    int $x = v.f$1;
    goto l$;
    assert(0);
    l$:assert($x == 3);
    assert($(2) == 2);
    assert(sizeof(__func__) == 5);
    return main$tmp;
}
"#,
        },
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"int a$b;
int main(void) {
    assert(a$b == 1);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int größe;
int main(void) {
    größe = 1;
    assert(größe == 1);
}
"#,
        },
    ]);
}

/// `exit` ends the process, whoever calls it: who joins the thread does not go on.
#[test]
fn exit_ends_the_program() {
    hold_to(&[
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"void *a(void *_) {
    exit(0);
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    pthread_join(p, 0);
    assert(0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"#include <unistd.h>
void *a(void *_) {
    _exit(0);
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    pthread_join(p, 0);
    assert(0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"#include <unistd.h>
void *a(void *_) {
    _Exit(0);
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    pthread_join(p, 0);
    assert(0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"#include <unistd.h>
void *a(void *_) {
    quick_exit(0);
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    pthread_join(p, 0);
    assert(0);
}
"#,
        },
        Case {
            verdict: "violated panic",
            words: "",
            arguments: &[],
            program: r#"void *a(void *_) {
    abort();
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    pthread_join(p, 0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"pthread_mutex_t m;
int x;
void *a(void *_) {
    pthread_mutex_lock(&m);
    x = 1;
    exit(0);
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    pthread_mutex_lock(&m);
    assert(x == 0);
    pthread_mutex_unlock(&m);
    pthread_join(p, 0);
    assert(0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"pthread_mutex_t m;
void *a(void *_) {
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
    return 0;
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    return 0;
}
"#,
        },
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"int x;
void *a(void *_) {
    assert(0);
    return 0;
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    exit(0);
}
"#,
        },
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"_Atomic int f;
void *a(void *_) {
    f = 1;
    exit(0);
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    assert(!f);
    pthread_join(p, 0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"_Atomic int f;
void *a(void *_) {
    exit(0);
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    while (!f);
    assert(0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"pthread_mutex_t m;
pthread_cond_t c;
void *a(void *_) {
    pthread_mutex_lock(&m);
    exit(0);
}
int main() {
    pthread_t p;
    pthread_mutex_lock(&m);
    pthread_create(&p, 0, a, 0);
    pthread_cond_wait(&c, &m);
    assert(0);
}
"#,
        },
        Case {
            verdict: "violated assertion",
            words: "",
            arguments: &[],
            program: r#"int x;
void h(void) {
    assert(x == 0);
}
void *a(void *_) {
    x = 1;
    exit(0);
}
int main() {
    pthread_t p;
    atexit(h);
    pthread_create(&p, 0, a, 0);
    pthread_join(p, 0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"void f(int n) {
    if (n == 0)exit(3);
    f(n-1);
    assert(0);
}
void *a(void *_) {
    f(2);
    return 0;
}
int main() {
    pthread_t p, q;
    pthread_create(&p, 0, a, 0);
    pthread_create(&q, 0, a, 0);
    pthread_join(q, 0);
    assert(0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"int x;
void *a(void *_) {
    exit(0);
    x = 1;
    return 0;
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    assert(x == 0);
    pthread_join(p, 0);
    assert(x == 1 && 0);
}
"#,
        },
        Case {
            verdict: "holds",
            words: "",
            arguments: &[],
            program: r#"void *a(void *_) {
    _exit(0);
}
void *b(void *_) {
    return 0;
}
int main() {
    pthread_t p, q;
    pthread_create(&p, 0, a, 0);
    pthread_create(&q, 0, b, 0);
    pthread_join(q, 0);
    pthread_join(p, 0);
    assert(0);
}
"#,
        },
    ]);
}
