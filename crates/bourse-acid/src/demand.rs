//! What a durability class promises, and so what is demanded of a target by `tpce acid`; `crash` compares with the promise
//! alone.
//!
//! | class | the process is killed | the power fails |
//! |---|---|---|
//! | not known | nothing is promised: it is held to the specification, every acknowledged commit | likewise |
//! | `volatile` | nothing | nothing |
//! | `process` | every acknowledged commit; where the last second's are in the engine's memory, a whole database | it promises nothing, and is held to the specification: every acknowledged commit |
//! | `consistent` | every acknowledged commit; where the last second's are in the engine's memory, a whole database | a whole database; the last commits may be lost |
//! | `durable` | every acknowledged commit | every acknowledged commit |

use bourse_engine::{Durability, MayLose};
use bourse_record::crash::Guarantee;

/// What happens to an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// Its process is killed; what it gave to the operating system stays.
    Kill,
    /// The power fails; what was not synced is lost, or there in part.
    Power,
}

/// What a class promises, and within it what may be lost.
pub const fn promised(class: Durability, may_lose: Option<MayLose>, crash: Crash) -> Guarantee {
    match (class, crash) {
        // The engine's memory alone has them, and goes with its process.
        (Durability::Process | Durability::Consistent, Crash::Kill)
            if matches!(may_lose, Some(MayLose::LastSecondInMemory)) =>
        {
            Guarantee::Whole
        }
        (Durability::Unknown | Durability::Volatile, _) | (Durability::Process, Crash::Power) => Guarantee::Nothing,
        (Durability::Consistent, Crash::Power) => Guarantee::Whole,
        _ => Guarantee::Everything,
    }
}

/// What is demanded of a class: what it promises, or where a database on a disk promises nothing or it is not known, what the specification
/// wants of every database.
pub const fn demanded(class: Durability, may_lose: Option<MayLose>, crash: Crash) -> Guarantee {
    match (class, promised(class, may_lose, crash)) {
        (Durability::Unknown | Durability::Process, Guarantee::Nothing) => Guarantee::Everything,
        (_, promise) => promise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_class_promises_more_than_it_is_held_to() {
        use Durability::{Consistent, Durable, Process, Unknown, Volatile};
        for (class, killed, powerless) in [
            (Unknown, Guarantee::Everything, Guarantee::Everything),
            (Volatile, Guarantee::Nothing, Guarantee::Nothing),
            (Process, Guarantee::Everything, Guarantee::Everything),
            (Consistent, Guarantee::Everything, Guarantee::Whole),
            (Durable, Guarantee::Everything, Guarantee::Everything),
        ] {
            assert_eq!(demanded(class, None, Crash::Kill), killed, "{class}");
            assert_eq!(demanded(class, None, Crash::Power), powerless, "{class}");
        }
        assert_eq!(promised(Process, None, Crash::Power), Guarantee::Nothing);
    }

    #[test]
    fn what_is_in_the_engines_memory_goes_with_its_process() {
        for class in [Durability::Process, Durability::Consistent] {
            let killed = |may_lose| demanded(class, Some(may_lose), Crash::Kill);
            assert_eq!(killed(MayLose::LastSecondInMemory), Guarantee::Whole);
            for written in [MayLose::LastCommit, MayLose::LastSecond, MayLose::SinceCheckpoint, MayLose::NotWrittenBack]
            {
                assert_eq!(killed(written), Guarantee::Everything, "{written:?}");
            }
        }
    }
}
