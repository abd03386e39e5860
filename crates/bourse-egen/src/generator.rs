//! Generator of all tables: an ordered list of work units, each of which can be made alone, in any order, on any
//! thread.

use bourse_schema::{Table, TableRow as _, tables as t};

use crate::ids::{COMPANIES_PER_LOAD_UNIT, SECURITIES_PER_LOAD_UNIT};
use crate::sink::{RowSink, SinkStopped};
use crate::tables::{self, DailyPrices, NewsGenerator, Words};
use crate::trades::{SecurityNames, TradeRows};
use crate::{Inputs, Part};

/// Securities per unit of daily prices: some four megabytes of flat file.
const SECURITIES_PER_UNIT: i64 = SECURITIES_PER_LOAD_UNIT / 5;
/// Rows between two calls of [`RowSink::chunk_end`].
const ROWS_PER_CHUNK: usize = 1_024;

/// A unit of work: rows of one table or a few. The units' rows, joined in the units' order, are the reference's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowUnit {
    kind: UnitKind,
    /// Index of the load unit in the part, from 0.
    load_unit: i64,
    /// Index of the piece in the load unit, from 0.
    piece: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnitKind {
    Charge,
    CommissionRate,
    Exchange,
    Industry,
    Sector,
    StatusType,
    TaxRate,
    TradeType,
    ZipCode,
    Address,
    Customer,
    Account,
    CustomerTaxrate,
    WatchList,
    Company,
    Competitor,
    DailyMarket,
    Financial,
    LastTrade,
    News,
    Security,
    Trades,
}

impl UnitKind {
    /// Fixed tables in the reference's order.
    const FIXED: [Self; 9] = [
        Self::Charge,
        Self::CommissionRate,
        Self::Exchange,
        Self::Industry,
        Self::Sector,
        Self::StatusType,
        Self::TaxRate,
        Self::TradeType,
        Self::ZipCode,
    ];
    const SCALING: [Self; 12] = [
        Self::Address,
        Self::Customer,
        Self::Account,
        Self::CustomerTaxrate,
        Self::WatchList,
        Self::Company,
        Self::Competitor,
        Self::DailyMarket,
        Self::Financial,
        Self::LastTrade,
        Self::News,
        Self::Security,
    ];

    /// Number of units of a load unit.
    const fn pieces(self) -> i64 {
        match self {
            Self::DailyMarket => SECURITIES_PER_LOAD_UNIT / SECURITIES_PER_UNIT,
            _ => 1,
        }
    }

    fn tables(self) -> Vec<&'static Table> {
        match self {
            Self::Charge => vec![t::Charge::table()],
            Self::CommissionRate => vec![t::CommissionRateRow::table()],
            Self::Exchange => vec![t::Exchange::table()],
            Self::Industry => vec![t::Industry::table()],
            Self::Sector => vec![t::Sector::table()],
            Self::StatusType => vec![t::StatusType::table()],
            Self::TaxRate => vec![t::TaxRateRow::table()],
            Self::TradeType => vec![t::TradeType::table()],
            Self::ZipCode => vec![t::ZipCode::table()],
            Self::Address => vec![t::Address::table()],
            Self::Customer => vec![t::Customer::table()],
            Self::Account => vec![t::CustomerAccount::table(), t::AccountPermission::table()],
            Self::CustomerTaxrate => vec![t::CustomerTaxrate::table()],
            Self::WatchList => vec![t::WatchList::table(), t::WatchItem::table()],
            Self::Company => vec![t::Company::table()],
            Self::Competitor => vec![t::CompanyCompetitor::table()],
            Self::DailyMarket => vec![t::DailyMarket::table()],
            Self::Financial => vec![t::Financial::table()],
            Self::LastTrade => vec![t::LastTrade::table()],
            Self::News => vec![t::NewsItem::table(), t::NewsXRef::table()],
            Self::Security => vec![t::Security::table()],
            Self::Trades => vec![
                t::Trade::table(),
                t::TradeHistory::table(),
                t::Settlement::table(),
                t::CashTransaction::table(),
                t::HoldingHistory::table(),
                t::Broker::table(),
                t::HoldingSummary::table(),
                t::Holding::table(),
            ],
        }
    }
}

impl RowUnit {
    /// Number of the unit's sequence. Units of one sequence make rows of the same tables, which no other unit does:
    /// only they must be joined in order.
    pub const fn sequence(self) -> usize {
        self.kind as usize
    }

    /// Tables that the unit makes rows of.
    pub fn tables(self) -> Vec<&'static Table> {
        self.kind.tables()
    }
}

/// Makes the rows of a part of a database.
///
/// ```no_run
/// use bourse_egen::{PartGenerator, Inputs, Part, RowSink};
/// use bourse_schema::TableRow;
///
/// /// Counts the bytes of the flat files.
/// struct Bytes(Vec<u8>, usize);
/// impl RowSink for Bytes {
///     fn row<R: TableRow>(&mut self, row: R) {
///         self.0.clear();
///         row.write_flat(&mut self.0);
///         self.1 += self.0.len();
///     }
/// }
///
/// # fn read(name: &str) -> Option<Vec<u8>> { std::fs::read(name).ok() }
/// let inputs = Inputs::parse(|name| read(name)).unwrap();
/// let generator = PartGenerator::new(&inputs, Part::whole(1_000, 10).unwrap());
/// let mut bytes = Bytes(Vec::new(), 0);
/// for unit in generator.units(|_| true) {
///     generator.make(unit, &mut bytes).unwrap();
/// }
/// ```
#[derive(Debug)]
pub struct PartGenerator<'a> {
    inputs: &'a Inputs,
    part: Part,
    prices: DailyPrices,
    words: Words,
    names: SecurityNames,
}

impl<'a> PartGenerator<'a> {
    /// A generator of the rows of a part.
    pub fn new(inputs: &'a Inputs, part: Part) -> Self {
        Self { inputs, part, prices: DailyPrices::new(), words: Words::new(inputs), names: SecurityNames::new(inputs) }
    }

    /// Part of the database that is generated.
    pub fn part(&self) -> Part {
        self.part
    }

    /// Units that make rows of at least one of the selected tables, in order.
    ///
    /// Tables of fixed size belong to the part that begins with the database's first customer.
    pub fn units(&self, wanted: impl Fn(&'static Table) -> bool) -> Vec<RowUnit> {
        let wanted = |kind: &UnitKind| kind.tables().into_iter().any(&wanted);
        let fixed = UnitKind::FIXED.into_iter().filter(|_| self.part.is_first());
        let mut units: Vec<RowUnit> =
            fixed.filter(wanted).map(|kind| RowUnit { kind, load_unit: 0, piece: 0 }).collect();
        for kind in UnitKind::SCALING.into_iter().chain([UnitKind::Trades]).filter(wanted) {
            for load_unit in 0..self.part.load_units() {
                units.extend((0..kind.pieces()).map(|piece| RowUnit { kind, load_unit, piece }));
            }
        }
        units
    }

    /// Approximate size of a unit in bytes of flat file, for progress reports.
    pub fn expected_bytes(&self, unit: RowUnit) -> u64 {
        match unit.kind {
            UnitKind::News => 100_500_000,
            UnitKind::DailyMarket => 34_700_000 / unit.kind.pieces() as u64,
            UnitKind::Trades => self.part.trades_per_load_unit() as u64 * 435,
            UnitKind::WatchList => 1_700_000,
            UnitKind::Financial => 1_300_000,
            UnitKind::Account => 650_000,
            UnitKind::ZipCode => 400_000,
            _ => 100_000,
        }
    }

    /// Makes a unit's rows, in chunks of bounded size.
    ///
    /// # Errors
    /// [`SinkStopped`] if the sink accepts no more.
    pub fn make(&self, unit: RowUnit, sink: &mut impl RowSink) -> Result<(), SinkStopped> {
        let inputs = self.inputs;
        // The addresses of exchanges and companies and those of the first customers are one sequence.
        let part = self.part.load_unit(unit.load_unit);
        match unit.kind {
            UnitKind::Charge => all(inputs.charges.iter().cloned(), sink),
            UnitKind::CommissionRate => all(inputs.commission_rates.iter().cloned(), sink),
            UnitKind::Exchange => all(tables::exchanges(inputs, self.part), sink),
            UnitKind::Industry => all(inputs.industries.iter().cloned(), sink),
            UnitKind::Sector => all(inputs.sectors.iter().cloned(), sink),
            UnitKind::StatusType => all(inputs.status_types.iter().cloned(), sink),
            UnitKind::TaxRate => all(tables::taxrates(inputs), sink),
            UnitKind::TradeType => all(inputs.trade_types.iter().cloned(), sink),
            UnitKind::ZipCode => all(tables::zip_codes(inputs), sink),
            UnitKind::Address => all(tables::addresses(inputs, part), sink),
            UnitKind::Customer => all(tables::customers(inputs, part), sink),
            UnitKind::Account => self.accounts(part, sink),
            UnitKind::CustomerTaxrate => all(tables::customer_taxrates(inputs, part), sink),
            UnitKind::WatchList => self.watch_lists(part, sink),
            UnitKind::Company => all(tables::companies(inputs, part), sink),
            UnitKind::Competitor => all(tables::competitors(inputs, part), sink),
            UnitKind::DailyMarket => self.daily_market(part, unit.piece, sink),
            UnitKind::Financial => all(tables::financials(part), sink),
            UnitKind::LastTrade => all(tables::last_trades(inputs, part), sink),
            UnitKind::News => self.news(part, sink),
            UnitKind::Security => all(tables::securities(inputs, part), sink),
            UnitKind::Trades => TradeRows::new(inputs, &self.names, self.part, unit.load_unit).write(sink),
        }
    }

    fn accounts(&self, part: Part, sink: &mut impl RowSink) -> Result<(), SinkStopped> {
        for (n, rows) in tables::accounts(self.inputs, part).enumerate() {
            sink.row(rows.account);
            for permission in rows.permissions {
                sink.row(permission);
            }
            if n % ROWS_PER_CHUNK == ROWS_PER_CHUNK - 1 {
                sink.chunk_end()?;
            }
        }
        sink.chunk_end()
    }

    fn watch_lists(&self, part: Part, sink: &mut impl RowSink) -> Result<(), SinkStopped> {
        for (n, rows) in tables::watch_lists(self.inputs, part).enumerate() {
            sink.row(rows.list);
            for item in rows.items {
                sink.row(item);
            }
            if n % 64 == 63 {
                sink.chunk_end()?;
            }
        }
        sink.chunk_end()
    }

    fn daily_market(&self, part: Part, piece: i64, sink: &mut impl RowSink) -> Result<(), SinkStopped> {
        let first = part.securities().start + piece * SECURITIES_PER_UNIT;
        for security in first..first + SECURITIES_PER_UNIT {
            if let Some(lines) = sink.lines::<t::DailyMarket>() {
                tables::lines_of_daily_market(self.inputs, security, &self.prices, lines);
            } else {
                for row in tables::daily_market(self.inputs, security, &self.prices) {
                    sink.row(row);
                }
            }
            sink.chunk_end()?;
        }
        Ok(())
    }

    fn news(&self, part: Part, sink: &mut impl RowSink) -> Result<(), SinkStopped> {
        let mut news = NewsGenerator::of_load_unit(self.inputs, &self.words, part);
        for _ in 0..COMPANIES_PER_LOAD_UNIT * tables::NEWS_PER_COMPANY {
            let reference = if let Some(lines) = sink.lines::<t::NewsItem>() {
                news.next_line(lines)
            } else {
                let (item, reference) = news.next_rows();
                sink.row(item);
                reference
            };
            sink.row(reference);
            sink.chunk_end()?;
        }
        Ok(())
    }
}

fn all<R: bourse_schema::TableRow>(rows: impl Iterator<Item = R>, sink: &mut impl RowSink) -> Result<(), SinkStopped> {
    for (n, row) in rows.enumerate() {
        sink.row(row);
        if n % ROWS_PER_CHUNK == ROWS_PER_CHUNK - 1 {
            sink.chunk_end()?;
        }
    }
    sink.chunk_end()
}
