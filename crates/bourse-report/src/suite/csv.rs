//! Every figure of a suite, a row each, with all digits.

use super::view;
use crate::text::{CsvField, CsvText, csv_line};
use bourse_suite::{Measure, SuiteFile};

/// A suite as CSV: one row for each figure of each cell, then the findings.
pub fn suite_csv(file: &SuiteFile, texts: CsvText) -> String {
    let mut out = csv_line(
        [
            "table",
            "row",
            "column",
            "measure",
            "ours",
            "low",
            "high",
            "published",
            "ratio",
            "no_ratio",
            "state",
            "target",
            "durability",
            "workload",
            "work",
            "done_least",
            "done_most",
            "rounds",
            "capped_rounds",
            "cap_s",
            "scale",
            "published_note",
        ]
        .into_iter()
        .map(CsvField::Plain),
        texts,
    );
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for line in view::lines(file) {
        let cell = &line.cell;
        let figure = line.figure.as_ref();
        let measure = figure.map(|figure| measure_name(figure.measure)).unwrap_or_default();
        let done = view::done(cell);
        let fields = [
            line.table.clone(),
            line.row.clone(),
            line.column.clone(),
            measure,
            number(figure.and_then(|it| it.ours)),
            number(figure.and_then(|it| it.low)),
            number(figure.and_then(|it| it.high)),
            number(figure.and_then(|it| it.published)),
            number(figure.and_then(|it| it.ratio)),
            figure.and_then(|it| it.no_ratio.clone()).unwrap_or_default(),
            view::state_words(cell),
            cell.target.clone().unwrap_or_default(),
            cell.durability.map(|class| class.to_string()).unwrap_or_default(),
            cell.workload.clone(),
            cell.work.map(|work| work.to_string()).unwrap_or_default(),
            done.map(|(least, _)| least.to_string()).unwrap_or_default(),
            done.map(|(_, most)| most.to_string()).unwrap_or_default(),
            cell.rounds.len().to_string(),
            cell.rounds.iter().filter(|round| round.capped).count().to_string(),
            number(cell.cap_s),
            file.scale.to_string(),
            cell.published.note.clone().unwrap_or_default(),
        ];
        // The figures are numbers; the other fields are text.
        let fields = (0..).zip(&fields).map(|(at, field)| match at {
            4..=8 | 14..=20 => CsvField::Plain(field),
            _ => CsvField::Text(field),
        });
        out.push_str(&csv_line(fields, texts));
    }
    out.push_str("\r\n");
    out.push_str(&csv_line(
        [
            "finding",
            "verdict",
            "test",
            "value",
            "low",
            "high",
            "at_least",
            "at_most",
            "test_verdict",
            "why",
            "level",
            "departure",
        ]
        .into_iter()
        .map(CsvField::Plain),
        texts,
    ));
    for finding in &file.findings {
        let head = [finding.says.clone(), finding.verdict.words().to_owned()];
        for test in &finding.tests {
            let fields = [
                test.says.clone(),
                number(test.value),
                number(test.low),
                number(test.high),
                number(test.at_least),
                number(test.at_most),
                test.verdict.words().to_owned(),
                test.why.clone().unwrap_or_default(),
                number(test.level),
                finding.departure.clone().unwrap_or_default(),
            ];
            let fields = (0..).zip(head.iter().chain(&fields)).map(|(at, field)| match at {
                3..=7 | 10 => CsvField::Plain(field),
                _ => CsvField::Text(field),
            });
            out.push_str(&csv_line(fields, texts));
        }
        if let Some(why) = &finding.untested {
            let fields = ["", "", "", "", "", "", "", why, "", finding.departure.as_deref().unwrap_or_default()];
            out.push_str(&csv_line(head.iter().map(String::as_str).chain(fields).map(CsvField::Text), texts));
        }
    }
    out
}

/// A measure's name, as in the document.
fn measure_name(measure: Measure) -> String {
    format!("{measure:?}").chars().enumerate().fold(String::new(), |mut name, (at, letter)| {
        if letter.is_uppercase() && at > 0 {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
        name
    })
}
