//! Digests of rows, by which the results of an execution are compared without being stored.
//!
//! `mix(a, b)` multiplies `a ^ 0x9E3779B97F4A7C15` by `b ^ 0xC2B2AE3D27D4EB4F` to 128 bits, and returns the halves' exclusive
//! or. A row's digest begins with its number of columns, and each value changes it: `mix(digest + type, word)`, where the word
//! is 0 of a null, the number, or a double's bits; of texts and blobs [`bytes`]. Types are those of stored values, 0 to 4. The
//! digest in order is the first row's, and `mix(digest, row)` for each further row; regardless of order it is the sum.

/// Two words, mixed.
#[must_use]
pub fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(u128::from(b ^ 0xC2B2_AE3D_27D4_EB4F));
    (product as u64) ^ ((product >> 64) as u64)
}

/// Digest that begins with `digest`: the length in bytes, then each eight bytes, the least first, the last ones filled up with
/// zeros.
#[must_use]
pub fn bytes(digest: u64, data: &[u8]) -> u64 {
    let (words, rest) = data.as_chunks::<8>();
    let digest =
        words.iter().fold(mix(digest, data.len() as u64), |digest, word| mix(digest, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, byte)| *to = *byte);
    if rest.is_empty() { digest } else { mix(digest, u64::from_le_bytes(last)) }
}

/// A value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowValue<'v> {
    /// SQL NULL.
    Null,
    /// A whole number.
    Int(i64),
    /// A double.
    Real(f64),
    /// A text's bytes.
    Text(&'v [u8]),
    /// Bytes.
    Blob(&'v [u8]),
}

/// Digest of one row.
pub fn row<'v>(columns: usize, values: impl IntoIterator<Item = RowValue<'v>>) -> u64 {
    values.into_iter().fold(columns as u64, |digest, value| match value {
        RowValue::Null => mix(digest, 0),
        RowValue::Int(number) => mix(digest.wrapping_add(1), number as u64),
        RowValue::Real(number) => mix(digest.wrapping_add(2), number.to_bits()),
        RowValue::Text(data) => bytes(digest.wrapping_add(3), data),
        RowValue::Blob(data) => bytes(digest.wrapping_add(4), data),
    })
}

/// Digests of the rows so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowsDigest {
    /// Number of rows.
    pub rows: u64,
    /// Digest in the order of the rows.
    pub ordered: u64,
    /// Digest regardless of order.
    pub unordered: u64,
}

impl RowsDigest {
    /// Adds a row by its digest.
    pub fn add(&mut self, row: u64) {
        self.ordered = if self.rows == 0 { row } else { mix(self.ordered, row) };
        self.unordered = self.unordered.wrapping_add(row);
        self.rows = self.rows.saturating_add(1);
    }
}
