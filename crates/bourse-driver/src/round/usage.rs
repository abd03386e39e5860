//! Resources used until the beginning and the end of the measurement interval.

use crate::sampler::io_counts;
use crate::{Control, Nanos, SECOND};
use bourse_engine::{Counter, Engine, IoCounts, ServerProcess};
use bourse_record::{EngineCounter, KernelThreads, MachineUse, ProcessUse, ServerUse};

/// Resources used until a moment.
#[derive(Default)]
pub(super) struct Mark {
    pub(super) process: ProcessUse,
    pub(super) machine: Option<MachineUse>,
    pub(super) kernel: KernelThreads,
    pub(super) io: Option<IoCounts>,
    pub(super) server: Option<ServerProcess>,
    pub(super) counters: Vec<Counter>,
}

impl Mark {
    fn now(engine: &dyn Engine) -> Self {
        Self {
            process: ProcessUse::now(),
            machine: MachineUse::now(),
            kernel: KernelThreads::now(),
            io: io_counts(engine),
            // An engine that fails to say is as one without a server.
            server: engine.footprint().ok().and_then(|footprint| footprint.server),
            counters: engine.counters().unwrap_or_default(),
        }
    }

    /// What the engine has counted since, of each that it counted both times.
    pub(super) fn counted_since(&self, then: &Self) -> Vec<EngineCounter> {
        let since = |now: &Counter| {
            let then = then.counters.iter().find(|it| it.name == now.name)?;
            Some(EngineCounter { name: now.name.clone(), count: now.value.checked_sub(then.value)? })
        };
        self.counters.iter().filter_map(since).filter(|it| it.count > 0).collect()
    }

    /// What the server's process has used since.
    pub(super) fn server_since(&self, then: &Self) -> Option<ServerUse> {
        let (now, then) = (self.server?, then.server?);
        let seconds = |now: u64, then: u64| now.saturating_sub(then) as f64 / SECOND as f64;
        Some(ServerUse {
            cpu_user_s: seconds(now.cpu_user_ns, then.cpu_user_ns),
            cpu_system_s: seconds(now.cpu_system_ns, then.cpu_system_ns),
            read_bytes: now.read_bytes.saturating_sub(then.read_bytes),
            written_bytes: now.written_bytes.saturating_sub(then.written_bytes),
        })
    }
}

/// Resources used until the beginning and the end of the measurement interval.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) from: Option<Mark>,
    pub(super) to: Option<Mark>,
}

impl Marks {
    /// Notes the resources once a moment of the interval has passed.
    pub(super) fn pass(&mut self, engine: &dyn Engine, control: &Control, now: Nanos) {
        if now >= control.measure_from() {
            self.from.get_or_insert_with(|| Mark::now(engine));
        }
        if now >= control.measure_to() {
            self.to.get_or_insert_with(|| Mark::now(engine));
        }
    }

    /// The next moment to note.
    pub(super) fn next(&self, control: &Control) -> Nanos {
        match (&self.from, &self.to) {
            (None, _) => control.measure_from(),
            (_, None) => control.measure_to(),
            _ => Nanos::MAX,
        }
    }
}
