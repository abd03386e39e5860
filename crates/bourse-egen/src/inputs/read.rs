//! Lines and columns of an input file: tabulators between columns, a line feed after every line, no header.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use bourse_schema::Text;

use super::InputError;

/// One input file.
pub(super) struct File<'a> {
    name: &'static str,
    bytes: &'a [u8],
    columns: &'static [&'static str],
}

/// One line of it.
pub(super) struct InputLine<'a> {
    file: &'static str,
    pub(super) line: usize,
    columns: &'static [&'static str],
    fields: Vec<&'a str>,
}

impl<'a> File<'a> {
    pub(super) fn new(name: &'static str, bytes: &'a [u8], columns: &'static [&'static str]) -> Self {
        Self { name, bytes, columns }
    }

    /// Reads every line. Blank ones are skipped, and text after the last line feed is ignored, as in the reference.
    pub(super) fn read<T>(
        &self,
        mut each: impl FnMut(&InputLine<'a>) -> Result<T, InputError>,
    ) -> Result<Vec<T>, InputError> {
        let mut read = Vec::new();
        let mut lines = self.bytes.split(|&byte| byte == b'\n');
        lines.next_back();
        for (number, line) in (1..).zip(lines) {
            if !line.is_empty() {
                read.push(each(&self.record(number, line)?)?);
            }
        }
        if read.is_empty() {
            return Err(self.wrong("at least one record", "none"));
        }
        Ok(read)
    }

    /// Reads every line of a file whose number of records is part of the algorithm.
    pub(super) fn read_exactly<T>(
        &self,
        count: usize,
        each: impl FnMut(&InputLine<'a>) -> Result<T, InputError>,
    ) -> Result<Vec<T>, InputError> {
        let read = self.read(each)?;
        if read.len() != count {
            return Err(self.wrong(format!("{count} records"), read.len()));
        }
        Ok(read)
    }

    fn record(&self, line: usize, bytes: &'a [u8]) -> Result<InputLine<'a>, InputError> {
        let error = |expected: String, found: String| InputError::Line { file: self.name, line, expected, found };
        let text = std::str::from_utf8(bytes).map_err(|e| {
            error("UTF-8 text".into(), format!("an invalid byte in column {}", e.valid_up_to().saturating_add(1)))
        })?;
        if let Some(odd) = text.chars().find(|c| *c == '|' || (c.is_control() && *c != '\t')) {
            return Err(error("text without control characters and vertical bars".into(), format!("{odd:?}")));
        }
        let fields: Vec<&str> = text.split('\t').collect();
        if fields.len() != self.columns.len() {
            let expected = format!("{} columns ({})", self.columns.len(), self.columns.join(", "));
            return Err(error(expected, fields.len().to_string()));
        }
        Ok(InputLine { file: self.name, line, columns: self.columns, fields })
    }

    pub(super) fn wrong(&self, expected: impl Display, found: impl Display) -> InputError {
        InputError::File { file: self.name, expected: expected.to_string(), found: found.to_string() }
    }
}

impl<'a> InputLine<'a> {
    /// Text of a column, unchanged.
    pub(super) fn raw(&self, column: usize) -> &'a str {
        self.fields.get(column).copied().unwrap_or_default()
    }

    /// A text that fits its column of the database.
    pub(super) fn text<const N: usize>(&self, column: usize) -> Result<Text<N>, InputError> {
        let raw = self.raw(column);
        Text::new(raw).map_err(|_| self.wrong(column, format!("of at most {N} bytes")))
    }

    /// An integer.
    pub(super) fn whole<T: FromStr + PartialOrd + Display>(
        &self,
        column: usize,
        range: RangeInclusive<T>,
    ) -> Result<T, InputError> {
        let number = self.raw(column).parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| self.wrong(column, format!("as an integer of {} to {}", range.start(), range.end())))
    }

    /// A number of 0 or more with a decimal point or without.
    pub(super) fn real(&self, column: usize) -> Result<f64, InputError> {
        let raw = self.raw(column);
        let plain = raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        raw.parse().ok().filter(|_| plain).ok_or_else(|| self.wrong(column, "as a decimal number"))
    }

    /// `0` or `1`.
    pub(super) fn flag(&self, column: usize) -> Result<bool, InputError> {
        Ok(self.whole(column, 0..=1)? == 1)
    }

    /// Index among `known` of the name in a column.
    pub(super) fn one_of(&self, column: usize, known: &[&str], what: &str) -> Result<usize, InputError> {
        let raw = self.raw(column);
        known.iter().position(|name| *name == raw).ok_or_else(|| self.wrong(column, what))
    }

    /// Error about one column: `expected` continues "column such and such".
    pub(super) fn wrong(&self, column: usize, expected: impl Display) -> InputError {
        InputError::Line {
            file: self.file,
            line: self.line,
            expected: format!("{} {expected}", self.columns.get(column).copied().unwrap_or_default()),
            found: format!("{:?}", self.raw(column)),
        }
    }
}
