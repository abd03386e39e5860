//! Every table of a report, once; the outputs differ in their layout.

mod comparison;
mod facts;
mod outcomes;
mod rounds;
mod statements;
mod table;
mod time_split;
mod transactions;

pub(crate) use bourse_verdict::Tone;
pub(crate) use comparison::{Lead, UnitGroup, by_class, by_unit, comparison, rankings, ratios};
pub(crate) use facts::{
    checks, engine_settings, machine, machine_line, machines, parameters, resources, round_facts, rules_met, search,
    steadiness, time_spent,
};
pub(crate) use outcomes::outcomes;
pub(crate) use rounds::{phase, rounds};
pub(crate) use statements::{DEAREST, LETTERS, changed_functions, changed_plans, functions, short, statements};
pub use table::TableCell;
pub(crate) use table::{CellAlign, CellForm, ColumnHead, SheetTable, heads, row};
pub(crate) use time_split::time_split;
pub(crate) use transactions::{latency, quantiles, server_times, service_times, take_queue, transactions, under_way};
