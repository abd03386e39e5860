//! Faults between a user and its recorder, planted on purpose to test what finds them. Only compiled with the feature `planted-bug`.

use bourse_engine::named;
use bourse_record::Sample;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

named! {
    /// A fault of the recorder.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[repr(u8)]
    pub enum PlantedFault {
        /// None: the recorder is right.
        Nothing = "nothing",
        /// Every sample is counted twice.
        CountTwice = "recorder counts twice",
        /// Every hundredth sample is dropped.
        DropEveryHundredth = "recorder drops every hundredth sample",
        /// Samples with a response time of more than 2 ms are dropped.
        DropLong = "recorder drops samples of more than 2 ms",
        /// The service time is written as the response time (coordinated omission).
        ServiceAsResponse = "recorder writes service time as response time",
    }
}

static SWITCH: AtomicU8 = AtomicU8::new(PlantedFault::Nothing as u8);
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// Plants a fault in all recorders of this process and replaces the previous one.
pub fn plant(fault: PlantedFault) {
    SWITCH.store(fault as u8, Relaxed);
}

/// Passes a sample to `take`, altered by the planted fault.
pub(crate) fn distort(sample: &Sample, mut take: impl FnMut(&Sample)) {
    const LONG_NS: u64 = 2_000_000;
    let planted = PlantedFault::ALL.into_iter().find(|fault| *fault as u8 == SWITCH.load(Relaxed));
    match planted.unwrap_or(PlantedFault::Nothing) {
        PlantedFault::Nothing => take(sample),
        PlantedFault::CountTwice => {
            take(sample);
            take(sample);
        }
        PlantedFault::DropEveryHundredth if TAKEN.fetch_add(1, Relaxed) % 100 == 99 => {}
        PlantedFault::DropLong if sample.response_ns() > LONG_NS => {}
        PlantedFault::DropEveryHundredth | PlantedFault::DropLong => take(sample),
        PlantedFault::ServiceAsResponse => take(&Sample { due_ns: sample.end_ns - sample.service_ns(), ..*sample }),
    }
}
