//! What the machine does with memory, calls, threads and what goes wrong: small programs, searched.

use expect_test::{Expect, expect};
use mazurka_core::{System, Verdict, ViolationKind};
use mazurka_explore::{Explorer, Options};
use mazurka_model::{
    Access, Action, Binary, Callee, Compare, Expr, Field, Layout, LayoutId, MemoryOrder, Object,
    Place, Program, Races, RegisterId, RoutineBuilder, RoutineId, Span, Storage, Sync, Type,
    Update, Vm,
};

const INT: Type = Type::I32;

/// The verdict of a search, in a line.
fn verdict(program: &Program, races: Races) -> String {
    let vm = Vm::new(program.clone(), races).expect("it can be run");
    let outcome = Explorer::new(Options::new()).run(|| vm.clone()).expect("it is deterministic");
    let executions = outcome.statistics.executions;
    match outcome.verdict {
        Verdict::Holds(_) => format!("holds, {executions} executions"),
        Verdict::Violated(found) => {
            format!("{}: {}", found.violation.kind.name(), found.violation.message)
        }
        other => format!("{other:?}"),
    }
}

fn check(program: &Program, expected: Expect) {
    expected.assert_eq(&verdict(program, Races::Error));
}

fn int(value: i64) -> Expr {
    Expr::int(INT, value)
}

fn equal(left: Expr, right: Expr) -> Expr {
    Expr::compare(Compare::Equal, left, right)
}

fn assert(routine: &mut RoutineBuilder, condition: Expr) {
    routine.then(Action::Check {
        condition,
        kind: ViolationKind::Assertion,
        message: "assertion failed".to_owned(),
    });
}

fn main_program(main: RoutineBuilder, mut program: Program) -> Program {
    let main = program.add_routine(main.finish());
    program.process("main", main, Vec::new());
    program
}

/// Spawns a routine for each argument, and then joins them all.
fn spawn_and_join(main: &mut RoutineBuilder, routine: RoutineId, arguments: &[Expr]) {
    let handles: Vec<RegisterId> = arguments.iter().map(|_| main.register("", Type::U32)).collect();
    for (&to, argument) in handles.iter().zip(arguments) {
        let arguments = vec![argument.clone()];
        main.then(Action::Spawn { routine: Callee::Routine(routine), arguments, to: Some(to) });
    }
    for &handle in &handles {
        let process = main.get(handle);
        main.then(Action::Join { process, to: None });
    }
}

fn allocate(main: &mut RoutineBuilder, bytes: i64, element: LayoutId) -> RegisterId {
    let to = main.register("p", Type::Pointer);
    main.then(Action::Allocate { to, size: int(bytes), element });
    to
}

#[test]
fn a_routine_calls_itself() {
    let mut program = Program::new("factorial");
    let id = program.declare("factorial");
    let mut factorial = RoutineBuilder::new("factorial");
    let n = factorial.parameter("n", INT);
    let rest = factorial.register("rest", INT);
    factorial.returns(INT);
    let is_more = Expr::compare(Compare::Greater, factorial.get(n), int(1));
    let one = factorial.branch(is_more);
    let less = Expr::binary(Binary::Subtract, factorial.get(n), int(1));
    factorial.call(id, vec![less], Some(rest));
    let product = Expr::binary(Binary::Multiply, factorial.get(n), factorial.get(rest));
    factorial.ret(Some(product));
    factorial.go_on_from(one);
    factorial.ret(Some(int(1)));
    program.define(id, factorial.finish());
    let mut main = RoutineBuilder::new("main");
    let result = main.register("result", INT);
    main.call(id, vec![int(10)], Some(result));
    let condition = equal(main.get(result), int(3_628_800));
    assert(&mut main, condition);
    check(&main_program(main, program), expect!["holds, 1 executions"]);
}

#[test]
fn what_recurses_for_ever_overflows_its_stack() {
    let mut program = Program::new("forever");
    let id = program.declare("forever");
    let mut forever = RoutineBuilder::new("forever");
    forever.call(id, Vec::new(), None);
    program.define(id, forever.finish());
    program.process("main", id, Vec::new());
    check(&program, expect!["panic: the stack has overflowed"]);
}

/// Allocates ten bytes of ints and does something with the pointer.
fn with_block(body: impl FnOnce(&mut RoutineBuilder, RegisterId)) -> Program {
    let mut program = Program::new("block");
    let ints = program.scalar(INT);
    let mut main = RoutineBuilder::new("main");
    let pointer = allocate(&mut main, 10, ints);
    body(&mut main, pointer);
    main_program(main, program)
}

#[test]
fn blocks_are_checked() {
    let free = |main: &mut RoutineBuilder, pointer: RegisterId| {
        let pointer = main.get(pointer);
        main.then(Action::Free { pointer });
    };
    let store_at = |main: &mut RoutineBuilder, pointer: RegisterId, offset: i64| {
        let to = Place::pointer(main.get(pointer)).plus(int(offset));
        main.store(to, int(7), Access::Plain);
    };
    check(
        &with_block(|main, pointer| {
            store_at(main, pointer, 4);
            let value = main.register("value", INT);
            let from = Place::pointer(main.get(pointer)).plus(int(4));
            main.load(value, from, Access::Plain);
            let condition = equal(main.get(value), int(7));
            assert(main, condition);
            free(main, pointer);
        }),
        expect!["holds, 1 executions"],
    );
    check(
        &with_block(|main, pointer| store_at(main, pointer, 8)),
        expect!["memory: 4 bytes at offset 8 are outside of `block 0 of main`, which has 10"],
    );
    check(
        &with_block(|main, pointer| store_at(main, pointer, -1)),
        expect!["memory: 4 bytes at offset -1 are outside of `block 0 of main`, which has 10"],
    );
    check(
        &with_block(|main, pointer| {
            free(main, pointer);
            store_at(main, pointer, 0);
        }),
        expect!["memory: `block 0 of main` is used after it was freed"],
    );
    check(
        &with_block(|main, pointer| {
            free(main, pointer);
            free(main, pointer);
        }),
        expect!["memory: `block 0 of main` is used after it was freed"],
    );
    check(
        &with_block(|main, pointer| {
            main.assign(pointer, Expr::null());
            free(main, pointer);
            store_at(main, pointer, 0);
        }),
        expect!["memory: a null pointer is followed"],
    );
    check(
        &with_block(|main, pointer| {
            let inside = Expr::Offset(Box::new(main.get(pointer)), Box::new(int(4)));
            main.then(Action::Free { pointer: inside });
        }),
        expect!["memory: something is freed that was not allocated"],
    );
}

#[test]
fn a_block_that_nothing_leads_to_is_leaked() {
    let search = |program: Program| {
        let vm = Vm::new(program, Races::Error).expect("it can be run").finding_leaks();
        let outcome = Explorer::new(Options::new()).run(|| vm.clone()).expect("it runs");
        match outcome.verdict {
            Verdict::Violated(found) => found.violation.message,
            _ => "holds".to_owned(),
        }
    };
    expect!["`block 0 of main` is never freed, and nothing leads to it when the program ends"]
        .assert_eq(&search(with_block(|_, _| {})));
    let free = |main: &mut RoutineBuilder, pointer: RegisterId| {
        let pointer = main.get(pointer);
        main.then(Action::Free { pointer });
    };
    expect!["holds"].assert_eq(&search(with_block(free)));
    let mut program = Program::new("kept");
    let layout = program.scalar(Type::Pointer);
    let global = Place::object(program.object("global", layout));
    let mut main = RoutineBuilder::new("main");
    let block = allocate(&mut main, 8, layout);
    let value = main.get(block);
    main.store(global, value, Access::Plain);
    expect!["holds"].assert_eq(&search(main_program(main, program)));
}

/// Another thread frees a block while one is about to use it, in every order.
#[test]
fn a_thread_may_stand_before_a_block_that_is_gone() {
    let mut program = Program::new("gone");
    let ints = program.scalar(INT);
    let flag = Place::object(program.object("flag", ints));
    let mut user = RoutineBuilder::new("user");
    let pointer = user.parameter("pointer", Type::Pointer);
    let (on, value) = (Place::pointer(user.get(pointer)), int(1));
    user.store(flag.clone(), int(1), Access::ATOMIC);
    user.then(Action::Modify {
        old: None,
        on,
        update: Update::Add,
        value,
        order: MemoryOrder::SequentiallyConsistent,
    });
    let user = program.add_routine(user.finish());
    let mut main = RoutineBuilder::new("main");
    let block = allocate(&mut main, 4, ints);
    let arguments = vec![main.get(block)];
    for _ in 0..2 {
        let routine = Callee::Routine(user);
        main.then(Action::Spawn { routine, arguments: arguments.clone(), to: None });
    }
    main.store(flag, int(2), Access::ATOMIC);
    let pointer = main.get(block);
    main.then(Action::Free { pointer });
    let vm = Vm::new(main_program(main, program), Races::Error).expect("it can be run");
    let mut options = Options::new();
    options.stop_at_first = false;
    let outcome = Explorer::new(options).run(|| vm.clone()).expect("it goes back and forth");
    assert!(matches!(outcome.verdict, Verdict::Violated(_)));
    // They come to the block before it goes, and afterwards.
    assert!(outcome.statistics.executions >= 2);
}

#[test]
fn a_local_is_gone_when_its_function_has_returned() {
    let mut program = Program::new("dangling");
    let layout = program.scalar(INT);
    let mut leak = RoutineBuilder::new("leak");
    leak.returns(Type::Pointer);
    let local = leak.frame_object("local", layout);
    leak.store(local.clone(), int(1), Access::Plain);
    leak.ret(Some(Expr::Address(Box::new(local))));
    let leak = program.add_routine(leak.finish());
    let mut main = RoutineBuilder::new("main");
    let pointer = main.register("pointer", Type::Pointer);
    let value = main.register("value", INT);
    main.call(leak, Vec::new(), Some(pointer));
    let from = Place::pointer(main.get(pointer));
    main.load(value, from, Access::Plain);
    check(
        &main_program(main, program),
        expect!["memory: `local (local of leak)` is used after its function has returned"],
    );
}

#[test]
fn a_free_that_nothing_orders_with_a_use_is_a_race() {
    for (access, races) in [
        (Access::Plain, Races::Error),
        (Access::Plain, Races::Allow),
        (Access::ATOMIC, Races::Error),
    ] {
        let mut program = Program::new("race");
        let ints = program.scalar(INT);
        let mut user = RoutineBuilder::new("user");
        let pointer = user.parameter("pointer", Type::Pointer);
        let to = Place::pointer(user.get(pointer));
        user.store(to, int(1), access);
        let user = program.add_routine(user.finish());
        let mut main = RoutineBuilder::new("main");
        let block = allocate(&mut main, 4, ints);
        let handle = main.register("handle", Type::U32);
        let arguments = vec![main.get(block)];
        main.then(Action::Spawn { routine: Callee::Routine(user), arguments, to: Some(handle) });
        let pointer = main.get(block);
        main.then(Action::Free { pointer });
        let program = main_program(main, program);
        let found = verdict(&program, races);
        let is_found = found.starts_with("race: data race on `block 0 of main`")
            || found == "memory: `block 0 of main` is used after it was freed";
        assert!(is_found, "{access:?} {races:?}: {found}");
    }
}

#[test]
fn a_free_by_another_thread_is_found_where_races_are_allowed() {
    let mut program = Program::new("lives");
    let ints = program.scalar(INT);
    let mut ender = RoutineBuilder::new("ender");
    let pointer = ender.parameter("pointer", Type::Pointer);
    let pointer = ender.get(pointer);
    ender.then(Action::Free { pointer });
    let ender = program.add_routine(ender.finish());
    let mut main = RoutineBuilder::new("main");
    let block = allocate(&mut main, 4, ints);
    let handle = main.register("handle", Type::U32);
    let arguments = vec![main.get(block)];
    main.then(Action::Spawn { routine: Callee::Routine(ender), arguments, to: Some(handle) });
    main.store(Place::pointer(main.get(block)), int(1), Access::Plain);
    let program = main_program(main, program);
    let found = verdict(&program, Races::Allow);
    assert!(found.starts_with("memory: `block 0 of main` may be gone when it is used"), "{found}");
}

#[test]
fn a_semaphore_is_not_destroyed_while_somebody_waits_for_it() {
    let mut program = Program::new("destroyed");
    let layout = program.sync(Sync::Semaphore);
    let semaphore = Place::object(program.object("semaphore", layout));
    let mut waiting = RoutineBuilder::new("waiting");
    waiting.then(Action::SemaphoreAcquire(semaphore.clone()));
    let waiting = program.add_routine(waiting.finish());
    program.process("waiting", waiting, Vec::new());
    let mut main = RoutineBuilder::new("main");
    main.then(Action::Destroy(Sync::Semaphore, semaphore));
    let program = main_program(main, program);
    check(&program, expect!["assertion: semaphore is destroyed while it is in use"]);
}

/// Two threads that both do this to a shared number, and then a check of it.
fn twice(body: impl FnOnce(&mut RoutineBuilder, Place), expected: i64) -> Program {
    let mut program = Program::new("twice");
    let layout = program.scalar(INT);
    let x = Place::object(program.object("x", layout));
    let mut worker = RoutineBuilder::new("worker");
    worker.parameter("", INT);
    body(&mut worker, x.clone());
    let worker = program.add_routine(worker.finish());
    let mut main = RoutineBuilder::new("main");
    spawn_and_join(&mut main, worker, &[int(0), int(1)]);
    let value = main.register("value", INT);
    main.load(value, x, Access::Plain);
    let condition = equal(main.get(value), int(expected));
    assert(&mut main, condition);
    main_program(main, program)
}

fn increment(worker: &mut RoutineBuilder, x: Place) {
    let value = worker.register("value", INT);
    worker.load(value, x.clone(), Access::Plain);
    let sum = Expr::binary(Binary::Add, worker.get(value), int(1));
    worker.store(x, sum, Access::Plain);
}

fn increment_in_block(worker: &mut RoutineBuilder, x: Place) {
    worker.then(Action::AtomicBegin);
    increment(worker, x);
    worker.then(Action::AtomicEnd);
}

#[test]
fn atomic_blocks_are_one_step() {
    let program = twice(increment_in_block, 2);
    for races in [Races::Error, Races::Allow] {
        expect!["holds, 2 executions"].assert_eq(&verdict(&program, races));
    }
}

#[test]
fn what_is_outside_races_with_atomic_blocks() {
    let after = |worker: &mut RoutineBuilder, x: Place| {
        increment_in_block(worker, x.clone());
        increment(worker, x);
    };
    let found = verdict(&twice(after, 4), Races::Error);
    assert!(found.starts_with("race: data race on `x`"), "{found}");
    let reading = |worker: &mut RoutineBuilder, x: Place| {
        increment_in_block(worker, x.clone());
        let value = worker.register("seen", INT);
        worker.load(value, x, Access::Plain);
    };
    let found = verdict(&twice(reading, 2), Races::Error);
    assert!(found.starts_with("race: data race on `x`"), "{found}");
}

#[test]
fn without_them_it_is_a_race_or_a_lost_update() {
    let program = twice(increment, 2);
    let found = verdict(&program, Races::Error);
    assert!(found.starts_with("race: data race on `x`"), "{found}");
    expect!["assertion: assertion failed"].assert_eq(&verdict(&program, Races::Allow));
}

#[test]
fn an_execution_whose_assumption_fails_does_not_count() {
    // The thread that comes second assumes to be the first: the other one always is.
    let program = twice(
        |worker, x| {
            let old = worker.register("old", INT);
            let update = Update::Add;
            worker.then(Action::Modify {
                old: Some(old),
                on: x,
                update,
                value: int(1),
                order: MemoryOrder::SequentiallyConsistent,
            });
            let condition = equal(worker.get(old), int(0));
            worker.then(Action::Assume { condition });
        },
        0,
    );
    expect!["holds, 2 executions"].assert_eq(&verdict(&program, Races::Allow));
}

#[test]
fn an_assumption_does_not_hide_what_others_do() {
    let mut program = Program::new("assume");
    let layout = program.scalar(INT);
    let x = Place::object(program.object("x", layout));
    let mut reader = RoutineBuilder::new("reader");
    let value = reader.register("value", INT);
    reader.load(value, x.clone(), Access::ATOMIC);
    let condition = equal(reader.get(value), int(1));
    reader.then(Action::Assume { condition });
    assert(&mut reader, Expr::bool(false));
    let reader = program.add_routine(reader.finish());
    program.process("reader", reader, Vec::new());
    let mut writer = RoutineBuilder::new("writer");
    writer.store(x, int(1), Access::ATOMIC);
    let writer = program.add_routine(writer.finish());
    program.process("writer", writer, Vec::new());
    check(&program, expect!["assertion: assertion failed"]);
}

#[test]
fn an_exit_ends_those_who_wait() {
    for exits in [true, false] {
        let mut program = Program::new("exit");
        let layout = program.sync(Sync::Semaphore);
        let semaphore = Place::object(program.object("semaphore", layout));
        let mut waiter = RoutineBuilder::new("waiter");
        waiter.then(Action::SemaphoreAcquire(semaphore));
        let waiter = program.add_routine(waiter.finish());
        let mut main = RoutineBuilder::new("main");
        let routine = Callee::Routine(waiter);
        main.then(Action::Spawn { routine, arguments: Vec::new(), to: None });
        if exits {
            main.then(Action::ExitProgram);
        }
        let found = verdict(&main_program(main, program), Races::Error);
        assert_eq!(found.starts_with("holds"), exits, "{found}");
        assert_eq!(found.starts_with("deadlock"), !exits, "{found}");
    }
}

/// A thread that takes a mutex of a kind twice, and gives it back as often.
fn nested(kind: i64) -> Program {
    let mut program = Program::new("nested");
    let layout = program.sync(Sync::Mutex);
    let mutex = Place::object(program.object("mutex", layout));
    let mut main = RoutineBuilder::new("main");
    let result = main.register("result", INT);
    main.then(Action::MutexInit { mutex: mutex.clone(), kind: int(kind) });
    for _ in 0..2 {
        main.then(Action::Lock { mutex: mutex.clone(), to: Some(result) });
    }
    let condition = equal(main.get(result), int(0));
    assert(&mut main, condition);
    for _ in 0..2 {
        main.then(Action::Unlock { mutex: mutex.clone(), to: None });
    }
    main.then(Action::Unlock { mutex, to: None });
    main_program(main, program)
}

#[test]
fn mutexes_have_kinds() {
    check(
        &nested(0),
        expect![
            "deadlock: 1 thread waits for itself: main holds mutex and waits for mutex, held by itself"
        ],
    );
    check(&nested(1), expect!["assertion: mutex is released by main, which has not got it"]);
    check(&nested(2), expect!["assertion: assertion failed"]);
}

#[test]
fn a_struct_is_copied_field_by_field_where_others_can_see_it() {
    let mut program = Program::new("copy");
    let scalar = program.scalar(INT);
    let field = |name: &str, offset| Field { name: name.to_owned(), offset, layout: scalar };
    let fields = vec![field("a", 0), field("b", 4)];
    let pair = program.layout(Layout::Struct { name: "pair".to_owned(), fields, size: 8 });
    let (from, to) = (program.object("from", pair), program.object("to", pair));
    let (from, to) = (Place::object(from), Place::object(to));
    let mut writer = RoutineBuilder::new("writer");
    writer.store(from.clone(), int(1), Access::Plain);
    writer.store(from.clone().plus(int(4)), int(1), Access::Plain);
    let writer = program.add_routine(writer.finish());
    program.process("writer", writer, Vec::new());
    let mut copier = RoutineBuilder::new("copier");
    copier.then(Action::Copy { to: to.clone(), from, size: int(8) });
    let [a, b] = ["a", "b"].map(|name| copier.register(name, INT));
    copier.load(a, to.clone(), Access::Plain);
    copier.load(b, to.plus(int(4)), Access::Plain);
    // From (0,0) over (1,0) to (1,1): only in between is the second field the smaller one.
    let condition = Expr::compare(Compare::GreaterOrEqual, copier.get(b), copier.get(a));
    assert(&mut copier, condition);
    let copier = program.add_routine(copier.finish());
    program.process("copier", copier, Vec::new());
    expect!["assertion: assertion failed"].assert_eq(&verdict(&program, Races::Allow));
}

#[test]
fn every_thread_has_its_own() {
    let mut program = Program::new("own");
    let layout = program.scalar(INT);
    let own = Place::object(program.add_object(Object {
        name: "own".to_owned(),
        layout,
        storage: Storage::PerThread,
        init: vec![mazurka_model::Init {
            offset: 0,
            value: mazurka_model::InitValue::Bits(INT, 41),
        }],
        span: Span::NONE,
    }));
    let mut worker = RoutineBuilder::new("worker");
    worker.parameter("", INT);
    let value = worker.register("value", INT);
    increment(&mut worker, own.clone());
    worker.load(value, own, Access::Plain);
    let condition = equal(worker.get(value), int(42));
    assert(&mut worker, condition);
    let worker = program.add_routine(worker.finish());
    let mut main = RoutineBuilder::new("main");
    spawn_and_join(&mut main, worker, &[int(0), int(1)]);
    check(&main_program(main, program), expect!["holds, 1 executions"]);
}

#[test]
fn constants_are_not_written_to() {
    let mut program = Program::new("constant");
    let layout = program.scalar(INT);
    let text = program.add_object(Object {
        name: "text".to_owned(),
        layout,
        storage: Storage::Constant,
        init: Vec::new(),
        span: Span::NONE,
    });
    let mut main = RoutineBuilder::new("main");
    main.store(Place::object(text), int(1), Access::Plain);
    check(&main_program(main, program), expect!["memory: a constant is written to"]);
}

#[test]
fn a_function_is_called_through_a_pointer() {
    let mut program = Program::new("pointer");
    let mut answer = RoutineBuilder::new("answer");
    answer.returns(INT);
    answer.ret(Some(int(42)));
    let answer = program.add_routine(answer.finish());
    let mut main = RoutineBuilder::new("main");
    let pointer = main.register("pointer", Type::Pointer);
    let value = main.register("value", INT);
    main.assign(pointer, Expr::Routine(answer));
    for _ in 0..2 {
        let callee = Callee::Pointer(main.get(pointer));
        main.then(Action::Call { callee, arguments: Vec::new(), to: Some(value) });
        let condition = equal(main.get(value), int(42));
        assert(&mut main, condition);
        main.assign(pointer, Expr::null());
    }
    check(&main_program(main, program), expect!["memory: something is called that is no function"]);
}

#[test]
fn reading_memory_in_an_expression_is_refused_with_its_place() {
    let mut program = Program::new("read");
    let file = program.file("read.pml");
    let layout = program.scalar(INT);
    let x = Place::object(program.object("x", layout));
    let mut main = RoutineBuilder::new("main");
    let value = main.register("value", INT);
    main.at(Span { file, line: 7, column: 3 });
    main.assign(value, Expr::read(x, INT));
    let program = main_program(main, program);
    let errors = Vm::new(program, Races::Error).expect_err("it cannot be run");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].span.line, 7);
    expect!["an expression that reads memory needs an engine that stores states"]
        .assert_eq(&errors[0].to_string());
}

#[test]
fn joining_twice_is_wrong() {
    let mut program = Program::new("join");
    let worker = program.add_routine(RoutineBuilder::new("worker").finish());
    let mut main = RoutineBuilder::new("main");
    let handle = main.register("handle", Type::U32);
    let routine = Callee::Routine(worker);
    main.then(Action::Spawn { routine, arguments: Vec::new(), to: Some(handle) });
    for _ in 0..2 {
        let process = main.get(handle);
        main.then(Action::Join { process, to: None });
    }
    check(&main_program(main, program), expect!["assertion: worker#1 is joined twice"]);
}

#[test]
fn names_say_which_part_of_what() {
    let mut program = Program::new("names");
    let scalar = program.scalar(INT);
    let field = |name: &str, offset| Field { name: name.to_owned(), offset, layout: scalar };
    let fields = vec![field("key", 0), field("value", 4)];
    let pair = program.layout(Layout::Struct { name: "pair".to_owned(), fields, size: 8 });
    let pairs = program.layout(Layout::Array { element: pair, count: 3 });
    let table = Place::object(program.object("table", pairs));
    let mut main = RoutineBuilder::new("main");
    main.store(table.plus(int(20)), int(1), Access::ATOMIC);
    let vm = Vm::new(main_program(main, program), Races::Error).expect("it can be run");
    let next = vm.next(mazurka_core::ThreadId::new(0));
    let object = next.operation().and_then(|operation| operation.object()).expect("a store");
    assert_eq!(vm.object_name(object), "table[2].value");
}

#[test]
fn threads_find_out_more_than_is_ordered_by_weak_orders_and_vain_attempts() {
    use MemoryOrder::{Acquire, AcquireRelease, Relaxed, Release, SequentiallyConsistent};
    let mut program = Program::new("news");
    let layout = program.scalar(INT);
    let place = Place::object(program.object("x", layout));
    let has_news = |action: Action| {
        let mut main = RoutineBuilder::new("main");
        main.register("seen", INT);
        main.then(action);
        main_program(main, program.clone()).has_unordered_news()
    };
    let orders = [Relaxed, Acquire, Release, AcquireRelease, SequentiallyConsistent];
    let of_all = |action: &dyn Fn(MemoryOrder) -> Action| orders.map(|it| has_news(action(it)));
    let (to, ty) = (RegisterId(0), INT);
    let loads = of_all(&|order| {
        let (from, access) = (place.clone(), Access::Atomic(order));
        Action::Load { to, from, ty, access }
    });
    let stores = of_all(&|order| {
        let (to, access) = (place.clone(), Access::Atomic(order));
        Action::Store { to, value: int(1), access }
    });
    let updates = of_all(&|order| {
        let (on, update) = (place.clone(), Update::Add);
        Action::Modify { old: None, on, update, value: int(1), order }
    });
    let exchange = |order, failure| {
        let (on, expected, new) = (place.clone(), int(0), int(1));
        Action::CompareExchange { success: None, old: None, on, expected, new, order, failure }
    };
    let exchanges = of_all(&|order| exchange(order, SequentiallyConsistent));
    let failures = of_all(&|failure| exchange(AcquireRelease, failure));
    assert_eq!(loads, [true, false, true, false, false]);
    assert_eq!(stores, [true, true, false, false, false]);
    assert_eq!(updates, [true, true, true, false, false]);
    assert_eq!(exchanges, [true, true, true, false, false]);
    assert_eq!(failures, [true, false, true, false, false]);
    assert!(!has_news(Action::Lock { mutex: place.clone(), to: None }));
    assert!(has_news(Action::TryLock { mutex: place.clone(), to: None }));
    assert!(has_news(Action::SemaphoreValue(place.clone(), to)));
    assert!(has_news(Action::NotifyAll(place.clone())));
    assert!(!has_news(Action::Fence(Relaxed)));
}
