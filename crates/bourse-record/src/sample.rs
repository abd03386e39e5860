use crate::Outcome;

/// One operation, or a batch of short ones, timed: all times in nanoseconds since the round began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// When it should have started: by the schedule, or when it arrived; in a closed loop when it did start.
    pub due_ns: u64,
    /// Start of the operation.
    pub start_ns: u64,
    /// End of the operation, with its retries.
    pub end_ns: u64,
    /// Time between `start_ns` and `end_ns` that was spent backing off between retries.
    pub back_off_ns: u64,
    /// Retries after lock conflicts.
    pub retries: u32,
    /// How often it waited for a server's answer, over all attempts; 0 without a server.
    pub round_trips: u32,
    /// How many operations were timed together: short ones in batches, 1 of the others. Times are of all of them.
    pub count: u32,
    /// Which operation: an index into the workload's list.
    pub operation: usize,
    /// Outcome of the operation.
    pub outcome: Outcome,
    /// The workload's status code; 0 where there is none.
    pub code: i32,
    /// What an application server took of it, where it was performed behind one.
    pub server: Option<ServerTime>,
}

/// How a sample counts for the figures of the measurement interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Not at all: it ended before the interval, or was due after it.
    Not,
    /// In full: it ended in the interval.
    Ended,
    /// Without a time: it ended in the interval, among those of which only one in so many is timed.
    Untimed,
    /// Its time alone: it was due before the end of the interval and ended after it. No count and no rate has it.
    UnderWay,
}

impl Counted {
    /// The same of an operation that is timed, or that is not.
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

impl From<bool> for Counted {
    /// Whether it ended in the interval, where nothing is under way.
    fn from(ended: bool) -> Self {
        if ended { Self::Ended } else { Self::Not }
    }
}

/// An application server's own measure of an operation: what is left of the time from start to end was the network's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerTime {
    /// From the request's arrival to the reply's departure, back-offs and waiting for a session included, in nanoseconds.
    pub server_ns: u64,
    /// The part of it that was spent in the transaction, its locks included, without back-offs, in nanoseconds.
    pub engine_ns: u64,
}

impl Sample {
    /// What a customer waits: from when it was due to its end, in nanoseconds.
    pub const fn response_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.due_ns)
    }

    /// What the engine and its locks take: from start to end without the back-off, in nanoseconds.
    pub const fn service_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns).saturating_sub(self.back_off_ns)
    }

    /// What the way to the server and back took, in nanoseconds: encoding, sending, waking up. None without a server.
    pub fn network_ns(&self) -> Option<u64> {
        self.server.map(|server| self.end_ns.saturating_sub(self.start_ns).saturating_sub(server.server_ns))
    }
}
