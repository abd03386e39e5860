//! Bugs that are planted on purpose, to see which checks catch them. Only in builds with the feature `planted-bug`.
//!
//! A hook is one line at the place of the bug: `if planted!(TaxAtHalfRate) { … }`. Without the feature the macro is the
//! word `false`, and neither the list nor the switch exist. The test `planted` of
//! `bourse-acid` runs every bug against every detector.

/// Whether a bug is planted now; always false without the feature `planted-bug`.
///
/// With two more expressions it is the first where the bug is planted and the second otherwise; without the feature the
/// first is not even compiled. Of several bugs it is the first where one of them is planted.
macro_rules! planted {
    ($bug:ident) => {{
        #[cfg(feature = "planted-bug")]
        let planted = $crate::planted::is($crate::planted::Bug::$bug);
        #[cfg(not(feature = "planted-bug"))]
        let planted = false;
        planted
    }};
    ($bug:ident: $wrong:expr; $right:expr) => {{
        #[cfg(feature = "planted-bug")]
        let value = if $crate::planted::is($crate::planted::Bug::$bug) { $wrong } else { $right };
        #[cfg(not(feature = "planted-bug"))]
        let value = $right;
        value
    }};
    ([$($bug:ident),+]: $wrong:expr; $right:expr) => {{
        #[cfg(feature = "planted-bug")]
        let value = if [$($crate::planted::Bug::$bug),+].into_iter().any($crate::planted::is) { $wrong } else { $right };
        #[cfg(not(feature = "planted-bug"))]
        let value = $right;
        value
    }};
}
pub(crate) use planted;

#[cfg(feature = "planted-bug")]
pub use bugs::{
    ALL, ALTER_PRICES, BrokenPart, Bug, LOSE_WATCH_ITEM, is, lots, permission, plant, stop_loss_as_limit, wrong_way,
};

#[cfg(feature = "planted-bug")]
mod bugs;
#[cfg(feature = "planted-bug")]
pub(crate) mod early;
