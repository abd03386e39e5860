//! Tables of documents other than runs: figures and findings of a suite, metrics of a comparison, stored runs.

use super::table::{DataColumn, DataKind, DataTable, DataValue, data_table};
use super::tables::word;
use crate::history::{StoredFigure, StoredRun};
use crate::suite::{CellLine, done, lines, state_words};
use bourse_verdict::comparison::{CaseComparison, ComparedCases, MetricDifference};
use bourse_verdict::suite::SuiteFile;
use bourse_verdict::suite::finding::{FindingResult, TestResult};

data_table! {
    "A figure of a cell of a published table; a cell without figures has one row."
    Figures "figures" [] (file: &SuiteFile, line: &CellLine) {
        table_name: Text, "Short name of the table" => line.table.as_str();
        row_name: Text, "Row of the cell" => line.row.as_str();
        column_name: Text, "Column of the cell" => line.column.as_str();
        measure: Text, "Measure" => line.figure.as_ref().and_then(|it| word(&it.measure));
        measured: Real, "Measured figure" => line.figure.as_ref().and_then(|it| it.measured);
        measured_low: Real, "Lower end of its interval" => line.figure.as_ref().and_then(|it| it.low);
        measured_high: Real, "Upper end of its interval" => line.figure.as_ref().and_then(|it| it.high);
        published: Real, "Published figure" => line.figure.as_ref().and_then(|it| it.published);
        ratio: Real, "Measured by published" => line.figure.as_ref().and_then(|it| it.ratio);
        no_ratio: Text, "Reason that there is no ratio" => line.figure.as_ref().and_then(|it| it.no_ratio.clone());
        state: Text, "State of the cell" => state_words(&line.cell);
        target: Text, "Name of its target" => line.cell.target.as_deref();
        durability: Text, "Durability class" => line.cell.durability.map(|class| class.name());
        workload: Text, "Workload and options" => line.cell.workload.as_str();
        work: Count, "Operations to perform" => line.cell.work;
        done_least: Count, "Operations done in a round, at least" => done(&line.cell).map(|(least, _)| least);
        done_most: Count, "Operations done in a round, at most" => done(&line.cell).map(|(_, most)| most);
        round_count: Count, "Rounds" => line.cell.rounds.len();
        capped_rounds: Count, "Rounds that the cap ended" => line.cell.rounds.iter().filter(|it| it.capped).count();
        cap_s: Real, "Longest measurement of a round" => line.cell.cap_s;
        scale: Real, "Factor that counts were multiplied by" => file.scale;
        published_note: Text, "Note on the published figures" => line.cell.published.note.as_deref();
    }
}

data_table! {
    "A test of a finding; a finding that was not tested has one row."
    Findings "findings" [] (finding: &FindingResult, test: Option<&TestResult>) {
        finding: Text, "The published finding" => finding.claim.as_str();
        verdict: Text, "Whether it holds" => finding.verdict.name();
        test: Text, "The test" => test.map(|it| it.claim.as_str());
        value: Real, "Its value" => test.and_then(|it| it.value);
        value_low: Real, "Lower end of its interval" => test.and_then(|it| it.low);
        value_high: Real, "Upper end of its interval" => test.and_then(|it| it.high);
        at_least: Real, "Least value with which it holds" => test.and_then(|it| it.at_least);
        at_most: Real, "Largest value with which it holds" => test.and_then(|it| it.at_most);
        test_verdict: Text, "Verdict on the test" => test.map(|it| it.verdict.name());
        why: Text, "Reason of the verdict, or why it was not tested"
            => test.map_or(finding.untested.as_deref(), |it| it.why.as_deref());
        level: Real, "Level of the interval" => test.and_then(|it| it.level);
        departure: Text, "Departure from the publication" => finding.departure.as_deref();
        published: Real, "Value as published" => test.and_then(|it| it.published);
    }
}

data_table! {
    "A metric of a comparison of two cases."
    Metrics "metrics" [] (of: &CaseComparison, it: &MetricDifference) {
        base_label: Text, "Label of the case that is compared with: A" => of.base.as_str();
        head_label: Text, "Label of the case that is compared: B" => of.head.as_str();
        metric: Text, "Name of the metric; for the headline its unit" => it.name.as_str();
        base_value: Real, "Figure of A" => it.base;
        head_value: Real, "Figure of B" => it.head;
        ratio: Real, "B by A, as estimated over the pairs of rounds" => it.ratio;
        ratio_low: Real, "Lower end of its interval" => it.interval.map(|it| it.low);
        ratio_high: Real, "Upper end of its interval" => it.interval.map(|it| it.high);
        interval_level: Real, "Level of the interval" => it.level;
        verdict: Text, "Verdict; empty for a metric that is shown for information" => it.verdict_name();
    }
}

data_table! {
    "A figure of a stored run; a document without figures has one row."
    Folders "folders" [] (run: &StoredRun, it: Option<&StoredFigure>) {
        folder: Text, "Name of its folder" => run.folder.as_str();
        started_at: Text, "When it began" => run.started_at.as_str();
        document: Text, "Kind of its document" => run.document_name();
        workload: Text, "Workload" => it.map(|it| it.workload.as_str());
        target: Text, "Target" => it.map(|it| it.target.as_str());
        engine: Text, "Engine and its version" => it.map(|it| it.engine.as_str());
        durability: Text, "Durability class" => it.map(|it| it.durability.as_str());
        figure: Real, "Headline figure; empty unless it counts" => it.and_then(|it| it.value);
        figure_low: Real, "Lower end of its interval" => it.and_then(|it| it.low);
        figure_high: Real, "Upper end of its interval" => it.and_then(|it| it.high);
        unit: Text, "Unit of the figure" => it.map(|it| it.unit.as_str());
        checks: Text, "Result of the checks" => it.map(|it| it.checks.as_str());
        revision: Text, "Revision of what was measured" => run.revision.as_deref();
        bourse: Text, "Version of Bourse" => run.bourse.as_str();
        machine: Text, "Processor, cores and system" => run.machine.as_str();
        folder_bytes: Count, "Bytes of the folder's files" => run.bytes;
    }
}

/// Figures and findings of a suite.
pub fn suite_tables(file: &SuiteFile) -> Vec<DataTable> {
    let (mut figures, mut findings) = (Figures::table(), Findings::table());
    lines(file).iter().for_each(|line| figures.push(Figures::row(&[], file, line)));
    for it in &file.findings {
        it.tests.iter().for_each(|test| findings.push(Findings::row(&[], it, Some(test))));
        if it.untested.is_some() {
            findings.push(Findings::row(&[], it, None));
        }
    }
    vec![figures, findings]
}

/// Metrics of comparisons.
pub(crate) fn comparison_tables(compared: &ComparedCases) -> Vec<DataTable> {
    let mut metrics = Metrics::table();
    for of in &compared.comparisons {
        of.metrics.iter().for_each(|it| metrics.push(Metrics::row(&[], of, it)));
    }
    vec![metrics]
}

/// Stored runs.
pub fn history_tables(runs: &[StoredRun]) -> Vec<DataTable> {
    let mut folders = Folders::table();
    for run in runs {
        run.lines().into_iter().for_each(|it| folders.push(Folders::row(&[], run, it)));
    }
    vec![folders]
}
