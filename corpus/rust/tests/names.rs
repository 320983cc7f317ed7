//! Variables whose parts have names. Not in `std.rs`: types in a crate of that name are taken for
//! the library's.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread;

/// Parts of a static variable and of a local one: the reader has not waited for the writer.
#[test]
fn fields_violated() {
    struct Point {
        at: (AtomicU32, AtomicU32),
        is_set: AtomicBool,
    }
    struct Shape {
        n_points: AtomicU32,
        points: [Point; 2],
        name: Mutex<&'static str>,
    }
    const POINT: Point =
        Point { at: (AtomicU32::new(0), AtomicU32::new(0)), is_set: AtomicBool::new(false) };
    const SHAPE: Shape =
        Shape { n_points: AtomicU32::new(0), points: [POINT; 2], name: Mutex::new("") };
    static SHAPES: [Shape; 2] = [SHAPE; 2];
    let local = SHAPE;
    thread::scope(|scope| {
        scope.spawn(|| {
            *SHAPES[1].name.lock().unwrap() = "line";
            SHAPES[1].points[1].at.1.store(3, SeqCst);
            local.points[0].is_set.store(true, SeqCst);
            SHAPES[1].n_points.store(2, SeqCst);
        });
        let is_named = *SHAPES[1].name.lock().unwrap() == "line";
        let is_at = SHAPES[1].points[1].at.1.load(SeqCst) == 3;
        let is_set = local.points[0].is_set.load(SeqCst);
        assert!(SHAPES[1].n_points.load(SeqCst) == 2 || !is_named || !is_at || !is_set);
    });
}
