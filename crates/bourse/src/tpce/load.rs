//! `bourse tpce load`.

use super::database::wanted;
use crate::args::{ExplicitlySet, Load};
use crate::failure::Failure;
use crate::inputs::inputs;
use crate::oltp;
use bourse_tpce::users::needs;

/// Loads the database, or says that it exists already.
pub(crate) fn load(arguments: &Load) -> Result<(), Failure> {
    let Load { target, database } = arguments;
    super::whole(database)?;
    oltp::load::load(target, "tpce", needs, |ready| {
        let inputs = inputs(database.flat_in.as_deref())?;
        wanted(database, ExplicitlySet::ALL, &inputs, ready)
    })
}
