//! `bourse micro init`: a file of statements to begin with, written for a database.

use crate::args::MicroInit;
use crate::execute::own_data::{DatabaseCopy, failure, is_same_file};
use crate::failure::{Failure, Result};
use crate::output::{print, write_file};
use crate::progress::note;
use bourse_micro::{operations_of, start_file};
use bourse_verdict::units::printable;

/// Writes the file, or prints it.
pub(crate) fn init(arguments: &MicroInit) -> Result<()> {
    let MicroInit { from, output, overwrite } = arguments;
    let shown = printable(&from.display().to_string());
    let file = output.as_deref().map_or_else(|| "start.sql".to_owned(), |it| printable(&it.display().to_string()));
    if output.as_ref().is_some_and(|output| output.extension().is_none_or(|ending| ending != "sql")) {
        return Err(Failure::usage(format!("cannot write {file}: the name of a file of SQL statements ends in .sql")));
    }
    if output.as_deref().is_some_and(|output| is_same_file(output, from)) {
        return Err(Failure::usage(format!("{file} is the database of --from, which is only read"))
            .hint("name another file with -o"));
    }
    let copy = DatabaseCopy::of(from)?;
    let title = format!(
        "Made by `bourse micro init` for {shown}: each table is read and written by key, all equally often.\n\
         Change weights and statements to what your program does.\n\
         bourse micro run sql {file} sqlite:run.db --from {shown}"
    );
    let text = start_file(copy.path(), &title).map_err(|error| failure(&shown, &error))?;
    let operations = operations_of("start.sql", &text).map_err(|_| {
        Failure::usage(format!("there is nothing to start from in {shown}: no table of it has rows to read by a key"))
            .hint("a start file reads and writes rows of tables; it needs a table with a row")
    })?;
    let Some(output) = output else { return print(&text) };
    write_file(output, &text, *overwrite)?;
    note(&format!("{file}: {operations} operations\nhint: bourse micro run sql {file} sqlite:run.db --from {shown}"));
    Ok(())
}
