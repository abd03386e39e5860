//! The user that a private server runs as.

use crate::private::ServerKind;
use bourse_engine::{EngineError, Result};
use std::path::Path;
use std::process::Command;

/// User that a server runs as.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerAccount {
    name: &'static str,
    /// User and group; `None` for the user of this process.
    ids: Option<(u32, u32)>,
}

impl ServerAccount {
    /// Finds the user. Servers refuse to run as root, so a root process uses one that the server's package creates.
    #[cfg(unix)]
    pub(crate) fn find(kind: &ServerKind) -> Result<Self> {
        let name = kind.account;
        if !rustix::process::geteuid().is_root() {
            return Ok(Self { name, ids: None });
        }
        let id = |flag: &str| {
            let output = Command::new("id").args([flag, name]).stdin(std::process::Stdio::null()).output().ok()?;
            String::from_utf8(output.stdout).ok()?.trim().parse::<u32>().ok()
        };
        let (Some(user), Some(group)) = (id("-u"), id("-g")) else {
            return Err(EngineError::unsupported(format!(
                "a server does not run as root, and there is no user `{name}` for it: `useradd --system {name}` makes one"
            )));
        };
        Ok(Self { name, ids: Some((user, group)) })
    }

    #[cfg(not(unix))]
    pub(crate) fn find(kind: &ServerKind) -> Result<Self> {
        Ok(Self { name: kind.account, ids: None })
    }

    /// Name of the user; `None` for the user of this process.
    pub(crate) fn name(&self) -> Option<&'static str> {
        self.ids.map(|_| self.name)
    }

    /// Makes the user the owner of a file or folder.
    pub(crate) fn give(&self, path: &Path) -> Result<()> {
        #[cfg(unix)]
        if let Some((user, group)) = self.ids {
            return std::os::unix::fs::chown(path, Some(user), Some(group))
                .map_err(|e| EngineError::io("give away", path, &e));
        }
        let _ = path;
        Ok(())
    }

    /// Lets a command run as the user from its start.
    pub(crate) fn apply(&self, command: &mut Command) {
        #[cfg(unix)]
        if let Some((user, group)) = self.ids {
            use std::os::unix::process::CommandExt as _;
            command.uid(user).gid(group);
        }
        let _ = command;
    }
}
