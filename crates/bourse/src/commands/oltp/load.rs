//! `bourse WORKLOAD load`: a database, and nothing run on it.

use crate::args::DryRun;
use crate::failure::{Failure, Result};
use crate::oltp::database::{DatabaseOptions, engine_failure, passing_place};
use crate::output::print;
use crate::plan::show::{self, Steps};
use crate::progress::note;
use crate::{engines, hold, interrupt};
use bourse_oltp::check::Depth;

/// Loads the database, or says that it exists already.
pub(crate) fn load(target: &str, database: &dyn DatabaseOptions, how: DryRun) -> Result<()> {
    let (words, rows) = database.size()?;
    let (name, reload) = (database.served().workload().name(), database.reloads());
    let engine = engines::open(target)?;
    engines::needs(target, engine.as_ref(), database.needs())?;
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
    database.ready(target, engine.as_ref(), Depth::Full, &interrupted)?;
    let sizes = engine.footprint().map_err(|error| engine_failure(target, &error))?;
    note(&format!("{target}: {:.1} MB", sizes.data_bytes as f64 / 1e6));
    Ok(())
}
