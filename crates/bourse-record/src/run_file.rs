//! The run file: one versioned document with all that is needed to draw a report, or to doubt it.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{
    BROKERAGE_NOTICE, Bisection, Conditions, Document, DocumentKind, Durability, Instructions, MayLose, MemoryStore,
    NameValue, Outcome, Provenance, ResponseLimit, Round, SCHEMA_VERSION, TimeSpent, Tuning, Verdict, Warning,
    WriterWait,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One run: its configuration, environment and results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFile {
    /// Kind of this document.
    pub document: DocumentKind,
    /// Version of this document's form.
    pub schema_version: u32,
    /// Kind of run: `tpce`, `micro-` and its workload, or the name of a suite.
    pub name: String,
    /// Provenance: time, command, seed, build and machine.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// Cases of the run.
    pub cases: Vec<Case>,
    /// Warnings about the figures.
    pub warnings: Vec<Warning>,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// Time of the run by activity; `None` for merged runs and those that were interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_spent: Option<TimeSpent>,
    /// Comparison of two targets in interleaved rounds, if the run was made for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// Search for settings, if the run proves one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuning>,
    /// Search for a commit, if the run ends one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bisection: Option<Bisection>,
    /// Notice that every report of the run must show, even without a case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

impl RunFile {
    /// A run without a case.
    ///
    /// ```
    /// use bourse_record::{Build, Document as _, Machine, Provenance, RunFile};
    /// let provenance = Provenance {
    ///     started_at: "2025-01-01T00:00:00+00:00".to_owned(),
    ///     command: vec!["bourse".to_owned(), "micro".to_owned()],
    ///     seed: 1,
    ///     build: Build::of("0.1.0"),
    ///     machine: Machine::this(),
    ///     revision: None,
    /// };
    /// let run = RunFile::new("micro", provenance);
    /// let read = RunFile::parse(&run.to_json(), "run.json".as_ref()).unwrap();
    /// assert_eq!((read.name, read.provenance.seed, read.cases.len()), ("micro".to_owned(), 1, 0));
    /// ```
    pub fn new(name: impl Into<String>, provenance: Provenance) -> Self {
        Self {
            document: Self::KIND,
            schema_version: SCHEMA_VERSION,
            name: name.into(),
            provenance,
            cases: Vec::new(),
            warnings: Vec::new(),
            interrupted: false,
            time_spent: None,
            comparison: None,
            tuning: None,
            bisection: None,
            notice: None,
        }
    }
}

impl Document for RunFile {
    const KIND: DocumentKind = DocumentKind::Run;
}

/// Difference of the second of two cases from the first, as decided at the end of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Label of the baseline case: A.
    pub base: String,
    /// Label of the case compared with it: B.
    pub head: String,
    /// Slowdown of B that is tolerated, as a part of one.
    pub tolerance: f64,
    /// Ratio of B's figure to A's: the Hodges–Lehmann estimate over the pairs of rounds. `None` if there is no ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Lower and upper end of the ratio's interval. `None` with too few rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Level of the interval: over all looks, if a look could end the comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// Whether the comparison could end at one of several looks, over all of which the level holds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_decided: bool,
    /// Whether instructions decided, and not the headline figure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_instructions: bool,
    /// Verdict on the difference.
    pub verdict: Verdict,
    /// Factor that other processes may have made of the difference, of a withheld verdict; above 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_explain: Option<f64>,
}

/// One workload on one target with one set of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// Short label, unique in the run.
    pub label: String,
    /// The engine and its settings.
    pub engine: Engine,
    /// The workload.
    pub workload: Workload,
    /// Conditions of the case.
    #[serde(default)]
    pub conditions: Conditions,
    /// Values of this case for the parameters that a sweep or search varied; empty otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varied: Vec<NameValue>,
    /// Search that this case is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// Provenance of the case, if it differs from the document's, as in merged runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Provenance>,
    /// Rounds in the order of execution.
    pub rounds: Vec<Round>,
    /// Rounds that others disturbed and that were repeated; excluded from all figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<Round>,
    /// Earlier runs of the same case by the same build in the folder of results, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<EarlierRuns>,
    /// Instructions of its operations, if they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Instructions>,
}

/// Figures of earlier runs of a case: what changes from run to run is not in the interval of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EarlierRuns {
    /// Figure of each run in the case's unit, newest first.
    pub figures: Vec<f64>,
}

/// A search for the highest rate within all response limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Search {
    /// Unit of the rates.
    pub unit: String,
    /// Response limits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<ResponseLimit>,
    /// Highest rate within all limits; `None` if no rate was.
    pub highest_passing: Option<f64>,
    /// Lowest rate tried that exceeded a limit; `None` if none did.
    pub lowest_failing: Option<f64>,
    /// Whether a run of full length at the rate found was within all limits too.
    pub confirmed: bool,
    /// Rounds of the search in the order of execution.
    pub probes: Vec<Probe>,
}

/// A round of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Requested rate.
    pub rate: f64,
    /// Rate reached.
    pub reached: f64,
    /// Length of the measurement interval in seconds.
    pub measured_s: f64,
    /// Largest ratio of a quantile to its limit; `None` if one of the quantiles falls on an operation that failed, was
    /// dropped or never started.
    pub worst_limit_ratio: Option<f64>,
    /// Description of the limits exceeded; empty if none was.
    pub violations: Vec<String>,
    /// Quantiles of too few operations, which neither meet nor miss their limits, with the remedy; empty if every quantile was
    /// determined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undetermined: Vec<String>,
}

impl Probe {
    /// Limits exceeded and undetermined quantiles, as text; empty for a round within all limits.
    pub fn reasons(&self) -> String {
        let all: Vec<&str> = self.violations.iter().chain(&self.undetermined).map(String::as_str).collect();
        all.join("; ")
    }
}

impl Search {
    /// Unit of a rate that is the speed of a recording, relative to its own.
    pub const PACE: &str = "× recorded pace";

    /// Quantile that the rounds at the last rate were too short to determine, with the remedy, if the search ended for that.
    pub fn undetermined(&self) -> Option<&str> {
        let rate = self.probes.last().filter(|_| !self.confirmed)?.rate;
        let last: Vec<&Probe> = self.probes.iter().rev().take_while(|probe| probe.rate == rate).collect();
        let undetermined = last.iter().find_map(|probe| probe.undetermined.first()).map(String::as_str);
        undetermined.filter(|_| last.iter().all(|probe| probe.violations.is_empty()))
    }
}

/// The system under test, as read back from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Engine {
    /// Name, with the build variant.
    pub name: String,
    /// Version of the engine.
    pub version: String,
    /// Target as given, without secrets.
    pub target: String,
    /// Durability of an acknowledged commit with these settings.
    pub durability: Durability,
    /// Acknowledged commits that may be lost: at power loss in the class `consistent`, at the end of the process in the
    /// class `process`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_lose: Option<MayLose>,
    /// Settings that the class follows from.
    pub durability_reason: String,
    /// Mechanism by which writing sessions wait for one another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer_wait: Option<WriterWait>,
    /// Storage of a database in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_store: Option<MemoryStore>,
    /// Settings in force.
    pub settings: Vec<NameValue>,
    /// Options the engine was compiled with.
    pub compile_options: Vec<String>,
}

impl Engine {
    /// Name of the engine that does nothing.
    pub const NULL: &str = "null";

    /// First setting that a later round had with another value, with both values; the durability class if no setting tells
    /// why that is another.
    pub fn changed_setting(&self, later: &Self) -> Option<String> {
        let setting = NameValue::first_changed(&self.settings, &later.settings)
            .map(|(was, is)| format!("{} was {}, and is {}", was.name, was.value, is.value));
        let class = || format!("durability was {}, and is {}", self.durability.name(), later.durability.name());
        let is_known = [self, later].iter().all(|it| it.durability != Durability::Unknown);
        setting.or_else(|| (is_known && self.durability != later.durability).then(class))
    }

    /// Whether the engine does nothing, so that all time is harness overhead and the workload's own.
    pub fn is_null(&self) -> bool {
        self.name == Self::NULL
    }

    /// Arrangements between Bourse and the engine that figures depend on, as text: how writers wait, and what holds a
    /// database in memory.
    pub fn arrangements(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.memory_store.map(MemoryStore::name).into_iter().chain(self.writer_wait.map(WriterWait::name))
    }
}

/// Workload of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// `tpce`, or the name of a classic workload.
    pub name: String,
    /// Kind of workload, which determines the rules and tests for its figures.
    pub kind: WorkloadKind,
    /// The workload's own options with their effective values.
    pub parameters: Vec<NameValue>,
    /// Operation whose valid completions per second are the headline; `None` counts all operations.
    pub headline_operation: Option<String>,
    /// Unit of the headline.
    pub headline_unit: String,
    /// Operation whose valid completions per minute are shown next to the headline; `None` shows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_minute: Option<String>,
    /// Nominal headline by the workload's own rule (customers / scale factor), if it has one.
    pub nominal: Option<f64>,
    /// Outcomes that the workload's operations can have; reports omit the others.
    pub outcomes: Vec<Outcome>,
    /// Titles of metrics with a meaning of the workload's own, such as `queue_length`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metric_titles: Vec<NameValue>,
    /// Notice that every report of this workload must show.
    pub notice: Option<String>,
    /// Whether the work continues until the time is over, so that its rate can be tested for steady state; always true
    /// of a brokerage.
    #[serde(default)]
    pub has_lasting_rate: bool,
}

/// Kinds of workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkloadKind {
    /// Emulated customers of a brokerage house: transactions in a mix, in steady state, with the specification's rules.
    Brokerage,
    /// A classic workload: a few operations, as fast as they go.
    Micro,
}

impl WorkloadKind {
    /// Noun for one operation in reports: "transaction" in the specification; other workloads have operations, several
    /// of which may form a transaction.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Brokerage => "transaction",
            Self::Micro => "operation",
        }
    }

    /// Notice for every report of the kind's figures, in addition to the workload's own.
    pub const fn notice(self) -> Option<&'static str> {
        match self {
            Self::Brokerage => Some(BROKERAGE_NOTICE),
            Self::Micro => None,
        }
    }
}

impl Workload {
    /// Name of the parameter that describes arrivals, if they differ from the default.
    pub const ARRIVALS: &str = "arrivals";
    /// Name of the parameter that has the number of operations of each thread, where that ends a round.
    pub const COUNT: &str = "count";

    /// Unit of the figure that heads reports: transactions of all kinds per second for the brokerage, otherwise the
    /// headline's unit.
    pub fn figure_unit(&self) -> &str {
        match self.kind {
            WorkloadKind::Brokerage => "transactions/s",
            WorkloadKind::Micro => &self.headline_unit,
        }
    }

    /// Whether the headline counts the operation's valid completions.
    pub fn is_headline(&self, operation: &str) -> bool {
        self.headline_operation.as_ref().is_none_or(|name| name == operation)
    }

    /// Column of a round's series that contains the headline's rate.
    pub fn headline_metric(&self) -> String {
        self.headline_operation.as_ref().map_or_else(|| "throughput".to_owned(), |name| format!("throughput.{name}"))
    }

    /// Whether its rounds end by the time.
    pub fn is_timed(&self) -> bool {
        self.may_be_steady() && self.parameters.iter().all(|it| it.name != Self::COUNT)
    }

    /// Whether measurement intervals are tested for steady state.
    pub fn may_be_steady(&self) -> bool {
        self.kind == WorkloadKind::Brokerage || self.has_lasting_rate
    }

    /// Title of a metric for this workload, if it has its own.
    pub fn metric_title(&self, metric: &str) -> Option<&str> {
        self.metric_titles.iter().find(|title| title.name == metric).map(|title| title.value.as_str())
    }
}
