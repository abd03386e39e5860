//! Private servers: finding the program, and the command that starts it.

use crate::options::RedisOptions;
use bourse_engine::{EngineError, ErrorKind, Result};
use bourse_server::private::{Launch, ServerFolder, ServerKind, everywhere, processes, version_text};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders in which packages install servers, often not on a user's PATH.
const USUAL: &[&str] = &["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// Name of a private server's socket.
pub(crate) const SOCKET: &str = "redis.sock";

/// Server that a scheme names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// Redis.
    Redis,
    /// Valkey.
    Valkey,
}

impl Product {
    /// Product of a scheme.
    pub(crate) fn of_scheme(scheme: &str) -> Self {
        if scheme.starts_with("valkey") { Self::Valkey } else { Self::Redis }
    }

    /// Properties of its private servers.
    pub(crate) fn private(self) -> &'static ServerKind {
        match self {
            Self::Redis => &REDIS,
            Self::Valkey => &VALKEY,
        }
    }
}

static REDIS: ServerKind = ServerKind {
    prefix: "bourse-redis-",
    folders: &[],
    socket: SOCKET,
    account: "redis",
    // A server changes its arguments, but works in its data directory.
    serves: |process, data| processes::works_in(process, "redis-server", data),
    after_kill: |_| {},
};

static VALKEY: ServerKind = ServerKind {
    prefix: "bourse-valkey-",
    account: "valkey",
    serves: |process, data| processes::works_in(process, "valkey-server", data),
    ..REDIS
};

/// An installed server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledServer {
    /// Path of the program.
    pub server: PathBuf,
    /// Version that it reports.
    pub version: String,
}

/// Server that a private target would start; `program` replaces the search.
///
/// # Errors
/// [`ErrorKind::Unsupported`]: what was not found, where it was sought and how to install it.
pub fn installed(product: Product, program: Option<&Path>) -> Result<InstalledServer> {
    let (name, package) = match product {
        Product::Redis => ("redis-server", "redis-server"),
        Product::Valkey => ("valkey-server", "valkey-server"),
    };
    let candidates =
        program.map_or_else(|| everywhere(name, USUAL.iter().map(PathBuf::from)), |program| vec![program.to_owned()]);
    for server in candidates {
        let words = version_text(&server, &["--version"]).unwrap_or_default();
        // As `Redis server v=7.0.15 sha=…`.
        if let Some(version) = words.split_whitespace().find_map(|word| word.strip_prefix("v=")) {
            return Ok(InstalledServer { server, version: version.to_owned() });
        }
    }
    Err(EngineError::new(
        ErrorKind::Unsupported,
        match program {
            Some(program) => format!("{} is no {name} that can be run", program.display()),
            None => format!(
                "there is no {name} on PATH or in the usual folders; `apt-get install {package}` (Debian, Ubuntu) or \
                 `brew install {}` (macOS) gets it; it need not run; `server=PATH` names another",
                name.trim_end_matches("-server")
            ),
        },
    ))
}

/// Command that starts a server on the data in its folder.
pub(crate) fn command(server: &Path, options: &RedisOptions, folder: &ServerFolder, launch: &Launch) -> Command {
    let mut command = folder.command_as_account(server);
    command.args(["--port", "0", "--daemonize", "no", "--loglevel", "warning"]);
    command.arg("--unixsocket").arg(folder.path().join(SOCKET));
    command.arg("--dir").arg(folder.data());
    command.args(["--appendonly", if options.appendonly { "yes" } else { "no" }]);
    command.args(["--appendfsync", options.appendfsync.word()]);
    command.args(["--save", if options.save { "3600 1 300 100 60 10000" } else { "" }]);
    launch.apply(&mut command);
    command
}
