//! The client's library: found and loaded once, with the engine that it will load.

use crate::api::{LibraryObject, RawMaster, RawProvider, RawUtil, value};
use bourse_engine::{EngineLibrary, LoadedLibrary, Result, c_interface};
use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

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

pub(crate) static LIBRARY: EngineLibrary<FirebirdClient> = EngineLibrary {
    variable: LIBRARY_VARIABLE,
    file_name: FILE_NAME,
    folders: &[
        "/opt/firebird/lib",
        "/usr/local/firebird/lib",
        "/usr/local/lib",
        "/Library/Frameworks/Firebird.framework/Resources/lib",
    ],
    is_versioned: false,
    advice: "Debian and Ubuntu have the client's library in the package libfbclient2 and the engine in firebird3.0-server-core, of which no server is started; Firebird's own archives have both; name the client's library in $BOURSE_FIREBIRD or with `library=`",
    open: FirebirdClient::open,
    loaded: Mutex::new(None),
};

/// Version and path of the available library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirebirdInfo {
    /// Version, such as `3.0.11`.
    pub version: String,
    /// Path of its file.
    pub path: PathBuf,
}

/// Looks for the library: the one named by `library=`, or by `$BOURSE_FIREBIRD`, or the system's; and for the engine of its
/// version.
///
/// # Errors
/// The reason, and where to get them.
pub fn info(library: Option<&Path>) -> Result<FirebirdInfo> {
    LIBRARY
        .load(library)
        .map(|library| FirebirdInfo { version: library.api.version.clone(), path: library.path.clone() })
}

/// Loaded library.
pub(crate) type FirebirdLibrary = LoadedLibrary<FirebirdClient>;

c_interface! {
    /// Functions of the library that give its objects; all others are methods of these.
    struct FirebirdFunctions;
    get_master = b"fb_get_master_interface\0": () -> *mut RawMaster;
    get_version = b"isc_get_client_version\0": (*mut c_char);
}

/// Client's side of the library.
pub(crate) struct FirebirdClient {
    pub(crate) version: String,
    /// Name of the engine that works in this process, such as `Engine12`.
    pub(crate) engine: String,
    pub(crate) master: *mut RawMaster,
    pub(crate) provider: *mut RawProvider,
    pub(crate) util: *mut RawUtil,
}

// SAFETY: these objects of the library live as long as the process, and any thread may use them.
unsafe impl Send for FirebirdClient {}
// SAFETY: as above.
unsafe impl Sync for FirebirdClient {}

impl FirebirdClient {
    /// Loads the library at a path, and looks for the engine of its version.
    fn open(path: &Path) -> Result<Self, String> {
        // SAFETY: a user who names a library asserts that it is Firebird's, whose initializers do not touch this program's data.
        let found = unsafe { FirebirdFunctions::open(path) }?;
        // SAFETY: the functions belong to the library, which stays loaded; the version's text has room in 128 bytes, and the
        // objects obtained live as long as the library.
        unsafe {
            let mut text: [c_char; 128] = [0; 128];
            (found.get_version)(text.as_mut_ptr());
            let text = CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned();
            let master = (found.get_master)();
            let table = LibraryObject::table(master);
            let util = (table.get_util)(master);
            let number = (LibraryObject::table(util).client_version)(util);
            let engine = engine_of(number >> 8)
                .ok_or_else(|| format!("it is a version of Firebird that is not known here: {text}"))?;
            let config = (table.get_config_manager)(master);
            let plugins = (LibraryObject::table(config).directory)(config, value::PLUGINS);
            if !plugins.is_null() {
                let file = Path::new(CStr::from_ptr(plugins).to_string_lossy().as_ref()).join(plugin_file(engine));
                if !file.is_file() {
                    return Err(format!(
                        "it is there, and the engine that it needs is not: there is no {}",
                        file.display()
                    ));
                }
            }
            Ok(Self {
                version: version_of(&text, number),
                engine: engine.to_owned(),
                master,
                provider: (table.get_dispatcher)(master),
                util,
            })
        }
    }
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
