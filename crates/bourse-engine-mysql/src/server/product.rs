//! Private servers of TiDB and Vitess: each listens on a socket in its folder.

use super::find::InstalledMysql;
use super::start::SOCKET;
use crate::connect::MysqlConnector;
use crate::error::error;
use crate::options::MysqlOptions;
use bourse_engine::{EngineError, Result};
use bourse_server::DATABASE;
use bourse_server::client::ServerAddress;
use bourse_server::private::ServerFolder;
use mysql::prelude::Queryable as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Argument by which a TiDB server of Bourse's is recognised.
pub(super) fn path_argument(data: &Path) -> String {
    format!("-path={}", data.display())
}

/// Command of TiDB on its built-in storage, which is one process.
pub(super) fn tidb_command(installed: &InstalledMysql, folder: &ServerFolder) -> Command {
    let mut command = folder.command_as_account(&installed.server);
    command.args(["-store=unistore", "-host=", "-P=0", "-report-status=false", "-L=warn"]);
    command.arg(path_argument(&folder.data()));
    let temporary = folder.path().join("tmp");
    // What it would put into the system's folder is the same for all servers without a port.
    command.env("TMPDIR", &temporary).arg(format!("-temp-dir={}", temporary.display()));
    command.arg(format!("-socket={}", folder.path().join(SOCKET).display()));
    command
}

/// Argument by which a Vitess of Bourse's is recognised.
pub(super) fn log_argument(data: &Path) -> String {
    format!("--log_dir={}", data.display())
}

/// Argument by which the MySQL server below a Vitess is recognised.
pub(super) fn below_argument(data: &Path) -> String {
    format!("--defaults-file={}", tablet(data).join("my.cnf").display())
}

/// Folder of the one tablet.
fn tablet(data: &Path) -> PathBuf {
    data.join("vt_0000000001")
}

/// Writes the files for the MySQL server that Vitess starts: a script in the folder `bin` of [`root`], and an option
/// file.
pub(super) fn prepare_vitess(installed: &InstalledMysql, folder: &ServerFolder) -> Result<()> {
    let bin = root(folder).join("bin");
    std::fs::create_dir(&bin).map_err(|e| EngineError::io("make", &bin, &e))?;
    let script = bin.join("mysqld");
    let below = installed.below.as_deref().map(InstalledMysql::script).unwrap_or_default();
    std::fs::write(&script, below).map_err(|e| EngineError::io("write", &script, &e))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&script, executable).map_err(|e| EngineError::io("make executable", &script, &e))?;
    }
    folder.write_data(OPTION_FILE, "skip-networking\nsuper-read-only = false\nmax_connections = 2000\n")
}

/// Name of the file with further options for the MySQL server: it is reached by its socket alone, and accepts changes
/// immediately.
const OPTION_FILE: &str = "extra.cnf";

/// Folder in which Vitess looks for MySQL.
fn root(folder: &ServerFolder) -> PathBuf {
    folder.path().join("tmp")
}

/// Command of `vtcombo` with one unsharded keyspace, on one tablet.
pub(super) fn vitess_command(installed: &InstalledMysql, folder: &ServerFolder, options: &MysqlOptions) -> Command {
    let mut command = folder.command_as_account(&installed.server);
    let data = folder.data();
    command.env("VTDATAROOT", &data).env("VT_MYSQL_ROOT", root(folder)).env("EXTRA_MY_CNF", data.join(OPTION_FILE));
    let seconds = options.common.answer_timeout.as_secs();
    command.arg(log_argument(&data));
    command.args(["--start-mysql", "--bind-address=127.0.0.1", "--port=0", "--mysql-server-port=-1"]);
    command.arg(format!("--mysql-server-socket-path={}", folder.path().join(SOCKET).display()));
    command.arg(format!("--proto-topo=keyspaces:{{name:\"{DATABASE}\" shards:{{name:\"0\"}}}} cells:\"test\""));
    command.args([
        "--mysql-auth-server-impl=none",
        "--db-charset=utf8mb4",
        "--db-app-user=vt_dba",
        "--db-dba-user=vt_dba",
    ]);
    // As many transactions at once as users may have.
    command.args(["--queryserver-config-transaction-cap=1000", "--queryserver-config-pool-size=500"]);
    // A load reads whole tables back; by default a result has 10,000 rows in a tablet, and 300,000 in a gate.
    command.args(["--queryserver-config-max-result-size=100000000", "--max-memory-rows=100000000"]);
    command.arg(format!("--queryserver-config-transaction-timeout={seconds}s"));
    command.arg(format!("--queryserver-config-query-timeout={seconds}s"));
    command
}

/// Ends the MySQL server below Vitess in good order. Vitess has no data of its own, and does not end with it.
pub(super) fn stop_below(connector: &MysqlConnector, folder: &ServerFolder, until: Instant) -> Result<()> {
    let tablet = tablet(&folder.data());
    let below = MysqlConnector {
        address: ServerAddress::Socket(tablet.join("mysql.sock")),
        user: "vt_dba".to_owned(),
        ..connector.clone()
    };
    below.connect(None)?.query_drop("SHUTDOWN").map_err(|e| error(&e).with_statement("SHUTDOWN"))?;
    // Removed when its data are whole.
    while tablet.join("mysql.pid").exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
