use crate::ColumnType;

/// A table as declared: all that DDL, loading, checks and documents need to know of it.
#[derive(Debug)]
pub struct Table {
    /// SQL name.
    pub name: &'static str,
    /// File name of the reference generator, without `.txt`.
    pub file: &'static str,
    /// First lines of its documentation.
    pub doc: &'static str,
    /// The group of the specification's Clause 2.2.
    pub section: Section,
    /// Whether it is fixed in size, scales with customers or grows with trades.
    pub group: Group,
    /// How many rows the initial database has.
    pub cardinality: Cardinality,
    /// Columns in the order of the flat file.
    pub columns: &'static [Column],
    /// Primary key: the order of its columns is chosen so that the key serves as an index too.
    pub key: &'static [&'static str],
    /// Foreign keys.
    pub foreign_keys: &'static [ForeignKey],
    /// Secondary indexes.
    pub indexes: &'static [Index],
}

impl Table {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&'static Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// A table is known by its name.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
impl Eq for Table {}

/// A column as declared.
#[derive(Debug)]
pub struct Column {
    /// SQL name, also the field's.
    pub name: &'static str,
    /// Domain.
    pub column_type: ColumnType,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// A condition every value must meet, in SQL common to all dialects.
    pub check: Option<&'static str>,
}

/// Columns that name a row of another table.
#[derive(Debug)]
pub struct ForeignKey {
    /// The referring columns.
    pub columns: &'static [&'static str],
    /// The table referred to, by its primary key.
    pub parent: fn() -> &'static Table,
}

/// A secondary index.
#[derive(Debug)]
pub struct Index {
    /// SQL name.
    pub name: &'static str,
    /// Columns, in order.
    pub columns: &'static [&'static str],
    /// Frames that need the index.
    pub reason: &'static str,
}

/// The four groups of tables of Clause 2.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Customers, their accounts and holdings.
    Customer,
    /// Brokers, trades and their money.
    Broker,
    /// Companies, securities, prices and news.
    Market,
    /// Addresses, statuses, taxes and zip codes.
    Dimension,
}

/// How a table's size follows from the configuration (Clause 2.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The same in every database.
    Fixed,
    /// Proportional to the customers.
    Scaling,
    /// Proportional to the customers at first, and growing with every trade.
    Growing,
}

/// Rows of the initial database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cardinality {
    /// A fixed number of rows.
    Fixed(u64),
    /// So many for each load unit of a thousand customers, plus a constant for the whole.
    PerLoadUnit(u64, u64),
    /// About so many for each load unit; the exact number depends on the random sequence.
    AboutPerLoadUnit(u64),
    /// One for each initial trade.
    Trades,
    /// About so many hundredths for each initial trade.
    AboutPerTrade(u64),
    /// Depends on the initial trades.
    FromTrades,
    /// None at first.
    Empty,
}

/// The declared table of that SQL name.
///
/// ```
/// assert_eq!(bourse_schema::find("news_xref").unwrap().file, "NewsXRef");
/// ```
pub fn find(name: &str) -> Option<&'static Table> {
    crate::tables::all().iter().copied().find(|table| table.name == name)
}
