//! The initial database as Parquet files.

use crate::files::parquet::{ParquetColumn, TableWriter};
use crate::files::{BatchOptions, FlatOptions, GenError, GenerationProgress, WrittenFiles, batches, refuse_taken};
use crate::{Inputs, Part, PartGenerator};
use bourse_schema::{Table, tables};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Writes a part's tables into a folder as Parquet files, like [`crate::files::write_flat`] as text: the same tables,
/// rows and order, and the same files' names except for the extension. The options' format is ignored.
///
/// # Errors
/// [`GenError::Io`] if a file cannot be written, [`GenError::Cancelled`] if the flag was set.
pub fn write_parquet(
    folder: &Path,
    inputs: &Inputs,
    part: Part,
    options: &FlatOptions<'_>,
) -> Result<WrittenFiles, GenError> {
    fs::create_dir_all(folder).map_err(failed("create", folder))?;
    let wanted: Vec<&'static Table> = options.tables.clone().unwrap_or_else(|| tables::all().to_vec());
    let generator = PartGenerator::new(inputs, part);
    let units = generator.units(|table| wanted.contains(&table));
    let expected_bytes = units.iter().map(|unit| generator.expected_bytes(*unit)).sum();
    let made: Vec<&'static Table> = units.iter().flat_map(|unit| unit.tables()).collect();
    let mut outputs = Outputs(Vec::new());
    // In the specification's order of tables.
    for table in tables::all().iter().filter(|table| wanted.contains(table) && made.contains(table)) {
        outputs.0.push(ParquetOutput::create(folder, table)?);
    }
    let mut bytes = 0;
    let with = BatchOptions { tables: Some(wanted), threads: options.threads };
    batches(inputs, part, &with, |batch| {
        if options.cancel.load(Ordering::Relaxed) {
            return Err(GenError::Cancelled);
        }
        let output = outputs.0.iter_mut().find(|output| output.table == batch.table());
        let output = output.expect("every table that is made has a file");
        for row in 0..batch.len() {
            let mut pushed = Ok(0);
            batch.with_row(row, &mut |values| pushed = output.writer.push(values));
            bytes += pushed.map_err(failed("write", &output.partial))? as u64;
        }
        (options.progress)(GenerationProgress { bytes, expected_bytes });
        Ok(())
    })?;
    let mut written = WrittenFiles { files: Vec::new(), bytes: 0 };
    for output in std::mem::take(&mut outputs.0) {
        let (table, path) = output.complete()?;
        written.bytes += path.metadata().map_err(failed("read", &path))?.len();
        written.files.push((table, path));
    }
    Ok(written)
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> GenError {
    let path = path.to_owned();
    move |source| GenError::Io { action, path, source }
}

/// Files in progress; unfinished ones are removed when dropped.
struct Outputs(Vec<ParquetOutput>);

impl Drop for Outputs {
    fn drop(&mut self) {
        for output in &self.0 {
            // If it cannot be removed, its name still marks it as unfinished.
            let _ = fs::remove_file(&output.partial);
        }
    }
}

struct ParquetOutput {
    table: &'static Table,
    path: PathBuf,
    partial: PathBuf,
    writer: TableWriter<File>,
}

impl ParquetOutput {
    fn create(folder: &Path, table: &'static Table) -> Result<Self, GenError> {
        let path = folder.join(format!("{}.parquet", table.file));
        let partial = folder.join(format!("{}.parquet.partial", table.file));
        refuse_taken(&path)?;
        let file = File::create_new(&partial).map_err(failed("create", &partial))?;
        let columns = table.columns.iter().map(ParquetColumn::from).collect();
        let writer = TableWriter::new(table.name, columns, file).map_err(failed("write", &partial))?;
        Ok(Self { table, path, partial, writer })
    }

    /// Writes the file's end and renames it to its final name, after all its rows.
    fn complete(self) -> Result<(&'static Table, PathBuf), GenError> {
        self.writer.finish().map_err(failed("write", &self.partial))?;
        fs::rename(&self.partial, &self.path).map_err(failed("rename", &self.partial))?;
        Ok((self.table, self.path))
    }
}
