//! Large objects, written and read as a whole.

use crate::api::{LibraryObject, LobId, RawLob, value};
use crate::attachment::{Attachment, FirebirdTransaction};
use crate::status::StatusObject;
use bourse_engine::Result;

/// Largest number of bytes per call of the library.
const SEGMENT: usize = 65_535;

/// Makes a large object of these bytes.
///
/// # Errors
/// The library's.
pub(crate) fn make(attachment: &Attachment, transaction: &FirebirdTransaction, bytes: &[u8]) -> Result<LobId> {
    /// `isc_bpb_version1`, `isc_bpb_type`, a length of 1, `isc_bpb_type_stream`: bytes, not segments of them.
    const STREAM: [u8; 4] = [1, 3, 1, 1];
    let (status, mut id) = (attachment.status(), LobId::default());
    // SAFETY: connection and transaction are open; the number has a place, and the parameters live until this returns.
    let raw = unsafe {
        let create = LibraryObject::table(attachment.raw()).create_lob;
        status.check(|status| {
            create(attachment.raw(), status, transaction.raw(), &mut id, STREAM.len() as u32, STREAM.as_ptr())
        })
    }?;
    let lob = Lob { status, raw };
    for part in bytes.chunks(SEGMENT) {
        // SAFETY: the object is open; the bytes live until this returns.
        unsafe {
            let put = LibraryObject::table(raw).put;
            status.check(|status| put(raw, status, part.len() as u32, part.as_ptr().cast()))?;
        }
    }
    lob.close()?;
    Ok(id)
}

/// Reads a large object into `bytes`, whose contents are replaced.
///
/// # Errors
/// The library's.
pub(crate) fn read(
    attachment: &Attachment,
    transaction: &FirebirdTransaction,
    mut id: LobId,
    bytes: &mut Vec<u8>,
) -> Result<()> {
    bytes.clear();
    let status = attachment.status();
    // SAFETY: connection and transaction are open; the number lives until this returns.
    let raw = unsafe {
        let open = LibraryObject::table(attachment.raw()).open_lob;
        status.check(|status| open(attachment.raw(), status, transaction.raw(), &mut id, 0, std::ptr::null()))
    }?;
    let lob = Lob { status, raw };
    loop {
        let (before, mut length) = (bytes.len(), 0);
        bytes.resize(before + SEGMENT, 0);
        let place = bytes[before..].as_mut_ptr();
        // SAFETY: the object is open, and there is a place of that size.
        let told = unsafe {
            let get = LibraryObject::table(raw).get;
            status.check(|status| get(raw, status, SEGMENT as u32, place.cast(), &mut length))
        };
        bytes.truncate(before + length as usize);
        if told? == value::NO_DATA {
            return lob.close();
        }
    }
}

/// Open large object.
struct Lob<'s> {
    status: &'s StatusObject,
    raw: *mut RawLob,
}

impl Lob<'_> {
    fn close(self) -> Result<()> {
        // SAFETY: the object is this one's alone, and is gone once it is closed.
        let closed = unsafe {
            let close = LibraryObject::table(self.raw).close;
            self.status.check(|status| close(self.raw, status))
        };
        if closed.is_ok() {
            std::mem::forget(self);
        }
        closed
    }
}

impl Drop for Lob<'_> {
    fn drop(&mut self) {
        // SAFETY: the object is this one's alone, and was not closed.
        unsafe {
            (LibraryObject::table(self.raw).counted.release)(self.raw);
        }
    }
}
