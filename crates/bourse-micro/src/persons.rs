//! Table of persons, which several workloads read and change: its columns, rows and options.

use crate::database::{create, fill, pair_text};
use crate::options::{Kind, OptionSpec, Options};
use crate::row_sum::{RowSums, SlidingSums, pair_sum};
use crate::workload::MicroError;
use bourse_engine::{Engine, IndexKind, Key, RecordField, RecordTable, RecordType, Value};
use bourse_record::{NameValue, SplitMix};
use std::sync::OnceLock;

/// Option: width of the texts.
pub(crate) const WIDTH: OptionSpec = OptionSpec {
    name: "width",
    kind: Kind::Count { min: 1, max: 60_000 },
    default: "100",
    meaning: "length of each of a row's two texts, in characters",
};
/// Option: the key by which rows are found.
pub(crate) const KEY: OptionSpec = OptionSpec {
    name: "key",
    kind: Kind::Word(&["integer", "text"]),
    default: "integer",
    meaning: "primary key: the row's number, or a text of 28 characters in random order",
};
/// Description of the table.
pub(crate) const TABLES: &str = "persons (id integer, primary key; c1 integer; c2, c3 texts of `width` characters)";

/// Table of persons: number, a count, two texts. `c1` is 0 at first.
pub(crate) fn persons(name: &str, width: usize, index: Option<IndexKind>) -> RecordTable {
    keyed(name, RecordType::Int, width, index)
}

fn keyed(name: &str, key: RecordType, width: usize, index: Option<IndexKind>) -> RecordTable {
    let c1 = RecordField { index, ..RecordField::new("c1", RecordType::Int) };
    let text = |name| RecordField::new(name, RecordType::Text(width));
    RecordTable::owned(name, RecordField::new("id", key), &[c1, text("c2"), text("c3")])
}

/// A filled table of persons, numbered from 1.
#[derive(Debug)]
pub(crate) struct Persons {
    pub(crate) table: &'static RecordTable,
    pub(crate) rows: u64,
    /// Whether the key is a text: [`pair_text`] of the row's number.
    pub(crate) text_key: bool,
    filler: Filler,
    sums: OnceLock<RowSums>,
}

impl Persons {
    /// Table as the options `rows` and [`WIDTH`] describe it.
    pub(crate) fn chosen(options: &Options) -> Self {
        Self::made(options, false)
    }

    /// Table as [`Self::chosen`], with the key that the option [`KEY`] selects.
    pub(crate) fn chosen_with_key(options: &Options) -> Self {
        Self::made(options, options.is(KEY.name, "text"))
    }

    fn made(options: &Options, text_key: bool) -> Self {
        let width = options.size(WIDTH.name);
        let key = if text_key { RecordType::Text(28) } else { RecordType::Int };
        let table = keyed("persons", key, width, None).leak();
        Self { table, rows: options.count("rows"), text_key, filler: Filler::new(width), sums: OnceLock::new() }
    }

    /// Sums of the rows' texts, as computed by [`read_person`](crate::row_sum::read_person).
    pub(crate) fn sums(&self) -> &RowSums {
        self.sums.get_or_init(|| self.filler.sums(self.rows))
    }

    /// Texts of row `number`, from 0; the row need not exist yet.
    pub(crate) fn texts(&self, number: u64) -> [&str; 2] {
        self.filler.texts(number)
    }

    /// Creates the table and its rows; replaces a database of Bourse's.
    pub(crate) fn make(&self, engine: &dyn Engine) -> Result<Vec<NameValue>, MicroError> {
        create(engine, &[self.table])?;
        fill(engine, self.table, self.rows, &|number, put| {
            let [c2, c3] = self.filler.texts(number);
            let values = [Value::Int(0), Value::Text(c2), Value::Text(c3)];
            if self.text_key {
                return put(Key::Text(&pair_text(number + 1)), &values);
            }
            put(Key::Int(number as i64 + 1), &values)
        })?;
        Ok(Vec::new())
    }
}

/// Source of rows' texts, which are slices of one text and differ from row to row.
#[derive(Debug)]
pub(crate) struct Filler {
    text: String,
    width: usize,
}

impl Filler {
    /// Texts of `width` characters.
    pub(crate) fn new(width: usize) -> Self {
        let mut random = SplitMix::new(20);
        let letters = b"abcdefghijklmnopqrstuvwxyz0123456789";
        let letter = |random: &mut SplitMix| char::from(letters[random.below(letters.len() as u64) as usize]);
        Self { text: (0..width + Self::STARTS).map(|_| letter(&mut random)).collect(), width }
    }

    const STARTS: usize = 65_521;

    const STEP: usize = 7_919;

    /// Texts of row `number`.
    pub(crate) fn texts(&self, number: u64) -> [&str; 2] {
        self.from(number).next_row()
    }

    /// Texts of row `number` and the following ones.
    pub(crate) fn from(&self, number: u64) -> Texts<'_> {
        Texts { filler: self, start: Self::start(2 * number) }
    }

    /// Sums of the texts of the first `rows` rows, at most one period of them.
    fn sums(&self, rows: u64) -> RowSums {
        let sliding = SlidingSums::new(self.text.as_bytes(), self.width);
        let text = |number| sliding.at(Self::start(number));
        // The number of places is prime, so that two texts a row come again after as many rows.
        RowSums::of((0..rows.clamp(1, Self::STARTS as u64)).map(|row| pair_sum(text(2 * row), text(2 * row + 1))))
    }

    #[inline]
    fn start(number: u64) -> usize {
        (number.wrapping_mul(Self::STEP as u64) % Self::STARTS as u64) as usize
    }

    #[inline]
    fn at(&self, start: usize) -> &str {
        &self.text[start..start + self.width]
    }
}

/// Texts of row after row; their offset is incremented, since a division costs more than the rest of a row.
pub(crate) struct Texts<'f> {
    filler: &'f Filler,
    start: usize,
}

impl<'f> Texts<'f> {
    /// Texts of the next row.
    #[inline]
    pub(crate) fn next_row(&mut self) -> [&'f str; 2] {
        [self.next_text(), self.next_text()]
    }

    #[inline]
    fn next_text(&mut self) -> &'f str {
        let text = self.filler.at(self.start);
        self.start += Filler::STEP;
        if self.start >= Filler::STARTS {
            self.start -= Filler::STARTS;
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row_sum::text_sum;

    #[test]
    fn texts_have_their_width_and_differ() {
        let filler = Filler::new(100);
        let text = |number| filler.at(Filler::start(number));
        assert!((0..200_000).all(|number| text(number).len() == 100));
        assert_ne!(text(1), text(2));
        let mut rows = filler.from(0);
        assert!((0..100_000).all(|row| rows.next_row() == [text(2 * row), text(2 * row + 1)]));
        assert_eq!(filler.texts(70_000), [text(140_000), text(140_001)]);
        assert_eq!(filler.texts(5), Filler::new(100).texts(5));
    }

    #[test]
    fn sums_are_those_of_the_texts() {
        for (width, rows) in [(1, 10), (100, 200_000), (60_000, 50)] {
            let filler = Filler::new(width);
            let sums = filler.sums(rows);
            for number in (0..rows).step_by(7).chain([rows - 1]) {
                let [first, second] = filler.texts(number).map(|text| text_sum(text.as_bytes()));
                assert_eq!(sums.row(number), pair_sum(first, second), "{number}, {width}");
            }
        }
    }
}
