//! A comparison as CSV.

use super::Compared;
use crate::text::{CsvField, CsvText, csv_line};

/// A line for each metric of each comparison.
pub(super) fn csv(compared: &Compared, texts: CsvText) -> String {
    let heads = ["a", "b", "metric", "a_value", "b_value", "ratio", "ratio_low", "ratio_high", "level", "verdict"];
    let mut out = csv_line(heads.iter().map(|head| CsvField::Plain(head)), texts);
    let number = |value: Option<f64>| value.filter(|value| value.is_finite()).map(|value| value.to_string());
    for it in &compared.comparisons {
        for metric in &it.metrics {
            let numbers = [
                number(Some(metric.base)),
                number(Some(metric.head)),
                number(Some(metric.ratio)),
                number(metric.interval.map(|interval| interval.low)),
                number(metric.interval.map(|interval| interval.high)),
                number(metric.level),
            ];
            let texts_of = [&it.base, &it.head, &metric.name].map(|text| CsvField::Text(text));
            let numbers = numbers.iter().map(|number| CsvField::Plain(number.as_deref().unwrap_or("")));
            let verdict = CsvField::Plain(metric.verdict.map_or("", |verdict| verdict.name(metric.better)));
            out.push_str(&csv_line(texts_of.into_iter().chain(numbers).chain([verdict]), texts));
        }
    }
    out
}
