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

impl Demand {
    /// The word for documents.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Whole => "whole",
            Self::Everything => "everything",
        }
    }
}

/// What a class promises.
pub const fn promised(class: Durability, crash: Crash) -> Demand {
    match (class, crash) {
        (Durability::Volatile, _) | (Durability::Process, Crash::Power) => Demand::Nothing,
        (Durability::Consistent, Crash::Power) => Demand::Whole,
        _ => Demand::Everything,
    }
}

/// What is demanded of a class: what it promises, or where a database on a disk promises nothing, what the specification
/// wants of every database.
pub const fn demanded(class: Durability, crash: Crash) -> Demand {
    match (class, promised(class, crash)) {
        (Durability::Process, Demand::Nothing) => Demand::Everything,
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
            (Volatile, Demand::Nothing, Demand::Nothing),
            (Process, Demand::Everything, Demand::Everything),
            (Consistent, Demand::Everything, Demand::Whole),
            (Durable, Demand::Everything, Demand::Everything),
        ] {
            assert_eq!(demanded(class, Crash::Kill), killed, "{class}");
            assert_eq!(demanded(class, Crash::Power), powerless, "{class}");
        }
        assert_eq!(promised(Process, Crash::Power), Demand::Nothing);
    }
}
