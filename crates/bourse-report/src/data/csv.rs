use super::{DataTable, DataValue};
use crate::text::{CsvField, CsvText, csv_line};
use std::borrow::Cow;

/// A table as RFC 4180 text in UTF-8: a line with the columns' names, then a line for each row; empty without a value,
/// `true` and `false` for flags.
pub fn data_csv(table: &DataTable, texts: CsvText) -> String {
    let mut out = csv_line(table.columns.iter().map(|column| CsvField::Plain(column.name)), texts);
    for row in &table.rows {
        let numbers: Vec<Cow<'_, str>> = row.iter().map(written).collect();
        let fields = row.iter().zip(&numbers).map(|(value, text)| match value {
            DataValue::Text(_) => CsvField::Text(text),
            _ => CsvField::Plain(text),
        });
        out.push_str(&csv_line(fields, texts));
    }
    out
}

fn written(value: &DataValue) -> Cow<'_, str> {
    match value {
        DataValue::Nothing => Cow::Borrowed(""),
        DataValue::Text(text) => Cow::Borrowed(text),
        DataValue::Count(number) => Cow::Owned(number.to_string()),
        DataValue::Real(number) => Cow::Owned(number.to_string()),
        DataValue::Flag(flag) => Cow::Borrowed(if *flag { "true" } else { "false" }),
    }
}
