//! Commands that start a private server.

use crate::connect::PostgresConnector;
use crate::options::PostgresOptions;
use crate::server::InstalledPostgres;
use crate::target::PostgresTarget;
use bourse_engine::Result;
use bourse_server::client::ServerAddress;
use bourse_server::client::passwords::Secret;
use bourse_server::private::{Launch, ServerFolder, ServerKind, StartLimit, processes};
use std::path::Path;
use std::process::{Command, Stdio};

/// Number in the name of a private server's socket.
const NUMBER: u16 = 5_432;

/// Superuser of a private server.
const USER: &str = "postgres";

/// Properties of PostgreSQL's private servers.
pub(crate) static KIND: ServerKind = ServerKind {
    prefix: "bourse-postgres-",
    folders: &[],
    socket: ".s.PGSQL.5432.lock",
    account: "postgres",
    // A server is many processes, and each works in its data directory.
    serves: |process, data| processes::works_in(process, "postgres", data),
    after_kill: remove_segment,
};

/// Connector to the server in a folder.
pub(crate) fn connector(target: &PostgresTarget, folder: &ServerFolder) -> PostgresConnector {
    PostgresConnector {
        address: ServerAddress::Socket(folder.path().join(format!(".s.PGSQL.{NUMBER}"))),
        user: USER.to_owned(),
        secret: Secret::default(),
        options: target.options.clone(),
    }
}

/// Command of one of the server's programs, run as its user.
fn program(program: &Path, folder: &ServerFolder) -> Command {
    let mut command = folder.command_as_account(program);
    // The person's settings are for the person's servers.
    for name in ["PGDATA", "PGPORT", "PGHOST", "PGOPTIONS", "PGDATABASE", "PGUSER"] {
        command.env_remove(name);
    }
    command
}

/// Command that starts the server on an existing data directory.
pub(crate) fn command(
    target: &PostgresTarget,
    installed: &InstalledPostgres,
    folder: &ServerFolder,
    launch: &Launch,
) -> Command {
    let mut command = program(&installed.server, folder);
    command.args(arguments(folder.path(), &target.options));
    launch.apply(&mut command);
    command
}

/// Creates the system's own tables.
pub(crate) fn fill(
    _: &PostgresTarget,
    installed: &InstalledPostgres,
    folder: &ServerFolder,
    launch: &Launch,
    limit: StartLimit,
) -> Result<()> {
    let mut command = program(&installed.install, folder);
    command.arg("-D").arg(folder.data());
    command.args(["-U", USER, "-A", "trust", "--no-sync", "--encoding=UTF8", "--locale=C", "--no-instructions"]);
    command.args(&launch.install);
    folder.fill(command, limit)
}

/// Arguments of the server.
fn arguments(folder: &Path, options: &PostgresOptions) -> Vec<String> {
    let switch = |on: bool| if on { "on" } else { "off" };
    let mut settings = vec![
        format!("unix_socket_directories={}", folder.display()),
        "listen_addresses=".to_owned(),
        format!("port={NUMBER}"),
        format!("max_connections={}", options.max_connections),
        format!("shared_buffers={}kB", options.shared_buffers_bytes / 1_024),
        format!("max_wal_size={}MB", options.max_wal_bytes >> 20),
        format!("fsync={}", switch(options.fsync)),
        format!("full_page_writes={}", switch(options.full_page_writes)),
        // Nobody copies its log.
        "wal_level=minimal".to_owned(),
        "max_wal_senders=0".to_owned(),
        // Serializable transactions read more rows of an index page than the default keeps apart.
        "max_pred_locks_per_transaction=1024".to_owned(),
        "max_pred_locks_per_page=32".to_owned(),
        // In its folder, and so gone with it however it ends.
        "dynamic_shared_memory_type=mmap".to_owned(),
        "log_min_messages=warning".to_owned(),
    ];
    settings.extend(options.wal_sync_method.map(|method| format!("wal_sync_method={}", method.word())));
    let data = folder.join("data").display().to_string();
    ["-D".to_owned(), data].into_iter().chain(settings.into_iter().flat_map(|it| ["-c".to_owned(), it])).collect()
}

/// Removes the segment of shared memory of a few bytes that a killed server leaves, by which the next one on its data
/// would conclude that it still runs. The seventh line of its file has the segment's key and number.
fn remove_segment(data: &Path) {
    let file = data.join("postmaster.pid");
    let told = std::fs::read_to_string(&file).unwrap_or_default();
    let number = told.lines().nth(6).and_then(|line| line.split_whitespace().nth(1)?.parse::<u32>().ok());
    let Some(number) = number else { return };
    // Best effort: without it nothing but those bytes is left.
    let removed =
        Command::new("ipcrm").args(["-m", &number.to_string()]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if removed.is_ok_and(|status| status.success()) {
        let _ = std::fs::remove_file(file);
    }
}
