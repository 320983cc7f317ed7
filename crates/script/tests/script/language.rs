//! The language: what is read, how it is printed, and what is said about mistakes.

use expect_test::{Expect, expect};
use mazurka_core::{Decision, Effect, Failure, Next, Schedule, System};
use mazurka_script::Script;

/// The normal form of a text, or its errors.
fn check(text: &str, expect: Expect) {
    let shown = match Script::parse(text) {
        Ok(script) => {
            let normal = script.to_string();
            assert_eq!(Script::parse(&normal), Ok(script), "{normal}");
            normal
        }
        Err(errors) => errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    };
    expect.assert_eq(&shown);
}

/// Takes the steps of `schedule`, as far as they are possible, and shows what happens.
fn run(text: &str, schedule: &str, expect: Expect) {
    let mut script = Script::parse(text).expect("the text is well-formed");
    let mut shown = String::new();
    let schedule: Schedule =
        format!("{}{schedule}", Schedule::PREFIX).parse().expect("the schedule is well-formed");
    for &Decision { thread, choice } in schedule.decisions() {
        let next = script.next(thread);
        let Next::Enabled { operation, choices } = next else {
            shown.push_str(&format!("{thread}: {next:?}\n"));
            continue;
        };
        let name = operation
            .object()
            .map_or(String::new(), |object| format!(" {}", script.object_name(object)));
        let of = if choices > 1 { format!(" {choice} of {choices}") } else { String::new() };
        let result = match script.step(Decision { thread, choice }) {
            Ok(Effect::Done) => String::new(),
            Ok(effect) => format!(" -> {effect:?}"),
            Err(Failure { violation, .. }) => {
                format!(" -> {}: {}", violation.kind.name(), violation.message)
            }
        };
        shown.push_str(&format!("{thread}: {}{name}{of}{result}", operation.name()));
        for access in script.accesses() {
            let how = if access.write { "writes" } else { "reads" };
            shown.push_str(&format!(", {how} {}", script.memory_name(access.object)));
        }
        shown.push('\n');
    }
    shown.push_str(&format!("{:?}", script.outcome()));
    expect.assert_eq(&shown);
}

#[test]
fn programs_are_printed_in_normal_form() {
    check("r=x|x=1", expect!["r=x | x=1"]);
    check(
        "x=5,sem(0)=2 , chan(0)=1, bar(3)=4,a[8],b[2]=7,plain(p)=1|| r = x ; ;x=r+1 |T1: | a[r]=2",
        expect![
            "x=5, sem(0)=2, chan(0)=1, bar(3)=4, a[8], b[2]=7, plain(p)=1 || r=x; x=r+1 | T1: | a[r]=2"
        ],
    );
    check(
        "if(x==1){r=1}else{r=2};while(x!=1)yield;while r<3 r=r+1",
        expect!["if x == 1 { r=1 } else { r=2 }; while x != 1 { yield }; while r < 3 { r=r+1 }"],
    );
    check(
        "if ((r+1)*2 == (3)) { yield } { x=1; { x=2 } } yield",
        expect!["if (r+1)*2 == 3 { yield }; x=1; x=2; yield"],
    );
    check(
        "r=1-(2-3)-4*(5+6)%-7; r1=(1+2)*tid; r2=1+2*3",
        expect!["r=1-(2-3)-4*(5+6)%-7; r1=(1+2)*tid; r2=1+2*3"],
    );
    check(
        "r=cas(x,0,1); add(x,r); rx1=swap(a[1],2) | await(x>=r+1)",
        expect![
            "malformed script at column 34: array `a` has no length: declare it as `a[8] || ...`"
        ],
    );
    check(
        "a[4] || r=cas(a[r+1],0,1); await(a[tid]!=3)",
        expect!["a[4] || r=cas(a[r+1],0,1); await(a[tid] != 3)"],
    );
    check(
        "acq(0);rel(0);r=tryacq(0);racq(1);rrel(1);wacq(1);wrel(1);r=tryracq(1);r=trywacq(1)",
        expect![
            "acq(0); rel(0); r=tryacq(0); racq(1); rrel(1); wacq(1); wrel(1); r=tryracq(1); r=trywacq(1)"
        ],
    );
    check(
        "wait(0,1);notify(0);notifyall(0);down(0);up(0);r=trydown(0);bar(0)",
        expect!["wait(0,1); notify(0); notifyall(0); down(0); up(0); r=trydown(0); bar(0)"],
    );
    check(
        "send(0,r+1);r=recv(0);recv(0);r=trysend(0,-1);r=tryrecv(0);spawn(1);join(1)|yield",
        expect![
            "send(0,r+1); r=recv(0); recv(0); r=trysend(0,-1); r=tryrecv(0); spawn(1); join(1) | yield"
        ],
    );
    check(
        "r=choose(3); assert(r<2); plain(x)=r; r=plain(x)",
        expect!["r=choose(3); assert(r < 2); plain(x)=r; r=plain(x)"],
    );
    check("T0:", expect!["T0:"]);
    check("|", expect!["T0: | T1:"]);
    check("x=-9223372036854775808", expect!["x=-9223372036854775808"]);
}

#[test]
fn all_mistakes_are_said_with_their_place() {
    check("", expect!["malformed script at column 1: a program has at least one thread"]);
    check("  ", expect!["malformed script at column 3: a program has at least one thread"]);
    check("x=1 || ", expect!["malformed script at column 8: a program has at least one thread"]);
    check(
        "r=x+1; x=y; assert(x==1); acq(x); r=1+",
        expect![[r#"
        malformed script at column 4: an expression is over locals: load `x` into one first
        malformed script at column 10: an expression is over locals: load `y` into one first
        malformed script at column 13: an assertion is over locals: load `x` into one first
        malformed script at column 31: expected the number of an object, found `x`
        malformed script at column 39: expected an expression, found the end"#]],
    );
    check(
        "x=1 || x=2 || x=3",
        expect![
            "malformed script at column 12: `||` ends the header, and there is one; an empty thread is written `| |`"
        ],
    );
    check("T1: x=1", expect!["malformed script at column 1: this is thread `T0`, not `T1`"]);
    check(
        "a[1]=2",
        expect![
            "malformed script at column 1: array `a` has no length: declare it as `a[8] || ...`"
        ],
    );
    check(
        "a[0], x, x=1 || a=2; plain(x)=1",
        expect![[r#"
        malformed script at column 3: the length of an array is from 1 to 65536, not 0
        malformed script at column 10: `x` is declared twice
        malformed script at column 17: `a` is used as a shared variable here and as a shared array before
        malformed script at column 28: `x` is used as plain memory here and as a shared variable before"#]],
    );
    check(
        "spawn(1); join(7)",
        expect![[r#"
        malformed script at column 7: there is no thread 1, only 1 of them
        malformed script at column 16: there is no thread 7, only 1 of them"#]],
    );
    check(
        "x = ö; r=99999999999999999999; r=9223372036854775808",
        expect![[r#"
        malformed script at column 5: `ö` means nothing here
        malformed script at column 6: expected an expression, found `;`
        malformed script at column 10: this number is too large
        malformed script at column 34: this number is too large"#]],
    );
    check(
        "if x=1 { } } | ; while { ; r=acq(0)",
        expect![[r#"
        malformed script at column 5: expected a comparison (`==`, `!=`, `<`, `<=`, `>`, `>=`), found `=`
        malformed script at column 24: expected an expression, found `{`"#]],
    );
    check(
        "X=1; r=choose(0) x=1",
        expect![[r#"
        malformed script at column 1: names are lower-case, unlike `X`
        malformed script at column 15: the number of alternatives is from 1 to 4294967295, not 0"#]],
    );
    check(
        "chan(0)=0, sem(0), 7 || recv(0)",
        expect![[r#"
        malformed script at column 9: capacity is from 1 to 4294967294, not 0
        malformed script at column 18: expected `=`, found `,`
        malformed script at column 20: expected a declaration, found `7`"#]],
    );
    check(
        &"| ".repeat(1100),
        expect!["malformed script at column 2049: a program has at most 1024 threads"],
    );
    check(
        "x=1 } ; x= | x=2",
        expect![[r#"
        malformed script at column 5: expected `|` or the end, found `}`
        malformed script at column 12: expected an expression, found `|`"#]],
    );
}

#[test]
fn large_and_malformed_texts_do_not_harm() {
    for piece in
        ["(", "{", "}", "if(", "if r==1 {", "x=((((", "|", "||", "r=1+", "1+", "a[", ";", "ö"]
    {
        let _ = Script::parse(&piece.repeat(20_000));
        let _ = Script::parse(&format!("r={}", piece.repeat(20_000)));
    }
    let _ = Script::parse(&format!("r=0{}", "+1".repeat(100_000)));
    let _ = Script::parse(&"x=1;".repeat(100_000));
    let _ = Script::parse(&"if r==1 yield else ".repeat(10_000));
    let words = [
        "x", "r", "=", "==", "(", ")", "{", "}", ";", "|", "||", "if", "while", "else", "acq", "1",
        "-", "+", ",", "cas", "a", "[", "]", "T0", ":", "plain", "send", "spawn",
    ];
    let mut seed = 1u64;
    for _ in 0..2_000 {
        let mut text = String::new();
        for _ in 0..30 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(words[(seed >> 33) as usize % words.len()]);
            text.push(' ');
        }
        let _ = Script::parse(&text);
    }
}

#[test]
fn variables_and_branches() {
    run(
        "x=5 || r=x; x=r+1 | r=cas(x,5,9); r1=add(x,2); r2=swap(x,tid)",
        "0.1.1.0.1.1",
        expect![[r#"
            T0: load x
            T1: read-modify-write x
            T1: read-modify-write x
            T0: store x
            T1: read-modify-write x
            T1: Finished
            [1, 5, 1, 9, 6, 1, 1]"#]],
    );
    run(
        "while(x!=1) yield; y=1 | x=1",
        "0.0.0.1.0.0.0",
        expect![[r#"
        T0: load x
        T0: yield
        T0: load x
        T1: store x
        T0: yield
        T0: load x
        T0: store y
        [1, 1, 1, 1]"#]],
    );
    run(
        "if (x==1) { r=7 } else { r=8 }; yield",
        "0.0",
        expect![[r#"
        T0: load x
        T0: yield
        [0, 8, 1]"#]],
    );
    run(
        "await(x>=1); r=x | x=1",
        "0.1.0.0",
        expect![[r#"
        T0: Blocked(Await(o0))
        T1: store x
        T0: await x
        T0: load x
        [1, 1, 1, 1]"#]],
    );
    run(
        "a[3]=4 || r=2; r=a[r]; a[r]=1 | yield",
        "0.0.1",
        expect![[r#"
        T0: yield
        T0: load a[2] -> memory: index 4 is outside of `a`, which has 3 elements
        T1: yield
        [4, 4, 4, 4, 1, 1]"#]],
    );
    run(
        "a[3] || r1=choose(3); a[r1]=5; a[r1+1]=6",
        "0~1.0.0",
        expect![[r#"
        T0: choose 1 of 3
        T0: store a[1]
        T0: store a[2]
        [0, 5, 6, 1, 1]"#]],
    );
}

#[test]
fn locks() {
    run(
        "acq(0); rel(0); rel(0) | r=tryacq(0); acq(0)",
        "0.1.1.0.1.0",
        expect![[r#"
        T0: acquire mutex(0)
        T1: try-acquire mutex(0) -> Failed
        T1: Blocked(Acquire(o0))
        T0: release mutex(0)
        T1: acquire mutex(0)
        T0: release mutex(0) -> assertion: mutex(0) is released by T0, which has not got it
        [0, 1, 1]"#]],
    );
    run(
        "racq(0); rrel(0); rrel(0) | r=trywacq(0); wacq(0); wrel(0) | r=tryracq(0); r1=tryracq(0)",
        "0.2.1.1.0.1.0",
        expect![[r#"
            T0: read-acquire rwlock(0)
            T2: try-read-acquire rwlock(0)
            T1: try-write-acquire rwlock(0) -> Failed
            T1: Blocked(WriteAcquire(o0))
            T0: read-release rwlock(0)
            T1: Blocked(WriteAcquire(o0))
            T0: read-release rwlock(0) -> assertion: rwlock(0) is released by T0, which has not got it
            [0, 1, 0, 1, 0, 0]"#]],
    );
}

#[test]
fn condition_variables() {
    run(
        "acq(0); wait(0,0); rel(0) | acq(0); wait(0,0); rel(0) | notify(0); notify(0); notifyall(0)",
        "2.0.0.0.1.1.2~1.0.1.2.0.1.0",
        expect![[r#"
            T2: notify-one condvar(0) -> Woke({})
            T0: acquire mutex(0)
            T0: wait condvar(0)
            T0: Blocked(Reacquire { condvar: o1, mutex: o0 })
            T1: acquire mutex(0)
            T1: wait condvar(0)
            T2: notify-one condvar(0) 1 of 2 -> Woke({T1})
            T0: Blocked(Reacquire { condvar: o1, mutex: o0 })
            T1: reacquire condvar(0)
            T2: notify-all condvar(0) -> Woke({T0})
            T0: Blocked(Reacquire { condvar: o1, mutex: o0 })
            T1: release mutex(0)
            T0: reacquire condvar(0)
            [0, 1, 1]"#]],
    );
    run(
        "wait(0,0)",
        "0.0",
        expect![[r#"
        T0: wait condvar(0) -> assertion: mutex(0) is given to a wait by T0, which has not got it
        T0: Finished
        [1]"#]],
    );
}

#[test]
fn semaphores_barriers_and_channels() {
    run(
        "sem(0)=1 || down(0); down(0) | r=trydown(0); up(0)",
        "0.0.1.1.0",
        expect![[r#"
        T0: semaphore-acquire semaphore(0)
        T0: Blocked(SemaphoreAcquire { semaphore: o0, permits: 1 })
        T1: semaphore-try-acquire semaphore(0) -> Failed
        T1: semaphore-release semaphore(0)
        T0: semaphore-acquire semaphore(0)
        [0, 1, 1]"#]],
    );
    run(
        "bar(0); bar(0) | bar(0); x=1",
        "0.0.1.0.0.1.0",
        expect![[r#"
        T0: arrive barrier(0)
        T0: Blocked(Leave { barrier: o0, parties: 2 })
        T1: arrive barrier(0)
        T0: leave barrier(0)
        T0: arrive barrier(0)
        T1: leave barrier(0)
        T0: Blocked(Leave { barrier: o0, parties: 2 })
        [0, 0, 0]"#]],
    );
    run(
        "chan(0)=1 || send(0,7); send(0,8); r=trysend(0,9) | r=recv(0); r1=tryrecv(0); r2=tryrecv(0); recv(0)",
        "0.0.1.0.0.1.1.1",
        expect![[r#"
            T0: send channel(0)
            T0: Blocked(Send { channel: o0, capacity: 1 })
            T1: receive channel(0)
            T0: send channel(0)
            T0: try-send channel(0) -> Failed
            T1: try-receive channel(0)
            T1: try-receive channel(0) -> Failed
            T1: Blocked(Receive(o0))
            [0, 7, 8, -1, 1, 0]"#]],
    );
}

#[test]
fn threads_choices_and_plain_memory() {
    run(
        "spawn(1); join(1); spawn(1) | r=3; x=r",
        "1.0.0.1.0.0",
        expect![[r#"
        T1: Unborn
        T0: spawn
        T0: Blocked(Join(T1))
        T1: store x
        T0: join
        T0: spawn -> assertion: T0 spawned T1 a second time
        [3, 3, 1, 1]"#]],
    );
    run(
        "plain(y)=1; r=choose(2); assert(r == 0); x=1 | r=plain(y); x=r",
        "0.1.0~1.1",
        expect![[r#"
            T0: yield, writes y
            T1: yield, reads y
            T0: choose 1 of 2 -> assertion: assertion `r == 0` failed: left is 1
            T1: store x
            [1, 1, 1, 1, 1, 1]"#]],
    );
    run(
        "assert(tid != 1); yield | assert(tid != r+1)",
        "0.0.1",
        expect![[r#"
        T0: yield
        T0: yield
        T1: yield -> assertion: assertion `tid != r+1` failed: left is 1, right is 1
        [0, 1, 1]"#]],
    );
    run(
        "while r==0 { r1=r1+1 }",
        "0.0",
        expect![[r#"
        T0: yield -> livelock: 100000 instructions without an operation in between
        T0: Finished
        [0, 33333, 1]"#]],
    );
}
