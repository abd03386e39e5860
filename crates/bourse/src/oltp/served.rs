//! Workloads whose transactions servers perform, and whose rounds several drivers share, whatever the types of the transactions.

use bourse_driver::Clock;
use bourse_engine::Engine;
use bourse_oltp::sut::{InProcess, RunResult, SharedWorkload, Sut};
use bourse_oltp::{Size, Workload};
use bourse_record::Check;
use bourse_serve::server::{Event, Offer, ServerEnd};
use bourse_serve::{CoordinatedDriver, Remote, ServeError, Server};
use std::sync::atomic::AtomicBool;

/// System that performs a round's transactions, whatever the workload.
#[derive(Clone, Copy)]
pub(crate) enum Performing<'s> {
    /// An engine in this process.
    Engine(&'s dyn Engine),
    /// An application server.
    Server(&'s Remote),
    /// An engine in this process, in a round that another driver coordinates.
    Coordinated(&'s CoordinatedDriver),
}

impl Performing<'_> {
    /// Calls `then` with the system under test of a workload.
    pub(crate) fn sut<W: SharedWorkload, R>(self, then: impl FnOnce(&dyn Sut<W>) -> R) -> R {
        match self {
            Self::Engine(engine) => then(&InProcess::new(engine)),
            Self::Server(remote) => then(&remote.sut()),
            Self::Coordinated(driver) => then(&driver.sut()),
        }
    }
}

/// A workload that can be served.
pub(crate) trait ServedWorkload: Sync {
    /// The workload as data.
    fn workload(&self) -> &dyn Workload;

    /// Serves until `stop`; see [`Server::run`].
    fn serve(
        &self,
        server: Server,
        offer: Offer<'_>,
        clock: &dyn Clock,
        stop: &AtomicBool,
        tell: &(dyn Fn(Event) + Sync),
    ) -> Result<ServerEnd, ServeError>;

    /// Checks a database, and reconciles its growth with a run if one is given; see [`SharedWorkload::check`].
    fn check_run(
        &self,
        engine: &dyn Engine,
        size: &Size,
        ran: Option<&RunResult>,
        clock: &dyn Clock,
        progress: &mut dyn FnMut(&Check),
    ) -> bourse_engine::Result<Vec<Check>>;
}

impl<W: SharedWorkload> ServedWorkload for W {
    fn workload(&self) -> &dyn Workload {
        self
    }

    fn serve(
        &self,
        server: Server,
        offer: Offer<'_>,
        clock: &dyn Clock,
        stop: &AtomicBool,
        tell: &(dyn Fn(Event) + Sync),
    ) -> Result<ServerEnd, ServeError> {
        server.run::<W>(offer, clock, stop, tell)
    }

    fn check_run(
        &self,
        engine: &dyn Engine,
        size: &Size,
        ran: Option<&RunResult>,
        clock: &dyn Clock,
        progress: &mut dyn FnMut(&Check),
    ) -> bourse_engine::Result<Vec<Check>> {
        W::check(engine, size, ran.map(|ran| (&ran.before, &ran.acknowledged)), clock, progress)
    }
}
