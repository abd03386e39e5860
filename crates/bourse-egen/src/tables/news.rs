//! NEWS_ITEM and NEWS_XREF (Clauses 2.2.7.8 and 2.2.7.9; EGen `CNewsItemAndXRefTable`): a hundred thousand bytes of
//! last names for each item, two thirds of all bytes of the tables that scale with customers.

use bourse_schema::{Field as _, NewsId, Text, Timestamp, tables};

use super::TABLE_SEED;
use crate::dates::DAY_MS;
use crate::ids::{self, COMPANIES_PER_LOAD_UNIT};
use crate::{Inputs, Part, Rng};

/// Bytes of an item's body.
const BODY: usize = 100_000;
/// Items of each company.
pub(crate) const NEWS_PER_COMPANY: i64 = 2;
/// Random numbers the reference reserves for an item.
const NUMBERS_PER_ITEM: u64 = 100_004;
/// Bytes of a word in the table: at most 14 letters, a blank and the length of both.
const BYTES_PER_WORD: usize = 16;
/// Bytes of a word in the table if a name is too long for [`BYTES_PER_WORD`].
const LONG_SLOT: usize = 32;

/// Words of the news, each followed by a blank, ready to be copied in one piece of constant size.
///
/// The last byte is the length: the word is found by the random number alone, in one access.
#[derive(Debug, Clone)]
pub(crate) enum Words {
    Short(Vec<[u8; BYTES_PER_WORD]>),
    Long(Vec<[u8; LONG_SLOT]>),
}

impl Words {
    pub(crate) fn new(inputs: &Inputs) -> Self {
        let longest = inputs.last_names.records().iter().map(|name| name.as_bytes().len()).max();
        if longest.is_some_and(|bytes| bytes <= BYTES_PER_WORD - 2) {
            Self::Short(slots(inputs))
        } else {
            Self::Long(slots(inputs))
        }
    }

    /// Draws words until the body is full.
    fn fill(&self, rng: &mut Rng, body: &mut Body) {
        match self {
            Self::Short(slots) => fill(slots, rng, body),
            Self::Long(slots) => fill(slots, rng, body),
        }
    }
}

/// Table with an entry for every weighted index.
fn slots<const N: usize>(inputs: &Inputs) -> Vec<[u8; N]> {
    let names = &inputs.last_names;
    let slot = |index| {
        let name = names.at(index).as_bytes();
        let mut slot = [b' '; N];
        slot[..name.len()].copy_from_slice(name);
        slot[N - 1] = name.len() as u8 + 1;
        slot
    };
    (0..names.total()).map(slot).collect()
}

/// A body with space for the end of the last word.
type Body = [u8; BODY + LONG_SLOT];

fn fill<const N: usize>(slots: &[[u8; N]], rng: &mut Rng, body: &mut Body) {
    let count = slots.len() as u64;
    let mut filled = 0;
    while filled < BODY {
        let slot = &slots[rng.below(count) as usize];
        body[filled..filled + N].copy_from_slice(slot);
        filled += usize::from(slot[N - 1]);
    }
}

/// Generator of the news of one load unit, item after item: the start of an item's random numbers depends on the item
/// before.
#[derive(Debug)]
pub(crate) struct NewsGenerator<'a> {
    inputs: &'a Inputs,
    words: &'a Words,
    opening: Timestamp,
    rng: Rng,
    /// Number of the next item, from 0.
    next: i64,
    body: Box<Body>,
}

/// An item without its body.
#[derive(Debug, Clone, Copy)]
struct DrawnNews {
    index: i64,
    time: Timestamp,
    author: Text<30>,
    source: Text<30>,
}

impl<'a> NewsGenerator<'a> {
    /// News of a part of one load unit.
    pub(crate) fn of_load_unit(inputs: &'a Inputs, words: &'a Words, part: Part) -> Self {
        let first = part.load_units_before() * COMPANIES_PER_LOAD_UNIT * NEWS_PER_COMPANY;
        Self {
            inputs,
            words,
            opening: part.opening(),
            rng: Rng::at(TABLE_SEED, first as u64 * NUMBERS_PER_ITEM),
            next: first,
            body: Box::new([0; BODY + LONG_SLOT]),
        }
    }

    fn draw(&mut self) -> DrawnNews {
        let index = self.next;
        self.next += 1;
        self.words.fill(&mut self.rng, &mut self.body);
        let days_ago = self.rng.range(0, 50);
        let ms_ago = self.rng.range(0, DAY_MS);
        let author = Text::cut(self.inputs.last_names.pick(&mut self.rng).as_str());
        let source = Text::cut(self.inputs.last_names.pick(&mut self.rng).as_str());
        let time = Timestamp::from_millis(self.opening.millis() - days_ago * DAY_MS - ms_ago);
        DrawnNews { index, time, author, source }
    }

    fn body(&self) -> &[u8] {
        &self.body[..BODY]
    }

    /// First bytes of the body, as headline or summary.
    fn beginning<const N: usize>(&self) -> Text<N> {
        Text::cut(
            std::str::from_utf8(&self.body()[..2 * N])
                .unwrap_or_else(|cut| std::str::from_utf8(&self.body()[..cut.valid_up_to()]).expect("valid so far")),
        )
    }

    /// Next item, with the company it is about.
    pub(crate) fn next_rows(&mut self) -> (tables::NewsItem, tables::NewsXRef) {
        let drawn = self.draw();
        let item = tables::NewsItem {
            ni_id: drawn.id(),
            ni_headline: self.beginning(),
            ni_summary: self.beginning(),
            ni_item: self.body().into(),
            ni_dts: drawn.time,
            ni_source: drawn.source,
            ni_author: drawn.author,
        };
        (item, drawn.reference())
    }

    /// Appends the next item as a line of the flat file; returns the company it is about.
    pub(crate) fn next_line(&mut self, out: &mut Vec<u8>) -> tables::NewsXRef {
        let drawn = self.draw();
        drawn.id().write_flat(out);
        out.push(b'|');
        out.extend_from_slice(self.beginning::<80>().as_bytes());
        out.push(b'|');
        out.extend_from_slice(self.beginning::<255>().as_bytes());
        out.push(b'|');
        out.extend_from_slice(self.body());
        out.push(b'|');
        drawn.time.write_flat(out);
        out.push(b'|');
        drawn.source.write_flat(out);
        out.push(b'|');
        drawn.author.write_flat(out);
        out.push(b'\n');
        drawn.reference()
    }
}

impl DrawnNews {
    /// Identifier of the item, the only one without a shift.
    fn id(&self) -> NewsId {
        NewsId(self.index + 1)
    }

    fn reference(&self) -> tables::NewsXRef {
        tables::NewsXRef { nx_ni_id: self.id(), nx_co_id: ids::company(self.index / NEWS_PER_COMPANY) }
    }
}
