//! The harness's verdict on a transaction.

use std::fmt;

/// Status of a transaction as the harness of the specification sets it: 0 is success, positive a warning, negative an
/// error ([`Status::meaning`] has the words).
///
/// Warnings and the intended roll-back ([`Status::ROLLED_BACK`]) are valid outcomes; an error makes a run invalid, unless
/// a database of few days explains it.
///
/// ```
/// use bourse_tpce::transactions::Status;
/// let mut status = Status::SUCCESS;
/// status.raise(641);
/// status.raise(-642);
/// status.raise(-641);
/// assert_eq!(status.code(), -642, "an error replaces a warning, and the first error stays");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize)]
pub struct Status(i32);

impl Status {
    /// All checks passed.
    pub const SUCCESS: Self = Self(0);

    /// Trade-Order was rolled back because its input said so.
    pub const ROLLED_BACK: Self = Self(1);

    /// The status of that code.
    pub const fn of(code: i32) -> Self {
        Self(code)
    }

    /// The code.
    pub const fn code(self) -> i32 {
        self.0
    }

    /// Whether it is an error.
    pub const fn is_error(self) -> bool {
        self.0 < 0
    }

    /// Whether it is a warning or the intended roll-back.
    pub const fn is_warning(self) -> bool {
        self.0 > 0
    }

    /// What it means; `None` for a code that no check sets.
    pub fn meaning(self) -> Option<&'static str> {
        MEANINGS.iter().find(|(code, _)| *code == self.0).map(|(_, meaning)| *meaning)
    }

    /// Notes a check's verdict: an error replaces success and warnings, a warning only success, the first error stays.
    pub fn raise(&mut self, code: i32) {
        let replaces = if code < 0 { self.0 >= 0 } else { self.0 == 0 };
        if replaces {
            self.0 = code;
        }
    }

    /// [`Status::raise`] if `failed`.
    pub fn raise_if(&mut self, failed: bool, code: i32) {
        if failed {
            self.raise(code);
        }
    }
}

/// The codes of the reference's harness, in the order of Clause 3.3.
const MEANINGS: [(i32, &str); 35] = [
    (0, "success"),
    (1, "Trade-Order rolled back as its input asked"),
    (-111, "Broker-Volume: more than 40 brokers"),
    (-211, "Customer-Position: not 1 to 10 accounts"),
    (-221, "Customer-Position: not 10 to 30 history rows"),
    (-311, "Market-Feed: fewer prices noted than different securities fed"),
    (-411, "Market-Watch: neither account nor customer nor industry given"),
    (-511, "Security-Detail: not 5 to 20 days"),
    (-512, "Security-Detail: not 20 quarters"),
    (-513, "Security-Detail: not 2 news items"),
    (-611, "Trade-Lookup frame 1: a trade was not found"),
    (-621, "Trade-Lookup frame 2: more trades than asked for"),
    (621, "Trade-Lookup frame 2: no trade in the window"),
    (-631, "Trade-Lookup frame 3: more trades than asked for"),
    (631, "Trade-Lookup frame 3: no trade in the window"),
    (641, "Trade-Lookup frame 4: no trade from the start on"),
    (-641, "Trade-Lookup frame 4: more than one first trade"),
    (-642, "Trade-Lookup frame 4: not 1 to 20 changes of holdings"),
    (-711, "Trade-Order: the account was not found"),
    (-721, "Trade-Order: the executor has no permission"),
    (-731, "Trade-Order: no tax on a gain"),
    (-732, "Trade-Order: no commission rate"),
    (-733, "Trade-Order: no charge"),
    (-811, "Trade-Result: the trade was not found"),
    (-831, "Trade-Result: no tax on a gain"),
    (-841, "Trade-Result: no commission rate"),
    (-911, "Trade-Status: not 50 trades"),
    (-1011, "Trade-Update frame 1: a trade was not found"),
    (-1012, "Trade-Update frame 1: not all trades were changed"),
    (-1021, "Trade-Update frame 2: more trades than asked for"),
    (-1022, "Trade-Update frame 2: not all trades found were changed"),
    (1021, "Trade-Update frame 2: no trade was changed"),
    (-1031, "Trade-Update frame 3: more trades than asked for"),
    (-1032, "Trade-Update frame 3: more trades changed than found"),
    (1031, "Trade-Update frame 3: no trade was changed"),
];

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { f.pad("0") } else { f.pad(&format!("{:+}", self.0)) }
    }
}
