//! Resources used until the beginning and the end of the measurement interval.

use crate::sampler::io_counts;
use crate::{Clock, Nanos, RoundControl, SECOND};
use bourse_engine::{Counter, Engine, IoCounts, OwnThreads, ServerProcess};
use bourse_record::{EngineCounter, EngineThreads, KernelThreads, MachineUse, ProcessUse, ServerUse, Warning};

/// Resources used until a moment.
#[derive(Default)]
pub(super) struct Mark {
    /// Moment of the reading.
    pub(super) at: Nanos,
    pub(super) process: ProcessUse,
    pub(super) machine: Option<MachineUse>,
    pub(super) kernel: KernelThreads,
    pub(super) io: Option<IoCounts>,
    pub(super) server: Option<ServerProcess>,
    pub(super) counters: Vec<Counter>,
    threads: Vec<OwnThreads>,
}

impl Mark {
    /// Reads the clock after the processor time: a thread that waits for a processor between the two is seen as late.
    fn now(engine: &dyn Engine, clock: &dyn Clock) -> Self {
        let process = ProcessUse::now();
        Self {
            at: clock.now(),
            process,
            machine: MachineUse::now(),
            kernel: KernelThreads::now(),
            io: io_counts(engine),
            // An engine that fails to say is as one without a server.
            server: engine.footprint().ok().and_then(|footprint| footprint.server),
            counters: engine.counters().unwrap_or_default(),
            threads: engine.own_threads(),
        }
    }

    /// Increases of the engine's counters, of those present in both marks.
    pub(super) fn counted_since(&self, then: &Self) -> Vec<EngineCounter> {
        let since = |now: &Counter| {
            let then = then.counters.iter().find(|it| it.name == now.name)?;
            Some(EngineCounter { name: now.name.clone(), count: now.value.checked_sub(then.value)? })
        };
        self.counters.iter().filter_map(since).filter(|it| it.count > 0).collect()
    }

    /// Resources that the server's process has used since.
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

/// Processor time of this process and of the engine's own threads until a moment.
struct ThreadsMark {
    process_s: f64,
    threads: Vec<OwnThreads>,
}

impl ThreadsMark {
    /// Reading of both; `None` if the engine has no such threads, or the system does not report them.
    fn of(process: ProcessUse, threads: &[OwnThreads]) -> Option<Self> {
        let process_s = process.cpu_s().filter(|_| !threads.is_empty())?;
        Some(Self { process_s, threads: threads.to_owned() })
    }

    /// Processor seconds of such threads since `then`, and their share of the process's.
    fn since(&self, then: &Self, now: &OwnThreads) -> (f64, Option<f64>) {
        let before = then.threads.iter().find(|it| it.work == now.work).map_or(0, |it| it.cpu_ns);
        let seconds = now.cpu_ns.saturating_sub(before) as f64 / SECOND as f64;
        let all = self.process_s - then.process_s;
        // Clocks of threads tick with the process's, but are not read at the same moment.
        (seconds, (all > 0.0).then(|| (seconds / all).min(1.0)))
    }
}

/// Share of the interval's processor time from which warm-up work casts doubt on the figures.
const NOT_WARM: f64 = 0.1;

/// Resources used until the beginning and the end of the measurement interval.
#[derive(Default)]
pub(super) struct UsageMarks {
    /// The engine's own threads when the warm-up began.
    warm_up: Option<Option<ThreadsMark>>,
    pub(super) from: Option<Mark>,
    pub(super) to: Option<Mark>,
}

impl UsageMarks {
    /// Reads the resources before a round without a warm-up begins: its first operations may be over before this thread runs again.
    pub(super) fn at_once(engine: &dyn Engine, clock: &dyn Clock) -> Self {
        Self { from: Some(Mark::now(engine, clock)), ..Self::default() }
    }

    /// Reads the resources once the start or end of the interval has passed.
    pub(super) fn pass(&mut self, engine: &dyn Engine, control: &RoundControl, clock: &dyn Clock) {
        let now = clock.now();
        if now < control.measure_from() {
            self.warm_up.get_or_insert_with(|| ThreadsMark::of(ProcessUse::now(), &engine.own_threads()));
        }
        if now >= control.measure_from() {
            self.from.get_or_insert_with(|| Mark::now(engine, clock));
        }
        if now >= control.measure_to() {
            self.to.get_or_insert_with(|| Mark::now(engine, clock));
        }
    }

    /// Delay of the readings at the two ends of the interval, together: a thread that waits for a processor reads late,
    /// and the work of others meanwhile is missing, or belongs to the drain.
    pub(super) fn late_ns(&self, control: &RoundControl) -> Nanos {
        let late = |mark: &Option<Mark>, end: Nanos| mark.as_ref().map_or(0, |mark| mark.at.saturating_sub(end));
        late(&self.from, control.measure_from()).saturating_add(late(&self.to, control.measure_to()))
    }

    /// Usage of the engine's own threads in the measurement interval, and warnings about those still warming up.
    pub(super) fn engine_threads(&self) -> (Vec<EngineThreads>, Vec<Warning>) {
        let mark = |mark: &Option<Mark>| mark.as_ref().and_then(|it| ThreadsMark::of(it.process, &it.threads));
        let (Some(from), Some(to)) = (mark(&self.from), mark(&self.to)) else { return Default::default() };
        let warm_up = self.warm_up.as_ref().and_then(Option::as_ref);
        let (mut all, mut warnings) = (Vec::new(), Vec::new());
        for now in &to.threads {
            let (cpu_s, share) = to.since(&from, now);
            let at_first = from.threads.iter().find(|it| it.work == now.work);
            let warm_up_share = warm_up.zip(at_first).and_then(|(then, now)| from.since(then, now).1);
            let doubtful = share.filter(|share| now.is_warming_up && *share >= NOT_WARM);
            warnings.extend(doubtful.map(|share| Warning::NotWarm { work: now.work.to_owned(), share }));
            all.push(EngineThreads { work: now.work.to_owned(), cpu_s, warm_up_share });
        }
        (all, warnings)
    }

    /// Next moment to read.
    pub(super) fn next(&self, control: &RoundControl) -> Nanos {
        match (&self.from, &self.to) {
            (None, _) => control.measure_from(),
            (_, None) => control.measure_to(),
            _ => Nanos::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(process_s: f64, compiler_ms: u64) -> Mark {
        Mark { process: process(process_s), threads: threads(compiler_ms), ..Mark::default() }
    }

    fn process(seconds: f64) -> ProcessUse {
        ProcessUse { cpu_user_s: Some(seconds), cpu_system_s: Some(0.0), ..ProcessUse::default() }
    }

    fn threads(compiler_ms: u64) -> Vec<OwnThreads> {
        let own = |work, ms: u64, is_warming_up| OwnThreads { work, cpu_ns: ms * 1_000_000, is_warming_up };
        vec![own("garbage collection", 500, false), own("JIT compiler", compiler_ms, true)]
    }

    fn check(marks: &UsageMarks, expected: [(f64, Option<f64>); 2], warned: Option<f64>) {
        let (all, warnings) = marks.engine_threads();
        let found: Vec<_> = all.iter().map(|it| (it.cpu_s, it.warm_up_share)).collect();
        assert_eq!(found, expected);
        let share = |warning: &Warning| match warning {
            Warning::NotWarm { work, share } if work == "JIT compiler" => Some(*share),
            _ => None,
        };
        assert_eq!(warnings.iter().map(share).collect::<Vec<_>>(), Vec::from_iter(warned.map(Some)));
    }

    #[test]
    fn an_engine_that_still_compiles_is_told() {
        let warm_up = || Some(ThreadsMark::of(process(1.0), &threads(0)));
        let marks = |to| UsageMarks { warm_up: warm_up(), from: Some(mark(5.0, 2_000)), to: Some(to) };
        check(&marks(mark(15.0, 2_500)), [(0.0, Some(0.0)), (0.5, Some(0.5))], None);
        check(&marks(mark(15.0, 4_500)), [(0.0, Some(0.0)), (2.5, Some(0.5))], Some(0.25));
        let without = UsageMarks { warm_up: None, ..marks(mark(15.0, 3_000)) };
        check(&without, [(0.0, None), (1.0, None)], Some(0.1));
        assert!(UsageMarks::default().engine_threads().0.is_empty());
    }
}
