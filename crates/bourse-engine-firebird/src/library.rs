//! The client's library: found and loaded once, with the engine that it will load.

use crate::api::{GetMaster, GetVersion, Object, RawMaster, RawProvider, RawUtil, value};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::env;
use std::ffi::{CStr, c_char};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Environment variable that names the library.
pub const LIBRARY_VARIABLE: &str = "BOURSE_FIREBIRD";

/// File name of the library.
const FILE_NAME: &str = if cfg!(windows) {
    "fbclient.dll"
} else if cfg!(target_os = "macos") {
    "libfbclient.dylib"
} else {
    "libfbclient.so.2"
};

/// Folders that are searched if the system's loader finds no library.
const FOLDERS: &[&str] = &[
    "/opt/firebird/lib",
    "/usr/local/firebird/lib",
    "/usr/local/lib",
    "/Library/Frameworks/Firebird.framework/Resources/lib",
];

/// Error for a library or an engine that is unavailable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{why}; Debian and Ubuntu have the client's library in the package libfbclient2 and the engine in firebird3.0-server-core, of which no server is started; Firebird's own archives have both; name the client's library in ${LIBRARY_VARIABLE} or with `library=`"
)]
pub struct Absent {
    why: String,
}

/// Version and path of the available library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// Version, such as `3.0.11`.
    pub version: String,
    /// Path of its file.
    pub path: PathBuf,
}

/// Looks for the library: the one named by `library=`, or by `$BOURSE_FIREBIRD`, or the system's; and for the engine of its
/// version.
///
/// # Errors
/// [`Absent`]: the reason, and where to get them.
pub fn info(library: Option<&Path>) -> Result<Info, Absent> {
    load(library).map(|library| Info { version: library.version.clone(), path: library.path.clone() })
}

/// Loaded library.
pub(crate) struct Library {
    pub(crate) path: PathBuf,
    pub(crate) version: String,
    /// Name of the engine that works in this process, such as `Engine12`.
    pub(crate) engine: String,
    pub(crate) master: *mut RawMaster,
    pub(crate) provider: *mut RawProvider,
    pub(crate) util: *mut RawUtil,
    sha256: OnceLock<String>,
}

// SAFETY: these objects of the library live as long as the process, and any thread may use them.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// SHA-256 of the library's file.
    pub(crate) fn sha256(&self) -> &str {
        self.sha256.get_or_init(|| match fs::read(&self.path) {
            Ok(bytes) => format!("{:x}", Sha256::digest(bytes)),
            Err(error) => format!("cannot be read: {error}"),
        })
    }
}

/// Loads the library, once per process.
pub(crate) fn load(library: Option<&Path>) -> Result<&'static Library, Absent> {
    static LOADED: Mutex<Option<HashMap<PathBuf, &'static Library>>> = Mutex::new(None);
    let named = library.map(Path::to_owned).or_else(|| env::var_os(LIBRARY_VARIABLE).map(PathBuf::from));
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let loaded = loaded.get_or_insert_default();
    // A library named by the user is the only one tried.
    let Some(named) = named else {
        let folders = FOLDERS.iter().map(|folder| Path::new(folder).join(FILE_NAME)).filter(|path| path.is_file());
        let mut first = None;
        for path in std::iter::once(PathBuf::from(FILE_NAME)).chain(folders) {
            match load_path(loaded, path) {
                Ok(library) => return Ok(library),
                Err(absent) => first = first.or(Some(absent)),
            }
        }
        return Err(first.expect("the name without a folder was tried"));
    };
    load_path(loaded, named)
}

fn load_path(loaded: &mut HashMap<PathBuf, &'static Library>, path: PathBuf) -> Result<&'static Library, Absent> {
    if let Some(library) = loaded.get(&path) {
        return Ok(library);
    }
    let absent = |e: libloading::Error| {
        // The loader's own words are behind those of the crate.
        let cause = std::error::Error::source(&e).map_or_else(|| e.to_string(), ToString::to_string);
        Absent { why: format!("cannot load {}: {cause}", path.display()) }
    };
    // SAFETY: a user who names a library asserts that it is Firebird's, whose initializers do not touch this program's data.
    let found = unsafe { libloading::Library::new(&path) }.map_err(absent)?;
    // SAFETY: the symbols are the functions of these names in Firebird's headers, whose signatures these are.
    let (get_master, get_version) = unsafe {
        let get_master: GetMaster = *found.get(b"fb_get_master_interface\0").map_err(absent)?;
        let get_version: GetVersion = *found.get(b"isc_get_client_version\0").map_err(absent)?;
        (get_master, get_version)
    };
    let real = path.canonicalize().ok().or_else(|| mapped_as(&path)).unwrap_or_else(|| path.clone());
    // It has threads, and ends what is open when the process ends: it must never be unloaded.
    std::mem::forget(found);
    // SAFETY: the functions belong to the library, which stays loaded; the version's text has room in 128 bytes, and the
    // objects obtained live as long as the library.
    let library = unsafe {
        let mut text: [c_char; 128] = [0; 128];
        get_version(text.as_mut_ptr());
        let text = CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned();
        let master = get_master();
        let table = Object::table(master);
        let util = (table.get_util)(master);
        let number = (Object::table(util).client_version)(util);
        let engine = engine_of(number >> 8).ok_or_else(|| Absent {
            why: format!("{} is a version of Firebird that is not known here: {text}", real.display()),
        })?;
        let config = (table.get_config_manager)(master);
        let plugins = (Object::table(config).directory)(config, value::PLUGINS);
        if !plugins.is_null() {
            let file = Path::new(CStr::from_ptr(plugins).to_string_lossy().as_ref()).join(plugin_file(engine));
            if !file.is_file() {
                return Err(Absent {
                    why: format!(
                        "{} is there, and the engine that it needs is not: there is no {}",
                        real.display(),
                        file.display()
                    ),
                });
            }
        }
        Library {
            version: version_of(&text, number),
            path: real,
            engine: engine.to_owned(),
            master,
            provider: (table.get_dispatcher)(master),
            util,
            sha256: OnceLock::new(),
        }
    };
    let library: &'static Library = Box::leak(Box::new(library));
    loaded.insert(path, library);
    Ok(library)
}

/// Engine of a major version of Firebird.
fn engine_of(major: u32) -> Option<&'static str> {
    Some(match major {
        3 => "Engine12",
        4 | 5 => "Engine13",
        6 => "Engine14",
        _ => return None,
    })
}

/// File name of an engine in the folder of plugins.
fn plugin_file(engine: &str) -> String {
    if cfg!(windows) {
        format!("{engine}.dll")
    } else if cfg!(target_os = "macos") {
        format!("lib{engine}.dylib")
    } else {
        format!("lib{engine}.so")
    }
}

/// Version from a text such as `LI-V6.3.11.33637 Firebird 3.0`: `number` has the 3.0, the text the patch number 11.
fn version_of(text: &str, number: u32) -> String {
    let (major, minor) = (number >> 8, number & 0xff);
    let correction = text.split_whitespace().next().and_then(|first| first.split('.').nth(2));
    match correction.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit())) {
        Some(correction) => format!("{major}.{minor}.{correction}"),
        None => format!("{major}.{minor}"),
    }
}

/// File that the system's loader found for a name, as the kernel lists it.
fn mapped_as(name: &Path) -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let paths = maps.lines().filter_map(|line| line.split_once('/').map(|(_, rest)| PathBuf::from(format!("/{rest}"))));
    let stem = name.file_name()?.to_str()?.split(".so").next()?.to_owned();
    paths.into_iter().find(|path| {
        path.file_name().and_then(|found| found.to_str()).and_then(|found| found.split(".so").next()) == Some(&stem)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_its_correction() {
        assert_eq!(version_of("LI-V6.3.11.33637 Firebird 3.0", 0x0300), "3.0.11");
        assert_eq!(version_of("LI-V6.3.4.3129 Firebird 5.0", 0x0500), "5.0.4");
        assert_eq!(version_of("", 0x0401), "4.1");
        assert_eq!([engine_of(3), engine_of(5), engine_of(2)], [Some("Engine12"), Some("Engine13"), None]);
    }
}
