//! Sizes of the server's database, and resource usage of its process.

use bourse_engine::{FileIo, Footprint, IoCounts, LockStats, ServerProcess};
use bourse_record::ProcessUse;
use serde::{Deserialize, Serialize};

/// [`Footprint`] in the protocol's form, with the resource usage of the server's process.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Sizes {
    data_bytes: u64,
    log_bytes: u64,
    journal_bytes: u64,
    memory_bytes: u64,
    /// Number of waits for locks, and nanoseconds spent in them.
    locks: Option<[u64; 2]>,
    /// CPU time in user mode and in the kernel in nanoseconds, memory, bytes read and written.
    process: [u64; 5],
}

impl Sizes {
    /// Adds the resource usage of the server's process.
    #[must_use]
    pub fn with(self, process: ProcessUse) -> Self {
        let ns = |seconds: Option<f64>| seconds.map_or(0, |seconds| (seconds * 1e9) as u64);
        let bytes = |bytes: Option<u64>| bytes.unwrap_or(0);
        let process = [
            ns(process.cpu_user_s),
            ns(process.cpu_system_s),
            bytes(process.resident_bytes),
            bytes(process.read_bytes),
            bytes(process.written_bytes),
        ];
        Self { process, ..self }
    }
}

impl From<Footprint> for Sizes {
    fn from(it: Footprint) -> Self {
        Self {
            data_bytes: it.data_bytes,
            log_bytes: it.log_bytes,
            journal_bytes: it.journal_bytes,
            memory_bytes: it.memory_bytes,
            locks: it.locks.map(|locks| [locks.waits, locks.wait_ns]),
            process: [0; 5],
        }
    }
}

impl From<Sizes> for Footprint {
    fn from(it: Sizes) -> Self {
        let [cpu_user_ns, cpu_system_ns, resident_bytes, read_bytes, written_bytes] = it.process;
        Self {
            server: Some(ServerProcess { cpu_user_ns, cpu_system_ns, resident_bytes, read_bytes, written_bytes }),
            data_bytes: it.data_bytes,
            log_bytes: it.log_bytes,
            journal_bytes: it.journal_bytes,
            memory_bytes: it.memory_bytes,
            locks: it.locks.map(|[waits, wait_ns]| LockStats { waits, wait_ns }),
        }
    }
}

/// [`IoCounts`] in the protocol's form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Io {
    /// Source of the counts.
    pub source: String,
    /// Counts of the database's own files, log, journal, temporary files, and of operations that cannot be attributed.
    kinds: [Files; 5],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Files {
    syncs: u64,
    sync_ns: Option<u64>,
    writes: u64,
    written_bytes: u64,
    reads: u64,
    read_bytes: u64,
}

impl From<IoCounts> for Io {
    fn from(it: IoCounts) -> Self {
        let kinds = [it.database, it.log, it.journal, it.temporary, it.together].map(|of| {
            let FileIo { syncs, sync_ns, writes, written_bytes, reads, read_bytes } = of;
            Files { syncs, sync_ns, writes, written_bytes, reads, read_bytes }
        });
        Self { source: it.source.to_owned(), kinds }
    }
}

impl Io {
    /// Converts to counts with that source.
    pub fn counts(&self, source: &'static str) -> IoCounts {
        let [database, log, journal, temporary, together] = self.kinds.map(|of| {
            let Files { syncs, sync_ns, writes, written_bytes, reads, read_bytes } = of;
            FileIo { syncs, sync_ns, writes, written_bytes, reads, read_bytes }
        });
        IoCounts { source, database, log, journal, temporary, together }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_the_same_on_the_other_side() {
        let files = |first: u64, sync_ns| FileIo {
            syncs: first,
            sync_ns,
            writes: first + 1,
            written_bytes: first + 2,
            reads: first + 3,
            read_bytes: first + 4,
        };
        let counts = IoCounts {
            source: "somebody",
            database: files(10, Some(7)),
            log: files(20, None),
            journal: files(30, Some(0)),
            temporary: files(40, None),
            together: files(50, None),
        };
        let bytes = postcard::to_allocvec(&Io::from(counts)).unwrap();
        let io: Io = postcard::from_bytes(&bytes).unwrap();
        assert_eq!((io.source.as_str(), io.counts("somebody")), ("somebody", counts));
    }
}
