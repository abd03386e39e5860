//! Memory of a round's users: the harness's part and the engine's.

use crate::reconcile::Recording;
use bourse_engine::Engine;
use bourse_record::{NameValue, ProcessUse};

/// Memory at a moment, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MemoryUse {
    /// Memory of the process, as the operating system counts it.
    resident: Option<u64>,
    /// Memory of the engine, by its own count.
    engine: Option<u64>,
}

impl MemoryUse {
    pub(crate) fn now(engine: &dyn Engine) -> Self {
        Self {
            resident: ProcessUse::now().resident_bytes,
            engine: engine.footprint().ok().map(|footprint| footprint.memory_bytes),
        }
    }
}

/// Memory before and after sessions were opened.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SessionMemory {
    pub(crate) before: MemoryUse,
    pub(crate) seated: MemoryUse,
}

/// Memory of recorders and ledgers at the end of the round, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HarnessMemory {
    users: u64,
    all: u64,
    most: u64,
}

impl HarnessMemory {
    pub(crate) fn by(recordings: &[Recording]) -> Self {
        let each = recordings.iter().map(Recording::memory_bytes);
        Self { users: recordings.len() as u64, all: each.clone().sum(), most: each.max().unwrap_or(0) }
    }
}

impl SessionMemory {
    /// The memory as facts of a round.
    pub(crate) fn facts(&self, held: &HarnessMemory) -> Vec<NameValue> {
        let kib = |bytes: u64| bytes / 1_024;
        let grown = |of: fn(&MemoryUse) -> Option<u64>| Some(of(&self.seated)?.saturating_sub(of(&self.before)?));
        let recorders = format!(
            "{} KiB a user on average, {} KiB at most; users: {}",
            kib(held.all / held.users.max(1)),
            kib(held.most),
            held.users
        );
        let sessions = grown(|memory| memory.resident).map(|resident| {
            let engine = grown(|memory| memory.engine)
                .map(|engine| format!(", the engine's own count {} KiB", kib(engine)))
                .unwrap_or_default();
            format!("{} KiB resident{engine}", kib(resident))
        });
        let facts = [("memory of recorders", Some(recorders)), ("memory that sessions took when made", sessions)];
        let facts = facts.into_iter().filter_map(|(name, value)| Some((name, value?)));
        facts.map(|(name, value)| NameValue::new(name, value)).collect()
    }
}
