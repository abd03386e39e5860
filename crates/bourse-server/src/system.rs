//! A database system with servers: its targets, and what its engine alone does.

use crate::ServerEngine;
use crate::client::{ConflictKinds, ConnectionLimits, NodeConnector, Nodes};
use crate::options::CommonServerOptions;
use crate::private::{Launch, PrivateServer, ServerFolder, ServerKind, StartLimit, sweep_below};
use bourse_engine::target::{Grammar, ServerForms, ServerPlace, TargetError};
use bourse_engine::{
    Capabilities, Counter, Description, Dialect, Footprint, Hold, Interface, IoCounts, Loader, Records, Result,
    SideDatabase, Snapshot,
};
use std::fmt::Debug;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// Database that sessions of a private server use.
pub const DATABASE: &str = "bourse";

/// A parsed target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTarget<S: ServerSystem> {
    /// The target as it was typed; it has no password.
    pub text: String,
    /// Product that the scheme names.
    pub flavour: S::Flavour,
    /// Place of the server; of several, the first one's.
    pub place: ServerPlace,
    /// Further running servers of the same database.
    pub others: Vec<ServerPlace>,
    /// The given options, and the defaults of all others.
    pub options: S::Options,
}

impl<S: ServerSystem> ServerTarget<S> {
    /// Parses a target, and checks it completely before anything is started or connected to.
    ///
    /// # Errors
    /// [`TargetError`]: what is wrong, where, and what was expected.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let facts = S::FACTS;
        let split = facts.grammar.split(text)?;
        let is_private = split.scheme.name.ends_with("+private");
        let (place, others) = ServerPlace::read_several(facts.grammar, facts.forms, split, is_private)?;
        let parsed = facts.grammar.read(text, split, split.place.to_owned(), facts.defaults.clone())?;
        let by_socket = parsed.given.contains(&"socket");
        ServerPlace::check_alone(&others, "socket", by_socket)?;
        let flavour = (facts.flavour)(split.scheme.name);
        let target = Self { text: parsed.text, flavour, place, others, options: parsed.options };
        target.place.check_memory(target.common().ram)?;
        target.common().tls.check(by_socket)?;
        (facts.check)(&target)?;
        Ok(target)
    }

    /// A copy of the target with another database of its servers.
    #[must_use]
    pub fn with_database(&self, name: &str) -> Self {
        let renamed = |place: &ServerPlace| place.with_database(name);
        Self { place: renamed(&self.place), others: self.others.iter().map(renamed).collect(), ..self.clone() }
    }

    /// Options that all servers have.
    pub fn common(&self) -> &CommonServerOptions {
        (S::FACTS.common)(&self.options)
    }

    /// Whether the server is a private one.
    pub fn is_private(&self) -> bool {
        matches!(self.place, ServerPlace::Private { .. })
    }

    /// Checks that the server that a private target would start is installed.
    ///
    /// # Errors
    /// What was not found, and how to install it.
    pub fn available(&self) -> Result<()> {
        if self.is_private() { (S::FACTS.installed)(self).map(drop) } else { Ok(()) }
    }

    /// Ends the target's private servers whose owner was killed, removes their folders and returns them. Servers of living
    /// owners are left alone.
    pub fn sweep(&self) -> Vec<PathBuf> {
        let ServerPlace::Private { directory } = &self.place else { return Vec::new() };
        sweep_below((S::FACTS.private)(self), directory.as_deref(), self.common().ram)
    }
}

/// Removes what killed owners have left of a target's private servers; a target that cannot be parsed has started none.
pub fn cleanup<S: ServerSystem>(target: &str) {
    if let Ok(target) = ServerTarget::<S>::parse(target) {
        target.sweep();
    }
}

/// Checks that the server that a private target would start is installed.
///
/// # Errors
/// A message: what is wrong with the target, or what was not found and how to install it.
pub fn available<S: ServerSystem>(target: &str) -> Result<(), String> {
    let target = ServerTarget::<S>::parse(target).map_err(|error| error.to_string())?;
    target.available().map_err(|error| error.to_string())
}

/// A database system with servers. A [`ServerEngine`] is an engine of it.
pub trait ServerSystem: Debug + Copy + Eq + Send + Sync + 'static {
    /// Product that a scheme names.
    type Flavour: Debug + Copy + Eq + Send + Sync;
    /// Options of a target.
    type Options: Debug + Clone + Eq + Send + Sync;
    /// Programs of an installed server.
    type Installed;
    /// Connector to a server.
    type Connector: Clone + Send + Sync + 'static;
    /// Connection for sizes and counters, open as long as the engine, so that reading them each second opens none.
    type Watcher: Send + 'static;
    /// State of an engine.
    type State: Default + Send + Sync;

    /// Data and functions of this system's engine alone.
    const FACTS: &'static SystemFacts<Self>;
}

/// A system that runs SQL.
pub trait SqlSystem: ServerSystem<Connector: NodeConnector> {
    /// Dialect of the servers.
    fn dialect(engine: &ServerEngine<Self>) -> &'static Dialect;

    /// Loader of the database.
    ///
    /// # Errors
    /// The client's or the server's.
    fn loader(engine: &ServerEngine<Self>) -> Result<Box<dyn Loader>>;
}

/// A system that finds records by key.
pub trait KeySystem: ServerSystem {
    /// A new connection.
    ///
    /// # Errors
    /// The client's or the server's.
    fn records(engine: &ServerEngine<Self>) -> Result<Box<dyn Records>>;

    /// Names of all tables in the database.
    ///
    /// # Errors
    /// The client's or the server's.
    fn tables(engine: &ServerEngine<Self>) -> Result<Vec<String>>;
}

/// Data and functions of one system's engine alone. Each function fails with the client's error or the server's.
#[expect(clippy::type_complexity, reason = "a type is the signature of what an engine does, read once")]
pub struct SystemFacts<S: ServerSystem> {
    /// Grammar of targets.
    pub grammar: &'static Grammar<S::Options>,
    /// Forms of a place.
    pub forms: &'static ServerForms,
    /// Default options.
    pub defaults: S::Options,
    /// Interface of the engine, which is itself.
    pub interface: fn(&ServerEngine<S>) -> Interface<'_>,
    /// Properties of private servers.
    pub private: fn(&ServerTarget<S>) -> &'static ServerKind,
    /// Refuses a place that these servers do not have.
    pub check: fn(&ServerTarget<S>) -> Result<(), TargetError>,
    /// Arguments of a private server, and of the program that creates its data directory, if its file operations are watched: none
    /// bypasses the C library's calls.
    pub watched: (&'static [&'static str], &'static [&'static str]),
    /// Conflict codes that are counted separately for a database of several servers.
    pub conflicts: ConflictKinds,
    /// Advice for a private server that takes too few connections, given the number that would suffice.
    pub more_connections: fn(u64) -> String,
    /// Product that a scheme names.
    pub flavour: fn(&str) -> S::Flavour,
    /// Options that all servers have.
    pub common: fn(&S::Options) -> &CommonServerOptions,
    /// Finds the server that a private target would start.
    pub installed: fn(&ServerTarget<S>) -> Result<S::Installed>,
    /// Fills the data directory of a private server.
    pub fill: fn(&ServerTarget<S>, &S::Installed, &ServerFolder, &Launch, StartLimit) -> Result<()>,
    /// Command that starts a private server on its data.
    pub command: fn(&ServerTarget<S>, &S::Installed, &ServerFolder, &Launch) -> Command,
    /// Connector to the private server in a folder.
    pub connector: fn(&ServerTarget<S>, &ServerFolder) -> S::Connector,
    /// Waits until a private server answers and has its database.
    pub wait: fn(&ServerTarget<S>, &mut PrivateServer, &S::Connector, StartLimit) -> Result<()>,
    /// Tells a private server to end in good order.
    pub shut_down: fn(&ServerTarget<S>, &mut PrivateServer, &S::Connector, Instant) -> Result<()>,
    /// Connectors to a target's running servers, each with its name.
    pub connectors: fn(&ServerTarget<S>) -> Result<Vec<(String, S::Connector)>>,
    /// Adds to the running servers what the first one that is reached reports.
    pub examined: fn(&ServerEngine<S>, Nodes<S::Connector>) -> Result<Nodes<S::Connector>>,
    /// Opens a connection for sizes and counters.
    pub watcher: fn(&ServerEngine<S>, &S::Connector) -> Result<S::Watcher>,
    /// Marks the connection as idle until it is used again.
    pub rests: fn(&S::Watcher),
    /// Limit of connections that a server reports; `None` if it reports none.
    pub limits: fn(&mut S::Watcher) -> Result<Option<ConnectionLimits>>,
    /// Capabilities, except whether several processes can use the database.
    pub capabilities: fn(&ServerEngine<S>) -> Capabilities,
    /// Description of a server, without the list of several.
    pub description: fn(&ServerEngine<S>) -> Result<Description>,
    /// Whether the database contains any object, of Bourse or not.
    pub exists: fn(&ServerEngine<S>) -> Result<bool>,
    /// Description of the objects that no loader made; `None` if there are none.
    pub foreign: fn(&ServerEngine<S>) -> Result<Option<String>>,
    /// Description of what a killed process has left; `None` if there is nothing.
    pub leftovers: fn(&ServerEngine<S>) -> Result<Option<String>>,
    /// Holds a database of a running server for one command, given the database and the holder.
    pub hold: fn(&S::Connector, &str, &str) -> Result<Hold>,
    /// Takes a copy of the database, from which rounds begin alike.
    pub snapshot: fn(&ServerEngine<S>) -> Result<Box<dyn Snapshot>>,
    /// Engine for another database of that name on the same servers.
    pub side_database: fn(&ServerEngine<S>, String) -> Result<SideDatabase>,
    /// Damage that the server finds; `None` if it cannot check.
    pub integrity_check: fn(&ServerEngine<S>) -> Result<Option<Vec<String>>>,
    /// Sizes of the database.
    pub footprint: fn(&ServerEngine<S>) -> Result<Footprint>,
    /// Counters of the server for a database, under the server's names.
    pub counters: fn(&mut S::Watcher, &str) -> Result<Vec<Counter>>,
    /// File operations that the server has counted; `None` if it counts none.
    pub io_counts: fn(&mut S::Watcher) -> Result<Option<IoCounts>>,
    /// Query of the numbers of all clients' sessions but its own, and the statement that ends session `{}`; `None` without SQL.
    pub sessions: Option<(&'static str, &'static str)>,
}
