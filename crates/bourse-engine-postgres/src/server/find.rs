//! Program of the server, on PATH or in the usual folders.

use bourse_engine::{EngineError, ErrorKind, Result};
use bourse_server::private::version_text;
use std::path::{Path, PathBuf};

/// Folders in which packages install servers, often not on a user's PATH.
const USUAL: &[&str] = &["/usr/bin", "/usr/local/bin", "/usr/local/pgsql/bin", "/opt/homebrew/bin"];

/// Folders with a subfolder for each version, and the prefix of such a subfolder's name.
const VERSIONED: &[(&str, &str)] = &[
    ("/usr/lib/postgresql", ""),
    ("/usr", "pgsql-"),
    ("/opt/homebrew/opt", "postgresql@"),
    ("/usr/local/opt", "postgresql@"),
];

/// An installed server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledPostgres {
    /// Path of the program.
    pub server: PathBuf,
    /// Version that it reports.
    pub version: String,
    /// The program that fills a new data directory.
    pub(super) install: PathBuf,
}

/// Server that a private target would start; `program` replaces the search.
///
/// # Errors
/// [`ErrorKind::Unsupported`]: what was not found, where it was sought and how to install it.
pub fn installed(program: Option<&Path>) -> Result<InstalledPostgres> {
    let candidates = match program {
        Some(program) => vec![program.to_owned()],
        None => everywhere(),
    };
    let mut lonely = None;
    for server in candidates {
        let Some(version) = version(&server) else { continue };
        // A link leads to the folder that has the rest.
        let real = server.canonicalize().unwrap_or_else(|_| server.clone());
        let beside = [&server, &real].map(|path| path.with_file_name("initdb"));
        match beside.into_iter().find(|path| path.is_file()) {
            Some(install) => return Ok(InstalledPostgres { server: real, version, install }),
            None => lonely = Some(server),
        }
    }
    Err(missing(program, lonely.as_deref()))
}

/// Every file `postgres` in PATH and the usual folders, of several versions the newest first.
fn everywhere() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = USUAL.iter().map(PathBuf::from).collect();
    for (above, prefix) in VERSIONED {
        let entries = std::fs::read_dir(above).into_iter().flatten().flatten();
        let mut versions: Vec<(u32, PathBuf)> = entries
            .filter_map(|entry| {
                let number = entry.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()?;
                Some((number, entry.path().join("bin")))
            })
            .collect();
        versions.sort();
        folders.extend(versions.into_iter().rev().map(|(_, folder)| folder));
    }
    bourse_server::private::everywhere("postgres", folders)
}

/// Version, as `15.18`, in the output of `--version`; `None` if the program cannot be run or is another's.
fn version(server: &Path) -> Option<String> {
    let words = version_text(server, &["--version"])?;
    Some(words.strip_prefix("postgres (PostgreSQL) ")?.split_whitespace().next()?.to_owned())
}

fn missing(program: Option<&Path>, lonely: Option<&Path>) -> EngineError {
    let message = match (program, lonely) {
        (_, Some(server)) => format!(
            "{} is there, but not initdb beside it, which fills a new data directory: it comes with the package postgresql",
            server.display()
        ),
        (Some(program), None) => format!("{} is no PostgreSQL server that can be run", program.display()),
        (None, None) => "there is no postgres on PATH or in the usual folders; `apt-get install postgresql` (Debian, Ubuntu), \
             `dnf install postgresql-server` (Fedora) or `brew install postgresql` (macOS) gets it; its cluster need not run; \
             `server=PATH` names another"
            .to_owned(),
    };
    EngineError::new(ErrorKind::Unsupported, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_missing_is_told_with_the_way_to_get_it() {
        let refused = installed(Some(Path::new("/nowhere/postgres"))).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        assert_eq!(refused.message(), "/nowhere/postgres is no PostgreSQL server that can be run");
        let words = missing(None, None);
        assert!(words.message().contains("apt-get install postgresql"), "{words}");
        let words = missing(None, Some(Path::new("/opt/postgres")));
        assert!(words.message().contains("initdb"), "{words}");
    }
}
