//! Values of statements' parameters: declared distributions, and streams of values.

use super::columns::{ColumnName, ColumnValues};
use super::expression::Expression;
use crate::keys::{KeyDistribution, KeyStream, Zipf};
use bourse_engine::Value;
use bourse_record::SplitMix;
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A value in a file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, expecting = "expected a number or a text")]
pub(super) enum Literal {
    Int(i64),
    Real(f64),
    Text(String),
    /// Bytes of a column.
    #[serde(skip)]
    Blob(Arc<[u8]>),
    /// SQL NULL of a column.
    #[serde(skip)]
    Null,
}

impl Literal {
    /// Parses a word of a SQL file: a number if it is one. `nan` and `inf` are texts.
    pub(super) fn of(word: &str) -> Self {
        let real = || word.parse().ok().filter(|number: &f64| number.is_finite()).map(Self::Real);
        word.parse().ok().map(Self::Int).or_else(real).unwrap_or_else(|| Self::Text(word.to_owned()))
    }

    /// Whether it is NaN, for which SQLite would bind NULL.
    fn is_nan(&self) -> bool {
        matches!(self, Self::Real(number) if number.is_nan())
    }

    /// Value for a statement.
    pub(super) fn value(&self) -> Value<'_> {
        match self {
            Self::Int(number) => Value::Int(*number),
            Self::Real(number) => Value::Real(*number),
            Self::Text(text) => Value::Text(text),
            Self::Blob(bytes) => Value::Blob(bytes),
            Self::Null => Value::Null,
        }
    }

    /// Description for messages.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Int(number) => number.to_string(),
            Self::Real(number) => number.to_string(),
            Self::Text(text) => format!("{text:?}"),
            Self::Blob(bytes) => format!("{bytes:?}"),
            Self::Null => "NULL".to_owned(),
        }
    }
}

/// A declared distribution.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase", expecting = "a distribution, as { uniform = [1, 100] }")]
pub(super) enum DeclaredDistribution {
    /// Uniformly distributed integers of a range.
    Uniform([i64; 2]),
    /// Integers of a range with Zipf's distribution: a few very often.
    Zipfian([i64; 2]),
    /// Integers of a range in ascending order, cyclically.
    Sequential([i64; 2]),
    /// Ascending integers from this one on, unique over all threads.
    Unique(i64),
    /// Uniformly distributed floating-point numbers of a range.
    Real([f64; 2]),
    /// A text of that many random letters.
    Text(usize),
    /// One of these values, all equally often.
    Choice(Vec<Literal>),
    /// A constant value.
    Constant(Literal),
    /// Value of a column in a random row of its table; all such parameters of a table are of the same row.
    Row(ColumnName),
    /// Distinct values of a column, all equally often.
    Distinct(ColumnName),
    /// Distinct values of a column with Zipf's distribution, the more frequent ones more often.
    #[serde(rename = "distinct_zipfian")]
    DistinctZipfian(ColumnName),
    /// Number of a row of the table, which parameters by row read before they are drawn.
    #[serde(skip)]
    RowOf(String),
    /// Value of an expression of parameters that were declared before.
    #[serde(skip)]
    Expression(Expression),
}

impl DeclaredDistribution {
    /// Names of the distributions, for messages.
    pub(super) const NAMES: &str =
        "uniform, zipfian, sequential, unique, real, text, choice, constant, row, distinct, distinct_zipfian";

    /// Column that its values are read from.
    pub(super) fn column(&self) -> Option<&ColumnName> {
        match self {
            Self::Row(column) | Self::Distinct(column) | Self::DistinctZipfian(column) => Some(column),
            _ => None,
        }
    }

    /// Reason that the distribution has no values, if so.
    pub(super) fn fault(&self) -> Option<String> {
        match self {
            Self::Uniform([low, high]) | Self::Zipfian([low, high]) | Self::Sequential([low, high]) => {
                if low > high {
                    return Some(format!("from {low} to {high} there is no number: the smaller one stands first"));
                }
                let most = if matches!(self, Self::Zipfian(_)) { Zipf::MAX_RANKS } else { i64::MAX as u64 };
                (high.abs_diff(*low) >= most).then(|| format!("from {low} to {high} are more than {most} numbers"))
            }
            Self::Real([low, high]) => {
                let is_range = low <= high && low.is_finite() && high.is_finite();
                // Large numbers are not written out: they have up to 309 digits.
                (!is_range)
                    .then(|| format!("from {low:?} to {high:?} there is no number: the smaller one stands first"))
            }
            Self::Text(width) => (*width > 1_000_000).then(|| format!("{width} letters are more than 1000000")),
            Self::Choice(values) if values.is_empty() => Some("a choice of nothing".to_owned()),
            Self::Choice(values) => values.iter().any(Literal::is_nan).then(not_a_number),
            Self::Constant(value) => value.is_nan().then(not_a_number),
            Self::Unique(_) | Self::Expression(_) | Self::RowOf(_) => None,
            Self::Row(_) | Self::Distinct(_) | Self::DistinctZipfian(_) => None,
        }
    }
}

fn not_a_number() -> String {
    "nan is not a value that every engine has (SQLite makes NULL of it); for NULL write NULL into the statement"
        .to_owned()
}

/// A declared distribution prepared for all threads of a round.
#[derive(Debug)]
pub(super) enum PreparedDistribution {
    Keys {
        low: i64,
        n: u64,
        distribution: KeyDistribution,
    },
    Unique(AtomicI64),
    Real([f64; 2]),
    Text(usize),
    Choice(ColumnValues),
    /// Values from the least to the most frequent one.
    Ranked(ColumnValues),
    /// Value in the row whose number is the parameter's `row`.
    InRow {
        values: ColumnValues,
        row: usize,
    },
    Expression(Expression),
}

impl PreparedDistribution {
    /// Distribution ready to be drawn from; `read` is what was read of its column.
    pub(super) fn of(declared: &DeclaredDistribution, read: Option<&ColumnValues>) -> Self {
        // Nothing is read for an engine that stores nothing.
        let read = || read.cloned().unwrap_or_else(|| [Literal::Null].into());
        let keys = |[low, high]: [i64; 2], distribution| Self::Keys { low, n: high.abs_diff(low) + 1, distribution };
        match declared {
            DeclaredDistribution::Uniform(range) => keys(*range, KeyDistribution::Uniform),
            DeclaredDistribution::Zipfian([low, high]) => {
                keys([*low, *high], KeyDistribution::Zipfian(Arc::new(Zipf::new(high.abs_diff(*low) + 1))))
            }
            DeclaredDistribution::Sequential(range) => keys(*range, KeyDistribution::Sequential),
            DeclaredDistribution::Unique(first) => Self::Unique(AtomicI64::new(*first)),
            DeclaredDistribution::Real(range) => Self::Real(*range),
            DeclaredDistribution::Text(width) => Self::Text(*width),
            DeclaredDistribution::Choice(values) => Self::Choice(values.as_slice().into()),
            DeclaredDistribution::Constant(value) => Self::Choice([value.clone()].into()),
            DeclaredDistribution::Distinct(_) => Self::Choice(read()),
            DeclaredDistribution::DistinctZipfian(_) => Self::Ranked(read()),
            DeclaredDistribution::Row(column) => Self::InRow { values: read(), row: column.row },
            DeclaredDistribution::RowOf(_) => keys([0, read().len() as i64 - 1], KeyDistribution::Uniform),
            DeclaredDistribution::Expression(expression) => Self::Expression(expression.clone()),
        }
    }
}

/// Values of one parameter for one thread.
#[derive(Debug)]
pub(super) struct ParameterStream {
    ready: Arc<PreparedDistribution>,
    keys: Option<KeyStream>,
    thread: usize,
    random: SplitMix,
}

impl ParameterStream {
    pub(super) fn new(ready: &Arc<PreparedDistribution>, seed: u64, thread: usize, threads: usize) -> Self {
        let keys = match &**ready {
            PreparedDistribution::Keys { n, distribution, .. } => {
                Some(KeyStream::new(distribution.clone(), *n, seed, thread, threads))
            }
            PreparedDistribution::Ranked(values) => {
                let n = values.len() as u64;
                Some(KeyStream::new(KeyDistribution::Latest(Zipf::new(n)), n, seed, thread, threads))
            }
            _ => None,
        };
        let mut seeds = SplitMix::new(seed.wrapping_add(thread as u64));
        Self { ready: ready.clone(), keys, thread, random: SplitMix::new(seeds.next()) }
    }

    /// A value of the same type as those drawn.
    pub(super) fn example(&self) -> Literal {
        match &*self.ready {
            PreparedDistribution::Keys { low, .. } => Literal::Int(*low),
            PreparedDistribution::Unique(_) | PreparedDistribution::Expression(_) => Literal::Int(0),
            PreparedDistribution::Real([low, _]) => Literal::Real(*low),
            PreparedDistribution::Text(_) => Literal::Text(String::new()),
            PreparedDistribution::Choice(values)
            | PreparedDistribution::Ranked(values)
            | PreparedDistribution::InRow { values, .. } => values[0].clone(),
        }
    }

    /// Draws the next value of parameter `number` into its place; an existing text's buffer is reused.
    ///
    /// # Errors
    /// The fault of an expression whose value does not exist, as a division by zero.
    pub(super) fn draw(&mut self, number: usize, values: &mut [Literal]) -> Result<(), String> {
        if let PreparedDistribution::Expression(expression) = &*self.ready {
            values[number] = expression.value(values, self.thread, &mut self.random)?.literal();
            return Ok(());
        }
        if let PreparedDistribution::InRow { values: column, row } = &*self.ready {
            let at = if let Literal::Int(at) = values[*row] { at as usize } else { 0 };
            values[number].clone_from(&column[at]);
            return Ok(());
        }
        let into = &mut values[number];
        match (&*self.ready, &mut self.keys) {
            (PreparedDistribution::Keys { low, .. }, Some(keys)) => {
                *into = Literal::Int(low.wrapping_add_unsigned(keys.next_key()))
            }
            (PreparedDistribution::Unique(next), _) => *into = Literal::Int(next.fetch_add(1, Ordering::Relaxed)),
            (PreparedDistribution::Real([low, high]), _) => {
                let (width, part) = (high - low, self.random.unit());
                // The width of -1e308 to 1e308 is no number.
                let drawn = if width.is_finite() { low + width * part } else { low * (1.0 - part) + high * part };
                *into = Literal::Real(drawn)
            }
            (PreparedDistribution::Text(width), _) => {
                let mut text = match into {
                    Literal::Text(text) => std::mem::take(text),
                    _ => String::with_capacity(*width),
                };
                text.clear();
                text.extend((0..*width).map(|_| char::from(b'a' + self.random.below(26) as u8)));
                *into = Literal::Text(text);
            }
            (PreparedDistribution::Choice(values), _) => {
                into.clone_from(&values[self.random.below(values.len() as u64) as usize])
            }
            (PreparedDistribution::Ranked(ranked), Some(keys)) => into.clone_from(&ranked[keys.next_key() as usize]),
            (PreparedDistribution::Keys { .. } | PreparedDistribution::Ranked(_), None) => {
                unreachable!("keys are made with the stream")
            }
            (PreparedDistribution::Expression(_) | PreparedDistribution::InRow { .. }, _) => {
                unreachable!("expressions and rows are evaluated above")
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_finite_range_are_drawn() {
        for [low, high] in [[-2.0, 3.0], [5.0, 5.0], [-1.7e308, 1.7e308], [f64::MIN, f64::MAX], [0.0, f64::MAX]] {
            let declared = DeclaredDistribution::Real([low, high]);
            assert_eq!(declared.fault(), None);
            let mut stream = ParameterStream::new(&Arc::new(PreparedDistribution::of(&declared, None)), 7, 0, 1);
            let mut drawn = [Literal::Int(0)];
            let mut sides = [0, 0];
            for _ in 0..1_000 {
                stream.draw(0, &mut drawn).unwrap();
                let Literal::Real(number) = drawn[0] else { panic!("{:?}", drawn[0]) };
                assert!((low..=high).contains(&number), "{number:?} of {low:?} to {high:?}");
                sides[usize::from(number > low / 2.0 + high / 2.0)] += 1;
            }
            assert!(low == high || sides.iter().all(|side| *side > 400), "{low:?} to {high:?}: {sides:?}");
        }
        for (range, figures) in [
            ([1.7e308, -1.7e308], "from 1.7e308 to -1.7e308 there is no number"),
            ([0.0, f64::INFINITY], "from 0.0 to inf there is no number"),
            ([f64::NAN, 1.0], "from NaN to 1.0 there is no number"),
        ] {
            let fault = DeclaredDistribution::Real(range).fault().unwrap();
            assert!(fault.starts_with(figures), "{fault}");
        }
    }
}
