//! Bugs that are planted on purpose, to see which checks catch them. Only in builds with the feature `planted-bug`.
//!
//! A hook is one line at the place of the bug: `if planted!(TaxAtHalfRate) { … }`. Without that feature of the crate with the
//! hook the macro is the word `false`, and neither lists nor switch exist. Each workload has a list, and `HARNESS` is that of
//! the harness; the test `planted` of `bourse-acid` runs every bug against every detector.

/// Whether a bug is planted now; always false without the feature `planted-bug`.
///
/// With two more expressions it is the first where the bug is planted and the second otherwise; without the feature the
/// first is not even compiled. Of several bugs it is the first where one of them is planted.
#[macro_export]
macro_rules! planted {
    ($bug:ident) => {{
        #[cfg(feature = "planted-bug")]
        let planted = $crate::planted::is(stringify!($bug));
        #[cfg(not(feature = "planted-bug"))]
        let planted = false;
        planted
    }};
    ($bug:ident: $wrong:expr; $right:expr) => {
        $crate::planted!([$bug]: $wrong; $right)
    };
    ([$($bug:ident),+]: $wrong:expr; $right:expr) => {{
        #[cfg(feature = "planted-bug")]
        let value = if [$(stringify!($bug)),+].into_iter().any($crate::planted::is) { $wrong } else { $right };
        #[cfg(not(feature = "planted-bug"))]
        let value = $right;
        value
    }};
}

#[cfg(feature = "planted-bug")]
pub use bugs::{BrokenPart, Bug, HARNESS, is, plant};

#[cfg(feature = "planted-bug")]
mod bugs {
    use bourse_driver::planted::PlantedFault;
    use std::sync::{Mutex, PoisonError};

    bourse_engine::named! {
        /// Part of a run that a bug breaks.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum BrokenPart {
            /// Rows of the database.
            Data = "data",
            /// The work: results of transactions, or their selection.
            Work = "work",
            /// The database's indexes.
            Indexes = "indexes",
            /// The figures alone.
            Figures = "figures",
            /// The guarantee of the settings: durability or isolation.
            Promise = "promise",
        }
    }

    /// A bug that can be planted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Bug {
        /// Name, as hooks have it; no other bug of any list has the same.
        pub name: &'static str,
        /// The part that the bug breaks.
        pub breaks: BrokenPart,
        /// Description of the bug.
        pub words: &'static str,
        one_in: u32,
        fault: PlantedFault,
    }

    impl Bug {
        /// A bug that strikes on each occasion.
        pub const fn new(name: &'static str, breaks: BrokenPart, words: &'static str) -> Self {
            Self { name, breaks, words, one_in: 1, fault: PlantedFault::Nothing }
        }

        const fn of_recorder(name: &'static str, fault: PlantedFault, words: &'static str) -> Self {
            Self { fault, ..Self::new(name, BrokenPart::Figures, words) }
        }

        /// Makes it strike on one of so many occasions.
        #[must_use]
        pub const fn one_in(self, occasions: u32) -> Self {
            Self { one_in: occasions, ..self }
        }
    }

    /// Bugs of the recorder, planted there.
    #[rustfmt::skip]
    pub static HARNESS: &[Bug] = &[
        Bug::of_recorder("RecorderCountsTwice", PlantedFault::CountTwice, "the recorder counts each sample twice"),
        Bug::of_recorder("RecorderDropsSlow", PlantedFault::DropLong, "the recorder drops samples above 2 ms"),
        Bug::of_recorder("RecorderDropsSome", PlantedFault::DropEveryHundredth, "the recorder drops every hundredth sample"),
        Bug::of_recorder("ServiceAsResponse", PlantedFault::ServiceAsResponse, "the recorder keeps service time as response time"),
    ];

    /// The planted bug, and the occasions it has had.
    static PLANTED: Mutex<Option<(Bug, u32)>> = Mutex::new(None);

    /// Plants a bug in the whole process, in place of the previous one; `None` removes it. Bugs of an engine, of indexes and of
    /// generators are planted by the caller that opens, changes or loads a database.
    pub fn plant(bug: Option<&Bug>) {
        bourse_driver::planted::plant(bug.map_or(PlantedFault::Nothing, |bug| bug.fault));
        *PLANTED.lock().unwrap_or_else(PoisonError::into_inner) = bug.map(|bug| (*bug, 0));
    }

    /// Whether a bug is planted and takes this occasion.
    pub fn is(name: &str) -> bool {
        let mut planted = PLANTED.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((bug, occasions)) = planted.as_mut().filter(|(bug, _)| bug.name == name) else { return false };
        *occasions += 1;
        occasions.is_multiple_of(bug.one_in)
    }
}
