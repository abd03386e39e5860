//! Histories of a million transactions on every engine that is here, for nights and machines of their own; and the tables that
//! are made of what they showed.

use super::scaling::{Folder, program};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Users of each target.
const USERS: &str = "4";
/// Rounds of each level: a history is kept in memory until it is examined, and a cluster takes 20 s to start for each.
const ROUNDS: u64 = 2;
/// Transactions of a level, in all rounds together: a million commit, for one in twenty that write is rolled back on purpose.
const TRANSACTIONS: u64 = 1_100_000;
/// Seed of a target's first run.
const SEED: u64 = 7;
/// Longest time that a level is run, in all rounds together, unless another is requested.
const SECONDS: u64 = 180;

/// Results of the runs: an object for each target and level, a line each.
const RESULTS: &str = "docs/isolation.json";

/// A target of the tables.
struct Row {
    engine: &'static str,
    /// Target, and options of the command after it.
    target: &'static str,
    /// Mechanism that an engine's levels are made of.
    by: &'static str,
}

const fn row(engine: &'static str, target: &'static str, by: &'static str) -> Row {
    Row { engine, target, by }
}

/// Targets in the order of the tables.
const ROWS: &[Row] = &[
    row("SQLite", "sqlite:x.db", "one writer at a time, readers of a snapshot: there is nothing weaker"),
    row("", "sqlite:x.db?writers=busy", "the same"),
    row("", "sqlite:x.db?writers=sqlite", "the same"),
    row("", "sqlite:x.db?writers=one", "the same"),
    row("", "sqlite:x.db?begin=deferred&writers=busy", "a change after another one's commit fails"),
    row("", "sqlite:x.db?journal=delete", "a writer, or readers"),
    row("", "sqlite:x.db?shared_cache=on", "locks of tables"),
    row("", "sqlite:x.db?shared_cache=on&read_uncommitted=on", "reads without locks"),
    row("", "sqlite:x.db --processes 4", "locks of the file"),
    row("SQLite, lean build", "sqlite-lean:x.db", "as SQLite"),
    row("the system's SQLite", "sqlite+lib:x.db", "as SQLite"),
    row("Turso", "turso:x.turso", "one writer at a time"),
    row(
        "",
        "turso:x.turso?journal=mvcc",
        "a snapshot; serializable transactions write alone: others that commit meanwhile are refused",
    ),
    row("DuckDB", "duckdb:x.duckdb", "a snapshot"),
    row("", "duckdb:x.duckdb?writers=one", "writing transactions wait for one another"),
    row("Firebird", "firebird:x.fdb", "what is committed when a statement reads it; a snapshot"),
    row(
        "",
        "firebird:x.fdb?serializable=tables",
        "the same; serializable: locks on each table that is read or changed",
    ),
    row("H2", "jdbc+h2:x", "versions of rows; a snapshot"),
    row("HSQLDB", "jdbc+hsqldb:x", "versions of rows; a snapshot"),
    row("Derby", "jdbc+derby:x", "locks on rows; serializable: on ranges too"),
    row("MonetDB", "jdbc+monetdb:x", "a snapshot"),
    row(
        "PostgreSQL",
        "postgres+private:",
        "a snapshot of each statement; a snapshot; and transactions that could not have run one after the other fail",
    ),
    row("", "postgres+private:?pipeline=on", "the same"),
    row(
        "MariaDB",
        "mariadb+private:",
        "READ COMMITTED; REPEATABLE READ with `innodb_snapshot_isolation`; SERIALIZABLE: reads lock",
    ),
    row("", "mariadb+private:?snapshot_isolation=off", "the same without"),
    row("MySQL", "mysql+private:", "READ COMMITTED; REPEATABLE READ; SERIALIZABLE: reads lock"),
    row(
        "MariaDB Galera",
        "mariadb+galera:",
        "as MariaDB in a node; between nodes the first to commit wins, and read locks hold nothing",
    ),
    row("", "mariadb+galera:?spread=off", "as MariaDB: all sessions at one node"),
    row(
        "MySQL Group Replication",
        "mysql+group:",
        "as MySQL in a node; between nodes the first to commit wins, and read locks hold nothing; a group with [update-everywhere checks](group-replication.md#isolation) refuses serializable",
    ),
    row("", "mysql+group:?spread=off", "as MySQL: all sessions at the primary"),
    row("TiDB", "tidb+private:", "pessimistic transactions on snapshots"),
    row("LMDB", "lmdb:x.lmdb", "one writer at a time"),
    row("", "lmdb:x.lmdb --processes 4", "the same: a lock in memory that processes share"),
    row("redb", "redb:x.redb", "one writer at a time"),
    row("fjall", "fjall:x.fjall", "optimistic: reads are checked at the commit"),
    row("RocksDB", "rocksdb:x.rocks", "optimistic, on a snapshot"),
    row("LevelDB", "leveldb:x.leveldb", "one writer at a time, in a queue of Bourse's"),
    row("Berkeley DB", "berkeleydb:x.bdb", "locks on pages; transactions that only read see a snapshot"),
    row("Redis", "redis+private:", "`WATCH`: a transaction that read what has changed is refused at its `EXEC`"),
    row("Valkey", "valkey+private:", "the same"),
];

/// Levels, weaker ones first.
const LEVELS: [&str; 3] = ["read-committed", "repeatable-read", "serializable"];

/// Runs the targets whose engine or target contains one of the words (all targets without words), each level for at most so many
/// seconds, and writes results and pages after each target. `BOURSE_PROGRAM` names the program; otherwise a release build with
/// every engine is made.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let (seconds, words) = match arguments.split_first() {
        None => (SECONDS, arguments),
        Some((typed, words)) => {
            (typed.parse().map_err(|_| format!("expected a number of seconds, found '{typed}'"))?, words)
        }
    };
    let program = program(root, &["--features", "full"])?;
    let mut failed = Vec::new();
    for row in ROWS.iter().filter(|row| words.is_empty() || words.iter().any(|word| row.is(word))) {
        println!("xtask: {}", row.target);
        match examined(&program, row.target, seconds, seed(&results(root)?, row.target)) {
            Ok(found) => {
                write(root, &stored(results(root)?, row.target, found))?;
                for (path, content) in pages(root)? {
                    fs::write(root.join(path), content).map_err(|error| format!("{path}: {error}"))?;
                }
            }
            Err(why) => failed.push(format!("{}: {why}", row.target)),
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n  ")) }
}

impl Row {
    fn is(&self, word: &str) -> bool {
        self.target.contains(word) || self.engine.to_lowercase().contains(&word.to_lowercase())
    }
}

/// Results of a target at each level that it distinguishes. Its data lies in memory, where there is room for files.
fn examined(program: &Path, target: &str, seconds: u64, seed: u64) -> Result<Vec<Value>, String> {
    let folder = Folder::new("isolation")?;
    let (rounds, round) = (ROUNDS.to_string(), format!("{}ms", (seconds * 1_000 / ROUNDS).max(1)));
    let most = format!("transactions={}", TRANSACTIONS / ROUNDS);
    let mut command = Command::new(program);
    command.arg("isolation").args(target.split(' ')).args(["--users", USERS, "--rounds", &rounds, "--for", &round]);
    command.args(["-s", &most, "--seed", &seed.to_string(), "--no-repeat", "--no-wait", "--json"]);
    command.current_dir(folder.path()).env("TMPDIR", folder.path());
    let ended = command.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    let run: Value = serde_json::from_slice(&ended.stdout).map_err(|_| format!("it ended with {}", ended.status))?;
    let cases = run["cases"].as_array().ok_or("a run without cases")?;
    let found: Vec<Value> = cases.iter().filter_map(|case| summary(target, &run, case)).collect();
    if found.is_empty() { Err("it recorded no history".to_owned()) } else { Ok(found) }
}

/// Summary of a case; nothing without histories.
fn summary(target: &str, run: &Value, case: &Value) -> Option<Value> {
    let rounds: Vec<&Value> = case["rounds"].as_array()?.iter().filter(|round| round["history"].is_object()).collect();
    let first = &rounds.first()?["history"];
    let sum = |name: &str| rounds.iter().map(|round| count(&round["history"], name)).sum::<u64>();
    let (mut anomalies, mut not_serializable, mut broken) = (BTreeMap::<&str, u64>::new(), 0, BTreeSet::new());
    let mut story: &[Value] = &[];
    for found in rounds.iter().flat_map(|round| list(&round["history"]["anomalies"])) {
        *anomalies.entry(words(found, "name")).or_default() += count(found, "count");
        if list(&found["refutes"]).iter().any(|level| level == "serializable") {
            not_serializable += count(found, "count");
        }
        if found["is_excluded"] == true {
            broken.insert(words(found, "name"));
            let lines = list(&found["story"]);
            story = if story.is_empty() || lines.len() < story.len() { lines } else { story };
        }
    }
    let checks = rounds.iter().flat_map(|round| list(&round["checks"]));
    broken.extend(
        checks.filter(|it| it["status"] == "failed" && SUMS.contains(&words(it, "name"))).map(|it| words(it, "name")),
    );
    Some(json!({
        "target": target,
        "level": first["level"],
        "promised": first["promised"],
        "version": case["engine"]["version"],
        "date": run["started_at"].as_str()?.split('T').next(),
        "rounds": rounds.len(),
        "committed": sum("committed"),
        "overlapping": sum("overlapping"),
        "not_serializable": not_serializable,
        "anomalies": anomalies,
        "broken": broken,
        "story": story,
    }))
}

/// Checks of sums, in addition to the one of the history.
const SUMS: [&str; 2] = ["counts", "balances"];

/// Stored results.
fn results(root: &Path) -> Result<Vec<Value>, String> {
    match fs::read_to_string(root.join(RESULTS)) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| format!("{RESULTS}: {error}")),
        Err(_) => Ok(Vec::new()),
    }
}

/// Seed of a target's next run: another one than of those that are known.
fn seed(known: &[Value], target: &str) -> u64 {
    SEED + known.iter().filter(|it| it["target"] == target).map(|it| count(it, "rounds")).max().unwrap_or(0)
}

/// Results with those of a target's new run: added to what is known of the same version, else in the place of that.
fn stored(mut all: Vec<Value>, target: &str, found: Vec<Value>) -> Vec<Value> {
    let is_same = |one: &Value, other: &Value| {
        ["target", "level", "promised", "version"].into_iter().all(|name| one[name] == other[name])
    };
    let found: Vec<Value> = found
        .into_iter()
        .map(|new| all.iter().find(|known| is_same(known, &new)).map_or_else(|| new.clone(), |known| sum(known, &new)))
        .collect();
    all.retain(|it| it["target"] != target && ROWS.iter().any(|row| it["target"] == row.target));
    all.extend(found);
    let place = |it: &Value| {
        (ROWS.iter().position(|row| it["target"] == row.target), LEVELS.iter().position(|level| it["level"] == **level))
    };
    all.sort_by_key(place);
    all
}

/// Result of two runs together: what one has refuted, the other does not mend.
fn sum(known: &Value, new: &Value) -> Value {
    let mut both = new.clone();
    for name in ["rounds", "committed", "overlapping", "not_serializable"] {
        both[name] = json!(count(known, name) + count(new, name));
    }
    let anomalies = [known, new].map(|it| it["anomalies"].as_object()).into_iter().flatten().flatten();
    let mut sums = BTreeMap::<&str, u64>::new();
    anomalies.for_each(|(name, count)| *sums.entry(name).or_default() += count.as_u64().unwrap_or(0));
    let broken: BTreeSet<_> = [known, new].into_iter().flat_map(|it| list(&it["broken"])).map(Value::as_str).collect();
    let stories = [known, new].map(|it| list(&it["story"]));
    let story = stories.into_iter().filter(|story| !story.is_empty()).min_by_key(|story| story.len());
    (both["anomalies"], both["broken"], both["story"]) = (json!(sums), json!(broken), json!(story.unwrap_or_default()));
    both
}

fn write(root: &Path, all: &[Value]) -> Result<(), String> {
    let lines: Vec<String> = all.iter().map(Value::to_string).collect();
    fs::write(root.join(RESULTS), format!("[\n{}\n]\n", lines.join(",\n")))
        .map_err(|error| format!("{RESULTS}: {error}"))
}

/// Pages with a table of the results: each path with its content.
pub(crate) fn pages(root: &Path) -> Result<Vec<(&'static str, String)>, String> {
    let results = results(root)?;
    let page = |path: &'static str, table: String| -> Result<_, String> {
        let text = fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))?;
        let page = between(&text, &table).ok_or_else(|| format!("{path}: no place for the table of isolation"))?;
        Ok((path, page))
    };
    Ok(vec![page("docs/isolation.md", runs(&results))?, page("docs/engines.md", engines(&results))?])
}

/// Lines before and behind a generated table.
const BEGIN: &str = "<!-- made by `cargo xtask isolation` from isolation.json; do not edit -->\n";
const END: &str = "<!-- end of what was made -->\n";

/// The page with another table.
fn between(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, behind) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{table}{END}{behind}"))
}

/// Table of each target at each level, and stories of broken promises behind it.
fn runs(results: &[Value]) -> String {
    let mut text = "\n| target | version | level | promised | kept | transactions | overlapping pairs | anomalies per million | on |\n\
                    |---|---|---|---|---|---:|---:|---:|---|\n"
        .to_owned();
    for it in results {
        let committed = count(it, "committed");
        let per_million = count(it, "not_serializable") as f64 * 1e6 / committed.max(1) as f64;
        text += &format!(
            "| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            words(it, "target"),
            words(it, "version"),
            words(it, "level"),
            words(it, "promised"),
            verdict(it),
            thousands(committed),
            thousands(count(it, "overlapping")),
            thousands(per_million.round() as u64),
            words(it, "date"),
        );
    }
    for it in results.iter().filter(|it| !list(&it["broken"]).is_empty()) {
        let found = list(&it["broken"]).iter().filter_map(Value::as_str).map(|name| match it["anomalies"].get(name) {
            Some(count) => format!("{} × {name}", thousands(count.as_u64().unwrap_or(0))),
            None => format!("{name} that do not add up"),
        });
        let found: Vec<String> = found.collect();
        text += &format!("\n`{}` at {}: {}.\n", words(it, "target"), words(it, "level"), found.join(", "));
        let story: Vec<&str> = list(&it["story"]).iter().filter_map(Value::as_str).collect();
        if !story.is_empty() {
            text += &format!("\n```text\n{}\n```\n", story.join("\n"));
        }
    }
    text + "\n"
}

/// Table of each engine's promise at each level, and whether it was kept.
fn engines(results: &[Value]) -> String {
    let mut text =
        "\n| engine | target | read committed | repeatable read | serializable | by |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for row in ROWS {
        let of: Vec<&Value> = results.iter().filter(|it| it["target"] == row.target).collect();
        // Of levels with one promise the strictest is run.
        let cell = |level: &str| {
            let at = LEVELS.iter().position(|it| *it == level);
            let run = of.iter().find(|it| LEVELS.iter().position(|level| it["level"] == *level) >= at);
            run.map_or("not run".to_owned(), |it| match it["level"] == *level {
                true => format!("{}: {}", words(it, "promised"), verdict(it)),
                false => words(it, "promised").to_owned(),
            })
        };
        let [committed, repeatable, serializable] = LEVELS.map(cell);
        text += &format!(
            "| {} | `{}` | {committed} | {repeatable} | {serializable} | {} |\n",
            row.engine, row.target, row.by
        );
    }
    text + "\n"
}

fn verdict(it: &Value) -> &'static str {
    match (list(&it["broken"]).is_empty(), count(it, "overlapping")) {
        (false, _) => "**refuted**",
        (true, 0) => "not tested",
        (true, _) => "kept",
    }
}

fn words<'v>(it: &'v Value, name: &str) -> &'v str {
    it[name].as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn count(it: &Value, name: &str) -> u64 {
    it[name].as_u64().unwrap_or(0)
}

/// A number with commas between its thousands.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let comma =
        |(at, digit): (usize, char)| [(at > 0 && (digits.len() - at).is_multiple_of(3)).then_some(','), Some(digit)];
    digits.chars().enumerate().flat_map(comma).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_version_add_up_and_a_refuted_promise_stays_so() {
        let run = |version: &str, anomalies: Value, broken: &[&str]| {
            let story: &[&str] = if broken.is_empty() { &[] } else { &["own write not seen"] };
            json!({"target": "lmdb:x.lmdb", "level": "serializable", "promised": "serializable", "version": version,
                "rounds": 2, "committed": 1_000, "anomalies": anomalies, "broken": broken, "story": story})
        };
        let first = vec![run("1", json!({"internal": 1}), &["internal"])];
        assert_eq!((seed(&first, "lmdb:x.lmdb"), seed(&first, "redb:x.redb")), (9, 7));
        let both = stored(first.clone(), "lmdb:x.lmdb", vec![run("1", json!({"internal": 2, "lost-update": 1}), &[])]);
        assert_eq!((both.len(), count(&both[0], "committed")), (1, 2_000));
        assert_eq!(both[0]["anomalies"], json!({"internal": 3, "lost-update": 1}));
        assert_eq!((verdict(&both[0]), &both[0]["story"]), ("**refuted**", &first[0]["story"]));
        let newer = run("2", json!({}), &[]);
        assert_eq!(stored(both, "lmdb:x.lmdb", vec![newer.clone()]), [newer]);
    }
}
