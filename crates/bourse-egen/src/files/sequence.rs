//! Units of work whose bytes must be joined in order, with the files they go to.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::RowUnit;
use bourse_schema::{Table, tables};

use crate::files::spool::Spool;
use crate::files::{FlatFormat, GenError, csv};

/// One output file.
#[derive(Debug)]
pub(crate) struct OutputFile {
    /// Number of the table, in the order of declaration.
    pub(crate) number: usize,
    table: &'static Table,
    path: PathBuf,
    partial: PathBuf,
    file: File,
    is_complete: bool,
}

impl OutputFile {
    /// Creates a file whose names are free.
    fn create(folder: &Path, table: &'static Table, format: FlatFormat) -> Result<Self, GenError> {
        let path = folder.join(format!("{}.{}", table.file, format.extension()));
        let partial = folder.join(format!("{}.{}.partial", table.file, format.extension()));
        refuse_taken(&path)?;
        let file = File::create_new(&partial).map_err(GenError::io("create", &partial))?;
        let number = tables::all().iter().position(|other| *other == table).expect("every table is declared");
        let mut this = Self { number, table, path, partial, file, is_complete: false };
        if format == FlatFormat::Csv {
            this.write(&csv::header(table))?;
        }
        Ok(this)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), GenError> {
        self.file.write_all(bytes).map_err(GenError::io("write", &self.partial))
    }

    /// Renames the file to its final name, after all its rows.
    pub(crate) fn complete(mut self) -> Result<(&'static Table, PathBuf), GenError> {
        fs::rename(&self.partial, &self.path).map_err(GenError::io("rename", &self.partial))?;
        self.is_complete = true;
        Ok((self.table, std::mem::take(&mut self.path)))
    }
}

/// An incomplete file is removed.
impl Drop for OutputFile {
    fn drop(&mut self) {
        if !self.is_complete {
            // If it cannot be removed, its name still marks it as unfinished.
            let _ = fs::remove_file(&self.partial);
        }
    }
}

/// Refuses a name that is in use.
///
/// # Errors
/// [`GenError::Io`] with the name.
pub fn refuse_taken(path: &Path) -> Result<(), GenError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        looked => {
            Err(GenError::io("create", path)(looked.err().unwrap_or_else(|| io::ErrorKind::AlreadyExists.into())))
        }
    }
}

/// Units that make rows of the same tables.
#[derive(Debug)]
pub(crate) struct UnitSequence {
    units: Vec<RowUnit>,
    /// Expected bytes of all units.
    pub(crate) weight: u64,
    /// Numbers of the wanted tables.
    pub(crate) numbers: Vec<usize>,
    partials: Vec<PathBuf>,
    outputs: Mutex<Vec<OutputFile>>,
    /// Number of the unit that may write.
    turn: AtomicUsize,
    /// Units that are done before their turn.
    parked: Mutex<BTreeMap<usize, Vec<Spool>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked takes the whole run with it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl UnitSequence {
    pub(crate) fn create(
        folder: &Path,
        units: Vec<RowUnit>,
        weight: u64,
        wanted: &[&'static Table],
        format: FlatFormat,
    ) -> Result<Self, GenError> {
        let tables = units.first().map(|unit| unit.tables()).unwrap_or_default();
        let mut outputs = Vec::new();
        for table in tables.into_iter().filter(|table| wanted.contains(table)) {
            outputs.push(OutputFile::create(folder, table, format)?);
        }
        Ok(Self {
            units,
            weight,
            numbers: outputs.iter().map(|output| output.number).collect(),
            partials: outputs.iter().map(|output| output.partial.clone()).collect(),
            outputs: Mutex::new(outputs),
            turn: AtomicUsize::new(0),
            parked: Mutex::default(),
        })
    }

    pub(crate) fn units(&self) -> &[RowUnit] {
        &self.units
    }

    /// The unit that may write now.
    pub(crate) fn turn(&self) -> usize {
        self.turn.load(Ordering::Acquire)
    }

    /// Buffers for a unit that works before its turn.
    pub(crate) fn spools(&self, place: usize) -> Vec<Spool> {
        let path = |partial: &PathBuf| {
            let mut name = partial.clone().into_os_string();
            name.push(format!(".{place}"));
            Spool::new(PathBuf::from(name))
        };
        self.partials.iter().map(path).collect()
    }

    /// Writes bytes of the `nth` of the wanted tables. Only for the unit whose turn it is.
    pub(crate) fn write(&self, nth: usize, bytes: &[u8]) -> Result<(), GenError> {
        locked(&self.outputs)[nth].write(bytes)
    }

    /// Writes buffered bytes. Only for the unit whose turn it is.
    pub(crate) fn append(&self, spools: Vec<Spool>) -> Result<(), GenError> {
        for (spool, output) in spools.into_iter().zip(locked(&self.outputs).iter_mut()) {
            spool.append_to(&mut output.file)?;
        }
        Ok(())
    }

    /// Completes a unit: units that wait for it are written too.
    pub(crate) fn done(&self, place: usize, spools: Option<Vec<Spool>>) -> Result<(), GenError> {
        {
            let mut parked = locked(&self.parked);
            if self.turn() != place {
                parked.insert(place, spools.expect("who writes before the turn has spools"));
                return Ok(());
            }
            if let Some(spools) = spools {
                // The turn came after the last look.
                parked.insert(place, spools);
            } else {
                self.turn.store(place + 1, Ordering::Release);
            }
        }
        loop {
            let Some(next) = locked(&self.parked).remove(&self.turn()) else { return Ok(()) };
            self.append(next)?;
            let _parking = locked(&self.parked);
            self.turn.fetch_add(1, Ordering::Release);
        }
    }

    pub(crate) fn into_outputs(self) -> Vec<OutputFile> {
        self.outputs.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
