//! Rows of a completed trade as lines of the flat files: values that several tables share are printed once.

use bourse_schema::{Date, Field as _, TableRow, Text, tables};

use super::rows::{cash_name, days_and_ms};
use super::simulation::CompletedTrade;
use crate::dates::{BASE, DAY_MS, add_work_days};
use crate::ids::SECURITIES;
use crate::keys::TaxStatus;
use crate::line::{FlatLine, PrintedNumber, two};
use crate::price::Seconds;
use crate::sink::RowSink;
use crate::{Inputs, Money, TradeType};

/// Names of the files' securities, assembled once.
#[derive(Debug, Clone)]
pub(crate) struct SecurityNames(Vec<Text<70>>);

impl SecurityNames {
    pub(crate) fn new(inputs: &Inputs) -> Self {
        Self((0..SECURITIES).map(|index| inputs.security_name(index)).collect())
    }

    /// Name of a security; beyond the files it is assembled on demand.
    #[inline]
    pub(super) fn of(&self, inputs: &Inputs, index: i64) -> Text<70> {
        self.0.get(index as usize).copied().unwrap_or_else(|| inputs.security_name(index))
    }
}

/// Writes trades as lines.
pub(super) struct TradeLines {
    line: FlatLine<640>,
    day: TextDay,
}

/// Texts of one day; most trades are on the same day as the trade before.
struct TextDay {
    number: i64,
    /// `YYYY-MM-DD`.
    text: [u8; 10],
    /// `YYYY-MM-DD` of two days later.
    due: [u8; 10],
}

impl TextDay {
    fn new(number: i64) -> Self {
        let date = add_work_days(BASE, number, 0).date();
        let text = |date: Date| {
            let mut text = Vec::with_capacity(10);
            date.write_flat(&mut text);
            text.try_into().expect("a date has ten characters")
        };
        Self { number, text: text(date), due: text(Date::from_days(date.days() + 2)) }
    }
}

type TextMoment = [u8; 23];

impl TradeLines {
    pub(super) fn new() -> Self {
        Self { line: FlatLine::new(), day: TextDay::new(0) }
    }

    /// Text of a simulated time; caches the day's texts of its date.
    #[inline]
    fn moment(&mut self, time: Seconds) -> TextMoment {
        let (days, ms) = days_and_ms(time);
        let ms = ms + BASE.ms_of_day();
        debug_assert!(ms < DAY_MS, "no order is made after 17:00, and none waits longer than a quarter of an hour");
        if days != self.day.number {
            self.day = TextDay::new(days);
        }
        let ms = ms as u32;
        let (seconds, thousandths) = (ms / 1_000, ms % 1_000);
        let (minutes, s) = (seconds / 60, two(seconds % 60));
        let (h, m) = (two(minutes / 60), two(minutes % 60));
        let (tens, ones) = (two(thousandths / 10), b'0' + (thousandths % 10) as u8);
        let mut text = [0; 23];
        text[..10].copy_from_slice(&self.day.text);
        let clock = [b' ', h[0], h[1], b':', m[0], m[1], b':', s[0], s[1], b'.', tens[0], tens[1], ones];
        text[10..].copy_from_slice(&clock);
        text
    }

    /// Writes the lines of one trade.
    pub(super) fn write(
        &mut self,
        trade: &CompletedTrade,
        executor: &Text<49>,
        inputs: &Inputs,
        names: &SecurityNames,
        sink: &mut impl RowSink,
    ) {
        let mut id = PrintedNumber::new();
        id.trade_id(trade.id.0);
        let mut settlement = PrintedNumber::new();
        settlement.cents(trade.settlement.cents());
        let pending = trade.pending.map(|time| self.moment(time));
        let submitted = self.moment(trade.submitted);
        let completed = self.moment(trade.completed);
        let due = self.day.due;

        let line = &mut self.line;
        line.clear();
        line.printed(&id).bar().fixed(&completed).fixed(b"|CMPT|").fixed(code(trade.kind)).bar();
        line.flag(trade.is_cash).bar().text(&inputs.symbol(trade.security)).bar();
        line.number(i64::from(trade.quantity)).bar().price(trade.bid.cents()).bar();
        line.account(trade.account.0).bar().text(executor).bar().price(trade.price.cents()).bar();
        let tax = if trade.tax_status == TaxStatus::NonTaxable { Money::ZERO } else { trade.tax };
        line.cents(trade.charge.cents()).bar().cents(trade.commission.cents()).bar().cents(tax.cents()).bar();
        line.flag(trade.lifo).end();
        pass::<tables::Trade>(line, sink);

        if let Some(pending) = pending {
            line.printed(&id).bar().fixed(&pending).fixed(b"|PNDG\n");
        }
        line.printed(&id).bar().fixed(&submitted).fixed(b"|SBMT\n");
        line.printed(&id).bar().fixed(&completed).fixed(b"|CMPT\n");
        pass::<tables::TradeHistory>(line, sink);

        line.printed(&id);
        if trade.is_cash {
            line.fixed(b"|Cash Account|");
        } else {
            line.fixed(b"|Margin|");
        }
        line.fixed(&due).bar().printed(&settlement).end();
        pass::<tables::Settlement>(line, sink);

        if trade.is_cash {
            line.printed(&id).bar().fixed(&completed).bar().printed(&settlement).bar();
            line.text(&cash_name(inputs, trade, &names.of(inputs, trade.security))).end();
            pass::<tables::CashTransaction>(line, sink);
        }

        for change in trade.holdings.changes() {
            line.trade_id(change.lot.0).bar().printed(&id).bar();
            line.number(i64::from(change.before)).bar().number(i64::from(change.after)).end();
        }
        pass::<tables::HoldingHistory>(line, sink);
    }
}

/// `TT_ID`, which has three letters.
#[inline]
fn code(kind: TradeType) -> &'static [u8; 3] {
    match kind {
        TradeType::MarketBuy => b"TMB",
        TradeType::MarketSell => b"TMS",
        TradeType::StopLoss => b"TSL",
        TradeType::LimitSell => b"TLS",
        TradeType::LimitBuy => b"TLB",
    }
}

/// Passes lines of a table to the sink and clears the buffer.
#[inline]
fn pass<R: TableRow>(line: &mut FlatLine<640>, sink: &mut impl RowSink) {
    if let Some(lines) = sink.lines::<R>() {
        lines.extend_from_slice(line.as_bytes());
    }
    line.clear();
}
