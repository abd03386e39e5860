//! Shared libraries that engines load at run time: found, loaded once, identified.
//!
//! This module calls nothing in a library: an engine's crate does, which declares the functions with [`c_interface!`](crate::c_interface).

use crate::{EngineError, Result, locked, refuse_no_file};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

/// A library that was loaded, for as long as the process lives.
#[derive(Debug)]
pub struct LoadedLibrary<A> {
    /// Path of its file; its name if the system's loader does not report the path.
    pub path: PathBuf,
    /// Its functions.
    pub api: A,
    sha256: OnceLock<String>,
}

impl<A> LoadedLibrary<A> {
    /// SHA-256 of the library's file.
    pub fn sha256(&self) -> &str {
        self.sha256.get_or_init(|| match fs::read(&self.path) {
            Ok(bytes) => format!("{:x}", Sha256::digest(bytes)),
            Err(error) => format!("cannot be read: {error}"),
        })
    }
}

/// A library that an engine needs, and those of its files that this process has loaded.
#[derive(Debug)]
pub struct EngineLibrary<A: 'static> {
    /// Environment variable that names the library.
    pub variable: &'static str,
    /// File name that the system's loader looks for.
    pub file_name: &'static str,
    /// Folders that are searched if the loader finds none.
    pub folders: &'static [&'static str],
    /// Whether the newest file with a version behind that name is preferred, which packages without development files have alone.
    pub is_versioned: bool,
    /// Advice where to get the library.
    pub advice: &'static str,
    /// Loads the file at a path: its functions, or the reason why they are unavailable.
    pub open: fn(&Path) -> Result<A, String>,
    /// The loaded libraries, by the requested paths.
    pub loaded: Mutex<Option<HashMap<PathBuf, &'static LoadedLibrary<A>>>>,
}

impl<A> EngineLibrary<A> {
    /// Loads the library, once per process: the one named, or the one that the environment variable names, or the system's. One that is
    /// named is the only one tried.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported), with the reason, and where to get the library.
    pub fn load(&self, named: Option<&Path>) -> Result<&'static LoadedLibrary<A>> {
        let named = named.map(Path::to_owned).or_else(|| env::var_os(self.variable).map(PathBuf::from));
        // The system's loader takes a name without a folder for one of its own libraries.
        let here = |path: &Path| path.components().count() == 1 && path.is_file();
        let named = named.map(|path| if here(&path) { Path::new(".").join(path) } else { path });
        if let Some(path) = named.or_else(|| if self.is_versioned { installed(self.file_name) } else { None }) {
            return self.load_path(path);
        }
        let folders = self.folders.iter().map(|folder| Path::new(folder).join(self.file_name));
        let found = folders.filter(|path| path.is_file());
        let mut first = None;
        for path in std::iter::once(PathBuf::from(self.file_name)).chain(found) {
            match self.load_path(path) {
                Ok(library) => return Ok(library),
                Err(absent) => first = first.or(Some(absent)),
            }
        }
        Err(first.expect("the name without a folder was tried"))
    }

    fn load_path(&self, path: PathBuf) -> Result<&'static LoadedLibrary<A>> {
        let mut loaded = locked(&self.loaded);
        let loaded = loaded.get_or_insert_default();
        if let Some(library) = loaded.get(&path) {
            return Ok(library);
        }
        let absent = |why| EngineError::unsupported(format!("cannot load {}: {why}; {}", path.display(), self.advice));
        if path.components().count() > 1 {
            // The system's loader would wait for the other end of a FIFO.
            refuse_no_file(&path).map_err(|error| absent(error.to_string()))?;
        }
        let api = (self.open)(&path).map_err(absent)?;
        let real = path.canonicalize().ok().or_else(|| mapped_as(&path)).unwrap_or_else(|| path.clone());
        let library: &'static _ = Box::leak(Box::new(LoadedLibrary { path: real, api, sha256: OnceLock::new() }));
        loaded.insert(path, library);
        Ok(library)
    }
}

/// File that the system's loader found for a name, as the kernel lists it. It may have a longer version than the name.
fn mapped_as(name: &Path) -> Option<PathBuf> {
    let stem = |path: &Path| Some(path.file_name()?.to_str()?.split(".so").next()?.to_owned());
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let mut paths =
        maps.lines().filter_map(|line| line.split_once('/').map(|(_, rest)| PathBuf::from(format!("/{rest}"))));
    paths.find(|path| stem(path).is_some() && stem(path) == stem(name))
}

/// Newest library of that name in the usual folders, where packages without development files install it under its versioned name.
fn installed(name: &str) -> Option<PathBuf> {
    let machine = format!("/usr/lib/{}-linux-gnu", env::consts::ARCH);
    let folders = ["/usr/local/lib", &machine, "/usr/lib64", "/usr/lib", "/opt/homebrew/lib"];
    folders.iter().find_map(|folder| newest(name, fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path())))
}

/// Library of that name with the highest version behind it.
fn newest(name: &str, paths: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    let version = |path: &PathBuf| -> Option<Vec<u32>> {
        let rest = path.file_name()?.to_str()?.strip_prefix(name)?;
        // Debian's LevelDB has a letter of Debian's own behind its number.
        let parts = rest.split('.').map(|part| part.trim_end_matches('d')).filter(|part| !part.is_empty());
        parts.map(|part| part.parse().ok()).collect()
    };
    paths.filter_map(|path| Some((version(&path)?, path))).max().map(|(_, path)| path)
}

/// Declares the functions of a C library that are used, as a structure of pointers that is loaded by name.
///
/// The library is never unloaded: it may have threads, or handlers that the
/// end of the process calls.
#[macro_export]
macro_rules! c_interface {
    ($(#[$meta:meta])* struct $api:ident; $($name:ident = $symbol:literal: ($($argument:ty),* $(,)?) $(-> $result:ty)?;)+) => {
        $(#[$meta])*
        pub(crate) struct $api {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)+
        }

        impl $api {
            /// Loads the library at a path, or by a name that the system's loader looks for.
            ///
            /// # Safety
            /// It must be the library whose functions are declared, and its initialisers must be harmless in this process.
            unsafe fn open(path: &std::path::Path) -> Result<Self, String> {
                // The loader's own text is the source of the error.
                let cause = |e: $crate::libloading::Error| {
                    std::error::Error::source(&e).map_or_else(|| e.to_string(), ToString::to_string)
                };
                // SAFETY: by the caller's word.
                let library = unsafe { $crate::libloading::Library::new(path) }.map_err(cause)?;
                let api = Self {
                    $(
                        // SAFETY: the symbol is the function of that name, whose signature this is; the library is never
                        // unloaded, so the pointer stays good.
                        $name: *unsafe { library.get::<unsafe extern "C" fn($($argument),*) $(-> $result)?>($symbol) }
                            .map_err(cause)?,
                    )+
                };
                std::mem::forget(library);
                Ok(api)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_library_is_found_and_no_other_file() {
        let all = |names: &[&str]| names.iter().map(|name| Path::new("/lib").join(name)).collect::<Vec<_>>();
        let of = |names: &[&str]| newest("librocksdb.so", all(names).into_iter());
        assert_eq!(of(&["libc.so.6", "librocksdb.so.old", "librocksdbjni.so"]), None);
        let found = of(&["librocksdb.so", "librocksdb.so.7.8", "librocksdb.so.10.2.1", "librocksdb.so.9.10"]);
        assert_eq!(found, Some("/lib/librocksdb.so.10.2.1".into()));
    }
}
