//! Guarantee of each durability class, and the demand on a target in `tpce acid` that follows from it; `crash` compares with
//! the guarantee alone.
//!
//! | class | the process is killed | the power fails |
//! |---|---|---|
//! | not known | nothing is guaranteed; tested against the specification: every acknowledged commit | likewise |
//! | `volatile` | nothing | nothing |
//! | `process` | every acknowledged commit; an intact database if the engine's memory holds the last second's commits | nothing is guaranteed; tested against the specification: every acknowledged commit |
//! | `consistent` | every acknowledged commit; an intact database if the engine's memory holds the last second's commits | an intact database; the last commits may be lost |
//! | `durable` | every acknowledged commit | every acknowledged commit |

use bourse_engine::{Durability, MayLose};
use bourse_record::crash::Guarantee;

/// Kind of crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashKind {
    /// The engine's process is killed; data passed to the operating system survives.
    Kill,
    /// The power fails; data that was not synced is lost, or survives in part.
    Power,
}

/// Guarantee of a durability class against a kind of crash; `may_lose` narrows it.
pub const fn promised(class: Durability, may_lose: Option<MayLose>, crash: CrashKind) -> Guarantee {
    match (class, crash) {
        // The engine's memory alone has them, and goes with its process.
        (Durability::Process | Durability::Consistent, CrashKind::Kill)
            if matches!(may_lose, Some(MayLose::LastSecondInMemory)) =>
        {
            Guarantee::Whole
        }
        (Durability::Unknown | Durability::Volatile, _) | (Durability::Process, CrashKind::Power) => Guarantee::Nothing,
        (Durability::Consistent, CrashKind::Power) => Guarantee::Whole,
        _ => Guarantee::Everything,
    }
}

/// Demand on a durability class: its guarantee, or the specification's demand on every database if a database on disk
/// guarantees nothing or its class is unknown.
pub const fn demanded(class: Durability, may_lose: Option<MayLose>, crash: CrashKind) -> Guarantee {
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
            assert_eq!(demanded(class, None, CrashKind::Kill), killed, "{class}");
            assert_eq!(demanded(class, None, CrashKind::Power), powerless, "{class}");
        }
        assert_eq!(promised(Process, None, CrashKind::Power), Guarantee::Nothing);
    }

    #[test]
    fn what_is_in_the_engines_memory_goes_with_its_process() {
        for class in [Durability::Process, Durability::Consistent] {
            let killed = |may_lose| demanded(class, Some(may_lose), CrashKind::Kill);
            assert_eq!(killed(MayLose::LastSecondInMemory), Guarantee::Whole);
            for written in [MayLose::LastCommit, MayLose::LastSecond, MayLose::SinceCheckpoint, MayLose::NotWrittenBack]
            {
                assert_eq!(killed(written), Guarantee::Everything, "{written:?}");
            }
        }
    }
}
