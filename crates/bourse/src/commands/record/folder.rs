//! Folders of recordings: `PROCESS-N.trace` for each process, and `databases/` with copies of what they opened.

use crate::interrupt::is_alive;
use bourse_engine::open_named;
use bourse_trace::{Record, TraceError, TraceHead, TraceReader, TraceSummary};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader};
use std::path::PathBuf;

/// Trace of one process.
#[derive(Debug)]
pub(super) struct ProcessTrace {
    pub(super) path: PathBuf,
}

/// Counts of a trace, as far as it can be read.
#[derive(Debug)]
pub(super) struct ReadTrace {
    pub(super) head: TraceHead,
    pub(super) summary: TraceSummary,
    /// Reason that not all can be read.
    error: Option<TraceError>,
    has_ended: bool,
    /// Bytes up to the end of the last record.
    bytes: u64,
}

impl ReadTrace {
    /// Reason that records may be missing at the end; `None` if the process ended in good order.
    pub(super) fn incompleteness(&self) -> Option<String> {
        match &self.error {
            Some(error) => Some(error.to_string()),
            None if self.has_ended => None,
            None if self.summary.stopped.is_some() => self.summary.stopped.clone(),
            None if self.runs() => Some("the process still runs, and is recorded further".to_owned()),
            None if self.head.by_extension => {
                Some("the process was killed, called _exit, or replaced itself by another program".to_owned())
            }
            None => Some("the process was killed, or replaced itself by another program".to_owned()),
        }
    }

    /// Whether the process still runs.
    pub(super) fn runs(&self) -> bool {
        i32::try_from(self.head.process).is_ok_and(is_alive)
    }
}

impl ProcessTrace {
    /// Name of the file.
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Reader of the records.
    pub(super) fn reader(&self) -> Result<TraceReader<BufReader<File>>, TraceError> {
        bourse_trace::reader(open_named(&self.path)?)
    }

    /// Passes each record that can be read to `each`, and counts it.
    pub(super) fn read(&self, mut each: impl FnMut(&Record)) -> Result<ReadTrace, TraceError> {
        let mut reader = self.reader()?;
        let (mut summary, mut error) = (TraceSummary::default(), None);
        for record in reader.by_ref() {
            match record {
                Ok(record) => {
                    each(&record);
                    summary.add(record);
                }
                Err(found) => error = Some(found),
            }
        }
        let (head, has_ended, bytes) = (reader.head(), reader.has_ended(), reader.position());
        Ok(ReadTrace { head, summary, error, has_ended, bytes })
    }

    /// Removes the free space behind the last record of a process that was killed.
    pub(super) fn cut_free_space(&self, read: &ReadTrace) -> io::Result<()> {
        if read.error.is_some() || read.has_ended || read.runs() {
            return Ok(());
        }
        OpenOptions::new().write(true).open(&self.path)?.set_len(read.bytes)
    }
}

/// Traces of listed files, in their order.
pub(super) fn traces(files: io::Result<Vec<PathBuf>>) -> io::Result<Vec<ProcessTrace>> {
    Ok(files?.into_iter().map(|path| ProcessTrace { path }).collect())
}
