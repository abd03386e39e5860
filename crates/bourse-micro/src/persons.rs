//! The table of persons, which several workloads read and change: its shape, its rows, its options.

use crate::database::{create, fill};
use crate::options::{Kind, OptionSpec, Options};
use crate::workload::MicroError;
use bourse_engine::{Engine, IndexKind, Key, RecordField, RecordTable, RecordType, Value};
use bourse_record::{NameValue, SplitMix};

/// Width of the texts.
pub(crate) const WIDTH: OptionSpec = OptionSpec {
    name: "width",
    kind: Kind::Count { min: 1, max: 60_000 },
    default: "100",
    meaning: "characters of each of a row's two texts",
};
/// Where they are looked up.
pub(crate) const TABLES: &str =
    "persons (id whole number, primary key; c1 whole number; c2, c3 texts of `width` characters)";

/// Persons: number, a count, two texts. `c1` begins at 0.
pub(crate) fn persons(name: &str, width: usize, index: Option<IndexKind>) -> RecordTable {
    let c1 = RecordField { index, ..RecordField::new("c1", RecordType::Int) };
    let text = |name| RecordField::new(name, RecordType::Text(width));
    RecordTable::owned(name, RecordField::new("id", RecordType::Int), &[c1, text("c2"), text("c3")])
}

/// The table of a workload that finds it full: persons numbered from 1.
#[derive(Debug)]
pub(crate) struct Persons {
    pub(crate) table: &'static RecordTable,
    pub(crate) rows: u64,
    filler: Filler,
}

impl Persons {
    /// As the options `rows` and [`WIDTH`] say.
    pub(crate) fn chosen(options: &Options) -> Self {
        let width = options.size(WIDTH.name);
        Self { table: persons("persons", width, None).leak(), rows: options.count("rows"), filler: Filler::new(width) }
    }

    /// The two texts of row `number`, counted from 0, which need not be there yet.
    pub(crate) fn texts(&self, number: u64) -> [&str; 2] {
        self.filler.texts(number)
    }

    /// Makes the table and its rows, in the place of a database of ours or of none.
    pub(crate) fn make(&self, engine: &dyn Engine) -> Result<Vec<NameValue>, MicroError> {
        create(engine, &[self.table])?;
        fill(engine, self.table, self.rows, &|number, put| {
            let [c2, c3] = self.filler.texts(number);
            put(Key::Int(number as i64 + 1), &[Value::Int(0), Value::Text(c2), Value::Text(c3)])
        })?;
        Ok(Vec::new())
    }
}

/// Texts for rows: different from row to row, and made of nothing but a slice.
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

    /// The two texts of row `number`.
    pub(crate) fn texts(&self, number: u64) -> [&str; 2] {
        [self.text(2 * number), self.text(2 * number + 1)]
    }

    /// The text of that number.
    pub(crate) fn text(&self, number: u64) -> &str {
        let start = (number.wrapping_mul(7_919) % Self::STARTS as u64) as usize;
        &self.text[start..start + self.width]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_their_width_and_differ() {
        let filler = Filler::new(100);
        assert!((0..200_000).all(|number| filler.text(number).len() == 100));
        assert_ne!(filler.text(1), filler.text(2));
        assert_eq!(filler.text(5), Filler::new(100).text(5));
    }
}
