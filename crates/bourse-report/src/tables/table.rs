//! A table, once: terminal, Markdown and HTML show the text of its cells, CSV their values.

use crate::units;
use crate::view::Quantile;

/// Side at which a column's cells are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Emphasis of a cell; never the only carrier of a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Good,
    Doubtful,
    Bad,
    Faint,
}

impl Tone {
    /// The class of a cell in HTML.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Good => "good",
            Self::Doubtful => "doubtful",
            Self::Bad => "bad",
            Self::Faint => "faint",
        }
    }
}

/// A column's head.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    /// Title for a person.
    pub(crate) title: &'static str,
    /// Name in CSV: unit last.
    pub(crate) csv: &'static str,
    pub(crate) align: Align,
    /// Rank for narrow terminals: columns of the highest rank are dropped first; 0 never is.
    pub(crate) rank: u8,
    /// Whether it may be left out if all its cells are empty or zero; a line below the table reports the zeros instead.
    pub(crate) folds: bool,
}

impl Head {
    pub(crate) const fn left(title: &'static str, csv: &'static str) -> Self {
        Self { title, csv, align: Align::Left, rank: 0, folds: false }
    }

    pub(crate) const fn right(title: &'static str, csv: &'static str) -> Self {
        Self { title, csv, align: Align::Right, rank: 0, folds: false }
    }

    pub(crate) const fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    pub(crate) const fn folds(self) -> Self {
        Self { folds: true, ..self }
    }
}

/// A cell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    /// Text for a person.
    pub(crate) text: String,
    /// Value for programs, in the unit of the column's CSV name.
    pub(crate) value: String,
    /// Whether the value is text from outside, rather than a number or a word of Bourse's.
    pub(crate) is_text: bool,
    pub(crate) tone: Tone,
}

impl Cell {
    /// Text from outside.
    pub(crate) fn text(text: &str) -> Self {
        let text = units::printable(text);
        Self { value: text.clone(), text, is_text: true, tone: Tone::Plain }
    }

    /// A cell without a value: a dash, and nothing in CSV.
    pub(crate) fn nothing() -> Self {
        Self { text: units::NOTHING.to_owned(), value: String::new(), is_text: false, tone: Tone::Faint }
    }

    pub(crate) fn count(count: u64) -> Self {
        let tone = if count == 0 { Tone::Faint } else { Tone::Plain };
        Self { text: units::count(count), value: count.to_string(), is_text: false, tone }
    }

    /// A figure with its text, without a value if it is not finite.
    pub(crate) fn figure(value: f64, text: impl FnOnce(f64) -> String) -> Self {
        if value.is_finite() {
            Self { text: text(value), value: value.to_string(), is_text: false, tone: Tone::Plain }
        } else {
            Self::nothing()
        }
    }

    pub(crate) fn duration_ns(nanoseconds: f64) -> Self {
        Self::figure(nanoseconds, units::duration_ns)
    }

    /// A quantile of a latency: blank if fewer than ten operations are expected beyond it; if it falls on operations that
    /// failed, were dropped or never started, it is more than the slowest of the others.
    pub(crate) fn quantile(found: Option<Quantile>) -> Self {
        match found {
            None | Some(Quantile::TooFew) => Self::nothing(),
            Some(Quantile::At(ns)) => Self::duration_ns(ns as f64),
            Some(Quantile::Beyond(ns)) => Self { text: units::beyond_ns(ns), tone: Tone::Bad, ..Self::default() },
        }
    }

    pub(crate) fn percent(percent: f64) -> Self {
        Self::figure(percent, units::percent)
    }

    /// A cell, or nothing.
    pub(crate) fn or_nothing(cell: Option<Self>) -> Self {
        cell.unwrap_or_else(Self::nothing)
    }

    pub(crate) fn tone(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }
}

/// A table.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    /// Name of its CSV file.
    pub(crate) key: &'static str,
    pub(crate) title: String,
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(key: &'static str, title: impl Into<String>, heads: Vec<Head>) -> Self {
        Self { key, title: title.into(), heads, rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.heads.len(), "a row of {} has a cell a column", self.key);
        self.rows.push(row);
    }

    /// Leaves out the columns that `keep` refuses.
    fn retain(&mut self, keep: impl Fn(usize, &Head) -> bool) {
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
    pub(crate) fn fold(&mut self) -> Vec<&'static str> {
        let rows = &self.rows;
        let all = |at: usize, of: fn(&str) -> bool| rows.iter().all(|row| of(&row[at].value));
        let folded: Vec<bool> = self
            .heads
            .iter()
            .enumerate()
            .map(|(at, head)| head.folds && all(at, |value| matches!(value, "" | "0")))
            .collect();
        let said = |at: &usize| folded[*at] && !all(*at, str::is_empty);
        let titles = (0..self.heads.len()).filter(said).map(|at| self.heads[at].title).collect();
        self.retain(|at, _| !folded[at]);
        titles
    }

    /// The table without the column of that name in CSV.
    pub(crate) fn without(mut self, csv: &str) -> Self {
        self.retain(|_, head| head.csv != csv);
        self
    }

    /// Leaves out the columns of the highest rank; returns whether there were any.
    pub(crate) fn narrow(&mut self) -> bool {
        let highest = self.heads.iter().map(|head| head.rank).max().unwrap_or(0);
        self.retain(|_, head| highest == 0 || head.rank < highest);
        highest > 0
    }
}
