//! Names of the files that a command writes into its result folder.

use crate::live;
use bourse_record::DocumentKind;

/// Files of a run.
pub(crate) const OF_RUN: [&str; 2] = [DocumentKind::Run.file_name(), DocumentKind::Run.page_name()];
/// Page of a comparison, next to the files of its run.
pub(crate) const COMPARISON: &str = "comparison.html";
/// Files of a suite: its document, its page, its tables, and the run behind it.
pub(crate) const OF_SUITE: [&str; 5] = [
    DocumentKind::Suite.file_name(),
    DocumentKind::Suite.page_name(),
    "tables.md",
    "tables.csv",
    DocumentKind::Run.file_name(),
];

/// Whether a command writes files of this name.
pub(crate) fn is_result(name: &str) -> bool {
    let documents = DocumentKind::ALL.into_iter().flat_map(|kind| [kind.file_name(), kind.page_name()]);
    documents.chain(OF_SUITE).chain([COMPARISON, live::FILE, super::LIST]).any(|known| known == name)
}
