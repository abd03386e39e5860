//! The status of each call of the library: success or its errors.

use crate::api::{LibraryObject, RawStatus, value};
use crate::error::error;
use crate::library::FirebirdLibrary;
use bourse_engine::{EngineError, Result};
use std::ffi::{CStr, c_char};

/// Object that calls write their errors into. Each attachment has one of its own.
pub(crate) struct StatusObject {
    library: &'static FirebirdLibrary,
    raw: *mut RawStatus,
}

// SAFETY: the object is this one's alone, and any thread may use it.
unsafe impl Send for StatusObject {}

impl StatusObject {
    pub(crate) fn new(library: &'static FirebirdLibrary) -> Self {
        // SAFETY: the master lives as long as the library; what comes is this one's to dispose of.
        let raw = unsafe { (LibraryObject::table(library.api.master).get_status)(library.api.master) };
        Self { library, raw }
    }

    pub(crate) fn library(&self) -> &'static FirebirdLibrary {
        self.library
    }

    /// Makes a call and returns its result unless it has failed.
    ///
    /// # Errors
    /// The library's.
    #[inline]
    pub(crate) fn check<T>(&self, call: impl FnOnce(*mut RawStatus) -> T) -> Result<T> {
        // SAFETY: the object lives, and is used by one thread at a time, since a `StatusObject` is not shared between threads.
        unsafe {
            let table = LibraryObject::table(self.raw);
            (table.init)(self.raw);
            let result = call(self.raw);
            if (table.get_state)(self.raw) & value::ERRORS == 0 { Ok(result) } else { Err(self.error()) }
        }
    }

    #[cold]
    fn error(&self) -> EngineError {
        // Kinds of entries of a status vector: its end, an error, a text with its length before it, an error of the system.
        const END: isize = 0;
        const NUMBER: isize = 1;
        const COUNTED_TEXT: isize = 3;
        const SYSTEM: isize = 7;
        let (mut numbers, mut system) = (Vec::new(), Vec::new());
        let mut text: [c_char; 2_048] = [0; 2_048];
        // SAFETY: the vector is the object's and ends with a zero; an entry is its kind and one word more, or two. The words have
        // room in the text, which stays ended by a zero.
        let words = unsafe {
            let mut at = (LibraryObject::table(self.raw).get_errors)(self.raw);
            while *at != END {
                match *at {
                    NUMBER => numbers.push(*at.add(1)),
                    SYSTEM => system.push(*at.add(1)),
                    _ => {}
                }
                at = at.add(if *at == COUNTED_TEXT { 3 } else { 2 });
            }
            let util = self.library.api.util;
            (LibraryObject::table(util).format_status)(util, text.as_mut_ptr(), text.len() as u32 - 1, self.raw);
            CStr::from_ptr(text.as_ptr()).to_string_lossy()
        };
        error(&numbers, &system, &words)
    }
}

impl Drop for StatusObject {
    fn drop(&mut self) {
        // SAFETY: the object is this one's alone.
        unsafe { (LibraryObject::table(self.raw).dispose)(self.raw) }
    }
}
