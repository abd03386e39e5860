//! Classic workloads (point read, bulk load, update, scan, …) on any engine with the necessary capabilities, with
//! checked results.
//!
//! | module | contents |
//! |---|---|
//! | [`options`] | options as data, addressable by name and value |
//! | [`workload`] | declaration of a workload, and a workload planned with options |
//! | [`round`] | one round of it: database, warm-up, measurement, checks, the null engine's figure |
//! | [`keys`] | keys of operations |
//! | `database`, `persons` | creation and checks of tables; the table that several workloads read and change |
//! | `row_sum` | rows read whole, and their expected sums |
//! | `usual`, `batching` | options and needs that workloads share; short operations timed together |
//! | `watch` | sizes of logs, sampled more often than once a second |
//! | `point_read`, `bulk_load`, … | a workload each |

#[cfg(test)]
mod allocation;
mod batching;
mod bulk_load;
mod client_mix;
mod commit;
mod database;
mod delete;
mod index_search;
pub mod keys;
mod log_growth;
pub mod options;
mod persons;
mod point_read;
mod read_write;
pub mod round;
mod row_sum;
mod scan;
mod sql;
mod update;
mod usual;
mod watch;
pub mod workload;

pub use database::{foreign_tables, refuse_others};
pub use options::{Kind, OptionError, OptionSpec, Options};
pub use round::{NOTICE, OpenLoop, RoundResult, Timed, Timing, run_round};
pub use sql::operations_of;
pub use workload::{Case, Extent, MicroError, WorkloadSpec};

/// All classic workloads.
pub static WORKLOADS: &[&WorkloadSpec] = &[
    &point_read::SPEC,
    &bulk_load::SPEC,
    &update::SPEC,
    &read_write::SPEC,
    &index_search::SPEC,
    &delete::SPEC,
    &scan::SPEC,
    &client_mix::SPEC,
    &log_growth::SPEC,
    &commit::SPEC,
    &sql::SPEC,
];

/// Finds the workload of that name.
///
/// # Errors
/// [`OptionError::Workload`] if there is none; it names all workloads.
///
/// ```
/// let case = bourse_micro::find("point-read").unwrap().plan([("rows", "1k"), ("threads", "2")]).unwrap();
/// assert_eq!(case.headline_unit(), "reads/s");
/// assert!(bourse_micro::find("point-raed").unwrap_err().to_string().contains("did you mean 'point-read'?"));
/// ```
pub fn find(name: &str) -> Result<&'static WorkloadSpec, OptionError> {
    WORKLOADS.iter().copied().find(|spec| spec.name == name).ok_or_else(|| OptionError::Workload {
        name: name.to_owned(),
        hint: bourse_engine::did_you_mean(name, WORKLOADS.iter().map(|spec| spec.name)),
        known: WORKLOADS.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", "),
    })
}
