//! Detection of a loaded library whose functions are bound to another copy of SQLite with global names, instead of its
//! own.
//!
//! Reads the data that the system's loader has filled in for the library, before any function of it is called.

use std::ffi::{CStr, c_char, c_void};

/// Prefix of the names that are examined.
const SQLITES: &[u8] = b"sqlite3_";

/// The start of the loader's record of a library; its further fields are private to the loader.
#[repr(C)]
struct LinkMap {
    /// Base address of the library.
    base: usize,
    _name: *const c_char,
    dynamic: *const Dynamic,
}

/// An entry of the library's table of tables.
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: u64,
}

const END: i64 = 0;
const CALLS_BYTES: i64 = 2;
const TEXTS: i64 = 5;
const SYMBOLS: i64 = 6;
const ADDRESSES: i64 = 7;
const ADDRESSES_BYTES: i64 = 8;
const CALLS: i64 = 23;

/// An address that the loader fills in.
#[repr(C)]
struct Relocation {
    place: u64,
    /// The symbol's number in the upper half.
    info: u64,
    addend: u64,
}

#[repr(C)]
struct ElfSymbol {
    name: u32,
    /// Its type in the lower half.
    info: u8,
    _other: u8,
    _section: u16,
    _value: u64,
    _size: u64,
}

/// Types of symbols with an address: unknown, data, a function.
const HAS_ADDRESS: std::ops::RangeInclusive<u8> = 0..=2;

/// An address outside the library that one of SQLite's names is bound to; `None` if all are bound to its own.
///
/// # Safety
/// `library` must be a handle of `dlopen` with `RTLD_NOW`, which stays open meanwhile.
pub(crate) unsafe fn foreign(library: *mut c_void) -> Option<*const c_void> {
    // SAFETY: the handle is open, so the loader's tables of it are as the system's ABI has them, and the library's memory is
    // mapped. Tables that it has not are not looked at.
    unsafe {
        let mut map: *const LinkMap = std::ptr::null();
        if libc::dlinfo(library, libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) != 0 || map.is_null() {
            return None;
        }
        let map = &*map;
        // Some systems write the true address in place of the one that counts from the library's beginning.
        let address = |value: u64| match value as usize {
            inside if inside < map.base => map.base.wrapping_add(inside),
            true_one => true_one,
        };
        let mut entry = map.dynamic;
        let (mut texts, mut symbols) = (None, None);
        let (mut tables, mut bytes) = ([None; 2], [0; 2]);
        while (*entry).tag != END {
            let value = (*entry).value;
            match (*entry).tag {
                TEXTS => texts = Some(address(value) as *const c_char),
                SYMBOLS => symbols = Some(address(value) as *const ElfSymbol),
                ADDRESSES => tables[0] = Some(address(value) as *const Relocation),
                CALLS => tables[1] = Some(address(value) as *const Relocation),
                ADDRESSES_BYTES => bytes[0] = value as usize,
                CALLS_BYTES => bytes[1] = value as usize,
                _ => {}
            }
            entry = entry.add(1);
        }
        let (texts, symbols) = (texts?, symbols?);
        for (table, bytes) in tables.into_iter().zip(bytes) {
            let Some(table) = table else { continue };
            for at in 0..bytes / size_of::<Relocation>() {
                let relocation = &*table.add(at);
                let symbol = &*symbols.add((relocation.info >> 32) as usize);
                let name = CStr::from_ptr(texts.add(symbol.name as usize));
                if !name.to_bytes().starts_with(SQLITES) || !HAS_ADDRESS.contains(&(symbol.info & 0xf)) {
                    continue;
                }
                let found = *(map.base.wrapping_add(relocation.place as usize) as *const usize);
                let found = found.wrapping_sub(relocation.addend as usize) as *const c_void;
                let own = libc::dlsym(library, name.as_ptr());
                // A library that was there before may have a stub of its own, which finds the function at its first call.
                let found = match found != own.cast_const() && is_in(found, map.base) {
                    true => libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).cast_const(),
                    false => found,
                };
                if !found.is_null() && !own.is_null() && found != own.cast_const() {
                    return Some(found);
                }
            }
        }
        None
    }
}

/// Whether an address is within the library with base address `base`.
fn is_in(address: *const c_void, base: usize) -> bool {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked about; the answer is filled in if this returns something else than 0.
    unsafe { libc::dladdr(address, found.as_mut_ptr()) != 0 && found.assume_init().dli_fbase as usize == base }
}
