//! Storage of the database's files, and the meaning of its syncs.

use super::{CaseView, Remark};
use crate::Tone;
use crate::units;
use bourse_record::{Durability, Medium, RawSyncs, Storage, SyncMeaning};

/// File system, device, write cache, mount options.
pub fn storage_words(storage: &Storage) -> String {
    let mut words = storage.file_system.clone();
    if let Some(device) = &storage.device {
        words.push_str(&format!(" on {device}"));
    }
    let medium = match storage.medium {
        Medium::Device | Medium::Unknown => None,
        Medium::Memory => Some("memory"),
        Medium::Network => Some("another machine's"),
        Medium::Program => Some("a program's or the host's"),
    };
    let cache = storage
        .volatile_write_cache
        .map(|volatile| if volatile { "write cache: write back" } else { "write cache: write through" });
    let fua = storage.fua.map(|fua| if fua { "FUA" } else { "no FUA" });
    let known: Vec<&str> = [medium, cache, fua].into_iter().flatten().collect();
    if !known.is_empty() {
        words.push_str(&format!(" ({})", known.join(", ")));
    }
    units::printable(&format!("{words}, mounted {}", storage.mount_options))
}

/// Duration of a raw sync, and its meaning.
pub fn sync_words(syncs: &RawSyncs) -> String {
    let times = format!(
        "{} of one page: median {}, p90 {}",
        units::count(syncs.count),
        units::duration_ns(syncs.p50_ns as f64),
        units::duration_ns(syncs.p90_ns as f64)
    );
    format!("{times}: {}", meaning(syncs.meaning()))
}

const fn meaning(meaning: SyncMeaning) -> &'static str {
    match meaning {
        SyncMeaning::NothingWritten => "shorter than any device's answer, so nothing is written",
        SyncMeaning::Cache => "faster than flash: a cache below may acknowledge them",
        SyncMeaning::Flash => "as flash takes",
        SyncMeaning::Disk => "as a turning disk or a network takes",
    }
}

/// Basis of the durability class besides the settings, if there is reason for doubt.
pub(super) fn doubt(view: &CaseView<'_>) -> Option<Remark> {
    let class = view.case.engine.durability;
    if !matches!(class, Durability::Durable | Durability::Consistent) {
        return None;
    }
    let mut reasons = Vec::new();
    let conditions = view.conditions();
    if let Some(syncs) = &conditions.raw_syncs {
        let of_syncs = syncs.meaning();
        if matches!(of_syncs, SyncMeaning::NothingWritten | SyncMeaning::Cache) {
            let median = units::duration_ns(syncs.p50_ns as f64);
            reasons.push(format!("raw syncs take {median}, {}", meaning(of_syncs)));
        }
    }
    if let Some(storage) = &conditions.storage {
        match storage.medium {
            Medium::Network => reasons.push("the files lie on another machine".to_owned()),
            Medium::Program => reasons.push("a program or the host keeps the files".to_owned()),
            Medium::Unknown => {
                reasons.push(format!("the storage below {} is not known", units::printable(&storage.file_system)))
            }
            Medium::Device | Medium::Memory => {}
        }
        let weakened = |option: &&str| matches!(*option, "nobarrier" | "barrier=0");
        if let Some(option) = storage.mount_options.split(',').find(weakened) {
            reasons.push(format!("the file system is mounted {option}: a sync flushes no cache"));
        }
    }
    if reasons.is_empty() {
        return None;
    }
    Some(Remark::new(Tone::Doubtful, format!("{class} if the disk obeys: {}", reasons.join("; "))))
}
