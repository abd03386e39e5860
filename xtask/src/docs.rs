//! Pages below `docs/` that are derived from the code.

use bourse_schema::{Cardinality, ColumnType, Table};
use std::fmt::Write as _;
use std::path::Path;

/// Each generated page: its path and its content.
fn pages(root: &Path) -> Result<Vec<(&'static str, String)>, String> {
    let mut pages = crate::isolation::pages(root)?;
    pages.push(("docs/schema.md", schema()));
    Ok(pages)
}

/// Writes all generated pages.
pub(crate) fn write(root: &Path) -> Result<(), String> {
    for (path, content) in pages(root)? {
        std::fs::write(root.join(path), content).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}

/// Fails if a generated page differs from its current content.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    for (path, content) in pages(root)? {
        if std::fs::read_to_string(root.join(path)).unwrap_or_default() != content {
            return Err(format!("{path} is out of date; run: cargo xtask docs"));
        }
    }
    Ok(())
}

fn schema() -> String {
    let mut page = String::from(
        "# The 33 tables\n\n\
         Generated from `crates/bourse-schema/src/tables.rs` by `cargo xtask docs`; do not edit.\n\n\
         Types are the specification's domains: *money* and *rate* are exact decimals, kept by SQLite as integers of the \
         smallest unit; a timestamp has milliseconds and no zone. **Bold** columns are the primary key, in the order that \
         serves as an index; `→` names the table a foreign key refers to. Tables are listed in the order they are loaded, \
         parents first.\n",
    );
    for table in bourse_schema::load_order(bourse_schema::tables::all()) {
        section(&mut page, table).expect("a String takes all");
    }
    page
}

fn section(page: &mut String, table: &Table) -> std::fmt::Result {
    writeln!(page, "\n## {}\n\n{}\n", table.name, table.doc.trim())?;
    writeln!(
        page,
        "{:?} table, {}; {}; flat file `{}.txt`; key ({}).\n",
        table.section,
        format!("{:?}", table.group).to_lowercase(),
        cardinality(table.cardinality),
        table.file,
        table.key.join(", ")
    )?;
    writeln!(page, "| column | type | |\n|---|---|---|")?;
    for column in table.columns {
        let bold = if table.key.contains(&column.name) { "**" } else { "" };
        let mut notes = Vec::new();
        for key in table.foreign_keys.iter().filter(|key| key.columns.contains(&column.name)) {
            let parent = (key.parent)();
            let composite =
                if key.columns.len() > 1 { format!(" with {}", key.columns.join(", ")) } else { String::new() };
            notes.push(format!("→ {}{composite}", parent.name));
        }
        notes.extend(column.check.map(|check| format!("`{check}`")));
        if column.nullable {
            notes.push("may be absent".to_owned());
        }
        writeln!(page, "| {bold}{}{bold} | {} | {} |", column.name, domain(column.column_type), notes.join("; "))?;
    }
    if !table.indexes.is_empty() {
        writeln!(page, "\n| index | columns | needed by |\n|---|---|---|")?;
    }
    for index in table.indexes {
        writeln!(page, "| {} | {} | {} |", index.name, index.columns.join(", "), index.reason)?;
    }
    Ok(())
}

fn cardinality(rows: Cardinality) -> String {
    match rows {
        Cardinality::Fixed(count) => format!("{count} rows"),
        Cardinality::PerLoadUnit(count, 0) => format!("{count} rows for each 1,000 customers"),
        Cardinality::PerLoadUnit(count, plus) => format!("{count} rows for each 1,000 customers and {plus} more"),
        Cardinality::AboutPerLoadUnit(count) => format!("about {count} rows for each 1,000 customers"),
        Cardinality::Trades => "one row for each initial trade".to_owned(),
        Cardinality::AboutPerTrade(hundredths) => {
            format!("about {}.{:02} rows for each initial trade", hundredths / 100, hundredths % 100)
        }
        Cardinality::FromTrades => "as many rows as the initial trades leave".to_owned(),
        Cardinality::Empty => "empty at first".to_owned(),
    }
}

fn domain(column: ColumnType) -> String {
    match column {
        ColumnType::Ident => "identifier".to_owned(),
        ColumnType::Count => "count".to_owned(),
        ColumnType::Integer => "integer".to_owned(),
        ColumnType::Small => "small integer".to_owned(),
        ColumnType::Decimal { precision, scale } => format!("decimal({precision}, {scale})"),
        ColumnType::Bool => "flag".to_owned(),
        ColumnType::Date => "date".to_owned(),
        ColumnType::Timestamp => "timestamp".to_owned(),
        ColumnType::Text(width) => format!("text({width})"),
        ColumnType::Lob(width) => format!("bytes({width})"),
        ColumnType::Real => "real".to_owned(),
    }
}
