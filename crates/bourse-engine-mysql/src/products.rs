//! Products that speak MySQL's protocol: what differs, by their documents alone; none of it was run.

use bourse_client::Product;
use bourse_engine::Isolation;

/// How a product differs.
#[derive(Debug)]
pub(crate) struct Facts {
    /// Whether it has `CHECK TABLE`.
    pub(crate) check_table: bool,
    /// The strictest isolation that it takes.
    pub(crate) strictest: Isolation,
    /// Whether it takes several statements in one text, as it is installed.
    pub(crate) several_statements: bool,
    /// Whether a transaction can be said to read only, as it is installed.
    pub(crate) read_only: bool,
}

/// MySQL and MariaDB themselves.
pub(crate) static OWN: Facts =
    Facts { check_table: true, strictest: Isolation::Serializable, several_statements: true, read_only: true };

pub(crate) static PRODUCTS: &[Product<Facts>] = &[
    // Its page on compatibility with MySQL: no `CHECK TABLE`. Those on its isolation levels and variables: SERIALIZABLE is refused
    // (8048) unless `tidb_skip_isolation_level_check` is on, several statements (8130) unless `tidb_multi_statement_mode` is, and
    // `START TRANSACTION READ ONLY` (1235) unless `tidb_enable_noop_functions` is.
    Product {
        name: "TiDB",
        mark: "TiDB",
        facts: Facts {
            check_table: false,
            strictest: Isolation::RepeatableRead,
            several_statements: false,
            read_only: false,
        },
    },
    Product {
        name: "Vitess",
        mark: "Vitess",
        facts: Facts {
            check_table: true,
            strictest: Isolation::Serializable,
            several_statements: true,
            read_only: true,
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
    }
}
