//! Guarantees of the file system below a database.

use crate::Durability;
#[cfg(target_os = "linux")]
use crate::{Medium, Storage};
use std::path::{Path, PathBuf};

/// The folder that holds the file `path`.
pub fn folder_of(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    Some(if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() })
}

/// Bytes that a file takes on its disk, without its holes; 0 if it cannot be looked at.
pub fn bytes_on_disk(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| crate::folders::allocated(&found))
}

/// Warning that `what` is on the in-memory file system `name`.
///
/// ```
/// let warning = bourse_engine::lost_with_machine("the database", "tmpfs");
/// assert_eq!(warning, "the database is on tmpfs: nothing survives the machine, whatever the settings say");
/// ```
pub fn lost_with_machine(what: &str, name: &str) -> String {
    format!("{what} is on {name}: nothing survives the machine, whatever the settings say")
}

/// Durability of a database at a path, or in memory without one: its class, the reason, and a warning.
pub type PlacedDurability = (Durability, String, Option<String>);

/// Durability that settings give on a disk, at the place of a database: none where that is memory.
pub fn durability_at(path: Option<&Path>, of_settings: (Durability, String)) -> PlacedDurability {
    placed(path.is_none(), path.and_then(memory_file_system), of_settings)
}

fn placed(in_memory: bool, file_system: Option<&str>, (class, why): (Durability, String)) -> PlacedDurability {
    match file_system {
        _ if in_memory => (Durability::Volatile, "the database is in memory".to_owned(), None),
        Some(name) => {
            let why = format!("the database is on {name}, which is memory");
            (Durability::Volatile, why, Some(lost_with_machine("the database", name)))
        }
        None => (class, why, None),
    }
}

/// Name of the file system of `path` (which need not exist yet) if its content is lost with the machine; `None`
/// otherwise.
#[cfg(target_os = "linux")]
pub fn memory_file_system(path: &Path) -> Option<&'static str> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let found = rustix::fs::statfs(path).or_else(|_| rustix::fs::statfs(directory)).ok()?;
    // From linux/magic.h; the type's width and sign differ between architectures.
    match found.f_type as u32 {
        0x0102_1994 => Some("tmpfs"),
        0x8584_58f6 => Some("ramfs"),
        _ => match Storage::of(directory)?.medium {
            Medium::Memory(name) => Some(name),
            _ => None,
        },
    }
}

/// Name of the file system of `path` if its content is lost with the machine: unknown on this system.
#[cfg(not(target_os = "linux"))]
pub fn memory_file_system(_: &Path) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_give_no_durability_in_memory() {
        let full = || (Durability::Durable, "sync=full".to_owned());
        assert_eq!(placed(false, None, full()), (Durability::Durable, "sync=full".to_owned(), None));
        let (class, why, warning) = placed(false, Some("tmpfs"), full());
        assert_eq!((class, why.as_str()), (Durability::Volatile, "the database is on tmpfs, which is memory"));
        assert!(warning.is_some_and(|warning| warning.contains("nothing survives the machine")));
        assert_eq!(durability_at(None, full()), (Durability::Volatile, "the database is in memory".to_owned(), None));
    }
}
