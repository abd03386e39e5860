//! The lean build of SQLite.

use super::{Calls, opened, options_of};
use bourse_engine_sqlite_lean::{GRAMMAR, Options, info, open};

pub(super) const CALLS: Calls = Calls {
    version: || info().map(|info| info.version.to_owned()).map_err(|error| error.to_string()),
    options: || options_of(&GRAMMAR, &Options::FILE),
    compiled: || info().map(|info| info.compile_options).unwrap_or_default(),
    renamed: |target| GRAMMAR.renamed_in(target),
    open: |target| opened("sqlite-lean", open(target)),
    cleanup: |_| {},
};
