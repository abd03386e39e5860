//! A table: heads, and rows of cells.

use super::statements::short;
use crate::units;
use crate::view::Quantile;
use bourse_verdict::Tone;
use std::borrow::Cow;

/// Side at which a column's cells are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellAlign {
    Left,
    Right,
}

/// A column's head.
#[derive(Debug, Clone)]
pub(crate) struct ColumnHead {
    pub(crate) title: Cow<'static, str>,
    pub(crate) align: CellAlign,
    /// Rank for narrow terminals: columns of the highest rank are dropped first; 0 never is.
    pub(crate) rank: u8,
    /// Whether it may be left out if all its cells are empty or zero; a line below the table reports the zeros instead.
    pub(crate) folds: bool,
    /// Whether its cells are durations.
    pub(crate) is_time: bool,
    /// Shortens a text to a number of characters: in a terminal its cells are one line each. `None` of a column that is wrapped.
    pub(crate) shorten: Option<fn(&str, usize) -> String>,
}

impl ColumnHead {
    pub(crate) fn left(title: impl Into<Cow<'static, str>>) -> Self {
        Self { title: title.into(), align: CellAlign::Left, rank: 0, folds: false, is_time: false, shorten: None }
    }

    pub(crate) fn right(title: impl Into<Cow<'static, str>>) -> Self {
        Self { align: CellAlign::Right, ..Self::left(title) }
    }

    pub(crate) fn time(title: &'static str) -> Self {
        Self { is_time: true, ..Self::right(title) }
    }

    pub(crate) fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    pub(crate) fn shortens(self, by: fn(&str, usize) -> String) -> Self {
        Self { shorten: Some(by), ..self }
    }

    pub(crate) fn folds(self) -> Self {
        Self { folds: true, ..self }
    }
}

/// Heads of a table's columns, each with its side and what else is to be said of it: `right "failed" .folds()`.
macro_rules! heads {
    ($($side:ident $title:literal $(.$method:ident($($rank:literal)?))*),+ $(,)?) => {
        vec![$($crate::tables::ColumnHead::$side($title)$(.$method($($rank)?))*),+]
    };
}
pub(crate) use heads;

/// Row of a table: cells, and texts from outside.
macro_rules! row {
    ($($cell:expr),+ $(,)?) => {
        vec![$($crate::tables::TableCell::from($cell)),+]
    };
}
pub(crate) use row;

/// Form of a cell's text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum CellForm {
    #[default]
    Plain,
    /// A name, as it is typed.
    Code,
    /// Emphasised, with plain text after it.
    Strong(String),
    /// A link to this path, in the page.
    Link(String),
}

/// A cell of a table.
#[derive(Debug, Clone, Default)]
pub struct TableCell {
    /// Text, a line feed between its lines.
    pub(crate) text: String,
    pub(crate) form: CellForm,
    pub(crate) tone: Tone,
    /// Whether it is the number 0.
    pub(crate) is_zero: bool,
}

impl<T: AsRef<str>> From<T> for TableCell {
    fn from(text: T) -> Self {
        Self { text: units::printable(text.as_ref()), ..Self::default() }
    }
}

impl TableCell {
    /// Text from outside.
    pub fn text(text: &str) -> Self {
        text.into()
    }

    /// A name, as it is typed.
    pub fn code(text: &str) -> Self {
        Self { form: CellForm::Code, ..Self::text(text) }
    }

    /// Emphasised text, with plain text after it.
    pub fn strong(text: &str, more: &str) -> Self {
        Self { form: CellForm::Strong(units::printable(more)), ..Self::text(text) }
    }

    /// The cell as a link to a path or an anchor, in the page.
    pub(crate) fn link(self, to: String) -> Self {
        Self { form: CellForm::Link(to), ..self }
    }

    /// Several lines.
    pub(crate) fn lines(lines: &[String]) -> Self {
        let text = lines.iter().map(|line| units::printable(line)).collect::<Vec<_>>().join("\n");
        Self { text, ..Self::default() }
    }

    /// A cell without a value: a dash.
    pub(crate) fn missing() -> Self {
        Self { text: units::NOTHING.to_owned(), tone: Tone::Faint, ..Self::default() }
    }

    pub(crate) fn count(count: u64) -> Self {
        let tone = if count == 0 { Tone::Faint } else { Tone::Plain };
        Self { text: units::count(count), tone, is_zero: count == 0, ..Self::default() }
    }

    /// A figure with its text; nothing if it is not finite.
    pub(crate) fn figure(value: f64, text: impl FnOnce(f64) -> String) -> Self {
        if value.is_finite() {
            Self { text: text(value), is_zero: value == 0.0, ..Self::default() }
        } else {
            Self::missing()
        }
    }

    pub(crate) fn duration_ns(nanoseconds: f64) -> Self {
        Self::figure(nanoseconds, units::duration_ns)
    }

    /// A quantile of a latency: blank if fewer than ten operations are expected beyond it; if it falls on operations that
    /// failed, were dropped or never started, it is more than the slowest of the others.
    pub(crate) fn quantile(found: Option<Quantile>) -> Self {
        match found {
            None | Some(Quantile::TooFew) => Self::missing(),
            Some(Quantile::At(ns)) => Self::duration_ns(ns as f64),
            Some(Quantile::Beyond(ns)) => Self { text: units::beyond_ns(ns), tone: Tone::Bad, ..Self::default() },
        }
    }

    pub(crate) fn percent(percent: f64) -> Self {
        Self::figure(percent, units::percent)
    }

    /// A cell, or nothing.
    pub(crate) fn or_missing(cell: Option<Self>) -> Self {
        cell.unwrap_or_else(Self::missing)
    }

    pub(crate) fn tone(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() || self.text == units::NOTHING
    }

    /// The text without its form.
    pub(crate) fn plain(&self) -> Cow<'_, str> {
        match &self.form {
            CellForm::Strong(more) => Cow::Owned(format!("{}{more}", self.text)),
            _ => Cow::Borrowed(&self.text),
        }
    }
}

/// A table.
#[derive(Debug, Clone, Default)]
pub(crate) struct SheetTable {
    /// Title; empty for a table without one.
    pub(crate) title: String,
    pub(crate) heads: Vec<ColumnHead>,
    pub(crate) rows: Vec<Vec<TableCell>>,
    /// Names of groups of equally many columns, after the first column; empty without groups.
    pub(crate) group: Vec<String>,
    /// Whether the last rows are the newest, of which a screen has as many as fit it.
    pub(crate) newest_last: bool,
}

impl SheetTable {
    /// A table of texts without a title.
    pub(crate) fn of(heads: &[&'static str], rows: Vec<Vec<TableCell>>) -> Self {
        Self {
            title: String::new(),
            heads: heads.iter().map(|head| ColumnHead::left(*head)).collect(),
            rows,
            ..Self::default()
        }
    }

    pub(crate) fn new(title: impl Into<String>, heads: Vec<ColumnHead>) -> Self {
        Self { title: title.into(), heads, ..Self::default() }
    }

    pub(crate) fn push(&mut self, row: Vec<TableCell>) {
        debug_assert_eq!(row.len(), self.heads.len(), "a row of {} has a cell a column", self.title);
        self.rows.push(row);
    }

    /// The table with so many of its rows: those with a bad cell before others, or the newest.
    pub(crate) fn first(&self, most: usize) -> Self {
        let mut kept: Vec<usize> = (0..self.rows.len()).collect();
        match self.newest_last {
            true => kept.reverse(),
            false => kept.sort_by_key(|at| self.rows[*at].iter().all(|cell| cell.tone != Tone::Bad)),
        }
        kept.truncate(most);
        kept.sort_unstable();
        let mut rows: Vec<Vec<TableCell>> = kept.iter().map(|at| self.rows[*at].clone()).collect();
        // The first of a run's rows has its name.
        if let (true, Some(row), Some(at)) = (self.newest_last, rows.first_mut(), kept.first()) {
            let named = self.rows[..=*at].iter().rfind(|row| !row[0].text.is_empty());
            named.iter().for_each(|named| row[0] = named[0].clone());
        }
        let mut table = Self { rows, ..self.clone() };
        // A run has a line.
        let texts =
            table.heads.iter_mut().skip(1).filter(|it| self.newest_last && it.align == CellAlign::Left && it.rank == 0);
        texts.for_each(|head| head.shorten = Some(short));
        table
    }

    /// Leaves out the columns that `keep` refuses.
    pub(crate) fn retain(&mut self, keep: impl Fn(usize, &ColumnHead) -> bool) {
        let kept: Vec<bool> = self.heads.iter().enumerate().map(|(at, head)| keep(at, head)).collect();
        let mut at = kept.iter();
        self.heads.retain(|_| *at.next().expect("as many as heads"));
        for row in &mut self.rows {
            let mut at = kept.iter();
            row.retain(|_| *at.next().expect("as many as cells"));
        }
    }

    /// Leaves out the columns that are empty or zero in every row; returns the titles of those with zeros, to be reported:
    /// that nothing failed is of interest, but not that there is no limit.
    pub(crate) fn fold(&mut self) -> Vec<String> {
        let rows = &self.rows;
        let all = |at: usize, is: fn(&TableCell) -> bool| rows.iter().all(|row| is(&row[at]));
        let is_folded =
            |(at, head): (usize, &ColumnHead)| head.folds && all(at, |cell| cell.is_zero || cell.is_empty());
        let folded: Vec<bool> = self.heads.iter().enumerate().map(is_folded).collect();
        let said = |at: &usize| folded[*at] && !all(*at, TableCell::is_empty);
        let titles = (0..self.heads.len()).filter(said).map(|at| self.heads[at].title.to_string()).collect();
        self.retain(|at, _| !folded[at]);
        titles
    }

    /// Leaves out the columns of the highest rank; returns whether there were any.
    pub(crate) fn narrow(&mut self) -> bool {
        let highest = self.heads.iter().map(|head| head.rank).max().unwrap_or(0);
        self.retain(|_, head| highest == 0 || head.rank < highest);
        highest > 0
    }
}
