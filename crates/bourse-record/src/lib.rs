//! From samples to the run file: histograms, series, the machine, and the document that every report is drawn from.

mod histogram;
mod metric;
mod operation;
mod run_file;
mod sample;

pub use histogram::HistogramError;
pub use metric::{Better, METRICS, Metric, metric};
pub use operation::{MixShare, OperationSpec};
pub use run_file::{
    Build, Case, Check, CheckStatus, Column, Distribution, Engine, LatencySummary, Machine, NameValue, Operation,
    Outcome, OutcomeCount, Phase, PhaseKind, Round, RunFile, SCHEMA_VERSION, Series, Workload,
};
pub use sample::Sample;
