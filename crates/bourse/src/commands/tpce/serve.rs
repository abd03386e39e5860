//! `bourse tpce serve`.

use crate::args::TpceServe;
use crate::commands::oltp;
use crate::failure::Result;
use crate::tpce::database::served;

/// Loads if needed, listens, serves until it is interrupted.
pub(crate) fn serve(arguments: &TpceServe) -> Result<()> {
    let TpceServe { server, database, explicitly_set } = arguments;
    served(&server.target, database, *explicitly_set, |database| oltp::serve::serve(server, database))
}
