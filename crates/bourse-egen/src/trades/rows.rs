//! Rows from completed trades: TRADE, TRADE_HISTORY, SETTLEMENT, CASH_TRANSACTION, HOLDING_HISTORY, and at the end of
//! the load unit BROKER, HOLDING_SUMMARY and HOLDING (Clauses 2.2.5 and 2.2.6).

use bourse_schema::{Date, StatusId, Text, Timestamp, TradeTypeId, tables};

use super::holdings::HoldingLot;
use super::lines::{SecurityNames, TradeLines};
use super::simulation::{CompletedTrade, Simulation};
use crate::dates::{BASE, add_work_days};
use crate::ids::BROKERS_PER_LOAD_UNIT;
use crate::keys::{Person, TaxStatus};
use crate::price::Seconds;
use crate::round::decimal;
use crate::sink::{RowSink, SinkStopped};
use crate::{Inputs, Part, TradeStatusId, TradeType};

/// Trades between two calls of [`RowSink::chunk_end`].
const TRADES_PER_CHUNK: i64 = 128;

/// Makes the rows of one load unit's trades.
#[derive(Debug)]
pub(crate) struct TradeRows<'a> {
    inputs: &'a Inputs,
    names_of_securities: &'a SecurityNames,
    simulation: Simulation<'a>,
    names: RowTexts,
    brokers: [BrokerTotals; BROKERS_PER_LOAD_UNIT as usize],
}

/// Constant texts.
#[derive(Debug)]
struct RowTexts {
    completed: StatusId,
    submitted: StatusId,
    pending: StatusId,
    types: [TradeTypeId; 5],
    cash_account: Text<40>,
    margin: Text<40>,
}

#[derive(Debug, Clone, Copy, Default)]
struct BrokerTotals {
    trades: i32,
    /// Sum of commissions in dollars as a double, in the order of completion, as in the reference.
    commission: f64,
}

impl<'a> TradeRows<'a> {
    /// Rows of load unit `index` (from 0) of a part.
    ///
    /// # Panics
    /// Panics if there is no such load unit.
    pub(crate) fn new(inputs: &'a Inputs, names_of_securities: &'a SecurityNames, part: Part, index: i64) -> Self {
        Self {
            inputs,
            names_of_securities,
            simulation: Simulation::new(inputs, part, index),
            names: RowTexts {
                completed: TradeStatusId::Completed.id(),
                submitted: TradeStatusId::Submitted.id(),
                pending: TradeStatusId::Pending.id(),
                types: TradeType::ALL.map(TradeType::text),
                cash_account: Text::cut("Cash Account"),
                margin: Text::cut("Margin"),
            },
            brokers: Default::default(),
        }
    }

    /// Makes all rows.
    ///
    /// # Errors
    /// [`SinkStopped`] if the sink accepts no more.
    pub(crate) fn write(mut self, sink: &mut impl RowSink) -> Result<(), SinkStopped> {
        let mut made = 0;
        // A sink that takes lines takes them of all five tables.
        let mut lines = sink.lines::<tables::Trade>().map(|_| TradeLines::new());
        while let Some(trade) = self.simulation.next() {
            self.credit_broker(&trade);
            match &mut lines {
                Some(lines) => {
                    let owner = self.simulation.owner(trade.customer);
                    lines.write(&trade, &owner.name, self.inputs, self.names_of_securities, sink);
                }
                None => self.trade(&trade, sink),
            }
            made += 1;
            if made % TRADES_PER_CHUNK == 0 {
                sink.chunk_end()?;
            }
        }
        self.end_of_load_unit(sink)
    }

    fn credit_broker(&mut self, trade: &CompletedTrade) {
        let broker = &mut self.brokers[(trade.broker.0 - self.simulation.first_broker().0) as usize];
        broker.trades += 1;
        broker.commission += trade.commission.dollars();
    }

    fn trade(&self, trade: &CompletedTrade, sink: &mut impl RowSink) {
        let t_dts = moment(trade.completed);
        let taxable = trade.tax_status != TaxStatus::NonTaxable;
        sink.row(tables::Trade {
            t_id: trade.id,
            t_dts,
            t_st_id: self.names.completed,
            t_tt_id: self.names.types[trade.kind as usize],
            t_is_cash: trade.is_cash,
            t_s_symb: self.inputs.symbol(trade.security),
            t_qty: trade.quantity,
            t_bid_price: trade.bid.into(),
            t_ca_id: trade.account,
            t_exec_name: self.simulation.owner(trade.customer).name,
            t_trade_price: Some(trade.price.into()),
            t_chrg: trade.charge.into(),
            t_comm: trade.commission.into(),
            t_tax: if taxable { trade.tax.into() } else { Default::default() },
            t_lifo: trade.lifo,
        });
        let mut history = |time, th_st_id| sink.row(tables::TradeHistory { th_t_id: trade.id, th_dts: time, th_st_id });
        if let Some(pending) = trade.pending {
            history(moment(pending), self.names.pending);
        }
        history(moment(trade.submitted), self.names.submitted);
        history(t_dts, self.names.completed);
        sink.row(tables::Settlement {
            se_t_id: trade.id,
            se_cash_type: if trade.is_cash { self.names.cash_account } else { self.names.margin },
            // Two days of the calendar: weekends do not count.
            se_cash_due_date: Date::from_days(t_dts.date().days() + 2),
            se_amt: trade.settlement.into(),
        });
        if trade.is_cash {
            sink.row(tables::CashTransaction {
                ct_t_id: trade.id,
                ct_dts: t_dts,
                ct_amt: trade.settlement.into(),
                ct_name: self.cash_name(trade),
            });
        }
        for change in trade.holdings.changes() {
            sink.row(tables::HoldingHistory {
                hh_h_t_id: change.lot,
                hh_t_id: trade.id,
                hh_before_qty: change.before,
                hh_after_qty: change.after,
            });
        }
    }

    fn cash_name(&self, trade: &CompletedTrade) -> Text<100> {
        cash_name(self.inputs, trade, &self.names_of_securities.of(self.inputs, trade.security))
    }

    fn end_of_load_unit(&self, sink: &mut impl RowSink) -> Result<(), SinkStopped> {
        for (totals, n) in self.brokers.iter().zip(0..) {
            let id = bourse_schema::BrokerId(self.simulation.first_broker().0 + n);
            sink.row(tables::Broker {
                b_id: id,
                b_st_id: TradeStatusId::Active.id(),
                b_name: Person::from(id).formal_name(self.inputs),
                b_num_trades: totals.trades,
                b_comm_total: decimal(totals.commission),
            });
        }
        let accounts = &self.simulation.accounts;
        let mut made = 0;
        for (account, place) in accounts.all() {
            let held = accounts.account(place);
            let lists = &self.simulation.lots[held.lists as usize..];
            for (&security, lots) in held.basket.securities().iter().zip(lists) {
                if lots.is_empty() {
                    continue;
                }
                let symbol = self.inputs.symbol(i64::from(security));
                let quantity = lots.iter().map(HoldingLot::quantity).sum();
                sink.row(tables::HoldingSummary { hs_ca_id: account, hs_s_symb: symbol, hs_qty: quantity });
                for lot in lots {
                    sink.row(tables::Holding {
                        h_t_id: self.simulation.maker(lot),
                        h_ca_id: account,
                        h_s_symb: symbol,
                        h_dts: moment(lot.time),
                        h_price: lot.price().into(),
                        h_qty: lot.quantity(),
                    });
                }
                made += 1;
                if made % TRADES_PER_CHUNK == 0 {
                    sink.chunk_end()?;
                }
            }
        }
        sink.chunk_end()
    }
}

/// Text `Market-Sell 100 shares of COMMON of Some Company`.
pub(super) fn cash_name(inputs: &Inputs, trade: &CompletedTrade, security: &Text<70>) -> Text<100> {
    let mut name = Text::cut(inputs.trade_types[trade.kind as usize].tt_name.as_str());
    // Orders are of one of four sizes.
    name.push(match trade.quantity {
        100 => " 100 shares of ",
        200 => " 200 shares of ",
        400 => " 400 shares of ",
        _ => " 800 shares of ",
    });
    name.push(security.as_str());
    name
}

/// Simulated time in the form of tables: weekends are omitted.
fn moment(time: Seconds) -> Timestamp {
    let (days, ms) = days_and_ms(time);
    add_work_days(BASE, days, ms)
}

/// Whole days of a simulated time, and milliseconds.
#[inline]
pub(super) fn days_and_ms(time: Seconds) -> (i64, i64) {
    let days = (time / 86_400.0) as i64;
    (days, ((time - (days * 86_400) as f64) * 1_000.0) as i64)
}
