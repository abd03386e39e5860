//! Tables for programs.

use crate::fixture;
use bourse_record::{Arrivals, LatencyPhase, Round};
use bourse_report::{
    CsvText, DataKind, DataTable, DataValue, bencher, data_csv, data_ndjson, data_tables, github_action_benchmark,
};
use std::collections::BTreeSet;

fn table<'t>(tables: &'t [DataTable], name: &str) -> &'t DataTable {
    tables.iter().find(|table| table.name == name).expect("a table of that name")
}

/// The values of a column.
fn values<'t>(table: &'t DataTable, column: &str) -> Vec<&'t DataValue> {
    let at = table.columns.iter().position(|it| it.name == column).expect("a column of that name");
    table.rows.iter().map(|row| &row[at]).collect()
}

#[test]
fn every_value_is_of_its_columns_kind() {
    for (name, run) in fixture::all() {
        for table in data_tables(&[run]) {
            for row in &table.rows {
                assert_eq!(row.len(), table.columns.len(), "{name}/{}", table.name);
                for (value, column) in row.iter().zip(&table.columns) {
                    assert!(value.is_of(column.kind), "{name}/{}/{}: {value:?}", table.name, column.name);
                }
            }
        }
    }
}

#[test]
fn names_say_their_unit_and_are_the_same_for_every_run() {
    let declared = data_tables(&[]);
    let shape = |tables: &[DataTable]| tables.iter().map(|it| (it.name, it.columns.clone())).collect::<Vec<_>>();
    for (name, run) in fixture::all() {
        assert_eq!(shape(&data_tables(&[run])), shape(&declared), "{name}");
    }
    let units = ["_ns", "_s", "_bytes", "_percent", "_per_s", "_per_operation", "_cpus"];
    // Counts, ratios, and figures whose unit has a column of its own.
    let without = [
        "result", "result_low", "result_high", "interval_level", "ratio", "ratio_low", "ratio_high", "tolerance",
        "load_average", "slowdown", "value", "percentile", "timed_together", "timed_one_in", "worst_limit_ratio",
    ];
    for table in &declared {
        let names: BTreeSet<_> = table.columns.iter().map(|column| column.name).collect();
        assert_eq!(names.len(), table.columns.len(), "{}", table.name);
        for column in table.columns.iter().filter(|column| column.kind == DataKind::Real) {
            let has_unit = units.iter().any(|unit| column.name.ends_with(unit));
            assert!(has_unit != without.contains(&column.name), "{}.{}", table.name, column.name);
        }
        // Reserved in SQL, so that they would have to be quoted in every query.
        for word in ["case", "check", "column", "condition", "order", "table", "user", "when", "from", "to", "end"] {
            assert!(!names.contains(word), "{}.{word}", table.name);
        }
        assert!(table.columns.iter().all(|column| !column.meaning.is_empty()) && !table.meaning.is_empty());
    }
}

#[test]
fn tables_of_a_run() {
    let tables = data_tables(&[fixture::normal()]);
    let mut shown = String::new();
    for table in &tables {
        let text = data_csv(table, CsvText::Guarded);
        let lines: Vec<&str> = text.lines().collect();
        // A few lines show the form of curves and series, and of the tables of tables and columns.
        let few = if lines.len() > 60 { 4 } else { lines.len() };
        shown.push_str(&format!("== {} ({} rows)\n{}\n\n", table.name, table.rows.len(), lines[..few].join("\n")));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn both_text_formats_hold_the_same() {
    for (name, run) in fixture::all() {
        for table in data_tables(&[run]) {
            let lines: Vec<serde_json::Value> =
                data_ndjson(&table).lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
            assert_eq!(lines.len(), table.rows.len(), "{name}/{}", table.name);
            let csv = data_csv(&table, CsvText::Raw);
            let records = crate::text::parse_csv(&csv);
            assert_eq!(records.len(), lines.len() + 1, "{name}/{}", table.name);
            for (line, record) in lines.iter().zip(&records[1..]) {
                for (column, cell) in records[0].iter().zip(record) {
                    let text = match &line[column] {
                        serde_json::Value::Null => String::new(),
                        serde_json::Value::String(text) => text.clone(),
                        // Equal numbers in either notation.
                        serde_json::Value::Number(number) => {
                            assert_eq!(cell.parse::<f64>().ok(), number.as_f64(), "{name}/{}/{column}", table.name);
                            continue;
                        }
                        other => other.to_string(),
                    };
                    assert_eq!(*cell, text, "{name}/{}/{column}", table.name);
                }
            }
        }
    }
}

#[test]
fn rows_of_several_runs_know_their_run() {
    let one = data_tables(&[fixture::normal()]);
    let two = data_tables(&[fixture::normal(), fixture::several()]);
    for before in one.iter().filter(|it| !["tables", "columns"].contains(&it.name)) {
        let after = table(&two, before.name);
        assert_eq!(after.rows[..before.rows.len()], before.rows[..], "{}", before.name);
        let first = DataValue::Count(1);
        assert!(values(after, "run")[before.rows.len()..].iter().all(|run| **run != first), "{}", before.name);
    }
    assert_eq!(values(table(&two, "runs"), "run"), [&DataValue::Count(1), &DataValue::Count(2)]);
}

#[test]
fn a_void_case_has_no_result() {
    for run in [fixture::void(), fixture::lost()] {
        let tables = data_tables(&[run]);
        let cases = table(&tables, "cases");
        assert_eq!(values(cases, "standing"), [&DataValue::Text("void".to_owned())]);
        for column in ["result", "result_low", "result_high", "trade_results_per_s", "cpu_ns_per_operation"] {
            assert_eq!(values(cases, column), [&DataValue::Nothing], "{column}");
        }
        assert!(values(table(&tables, "rounds"), "result").iter().all(|it| **it == DataValue::Nothing));
    }
}

#[test]
fn a_histogram_holds_every_operation_that_was_timed() {
    let run = fixture::normal();
    let tables = data_tables(std::slice::from_ref(&run));
    let counts = values(table(&tables, "histograms"), "count");
    let sum: i64 = counts.iter().map(|it| if let DataValue::Count(count) = it { *count } else { 0 }).sum();
    let timed = |it: &bourse_record::Operation| it.response.summary.count + it.service.summary.count;
    let timed: u64 = run.cases[0].rounds.iter().flat_map(|round| &round.operations).map(timed).sum();
    assert_eq!(sum, i64::try_from(timed).unwrap());
}

#[test]
fn what_a_customer_waits_has_rows_where_it_is_told() {
    let rows = |started: u64| {
        let mut run = fixture::normal();
        let arrivals = Arrivals { due: 1_000, started, unstarted: 1_000 - started, ..Arrivals::default() };
        let round = Round { arrivals: Some(arrivals), ..fixture::round(30) };
        run.cases[0].rounds[0].latency = Some(Box::new(LatencyPhase { part: 0.5, per_second: 500.0, round }));
        let tables = data_tables(&[run]);
        values(table(&tables, "waits"), "rate_percent").into_iter().cloned().collect::<Vec<_>>()
    };
    assert_eq!(rows(1_000), vec![DataValue::Real(50.0); 11]);
    assert_eq!(rows(900), []);
}

/// A benchmark service reads the same figures as the tables have.
#[test]
fn services_read_the_figures_that_count() {
    let mut with_interval = 0;
    for (name, run) in fixture::all() {
        let tables = data_tables(std::slice::from_ref(&run));
        let cases = table(&tables, "cases");
        let counting = values(cases, "result").into_iter().filter(|it| **it != DataValue::Nothing).count();
        let (Some(metrics), Some([bigger, smaller])) = (bencher(&run), github_action_benchmark(&run)) else {
            assert_eq!(counting, 0, "{name}");
            continue;
        };
        let metrics: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&metrics).expect("it is JSON");
        let [bigger, smaller]: [Vec<serde_json::Value>; 2] =
            [bigger, smaller].map(|it| serde_json::from_str(&it).expect("it is JSON"));
        assert_eq!(bigger.len(), counting, "{name}");
        let measures: usize = metrics.values().map(|it| it.as_object().expect("measures").len()).sum();
        assert_eq!(measures, bigger.len() + smaller.len(), "{name}: each once");
        for entry in &bigger {
            let metric = &metrics[entry["name"].as_str().expect("a name")]["throughput"];
            assert_eq!(metric["value"], entry["value"], "{name}");
            assert_eq!(metric.get("lower_value").is_some(), entry.get("range").is_some(), "{name}");
            if let (Some(low), Some(high)) = (metric["lower_value"].as_f64(), metric["upper_value"].as_f64()) {
                let value = metric["value"].as_f64().expect("a number");
                assert!(low <= value && value <= high, "{name}: {metric}");
                with_interval += 1;
            }
        }
        for entry in &smaller {
            let named = entry["name"].as_str().expect("a name");
            let (benchmark, measure) = named.rsplit_once(' ').expect("with its measure");
            assert_eq!(metrics[benchmark][measure]["value"], entry["value"], "{name}: {named}");
            assert_eq!(entry["unit"], "ns");
        }
    }
    assert!(with_interval > 0, "some fixture has rounds enough");
}
