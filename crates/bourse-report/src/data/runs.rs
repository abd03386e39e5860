//! The rows of some runs in every table.

use super::latency::{buckets, longest, percentiles, quantile};
use super::table::{DataTable, DataValue};
use super::tables::{
    Cases, Checks, Columns, Comparisons, Facts, Files, Histograms, Operations, Outcomes, Percentiles, Probes,
    Quantiles, Ratios, RoundOperations, Rounds, Rules, Runs, SeriesRows, Settings, Statements, SteadyTests, Tables,
    TimeSpent, TimeSplit, Waits, Warnings,
};
use crate::tables::{self, phase};
use crate::view::{CaseView, OperationView, QUANTILES, TimePart, latency_case, over_rounds, roles, rules};
use bourse_record::{NameValue, Round, RunFile, Series, Steadiness};
use bourse_verdict::comparison::ComparedCases;

/// Every table of some runs. A table without rows is still listed, with its columns; the last two list tables and columns.
pub fn data_tables(runs: &[RunFile]) -> Vec<DataTable> {
    let mut all = AllTables::default();
    for (number, run) in (1..).zip(runs) {
        all.run(number, run);
    }
    all.tables()
}

macro_rules! all {
    ($($field:ident: $type:ident,)+) => {
        struct AllTables {
            $($field: DataTable,)+
        }

        impl Default for AllTables {
            fn default() -> Self {
                Self { $($field: $type::table(),)+ }
            }
        }

        impl AllTables {
            fn tables(self) -> Vec<DataTable> {
                let mut tables = vec![$(self.$field,)+];
                let (mut listed, mut columns) = (Tables::table(), Columns::table());
                for table in &tables {
                    listed.push(Tables::row(&[], table));
                    for column in &table.columns {
                        columns.push(Columns::row(&[], table, column));
                    }
                }
                tables.extend([listed, columns]);
                tables
            }
        }
    };
}

all! {
    runs: Runs,
    cases: Cases,
    comparisons: Comparisons,
    operations: Operations,
    rounds: Rounds,
    round_operations: RoundOperations,
    quantiles: Quantiles,
    ratios: Ratios,
    waits: Waits,
    outcomes: Outcomes,
    statements: Statements,
    percentiles: Percentiles,
    histograms: Histograms,
    series: SeriesRows,
    checks: Checks,
    steadiness: SteadyTests,
    facts: Facts,
    time_spent: TimeSpent,
    settings: Settings,
    rules: Rules,
    files: Files,
    time_split: TimeSplit,
    warnings: Warnings,
    probes: Probes,
}

impl AllTables {
    fn run(&mut self, number: u64, run: &RunFile) {
        let of_run = DataValue::from(number);
        self.runs.push(Runs::row(std::slice::from_ref(&of_run), run));
        for it in &run.warnings {
            self.warnings.push(Warnings::row(&[of_run.clone(), DataValue::Nothing, DataValue::Nothing], it));
        }
        if let Some(it) = ComparedCases::of_run(run).and_then(|it| it.stored()) {
            self.comparisons.push(Comparisons::row(std::slice::from_ref(&of_run), &it));
        }
        for it in run.time_spent.iter().flat_map(|it| &it.parts) {
            self.time_spent.push(TimeSpent::row(std::slice::from_ref(&of_run), it));
        }
        let views = CaseView::all(run);
        for (label, metric, it) in tables::ratios(&views) {
            self.ratios.push(Ratios::row(&[of_run.clone(), label.into()], metric, &it));
        }
        for view in &views {
            self.case([of_run.clone(), view.case.label.as_str().into()], view);
        }
    }

    fn case(&mut self, keys: [DataValue; 2], view: &CaseView<'_>) {
        let case = view.case;
        self.cases.push(Cases::row(&keys, view));
        for it in &view.operations {
            self.operation(&keys, view, it);
        }
        for it in crate::view::statements(&case.rounds) {
            self.statements.push(Statements::row(&keyed(&keys, it.operation.as_str()), &it));
        }
        let phase = case.rounds.iter().find_map(|round| round.latency.as_deref());
        if let Some((phase, case)) = phase.zip(latency_case(view)) {
            for it in &CaseView::new(view.file, &case).operations {
                self.waits.push(Waits::row(&keyed(&keys, it.name.as_str()), phase, it));
            }
        }
        for (number, round) in (1_u64..).zip(&case.rounds) {
            self.round(&keyed(&keys, number), view, round);
        }
        for round in &case.set_aside {
            self.rounds.push(Rounds::row(&keyed(&keys, DataValue::Nothing), view, round, true));
        }
        let pairs = |kind: &'static str, pairs: &[NameValue]| {
            pairs.iter().map(|it| Settings::row(&keys, kind, &it.name, &it.value)).collect::<Vec<_>>()
        };
        for (kind, table) in [("workload", tables::parameters(view)), ("machine", tables::machine(view))] {
            table
                .rows
                .iter()
                .for_each(|row| self.settings.push(Settings::row(&keys, kind, &row[0].text, &row[1].text)));
        }
        let options = case.engine.compile_options.iter().map(|it| {
            let (name, value) = it.split_once('=').unwrap_or((it, ""));
            Settings::row(&keys, "compile_option", name, value)
        });
        let settings = pairs("engine", &case.engine.settings).into_iter().chain(options);
        settings.chain(pairs("varied", &case.varied)).for_each(|row| self.settings.push(row));
        for it in rules(view) {
            self.rules.push(Rules::row(&keys, it.name, it.demands, it.status, &it.found));
        }
        for role in roles(view) {
            for part in TimePart::all() {
                self.time_split.push(TimeSplit::row(&keys, &role, part));
            }
        }
        for it in case.search.iter().flat_map(|search| &search.probes) {
            self.probes.push(Probes::row(&keys, it));
        }
    }

    fn operation(&mut self, keys: &[DataValue; 2], view: &CaseView<'_>, it: &OperationView) {
        let keys = keyed(keys, it.name.as_str());
        self.operations.push(Operations::row(&keys, view, it));
        for outcome in &it.outcomes {
            self.outcomes.push(Outcomes::row(&keys, outcome));
        }
        for (at, quantile) in QUANTILES.into_iter().enumerate() {
            if let Some(estimate) = over_rounds(&it.by_round, at) {
                self.quantiles.push(Quantiles::row(&keys, quantile, &estimate));
            }
        }
        let failed = it.failed_times.iter().flatten().zip(["failed_response", "failed_service"]);
        for (latency, name) in [(&it.response, "response"), (&it.service, "service")].into_iter().chain(failed) {
            let keys = keyed(&keys, name);
            for percentile in percentiles() {
                if let Some(ns) = quantile(latency, percentile / 100.0) {
                    self.percentiles.push(Percentiles::row(&keys, percentile, ns));
                }
            }
            if let Some(ns) = longest(latency) {
                self.percentiles.push(Percentiles::row(&keys, 100.0, ns));
            }
            for bucket in buckets(latency) {
                self.histograms.push(Histograms::row(&keys, &bucket));
            }
        }
    }

    fn round(&mut self, keys: &[DataValue], view: &CaseView<'_>, round: &Round) {
        self.rounds.push(Rounds::row(keys, view, round, false));
        for operation in &round.operations {
            if let Some(it) = OperationView::of(round, Some(&operation.name)) {
                self.round_operations.push(RoundOperations::row(&keyed(keys, it.name.as_str()), round, &it));
            }
        }
        let series =
            [("second", &round.series), ("fine", &round.fine_series), ("throughput", &round.throughput_series)];
        for (name, values) in series {
            self.series_of(keys, round, name, values);
        }
        for it in round.with_latency().flat_map(|round| &round.checks) {
            self.checks.push(Checks::row(keys, it));
        }
        for it in &round.io {
            self.files.push(Files::row(keys, it));
        }
        for it in &round.warnings {
            self.warnings.push(Warnings::row(keys, it));
        }
        let workload = &view.case.workload;
        let steady = (workload.may_be_steady() && round.measured_s > 0.0).then(|| Steadiness::of(round, workload));
        for it in steady.iter().flat_map(|it| &it.tests) {
            self.steadiness.push(SteadyTests::row(keys, it));
        }
        let own = round.facts.iter().map(|it| (it.name.clone(), it.value.clone()));
        let conflicts = round.conflicts.iter().map(|it| (format!("conflict: {}", it.name), it.count.to_string()));
        let counters = round.counters.iter().map(|it| (format!("engine counter: {}", it.name), it.count.to_string()));
        let threads = round.engine_threads.iter();
        let threads =
            threads.map(|it| (format!("CPU seconds of the engine's threads: {}", it.work), it.cpu_s.to_string()));
        for (name, value) in own.chain(conflicts).chain(counters).chain(threads) {
            self.facts.push(Facts::row(keys, &name, &value));
        }
    }

    fn series_of(&mut self, keys: &[DataValue], round: &Round, name: &str, series: &Series) {
        for column in &series.columns {
            for (time_s, value) in series.time_s.iter().zip(&column.values) {
                let phase = phase(round, *time_s);
                self.series.push(SeriesRows::row(keys, name, *time_s, phase, &column.metric, *value));
            }
        }
    }
}

fn keyed(keys: &[DataValue], last: impl Into<DataValue>) -> Vec<DataValue> {
    keys.iter().cloned().chain([last.into()]).collect()
}
