//! Differences between two outputs by field name, read from their debug form, so that no output needs a second description.

use std::fmt::{self, Write as _};

/// The first field in which two values differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDifference {
    /// Path of the field: `trades[3].exec_name`.
    pub path: String,
    /// Value of the first subject; `None` if it has none.
    pub first: Option<String>,
    /// Value of the second subject.
    pub second: Option<String>,
}

impl fmt::Display for FieldDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        write!(f, "{}: {} against {}", self.path, shown(&self.first), shown(&self.second))
    }
}

/// The first field in which two values of one type differ, if their debug forms do.
pub fn first_difference(first: &impl fmt::Debug, second: &impl fmt::Debug) -> Option<FieldDifference> {
    let (first, second) = (format!("{first:#?}"), format!("{second:#?}"));
    let (mut firsts, mut seconds) = (first.lines(), second.lines());
    let mut way = Way::default();
    loop {
        let (a, b) = match (firsts.next(), seconds.next()) {
            (None, None) => return None,
            (Some(a), Some(b)) if a == b => {
                way.pass(a);
                continue;
            }
            pair => pair,
        };
        // A list that ends shows its bracket, and a list without elements closes on the line that opens it.
        let value = |line: Option<&str>| {
            let line = line?.trim().trim_end_matches(',');
            let closes = matches!(line, "]" | ")" | "}" | "),");
            let text = line.split_once(": ").filter(|(name, _)| is_name(name)).map_or(line, |(_, value)| value);
            (!closes).then(|| text.to_owned())
        };
        let (first, second) = (whole(value(a), &mut firsts), whole(value(b), &mut seconds));
        let named = a.into_iter().chain(b).find(|line| !matches!(line.trim(), "]," | "]" | ")," | ")" | "}," | "}"));
        return Some(FieldDifference { path: way.to(named.unwrap_or_default()), first, second });
    }
}

/// Joins a value that is written over several lines into one line.
fn whole(start: Option<String>, rest: &mut std::str::Lines<'_>) -> Option<String> {
    let mut text = start?;
    let mut depth = i32::from(opens(&text));
    while depth > 0 {
        let Some(line) = rest.next() else { break };
        let line = line.trim();
        depth += i32::from(opens(line)) - i32::from(line.starts_with([']', ')', '}']));
        if text.len() < 400 {
            let _ = write!(text, " {line}");
        }
    }
    // Shortened to the one-line debug form.
    let pairs = [("( ", "("), ("[ ", "["), (", )", ")"), (", ]", "]"), (", }", " }")];
    let text = pairs.iter().fold(text, |text, (long, short)| text.replace(long, short));
    Some(text.trim_end_matches(',').to_owned())
}

fn opens(line: &str) -> bool {
    line.ends_with(['[', '(', '{'])
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// Names of the parts that are open at a line.
#[derive(Debug, Default)]
struct Way {
    /// Each opened part: its name, and how many unnamed parts it has had, if it is a list.
    open: Vec<(String, Option<usize>)>,
}

impl Way {
    fn pass(&mut self, line: &str) {
        let line = line.trim();
        if line.starts_with([']', ')', '}']) {
            self.open.pop();
            return;
        }
        let name = self.name(line);
        if opens(line) {
            self.open.push((name, line.ends_with('[').then_some(0)));
        }
    }

    /// Name of the value on a line; elements of a list are numbered.
    fn name(&mut self, line: &str) -> String {
        if let Some((name, _)) = line.split_once(": ")
            && is_name(name)
        {
            return name.to_owned();
        }
        match self.open.last_mut() {
            Some((_, Some(index))) => {
                *index += 1;
                format!("[{}]", *index - 1)
            }
            // The content of `Some(…)` and of newtypes has the name of the value around it.
            Some(_) => String::new(),
            None => line.split([' ', '(', '{']).next().unwrap_or_default().to_owned(),
        }
    }

    fn to(&mut self, line: &str) -> String {
        let last = self.name(line.trim());
        let mut path = String::new();
        for name in self.open.iter().map(|(name, _)| name).chain([&last]).filter(|name| !name.is_empty()) {
            if !path.is_empty() && !name.starts_with('[') {
                path.push('.');
            }
            path.push_str(name);
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone)]
    struct Inner {
        price: Option<i64>,
        name: &'static str,
    }
    #[derive(Debug, Clone)]
    struct Outer {
        status: i32,
        rows: Vec<Inner>,
        last: Option<Inner>,
    }

    fn outer() -> Outer {
        let row = Inner { price: Some(5), name: "a: b" };
        Outer { status: 0, rows: vec![row.clone(), row.clone()], last: Some(row) }
    }

    fn difference(change: impl FnOnce(&mut Outer)) -> Option<(String, Option<String>, Option<String>)> {
        let mut changed = outer();
        change(&mut changed);
        first_difference(&outer(), &changed).map(|found| (found.path, found.first, found.second))
    }

    #[test]
    fn a_field_is_named_by_its_way() {
        let found = |path: &str, first: &str, second: &str| {
            Some((path.to_owned(), Some(first.to_owned()), Some(second.to_owned())))
        };
        assert_eq!(difference(|_| ()), None);
        assert_eq!(difference(|outer| outer.status = 7), found("Outer.status", "0", "7"));
        assert_eq!(difference(|outer| outer.rows[1].price = Some(6)), found("Outer.rows[1].price", "5", "6"));
        assert_eq!(difference(|outer| outer.rows[1].name = "c"), found("Outer.rows[1].name", "\"a: b\"", "\"c\""));
        assert_eq!(difference(|outer| outer.rows[0].price = None), found("Outer.rows[0].price", "Some(5)", "None"));
    }

    #[test]
    fn what_is_missing_is_named_too() {
        let (path, first, second) = difference(|outer| outer.rows.truncate(1)).expect("differs");
        assert_eq!((path.as_str(), second), ("Outer.rows[1]", None));
        assert_eq!(first.as_deref(), Some("Inner { price: Some(5), name: \"a: b\" }"));
        let (path, first, second) = difference(|outer| outer.last = None).expect("differs");
        assert_eq!(path, "Outer.last");
        assert!(first.is_some_and(|first| first.starts_with("Some(")));
        assert_eq!(second.as_deref(), Some("None"));
        let (path, _, second) = difference(|outer| outer.rows.clear()).expect("differs");
        assert_eq!((path.as_str(), second.as_deref()), ("Outer.rows", Some("[]")));
    }
}
