//! Private servers: their data directory is copied for each trial, and the server is started on the copy with the library
//! loaded.

use super::{TrialConditions, child, renewed, work_folder};
use crate::failure::{Exit, Failure, Result};
use crate::work_folder::WorkFolder;
use bourse_acid::AcidError;
use bourse_acid::faults::judge::{ProcessEnd, ProcessReport, TargetDurability};
use bourse_acid::faults::{FaultBed, Trial, TrialSpec};
use bourse_acid::known_work::{self as work, WorkEvent};
use bourse_crash::preload::{copy_folder, lose_power};
use bourse_engine::{Engine, OwnedServer, one_line};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io};

/// A server started by Bourse that can be started with the library.
trait FaultedServer: Engine + OwnedServer {
    /// Starts it from now on with these variables, and with the fault library.
    fn set_environment(&self, environment: Vec<(OsString, OsString)>);

    /// Starts it from now on without faults, to examine the data.
    fn set_for_inspection(&self) {
        self.set_environment(Vec::new());
    }

    /// Exit status; `None` while it runs.
    fn exit(&self) -> Option<ExitStatus>;

    /// Whether it has finished its reaction to a fatal error.
    fn has_settled(&self) -> bool;
}

#[cfg(feature = "mysql")]
impl FaultedServer for bourse_engine_mysql::MysqlEngine {
    fn set_environment(&self, environment: Vec<(OsString, OsString)>) {
        self.set_launch(bourse_engine_mysql::Launch { environment, ..Self::watched() });
    }

    fn exit(&self) -> Option<ExitStatus> {
        self.server_exit()
    }

    fn has_settled(&self) -> bool {
        self.exit().is_some()
    }
}

#[cfg(feature = "postgres")]
impl FaultedServer for bourse_engine_postgres::PostgresEngine {
    fn set_environment(&self, environment: Vec<(OsString, OsString)>) {
        self.set_launch(bourse_engine_postgres::Launch { environment, ..Self::watched() });
    }

    fn set_for_inspection(&self) {
        let mut launch = Self::watched();
        // Recovery would first sync every file, on which nothing depends any more.
        launch.arguments.push("--fsync=off".to_owned());
        self.set_launch(launch);
    }

    fn exit(&self) -> Option<ExitStatus> {
        self.server_exit()
    }

    /// One of its processes ends, and the first one restarts all others, which recover.
    fn has_settled(&self) -> bool {
        self.exit().is_some() || self.connect().is_ok()
    }
}

fn open(target: &str) -> Result<Box<dyn FaultedServer>> {
    #[cfg(feature = "postgres")]
    if bourse_engine_postgres::KINDS.iter().any(|kind| target.split(':').next() == Some(kind.scheme)) {
        let server = bourse_engine_postgres::open(target).map_err(|error| Failure::usage(error.to_string()))?;
        return Ok(Box::new(server));
    }
    #[cfg(feature = "mysql")]
    {
        let server = bourse_engine_mysql::open(target).map_err(|error| Failure::usage(error.to_string()))?;
        Ok(Box::new(server))
    }
    #[cfg(not(feature = "mysql"))]
    Err(Failure::usage(format!("{target} has no server that Bourse started")))
}

/// Test bed of a target with a server started by Bourse.
pub(super) struct ServerBed<'c> {
    target: String,
    class: TargetDurability,
    conditions: &'c TrialConditions,
    server: Box<dyn FaultedServer>,
    /// The server's data directory.
    data: PathBuf,
    folder: WorkFolder,
}

impl<'c> ServerBed<'c> {
    /// Starts a server, fills the table, and takes a copy of its data.
    pub(super) fn new(target: &str, conditions: &'c TrialConditions) -> Result<Self> {
        let failed = |cause: String| {
            Failure::new(Exit::Target, format!("cannot make the database for {target}")).detail("cause", cause)
        };
        // A server that runs as another user must be able to reach its folder.
        let folder = work_folder(conditions.folder.as_deref().unwrap_or(&std::env::temp_dir()))?;
        let open_to_all = |path: &Path| {
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .map_err(|error| failed(error.to_string()))
        };
        open_to_all(folder.path())?;
        let server = open(target)?;
        server.set_environment(Vec::new());
        work::fill(&*server, conditions.seed).map_err(|error| failed(error.to_string()))?;
        let described = server.description().map_err(|error| failed(error.to_string()))?;
        let data = server.location().folder().ok_or_else(|| failed("the server has no folder".to_owned()))?;
        let data = data.canonicalize().map_err(|error| failed(error.to_string()))?;
        server.stop().map_err(|error| failed(error.to_string()))?;
        copy_folder(&data, &folder.path().join("base")).map_err(|error| failed(error.to_string()))?;
        if let Ok(library) = bourse_crash::preload::library() {
            let path = folder.path().join("preload.so");
            bourse_crash::preload::write_library(&path, library).map_err(|error| failed(error.to_string()))?;
            open_to_all(&path)?;
        }
        Ok(Self { target: target.to_owned(), class: TargetDurability::of(described), conditions, server, data, folder })
    }

    /// Works until it is done; a server that does not answer any more is killed, which ends the work.
    fn worked(&self) -> Result<ProcessReport, AcidError> {
        let (seed, transactions) = (self.conditions.seed, self.conditions.transactions);
        let is_done = AtomicBool::new(false);
        let mut events = Vec::new();
        let hung = std::thread::scope(|scope| {
            let watch = scope.spawn(|| {
                let until = Instant::now() + self.conditions.patience;
                while !is_done.load(Ordering::Relaxed) {
                    if Instant::now() > until {
                        // The waiting client gets an error.
                        let _ = self.server.kill();
                        return true;
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
                false
            });
            let session = work::work(&*self.server, seed, transactions, &mut |event| events.push(event));
            is_done.store(true, Ordering::Relaxed);
            drop(session);
            watch.join()
        });
        self.settle(&events);
        let hung = hung.map_err(|_| AcidError::Machinery("the watch over a server panicked".to_owned()))?;
        let ended = if hung { ProcessEnd::Hung } else { self.server.exit().map_or(ProcessEnd::Code(0), child::ended) };
        Ok(ProcessReport { events, ended })
    }

    /// Waits for a server that ends itself until it has logged the reason, and for one that restarts itself until it has
    /// recovered.
    fn settle(&self, events: &[WorkEvent]) {
        const SETTLE_TIME: Duration = Duration::from_secs(3);
        let until = Instant::now() + SETTLE_TIME;
        let was_refused = matches!(events.last(), Some(WorkEvent::Error { .. }));
        while was_refused && !self.server.has_settled() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn examine(&self) -> ProcessReport {
        let event = match self.server.restart() {
            Ok(()) => work::look(&*self.server, self.conditions.seed),
            Err(error) => WorkEvent::Unreadable(one_line(&error.to_string())),
        };
        ProcessReport { events: vec![event], ended: ProcessEnd::Code(0) }
    }
}

impl FaultBed for ServerBed<'_> {
    fn target(&self) -> &str {
        &self.target
    }

    fn class(&self) -> &TargetDurability {
        &self.class
    }

    fn attempt(&self, spec: &TrialSpec) -> Result<Trial, AcidError> {
        let process_error = |error: io::Error| AcidError::Machinery(format!("a trial cannot be made: {error}"));
        let (places, control) = renewed(&self.folder, self.data.clone()).map_err(process_error)?;
        let library = self.folder.path().join("preload.so");
        self.server.set_environment(places.preloading(&library));
        self.server.restart()?;
        // Calls during the server's start are not part of the work.
        control.arm(spec.fault).map_err(process_error)?;
        let work = self.worked()?;
        if spec.fault.is_some() {
            self.server.kill()?;
        } else {
            // Some settings let commits wait in the server's memory: without a fault they reach its files.
            control.disarm().map_err(process_error)?;
            self.server.stop()?;
        }
        if let (Some(survival), Some(image)) = (spec.power, &places.image) {
            lose_power(&places.files, image, survival).map_err(process_error)?;
        }
        self.server.set_for_inspection();
        let look = self.examine();
        self.server.kill()?;
        Trial::of(&control, work, look)
    }
}
