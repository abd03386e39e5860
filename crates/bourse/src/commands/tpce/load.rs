//! `bourse tpce load`.

use crate::args::{DatabaseArgs, ExplicitlySet, TpceLoad};
use crate::commands::oltp;
use crate::failure::Result;
use crate::inputs::inputs;
use crate::plan::work;
use crate::tpce::database::{sized, wanted};
use crate::tpce::whole;
use bourse_tpce::users::needs;

/// Loads the database, or says that it exists already.
pub(crate) fn load(arguments: &TpceLoad) -> Result<()> {
    let TpceLoad { target, database, plan } = arguments;
    whole(database)?;
    let DatabaseArgs { customers, days, .. } = *database;
    let words = format!("{} of trades", sized(customers, days.into()));
    let wanted_words = (words, work::rows(customers, days), database.reload);
    oltp::load::load(target, "tpce", needs, wanted_words, *plan, |ready| {
        let inputs = inputs(database.flat_in.as_deref())?;
        wanted(database, ExplicitlySet::ALL, &inputs, ready)
    })
}
