//! The software that a private cluster needs: the server with its plugin; for Galera its library, and the programs that copy
//! state between nodes.

use crate::cluster::options::ClusterOptions;
use crate::cluster::product::ClusterProduct;
use crate::{InstalledMysql, installed as installed_server};
use bourse_engine::{EngineError, Result};
use bourse_server::private::everywhere;
use std::path::PathBuf;

/// Paths where packages install Galera's library.
const PROVIDERS: &[&str] = &[
    "/usr/lib/galera/libgalera_smm.so",
    "/usr/lib/galera-4/libgalera_smm.so",
    "/usr/lib64/galera/libgalera_smm.so",
    "/usr/lib64/galera-4/libgalera_smm.so",
    "/usr/lib/libgalera_smm.so",
    "/usr/lib64/libgalera_smm.so",
    "/usr/local/lib/libgalera_smm.so",
];

/// Folders where packages install the other programs.
const USUAL: &[&str] = &["/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin"];

/// Software that a private cluster is started from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledCluster {
    /// Server.
    pub server: InstalledMysql,
    /// Galera's library; `None` for a group.
    pub provider: Option<PathBuf>,
}

/// Finds the software that a private cluster would be started from.
///
/// # Errors
/// [`Unsupported`](bourse_engine::ErrorKind::Unsupported): what was not found, and how to get it.
pub fn installed(product: ClusterProduct, options: &ClusterOptions) -> Result<InstalledCluster> {
    let server = installed_server(product.facts().flavour, options.server.server.as_deref())?;
    let provider = match product {
        ClusterProduct::Galera => Some(galera_library(options)?),
        ClusterProduct::Group => {
            check_plugin(&server)?;
            None
        }
    };
    Ok(InstalledCluster { server, provider })
}

/// Looks for the plugin in the folder where the server would.
fn check_plugin(server: &InstalledMysql) -> Result<()> {
    // A server that does not say where its plugins are says at its start whether it has this one.
    let Some(plugin) = server.plugins().map(|folder| folder.join("group_replication.so")) else { return Ok(()) };
    if plugin.is_file() {
        return Ok(());
    }
    Err(EngineError::unsupported(format!(
        "{} is not there: the server {} has no Group Replication; MySQL's packages have it, such as mysql-server-core \
         (Debian's unstable distribution) and mysql-community-server; a folder with another system's serves too \
         (docs/mariadb.md); `server=PATH` names another",
        plugin.display(),
        server.server.display()
    )))
}

/// Finds Galera's library, if everything else is installed too.
fn galera_library(options: &ClusterOptions) -> Result<PathBuf> {
    let provider = match &options.provider {
        Some(named) if named.is_file() => named.clone(),
        Some(named) => {
            return Err(EngineError::unsupported(format!("{} is no library that can be read", named.display())));
        }
        None => PROVIDERS.iter().map(PathBuf::from).find(|path| path.is_file()).ok_or_else(|| {
            EngineError::unsupported(
                "Galera's library libgalera_smm.so is not in the usual folders; `apt-get install galera-4` (Debian, Ubuntu) or \
                 `dnf install galera` (Fedora) gets it; `provider=PATH` names another",
            )
        })?,
    };
    let is_there = |name: &str| !everywhere(name, USUAL.iter().map(PathBuf::from)).is_empty();
    for (program, package) in [("wsrep_sst_rsync", "mariadb-server"), ("rsync", "rsync")] {
        if !is_there(program) {
            return Err(EngineError::unsupported(format!(
                "{program}, with which a node gets its state from another, is not on PATH: it comes with the package \
                 {package}"
            )));
        }
    }
    if !["lsof", "ss", "sockstat"].into_iter().any(is_there) {
        return Err(EngineError::unsupported(
            "none of the programs lsof, ss and sockstat is on PATH, which wsrep_sst_rsync needs: they come with the packages \
             lsof and iproute2",
        ));
    }
    Ok(provider)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_engine::ErrorKind;

    #[test]
    fn a_library_that_is_missing_is_told_by_its_path() {
        let options = ClusterOptions { provider: Some("/nowhere/libgalera_smm.so".into()), ..ClusterOptions::DEFAULT };
        let refused = installed(ClusterProduct::Galera, &options).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        // A missing server is reported first.
        let words = refused.message();
        assert!(words.contains("/nowhere/libgalera_smm.so is no library") || words.contains("mariadb"), "{words}");
    }
}
