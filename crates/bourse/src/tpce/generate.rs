//! `bourse tpce gen`: the initial database as files.

use crate::args::{self, Gen};
use crate::failure::{Exit, Failure};
use crate::inputs::inputs;
use crate::interrupt;
use crate::progress::{Step, note};
use bourse_gen::{FlatOptions, Format, GenError, write_flat};
use bourse_schema::{Table, tables};

/// Writes the files.
pub(crate) fn generate(arguments: &Gen) -> Result<(), Failure> {
    let last = arguments.first.saturating_add(arguments.count).saturating_sub(1);
    let total = arguments.total.unwrap_or(last.max(1_000));
    let part = super::part(arguments.first, arguments.count, total, arguments.scale, arguments.days)?;
    let tables = chosen(&arguments.tables)?;
    let threads = super::threads(arguments.threads);
    let inputs = inputs(arguments.flat_in.as_deref())?;
    let cancel = interrupt::flag()?;

    let customers = part.customers();
    let step = Step::counting_bytes(format!("generating {customers} customers, {} days", part.days()), 1);
    let options = FlatOptions {
        tables,
        threads,
        format: match arguments.format {
            args::Format::Flat => Format::Flat,
            args::Format::Csv => Format::Csv,
        },
        cancel,
        progress: &|progress| step.of(progress.bytes, progress.expected_bytes),
    };
    match write_flat(&arguments.output, &inputs, part, &options) {
        Ok(written) => {
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

fn failure(error: &GenError) -> Failure {
    match error {
        GenError::Cancelled => interrupt::interrupted("no file is complete, all that was begun is removed"),
        GenError::Io { source, .. } => Failure::new(Exit::Target, error.to_string())
            .detail("cause", source.to_string())
            .hint("partly written files were removed; -o chooses another folder"),
        GenError::Input { source, .. } => Failure::usage(error.to_string()).detail("cause", source.to_string()),
    }
}

/// The tables of these names, SQL's or the files'; none means all.
fn chosen(names: &[String]) -> Result<Option<Vec<&'static Table>>, Failure> {
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
