//! The description of the system under test, read back from Firebird, and the guarantee of its settings.

use crate::attachment::Attachment;
use crate::options::{FirebirdOptions, GRAMMAR};
use bourse_engine::target::ParsedTarget;
use bourse_engine::{Description, Durability, Result, RowExt as _, Setting, durability_at};
use std::path::Path;

/// Query for the settings that affect figures.
const SETTINGS: &str = "SELECT mon$page_size AS page_size, mon$page_buffers AS page_buffers, mon$forced_writes AS forced_writes,
        mon$reserve_space AS reserve_space, mon$sweep_interval AS sweep_interval, mon$ods_major AS ods_major, mon$ods_minor AS ods_minor,
        mon$read_only AS read_only
   FROM mon$database";

/// Query for the engine's own version, which may differ from the library's.
const VERSION: &str = "SELECT rdb$get_context('SYSTEM', 'ENGINE_VERSION') FROM rdb$database";

pub(crate) fn describe(
    target: &ParsedTarget<FirebirdOptions>,
    path: &Path,
    attachment: &Attachment,
) -> Result<Description> {
    let mut settings = GRAMMAR.settings(&target.options, |name| matches!(name, "lock_timeout" | "serializable"));
    let mut forced_writes = None;
    attachment.run(SETTINGS, &mut |row| {
        for at in 0..row.columns() {
            let name = row.column_name(at).unwrap_or_default().into_owned();
            if name == "forced_writes" {
                forced_writes = row.int(at);
            }
            settings.push(Setting::new(name, row.value(at).to_string()));
        }
        Ok(())
    })?;
    let mut version = String::new();
    attachment.run(VERSION, &mut |row| {
        version = row.get(0)?;
        Ok(())
    })?;
    let library = attachment.library();
    settings.push(Setting::new("library", library.path.display().to_string()));
    settings.push(Setting::new("library_sha256", library.sha256()));
    settings.push(Setting::new("provider", &*library.api.engine));
    let durability = durability_at(Some(path), durability(forced_writes == Some(1)));
    Ok(Description::new("firebird", version, &target.text, durability, settings))
}

/// Durability class of an acknowledged commit on a disk, with the reason.
fn durability(forced_writes: bool) -> (Durability, String) {
    let (class, why) = match forced_writes {
        true => (
            Durability::Durable,
            "each commit writes its pages, in an order that leaves no broken one, and each write waits for the disk (forced_writes=1)",
        ),
        false => {
            (Durability::Process, "each commit writes its pages, and no write waits for the disk (forced_writes=0)")
        }
    };
    (class, why.to_owned())
}
