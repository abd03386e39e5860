//! Files of histories: a line of JSON for the head, and one for each transaction.

use crate::{History, Transaction};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Write};
use thiserror::Error;

/// Kind of the document, as in the head's field `document`.
const DOCUMENT: &str = "isolation_history";
/// Version of the format; raised when a reader of the previous form would misread this one.
const SCHEMA_VERSION: u64 = 1;

/// First line of a file.
#[derive(Serialize, Deserialize)]
struct Head {
    document: String,
    schema_version: u64,
    name: String,
    /// Number of lines that follow: a file that was cut is noticed.
    transactions: u64,
}

/// Error of a history that cannot be read.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// The source cannot be read.
    #[error("cannot read line {line}: {cause}")]
    Read {
        /// Number of the line, from 1.
        line: u64,
        /// Error of the system.
        cause: io::Error,
    },
    /// A line is not what the format has there.
    #[error("line {line} is not {expected}: {cause}")]
    Json {
        /// Number of the line, from 1.
        line: u64,
        /// Meaning of the line.
        expected: &'static str,
        /// JSON error with column.
        cause: serde_json::Error,
    },
    /// The file is another document.
    #[error("line 1 has document '{found}', expected '{DOCUMENT}'")]
    Foreign {
        /// Kind of the document.
        found: String,
    },
    /// The file has another version of the format.
    #[error("line 1 has version {found} of the format, this program reads version {SCHEMA_VERSION}")]
    Version {
        /// Version of the file.
        found: u64,
    },
    /// The file has fewer or more transactions than its head says.
    #[error("the history has {found} transactions, and its head says {expected}")]
    Length {
        /// Number of lines after the head.
        found: u64,
        /// Number in the head.
        expected: u64,
    },
}

impl HistoryError {
    /// Remedy.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Read { .. } | Self::Foreign { .. } => "expected a history that `bourse isolation` wrote",
            Self::Json { .. } | Self::Length { .. } => {
                "the file was cut or edited after Bourse wrote it; restore it from a copy"
            }
            Self::Version { found } if *found > SCHEMA_VERSION => "read it with a newer bourse",
            Self::Version { .. } => "no bourse has written such a file: take it from its source again",
        }
    }
}

impl Transaction {
    /// The transaction as a line of JSON, with its end.
    pub fn line(&self) -> String {
        // Nothing in it can fail to be written.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// Transactions of a file to which each was appended as a line: before its commit with an unknown outcome, and after it with
    /// the outcome, which counts. A line that was cut off is left out.
    ///
    /// # Errors
    /// Those of the source.
    pub fn read_lines(from: impl BufRead) -> io::Result<Vec<Self>> {
        let mut transactions = Vec::<Self>::new();
        for line in from.split(b'\n') {
            let Ok(next) = serde_json::from_slice::<Self>(&line?) else { continue };
            if transactions.last().is_some_and(|last| last.begin_ns == next.begin_ns) {
                transactions.pop();
            }
            transactions.push(next);
        }
        Ok(transactions)
    }
}

impl History {
    /// Writes the history as lines of JSON: the head, then a line for each transaction.
    ///
    /// ```
    /// use bourse_isolation::History;
    /// let mut bytes = Vec::new();
    /// let history = History { name: "bank".to_owned(), transactions: Vec::new() };
    /// history.write(&mut bytes).unwrap();
    /// assert_eq!(bytes, b"{\"document\":\"isolation_history\",\"schema_version\":1,\"name\":\"bank\",\"transactions\":0}\n");
    /// assert_eq!(History::read(&bytes[..]).unwrap(), history);
    /// ```
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        let transactions = self.transactions.len() as u64;
        let (document, name) = (DOCUMENT.to_owned(), self.name.clone());
        serde_json::to_writer(&mut to, &Head { document, schema_version: SCHEMA_VERSION, name, transactions })?;
        for transaction in &self.transactions {
            to.write_all(b"\n")?;
            serde_json::to_writer(&mut to, transaction)?;
        }
        to.write_all(b"\n")
    }

    /// Reads a history that [`History::write`] wrote.
    ///
    /// # Errors
    /// [`HistoryError`] with the line and the defect.
    pub fn read(from: impl BufRead) -> Result<Self, HistoryError> {
        let mut lines = (1..).zip(from.lines());
        let line = lines.next().map_or(Ok(String::new()), |(line, text)| read(line, text))?;
        // Version first: a document of another version need not have this one's form.
        let head: serde_json::Value = parse(1, "the head of a history", &line)?;
        let found = |field| head.get(field).cloned().unwrap_or_default();
        if found("document") != DOCUMENT {
            let found = found("document");
            return Err(HistoryError::Foreign { found: found.as_str().map_or(found.to_string(), str::to_owned) });
        }
        if let Some(found) = found("schema_version").as_u64().filter(|found| *found != SCHEMA_VERSION) {
            return Err(HistoryError::Version { found });
        }
        let head: Head = parse(1, "the head of a history", &line)?;
        let mut transactions = Vec::new();
        for (line, text) in lines {
            transactions.push(parse::<Transaction>(line, "a transaction", &read(line, text)?)?);
        }
        if transactions.len() as u64 != head.transactions {
            return Err(HistoryError::Length { found: transactions.len() as u64, expected: head.transactions });
        }
        Ok(Self { name: head.name, transactions })
    }
}

fn read(line: u64, text: io::Result<String>) -> Result<String, HistoryError> {
    text.map_err(|cause| HistoryError::Read { line, cause })
}

fn parse<T: for<'a> Deserialize<'a>>(line: u64, expected: &'static str, text: &str) -> Result<T, HistoryError> {
    serde_json::from_str(text).map_err(|cause| HistoryError::Json { line, expected, cause })
}
