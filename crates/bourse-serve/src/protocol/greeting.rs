//! How a connection begins.

use crate::token::{Nonce, Proof};
use bourse_egen::{Part, PartError};
use bourse_engine::{Description, Durability, Setting};
use bourse_tpce::load::{Constraints, Fingerprint};
use serde::{Deserialize, Serialize};

/// The server's first words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// [`MAGIC`](super::MAGIC).
    pub magic: [u8; 8],
    /// [`PROTOCOL`](super::PROTOCOL).
    pub protocol: u16,
    /// The server's version.
    pub program: String,
    /// What the driver's proof is to be made of.
    pub nonce: Nonce,
    /// Whether there must be a proof.
    pub token: bool,
}

/// The driver's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`](super::PROTOCOL).
    pub protocol: u16,
    /// The driver's version.
    pub program: String,
    /// That it knows the token.
    pub proof: Option<Proof>,
    /// What it wants.
    pub purpose: Purpose,
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// A driver, new here.
    Driver,
    /// A user of a driver that has been admitted, by the driver's number: random, so that no stranger can name it.
    User {
        /// The number.
        driver: u64,
    },
}

/// Whether a connection is admitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Admission {
    /// As a driver.
    Driver(Box<Welcome>),
    /// As a user.
    User,
    /// Not; why.
    Refused(String),
}

/// What is served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// The number that the driver's users have to name.
    pub driver: u64,
    /// What the database was made of.
    pub database: Database,
    /// How it was found.
    pub history: String,
    /// The engine and its settings, read back from it.
    pub engine: Engine,
    /// Sessions that all users together take turns at.
    pub workers: u32,
    /// How long the driver may say nothing outside a round, in milliseconds.
    pub idle_ms: u64,
}

/// What a database was made of, as it crosses the network.
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
        let Fingerprint { schema, generator, part, inputs, constraints } = fingerprint;
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
    /// What the database was made of.
    ///
    /// # Errors
    /// If there can be no such database.
    pub fn fingerprint(&self) -> Result<Fingerprint, PartError> {
        let [first, count, total, scale_factor, days] = self.part;
        Ok(Fingerprint {
            schema: self.schema.clone(),
            generator: self.generator,
            part: Part::new(first, count, total, scale_factor, days)?,
            inputs: self.inputs.clone(),
            constraints: if self.keys_only { Constraints::KeysOnly } else { Constraints::Full },
        })
    }
}

/// An engine's description and what of its capabilities reports name, as they cross the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    name: String,
    version: String,
    target: String,
    durability: u8,
    durability_reason: String,
    settings: Vec<(String, String)>,
    compile_options: Vec<String>,
    warnings: Vec<String>,
    /// Whether several writers can be at work at once.
    pub concurrent_writers: bool,
    /// Whether the engine enforces foreign keys.
    pub foreign_keys: bool,
    /// Whether the engine enforces checks.
    pub checks: bool,
}

const DURABILITIES: [Durability; 4] =
    [Durability::Volatile, Durability::Process, Durability::Consistent, Durability::Durable];

impl Engine {
    /// An engine as it describes itself.
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
            durability_reason: described.durability_reason,
            settings: described.settings.into_iter().map(|setting| (setting.name, setting.value)).collect(),
            compile_options: described.compile_options,
            warnings: described.warnings,
            concurrent_writers: capabilities.concurrent_writers,
            foreign_keys: capabilities.sql.is_some_and(|sql| sql.foreign_keys),
            checks: capabilities.sql.is_some_and(|sql| sql.checks),
        })
    }

    /// The description as the driver gives it: of the target `target`, behind which the engine's own is a setting.
    pub fn describe(&self, target: String, workers: u32) -> Description {
        let own = [("served target", self.target.clone()), ("server's sessions", workers.to_string())];
        let own = own.map(|(name, value)| Setting { name: name.to_owned(), value });
        let settings = self.settings.iter().map(|(name, value)| Setting { name: name.clone(), value: value.clone() });
        Description {
            engine: self.name.clone(),
            version: self.version.clone(),
            target,
            // A class that this program does not know promises nothing.
            durability: DURABILITIES.get(usize::from(self.durability)).copied().unwrap_or(Durability::Volatile),
            durability_reason: self.durability_reason.clone(),
            settings: own.into_iter().chain(settings).collect(),
            compile_options: self.compile_options.clone(),
            warnings: self.warnings.clone(),
        }
    }
}
