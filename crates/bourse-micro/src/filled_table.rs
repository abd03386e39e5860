//! Tables with rows that workloads read and change: columns, values and options.

use crate::database::{WIDEST, count, create, fill, fill_pairs, pair_chars, pair_order, same, sum};
use crate::options::{OptionKind, WorkloadOption, WorkloadOptions, option};
use crate::row_sum::{RowSums, SlidingSums, joined, read_row};
use crate::workload::{MicroError, RoundSettings, RoundTally};
use arrayvec::ArrayVec;
use bourse_engine::{Engine, IndexKind, Key, RecordField, RecordTable, RecordType, Row, Value};
use bourse_record::{Check, NameValue, SplitMix};
use std::sync::OnceLock;

/// Option: width of the texts.
pub(crate) const WIDTH: WorkloadOption = option!("width" => OptionKind::Count { min: 1, max: 16_000_000 }, "100",
    "length of each of a row's two texts, in characters");
/// Option: the key by which rows are found.
pub(crate) const KEY: WorkloadOption = option!("key" => OptionKind::Word(&["integer", "text"]), "integer",
    "primary key: the row's number, or a text of 28 characters in random order");
/// Option: fields of a record of YCSB.
pub(crate) const FIELDS: WorkloadOption = option!("fields" => OptionKind::Count { min: 1, max: WIDEST as u64 - 1 }, "10",
    "fields of a record");
/// Option: length of each field.
pub(crate) const FIELD_LENGTH: WorkloadOption =
    WorkloadOption { name: "field_length", default: "100", meaning: "characters of each field", ..WIDTH };
/// Description of the table of persons.
pub(crate) const PERSONS: &str = "persons (id integer, primary key; c1 integer; c2, c3 texts of `width` characters)";

/// Table of persons: key, a count, two texts. `c1` is 0 at first.
pub(crate) fn keyed(name: &str, key: RecordType, width: usize, index: Option<IndexKind>) -> RecordTable {
    let c1 = RecordField { index, ..RecordField::new("c1", RecordType::Int) };
    let text = |name| RecordField::new(name, RecordType::Text(width));
    RecordTable::owned(name, RecordField::new("id", key), &[c1, text("c2"), text("c3")])
}

/// Name of YCSB's table.
pub(crate) const USERTABLE: &str = "usertable";

/// Key that is a text: [`pair_chars`] of the row's number.
pub(crate) const TEXT_KEY: RecordType = RecordType::Text(41);

/// A filled table, whose rows are numbered from 1 in their keys.
#[derive(Debug)]
pub(crate) struct FilledTable {
    pub(crate) table: &'static RecordTable,
    pub(crate) rows: u64,
    /// Whether the key is a text: [`pair_chars`] of the row's number.
    pub(crate) has_text_key: bool,
    filler: Filler,
    sums: OnceLock<RowSums>,
    orders: OnceLock<Vec<u64>>,
}

impl FilledTable {
    /// Persons as the options `rows`, [`WIDTH`] and, if the workload has it, [`KEY`] describe them.
    pub(crate) fn persons(options: &WorkloadOptions) -> Self {
        let width = options.size(WIDTH.name);
        let has_text_key = options.has(KEY.name) && options.is(KEY.name, "text");
        let key = if has_text_key { TEXT_KEY } else { RecordType::Int };
        Self::new(keyed("persons", key, width, None).leak(), options, width)
    }

    /// YCSB's table as the options `rows`, [`FIELDS`] and [`FIELD_LENGTH`] describe it.
    pub(crate) fn usertable(options: &WorkloadOptions) -> Self {
        let width = options.size(FIELD_LENGTH.name);
        let text = |number| RecordField::new(format!("field{number}").leak(), RecordType::Text(width));
        let fields: Vec<_> = (0..options.count(FIELDS.name)).map(text).collect();
        let key = RecordField::new("ycsb_key", TEXT_KEY);
        Self::new(RecordTable::leaked(USERTABLE, key, &fields), options, width)
    }

    /// Pairs, without texts of the filler.
    pub(crate) fn pairs(table: &'static RecordTable, options: &WorkloadOptions) -> Self {
        Self::new(table, options, 0)
    }

    fn new(table: &'static RecordTable, options: &WorkloadOptions, width: usize) -> Self {
        let has_text_key = table.key().record_type != RecordType::Int;
        let rows = options.count("rows");
        let filler = Filler::new(width, text_fields(table));
        Self { table, rows, has_text_key, filler, sums: OnceLock::new(), orders: OnceLock::new() }
    }

    /// Whether the first field is a number, which is 0 at first.
    #[inline]
    pub(crate) fn has_number(&self) -> bool {
        self.table.fields()[0].record_type == RecordType::Int
    }

    /// Number of a row's texts.
    #[inline]
    pub(crate) fn texts(&self) -> usize {
        self.filler.per_row
    }

    /// Sums of the rows' texts, as [`Self::read`] computes them.
    pub(crate) fn sums(&self) -> &RowSums {
        self.sums.get_or_init(|| self.filler.sums())
    }

    /// Places of the loaded rows in the order of their text keys, ascending.
    pub(crate) fn orders(&self) -> &[u64] {
        self.orders.get_or_init(|| {
            let mut orders: Vec<u64> = (1..=self.rows).map(pair_order).collect();
            orders.sort_unstable();
            orders
        })
    }

    /// Reads a row whole: its number, 0 without one, and the sum of its texts. `None` if a column is missing or of
    /// another type.
    #[inline]
    pub(crate) fn read(&self, row: &dyn Row) -> Option<(i64, u64)> {
        read_row(row, self.has_number(), self.texts())
    }

    /// Values of row `number`, from 0, without the key; the row need not exist yet.
    #[inline]
    pub(crate) fn values(&self, number: u64) -> ArrayVec<Value<'_>, WIDEST> {
        let texts = self.filler.from(number).take(self.texts()).map(Value::Text);
        self.has_number().then_some(Value::Int(0)).into_iter().chain(texts).collect()
    }

    /// Writes text number `text` of row `number` into `into`, its words of eight bytes turned round by `turn`: another
    /// text with the same sum, so that a reader knows the row whatever was written to it.
    pub(crate) fn turned(&self, number: u64, text: usize, turn: u64, into: &mut String) {
        let original = self.filler.from(number).nth(text).expect("texts follow without end");
        let (words, rest) = original.split_at(original.len() / 8 * 8);
        let (front, back) = words.split_at((turn % (words.len() as u64 / 8).max(1)) as usize * 8);
        into.clear();
        [back, front, rest].into_iter().for_each(|part| into.push_str(part));
    }

    /// Creates the table and its rows; replaces a database of Bourse's.
    pub(crate) fn make(&self, engine: &dyn Engine) -> Result<Vec<NameValue>, MicroError> {
        create(engine, &[self.table])?;
        if self.filler.width == 0 {
            fill_pairs(engine, self.table, self.rows)?;
            return Ok(Vec::new());
        }
        fill(engine, self.table, self.rows, &|number, put| {
            let values = self.values(number);
            if self.has_text_key {
                return put(Key::Text(&pair_chars(number + 1)), &values);
            }
            put(Key::Int(number as i64 + 1), &values)
        })?;
        Ok(Vec::new())
    }

    /// Checks that every addition to the rows' numbers is in the database, of transactions of `together` at most.
    pub(crate) fn check_sum(&self, setting: &RoundSettings<'_>, together: u64) -> Result<Vec<Check>, MicroError> {
        if setting.engine.capabilities().records.is_none_or(|records| !records.ordered_scans) {
            return Ok(Vec::new());
        }
        let words = format!("the sum of {}.c1 is the number of updates that were committed", self.table.name());
        let found = sum(setting.engine, self.table, 0)?;
        let committed = RoundTally::get(&setting.tally.changes);
        Ok(vec![same("updates", words, setting.expected(committed, together, found), found)])
    }

    /// Checks that the deleted rows are gone, of transactions of `together` at most.
    pub(crate) fn check_deleted(&self, setting: &RoundSettings<'_>, together: u64) -> Result<Vec<Check>, MicroError> {
        let left = count(setting.engine, self.table)?;
        let words = "as many rows are gone as were deleted and committed".to_owned();
        let (committed, gone) = (RoundTally::get(&setting.tally.changes), self.rows - left.min(self.rows));
        Ok(vec![same("rows", words, setting.expected(committed, together, gone), gone)])
    }

    /// Checks the number of rows after `inserted` were added, in transactions of `together` at most.
    pub(crate) fn check_count(
        &self,
        setting: &RoundSettings<'_>,
        inserted: u64,
        together: u64,
    ) -> Result<Vec<Check>, MicroError> {
        let words = "there are as many more rows as were inserted and committed".to_owned();
        let found = count(setting.engine, self.table)?;
        Ok(vec![same("rows", words, setting.expected(self.rows + inserted, together, found), found)])
    }
}

/// Number of a table's fields that are texts.
fn text_fields(table: &RecordTable) -> usize {
    table.fields().iter().filter(|field| matches!(field.record_type, RecordType::Text(_))).count()
}

/// Source of rows' texts, which are slices of one text and differ from row to row.
#[derive(Debug)]
pub(crate) struct Filler {
    text: String,
    width: usize,
    /// Number of texts of a row.
    per_row: usize,
}

impl Filler {
    /// Texts of `width` characters, `per_row` for each row.
    pub(crate) fn new(width: usize, per_row: usize) -> Self {
        let mut random = SplitMix::new(20);
        let letters = b"abcdefghijklmnopqrstuvwxyz0123456789";
        let letter = |random: &mut SplitMix| char::from(letters[random.below(letters.len() as u64) as usize]);
        Self { text: (0..width + Self::STARTS).map(|_| letter(&mut random)).collect(), width, per_row }
    }

    const STARTS: usize = 65_521;

    const STEP: usize = 7_919;

    /// Texts of row `number`, and of the following ones without end.
    #[inline]
    pub(crate) fn from(&self, number: u64) -> Texts<'_> {
        Texts { filler: self, start: Self::start(self.per_row as u64 * number) }
    }

    /// Sums of the texts of all rows: the number of places is prime, so that a row's texts come again after as many rows.
    fn sums(&self) -> RowSums {
        let sliding = SlidingSums::new(self.text.as_bytes(), self.width);
        let per_row = self.per_row as u64;
        let texts = |row| (row * per_row..(row + 1) * per_row).map(|number| sliding.at(Self::start(number)));
        RowSums::of((0..Self::STARTS as u64).map(|row| joined(texts(row))))
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

/// Texts one after another; their offset is incremented, since a division costs more than the rest of a row.
pub(crate) struct Texts<'f> {
    filler: &'f Filler,
    start: usize,
}

impl<'f> Texts<'f> {
    #[inline]
    pub(crate) fn next_text(&mut self) -> &'f str {
        let text = self.filler.at(self.start);
        self.start += Filler::STEP;
        if self.start >= Filler::STARTS {
            self.start -= Filler::STARTS;
        }
        text
    }
}

impl<'f> Iterator for Texts<'f> {
    type Item = &'f str;

    #[inline]
    fn next(&mut self) -> Option<&'f str> {
        Some(self.next_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row_sum::text_sum;

    #[test]
    fn texts_have_their_width_and_differ() {
        let filler = Filler::new(100, 2);
        let text = |number| filler.at(Filler::start(number));
        assert!((0..200_000).all(|number| text(number).len() == 100));
        assert_ne!(text(1), text(2));
        let mut rows = filler.from(0);
        assert!((0..200_000).all(|number| rows.next_text() == text(number)));
        assert!(filler.from(70_000).take(2).eq([text(140_000), text(140_001)]));
        assert!(filler.from(5).take(9).eq(Filler::new(100, 2).from(5).take(9)));
    }

    #[test]
    fn sums_are_those_of_the_texts() {
        for (width, per_row, rows) in [(1, 2, 10), (100, 2, 200_000), (100, 10, 70_000), (60_000, 2, 50)] {
            let filler = Filler::new(width, per_row);
            let sums = filler.sums();
            for number in (0..rows).step_by(7).chain([rows - 1]) {
                let texts = filler.from(number).take(per_row).map(|text| text_sum(text.as_bytes()));
                assert_eq!(sums.row(number), joined(texts), "{number}, {width}");
            }
        }
    }

    #[test]
    fn texts_that_are_written_have_the_sum_of_those_that_were_loaded() {
        for length in ["1", "15", "16", "100", "104"] {
            let specs: &'static [WorkloadOption] = &[crate::usual::ROWS, FIELDS, FIELD_LENGTH];
            let options = WorkloadOptions::parse("test", specs, [("field_length", length)]).unwrap();
            let table = FilledTable::usertable(&options);
            let (mut text, mut different) = (String::new(), std::collections::BTreeSet::new());
            for turn in 0..100 {
                table.turned(77, 3, turn, &mut text);
                let Value::Text(original) = table.values(77)[3] else { panic!("a text") };
                assert_eq!(text_sum(text.as_bytes()), text_sum(original.as_bytes()), "{length}: {turn}");
                different.insert(text.clone());
            }
            assert_eq!(different.len(), (length.parse::<usize>().unwrap() / 8).max(1), "{length}");
        }
    }
}
