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
    says_where_its_files_are(folder, open);
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

/// Checks that the location an engine tells has the files it makes: each of them, and no other.
fn says_where_its_files_are(folder: &Path, open: &OpenAt<'_>) {
    let folder = folder.join("located");
    fs::create_dir(&folder).expect("a folder can be made");
    let path = folder.join("database");
    let engine = open(&path);
    let location = engine.location();
    assert_eq!(location.file(), Some(&*path), "an engine on a file tells its path");
    assert_eq!(location.folder().as_deref(), Some(&*folder), "and the folder it is in");
    assert!(listed(&folder).is_empty(), "asking for the location makes no file");
    drop(engine.connect().expect("a session"));
    let files: Vec<_> = location.database_files().expect("it has files").all().collect();
    assert!(path.is_file(), "the database is where it was said to be");
    for (name, _) in listed(&folder) {
        assert!(files.contains(&folder.join(&name)), "{name} is one of the database's files, and is not told");
    }
    drop(engine);
    #[cfg(unix)]
    {
        let link = folder.join("link");
        std::os::unix::fs::symlink("database", &link).expect("a link can be made");
        let told = open(&link).location();
        let real = path.canonicalize().expect("it is there");
        assert_eq!(told.file(), Some(&*real), "one database has one path, also by a link");
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
