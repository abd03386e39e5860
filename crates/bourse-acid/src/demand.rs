//! What a durability class promises, and so what is demanded of a target by `tpce acid`; `crash` compares with the promise
//! alone.
//!
//! | class | the process is killed | the power fails |
//! |---|---|---|
//! | `volatile` | nothing | nothing |
//! | `process` | every acknowledged commit | it promises nothing, and is held to the specification: every acknowledged commit |
//! | `consistent` | every acknowledged commit | a whole database; the last commits may be lost |
//! | `durable` | every acknowledged commit | every acknowledged commit |

use bourse_engine::Durability;
use bourse_record::crash::Guarantee;

/// What happens to an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// Its process is killed; what it gave to the operating system stays.
    Kill,
    /// The power fails; what was not synced is lost, or there in part.
    Power,
}

/// What a class promises.
pub const fn promised(class: Durability, crash: Crash) -> Guarantee {
    match (class, crash) {
        (Durability::Volatile, _) | (Durability::Process, Crash::Power) => Guarantee::Nothing,
        (Durability::Consistent, Crash::Power) => Guarantee::Whole,
        _ => Guarantee::Everything,
    }
}

/// What is demanded of a class: what it promises, or where a database on a disk promises nothing, what the specification
/// wants of every database.
pub const fn demanded(class: Durability, crash: Crash) -> Guarantee {
    match (class, promised(class, crash)) {
        (Durability::Process, Guarantee::Nothing) => Guarantee::Everything,
        (_, promise) => promise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_class_promises_more_than_it_is_held_to() {
        use Durability::{Consistent, Durable, Process, Volatile};
        for (class, killed, powerless) in [
            (Volatile, Guarantee::Nothing, Guarantee::Nothing),
            (Process, Guarantee::Everything, Guarantee::Everything),
            (Consistent, Guarantee::Everything, Guarantee::Whole),
            (Durable, Guarantee::Everything, Guarantee::Everything),
        ] {
            assert_eq!(demanded(class, Crash::Kill), killed, "{class}");
            assert_eq!(demanded(class, Crash::Power), powerless, "{class}");
        }
        assert_eq!(promised(Process, Crash::Power), Guarantee::Nothing);
    }
}
