//! What every engine with files must leave alone: what it did not make, and what is no file.

use bourse_engine::{Engine, ErrorKind};
use std::fs;
use std::path::Path;

/// Opens a target whose file is at a path.
pub type OpenAt<'o> = dyn Fn(&Path) -> Box<dyn Engine> + 'o;

/// Runs every check of what an engine does with the files at its targets, in a folder that is empty.
///
/// # Panics
/// With what was changed, or taken for a database.
pub fn files_conformance(folder: &Path, open: &OpenAt<'_>) {
    refuses_what_is_not_its_own(folder, open);
    finds_what_it_made(folder, open);
}

/// Checks that an engine refuses what is not its own, without changing anything.
///
/// # Panics
/// With what was changed, or taken for a database.
pub fn refuses_what_is_not_its_own(folder: &Path, open: &OpenAt<'_>) {
    let path = |name: &str| folder.join(name);
    fs::write(path("notes.txt"), "dear diary ".repeat(2_000)).expect("a file can be written");
    fs::write(path("short"), "x").expect("a file can be written");
    fs::create_dir(path("directory")).expect("a directory can be made");
    let mut names = vec!["notes.txt", "short", "directory"];
    #[cfg(unix)]
    {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, path("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO can be made");
        std::os::unix::fs::symlink("nothing", path("dangling")).expect("a link can be made");
        std::os::unix::fs::symlink("notes.txt", path("link")).expect("a link can be made");
        names.extend(["fifo", "dangling", "link"]);
    }
    let before = listed(folder);
    for name in &names {
        let engine = open(&path(name));
        let why = engine.foreign().expect("it can be looked at").unwrap_or_else(|| panic!("{name} is taken"));
        // Of a link either name will do: its own, or that of what it leads to.
        assert!(why.contains(name) || (*name == "link" && why.contains("notes.txt")), "{why}");
        for refused in [engine.exists().err(), engine.connect().err(), engine.description().err()] {
            let refused = refused.unwrap_or_else(|| panic!("{name} is opened"));
            assert_eq!(refused.kind(), ErrorKind::Refused, "{name}: {refused}");
        }
        assert!(engine.loader().is_err(), "{name} is loaded over");
        assert_eq!(listed(folder), before, "{name}");
    }
    names.into_iter().for_each(|name| match path(name).symlink_metadata().is_ok_and(|found| found.is_dir()) {
        true => fs::remove_dir(path(name)).expect("it is ours"),
        false => fs::remove_file(path(name)).expect("it is ours"),
    });
}

/// Checks that an engine knows again what it has made: where there was nothing, in an empty file, and by a link.
fn finds_what_it_made(folder: &Path, open: &OpenAt<'_>) {
    fs::write(folder.join("empty"), "").expect("a file can be written");
    for name in ["absent", "empty"] {
        let path = folder.join(name);
        let engine = open(&path);
        assert_eq!(engine.foreign().expect("it can be looked at"), None, "{name}");
        assert!(!engine.exists().expect("it can be looked at"));
        drop(engine.connect().unwrap_or_else(|error| panic!("{name}: {error}")));
        assert_eq!(engine.foreign().expect("it can be looked at"), None, "{name}, which it has made");
        drop(engine);
        #[cfg(unix)]
        let path = {
            let link = folder.join(format!("to-{name}"));
            std::os::unix::fs::symlink(name, &link).expect("a link can be made");
            link
        };
        let again = open(&path);
        assert_eq!(again.foreign().expect("it can be looked at"), None, "{name}, which it has made");
        drop(again.connect().unwrap_or_else(|error| panic!("{name}: {error}")));
    }
}

/// Names of a folder, with what is in its files.
fn listed(folder: &Path) -> Vec<(String, Option<Vec<u8>>)> {
    let entry = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.expect("it can be read");
        let is_file = entry.path().symlink_metadata().is_ok_and(|found| found.is_file());
        let bytes = is_file.then(|| fs::read(entry.path()).expect("it can be read"));
        (entry.file_name().to_string_lossy().into_owned(), bytes)
    };
    let mut listed: Vec<_> = fs::read_dir(folder).expect("the folder is there").map(entry).collect();
    listed.sort();
    listed
}
