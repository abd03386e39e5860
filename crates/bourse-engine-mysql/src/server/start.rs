//! Start and end of a private server.

use super::find::InstalledMysql;
use super::product;
use crate::connect::MysqlConnector;
use crate::options::{Flavour, FlushMethod, MysqlOptions, StorageEngine};
use crate::products;
use crate::target::MysqlTarget;
use bourse_engine::Result;
use bourse_server::DATABASE;
use bourse_server::client::ServerAddress;
use bourse_server::client::passwords::Secret;
use bourse_server::private::{Launch, PrivateServer, ServerFolder, ServerKind, StartLimit, processes};
use mysql::prelude::Queryable as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Name of the socket in a server's folder.
pub(crate) const SOCKET: &str = "s";

/// Properties of MariaDB's and MySQL's private servers.
pub(crate) static KIND: ServerKind = ServerKind {
    prefix: "bourse-mysql-",
    folders: &["tmp"],
    socket: SOCKET,
    account: "mysql",
    serves: |process, data| {
        let of_products = [product::path_argument, product::log_argument, product::below_argument];
        let arguments = of_products.iter().map(|argument| argument(data)).chain([datadir_argument(data)]);
        arguments.into_iter().any(|argument| processes::has_argument(process, &argument))
    },
    after_kill: |_| {},
};

/// Argument by which a server of Bourse's is recognised.
pub(crate) fn datadir_argument(data: &Path) -> String {
    format!("--datadir={}", data.display())
}

/// Fills the data directory of a new server.
pub(crate) fn fill(
    target: &MysqlTarget,
    installed: &InstalledMysql,
    folder: &ServerFolder,
    _: &Launch,
    limit: StartLimit,
) -> Result<()> {
    match target.flavour {
        Flavour::Mariadb | Flavour::Mysql => folder.fill(fill_command(installed, folder), limit),
        Flavour::Tidb => Ok(()),
        Flavour::Vitess => product::prepare_vitess(installed, folder),
    }
}

/// Connector to the server with that socket; `settings` are those of its sessions beyond the common ones.
pub(crate) fn connector(socket: PathBuf, options: &MysqlOptions, settings: &'static str) -> MysqlConnector {
    MysqlConnector {
        address: ServerAddress::Socket(socket),
        user: "root".to_owned(),
        secret: Secret::default(),
        options: options.clone(),
        settings,
    }
}

/// Tells a server to end in good order.
pub(crate) fn shut_down(
    target: &MysqlTarget,
    server: &mut PrivateServer,
    connector: &MysqlConnector,
    until: Instant,
) -> Result<()> {
    if target.flavour == Flavour::Vitess {
        product::stop_below(connector, server.folder(), until)?;
        return server.kill();
    }
    connector.connect(None)?.query_drop("SHUTDOWN").map_err(|e| crate::error::error(&e).with_statement("SHUTDOWN"))
}

/// Waits until a server answers and has its database.
pub(crate) fn wait_until_it_answers(
    target: &MysqlTarget,
    server: &mut PrivateServer,
    connector: &MysqlConnector,
    limit: StartLimit,
) -> Result<()> {
    if target.flavour == Flavour::Vitess {
        // Its keyspace is the database, and is served some time after it answers.
        return server.wait_until_it_answers(limit, || connector.connect(Some(DATABASE))).map(drop);
    }
    let mut connection = server.wait_until_it_answers(limit, || connector.connect(None))?;
    let variable = products::of_flavour(target.flavour).checks;
    let checks = variable.map(|variable| format!("SET GLOBAL {variable} = ON"));
    let database = format!("CREATE DATABASE IF NOT EXISTS {DATABASE}");
    checks
        .into_iter()
        .chain([database])
        .try_for_each(|sql| connection.query_drop(sql))
        .map_err(|e| crate::error::error(&e))
}

/// Command that starts the server of a target on its data.
pub(crate) fn command(
    target: &MysqlTarget,
    installed: &InstalledMysql,
    folder: &ServerFolder,
    launch: &Launch,
) -> Command {
    let mut command = match target.flavour {
        Flavour::Mariadb | Flavour::Mysql => return server_command(installed, target, folder, launch),
        Flavour::Tidb => product::tidb_command(installed, folder),
        Flavour::Vitess => product::vitess_command(installed, folder, &target.options),
    };
    launch.apply(&mut command);
    command
}

/// Argument that names the server's user: as root these programs change to it themselves.
fn user_argument(folder: &ServerFolder) -> Option<String> {
    folder.account().map(|name| format!("--user={name}"))
}

/// Command that starts the server on an existing data directory.
pub(crate) fn server_command(
    installed: &InstalledMysql,
    target: &MysqlTarget,
    folder: &ServerFolder,
    launch: &Launch,
) -> Command {
    let mut command = installed.command();
    command.args(user_argument(folder));
    command.args(arguments(target.flavour, folder.path(), &target.options));
    launch.apply(&mut command);
    command
}

/// Command that creates the system's own tables.
pub(crate) fn fill_command(installed: &InstalledMysql, folder: &ServerFolder) -> Command {
    let mut command = match &installed.install {
        Some(install) => {
            let mut command = Command::new(install);
            command.args([
                "--no-defaults",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--skip-name-resolve",
            ]);
            command
        }
        None => {
            let mut command = installed.command();
            command.arg("--initialize-insecure");
            command
        }
    };
    command.args(user_argument(folder)).arg(datadir_argument(&folder.data()));
    command.arg(format!("--tmpdir={}", folder.path().join("tmp").display()));
    command
}

/// Arguments of the server.
fn arguments(flavour: Flavour, folder: &Path, options: &MysqlOptions) -> Vec<String> {
    let path = |name: &str| folder.join(name).display().to_string();
    let method =
        options.flush_method.unwrap_or(if options.common.ram { FlushMethod::Fsync } else { FlushMethod::Direct });
    let mut arguments = vec![
        datadir_argument(&folder.join("data")),
        format!("--tmpdir={}", path("tmp")),
        format!("--socket={}", path("s")),
        format!("--pid-file={}", folder.join("data").join("server.pid").display()),
        "--skip-networking".to_owned(),
        "--skip-name-resolve".to_owned(),
        "--skip-log-bin".to_owned(),
        "--performance-schema=OFF".to_owned(),
        "--character-set-server=utf8mb4".to_owned(),
        "--max-connections=2000".to_owned(),
        "--max-prepared-stmt-count=1000000".to_owned(),
        format!("--innodb-buffer-pool-size={}", options.buffer_pool_bytes),
        format!("--innodb-flush-log-at-trx-commit={}", options.flush_log.word()),
        format!(
            "--innodb-flush-method={}",
            match method {
                FlushMethod::Fsync => "fsync",
                FlushMethod::Direct => "O_DIRECT",
            }
        ),
        format!("--innodb-doublewrite={}", if options.doublewrite { "ON" } else { "OFF" }),
    ];
    arguments.push(match flavour {
        Flavour::Mariadb => format!("--innodb-log-file-size={}", options.log_file_bytes),
        _ => format!("--innodb-redo-log-capacity={}", options.log_file_bytes),
    });
    if options.storage == StorageEngine::Rocksdb {
        arguments.push("--plugin-load-add=ha_rocksdb".to_owned());
        arguments.push(format!("--rocksdb-block-cache-size={}", options.buffer_pool_bytes));
        arguments.push(format!("--rocksdb-flush-log-at-trx-commit={}", options.flush_log.word()));
    }
    if flavour == Flavour::Mysql {
        arguments.push("--mysqlx=OFF".to_owned());
        // A load sends its rows so.
        arguments.push("--local-infile=ON".to_owned());
    }
    arguments
}
