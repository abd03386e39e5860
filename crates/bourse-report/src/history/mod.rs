//! Stored runs over time: a line for each, and the changes of the figures of the same case from run to run.
//!
//! A run is reduced to the values that the list and the charts need, so that hundreds of them can be drawn.

mod sheet;
mod trend;

pub use sheet::runs;

use crate::tables::Tone;
use crate::view::{CaseVerdict, CaseView, FigureValidity, checks_words};
use bourse_record::{DocumentKind, Machine, Provenance, RunFile};
use bourse_verdict::comparison::{CaseComparison, ComparedCases};
use bourse_verdict::likeness::{Likeness, machine_words, settings};
use bourse_verdict::suite::{FindingVerdict, SuiteFile};
use serde::Serialize;

/// A result folder in the history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoredRun {
    /// Name of its folder.
    pub folder: String,
    /// Kind of its document.
    pub document: DocumentKind,
    /// Time at which it began: RFC 3339 with the machine's offset.
    pub started_at: String,
    /// Command that runs it again.
    pub command: Vec<String>,
    /// Version of Bourse.
    pub bourse: String,
    /// Revision of the measured software, if one was given.
    pub revision: Option<String>,
    /// Processor, cores and system.
    pub machine: String,
    /// Verdict on the whole: of a comparison, tests or a suite; empty for a run that was only measured.
    pub verdict: String,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// Its figures, one for each case.
    pub figures: Vec<StoredFigure>,
    /// Bytes of the folder's files.
    pub bytes: u64,
}

/// The headline of a case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoredFigure {
    /// Label of the case.
    pub label: String,
    /// Workload.
    pub workload: String,
    /// Target.
    pub target: String,
    /// Settings: users, size of the database, options of the workload.
    pub settings: String,
    /// Engine and its version.
    pub engine: String,
    /// Key of a trend: figures of equal likeness are drawn as one.
    #[serde(skip)]
    pub likeness: Likeness,
    /// Durability class.
    pub durability: String,
    /// Unit of the figure.
    pub unit: String,
    /// The figure; `None` if a failed check voids it or nothing was measured.
    pub value: Option<f64>,
    /// Lower end of its confidence interval.
    pub low: Option<f64>,
    /// Upper end of its confidence interval.
    pub high: Option<f64>,
    /// Result of the checks of the database.
    pub checks: String,
    /// Verdict on the case: checks, steady or not.
    pub verdict: String,
    /// Whether a check failed.
    pub failed: bool,
}

impl StoredRun {
    /// A run, reduced.
    pub fn of_run(folder: &str, run: &RunFile, bytes: u64) -> Self {
        let machine = &run.provenance.machine;
        let figures = CaseView::all(run).iter().map(|view| figure(view, machine)).collect();
        let compared = run.comparison.iter().flat_map(|_| ComparedCases::of_run(run)).flat_map(|it| it.comparisons);
        let change =
            |it: CaseComparison| it.result().and_then(|it| Some(format!("B {}, {}", it.verdict_name()?, it.change())));
        let verdict = compared.filter_map(change).collect::<Vec<_>>().join("; ");
        let interrupted = run.interrupted;
        Self { figures, interrupted, ..Self::of_document(folder, DocumentKind::Run, &run.provenance, bytes, verdict) }
    }

    /// A suite, with the number of its findings by verdict.
    pub fn of_suite(folder: &str, suite: &SuiteFile, bytes: u64) -> Self {
        let counted = FindingVerdict::ALL.into_iter().filter_map(|verdict| {
            let count = suite.findings.iter().filter(|it| it.verdict == verdict).count();
            (count > 0).then(|| format!("{} {count}", verdict.name()))
        });
        let verdict = counted.collect::<Vec<_>>().join(", ");
        let verdict = if verdict.is_empty() { verdict } else { format!("findings: {verdict}") };
        let interrupted = suite.interrupted;
        Self { interrupted, ..Self::of_document(folder, DocumentKind::Suite, &suite.provenance, bytes, verdict) }
    }

    /// Name of the kind of its document.
    pub(crate) fn document_name(&self) -> &'static str {
        self.document.file_name().trim_end_matches(".json")
    }

    /// Its figures, or one line without a figure.
    pub(crate) fn lines(&self) -> Vec<Option<&StoredFigure>> {
        if self.figures.is_empty() { vec![None] } else { self.figures.iter().map(Some).collect() }
    }

    /// A document without figures of its own.
    pub fn of_document(folder: &str, document: DocumentKind, of: &Provenance, bytes: u64, verdict: String) -> Self {
        let machine = &of.machine;
        Self {
            folder: folder.to_owned(),
            document,
            started_at: of.started_at.clone(),
            command: of.command.clone(),
            bourse: of.build.words(),
            revision: of.revision.clone(),
            machine: machine_words(machine),
            verdict,
            interrupted: false,
            figures: Vec::new(),
            bytes,
        }
    }
}

fn figure(view: &CaseView<'_>, machine: &Machine) -> StoredFigure {
    let (case, workload) = (view.case, &view.case.workload);
    let (value, unit) = match &case.search {
        // The answer is the rate that was found; the figure is what was completed at it.
        Some(search) => (search.highest_passing.filter(|_| search.confirmed), format!("{} by --find-max", search.unit)),
        None => (view.valid_figure(), view.unit().to_owned()),
    };
    let value = value.filter(|_| view.validity() == FigureValidity::Counts);
    let interval = view.estimate().and_then(|it| it.interval).filter(|_| value.is_some() && case.search.is_none());
    let (tone, words) = checks_words(view);
    // Without the bottleneck, which is no judgement.
    let parts = CaseVerdict::of(view).parts().into_iter();
    let verdict: Vec<String> = parts.filter(|(tone, _)| *tone != Tone::Plain).map(|(_, words)| words).collect();
    let settings: Vec<String> = settings(case).iter().map(|it| format!("{}={}", it.name, it.value)).collect();
    StoredFigure {
        label: case.label.clone(),
        workload: workload.name.clone(),
        target: case.engine.target.clone(),
        settings: settings.join("; "),
        likeness: Likeness::of(case, machine),
        engine: format!("{} {}", case.engine.name, case.engine.version),
        durability: case.engine.durability.name().to_owned(),
        unit,
        value,
        low: interval.map(|it| it.low),
        high: interval.map(|it| it.high),
        checks: words,
        verdict: verdict.join(" · "),
        failed: tone == Tone::Bad || view.validity() == FigureValidity::Void,
    }
}
