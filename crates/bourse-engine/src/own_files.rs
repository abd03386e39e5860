//! Files in a folder that is a database: those of the engine, known by their names, and those of a person.

use std::fs;
use std::io;
use std::path::Path;

/// Names of the subfolders of a database and of its copies, any of which `@` in a pattern matches.
pub(crate) const PARTS: [&str; 5] = ["db", "loading", "replaced", "snapshot", "restored"];

/// Files and links of a folder and its subfolders, by their paths in it, except those that match a pattern in `own`. No link is
/// followed.
///
/// A pattern is a path in the folder in which `*` matches any characters, `#` digits and `%` any letters, digits, `_`, `-` and `=`;
/// `@/` at its start matches the subfolder of a database or of a copy among [parts](crate::FolderParts).
///
/// ```
/// use bourse_engine::other_files;
/// let folder = std::env::temp_dir().join(format!("other-files-{}", std::process::id()));
/// std::fs::create_dir(&folder)?;
/// std::fs::write(folder.join("000012.sst"), "the engine's")?;
/// std::fs::write(folder.join("notes.txt"), "a user's")?;
/// assert_eq!(other_files(&folder, &["#.sst"])?, ["notes.txt"]);
/// std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The system's.
pub fn other_files(folder: &Path, own: &[&str]) -> io::Result<Vec<String>> {
    let mut others = Vec::new();
    find(folder, "", &|path, _| is_own(own, path), &mut others)?;
    others.sort();
    Ok(others)
}

/// Adds the files of a folder, whose path with a slash is `prefix`, that are not the engine's `own` to `others`; returns the number of
/// its own. A file's path in the database and the whole one decide.
pub(crate) fn find(
    folder: &Path,
    prefix: &str,
    own: &dyn Fn(&str, &Path) -> bool,
    others: &mut Vec<String>,
) -> io::Result<u64> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if kind.is_dir() {
            count += find(&entry.path(), &format!("{path}/"), own, others)?;
        } else if kind.is_file() && own(&path, &entry.path()) {
            count += 1;
        } else {
            others.push(path);
        }
    }
    Ok(count)
}

/// Whether a path in a database's folder matches one of the patterns.
pub(crate) fn is_own(own: &[&str], path: &str) -> bool {
    own.iter().any(|pattern| is_of(pattern, path))
}

fn is_of(pattern: &str, path: &str) -> bool {
    match (pattern.strip_prefix("@/"), path.split_once('/')) {
        (None, _) => fits(pattern.as_bytes(), path.as_bytes()),
        (Some(pattern), Some((part, path))) => PARTS.contains(&part) && fits(pattern.as_bytes(), path.as_bytes()),
        (Some(_), None) => false,
    }
}

fn fits(pattern: &[u8], path: &[u8]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), found) => fits(rest, path) || found.is_some_and(|(_, path)| fits(pattern, path)),
        (Some((b'%', rest)), found) => {
            let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-=".contains(byte);
            fits(rest, path) || found.is_some_and(|(byte, path)| is_of_name(byte) && fits(pattern, path))
        }
        (Some((b'#', rest)), Some((digit, path))) => {
            digit.is_ascii_digit() && (fits(rest, path) || fits(pattern, path))
        }
        (Some((wanted, rest)), Some((found, path))) => wanted == found && fits(rest, path),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_fit_patterns() {
        for (pattern, path, fitting) in [
            ("#.sst", "000012.sst", true),
            ("#.sst", ".sst", false),
            ("#.sst", "a1.sst", false),
            ("LOG.old.#", "LOG.old.17", true),
            ("keyspaces/#/v#", "keyspaces/3/v12", true),
            ("keyspaces/#/v#", "keyspaces/notes/v12", false),
            ("keyspaces/#/v#", "keyspaces/3", false),
            ("%/%=", "pairs/key-1=2F=", true),
            ("%/%=", "pairs/key/=", false),
            ("%/%=", "pairs/notes.txt=", false),
            ("%/##", "pairs/1", false),
            ("@/data.*", "snapshot/data.mv.db", true),
            ("@/data.*", "mine/data.mv.db", false),
            ("@/data.*", "data.mv.db", false),
            ("@/data/*", "db/data/bat/05/513.tail", true),
            ("@/data/*", "db/mine/513.tail", false),
        ] {
            assert_eq!(is_of(pattern, path), fitting, "{pattern} {path}");
        }
    }

    #[test]
    fn what_is_no_file_of_the_engine_is_found() {
        let folder = std::env::temp_dir().join(format!("bourse-own-files-{}", std::process::id()));
        let at = |name: &str| folder.join(name);
        fs::create_dir_all(at("keyspaces/1/tables")).unwrap();
        fs::create_dir_all(at("keyspaces/2")).unwrap();
        fs::create_dir_all(at("pictures")).unwrap();
        let files = ["version", "notes.txt", "keyspaces/1/tables/7", "keyspaces/1/tables/mine", "pictures/cat"];
        files.iter().for_each(|name| fs::write(at(name), name).unwrap());
        let mut others = vec!["keyspaces/1/tables/mine", "notes.txt", "pictures/cat"];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("pictures/cat", at("lock")).unwrap();
            others.insert(1, "lock");
        }
        assert_eq!(other_files(&folder, &["version", "lock", "keyspaces/#/tables/#"]).unwrap(), others);
        fs::remove_dir_all(folder).unwrap();
    }
}
