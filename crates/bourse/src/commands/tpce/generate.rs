//! `bourse tpce gen`: the initial database as files.

use crate::args::{self, TpceGen};
use crate::failure::{Exit, Failure, Result};
use crate::inputs::inputs;
use crate::interrupt;
use crate::output::{OwnedFolder, print};
use crate::plan::show::Steps;
use crate::plan::work;
use crate::progress::{ProgressStep, note};
use crate::work_folder::WorkFolder;
use bourse_driver::SECOND;
use bourse_egen::files::{FlatFormat, FlatOptions, GenError, WrittenFiles, write_flat};
use bourse_egen::{Inputs, Part};
use bourse_schema::{Cardinality, Table, tables};
use std::path::Path;

/// Writes the files.
pub(crate) fn generate(arguments: &TpceGen) -> Result<()> {
    let last = arguments.first.saturating_add(arguments.count).saturating_sub(1);
    let total = arguments.total.unwrap_or(last.max(1_000));
    let part = crate::tpce::part(arguments.first, arguments.count, total, arguments.scale, arguments.days)?;
    let tables = chosen(&arguments.tables)?;
    let threads = crate::tpce::threads(arguments.threads);
    let (write, format): (Write, FlatFormat) = match arguments.format {
        args::GenFormat::Flat => (write_flat, FlatFormat::Flat),
        args::GenFormat::Csv => (write_flat, FlatFormat::Csv),
        args::GenFormat::Parquet => (parquet()?, FlatFormat::default()),
    };
    let ending = ending(arguments.format);
    let chosen = tables.as_deref().unwrap_or(tables::all());
    // An empty table has no file.
    let written = chosen.iter().filter(|table| table.cardinality != Cardinality::Empty);
    let names: Vec<String> = written.map(|table| format!("{}.{ending}", table.file)).collect();
    if arguments.plan.dry_run {
        /// Rows written in a second, about: 1 to 8 million, as the disk is.
        const ROWS_S: u64 = 2_000_000;
        let (customers, days) = (arguments.count, arguments.days);
        let plan = Steps {
            name: "tpce gen",
            steps: vec![format!("{customers} customers, {days} days of trades, into {} files", names.len())],
            seed: None,
            about_ns: work::rows(customers, days).saturating_mul(SECOND) / ROWS_S,
            writes: vec![format!("{}: {}", arguments.output.display(), names.join(", "))],
        };
        return print(&plan.show());
    }
    let inputs = inputs(arguments.flat_in.as_deref())?;
    let folder = OwnedFolder::at(&arguments.output, arguments.overwrite)?;
    folder.refuse_others(names.iter().map(String::as_str))?;
    // Folder of the files until all of them are complete.
    let work = WorkFolder::new(".bourse-gen-", &arguments.output).map_err(|error| {
        Failure::usage("cannot make a folder for unfinished files")
            .detail("folder", arguments.output.display().to_string())
            .detail("cause", error.to_string())
    })?;
    let cancel = interrupt::flag()?;

    let customers = part.customers();
    let step = ProgressStep::counting_bytes(format!("generating {customers} customers, {} days", part.days()), 1);
    let options = FlatOptions {
        tables,
        threads,
        format,
        cancel,
        progress: &|progress| step.of(progress.bytes, progress.expected_bytes),
    };
    match write(work.path(), &inputs, part, &options) {
        Ok(written) => {
            folder.take(&written.files.iter().map(|(_, file)| file.clone()).collect::<Vec<_>>())?;
            step.at(written.bytes);
            step.done();
            note(&format!("{} files in {}", written.files.len(), arguments.output.display()));
            Ok(())
        }
        Err(error) => {
            step.abandon();
            Err(failure(&error))
        }
    }
}

/// Ending of the files' names in a format.
const fn ending(format: args::GenFormat) -> &'static str {
    match format {
        args::GenFormat::Flat => FlatFormat::Flat.extension(),
        args::GenFormat::Csv => FlatFormat::Csv.extension(),
        args::GenFormat::Parquet => "parquet",
    }
}

/// Function that writes the files.
type Write = fn(&Path, &Inputs, Part, &FlatOptions<'_>) -> Result<WrittenFiles, GenError>;

#[cfg(feature = "parquet")]
#[expect(clippy::unnecessary_wraps, reason = "other builds have none")]
fn parquet() -> Result<Write> {
    Ok(bourse_egen::files::parquet::write_parquet)
}

#[cfg(not(feature = "parquet"))]
fn parquet() -> Result<Write> {
    Err(Failure::usage("this build writes no Parquet files")
        .hint("install it with `--features full`, or use --format csv"))
}

fn failure(error: &GenError) -> Failure {
    match error {
        GenError::Cancelled => interrupt::interrupted("no file is complete, all that was begun is removed"),
        GenError::Io { source, .. } => Failure::new(Exit::Target, error.to_string())
            .detail("cause", source.to_string())
            .hint("partly written files were removed; -o chooses another folder"),
        GenError::Input { source, .. } => Failure::usage(error.to_string()).detail("cause", source.to_string()),
    }
}

/// The tables of these names, SQL's or the files'; `None` for all.
fn chosen(names: &[String]) -> Result<Option<Vec<&'static Table>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let of_name = |name: &String| {
        let plain = name.trim().trim_end_matches(".txt");
        let found = tables::all()
            .iter()
            .find(|table| table.name.eq_ignore_ascii_case(plain) || table.file.eq_ignore_ascii_case(plain));
        found.copied().ok_or_else(|| {
            let known: Vec<_> = tables::all().iter().map(|table| table.name).collect();
            Failure::usage(format!(
                "unknown table '{name}' in --tables{}",
                bourse_engine::did_you_mean(name, known.iter().copied())
            ))
            .hint(format!("tables: {}", known.join(", ")))
        })
    };
    names.iter().map(of_name).collect::<Result<_, _>>().map(Some)
}
