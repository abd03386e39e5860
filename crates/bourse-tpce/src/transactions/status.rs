//! The harness's verdict on a transaction.

use bourse_record::STATUS_CODES;
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

    /// Meaning of the code; `None` for a code that no check sets.
    pub fn meaning(self) -> Option<&'static str> {
        STATUS_CODES.iter().find(|(code, _)| *code == self.0).map(|(_, meaning)| *meaning)
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

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { f.pad("0") } else { f.pad(&format!("{:+}", self.0)) }
    }
}
