use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bourse_egen::files::{FlatFormat, FlatOptions, GenError, read_inputs, write_flat};
use bourse_egen::{Inputs, Part};
use bourse_schema::{Table, tables};
use sha2::{Digest, Sha256};

/// Tables small enough to be read into memory.
fn small() -> Vec<&'static Table> {
    let large = ["news_item", "news_xref", "daily_market"];
    tables::all().iter().copied().filter(|table| !large.contains(&table.name)).collect()
}

/// Every file of a folder by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let read = |entry: std::fs::DirEntry| {
        (entry.file_name().into_string().expect("a plain name"), std::fs::read(entry.path()).expect("a file"))
    };
    entries.map(|entry| read(entry.expect("an entry"))).collect()
}

fn write(inputs: &Inputs, part: Part, options: &FlatOptions<'_>) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let written = write_flat(folder.path(), inputs, part, options).expect("files can be written");
    let files = files(folder.path());
    assert_eq!(written.files.len(), files.len());
    files
}

#[test]
fn files_of_the_first_part_and_of_others() {
    let inputs = Inputs::builtin();
    let options = FlatOptions { tables: Some(small()), ..FlatOptions::default() };
    let first = write(&inputs, Part::new(1, 1_000, 2_000, 500, 1).expect("a part"), &options);
    assert_eq!(first.len(), 29);
    let second = write(&inputs, Part::new(1_001, 1_000, 2_000, 500, 1).expect("a part"), &options);
    assert_eq!(second.len(), 20);
    assert!(second.keys().all(|name| first.contains_key(name) && !name.starts_with("TradeRequest")));
}

#[test]
fn threads_change_no_byte() {
    let inputs = Inputs::builtin();
    let part = Part::whole(4_000, 2).expect("a database");
    let with =
        |threads| write(&inputs, part, &FlatOptions { tables: Some(small()), threads, ..FlatOptions::default() });
    let one = with(1);
    for threads in [2, 4, 9] {
        let many = with(threads);
        assert_eq!(one.keys().collect::<Vec<_>>(), many.keys().collect::<Vec<_>>());
        for (name, bytes) in &one {
            assert!(many[name] == *bytes, "{name} with {threads} threads");
        }
    }
}

#[test]
fn one_table_alone_is_the_same() {
    let inputs = Inputs::builtin();
    let part = Part::whole(1_000, 1).expect("a database");
    let only = |name| FlatOptions {
        tables: Some(vec![bourse_schema::find(name).expect("a table")]),
        ..FlatOptions::default()
    };
    let all = write(&inputs, part, &FlatOptions::default());
    assert_eq!(all.len(), 32);
    for (name, file) in [("holding", "Holding.txt"), ("news_xref", "NewsXRef.txt"), ("watch_list", "WatchList.txt")] {
        let alone = write(&inputs, part, &only(name));
        assert_eq!(alone.keys().collect::<Vec<_>>(), [file]);
        assert!(alone[file] == all[file], "{file}");
    }
}

/// Fields of a line of comma-separated values.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        let last = fields.last_mut().expect("one at least");
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                last.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            other => last.push(other),
        }
    }
    fields
}

#[test]
fn csv_has_the_same_fields_below_a_header() {
    let inputs = Inputs::builtin();
    let part = Part::whole(1_000, 1).expect("a database");
    let with = |format| write(&inputs, part, &FlatOptions { tables: Some(small()), format, ..FlatOptions::default() });
    let (flat, csv) = (with(FlatFormat::Flat), with(FlatFormat::Csv));
    let mut quoted = 0;
    for table in small().into_iter().filter(|table| table.name != "trade_request") {
        let text = |files: &BTreeMap<String, Vec<u8>>, extension: &str| {
            String::from_utf8(files[&format!("{}.{extension}", table.file)].clone()).expect("text")
        };
        let (flat, csv) = (text(&flat, "txt"), text(&csv, "csv"));
        let mut lines = csv.lines();
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        assert_eq!(lines.next(), Some(names.join(",").as_str()));
        for (line, row) in lines.zip(flat.lines()) {
            assert_eq!(fields(line), row.split('|').collect::<Vec<_>>(), "{}", table.name);
            quoted += usize::from(line.contains('"'));
        }
        assert_eq!(csv.lines().count(), flat.lines().count() + 1, "{}", table.name);
    }
    assert!(quoted > 1_000, "company names have commas: {quoted} lines with quotes");
}

#[test]
fn an_interrupted_run_leaves_nothing_that_looks_complete() {
    let inputs = Inputs::builtin();
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("Trade.txt.partial.notes"), "not ours\n").expect("a file");
    let cancel = Arc::new(AtomicBool::new(false));
    let calls = AtomicUsize::new(0);
    let progress = |_| {
        if calls.fetch_add(1, Ordering::Relaxed) == 20 {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let options =
        FlatOptions { threads: 3, cancel: Arc::clone(&cancel), progress: &progress, ..FlatOptions::default() };
    let part = Part::whole(3_000, 5).expect("a database");
    let error = write_flat(folder.path(), &inputs, part, &options).expect_err("the flag was set");
    assert!(matches!(error, GenError::Cancelled), "{error}");
    assert_eq!(files(folder.path()).keys().collect::<Vec<_>>(), ["Trade.txt.partial.notes"]);
}

/// Regression: files of a table's name were replaced, and unfinished ones removed, regardless of their creator.
#[test]
fn a_name_that_is_taken_is_refused_and_left() {
    let part = Part::whole(1_000, 1).expect("a database");
    for name in ["Trade.txt", "Trade.txt.partial"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join(name), "mine\n").expect("a file");
        let error =
            write_flat(folder.path(), &Inputs::builtin(), part, &FlatOptions::default()).expect_err("it is taken");
        assert!(matches!(&error, GenError::Io { path, .. } if path.ends_with(name)), "{error}");
        let left = files(folder.path());
        assert_eq!(left.keys().collect::<Vec<_>>(), [name]);
        assert_eq!(left[name], b"mine\n");
    }
}

#[test]
fn progress_comes_to_about_what_was_expected() {
    let inputs = Inputs::builtin();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let last = std::sync::Mutex::new((0, 0));
    let progress = |progress: bourse_egen::files::GenerationProgress| {
        *last.lock().expect("one thread") = (progress.bytes, progress.expected_bytes);
    };
    let options = FlatOptions { progress: &progress, ..FlatOptions::default() };
    let part = Part::whole(1_000, 2).expect("a database");
    let written = write_flat(folder.path(), &inputs, part, &options).expect("files can be written");
    let (bytes, expected) = *last.lock().expect("one thread");
    assert_eq!(bytes, written.bytes);
    assert!(bytes.abs_diff(expected) < expected / 10, "{bytes} bytes, {expected} expected");
}

#[test]
fn an_unwritable_folder_is_named() {
    let inputs = Inputs::builtin();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let part = Part::whole(1_000, 1).expect("a database");
    let error = write_flat(&file, &inputs, part, &FlatOptions::default()).expect_err("a file is no folder");
    assert_eq!(error.to_string(), format!("cannot create {}", file.display()));
}

#[test]
fn input_folders_that_cannot_be_used() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let error = read_inputs(&folder.path().join("nowhere"), |path| std::fs::read(path)).expect_err("no folder");
    assert!(matches!(error, GenError::Io { action: "read", .. }), "{error}");
    let error = read_inputs(folder.path(), |path| std::fs::read(path)).expect_err("an empty folder");
    let cause = std::error::Error::source(&error).expect("a cause").to_string();
    assert_eq!(cause, "input file AreaCode.txt is missing");
}

/// Compares the official data, written by several threads, with the reference's hashes.
#[test]
fn files_are_the_references() {
    let (Some(golden), Some(flat_in)) = (std::env::var_os("BOURSE_GOLDEN"), std::env::var_os("BOURSE_FLAT_IN")) else {
        bourse_testkit::skipped("files are the reference's", "BOURSE_GOLDEN and BOURSE_FLAT_IN are not set");
        return;
    };
    let inputs = read_inputs(flat_in.as_ref(), |path| std::fs::read(path)).expect("official input data");
    let path = Path::new(&golden).join("tables/c5000-t5000-f500-w1.json");
    let golden: serde_json::Value = serde_json::from_slice(&std::fs::read(path).expect("a golden")).expect("JSON");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = FlatOptions { threads: 4, ..FlatOptions::default() };
    let part = Part::whole(5_000, 1).expect("a database");
    let written = write_flat(folder.path(), &inputs, part, &options).expect("files can be written");
    assert_eq!(written.files.len(), 32);
    for (table, path) in written.files {
        let mut sha256 = Sha256::new();
        std::io::copy(&mut std::fs::File::open(path).expect("a file"), &mut sha256).expect("readable");
        let got: String = sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(got, golden["tables"][table.file]["sha256"], "{}", table.name);
    }
}
