//! Samples, histograms, series, facts about the machine, and the run file that every report is drawn from.
//!
//! The further documents are [`acid`], [`crash`] and [`faults`]; all share one head, [`Provenance`].
//!
//! ```
//! use bourse_record::{SampleInclusion, OperationSpec, Outcome, Recorder, Sample};
//!
//! let mut recorder = Recorder::new([OperationSpec::new("read")].into(), |_| true);
//! for operation in 1..=1_000 {
//!     // It started 500 ns late: part of the response time, not of the service time.
//!     let sample = Sample { start_ns: 500, ..Sample::new(0, Outcome::Completed, 500 + operation) };
//!     recorder.sample(&sample, SampleInclusion::Ended);
//! }
//! let read = &recorder.figures()[0];
//! assert_eq!((read.name.as_str(), read.valid()), ("read", 1_000));
//! assert_eq!((read.response.summary.p99_ns, read.service.summary.p99_ns), (1_490, 990));
//! ```

pub mod acid;
mod bisection;
mod brokerage;
mod bytes;
mod conditions;
mod counts;
pub mod crash;
mod document;
pub mod drivers;
pub mod faults;
mod figures;
mod histogram;
mod history;
mod instructions;
mod latency;
mod limits;
mod live;
mod machine;
mod metric;
mod numbers;
mod operation;
mod provenance;
mod recorder;
mod resources;
mod response_map;
mod round;
mod run_file;
mod sample;
mod series;
mod statements;
mod stats;
mod steady;
mod time_spent;
mod time_split;
mod tuning;
mod verdict;
mod warning;

pub use bisection::{BisectOutcome, BisectStep, BisectedCommit, BisectedRatio, Bisection};
pub use bourse_engine::{
    Durability, MayLose, MemoryStore, Setting as NameValue, StatementWork, WriterWait, named, shortened,
};
pub use bourse_stats::steady::Steady;
pub use bourse_stats::{Estimate, Interval, SplitMix, median};
pub use brokerage::{BROKERAGE_NOTICE, CUSTOMERS, MARKET_USERS, STATUS_CODES, is_of_customers};
pub use bytes::{DOCUMENT_BYTES_MAX, document_bytes, regular_bytes, regular_text};
pub use conditions::{
    ArrivalStreams, Conditions, DriverQueue, IsolationLevel, Medium, OperationIsolation, PageCache, RawSyncs, Scale,
    Storage, SyncMeaning, Tunables, UsersOfProcess,
};
pub use counts::Counts;
pub use document::{Document, DocumentError, SCHEMA_VERSION};
pub use figures::{
    Distribution, LatencySummary, Operation, Outcome, OutcomeCount, OutcomeLatency, ServerFigures, Times, UnderWay,
};
pub use histogram::HistogramError;
pub use history::{FoundAnomaly, HistoryFigures};
pub use instructions::{FunctionInstructions, Instructions};
pub use latency::{Latency, LatencyClock, Quantile};
pub use limits::{LimitedQuantile, ResponseLimit, length};
pub use live::{LiveCell, LiveCounts, LiveOperation, LiveReader, LiveRow, OperationProgress};
pub use machine::{load, noise};
pub use metric::{Better, METRICS, Metric, metric};
pub use numbers::{grouped, whole_number};
pub use operation::{MixShare, OperationSpec};
pub use provenance::{Build, DocumentKind, Machine, Provenance};
pub use recorder::{Recorder, SampleTotals};
pub use resources::{KernelThreads, MachineMemory, MachineUse, ProcessUse};
pub use response_map::{ResponseMap, ResponseMapBuilder};
pub use round::{
    Arrivals, Check, CheckStatus, ConflictCount, CostCovers, EngineCounter, EngineThreads, FileActivity, FileKind,
    Interference, LatencyPhase, Phase, PhaseKind, Round, Series, SeriesColumn, ServerUse, SharedRound, Stopping,
    StoppingRule,
};
pub use run_file::{Case, Comparison, EarlierRuns, Engine, Probe, RunFile, Search, Workload, WorkloadKind};
pub use sample::{Sample, SampleInclusion, ServerTime};
pub use series::SeriesRow;
pub use statements::StatementFigures;
pub use stats::{FEWEST_ROUNDS, NoInterval, even};
pub use steady::{Steadiness, SteadyTest};
pub use time_spent::{PartOfTime, TimeSpent};
pub use time_split::{BlockedOn, BlockedTime, RoleTime, TimeSplit};
pub use tuning::{RacedSetting, TunedCrash, TunedLine, Tuning};
pub use verdict::{Evidence, Gate, Verdict};
pub use warning::Warning;
