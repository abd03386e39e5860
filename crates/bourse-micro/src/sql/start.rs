//! A file to begin with, written for a database: a read and an update by key for each table.

use bourse_engine::{Result, Value};
use bourse_engine_sqlite::{StoredDatabase, StoredObject, try_statement};
use bourse_record::grouped;
use std::collections::BTreeSet;
use std::path::Path;

/// A file of statements in its SQL form for a copy of a database that no process has open; `title` is its first comment.
///
/// Each table is in a comment with its rows and columns. Each with rows has a read of one row by its primary key or rowid, and an update
/// that assigns to a column a value that it has in another row: SQLite writes nothing where a value stays as it is. What the copy
/// refuses is replaced by the reason.
///
/// # Errors
/// SQLite's.
pub fn start_file(copy: &Path, title: &str) -> Result<String> {
    let stored = StoredDatabase::open(copy)?;
    let objects = stored.objects()?;
    let mut file = StartFile {
        copy,
        has_triggers: objects.iter().any(|it| it.kind == "trigger"),
        stored,
        used: BTreeSet::new(),
        text: title.lines().map(|line| format!("-- {}\n", comment(line))).collect(),
    };
    for table in objects.iter().filter(|it| it.kind == "table" && !it.is_virtual) {
        file.add_table(table)?;
    }
    for object in &objects {
        let StoredObject { kind, name, table, .. } = object;
        let (name, table) = (comment(name), comment(table));
        let line = match &**kind {
            "table" if object.is_virtual => {
                format!("virtual table {name}, with its shadow tables: not used; its rows have no key that is known")
            }
            "view" => format!("view {name}: not used; its rows have no key that is known"),
            "trigger" => format!("trigger {name}: executed by the statements that change {table}"),
            _ => continue,
        };
        file.text.push_str(&format!("\n-- {line}\n"));
    }
    Ok(file.text)
}

/// A file in the making.
struct StartFile<'c> {
    copy: &'c Path,
    stored: StoredDatabase,
    /// Whether an update may change rows of other tables, so that a row of the copy may be gone.
    has_triggers: bool,
    /// Names of operations and parameters.
    used: BTreeSet<String>,
    text: String,
}

/// A column of a table.
struct TableColumn {
    /// Name, and the name in a statement.
    name: String,
    sql: String,
    /// Place in the primary key, from 1; 0: none.
    key: i64,
    is_generated: bool,
    /// Whether it is in an index, and in a foreign key: their number.
    uses: i64,
    /// Description in a comment.
    words: String,
}

impl StartFile<'_> {
    fn number(&self, query: &str) -> Result<i64> {
        crate::replay::data::number(&self.stored, query)
    }

    /// Columns of a table.
    fn columns(&self, table: &str) -> Result<Vec<TableColumn>> {
        let table = table.replace('\'', "''");
        let mut columns = Vec::new();
        let listed = format!(
            "SELECT name, type, pk, hidden, \
             (name IN (SELECT i.name FROM pragma_index_list('{table}') l, pragma_index_info(l.name) i)) + \
             (name IN (SELECT \"from\" FROM pragma_foreign_key_list('{table}'))) \
             FROM pragma_table_xinfo('{table}') WHERE hidden <> 1 ORDER BY cid"
        );
        self.stored.rows(&listed, &mut |row| {
            let [name, kind] = [row[0].to_string(), row[1].to_string()];
            let [key, uses] = [2, 4].map(|at| if let Value::Int(number) = row[at] { number } else { 0 });
            let is_generated = row[3] != Value::Int(0);
            let also = match (is_generated, key) {
                (true, _) => " (generated)",
                (_, 1..) => " (key)",
                _ => "",
            };
            let words = format!("{}{also}", format!("{} {kind}", comment(&name)).trim_end());
            columns.push(TableColumn { sql: self.identifier(&name), name, key, is_generated, uses, words });
            Ok(())
        })?;
        Ok(columns)
    }

    /// Name in a statement: in quotes unless it is a word in lower case that SQLite takes for a name.
    fn identifier(&self, name: &str) -> String {
        let is_word = name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        let query = format!("SELECT {name} FROM (SELECT 7 AS {name}) AS {name}");
        if is_word && self.number(&query).is_ok_and(|found| found == 7) {
            name.to_owned()
        } else {
            format!("\"{}\"", name.replace('"', "\"\""))
        }
    }

    /// A name of its own made of plain letters, which is no number.
    fn unique(&mut self, name: &str) -> String {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
        let mut name: String = name.chars().map(plain).collect();
        if name.starts_with(|first: char| first.is_ascii_digit()) || name.parse::<f64>().is_ok() {
            name.insert(0, '_');
        }
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|it| !self.used.contains(it)).unwrap_or(name);
        self.used.insert(free.clone());
        free
    }

    /// Adds an operation, with the parameter that it assigns.
    fn add_operation(&mut self, name: &str, parameter: &str, statement: &str) {
        let rows = if self.has_triggers { "" } else { " rows 1" };
        self.text.push_str(&format!("{parameter}--! operation {name} weight 1{rows}\n{statement};\n"));
    }

    /// Chooses the column that an update of a table assigns to: one in no index if possible, of many values. An error is the reason
    /// that there is none.
    fn assigned<'t>(&self, table: &str, columns: &'t [TableColumn], some: &str) -> Result<&'t TableColumn, String> {
        let mut candidates = Vec::new();
        for column in columns.iter().filter(|it| it.key == 0 && !it.is_generated && is_usable(&it.sql)) {
            let name = &column.sql;
            // Values of a kilobyte and more are no parameters to be held by the million.
            let query = format!(
                "SELECT iif(total(length(CAST({name} AS BLOB))) > 1e6, 0, count(DISTINCT {name})) \
                 FROM (SELECT {name} FROM {table} LIMIT 1000)"
            );
            let values = self.number(&query).map_err(|error| error.message().to_owned())?;
            candidates.push((column.uses, -values, column));
        }
        candidates.sort_by_key(|(uses, values, _)| (*uses, *values));
        let mut why = "no column besides its key has several short values".to_owned();
        for (_, _, column) in candidates.into_iter().filter(|(_, values, _)| *values < -1) {
            let name = &column.sql;
            // Values of several rows, which uniqueness refuses, the smallest and the largest, which checks may refuse.
            let tried = ["min", "max"].into_iter().try_for_each(|value| {
                let value = format!("(SELECT {value}({name}) FROM {table})");
                try_statement(self.copy, &format!("UPDATE {table} SET {name} = {value} WHERE {some}"))
            });
            match tried {
                Ok(()) => return Ok(column),
                Err(error) => why = error.message().to_owned(),
            }
        }
        Err(why)
    }

    fn add_table(&mut self, table: &StoredObject) -> Result<()> {
        let columns = self.columns(&table.name)?;
        let sql = self.identifier(&table.name);
        let rows = self.number(&format!("SELECT count(*) FROM {sql}"))?;
        let words: Vec<&str> = columns.iter().map(|it| it.words.as_str()).collect();
        let counted = grouped(rows.unsigned_abs());
        self.text.push_str(&format!("\n-- table {}: {counted} rows; {}\n", comment(&table.name), words.join(", ")));
        let mut key: Vec<&TableColumn> = columns.iter().filter(|it| it.key > 0).collect();
        key.sort_by_key(|it| it.key);
        let mut key: Vec<_> = key.into_iter().map(|it| (it.name.clone(), it.sql.clone())).collect();
        let nulls: Vec<String> = key.iter().map(|(_, column)| format!("{column} IS NULL")).collect();
        // A key may hold NULL, which no comparison finds.
        let is_key =
            !key.is_empty() && self.number(&format!("SELECT count(*) FROM {sql} WHERE {}", nulls.join(" OR ")))? == 0;
        if !is_key {
            let row_number = self.stored.table(table)?.row_number();
            key = row_number.map(|name| (name.to_owned(), name.to_owned())).into_iter().collect();
        }
        let mut names = std::iter::once(&sql).chain(key.iter().map(|(_, column)| column));
        if rows == 0 || key.is_empty() || names.any(|name| !is_usable(name)) {
            let why = match rows {
                0 => "it has no row",
                _ if key.is_empty() => "its rows have no key",
                _ => "a name has a character that has another meaning in this file",
            };
            self.text.push_str(&format!("-- not used: {why}\n"));
            return Ok(());
        }
        let mut parameters = Vec::new();
        for (name, column) in &key {
            let parameter = self.unique(&format!("{name}_of_{}", table.name));
            self.text.push_str(&format!("--! parameter {parameter} row {sql}.{column}\n"));
            parameters.push(format!("{column} = :{parameter}"));
        }
        let of_key = key.iter().map(|(_, column)| column.as_str()).collect::<Vec<_>>().join(", ");
        let some = format!("({of_key}) IN (SELECT {of_key} FROM {sql} LIMIT 100)");
        let condition = parameters.join(" AND ");
        let name = self.unique(&table.name);
        let read = format!("SELECT * FROM {sql} WHERE");
        match try_statement(self.copy, &format!("{read} {some}")) {
            Ok(()) => self.add_operation(&format!("read {name}"), "", &format!("{read} {condition}")),
            Err(error) => self.text.push_str(&format!("-- no read: {}\n", comment(error.message()))),
        }
        match self.assigned(&sql, &columns, &some) {
            Ok(TableColumn { name: column_name, sql: column, .. }) => {
                let parameter = self.unique(&format!("{column_name}_of_{}", table.name));
                let declared = format!("--! parameter {parameter} distinct {sql}.{column}\n");
                let statement = format!("UPDATE {sql} SET {column} = :{parameter} WHERE {condition}");
                self.add_operation(&format!("write {name}"), &declared, &statement);
            }
            Err(why) => self.text.push_str(&format!("-- no write: {}\n", comment(&why))),
        }
        Ok(())
    }
}

/// Whether a name can stand in a file: a line break would end a directive, and the others begin holes and parameters.
fn is_usable(name: &str) -> bool {
    !name.is_empty() && !name.contains(|letter: char| letter.is_control() || ['{', '?'].contains(&letter))
}

/// Text on one line.
fn comment(text: &str) -> String {
    text.replace(char::is_control, " ")
}
