//! Classic workloads (point read, bulk load, update, scan, …) on any engine with the necessary capabilities, with
//! checked results.
//!
//! | module | contents |
//! |---|---|
//! | [`options`] | options as data, addressable by name and value |
//! | [`workload`] | declaration of a workload, and a workload planned with options |
//! | [`round`] | one round of it: database, warm-up, measurement, checks, the null engine's figure |
//! | [`keys`] | keys of operations |
//! | `database`, `filled_table` | creation and checks of tables; those that several workloads read and change |
//! | `row_sum` | rows read whole, and their expected sums |
//! | `usual`, `batching` | options and needs that workloads share; short operations timed together |
//! | `watch` | sizes of logs, sampled more often than once a second |
//! | `records` | workloads of operations on records by key, YCSB among them: a row of a table each |
//! | `histories` | recorded transactions, from which the isolation that they had is inferred |
//! | `replay` | recordings of programs; found by its name, and in no list, since each needs a recording |
//! | `bulk_load`, `client_mix`, … | a workload each |

mod allocation;
mod batching;
mod bulk_load;
mod client_mix;
mod commit;
mod database;
mod filled_table;
mod histories;
pub mod keys;
mod log_growth;
pub mod options;
mod records;
mod replay;
pub mod round;
mod row_sum;
mod sql;
mod usual;
mod watch;
pub mod workload;

pub use database::{foreign_tables, refuse_others};
pub use histories::statement as history_statement;
pub use options::{OptionError, OptionKind, WorkloadOption, WorkloadOptions};
pub use records::properties_of;
pub use replay::{ChangedSetting, PACE, declared_name};
pub use round::{
    NOTICE, PreparedRound, RoundResult, TimedOperations, Timing, end_processes, prepare_round, run_prepared, run_round,
};
pub use sql::{FROM, NOTHING, operations_of, start_file};
pub use workload::{MicroError, ProcessPart, RoundExtent, WorkloadCase, WorkloadSpec, short_digest};

/// All classic workloads.
pub static WORKLOADS: &[&WorkloadSpec] = {
    let [point_read, update, read_write, index_search, delete, scan, a, b, c, d, e, f, ycsb] = &records::TABLE;
    &[
        point_read,
        &bulk_load::SPEC,
        update,
        read_write,
        index_search,
        delete,
        scan,
        &client_mix::SPEC,
        &log_growth::SPEC,
        &commit::SPEC,
        &sql::SPEC,
        &histories::SPEC,
        a,
        b,
        c,
        d,
        e,
        f,
        ycsb,
    ]
};

/// Finds the workload of that name.
///
/// # Errors
/// [`OptionError::Workload`] if there is none; it names all workloads.
///
/// ```
/// let case = bourse_micro::find("point-read").unwrap().plan([("rows", "1k"), ("threads", "2")]).unwrap();
/// assert_eq!(case.unit(), "reads/s");
/// assert!(bourse_micro::find("point-raed").unwrap_err().to_string().contains("did you mean 'point-read'?"));
/// ```
pub fn find(name: &str) -> Result<&'static WorkloadSpec, OptionError> {
    WORKLOADS.iter().copied().chain([&replay::SPEC]).find(|spec| spec.name == name).ok_or_else(|| {
        OptionError::Workload {
            name: name.to_owned(),
            hint: bourse_engine::did_you_mean(name, WORKLOADS.iter().map(|spec| spec.name)),
            known: WORKLOADS.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", "),
        }
    })
}
