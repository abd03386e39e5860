//! Facts of a statement that its words show.

use crate::sql::{Pieces, TextPiece};
use bourse_engine::{one_line, shortened};

/// Facts of a statement's text.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// First word in lower case.
    pub(super) first_word: String,
    /// Whether the word `TO` is in it.
    pub(super) has_to: bool,
    /// Whether `RETURNING` is in it.
    pub(super) returns: bool,
    /// Whether `ORDER BY` is outside parentheses.
    pub(super) is_ordered: bool,
    pub(super) has_limit: bool,
    /// Whether it asks for settings, plans or the catalog, which differ where data are stored in another way.
    pub(super) asks_storage: bool,
    /// Whether it calls a clock, random numbers, or asks for SQLite's version.
    pub(super) has_clock: bool,
    /// Whether it declares what changes further rows: a trigger, or the action of a foreign key.
    pub(super) has_side_changes: bool,
    /// Whether it makes a temporary object.
    pub(super) makes_temporary: bool,
}

impl Shape {
    pub(super) fn of(sql: &str) -> Self {
        const CLOCK: [&str; 10] = [
            "random", "randomblob", "current_time", "current_date", "current_timestamp", "unixepoch", "julianday",
            "total_changes", "sqlite_version", "sqlite_source_id",
        ];
        let mut this = Self::default();
        let (mut depth, mut before) = (0_u32, String::new());
        for piece in Pieces::of(sql) {
            let word = match piece {
                TextPiece::Other("(") => {
                    depth += 1;
                    continue;
                }
                TextPiece::Other(")") => {
                    depth = depth.saturating_sub(1);
                    continue;
                }
                TextPiece::Quoted(text) => {
                    this.has_clock |= text.eq_ignore_ascii_case("'now'");
                    continue;
                }
                TextPiece::Word(word) => word.to_ascii_lowercase(),
                _ => continue,
            };
            match (&*before, &*word) {
                ("order", "by") => this.is_ordered |= depth == 0,
                ("on", "delete" | "update") | (_, "trigger") => this.has_side_changes = true,
                ("create", "temp" | "temporary") => this.makes_temporary = true,
                (_, "to") => this.has_to = true,
                (_, "returning") => this.returns = true,
                (_, "limit") => this.has_limit = true,
                ("", "pragma" | "explain") | (_, "sqlite_master" | "sqlite_schema") => this.asks_storage = true,
                (_, word) => this.has_clock |= CLOCK.contains(&word),
            }
            if this.first_word.is_empty() {
                this.first_word.clone_from(&word);
            }
            before = word;
        }
        this
    }
}

/// A statement's text with its parameters as `?1`, `?2`, …, numbered as SQLite numbers them.
pub(super) fn numbered(sql: &str) -> String {
    let (mut names, mut most, mut text): (Vec<(String, usize)>, usize, String) = Default::default();
    let mut pieces = Pieces::of(sql).peekable();
    while let Some(piece) = pieces.next() {
        let mut name = piece.text().to_owned();
        match (piece, pieces.peek()) {
            (TextPiece::Other("?"), Some(TextPiece::Word(digits))) if digits.bytes().all(|it| it.is_ascii_digit()) => {
                name.push_str(digits);
                pieces.next();
            }
            (TextPiece::Other("@" | "$"), Some(TextPiece::Word(word))) => {
                name.push_str(word);
                pieces.next();
            }
            (TextPiece::Other("?") | TextPiece::Parameter(_), _) => {}
            _ => {
                text.push_str(&name);
                continue;
            }
        }
        let known = names.iter().find(|(known, _)| *known == name && name != "?").map(|(_, number)| *number);
        let number = known.or_else(|| name.strip_prefix('?')?.parse().ok()).unwrap_or(most + 1);
        most = most.max(number);
        names.push((name, number));
        text.push_str(&format!("?{number}"));
    }
    text
}

/// A statement's text on one line, of a long one the start.
pub(super) fn short(sql: &str) -> String {
    shortened(&one_line(sql), 60).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_the_numbers_that_sqlite_gives_them() {
        assert_eq!(
            numbered("INSERT INTO t VALUES (?, :a, '?', @b, :a, ?)"),
            "INSERT INTO t VALUES (?1, ?2, '?', ?3, ?2, ?4)"
        );
        assert_eq!(numbered("SELECT $a, ?5, ? -- ?"), "SELECT ?1, ?5, ?6 -- ?");
    }

    #[test]
    fn words_count_outside_texts_and_order_outside_parentheses() {
        let ordered = |sql| Shape::of(sql).is_ordered;
        assert!(ordered("SELECT a FROM t ORDER  BY a") && ordered("(SELECT 1) order by 1"));
        assert!(!ordered("SELECT * FROM (SELECT a FROM t ORDER BY a)") && !ordered("SELECT 'ORDER BY a' -- ORDER BY"));
        assert!(Shape::of("INSERT INTO t VALUES (datetime('now'))").has_clock);
        assert!(Shape::of("CREATE TABLE t(a DEFAULT CURRENT_TIMESTAMP)").has_clock);
        assert!(!Shape::of("SELECT 'random()', now FROM t").has_clock);
        assert!(Shape::of("CREATE TABLE t(a REFERENCES b ON DELETE CASCADE)").has_side_changes);
        assert!(
            Shape::of("CREATE TEMP TABLE a(b)").makes_temporary && !Shape::of("CREATE TABLE temp(b)").makes_temporary
        );
        assert!(Shape::of("ROLLBACK TO a").has_to && Shape::of("/* x */ Rollback").first_word == "rollback");
        assert!(Shape::of("PRAGMA page_size").asks_storage && !Shape::of("SELECT pragma FROM t").asks_storage);
        assert_eq!(short(&"a \n".repeat(70)).chars().count(), 61);
    }
}
