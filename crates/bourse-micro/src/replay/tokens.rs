//! A statement as tokens, with those in parentheses as a group.

use super::shape::quoted_name;
use crate::sql::{Pieces, TextPiece};
use std::collections::BTreeSet;

/// Deepest group; what is deeper has no structure.
const DEEPEST: usize = 100;

/// A token of a statement whose parameters are numbered.
#[derive(Debug, PartialEq)]
pub(super) enum Token<'t> {
    /// Word in lower case.
    Word(String),
    /// Name in double or back quotes, in lower case.
    Name(String),
    Text(&'t str),
    /// Number, if it is a whole one.
    Number(Option<u64>),
    /// Number of a parameter, from 1.
    Parameter(usize),
    Mark(char),
    Group(Vec<Self>),
}

impl<'t> Token<'t> {
    pub(super) fn all(sql: &'t str) -> Vec<Self> {
        Self::until_closed(&mut Pieces::of(sql), 0)
    }

    fn until_closed(pieces: &mut Pieces<'t>, depth: usize) -> Vec<Self> {
        let mut found = Vec::new();
        while let Some(piece) = pieces.next() {
            found.push(match piece {
                TextPiece::Other("(") if depth < DEEPEST => Self::Group(Self::until_closed(pieces, depth + 1)),
                TextPiece::Other(")") => break,
                TextPiece::Other("?") => {
                    Self::Parameter(pieces.next().and_then(|it| it.text().parse().ok()).unwrap_or(0))
                }
                TextPiece::Word(word) if word.starts_with(|first: char| first.is_ascii_digit()) => {
                    Self::Number(word.parse().ok())
                }
                TextPiece::Word(word) => Self::Word(word.to_ascii_lowercase()),
                TextPiece::Quoted(text) => quoted_name(text).map_or(Self::Text(text), Self::Name),
                TextPiece::Other(mark) => match mark.chars().next() {
                    Some(mark) if !mark.is_whitespace() && !"[];".contains(mark) => Self::Mark(mark),
                    _ => continue,
                },
                _ => continue,
            });
        }
        found
    }

    pub(super) fn is(&self, expected: &str) -> bool {
        matches!(self, Self::Word(word) if word == expected)
    }

    /// Name of a table or column.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Word(name) | Self::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Text of a word, a number or a mark, without quotes; empty of a group.
    pub(super) fn written(&self) -> String {
        match self {
            Self::Word(word) | Self::Name(word) => word.clone(),
            Self::Text(text) => text.trim_matches('\'').to_owned(),
            Self::Number(Some(number)) => number.to_string(),
            Self::Mark(mark) => mark.to_string(),
            Self::Number(None) | Self::Parameter(_) | Self::Group(_) => String::new(),
        }
    }

    /// Whether it has a value of its own, whatever the row.
    pub(super) fn is_value(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Number(_) | Self::Parameter(_))
    }

    fn add_names(tokens: &[Self], names: &mut BTreeSet<String>) {
        for token in tokens {
            names.extend(token.name().map(str::to_owned));
            if let Self::Group(inner) = token {
                Self::add_names(inner, names);
            }
        }
    }

    /// Whether a clock, random numbers, or SQLite's version are among tokens.
    fn have_clock(tokens: &[Self]) -> bool {
        const WORDS: [&str; 8] = [
            "random", "randomblob", "current_time", "current_date", "current_timestamp", "total_changes",
            "sqlite_version", "sqlite_source_id",
        ];
        tokens.iter().enumerate().any(|(at, token)| match token {
            Self::Word(word) => {
                let values =
                    tokens.get(at + 1).and_then(|it| if let Self::Group(inner) = it { Some(inner) } else { None });
                WORDS.contains(&&**word) || values.is_some_and(|values| is_now(word, values))
            }
            Self::Text(text) => text.eq_ignore_ascii_case("'now'"),
            Self::Group(inner) => Self::have_clock(inner),
            _ => false,
        })
    }
}

/// Whether a function of SQLite with these values has no time among them, or `subsec` in its place, so that it is the present one.
fn is_now(function: &str, values: &[Token<'_>]) -> bool {
    let place = match function {
        "date" | "time" | "datetime" | "julianday" | "unixepoch" => 0,
        "strftime" => 1,
        _ => return false,
    };
    match parts(values).nth(place) {
        None | Some([]) => true,
        Some([Token::Text(text)]) => ["'subsec'", "'subsecond'"].iter().any(|it| text.eq_ignore_ascii_case(it)),
        Some(_) => false,
    }
}

/// Whether a statement adds numbers up.
pub(super) fn has_sum(sql: &str) -> bool {
    fn among(tokens: &[Token<'_>]) -> bool {
        tokens.iter().enumerate().any(|(at, it)| match it {
            Token::Word(word) if matches!(&**word, "sum" | "total" | "avg") => {
                matches!(tokens.get(at + 1), Some(Token::Group(_)))
            }
            Token::Group(inner) => among(inner),
            _ => false,
        })
    }
    among(&Token::all(sql))
}

/// Whether a statement calls a clock, random numbers, or asks for SQLite's version.
pub(super) fn has_clock(sql: &str) -> bool {
    Token::have_clock(&Token::all(sql))
}

/// Parts between commas.
pub(super) fn parts<'a, 't>(tokens: &'a [Token<'t>]) -> impl Iterator<Item = &'a [Token<'t>]> {
    tokens.split(|it| *it == Token::Mark(','))
}

/// Place of `SET`, and of what follows its assignments.
fn assignments(tokens: &[Token<'_>]) -> Option<(usize, usize)> {
    let set = tokens.iter().position(|it| it.is("set")).filter(|_| tokens[0].is("update"))?;
    let is_end = |it: &Token<'_>| ["where", "from", "returning"].iter().any(|word| it.is(word));
    let end = tokens[set..].iter().position(is_end).map_or(tokens.len(), |length| set + length);
    Some((set, end))
}

/// Words and names of a statement, but for columns that it only fills: those that `INSERT` lists, and those left of `=` behind
/// `SET`.
pub(super) fn read_names(sql: &str) -> BTreeSet<String> {
    let tokens = Token::all(sql);
    let is_group = |it: &Token<'_>| matches!(it, Token::Group(_));
    let is_of_rows = |it: &Token<'_>| is_group(it) || it.is("values") || it.is("select");
    let list = tokens.iter().position(is_of_rows).filter(|at| tokens[0].is("insert") && is_group(&tokens[*at]));
    let mut read = BTreeSet::new();
    match (list, assignments(&tokens)) {
        (Some(list), _) => {
            [&tokens[..list], &tokens[list + 1..]].iter().for_each(|part| Token::add_names(part, &mut read))
        }
        (None, Some((set, end))) => {
            Token::add_names(&tokens[..set], &mut read);
            for part in parts(&tokens[set + 1..end]) {
                let value = part.iter().position(|it| *it == Token::Mark('=')).unwrap_or(0);
                Token::add_names(&part[value..], &mut read);
            }
            Token::add_names(&tokens[end..], &mut read);
        }
        (None, None) => Token::add_names(&tokens, &mut read),
    }
    read
}

/// Tokens of conditions and of what else decides the number of a statement's rows, anywhere in it but in lists of results.
fn add_conditions<'a, 't>(tokens: &'a [Token<'t>], found: &mut Vec<&'a Token<'t>>) {
    const BEGIN: [&str; 10] =
        ["where", "on", "having", "using", "group", "distinct", "union", "intersect", "except", "limit"];
    // The latter four are of triggers.
    const END: [&str; 8] = ["order", "set", "returning", "values", "begin", "insert", "update", "delete"];
    let has = |words: &[&str]| tokens.iter().any(|it| words.iter().any(|word| it.is(word)));
    let (is_conditioned, is_of_values) =
        (has(&BEGIN) || has(&["natural"]), has(&["union", "intersect", "except", "distinct"]));
    // What a list of results reads changes no number of rows.
    let (mut is_condition, mut is_list) = (false, false);
    for (at, token) in tokens.iter().enumerate() {
        if let Token::Word(word) = token {
            // `ON CONFLICT` is no condition.
            let begins = BEGIN.contains(&&**word) && !tokens.get(at + 1).is_some_and(|it| it.is("conflict"));
            is_condition = (is_condition || begins) && !END.contains(&&**word);
            is_list = (is_list || word == "select") && word != "from";
        }
        match token {
            _ if is_condition || is_of_values => found.push(token),
            Token::Group(inner) if is_conditioned && !is_list && inner.iter().any(|it| it.is("select")) => {
                found.extend(inner);
            }
            Token::Group(inner) if !is_list => add_conditions(inner, found),
            _ => {}
        }
    }
}

/// Words and names in conditions and in what else decides the number of a statement's rows: those of columns that a query in `FROM`
/// or `WITH` gives other names are among them.
pub(super) fn condition_names(sql: &str) -> BTreeSet<String> {
    let (tokens, mut found, mut names) = (Token::all(sql), Vec::new(), BTreeSet::new());
    add_conditions(&tokens, &mut found);
    found.into_iter().for_each(|it| Token::add_names(std::slice::from_ref(it), &mut names));
    names
}

/// Whether the number of a statement's rows depends on more than equality and order of columns and values, which masks keep: on a
/// function, arithmetic, a pattern, a collation, or a bound `LIMIT`.
pub(super) fn is_beyond_masks(sql: &str) -> bool {
    /// Words before parentheses that are no functions, and functions that return a value or the number of rows.
    const EXACT: [&str; 26] = [
        "in", "exists", "and", "or", "not", "where", "on", "having", "by", "using", "as", "when", "then", "else",
        "select", "from", "join", "limit", "is", "between", "distinct", "count", "min", "max", "coalesce", "ifnull",
    ];
    fn among(tokens: &[&Token<'_>]) -> bool {
        let limit = tokens.iter().position(|it| it.is("limit")).unwrap_or(tokens.len());
        let before = |at: usize| at.checked_sub(1).map(|at| tokens[at]);
        tokens.iter().enumerate().any(|(at, token)| match token {
            Token::Word(word) => ["like", "glob", "regexp", "match", "collate"].contains(&&**word),
            // All columns, or all rows.
            Token::Mark('*') => before(at).is_some_and(|it| !it.is("select") && !matches!(it, Token::Mark(',' | '.'))),
            Token::Mark(mark @ ('<' | '>')) => before(at) == Some(&Token::Mark(*mark)),
            Token::Mark(mark) => "+-/%|&~".contains(*mark),
            Token::Parameter(_) => at > limit,
            Token::Group(inner) => {
                before(at).is_some_and(|it| matches!(it, Token::Word(word) if !EXACT.contains(&&**word)))
                    || among(&inner.iter().collect::<Vec<_>>())
            }
            _ => false,
        })
    }
    let (tokens, mut found) = (Token::all(sql), Vec::new());
    add_conditions(&tokens, &mut found);
    among(&found)
}

/// Columns of a table, if a statement makes one, that are compared by a collation of their own.
pub(super) fn collated_columns(sql: &str) -> Vec<String> {
    let tokens = Token::all(sql);
    let columns = tokens.iter().find_map(|it| if let Token::Group(inner) = it { Some(inner) } else { None });
    let is_table = tokens.first().is_some_and(|it| it.is("create")) && tokens.iter().any(|it| it.is("table"));
    let of =
        |part: &[Token<'_>]| part.first()?.name().filter(|_| part.iter().any(|it| it.is("collate"))).map(str::to_owned);
    columns.filter(|_| is_table).into_iter().flat_map(|columns| parts(columns).filter_map(of)).collect()
}

/// Columns that a statement fills from a clock or random numbers: by a default that it declares, by `SET`, or by `VALUES`; `None`
/// if it has them elsewhere.
pub(super) fn clock_columns(sql: &str) -> Option<Vec<String>> {
    let tokens = Token::all(sql);
    let groups: Vec<&Vec<Token<'_>>> =
        tokens.iter().filter_map(|it| if let Token::Group(inner) = it { Some(inner) } else { None }).collect();
    let at = |word: &str| tokens.iter().position(|it| it.is(word));
    let of = |part: &[Token<'_>]| part.first()?.name().map(str::to_owned);
    let has_clock = |part: &&[Token<'_>]| Token::have_clock(part);
    let (columns, others): (Option<Vec<String>>, _) = match (tokens.first()?, groups.as_slice(), assignments(&tokens)) {
        (first, [columns], _) if first.is("create") && at("table").is_some() && at("as").is_none() => {
            (parts(columns).filter(has_clock).map(of).collect(), &tokens[..0])
        }
        (first, [columns, rows @ ..], _)
            if first.is("insert") && at("values").is_some() && at("set").is_none() && !rows.is_empty() =>
        {
            let names: Vec<_> = parts(columns).collect();
            let of_row = |row: &&Vec<Token<'_>>| {
                parts(row)
                    .zip(&names)
                    .filter(|(part, _)| Token::have_clock(part))
                    .map(|(_, name)| of(name))
                    .collect::<Vec<_>>()
            };
            (rows.iter().flat_map(of_row).collect(), &tokens[..0])
        }
        (_, _, Some((set, end))) => (parts(&tokens[set + 1..end]).filter(has_clock).map(of).collect(), &tokens[end..]),
        _ => (Some(Vec::new()), &tokens[..]),
    };
    columns.filter(|_| !Token::have_clock(others))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_time_without_a_time_is_a_clock() {
        for (value, expected) in [
            ("datetime()", true),
            ("date( )", true),
            ("time()", true),
            ("JulianDay()", true),
            ("unixepoch()", true),
            ("unixepoch('subsec')", true),
            ("strftime('%s')", true),
            ("strftime('%s', 'Now')", true),
            ("datetime('now', '-1 day')", true),
            ("max(time(), 1)", true),
            ("CURRENT_TIMESTAMP", true),
            ("datetime(at)", false),
            ("julianday(at, 'subsec')", false),
            ("unixepoch(?1)", false),
            ("strftime('%s', at)", false),
            ("date", false),
            ("'random()' || now", false),
        ] {
            assert_eq!(has_clock(&format!("SELECT {value} FROM t")), expected, "{value}");
        }
    }

    #[test]
    fn names_that_decide_the_number_of_rows_are_those_of_conditions() {
        let has = |sql: &str| condition_names(sql).contains("at");
        for sql in [
            "SELECT a FROM t WHERE at > ?1",
            "SELECT a FROM t JOIN u ON t.at = u.b",
            "SELECT a FROM t JOIN u USING (at)",
            "SELECT a, count(*) FROM t GROUP BY \"at\" HAVING a > 1 ORDER BY a",
            "SELECT a FROM t WHERE a IN (SELECT b FROM u WHERE at < 3)",
            "WITH x AS (SELECT at AS c FROM t) SELECT a FROM x WHERE c > 3",
            "WITH x AS (SELECT a FROM t WHERE at > 3) SELECT a FROM x",
            "SELECT a FROM (SELECT a FROM t WHERE at > 3)",
            "SELECT DISTINCT at FROM t",
            "SELECT a FROM t UNION SELECT at FROM t",
            "DELETE FROM t WHERE at < ?1",
            "UPDATE t SET a = 1 WHERE at = ?1 RETURNING a",
            "INSERT INTO u SELECT a FROM t WHERE at = 1",
        ] {
            assert!(has(sql), "{sql}");
        }
        for sql in [
            "SELECT a, at FROM t WHERE a > ?1 ORDER BY at LIMIT 3",
            "SELECT (SELECT count(*) FROM t WHERE at > 3) FROM u WHERE a = 1",
            "INSERT INTO t(a, at) VALUES (1, 2)",
            "UPDATE t SET at = 1 WHERE a = 1 RETURNING at",
            "INSERT INTO t(at) VALUES (1) ON CONFLICT (at) DO UPDATE SET a = excluded.at",
            "SELECT at FROM t",
        ] {
            assert!(!has(sql), "{sql}");
        }
    }

    #[test]
    fn masks_keep_what_plain_comparisons_find() {
        for sql in [
            "SELECT lower(a), b + 1 FROM t WHERE a = ?1 AND b > ?2 ORDER BY upper(a) LIMIT 20",
            "SELECT * FROM t JOIN (SELECT * FROM u) ON (t.a = u.b) WHERE a IN (?1, ?2) AND b <> ?3 AND c BETWEEN ?4 AND ?5",
            "SELECT a, count(*) FROM t WHERE EXISTS (SELECT * FROM u) GROUP BY a HAVING count(*) > 3 AND max(b) < ?1",
            "UPDATE t SET a = a + 1, b = lower(?1) WHERE c = ?2",
            "INSERT INTO t(a) VALUES (lower(?1)) ON CONFLICT (a) DO UPDATE SET a = a + 1",
            "CREATE TRIGGER x AFTER UPDATE ON t BEGIN INSERT INTO u(a) VALUES (new.a + 1); UPDATE t SET a = 1 WHERE b = new.b; \
             INSERT INTO u(a) SELECT 1; END",
        ] {
            assert!(!is_beyond_masks(sql), "{sql}");
        }
        for sql in [
            "SELECT a FROM t WHERE a LIKE ?1",
            "SELECT a FROM t WHERE lower(a) = ?1",
            "SELECT a FROM t WHERE b - ?1 > 0",
            "SELECT a FROM t WHERE b = ?1 COLLATE NOCASE",
            "SELECT a FROM t WHERE b >> 2 = 1",
            "SELECT a FROM t WHERE c AND (b * 2) = ?1",
            "SELECT a FROM t LIMIT ?1",
            "SELECT a FROM t ORDER BY a LIMIT 10 OFFSET ?1",
            "SELECT a FROM t GROUP BY substr(a, 1, 2)",
            "DELETE FROM t WHERE a IN (SELECT b FROM u WHERE b GLOB ?1)",
            "CREATE TRIGGER x AFTER UPDATE ON t WHEN length(new.a) > 3 BEGIN DELETE FROM u; END",
        ] {
            assert!(is_beyond_masks(sql), "{sql}");
        }
        let columns = |sql| collated_columns(sql).join(" ");
        assert_eq!(columns("CREATE TABLE t(a TEXT, \"B\" COLLATE NOCASE, c UNIQUE COLLATE RTRIM)"), "b c");
        assert_eq!(columns("CREATE INDEX i ON t(a COLLATE NOCASE)"), "");
    }

    #[test]
    fn columns_that_a_clock_fills_are_those_of_defaults_values_and_set() {
        let columns = |sql| clock_columns(sql).map(|found| found.join(" "));
        for (sql, expected) in [
            ("CREATE TABLE t(a, \"At\" TEXT DEFAULT CURRENT_TIMESTAMP, b DEFAULT (abs(random())))", Some("at b")),
            ("CREATE TABLE t(a DEFAULT 'random')", Some("")),
            ("CREATE TABLE t AS SELECT abs(random())", None),
            ("CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO u(at) VALUES (datetime('now')); END", None),
            ("INSERT INTO t(a, at) VALUES (?1, datetime('now')), (2, 3)", Some("at")),
            ("INSERT INTO t VALUES (?1, datetime('now'))", None),
            ("INSERT INTO t(a) SELECT random()", None),
            ("INSERT INTO t(a) VALUES (1) ON CONFLICT (a) DO UPDATE SET b = random()", None),
            ("UPDATE t SET at = CURRENT_TIMESTAMP, b = ?1 WHERE id = ?2", Some("at")),
            ("UPDATE t SET b = 1 WHERE at < datetime('now')", None),
            ("SELECT a FROM t", Some("")),
            (
                "CREATE TABLE t(a DEFAULT (datetime()), b DEFAULT (unixepoch(0)), c DEFAULT (strftime('%s')))",
                Some("a c"),
            ),
        ] {
            assert_eq!(columns(sql).as_deref(), expected, "{sql}");
        }
        let reads_at = |sql| read_names(sql).contains("at");
        assert!(!reads_at("INSERT INTO t(a, at) VALUES (1, 2)") && reads_at("INSERT INTO t SELECT (at) FROM u"));
        assert!(!reads_at("UPDATE t SET a = b, at = (SELECT 1)") && reads_at("UPDATE t SET a = t.at"));
        assert!(reads_at("UPDATE t SET a = 1 WHERE \"At\" = 1") && reads_at("SELECT max(new.at) FROM t"));
        // No depth may exhaust the stack.
        assert_eq!(columns(&"(".repeat(1_000_000)).as_deref(), Some(""));
    }
}
