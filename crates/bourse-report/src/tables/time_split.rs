use super::{ColumnHead, SheetTable, TableCell};
use crate::view::{CaseView, TimePart, roles};

/// Split of the users' time: a column for each kind of user, whose parts add up to 100 %.
pub(crate) fn time_split(view: &CaseView<'_>) -> SheetTable {
    let roles = roles(view);
    let of_role = roles.iter().map(|role| ColumnHead::right(format!("{} ({})", role.role, role.threads)));
    let heads = [ColumnHead::left("part")].into_iter().chain(of_role).collect();
    let mut table = SheetTable::new("Where the users' time went", heads);
    for part in TimePart::all().into_iter().filter(|part| roles.iter().any(|role| role.share(*part) > 0.0)) {
        let shares = roles.iter().map(|role| TableCell::percent(100.0 * role.share(part)));
        table.push([TableCell::text(part.name())].into_iter().chain(shares).collect());
    }
    table
}
