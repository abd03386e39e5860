//! Broker-Volume (Clause 3.3.1).

use crate::model::arithmetic::worth;
use crate::model::market::Market;
use crate::transactions::Status;
use crate::transactions::broker_volume::{BrokerVolumeOutput, Volume};
use bourse_egen::txn::BrokerVolume;
use bourse_schema::{Balance, Text};
use std::cmp::Reverse;
use std::collections::BTreeMap;

impl Market {
    pub(crate) fn broker_volume(&self, input: &BrokerVolume) -> BrokerVolumeOutput {
        let mut volumes: BTreeMap<Text<49>, i64> = BTreeMap::new();
        for order in self.tables.trade_request.all() {
            let broker = self.tables.broker.get(&(order.tr_b_id,)).expect("every order has a broker");
            let security = self.security(&order.tr_s_symb).expect("every order has a security");
            let company = self.company(security.s_co_id).expect("every security has a company");
            let industry = self.tables.industry.get(&(company.co_in_id,)).expect("every company has an industry");
            let sector = self.tables.sector.get(&(industry.in_sc_id,)).expect("every industry has a sector");
            if sector.sc_name == input.sector_name && input.broker_list.contains(&broker.b_name) {
                *volumes.entry(broker.b_name).or_default() += worth(order.tr_qty, order.tr_bid_price);
            }
        }
        let named = |(broker_name, volume)| Volume { broker_name, volume: Balance::from_units(volume) };
        let mut volumes: Vec<_> = volumes.into_iter().map(named).collect();
        volumes.sort_by_key(|row| (Reverse(row.volume), row.broker_name));
        let mut status = Status::SUCCESS;
        status.raise_if(volumes.len() > 40, -111);
        volumes.truncate(40);
        BrokerVolumeOutput { status, volumes }
    }
}
