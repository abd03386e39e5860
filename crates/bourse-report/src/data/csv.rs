use super::{DataTable, DataValue};
use std::borrow::Cow;

/// Form of texts in CSV. Numbers are bare in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CsvText {
    /// Text that a spreadsheet would take for a formula is preceded by an apostrophe: if it begins with `=`, `+`, `-`, `@`,
    /// a tabulator or a carriage return.
    #[default]
    Guarded,
    /// Unchanged, for programs.
    Raw,
}

/// A table as RFC 4180 text in UTF-8: a line with the columns' names, then a line for each row; empty without a value,
/// `true` and `false` for flags.
pub fn data_csv(table: &DataTable, texts: CsvText) -> String {
    let mut out = csv_line(table.columns.iter().map(|column| column.name.into()));
    for row in &table.rows {
        out.push_str(&csv_line(row.iter().map(|value| match value {
            DataValue::Nothing => "".into(),
            DataValue::Text(text) => guarded(text, texts),
            DataValue::Count(number) => number.to_string().into(),
            DataValue::Real(number) => number.to_string().into(),
            DataValue::Flag(flag) => if *flag { "true" } else { "false" }.into(),
        })));
    }
    out
}

/// Tables in one text, each below a line with its name, separated by empty lines: for spreadsheets.
pub fn csv_file(tables: &[DataTable], texts: CsvText) -> String {
    let sections = tables.iter().map(|table| format!("{}\r\n{}", table.name, data_csv(table, texts)));
    sections.collect::<Vec<_>>().join("\r\n")
}

/// A text that no spreadsheet takes for a formula, if it is to be guarded.
pub(crate) fn guarded(text: &str, texts: CsvText) -> Cow<'_, str> {
    match texts == CsvText::Guarded && text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{text}").into(),
        false => text.into(),
    }
}

/// A line of fields.
pub(crate) fn csv_line<'a>(fields: impl Iterator<Item = Cow<'a, str>>) -> String {
    let quoted = |field: Cow<'a, str>| match field.contains([',', '"', '\n', '\r'])
        || field.starts_with(' ')
        || field.ends_with(' ')
    {
        true => format!("\"{}\"", field.replace('"', "\"\"")).into(),
        false => field,
    };
    format!("{}\r\n", fields.map(quoted).collect::<Vec<Cow<'_, str>>>().join(","))
}
