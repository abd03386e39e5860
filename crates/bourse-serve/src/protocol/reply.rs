//! The result of a transaction.

use bourse_oltp::sut::SharedWorkload;
use serde::{Deserialize, Serialize};

/// Reply of the server to a request, with a workload's answers, errors and follow-ups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply<A, E, F> {
    /// Number of retries.
    pub retries: u32,
    /// Time spent backing off between attempts, in nanoseconds.
    pub back_off_ns: u64,
    /// Work for the driver, of what is committed.
    pub follow_ups: Vec<F>,
    /// Answer of the transaction, or its error.
    pub outcome: Result<A, E>,
}

/// [`Reply`] of a workload.
pub type ReplyOf<W> =
    Reply<<W as SharedWorkload>::Answer, <W as SharedWorkload>::Error, <W as SharedWorkload>::FollowUp>;
