use crate::Outcome;

/// One timed operation, or a batch of short ones; times are in nanoseconds since the round began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Time at which the operation was due: by the schedule or its arrival; in a closed loop, its start.
    pub due_ns: u64,
    /// Start of the operation.
    pub start_ns: u64,
    /// End of the operation, with its retries.
    pub end_ns: u64,
    /// Back-off between retries, part of the time from `start_ns` to `end_ns`.
    pub back_off_ns: u64,
    /// Retries after lock conflicts.
    pub retries: u32,
    /// Waits for a server's answer, over all attempts; 0 without a server.
    pub round_trips: u32,
    /// Number of operations timed together: several in a batch of short ones, otherwise 1. Times are totals of the
    /// batch.
    pub count: u32,
    /// Index of the operation in the workload's list.
    pub operation: usize,
    /// Outcome of the operation.
    pub outcome: Outcome,
    /// Status code of the workload; 0 if there is none.
    pub code: i32,
    /// Times measured by an application server, if the operation was performed behind one.
    pub server: Option<ServerTime>,
}

/// Inclusion of a sample in the figures of the measurement interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleInclusion {
    /// Excluded: ended before the interval, or due after it.
    Not,
    /// Included: ended in the interval.
    Ended,
    /// Counted without a time: ended in the interval, in a group of which a single operation is timed.
    Untimed,
    /// Time included, but no count and no rate: due before the end of the interval and ended after it.
    UnderWay,
}

impl SampleInclusion {
    /// Inclusion of the same operation depending on whether it is timed.
    #[must_use]
    pub const fn timed(self, is_timed: bool) -> Self {
        match self {
            _ if is_timed => self,
            Self::Ended => Self::Untimed,
            // Without a time there is nothing to say of it.
            _ => Self::Not,
        }
    }
}

impl From<bool> for SampleInclusion {
    /// Inclusion by whether the operation ended in the interval, for workloads without operations under way.
    fn from(ended: bool) -> Self {
        if ended { Self::Ended } else { Self::Not }
    }
}

/// Times measured by an application server; the rest of the time from start to end was spent in the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerTime {
    /// Time from the request's arrival to the reply's departure, with back-offs and the wait for a session, in
    /// nanoseconds.
    pub server_ns: u64,
    /// Time in the transaction itself, with its locks and without back-offs, in nanoseconds.
    pub engine_ns: u64,
}

impl Sample {
    /// A single operation that was due and started at 0, and ended after `ns`.
    pub const fn new(operation: usize, outcome: Outcome, ns: u64) -> Self {
        Self {
            due_ns: 0,
            start_ns: 0,
            end_ns: ns,
            back_off_ns: 0,
            retries: 0,
            round_trips: 0,
            count: 1,
            operation,
            outcome,
            code: 0,
            server: None,
        }
    }

    /// Response time in nanoseconds, from due to end: the wait of a customer.
    pub const fn response_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.due_ns)
    }

    /// Service time in nanoseconds, from start to end without back-off: the engine and its locks.
    pub const fn service_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns).saturating_sub(self.back_off_ns)
    }

    /// Network time in nanoseconds: encoding, sending, waking up, both ways. `None` without a server.
    pub fn network_ns(&self) -> Option<u64> {
        self.server.map(|server| self.end_ns.saturating_sub(self.start_ns).saturating_sub(server.server_ns))
    }
}
