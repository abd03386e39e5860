//! C interface of SQLite: all functions that this crate uses, and the only place that selects the copy of the library.
//!
//! The functions are methods of [`SqliteLibrary`], a copy of SQLite, which connections and statements carry. This source is
//! built three times:
//!
//! | as | `cfg` | calls | what a [`SqliteLibrary`] is |
//! |---|---|---|---|
//! | `bourse-engine-sqlite` | | the library that `libsqlite3-sys` compiles | nothing: it takes no room, and its methods are the functions |
//! | `bourse-engine-sqlite-lean` | `lean` | the same source compiled with other options, whose functions have names of their own so that both fit into one program | likewise |
//! | `bourse-engine-sqlite-lib` | `loaded` | any library with this interface, which a target names | the address of its functions |
//!
//! A table of functions thus costs nothing in the builds without one. Types and constants are the same in all three.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_void};

pub(crate) use libsqlite3_sys::{
    SQLITE_ATTACH, SQLITE_AUTH, SQLITE_BLOB, SQLITE_BUSY, SQLITE_BUSY_SNAPSHOT, SQLITE_CANTOPEN, SQLITE_CONSTRAINT,
    SQLITE_CORRUPT, SQLITE_DBCONFIG_ENABLE_QPSG, SQLITE_DENY, SQLITE_DONE, SQLITE_ERROR, SQLITE_FCNTL_FILE_POINTER,
    SQLITE_FCNTL_SIZE_LIMIT, SQLITE_FLOAT, SQLITE_FULL, SQLITE_INTEGER, SQLITE_INTERRUPT, SQLITE_IOCAP_ATOMIC,
    SQLITE_IOCAP_POWERSAFE_OVERWRITE, SQLITE_IOCAP_SAFE_APPEND, SQLITE_IOCAP_SEQUENTIAL, SQLITE_IOCAP_SUBPAGE_READ,
    SQLITE_IOERR, SQLITE_IOERR_ACCESS, SQLITE_IOERR_DELETE, SQLITE_IOERR_DELETE_NOENT, SQLITE_IOERR_FSYNC,
    SQLITE_IOERR_READ, SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_SHORT_READ, SQLITE_IOERR_WRITE, SQLITE_LOCK_EXCLUSIVE,
    SQLITE_LOCK_NONE, SQLITE_LOCK_PENDING, SQLITE_LOCK_RESERVED, SQLITE_LOCK_SHARED, SQLITE_LOCKED,
    SQLITE_LOCKED_SHAREDCACHE, SQLITE_MISUSE, SQLITE_NOTADB, SQLITE_NOTFOUND, SQLITE_OK, SQLITE_OPEN_CREATE,
    SQLITE_OPEN_DELETEONCLOSE, SQLITE_OPEN_EXRESCODE, SQLITE_OPEN_FULLMUTEX, SQLITE_OPEN_MAIN_DB,
    SQLITE_OPEN_MAIN_JOURNAL, SQLITE_OPEN_NOMUTEX, SQLITE_OPEN_PRIVATECACHE, SQLITE_OPEN_READONLY,
    SQLITE_OPEN_READWRITE, SQLITE_OPEN_SHAREDCACHE, SQLITE_OPEN_SUPER_JOURNAL, SQLITE_OPEN_URI, SQLITE_OPEN_WAL,
    SQLITE_PRAGMA, SQLITE_PREPARE_PERSISTENT, SQLITE_READONLY_DBMOVED, SQLITE_ROW, SQLITE_SHM_EXCLUSIVE,
    SQLITE_SHM_LOCK, SQLITE_SHM_NLOCK, SQLITE_STATIC, SQLITE_STMTSTATUS_AUTOINDEX, SQLITE_STMTSTATUS_FULLSCAN_STEP,
    SQLITE_STMTSTATUS_SORT, SQLITE_STMTSTATUS_VM_STEP, SQLITE_TEXT, SQLITE_UTF8, sqlite3, sqlite3_backup, sqlite3_file,
    sqlite3_io_methods, sqlite3_mutex, sqlite3_stmt, sqlite3_value, sqlite3_vfs,
};

#[cfg(loaded)]
pub(crate) use libsqlite3_sys::SQLITE_TOOBIG;

#[cfg(test)]
pub(crate) use libsqlite3_sys::SQLITE_STMTSTATUS_REPREPARE;

/// Callback of SQLite to release bytes that it was lent.
type Destructor = Option<unsafe extern "C" fn(*mut c_void)>;
/// Callback of SQLite for a lock that another connection holds.
type BusyHandler = Option<unsafe extern "C" fn(*mut c_void, c_int) -> c_int>;
/// Callback of SQLite that allows or refuses each action of a statement while it is prepared: the action, and up to
/// four names.
pub(crate) type Authorizer = Option<
    unsafe extern "C" fn(*mut c_void, c_int, *const c_char, *const c_char, *const c_char, *const c_char) -> c_int,
>;

/// Declares the functions by their names in C. Their types are checked against the header's, whichever copy it is.
///
/// `newer` functions are later than the oldest version that can be loaded; `loaded` has substitutes for them.
macro_rules! functions {
    (
        $($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)+
        newer:
        $($(#[$newer_attribute:meta])* fn $newer:ident($($newer_argument:ident: $newer_type:ty),*) $(-> $newer_result:ty)?;)+
    ) => {
        $(
            $(#[$attribute])*
            const _: unsafe extern "C" fn($($type),*) $(-> $result)? = libsqlite3_sys::$name;
        )+
        $(
            $(#[$newer_attribute])*
            const _: unsafe extern "C" fn($($newer_type),*) $(-> $newer_result)? = libsqlite3_sys::$newer;
        )+

        #[cfg(not(any(lean, loaded)))]
        use libsqlite3_sys as linked;

        /// The lean library, linked in addition to the stock one.
        #[cfg(lean)]
        mod linked {
            use super::*;

            unsafe extern "C" {
                $(
                    $(#[$attribute])*
                    #[link_name = concat!("bourse_lean_", stringify!($name))]
                    pub(super) fn $name($($argument: $type),*) $(-> $result)?;
                )+
                $(
                    $(#[$newer_attribute])*
                    #[link_name = concat!("bourse_lean_", stringify!($newer))]
                    pub(super) fn $newer($($newer_argument: $newer_type),*) $(-> $newer_result)?;
                )+
                #[link_name = "bourse_lean_sqlite3_db_config"]
                pub(super) fn sqlite3_db_config(db: *mut sqlite3, operation: c_int, ...) -> c_int;
            }
        }

        /// SAFETY of all of them: as the function of that name in C, by its documentation.
        #[cfg(not(loaded))]
        #[allow(clippy::missing_safety_doc, clippy::too_many_arguments, reason = "as in C")]
        impl SqliteLibrary {
            $(
                $(#[$attribute])*
                #[inline(always)]
                pub(crate) unsafe fn $name(self $(, $argument: $type)*) $(-> $result)? {
                    // SAFETY: as the caller promises.
                    unsafe { linked::$name($($argument),*) }
                }
            )+
            $(
                $(#[$newer_attribute])*
                #[inline(always)]
                pub(crate) unsafe fn $newer(self $(, $newer_argument: $newer_type)*) $(-> $newer_result)? {
                    // SAFETY: as the caller promises.
                    unsafe { linked::$newer($($newer_argument),*) }
                }
            )+
        }

        /// Functions of a loaded library.
        #[cfg(loaded)]
        pub(crate) struct SqliteFunctions {
            $($(#[$attribute])* $name: unsafe extern "C" fn($($type),*) $(-> $result)?,)+
            $($(#[$newer_attribute])* pub(crate) $newer: Option<unsafe extern "C" fn($($newer_type),*) $(-> $newer_result)?>,)+
        }

        #[cfg(loaded)]
        impl SqliteFunctions {
            /// Finds the functions.
            ///
            /// # Errors
            /// Names of the functions that are missing and have no substitute.
            ///
            /// # Safety
            /// The library's symbols with these names must be SQLite's functions, and it must never be unloaded.
            pub(crate) unsafe fn of(library: &libloading::Library) -> Result<Self, Vec<&'static str>> {
                let mut missing = Vec::new();
                $(
                    $(#[$attribute])*
                    // SAFETY: as the caller promises.
                    let $name = unsafe {
                        library.get::<unsafe extern "C" fn($($type),*) $(-> $result)?>(
                            concat!(stringify!($name), "\0").as_bytes()
                        )
                    };
                    $(#[$attribute])*
                    if $name.is_err() {
                        missing.push(stringify!($name));
                    }
                )+
                if !missing.is_empty() {
                    return Err(missing);
                }
                Ok(Self {
                    $($(#[$attribute])* $name: $name.map(|found| *found).expect("none is missing"),)+
                    $(
                        $(#[$newer_attribute])*
                        // SAFETY: as the caller promises.
                        $newer: unsafe {
                            library.get::<unsafe extern "C" fn($($newer_type),*) $(-> $newer_result)?>(
                                concat!(stringify!($newer), "\0").as_bytes()
                            )
                        }.ok().map(|found| *found),
                    )+
                })
            }
        }

        /// SAFETY of all of them: as the function of that name in C, by its documentation.
        #[cfg(loaded)]
        #[allow(clippy::missing_safety_doc, clippy::too_many_arguments, reason = "as in C")]
        impl SqliteLibrary {
            $(
                $(#[$attribute])*
                #[inline(always)]
                pub(crate) unsafe fn $name(self $(, $argument: $type)*) $(-> $result)? {
                    // SAFETY: as the caller promises.
                    unsafe { (self.functions().$name)($($argument),*) }
                }
            )+
        }
    };
}

/// A copy of SQLite: the one that is compiled in.
#[cfg(not(loaded))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SqliteLibrary;

#[cfg(loaded)]
pub(crate) use crate::loaded::SqliteLibrary;

#[cfg(not(loaded))]
impl SqliteLibrary {
    /// Switches an option of a connection on or off: the form of `sqlite3_db_config` whose operations take an int and
    /// the address of an int, which may be null.
    pub(crate) unsafe fn sqlite3_db_config(
        self,
        db: *mut sqlite3,
        operation: c_int,
        on: c_int,
        is_on: *mut c_int,
    ) -> c_int {
        // SAFETY: as the caller promises.
        unsafe { linked::sqlite3_db_config(db, operation, on, is_on) }
    }
}

functions! {
    fn sqlite3_backup_finish(backup: *mut sqlite3_backup) -> c_int;
    fn sqlite3_backup_init(
        to: *mut sqlite3,
        to_name: *const c_char,
        from: *mut sqlite3,
        from_name: *const c_char
    ) -> *mut sqlite3_backup;
    fn sqlite3_backup_step(backup: *mut sqlite3_backup, pages: c_int) -> c_int;
    fn sqlite3_bind_double(stmt: *mut sqlite3_stmt, at: c_int, number: f64) -> c_int;
    fn sqlite3_bind_int64(stmt: *mut sqlite3_stmt, at: c_int, number: i64) -> c_int;
    fn sqlite3_bind_null(stmt: *mut sqlite3_stmt, at: c_int) -> c_int;
    fn sqlite3_bind_parameter_count(stmt: *mut sqlite3_stmt) -> c_int;
    fn sqlite3_bind_text(
        stmt: *mut sqlite3_stmt,
        at: c_int,
        text: *const c_char,
        length: c_int,
        end: Destructor
    ) -> c_int;
    fn sqlite3_busy_handler(db: *mut sqlite3, handler: BusyHandler, data: *mut c_void) -> c_int;
    fn sqlite3_busy_timeout(db: *mut sqlite3, ms: c_int) -> c_int;
    fn sqlite3_close(db: *mut sqlite3) -> c_int;
    fn sqlite3_column_int64(stmt: *mut sqlite3_stmt, column: c_int) -> i64;
    fn sqlite3_column_name(stmt: *mut sqlite3_stmt, column: c_int) -> *const c_char;
    fn sqlite3_column_value(stmt: *mut sqlite3_stmt, column: c_int) -> *mut sqlite3_value;
    fn sqlite3_db_mutex(db: *mut sqlite3) -> *mut sqlite3_mutex;
    fn sqlite3_errcode(db: *mut sqlite3) -> c_int;
    fn sqlite3_errmsg(db: *mut sqlite3) -> *const c_char;
    fn sqlite3_file_control(db: *mut sqlite3, name: *const c_char, operation: c_int, data: *mut c_void) -> c_int;
    fn sqlite3_finalize(stmt: *mut sqlite3_stmt) -> c_int;
    fn sqlite3_get_autocommit(db: *mut sqlite3) -> c_int;
    fn sqlite3_initialize() -> c_int;
    fn sqlite3_interrupt(db: *mut sqlite3);
    fn sqlite3_libversion() -> *const c_char;
    #[cfg(loaded)]
    fn sqlite3_limit(db: *mut sqlite3, limit: c_int, most: c_int) -> c_int;
    fn sqlite3_memory_used() -> i64;
    fn sqlite3_open_v2(name: *const c_char, db: *mut *mut sqlite3, flags: c_int, vfs: *const c_char) -> c_int;
    fn sqlite3_reset(stmt: *mut sqlite3_stmt) -> c_int;
    fn sqlite3_sourceid() -> *const c_char;
    fn sqlite3_step(stmt: *mut sqlite3_stmt) -> c_int;
    fn sqlite3_stmt_readonly(stmt: *mut sqlite3_stmt) -> c_int;
    fn sqlite3_stmt_status(stmt: *mut sqlite3_stmt, operation: c_int, reset: c_int) -> c_int;
    fn sqlite3_value_blob(value: *mut sqlite3_value) -> *const c_void;
    fn sqlite3_value_bytes(value: *mut sqlite3_value) -> c_int;
    fn sqlite3_value_double(value: *mut sqlite3_value) -> f64;
    fn sqlite3_value_int64(value: *mut sqlite3_value) -> i64;
    fn sqlite3_value_text(value: *mut sqlite3_value) -> *const c_uchar;
    fn sqlite3_value_type(value: *mut sqlite3_value) -> c_int;
    fn sqlite3_vfs_find(name: *const c_char) -> *mut sqlite3_vfs;
    fn sqlite3_vfs_register(vfs: *mut sqlite3_vfs, as_default: c_int) -> c_int;
    fn sqlite3_vfs_unregister(vfs: *mut sqlite3_vfs) -> c_int;
    newer:
    fn sqlite3_bind_blob64(stmt: *mut sqlite3_stmt, at: c_int, bytes: *const c_void, length: u64, end: Destructor) -> c_int;
    fn sqlite3_bind_text64(
        stmt: *mut sqlite3_stmt,
        at: c_int,
        text: *const c_char,
        length: u64,
        end: Destructor,
        encoding: c_uchar
    ) -> c_int;
    fn sqlite3_changes64(db: *mut sqlite3) -> i64;
    #[cfg(not(lean))]
    fn sqlite3_enable_load_extension(db: *mut sqlite3, on: c_int) -> c_int;
    fn sqlite3_errstr(code: c_int) -> *const c_char;
    fn sqlite3_set_authorizer(db: *mut sqlite3, authorizer: Authorizer, data: *mut c_void) -> c_int;
    fn sqlite3_prepare_v3(
        db: *mut sqlite3,
        sql: *const c_char,
        length: c_int,
        flags: c_uint,
        stmt: *mut *mut sqlite3_stmt,
        tail: *mut *const c_char
    ) -> c_int;
}
