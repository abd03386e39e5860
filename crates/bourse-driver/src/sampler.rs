//! Sampler of each second: completed operations, resource usage, sizes.

use crate::{Nanos, SECOND};
use bourse_engine::{Engine, Footprint, IoCounts, ServerProcess};
use bourse_record::{
    LiveReader, LiveRow, MachineMemory, MachineUse, OperationSpec, ProcessUse, ResponseMapBuilder, Series,
};

/// Writer of a round's series.
pub(crate) struct Sampler<'a> {
    engine: &'a dyn Engine,
    specs: &'a [OperationSpec],
    live: LiveReader,
    begin: Nanos,
    last: Nanos,
    process: ProcessUse,
    machine: Option<MachineUse>,
    footprint: Option<Footprint>,
    io: Option<IoCounts>,
    /// First error of the engine when reporting its size.
    pub(crate) footprint_error: Option<String>,
    pub(crate) series: Series,
    pub(crate) responses: ResponseMapBuilder,
}

/// File operations of the engine so far; `None` if it cannot report them or fails to.
pub(crate) fn io_counts(engine: &dyn Engine) -> Option<IoCounts> {
    engine.io_counts().ok().flatten()
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(engine: &'a dyn Engine, specs: &'a [OperationSpec], live: LiveReader, begin: Nanos) -> Self {
        let mut this = Self {
            engine,
            specs,
            live,
            begin,
            last: begin,
            process: ProcessUse::now(),
            machine: MachineUse::now(),
            footprint: None,
            io: io_counts(engine),
            footprint_error: None,
            series: Series::default(),
            responses: ResponseMapBuilder::default(),
        };
        this.footprint = this.ask_footprint();
        this
    }

    fn ask_footprint(&mut self) -> Option<Footprint> {
        match self.engine.footprint() {
            Ok(footprint) => Some(footprint),
            Err(error) => {
                self.footprint_error.get_or_insert_with(|| error.to_string());
                None
            }
        }
    }

    /// Valid completions until now: over all operations, and of `operation` if given.
    pub(crate) fn ended(&self, operation: Option<usize>) -> [u64; 2] {
        self.live.ended(operation)
    }

    /// Bytes that the engine has written to its log until now, if it counts them.
    pub(crate) fn log_written(&self) -> Option<u64> {
        io_counts(self.engine).map(|io| io.log.written_bytes)
    }

    /// Ends a row of the series at `now`; returns the counts in it, and its length in seconds.
    pub(crate) fn row(&mut self, now: Nanos, queue: Option<u64>) -> (LiveRow, f64) {
        let seconds = now.saturating_sub(self.last).max(1) as f64 / SECOND as f64;
        let done = self.live.look();
        let (process, machine) = (ProcessUse::now(), MachineUse::now());
        let footprint = self.ask_footprint();
        let io = io_counts(self.engine);
        let rate = |count: u64| Some(count as f64 / seconds);
        let grown = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?) as f64 / seconds);
        let used = |now: Option<f64>, then: Option<f64>| Some((now? - then?).max(0.0) / seconds);
        let level = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64);
        let memory = MachineMemory::now();
        let ours = process.cpu_s().zip(self.process.cpu_s()).map_or(0.0, |(now, then)| now - then);
        let since = machine.zip(self.machine);
        // The machine's count and Bourse's are rounded separately: a slightly negative difference is 0.
        let others = since.map(|(now, then)| (now.busy_s - then.busy_s - ours).max(0.0) / seconds);
        let stolen = since.map(|(now, then)| (now.stolen_s - then.stolen_s).max(0.0) / seconds);
        let before = self.footprint;
        let locks = footprint.and_then(|footprint| footprint.locks);
        let locks_before = before.and_then(|footprint| footprint.locks);
        let (files, files_before) = (io.map(|io| io.total()), self.io.map(|io| io.total()));

        let quantile = |at: usize| done.response_ns.map(|quantiles| quantiles[at]);
        let mut values = vec![("throughput".to_owned(), rate(done.valid()))];
        for (spec, operation) in self.specs.iter().zip(&done.operations) {
            values.push((format!("throughput.{}", spec.name), rate(operation.since.valid)));
        }
        let named = [
            ("response_ns_p50", quantile(0)),
            ("response_ns_p90", quantile(1)),
            ("response_ns_p99", quantile(2)),
            ("response_ns_max", level(done.response_ns_max)),
            ("failures", rate(done.failed())),
            ("retries", rate(done.retries)),
            ("queue_length", level(queue)),
            ("backlog", level(Some(done.backlog))),
            ("cpu_user", used(process.cpu_user_s, self.process.cpu_user_s)),
            ("cpu_system", used(process.cpu_system_s, self.process.cpu_system_s)),
            ("cpu_others", others),
            ("cpu_stolen", stolen),
            ("memory_resident_bytes", level(process.resident_bytes)),
            ("machine_memory_used_bytes", level(memory.map(|memory| memory.used_bytes))),
            ("machine_memory_free_bytes", level(memory.map(|memory| memory.free_bytes))),
            ("machine_swap_used_bytes", level(memory.map(|memory| memory.swap_used_bytes))),
            ("engine_memory_bytes", level(footprint.map(|footprint| footprint.memory_bytes))),
            ("read_bytes", grown(process.read_bytes, self.process.read_bytes)),
            ("written_bytes", grown(process.written_bytes, self.process.written_bytes)),
            ("syncs", grown(files.map(|it| it.syncs), files_before.map(|it| it.syncs))),
            (
                "sync_time",
                grown(files.and_then(|it| it.sync_ns), files_before.and_then(|it| it.sync_ns)).map(|ns| ns / 1e9),
            ),
            ("engine_written_bytes", grown(files.map(|it| it.written_bytes), files_before.map(|it| it.written_bytes))),
            (
                "data_written_bytes",
                grown(io.map(|io| io.database.written_bytes), self.io.map(|io| io.database.written_bytes)),
            ),
            ("data_bytes", level(footprint.map(|footprint| footprint.data_bytes))),
            ("log_bytes", level(footprint.map(|footprint| footprint.log_bytes))),
            ("journal_bytes", level(footprint.map(|footprint| footprint.journal_bytes))),
            ("lock_wait", grown(locks.map(|it| it.wait_ns), locks_before.map(|it| it.wait_ns)).map(|ns| ns / 1e9)),
            ("lock_waits", grown(locks.map(|it| it.waits), locks_before.map(|it| it.waits))),
        ];
        values.extend(named.map(|(name, value)| (name.to_owned(), value)));
        if let Some(server) = footprint.and_then(|footprint| footprint.server) {
            let then = before.and_then(|footprint| footprint.server);
            let since = |of: fn(&ServerProcess) -> u64| grown(Some(of(&server)), then.as_ref().map(of));
            let named = [
                ("server_cpu_user", since(|it| it.cpu_user_ns).map(|ns| ns / 1e9)),
                ("server_cpu_system", since(|it| it.cpu_system_ns).map(|ns| ns / 1e9)),
                ("server_memory_resident_bytes", level(Some(server.resident_bytes))),
                ("server_read_bytes", since(|it| it.read_bytes)),
                ("server_written_bytes", since(|it| it.written_bytes)),
            ];
            values.extend(named.map(|(name, value)| (name.to_owned(), value)));
        }
        let time_s = now.saturating_sub(self.begin) as f64 / SECOND as f64;
        self.series.push(time_s, values);
        self.responses.push(time_s, &done.responses);
        self.last = now;
        self.process = process;
        self.machine = machine;
        self.footprint = footprint;
        self.io = io;
        (done, seconds)
    }
}
