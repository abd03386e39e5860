//! The locks of one file: those of a database file, and those of the index of its write-ahead log.

use crate::ffi;
use bourse_engine::locked;
use std::ffi::c_int;
use std::sync::Mutex;

/// Holders of the locks; a file handle stores its own part.
#[derive(Default)]
pub(crate) struct Locks {
    file: Mutex<FileLocks>,
    log: Mutex<[LockSlot; ffi::SQLITE_SHM_NLOCK as usize]>,
}

#[derive(Default)]
struct FileLocks {
    shared: u32,
    reserved: bool,
    /// Whether a writer waits for the readers to finish; no new reader may begin.
    pending: bool,
    exclusive: bool,
}

#[derive(Default, Clone, Copy)]
struct LockSlot {
    shared: u32,
    exclusive: bool,
}

impl Locks {
    /// Raises a handle's lock from `held` to `wanted`; returns the lock then held and SQLite's code.
    ///
    /// The interface requires that a failed attempt at the exclusive lock leaves the pending lock held.
    pub(crate) fn raise(&self, held: c_int, wanted: c_int) -> (c_int, c_int) {
        let mut locks = locked(&self.file);
        let mut held = held;
        if held < ffi::SQLITE_LOCK_SHARED && wanted >= ffi::SQLITE_LOCK_SHARED {
            if locks.pending || locks.exclusive {
                return (held, ffi::SQLITE_BUSY);
            }
            locks.shared += 1;
            held = ffi::SQLITE_LOCK_SHARED;
        }
        if held < ffi::SQLITE_LOCK_RESERVED && wanted >= ffi::SQLITE_LOCK_RESERVED {
            if locks.reserved {
                return (held, ffi::SQLITE_BUSY);
            }
            locks.reserved = true;
            held = ffi::SQLITE_LOCK_RESERVED;
        }
        if wanted == ffi::SQLITE_LOCK_EXCLUSIVE && held < ffi::SQLITE_LOCK_EXCLUSIVE {
            locks.pending = true;
            held = ffi::SQLITE_LOCK_PENDING;
            if locks.shared > 1 {
                return (held, ffi::SQLITE_BUSY);
            }
            locks.exclusive = true;
            held = ffi::SQLITE_LOCK_EXCLUSIVE;
        }
        (held, ffi::SQLITE_OK)
    }

    /// Lowers a handle's lock from `held` to `wanted`, which is shared or none.
    pub(crate) fn lower(&self, held: c_int, wanted: c_int) {
        let mut locks = locked(&self.file);
        if held > ffi::SQLITE_LOCK_SHARED {
            locks.exclusive = false;
            locks.pending = false;
            locks.reserved = false;
        }
        if held >= ffi::SQLITE_LOCK_SHARED && wanted == ffi::SQLITE_LOCK_NONE {
            locks.shared -= 1;
        }
    }

    /// Whether any handle holds the reserved lock or more.
    pub(crate) fn is_reserved(&self) -> bool {
        locked(&self.file).reserved
    }

    /// Takes slots of the log's index, all or none; false if another handle holds one. `mine` has the slots that this
    /// handle already holds.
    pub(crate) fn take(&self, slots: std::ops::Range<usize>, exclusive: bool, mine: &HeldSlots) -> bool {
        let mut log = locked(&self.log);
        for slot in slots.clone() {
            let own_shared = u32::from(mine.shared & (1 << slot) != 0);
            let own_exclusive = mine.exclusive & (1 << slot) != 0;
            let others = log[slot].exclusive && !own_exclusive || exclusive && log[slot].shared > own_shared;
            if others {
                return false;
            }
        }
        for slot in slots {
            if exclusive {
                log[slot].exclusive = true;
            } else if mine.shared & (1 << slot) == 0 {
                log[slot].shared += 1;
            }
        }
        true
    }

    /// Releases slots of the log's index that the handle holds.
    pub(crate) fn give(&self, slots: std::ops::Range<usize>, mine: &HeldSlots) {
        let mut log = locked(&self.log);
        for slot in slots {
            if mine.exclusive & (1 << slot) != 0 {
                log[slot].exclusive = false;
            }
            if mine.shared & (1 << slot) != 0 {
                log[slot].shared -= 1;
            }
        }
    }
}

/// Slots of the log's index that one handle holds, one bit each.
#[derive(Default, Clone, Copy)]
pub(crate) struct HeldSlots {
    pub(crate) shared: u32,
    pub(crate) exclusive: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use ffi::{
        SQLITE_BUSY, SQLITE_LOCK_EXCLUSIVE, SQLITE_LOCK_NONE, SQLITE_LOCK_PENDING, SQLITE_LOCK_RESERVED,
        SQLITE_LOCK_SHARED, SQLITE_OK,
    };

    #[test]
    fn a_writer_waits_for_readers_and_keeps_new_ones_out() {
        let locks = Locks::default();
        let reader = locks.raise(SQLITE_LOCK_NONE, SQLITE_LOCK_SHARED).0;
        let writer = locks.raise(SQLITE_LOCK_NONE, SQLITE_LOCK_SHARED).0;
        let writer = locks.raise(writer, SQLITE_LOCK_RESERVED).0;
        assert_eq!(locks.raise(reader, SQLITE_LOCK_RESERVED), (SQLITE_LOCK_SHARED, SQLITE_BUSY));
        assert_eq!(locks.raise(writer, SQLITE_LOCK_EXCLUSIVE), (SQLITE_LOCK_PENDING, SQLITE_BUSY));
        assert_eq!(locks.raise(SQLITE_LOCK_NONE, SQLITE_LOCK_SHARED), (SQLITE_LOCK_NONE, SQLITE_BUSY));
        locks.lower(reader, SQLITE_LOCK_NONE);
        assert_eq!(locks.raise(SQLITE_LOCK_PENDING, SQLITE_LOCK_EXCLUSIVE), (SQLITE_LOCK_EXCLUSIVE, SQLITE_OK));
        locks.lower(SQLITE_LOCK_EXCLUSIVE, SQLITE_LOCK_NONE);
        assert!(!locks.is_reserved());
        assert_eq!(locks.raise(SQLITE_LOCK_NONE, SQLITE_LOCK_SHARED), (SQLITE_LOCK_SHARED, SQLITE_OK));
    }

    #[test]
    fn slots_of_the_log_are_shared_or_exclusive() {
        let (locks, nobody) = (Locks::default(), HeldSlots::default());
        let shares = HeldSlots { shared: 1 << 3, exclusive: 0 };
        assert!(locks.take(3..4, false, &nobody));
        assert!(locks.take(3..4, false, &nobody));
        assert!(!locks.take(3..5, true, &nobody), "all slots or none");
        assert!(locks.take(4..5, true, &nobody), "the failed try took nothing");
        locks.give(3..4, &shares);
        assert!(!locks.take(3..4, true, &nobody));
        locks.give(3..4, &shares);
        assert!(locks.take(3..4, true, &nobody));
    }
}
