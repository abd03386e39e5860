//! What a run file tells, worked out once for all outputs: figures over all rounds, their standing, rules kept.

mod case;
mod limits;
mod operation;
mod rules;
mod standing;
mod status;

pub(crate) use case::{CaseView, values};
pub(crate) use operation::{Clock, Latency, OperationView, ServerLatency, outcome_word};
pub(crate) use rules::{Kept, rules};
pub(crate) use standing::{Remark, Standing};
pub(crate) use status::meaning;

use bourse_record::RunFile;

/// The notices that have to stand in every report, each once.
pub(crate) fn notices(file: &RunFile) -> Vec<&str> {
    let mut notices: Vec<&str> = Vec::new();
    for case in &file.cases {
        // A TPC-E-derived run says so even if its file forgot to.
        let tpce = (case.workload.name == "tpce").then_some(NOTICE);
        if let Some(notice) = case.workload.notice.as_deref().or(tpce)
            && !notices.contains(&notice)
        {
            notices.push(notice);
        }
    }
    if notices.is_empty() && file.name == "tpce" {
        notices.push(NOTICE);
    }
    notices
}

/// What every report of the TPC-E-derived workload says.
const NOTICE: &str = "TPC-E-derived workload, unaudited; results are not comparable with published TPC Benchmark E \
                      results. TPC Benchmark and TPC-E are trademarks of the Transaction Processing Performance Council.";
