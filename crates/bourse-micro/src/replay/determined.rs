//! Rows and orders that the words of a query and the keys of its table determine, though `LIMIT` or the program took some rows.

use super::statement::RecordedStatement;
use super::steps::Step;
use super::tokens::{Token, parts};
use bourse_engine_sqlite::StoredValue;
use std::collections::{BTreeMap, BTreeSet};

/// Columns that are unique together, and whether none of them may be NULL.
type Key = (BTreeSet<String>, bool);

/// Facts of tables by their names: of all tables and unique indexes of the copy, and of the tables that the recording makes.
#[derive(Debug, Default)]
pub(super) struct Keys(BTreeMap<String, TableFacts>);

/// Keys of a table, and its columns of which values that tie in `ORDER BY` are the same: of a type that makes 1.0 and 1 one value, and
/// compared by bytes.
#[derive(Debug, Default)]
struct TableFacts {
    keys: BTreeSet<Key>,
    exact: BTreeSet<String>,
}

/// Facts of a query's words.
#[derive(Debug, Default)]
pub(super) struct Choice {
    /// `LIMIT` of the whole query: `Some(None)` if its number is not in the words or the values, or rows are skipped.
    limit: Option<Option<Limit>>,
    /// Whether the terms of `ORDER BY` cannot tie, or there is one row at most.
    pub(super) is_total: bool,
    /// Whether `LIMIT` in a part of it may choose rows.
    pub(super) is_within: bool,
}

#[derive(Debug)]
enum Limit {
    Number(u64),
    Parameter(usize),
}

impl Keys {
    pub(super) fn of<'s>(copy: impl Iterator<Item = &'s str>, statements: &[RecordedStatement]) -> Self {
        let mut this = Self::default();
        let is_dropped =
            statements.iter().any(|it| it.text.trim_start().to_ascii_lowercase().starts_with("drop index"));
        for sql in copy {
            let tokens = Token::all(sql);
            this.add_table(&tokens);
            if !is_dropped {
                this.add_index(&tokens);
            }
        }
        statements.iter().filter(|it| it.declares).for_each(|it| this.add_table(&Token::all(&it.text)));
        // A table with a new name has keys of another one.
        for statement in statements.iter().filter(|it| it.declares && it.names.contains("rename")) {
            this.0.extend(statement.target.clone().map(|renamed| (renamed, TableFacts::default())));
        }
        this
    }

    /// Adds the keys of a table; a second one of that name has only those that both have.
    fn add_table(&mut self, tokens: &[Token<'_>]) {
        let Some(at) = tokens.iter().position(|it| matches!(it, Token::Group(_))) else { return };
        let (head, Token::Group(columns)) = (&tokens[..at], &tokens[at]) else { return };
        let is_table = head.first().is_some_and(|it| it.is("create")) && head.iter().any(|it| it.is("table"));
        let Some(name) = head.last().and_then(Token::name).filter(|_| is_table && !head.iter().any(|it| it.is("as")))
        else {
            return;
        };
        let is_without_rowid = tokens[at..].iter().any(|it| it.is("without"));
        let (mut keys, mut required, mut exact) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        for mut part in parts(columns) {
            if let [first, _, rest @ ..] = part
                && first.is("constraint")
            {
                part = rest;
            }
            let has = |words: [&str; 2]| part.windows(2).any(|it| it[0].is(words[0]) && it[1].is(words[1]));
            let is_primary = has(["primary", "key"]);
            let Some(first) = part.first().and_then(Token::name) else { continue };
            match (first, part.iter().find_map(columns_of)) {
                ("primary" | "unique", Some(columns)) if !matches!(part[0], Token::Name(_)) => {
                    keys.extend(columns.map(|columns| (columns, is_primary && is_without_rowid)));
                }
                ("check" | "foreign", _) => {}
                _ => {
                    if is_primary || part.iter().any(|it| it.is("unique")) {
                        keys.push((BTreeSet::from([first.to_owned()]), is_primary && is_without_rowid));
                    }
                    if has(["not", "null"]) || has(["integer", "primary"]) {
                        required.insert(first.to_owned());
                    }
                    exact.extend(is_exact(part).then(|| first.to_owned()));
                }
            }
        }
        if !is_without_rowid && !parts(columns).any(|part| part.first().is_some_and(|it| it.is("rowid"))) {
            keys.push((BTreeSet::from(["rowid".to_owned()]), true));
        }
        let keys: BTreeSet<Key> =
            keys.into_iter().map(|(columns, is)| (columns.clone(), is || columns.is_subset(&required))).collect();
        let new = || TableFacts { keys: keys.clone(), exact: exact.clone() };
        let known = self.0.entry(name.to_owned()).or_insert_with(new);
        known.keys.retain(|key| keys.contains(key));
        known.exact.retain(|column| exact.contains(column));
    }

    /// Adds a unique index of columns.
    fn add_index(&mut self, tokens: &[Token<'_>]) {
        let [first, second, .., table, columns] = tokens else { return };
        if let (true, true, Some(table), Some(Some(columns))) =
            (first.is("create"), second.is("unique"), table.name(), columns_of(columns))
        {
            self.0.entry(table.to_owned()).or_default().keys.insert((columns, false));
        }
    }

    /// Facts of a query.
    pub(super) fn choice(&self, statement: &RecordedStatement) -> Choice {
        let tokens = Token::all(statement.sql.text());
        if !tokens.first().is_some_and(|it| ["select", "with", "values"].iter().any(|word| it.is(word))) {
            return Choice { is_within: has_limit(&tokens), ..Choice::default() };
        }
        let end = tokens.iter().rposition(|it| it.is("limit"));
        let limit = end.map(|at| match &tokens[at + 1..] {
            [Token::Number(Some(number))] => Some(Limit::Number(*number)),
            [Token::Parameter(number)] => Some(Limit::Parameter(*number)),
            _ => None,
        });
        let query = &tokens[..end.unwrap_or(tokens.len())];
        let is_within = chooses(query) || has_limit(query);
        Choice { limit, is_total: self.is_total(query).unwrap_or(false), is_within }
    }

    /// Whether the rows of a query have one order alone; `None` if its words do not show it.
    fn is_total(&self, query: &[Token<'_>]) -> Option<bool> {
        const OTHERS: [&str; 4] = ["union", "intersect", "except", "window"];
        let at = |word: &str| query.iter().position(|it| it.is(word));
        let is_distinct = query.get(1)?.is("distinct");
        let begin = 1 + usize::from(is_distinct);
        if !query[0].is("select")
            || OTHERS.iter().any(|word| at(word).is_some())
            || query[begin..].iter().any(|it| it.is("distinct"))
        {
            return None;
        }
        let (from, group, order) = (at("from")?, at("group"), at("order"));
        let results: Vec<_> = parts(query.get(begin..from)?).collect();
        let terms: Vec<_> = match order {
            Some(order) => {
                parts(query.get(order + 2..)?).filter_map(|term| expression(undirected(term), &results)).collect()
            }
            None => Vec::new(),
        };
        // Groups, and rows that are distinct, are ordered by all that tells them apart.
        if let Some(group) = group.filter(|_| !is_distinct) {
            let key = query.get(group + 2..at("having").or(order).unwrap_or(query.len()))?;
            // A name there may be that of a column, and in `ORDER BY` that of a result.
            let is_term = |part: &[Token<'_>]| {
                !matches!(part, [name] if is_alias(&results, name))
                    && expression(part, &results).is_some_and(|it| terms.contains(&it))
            };
            return Some(parts(key).all(is_term));
        }
        if is_distinct || at("having").is_some() {
            return Some(group.is_none() && results.iter().all(|it| terms.contains(&unnamed(it))));
        }
        let end = order.unwrap_or(query.len());
        let filter = at("where").unwrap_or(end);
        let table = match query.get(from + 1..filter)? {
            [schema, Token::Mark('.'), table @ ..] if schema.is("main") || schema.is("temp") => table,
            table => table,
        };
        let (name, alias) = match table {
            [name] => (name.name()?, name.name()?),
            [name, alias] => (name.name()?, alias.name()?),
            [name, word, alias] if word.is("as") => (name.name()?, alias.name()?),
            _ => return None,
        };
        let column = |tokens: &[Token<'_>]| match tokens {
            [column] => column.name().map(str::to_owned),
            [of, Token::Mark('.'), column] if of.name() == Some(alias) => column.name().map(str::to_owned),
            _ => None,
        };
        let TableFacts { keys, exact } = self.0.get(name)?;
        let mut columns = fixed(query.get(filter + 1..end).unwrap_or_default(), &column);
        if keys.iter().any(|(key, _)| key.is_subset(&columns)) {
            return Some(true);
        }
        let terms: BTreeSet<_> = terms.into_iter().filter_map(column).collect();
        // Rows that tie are the same.
        let is_term = |it: String| terms.contains(&it) && exact.contains(&it);
        if results.iter().all(|it| column(unnamed(it)).is_some_and(is_term)) {
            return Some(true);
        }
        columns.extend(terms);
        Some(keys.iter().any(|(key, is_required)| *is_required && key.is_subset(&columns)))
    }
}

impl Choice {
    /// Whether a limit may have left out rows of the recorded result.
    pub(super) fn is_limited(&self, step: &Step) -> bool {
        let limit = match &self.limit {
            None => return false,
            Some(None) => 0,
            Some(Some(Limit::Number(number))) => *number,
            Some(Some(Limit::Parameter(number))) => match number.checked_sub(1).and_then(|at| step.values.get(at)) {
                // A negative one is none.
                Some(StoredValue::Int(number)) => u64::try_from(*number).unwrap_or(u64::MAX),
                _ => 0,
            },
        };
        step.rows.rows >= limit
    }
}

/// Whether values of a declared column that compare as equal are the same.
fn is_exact(column: &[Token<'_>]) -> bool {
    const TYPES: [&str; 12] =
        ["int", "char", "clob", "text", "real", "floa", "doub", "num", "dec", "bool", "date", "time"];
    let is_typed = |it: &Token<'_>| matches!(it, Token::Word(word) if TYPES.iter().any(|part| word.contains(part)));
    column.get(1).is_some_and(|it| is_typed(it) && !it.is("constraint"))
        && !column.iter().any(|it| it.is("collate") || it.written().contains("blob"))
}

/// Plain columns of a group; `Some(None)` if it has others, as expressions.
fn columns_of(token: &Token<'_>) -> Option<Option<BTreeSet<String>>> {
    let Token::Group(columns) = token else { return None };
    let column = |part: &[Token<'_>]| match part {
        [column] => column.name().map(str::to_owned),
        [column, direction] if direction.is("asc") || direction.is("desc") => column.name().map(str::to_owned),
        _ => None,
    };
    Some(parts(columns).map(column).collect())
}

/// Columns that a condition sets equal to one value.
fn fixed(condition: &[Token<'_>], column: &impl Fn(&[Token<'_>]) -> Option<String>) -> BTreeSet<String> {
    if condition.iter().any(|it| ["or", "between", "case"].iter().any(|word| it.is(word))) {
        return BTreeSet::new();
    }
    let of_term = |term: &[Token<'_>]| match term {
        [Token::Group(inner)] => fixed(inner, column),
        [name @ .., Token::Mark('='), Token::Mark('='), value] | [name @ .., Token::Mark('='), value]
            if value.is_value() =>
        {
            column(name).into_iter().collect()
        }
        [value, Token::Mark('='), name @ ..] if value.is_value() => column(name).into_iter().collect(),
        _ => BTreeSet::new(),
    };
    condition.split(|it| it.is("and")).flat_map(of_term).collect()
}

/// Term of `ORDER BY` without its direction.
fn undirected<'a, 't>(term: &'a [Token<'t>]) -> &'a [Token<'t>] {
    match term {
        [shorter @ .., nulls, place] if nulls.is("nulls") && place.name().is_some() => undirected(shorter),
        [shorter @ .., direction] if direction.is("asc") || direction.is("desc") => shorter,
        _ => term,
    }
}

/// Result without its name.
fn unnamed<'a, 't>(result: &'a [Token<'t>]) -> &'a [Token<'t>] {
    if let [shorter @ .., word, _] = result
        && word.is("as")
    {
        shorter
    } else {
        result
    }
}

/// Expression of a term, which may be the number or the name of a result; `None` if the results do not show which it is.
fn expression<'a, 't>(term: &'a [Token<'t>], results: &[&'a [Token<'t>]]) -> Option<&'a [Token<'t>]> {
    match term {
        [Token::Number(number)] => {
            let is_star = |it: &&[Token<'_>]| it.last() == Some(&Token::Mark('*'));
            let at = usize::try_from((*number)?).ok()?.checked_sub(1)?;
            results.get(at).filter(|_| !results.iter().any(is_star)).map(|it| unnamed(it))
        }
        [name] if is_alias(results, name) => {
            let named = results.iter().find(|it| it.len() > 1 && it.last().and_then(Token::name) == name.name())?;
            (unnamed(named).len() < named.len()).then(|| unnamed(named))
        }
        _ => Some(term),
    }
}

/// Whether a result may have that name, and be another expression.
fn is_alias(results: &[&[Token<'_>]], name: &Token<'_>) -> bool {
    let is = |result: &[Token<'_>]| {
        (1..result.len()).any(|at| result[at].name() == name.name() && result[at - 1] != Token::Mark('.'))
    };
    name.name().is_some() && results.iter().any(|it| is(it))
}

/// Whether `LIMIT` is among tokens, outside groups.
fn has_limit(tokens: &[Token<'_>]) -> bool {
    tokens.iter().any(|it| it.is("limit")) || chooses(tokens)
}

/// Whether `LIMIT` in a group chooses rows: that in `EXISTS` does not.
fn chooses(tokens: &[Token<'_>]) -> bool {
    (0..tokens.len()).any(|at| match &tokens[at] {
        Token::Group(inner) if at > 0 && tokens[at - 1].is("exists") => chooses(inner),
        Token::Group(inner) => has_limit(inner),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_determine_which_rows_and_in_which_order() {
        let schema = [
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE, b NOT NULL UNIQUE, c)",
            "CREATE TABLE p(a INT, b INT, n, PRIMARY KEY (a, b)) WITHOUT ROWID",
            "CREATE TABLE item(stock INTEGER, price REAL CHECK (price > 0), name TEXT COLLATE NOCASE, any, \
             late CONSTRAINT n NOT NULL, raw DATE BLOB)",
            "CREATE UNIQUE INDEX i ON t(c)",
            "CREATE UNIQUE INDEX j ON p(n) WHERE n > 0",
        ];
        let of = |sql: &str| RecordedStatement::of(sql, true);
        let keys = Keys::of(schema.into_iter(), &[]);
        for (sql, is_total) in [
            ("SELECT c FROM t WHERE id = ?", true),
            ("SELECT c FROM \"t\" AS x WHERE x.\"id\" = 5 AND c LIKE ? LIMIT 1", true),
            ("SELECT id FROM main.t WHERE (? = c) AND (a IS NULL)", true),
            ("SELECT c FROM t WHERE id = ? OR a = ?", false),
            ("SELECT c FROM t WHERE id = a", false),
            ("SELECT c FROM t WHERE c BETWEEN 1 AND id = 5", false),
            ("SELECT c FROM t, p WHERE id = 5", false),
            ("SELECT c FROM t x WHERE y.id = 5", false),
            ("SELECT n FROM p WHERE a = ? ORDER BY b DESC", true),
            ("SELECT n FROM p WHERE a = ? ORDER BY n", false),
            ("SELECT n FROM p ORDER BY a, b NULLS LAST", true),
            ("SELECT n FROM p WHERE n = 1", false),
            ("SELECT c FROM t ORDER BY c, id", true),
            ("SELECT c FROM t ORDER BY b", true),
            ("SELECT c FROM t ORDER BY a", false),
            ("SELECT c FROM t ORDER BY id COLLATE NOCASE", false),
            ("SELECT c AS id FROM t ORDER BY id", false),
            ("SELECT id, t.id FROM t ORDER BY id", true),
            ("SELECT DISTINCT c FROM t ORDER BY id", false),
            ("SELECT c FROM t ORDER BY rowid", true),
            // Terms that are all results, or all that tells groups and distinct rows apart.
            ("SELECT stock FROM item ORDER BY stock DESC LIMIT 1", true),
            ("SELECT stock AS s, i.price FROM item i ORDER BY 2, s DESC NULLS LAST LIMIT 1", true),
            ("SELECT stock, name FROM item ORDER BY stock LIMIT 1", false),
            ("SELECT name FROM item ORDER BY name", false),
            ("SELECT any FROM item ORDER BY any", false),
            ("SELECT late FROM item ORDER BY late", false),
            ("SELECT raw FROM item ORDER BY raw", false),
            ("SELECT stock + 1 FROM item ORDER BY 1", false),
            ("SELECT -stock AS stock FROM item ORDER BY stock", false),
            ("SELECT *, stock FROM item ORDER BY 2", false),
            ("SELECT stock FROM item, t ORDER BY stock", false),
            ("SELECT stock FROM item ORDER BY stock COLLATE NOCASE", false),
            ("SELECT DISTINCT name, any FROM item ORDER BY any, name LIMIT 2", true),
            ("SELECT DISTINCT lower(name) AS n FROM item, t ORDER BY n", true),
            ("SELECT DISTINCT name, any FROM item ORDER BY any", false),
            ("SELECT DISTINCT stock n FROM item ORDER BY n", false),
            ("SELECT DISTINCT * FROM item ORDER BY 1", false),
            ("SELECT i.name, count(*) AS n FROM item i, t GROUP BY i.name HAVING n > 1 ORDER BY n DESC, i.name", true),
            ("SELECT name, any, count(*) FROM item GROUP BY 1, any ORDER BY any, 1 LIMIT 1", true),
            ("SELECT name, count(*) FROM item GROUP BY name ORDER BY 2 DESC LIMIT 1", false),
            ("SELECT name, count(*) FROM item GROUP BY name, any ORDER BY name", false),
            ("SELECT lower(name) AS name, count(*) FROM item GROUP BY name ORDER BY name", false),
            ("SELECT DISTINCT count(*) FROM item GROUP BY name ORDER BY name", false),
            ("SELECT name FROM item GROUP BY name LIMIT 1", false),
            ("SELECT stock FROM item UNION SELECT c FROM t ORDER BY stock", false),
        ] {
            assert_eq!(keys.choice(&of(sql)).is_total, is_total, "{sql}");
        }
        for (sql, is_within) in [
            ("SELECT (SELECT c FROM t LIMIT 1)", true),
            ("SELECT EXISTS (SELECT c FROM t LIMIT 1) LIMIT 1", false),
            ("WITH x AS (SELECT c FROM t LIMIT 1) SELECT c FROM x", true),
            ("DELETE FROM t RETURNING id LIMIT 1", true),
        ] {
            assert_eq!(keys.choice(&of(sql)).is_within, is_within, "{sql}");
        }
        let renamed = Keys::of(schema.into_iter(), &[of("ALTER TABLE p RENAME TO t")]);
        assert!(!renamed.choice(&of("SELECT c FROM t WHERE id = ?")).is_total);
    }
}
