//! Settings of a session, read before and after a round: a person's own statements may change them.

use bourse_engine::{Connection, Setting};

/// Settings in force in a connection's session; empty if it has none, or cannot report them now.
pub(crate) fn read(connection: &mut Connection) -> Vec<Setting> {
    match connection {
        Connection::Sql(session) => session.settings(),
        Connection::Keys(records) => records.settings(),
    }
    .unwrap_or_default()
}

/// Description of the first changed setting; `None` if nothing changed or nothing is known.
pub(crate) fn changed(before: &[Setting], after: &[Setting]) -> Option<String> {
    let found =
        |was: &Setting| Some((was.clone(), after.iter().find(|is| is.name == was.name && is.value != was.value)?));
    let (was, is) = before.iter().find_map(found)?;
    Some(format!("{} was {} when the round began, and {} after it", was.name, was.value, is.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_changed_is_named_with_both_values() {
        let settings = |sync: &str| {
            let all = [("journal", "wal"), ("synchronous", sync), ("encoding", sync)];
            all.map(|(name, value)| Setting { name: name.to_owned(), value: value.to_owned() })
        };
        let words = "synchronous was full when the round began, and off after it";
        assert_eq!(changed(&settings("full"), &settings("off")).as_deref(), Some(words));
        assert_eq!(changed(&settings("full"), &settings("full")), None);
        assert_eq!(changed(&settings("full"), &[]), None, "nothing is known");
    }
}
