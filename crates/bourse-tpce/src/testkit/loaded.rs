//! Private servers and files that begin with a loaded database.

use crate::testkit::load_small;
use bourse_egen::Inputs;
use bourse_engine::{Engine, Hosting, locked};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, Weak};
use tempfile::TempDir;

/// Data of a private server, or a folder of files, with the tests' database. The first test of those that run at the same time
/// loads it, and it is removed with the last of them.
#[derive(Debug, Default)]
pub struct LoadedData(Mutex<Weak<TempDir>>);

/// Copy of the data that an engine works on; dropped after the engine where it is bound first.
#[derive(Debug)]
pub struct DataCopy {
    _own: TempDir,
    _loaded: Arc<TempDir>,
}

impl LoadedData {
    /// Data that are not loaded yet.
    pub const fn new() -> Self {
        Self(Mutex::new(Weak::new()))
    }

    /// An engine that begins on a copy of the data. `on` has an engine work on those in a folder, which are made if there are
    /// none.
    pub fn begin<E: Engine>(&self, on: &dyn Fn(&Path) -> E) -> (DataCopy, E) {
        let mut shared = locked(&self.0);
        let loaded = shared.upgrade().unwrap_or_else(|| {
            let folder = folder();
            let engine = on(&folder.path().join("data"));
            load_small(&engine, &Inputs::builtin());
            if let Hosting::OwnedServer(it) = engine.hosting() {
                it.stop().unwrap();
            }
            Arc::new(folder)
        });
        *shared = Arc::downgrade(&loaded);
        drop(shared);
        let own = folder();
        let data = own.path().join("data");
        // With their owner, whom the server runs as.
        let copied = Command::new("cp").arg("-a").arg(loaded.path().join("data")).arg(&data).status().unwrap();
        assert!(copied.success(), "{copied}");
        (DataCopy { _own: own, _loaded: loaded }, on(&data))
    }
}

/// A folder that another user's server can reach, in memory where there is a file system for that.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let below = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let folder = tempfile::tempdir_in(below).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    folder
}
