//! Engine of a database on servers: running ones, or a private one that is started at first use.

use crate::client::{AnnouncedSessions, ConnectionLimits, NodeConnector as _, NodeSession, Nodes};
use crate::private::{Launch, PrivateServer, ServerFolder, ServerSlot, StartLimit, parent};
use crate::system::{DATABASE, KeySystem, ServerSystem, ServerTarget, SqlSystem};
use bourse_engine::target::{ServerPlace, TargetError};
use bourse_engine::{
    Capabilities, Conflicts, Counter, Description, Dialect, Engine, EngineError, ErrorKind, Footprint, Hold, Hosting,
    Interface, IoCounts, KeyEngine, Loader, Location, NodeLosses, OwnedServer, Records, Result, RowExt as _, Session,
    SessionExt as _, SideDatabase, Snapshot, SqlEngine, locked,
};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A database under test on the servers of a [`ServerSystem`].
pub struct ServerEngine<S: ServerSystem> {
    target: ServerTarget<S>,
    state: S::State,
    private: Arc<ServerSlot<S::Connector>>,
    launch: Mutex<Launch>,
    running: Mutex<Option<Arc<Nodes<S::Connector>>>>,
    watcher: Arc<Mutex<Option<S::Watcher>>>,
    announced: AnnouncedSessions,
}

impl<S: ServerSystem> fmt::Debug for ServerEngine<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerEngine").field("target", &self.target).finish_non_exhaustive()
    }
}

impl<S: ServerSystem> ServerEngine<S> {
    /// Opens a target: parses it; a private server is started at first use.
    ///
    /// # Errors
    /// [`TargetError`]: what in the target is wrong, and what is known.
    pub fn open(target: &str) -> Result<Self, TargetError> {
        ServerTarget::parse(target).map(|target| Self::new(target, S::State::default()))
    }

    /// Engine of a parsed target.
    pub fn new(target: ServerTarget<S>, state: S::State) -> Self {
        Self {
            target,
            state,
            private: Arc::default(),
            launch: Mutex::default(),
            running: Mutex::default(),
            watcher: Arc::default(),
            announced: AnnouncedSessions::default(),
        }
    }

    /// Parsed target.
    pub fn target(&self) -> &ServerTarget<S> {
        &self.target
    }

    /// State of the system's own.
    pub fn state(&self) -> &S::State {
        &self.state
    }

    /// First process of the private server, once started.
    pub fn server_process(&self) -> Option<u32> {
        self.private.look(|server| server.process_id())
    }

    /// Exit status of the private server; `None` while it runs, or if there is none.
    pub fn server_exit(&self) -> Option<ExitStatus> {
        self.private.look(PrivateServer::exit).flatten()
    }

    /// Sets additions to the target's options for later starts of the private server.
    pub fn set_launch(&self, launch: Launch) {
        *locked(&self.launch) = launch;
    }

    /// Additions for a server whose file operations are watched.
    pub fn watched() -> Launch {
        let words = |all: &[&str]| all.iter().map(|word| (*word).to_owned()).collect();
        let (arguments, install) = S::FACTS.watched;
        Launch { arguments: words(arguments), install: words(install), ..Launch::default() }
    }

    /// Additions to the target's options for later starts of the private server.
    pub fn launch(&self) -> Launch {
        locked(&self.launch).clone()
    }

    /// Stops the private server in good order: its files are then complete.
    ///
    /// # Errors
    /// [`ErrorKind::ConnectionLost`] if it has ended before; [`ErrorKind::Other`] if it does not end in time.
    pub fn stop(&self) -> Result<()> {
        *locked(&self.watcher) = None;
        self.private.with(|server, connector| stop(&self.target, server, connector))
    }

    /// Private server, once started.
    pub fn private(&self) -> &Arc<ServerSlot<S::Connector>> {
        &self.private
    }

    /// Data directory and first process of the private server, once started.
    pub fn private_data(&self) -> Option<(PathBuf, u32)> {
        self.private.look(|server| (server.folder().data(), server.process_id()))
    }

    /// Place of the connection for sizes and counters, which would end with its server.
    pub fn watcher(&self) -> &Arc<Mutex<Option<S::Watcher>>> {
        &self.watcher
    }

    /// Database that sessions use.
    pub fn database(&self) -> &str {
        match &self.target.place {
            ServerPlace::Running { database, .. } => database,
            ServerPlace::Private { .. } => DATABASE,
        }
    }

    /// Whether there are several servers.
    pub fn has_several(&self) -> bool {
        !self.target.others.is_empty()
    }

    /// Whether the server runs: a private one is empty, and started at first use.
    pub fn is_started(&self) -> bool {
        !self.target.is_private() || self.private.is_started()
    }

    /// Running servers; `None` for a private target.
    ///
    /// # Errors
    /// A file with a password cannot be read; the client's or the server's.
    pub fn running(&self) -> Result<Option<Arc<Nodes<S::Connector>>>> {
        if self.target.is_private() {
            return Ok(None);
        }
        let mut running = locked(&self.running);
        if let Some(nodes) = &*running {
            return Ok(Some(Arc::clone(nodes)));
        }
        let spread = self.target.common().spread;
        let nodes =
            Nodes::new((S::FACTS.connectors)(&self.target)?, self.database().to_owned(), spread, S::FACTS.conflicts);
        Ok(Some(Arc::clone(running.insert(Arc::new((S::FACTS.examined)(self, nodes)?)))))
    }

    /// Result of `connect` on the server; starts a private one if it does not run yet. If a private server has ended,
    /// the error says so.
    ///
    /// # Errors
    /// Those of `connect`; what is missing, if a private server cannot be started.
    pub fn reach<T>(&self, connect: impl Fn(&S::Connector) -> Result<T>) -> Result<T> {
        if let Some(nodes) = self.running()? {
            return nodes.reach(0, connect).map(|(_, reached)| reached);
        }
        let connector = self.private.connector(|| start(&self.target, &locked(&self.launch)))?;
        self.private.explained(connect(&connector))
    }

    /// Runs `ask` on the watcher's connection, which is reopened after an error.
    ///
    /// # Errors
    /// Those of `ask`; the client's or the server's.
    pub fn watch<T>(&self, ask: impl FnOnce(&mut S::Watcher) -> Result<T>) -> Result<T> {
        let mut place = locked(&self.watcher);
        let open = match place.take() {
            Some(open) => open,
            None => self.reach(|connector| (S::FACTS.watcher)(self, connector))?,
        };
        let watcher = place.insert(open);
        let answer = ask(watcher);
        (S::FACTS.rests)(watcher);
        if answer.is_err() {
            *place = None;
        }
        answer
    }

    /// Result of `ask` on the watcher's connection to a single server that runs; `None` for several, of which one would report
    /// a part.
    fn watch_one<T>(&self, ask: impl FnOnce(&mut S::Watcher) -> Result<T>) -> Result<Option<T>> {
        if self.is_started() && !self.has_several() { self.watch(ask).map(Some) } else { Ok(None) }
    }

    /// Refuses more sessions than the servers accept, before the first of them is opened.
    fn check_announced(&self) -> Result<()> {
        let Some(wanted) = self.announced.take() else { return Ok(()) };
        if let Some(nodes) = self.running()? {
            return check_each(&nodes, wanted, |connector| {
                (S::FACTS.limits)(&mut (S::FACTS.watcher)(self, connector)?)
            });
        }
        let limits = self.watch(S::FACTS.limits)?;
        limits.map_or(Ok(()), |limits| limits.check(wanted, S::FACTS.more_connections))
    }

    /// Running servers once reached, if there are several.
    fn several(&self) -> Option<Arc<Nodes<S::Connector>>> {
        locked(&self.running).clone().filter(|_| self.has_several())
    }
}

/// Starts a target's private server, and waits until it answers.
fn start<S: ServerSystem>(target: &ServerTarget<S>, launch: &Launch) -> Result<(PrivateServer, S::Connector)> {
    let ServerPlace::Private { directory } = &target.place else {
        return Err(EngineError::unsupported("the server's address is not known"));
    };
    let options = target.common();
    let limit = StartLimit::of_new(options.start_timeout);
    limit.check()?;
    let installed = (S::FACTS.installed)(target)?;
    let folder = ServerFolder::make((S::FACTS.private)(target), directory.as_deref(), options.ram)?;
    if launch.data.as_deref().map_or(Ok(true), |data| folder.use_data(data))? {
        (S::FACTS.fill)(target, &installed, &folder, launch, limit)?;
    }
    let connector = (S::FACTS.connector)(target, &folder);
    let command = (S::FACTS.command)(target, &installed, &folder, launch);
    let mut server = PrivateServer::start(folder, command)?;
    (S::FACTS.wait)(target, &mut server, &connector, limit)?;
    Ok((server, connector))
}

/// Starts a private server again on its data, and waits until it has recovered and answers.
///
/// # Errors
/// The server's, with its last output if it does not answer in time.
pub fn restart<S: ServerSystem>(
    target: &ServerTarget<S>,
    server: &mut PrivateServer,
    connector: &S::Connector,
    launch: &Launch,
) -> Result<()> {
    let limit = StartLimit::again(target.common().start_timeout);
    // The old one's socket is no sign of the new one.
    let _ = std::fs::remove_file(server.folder().path().join((S::FACTS.private)(target).socket));
    let command = (S::FACTS.command)(target, &(S::FACTS.installed)(target)?, server.folder(), launch);
    server.start_again(command)?;
    (S::FACTS.wait)(target, server, connector, limit)
}

/// Stops a private server in good order, so that its data need no recovery.
///
/// # Errors
/// [`ErrorKind::ConnectionLost`] if it has ended before; [`ErrorKind::Other`] if it does not end in time.
pub fn stop<S: ServerSystem>(
    target: &ServerTarget<S>,
    server: &mut PrivateServer,
    connector: &S::Connector,
) -> Result<()> {
    server.check_alive()?;
    let until = Instant::now() + target.common().start_timeout;
    (S::FACTS.shut_down)(target, server, connector, until)?;
    server.wait_until_it_ends(until)
}

/// Refuses more sessions than the nodes accept together, an equal share each; one that cannot be reached is marked as down.
/// `limits` reads a server's limit, `None` if it reports none.
///
/// # Errors
/// An error with the server's numbers and advice; those of `limits`.
pub fn check_each<C>(
    nodes: &Nodes<C>,
    wanted: usize,
    limits: impl Fn(&C) -> Result<Option<ConnectionLimits>>,
) -> Result<()> {
    let share = if nodes.spread() { wanted.div_ceil(nodes.len()) } else { wanted };
    for node in 0..nodes.len() {
        let advice = |enough| {
            format!("fewer users, or a larger limit in the server's configuration ({enough} would do), is what to try")
        };
        match limits(nodes.connector(node)) {
            Err(e) if e.kind() == ErrorKind::ConnectionLost && nodes.len() > 1 => nodes.set_up(node, false),
            limits => limits?.map_or(Ok(()), |limits| limits.check(share, advice))?,
        }
    }
    Ok(())
}

/// Location of a private server's data, `started` once it runs, or the folder in which its own would be made.
pub fn location(place: &ServerPlace, in_memory: bool, started: Option<PathBuf>) -> Location {
    let ServerPlace::Private { directory } = place else { return Location::RunningServer };
    let planned = || parent(directory.as_deref(), in_memory).ok();
    Location::ServerFolder(started.or_else(planned).unwrap_or_else(std::env::temp_dir))
}

impl<S: ServerSystem> Engine for ServerEngine<S> {
    fn description(&self) -> Result<Description> {
        let mut description = (S::FACTS.description)(self)?;
        if let Some(nodes) = self.running()?.filter(|_| self.has_several()) {
            description.settings.extend(nodes.settings());
        }
        Ok(description)
    }

    /// Capabilities of the system; a private server is the process's that started it.
    fn capabilities(&self) -> Capabilities {
        Capabilities { processes: !self.target.is_private(), ..(S::FACTS.capabilities)(self) }
    }

    fn interface(&self) -> Interface<'_> {
        (S::FACTS.interface)(self)
    }

    fn hosting(&self) -> Hosting<'_> {
        if self.target.is_private() { Hosting::OwnedServer(self) } else { Hosting::External }
    }

    fn exists(&self) -> Result<bool> {
        if self.is_started() { (S::FACTS.exists)(self) } else { Ok(false) }
    }

    fn foreign(&self) -> Result<Option<String>> {
        if self.is_started() { (S::FACTS.foreign)(self) } else { Ok(None) }
    }

    fn hold(&self, holder: &str) -> Result<Hold> {
        let Some(nodes) = self.running()? else { return Ok(Hold::Nothing) };
        nodes.reach(0, |connector| (S::FACTS.hold)(connector, self.database(), holder)).map(|(_, held)| held)
    }

    fn leftovers(&self) -> Result<Option<String>> {
        if self.is_started() { (S::FACTS.leftovers)(self) } else { Ok(None) }
    }

    fn location(&self) -> Location {
        let started = self.private_data().map(|(data, _)| data);
        location(&self.target.place, self.target.common().ram, started)
    }

    fn expect_sessions(&self, sessions: usize) -> Option<String> {
        self.announced.note(sessions);
        None
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        (S::FACTS.snapshot)(self)
    }

    fn side_database(&self, name: &str) -> Result<SideDatabase> {
        (S::FACTS.side_database)(self, format!("{}_bourse_{name}", self.database()))
    }

    fn integrity_check(&self) -> Result<Option<Vec<String>>> {
        (S::FACTS.integrity_check)(self)
    }

    fn footprint(&self) -> Result<Footprint> {
        (S::FACTS.footprint)(self)
    }

    fn conflicts(&self) -> Vec<Conflicts> {
        self.several().map_or_else(Vec::new, |nodes| nodes.conflicts())
    }

    fn node_losses(&self) -> Vec<NodeLosses> {
        self.several().map_or_else(Vec::new, |nodes| nodes.losses())
    }

    fn counters(&self) -> Result<Vec<Counter>> {
        Ok(self.watch_one(|watcher| (S::FACTS.counters)(watcher, self.database()))?.unwrap_or_default())
    }

    fn io_counts(&self) -> Result<Option<IoCounts>> {
        Ok(self.watch_one(S::FACTS.io_counts)?.flatten())
    }
}

impl<S: SqlSystem> SqlEngine for ServerEngine<S> {
    /// Dialect of the server. If it cannot be reached now, opening a session reports that.
    fn dialect(&self) -> &'static Dialect {
        S::dialect(self)
    }

    fn new_session(&self) -> Result<Box<dyn Session>> {
        self.check_announced()?;
        if let Some(nodes) = self.running()?.filter(|_| self.has_several()) {
            return Ok(Box::new(NodeSession::new(self.dialect(), nodes)?));
        }
        Ok(Box::new(self.reach(|connector| connector.session(self.database()))?))
    }

    fn new_loader(&self) -> Result<Box<dyn Loader>> {
        S::loader(self)
    }
}

impl<S: KeySystem> KeyEngine for ServerEngine<S> {
    fn new_records(&self) -> Result<Box<dyn Records>> {
        S::records(self)
    }

    fn tables(&self) -> Result<Vec<String>> {
        if self.is_started() { S::tables(self) } else { Ok(Vec::new()) }
    }
}

impl<S: ServerSystem> OwnedServer for ServerEngine<S> {
    fn kill(&self) -> Result<()> {
        self.private.with(|server, _| server.kill())
    }

    fn restart(&self) -> Result<()> {
        *locked(&self.watcher) = None;
        let launch = self.launch();
        self.private.with(|server, connector| restart(&self.target, server, connector, &launch))
    }

    fn use_data(&self, data: &Path) -> Result<()> {
        self.set_launch(Launch { data: Some(data.to_owned()), ..Self::watched() });
        Ok(())
    }

    fn stop(&self) -> Result<()> {
        Self::stop(self)
    }

    fn cut(&self, choice: u64) -> Result<bool> {
        let Some((query, end)) = S::FACTS.sessions else { return Ok(false) };
        let mut own = self.session()?;
        let sessions = own.text_rows(query, |row| row.get::<i64>(0))?;
        let Some(at) = choice.checked_rem(sessions.len() as u64) else { return Ok(false) };
        let end = end.replace("{}", &sessions[at as usize].to_string());
        own.query_text(&end, &[], &mut |_| Ok(())).map(|()| true)
    }
}
