//! Declaration of a workload's operations.

/// One kind of operation of a workload, as `Trade-Result`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OperationSpec {
    /// Name in the field's terms.
    pub name: &'static str,
    /// Limit of the 90th percentile of response times in nanoseconds, if the workload declares one.
    pub limit_ns: Option<u64>,
    /// Share of the mix; `None` outside the mix.
    pub mix: Option<MixShare>,
    /// Meanings of status codes; may include codes of other operations.
    pub codes: &'static [(i32, &'static str)],
}

impl OperationSpec {
    /// An operation outside any mix and without a limit.
    pub const fn new(name: &'static str) -> Self {
        Self { name, limit_ns: None, mix: None, codes: &[] }
    }
}

impl OperationSpec {
    /// Meaning of a status code, if declared.
    pub fn meaning(&self, code: i32) -> Option<&'static str> {
        self.codes.iter().find(|(known, _)| *known == code && code != 0).map(|(_, meaning)| *meaning)
    }
}

/// Required share of one operation in the mix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixShare {
    /// Percent of all operations in the mix.
    pub target_percent: f64,
    /// Permitted deviation of the share, in percentage points.
    pub tolerance_points: f64,
}
