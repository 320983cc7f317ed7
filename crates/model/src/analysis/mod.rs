//! Static analysis: what can be known of a program without running it.
//!
//! Everything here errs on one side only, and says on which: pointers may point to less than
//! [`PointsTo`] says, a lock that [`Guards`] says is held is held.

mod cycles;
mod guards;
mod points_to;
mod weak_accesses;

pub use cycles::on_cycles;
pub use guards::{Guard, Guards};
pub use points_to::{Abstract, PointsTo};
pub use weak_accesses::weak_accesses;
