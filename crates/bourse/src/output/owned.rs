//! Files at places that the user names: new ones, or replacements of files that carry Bourse's mark.
//!
//! | written | its mark |
//! |---|---|
//! | a page, a drawing, Markdown | the program's name in it |
//! | CSV, statements of SQL | none: an existing file is replaced with `--overwrite` alone |
//! | files of a folder | the list `.bourse-files` in it, with the length of each |
//!
//! No link is followed, a file appears whole or not at all, and another hard link to a replaced file is left unchanged.

use crate::failure::{Failure, Result};
use bourse_engine::open_regular;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Name of the list of a folder's files that Bourse made.
pub(crate) const LIST: &str = ".bourse-files";
/// First line of that list.
const LISTED: &str = "Files of this folder that Bourse made, with their lengths. It replaces these and no others.";
/// Longest list that is read.
const LIST_BYTES: u64 = 1 << 20;

/// Writes a new file. It appears whole, and only if its name is free.
pub(crate) fn write_new(path: &Path, content: &[u8]) -> Result<()> {
    let written = temporary_file_for(path).and_then(|mut file| {
        file.write_all(content)?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path).map_err(|refused| refused.error)
    });
    written.map(drop).map_err(|error| unwritten(path, &error))
}

/// Writes a file that the user named: a new one, or in place of one with [a mark](has_mark) of Bourse's; with `overwrite`,
/// in place of any other regular file.
pub(crate) fn write_file(path: &Path, text: &str, overwrite: bool) -> Result<()> {
    let is_there = is_replaceable(path, overwrite, |file, _| has_mark(file))?;
    let content = marked(path, text);
    if is_there { replace(path, content.as_bytes()) } else { write_new(path, content.as_bytes()) }
}

fn replace(path: &Path, content: &[u8]) -> Result<()> {
    let written = temporary_file_for(path).and_then(|mut file| {
        file.write_all(content)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|refused| refused.error)
    });
    written.map(drop).map_err(|error| unwritten(path, &error))
}

/// Temporary file in the folder of a path, to be renamed to that path. It is removed otherwise.
fn temporary_file_for(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".bourse-").suffix(".unfinished");
    #[cfg(unix)]
    // Permissions of an ordinary new file: by the process's mask.
    builder.permissions(<Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666));
    builder.tempfile_in(folder)
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::usage("cannot write a file").detail("file", path.display().to_string()).detail("cause", error.to_string())
}

/// Whether a file is there; a failure if it must not be replaced. `is_ours` examines the file and its length.
fn is_replaceable(
    path: &Path,
    overwrite: bool,
    is_ours: impl FnOnce(&mut File, u64) -> io::Result<bool>,
) -> Result<bool> {
    let refused = |why: &str| Failure::usage(format!("cannot write {}: {why}", path.display()));
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found.map_err(|error| unwritten(path, &error))?,
    };
    if !found.is_file() {
        let kind = if found.is_symlink() { "a link is there" } else { "it is not a regular file" };
        return Err(refused(kind).hint("it is left as it is; name another file"));
    }
    if overwrite {
        return Ok(true);
    }
    let refused =
        |why: &str| refused(why).hint("it is left as it is; name another file, or replace it with --overwrite");
    if let Some(why) = refusal_to_replace(&found) {
        return Err(refused(&format!("a file is there that {why}")));
    }
    // An empty file has no content to lose.
    let ours = || Ok(found.len() == 0 || is_ours(&mut open_regular(path, false)?, found.len())?);
    match ours() {
        Ok(true) => Ok(true),
        Ok(false) if path.extension().is_some_and(|ending| ending == "sql") => {
            Err(refused("a file of statements is there, which may have been changed since it was made"))
        }
        Ok(false) => Err(refused("a file is there that does not carry Bourse's mark")),
        Err(error) => Err(unwritten(path, &error)),
    }
}

/// Reason by its metadata why a file or a folder must not be replaced or removed.
pub(crate) fn refusal_to_replace(found: &Metadata) -> Option<&'static str> {
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::uid(found) != rustix::process::geteuid().as_raw() {
        return Some("belongs to another user");
    }
    found.permissions().readonly().then_some("is read-only")
}

/// The text with a mark, if its form has comments and no mark yet.
fn marked(path: &Path, text: &str) -> String {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("md" | "svg") => {
            let end = if text.ends_with('\n') { "" } else { "\n" };
            format!("{text}{end}{COMMENT}{} -->\n", env!("CARGO_PKG_VERSION"))
        }
        _ => text.to_owned(),
    }
}

/// Mark in the head of Bourse's pages.
const GENERATOR: &str = "<meta name=\"generator\" content=\"Bourse ";
/// Mark at the end of Bourse's other texts.
const COMMENT: &str = "<!-- made by Bourse ";

/// Whether a file is a page of Bourse's, or ends like its other texts.
pub(crate) fn has_mark(file: &mut File) -> io::Result<bool> {
    const START_BYTES: u64 = 4_096;
    const END_BYTES: u64 = 64;
    let mut part = Vec::new();
    file.take(START_BYTES).read_to_end(&mut part)?;
    let has = |part: &[u8], mark: &str| part.windows(mark.len()).any(|it| it == mark.as_bytes());
    if has(&part, GENERATOR) {
        return Ok(true);
    }
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(END_BYTES)))?;
    part.clear();
    file.take(END_BYTES).read_to_end(&mut part)?;
    Ok(has(&part, COMMENT))
}

/// Whether a file begins as the list of a folder's files.
pub(crate) fn is_list(file: &mut File) -> io::Result<bool> {
    let mut start = vec![0; LISTED.len()];
    match file.read_exact(&mut start) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| start == LISTED.as_bytes()),
    }
}

/// A folder that files are written to, some of which may exist. Only those that it lists are replaced.
pub(crate) struct OwnedFolder {
    path: PathBuf,
    listed: BTreeMap<String, u64>,
    overwrite: bool,
}

impl OwnedFolder {
    /// Makes the folder, if necessary, and reads its list.
    pub(crate) fn at(path: &Path, overwrite: bool) -> Result<Self> {
        if path.is_symlink() {
            return Err(Failure::usage(format!("{} is a link", path.display()))
                .hint("it is left as it is, and what it leads to; name the folder itself"));
        }
        fs::create_dir_all(path).map_err(|error| {
            Failure::usage("cannot make a folder")
                .detail("folder", path.display().to_string())
                .detail("cause", error.to_string())
        })?;
        let list = path.join(LIST);
        let mut text = String::new();
        // Never with `overwrite`: without this list no file is known to be Bourse's.
        is_replaceable(&list, false, |file, _| {
            file.take(LIST_BYTES).read_to_string(&mut text)?;
            Ok(text.starts_with(LISTED))
        })?;
        let listed = text.lines().skip(1).filter_map(|line| {
            let (length, name) = line.split_once(' ')?;
            Some((name.to_owned(), length.parse().ok()?))
        });
        Ok(Self { path: path.to_owned(), listed: listed.collect(), overwrite })
    }

    /// Refuses names of files that Bourse did not make, or that have changed since.
    pub(crate) fn refuse_others<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<()> {
        names.into_iter().try_for_each(|name| {
            let is_listed = |_: &mut File, length| Ok(self.listed.get(name) == Some(&length));
            is_replaceable(&self.path.join(name), self.overwrite, is_listed).map(drop)
        })
    }

    /// Writes files, by their names.
    pub(crate) fn write(mut self, files: &[(String, Vec<u8>)]) -> Result<()> {
        self.list(files.iter().map(|(name, bytes)| (name.clone(), bytes.len() as u64)))?;
        files.iter().try_for_each(|(name, bytes)| replace(&self.path.join(name), bytes))
    }

    /// Moves files from elsewhere in the same file system into the folder.
    pub(crate) fn take(mut self, files: &[PathBuf]) -> Result<()> {
        let name = |file: &Path| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut lengths = Vec::new();
        for file in files {
            let found = fs::symlink_metadata(file).map_err(|error| unwritten(file, &error))?;
            lengths.push((name(file), found.len()));
        }
        self.list(lengths)?;
        files.iter().try_for_each(|file| {
            let to = self.path.join(name(file));
            fs::rename(file, &to).map_err(|error| unwritten(&to, &error))
        })
    }

    /// Lists files that are about to be written, after a check that all may be.
    fn list(&mut self, files: impl IntoIterator<Item = (String, u64)>) -> Result<()> {
        let files: Vec<_> = files.into_iter().collect();
        self.refuse_others(files.iter().map(|(name, _)| name.as_str()))?;
        self.listed.extend(files);
        let lines: String = self.listed.iter().map(|(name, length)| format!("{length} {name}\n")).collect();
        replace(&self.path.join(LIST), format!("{LISTED}\n{lines}").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_its_mark_where_its_form_has_comments() {
        let folder = tempfile::tempdir().unwrap();
        let page = format!("<html><head>{GENERATOR}1\"/></head>");
        for (name, text, is_marked) in [
            ("a.md", "# Report", true),
            ("a.svg", "<svg></svg>\n", true),
            ("a.html", page.as_str(), true),
            ("a.csv", "a,b\n1,2\n", false),
        ] {
            let path = folder.path().join(name);
            write_file(&path, text, false).unwrap();
            assert!(fs::read_to_string(&path).unwrap().starts_with(text));
            assert_eq!(has_mark(&mut File::open(&path).unwrap()).unwrap(), is_marked, "{name}");
            assert_eq!(write_file(&path, text, false).is_ok(), is_marked, "{name} again");
            write_file(&path, text, true).unwrap();
        }
    }

    #[test]
    fn a_folder_keeps_what_it_does_not_list() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("b"), "mine").unwrap();
        let files = |names: &[&str]| names.iter().map(|name| (name.to_string(), b"new".to_vec())).collect::<Vec<_>>();
        let write = |names: &[&str], overwrite| OwnedFolder::at(folder.path(), overwrite).unwrap().write(&files(names));
        assert!(write(&["a", "b"], false).is_err() && !at("a").exists(), "all or none");
        write(&["a"], false).unwrap();
        write(&["a"], false).unwrap();
        // A foreign file in place of Bourse's.
        fs::write(at("a"), "mine too").unwrap();
        assert!(write(&["a"], false).is_err());
        assert_eq!(fs::read(at("a")).unwrap(), b"mine too");
        write(&["a", "b"], true).unwrap();
        assert_eq!(fs::read(at("b")).unwrap(), b"new");
        // A foreign list.
        fs::write(at(LIST), "3 b\n").unwrap();
        assert!(OwnedFolder::at(folder.path(), true).is_err());
    }

    #[test]
    fn a_new_file_never_takes_a_name_that_is_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        write_new(&path, b"one").unwrap();
        assert!(write_new(&path, b"two").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing unfinished is left");
    }
}
