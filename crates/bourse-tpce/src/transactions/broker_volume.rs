//! Broker-Volume (Clause 3.3.1): pending orders of some brokers in a sector, by value. Read-only.

use super::error::{InFrame, WithFrame as _};
use super::perform::{commit, in_transaction};
use super::rows::{self, rows};
use super::{FrameError, Status, Transaction, TxnError};
use bourse_egen::txn::BrokerVolume;
use bourse_engine::{Session, Sql, Value};
use bourse_oltp::planted;
use bourse_schema::{Balance, Text};

/// Output of Broker-Volume.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BrokerVolumeOutput {
    /// -111 if there are more than 40 brokers.
    pub status: Status,
    /// The brokers with pending orders in the sector, the largest volume first.
    pub volumes: Vec<Volume>,
}

rows! {
    /// A broker's pending orders in a sector.
    pub struct Volume {
        /// His name.
        pub broker_name: Text<49>,
        /// Quantity times price, summed.
        pub volume: Balance,
    }
}

/// Largest number of brokers in a request.
const MOST_BROKERS: usize = 40;

/// Runs Broker-Volume.
///
/// # Errors
/// The engine's.
pub fn broker_volume(db: &mut dyn Session, input: &BrokerVolume) -> Result<BrokerVolumeOutput, TxnError> {
    let harness = |db: &mut dyn Session, status: &mut Status| -> Result<_, InFrame> {
        let volumes = frame1(db, input).frame(1)?;
        status.raise_if(volumes.len() > MOST_BROKERS, -111);
        Ok(volumes)
    };
    let (volumes, status) = in_transaction(db, Transaction::BrokerVolume, harness)?;
    Ok(BrokerVolumeOutput { status, volumes })
}

// Joins are in order of execution. From the sector a twelfth of the securities is reached, and of each only its
// pending orders, which the index covers; from the brokers it would be most of the table, since the list names up to 40
// of the 50 brokers that 5,000 customers have.
static PENDING_VOLUMES: Sql = Sql::new(
    "SELECT b_name, sum(tr_qty * tr_bid_price) AS volume
       FROM sector
            CROSS JOIN industry
            CROSS JOIN company
            CROSS JOIN security
            CROSS JOIN trade_request
            CROSS JOIN broker
      WHERE sc_name = ?1
        AND in_sc_id = sc_id
        AND co_in_id = in_id
        AND s_co_id = co_id
        AND tr_s_symb = s_symb
        AND b_id = tr_b_id
        AND b_name IN (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
                       ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41)
      GROUP BY b_name
      ORDER BY volume DESC, b_name",
);

/// Frame 1: sums the pending orders (Clause 3.3.1.3).
fn frame1(db: &mut dyn Session, input: &BrokerVolume) -> Result<Vec<Volume>, FrameError> {
    let names = rows::list::<MOST_BROKERS, _>(&input.broker_list);
    let mut params = [Value::Null; MOST_BROKERS + 1];
    params[0] = (&input.sector_name).into();
    params[1..].copy_from_slice(&names);
    let mut volumes: Vec<Volume> = rows::all(db, &PENDING_VOLUMES, &params)?;
    if planted!(BrokerVolumeShort) {
        volumes.pop();
    }
    commit(db)?;
    Ok(volumes)
}

pub(super) static STATEMENTS: &[&Sql] = &[&PENDING_VOLUMES];
