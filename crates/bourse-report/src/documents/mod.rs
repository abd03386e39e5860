//! Documents as data, each drawn in every form by one drawer.
//!
//! | module | contents |
//! |---|---|
//! | `sheet` | the model: paragraphs, tables, lists, charts, folded parts |
//! | `acid` | `acid.json` |
//! | `crash`, `crash_tables` | `crash.json`, and its tables |
//! | `faults` | `faults.json` |
//! | `run`, `overview`, `of_case`, `isolation`, `tuning`, `bisection` | `run.json` |

mod acid;
mod bisection;
mod crash;
mod crash_tables;
mod faults;
mod isolation;
mod of_case;
mod overview;
mod run;
mod sheet;
mod tuning;

pub use acid::acid;
pub(crate) use bisection::bisection;
pub use crash::crash;
pub use crash_tables::sampled_state_words;
pub use faults::faults;
pub use isolation::anomalies;
pub(crate) use isolation::isolation;
pub(crate) use of_case::{figure, hints, on};
pub(crate) use overview::{Overview, class_words, estimate};
pub(crate) use run::plans_in_brief;
pub use run::{html, markdown, terminal};
pub(crate) use sheet::{
    LeftOut, LinePlace, RepeatCommand, SheetAnswer, SheetFold, SheetLine, SheetPart, ShownForms, entries,
};
pub use sheet::{Sheet, SheetEntry};
pub(crate) use tuning::tuning;
