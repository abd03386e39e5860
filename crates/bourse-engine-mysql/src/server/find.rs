//! Program of the server, on PATH, in the usual folders, or in the folder of another system.

use super::system::SystemFolder;
use crate::options::Flavour;
use bourse_engine::{EngineError, ErrorKind, Result};
use bourse_server::private::output_text;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variable that names MySQL's server, or the folder of a system with it, if a target names none.
pub const SERVER_VARIABLE: &str = "BOURSE_MYSQLD";

/// Search for the server of a flavour.
struct ServerSearch {
    /// Names of its program.
    names: &'static [&'static str],
    /// Variable that names the program if a target names none.
    variable: Option<&'static str>,
    /// Argument that prints its version.
    version: &'static str,
    /// Advice for installing it.
    how: &'static str,
}

const fn search(flavour: Flavour) -> &'static ServerSearch {
    match flavour {
        Flavour::Mariadb => &ServerSearch {
            names: &["mariadbd", "mysqld"],
            variable: None,
            version: "--version",
            how: "`apt-get install mariadb-server` (Debian, Ubuntu), `dnf install mariadb-server` (Fedora) or \
                  `brew install mariadb` (macOS) gets it; its service need not run",
        },
        Flavour::Mysql => &ServerSearch {
            names: &["mysqld"],
            variable: Some(SERVER_VARIABLE),
            version: "--version",
            how: "`apt-get install mysql-server-core` (Ubuntu), `dnf install mysql-server` (Fedora) or `brew install mysql` \
                  (macOS) gets it; its service need not run; a folder with another system's serves too (docs/mariadb.md)",
        },
        Flavour::Tidb => &ServerSearch {
            names: &["tidb-server"],
            variable: Some("BOURSE_TIDB"),
            version: "-V",
            how: "TiDB's packages have it, and Go builds it (docs/distributed.md)",
        },
        Flavour::Vitess => &ServerSearch {
            names: &["vtcombo"],
            variable: Some("BOURSE_VTCOMBO"),
            version: "--version",
            how: "Vitess' packages have it, and Go builds it (docs/distributed.md)",
        },
    }
}

/// Flavour of a server, by its version text.
fn flavour_of(words: &str) -> Flavour {
    match words {
        words if words.contains("MariaDB") => Flavour::Mariadb,
        words if words.contains("vtcombo") => Flavour::Vitess,
        words if words.contains("Release Version") => Flavour::Tidb,
        _ => Flavour::Mysql,
    }
}

/// Folders in which packages install servers, often not on a user's PATH.
const USUAL: &[&str] = &[
    "/usr/sbin",
    "/usr/bin",
    "/usr/libexec",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/local/libexec",
    "/usr/local/mysql/bin",
    "/usr/local/mariadb/bin",
    "/opt/mysql/bin",
    "/opt/mariadb/bin",
    "/opt/homebrew/bin",
    "/opt/homebrew/opt/mariadb/bin",
    "/opt/homebrew/opt/mysql/bin",
];

/// An installed server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledMysql {
    /// The program.
    pub server: PathBuf,
    /// Flavour, by its version text.
    pub flavour: Flavour,
    /// Version that it reports.
    pub version: String,
    /// MariaDB's program that fills a new data directory; MySQL's server does that itself.
    pub(super) install: Option<PathBuf>,
    /// The system that it belongs to, if that is not this one.
    system: Option<SystemFolder>,
    /// The server that Vitess starts below it.
    pub(super) below: Option<Box<InstalledMysql>>,
}

impl InstalledMysql {
    /// Command of the server, with `--no-defaults`, which must be the first argument.
    pub(super) fn command(&self) -> Command {
        command(&self.server, self.system.as_ref())
    }

    /// Script by which another program starts it, whatever that passes as first arguments.
    pub(super) fn script(&self) -> String {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
        let (before, after) = self.system.as_ref().map_or_else(Default::default, SystemFolder::around);
        let server = self.server.display().to_string();
        let words = before.iter().chain([&server]).map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let after = after.iter().map(|word| format!(" {}", quoted(word))).collect::<String>();
        format!("#!/bin/sh\nexec {words} \"$@\"{after}\n")
    }

    /// Folder in which the server looks for plugins; `None` if it does not report it.
    pub fn plugins(&self) -> Option<PathBuf> {
        let mut command = self.command();
        command.args(["--verbose", "--help"]);
        let told = output_text(command)?;
        let folder = told.lines().find_map(|line| line.strip_prefix("plugin-dir").filter(|rest| rest.starts_with(' ')));
        folder.map(|folder| PathBuf::from(folder.trim()))
    }
}

fn command(server: &Path, system: Option<&SystemFolder>) -> Command {
    match system {
        Some(system) => system.command(server),
        None => {
            let mut command = Command::new(server);
            command.arg("--no-defaults");
            command
        }
    }
}

/// Server that a private target of that flavour would start; `program`, or [`SERVER_VARIABLE`] for MySQL's, replaces
/// the search.
///
/// # Errors
/// [`ErrorKind::Unsupported`]: what was not found, where it was sought and how to install it.
pub fn installed(flavour: Flavour, program: Option<&Path>) -> Result<InstalledMysql> {
    let search = search(flavour);
    let variable = search.variable.and_then(std::env::var_os).filter(|named| !named.is_empty()).map(PathBuf::from);
    let program = program.or(variable.as_deref());
    let candidates = match program {
        Some(program) => vec![program.to_owned()],
        None => search.names.iter().flat_map(|name| everywhere(name)).collect(),
    };
    let mut other = None;
    for candidate in candidates {
        let (server, system) = match SystemFolder::find(&candidate) {
            Some((server, system)) => (server, Some(system)),
            None => (candidate, None),
        };
        let mut version = match flavour {
            Flavour::Mariadb | Flavour::Mysql => command(&server, system.as_ref()),
            Flavour::Tidb | Flavour::Vitess => Command::new(&server),
        };
        version.arg(search.version);
        let Some(words) = output_text(version) else { continue };
        let found = flavour_of(&words);
        if found != flavour {
            other.get_or_insert(server);
            continue;
        }
        let mut said = words.split_whitespace().skip_while(|word| !["Ver", "Version:"].contains(word));
        let version = said.nth(1).unwrap_or("unknown").trim_start_matches('v').to_owned();
        let install = (flavour == Flavour::Mariadb).then(|| install_program(&server)).transpose()?;
        let below = (flavour == Flavour::Vitess).then(|| installed(Flavour::Mysql, None)).transpose();
        let below = below.map_err(|e| {
            EngineError::unsupported(format!("{} is there, but not the server below it: {e}", server.display()))
        })?;
        return Ok(InstalledMysql { server, flavour, version, install, system, below: below.map(Box::new) });
    }
    Err(missing(flavour, program, other.as_deref()))
}

/// Every file of that name in PATH and the usual folders.
fn everywhere(name: &str) -> Vec<PathBuf> {
    bourse_server::private::everywhere(name, USUAL.iter().map(PathBuf::from))
}

/// Path of `mariadb-install-db`, preferably in the server's folder, so that both have one version.
fn install_program(server: &Path) -> Result<PathBuf> {
    const NAMES: [&str; 2] = ["mariadb-install-db", "mysql_install_db"];
    let above = server.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    let beside = ["bin", "scripts", "sbin"].map(|folder| above.join(folder));
    let near = NAMES.iter().flat_map(|name| beside.iter().map(move |folder| folder.join(name)));
    near.filter(|file| file.is_file()).chain(NAMES.iter().flat_map(|name| everywhere(name))).next().ok_or_else(|| {
        EngineError::unsupported(format!(
            "{} is there, but not mariadb-install-db, which fills a new data directory: it comes with the package \
                 mariadb-server",
            server.display()
        ))
    })
}

fn missing(flavour: Flavour, program: Option<&Path>, other: Option<&Path>) -> EngineError {
    let ServerSearch { names, how, .. } = search(flavour);
    let message = match (program, other) {
        (Some(program), None) => format!("{} is no server that can be run", program.display()),
        (_, Some(other)) => {
            let (is, scheme) = match flavour {
                Flavour::Mariadb => ("MySQL's", "mysql+private:"),
                Flavour::Mysql => ("MariaDB's", "mariadb+private:"),
                Flavour::Tidb | Flavour::Vitess => ("another server", "of its own"),
            };
            format!("{} is {is}, for targets `{scheme}`; {how}", other.display())
        }
        (None, None) => {
            let wanted = names[0];
            format!("there is no {wanted} on PATH or in the usual folders; {how}; `server=PATH` names another")
        }
    };
    EngineError::new(ErrorKind::Unsupported, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_missing_is_told_with_the_way_to_get_it() {
        let refused = installed(Flavour::Mariadb, Some(Path::new("/nowhere/mariadbd"))).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        assert_eq!(refused.message(), "/nowhere/mariadbd is no server that can be run");
        let words = missing(Flavour::Mariadb, None, None);
        assert!(words.message().contains("apt-get install mariadb-server"), "{words}");
        let words = missing(Flavour::Mysql, None, Some(Path::new("/usr/sbin/mysqld")));
        assert!(words.message().contains("`mariadb+private:`"), "{words}");
        let words = missing(Flavour::Tidb, None, None);
        assert!(words.message().starts_with("there is no tidb-server on PATH"), "{words}");
    }

    #[test]
    fn a_server_is_known_by_what_it_says_of_itself() {
        for (words, flavour) in [
            ("mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64", Flavour::Mariadb),
            ("/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))", Flavour::Mysql),
            ("Release Version: v8.5.0\nEdition: Community\nGit Commit Hash: None", Flavour::Tidb),
            ("vtcombo version Version: 24.0.4 (Git revision  branch '') built on  by @", Flavour::Vitess),
        ] {
            assert_eq!(flavour_of(words), flavour);
        }
    }
}
