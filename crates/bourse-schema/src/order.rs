use crate::{Table, tables};

/// All tables, parents before children, otherwise in the order of declaration.
///
/// ```
/// let order: Vec<_> = bourse_schema::load_order().iter().map(|table| table.name).collect();
/// let at = |name| order.iter().position(|&other| other == name).unwrap();
/// assert!(at("trade") < at("holding"));
/// assert!(at("holding_summary") < at("holding"));
/// ```
pub fn load_order() -> Vec<&'static Table> {
    let mut waiting: Vec<&'static Table> = tables::all().to_vec();
    let mut order: Vec<&'static Table> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let next = waiting
            .iter()
            .position(|table| table.foreign_keys.iter().all(|key| order.contains(&(key.parent)())))
            .expect("the foreign keys of the specification form no circle");
        order.push(waiting.remove(next));
    }
    order
}
