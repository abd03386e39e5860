//! Flat files, on any number of threads.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Inputs, Part, PartGenerator, RowUnit};
use bourse_schema::{Table, tables};

use crate::files::GenError;
use crate::files::sequence::{OutputFile, UnitSequence};
use crate::files::sink::FlatSink;

/// Format of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FlatFormat {
    /// Form of the reference generator: `|` between fields, no header, `.txt`.
    #[default]
    Flat,
    /// RFC 4180: commas, quotes where needed, a header line, `.csv`.
    Csv,
}

impl FlatFormat {
    /// Extension of the files' names.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Flat => "txt",
            Self::Csv => "csv",
        }
    }
}

/// Progress of the generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GenerationProgress {
    /// Bytes made so far.
    pub bytes: u64,
    /// Approximate total number of bytes.
    pub expected_bytes: u64,
}

/// Options of writing flat files.
#[derive(Clone)]
pub struct FlatOptions<'a> {
    /// Tables to write; all if `None`.
    pub tables: Option<Vec<&'static Table>>,
    /// Threads to use, at least one.
    pub threads: usize,
    /// Format of the files.
    pub format: FlatFormat,
    /// Flag that the caller sets to end the generation early.
    pub cancel: Arc<AtomicBool>,
    /// Callback for progress, called from any thread every few dozen kilobytes.
    pub progress: &'a (dyn Fn(GenerationProgress) + Sync),
}

impl Default for FlatOptions<'_> {
    fn default() -> Self {
        Self { tables: None, threads: 1, format: FlatFormat::Flat, cancel: Arc::default(), progress: &|_| () }
    }
}

/// Result of writing files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFiles {
    /// File of each table, in the specification's order of tables.
    pub files: Vec<(&'static Table, PathBuf)>,
    /// Bytes of all files, without header lines.
    pub bytes: u64,
}

/// One generation in progress, shared by its threads.
pub(crate) struct Generation<'a> {
    pub(crate) generator: PartGenerator<'a>,
    pub(crate) format: FlatFormat,
    options: &'a FlatOptions<'a>,
    bytes: AtomicU64,
    expected_bytes: u64,
    failed: AtomicBool,
}

impl Generation<'_> {
    pub(crate) fn is_stopped(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.options.cancel.load(Ordering::Relaxed)
    }

    pub(crate) fn advance(&self, bytes: usize) {
        let bytes = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        (self.options.progress)(GenerationProgress { bytes, expected_bytes: self.expected_bytes });
    }
}

/// Writes a part's tables into a folder, which is created if missing: 32 files if the part begins with the database's
/// first customer, 23 otherwise.
///
/// The files are those of the reference generator, whatever the number of threads. Until all rows are written their
/// names end in `.partial`; an error or the caller's flag removes them. No existing file is replaced.
///
/// # Errors
/// [`GenError::Io`] if a file exists already or cannot be written, [`GenError::Cancelled`] if the flag was set.
pub fn write_flat(
    folder: &Path,
    inputs: &Inputs,
    part: Part,
    options: &FlatOptions<'_>,
) -> Result<WrittenFiles, GenError> {
    std::fs::create_dir_all(folder).map_err(GenError::io("create", folder))?;
    let wanted: Vec<&'static Table> = options.tables.clone().unwrap_or_else(|| tables::all().to_vec());
    let generator = PartGenerator::new(inputs, part);
    let sequences = sequences(folder, &generator, &wanted, options.format)?;
    let expected_bytes = sequences.iter().map(|sequence| sequence.weight).sum();
    let run = Generation {
        generator,
        format: options.format,
        options,
        bytes: AtomicU64::new(0),
        expected_bytes,
        failed: AtomicBool::new(false),
    };
    let made = make_all(&run, &sequences, options.threads);
    let outputs: Vec<OutputFile> = sequences.into_iter().flat_map(UnitSequence::into_outputs).collect();
    made?;
    let mut numbered = Vec::with_capacity(outputs.len());
    for output in outputs {
        numbered.push((output.number, output.complete()?));
    }
    numbered.sort_by_key(|(number, _)| *number);
    let files = numbered.into_iter().map(|(_, file)| file).collect();
    Ok(WrittenFiles { files, bytes: run.bytes.into_inner() })
}

fn sequences(
    folder: &Path,
    generator: &PartGenerator<'_>,
    wanted: &[&'static Table],
    format: FlatFormat,
) -> Result<Vec<UnitSequence>, GenError> {
    let mut units: Vec<Vec<RowUnit>> = Vec::new();
    for unit in generator.units(|table| wanted.contains(&table)) {
        match units.last_mut().filter(|last| last[0].sequence() == unit.sequence()) {
            Some(last) => last.push(unit),
            None => units.push(vec![unit]),
        }
    }
    let create = |units: Vec<RowUnit>| {
        let weight = units.iter().map(|unit| generator.expected_bytes(*unit)).sum();
        UnitSequence::create(folder, units, weight, wanted, format)
    };
    units.into_iter().map(create).collect()
}

/// Makes all units; the first failure ends the generation.
fn make_all(run: &Generation<'_>, sequences: &[UnitSequence], threads: usize) -> Result<(), GenError> {
    let schedule = Mutex::new(UnitSchedule::new(sequences));
    let failure = Mutex::new(None);
    let work = || {
        let mut sink = FlatSink::new(run);
        loop {
            let next = schedule.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((sequence, place)) = next else { return };
            if let Err(error) = sink.unit(&sequences[sequence], place) {
                run.failed.store(true, Ordering::Relaxed);
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                return;
            }
        }
    };
    let units = sequences.iter().map(|sequence| sequence.units().len()).sum::<usize>();
    std::thread::scope(|scope| {
        // No more threads than there is work for. Where the system refuses one, those that were started do its part.
        for _ in 1..threads.min(units) {
            if run.is_stopped() || std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Assigns units to threads: first of sequences that no other thread works on, so that as few units as possible wait
/// for their turn.
struct UnitSchedule<'a> {
    sequences: &'a [UnitSequence],
    /// Number of units assigned, by sequence.
    handed_out: Vec<usize>,
}

impl<'a> UnitSchedule<'a> {
    fn new(sequences: &'a [UnitSequence]) -> Self {
        Self { sequences, handed_out: vec![0; sequences.len()] }
    }

    /// Expected bytes of the unassigned units of a sequence.
    fn left(&self, sequence: usize) -> u64 {
        let all = self.sequences[sequence].units().len();
        self.sequences[sequence].weight * (all - self.handed_out[sequence]) as u64 / all as u64
    }

    fn next(&mut self) -> Option<(usize, usize)> {
        let open = |&n: &usize| self.handed_out[n] < self.sequences[n].units().len();
        let best = (0..self.sequences.len())
            .filter(open)
            .max_by_key(|&n| (self.sequences[n].turn() == self.handed_out[n], self.left(n)))?;
        let place = self.handed_out[best];
        self.handed_out[best] += 1;
        Some((best, place))
    }
}
