//! Guarantees of the file system below a database.

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
