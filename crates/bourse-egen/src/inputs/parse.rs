//! Reading the files, with every property checked that the algorithms or the database rely on.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use std::collections::{HashMap, HashSet};

use bourse_schema::{Amount, CommissionRate, TaxRate, tables};

use super::read::{File, InputLine};
use super::{
    BucketedRecords, CompanyRecord, CompetitorRecord, ExchangeRecord, FILES, InputError, Inputs, SecurityRecord, Tax,
    WeightedRecords, Zip,
};
use crate::round::rounded;
use crate::{COMPANIES, COMPETITORS, Money, SECURITIES, TradeStatusId, TradeType};

/// The four quantity bands of each commission.
const BANDS: usize = 4;

impl Inputs {
    /// Parses the [`FILES`]; `file` returns the contents for a name without `.txt`.
    ///
    /// # Errors
    /// [`InputError`] with file, line, expected and actual content.
    pub fn parse(mut file: impl FnMut(&'static str) -> Option<Vec<u8>>) -> Result<Self, InputError> {
        let mut files = InputBytes { bytes: HashMap::new() };
        let mut fingerprint = InputHash::new();
        for name in FILES {
            let bytes = file(name).ok_or(InputError::Missing { file: name })?;
            fingerprint.add(name.as_bytes());
            fingerprint.add(&bytes);
            files.bytes.insert(name, bytes);
        }
        files.parse(fingerprint.0)
    }
}

/// The files' bytes by name.
struct InputBytes {
    bytes: HashMap<&'static str, Vec<u8>>,
}

impl InputBytes {
    fn file(&self, name: &'static str, columns: &'static [&'static str]) -> File<'_> {
        File::new(name, self.bytes.get(name).map_or(&[], Vec::as_slice), columns)
    }

    fn parse(&self, fingerprint: u128) -> Result<Inputs, InputError> {
        let status_types = self.status_types()?;
        let trade_types = self.trade_types()?;
        let sectors = self.sectors()?;
        let industries = self.industries(&sectors)?;
        let exchanges = self.exchanges()?;
        let (charges, charge_of) = self.charges()?;
        let (commission_rates, rates) = self.commission_rates(&exchanges)?;
        let companies = self.companies(&industries)?;
        let securities = self.securities(&exchanges)?;
        let by_symbol = securities.iter().zip(0..).map(|(security, n)| (security.symbol, n)).collect();
        Ok(Inputs {
            area_codes: self.weighted("AreaCode", &["weight", "area code"], |r| r.text(1))?,
            female_first_names: self.weighted("FemaleFirstName", &["weight", "name"], |r| r.text(1))?,
            male_first_names: self.weighted("MaleFirstName", &["weight", "name"], |r| r.text(1))?,
            last_names: self.weighted("LastName", &["weight", "name"], |r| r.text(1))?,
            street_names: self.weighted("StreetName", &["weight", "name"], |r| r.text(1))?,
            street_suffixes: self.weighted("StreetSuffix", &["weight", "suffix"], |r| r.text(1))?,
            ratings: self.weighted("CompanySPRate", &["weight", "rating"], |r| r.text(1))?,
            zip_codes: self.zip_codes()?,
            country_taxes: self.taxes("TaxRatesCountry", 2)?,
            division_taxes: self.taxes("TaxRatesDivision", 64)?,
            competitors: self.competitors(&industries)?,
            taxable_account_names: self.file("TaxableAccountName", &["name"]).read(|r| r.text(0))?,
            nontaxable_account_names: self.file("NonTaxableAccountName", &["name"]).read(|r| r.text(0))?,
            companies,
            securities,
            exchanges,
            charges,
            commission_rates,
            trade_types,
            status_types,
            industries,
            sectors,
            charge_of,
            rates,
            by_symbol,
            fingerprint,
        })
    }

    fn weighted<'a, T>(
        &'a self,
        name: &'static str,
        columns: &'static [&'static str],
        each: impl FnMut(&InputLine<'a>) -> Result<T, InputError>,
    ) -> Result<WeightedRecords<T>, InputError> {
        WeightedRecords::read(&self.file(name, columns), each)
    }

    fn status_types(&self) -> Result<Vec<tables::StatusType>, InputError> {
        let mut expected = TradeStatusId::CODES.iter();
        self.file("StatusType", &["id", "name"]).read_exactly(TradeStatusId::CODES.len(), |r| {
            in_order(r, 0, expected.next())?;
            Ok(tables::StatusType { st_id: r.text(0)?, st_name: r.text(1)? })
        })
    }

    fn trade_types(&self) -> Result<Vec<tables::TradeType>, InputError> {
        let mut expected = TradeType::ALL.iter();
        let file = self.file("TradeType", &["id", "name", "is sell", "is market"]);
        file.read_exactly(TradeType::ALL.len(), |r| {
            let kind = expected.next();
            in_order(r, 0, kind.map(|kind| kind.id()).as_ref())?;
            let row = tables::TradeType {
                tt_id: r.text(0)?,
                tt_name: r.text(1)?,
                tt_is_sell: r.flag(2)?,
                tt_is_mrkt: r.flag(3)?,
            };
            let agrees = kind.map(|kind| [kind.is_sell() == row.tt_is_sell, kind.is_market() == row.tt_is_mrkt]);
            match agrees {
                Some([false, _]) => Err(r.wrong(2, "true to the type")),
                Some([_, false]) => Err(r.wrong(3, "true to the type")),
                _ => Ok(row),
            }
        })
    }

    fn sectors(&self) -> Result<Vec<tables::Sector>, InputError> {
        let mut seen = HashSet::new();
        self.file("Sector", &["id", "name"]).read(|r| {
            new(r, 0, &mut seen)?;
            Ok(tables::Sector { sc_id: r.text(0)?, sc_name: r.text(1)? })
        })
    }

    fn industries(&self, sectors: &[tables::Sector]) -> Result<Vec<tables::Industry>, InputError> {
        let known: Vec<&str> = sectors.iter().map(|row| row.sc_id.as_str()).collect();
        let mut seen = HashSet::new();
        self.file("Industry", &["id", "name", "sector id"]).read(|r| {
            new(r, 0, &mut seen)?;
            r.one_of(2, &known, "from Sector.txt")?;
            Ok(tables::Industry { in_id: r.text(0)?, in_name: r.text(1)?, in_sc_id: r.text(2)? })
        })
    }

    fn exchanges(&self) -> Result<Vec<ExchangeRecord>, InputError> {
        let mut address = 0;
        let mut seen = HashSet::new();
        let file = self.file("Exchange", &["id", "name", "open", "close", "description", "address id"]);
        file.read_exactly(4, |r| {
            address = i64::saturating_add(address, 1);
            new(r, 0, &mut seen)?;
            Ok(ExchangeRecord {
                id: r.text(0)?,
                name: r.text(1)?,
                open: r.whole(2, 0..=2_400)?,
                close: r.whole(3, 0..=2_400)?,
                description: r.text(4)?,
                address: r.whole(5, address..=address)?,
            })
        })
    }

    fn charges(&self) -> Result<(Vec<tables::Charge>, [[Money; 3]; 5]), InputError> {
        let mut by_type_and_tier = [[None; 3]; 5];
        let file = self.file("Charge", &["trade type", "tier", "charge"]);
        let rows = file.read_exactly(15, |r| {
            let kind = r.one_of(0, &TradeType::IDS, "from TradeType.txt")?;
            let tier: u8 = r.whole(1, 1..=3)?;
            let dollars = r.real(2)?;
            let tiers = by_type_and_tier.get_mut(kind);
            let slot = tiers.and_then(|tiers| tiers.get_mut(usize::from(tier.saturating_sub(1))));
            if slot.is_none_or(|slot| slot.replace(Money::from_dollars(dollars)).is_some()) {
                return Err(r.wrong(1, "once for each trade type"));
            }
            Ok(tables::Charge {
                ch_tt_id: r.text(0)?,
                ch_c_tier: tier,
                ch_chrg: Amount::from_units(rounded(dollars, 2)),
            })
        })?;
        let all = by_type_and_tier.map(|tiers| tiers.map(|charge| charge.expect("15 different pairs are all of them")));
        Ok((rows, all))
    }

    fn commission_rates(
        &self,
        exchanges: &[ExchangeRecord],
    ) -> Result<(Vec<tables::CommissionRateRow>, Vec<f64>), InputError> {
        let columns = &["tier", "trade type", "exchange", "from quantity", "to quantity", "rate"];
        let file = self.file("CommissionRate", columns);
        let mut place = 0;
        let mut next_from = 1;
        let read = file.read_exactly(3 * 5 * 4 * BANDS, |r| {
            let (band, exchange) = (place % BANDS, place / BANDS % 4);
            let (kind, tier) = (place / BANDS / 4 % 5, ((place / BANDS / 20) as u8).saturating_add(1));
            place = usize::saturating_add(place, 1);
            let tier: u8 = r.whole(0, tier..=tier.min(3))?;
            in_order(r, 1, TradeType::IDS.get(kind))?;
            in_order(r, 2, exchanges.get(exchange).map(|exchange| exchange.id.as_str()).as_ref())?;
            if band == 0 {
                next_from = 1;
            }
            let from: i32 = r.whole(3, next_from..=next_from)?;
            // The generator trades up to 800 shares at a time, which the last band must reach.
            let least = from.saturating_add(1).max(if band == BANDS - 1 { 800 } else { 0 });
            let to: i32 = r.whole(4, least..=999_999)?;
            next_from = to.saturating_add(1);
            let rate = r.real(5)?;
            let row = tables::CommissionRateRow {
                cr_c_tier: tier,
                cr_tt_id: r.text(1)?,
                cr_ex_id: r.text(2)?,
                cr_from_qty: from,
                cr_to_qty: to,
                cr_rate: CommissionRate::from_units(rounded(rate, 2)),
            };
            Ok((row, rate))
        })?;
        Ok(read.into_iter().unzip())
    }

    fn companies(&self, industries: &[tables::Industry]) -> Result<Vec<CompanyRecord>, InputError> {
        let known: Vec<&str> = industries.iter().map(|row| row.in_id.as_str()).collect();
        let mut number = 0;
        let mut seen = HashSet::new();
        let file = self.file("Company", &["id", "status", "name", "industry id", "description"]);
        file.read_exactly(COMPANIES as usize, |r| {
            number = u32::saturating_add(number, 1);
            r.whole(0, number..=number)?;
            r.one_of(1, &TradeStatusId::CODES, "from StatusType.txt")?;
            new(r, 2, &mut seen)?;
            r.one_of(3, &known, "from Industry.txt")?;
            Ok(CompanyRecord { status: r.text(1)?, name: r.text(2)?, industry: r.text(3)?, description: r.text(4)? })
        })
    }

    fn competitors(&self, industries: &[tables::Industry]) -> Result<Vec<CompetitorRecord>, InputError> {
        let known: Vec<&str> = industries.iter().map(|row| row.in_id.as_str()).collect();
        let file = self.file("CompanyCompetitor", &["company id", "competitor id", "industry id"]);
        let mut seen = HashSet::new();
        file.read_exactly(COMPETITORS as usize, |r| {
            r.one_of(2, &known, "from Industry.txt")?;
            let record = CompetitorRecord {
                company: r.whole(0, 1..=COMPANIES)?,
                competitor: r.whole(1, 1..=COMPANIES)?,
                industry: r.text(2)?,
            };
            if !seen.insert((record.company, record.competitor, record.industry)) {
                return Err(r.wrong(1, "once for each company and industry"));
            }
            Ok(record)
        })
    }

    fn securities(&self, exchanges: &[ExchangeRecord]) -> Result<Vec<SecurityRecord>, InputError> {
        let known: Vec<&str> = exchanges.iter().map(|exchange| exchange.id.as_str()).collect();
        let mut number = 0;
        let mut seen = HashSet::new();
        let file = self.file("Security", &["id", "status", "symbol", "issue", "exchange id", "company id"]);
        file.read_exactly(SECURITIES as usize, |r| {
            number = u32::saturating_add(number, 1);
            r.whole(0, number..=number)?;
            r.one_of(1, &TradeStatusId::CODES, "from StatusType.txt")?;
            new(r, 2, &mut seen)?;
            if r.raw(2).contains('-') {
                return Err(r.wrong(2, "without '-', which larger databases append"));
            }
            Ok(SecurityRecord {
                status: r.text(1)?,
                symbol: r.text(2)?,
                issue: r.text(3)?,
                exchange: r.one_of(4, &known, "from Exchange.txt")? as u8,
                company: r.whole(5, 1..=COMPANIES)?,
            })
        })
    }

    fn zip_codes(&self) -> Result<WeightedRecords<Zip>, InputError> {
        let mut seen = HashSet::new();
        self.weighted("ZipCode", &["weight", "division number", "zip code", "town", "division"], |r| {
            new(r, 2, &mut seen)?;
            let row = tables::ZipCode { zc_code: r.text(2)?, zc_town: r.text(3)?, zc_div: r.text(4)? };
            Ok(Zip { division: r.whole(1, 1..=64)?, row })
        })
    }

    fn taxes(&self, name: &'static str, buckets: usize) -> Result<BucketedRecords<Tax>, InputError> {
        let mut seen = HashSet::new();
        BucketedRecords::read(&self.file(name, &["bucket", "tax id", "name", "rate"]), buckets, |r| {
            new(r, 1, &mut seen)?;
            let rate = r.real(3)?;
            let tx_rate = TaxRate::from_units(rounded(rate, 5));
            Ok(Tax { rate, row: tables::TaxRateRow { tx_id: r.text(1)?, tx_name: r.text(2)?, tx_rate } })
        })
    }
}

/// Checks that the column has the expected name: the order of these files is part of the algorithms.
fn in_order(record: &InputLine<'_>, column: usize, expected: Option<&&str>) -> Result<(), InputError> {
    match expected {
        // More records than expected: the count will be refused.
        None => Ok(()),
        Some(name) if *name == record.raw(column) => Ok(()),
        Some(name) => Err(record.wrong(column, format!("{name:?} in this place"))),
    }
}

/// Checks that the column has a value that no earlier line has.
fn new<'a>(record: &InputLine<'a>, column: usize, seen: &mut HashSet<&'a str>) -> Result<(), InputError> {
    if seen.insert(record.raw(column)) { Ok(()) } else { Err(record.wrong(column, "that no line before has")) }
}

/// FNV-1a of 128 bits.
struct InputHash(u128);

impl InputHash {
    fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    fn add(&mut self, bytes: &[u8]) {
        // The length separates the end of one file from the beginning of the next.
        for byte in bytes.iter().copied().chain((bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}
