//! A session that halts where it is told to: before the commit of its transaction, or after a statement that is named by a
//! part of its text. There it waits for a word, and goes on, gives up, or vanishes as a client that was killed does.

use bourse_engine::{Access, Dialect, EachRow, EngineError, ErrorKind, Isolation, Session, Sql, Value};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

/// Where a transaction halts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Point {
    /// In words: `after frame 1`.
    pub(crate) name: &'static str,
    pub(crate) place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// After the statement whose text, with single blanks, has this in it.
    After(&'static str),
    /// Before the commit.
    Commit,
}

/// What a halted session is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// Go on.
    GoOn,
    /// Fail, so that the transaction is rolled back.
    GiveUp,
    /// Be gone without a word: the connection is closed with the transaction open.
    Vanish,
}

/// What a session says of itself.
#[derive(Debug)]
pub(crate) enum Event<T> {
    /// It stands at its point.
    Halted(Halt),
    /// Its transaction has ended.
    Ended(T),
}

/// Where a session stands, and what it has read there.
#[derive(Debug, Clone)]
pub(crate) struct Halt {
    pub(crate) statement: String,
    /// The first row's columns with their names.
    pub(crate) read: Vec<String>,
}

/// The statement that a session is in, for whoever looks while it waits.
pub(crate) type Doing = Arc<Mutex<Option<&'static str>>>;

/// The code of an error that a session was told to fail with.
pub(crate) const ON_PURPOSE: &str = "ON_PURPOSE";

pub(crate) struct PausableSession<T> {
    /// `None` once it has vanished.
    inner: Option<Box<dyn Session>>,
    dialect: &'static Dialect,
    pub(crate) point: Option<Point>,
    says: Sender<Event<T>>,
    words: Receiver<Command>,
    doing: Doing,
}

impl<T> PausableSession<T> {
    pub(crate) fn new(inner: Box<dyn Session>, says: Sender<Event<T>>, words: Receiver<Command>, doing: Doing) -> Self {
        Self { dialect: inner.dialect(), inner: Some(inner), point: None, says, words, doing }
    }

    fn inner(&mut self) -> Result<&mut Box<dyn Session>, EngineError> {
        self.inner.as_mut().ok_or_else(|| EngineError::new(ErrorKind::ConnectionLost, "the client is gone"))
    }

    fn is_at(&self, place: &Place) -> bool {
        self.point.is_some_and(|point| point.place == *place)
    }

    /// Whether the halt is behind this statement.
    fn is_after(&self, sql: &Sql) -> bool {
        match self.point {
            Some(Point { place: Place::After(part), .. }) => plain(sql.text()).contains(part),
            _ => false,
        }
    }

    /// Halts, once, until told what to do; whoever went away wants the transaction undone.
    fn halt(&mut self, statement: String, read: Vec<String>) -> Result<(), EngineError> {
        self.point = None;
        let told = match self.says.send(Event::Halted(Halt { statement, read })) {
            Ok(()) => self.words.recv().unwrap_or(Command::GiveUp),
            Err(_) => Command::GiveUp,
        };
        match told {
            Command::GoOn => Ok(()),
            Command::GiveUp => {
                self.inner()?.rollback()?;
                Err(EngineError::new(ErrorKind::Other, "told to give up").with_code(ON_PURPOSE))
            }
            Command::Vanish => {
                self.inner = None;
                Err(EngineError::new(ErrorKind::ConnectionLost, "told to vanish").with_code(ON_PURPOSE))
            }
        }
    }

    fn now_in(&self, statement: Option<&'static str>) {
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = statement;
    }
}

/// A statement on one line.
pub(crate) fn plain(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The columns a query selects: what stands between its first SELECT and FROM, cut at commas outside brackets.
fn columns(sql: &str) -> Vec<&str> {
    let list = sql.strip_prefix("SELECT ").and_then(|rest| rest.split(" FROM ").next()).unwrap_or_default();
    let (mut depth, mut begin, mut found) = (0, 0, Vec::new());
    for (at, character) in list.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                found.push(list[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.push(list[begin..].trim());
    found
}

fn shown(value: Value<'_>) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Decimal { units, scale } => {
            let one = 10i64.pow(u32::from(scale));
            if scale == 0 { units.to_string() } else { format!("{:.*}", usize::from(scale), units as f64 / one as f64) }
        }
        Value::Real(number) => number.to_string(),
        Value::Date(date) => date.to_string(),
        Value::Timestamp(moment) => moment.to_string(),
        Value::Text(text) => text.to_owned(),
        Value::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}

impl<T: Send> Session for PausableSession<T> {
    fn dialect(&self) -> &'static Dialect {
        self.dialect
    }
    fn begin(&mut self, isolation: Isolation, access: Access) -> Result<(), EngineError> {
        self.now_in(Some("BEGIN"));
        self.inner()?.begin(isolation, access)
    }
    fn query(&mut self, sql: &'static Sql, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.now_in(Some(sql.text()));
        if !self.is_after(sql) {
            return self.inner()?.query(sql, params, each);
        }
        let text = plain(sql.text());
        let names = columns(&text);
        let mut read = Vec::new();
        self.inner()?.query(sql, params, &mut |row| {
            if read.is_empty() {
                read =
                    names.iter().enumerate().map(|(at, name)| format!("{name} = {}", shown(row.value(at)))).collect();
            }
            each(row)
        })?;
        self.halt(text, read)
    }
    fn execute(&mut self, sql: &'static Sql, params: &[Value<'_>]) -> Result<u64, EngineError> {
        self.now_in(Some(sql.text()));
        let changed = self.inner()?.execute(sql, params)?;
        if self.is_after(sql) {
            self.halt(plain(sql.text()), Vec::new())?;
        }
        Ok(changed)
    }
    fn commit(&mut self) -> Result<(), EngineError> {
        if self.is_at(&Place::Commit) {
            self.halt("COMMIT".to_owned(), Vec::new())?;
        }
        self.now_in(Some("COMMIT"));
        self.inner()?.commit()
    }
    fn rollback(&mut self) -> Result<(), EngineError> {
        match &mut self.inner {
            Some(inner) => inner.rollback(),
            None => Ok(()),
        }
    }
    fn query_text(&mut self, sql: &str, params: &[Value<'_>], each: &mut EachRow<'_>) -> Result<(), EngineError> {
        self.inner()?.query_text(sql, params, each)
    }
    fn execute_text(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, EngineError> {
        self.inner()?.execute_text(sql, params)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_by_the_statement() {
        assert_eq!(
            columns("SELECT a, coalesce(b, 0), (c + d) FROM t WHERE e IN (1, 2)"),
            ["a", "coalesce(b, 0)", "(c + d)"]
        );
        assert_eq!(columns("UPDATE t SET a = 1, b = 2"), [""]);
    }
}
