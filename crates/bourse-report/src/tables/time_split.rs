use super::{Cell, Head, Table};
use crate::view::{CaseView, Part, roles};

/// Split of the users' time: a column for each kind of user, whose parts add up to 100 %.
pub(crate) fn time_split(view: &CaseView<'_>) -> Table {
    let roles = roles(view);
    let of_role = roles.iter().map(|role| Head::right(format!("{} ({})", role.role, role.threads)));
    let heads = [Head::left("part")].into_iter().chain(of_role).collect();
    let mut table = Table::new("Where the users' time went", heads);
    for part in Part::ALL.into_iter().filter(|part| roles.iter().any(|role| role.share(*part) > 0.0)) {
        let shares = roles.iter().map(|role| Cell::percent(100.0 * role.share(part)));
        table.push([Cell::text(part.name())].into_iter().chain(shares).collect());
    }
    table
}
