//! From samples to the run file: histograms, series, the machine, and the document that every report is drawn from.

mod counts;
mod document;
mod histogram;
mod live;
mod machine;
mod metric;
mod operation;
#[cfg(feature = "planted-bug")]
pub mod planted;
mod recorder;
mod resources;
mod run_file;
mod sample;
mod series;
mod stats;
mod steady;

pub use counts::Counts;
pub use document::{RunFileError, run_file_schema};
pub use histogram::HistogramError;
pub use live::{LiveCell, LiveReader, LiveRow};
pub use machine::noise;
pub use metric::{Better, METRICS, Metric, metric};
pub use operation::{MixShare, OperationSpec};
pub use recorder::{Recorder, Totals};
pub use resources::{KernelThreads, MachineMemory, MachineUse, ProcessUse};
pub use run_file::{
    Arrivals, Build, Case, Check, CheckStatus, Column, Distribution, Engine, KindOfFile, LatencySummary, Machine,
    NameValue, Operation, Origin, Outcome, OutcomeCount, OutcomeLatency, Phase, PhaseKind, Probe, Round, RunFile,
    SCHEMA_VERSION, Search, Series, ServerFigures, ServerUse, SharedRound, Taken, Workload,
};
pub use sample::{Sample, ServerTime};
pub use stats::{FEWEST_ROUNDS, Interval, SplitMix, median, median_interval, ratio_interval};
pub use steady::{Steadiness, Steady, SteadyTest};
