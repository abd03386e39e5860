//! Registers PostgreSQL as an engine: private servers, and running servers.

use crate::engine::Postgres;
use crate::{GRAMMAR, PostgresOptions, installed, open};
use bourse_engine::EngineKind;
use bourse_server::{available, cleanup};

/// The engines of this crate.
pub static KINDS: &[EngineKind] = &[
    EngineKind {
        scheme: "postgres+private",
        summary: "PostgreSQL, a private server, started for the run and removed after it",
        example: "postgres+private:?ram=on, postgres+private:DIRECTORY?synchronous_commit=off",
        starts_s: Some(2),
        version: || installed(None).map(|installed| installed.version).map_err(|error| error.to_string()),
        available: available::<Postgres>,
        faults_by_preload: true,
        tunes: &[
            "synchronous_commit=off",
            "full_page_writes=off",
            "wal_sync_method=fsync,open_datasync,open_sync",
            "shared_buffers=128MiB",
            "max_wal_size=1GiB",
            "plan_cache=generic,custom",
        ],
        ..RUNNING
    },
    RUNNING,
];

/// A server that already runs.
const RUNNING: EngineKind = EngineKind {
    loads_rows_s: Some(120_000),
    prepares_ms: 1_000,
    cleanup: cleanup::<Postgres>,
    ..EngineKind::new(
        [
            "postgres",
            "PostgreSQL, a running server",
            "postgres://USER@HOST:PORT/DATABASE, postgres://USER@HOST,HOST/DATABASE, postgres://USER@/DATABASE?socket=/run/postgresql",
        ],
        || Ok("client".to_owned()),
        |scheme| GRAMMAR.help(scheme, &PostgresOptions::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
};
