//! Bugs that can be planted in TATP (`bourse_oltp::planted`), and their statements.

use crate::tables::Number;
use bourse_engine::{Params, Result, Session, Sql};
use bourse_oltp::planted::BrokenPart::{Data, Work};
use bourse_oltp::planted::Bug;

/// All of them.
#[rustfmt::skip]
pub static BUGS: &[Bug] = &[
    Bug::new("LocationLost", Data, "Update-Location changes nothing and reports success (1 of 20)").one_in(20),
    Bug::new("LocationRounded", Data, "Update-Location rounds the location to a number of 24 bits"),
    Bug::new("SettingInOtherColumn", Data, "Update-Subscriber-Data writes the setting into the next column"),
    Bug::new("AllHoursDeleted", Data, "Delete-Call-Forwarding removes the rows of all hours"),
    Bug::new("MissedDeleteCounted", Work, "Delete-Call-Forwarding reports success where it finds no row"),
    Bug::new("EarlySearchTrusted", Data, "Delete-Call-Forwarding reports what it found before its transaction began"),
    Bug::new("ServiceNotNeeded", Data, "Insert-Call-Forwarding inserts for a service that the subscriber lacks"),
    Bug::new("InactiveServiceFound", Work, "Get-New-Destination returns numbers of services that are not active"),
    Bug::new("LastHourIncluded", Work, "Get-New-Destination returns numbers whose forwarding ends with the hour"),
    Bug::new("ChangeRolledBack", Data, "Update-Subscriber-Data, inserts and deletes are rolled back, and report success"),
    Bug::new("MissCommitted", Data, "Update-Subscriber-Data commits the setting where it finds no service"),
    Bug::new("MixWithoutDelete", Work, "users never draw a Delete-Call-Forwarding"),
];

pub(crate) static UPDATE_OTHER_BIT: Sql = Sql::new("UPDATE subscriber SET bit_2 = ?2 WHERE s_id = ?1");
pub(crate) static DELETE_ALL_HOURS: Sql =
    Sql::new("DELETE FROM call_forwarding WHERE s_id = ?1 AND sf_type = ?2 AND start_time >= ?3 - 16");
pub(crate) static DESTINATIONS_OF_ANY: Sql = Sql::new(
    "SELECT numberx FROM call_forwarding WHERE s_id = ?1 AND sf_type = ?2 AND start_time <= ?3 AND end_time > ?4",
);
pub(crate) static DESTINATIONS_UNTIL: Sql = Sql::new(
    "SELECT cf.numberx
       FROM special_facility sf INNER JOIN call_forwarding cf ON cf.s_id = sf.s_id AND cf.sf_type = sf.sf_type
      WHERE sf.s_id = ?1 AND sf.sf_type = ?2 AND sf.is_active = 1 AND cf.start_time <= ?3 AND cf.end_time >= ?4",
);
static SEARCH: Sql = Sql::new(
    "SELECT cf.s_id FROM call_forwarding cf INNER JOIN subscriber s ON s.s_id = cf.s_id
      WHERE s.sub_nbr = ?1 AND cf.sf_type = ?2 AND cf.start_time = ?3",
);

/// Whether there is such a forwarding.
pub(crate) fn finds(db: &mut dyn Session, sub_nbr: &Number, sf_type: u8, hour: u8) -> Result<bool> {
    let mut found = false;
    db.query(&SEARCH, Params::of(&[sub_nbr.into(), sf_type.into(), hour.into()]), &mut |_| {
        found = true;
        Ok(())
    })?;
    Ok(found)
}
