//! Reports of run files, and of the other documents: terminal, one HTML page and Markdown; and tables for programs.
//!
//! Pure functions of the run file: no clock, no file, no network, so that a run can be drawn again years later and
//! looks the same. The meaning of figures is in `bourse-verdict`, the contents of tables in `tables`; each report fills a [`Sheet`],
//! which one drawer turns into the text of a terminal, one into a page and one into Markdown.
//!
//! ```text
//!   3,107 transactions/s ± 2.4 %   durable   312.4 TR/s
//!   sqlite:tpce.db?journal=wal&sync=full · sqlite 3.54.1
//!   steady state: undetermined: throughput: trend of +3.1 % of the mean (95 % interval -8.4 % to +14.6 %)
//!   bottleneck: one CPU core; 1.05 of 2 cores busy; only more concurrent users or writers can use more
//!   what a customer waits at 70 % of the customers' rate (1,974/s without the market's, one stream of arrivals): p50 310 µs, p99 4.20 ms
//!
//! By transaction, over 30 s of measuring; response times
//! transaction        count      mix      p50      p90      p99  limit  within
//! Broker-Volume      1,470   4.90 %   472 µs   882 µs  1.05 ms    3 s  yes
//! ```
//!
//! A failed check, or a round that did not do the requested work, voids a figure in every output: it is printed as void,
//! never as a number.

mod charts;
mod comparison;
mod data;
mod documents;
mod history;
mod html;
mod live;
mod suite;
mod tables;
mod text;

pub(crate) use bourse_verdict::{units, view};
pub use charts::svg;
pub use comparison::DrawComparison;
pub use data::{
    CsvText, DataColumn, DataKind, DataTable, DataValue, bencher, csv_file, data_csv, data_ndjson, data_tables,
    github_action_benchmark, history_tables, suite_tables,
};
pub use documents::{Sheet, SheetEntry, acid, anomalies, crash, faults, html, markdown, sampled_state_words, terminal};
pub use history::{StoredFigure, StoredRun, runs};
pub use live::{LIVE_HEADS, LIVE_SCRIPT, LIVE_STYLE, LivePoint, LiveRun, LiveText, live_fragment, live_page};
pub use suite::{suite, suite_html};
pub use tables::TableCell;
pub use text::{comparison_screen, fill, screen, wrapped};
