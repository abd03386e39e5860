//! `bourse suite list` and `bourse suite show`.

use crate::failure::{Failure, Result};
use crate::output::{named, wrapped};
use bourse_engine::nearest;
use bourse_verdict::suite::definition::SuiteTable;
use bourse_verdict::suite::{CellPlan, Suite, SuiteError};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The suite of that name.
pub(crate) fn find(name: &str) -> Result<Suite> {
    bourse_verdict::suite::find(name).map_err(|error| {
        let suites = bourse_verdict::suite::all().unwrap_or_default();
        let failure = match nearest(name, suites.iter().map(|suite| suite.name.as_str())) {
            Some(near) => refused(&error).hint(format!("did you mean '{near}'?")),
            None => refused(&error),
        };
        failure.hint("`bourse suite list` describes them")
    })
}

fn refused(error: &SuiteError) -> Failure {
    Failure::usage(error.to_string())
}

/// The list of suites.
pub(crate) fn list() -> Result<String> {
    let suites = bourse_verdict::suite::all().map_err(|error| refused(&error))?;
    let widest = suites.iter().map(|suite| suite.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for suite in suites {
        let plan = CellPlan::new(&suite, 1.0, None, &[]).map_err(|error| refused(&error))?;
        let (tables, cells) = (suite.tables.len(), plan.cells.len());
        let tables_word = if tables == 1 { "table" } else { "tables" };
        let about = format!("{} ({tables} {tables_word}, {cells} cells)", suite.title);
        text.push_str(&named(&suite.name, widest, &about));
    }
    put(
        &mut text,
        "\n`bourse suite show NAME` shows what was published; `bourse suite run NAME --scale 0.1` is a quick run.",
    );
    Ok(wrapped(&text))
}

/// The list as JSON: an object for each experiment.
pub(crate) fn json() -> Result<Value> {
    let suites = bourse_verdict::suite::all().map_err(|error| refused(&error))?;
    let described = suites.iter().map(|suite| {
        let plan = CellPlan::new(suite, 1.0, None, &[]).map_err(|error| refused(&error))?;
        Ok(json!({
            "name": suite.name,
            "title": suite.title,
            "tables": suite.tables.iter().map(|table| &table.id).collect::<Vec<_>>(),
            "cells": plan.cells.len(),
            "targets": suite.targets.values().map(|target| &target.url).collect::<Vec<_>>(),
        }))
    });
    described.collect()
}

/// Description of one experiment: published results, and the cases run for it.
pub(crate) fn show(name: &str) -> Result<String> {
    let suite = find(name)?;
    let mut text = String::new();
    put(&mut text, &format!("{}: {}", suite.name, suite.title));
    let lists = [
        ("published on", &suite.published_on),
        ("differences in this rerun", &suite.departures),
        ("doubts about the published figures", &suite.notes),
    ];
    for (title, items) in lists {
        if !items.is_empty() {
            put(&mut text, &format!("\n{title}"));
            items.iter().for_each(|item| put(&mut text, &format!("  {item}")));
        }
    }
    put(&mut text, "\ntargets");
    for (name, target) in &suite.targets {
        put(&mut text, &format!("  {name:<12} {}\n{:15}{}", target.title, "", target.url));
    }
    for table in &suite.tables {
        show_table(&mut text, table);
    }
    put(&mut text, "\nfindings");
    for finding in &suite.findings {
        put(&mut text, &format!("  {} (published: {})", finding.claim, finding.rests_on));
    }
    let (rounds, cap) = (suite.rounds, suite.cap_s);
    put(
        &mut text,
        &format!("\n{rounds} rounds of each case, each measuring for {cap} s at most; --rounds and --cap change that"),
    );
    Ok(wrapped(&text))
}

fn show_table(text: &mut String, table: &SuiteTable) {
    put(text, &format!("\ntable {}: {}", table.id, table.title.trim_start_matches(&format!("{}. ", table.id))));
    for row in &table.rows {
        for column in &table.columns {
            let place = format!("  {} · {}", row.title, column.title);
            let published = row.published.get(&column.id);
            let mut figures = Vec::new();
            if let Some(published) = published {
                figures.extend(published.mean_ms.map(|ms| format!("{ms} ms")));
                figures.extend(published.rate.map(|rate| format!("{rate} {}/s", table.counted)));
                figures.extend(published.cpu_percent.map(|cpu| format!("{cpu} % CPU")));
                figures.extend(published.bytes.map(|bytes| format!("{bytes} bytes")));
            }
            let figures = if figures.is_empty() { "nothing published".to_owned() } else { figures.join(", ") };
            let run = match table.case(row, column) {
                Some(case) => {
                    let mut parts = vec![case.workload.unwrap_or_default()];
                    parts.extend(case.target.map(|target| format!("on {target}")));
                    parts.extend(case.options.iter().map(|(name, value)| format!("{name}={value}")));
                    parts.extend(case.scaled.iter().map(|(name, value)| format!("{name}={value} × scale")));
                    parts.extend(case.count.map(|count| format!("count={count}")));
                    parts.extend(case.scaled_count.map(|count| format!("count={count} × scale")));
                    parts.extend(case.seconds.map(|seconds| format!("for={seconds}s × scale")));
                    parts.join(" ")
                }
                None => "not run separately".to_owned(),
            };
            put(text, &format!("{place}: {figures}\n      {run}"));
        }
    }
}

fn put(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a String takes all");
}
