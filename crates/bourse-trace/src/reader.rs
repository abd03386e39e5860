//! Reader of traces.

use crate::digest::{self, RowsDigest};
use crate::{
    Event, EventKind, Execution, HEAD_BYTES, MAGIC, Note, Opened, Record, StatementText, TraceBase, TraceHead,
    TraceValue, VERSION,
};
use std::io::{self, BufRead, Read as _};
use thiserror::Error;

/// Longest record: SQLite's longest text or blob, and its statement's other values.
const MOST_BYTES: u64 = 1 << 32;

/// Reason that a trace is not read, or not further. All records before were returned.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file is empty.
    #[error("the trace is empty: nothing could be written to it, as on a full disk")]
    Empty,
    /// The file is no trace.
    #[error("this is no trace of a program: a trace begins with BOURSETR")]
    Foreign,
    /// The format is newer.
    #[error("the trace has format {found}, and this program reads formats up to {VERSION}: a newer bourse reads it")]
    Newer {
        /// Version of the trace.
        found: u32,
    },
    /// The head's bytes are not those that were written.
    #[error("the trace's head is damaged, or was written before the first release")]
    DamagedHead,
    /// The bytes end within the head.
    #[error("the trace is cut off within its head of {HEAD_BYTES} bytes")]
    CutHead,
    /// The bytes end within a record.
    #[error("the trace is cut off within the record at byte {at}")]
    Cut {
        /// Position of the record.
        at: u64,
    },
    /// The bytes are not those that were written.
    #[error("the trace is damaged in the record at byte {at}")]
    Damaged {
        /// Position of the record.
        at: u64,
    },
    /// The input cannot be read.
    #[error("the trace cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// Reader of a trace: an iterator of its records. After an error it ends.
#[derive(Debug)]
pub struct TraceReader<R> {
    from: R,
    head: TraceHead,
    /// Position of the next record.
    at: u64,
    last_ns: u64,
    texts: u64,
    is_over: bool,
    ended: bool,
    body: Vec<u8>,
}

impl<R: BufRead> TraceReader<R> {
    /// Reads the head.
    ///
    /// # Errors
    /// The input is no trace, or a newer one.
    pub fn new(mut from: R) -> Result<Self, TraceError> {
        let mut head = Vec::with_capacity(HEAD_BYTES);
        from.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
        if head.is_empty() {
            return Err(TraceError::Empty);
        }
        let mut fields = Fields(&head);
        if fields.take(MAGIC.len()) != Some(&MAGIC) {
            return Err(TraceError::Foreign);
        }
        let Some((content, check)) = head.split_last_chunk::<4>().filter(|_| head.len() == HEAD_BYTES) else {
            return Err(TraceError::CutHead);
        };
        if digest::bytes(0, content) as u32 != u32::from_le_bytes(*check) {
            return Err(TraceError::DamagedHead);
        }
        let version = fields.word().ok_or(TraceError::CutHead)?;
        if version > VERSION {
            return Err(TraceError::Newer { found: version });
        }
        let mut parse = || {
            let (process, parent, mode) = (fields.word()?, fields.word()?, fields.word()?);
            let (unix_ns, monotonic_ns) = (fields.long()?, fields.long()?);
            Some(TraceHead {
                process,
                parent,
                by_extension: mode & 1 != 0,
                lacks_codes: mode & 5 == 1,
                is_masked: mode & 2 != 0,
                unix_ns,
                monotonic_ns,
            })
        };
        let head = parse().ok_or(TraceError::CutHead)?;
        let at = HEAD_BYTES as u64;
        Ok(Self { from, head, at, last_ns: 0, texts: 0, is_over: false, ended: false, body: Vec::new() })
    }

    /// The head.
    #[must_use]
    pub fn head(&self) -> TraceHead {
        self.head
    }

    /// Whether the process was seen to end in good order, as far as the trace was read.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Number of bytes read, to the end of the last record.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.at
    }

    /// The next record; `None` at the end.
    fn read(&mut self) -> Result<Option<Record>, TraceError> {
        let at = self.at;
        let (mut length, mut length_bytes) = (0_u64, 0_u32);
        loop {
            let Some(&byte) = self.from.fill_buf()?.first() else {
                return if length_bytes == 0 { Ok(None) } else { Err(TraceError::Cut { at }) };
            };
            self.from.consume(1);
            length |= u64::from(byte & 0x7F) << length_bytes.saturating_mul(7);
            length_bytes = length_bytes.saturating_add(1);
            if byte < 0x80 {
                break;
            }
            if length_bytes > 4 {
                return Err(TraceError::Damaged { at });
            }
        }
        if length == 0 && length_bytes == 1 {
            return Ok(None);
        }
        if length == 0 || length > MOST_BYTES {
            return Err(TraceError::Damaged { at });
        }
        self.body.clear();
        // `take`: a damaged length allocates no more than there is.
        let whole = length.saturating_add(4);
        if (&mut self.from).take(whole).read_to_end(&mut self.body)? as u64 != whole {
            return Err(TraceError::Cut { at });
        }
        let damaged = || TraceError::Damaged { at };
        let (body, check) = self.body.split_last_chunk::<4>().ok_or_else(damaged)?;
        if digest::bytes(0, body) as u32 != u32::from_le_bytes(*check) {
            return Err(damaged());
        }
        let mut fields = Fields(body);
        let record =
            record(&mut fields, self.last_ns, self.texts).filter(|_| fields.0.is_empty()).ok_or_else(damaged)?;
        match &record {
            Record::Text(_) => self.texts = self.texts.saturating_add(1),
            Record::Event(event) => {
                self.last_ns = event.at_ns;
                self.ended = event.kind == EventKind::Ended;
            }
        }
        self.at = at.saturating_add(u64::from(length_bytes)).saturating_add(whole);
        Ok(Some(record))
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<Record, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let read = self.read();
        self.is_over = !matches!(read, Ok(Some(_)));
        read.transpose()
    }
}

/// Fields that are left of a record.
struct Fields<'b>(&'b [u8]);

impl<'b> Fields<'b> {
    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn long(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.take(1)?.first()?;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some(((number >> 1) as i64) ^ (((number & 1) as i64).wrapping_neg()))
    }

    fn bytes(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }

    fn string(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    fn value(&mut self) -> Option<TraceValue> {
        Some(match *self.take(1)?.first()? {
            0 => TraceValue::Null,
            1 => TraceValue::Int(self.signed()?),
            2 => TraceValue::Real(f64::from_bits(self.long()?)),
            3 => TraceValue::Text(self.bytes()?.to_vec()),
            4 => TraceValue::Blob(self.bytes()?.to_vec()),
            5 => TraceValue::Zeros(self.number()?),
            6 => TraceValue::Unknown,
            7 => TraceValue::Pointer(self.string()?),
            _ => return None,
        })
    }

    /// The number of a text that was recorded before.
    fn text(&mut self, texts: u64) -> Option<u64> {
        self.number().filter(|text| *text < texts)
    }
}

/// The record of these fields; `None` if they are none.
fn record(fields: &mut Fields<'_>, last_ns: u64, texts: u64) -> Option<Record> {
    let kind = *fields.take(1)?.first()?;
    if kind == 1 {
        let is_read_only = fields.number()? & 1 == 1;
        return Some(Record::Text(StatementText { sql: fields.string()?, is_read_only }));
    }
    let at_ns = last_ns.checked_add_signed(fields.signed()?)?;
    let (connection, thread) = (fields.number()?, fields.number()?);
    let kind = match kind {
        2 => EventKind::Opened(Opened {
            flags: fields.number()?,
            base: *TraceBase::ALL.get(usize::try_from(fields.number()?).ok()?)?,
            name: fields.string()?,
            path: fields.string()?,
            vfs: fields.string()?,
            library: fields.string()?,
            copy: fields.string()?,
        }),
        3 => EventKind::Closed,
        4 => EventKind::Executed(execution(fields, texts)?),
        5 => EventKind::Refused { text: fields.text(texts)?, code: fields.number()?, message: fields.string()? },
        6 => EventKind::Noted {
            note: *Note::ALL.get(usize::try_from(fields.number()?.checked_sub(1)?).ok()?)?,
            number: fields.signed()?,
            name: fields.string()?,
        },
        7 => EventKind::Ended,
        _ => return None,
    };
    Some(Record::Event(Event { at_ns, connection, thread, kind }))
}

fn execution(fields: &mut Fields<'_>, texts: u64) -> Option<Execution> {
    let (text, flags) = (fields.text(texts)?, fields.number()?);
    let (duration_ns, code, rows) = (fields.number()?, fields.number()?, fields.number()?);
    let ordered = if rows > 0 { fields.long()? } else { 0 };
    let unordered = if rows > 1 { fields.long()? } else { ordered };
    let changes = fields.number()?;
    let count = fields.number()?;
    let values = (0..count).map(|_| fields.value()).collect::<Option<_>>()?;
    Some(Execution {
        text,
        autocommit_before: flags & 1 != 0,
        autocommit_after: flags & 2 != 0,
        is_first: flags & 4 != 0,
        is_complete: flags & 8 != 0,
        duration_ns,
        code,
        rows: RowsDigest { rows, ordered, unordered },
        changes,
        values,
    })
}
