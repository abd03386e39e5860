//! Texts of others, such as statements, as messages show them.

use std::borrow::Cow;

/// A text on one line, with one blank between its words.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first `most` characters of a text, followed by an ellipsis if it has more.
///
/// ```
/// assert_eq!(bourse_engine::shortened("SELECT 1", 8), "SELECT 1");
/// assert_eq!(bourse_engine::shortened("SELECT ä, b", 8), "SELECT ä…");
/// ```
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}
