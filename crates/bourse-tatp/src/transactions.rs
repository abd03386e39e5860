//! The seven transactions: each statement above the function that uses it.
//!
//! One statement alone is a transaction by itself. Transactions that miss are rolled back.

use crate::requests::Request;
use crate::tables::{Number, SubscriberId};
use bourse_engine::{Access, EngineError, ErrorKind, Isolation, Params, Result, RowExt as _, Session, Sql, Value};
use bourse_oltp::planted;
use serde::{Deserialize, Serialize};

/// Output of a transaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Output {
    /// Get-Subscriber-Data: the number, and all other columns in their order.
    Subscriber {
        /// The subscriber's number.
        sub_nbr: String,
        /// The other columns.
        data: Vec<i64>,
    },
    /// Get-New-Destination: the numbers, sorted.
    Destinations(Vec<String>),
    /// Get-Access-Data.
    Access {
        /// Two numbers.
        data: [i64; 2],
        /// Two texts.
        texts: [String; 2],
    },
    /// A change was committed.
    Changed,
    /// No row was found, and nothing was changed.
    Missed,
    /// The row to insert exists, and nothing was changed.
    Exists,
}

/// Performs a transaction once.
///
/// # Errors
/// The engine's; and if a subscriber is missing, of whom each exists.
pub fn perform(db: &mut dyn Session, request: &Request) -> Result<Output> {
    match request {
        Request::GetSubscriberData { s_id } => get_subscriber_data(db, *s_id),
        Request::GetNewDestination { s_id, sf_type, start_time, end_time } => {
            get_new_destination(db, [s_id.0, i64::from(*sf_type), i64::from(*start_time), i64::from(*end_time)])
        }
        Request::GetAccessData { s_id, ai_type } => get_access_data(db, *s_id, *ai_type),
        Request::UpdateLocation { sub_nbr, vlr_location } => update_location(db, sub_nbr, *vlr_location),
        Request::UpdateSubscriberData { s_id, bit_1, sf_type, data_a } => {
            writing(db, |db| update_subscriber_data(db, *s_id, *bit_1, *sf_type, *data_a))
        }
        Request::InsertCallForwarding { sub_nbr, sf_type, start_time, end_time, numberx } => {
            writing(db, |db| insert_call_forwarding(db, sub_nbr, *sf_type, [*start_time, *end_time], numberx))
        }
        Request::DeleteCallForwarding { sub_nbr, sf_type, start_time } => {
            let was_found =
                planted!(EarlySearchTrusted: crate::planted::finds(db, sub_nbr, *sf_type, *start_time)?; false);
            let output = writing(db, |db| delete_call_forwarding(db, sub_nbr, *sf_type, *start_time))?;
            Ok(if was_found { Output::Changed } else { output })
        }
    }
}

/// Runs a transaction that writes: commits a change, rolls back anything else.
fn writing(db: &mut dyn Session, transaction: impl FnOnce(&mut dyn Session) -> Result<Output>) -> Result<Output> {
    db.begin(Isolation::ReadCommitted, Access::Write)?;
    let output = transaction(db)?;
    let commits = planted!(ChangeRolledBack: false; planted!(MissCommitted: true; output == Output::Changed));
    if commits {
        db.commit()?
    } else {
        db.rollback()?
    }
    Ok(output)
}

static SELECT_SUBSCRIBER: Sql = Sql::new(
    "SELECT sub_nbr, bit_1, bit_2, bit_3, bit_4, bit_5, bit_6, bit_7, bit_8, bit_9, bit_10,
            hex_1, hex_2, hex_3, hex_4, hex_5, hex_6, hex_7, hex_8, hex_9, hex_10,
            byte2_1, byte2_2, byte2_3, byte2_4, byte2_5, byte2_6, byte2_7, byte2_8, byte2_9, byte2_10,
            msc_location, vlr_location
       FROM subscriber
      WHERE s_id = ?1",
);

fn get_subscriber_data(db: &mut dyn Session, s_id: SubscriberId) -> Result<Output> {
    let mut found = None;
    db.query(&SELECT_SUBSCRIBER, Params::of(&[s_id.0.into()]), &mut |row| {
        let data: Result<Vec<i64>> = (1..row.columns()).map(|at| row.get(at)).collect();
        found = Some(Output::Subscriber { sub_nbr: row.get(0)?, data: data? });
        Ok(())
    })?;
    found.ok_or_else(|| missing(&SELECT_SUBSCRIBER))
}

static SELECT_DESTINATIONS: Sql = Sql::new(
    "SELECT cf.numberx
       FROM special_facility sf
            INNER JOIN call_forwarding cf ON cf.s_id = sf.s_id AND cf.sf_type = sf.sf_type
      WHERE sf.s_id = ?1 AND sf.sf_type = ?2 AND sf.is_active = 1 AND cf.start_time <= ?3 AND cf.end_time > ?4",
);

fn get_new_destination(db: &mut dyn Session, request: [i64; 4]) -> Result<Output> {
    let mut numbers: Vec<String> = Vec::new();
    let select = planted!(InactiveServiceFound: &crate::planted::DESTINATIONS_OF_ANY; &SELECT_DESTINATIONS);
    let select = planted!(LastHourIncluded: &crate::planted::DESTINATIONS_UNTIL; select);
    db.query(select, Params::of(&request.map(Value::from)), &mut |row| {
        numbers.push(row.get(0)?);
        Ok(())
    })?;
    // Three at most: engines need not agree on their order.
    numbers.sort_unstable();
    Ok(if numbers.is_empty() { Output::Missed } else { Output::Destinations(numbers) })
}

static SELECT_ACCESS: Sql =
    Sql::new("SELECT data1, data2, data3, data4 FROM access_info WHERE s_id = ?1 AND ai_type = ?2");

fn get_access_data(db: &mut dyn Session, s_id: SubscriberId, ai_type: u8) -> Result<Output> {
    let mut found = Output::Missed;
    db.query(&SELECT_ACCESS, Params::of(&[s_id.0.into(), ai_type.into()]), &mut |row| {
        found = Output::Access { data: [row.get(0)?, row.get(1)?], texts: [row.get(2)?, row.get(3)?] };
        Ok(())
    })?;
    Ok(found)
}

static UPDATE_BIT: Sql = Sql::new("UPDATE subscriber SET bit_1 = ?2 WHERE s_id = ?1");
static UPDATE_FACILITY: Sql = Sql::new("UPDATE special_facility SET data_a = ?3 WHERE s_id = ?1 AND sf_type = ?2");

fn update_subscriber_data(
    db: &mut dyn Session,
    s_id: SubscriberId,
    bit_1: u8,
    sf_type: u8,
    data_a: u8,
) -> Result<Output> {
    let update = planted!(SettingInOtherColumn: &crate::planted::UPDATE_OTHER_BIT; &UPDATE_BIT);
    if db.execute(update, Params::of(&[s_id.0.into(), bit_1.into()]))? != 1 {
        return Err(missing(&UPDATE_BIT));
    }
    let changed = db.execute(&UPDATE_FACILITY, Params::of(&[s_id.0.into(), sf_type.into(), data_a.into()]))?;
    Ok(if changed == 0 { Output::Missed } else { Output::Changed })
}

static UPDATE_LOCATION: Sql = Sql::new("UPDATE subscriber SET vlr_location = ?2 WHERE sub_nbr = ?1");

fn update_location(db: &mut dyn Session, sub_nbr: &Number, vlr_location: i64) -> Result<Output> {
    if planted!(LocationLost) {
        return Ok(Output::Changed);
    }
    let vlr_location = planted!(LocationRounded: vlr_location as f32 as i64; vlr_location);
    match db.execute(&UPDATE_LOCATION, Params::of(&[sub_nbr.into(), vlr_location.into()]))? {
        1 => Ok(Output::Changed),
        _ => Err(missing(&UPDATE_LOCATION)),
    }
}

static SELECT_ID: Sql = Sql::new("SELECT s_id FROM subscriber WHERE sub_nbr = ?1");

fn id_of(db: &mut dyn Session, sub_nbr: &Number) -> Result<i64> {
    let mut found = None;
    db.query(&SELECT_ID, Params::of(&[sub_nbr.into()]), &mut |row| {
        found = Some(row.get(0)?);
        Ok(())
    })?;
    found.ok_or_else(|| missing(&SELECT_ID))
}

static SELECT_FACILITIES: Sql = Sql::new("SELECT sf_type FROM special_facility WHERE s_id = ?1");
static INSERT_FORWARDING: Sql =
    Sql::new("INSERT INTO call_forwarding (s_id, sf_type, start_time, end_time, numberx) VALUES (?1, ?2, ?3, ?4, ?5)");

/// Inserts a row if the subscriber has the service. The published text inserts in any case and counts on the foreign key: that
/// would be another transaction without declared keys.
fn insert_call_forwarding(
    db: &mut dyn Session,
    sub_nbr: &Number,
    sf_type: u8,
    [start_time, end_time]: [u8; 2],
    numberx: &Number,
) -> Result<Output> {
    let s_id = id_of(db, sub_nbr)?;
    let mut has_facility = false;
    db.query(&SELECT_FACILITIES, Params::of(&[s_id.into()]), &mut |row| {
        has_facility |= row.get::<i64>(0)? == i64::from(sf_type);
        Ok(())
    })?;
    if !has_facility && !planted!(ServiceNotNeeded) {
        return Ok(Output::Missed);
    }
    let values = [s_id.into(), sf_type.into(), start_time.into(), end_time.into(), numberx.into()];
    match db.execute(&INSERT_FORWARDING, Params::of(&values)) {
        Ok(_) => Ok(Output::Changed),
        Err(error) if error.kind() == ErrorKind::Duplicate => Ok(Output::Exists),
        Err(error) => Err(error),
    }
}

static DELETE_FORWARDING: Sql =
    Sql::new("DELETE FROM call_forwarding WHERE s_id = ?1 AND sf_type = ?2 AND start_time = ?3");

fn delete_call_forwarding(db: &mut dyn Session, sub_nbr: &Number, sf_type: u8, start_time: u8) -> Result<Output> {
    let s_id = id_of(db, sub_nbr)?;
    let delete = planted!(AllHoursDeleted: &crate::planted::DELETE_ALL_HOURS; &DELETE_FORWARDING);
    let deleted = db.execute(delete, Params::of(&[s_id.into(), sf_type.into(), start_time.into()]))?;
    Ok(if deleted == 0 && !planted!(MissedDeleteCounted) { Output::Missed } else { Output::Changed })
}

/// Each subscriber exists, and none is ever removed.
fn missing(sql: &'static Sql) -> EngineError {
    EngineError::new(ErrorKind::Other, "no such subscriber, of whom each exists").with_statement(sql.text())
}

/// All statements.
pub static STATEMENTS: &[&Sql] = &[
    &SELECT_SUBSCRIBER, &SELECT_DESTINATIONS, &SELECT_ACCESS, &UPDATE_BIT, &UPDATE_FACILITY, &UPDATE_LOCATION,
    &SELECT_ID, &SELECT_FACILITIES, &INSERT_FORWARDING, &DELETE_FORWARDING,
];
