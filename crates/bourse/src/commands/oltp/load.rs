//! `bourse WORKLOAD load`: a database, and nothing run on it.

use crate::args::DryRun;
use crate::failure::{Failure, Result};
use crate::oltp::database::{WantedDatabase, engine_failure, passing_place, ready};
use crate::output::print;
use crate::plan::show::{self, Steps};
use crate::progress::note;
use crate::{engines, hold, interrupt};
use bourse_engine::Capabilities;
use bourse_oltp::check::Depth;

/// Loads the database, or says that it exists already. `needs` are the reasons why an engine cannot run the workload; `wanted`
/// calls its argument with the wanted database, which the words describe, which has about so many rows, and which may replace
/// another.
pub(crate) fn load(
    target: &str,
    name: &str,
    needs: fn(&Capabilities) -> Vec<String>,
    (words, rows, reload): (String, u64, bool),
    how: DryRun,
    wanted: impl FnOnce(&mut dyn FnMut(&WantedDatabase<'_>) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let engine = engines::open(target)?;
    engines::needs(target, engine.as_ref(), needs)?;
    if let Some(place) = passing_place(engine.as_ref()) {
        return Err(Failure::usage(format!("cannot load {target}: a database {place} ends with this command"))
            .hint(format!("name a file or a running server; `bourse {name} run` loads a database {place} by itself")));
    }
    let loaded = show::loaded(reload);
    let unseen = if reload {
        ", in the place of one that exists"
    } else {
        "; a plan does not open what is there, which is refused if it is another"
    };
    let plan = Steps {
        name: &format!("{name} load"),
        steps: vec![format!("{target}: {words}, {loaded}{unseen}")],
        seed: None,
        about_ns: engines::loading_ns(target, rows),
        writes: show::files([(target, loaded.to_owned())]),
    };
    if how.dry_run {
        return print(&plan.show());
    }
    let _held = hold::for_writing([target])?;
    let interrupted = interrupt::flag()?;
    wanted(&mut |wanted| ready(target, engine.as_ref(), wanted, Depth::Full, &interrupted).map(drop))?;
    let sizes = engine.footprint().map_err(|error| engine_failure(target, &error))?;
    note(&format!("{target}: {:.1} MB", sizes.data_bytes as f64 / 1e6));
    Ok(())
}
