//! The bytes of one file in memory: chunks that never move, so that a page can be handed out by address.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Bytes of a chunk; no page crosses a chunk's end.
const CHUNK_BYTES: usize = 1 << 20;
/// Chunks at most: 64 GiB.
const CHUNKS: usize = 1 << 16;

/// Bytes of a file. Reads and writes of different places may be concurrent; SQLite's locks decide who accesses which
/// place when, as on a disk.
pub(super) struct MemoryBytes {
    chunks: Box<[AtomicPtr<u8>]>,
    size: AtomicU64,
    /// Held while chunks are added or the file is truncated.
    shape: Mutex<()>,
}

fn layout() -> Layout {
    Layout::from_size_align(CHUNK_BYTES, 4096).expect("a chunk is a power of two")
}

impl MemoryBytes {
    pub(super) fn new() -> Self {
        let chunks = (0..CHUNKS).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        Self { chunks, size: AtomicU64::new(0), shape: Mutex::new(()) }
    }

    pub(super) fn size(&self) -> u64 {
        self.size.load(Ordering::Acquire)
    }

    /// The address of `length` bytes at `offset`, if all are within the file and one chunk.
    pub(super) fn address(&self, offset: u64, length: usize) -> Option<*mut u8> {
        let (chunk, within) = ((offset / CHUNK_BYTES as u64) as usize, (offset % CHUNK_BYTES as u64) as usize);
        if within + length > CHUNK_BYTES || offset + length as u64 > self.size() {
            return None;
        }
        let start = self.chunks.get(chunk)?.load(Ordering::Acquire);
        // SAFETY: `within` is less than a chunk's length.
        (!start.is_null()).then(|| unsafe { start.add(within) })
    }

    /// Copies from `offset` into `target`; returns how many bytes the file had there.
    ///
    /// # Safety
    /// `target` must be valid for writing `length` bytes.
    pub(super) unsafe fn read(&self, offset: u64, target: *mut u8, length: usize) -> usize {
        let there = self.size().saturating_sub(offset).min(length as u64) as usize;
        let mut done = 0;
        while done < there {
            let at = offset + done as u64;
            let (chunk, within) = ((at / CHUNK_BYTES as u64) as usize, (at % CHUNK_BYTES as u64) as usize);
            let piece = (CHUNK_BYTES - within).min(there - done);
            let start = self.chunks[chunk].load(Ordering::Acquire);
            // SAFETY: the piece lies within the chunk and, by the caller's word, within the target. A chunk that was never
            // written reads as zeros.
            unsafe {
                if start.is_null() {
                    ptr::write_bytes(target.add(done), 0, piece);
                } else {
                    ptr::copy_nonoverlapping(start.add(within), target.add(done), piece);
                }
            }
            done += piece;
        }
        there
    }

    /// Copies `source` to `offset`, growing the file; false if it would become too large or memory is short.
    ///
    /// # Safety
    /// `source` must be valid for reading `length` bytes.
    pub(super) unsafe fn write(&self, offset: u64, source: *const u8, length: usize) -> bool {
        let end = offset + length as u64;
        if end > (CHUNK_BYTES * CHUNKS) as u64 {
            return false;
        }
        let mut done = 0;
        while done < length {
            let at = offset + done as u64;
            let (chunk, within) = ((at / CHUNK_BYTES as u64) as usize, (at % CHUNK_BYTES as u64) as usize);
            let piece = (CHUNK_BYTES - within).min(length - done);
            let Some(start) = self.chunk(chunk) else { return false };
            // SAFETY: the piece lies within the chunk and, by the caller's word, within the source.
            unsafe { ptr::copy_nonoverlapping(source.add(done), start.add(within), piece) };
            done += piece;
        }
        self.size.fetch_max(end, Ordering::AcqRel);
        true
    }

    /// Start of a chunk, which is allocated if it does not exist.
    fn chunk(&self, index: usize) -> Option<*mut u8> {
        let start = self.chunks[index].load(Ordering::Acquire);
        if !start.is_null() {
            return Some(start);
        }
        let _shape = self.shape.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let start = self.chunks[index].load(Ordering::Acquire);
        if !start.is_null() {
            return Some(start);
        }
        // SAFETY: the layout is not empty.
        let fresh = unsafe { alloc_zeroed(layout()) };
        if fresh.is_null() {
            return None;
        }
        self.chunks[index].store(fresh, Ordering::Release);
        Some(fresh)
    }

    /// Truncates or extends the file; truncated bytes read as zeros if the file grows again.
    pub(super) fn truncate(&self, size: u64) {
        let _shape = self.shape.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let old = self.size.swap(size, Ordering::AcqRel);
        let mut at = size;
        while at < old {
            let (chunk, within) = ((at / CHUNK_BYTES as u64) as usize, (at % CHUNK_BYTES as u64) as usize);
            let piece = (CHUNK_BYTES - within).min((old - at) as usize);
            let start = self.chunks[chunk].load(Ordering::Acquire);
            if !start.is_null() {
                // SAFETY: the piece lies within the chunk; SQLite cuts a file only while nobody uses what is cut off.
                unsafe { ptr::write_bytes(start.add(within), 0, piece) };
            }
            at += piece as u64;
        }
    }
}

impl Drop for MemoryBytes {
    fn drop(&mut self) {
        for chunk in &self.chunks {
            let start = chunk.load(Ordering::Acquire);
            if !start.is_null() {
                // SAFETY: it was allocated with this layout, and nobody has the file any more.
                unsafe { dealloc(start, layout()) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(storage: &MemoryBytes, offset: u64, bytes: &[u8]) {
        // SAFETY: the slice is as long as it says.
        assert!(unsafe { storage.write(offset, bytes.as_ptr(), bytes.len()) });
    }

    fn read(storage: &MemoryBytes, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0xff; length];
        // SAFETY: the vector is as long as it says.
        let there = unsafe { storage.read(offset, bytes.as_mut_ptr(), length) };
        bytes.truncate(there);
        bytes
    }

    #[test]
    fn what_is_written_is_read_also_across_chunks_and_after_gaps() {
        let storage = MemoryBytes::new();
        let across = CHUNK_BYTES as u64 - 2;
        write(&storage, across, b"abcd");
        assert_eq!(storage.size(), across + 4);
        assert_eq!(read(&storage, across, 10), b"abcd");
        assert_eq!(read(&storage, 0, 3), [0; 3]);
        assert_eq!(read(&storage, across + 4, 3), b"");
        write(&storage, 3 * CHUNK_BYTES as u64, b"z");
        assert_eq!(read(&storage, 2 * CHUNK_BYTES as u64, 4), [0; 4], "a chunk that was never written");
    }

    #[test]
    fn what_was_cut_off_reads_as_zeros_when_the_file_grows_again() {
        let storage = MemoryBytes::new();
        write(&storage, 0, b"abcdef");
        storage.truncate(2);
        assert_eq!(read(&storage, 0, 10), b"ab");
        storage.truncate(6);
        assert_eq!(read(&storage, 0, 10), b"ab\0\0\0\0");
    }

    #[test]
    fn an_address_is_given_only_within_the_file_and_one_chunk() {
        let storage = MemoryBytes::new();
        write(&storage, 0, &vec![1; CHUNK_BYTES + 8]);
        assert!(storage.address(0, 4096).is_some());
        assert!(storage.address(CHUNK_BYTES as u64 - 4, 8).is_none());
        assert!(storage.address(CHUNK_BYTES as u64, 9).is_none());
    }

    #[test]
    fn a_file_ends_at_its_limit() {
        let storage = MemoryBytes::new();
        // SAFETY: nothing is read, since the place is refused.
        assert!(!unsafe { storage.write((CHUNK_BYTES * CHUNKS) as u64, [0u8].as_ptr(), 1) });
    }
}
