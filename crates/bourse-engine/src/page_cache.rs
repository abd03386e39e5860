//! Pages of a file in the system's page cache.

use std::fs::File;
use std::io;

/// Drops a file's pages from the page cache, which writes them first.
///
/// # Errors
/// The system's; no other system than Linux can.
#[cfg(target_os = "linux")]
pub fn drop_pages(file: &File) -> io::Result<()> {
    // Pages that are not written yet cannot be dropped.
    file.sync_all()?;
    Ok(rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?)
}

/// Bytes of a file's pages that are in the page cache, of the first `bytes` of the file.
///
/// # Errors
/// The system's; no other system than Linux can.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the system tells it of a mapping alone")]
pub fn cached_bytes(file: &File, bytes: u64) -> io::Result<u64> {
    use std::os::fd::AsRawFd as _;
    let length = usize::try_from(bytes).map_err(io::Error::other)?;
    if length == 0 {
        return Ok(0);
    }
    // SAFETY: the mapping is new, is accessed by nobody, and is removed before this function returns; `pages` has a byte for
    // each page of it.
    unsafe {
        let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).map_err(io::Error::other)?;
        let mut pages = vec![0_u8; length.div_ceil(page)];
        let at = libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0);
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let told =
            if libc::mincore(at, length, pages.as_mut_ptr()) == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
        libc::munmap(at, length);
        told.map(|()| (pages.iter().filter(|page| **page & 1 == 1).count() * page) as u64)
    }
}

/// Drops a file's pages: Linux alone can.
#[cfg(not(target_os = "linux"))]
pub fn drop_pages(_: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Bytes of a file's pages that are in the page cache: Linux alone can say.
#[cfg(not(target_os = "linux"))]
pub fn cached_bytes(_: &File, _: u64) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}
