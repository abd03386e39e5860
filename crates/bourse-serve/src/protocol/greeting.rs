//! Messages that begin a connection: greeting, hello, admission.

use crate::token::{Nonce, Proof};
use bourse_egen::{Part, PartError};
use bourse_engine::{Description, Durability, MayLose, MemoryStore, Setting, WriterWait};
use bourse_tpce::load::{Constraints, Fingerprint, part_of};
use bourse_tpce::workload::size_of;
use serde::{Deserialize, Serialize};

/// First message of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// [`MAGIC`](super::MAGIC).
    pub magic: [u8; 8],
    /// [`PROTOCOL`](super::PROTOCOL).
    pub protocol: u16,
    /// Version of the server's program.
    pub program: String,
    /// Number that the driver's proof is computed from.
    pub nonce: Nonce,
    /// Whether a proof is required.
    pub token: bool,
}

/// Answer of the driver to the greeting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`](super::PROTOCOL).
    pub protocol: u16,
    /// Version of the driver's program.
    pub program: String,
    /// Proof that the driver knows the token.
    pub proof: Option<Proof>,
    /// Purpose of the connection.
    pub purpose: Purpose,
}

/// Purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// Connection of a driver.
    Driver,
    /// Connection of a driver's user. It names the admitted driver by its number, which is random, so another client cannot
    /// guess it.
    User {
        /// Number of the driver.
        driver: u64,
    },
    /// Connection of a driver that sends its statements to the engine itself, and is coordinated with others.
    Coordinated,
}

/// Answer to a hello: admitted or refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Admission {
    /// Admitted as a driver.
    Driver(Box<Welcome>),
    /// Admitted as a user.
    User,
    /// Refused, with the reason.
    Refused(String),
    /// Refused, since the peer has not proved that it knows the token.
    Unauthenticated(TokenFault),
}

/// Defect of a peer's proof that it knows the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum TokenFault {
    /// No proof.
    #[error("a token is required, and none was sent")]
    Missing,
    /// Proof of another token.
    #[error("wrong token")]
    Wrong,
}

/// Database and engine that are served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// Number of the driver, which its users must name.
    pub driver: u64,
    /// Fingerprint of the database.
    pub database: Database,
    /// History of the database: loaded now, or reused.
    pub history: String,
    /// Engine and its settings, read back from it.
    pub engine: Engine,
    /// Number of sessions, which all users share.
    pub workers: u32,
    /// Silence allowed to the driver outside a round, in milliseconds.
    pub idle_ms: u64,
}

/// Fingerprint of a database in the protocol's form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Database {
    schema: String,
    generator: i64,
    part: [i64; 5],
    inputs: String,
    keys_only: bool,
}

impl From<&Fingerprint> for Database {
    fn from(fingerprint: &Fingerprint) -> Self {
        let Fingerprint { schema, generator, inputs, constraints, .. } = fingerprint;
        let part = part_of(fingerprint);
        Self {
            schema: schema.clone(),
            generator: *generator,
            part: [part.first_customer(), part.customers(), part.total_customers(), part.scale_factor(), part.days()],
            inputs: inputs.clone(),
            keys_only: *constraints == Constraints::KeysOnly,
        }
    }
}

impl Database {
    /// Converts to the fingerprint of a database.
    ///
    /// # Errors
    /// If no database can have these values.
    pub fn fingerprint(&self) -> Result<Fingerprint, PartError> {
        let [first, count, total, scale_factor, days] = self.part;
        Ok(Fingerprint {
            schema: self.schema.clone(),
            generator: self.generator,
            size: size_of(Part::new(first, count, total, scale_factor, days)?),
            inputs: self.inputs.clone(),
            constraints: if self.keys_only { Constraints::KeysOnly } else { Constraints::Full },
        })
    }
}

/// Description of an engine in the protocol's form, with the capabilities that reports name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    name: String,
    version: String,
    target: String,
    durability: u8,
    /// Data that power loss may take: its number from 1 in [`MayLose::ALL`]; 0 if unspecified.
    may_lose: u8,
    durability_reason: String,
    writer_wait: Option<u8>,
    memory_store: Option<u8>,
    settings: Vec<(String, String)>,
    compile_options: Vec<String>,
    warnings: Vec<String>,
    /// Whether several writers can work at the same time.
    pub concurrent_writers: bool,
    /// Whether the engine enforces foreign keys.
    pub foreign_keys: bool,
    /// Whether the engine enforces checks.
    pub checks: bool,
}

const DURABILITIES: [Durability; 5] =
    [Durability::Volatile, Durability::Process, Durability::Consistent, Durability::Durable, Durability::Unknown];

const WRITER_WAITS: [WriterWait; 5] = [
    WriterWait::BourseQueue,
    WriterWait::BourseBusyHandler,
    WriterWait::EngineBusyTimeout,
    WriterWait::OneConnection,
    WriterWait::EngineLocks,
];
const MEMORY_STORES: [MemoryStore; 2] = [MemoryStore::Bourse, MemoryStore::Engine];

/// Position of a value in the list that both sides have.
fn rank_of<T: PartialEq>(all: &[T], wanted: T) -> Option<u8> {
    all.iter().position(|one| *one == wanted).and_then(|rank| u8::try_from(rank).ok())
}

impl Engine {
    /// Description of an engine, as it reports it.
    ///
    /// # Errors
    /// The engine's.
    pub fn of(engine: &dyn bourse_engine::Engine) -> Result<Self, bourse_engine::EngineError> {
        let described = engine.description()?;
        let capabilities = engine.capabilities();
        let rank = DURABILITIES.iter().position(|class| *class == described.durability);
        Ok(Self {
            name: described.engine,
            version: described.version,
            target: described.target,
            durability: rank.expect("all classes are listed") as u8,
            may_lose: described
                .may_lose
                .and_then(|it| MayLose::ALL.iter().position(|known| *known == it))
                .map_or(0, |at| (at as u8).saturating_add(1)),
            durability_reason: described.durability_reason,
            writer_wait: described.writer_wait.and_then(|wait| rank_of(&WRITER_WAITS, wait)),
            memory_store: described.memory_store.and_then(|store| rank_of(&MEMORY_STORES, store)),
            settings: described.settings.into_iter().map(|setting| (setting.name, setting.value)).collect(),
            compile_options: described.compile_options,
            warnings: described.warnings,
            concurrent_writers: capabilities.concurrent_writers,
            foreign_keys: capabilities.sql.is_some_and(|sql| sql.foreign_keys),
            checks: capabilities.sql.is_some_and(|sql| sql.checks),
        })
    }

    /// Description for the driver's run file: of the target `target`, with the engine's own target as a setting.
    pub fn describe(&self, target: String, workers: u32) -> Description {
        let own = [("served target", self.target.clone()), ("server's sessions", workers.to_string())];
        let own = own.map(|(name, value)| Setting { name: name.to_owned(), value });
        let settings = self.settings.iter().map(|(name, value)| Setting { name: name.clone(), value: value.clone() });
        Description {
            engine: self.name.clone(),
            version: self.version.clone(),
            target,
            // A class that this program does not know promises nothing.
            durability: DURABILITIES.get(usize::from(self.durability)).copied().unwrap_or(Durability::Unknown),
            may_lose: usize::from(self.may_lose).checked_sub(1).and_then(|at| MayLose::ALL.get(at).copied()),
            durability_reason: self.durability_reason.clone(),
            writer_wait: self.writer_wait.and_then(|rank| WRITER_WAITS.get(usize::from(rank)).copied()),
            memory_store: self.memory_store.and_then(|rank| MEMORY_STORES.get(usize::from(rank)).copied()),
            settings: own.into_iter().chain(settings).collect(),
            compile_options: self.compile_options.clone(),
            warnings: self.warnings.clone(),
        }
    }
}
