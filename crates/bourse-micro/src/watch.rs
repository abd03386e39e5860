//! Sizes of the log and the journal, sampled far more often than once a second: the journal of a small transaction
//! exists for some microseconds only.

use bourse_driver::{Background, Clock, MS, Nanos, RoundControl, SECOND};
use bourse_engine::{Engine, Footprint};
use bourse_record::Series;
use std::sync::{Arc, Mutex, PoisonError};

/// Interval between two samples of the sizes.
pub(crate) const SAMPLE_INTERVAL_NS: Nanos = MS / 2;
/// Minimum length of a row of the series.
const MIN_ROW_NS: Nanos = 20 * MS;
/// Maximum number of rows; beyond it, pairs are joined.
const MAX_ROWS: usize = 600;

/// Name of a size in the series, and its accessor.
type WatchedSize = (&'static str, fn(&Footprint) -> u64);

const SIZES: [WatchedSize; 3] = [
    ("log_bytes", |footprint| footprint.log_bytes),
    ("journal_bytes", |footprint| footprint.journal_bytes),
    ("data_bytes", |footprint| footprint.data_bytes),
];

/// Sizes seen in a round.
#[derive(Debug, Clone, Default)]
pub(crate) struct SizesSeen {
    /// End of each row and the largest of each size in it.
    intervals: Vec<(Nanos, [u64; SIZES.len()])>,
    length: Nanos,
    looks: u64,
}

impl SizesSeen {
    /// Adds a sample taken `at` after the round's start.
    fn look(&mut self, at: Nanos, sizes: [u64; SIZES.len()]) {
        self.looks += 1;
        self.length = self.length.max(MIN_ROW_NS);
        match self.intervals.last_mut() {
            Some((end, largest)) if at < *end => merge(largest, sizes),
            last => {
                let end = last.map_or(0, |(end, _)| *end).max(at / self.length * self.length) + self.length;
                self.intervals.push((end, sizes));
            }
        }
        if self.intervals.len() > MAX_ROWS {
            self.length *= 2;
            let pairs = self.intervals.chunks(2).map(|pair| {
                let mut largest = pair[0].1;
                merge(&mut largest, pair[pair.len() - 1].1);
                (pair[pair.len() - 1].0, largest)
            });
            self.intervals = pairs.collect();
        }
    }

    /// Number of samples.
    pub(crate) fn looks(&self) -> u64 {
        self.looks
    }

    /// Samples as a series of the round.
    pub(crate) fn series(&self) -> Series {
        let mut series = Series::default();
        for (end, sizes) in &self.intervals {
            let values = SIZES.iter().zip(sizes).map(|((name, _), bytes)| ((*name).to_owned(), Some(*bytes as f64)));
            series.push(*end as f64 / SECOND as f64, values);
        }
        series
    }

    /// Largest value of a size.
    pub(crate) fn peak(&self, name: &str) -> u64 {
        let Some(at) = SIZES.iter().position(|(known, _)| *known == name) else { return 0 };
        self.intervals.iter().map(|(_, sizes)| sizes[at]).max().unwrap_or(0)
    }

    /// Last value of a size.
    pub(crate) fn last(&self, name: &str) -> u64 {
        let Some(at) = SIZES.iter().position(|(known, _)| *known == name) else { return 0 };
        self.intervals.last().map_or(0, |(_, sizes)| sizes[at])
    }
}

fn merge(largest: &mut [u64; SIZES.len()], more: [u64; SIZES.len()]) {
    largest.iter_mut().zip(more).for_each(|(largest, more)| *largest = (*largest).max(more));
}

/// Samples shared between the watcher and the caller, who reads them after the round.
pub(crate) type WatchedSizes = Arc<Mutex<SizesSeen>>;

/// Sizes seen so far.
pub(crate) fn seen(watched: &WatchedSizes) -> SizesSeen {
    watched.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Takes a sample now, in a round that began at `begin`.
pub(crate) fn look(engine: &dyn Engine, watched: &WatchedSizes, begin: Nanos, now: Nanos) {
    // The sampler reports an engine that cannot return its sizes.
    if let Ok(footprint) = engine.footprint() {
        let mut seen = watched.lock().unwrap_or_else(PoisonError::into_inner);
        seen.look(now.saturating_sub(begin), SIZES.map(|(_, of)| of(&footprint)));
    }
}

/// Emulator that samples until the round drains.
pub(crate) fn watcher<'s>(engine: &'s dyn Engine, watched: &WatchedSizes) -> Background<'s> {
    let watched = watched.clone();
    let run = Box::new(move |clock: &dyn Clock, control: &RoundControl| {
        let begin = control.begin();
        loop {
            let now = clock.now();
            look(engine, &watched, begin, now);
            if control.draining(now) || control.ended(now) {
                return;
            }
            // Not by the clock's exact waking, which spins: the users need the processor.
            std::thread::sleep(std::time::Duration::from_nanos(SAMPLE_INTERVAL_NS));
        }
    });
    Background { name: "watcher".to_owned(), run }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_stay_however_long_it_lasts() {
        let mut seen = SizesSeen::default();
        for at in 0..200_000u64 {
            let log = if at == 77_777 { 9_000 } else { at % 1_000 };
            seen.look(at * MS, [log, 0, at]);
        }
        let series = seen.series();
        assert!(series.time_s.len() <= MAX_ROWS && series.time_s.len() > MAX_ROWS / 2 - 1, "{}", series.time_s.len());
        assert!(series.time_s.is_sorted() && *series.time_s.last().unwrap() >= 199.999);
        let log = series.column("log_bytes").unwrap();
        let at = log.iter().position(|value| *value == Some(9_000.0)).unwrap();
        let (from, to) = (if at == 0 { 0.0 } else { series.time_s[at - 1] }, series.time_s[at]);
        assert!(from <= 77.777 && 77.777 <= to, "{from} to {to}");
        assert_eq!((seen.peak("log_bytes"), seen.peak("journal_bytes"), seen.looks()), (9_000, 0, 200_000));
        assert_eq!(seen.last("data_bytes"), 199_999);
    }

    #[test]
    fn a_pause_leaves_no_intervals_behind() {
        let mut seen = SizesSeen::default();
        seen.look(0, [1, 0, 0]);
        seen.look(10 * SECOND, [2, 0, 0]);
        assert_eq!(seen.series().time_s, [0.02, 10.02]);
    }
}
