//! Private servers: their data directory is copied for each trial, and the server is started on the copy with the library
//! loaded.

use super::{Conditions, child, work_folder};
use crate::failure::{Exit, Failure};
use crate::work_folder::WorkFolder;
use bourse_acid::AcidError;
use bourse_acid::faults::judge::{Account, Ended};
use bourse_acid::faults::work::{self, Event};
use bourse_acid::faults::{Bed, Order, Trial};
use bourse_engine::OwnedServer as _;
use bourse_engine::{Durability, Engine as _, EngineError};
use bourse_engine_mysql::{Launch, MysqlEngine};
use bourse_faults::{Control, Places, copy_folder, lose_power};
use bourse_record::faults::Through;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io};

/// A target with a server of ours.
pub(super) struct ServerBed<'c> {
    target: String,
    class: Durability,
    class_reason: String,
    conditions: &'c Conditions,
    engine: MysqlEngine,
    /// The server's data directory.
    data: PathBuf,
    folder: WorkFolder,
}

/// What the server is started with in all trials: writes that bypass the C library could not be interfered with.
fn launch() -> Launch {
    Launch { environment: Vec::new(), arguments: vec!["--innodb-use-native-aio=0".to_owned()] }
}

impl<'c> ServerBed<'c> {
    /// Starts a server, fills the table, and keeps a copy of its data.
    pub(super) fn new(target: &str, conditions: &'c Conditions) -> Result<Self, Failure> {
        let failed = |cause: String| {
            Failure::new(Exit::Target, format!("cannot make the database for {target}")).detail("cause", cause)
        };
        // A server that runs as another user has to get there.
        let folder = work_folder(conditions.folder.as_deref().unwrap_or(&std::env::temp_dir()))?;
        let open_to_all = |path: &Path| {
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .map_err(|error| failed(error.to_string()))
        };
        open_to_all(folder.path())?;
        let parsed = bourse_engine_mysql::Target::parse(target).map_err(|error| Failure::usage(error.to_string()))?;
        let engine = MysqlEngine::new(parsed);
        engine.set_launch(launch());
        work::fill(&engine, conditions.seed).map_err(|error| failed(error.to_string()))?;
        let described = engine.description().map_err(|error| failed(error.to_string()))?;
        let data = engine.location().folder().ok_or_else(|| failed("the server has no folder".to_owned()))?;
        let data = data.canonicalize().map_err(|error| failed(error.to_string()))?;
        shut_down(&engine, conditions.patience).map_err(|error| failed(error.to_string()))?;
        copy_folder(&data, &folder.path().join("base")).map_err(|error| failed(error.to_string()))?;
        if let Ok(library) = bourse_faults::library() {
            let path = folder.path().join("faults.so");
            bourse_faults::preload::write_library(&path, library).map_err(|error| failed(error.to_string()))?;
            open_to_all(&path)?;
        }
        Ok(Self {
            target: target.to_owned(),
            class: described.durability,
            class_reason: described.durability_reason,
            conditions,
            engine,
            data,
            folder,
        })
    }

    fn renew(&self) -> io::Result<(Places, Control)> {
        let place = |name: &str| self.folder.path().join(name);
        let image = place("image");
        for folder in [&self.data, &image] {
            match fs::remove_dir_all(folder) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => copy_folder(&place("base"), folder)?,
            }
        }
        let control = place("control");
        let made = Control::create(&control)?;
        Ok((Places { control, files: self.data.clone(), image: Some(image) }, made))
    }

    /// Works until it is done; the server that answers no more is killed, which ends the work.
    fn worked(&self) -> Result<Account, AcidError> {
        let (seed, transactions) = (self.conditions.seed, self.conditions.transactions);
        let is_done = AtomicBool::new(false);
        let mut events = Vec::new();
        let hung = std::thread::scope(|scope| {
            let watch = scope.spawn(|| {
                let until = Instant::now() + self.conditions.patience;
                while !is_done.load(Ordering::Relaxed) {
                    if Instant::now() > until {
                        // Whoever waits for it gets an error.
                        let _ = self.engine.kill();
                        return true;
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
                false
            });
            let session = work::work(&self.engine, seed, transactions, &mut |event| events.push(event));
            is_done.store(true, Ordering::Relaxed);
            drop(session);
            watch.join()
        });
        self.settle(&events);
        let hung = hung.map_err(|_| AcidError::Machinery("the watch over a server panicked".to_owned()))?;
        let ended = if hung { Ended::Hung } else { self.engine.server_exit().map_or(Ended::Code(0), child::ended) };
        Ok(Account { events, ended })
    }

    /// A server that ends itself takes a moment to write down why.
    fn settle(&self, events: &[Event]) {
        const MOMENT: Duration = Duration::from_secs(3);
        let until = Instant::now() + MOMENT;
        let was_refused = matches!(events.last(), Some(Event::Error { .. }));
        while was_refused && self.engine.server_exit().is_none() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn looked(&self) -> Account {
        let event = match self.engine.restart() {
            Ok(()) => work::look(&self.engine, self.conditions.seed),
            Err(error) => Event::Unreadable(error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")),
        };
        Account { events: vec![event], ended: Ended::Code(0) }
    }
}

/// Ends the server in good order, so that its files hold everything.
fn shut_down(engine: &MysqlEngine, patience: Duration) -> Result<(), EngineError> {
    engine.session()?.execute_text("SHUTDOWN", &[])?;
    let until = Instant::now() + patience;
    while engine.server_exit().is_none() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    engine.kill()
}

impl Bed for ServerBed<'_> {
    fn target(&self) -> &str {
        &self.target
    }

    fn class(&self) -> (Durability, &str) {
        (self.class, &self.class_reason)
    }

    fn through(&self) -> Through {
        Through::Preload
    }

    fn attempt(&self, order: &Order) -> Result<Trial, AcidError> {
        let trouble = |error: io::Error| AcidError::Machinery(format!("a trial cannot be made: {error}"));
        let (places, control) = self.renew().map_err(trouble)?;
        let library = self.folder.path().join("faults.so");
        self.engine.set_launch(Launch { environment: places.preloading(&library), ..launch() });
        self.engine.restart()?;
        // What the server does to start is no part of the work.
        control.arm(order.spec).map_err(trouble)?;
        let work = self.worked()?;
        self.engine.kill()?;
        if let (Some(survival), Some(image)) = (order.power, &places.image) {
            lose_power(&places.files, image, survival).map_err(trouble)?;
        }
        self.engine.set_launch(launch());
        let look = self.looked();
        self.engine.kill()?;
        Ok(Trial {
            counts: control.counts().map_err(trouble)?,
            loaded: control.loaded().map_err(trouble)?,
            maps: control.maps().map_err(trouble)?,
            fired: control.fired().map_err(trouble)?,
            met: control.what().map_err(trouble)?,
            work,
            look,
        })
    }
}
