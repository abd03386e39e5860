//! Sums of all bytes of a row's texts: a wrong row, a truncated value and a neighbour's value each change them.
//!
//! A key engine returns the address of a record, a SQL engine decodes columns: only if every byte is read have both
//! done the same work. Sums are of eight bytes at a time, which costs a few nanoseconds for a hundred; the expected
//! sums are computed outside the timed part.

use bourse_engine::{Row, Value};

/// Factor for the length, so that zeros at the end change the sum.
const LENGTH: u64 = 0x9E37_79B9_7F4A_7C15;

/// Sum of a text's bytes as little-endian numbers of eight bytes, the last padded with zeros, and of its length.
#[inline]
pub(crate) fn text_sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let whole = words.iter().fold(0u64, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)));
    end_sum(whole, rest, bytes.len())
}

/// Sum of a text whose whole words have the sum `whole`.
#[inline]
fn end_sum(whole: u64, rest: &[u8], length: usize) -> u64 {
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    whole.wrapping_add(u64::from_le_bytes(last)).wrapping_add((length as u64).wrapping_mul(LENGTH))
}

/// Sum of a value of any type: of every byte of a text or blob.
#[inline]
pub(crate) fn value_sum(value: Value<'_>) -> u64 {
    match value {
        Value::Null => 0,
        Value::Int(number) => number as u64,
        Value::Bool(flag) => u64::from(flag),
        Value::Decimal { units, scale } => (units as u64).wrapping_add(u64::from(scale)),
        Value::Real(number) => number.to_bits(),
        Value::Date(date) => u64::from(date.days() as u32),
        Value::Timestamp(moment) => moment.millis() as u64,
        Value::Text(text) => text_sum(text.as_bytes()),
        Value::Blob(bytes) => text_sum(bytes),
    }
}

/// Sum of the sums of a row's texts, which depends on their order.
#[inline]
pub(crate) fn joined(texts: impl Iterator<Item = u64>) -> u64 {
    (0u32..).zip(texts).fold(0, |sum, (place, text)| sum.wrapping_add(text.rotate_left(29 * place)))
}

/// Reads a row whole: the number in its first field, if it has one, and the sum of its `texts` texts. `None` if a column
/// is missing or of another type.
#[inline]
pub(crate) fn read_row(row: &dyn Row, has_number: bool, texts: usize) -> Option<(i64, u64)> {
    let number = if has_number { row.int(1)? } else { 0 };
    let first = 1 + usize::from(has_number);
    let mut sum = 0u64;
    for (place, column) in (0u32..).zip(first..first + texts) {
        sum = sum.wrapping_add(text_sum(row.text_bytes(column)?).rotate_left(29 * place));
    }
    Some((number, sum))
}

/// Sums of the substrings of a text that begin at each position.
pub(crate) struct SlidingSums<'t> {
    text: &'t [u8],
    width: usize,
    /// Sum at each position of the word that begins there, and of those eight, sixteen, … bytes before it.
    words: Vec<u64>,
}

impl<'t> SlidingSums<'t> {
    /// Sums of substrings of that width.
    pub(crate) fn new(text: &'t [u8], width: usize) -> Self {
        let mut words: Vec<u64> = Vec::with_capacity(text.len());
        for (at, word) in text.windows(8).enumerate() {
            let word = u64::from_le_bytes(word.try_into().expect("a window of eight"));
            words.push(at.checked_sub(8).map_or(0, |before| words[before]).wrapping_add(word));
        }
        Self { text, width, words }
    }

    /// [`text_sum`] of the text that begins at `start`, in the same time whatever its width.
    pub(crate) fn at(&self, start: usize) -> u64 {
        let whole = self.width / 8 * 8;
        let rest = &self.text[start + whole..start + self.width];
        let before = start.checked_sub(8).map_or(0, |before| self.words[before]);
        let words = if whole == 0 { 0 } else { self.words[start + whole - 8].wrapping_sub(before) };
        end_sum(words, rest, self.width)
    }
}

/// Sums of rows whose texts repeat after a period.
#[derive(Debug)]
pub(crate) struct RowSums {
    /// Cumulative sums before each row of the period, and after the last.
    before: Vec<u64>,
}

impl RowSums {
    /// Sums of one period's rows, in order.
    pub(crate) fn of(rows: impl Iterator<Item = u64>) -> Self {
        let sums = rows.scan(0u64, |sum, row| {
            *sum = sum.wrapping_add(row);
            Some(*sum)
        });
        Self { before: std::iter::once(0).chain(sums).collect() }
    }

    /// Sum of row `number`.
    #[inline]
    pub(crate) fn row(&self, number: u64) -> u64 {
        let period = self.before.len() as u64 - 1;
        let at = if number < period { number } else { number % period } as usize;
        self.before[at + 1].wrapping_sub(self.before[at])
    }

    /// Sum of the rows `from` to `to`, exclusive.
    pub(crate) fn rows(&self, from: u64, to: u64) -> u64 {
        let period = self.before.len() as u64 - 1;
        let all = self.before[period as usize];
        let before =
            |number: u64| all.wrapping_mul(number / period).wrapping_add(self.before[(number % period) as usize]);
        before(to).wrapping_sub(before(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_of_every_byte_and_of_the_length() {
        let text = b"the quick brown fox jumps over the lazy dog".as_slice();
        let sum = text_sum(text);
        for at in 0..text.len() {
            let mut changed = text.to_vec();
            changed[at] ^= 1;
            assert_ne!(text_sum(&changed), sum, "byte {at}");
            assert_ne!(text_sum(&text[..at]), sum, "cut after {at} bytes");
        }
        assert_ne!(text_sum(b"a"), text_sum(b"a\0"));
        let [one, two] = [text_sum(b"one"), text_sum(b"two")];
        assert_ne!(joined([one, two].into_iter()), joined([two, one].into_iter()));
    }

    #[test]
    fn sliding_sums_are_those_of_the_texts() {
        let text: Vec<u8> = (0..300u32).map(|at| (at * at % 251) as u8).collect();
        for width in [1, 7, 8, 9, 16, 100, 255] {
            let sliding = SlidingSums::new(&text, width);
            for start in 0..text.len() - width {
                assert_eq!(sliding.at(start), text_sum(&text[start..start + width]), "{start}, {width}");
            }
        }
    }

    #[test]
    fn sums_of_rows_are_those_of_each() {
        let rows = [3, u64::MAX, 17, 5];
        let sums = RowSums::of(rows.into_iter());
        assert_eq!([0, 1, 2, 3, 4, 41].map(|number| sums.row(number)), [3, u64::MAX, 17, 5, 3, u64::MAX]);
        for (from, to) in [(0, 0), (0, 4), (1, 3), (3, 14), (7, 8)] {
            let each = (from..to).fold(0u64, |sum, number| sum.wrapping_add(sums.row(number)));
            assert_eq!(sums.rows(from, to), each, "{from}..{to}");
        }
    }
}
