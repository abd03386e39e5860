//! Servers of a target: running ones, or a private one that is started at first use.

use crate::client::{Announced, Limits, Nodes};
use crate::private::{PrivateServer, ServerSlot, parent};
use bourse_engine::target::ServerPlace;
use bourse_engine::{Conflicts, EngineError, ErrorKind, Location, NodeLosses, locked};
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex};

/// Servers of a target, with connectors `C` to them, additions `L` to the start of a private one, and a connection `W` for
/// sizes, so that reading them each second opens none.
#[derive(Debug)]
pub struct Servers<C, L, W> {
    place: ServerPlace,
    has_several: bool,
    /// Whether a private server has its data in memory.
    in_memory: bool,
    private: Arc<ServerSlot<C>>,
    launch: Mutex<L>,
    running: Mutex<Option<Arc<Nodes<C>>>>,
    watcher: Arc<Mutex<Option<W>>>,
    announced: Announced,
}

impl<C: Clone, L: Clone + Default, W> Servers<C, L, W> {
    /// Servers at these places; nothing is started or reached yet.
    pub fn new(place: &ServerPlace, others: &[ServerPlace], in_memory: bool) -> Self {
        Self {
            place: place.clone(),
            has_several: !others.is_empty(),
            in_memory,
            private: Arc::default(),
            launch: Mutex::default(),
            running: Mutex::default(),
            watcher: Arc::default(),
            announced: Announced::default(),
        }
    }

    /// Whether the server is a private one.
    pub fn is_private(&self) -> bool {
        matches!(self.place, ServerPlace::Private { .. })
    }

    /// Whether there are several servers.
    pub fn has_several(&self) -> bool {
        self.has_several
    }

    /// Whether the server runs: a private one is empty, and started at first use.
    pub fn is_started(&self) -> bool {
        !self.is_private() || self.private.is_started()
    }

    /// Database of running servers; `private` is that of a private one.
    pub fn database<'s>(&'s self, private: &'s str) -> &'s str {
        match &self.place {
            ServerPlace::Running { database, .. } => database,
            ServerPlace::Private { .. } => private,
        }
    }

    /// Additions to later starts of the private server.
    pub fn launch(&self) -> L {
        locked(&self.launch).clone()
    }

    /// Sets additions to later starts of the private server.
    pub fn set_launch(&self, launch: L) {
        *locked(&self.launch) = launch;
    }

    /// Private server, once started.
    pub fn private(&self) -> &Arc<ServerSlot<C>> {
        &self.private
    }

    /// First process of the private server, once started.
    pub fn process(&self) -> Option<u32> {
        self.private.look(|server| server.process_id())
    }

    /// Exit status of the private server; `None` while it runs, or if there is none.
    pub fn exit(&self) -> Option<ExitStatus> {
        self.private.look(PrivateServer::exit).flatten()
    }

    /// Running servers, found by `open` at first use; `None` for a private target.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn running(
        &self,
        open: impl FnOnce() -> Result<Nodes<C>, EngineError>,
    ) -> Result<Option<Arc<Nodes<C>>>, EngineError> {
        if self.is_private() {
            return Ok(None);
        }
        let mut running = locked(&self.running);
        if let Some(nodes) = &*running {
            return Ok(Some(Arc::clone(nodes)));
        }
        Ok(Some(Arc::clone(running.insert(Arc::new(open()?)))))
    }

    /// Result of `connect` on a running server, or on the private one, which `start` starts if it does not run yet. If a private
    /// server has ended, the error says so.
    ///
    /// # Errors
    /// Those of `start` and `connect`.
    pub fn reach<T>(
        &self,
        running: Option<Arc<Nodes<C>>>,
        start: impl FnOnce(Option<&Path>, &L) -> Result<(PrivateServer, C), EngineError>,
        connect: impl Fn(&C) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        match (running, &self.place) {
            (Some(nodes), _) => nodes.reach(0, connect).map(|(_, reached)| reached),
            (None, ServerPlace::Private { directory }) => {
                let connector = self.private.connector(|| start(directory.as_deref(), &locked(&self.launch)))?;
                self.private.explained(connect(&connector))
            }
            (None, ServerPlace::Running { .. }) => Err(EngineError::unsupported("the server's address is not known")),
        }
    }

    /// Place of the watcher's connection.
    pub fn watcher(&self) -> &Arc<Mutex<Option<W>>> {
        &self.watcher
    }

    /// Runs `ask` on the watcher's connection, which `open` opens, again after an error.
    ///
    /// # Errors
    /// Those of `open` and `ask`.
    pub fn watch<T>(
        &self,
        open: impl FnOnce() -> Result<W, EngineError>,
        ask: impl FnOnce(&mut W) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let mut watcher = locked(&self.watcher);
        let open = match watcher.take() {
            Some(open) => open,
            None => open()?,
        };
        let answer = ask(watcher.insert(open));
        if answer.is_err() {
            *watcher = None;
        }
        answer
    }

    /// Closes the watcher's connection, which would end with its server.
    pub fn end_watch(&self) {
        *locked(&self.watcher) = None;
    }

    /// Records the number of sessions that will be opened.
    pub fn expect_sessions(&self, sessions: usize) {
        self.announced.note(sessions);
    }

    /// Number of sessions announced since the last call; `None` if none were.
    pub fn announced(&self) -> Option<usize> {
        self.announced.take()
    }

    /// Location of the data: that of a private server's folder, or the folder in which it would be made.
    pub fn location(&self) -> Location {
        let ServerPlace::Private { directory } = &self.place else { return Location::RunningServer };
        let started = self.private.look(|server| server.folder().data());
        let planned = || parent(directory.as_deref(), self.in_memory).ok();
        Location::ServerFolder(started.or_else(planned).unwrap_or_else(std::env::temp_dir))
    }

    fn several(&self) -> Option<Arc<Nodes<C>>> {
        locked(&self.running).clone().filter(|_| self.has_several)
    }

    /// Conflicts that sessions of several servers reported, by kind.
    pub fn conflicts(&self) -> Vec<Conflicts> {
        self.several().map_or_else(Vec::new, |nodes| nodes.conflicts())
    }

    /// Number of times that each of several servers was lost.
    pub fn losses(&self) -> Vec<NodeLosses> {
        self.several().map_or_else(Vec::new, |nodes| nodes.losses())
    }
}

/// Refuses more sessions than the nodes accept together, an equal share each; one that cannot be reached is marked as down.
/// `limits` reads a server's limit, `None` if it reports none.
///
/// # Errors
/// An error with the server's numbers and advice; those of `limits`.
pub fn check_each<C>(
    nodes: &Nodes<C>,
    wanted: usize,
    limits: impl Fn(&C) -> Result<Option<Limits>, EngineError>,
) -> Result<(), EngineError> {
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
