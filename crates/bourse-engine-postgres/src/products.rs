//! Products with PostgreSQL's protocol: their differences, from their documentation alone; none was run.

use bourse_server::client::Product;

/// Features that a product may lack.
#[derive(Debug)]
pub(crate) struct PostgresFacts {
    /// Options of `COPY` for rows in binary form; `None` if it accepts no rows by `COPY`.
    pub(crate) copy: Option<&'static str>,
    /// Whether its PL/pgSQL is complete.
    pub(crate) plpgsql: bool,
}

/// Options of `COPY` for PostgreSQL itself: rows are written as visible to every later transaction.
pub(crate) const COPY: &str = "(FORMAT binary, FREEZE)";

pub(crate) static PRODUCTS: &[Product<PostgresFacts>] = &[
    // Its page on COPY: `BINARY` is an option, `COPY … WITH FREEZE` is not supported. That on PL/pgSQL: no `RETURN QUERY`, no
    // `FOR` over a query's rows.
    Product {
        name: "CockroachDB",
        mark: "CockroachDB",
        was_run: false,
        facts: PostgresFacts { copy: Some("WITH BINARY"), plpgsql: false },
    },
    // Its version is that of the PostgreSQL it was made of, with `-YB-` and its own behind.
    Product {
        name: "YugabyteDB",
        mark: "-YB-",
        was_run: false,
        facts: PostgresFacts { copy: Some(COPY), plpgsql: true },
    },
    // Its server for sockets ends a connection in `COPY … FROM STDIN`.
    Product { name: "PGlite", mark: "PGlite", was_run: true, facts: PostgresFacts { copy: None, plpgsql: true } },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_known_by_its_version() {
        let name = |version: &str| Product::of(PRODUCTS, version).map(|product| product.name);
        assert_eq!(name("CockroachDB CCL v24.3.1 (x86_64-pc-linux-gnu, built 2024/12/09)"), Some("CockroachDB"));
        assert_eq!(name("PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu"), Some("YugabyteDB"));
        assert_eq!(name("PostgreSQL 18.6 (PGlite 0.5.14) on wasm32-unknown-emscripten"), Some("PGlite"));
        assert_eq!(name("PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu"), None);
    }
}
