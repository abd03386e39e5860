//! Registers PostgreSQL as an engine: private servers, and running servers.

use crate::{GRAMMAR, Options, Target, installed, open, sweep_target};
use bourse_engine::EngineKind;

/// The engines of this crate.
pub static KINDS: &[EngineKind] = &[
    EngineKind {
        scheme: "postgres+private",
        summary: "PostgreSQL, a private server, started for the run and removed after it",
        example: "postgres+private:?ram=on, postgres+private:DIRECTORY?synchronous_commit=off",
        starts_s: Some(2),
        version: || installed(None).map(|installed| installed.version).map_err(|error| error.to_string()),
        available: |target| {
            let target = Target::parse(target).map_err(|error| error.to_string())?;
            installed(target.options.server.as_deref()).map(drop).map_err(|error| error.to_string())
        },
        options: || GRAMMAR.help("postgres+private", &Options::DEFAULT),
        faults_by_preload: true,
        ..RUNNING
    },
    RUNNING,
];

/// A server that already runs.
const RUNNING: EngineKind = EngineKind {
    loads_rows_s: Some(120_000),
    prepares_ms: 1_000,
    cleanup: |target| {
        // A target that cannot be read has started no server.
        if let Ok(target) = Target::parse(target) {
            sweep_target(&target);
        }
    },
    ..EngineKind::new(
        [
            "postgres",
            "PostgreSQL, a running server",
            "postgres://USER@HOST:PORT/DATABASE, postgres://USER@HOST,HOST/DATABASE, postgres://USER@/DATABASE?socket=/run/postgresql",
        ],
        || Ok("client".to_owned()),
        || GRAMMAR.help("postgres", &Options::DEFAULT),
        |target| Ok(Box::new(open(target)?)),
    )
};
