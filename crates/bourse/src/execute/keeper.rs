//! Databases of engines whose library stays in a process: loaded, checked, copied and put back by a process of their own. A
//! keeper that dies is a lost target, like a round that dies.

use super::RunContext;
use super::child::{ChildProcess, ChildRequest, StderrTarget, reply};
use super::databases::Databases;
use crate::failure::Result;
use crate::oltp::database::engine_failure;
use crate::plan::Job;
use crate::{interrupt, panics, progress, spent};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Command to a keeper whose database is ready.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeeperCommand {
    /// Take a copy; the answer is how it is made, or the reason why there can be none.
    Copy,
    /// Put the database back as it was copied.
    Restore,
}

/// Answer of a keeper whose database is ready.
#[derive(Debug, Serialize, Deserialize)]
struct Prepared {
    /// Preparation of the database in a few words, as `loaded for this run`.
    history: String,
    /// Time that it spent, by part.
    spent: spent::SpentParts,
}

/// A process with a database in its care. It ends, and removes its copy, when this is dropped.
pub(super) struct Keeper {
    process: Mutex<ChildProcess>,
    /// Preparation of the database in a few words, as `loaded for this run`.
    pub(super) history: String,
}

impl Keeper {
    /// Starts the process, which loads the database if necessary; waits until it is ready.
    pub(super) fn start(target: &str, job: &Job, interrupted: &AtomicBool) -> Result<Self> {
        let request = ChildRequest::Keep { target: target.to_owned(), job: Box::new(job.clone()) };
        let what = format!("the process that prepares the database of {target}");
        let mut process = ChildProcess::start(&request, &what, StderrTarget::Shown)?;
        let Prepared { history, spent } = process.answer(Some(interrupted))?;
        spent::of_process(&spent);
        Ok(Self { process: Mutex::new(process), history })
    }

    /// Takes a copy; returns how it is made, or the reason why there can be none.
    pub(super) fn copy(&self) -> Result<Result<String, String>> {
        self.ask(KeeperCommand::Copy)
    }

    /// Puts the database back as it was when the copy was taken.
    pub(super) fn restore(&self) -> Result<()> {
        self.ask(KeeperCommand::Restore)
    }

    fn ask<T: DeserializeOwned>(&self, command: KeeperCommand) -> Result<T> {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        process.send(&command);
        process.answer(None)
    }
}

/// Runs the process: makes the database ready, then follows commands until there are no more.
pub(super) fn keep(target: &str, job: &Job) -> Result<()> {
    progress::set_report_interval(Duration::ZERO);
    interrupt::end_with_parent()?;
    let context = RunContext::of_round(target, u64::MAX)?;
    let mut databases = Databases::default();
    let ready = panics::catch_panic(|| {
        panics::panic_if_requested("keeper");
        databases.ready(target, job, &context)
    });
    let database = match ready {
        Ok(at) => databases.at(at),
        Err(failure) => return reply::<Prepared>(&Err(failure)),
    };
    reply(&Ok(Prepared { history: database.ready.history.clone(), spent: spent::parts() }))?;
    let mut kept = None;
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let Ok(command) = serde_json::from_str(&line) else { break };
        match command {
            KeeperCommand::Copy => reply(&panics::catch_panic(|| {
                let taken = database.copy(true)?;
                Ok(taken.map(|copy| kept.insert(copy).method().to_owned()))
            }))?,
            KeeperCommand::Restore => reply(&panics::catch_panic(|| {
                let restored = kept.as_ref().map_or(Ok(()), |copy| copy.restore());
                restored.map_err(|error| engine_failure(target, &error))
            }))?,
        }
    }
    Ok(())
}
