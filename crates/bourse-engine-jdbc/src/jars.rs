//! Class paths: the jars of a database, named by the target, by the environment, or found in the usual folders.

use crate::machine;
use crate::options::{GRAMMAR, JdbcOptions};
use crate::product::{JdbcProduct, of_scheme};
use sha2::{Digest as _, Sha256};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Error for a missing jar or a missing virtual machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotFound(String);

/// Jars and virtual machine that were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JarsInfo {
    /// Jars of the database.
    pub jars: Vec<PathBuf>,
    /// Library of the virtual machine.
    pub machine: PathBuf,
}

/// Looks for the jars of a target's database and for a virtual machine, without loading them.
///
/// # Errors
/// [`NotFound`]: what is missing, and where to get it.
pub fn info(target: &str) -> Result<JarsInfo, NotFound> {
    let split = GRAMMAR.split(target).map_err(|error| NotFound(error.to_string()))?;
    let product = of_scheme(split.scheme.name).ok_or_else(|| NotFound(format!("unknown scheme in {target}")))?;
    let options = GRAMMAR.read(target, split, String::new(), JdbcOptions::DEFAULT);
    let options = options.map_err(|error| NotFound(error.to_string()))?.options;
    let machine = machine::library(options.java.as_deref()).map_err(|error| NotFound(error.to_string()));
    match (jars(product, &options), machine) {
        (Ok(jars), Ok(machine)) => Ok(JarsInfo { jars, machine }),
        (Err(jars), Err(machine)) => Err(NotFound(format!("{jars}; {machine}"))),
        (Err(missing), _) | (_, Err(missing)) => Err(missing),
    }
}

/// Jars of a database.
///
/// # Errors
/// [`NotFound`]: what is missing, and where to get it.
pub(crate) fn jars(product: &JdbcProduct, options: &JdbcOptions) -> Result<Vec<PathBuf>, NotFound> {
    let where_to =
        format!("{} is {}; name its jar in ${} or with `jar=`", product.name, product.package, product.variable);
    if let Some(named) = &options.jar {
        return listed(named.as_ref(), "`jar=`").map_err(|why| NotFound(format!("{why}; {where_to}")));
    }
    if let Some(named) = env::var_os(product.variable).filter(|named| !named.is_empty()) {
        let by = format!("${}", product.variable);
        return listed(&named, &by).map_err(|why| NotFound(format!("{why}; {where_to}")));
    }
    let is_there = |jars: &&&[&str]| jars.iter().all(|jar| Path::new(jar).is_file());
    match product.usual.iter().find(is_there) {
        Some(jars) => Ok(jars.iter().map(PathBuf::from).collect()),
        None => Err(NotFound(format!("no jar of {}; {where_to}", product.name))),
    }
}

/// Jars named by a list of files and folders.
fn listed(paths: &OsStr, by: &str) -> Result<Vec<PathBuf>, String> {
    let mut jars = Vec::new();
    for path in env::split_paths(paths).filter(|path| !path.as_os_str().is_empty()) {
        let cannot = |error| format!("cannot read {}, which {by} names: {error}", path.display());
        if fs::metadata(&path).map_err(cannot)?.is_file() {
            jars.push(path.canonicalize().map_err(cannot)?);
            continue;
        }
        let mut inside: Vec<PathBuf> = fs::read_dir(&path)
            .and_then(|entries| entries.map(|entry| entry?.path().canonicalize()).collect())
            .map_err(cannot)?;
        inside.retain(|file| file.extension().is_some_and(|ending| ending == "jar"));
        if inside.is_empty() {
            return Err(format!("{} holds no jar; {by} names it", path.display()));
        }
        inside.sort();
        jars.extend(inside);
    }
    Ok(jars)
}

/// SHA-256 of a file.
pub(crate) fn sha256(path: &Path) -> String {
    match fs::read(path) {
        Ok(bytes) => format!("{:x}", Sha256::digest(bytes)),
        Err(error) => format!("cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_its_jars() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert!(listed(folder.path().as_os_str(), "`jar=`").unwrap_err().contains("holds no jar"));
        for name in ["b.jar", "a.jar", "notes.txt"] {
            fs::write(path(name), "x").unwrap();
        }
        let both = env::join_paths([folder.path(), &path("notes.txt")]).unwrap();
        let found = listed(&both, "`jar=`").unwrap();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["a.jar", "b.jar", "notes.txt"]);
        let absent = listed(path("absent").as_os_str(), "$X").unwrap_err();
        assert!(absent.contains("absent") && absent.contains("$X names"), "{absent}");
    }

    #[test]
    fn what_is_missing_is_told() {
        let refused = info("jdbc+derby:x?jar=/no/such.jar").unwrap_err().to_string();
        assert!(refused.contains("/no/such.jar") && refused.contains("BOURSE_JDBC_DERBY_JAR"), "{refused}");
        assert!(info("jdbc+oracle:x").is_err());
    }
}
