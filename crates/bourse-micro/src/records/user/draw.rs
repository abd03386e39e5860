//! Inputs of a sample, drawn outside the timed part, and the result expected of them.

use super::super::mix::Action::{DeleteAll, FindByText, Get, Insert, Read, ReadModifyWrite, Scan, Set};
use super::{Range, ReadRows, RecordUser};
use crate::database::{pair_chars, pair_order};
use crate::filled_table::USERTABLE;
use crate::row_sum::text_sum;
use bourse_engine::Value;

impl RecordUser<'_> {
    /// Draws the keys of a sample, with all that its operations need and should find.
    pub(super) fn draw_inputs(&mut self) {
        let (mix, action, count) = (self.mix, self.action(), self.count);
        let rows = self.growth.as_ref().map_or(mix.table.rows, |growth| growth.visible());
        self.drawn.clear();
        self.texts.clear();
        self.expected = ReadRows::default();
        match action {
            DeleteAll => return,
            Insert => {
                let growth = self.growth.as_ref().expect("a table that is inserted into grows");
                self.inserts.extend((0..count).map(|_| growth.take()));
                return self.texts.extend(self.inserts.iter().map(|number| pair_chars(number + 1)));
            }
            _ => {}
        }
        let (sums, expected) = (mix.table.sums(), &mut self.expected);
        let reads = matches!(action, Read | ReadModifyWrite);
        let mut id = |key| {
            if reads && (key < rows || self.growth.is_some()) {
                expected.rows += 1;
                expected.texts = expected.texts.wrapping_add(sums.row(key));
            }
            key + 1
        };
        if mix.table.has_text_key {
            self.keys.draw(count, &mut self.texts, |key| pair_chars(id(key)));
        } else {
            self.keys.draw(count, &mut self.drawn, |key| Value::Int(id(key) as i64));
        }
        match action {
            Get | FindByText => self.draw_pairs(),
            Scan => self.draw_ranges(),
            Set | ReadModifyWrite => self.draw_changes(),
            _ => {}
        }
    }

    fn draw_pairs(&mut self) {
        for at in 0..self.count as usize {
            let text = pair_chars(self.number(at) + 1);
            self.expected.rows += 1;
            self.expected.texts = self.expected.texts.wrapping_add(text_sum(text.as_bytes()));
            if self.action() == FindByText {
                self.texts.push(text);
            }
        }
    }

    fn draw_ranges(&mut self) {
        let (table, is_drawn) = (&self.mix.table, self.mix.table.table.name() == USERTABLE);
        self.ranges.clear();
        for at in 0..self.count as usize {
            let length = if is_drawn { 1 + self.random.below(self.mix.length) } else { self.mix.length };
            let from = self.number(at);
            let (next, behind) = if table.has_text_key {
                let (orders, order) = (table.orders(), pair_order(from + 1));
                let next = orders.partition_point(|other| *other < order);
                (next as u64, (orders.len() - next) as u64)
            } else {
                (from + 1, table.rows - from)
            };
            let at_least = length.min(behind);
            self.expected.rows += at_least;
            if !table.has_text_key {
                let sum = table.sums().rows(from, from + at_least);
                self.expected.texts = self.expected.texts.wrapping_add(sum);
            }
            self.ranges.push(Range { length, at_least, next });
        }
    }

    fn draw_changes(&mut self) {
        let (table, mut changes) = (&self.mix.table, std::mem::take(&mut self.changes));
        changes.resize_with(self.count as usize, Default::default);
        for (at, (field, text)) in changes.iter_mut().enumerate() {
            *field = self.random.below(table.texts() as u64) as usize;
            table.turned(self.number(at), *field, self.random.next(), text);
        }
        self.changes = changes;
    }
}
