//! Unit tests of the kinds in Coons, *Fast Error Detection with Coverage Guarantees for Concurrent
//! Software*, tables 3.1 and 8.1: of each pair, the first test holds and the second has a bug.
//!
//! A constant `BUG` switches the bug on, so that a pair is one program.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};
use std::thread;

/// Runs the bodies side by side, each in a thread of its own, and waits for one after the other.
fn together(bodies: &[&(dyn Fn() + Sync)]) {
    thread::scope(|scope| {
        let threads: Vec<_> = bodies.iter().map(|body| scope.spawn(body)).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

// A manual-reset event: a waiter looks at it, and then sleeps without looking again.

#[derive(Default)]
struct Event {
    is_set: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Event {
    fn wait<const BUG: bool>(&self) {
        if self.is_set.load(SeqCst) {
            return;
        }
        let mut guard = self.lock.lock().unwrap();
        while BUG || !self.is_set.load(SeqCst) {
            guard = self.changed.wait(guard).unwrap();
            if BUG {
                return;
            }
        }
    }

    fn set(&self) {
        self.is_set.store(true, SeqCst);
        let _guard = self.lock.lock().unwrap();
        self.changed.notify_all();
    }
}

fn manual_reset_event<const BUG: bool>() {
    let event = Event::default();
    together(&[&|| event.wait::<BUG>(), &|| event.set()]);
}

#[test]
fn manual_reset_event_holds() {
    manual_reset_event::<false>();
}

#[test]
fn manual_reset_event_violated() {
    manual_reset_event::<true>();
}

// A semaphore that takes a permit by a look and a store.

fn semaphore<const BUG: bool>() {
    let (permits, n_inside) = (AtomicI32::new(1), AtomicUsize::new(0));
    let try_acquire = || {
        let seen = permits.load(SeqCst);
        if BUG && seen > 0 {
            permits.store(seen - 1, SeqCst);
            return true;
        }
        seen > 0 && permits.compare_exchange(seen, seen - 1, SeqCst, SeqCst).is_ok()
    };
    let user = || {
        if try_acquire() {
            assert_eq!(n_inside.fetch_add(1, SeqCst), 0, "two of them have the one permit");
            n_inside.fetch_sub(1, SeqCst);
            permits.fetch_add(1, SeqCst);
        }
    };
    together(&[&user, &user]);
}

#[test]
fn semaphore_holds() {
    semaphore::<false>();
}

#[test]
fn semaphore_violated() {
    semaphore::<true>();
}

// Two barriers: one that is reset too late, and one that loses an arrival.

fn barrier_with_late_reset<const BUG: bool>() {
    let (n_arrived, generation) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let pass = || {
        let mine = generation.load(SeqCst);
        if n_arrived.fetch_add(1, SeqCst) + 1 == 2 {
            if !BUG {
                n_arrived.store(0, SeqCst);
            }
            generation.store(mine + 1, SeqCst);
            if BUG {
                n_arrived.store(0, SeqCst);
            }
        } else {
            while generation.load(SeqCst) == mine {
                thread::yield_now();
            }
        }
    };
    let worker = || (0..2).for_each(|_| pass());
    together(&[&worker, &worker]);
}

#[test]
fn barrier_with_late_reset_holds() {
    barrier_with_late_reset::<false>();
}

#[test]
fn barrier_with_late_reset_violated() {
    barrier_with_late_reset::<true>();
}

fn barrier_that_counts<const BUG: bool>() {
    let n_arrived = AtomicUsize::new(0);
    let worker = || {
        if BUG {
            let arrived = n_arrived.load(SeqCst);
            n_arrived.store(arrived + 1, SeqCst);
        } else {
            n_arrived.fetch_add(1, SeqCst);
        }
        while n_arrived.load(SeqCst) < 2 {
            thread::yield_now();
        }
    };
    together(&[&worker, &worker]);
}

#[test]
fn barrier_that_counts_holds() {
    barrier_that_counts::<false>();
}

#[test]
fn barrier_that_counts_violated() {
    barrier_that_counts::<true>();
}

// A concurrent bag, a list for each thread: a thief believes the length it saw before it
// locked the list; and whether the bag is empty is found out list by list.

fn bag_that_is_stolen_from<const BUG: bool>() {
    let list = Mutex::new(vec![7]);
    let steal = || {
        let n_items = list.lock().unwrap().len();
        if n_items == 0 {
            return;
        }
        let mut list = list.lock().unwrap();
        let n_items = if BUG { n_items } else { list.len() };
        if n_items > 0 {
            list.remove(n_items - 1);
        }
    };
    together(&[&steal, &steal]);
}

#[test]
fn bag_that_is_stolen_from_holds() {
    bag_that_is_stolen_from::<false>();
}

#[test]
fn bag_that_is_stolen_from_violated() {
    bag_that_is_stolen_from::<true>();
}

fn bag_that_is_never_empty<const BUG: bool>() {
    let bag = [Mutex::new(0), Mutex::new(1)];
    let look = || {
        let n_items = if BUG {
            bag.iter().map(|list| *list.lock().unwrap()).sum::<i32>()
        } else {
            let lists = [bag[0].lock().unwrap(), bag[1].lock().unwrap()];
            *lists[0] + *lists[1]
        };
        assert!(n_items > 0, "an item was in the bag all the time");
    };
    // At any time one item or the other is in the bag.
    let move_over = || {
        *bag[0].lock().unwrap() += 1;
        *bag[1].lock().unwrap() -= 1;
    };
    together(&[&look, &move_over]);
}

#[test]
fn bag_that_is_never_empty_holds() {
    bag_that_is_never_empty::<false>();
}

#[test]
fn bag_that_is_never_empty_violated() {
    bag_that_is_never_empty::<true>();
}

// A blocking collection: the thread that completes it wakes one taker, and two may sleep.

fn blocking_collection<const BUG: bool>() {
    let (is_complete, changed) = (Mutex::new(false), Condvar::new());
    let take = || drop(changed.wait_while(is_complete.lock().unwrap(), |complete| !*complete));
    let complete = || {
        *is_complete.lock().unwrap() = true;
        match BUG {
            true => changed.notify_one(),
            false => changed.notify_all(),
        }
    };
    together(&[&take, &take, &complete]);
}

#[test]
fn blocking_collection_holds() {
    blocking_collection::<false>();
}

#[test]
fn blocking_collection_violated() {
    blocking_collection::<true>();
}

// A runtime that passes messages: they wait in a port until a receiver takes them.

#[derive(Default)]
struct Port {
    messages: Mutex<VecDeque<usize>>,
    posted: Condvar,
}

impl Port {
    fn post(&self, message: usize) {
        self.messages.lock().unwrap().push_back(message);
        self.posted.notify_one();
    }

    fn receive(&self) -> usize {
        let messages = self.messages.lock().unwrap();
        let mut messages = self.posted.wait_while(messages, |it| it.is_empty()).unwrap();
        messages.pop_front().expect("there is one")
    }
}

/// The poster goes on with a task that waits; two that post at once both do.
fn iterator<const BUG: bool>() {
    let (is_suspended, n_resumed) = (AtomicBool::new(true), AtomicUsize::new(0));
    let post = || {
        let resumes = match BUG {
            true => {
                is_suspended.load(SeqCst) && {
                    is_suspended.store(false, SeqCst);
                    true
                }
            }
            false => is_suspended.swap(false, SeqCst),
        };
        if resumes {
            assert_eq!(n_resumed.fetch_add(1, SeqCst), 0, "it goes on twice");
        }
    };
    together(&[&post, &post]);
}

#[test]
fn iterator_holds() {
    iterator::<false>();
}

#[test]
fn iterator_violated() {
    iterator::<true>();
}

/// What a message was caused by is kept beside the port, and not in the message.
fn causality<const BUG: bool>() {
    let (port, cause) = (Port::default(), AtomicUsize::new(0));
    let send = || {
        for own in 1..=2 {
            cause.store(own, SeqCst);
            port.post(own);
        }
    };
    let handle = || {
        let message = port.receive();
        let caused_by = if BUG { cause.load(SeqCst) } else { message };
        assert_eq!(caused_by, message, "it was caused by another one");
    };
    together(&[&send, &handle]);
}

#[test]
fn causality_holds() {
    causality::<false>();
}

#[test]
fn causality_violated() {
    causality::<true>();
}

/// The number of requests that are still out is counted down by a load and a store.
fn scatter_gather<const BUG: bool>() {
    let (finished, n_out) = (Port::default(), AtomicUsize::new(2));
    let work = || {
        let before = match BUG {
            true => {
                let before = n_out.load(SeqCst);
                n_out.store(before - 1, SeqCst);
                before
            }
            false => n_out.fetch_sub(1, SeqCst),
        };
        if before == 1 {
            finished.post(0);
        }
    };
    together(&[&work, &work, &|| _ = finished.receive()]);
}

#[test]
fn scatter_gather_holds() {
    scatter_gather::<false>();
}

#[test]
fn scatter_gather_violated() {
    scatter_gather::<true>();
}

/// Who posts looks for the gather before the message is there; who registers it, the other way
/// round.
fn gather_post<const BUG: bool>() {
    let (is_registered, is_posted) = (AtomicBool::new(false), AtomicBool::new(false));
    let n_handled = AtomicUsize::new(0);
    let hand_over = |own: &AtomicBool, other: &AtomicBool| {
        let sees_other = if BUG {
            let sees_other = other.load(SeqCst);
            own.store(true, SeqCst);
            sees_other
        } else {
            own.store(true, SeqCst);
            other.load(SeqCst)
        };
        if sees_other {
            n_handled.fetch_add(1, SeqCst);
        }
    };
    together(&[&|| hand_over(&is_posted, &is_registered), &|| {
        hand_over(&is_registered, &is_posted)
    }]);
    assert!(n_handled.load(SeqCst) > 0, "nobody handles the message");
}

#[test]
fn gather_post_holds() {
    gather_post::<false>();
}

#[test]
fn gather_post_violated() {
    gather_post::<true>();
}

/// Results and failures are counted apart: two that come last at once both see the gather complete.
fn gather_of_two_kinds<const BUG: bool>() {
    let (n_results, n_failures) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let n_handled = AtomicUsize::new(0);
    let post = |own: &AtomicUsize| {
        let is_last = match BUG {
            true => {
                own.fetch_add(1, SeqCst);
                n_results.load(SeqCst) + n_failures.load(SeqCst) == 2
            }
            false => n_results.fetch_add(1, SeqCst) + 1 == 2,
        };
        if is_last {
            assert_eq!(n_handled.fetch_add(1, SeqCst), 0, "it is handled twice");
        }
    };
    together(&[&|| post(&n_results), &|| post(&n_failures)]);
}

#[test]
fn gather_of_two_kinds_holds() {
    gather_of_two_kinds::<false>();
}

#[test]
fn gather_of_two_kinds_violated() {
    gather_of_two_kinds::<true>();
}

/// A handler that fails posts its failure, and the waiter hears of it; with the bug, it only
/// fails.
fn exception<const BUG: bool>() {
    let outcomes = Port::default();
    let fail = || {
        let outcome = std::panic::catch_unwind(|| std::panic::resume_unwind(Box::new(7_usize)));
        let is_posted = !BUG || outcomes.messages.try_lock().is_ok();
        if let (Err(payload), true) = (outcome, is_posted) {
            outcomes.post(*payload.downcast::<usize>().expect("this is what was thrown"));
        }
    };
    together(&[&fail, &|| assert_eq!(outcomes.receive(), 7)]);
}

#[test]
fn exception_holds() {
    exception::<false>();
}

#[test]
fn exception_violated() {
    exception::<true>();
}

// Regions of the heap with one owner each: a region is taken by a look and a store.

fn region_ownership<const BUG: bool>() {
    let (owner, n_owners) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let take = |own: usize| {
        let is_mine = match BUG {
            true => {
                owner.load(SeqCst) == 0 && {
                    owner.store(own, SeqCst);
                    true
                }
            }
            false => owner.compare_exchange(0, own, SeqCst, SeqCst).is_ok(),
        };
        if is_mine {
            assert_eq!(n_owners.fetch_add(1, SeqCst), 0, "it has two owners");
        }
    };
    together(&[&|| take(1), &|| take(2)]);
}

#[test]
fn region_ownership_holds() {
    region_ownership::<false>();
}

#[test]
fn region_ownership_violated() {
    region_ownership::<true>();
}

// A fast Fourier transform of four integers modulo 17, in two stages of three threads each, with a
// lock for each element. With the bug, a butterfly takes its locks the other way round.

fn parallel_fft<const BUG: bool>() {
    let values = [1, 3, 2, 4].map(Mutex::new); // In the order of reversed bits.
    let n_done = Mutex::new(0);
    let butterfly = |low: usize, high: usize, twiddle: i32, is_turned: bool| {
        let (first, second) = if is_turned { (high, low) } else { (low, high) };
        let (one, other) = (values[first].lock().unwrap(), values[second].lock().unwrap());
        let (mut at_low, mut at_high) = if is_turned { (other, one) } else { (one, other) };
        let product = *at_high * twiddle % 17;
        (*at_low, *at_high) = ((*at_low + product) % 17, (*at_low - product + 17) % 17);
    };
    let count = || *n_done.lock().unwrap() += 1;
    together(&[
        &|| butterfly(0, 1, 1, false),
        &|| if BUG { butterfly(0, 1, 1, true) } else { butterfly(2, 3, 1, false) },
        &count,
    ]);
    together(&[&|| butterfly(0, 2, 1, false), &|| butterfly(1, 3, 4, false), &count]);
    assert_eq!(*n_done.lock().unwrap(), 2);
    assert_eq!(*values[0].lock().unwrap(), 10, "the first one is the sum of all");
}

#[test]
fn parallel_fft_holds() {
    parallel_fft::<false>();
}

#[test]
fn parallel_fft_violated() {
    parallel_fft::<true>();
}

// Queens on a board of 4x4, and the product of two matrices, on futures.

fn n_queens(queens: &mut Vec<i32>) -> usize {
    if queens.len() == 4 {
        return 1;
    }
    let mut n_found = 0;
    for column in 0..4 {
        let row = queens.len() as i32;
        let mut above = queens.iter().zip(0..);
        if above.all(|(&other, at)| other != column && (other - column).abs() != row - at) {
            queens.push(column);
            n_found += n_queens(queens);
            queens.pop();
        }
    }
    n_found
}

fn queens_on_futures<const BUG: bool>() {
    let n_solutions = AtomicUsize::new(0);
    let future = |column: i32| {
        let found = n_queens(&mut vec![column]);
        match BUG {
            true => n_solutions.store(n_solutions.load(SeqCst) + found, SeqCst),
            false => _ = n_solutions.fetch_add(found, SeqCst),
        }
    };
    together(&[&|| future(1), &|| future(2)]);
    assert_eq!(n_solutions.load(SeqCst), 2);
}

#[test]
fn queens_on_futures_holds() {
    queens_on_futures::<false>();
}

#[test]
fn queens_on_futures_violated() {
    queens_on_futures::<true>();
}

/// Two that have each started one future ask for the other's, before they have computed their own.
fn queens_that_ask_each_other<const BUG: bool>() {
    let is_done = [AtomicBool::new(false), AtomicBool::new(false)];
    let future = |own: usize| {
        if !BUG {
            is_done[own].store(true, SeqCst);
        }
        while !is_done[1 - own].load(SeqCst) {
            thread::yield_now();
        }
        is_done[own].store(true, SeqCst);
    };
    together(&[&|| future(0), &|| future(1)]);
}

#[test]
fn queens_that_ask_each_other_holds() {
    queens_that_ask_each_other::<false>();
}

#[test]
fn queens_that_ask_each_other_violated() {
    queens_that_ask_each_other::<true>();
}

/// A row is taken as done before its second element is there.
fn matrix_on_futures<const BUG: bool>() {
    let (left, right) = ([1, 2], [[5, 6], [7, 8]]);
    let (row, is_done) = ([AtomicI32::new(0), AtomicI32::new(0)], AtomicBool::new(false));
    let compute = |column: usize| {
        let sum = left[0] * right[0][column] + left[1] * right[1][column];
        row[column].store(sum, SeqCst);
    };
    let work = || {
        compute(0);
        if BUG {
            is_done.store(true, SeqCst);
        }
        compute(1);
        is_done.store(true, SeqCst);
    };
    let read = || {
        if is_done.load(SeqCst) {
            assert_eq!(row[1].load(SeqCst), 22);
        }
    };
    together(&[&work, &read]);
}

#[test]
fn matrix_on_futures_holds() {
    matrix_on_futures::<false>();
}

#[test]
fn matrix_on_futures_violated() {
    matrix_on_futures::<true>();
}

// Fairness: each waits for its turn in a loop that yields; with the bug, one turn never comes.

fn fairness<const BUG: bool>() {
    let turn = AtomicUsize::new(0);
    let play = |own: usize| {
        while turn.load(SeqCst) != own {
            thread::yield_now();
        }
        turn.store(own + if BUG { 2 } else { 1 }, SeqCst);
    };
    together(&[&|| play(0), &|| play(1), &|| play(2)]);
}

#[test]
fn fairness_holds() {
    fairness::<false>();
}

#[test]
fn fairness_violated() {
    fairness::<true>();
}
