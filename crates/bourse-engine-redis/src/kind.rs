//! Registers Redis and Valkey as engines: private servers, and running servers.

use crate::{GRAMMAR, Product, Redis, RedisOptions, installed, open};
use bourse_engine::EngineKind;
use bourse_server::{available, cleanup};

/// The engines of this crate.
pub static KINDS: &[EngineKind] = &[
    EngineKind {
        version: || version(Product::Redis),
        ..private([
            "redis+private",
            "Redis, a private server in memory, started for the run and removed after it; records by key",
            "redis+private:?appendfsync=everysec, redis+private:DIRECTORY?appendonly=off&save=on",
        ])
    },
    EngineKind {
        version: || version(Product::Valkey),
        ..private([
            "valkey+private",
            "Valkey, a private server in memory, started for the run and removed after it; records by key",
            "valkey+private:?appendfsync=everysec, valkey+private:?server=/opt/valkey/bin/valkey-server",
        ])
    },
    running([
        "redis",
        "Redis, a running server; records by key",
        "redis://USER@HOST:PORT/NUMBER, redis:///NUMBER?socket=PATH",
    ]),
    running([
        "valkey",
        "Valkey, a running server; records by key",
        "valkey://USER@HOST:PORT/NUMBER, valkey:///NUMBER?socket=PATH",
    ]),
];

fn version(product: Product) -> Result<String, String> {
    installed(product, None).map(|installed| installed.version).map_err(|error| error.to_string())
}

/// A private server.
const fn private(words: [&'static str; 3]) -> EngineKind {
    EngineKind {
        starts_s: Some(1),
        available: available::<Redis>,
        tunes: &["appendfsync=everysec,no", "appendonly=off", "save=on"],
        ..running(words)
    }
}

/// A server that already runs.
const fn running(words: [&'static str; 3]) -> EngineKind {
    EngineKind {
        cleanup: cleanup::<Redis>,
        ..EngineKind::new(
            words,
            || Ok("client".to_owned()),
            |scheme| GRAMMAR.help(scheme, &RedisOptions::DEFAULT),
            |target| Ok(Box::new(open(target)?)),
        )
    }
}
