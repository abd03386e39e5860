//! Files are read back by the library's reader.

use bourse_egen::files::parquet::{ParquetColumn, ParquetKind, TableWriter, write_parquet};
use bourse_egen::files::{FlatOptions, GenError, write_flat};
use bourse_egen::{Inputs, Part};
use bourse_schema::{Date, Timestamp, Value, tables};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, RowAccessor};

fn columns() -> Vec<ParquetColumn> {
    let kinds = [
        ("number", ParquetKind::Int64),
        ("small", ParquetKind::Int32),
        ("real", ParquetKind::Real),
        ("money", ParquetKind::Decimal { precision: 10, scale: 2 }),
        ("flag", ParquetKind::Bool),
        ("day", ParquetKind::Date),
        ("moment", ParquetKind::Timestamp),
        ("text", ParquetKind::Text),
        ("body", ParquetKind::Bytes),
    ];
    kinds.into_iter().map(|(name, kind)| ParquetColumn::new(name, kind).nullable()).collect()
}

const DAY: Date = Date::from_ymd(2005, 1, 3);

fn row() -> [Value<'static>; 9] {
    [
        Value::Int(1 << 40),
        Value::Int(-7),
        Value::Real(0.5),
        Value::Decimal { units: -1_234, scale: 2 },
        Value::Bool(true),
        Value::Date(DAY),
        Value::Timestamp(Timestamp::at(DAY, 32_400_001)),
        Value::Text("«é»"),
        Value::Blob(&[0, 255]),
    ]
}

fn read(file: Vec<u8>) -> SerializedFileReader<bytes::Bytes> {
    SerializedFileReader::new(bytes::Bytes::from(file)).expect("a file that can be read")
}

#[test]
fn values_of_every_kind_are_read_back() {
    let mut table = TableWriter::new("all", columns(), Vec::new()).unwrap();
    table.push(&row()).unwrap();
    table.push(&[Value::Null; 9]).unwrap();
    let reader = read(table.finish().unwrap());
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 2);
    let first = &rows[0];
    assert_eq!((first.get_long(0).unwrap(), first.get_int(1).unwrap()), (1 << 40, -7));
    assert_eq!((first.get_double(2).unwrap(), first.get_bool(4).unwrap()), (0.5, true));
    let fields: Vec<&Field> = first.get_column_iter().map(|(_, field)| field).collect();
    assert_eq!(fields[3].to_string(), "-12.34");
    assert_eq!(*fields[5], Field::Date(DAY.days()));
    assert_eq!(*fields[6], Field::TimestampMillis(Timestamp::at(DAY, 32_400_001).millis()));
    assert_eq!(first.get_string(7).unwrap(), "«é»");
    assert_eq!(first.get_bytes(8).unwrap().data(), [0, 255]);
    assert!(rows[1].get_column_iter().all(|(_, field)| *field == Field::Null));
}

#[test]
fn a_table_without_rows_has_its_columns() {
    let reader = read(TableWriter::new("all", columns(), Vec::new()).unwrap().finish().unwrap());
    assert_eq!(reader.metadata().file_metadata().schema_descr().num_columns(), 9);
    assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
}

#[test]
fn many_rows_are_several_row_groups() {
    let mut table = TableWriter::new("many", vec![ParquetColumn::new("n", ParquetKind::Int64)], Vec::new()).unwrap();
    for number in 0..200_000 {
        table.push(&[Value::Int(number)]).unwrap();
    }
    let reader = read(table.finish().unwrap());
    assert_eq!(reader.num_row_groups(), 2);
    let read = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().get_long(0).unwrap());
    assert!(read.eq(0..200_000));
}

#[test]
fn what_does_not_fit_a_column_is_refused() {
    let table = || TableWriter::new("all", vec![ParquetColumn::new("n", ParquetKind::Int32)], Vec::new()).unwrap();
    for value in [Value::Null, Value::Int(1 << 40), Value::Real(1.0), Value::Text("1")] {
        let error = table().push(&[value]).unwrap_err().to_string();
        assert!(error.starts_with("invalid value") && error.contains("for column n: expected Int32"), "{error}");
    }
    assert!(table().push(&[]).unwrap_err().to_string().contains("a row has 0 values, expected 1"));
    let wide = ParquetColumn::new("n", ParquetKind::Decimal { precision: 19, scale: 2 });
    assert!(TableWriter::new("all", vec![wide], Vec::new()).is_err());
}

#[test]
fn every_declared_table_can_be_described() {
    for table in tables::all() {
        let columns: Vec<ParquetColumn> = table.columns.iter().map(ParquetColumn::from).collect();
        let count = columns.len();
        let reader = read(TableWriter::new(table.name, columns, Vec::new()).unwrap().finish().unwrap());
        assert_eq!(reader.metadata().file_metadata().schema_descr().num_columns(), count, "{}", table.name);
    }
}

/// Rows of a generated table, in the text of the reference's flat files.
fn generated(table: &str) -> (Vec<String>, Vec<String>) {
    let inputs = Inputs::builtin();
    let part = Part::whole(1_000, 1).expect("a database");
    let only = FlatOptions {
        tables: Some(vec![bourse_schema::find(table).expect("a table")]),
        threads: 2,
        ..FlatOptions::default()
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let flat = write_flat(folder.path(), &inputs, part, &only).expect("a file");
    let file = write_parquet(folder.path(), &inputs, part, &only).expect("a file");
    assert_eq!((flat.files.len(), file.files.len()), (1, 1));
    assert!(file.bytes > 0 && std::fs::read_dir(folder.path()).expect("a folder").count() == 2);
    let flat = std::fs::read_to_string(&flat.files[0].1).expect("text");
    let reader = read(std::fs::read(&file.files[0].1).expect("a file"));
    let rows = reader.get_row_iter(None).expect("rows").map(|row| {
        let row = row.expect("a row");
        row.get_column_iter().map(|(_, field)| text(field)).collect::<Vec<_>>().join("|")
    });
    (flat.lines().map(str::to_owned).collect(), rows.collect())
}

fn text(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Bool(flag) => u8::from(*flag).to_string(),
        Field::Str(text) => text.clone(),
        Field::Date(days) => Date::from_days(*days).to_string(),
        Field::TimestampMillis(ms) => Timestamp::from_millis(*ms).to_string(),
        Field::Decimal(_) | Field::Int(_) | Field::Long(_) => field.to_string(),
        other => panic!("no kind of these tables: {other:?}"),
    }
}

#[test]
fn generated_tables_have_the_rows_of_the_flat_files() {
    for table in ["account_permission", "customer", "trade", "daily_market", "taxrate", "trade_type", "zip_code"] {
        let (flat, rows) = generated(table);
        assert!(flat == rows, "{table}: {:?}", flat.iter().zip(&rows).find(|(flat, row)| flat != row));
    }
}

#[test]
fn what_is_cancelled_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cancelled = FlatOptions { cancel: std::sync::Arc::new(true.into()), ..FlatOptions::default() };
    let part = Part::whole(1_000, 1).expect("a database");
    let made = write_parquet(folder.path(), &Inputs::builtin(), part, &cancelled);
    assert!(matches!(made, Err(GenError::Cancelled)), "{made:?}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}
