//! WATCH_LIST and WATCH_ITEM (Clauses 2.2.5.9 and 2.2.5.8; EGen `CWatchListsAndItemsTable`).

use bourse_schema::{WatchListId, tables};

use super::TABLE_SEED;
use super::customer::ordinals;
use crate::ids::{self, LOAD_UNIT};
use crate::{Inputs, Part, Rng};

/// A watch list with its securities.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchRows {
    /// The list.
    pub list: tables::WatchList,
    /// 50 to 150 items, ascending by the securities' indices.
    pub items: Vec<tables::WatchItem>,
}

/// The watch lists of a part's customers: each has one.
pub fn watch_lists(inputs: &Inputs, part: Part) -> impl Iterator<Item = WatchRows> + '_ {
    let mut rng = Rng::new(TABLE_SEED);
    let mut chosen: Vec<i64> = Vec::with_capacity(150);
    let mut taken = vec![false; part.total_securities() as usize];
    ordinals(part).map(move |ordinal| {
        let owner = ids::customer(ordinal);
        if (ordinal - 1) % LOAD_UNIT == 0 {
            rng = Rng::at(TABLE_SEED, owner.0 as u64 * 15);
        }
        let id = list_of(owner.0);
        let count = rng.range(50, 150) as usize;
        chosen.clear();
        while chosen.len() < count {
            let security = rng.below(part.total_securities() as u64) as usize;
            if !std::mem::replace(&mut taken[security], true) {
                chosen.push(security as i64);
            }
        }
        chosen.sort_unstable();
        let items = chosen.iter().map(|&security| {
            taken[security as usize] = false;
            tables::WatchItem { wi_wl_id: id, wi_s_symb: inputs.symbol(security) }
        });
        let rows = WatchRows { list: tables::WatchList { wl_id: id, wl_c_id: owner }, items: items.collect() };
        // Whether the next customer has a list too: a hundred of a hundred have.
        rng.percentage();
        rows
    })
}

/// Watch list of a customer: scrambled within the load unit.
fn list_of(customer: i64) -> WatchListId {
    WatchListId((customer - 1) / LOAD_UNIT * LOAD_UNIT + (631 * (customer - 1) + 97) % LOAD_UNIT + 1)
}
