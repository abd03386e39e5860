//! A bridge: an object in the virtual machine with a JDBC connection, and two buffers that both sides use in turn.

use crate::error::{FailureCategory, error, machine_failed};
use crate::machine::{BridgeMethod, BridgeRef, JavaMachine};
use crate::product::JdbcProduct;
use crate::wire::{BufferReader, put_bytes};
use bourse_engine::{EngineError, Result};

/// Initial lengths of the buffers in bytes: for parameters, for rows.
const BUFFERS: [i32; 2] = [1 << 14, 1 << 17];

const MORE: i64 = 1 << 32;
const MOVED: i64 = 1 << 33;
const FAILED: i64 = 1 << 34;
const ROWS: i64 = 1 << 35;

/// Result of a call: a count and flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallReply(i64);

impl CallReply {
    /// Number of rows in the buffer, or of rows that were changed.
    #[inline]
    pub(crate) fn count(self) -> u32 {
        self.0 as u32
    }

    /// Whether the query has more rows than fit in the buffer.
    #[inline]
    pub(crate) fn has_more(self) -> bool {
        self.0 & MORE != 0
    }

    /// Whether the statement is a query.
    #[inline]
    pub(crate) fn is_query(self) -> bool {
        self.0 & ROWS != 0
    }
}

/// Buffer in the machine, valid until the bridge replaces it.
#[derive(Clone, Copy)]
struct Buffer {
    data: *mut u8,
    length: usize,
}

/// Bridge with its buffers.
pub(crate) struct Bridge {
    machine: &'static JavaMachine,
    product: &'static JdbcProduct,
    object: BridgeRef,
    input: Buffer,
    output: Buffer,
    /// Bytes to send with the next call.
    message: Vec<u8>,
}

// SAFETY: object and buffers are this bridge's alone, and any thread may use them, one at a time: calls take `&mut`.
unsafe impl Send for Bridge {}

impl Bridge {
    /// Makes a bridge without a connection.
    ///
    /// # Errors
    /// A failure of the machine.
    pub(crate) fn new(machine: &'static JavaMachine, product: &'static JdbcProduct) -> Result<Self> {
        let object = machine.new_bridge(BUFFERS).ok_or_else(machine_failed)?;
        let none = Buffer { data: std::ptr::null_mut(), length: 0 };
        let mut this = Self { machine, product, object, input: none, output: none, message: Vec::new() };
        this.input = this.buffer(0)?;
        this.output = this.buffer(1)?;
        Ok(this)
    }

    pub(crate) fn object(&self) -> BridgeRef {
        self.object
    }

    pub(crate) fn product(&self) -> &'static JdbcProduct {
        self.product
    }

    fn buffer(&self, which: i32) -> Result<Buffer> {
        let (data, length) = self.machine.buffer(&self.object, which).ok_or_else(machine_failed)?;
        Ok(Buffer { data, length })
    }

    /// Emptied message of the next call, to be filled.
    #[inline]
    pub(crate) fn message(&mut self) -> &mut Vec<u8> {
        self.message.clear();
        &mut self.message
    }

    /// Calls a method with texts.
    ///
    /// # Errors
    /// Those of [`Bridge::call`].
    pub(crate) fn call_with_texts(
        &mut self,
        method: BridgeMethod,
        texts: &[&str],
        numbers: [i32; 2],
    ) -> Result<CallReply> {
        let message = self.message();
        texts.iter().for_each(|text| put_bytes(message, text.as_bytes()));
        self.send(method, numbers)
    }

    /// Calls a method with the bytes of the message.
    ///
    /// # Errors
    /// Those of [`Bridge::call`].
    #[inline]
    pub(crate) fn send(&mut self, method: BridgeMethod, numbers: [i32; 2]) -> Result<CallReply> {
        if self.message.len() > self.input.length {
            self.grow()?;
        }
        // SAFETY: the buffer is at least that long, is not memory of this program, and the machine does not use it between
        // calls.
        unsafe { std::ptr::copy_nonoverlapping(self.message.as_ptr(), self.input.data, self.message.len()) };
        self.call(method, numbers)
    }

    #[cold]
    fn grow(&mut self) -> Result<()> {
        let length = self.message.len().next_power_of_two();
        let length = i32::try_from(length).map_err(|_| {
            EngineError::unsupported("parameters of more than 1 GiB cannot be handed to the Java virtual machine")
        })?;
        self.call(BridgeMethod::Grow, [length, 0])?;
        self.input = self.buffer(0)?;
        Ok(())
    }

    /// Calls a method.
    ///
    /// # Errors
    /// The driver's; a failure of the machine.
    #[inline]
    pub(crate) fn call(&mut self, method: BridgeMethod, numbers: [i32; 2]) -> Result<CallReply> {
        let reply = self.machine.call(&self.object, method, numbers).ok_or_else(machine_failed)?;
        if reply & (MOVED | FAILED) != 0 {
            self.unusual(reply)?;
        }
        Ok(CallReply(reply))
    }

    /// Calls a method that returns a plain number; `None` if the machine has failed.
    pub(crate) fn number(&self, method: BridgeMethod) -> Option<i64> {
        self.machine.call(&self.object, method, [0; 2])
    }

    #[cold]
    fn unusual(&mut self, reply: i64) -> Result<()> {
        if reply & MOVED != 0 {
            self.output = self.buffer(1)?;
        }
        if reply & FAILED == 0 {
            return Ok(());
        }
        let mut told = self.reader();
        let what = FailureCategory::of(told.byte()?);
        let code = told.number()? as i32;
        let (state, words) = (told.text()?, told.text()?);
        Err(error(self.product, what, code, &state, &words))
    }

    /// Reader of the bytes that the last call has written.
    #[inline]
    pub(crate) fn reader(&self) -> BufferReader<'_> {
        // SAFETY: the buffer is so long, was filled with zeros when it was made, and the machine writes to it in calls alone,
        // which need this bridge mutably.
        BufferReader::new(unsafe { std::slice::from_raw_parts(self.output.data, self.output.length) })
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // An open transaction is rolled back; a connection that cannot be closed ends with the process.
        let _ = self.call(BridgeMethod::Close, [0; 2]);
        self.machine.release(&self.object);
    }
}
