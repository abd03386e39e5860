//! Servers in the folder of another system, as `debootstrap` makes one: run by that system's loader, with its
//! libraries.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that contains a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SystemFolder {
    loader: PathBuf,
    libraries: OsString,
    /// Arguments that name the server's own files, which it would otherwise look for in this system.
    places: Vec<String>,
}

impl SystemFolder {
    /// The system in a folder and the server in it; `None` if either does not exist.
    pub(super) fn find(folder: &Path) -> Option<(PathBuf, Self)> {
        let server = folder.join("usr/sbin/mysqld");
        let folders: Vec<PathBuf> = library_folders(folder);
        let loader = folders.iter().find_map(|folder| named(folder, "ld-linux"))?;
        let libraries = std::env::join_paths(&folders).ok()?;
        let place = |option: &str, paths: &[&str]| {
            let path = paths.iter().map(|path| folder.join(path)).find(|path| path.is_dir())?;
            Some(format!("--{option}={}", path.display()))
        };
        let places = [
            // The folder that packages make for it is not in this system.
            Some("--secure-file-priv=".to_owned()),
            place("basedir", &["usr"]),
            place("plugin-dir", &["usr/lib/mysql/plugin", "usr/lib64/mysql/plugin"]),
            place("lc-messages-dir", &["usr/share/mysql"]),
            place("character-sets-dir", &["usr/share/mysql/charsets"]),
        ];
        let places = places.into_iter().flatten().collect();
        server.is_file().then_some((server, Self { loader, libraries, places }))
    }

    /// Words before the program in a command line, and after all arguments.
    pub(super) fn around(&self) -> (Vec<String>, Vec<String>) {
        let before = [self.loader.display().to_string(), "--library-path".to_owned()];
        let libraries = self.libraries.to_string_lossy().into_owned();
        (before.into_iter().chain([libraries]).collect(), self.places.clone())
    }

    /// Command of one of its programs, with `--no-defaults` first.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(&self.loader);
        command.arg("--library-path").arg(&self.libraries).arg(program).arg("--no-defaults").args(&self.places);
        command
    }
}

/// Folders with libraries, including the loader's.
fn library_folders(folder: &Path) -> Vec<PathBuf> {
    let of_machines = fs::read_dir(folder.join("usr/lib")).into_iter().flatten().flatten().map(|entry| entry.path());
    let of_machine = of_machines.filter(|path| path.to_string_lossy().ends_with("-linux-gnu"));
    let others = ["usr/lib64", "usr/lib", "usr/lib/mysql/private", "usr/lib64/mysql/private"];
    of_machine.chain(others.map(|path| folder.join(path))).filter(|path| path.is_dir()).collect()
}

fn named(folder: &Path, start: &str) -> Option<PathBuf> {
    let mut found = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    found.find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_runs_by_its_own_systems_loader() {
        let folder = bourse_testkit::server::open_folder();
        let root = folder.path();
        assert_eq!(SystemFolder::find(root), None, "an empty folder");
        for path in
            ["usr/sbin", "usr/lib/x86_64-linux-gnu", "usr/lib/mysql/plugin", "usr/lib/mysql/private", "usr/lib64"]
        {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        fs::write(root.join("usr/lib64/ld-linux-x86-64.so.2"), "").unwrap();
        assert_eq!(SystemFolder::find(root), None, "a system without the server");
        fs::write(root.join("usr/sbin/mysqld"), "").unwrap();
        let (server, system) = SystemFolder::find(root).unwrap();
        let command = system.command(&server);
        assert_eq!(command.get_program(), root.join("usr/lib64/ld-linux-x86-64.so.2"));
        let arguments: Vec<String> = command.get_args().map(|it| it.to_string_lossy().into_owned()).collect();
        assert!(arguments[1].ends_with("usr/lib/mysql/private"), "{arguments:?}");
        assert_eq!(arguments[2..5], [&*server.to_string_lossy(), "--no-defaults", "--secure-file-priv="]);
        assert!(arguments.iter().any(|it| it.starts_with("--plugin-dir=") && it.ends_with("usr/lib/mysql/plugin")));
    }
}
