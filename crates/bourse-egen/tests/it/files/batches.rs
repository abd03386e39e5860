use std::collections::BTreeMap;
use std::fmt::Write as _;

use bourse_egen::files::{BatchOptions, FlatOptions, batches, write_flat};
use bourse_egen::{Inputs, Part};
use bourse_schema::{Batch, Table, Value, tables};

/// All tables but news and daily prices, which are only large.
fn wanted() -> Vec<&'static Table> {
    let large = ["news_item", "news_xref", "daily_market"];
    tables::all().iter().copied().filter(|table| !large.contains(&table.name)).collect()
}

/// A row as a line of the flat file, from its values.
fn line(values: &[Value<'_>], out: &mut String) {
    for (n, value) in values.iter().enumerate() {
        let separator = if n == 0 { "" } else { "|" };
        out.push_str(separator);
        match *value {
            Value::Null => Ok(()),
            Value::Int(number) => write!(out, "{number}"),
            Value::Bool(flag) => write!(out, "{}", u8::from(flag)),
            Value::Decimal { units, scale: 2 } => write!(out, "{}", bourse_schema::Amount::from_units(units)),
            Value::Decimal { units, .. } => write!(out, "{}", bourse_schema::TaxRate::from_units(units)),
            Value::Real(number) => write!(out, "{number}"),
            Value::Date(date) => write!(out, "{date}"),
            Value::Timestamp(time) => write!(out, "{time}"),
            Value::Text(text) => write!(out, "{text}"),
            Value::Blob(bytes) => write!(out, "{}", String::from_utf8_lossy(bytes)),
        }
        .expect("a String takes all");
    }
    out.push('\n');
}

#[test]
fn batches_hold_the_rows_of_the_files_in_order() {
    let inputs = Inputs::builtin();
    let part = Part::whole(2_000, 1).expect("a database");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = FlatOptions { tables: Some(wanted()), ..FlatOptions::default() };
    let written = write_flat(folder.path(), &inputs, part, &options).expect("files can be written");
    for threads in [1, 4] {
        let mut lines: BTreeMap<&str, String> = BTreeMap::new();
        let options = BatchOptions { tables: Some(wanted()), threads };
        batches(&inputs, part, &options, |batch: Box<dyn Batch>| {
            assert!(!batch.is_empty() && batch.len() < 20_000, "{} rows of {}", batch.len(), batch.table().name);
            let text = lines.entry(batch.table().name).or_default();
            for index in 0..batch.len() {
                batch.with_row(index, &mut |values| line(values, text));
            }
            Ok::<(), ()>(())
        })
        .expect("the consumer takes all");
        assert_eq!(lines.len(), written.files.len());
        for (table, path) in &written.files {
            let file = std::fs::read_to_string(path).expect("text");
            assert!(lines[table.name] == file, "{} with {threads} threads", table.name);
        }
    }
}

#[test]
fn the_large_tables_come_in_small_batches() {
    let inputs = Inputs::builtin();
    let part = Part::whole(1_000, 1).expect("a database");
    let large = ["news_item", "daily_market"].map(|name| bourse_schema::find(name).expect("a table"));
    let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
    let options = BatchOptions { tables: Some(large.to_vec()), threads: 2 };
    batches(&inputs, part, &options, |batch| {
        let most = if batch.table().name == "news_item" { 8 } else { 4_096 };
        assert!(batch.len() <= most, "{} rows of {}", batch.len(), batch.table().name);
        *rows.entry(batch.table().name).or_default() += batch.len();
        Ok::<(), ()>(())
    })
    .expect("the consumer takes all");
    assert_eq!(rows, BTreeMap::from([("daily_market", 685 * 1_305), ("news_item", 1_000)]));
}

#[test]
fn an_error_of_the_consumer_ends_the_generation() {
    let inputs = Inputs::builtin();
    let part = Part::whole(5_000, 300).expect("a database");
    let mut taken = 0;
    let error = batches(&inputs, part, &BatchOptions { threads: 3, ..BatchOptions::default() }, |_| {
        taken += 1;
        if taken == 10 { Err("full") } else { Ok(()) }
    });
    assert_eq!((error, taken), (Err("full"), 10));
}
