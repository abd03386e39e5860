//! Documents that are no runs: ACID tests, crashes, faults; each for the terminal, as a page, as Markdown and as CSV.
//!
//! | module | contents |
//! |---|---|
//! | `acid` | `acid.json` |
//! | `crash`, `crash_tables` | `crash.json`, and the cells of its tables |
//! | `faults` | `faults.json` |
//! | `lines` | paragraphs and plain tables of a terminal |
//! | `sheet` | the list of engines, the table of planted bugs: paragraphs and tables that are no measurement |
//! | `sections` | heads, tables and paragraphs of Markdown |

mod acid;
mod crash;
mod crash_tables;
mod faults;
mod lines;
mod sections;
mod sheet;

pub use acid::{acid_csv, acid_html, acid_markdown, acid_terminal};
pub use crash::{crash_csv, crash_html, crash_markdown, crash_terminal};
pub use crash_tables::sampled_state_words;
pub use faults::{faults_csv, faults_html, faults_markdown, faults_terminal};
pub use sheet::{Cell, Entry, Part, Sheet, sheet_csv, sheet_html, sheet_markdown, sheet_terminal};

use crate::text::{CsvField, CsvText, csv_line};

/// Rows under their heads as CSV.
fn csv_table<'a>(heads: &[&str], rows: impl Iterator<Item = Vec<std::borrow::Cow<'a, str>>>, texts: CsvText) -> String {
    let mut out = csv_line(heads.iter().map(|head| CsvField::Plain(head)), texts);
    for row in rows {
        out.push_str(&csv_line(row.iter().map(|cell| CsvField::Text(cell)), texts));
    }
    out
}
