//! What a workload does, as data.

/// One kind of operation of a workload, as `Trade-Result`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OperationSpec {
    /// Name, the field's own.
    pub name: &'static str,
    /// 90 % must be answered within this many nanoseconds, if the workload says so.
    pub limit_ns: Option<u64>,
    /// Its share of the mix; none if it stands outside the mix.
    pub mix: Option<MixShare>,
    /// What its status codes mean; it may name codes of other operations too.
    pub codes: &'static [(i32, &'static str)],
}

impl OperationSpec {
    /// An operation outside any mix and without a limit.
    pub const fn new(name: &'static str) -> Self {
        Self { name, limit_ns: None, mix: None, codes: &[] }
    }
}

impl OperationSpec {
    /// What a status code means, if that is declared.
    pub fn meaning(&self, code: i32) -> Option<&'static str> {
        self.codes.iter().find(|(known, _)| *known == code && code != 0).map(|(_, meaning)| *meaning)
    }
}

/// How large a part of all operations in the mix one kind should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixShare {
    /// Percent of all operations in the mix.
    pub target_percent: f64,
    /// How far the achieved share may be off, in percentage points.
    pub tolerance_points: f64,
}
