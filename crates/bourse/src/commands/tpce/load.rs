//! `bourse tpce load`.

use crate::args::{ExplicitlySet, Load};
use crate::commands::oltp;
use crate::failure::Failure;
use crate::inputs::inputs;
use crate::tpce::{database::wanted, whole};
use bourse_tpce::users::needs;

/// Loads the database, or says that it exists already.
pub(crate) fn load(arguments: &Load) -> Result<(), Failure> {
    let Load { target, database } = arguments;
    whole(database)?;
    oltp::load::load(target, "tpce", needs, |ready| {
        let inputs = inputs(database.flat_in.as_deref())?;
        wanted(database, ExplicitlySet::ALL, &inputs, ready)
    })
}
