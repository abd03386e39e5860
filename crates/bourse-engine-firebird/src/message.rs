//! Values of parameters: a block of memory whose layout follows from the values themselves, so that none is converted on this
//! side. The engine converts them to the types of their parameters.

use crate::api::{LibraryObject, LobId, RawMetadata, sql_type};
use crate::attachment::{Attachment, FirebirdTransaction};
use crate::lob;
use bourse_engine::{EngineError, ErrorKind, Params, Result, Value};
use std::ffi::c_void;

/// Largest length in bytes of a text or bytes that are not a large object.
const MAX_TEXT_BYTES: usize = 32_765;

/// Days from Firebird's first day, 17 November 1858, to 1 January 1970.
pub(crate) const DAYS_TO_1970: i32 = 40_587;
/// Firebird's units of time per millisecond, and per day.
pub(crate) const UNITS_PER_MILLI: i64 = 10;
pub(crate) const UNITS_PER_DAY: i64 = 864_000_000;

/// Representation of a parameter's value in the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParameterForm {
    /// Not known yet: only NULL was passed.
    Unknown,
    Int,
    Decimal(u8),
    Real,
    Bool,
    Date,
    Timestamp,
    /// Text with its length in two bytes before it.
    Text,
    Bytes,
    Lob,
}

/// Parameter: its representation, and its offset in the block.
#[derive(Debug, Clone, Copy)]
struct ParameterPlace {
    form: ParameterForm,
    /// Whether the parameter is a large object.
    is_lob: bool,
    /// Capacity for a text, in bytes.
    capacity: usize,
    offset: usize,
    null_offset: usize,
}

/// Parameters of a statement.
pub(crate) struct ParameterMessage {
    metadata: *mut RawMetadata,
    places: Vec<ParameterPlace>,
    /// Number of the caller's value for each place, counted from 0.
    order: Vec<usize>,
    /// Number of values that the caller must pass.
    values: usize,
    block: Vec<u64>,
    /// Whether the values are searched for, and not stored.
    is_query: bool,
}

/// Smallest integer. Firebird 3.0 sorts it behind 0 in an index, so a search from it on misses rows.
const MIN_INTEGER: i64 = i64::MIN;

impl ParameterMessage {
    /// Reads the descriptions of a statement's parameters, and releases `described`.
    ///
    /// # Errors
    /// The library's.
    ///
    /// # Safety
    /// `described` must be live metadata of the library.
    pub(crate) unsafe fn new(
        attachment: &Attachment,
        described: *mut RawMetadata,
        order: Vec<usize>,
        is_query: bool,
    ) -> Result<Self> {
        let status = attachment.status();
        let values = order.iter().max().map_or(0, |number| number + 1);
        let mut this = Self {
            metadata: described,
            places: Vec::with_capacity(order.len()),
            order,
            values,
            block: vec![],
            is_query,
        };
        // SAFETY: as the caller promises.
        unsafe {
            let table = LibraryObject::table(described);
            let count = status.check(|status| (table.count)(described, status))?;
            for at in 0..count {
                let (data_type, length) = status.check(|status| {
                    ((table.data_type)(described, status, at) & !1, (table.length)(described, status, at))
                })?;
                let is_text = [sql_type::TEXT, sql_type::VARYING].contains(&data_type);
                this.places.push(ParameterPlace {
                    form: ParameterForm::Unknown,
                    is_lob: data_type == sql_type::BLOB,
                    capacity: if is_text { length as usize } else { 1 },
                    offset: 0,
                    null_offset: 0,
                });
            }
        }
        if this.places.len() == this.order.len() {
            return Ok(this);
        }
        let words = format!("Firebird finds {} parameters where {} are marked", this.places.len(), this.order.len());
        Err(EngineError::new(ErrorKind::Other, words))
    }

    /// Library's description of the block.
    pub(crate) fn metadata(&self) -> *mut RawMetadata {
        self.metadata
    }

    /// Block, as it was filled last.
    pub(crate) fn block(&mut self) -> *mut c_void {
        self.block.as_mut_ptr().cast()
    }

    /// Fills the block.
    ///
    /// # Errors
    /// Another number of values than the statement has, a value that is too long; the library's.
    #[inline]
    pub(crate) fn fill(
        &mut self,
        attachment: &Attachment,
        transaction: &FirebirdTransaction,
        params: Params<'_>,
    ) -> Result<()> {
        if params.len() != self.values {
            let words = format!("the statement has {} parameters, {} were given", self.values, params.len());
            return Err(EngineError::new(ErrorKind::Other, words));
        }
        for at in 0..self.places.len() {
            let value = self.value(params, at)?;
            if !self.put(at, value) {
                self.put_other(attachment, transaction, params, at)?;
            }
        }
        Ok(())
    }

    /// Value of a place.
    #[inline]
    fn value<'v>(&self, params: Params<'v>, at: usize) -> Result<Value<'v>> {
        match value_at(params, self.order[at]) {
            Value::Int(MIN_INTEGER) => self.least(),
            value => Ok(value),
        }
    }

    /// Second smallest integer, bound in place of the smallest: a search finds the same rows, since the smallest is never stored.
    #[cold]
    fn least(&self) -> Result<Value<'static>> {
        if self.is_query {
            return Ok(Value::Int(MIN_INTEGER + 1));
        }
        let words = format!("Firebird finds the number {MIN_INTEGER} in no index, so that it is not stored");
        Err(EngineError::unsupported(words))
    }

    /// Stores a value in its place; returns whether it has the representation of the place.
    #[inline]
    fn put(&mut self, at: usize, value: Value<'_>) -> bool {
        let place = self.places[at];
        match (place.form, value) {
            (ParameterForm::Unknown, _) => return false,
            (_, Value::Null) => {
                self.write(place.null_offset, (-1i16).to_le_bytes());
                return true;
            }
            (ParameterForm::Int, Value::Int(number)) => self.write(place.offset, number.to_ne_bytes()),
            (ParameterForm::Decimal(scale), Value::Decimal { units, scale: given }) if scale == given => {
                self.write(place.offset, units.to_ne_bytes());
            }
            (ParameterForm::Real, Value::Real(number)) => self.write(place.offset, number.to_ne_bytes()),
            (ParameterForm::Bool, Value::Bool(flag)) => self.write(place.offset, [u8::from(flag)]),
            (ParameterForm::Date, Value::Date(date)) => {
                self.write(place.offset, (date.days() + DAYS_TO_1970).to_ne_bytes())
            }
            (ParameterForm::Timestamp, Value::Timestamp(moment)) => {
                let units = moment.millis() * UNITS_PER_MILLI;
                let days = units.div_euclid(UNITS_PER_DAY) as i32 + DAYS_TO_1970;
                let time = units.rem_euclid(UNITS_PER_DAY) as u32;
                self.write(place.offset, days.to_ne_bytes());
                self.write(place.offset + 4, time.to_ne_bytes());
            }
            (ParameterForm::Text, Value::Text(text)) if text.len() <= place.capacity => {
                self.write_bytes(place, text.as_bytes())
            }
            (ParameterForm::Bytes, Value::Blob(bytes)) if bytes.len() <= place.capacity => {
                self.write_bytes(place, bytes)
            }
            _ => return false,
        }
        self.write(place.null_offset, 0i16.to_le_bytes());
        true
    }

    #[inline]
    fn bytes(&mut self) -> &mut [u8] {
        let length = self.block.len() * size_of::<u64>();
        // SAFETY: these are the bytes of the block, all of which have a value.
        unsafe { std::slice::from_raw_parts_mut(self.block.as_mut_ptr().cast(), length) }
    }

    #[inline]
    fn write<const N: usize>(&mut self, offset: usize, bytes: [u8; N]) {
        self.bytes()[offset..offset + N].copy_from_slice(&bytes);
    }

    #[inline]
    fn write_bytes(&mut self, place: ParameterPlace, bytes: &[u8]) {
        // The capacity has no more than two bytes say.
        self.write(place.offset, (bytes.len() as u16).to_ne_bytes());
        self.bytes()[place.offset + 2..place.offset + 2 + bytes.len()].copy_from_slice(bytes);
    }

    /// Stores a value that does not have the representation of its place: as a large object, or in a new layout of the block.
    #[cold]
    fn put_other(
        &mut self,
        attachment: &Attachment,
        transaction: &FirebirdTransaction,
        params: Params<'_>,
        at: usize,
    ) -> Result<()> {
        let value = self.value(params, at)?;
        if let (ParameterForm::Lob, Value::Text(_) | Value::Blob(_)) = (self.places[at].form, value) {
            return self.put_lob(attachment, transaction, at, value);
        }
        for (place, number) in self.places.iter_mut().zip(&self.order) {
            place.take(value_at(params, *number))?;
        }
        self.lay_out(attachment)?;
        for again in 0..=at {
            let value = self.value(params, again)?;
            if !self.put(again, value) {
                self.put_lob(attachment, transaction, again, value)?;
            }
        }
        Ok(())
    }

    fn put_lob(
        &mut self,
        attachment: &Attachment,
        transaction: &FirebirdTransaction,
        at: usize,
        value: Value<'_>,
    ) -> Result<()> {
        let bytes = match value {
            Value::Text(text) => text.as_bytes(),
            Value::Blob(bytes) => bytes,
            other => {
                let words = format!("parameter {} is a large object, and {other} is none", at + 1);
                return Err(EngineError::new(ErrorKind::Other, words));
            }
        };
        let LobId { high, low } = lob::make(attachment, transaction, bytes)?;
        let place = self.places[at];
        self.write(place.offset, high.to_ne_bytes());
        self.write(place.offset + 4, low.to_ne_bytes());
        self.write(place.null_offset, 0i16.to_le_bytes());
        Ok(())
    }

    /// Makes the library lay out a block for the representations of all places.
    fn lay_out(&mut self, attachment: &Attachment) -> Result<()> {
        let (status, master) = (attachment.status(), attachment.library().api.master);
        let count = self.places.len() as u32;
        // SAFETY: the master lives as long as the library; the builder is given back here, and so is the description that was there
        // before the new one.
        unsafe {
            let builder =
                status.check(|status| (LibraryObject::table(master).get_metadata_builder)(master, status, count))?;
            let table = LibraryObject::table(builder);
            let built = status.check(|status| {
                for (at, place) in (0..).zip(&self.places) {
                    let (data_type, length, scale, char_set) = place.described();
                    // The lowest bit says that it may be NULL.
                    (table.set_type)(builder, status, at, data_type | 1);
                    (table.set_sub_type)(builder, status, at, 0);
                    (table.set_length)(builder, status, at, length);
                    (table.set_scale)(builder, status, at, scale);
                    (table.set_char_set)(builder, status, at, char_set);
                }
            });
            let built = built.and_then(|()| status.check(|status| (table.metadata)(builder, status)));
            (table.counted.release)(builder);
            let metadata = built?;
            (LibraryObject::table(self.metadata).counted.release)(self.metadata);
            self.metadata = metadata;
            let table = LibraryObject::table(metadata);
            for (at, place) in (0..).zip(&mut self.places) {
                place.offset = status.check(|status| (table.offset)(metadata, status, at))? as usize;
                place.null_offset = status.check(|status| (table.null_offset)(metadata, status, at))? as usize;
            }
            let length = status.check(|status| (table.message_length)(metadata, status))? as usize;
            self.block = vec![0; length.div_ceil(size_of::<u64>())];
        }
        Ok(())
    }
}

impl Drop for ParameterMessage {
    fn drop(&mut self) {
        // SAFETY: the description is this one's.
        unsafe {
            (LibraryObject::table(self.metadata).counted.release)(self.metadata);
        }
    }
}

impl ParameterPlace {
    /// Changes the place's representation to one that fits a value.
    fn take(&mut self, value: Value<'_>) -> Result<()> {
        self.form = match value {
            Value::Null => match self.form {
                ParameterForm::Unknown if self.is_lob => ParameterForm::Lob,
                ParameterForm::Unknown => ParameterForm::Text,
                form => form,
            },
            Value::Text(_) | Value::Blob(_) if self.is_lob => ParameterForm::Lob,
            Value::Int(_) => ParameterForm::Int,
            Value::Decimal { scale, .. } => ParameterForm::Decimal(scale),
            Value::Real(_) => ParameterForm::Real,
            Value::Bool(_) => ParameterForm::Bool,
            Value::Date(_) => ParameterForm::Date,
            Value::Timestamp(_) => ParameterForm::Timestamp,
            Value::Text(text) => self.with_room(text.len(), ParameterForm::Text)?,
            Value::Blob(bytes) => self.with_room(bytes.len(), ParameterForm::Bytes)?,
        };
        Ok(())
    }

    fn with_room(&mut self, length: usize, form: ParameterForm) -> Result<ParameterForm> {
        if length > MAX_TEXT_BYTES {
            let words = format!(
                "a value of {length} bytes is too long for Firebird, which takes {MAX_TEXT_BYTES} where it wants no large object"
            );
            return Err(EngineError::unsupported(words));
        }
        if length > self.capacity {
            self.capacity = length.next_power_of_two().min(MAX_TEXT_BYTES);
        }
        Ok(form)
    }

    /// Type, length in bytes, scale and character set, as the library numbers them.
    fn described(&self) -> (u32, u32, i32, u32) {
        /// Character sets: none, which takes bytes unchanged, and that of binary data.
        const NONE: u32 = 0;
        const OCTETS: u32 = 1;
        let capacity = self.capacity.clamp(1, MAX_TEXT_BYTES) as u32;
        match self.form {
            ParameterForm::Unknown | ParameterForm::Text => (sql_type::VARYING, capacity, 0, NONE),
            ParameterForm::Bytes => (sql_type::VARYING, capacity, 0, OCTETS),
            ParameterForm::Int => (sql_type::INT64, 8, 0, NONE),
            ParameterForm::Decimal(scale) => (sql_type::INT64, 8, -i32::from(scale), NONE),
            ParameterForm::Real => (sql_type::DOUBLE, 8, 0, NONE),
            ParameterForm::Bool => (sql_type::BOOLEAN, 1, 0, NONE),
            ParameterForm::Date => (sql_type::DATE, 4, 0, NONE),
            ParameterForm::Timestamp => (sql_type::TIMESTAMP, 8, 0, NONE),
            ParameterForm::Lob => (sql_type::BLOB, 8, 0, NONE),
        }
    }
}

/// A value by its number, counted from 0.
#[inline]
fn value_at<'v>(params: Params<'v>, number: usize) -> Value<'v> {
    let [first, rest] = params.lists();
    first.get(number).copied().unwrap_or_else(|| rest[number - first.len()])
}
