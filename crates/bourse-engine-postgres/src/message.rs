//! Messages to the server, appended to the output: those of [`postgres_protocol`], with values in binary form.

use crate::value::{Oid, put};
use bourse_engine::Value;
use bytes::{BufMut as _, BytesMut};
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend::{self, CopyData};
use std::borrow::Cow;

pub(crate) use frontend::{copy_done, sync, terminate};

/// Request for encryption, the first message of a connection; answered by one byte.
#[cfg(feature = "tls")]
pub(crate) const ENCRYPTION: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// Request to cancel what the session with that key executes, the only message of a connection.
pub(crate) fn cancel(key: [u8; 8]) -> [u8; 16] {
    let mut message = [0, 0, 0, 16, 0x04, 0xd2, 0x16, 0x2e, 0, 0, 0, 0, 0, 0, 0, 0];
    message[8..].copy_from_slice(&key);
    message
}

/// Format code of values and results in binary form.
const BINARY: i16 = 1;

/// Reason that no message fails.
const IS_VALID: &str = "the text has no zero byte, and a count fits";

/// Text without zero bytes, which would end it: each is replaced by a character that makes the server report an error.
fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

/// Start message: the user, and the settings of the session.
pub(crate) fn startup(out: &mut BytesMut, settings: [(&str, &str); 4]) {
    let settings = settings.map(|(name, value)| (name, text(value)));
    frontend::startup_message(settings.iter().map(|(name, value)| (*name, &**value)), out).expect(IS_VALID);
}

/// Message with a password, plain or as a digest.
pub(crate) fn password(out: &mut BytesMut, password: &str) {
    frontend::password_message(text(password).as_bytes(), out).expect(IS_VALID);
}

/// Message that runs statements without parameters, with results as text.
pub(crate) fn query(out: &mut BytesMut, sql: &str) {
    frontend::query(&text(sql), out).expect(IS_VALID);
}

/// Message that prepares a statement under a name; the next statement replaces an empty name's.
pub(crate) fn parse(out: &mut BytesMut, name: &str, sql: &str, types: &[Oid]) {
    frontend::parse(name, &text(sql), types.iter().copied(), out).expect(IS_VALID);
}

/// Message that requests parameters and columns of a prepared statement.
pub(crate) fn describe_statement(out: &mut BytesMut, name: &str) {
    frontend::describe(b'S', name, out).expect(IS_VALID);
}

/// Message that requests the columns of the bound statement.
pub(crate) fn describe_bound(out: &mut BytesMut) {
    frontend::describe(b'P', "", out).expect(IS_VALID);
}

/// Message that binds values of these types to a prepared statement.
#[inline]
pub(crate) fn bind(out: &mut BytesMut, name: &str, types: &[Oid], params: &[Value<'_>]) {
    let put_value = |(oid, value): (&Oid, &Value<'_>), out: &mut BytesMut| {
        if *value == Value::Null {
            return Ok(IsNull::Yes);
        }
        put(*value, *oid, out);
        Ok(IsNull::No)
    };
    let written = frontend::bind("", name, [BINARY], types.iter().zip(params), put_value, [BINARY], out);
    assert!(written.is_ok(), "{IS_VALID}");
}

/// Appends a value of a copied row after its length, which is -1 for NULL.
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
    frontend::execute("", 0, out).expect(IS_VALID);
}

/// Message that discards a prepared statement.
pub(crate) fn close(out: &mut BytesMut, name: &str) {
    frontend::close(b'S', name, out).expect(IS_VALID);
}

/// Message with rows that are copied in.
pub(crate) fn copy_data(out: &mut BytesMut, rows: &[u8]) {
    CopyData::new(rows).expect(IS_VALID).write(out);
}

/// Message that cancels a copy.
pub(crate) fn copy_fail(out: &mut BytesMut, why: &str) {
    frontend::copy_fail(&text(why), out).expect(IS_VALID);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::oid;

    #[test]
    fn values_are_bound_in_binary_form() {
        let mut out = BytesMut::new();
        bind(&mut out, "s", &[oid::INT2, oid::INT8], &[Value::Int(258), Value::Null]);
        assert_eq!(&out[..], b"B\0\0\0\x1b\0s\0\0\x01\0\x01\0\x02\0\0\0\x02\x01\x02\xff\xff\xff\xff\0\x01\0\x01");
    }

    #[test]
    fn a_zero_byte_ends_no_text_early() {
        let mut out = BytesMut::new();
        query(&mut out, "a\0b");
        assert_eq!(&out[..], "Q\0\0\0\x0aa\u{fffd}b\0".as_bytes());
    }
}
