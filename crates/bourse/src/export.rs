//! `bourse report --format`: runs as tables for programs, a file each, or in the format of a benchmark service.

use crate::args::{ReportArgs, TableFormat};
use crate::commands::report::{merged, other_document, read, refused_kind, texts};
use crate::commands::runs::{is_results_folder, run_folders};
use crate::failure::{Failure, Result};
use crate::output::OwnedFolder;
use crate::progress::note;
use bourse_record::{DocumentKind, RunFile, drivers};
use bourse_report::{DataTable, bencher, data_csv, data_ndjson, data_tables, github_action_benchmark};
use std::path::{Path, PathBuf};

/// Writes every table of the runs into a folder.
pub(crate) fn export(format: TableFormat, arguments: &ReportArgs) -> Result<()> {
    let Some(folder) = arguments.output.as_deref() else {
        return Err(Failure::usage("no folder for the tables").hint("name it: -o DIR"));
    };
    if folder.is_file() {
        return Err(Failure::usage(format!("{} is a file: --format writes a folder of files", folder.display()))
            .hint("name a folder: -o DIR"));
    }
    let runs = runs(&arguments.runs)?;
    let files = match format {
        TableFormat::Csv => files(&runs, "csv", |table| Ok(data_csv(table, texts(arguments.csv)).into_bytes()))?,
        TableFormat::Ndjson => files(&runs, "ndjson", |table| Ok(data_ndjson(table).into_bytes()))?,
        TableFormat::Parquet => files(&runs, "parquet", parquet)?,
        TableFormat::Bencher => vec![("bencher.json".to_owned(), of_one(&runs, bencher)?.into_bytes())],
        TableFormat::GithubBenchmark => {
            let names = ["bigger-is-better.json", "smaller-is-better.json"].map(str::to_owned);
            names.into_iter().zip(of_one(&runs, github_action_benchmark)?.map(String::into_bytes)).collect()
        }
    };
    OwnedFolder::at(folder, arguments.overwrite)?.write(&files)?;
    note(&match format {
        TableFormat::Csv | TableFormat::Ndjson | TableFormat::Parquet => {
            let (count, folder) = (files.len(), folder.display());
            format!("{count} tables in {folder}; `columns` says what each column holds")
        }
        TableFormat::Bencher | TableFormat::GithubBenchmark => {
            let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
            format!("{} in {}", names.join(" and "), folder.display())
        }
    });
    Ok(())
}

/// Every table of the runs as the name and the bytes of its file.
fn files(
    runs: &[RunFile],
    ending: &str,
    written: impl Fn(&DataTable) -> Result<Vec<u8>>,
) -> Result<Vec<(String, Vec<u8>)>> {
    data_tables(runs).iter().map(|table| Ok((format!("{}.{ending}", table.name), written(table)?))).collect()
}

/// Converts a single run for a benchmark service.
fn of_one<T>(runs: &[RunFile], written: impl Fn(&RunFile) -> Option<T>) -> Result<T> {
    let [run] = runs else {
        return Err(Failure::usage(format!("a benchmark service takes one run at a time: these are {}", runs.len()))
            .hint("name one run's folder"));
    };
    written(run).ok_or_else(|| {
        Failure::usage("this run has no figure that counts")
            .hint("`bourse report` says why: a failed check, or a round without a figure")
    })
}

/// The named runs, and those of named folders of results; drivers that shared a round as one.
fn runs(paths: &[PathBuf]) -> Result<Vec<RunFile>> {
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
fn run(path: &Path) -> Result<RunFile> {
    match other_document(path) {
        None => read(path),
        Some((DocumentKind::Suite, file)) => read(&file.with_file_name(DocumentKind::Run.file_name())),
        Some((kind, _)) => Err(refused_kind(kind, path, "has no tables for programs").hint(
            "it is JSON of a published form (bourse schema acid|crash|faults); -o FILE.csv has its tables as text",
        )),
    }
}

#[cfg(not(feature = "parquet"))]
fn parquet(_table: &DataTable) -> Result<Vec<u8>> {
    Err(Failure::usage("this build writes no Parquet files")
        .hint("install it with `--features full`, or use --format csv or ndjson"))
}

#[cfg(feature = "parquet")]
fn parquet(table: &DataTable) -> Result<Vec<u8>> {
    use bourse_egen::files::parquet::{ParquetColumn, ParquetKind, TableWriter};
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
            DataKind::Text => ParquetKind::Text,
            DataKind::Count => ParquetKind::Int64,
            DataKind::Real => ParquetKind::Real,
            DataKind::Flag => ParquetKind::Bool,
        };
        ParquetColumn::new(name, kind).nullable()
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
