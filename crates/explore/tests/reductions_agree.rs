//! Every reduction covers what plain enumeration covers; `optimal` each trace once.

mod support;

use mazurka_script::Shape;
use support::check_random;

#[test]
fn on_variables() {
    let n = check_random(&Shape::variables(), 0..1_500, 2_000);
    assert!(n > 1_000, "only {n} programs were small enough");
}

#[test]
fn on_locks() {
    let n = check_random(&Shape::locks(), 0..1_500, 2_000);
    assert!(n > 1_000, "only {n} programs were small enough");
}

#[test]
fn on_everything() {
    let n = check_random(&Shape::everything(), 0..3_000, 2_000);
    assert!(n > 2_000, "only {n} programs were small enough");
}
