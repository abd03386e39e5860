//! Firebird's interfaces: objects that begin with a pointer to a table of functions, whose order later versions only add to.
//!
//! Declared as in Firebird 3.0's `IdlFbInterfaces.h`, with the functions that are used; the others have placeholders.

use std::ffi::{c_char, c_int, c_void};

/// Object of the library, opaque to this crate.
#[repr(C)]
pub(crate) struct LibraryObject<T> {
    _dummy: *mut c_void,
    table: *const T,
}

impl<T> LibraryObject<T> {
    /// Table of the object's functions.
    ///
    /// # Safety
    /// `this` must be a live object of that interface.
    #[inline]
    pub(crate) unsafe fn table<'t>(this: *mut Self) -> &'t T {
        // SAFETY: as the caller promises; tables are part of the library, which is never unloaded.
        unsafe { &*(*this).table }
    }
}

/// Start of each table.
#[repr(C)]
pub(crate) struct TableHeader {
    _dummy: *mut c_void,
    _version: usize,
}

/// Start of the table of an interface whose objects count their references.
#[repr(C)]
pub(crate) struct CountedTable<T> {
    _begin: TableHeader,
    _add_ref: UnusedFunction,
    pub(crate) release: unsafe extern "C" fn(*mut LibraryObject<T>) -> c_int,
}

/// Placeholder for a function that is not used.
type UnusedFunction = *const c_void;

/// `ISC_QUAD`: the number of a large object.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LobId {
    pub(crate) high: i32,
    pub(crate) low: u32,
}

pub(crate) type RawStatus = LibraryObject<StatusTable>;
pub(crate) type RawMaster = LibraryObject<MasterTable>;
pub(crate) type RawProvider = LibraryObject<ProviderTable>;
pub(crate) type RawAttachment = LibraryObject<AttachmentTable>;
pub(crate) type RawTransaction = LibraryObject<TransactionTable>;
pub(crate) type RawStatement = LibraryObject<StatementTable>;
pub(crate) type RawCursor = LibraryObject<CursorTable>;
pub(crate) type RawMetadata = LibraryObject<MetadataTable>;
pub(crate) type RawBuilder = LibraryObject<BuilderTable>;
pub(crate) type RawLob = LibraryObject<LobTable>;
pub(crate) type RawUtil = LibraryObject<UtilTable>;
pub(crate) type RawConfig = LibraryObject<ConfigTable>;

/// `IStatus`.
#[repr(C)]
pub(crate) struct StatusTable {
    _begin: TableHeader,
    pub(crate) dispose: unsafe extern "C" fn(*mut RawStatus),
    pub(crate) init: unsafe extern "C" fn(*mut RawStatus),
    pub(crate) get_state: unsafe extern "C" fn(*const RawStatus) -> u32,
    _set: [UnusedFunction; 4],
    pub(crate) get_errors: unsafe extern "C" fn(*const RawStatus) -> *const isize,
}

/// `IMaster`.
#[repr(C)]
pub(crate) struct MasterTable {
    _begin: TableHeader,
    pub(crate) get_status: unsafe extern "C" fn(*mut RawMaster) -> *mut RawStatus,
    pub(crate) get_dispatcher: unsafe extern "C" fn(*mut RawMaster) -> *mut RawProvider,
    _plugins: [UnusedFunction; 5],
    pub(crate) get_metadata_builder: unsafe extern "C" fn(*mut RawMaster, *mut RawStatus, u32) -> *mut RawBuilder,
    _server_mode: UnusedFunction,
    pub(crate) get_util: unsafe extern "C" fn(*mut RawMaster) -> *mut RawUtil,
    pub(crate) get_config_manager: unsafe extern "C" fn(*mut RawMaster) -> *mut RawConfig,
}

/// `IProvider`: the arguments that open and make a database are its name and its parameters.
#[repr(C)]
pub(crate) struct ProviderTable {
    _begin: CountedTable<Self>,
    _owner: [UnusedFunction; 2],
    pub(crate) attach:
        unsafe extern "C" fn(*mut RawProvider, *mut RawStatus, *const c_char, u32, *const u8) -> *mut RawAttachment,
    pub(crate) create:
        unsafe extern "C" fn(*mut RawProvider, *mut RawStatus, *const c_char, u32, *const u8) -> *mut RawAttachment,
}

/// `IAttachment`.
#[repr(C)]
pub(crate) struct AttachmentTable {
    pub(crate) counted: CountedTable<Self>,
    pub(crate) get_info: unsafe extern "C" fn(*mut RawAttachment, *mut RawStatus, u32, *const u8, u32, *mut u8),
    pub(crate) start: unsafe extern "C" fn(*mut RawAttachment, *mut RawStatus, u32, *const u8) -> *mut RawTransaction,
    _requests: [UnusedFunction; 3],
    pub(crate) create_lob: unsafe extern "C" fn(
        *mut RawAttachment,
        *mut RawStatus,
        *mut RawTransaction,
        *mut LobId,
        u32,
        *const u8,
    ) -> *mut RawLob,
    pub(crate) open_lob: unsafe extern "C" fn(
        *mut RawAttachment,
        *mut RawStatus,
        *mut RawTransaction,
        *mut LobId,
        u32,
        *const u8,
    ) -> *mut RawLob,
    _slices: [UnusedFunction; 3],
    pub(crate) prepare: unsafe extern "C" fn(
        *mut RawAttachment,
        *mut RawStatus,
        *mut RawTransaction,
        u32,
        *const c_char,
        u32,
        u32,
    ) -> *mut RawStatement,
    _execute: [UnusedFunction; 3],
    pub(crate) cancel: unsafe extern "C" fn(*mut RawAttachment, *mut RawStatus, c_int),
    _ping: UnusedFunction,
    pub(crate) detach: unsafe extern "C" fn(*mut RawAttachment, *mut RawStatus),
}

/// `ITransaction`.
#[repr(C)]
pub(crate) struct TransactionTable {
    pub(crate) counted: CountedTable<Self>,
    _prepare: [UnusedFunction; 2],
    pub(crate) commit: unsafe extern "C" fn(*mut RawTransaction, *mut RawStatus),
    _commit_retaining: UnusedFunction,
    pub(crate) rollback: unsafe extern "C" fn(*mut RawTransaction, *mut RawStatus),
}

/// `IStatement`.
#[repr(C)]
pub(crate) struct StatementTable {
    pub(crate) counted: CountedTable<Self>,
    _get_info: UnusedFunction,
    pub(crate) get_type: unsafe extern "C" fn(*mut RawStatement, *mut RawStatus) -> u32,
    pub(crate) get_plan: unsafe extern "C" fn(*mut RawStatement, *mut RawStatus, u8) -> *const c_char,
    pub(crate) get_affected: unsafe extern "C" fn(*mut RawStatement, *mut RawStatus) -> u64,
    pub(crate) get_input: unsafe extern "C" fn(*mut RawStatement, *mut RawStatus) -> *mut RawMetadata,
    pub(crate) get_output: unsafe extern "C" fn(*mut RawStatement, *mut RawStatus) -> *mut RawMetadata,
    pub(crate) execute: unsafe extern "C" fn(
        *mut RawStatement,
        *mut RawStatus,
        *mut RawTransaction,
        *mut RawMetadata,
        *mut c_void,
        *mut RawMetadata,
        *mut c_void,
    ) -> *mut RawTransaction,
    pub(crate) open_cursor: unsafe extern "C" fn(
        *mut RawStatement,
        *mut RawStatus,
        *mut RawTransaction,
        *mut RawMetadata,
        *mut c_void,
        *mut RawMetadata,
        u32,
    ) -> *mut RawCursor,
    _set_cursor_name: UnusedFunction,
    _free: UnusedFunction,
    pub(crate) get_flags: unsafe extern "C" fn(*mut RawStatement, *mut RawStatus) -> u32,
}

/// `IResultSet`.
#[repr(C)]
pub(crate) struct CursorTable {
    pub(crate) counted: CountedTable<Self>,
    pub(crate) fetch_next: unsafe extern "C" fn(*mut RawCursor, *mut RawStatus, *mut c_void) -> c_int,
    _fetch: [UnusedFunction; 8],
    pub(crate) close: unsafe extern "C" fn(*mut RawCursor, *mut RawStatus),
}

/// `IMessageMetadata`: layout of a block with the values of parameters, or of a row.
#[repr(C)]
pub(crate) struct MetadataTable {
    pub(crate) counted: CountedTable<Self>,
    pub(crate) count: unsafe extern "C" fn(*mut RawMetadata, *mut RawStatus) -> u32,
    _names: [UnusedFunction; 3],
    pub(crate) alias: unsafe extern "C" fn(*mut RawMetadata, *mut RawStatus, u32) -> *const c_char,
    pub(crate) data_type: unsafe extern "C" fn(*mut RawMetadata, *mut RawStatus, u32) -> u32,
    _is_nullable: UnusedFunction,
    pub(crate) sub_type: unsafe extern "C" fn(*mut RawMetadata, *mut RawStatus, u32) -> c_int,
    pub(crate) length: unsafe extern "C" fn(*mut RawMetadata, *mut RawStatus, u32) -> u32,
    pub(crate) scale: unsafe extern "C" fn(*mut RawMetadata, *mut RawStatus, u32) -> c_int,
    pub(crate) char_set: unsafe extern "C" fn(*mut RawMetadata, *mut RawStatus, u32) -> u32,
    pub(crate) offset: unsafe extern "C" fn(*mut RawMetadata, *mut RawStatus, u32) -> u32,
    pub(crate) null_offset: unsafe extern "C" fn(*mut RawMetadata, *mut RawStatus, u32) -> u32,
    _builder: UnusedFunction,
    pub(crate) message_length: unsafe extern "C" fn(*mut RawMetadata, *mut RawStatus) -> u32,
}

/// `IMetadataBuilder`.
#[repr(C)]
pub(crate) struct BuilderTable {
    pub(crate) counted: CountedTable<Self>,
    pub(crate) set_type: unsafe extern "C" fn(*mut RawBuilder, *mut RawStatus, u32, u32),
    pub(crate) set_sub_type: unsafe extern "C" fn(*mut RawBuilder, *mut RawStatus, u32, c_int),
    pub(crate) set_length: unsafe extern "C" fn(*mut RawBuilder, *mut RawStatus, u32, u32),
    pub(crate) set_char_set: unsafe extern "C" fn(*mut RawBuilder, *mut RawStatus, u32, u32),
    pub(crate) set_scale: unsafe extern "C" fn(*mut RawBuilder, *mut RawStatus, u32, c_int),
    _fields: [UnusedFunction; 4],
    pub(crate) metadata: unsafe extern "C" fn(*mut RawBuilder, *mut RawStatus) -> *mut RawMetadata,
}

/// `IBlob`.
#[repr(C)]
pub(crate) struct LobTable {
    pub(crate) counted: CountedTable<Self>,
    _get_info: UnusedFunction,
    pub(crate) get: unsafe extern "C" fn(*mut RawLob, *mut RawStatus, u32, *mut c_void, *mut u32) -> c_int,
    pub(crate) put: unsafe extern "C" fn(*mut RawLob, *mut RawStatus, u32, *const c_void),
    _cancel: UnusedFunction,
    pub(crate) close: unsafe extern "C" fn(*mut RawLob, *mut RawStatus),
}

/// `IUtil`.
#[repr(C)]
pub(crate) struct UtilTable {
    _begin: TableHeader,
    _others: [UnusedFunction; 9],
    pub(crate) format_status: unsafe extern "C" fn(*mut RawUtil, *mut c_char, u32, *mut RawStatus) -> u32,
    pub(crate) client_version: unsafe extern "C" fn(*mut RawUtil) -> u32,
}

/// `IConfigManager`.
#[repr(C)]
pub(crate) struct ConfigTable {
    _begin: TableHeader,
    pub(crate) directory: unsafe extern "C" fn(*mut RawConfig, u32) -> *const c_char,
}

/// Values that the functions take and return.
pub(crate) mod value {
    /// `IStatus::STATE_ERRORS`.
    pub(crate) const ERRORS: u32 = 2;
    /// `IStatus::RESULT_OK`.
    pub(crate) const FOUND: i32 = 0;
    /// `IStatus::RESULT_NO_DATA`.
    pub(crate) const NO_DATA: i32 = 1;
    /// `IStatement::FLAG_HAS_CURSOR`.
    pub(crate) const HAS_CURSOR: u32 = 1;
    /// `fb_cancel_raise`.
    pub(crate) const CANCEL: i32 = 3;
    /// `IConfigManager::DIR_PLUGINS`.
    pub(crate) const PLUGINS: u32 = 16;
    /// `SQL_DIALECT_V6`.
    pub(crate) const DIALECT: u32 = 3;
}

/// Types of values (`sqltype`, without the bit that says whether they may be NULL).
pub(crate) mod sql_type {
    pub(crate) const VARYING: u32 = 448;
    pub(crate) const TEXT: u32 = 452;
    pub(crate) const DOUBLE: u32 = 480;
    pub(crate) const FLOAT: u32 = 482;
    pub(crate) const LONG: u32 = 496;
    pub(crate) const SHORT: u32 = 500;
    pub(crate) const TIMESTAMP: u32 = 510;
    pub(crate) const BLOB: u32 = 520;
    pub(crate) const DATE: u32 = 570;
    pub(crate) const INT64: u32 = 580;
    /// Type of Firebird 4 and later.
    pub(crate) const INT128: u32 = 32_752;
    pub(crate) const BOOLEAN: u32 = 32_764;
    pub(crate) const NULL: u32 = 32_766;
}
