//! The job of a transactional workload from load to page on every kind of server target: a user's own server, and private ones. It once ended
//! with exit 2 on a user's PostgreSQL, whose sample's database could not be dropped.

use crate::{bourse, text};
use bourse_engine::{Engine, RowExt as _};
use bourse_engine_mysql::Flavour;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Runs the job of TATP, whose database a server loads in a moment, shortened; checks its output and its files, and that nothing
/// else is left. The job is the same for each transactional workload.
fn runs(target: &str, engine_name: &str) {
    // A private server's account must be able to reach its folder.
    let folder = tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o755)).tempdir().expect("a folder");
    let private = folder.path().join("servers");
    fs::create_dir(&private).expect("a folder");
    fs::set_permissions(&private, fs::Permissions::from_mode(0o777)).expect("it is ours");
    let short = ["tatp", "run", target, "--size", "1k", "--for", "5s", "--warmup", "0s", "--no-wait", "-o", "out"];
    let ended = bourse(folder.path(), &short)
        .env("TMPDIR", &private)
        .env("BOURSE_CHECK", "full")
        .output()
        .expect("it can be started");
    let (report, said) = (text(&ended.stdout), text(&ended.stderr));
    assert_eq!(ended.status.code(), Some(0), "{target}: {report}\n{said}");
    assert!(report.contains(engine_name), "{target}: {report}");
    assert!(said.contains("rows alike, on a database of its own"), "{target}: {said}");
    let runs: Vec<PathBuf> =
        fs::read_dir(folder.path().join("out")).expect("a folder").map(|it| it.expect("an entry").path()).collect();
    let [run] = runs.as_slice() else { panic!("{target}: {runs:?}") };
    for name in ["run.json", "report.html"] {
        assert!(run.join(name).is_file(), "{target}: {name}");
    }
    let left: Vec<_> = fs::read_dir(&private).expect("a folder").map(|it| it.expect("an entry").file_name()).collect();
    assert!(left.is_empty(), "{target}: {left:?}");
}

/// The databases of a server, in order.
fn databases(server: &dyn Engine, sql: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut session = server.session().expect("the server runs");
    let asked = session.query_text(sql, &[], &mut |row| {
        names.push(row.get::<String>(0)?);
        Ok(())
    });
    asked.expect("it can be asked");
    names
}

fn socket_folder(server: &dyn Engine) -> PathBuf {
    drop(server.session().expect("the server starts"));
    server.location().folder().expect("its files are here").parent().expect("its folder").to_owned()
}

fn memory() -> &'static str {
    if Path::new("/dev/shm").is_dir() { "ram=on&" } else { "" }
}

#[test]
fn a_persons_postgres_is_left_with_the_loaded_database_alone() {
    if let Err(why) = bourse_engine_postgres::installed(None) {
        return bourse_testkit::skipped("default_job::a_persons_postgres_is_left_with_the_loaded_database_alone", why);
    }
    let server = format!("postgres+private:?{}shared_buffers=64MiB&fsync=off", memory());
    let server = bourse_engine_postgres::open(&server).expect("a target");
    let socket = socket_folder(&server);
    runs(&format!("postgres://postgres@localhost/tatp?socket={}", socket.display()), "postgres");
    let names = databases(&server, "SELECT datname::text FROM pg_database WHERE NOT datistemplate ORDER BY 1");
    assert_eq!(names, ["bourse", "postgres", "tatp"]);
}

#[test]
fn a_persons_mariadb_is_left_with_the_loaded_database_alone() {
    if let Err(why) = bourse_engine_mysql::installed(Flavour::Mariadb, None) {
        return bourse_testkit::skipped("default_job::a_persons_mariadb_is_left_with_the_loaded_database_alone", why);
    }
    let server = format!("mariadb+private:?{}innodb_buffer_pool=64MiB&log_file=64MiB&flush_log=0", memory());
    let server = bourse_engine_mysql::open(&server).expect("a target");
    let socket = socket_folder(&server).join("s");
    runs(&format!("mariadb://root@localhost/tatp?socket={}", socket.display()), "mariadb");
    let own = "('information_schema', 'mysql', 'performance_schema', 'sys', 'test')";
    let names = databases(
        &server,
        &format!("SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN {own} ORDER BY 1"),
    );
    assert_eq!(names, ["bourse", "tatp"]);
}

#[test]
fn a_private_postgres_is_gone() {
    if let Err(why) = bourse_engine_postgres::installed(None) {
        return bourse_testkit::skipped("default_job::a_private_postgres_is_gone", why);
    }
    runs("postgres+private:?shared_buffers=64MiB&fsync=off", "postgres");
}

#[test]
fn a_private_mariadb_is_gone() {
    if let Err(why) = bourse_engine_mysql::installed(Flavour::Mariadb, None) {
        return bourse_testkit::skipped("default_job::a_private_mariadb_is_gone", why);
    }
    runs("mariadb+private:?innodb_buffer_pool=64MiB&log_file=64MiB&flush_log=0", "mariadb");
}
