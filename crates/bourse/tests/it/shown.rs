//! Terminal output of the classic workloads: its sections, operations, facts and settings. Numbers, and lines that come and
//! go with them, are removed: they differ between machines and days.
#![cfg(target_os = "linux")]

use crate::{output, text};

/// Prefixes of lines that depend on the machine: its load, the build, whether there was time to look.
const FLEETING: [&str; 19] = [
    "counted by the engine itself",
    "read by the engine",
    "written by the engine",
    "durable if the disk obeys",
    "not steady",
    "Under way at the end",
    "hidden columns",
    "steady",
    "measured with a",
    "bottleneck:",
    "no clear bottleneck:",
    "memory, at most",
    "memory of the machine",
    "write-ahead log, at most",
    "again:",
    "time spent:",
    "report:",
    // Operations take longer on a busy machine, and are timed one by one there.
    "Operations too short to be timed",
    "column «harness» has",
];

/// Beginnings of the headings of sections that depend on the machine.
const MACHINE: [&str; 4] = ["Bottleneck", "Where the users' time went", "Under way at the end", "Warnings"];

/// Every number as `#`, with its unit of time or size as one word.
fn without_numbers(line: &str) -> String {
    let mut out = String::new();
    for word in line.split_inclusive(' ') {
        let (word, space) = word.strip_suffix(' ').map_or((word, ""), |word| (word, " "));
        let trimmed = word.trim_end_matches([',', ';', ')', '%']);
        let is_unit = ["ns", "µs", "ms", "s", "B", "KiB", "MiB", "GiB"].contains(&trimmed);
        if is_unit && out.ends_with("# ") {
            out.truncate(out.len() - 1);
            out.push_str(&word[trimmed.len()..]);
        } else if word.starts_with(|c: char| c.is_ascii_digit()) {
            let rest = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',' || c == '.');
            out.push('#');
            // A comma behind the number belongs to the sentence.
            let ends = word[..word.len() - rest.len()].ends_with(',') && rest.is_empty();
            out.push_str(if ends { "," } else { rest });
        } else if let Some((name, _)) =
            word.split_once('=').filter(|(_, it)| it.starts_with(|c: char| c.is_ascii_digit()))
        {
            out.push_str(&format!("{name}=#"));
        } else {
            out.push_str(word);
        }
        out.push_str(space);
    }
    out
}

/// A fact of the settings; of facts about the disk only the name.
fn fact(told: &str) -> String {
    let about_the_disk = ["storage: ", "raw syncs: "].into_iter().find(|name| told.starts_with(name));
    about_the_disk.map_or_else(|| told.to_owned(), |name| format!("{name}…"))
}

/// The report of the single case, without the parts that differ from run to run.
fn redacted(report: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut section = "";
    let mut begins = true;
    for line in report.lines().filter(|line| !line.contains(['┤', '█', '└'])) {
        let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            begins = true;
        } else if std::mem::replace(&mut begins, false) && !line.starts_with(' ') {
            section = line.split(", over").next().unwrap_or_default();
            lines.extend([String::new(), section.to_owned()]);
        } else if words.starts_with("checks: ") {
            section = "Bottleneck";
        } else if MACHINE.iter().any(|name| section.starts_with(name)) {
            // These rows depend on the machine.
        } else if section == "By operation" {
            // The rows' names of a table only: its columns depend on the durations.
            lines.push(line.split("  ").next().unwrap_or_default().to_owned());
        } else if line.starts_with(if section.starts_with("Bourse") { "    " } else { "  " }) {
            // Paragraphs are filled to the terminal's width: where their lines end depends on the numbers.
            let last = lines.last_mut().expect("a line goes on");
            *last = format!("{last} {words}");
        } else {
            lines.push(words);
        }
    }
    let is_fleeting = |line: &String| {
        FLEETING.iter().any(|begin| line.starts_with(begin))
            || line.contains(" cores · ")
            || line.starts_with("Bourse ")
    };
    let warnings = lines.iter().position(|line| line == "Warnings");
    let settings = lines.iter().position(|line| line == "Settings").expect("they are shown");
    let shown = lines[..warnings.unwrap_or(settings)].iter().chain(&lines[settings..]);
    let mut shown: Vec<String> = shown.map(|line| without_numbers(line)).filter(|line| !is_fleeting(line)).collect();
    // The names of folded columns below a table.
    shown.retain(|line| !line.starts_with("zero in every row: "));
    // The kinds of file next to the sum depend on the engine and on the duration. The cost of an operation is left out if it
    // was read late, as on a busy machine, whose headline has no interval and says so.
    let busy = "(no interval: others used # CPUs; try a quieter machine) ";
    let fleeting = [", database # + log #", "# of waiting in each second, ", ", # each", busy];
    for fleeting in fleeting {
        for line in shown.iter_mut().filter(|line| line.contains(fleeting)) {
            *line = line.replace(fleeting, "");
        }
    }
    for facts in shown.iter_mut().filter(|line| line.contains(" · storage: ")) {
        *facts = facts.split(" · ").map(fact).collect::<Vec<_>>().join(" · ");
    }
    shown.dedup_by(|a, b| a.is_empty() && b.is_empty());
    shown.join("\n").trim().to_owned()
}

fn shown(name: &str, arguments: &[&str]) {
    // A folder on a disk: the temporary folder may be in memory, which is another durability class.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is room for a folder");
    let more = ["--rounds", "1", "--warmup", "0s", "--seed", "1"];
    let ended = output(folder.path(), &[&["micro", "run"], arguments, &more[..]].concat());
    assert_eq!(ended.status.code(), Some(0), "{}{}", text(&ended.stdout), text(&ended.stderr));
    insta::assert_snapshot!(name, redacted(&text(&ended.stdout)));
}

#[test]
fn log_growth() {
    shown("log_growth", &["log-growth", "sqlite:x.db?journal=wal&sync=off", "--count", "500", "-s", "rows=1000"]);
}

#[test]
fn client_mix() {
    shown(
        "client_mix",
        &["client-mix", "sqlite::memory:", "-s", "queries=400", "-s", "clients=2", "-s", "phase=mixed"],
    );
}

#[test]
fn commit() {
    shown("commit", &["commit", "sqlite:x.db?journal=wal&sync=full", "--count", "50", "-s", "raw_syncs=20"]);
}

#[test]
fn sql() {
    shown("sql", &["sql", "sqlite::memory:", "-s", "file=example", "--count", "200"]);
}

#[test]
fn numbers_are_taken_out_and_nothing_else() {
    let check = |line: &str, expected: &str| assert_eq!(without_numbers(line), expected);
    check(
        "syncs: 2,007, database 3 + log 2,004, 312.5 a second, 1.004 each",
        "syncs: #, database # + log #, # a second, # each",
    );
    check("written: 15.7 MiB, 2.44 MiB a second", "written: #, # a second");
    check("rows=1000 sqlite:x.db?journal=wal table1", "rows=# sqlite:x.db?journal=wal table1");
    check("100,222 rows/s   volatile", "# rows/s   volatile");
}
