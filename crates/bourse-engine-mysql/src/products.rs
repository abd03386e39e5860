//! Products that speak MySQL's protocol: what differs, by their documents alone; none of it was run.

use bourse_client::Product;

/// What a product does not have.
#[derive(Debug)]
pub(crate) struct Facts {
    /// Whether it has `CHECK TABLE`.
    pub(crate) check_table: bool,
}

pub(crate) static PRODUCTS: &[Product<Facts>] = &[
    // Its page on compatibility with MySQL: no `CHECK TABLE`.
    Product { name: "TiDB", mark: "TiDB", facts: Facts { check_table: false } },
    Product { name: "Vitess", mark: "Vitess", facts: Facts { check_table: true } },
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
