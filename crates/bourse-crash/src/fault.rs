//! Planted faults: traces of an engine, or a disk, that ignores syncs. They prove that an enumeration finds such faults.

use crate::disk::Disk;
use crate::profile::Device;
use crate::trace::{FileOperation, Trace};

/// Fault that is planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashFault {
    /// One sync in `n` does nothing; syncs of files and of the directory are counted together, those left out before which
    /// nothing was pending: their loss changes no state.
    EveryNth {
        /// Number *n*.
        n: usize,
        /// Remainder that selects the sync: 0 for the first of each *n*.
        phase: usize,
    },
    /// Syncs of the database file do nothing; those of its journal or log work.
    NeverDatabase,
    /// Syncs of the directory do nothing.
    NeverDirectory,
}

impl CrashFault {
    /// Description of the fault.
    pub fn words(self) -> String {
        match self {
            Self::EveryNth { n, .. } => format!("1 of {n} syncs ignored"),
            Self::NeverDatabase => "database file never synced".to_owned(),
            Self::NeverDirectory => "directory never synced".to_owned(),
        }
    }

    /// Copy of the trace with this fault; `database` is the name of the database file at the start.
    pub fn plant(self, trace: &Trace, database: &str) -> Trace {
        let database = trace.base.files.keys().position(|name| name == database);
        let (mut syncs, mut disk) = (0, Disk::new(trace, Device::POWERSAFE));
        let stays = |operation: &&FileOperation| {
            let pending = disk.pending_pieces();
            disk.apply(operation);
            let is_idle = disk.pending_pieces() == pending;
            let (is_file, is_directory, is_database) = match operation {
                FileOperation::Sync { file } => (true, false, Some(*file as usize) == database),
                FileOperation::SyncRange { file, .. } => (true, false, Some(*file as usize) == database),
                FileOperation::SyncDirectory { .. } => (false, true, false),
                _ => return true,
            };
            syncs += usize::from(!is_idle);
            match self {
                Self::EveryNth { .. } if is_idle => true,
                Self::EveryNth { n, phase } => (syncs - 1) % n != phase % n,
                Self::NeverDatabase => !is_file || !is_database,
                Self::NeverDirectory => !is_directory,
            }
        };
        let operations = trace.operations.iter().filter(stays).cloned().collect();
        Trace { base: trace.base.clone(), operations }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::{Directory, FileImage};

    #[test]
    fn a_fault_takes_away_its_syncs_alone() {
        let base = Directory { files: [("db".to_owned(), FileImage::default())].into() };
        let round = [
            FileOperation::Write { file: 0, offset: 0, bytes: vec![1] },
            FileOperation::Write { file: 1, offset: 0, bytes: vec![1] },
            FileOperation::Unlink { name: "x".to_owned() },
            FileOperation::Sync { file: 1 },
            FileOperation::SyncDirectory { folder: String::new() },
            FileOperation::Sync { file: 0 },
        ];
        let trace = Trace { base, operations: [round.clone(), round].concat() };
        let left = |fault: CrashFault| {
            let planted = fault.plant(&trace, "db");
            assert!(matches!(planted.operations[0], FileOperation::Write { .. }));
            assert_eq!(planted.operations.len() - planted.syncs(), 6, "writes stay");
            planted.operations.into_iter().filter(FileOperation::is_sync).collect::<Vec<_>>()
        };
        let (log, names, data) = (
            FileOperation::Sync { file: 1 },
            FileOperation::SyncDirectory { folder: String::new() },
            FileOperation::Sync { file: 0 },
        );
        assert_eq!(left(CrashFault::NeverDatabase), [&log, &names, &log, &names].map(Clone::clone));
        assert_eq!(left(CrashFault::NeverDirectory), [&log, &data, &log, &data].map(Clone::clone));
        let third = CrashFault::EveryNth { n: 3, phase: 1 };
        assert_eq!(left(third), [&log, &data, &log, &data].map(Clone::clone));
        assert_eq!(left(CrashFault::EveryNth { n: 100, phase: 7 }).len(), 6, "beyond the end there is none");
    }
}
