use super::{Cell, Head, Table};
use crate::units;
use crate::view::{CaseView, Part, roles};

/// Split of the users' time: a row for each kind of user. The parts of a row add up to 100 %.
pub(crate) fn time_split(view: &CaseView<'_>) -> Table {
    let mut heads = vec![Head::left("users", "role"), Head::right("threads", "threads")];
    heads.extend(Part::ALL.map(|part| Head::right(part.name(), part.csv()).rank(1).folds()));
    let mut table = Table::new("time_split", "Where the users' time went", heads);
    for role in roles(view) {
        let mut row = vec![Cell::text(&role.role), Cell::count(role.threads)];
        row.extend(Part::ALL.map(|part| Cell::figure(100.0 * role.share(part), units::percent)));
        table.push(row);
    }
    table
}
