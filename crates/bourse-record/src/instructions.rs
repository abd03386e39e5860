//! Instructions of a case's operations.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Instructions in user mode that the users' thread executed for a fixed number of operations, counted in rounds of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Instructions {
    /// Counter: `processor`, or the version of valgrind. Counts of two counters are not compared.
    pub counted_by: String,
    /// Valid headline operations of each count.
    pub operations: u64,
    /// Counts of the same work, the harness's own instructions included.
    pub counts: Vec<u64>,
    /// Harness's own instructions: a count of the same work on the null engine.
    pub harness: u64,
    /// Functions with the most instructions of the first count; empty unless requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionInstructions>,
}

/// Instructions of a function itself, without those of functions that it calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionInstructions {
    /// Name of the function.
    pub name: String,
    /// Its instructions in the count.
    pub count: u64,
}

impl Instructions {
    /// Fewest and most instructions of an operation in one of the counts, without the harness's own; `None` if there are none.
    pub fn each(&self) -> Option<[f64; 2]> {
        let own = self.counts.iter().filter_map(|count| count.checked_sub(self.harness).filter(|own| *own > 0));
        let own: Vec<f64> =
            own.map(|own| own as f64 / self.operations as f64).filter(|each| each.is_finite()).collect();
        let whole = own.len() == self.counts.len();
        let ends = [own.iter().copied().reduce(f64::min)?, own.iter().copied().reduce(f64::max)?];
        whole.then_some(ends)
    }

    /// Instructions of an operation: the middle of [`each`](Self::each).
    pub fn middle(&self) -> Option<f64> {
        self.each().map(|[low, high]| (low + high) / 2.0)
    }

    /// Whether differences from another case's are those of the engine: counted by the same counter, for as many operations.
    pub fn is_like(&self, other: &Self) -> bool {
        self.counted_by == other.counted_by && self.operations == other.operations
    }
}
