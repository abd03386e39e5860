use crate::tables::{self, Cell, Table};
use crate::view::CaseView;
use bourse_record::RunFile;

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

/// A field of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    /// A number, or a word of Bourse's.
    Plain(&'a str),
    /// Text from outside.
    Text(&'a str),
}

/// A table as CSV.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvTable {
    /// Name, also suited as a file name: `transactions`, `series` …
    pub name: &'static str,
    /// RFC 4180 text in UTF-8: a line of names with their units, then the rows; lines end in CR LF.
    pub text: String,
}

/// Every table of a run in one text: each below a line with its name, separated by an empty line, for spreadsheets.
/// For programs [`csv_tables`] gives the same tables one by one.
pub fn csv(file: &RunFile, texts: CsvText) -> String {
    let tables = csv_tables(file, texts);
    let sections = tables.iter().map(|table| format!("{}\r\n{}", table.name, table.text));
    sections.collect::<Vec<_>>().join("\r\n")
}

/// Every table of a run as CSV: full precision, base units, the case's label in the first column, empty if there is no
/// value. A table without rows is still listed, with its column names.
pub fn csv_tables(file: &RunFile, texts: CsvText) -> Vec<CsvTable> {
    let views = CaseView::all(file);
    let make: [fn(&CaseView<'_>) -> Table; 18] = [
        tables::transactions,
        tables::quantiles,
        tables::service_times,
        tables::under_way,
        tables::server_times,
        tables::outcomes,
        tables::time_split,
        tables::resources,
        tables::checks,
        tables::rules_kept,
        tables::steadiness,
        tables::search,
        tables::rounds,
        tables::parameters,
        tables::engine_settings,
        tables::compile_options,
        tables::round_facts,
        tables::series,
    ];
    let mut written = vec![written(&tables::comparison(&views.iter().collect::<Vec<_>>(), "all cases"), texts)];
    for table in make {
        let tables: Vec<_> = views.iter().map(|view| (view.case.label.as_str(), table(view))).collect();
        if let Some(text) = joined(&tables, texts) {
            written.push(text);
        }
    }
    written.push(self::written(&tables::time_spent(file), texts));
    written.push(written_run(file, texts));
    written
}

fn written(table: &Table, texts: CsvText) -> CsvTable {
    let mut text = line(table.heads.iter().map(|head| Field::Plain(head.csv)), texts);
    for row in &table.rows {
        text.push_str(&line(row.iter().map(field), texts));
    }
    CsvTable { name: table.key, text }
}

/// The tables of all cases as one, with the case as the first column.
fn joined(tables: &[(&str, Table)], texts: CsvText) -> Option<CsvTable> {
    let (_, first) = tables.first()?;
    let heads = std::iter::once("case").chain(first.heads.iter().map(|head| head.csv));
    let mut text = line(heads.map(Field::Plain), texts);
    for (label, table) in tables {
        for row in &table.rows {
            text.push_str(&line(std::iter::once(Field::Text(label)).chain(row.iter().map(field)), texts));
        }
    }
    Some(CsvTable { name: first.key, text })
}

fn field(cell: &Cell) -> Field<'_> {
    if cell.is_text { Field::Text(&cell.value) } else { Field::Plain(&cell.value) }
}

/// Facts of the whole run: machine, program, warnings, the notice.
fn written_run(file: &RunFile, texts: CsvText) -> CsvTable {
    let mut machines = tables::machines(file).into_iter();
    let mut table = machines.next().expect("there is always one");
    table.key = "run";
    for mut machine in machines {
        table.push(vec![Cell::text("machine"), Cell::text(&machine.title)]);
        table.rows.append(&mut machine.rows);
    }
    let mut say = |name: &str, value: &str| table.push(vec![Cell::text(name), Cell::text(value)]);
    say("name", &file.name);
    say("started_at", &file.provenance.started_at);
    say("seed", &file.provenance.seed.to_string());
    say("command", &crate::units::command_line(&file.provenance.command));
    say("interrupted", if file.interrupted { "yes" } else { "no" });
    for warning in crate::view::warnings(file) {
        say("warning", &warning);
    }
    for notice in crate::view::notices(file) {
        say("notice", notice);
    }
    written(&table, texts)
}

/// A line of fields.
pub(crate) fn line<'a>(fields: impl Iterator<Item = Field<'a>>, texts: CsvText) -> String {
    let mut line = String::new();
    for (at, field) in fields.enumerate() {
        if at > 0 {
            line.push(',');
        }
        let guarded;
        let field = match field {
            Field::Text(text) if texts == CsvText::Guarded && text.starts_with(['=', '+', '-', '@', '\t', '\r']) => {
                guarded = format!("'{text}");
                &guarded
            }
            Field::Plain(text) | Field::Text(text) => text,
        };
        if field.contains([',', '"', '\n', '\r']) || field.starts_with(' ') || field.ends_with(' ') {
            line.push('"');
            line.push_str(&field.replace('"', "\"\""));
            line.push('"');
        } else {
            line.push_str(field);
        }
    }
    line.push_str("\r\n");
    line
}
