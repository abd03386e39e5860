//! PostgreSQL through the engine interface.
#![allow(clippy::unwrap_used, reason = "tests")]

mod conforms;
#[cfg(unix)]
mod faulty;
mod foreign;
mod loads;
mod private;
mod targets;
#[cfg(all(unix, feature = "tls"))]
mod tls;
mod tpce;

use bourse_engine_postgres::{PostgresEngine, installed, open};

/// A private server small enough for tests; `None`, with the test's name printed, if none is installed.
fn server(test: &str, query: &str) -> Option<PostgresEngine> {
    let memory = if std::path::Path::new("/dev/shm").is_dir() { "ram=on&" } else { "" };
    let engine = open(&format!("postgres+private:?{memory}shared_buffers=64MiB&{query}")).unwrap();
    match installed(engine.target().options.server.as_deref()) {
        Ok(_) => Some(engine),
        Err(why) => {
            bourse_testkit::skipped(test, why);
            None
        }
    }
}
