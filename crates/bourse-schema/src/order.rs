use crate::Table;

/// Sorts a workload's tables: parents before children, otherwise in the order of declaration.
///
/// # Panics
/// If a table refers to one that is not in the list, or foreign keys form a circle.
///
/// ```
/// use bourse_schema::{load_order, tables};
/// let order: Vec<_> = load_order(tables::all()).iter().map(|table| table.name).collect();
/// let at = |name| order.iter().position(|&other| other == name).unwrap();
/// assert!(at("trade") < at("holding"));
/// assert!(at("holding_summary") < at("holding"));
/// ```
pub fn load_order(tables: &[&'static Table]) -> Vec<&'static Table> {
    let mut waiting: Vec<&'static Table> = tables.to_vec();
    let mut order: Vec<&'static Table> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let next = waiting
            .iter()
            .position(|table| table.foreign_keys.iter().all(|key| order.contains(&(key.parent)())))
            .expect("foreign keys of a workload form no circle");
        order.push(waiting.remove(next));
    }
    order
}
