//! Writer of traces.

use crate::{Event, EventKind, HEAD_BYTES, MAGIC, Record, TraceBase, TraceHead, TraceValue, VERSION, digest};
use std::io::{self, Write};

/// Writer of a trace, record by record.
#[derive(Debug)]
pub struct TraceWriter<W> {
    to: W,
    last_ns: u64,
}

impl<W: Write> TraceWriter<W> {
    /// Writes the head.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(mut to: W, head: &TraceHead) -> io::Result<Self> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES);
        bytes.extend(MAGIC);
        let knows_codes = head.by_extension && !head.lacks_codes;
        let mode = [head.by_extension, head.is_masked, knows_codes];
        let mode = mode.iter().rev().fold(0, |mode, bit| (mode << 1) | u32::from(*bit));
        for word in [VERSION, head.process, head.parent, mode] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(head.unix_ns.to_le_bytes());
        bytes.extend(head.monotonic_ns.to_le_bytes());
        bytes.extend((digest::bytes(0, &bytes) as u32).to_le_bytes());
        to.write_all(&bytes)?;
        Ok(Self { to, last_ns: 0 })
    }

    /// Appends a record.
    ///
    /// # Errors
    /// Those of the output.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        let body = match record {
            Record::Text(text) => {
                let mut body = vec![1, u8::from(text.is_read_only)];
                string(&mut body, text.sql.as_bytes());
                body
            }
            Record::Event(event) => self.event(event),
        };
        let mut length = Vec::new();
        number(&mut length, body.len() as u64);
        self.to.write_all(&length)?;
        self.to.write_all(&body)?;
        self.to.write_all(&(digest::bytes(0, &body) as u32).to_le_bytes())
    }

    /// The output.
    pub fn into_inner(self) -> W {
        self.to
    }

    fn event(&mut self, event: &Event) -> Vec<u8> {
        let mut body = vec![match event.kind {
            EventKind::Opened(_) => 2,
            EventKind::Closed => 3,
            EventKind::Executed(_) => 4,
            EventKind::Refused { .. } => 5,
            EventKind::Noted { .. } => 6,
            EventKind::Ended => 7,
        }];
        signed(&mut body, event.at_ns.wrapping_sub(self.last_ns) as i64);
        self.last_ns = event.at_ns;
        number(&mut body, event.connection);
        number(&mut body, event.thread);
        match &event.kind {
            EventKind::Opened(opened) => {
                number(&mut body, opened.flags);
                number(&mut body, position(&TraceBase::ALL, opened.base));
                for text in [&opened.name, &opened.path, &opened.vfs, &opened.library, &opened.copy] {
                    string(&mut body, text.as_bytes());
                }
            }
            EventKind::Executed(executed) => {
                let flags =
                    [executed.autocommit_before, executed.autocommit_after, executed.is_first, executed.is_complete];
                let flags = flags.iter().rev().fold(0, |bits, flag| (bits << 1) | u64::from(*flag));
                let rows = executed.rows;
                for it in [executed.text, flags, executed.duration_ns, executed.code, rows.rows] {
                    number(&mut body, it);
                }
                if rows.rows > 0 {
                    body.extend(rows.ordered.to_le_bytes());
                }
                if rows.rows > 1 {
                    body.extend(rows.unordered.to_le_bytes());
                }
                number(&mut body, executed.changes);
                number(&mut body, executed.values.len() as u64);
                executed.values.iter().for_each(|it| value(&mut body, it));
            }
            EventKind::Refused { text, code, message } => {
                number(&mut body, *text);
                number(&mut body, *code);
                string(&mut body, message.as_bytes());
            }
            EventKind::Noted { note, number: of_note, name } => {
                number(&mut body, position(&crate::Note::ALL, *note).saturating_add(1));
                signed(&mut body, *of_note);
                string(&mut body, name.as_bytes());
            }
            EventKind::Closed | EventKind::Ended => {}
        }
        body
    }
}

fn position<T: PartialEq>(all: &[T], one: T) -> u64 {
    all.iter().position(|it| *it == one).unwrap_or_default() as u64
}

fn number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

fn signed(to: &mut Vec<u8>, it: i64) {
    number(to, ((it << 1) ^ (it >> 63)) as u64);
}

fn string(to: &mut Vec<u8>, bytes: &[u8]) {
    number(to, bytes.len() as u64);
    to.extend(bytes);
}

fn value(to: &mut Vec<u8>, value: &TraceValue) {
    to.push(value.code());
    match value {
        TraceValue::Null | TraceValue::Unknown => {}
        TraceValue::Pointer(name) => string(to, name.as_bytes()),
        TraceValue::Int(it) => signed(to, *it),
        TraceValue::Real(it) => to.extend(it.to_bits().to_le_bytes()),
        TraceValue::Text(bytes) | TraceValue::Blob(bytes) => string(to, bytes),
        TraceValue::Zeros(length) => number(to, *length),
    }
}
