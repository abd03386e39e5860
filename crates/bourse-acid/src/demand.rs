//! What a durability class promises, and so what is demanded of a target.
//!
//! | class | the process is killed | the power fails |
//! |---|---|---|
//! | `volatile` | nothing | nothing |
//! | `process` | every acknowledged commit | it promises nothing, and is held to the specification: every acknowledged commit |
//! | `consistent` | every acknowledged commit | a whole database; the last commits may be lost |
//! | `durable` | every acknowledged commit | every acknowledged commit |

use bourse_engine::Durability;

/// What happens to an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// Its process is killed; what it gave to the operating system stays.
    Kill,
    /// The power fails; what was not synced is lost, or there in part.
    Power,
}

/// What must be found afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// Nothing can be demanded.
    Nothing,
    /// The database is whole and in a state it once was in; the last commits may be missing.
    Whole,
    /// It is whole, and every acknowledged commit is in it.
    Everything,
}

/// What is demanded of a class.
pub const fn demanded(class: Durability, crash: Crash) -> Demand {
    match (class, crash) {
        (Durability::Volatile, _) => Demand::Nothing,
        (Durability::Consistent, Crash::Power) => Demand::Whole,
        _ => Demand::Everything,
    }
}
