use crate::dates::{BASE, WORK_DAY_SECONDS, add_work_days};
use crate::ids::{COMPANIES_PER_LOAD_UNIT, LOAD_UNIT, SECURITIES_PER_LOAD_UNIT};
use bourse_schema::Timestamp;

/// Range of customers of a database: the generator's parameters.
///
/// Parts of one database can be made separately and joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Part {
    first: i64,
    count: i64,
    total: i64,
    scale_factor: i64,
    days: i64,
}

/// Invalid parameters of a part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// A first customer that does not begin a load unit.
    #[error("first customer {0} does not begin a load unit: expected 1, 1001, 2001 and so on, up to {MOST_CUSTOMERS}")]
    First(i64),
    /// A number of customers that is not a multiple of a load unit.
    #[error("customer count {0} is out of range: expected a multiple of 1000 from 1000 to {MOST_CUSTOMERS}")]
    Count(i64),
    /// A total number of customers that is not a multiple of a load unit.
    #[error("total of customers {0} is out of range: expected a multiple of 1000 from 1000 to {MOST_CUSTOMERS}")]
    Total(i64),
    /// A scale factor without a round number of trades.
    #[error(
        "scale factor {0} does not fit: 28,800,000 divided by it must be a positive multiple of 100 (500 is the specification's)"
    )]
    ScaleFactor(i64),
    /// A number of days without any trading, or with too many trades.
    #[error(
        "initial trade days {0} are out of range: expected 1 to 10000, and fewer than 2^32 trades of a thousand customers"
    )]
    Days(i64),
}

/// Maximum number of customers for which the identifiers' arithmetic is checked.
pub const MOST_CUSTOMERS: i64 = 200_000_000;

impl Part {
    /// A part of `count` customers from the `first` (counted from 1) of a database of `total`, with `scale_factor`
    /// customers for each transaction a second of nominal throughput and `days` days of initial trades.
    ///
    /// As in the reference, a total too small for the part grows to its last customer.
    ///
    /// # Errors
    /// [`PartError`] for a parameter out of its range.
    ///
    /// ```
    /// use bourse_egen::Part;
    /// let second_half = Part::new(1_001, 1_000, 2_000, 500, 10)?;
    /// assert_eq!((second_half.load_units_before(), second_half.is_first()), (1, false));
    /// assert_eq!(second_half.trades_per_load_unit(), 10 * 28_800 * 1_000 / 500);
    /// assert!(Part::new(2, 1_000, 2_000, 500, 10).is_err()); // begins no load unit
    /// # Ok::<(), bourse_egen::PartError>(())
    /// ```
    pub const fn new(first: i64, count: i64, total: i64, scale_factor: i64, days: i64) -> Result<Self, PartError> {
        if first < 1 || first > MOST_CUSTOMERS || first % LOAD_UNIT != 1 {
            return Err(PartError::First(first));
        }
        if count < 1 || count > MOST_CUSTOMERS || count % LOAD_UNIT != 0 {
            return Err(PartError::Count(count));
        }
        if total < 1 || total > MOST_CUSTOMERS || total % LOAD_UNIT != 0 {
            return Err(PartError::Total(total));
        }
        if scale_factor < 1
            || WORK_DAY_SECONDS * 1_000 < scale_factor
            || WORK_DAY_SECONDS * 1_000 / scale_factor % 100 != 0
        {
            return Err(PartError::ScaleFactor(scale_factor));
        }
        // A load unit's orders, one in a hundred aborted, are counted in 32 bits.
        if days < 1 || days > 10_000 || days * WORK_DAY_SECONDS * 1_000 / scale_factor * 101 / 100 > u32::MAX as i64 {
            return Err(PartError::Days(days));
        }
        let last = first + count - 1;
        Ok(Self { first, count, total: if total < last { last } else { total }, scale_factor, days })
    }

    /// The whole of a database with the specification's scale factor of 500.
    ///
    /// # Errors
    /// [`PartError`] for a parameter out of its range.
    pub const fn whole(customers: i64, days: i64) -> Result<Self, PartError> {
        Self::new(1, customers, customers, 500, days)
    }

    /// Load unit `index` of this part, as a separate part.
    ///
    /// # Panics
    /// Panics if there is no such load unit.
    pub fn load_unit(self, index: i64) -> Self {
        assert!((0..self.load_units()).contains(&index), "load unit {index} of {}", self.load_units());
        Self { first: self.first + index * LOAD_UNIT, count: LOAD_UNIT, ..self }
    }

    /// Ordinal of the first customer, counted from 1.
    pub const fn first_customer(self) -> i64 {
        self.first
    }

    /// Number of customers.
    pub const fn customers(self) -> i64 {
        self.count
    }

    /// Number of customers of the whole database.
    pub const fn total_customers(self) -> i64 {
        self.total
    }

    /// Customers for each transaction a second of nominal throughput.
    pub const fn scale_factor(self) -> i64 {
        self.scale_factor
    }

    /// Work days of initial trades.
    pub const fn days(self) -> i64 {
        self.days
    }

    /// Number of load units.
    pub const fn load_units(self) -> i64 {
        self.count / LOAD_UNIT
    }

    /// Number of load units of the database before this part.
    pub const fn load_units_before(self) -> i64 {
        self.first / LOAD_UNIT
    }

    /// Whether the part begins with the database's first customer: only then the fixed tables and the addresses of
    /// exchanges and companies are written.
    pub const fn is_first(self) -> bool {
        self.first == 1
    }

    /// Indices of the part's companies.
    pub const fn companies(self) -> std::ops::Range<i64> {
        let start = self.load_units_before() * COMPANIES_PER_LOAD_UNIT;
        start..start + self.load_units() * COMPANIES_PER_LOAD_UNIT
    }

    /// Indices of the part's securities.
    pub const fn securities(self) -> std::ops::Range<i64> {
        let start = self.load_units_before() * SECURITIES_PER_LOAD_UNIT;
        start..start + self.load_units() * SECURITIES_PER_LOAD_UNIT
    }

    /// Number of companies of the whole database.
    pub const fn total_companies(self) -> i64 {
        self.total / LOAD_UNIT * COMPANIES_PER_LOAD_UNIT
    }

    /// Number of securities of the whole database, from which baskets and watch lists are drawn.
    pub const fn total_securities(self) -> i64 {
        self.total / LOAD_UNIT * SECURITIES_PER_LOAD_UNIT
    }

    /// Completed initial trades of each load unit.
    pub const fn trades_per_load_unit(self) -> i64 {
        self.days * WORK_DAY_SECONDS * 1_000 / self.scale_factor
    }

    /// End of the initial trades and opening of the market: 09:00 after the last of their days.
    pub const fn opening(self) -> Timestamp {
        add_work_days(BASE, self.days, 0)
    }
}
