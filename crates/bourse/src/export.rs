//! `bourse report --format`: runs as tables for programs, a file each.

use crate::args::{Report, TableFormat};
use crate::failure::Failure;
use crate::history::{is_results_folder, run_folders};
use crate::output::write_whole;
use crate::progress::note;
use crate::report::{merged, other_document, read, refused_kind, texts};
use bourse_record::{DocumentKind, RunFile, drivers};
use bourse_report::{CsvText, DataTable, data_csv, data_ndjson, data_tables};
use std::path::{Path, PathBuf};

/// A table as the bytes of its file.
type Written = fn(&DataTable, CsvText) -> Result<Vec<u8>, Failure>;

/// Writes every table of the runs into a folder.
pub(crate) fn export(format: TableFormat, arguments: &Report) -> Result<(), Failure> {
    let Some(folder) = arguments.output.as_deref() else {
        return Err(Failure::usage("no folder for the tables").hint("name it: -o DIR"));
    };
    if folder.is_file() {
        return Err(Failure::usage(format!("{} is a file: --format writes a folder of files", folder.display()))
            .hint("name a folder: -o DIR"));
    }
    let (ending, written): (&str, Written) = match format {
        TableFormat::Csv => ("csv", |table, texts| Ok(data_csv(table, texts).into_bytes())),
        TableFormat::Ndjson => ("ndjson", |table, _| Ok(data_ndjson(table).into_bytes())),
        TableFormat::Parquet => ("parquet", parquet()?),
    };
    let tables = data_tables(&runs(&arguments.runs)?);
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::usage("cannot create a folder")
            .detail("folder", folder.display().to_string())
            .detail("cause", error.to_string())
    })?;
    for table in &tables {
        let bytes = written(table, texts(arguments.csv))?;
        write_whole(&folder.join(table.name).with_extension(ending), &bytes)?;
    }
    note(&format!("{} tables in {}; `columns` says what each column holds", tables.len(), folder.display()));
    Ok(())
}

/// The runs that are named, those of a folder of results among them; drivers that shared a round as one.
fn runs(paths: &[PathBuf]) -> Result<Vec<RunFile>, Failure> {
    let mut runs = Vec::new();
    for path in paths {
        if is_results_folder(path) {
            let folders = run_folders(path)?;
            if folders.is_empty() {
                return Err(Failure::usage(format!("{} has no runs", path.display()))
                    .hint("expected a run's folder, a run.json, or a folder with results of runs, as bourse-runs"));
            }
            for folder in folders {
                runs.push(read(&folder)?);
            }
        } else {
            runs.push(run(path)?);
        }
    }
    if runs.len() > 1 && runs.iter().any(drivers::is_part) { Ok(vec![merged(runs)?]) } else { Ok(runs) }
}

/// A run, or the run behind a suite's document.
fn run(path: &Path) -> Result<RunFile, Failure> {
    match other_document(path) {
        None => read(path),
        Some((DocumentKind::Suite, file)) => read(&file.with_file_name(DocumentKind::Run.file_name())),
        Some((kind, _)) => Err(refused_kind(kind, path, "has no tables for programs").hint(
            "it is JSON of a published form (bourse schema acid|crash|faults); -o FILE.csv has its tables as text",
        )),
    }
}

#[cfg(feature = "parquet")]
#[expect(clippy::unnecessary_wraps, reason = "other builds have none")]
fn parquet() -> Result<Written, Failure> {
    Ok(|table, _| in_parquet(table))
}

#[cfg(not(feature = "parquet"))]
fn parquet() -> Result<Written, Failure> {
    Err(Failure::usage("this build writes no Parquet files")
        .hint("install it with `--features full`, or use --format csv or ndjson"))
}

#[cfg(feature = "parquet")]
fn in_parquet(table: &DataTable) -> Result<Vec<u8>, Failure> {
    use bourse_parquet::{Column, Kind, TableWriter};
    use bourse_report::{DataKind, DataValue};
    use bourse_schema::Value;

    fn value(value: &DataValue) -> Value<'_> {
        match value {
            DataValue::Nothing => Value::Null,
            DataValue::Text(text) => Value::Text(text),
            DataValue::Count(number) => Value::Int(*number),
            DataValue::Real(number) => Value::Real(*number),
            DataValue::Flag(flag) => Value::Bool(*flag),
        }
    }

    let column = |name: &str, kind| {
        let kind = match kind {
            DataKind::Text => Kind::Text,
            DataKind::Count => Kind::Int64,
            DataKind::Real => Kind::Real,
            DataKind::Flag => Kind::Bool,
        };
        Column::new(name, kind).nullable()
    };
    let columns = table.columns.iter().map(|it| column(it.name, it.kind)).collect();
    let write = || {
        let mut writer = TableWriter::new(table.name, columns, Vec::new())?;
        for row in &table.rows {
            writer.push(&row.iter().map(value).collect::<Vec<_>>())?;
        }
        writer.finish()
    };
    write().map_err(|error: std::io::Error| {
        Failure::usage(format!("cannot write the table {}", table.name)).detail("cause", error.to_string())
    })
}
