//! Messages to the server, as specified in its documentation: a letter, a length, a body. Each is appended to the
//! output.

use crate::value::{Oid, put};
use bourse_engine::Value;
use bytes::{BufMut as _, BytesMut};

/// Protocol version 3.0.
const PROTOCOL: i32 = 3 << 16;

/// Request for encryption, the first message of a connection; answered by one byte.
#[cfg(feature = "tls")]
pub(crate) const ENCRYPTION: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// Format code of values and results in binary form.
const BINARY: i16 = 1;

/// Appends the output of `write` after its length, which includes the length itself.
#[inline]
fn with_length(out: &mut BytesMut, write: impl FnOnce(&mut BytesMut)) {
    let at = out.len();
    out.put_i32(0);
    write(out);
    let length = (out.len() - at) as u32;
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

#[inline]
fn message(out: &mut BytesMut, kind: u8, write: impl FnOnce(&mut BytesMut)) {
    out.put_u8(kind);
    with_length(out, write);
}

/// Appends a text, which ends with a zero byte. A zero byte within it is replaced by a character that makes the server
/// report an error.
fn text(out: &mut BytesMut, text: &str) {
    for (at, part) in text.split('\0').enumerate() {
        if at > 0 {
            out.put_slice("\u{fffd}".as_bytes());
        }
        out.put_slice(part.as_bytes());
    }
    out.put_u8(0);
}

/// Start message: the user, and the settings of the session.
pub(crate) fn startup<'a>(out: &mut BytesMut, settings: impl Iterator<Item = (&'a str, &'a str)>) {
    with_length(out, |out| {
        out.put_i32(PROTOCOL);
        for (name, value) in settings {
            text(out, name);
            text(out, value);
        }
        out.put_u8(0);
    });
}

/// Message with a plain password.
pub(crate) fn password(out: &mut BytesMut, password: &str) {
    message(out, b'p', |out| text(out, password));
}

/// First message of a SASL dialogue, in which both sides prove that they know the password.
pub(crate) fn sasl_begin(out: &mut BytesMut, mechanism: &str, first: &str) {
    message(out, b'p', |out| {
        text(out, mechanism);
        out.put_i32(first.len() as i32);
        out.put_slice(first.as_bytes());
    });
}

/// Further message of a SASL dialogue.
pub(crate) fn sasl_next(out: &mut BytesMut, word: &str) {
    message(out, b'p', |out| out.put_slice(word.as_bytes()));
}

/// Message that runs statements without parameters, with results as text.
pub(crate) fn query(out: &mut BytesMut, sql: &str) {
    message(out, b'Q', |out| text(out, sql));
}

/// Message that prepares a statement under a name; the next statement replaces an empty name's.
pub(crate) fn parse(out: &mut BytesMut, name: &str, sql: &str, types: &[Oid]) {
    message(out, b'P', |out| {
        text(out, name);
        text(out, sql);
        out.put_u16(types.len() as u16);
        types.iter().for_each(|oid| out.put_u32(*oid));
    });
}

/// Message that requests parameters and columns of a prepared statement.
pub(crate) fn describe_statement(out: &mut BytesMut, name: &str) {
    message(out, b'D', |out| {
        out.put_u8(b'S');
        text(out, name);
    });
}

/// Message that requests the columns of the bound statement.
pub(crate) fn describe_bound(out: &mut BytesMut) {
    message(out, b'D', |out| out.put_slice(b"P\0"));
}

/// Message that binds values of these types to a prepared statement.
#[inline]
pub(crate) fn bind(out: &mut BytesMut, name: &str, types: &[Oid], params: &[Value<'_>]) {
    message(out, b'B', |out| {
        out.put_u8(0);
        text(out, name);
        out.put_i16(1);
        out.put_i16(BINARY);
        out.put_u16(params.len() as u16);
        for (oid, value) in types.iter().zip(params) {
            field(out, *value, *oid);
        }
        out.put_i16(1);
        out.put_i16(BINARY);
    });
}

/// Appends a value after its length, which is -1 for NULL.
#[inline]
pub(crate) fn field(out: &mut BytesMut, value: Value<'_>, oid: Oid) {
    if value == Value::Null {
        out.put_i32(-1);
        return;
    }
    let at = out.len();
    out.put_i32(0);
    put(value, oid, out);
    let length = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

/// Message that runs the bound statement, for all of its rows.
#[inline]
pub(crate) fn execute(out: &mut BytesMut) {
    message(out, b'E', |out| {
        out.put_u8(0);
        out.put_i32(0);
    });
}

/// Message that ends a group: the server answers that it is ready.
#[inline]
pub(crate) fn sync(out: &mut BytesMut) {
    message(out, b'S', |_| {});
}

/// Message that discards a prepared statement.
pub(crate) fn close(out: &mut BytesMut, name: &str) {
    message(out, b'C', |out| {
        out.put_u8(b'S');
        text(out, name);
    });
}

/// Message with rows that are copied in.
pub(crate) fn copy_data(out: &mut BytesMut, rows: &[u8]) {
    message(out, b'd', |out| out.put_slice(rows));
}

/// Message that ends the rows that are copied in.
pub(crate) fn copy_done(out: &mut BytesMut) {
    message(out, b'c', |_| {});
}

/// Message that cancels a copy.
pub(crate) fn copy_fail(out: &mut BytesMut, why: &str) {
    message(out, b'f', |out| text(out, why));
}

/// Message that ends the session.
pub(crate) fn terminate(out: &mut BytesMut) {
    message(out, b'X', |_| {});
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::oid;

    #[track_caller]
    fn check(write: impl FnOnce(&mut BytesMut), expected: &[u8]) {
        let mut out = BytesMut::new();
        write(&mut out);
        assert_eq!(&out[..], expected);
    }

    #[test]
    fn messages_are_as_documented() {
        check(|out| query(out, "SELECT 1"), b"Q\0\0\0\x0dSELECT 1\0");
        check(sync, b"S\0\0\0\x04");
        check(execute, b"E\0\0\0\x09\0\0\0\0\0");
        check(|out| close(out, "s1"), b"C\0\0\0\x08Ss1\0");
        check(|out| parse(out, "", "x", &[23]), b"P\0\0\0\x0d\0x\0\0\x01\0\0\0\x17");
        check(|out| startup(out, [("user", "ann")].into_iter()), b"\0\0\0\x12\0\x03\0\0user\0ann\0\0");
        let bound = b"B\0\0\0\x1b\0s\0\0\x01\0\x01\0\x02\0\0\0\x02\x01\x02\xff\xff\xff\xff\0\x01\0\x01";
        check(|out| bind(out, "s", &[oid::INT2, oid::INT8], &[Value::Int(258), Value::Null]), bound);
        check(|out| copy_data(out, b"ab"), b"d\0\0\0\x06ab");
    }

    #[test]
    fn a_zero_byte_ends_no_text_early() {
        check(|out| query(out, "a\0b"), "Q\0\0\0\x0aa\u{fffd}b\0".as_bytes());
    }
}
