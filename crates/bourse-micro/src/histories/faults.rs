//! Faults while a history is recorded: the server killed and started again, connections cut.

use crate::workload::named;
use bourse_driver::{Clock, MS, Nanos, RoundControl, SplitMix};
use bourse_engine::{Description, Durability, Engine, EngineError, MayLose, OwnedServer, Result, locked};
use bourse_record::NameValue;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Faults of a round.
#[derive(Debug, Default)]
pub(super) struct Faults {
    kills: AtomicU64,
    cuts: AtomicU64,
    /// Failure of a killed server to start again: no wait for it makes sense any more.
    failure: Mutex<Option<EngineError>>,
}

/// Longest and shortest time between two faults.
const BETWEEN: [Nanos; 2] = [50 * MS, 350 * MS];
/// Faults of which one is a kill; the first is one.
const ONE_KILL_IN: u64 = 8;

impl Faults {
    /// Makes faults until the round drains. A server that is down is up again when this returns.
    pub(super) fn make(&self, server: &dyn OwnedServer, seed: u64, clock: &dyn Clock, control: &RoundControl) {
        let mut random = SplitMix::new(seed ^ 0xFA17);
        for number in 0.. {
            let [shortest, longest] = BETWEEN;
            clock.nap_until(clock.now() + shortest + random.below(longest - shortest));
            if control.draining(clock.now()) {
                return;
            }
            let choice = random.next();
            if number > 0 && random.below(ONE_KILL_IN) > 0 {
                // One that has gone meanwhile needs no cutting.
                self.cuts.fetch_add(server.cut(choice).unwrap_or(false).into(), Ordering::Relaxed);
                continue;
            }
            let node = (choice % server.nodes() as u64) as usize;
            self.kills.fetch_add(1, Ordering::Relaxed);
            if let Err(error) = server.kill_node(node).and_then(|()| server.restart_node(node)) {
                *locked(&self.failure) = Some(error);
                return;
            }
        }
    }

    pub(super) fn forget(&self) {
        self.kills.store(0, Ordering::Relaxed);
        self.cuts.store(0, Ordering::Relaxed);
        *locked(&self.failure) = None;
    }

    /// Failure of a killed server to start again.
    pub(super) fn failure(&self) -> Option<EngineError> {
        locked(&self.failure).clone()
    }

    /// Number of faults of each kind, as a fact of the round; `None` without any.
    pub(super) fn fact(&self) -> Option<NameValue> {
        let [kills, cuts] = [&self.kills, &self.cuts].map(|count| count.load(Ordering::Relaxed));
        let words = format!("server killed and started again: {kills}, connections cut: {cuts}");
        (kills + cuts > 0).then(|| named("faults", words))
    }
}

/// Refuses an engine whose acknowledged commits a kill may take, by its own settings: histories would show that alone.
pub(super) fn survives_kills(engine: &dyn Engine) -> Result<()> {
    let Description { durability, may_lose, durability_reason, .. } = engine.description()?;
    match (durability, may_lose) {
        (Durability::Volatile, _) | (_, Some(MayLose::LastSecondInMemory)) => Err(EngineError::unsupported(format!(
            "its commits are in the memory of a process that faults kill: {durability_reason}"
        ))),
        _ => Ok(()),
    }
}
