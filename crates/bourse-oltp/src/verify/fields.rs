//! The first difference between two serde values, with the path to it.

use bourse_engine::shortened;
use serde_json::Value;
use std::fmt;

/// The first field in which two values differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDifference {
    /// Path of the field: `trades[3].exec_name`.
    pub path: String,
    /// The first value's field as JSON; `None` if it has no such field.
    pub first: Option<String>,
    /// The second value's field as JSON; `None` if it has no such field.
    pub second: Option<String>,
}

impl fmt::Display for FieldDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        write!(f, "{}: {} against {}", self.path, shown(&self.first), shown(&self.second))
    }
}

/// Finds the first difference in the order of fields and elements; `None` if the values are equal.
///
/// ```
/// use bourse_oltp::verify::fields::first_difference;
/// use serde_json::json;
/// let (first, second) = (json!({ "rows": [{ "price": 5 }] }), json!({ "rows": [{ "price": 6 }] }));
/// let difference = first_difference(&first, &second).unwrap();
/// assert_eq!(difference.to_string(), "rows[0].price: 5 against 6");
/// assert_eq!(first_difference(&first, &first), None);
/// ```
pub fn first_difference(first: &Value, second: &Value) -> Option<FieldDifference> {
    between(Some(first), Some(second), &mut String::new())
}

fn between(first: Option<&Value>, second: Option<&Value>, path: &mut String) -> Option<FieldDifference> {
    if first == second {
        return None;
    }
    let found = match (first, second) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
            names.into_iter().find_map(|name| {
                let dot = if path.is_empty() { "" } else { "." };
                below(path, &format!("{dot}{name}"), |path| between(a.get(name), b.get(name), path))
            })
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => (0..a.len().max(b.len()))
            .find_map(|at| below(path, &format!("[{at}]"), |path| between(a.get(at), b.get(at), path))),
        _ => None,
    };
    let shown = |value: Option<&Value>| value.map(|value| shortened(&value.to_string(), 400).into_owned());
    found.or_else(|| Some(FieldDifference { path: path.clone(), first: shown(first), second: shown(second) }))
}

/// Calls `find` with a path that is longer by a step.
fn below<T>(path: &mut String, step: &str, find: impl FnOnce(&mut String) -> Option<T>) -> Option<T> {
    let length = path.len();
    path.push_str(step);
    let found = find(path);
    path.truncate(length);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn outer() -> Value {
        let row = json!({ "price": 5, "name": "a: b" });
        json!({ "Outer": { "status": 0, "rows": [row, row], "last": row } })
    }

    fn difference(change: impl FnOnce(&mut Value)) -> Option<(String, Option<String>, Option<String>)> {
        let mut changed = outer();
        change(&mut changed["Outer"]);
        first_difference(&outer(), &changed).map(|found| (found.path, found.first, found.second))
    }

    #[test]
    fn a_field_is_named_by_its_path() {
        let found = |path: &str, first: &str, second: &str| {
            Some((path.to_owned(), Some(first.to_owned()), Some(second.to_owned())))
        };
        assert_eq!(difference(|_| ()), None);
        assert_eq!(difference(|outer| outer["status"] = json!(7)), found("Outer.status", "0", "7"));
        assert_eq!(difference(|outer| outer["rows"][1]["price"] = json!(6)), found("Outer.rows[1].price", "5", "6"));
        assert_eq!(
            difference(|outer| outer["rows"][1]["name"] = json!("c")),
            found("Outer.rows[1].name", "\"a: b\"", "\"c\"")
        );
        assert_eq!(
            difference(|outer| outer["rows"][0]["price"] = Value::Null),
            found("Outer.rows[0].price", "5", "null")
        );
    }

    #[test]
    fn a_missing_field_or_element_is_named() {
        let rows = |outer: &mut Value, length| outer["rows"].as_array_mut().unwrap().truncate(length);
        let (path, first, second) = difference(|outer| rows(outer, 1)).expect("differs");
        assert_eq!((path.as_str(), second), ("Outer.rows[1]", None));
        assert_eq!(first.as_deref(), Some(r#"{"price":5,"name":"a: b"}"#));
        let (path, first, second) = difference(|outer| outer["last"] = Value::Null).expect("differs");
        assert_eq!((path.as_str(), second.as_deref()), ("Outer.last", Some("null")));
        assert!(first.is_some());
        let (path, ..) = difference(|outer| drop(outer.as_object_mut().unwrap().remove("last"))).expect("differs");
        assert_eq!(path, "Outer.last");
    }
}
