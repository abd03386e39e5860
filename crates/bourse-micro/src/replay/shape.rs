//! Facts of a statement that its words show.

use crate::sql::{Pieces, TextPiece};
use bourse_engine::{one_line, shortened};
use std::collections::BTreeSet;

/// Facts of a statement's text.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    /// First word in lower case.
    pub(crate) first_word: String,
    /// Whether the word `TO` is in it.
    pub(super) has_to: bool,
    /// Whether `RETURNING` is in it.
    pub(super) returns: bool,
    /// Whether it changes rows, judged by all its words: `WITH … INSERT`, `UPDATE … RETURNING`.
    pub(crate) names_change: bool,
    /// Whether `ORDER BY` is outside parentheses.
    pub(super) is_ordered: bool,
    /// Whether `*` may stand for columns.
    pub(super) has_star: bool,
    /// Whether it asks for settings, plans or the catalog, which differ where data are stored in another way.
    pub(super) asks_storage: bool,
    /// Whether it declares what changes further rows: a trigger, a virtual table, or the action of a foreign key.
    pub(super) has_side_changes: bool,
    /// Whether it makes a view.
    pub(super) makes_view: bool,
    /// Whether it makes a temporary object, or names its table as one.
    pub(super) is_temporary: bool,
    /// Whether `IF [NOT] EXISTS` is before the name of an object.
    pub(super) is_conditional: bool,
    /// Words and quoted names in lower case: each table that it names is among them, and one of an attached database as
    /// `database.table`; behind a table's name, columns are so too.
    pub(super) names: BTreeSet<String>,
    /// Name of the table that it changes, or of the table or view that it makes or removes; `None` of other statements.
    pub(super) target: Option<String>,
    /// Names of tables that foreign keys refer to.
    pub(super) parents: BTreeSet<String>,
    /// Table or view whose changes fire the trigger that it makes.
    pub(super) fired_by: Option<String>,
    /// Tables that the trigger which it makes changes.
    pub(super) changed_by_trigger: BTreeSet<String>,
}

impl Shape {
    pub(crate) fn of(sql: &str) -> Self {
        let mut this = Self::default();
        let (mut depth, mut before) = (0_u32, String::new());
        let mut words = Vec::new();
        let mut is_opened = false;
        for piece in Pieces::of(sql) {
            let was_opened = std::mem::replace(&mut is_opened, piece.text() == "(");
            let word = match piece {
                // Not that of `count(*)`.
                TextPiece::Other("*") => {
                    this.has_star |= !was_opened;
                    continue;
                }
                TextPiece::Other(".") => {
                    words.push(".".to_owned());
                    continue;
                }
                TextPiece::Other("(") => {
                    depth += 1;
                    continue;
                }
                TextPiece::Other(")") => {
                    depth = depth.saturating_sub(1);
                    continue;
                }
                TextPiece::Quoted(text) => {
                    words.extend(quoted_name(text));
                    continue;
                }
                TextPiece::Word(word) => word.to_ascii_lowercase(),
                _ => continue,
            };
            this.names_change |= match (&*before, &*word) {
                (_, "insert" | "delete" | "merge") | ("replace", "into") => true,
                // `FOR UPDATE` and `FOR NO KEY UPDATE` lock rows.
                (before, "update") => !["for", "key"].contains(&before),
                _ => false,
            };
            match (&*before, &*word) {
                ("order", "by") => this.is_ordered |= depth == 0,
                ("on", "delete" | "update") | (_, "trigger") | ("create", "virtual") => this.has_side_changes = true,
                ("create" | "temp" | "temporary", "view") => this.makes_view = true,
                ("create", "temp" | "temporary") => this.is_temporary = true,
                ("table" | "index" | "view" | "trigger", "if") => this.is_conditional = true,
                (_, "to") => this.has_to = true,
                (_, "returning") => this.returns = true,
                ("", "pragma" | "explain") => this.asks_storage = true,
                _ => {}
            }
            if this.first_word.is_empty() {
                this.first_word.clone_from(&word);
            }
            words.push(word.clone());
            before = word;
        }
        this.name_tables(words);
        // Tables that list all tables, with Bourse's among them, or pages.
        let is_catalog = |name: &String| {
            (name.starts_with("sqlite_") && name != "sqlite_sequence")
                || name.starts_with("pragma_")
                || name == "dbstat"
        };
        this.asks_storage |= this.names.iter().any(is_catalog);
        this
    }

    /// Whether it returns rows on any engine.
    pub(crate) fn gives_rows(&self) -> bool {
        const FIRST: [&str; 7] = ["select", "with", "values", "show", "explain", "pragma", "table"];
        self.returns || FIRST.contains(&&*self.first_word)
    }

    /// Finds the tables among the words, which have a point before the second part of a name.
    fn name_tables(&mut self, words: Vec<String>) {
        let makes_trigger = self.first_word == "create" && words.iter().any(|word| word == "trigger");
        // `OR REPLACE` and `IF NOT EXISTS` are before the name.
        let names = words.iter().enumerate().filter(|(_, word)| !matches!(&***word, "if" | "not" | "exists"));
        let mut before = ["", ""];
        for (at, word) in names {
            let is_name = match before {
                [_, "into" | "table" | "view" | "references"] | ["delete", "from"] | ["rename", "to"] => true,
                [_, "update"] => !matches!(&**word, "or" | "set" | "of" | "on"),
                [_, "on"] => makes_trigger && self.fired_by.is_none(),
                ["update", "or"] => {
                    before = ["", "update"];
                    continue;
                }
                _ => false,
            };
            if is_name {
                let has_schema = words.get(at + 1).is_some_and(|next| next == ".");
                let name = qualified(&words, if has_schema { at + 2 } else { at });
                match before[1] {
                    "references" => self.parents.extend(name),
                    "on" => self.fired_by = name,
                    // A renamed table has the new name.
                    "to" => self.target = name,
                    _ if makes_trigger => self.changed_by_trigger.extend(name),
                    _ if self.target.is_none() => {
                        self.is_temporary |= has_schema && word == "temp";
                        self.target = name;
                    }
                    _ => {}
                }
            }
            before = [before[1], word];
        }
        self.names = (0..words.len()).filter_map(|at| qualified(&words, at)).collect();
    }
}

/// Name that ends at a place, with that before its point, unless this is the program's own database.
fn qualified(words: &[String], at: usize) -> Option<String> {
    let word = words.get(at)?;
    match at.checked_sub(2).map(|before| (&words[before], &*words[before + 1])) {
        Some((of, ".")) if of != "main" && of != "temp" => Some(format!("{of}.{word}")),
        _ => Some(word.clone()),
    }
}

/// Name in double or back quotes, in lower case; `None` of a text.
pub(super) fn quoted_name(text: &str) -> Option<String> {
    let name = ['"', '`'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    name.map(str::to_lowercase)
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
    fn tables_are_found_where_statements_name_them() {
        for (sql, target) in [
            ("INSERT OR REPLACE INTO \"My Table\"(a) SELECT b FROM other", Some("my table")),
            ("REPLACE INTO main.T VALUES (1)", Some("t")),
            ("INSERT INTO z.t VALUES (1)", Some("z.t")),
            ("ALTER TABLE t RENAME TO u", Some("u")),
            ("ALTER TABLE t RENAME COLUMN a TO b", Some("t")),
            ("WITH x AS (SELECT 1) UPDATE OR IGNORE [t] SET a = 1", Some("t")),
            ("INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET a = 2", Some("t")),
            ("DELETE FROM t WHERE a IN (SELECT b FROM u)", Some("t")),
            ("CREATE TABLE IF NOT EXISTS t(a)", Some("t")),
            ("CREATE VIEW v AS SELECT a FROM t", Some("v")),
            ("CREATE TRIGGER x AFTER UPDATE ON t BEGIN DELETE FROM u; END", None),
            ("SELECT a FROM t", None),
        ] {
            assert_eq!(Shape::of(sql).target.as_deref(), target, "{sql}");
        }
        let trigger = "CREATE TRIGGER x AFTER UPDATE OF a ON main.t BEGIN DELETE FROM u; INSERT INTO v SELECT a FROM w; UPDATE y SET a = 1; END";
        let (trigger, changed) = (Shape::of(trigger), ["u", "v", "y"].map(str::to_owned));
        assert_eq!((trigger.fired_by.as_deref(), trigger.changed_by_trigger), (Some("t"), changed.into()));
        let child = Shape::of("CREATE TABLE a(b REFERENCES main.`C`(d) ON UPDATE CASCADE)");
        assert_eq!((child.target.as_deref(), child.parents.contains("c")), (Some("a"), true), "{child:?}");
        assert!(Shape::of("SELECT x FROM \"t\" JOIN u").names.is_superset(&["t", "u"].map(str::to_owned).into()));
        assert!(!Shape::of("SELECT 't'").names.contains("t"));
        let names = |sql, name| Shape::of(sql).names.contains(name);
        assert!(names("SELECT a FROM main.t", "t") && names("SELECT a FROM z.t", "z.t"));
        assert!(!names("SELECT z.t.a FROM z.t", "t") && names("SELECT main.t.a FROM main.t", "t.a"));
        let has_star = |sql| Shape::of(sql).has_star;
        assert!(has_star("SELECT t.* FROM t") && !has_star("SELECT count(*) FROM t"));
    }

    #[test]
    fn words_count_outside_texts_and_order_outside_parentheses() {
        let ordered = |sql| Shape::of(sql).is_ordered;
        assert!(ordered("SELECT a FROM t ORDER  BY a") && ordered("(SELECT 1) order by 1"));
        assert!(!ordered("SELECT * FROM (SELECT a FROM t ORDER BY a)") && !ordered("SELECT 'ORDER BY a' -- ORDER BY"));
        assert!(Shape::of("CREATE TABLE t(a REFERENCES b ON DELETE CASCADE)").has_side_changes);
        assert!(Shape::of("ROLLBACK TO a").has_to && Shape::of("/* x */ Rollback").first_word == "rollback");
        assert!(Shape::of("PRAGMA page_size").asks_storage && !Shape::of("SELECT pragma FROM t").asks_storage);
        assert!(Shape::of("CREATE VIRTUAL TABLE f USING fts5(x)").has_side_changes);
        // So Python's iterdump.
        assert!(Shape::of("SELECT \"sql\" FROM \"sqlite_master\"").asks_storage);
        assert!(Shape::of("SELECT * FROM pragma_table_info('t')").asks_storage);
        assert_eq!(short(&"a \n".repeat(70)).chars().count(), 61);
    }
}
