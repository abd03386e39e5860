//! Description of a server, read back from it, and the durability that its settings promise.

use crate::connection::{Item, RedisConnection};
use bourse_engine::{Durability, MayLose, Result};
use std::collections::BTreeMap;

/// Settings that a figure depends on; a server returns those that it has.
const SETTINGS: &[&str] = &[
    "appendonly",
    "appendfsync",
    "no-appendfsync-on-rewrite",
    "save",
    "maxmemory",
    "maxmemory-policy",
    "io-threads",
    "activedefrag",
    "lazyfree-lazy-user-del",
    "auto-aof-rewrite-percentage",
    "auto-aof-rewrite-min-size",
    "dir",
];

/// Settings in force, by name; `None` if the account may not read them.
pub(crate) fn settings(connection: &mut RedisConnection) -> Result<Option<BTreeMap<String, String>>> {
    for name in SETTINGS {
        connection.command(&[b"CONFIG", b"GET", name.as_bytes()]);
    }
    let (mut settings, mut name) = (BTreeMap::new(), None);
    let done = connection.exchange(&mut |_, item| {
        if let Item::Bytes(bytes) = item {
            let text = String::from_utf8_lossy(bytes).into_owned();
            match name.take() {
                None => name = Some(text),
                Some(name) => drop(settings.insert(name, text)),
            }
        }
        Ok(())
    });
    match done {
        // Services of a cloud have no such command, or not for everybody.
        Err(e) if matches!(e.code(), Some("ERR" | "NOPERM")) => Ok(None),
        done => done.map(|()| Some(settings)),
    }
}

/// Facts that the server reports of itself, by name; none if the account may not read them.
pub(crate) fn info(connection: &mut RedisConnection) -> Result<BTreeMap<String, String>> {
    connection.command(&[b"INFO"]);
    let mut facts = BTreeMap::new();
    let done = connection.exchange(&mut |_, item| {
        if let Item::Bytes(bytes) = item {
            let text = String::from_utf8_lossy(bytes);
            let pairs = text.lines().filter_map(|line| line.split_once(':'));
            facts.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        Ok(())
    });
    match done {
        Err(e) if e.code() == Some("NOPERM") => Ok(facts),
        done => done.map(|()| facts),
    }
}

/// Durability of a commit to a disk, what it may lose, and the reason, by the settings.
pub(crate) fn durability(settings: Option<&BTreeMap<String, String>>) -> (Durability, Option<MayLose>, String) {
    use Durability::{Consistent, Durable, Unknown, Volatile};
    let Some(settings) = settings else {
        return (Unknown, None, "the account may not read the server's settings (CONFIG GET)".to_owned());
    };
    let get = |name: &str| settings.get(name).map_or("", String::as_str);
    let (class, lost, why) = match (get("appendonly"), get("appendfsync"), get("no-appendfsync-on-rewrite")) {
        ("yes", "always", "no") => (Durable, None, "each change is synced before its answer"),
        ("yes", "always", _) => (
            Consistent,
            Some(MayLose::NotWrittenBack),
            "each change is synced before its answer, but not while the append-only file is rewritten (no-appendfsync-on-rewrite)",
        ),
        ("yes", "everysec", _) => (
            Consistent,
            Some(MayLose::LastSecondInMemory),
            "the append-only file is synced once a second, and while that lasts the server keeps changes for up to two seconds",
        ),
        ("yes", "no", _) => (
            Consistent,
            Some(MayLose::NotWrittenBack),
            "each change is handed to the operating system; an incomplete end of the append-only file is cut off",
        ),
        ("no", ..) if !get("save").is_empty() => (
            Consistent,
            Some(MayLose::SinceCheckpoint),
            "there is no append-only file: the end of the server loses all since it last saved the whole database",
        ),
        ("no", ..) => (Volatile, None, "nothing is written to a file"),
        _ => (Unknown, None, "the server does not report its settings"),
    };
    let told = ["appendonly", "appendfsync"].map(|name| format!("{name}={}", get(name))).join(", ");
    (class, lost, format!("{told}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_follows_from_the_settings() {
        use Durability::{Consistent, Durable, Unknown, Volatile};
        for ([appendonly, appendfsync, on_rewrite, save], class, lost) in [
            (["yes", "always", "no", ""], Durable, None),
            (["yes", "always", "yes", ""], Consistent, Some(MayLose::NotWrittenBack)),
            (["yes", "everysec", "no", "60 1"], Consistent, Some(MayLose::LastSecondInMemory)),
            (["yes", "no", "no", ""], Consistent, Some(MayLose::NotWrittenBack)),
            (["no", "always", "no", "60 1"], Consistent, Some(MayLose::SinceCheckpoint)),
            (["no", "always", "no", ""], Volatile, None),
            (["", "", "", ""], Unknown, None),
        ] {
            let names = ["appendonly", "appendfsync", "no-appendfsync-on-rewrite", "save"];
            let values = [appendonly, appendfsync, on_rewrite, save];
            let settings =
                names.into_iter().zip(values).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            let told = durability(Some(&settings));
            assert_eq!((told.0, told.1), (class, lost), "{}", told.2);
        }
        assert_eq!(durability(None).0, Unknown);
    }
}
