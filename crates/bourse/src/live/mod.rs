//! Live view of a run: one file reports its progress, and every follower reads that file.
//!
//! | module | contents |
//! |---|---|
//! | `line` | a line of the file: an event with its time |
//! | `writer` | the file `live.ndjson` in the run's folder, written by the run; messages of a round's process to its parent |
//! | `state` | the state that follows from the lines: pure |
//! | `follow` | the file read as it grows, and whether its writer is alive |
//! | `screen` | the full-screen view: drawn from the state, pure |
//! | `terminal` | the terminal that shows it, put back on every way out; in builds without the view, the message instead |
//! | `metrics` | the state in the text format of Prometheus: pure |
//! | `http` | answers to a browser or a scraper |
//!
//! Nothing here is called by an operation that is measured: the driver's sampler reports each second once it is over.

mod follow;
mod http;
mod line;
mod metrics;
#[cfg(feature = "live")]
mod screen;
mod state;
#[cfg(feature = "live")]
mod terminal;
#[cfg(not(feature = "live"))]
#[path = "no_terminal.rs"]
mod terminal;
mod writer;

pub(crate) use follow::{Follower, is_of_run, is_running, is_unfinished};
pub(crate) use http::{MetricsServer, listen};
pub(crate) use line::{FILE, RunOutcome};
pub(crate) use terminal::{restore, watched};
pub(crate) use writer::{
    abandon, begin, end, give_signs_of_life, passed_on, print_note, progress_of, round, round_done, second,
    send_to_parent, share, step, step_ended,
};

use crate::args::ExecutionArgs;
use crate::failure::Result;
use crate::plan::Plan;
use std::path::Path;

/// Followers of a run in this process, for as long as this value exists.
#[derive(Default)]
pub(crate) struct Followers {
    _view: Option<terminal::RunView>,
    _metrics: Option<http::MetricsServer>,
}

/// Begins to report a run, to a file in its folder and to the followers that its command requests. Nothing was loaded yet.
pub(crate) fn follow(plan: &Plan, how: &ExecutionArgs, folder: &Path) -> Result<Followers> {
    if how.live {
        terminal::check()?;
    }
    let listener = how.metrics.map(|address| http::listen(address, "metrics")).transpose()?;
    begin(plan, folder)?;
    let metrics = listener.map(|listener| http::MetricsServer::of_metrics(listener, folder)).transpose()?;
    let view = how.live.then(|| terminal::RunView::of_run(folder)).transpose()?;
    Ok(Followers { _view: view, _metrics: metrics })
}
