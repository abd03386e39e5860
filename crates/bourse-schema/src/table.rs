use crate::ColumnType;

/// Declaration of a table, from which DDL, loading, checks and documents are derived.
#[derive(Debug)]
pub struct Table {
    /// SQL name.
    pub name: &'static str,
    /// File name of the reference generator, without `.txt`.
    pub file: &'static str,
    /// First lines of the documentation.
    pub doc: &'static str,
    /// Section of the specification's Clause 2.2.
    pub section: Section,
    /// Dependence of the size on customers and trades.
    pub group: Group,
    /// Number of rows in the initial database.
    pub cardinality: Cardinality,
    /// Columns in the order of the flat file.
    pub columns: &'static [Column],
    /// Primary key; the order of its columns is chosen so that the key serves as an index too.
    pub key: &'static [&'static str],
    /// Foreign keys.
    pub foreign_keys: &'static [ForeignKey],
    /// Secondary indexes.
    pub indexes: &'static [Index],
}

impl Table {
    /// Column of that name.
    pub fn column(&self, name: &str) -> Option<&'static Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// Tables are equal if their names are.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
impl Eq for Table {}

/// Declaration of a column.
#[derive(Debug)]
pub struct Column {
    /// SQL name, which is also the field's.
    pub name: &'static str,
    /// Domain of the values.
    pub column_type: ColumnType,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// Condition that every value must meet, in SQL common to all dialects.
    pub check: Option<&'static str>,
}

/// Columns that refer to a row of another table.
#[derive(Debug)]
pub struct ForeignKey {
    /// Referring columns.
    pub columns: &'static [&'static str],
    /// Referenced table, by its primary key.
    pub parent: fn() -> &'static Table,
}

/// A secondary index.
#[derive(Debug)]
pub struct Index {
    /// SQL name.
    pub name: &'static str,
    /// Columns in order.
    pub columns: &'static [&'static str],
    /// Frames that need the index.
    pub reason: &'static str,
}

/// Sections of tables in Clause 2.2.
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

/// Dependence of a table's size on the configuration (Clause 2.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Equal in every database.
    Fixed,
    /// Proportional to the customers.
    Scaling,
    /// Proportional to the customers at first; grows with every trade.
    Growing,
}

/// Number of rows of the initial database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cardinality {
    /// A fixed number of rows.
    Fixed(u64),
    /// Rows for each load unit of a thousand customers, plus a constant for the whole database.
    PerLoadUnit(u64, u64),
    /// Approximate rows for each load unit; the exact number depends on the random sequence.
    AboutPerLoadUnit(u64),
    /// One row for each initial trade.
    Trades,
    /// Approximate rows for each hundred initial trades.
    AboutPerTrade(u64),
    /// A number that depends on the initial trades.
    FromTrades,
    /// No row at first.
    Empty,
}

/// Finds the table with that SQL name.
///
/// ```
/// assert_eq!(bourse_schema::find("news_xref").unwrap().file, "NewsXRef");
/// ```
pub fn find(name: &str) -> Option<&'static Table> {
    crate::tables::all().iter().copied().find(|table| table.name == name)
}
