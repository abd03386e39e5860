//! Conformance of engines with files: anything that Bourse did not create is left alone, and so is what is not a file, or not a
//! folder if the engine's databases are folders.

use bourse_engine::{Engine, ErrorKind};
use std::fs;
use std::path::{Path, PathBuf};

/// Function that opens a target at the path of a file or folder.
pub type OpenAt<'o> = dyn Fn(&Path) -> Box<dyn Engine> + 'o;

/// Runs every check of how an engine treats the files at its targets, in an empty folder.
///
/// # Panics
/// If a file was changed, or taken for a database.
pub fn files_conformance(folder: &Path, open: &OpenAt<'_>) {
    refuses_what_is_not_its_own(folder, open);
    finds_what_it_made(folder, open);
    says_where_its_files_are(folder, open);
}

/// Checks that an engine refuses files that it did not create, and changes nothing.
///
/// # Panics
/// If a file was changed, or taken for a database.
pub fn refuses_what_is_not_its_own(folder: &Path, open: &OpenAt<'_>) {
    let path = |name: &str| folder.join(name);
    fs::write(path("notes.txt"), "dear diary ".repeat(2_000)).expect("a file can be written");
    fs::write(path("short"), "x").expect("a file can be written");
    fs::create_dir(path("directory")).expect("a directory can be made");
    let mut names = vec!["notes.txt", "short", "directory"];
    names.extend(specials(folder, "notes.txt"));
    each_is_refused(folder, &names, open);
    names.into_iter().for_each(|name| match path(name).symlink_metadata().is_ok_and(|found| found.is_dir()) {
        true => fs::remove_dir(path(name)).expect("it is ours"),
        false => fs::remove_file(path(name)).expect("it is ours"),
    });
}

/// Makes a FIFO, a link to nothing and a link to `target` in a folder, and returns their names; none on other systems.
fn specials(folder: &Path, target: &str) -> Vec<&'static str> {
    #[cfg(unix)]
    {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        use std::os::unix::fs::symlink;
        mknodat(CWD, folder.join("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO can be made");
        symlink("nothing", folder.join("dangling")).expect("a link can be made");
        symlink(target, folder.join("link")).expect("a link can be made");
        vec!["fifo", "dangling", "link"]
    }
    #[cfg(not(unix))]
    Vec::new()
}

/// Runs every check of how an engine whose databases are folders treats its targets, in an empty folder.
///
/// # Panics
/// If a file was changed, or taken for a database.
pub fn folders_conformance(folder: &Path, open: &OpenAt<'_>) {
    let path = |name: &str| folder.join(name);
    fs::write(path("notes.txt"), "dear diary").expect("a file can be written");
    fs::write(path("empty.txt"), "").expect("a file can be written");
    fs::create_dir(path("occupied")).expect("a directory can be made");
    fs::write(path("occupied/notes.txt"), "dear diary").expect("a file can be written");
    let mut names = vec!["notes.txt", "empty.txt", "occupied"];
    names.extend(specials(folder, "occupied"));
    each_is_refused(folder, &names, open);
    fs::create_dir(path("empty")).expect("a directory can be made");
    for name in ["absent", "empty"] {
        is_found_again(&path(name), open);
        let before = fs::read(path("occupied/notes.txt")).expect("it is there");
        assert_eq!(before, b"dear diary", "what lies beside a database is left alone");
    }
    folder_is_told(&path("told"), open);
}

/// Checks that an engine reports the folder that it makes, and creates all its files in it.
fn folder_is_told(path: &Path, open: &OpenAt<'_>) {
    let around = path.parent().expect("it lies in a folder");
    let before = listed(around);
    let engine = open(path);
    let location = engine.location();
    assert_eq!((location.file(), location.folder().as_deref()), (Some(path), Some(around)));
    assert_eq!(listed(around), before, "asking for the location makes nothing");
    drop(engine.connect().expect("a session"));
    let made: Vec<_> = listed(around).into_iter().filter(|entry| !before.contains(entry)).collect();
    let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
    let names: Vec<_> = made.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, [name.clone(), format!("{name}.bourse-mark")], "the folder alone is made, with its mark");
    assert!(engine.footprint().expect("it has a size").data_bytes > 0);
    drop(engine);
    let others = location.database_files().expect("it has files").others().expect("it can be read");
    assert_eq!(others, [""; 0], "all files in it are told as the engine's own");
    assert_eq!(open(&linked(path)).location().file(), Some(path), "one database has one path, also by a link");
}

/// Checks that each of these paths is refused and left unchanged.
fn each_is_refused(folder: &Path, names: &[&str], open: &OpenAt<'_>) {
    let path = |name: &str| folder.join(name);
    let before = listed(folder);
    for name in names {
        let engine = open(&path(name));
        let why = engine.foreign().expect("it can be looked at").unwrap_or_else(|| panic!("{name} is taken"));
        // For a link the message may name the link or its target.
        let real = path(name).canonicalize().unwrap_or_default();
        assert!(why.contains(name) || (*name == "link" && why.contains(&real.display().to_string())), "{why}");
        for refused in [engine.exists().err(), engine.connect().err(), engine.description().err()] {
            let refused = refused.unwrap_or_else(|| panic!("{name} is opened"));
            assert_eq!(refused.kind(), ErrorKind::Refused, "{name}: {refused}");
        }
        assert!(engine.loader().is_err(), "{name} is loaded over");
        assert_eq!(listed(folder), before, "{name}");
    }
}

/// Checks that an engine recognizes the databases it made: at a free path, in an empty file, and through a link.
fn finds_what_it_made(folder: &Path, open: &OpenAt<'_>) {
    fs::write(folder.join("empty"), "").expect("a file can be written");
    ["absent", "empty"].into_iter().for_each(|name| is_found_again(&folder.join(name), open));
}

/// Checks that an engine makes a database at a path, and recognizes it through a link.
fn is_found_again(path: &Path, open: &OpenAt<'_>) {
    let name = path.display();
    let engine = open(path);
    assert_eq!(engine.foreign().expect("it can be looked at"), None, "{name}");
    assert!(!engine.exists().expect("it can be looked at"));
    drop(engine.connect().unwrap_or_else(|error| panic!("{name}: {error}")));
    assert_eq!(engine.foreign().expect("it can be looked at"), None, "{name}, which it has made");
    drop(engine);
    let again = open(&linked(path));
    assert_eq!(again.foreign().expect("it can be looked at"), None, "{name}, which it has made");
    drop(again.connect().unwrap_or_else(|error| panic!("{name}: {error}")));
}

/// Symbolic link to a path, in the same folder; the path itself on systems without links.
fn linked(path: &Path) -> PathBuf {
    #[cfg(unix)]
    {
        let name = path.file_name().expect("it has a name");
        let link = path.with_file_name(format!("to-{}", name.to_string_lossy()));
        std::os::unix::fs::symlink(name, &link).expect("a link can be made");
        link
    }
    #[cfg(not(unix))]
    path.to_owned()
}

/// Checks that the location an engine reports covers each file it makes, and no other.
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
    for (name, _) in listed(&folder).into_iter().filter(|(name, _)| name != "database.bourse-mark") {
        assert!(files.contains(&folder.join(&name)), "{name} is one of the database's files, and is not told");
    }
    drop(engine);
    let real = path.canonicalize().expect("it is there");
    assert_eq!(open(&linked(&path)).location().file(), Some(&*real), "one database has one path, also by a link");
}

/// Names of a folder's entries, with the contents of files.
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
