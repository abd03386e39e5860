//! Settings that a recorded program made by `PRAGMA`, and that are the target's in a replay.

use super::tokens::Token;
use bourse_engine::Setting;
use bourse_engine_sqlite::option_of_pragma;
use std::collections::BTreeMap;

/// Setting that a `PRAGMA` changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedSetting {
    /// Name of the pragma, in lower case.
    pub pragma: String,
    /// Value as the description of a target has it.
    pub value: String,
    /// Option of a target for it; empty if there is none.
    pub option: &'static str,
}

impl ChangedSetting {
    /// Setting that a statement changes; `None` of one that changes nothing of the target's.
    pub fn of(sql: &str) -> Option<Self> {
        let (pragma, value) = set_by_pragma(sql)?;
        let option = option_of_pragma(&pragma)?;
        Some(Self { value: as_described(&pragma, value), pragma, option })
    }

    /// Place of the setting in a target, in words.
    pub fn place(&self) -> String {
        match self.option {
            "" => "a setting of the target".to_owned(),
            option => format!("the target's option {option}"),
        }
    }

    /// Option with this value, as a target has it; without the value if that of an option has another unit.
    fn in_target(&self) -> String {
        let Self { pragma, value, option } = self;
        match (&**pragma, value.parse::<i64>()) {
            ("cache_size", Ok(kib @ ..0)) => format!("{option}={}KiB", kib.unsigned_abs()),
            ("cache_size", _) => (*option).to_owned(),
            ("busy_timeout", Ok(ms)) => format!("{option}={ms}ms"),
            ("ignore_check_constraints", _) => format!("{option}={}", if value == "on" { "off" } else { "on" }),
            _ => format!("{option}={value}"),
        }
    }
}

/// Name and value that a statement gives a pragma, in lower case; `None` of one that only asks, and of other statements.
pub(crate) fn set_by_pragma(sql: &str) -> Option<(String, String)> {
    let tokens = Token::all(sql);
    let (_, rest) = tokens.split_first().filter(|(first, _)| first.is("pragma"))?;
    let (name, value) = match rest {
        [_, Token::Mark('.'), name, value @ ..] | [name, value @ ..] => (name.name()?, value),
        [] => return None,
    };
    let value = match value {
        [Token::Mark('='), value @ ..] => value,
        [Token::Group(value), ..] => value,
        _ => return None,
    };
    let value: String = value.iter().map(Token::written).collect();
    Some((name.to_owned(), value.to_ascii_lowercase()))
}

/// Value of a pragma as descriptions write it: words for numbers, and one word for each of several that mean the same.
fn as_described(pragma: &str, value: String) -> String {
    let is_on = ["on", "true", "yes", "1"].contains(&&*value);
    let words: &[&str] = match pragma {
        "foreign_keys" | "ignore_check_constraints" | "read_uncommitted" => return on(is_on),
        "synchronous" if is_on => return "normal".to_owned(),
        "synchronous" if value == "false" || value == "no" => return "off".to_owned(),
        "synchronous" => &["off", "normal", "full", "extra"],
        "temp_store" => &["default", "file", "memory"],
        _ => &[],
    };
    value.parse().ok().and_then(|at: usize| words.get(at)).map_or(value, |word| (*word).to_owned())
}

fn on(is_on: bool) -> String {
    if is_on { "on" } else { "off" }.to_owned()
}

/// Options that give a target the program's settings, of those that it has with other values.
pub(super) fn other_than(target: &[Setting], made: &[ChangedSetting]) -> Option<String> {
    let mut by_pragma: BTreeMap<&str, Vec<&ChangedSetting>> = BTreeMap::new();
    made.iter().for_each(|it| by_pragma.entry(&it.pragma).or_default().push(it));
    let others = by_pragma.into_values().filter_map(|made| {
        let last = made.last().filter(|it| !it.option.is_empty())?;
        // A time to wait is no pragma's in a description, and a replay waits by the target's own rules.
        let has = target.iter().find(|it| it.name == last.pragma && it.name != "busy_timeout")?;
        (!made.iter().any(|it| it.value == has.value)).then(|| last.in_target())
    });
    let others: Vec<String> = others.collect();
    (!others.is_empty())
        .then(|| format!("the target has other settings than the program, which set {}", others.join("&")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pragma_that_sets_what_the_target_sets_is_known_with_its_option() {
        for (sql, expected) in [
            ("PRAGMA foreign_keys=ON", Some("foreign_keys=on")),
            ("pragma main.journal_mode('WAL');", Some("journal=wal")),
            ("/* a = b */ PRAGMA synchronous = 1", Some("sync=normal")),
            ("PRAGMA \"synchronous\" = OFF", Some("sync=off")),
            ("PRAGMA cache_size = -2000", Some("cache=2000KiB")),
            ("PRAGMA cache_size = 100", Some("cache")),
            ("PRAGMA busy_timeout(5000)", Some("busy_timeout=5000ms")),
            ("PRAGMA temp_store = 2", Some("temp_store=memory")),
            ("PRAGMA mmap_size = 268435456", Some("mmap=268435456")),
            ("PRAGMA ignore_check_constraints = yes", Some("checks=off")),
            // Questions, what results depend on, and other statements.
            ("PRAGMA foreign_keys", None),
            ("PRAGMA case_sensitive_like = 1", None),
            ("PRAGMA user_version = 3", None),
            ("PRAGMA encoding = 'UTF-16'", None),
            ("SELECT foreign_keys = 1", None),
        ] {
            assert_eq!(ChangedSetting::of(sql).map(|it| it.in_target()).as_deref(), expected, "{sql}");
        }
    }

    #[test]
    fn a_pragma_has_its_name_without_its_schema() {
        for (sql, expected) in [
            ("PRAGMA Cache_Size = 5", Some(("cache_size", "5"))),
            ("PRAGMA temp.\"cache_size\"(-5)", Some(("cache_size", "-5"))),
            ("PRAGMA main.user_version", None),
            ("SELECT cache_size = 5", None),
        ] {
            let found = set_by_pragma(sql);
            assert_eq!(found.as_ref().map(|(name, value)| (&**name, &**value)), expected, "{sql}");
        }
    }

    #[test]
    fn settings_that_the_target_has_with_another_value_are_named() {
        let has = |name: &str, value: &str| Setting { name: name.to_owned(), value: value.to_owned() };
        let target = [has("foreign_keys", "on"), has("journal_mode", "wal"), has("cache_size", "-65536")];
        let said = |made: &[&str]| {
            other_than(&target, &made.iter().filter_map(|sql| ChangedSetting::of(sql)).collect::<Vec<_>>())
        };
        assert_eq!(said(&["PRAGMA foreign_keys = 1", "PRAGMA journal_mode = WAL", "PRAGMA fullfsync = 1"]), None);
        let both = said(&["PRAGMA foreign_keys = 0", "PRAGMA cache_size = -2000"]).expect("two differ");
        assert!(both.ends_with("which set cache=2000KiB&foreign_keys=off"), "{both}");
        assert_eq!(said(&["PRAGMA foreign_keys = 0", "PRAGMA foreign_keys = 1"]), None, "off for a while");
    }
}
