//! Products with MySQL's protocol: their differences.

use crate::dialect::{of_mysql, of_optional_keys, of_tidb};
use crate::options::Flavour;
use bourse_engine::{Dialect, Isolation};
use bourse_server::client::Product;

/// Differences of a product from MySQL.
#[derive(Debug)]
pub(crate) struct MysqlFacts {
    /// Whether it has `CHECK TABLE`.
    pub(crate) check_table: bool,
    /// Strictest isolation level that it accepts.
    pub(crate) strictest: Isolation,
    /// Whether its default installation accepts several statements in one text.
    pub(crate) several_statements: bool,
    /// Whether its default installation accepts read-only transactions.
    pub(crate) read_only: bool,
    /// `sql_mode` of its sessions.
    pub(crate) sql_mode: &'static str,
    /// Whether `ANALYZE TABLE` takes several tables.
    pub(crate) analyzes_several: bool,
    /// Whether tables can be moved to another database with the foreign keys that refer to them. If not, a database is
    /// loaded in place.
    pub(crate) moves_tables: bool,
    /// Whether a database may be spread over shards.
    pub(crate) shards: bool,
    /// Whether its list of connections is of clients, and not of a gate's own connections.
    pub(crate) lists_clients: bool,
    /// Whether MySQL's variables determine its durability.
    pub(crate) durability: bool,
    /// Variable without which it ignores checks.
    pub(crate) checks: Option<&'static str>,
    /// Dialect, by whether foreign keys and checks are declared.
    pub(crate) dialect: fn(bool, bool) -> &'static Dialect,
}

/// MySQL and MariaDB themselves. Texts are those of standard SQL, and values are never silently adjusted.
pub(crate) static OWN: MysqlFacts = MYSQL;

const MYSQL: MysqlFacts = MysqlFacts {
    check_table: true,
    strictest: Isolation::Serializable,
    several_statements: true,
    read_only: true,
    sql_mode: "STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,ANSI_QUOTES,NO_ZERO_IN_DATE,NO_ZERO_DATE,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION",
    analyzes_several: true,
    moves_tables: true,
    shards: false,
    lists_clients: true,
    durability: true,
    checks: None,
    dialect: of_mysql,
};

/// MariaDB with tables of MyRocks, which refuses serializable transactions.
pub(crate) static MYROCKS: MysqlFacts =
    MysqlFacts { strictest: Isolation::RepeatableRead, dialect: of_optional_keys, ..MYSQL };

/// Differences of a flavour's server from MySQL.
pub(crate) fn of_flavour(flavour: Flavour) -> &'static MysqlFacts {
    let is_it = |product: &&Product<MysqlFacts>| product.name.eq_ignore_ascii_case(flavour.name());
    PRODUCTS.iter().find(is_it).map_or(&OWN, |product| &product.facts)
}

pub(crate) static PRODUCTS: &[Product<MysqlFacts>] = &[
    // As it is installed it has no `CHECK TABLE`, and refuses SERIALIZABLE (8048; `tidb_skip_isolation_level_check`), several
    // statements (8130; `tidb_multi_statement_mode`) and `START TRANSACTION READ ONLY` (1235; `tidb_enable_noop_functions`). A
    // foreign key goes on naming the table by the database that it was moved from.
    Product {
        name: "TiDB",
        mark: "TiDB",
        was_run: true,
        facts: MysqlFacts {
            check_table: false,
            strictest: Isolation::RepeatableRead,
            several_statements: false,
            read_only: false,
            moves_tables: false,
            durability: false,
            checks: Some("tidb_enable_check_constraint"),
            dialect: of_tidb,
            ..MYSQL
        },
    },
    // Its parser has no `CHECK TABLE` and takes one table in `ANALYZE TABLE`; a keyspace's tables stay in it. Whatever the mode it
    // sends texts with backslashes to MySQL, and takes `||` for OR.
    Product {
        name: "Vitess",
        mark: "Vitess",
        was_run: true,
        facts: MysqlFacts {
            check_table: false,
            sql_mode: "STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION",
            analyzes_several: false,
            moves_tables: false,
            shards: true,
            lists_clients: false,
            durability: false,
            dialect: of_optional_keys,
            ..MYSQL
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_known_by_its_version() {
        let name = |version: &str| Product::of(PRODUCTS, version).map(|product| product.name);
        assert_eq!(name("8.0.11-TiDB-v7.5.1"), Some("TiDB"));
        assert_eq!(name("8.0.30-Vitess"), Some("Vitess"));
        assert_eq!(name("10.11.19-MariaDB-0+deb12u1"), None);
        assert_eq!(name("8.0.36"), None);
        assert!(std::ptr::eq(of_flavour(Flavour::Mariadb), &raw const OWN));
        assert_eq!(of_flavour(Flavour::Tidb).checks, Some("tidb_enable_check_constraint"));
        assert!(!of_flavour(Flavour::Vitess).analyzes_several);
    }
}
