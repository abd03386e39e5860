//! Digests of whole tables.

use super::Cell;
use sha2::{Digest as _, Sha256};
use std::fmt;

/// A digest of a table's rows: their number, and the sum of 128 bits of each row's SHA-256.
///
/// A sum, so that rows may come in any order: engines need not sort a table, nor agree on how texts are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TableDigest {
    /// Rows.
    pub rows: u64,
    sum: u128,
}

impl TableDigest {
    /// The digest of the rows without their number, in hexadecimal digits.
    pub fn hex(&self) -> String {
        format!("{:032x}", self.sum)
    }

    /// Adds a row; `scratch` is overwritten.
    pub fn add(&mut self, cells: &[Cell], scratch: &mut Vec<u8>) {
        scratch.clear();
        cells.iter().for_each(|cell| cell.write(scratch));
        let hash = Sha256::digest(&*scratch);
        let half = hash[..16].try_into().expect("a SHA-256 has 32 bytes");
        self.rows += 1;
        self.sum = self.sum.wrapping_add(u128::from_be_bytes(half));
    }
}

impl fmt::Display for TableDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} rows)", self.hex(), self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter_and_every_value_does() {
        let digest = |rows: &[[i64; 2]]| {
            let mut digest = TableDigest::default();
            for row in rows {
                digest.add(&row.map(Cell::Int), &mut Vec::new());
            }
            digest
        };
        assert_eq!(digest(&[[1, 2], [3, 4]]), digest(&[[3, 4], [1, 2]]));
        assert_ne!(digest(&[[1, 2], [3, 4]]), digest(&[[1, 4], [3, 2]]));
        assert_ne!(digest(&[[1, 2]]), digest(&[[1, 2], [1, 2]]));
    }
}
