//! The control file: a page, mapped by the preloaded library, that gives a process its fault and receives the counts.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::Path;

/// Initial size of the file; the library appends the state of an image.
const INITIAL_BYTES: u64 = 4_096;
/// Magic number at the start of the file.
const MAGIC: u64 = 0x3153_544c_5541_4642;
/// Offset of each number: the layout of `struct control` in `files/shared.h` of `bourse-preload`.
mod at {
    pub(super) const ARMED: u64 = 8;
    pub(super) const CALL: u64 = 16;
    pub(super) const NTH: u64 = 24;
    pub(super) const EFFECT: u64 = 32;
    pub(super) const LOADED: u64 = 40;
    pub(super) const FIRED: u64 = 48;
    pub(super) const MAPS: u64 = 56;
    pub(super) const COUNTS: u64 = 64;
    pub(super) const CHANGING: u64 = 120;
    pub(super) const TROUBLE: u64 = 768;
    pub(super) const TROUBLE_BYTES: usize = 256;
    pub(super) const WHAT: u64 = 1_024;
    pub(super) const WHAT_BYTES: usize = 512;
}

/// Kind of call that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// `read`, `pread`.
    Read,
    /// `write`, `pwrite`, `writev`, `pwritev`.
    Write,
    /// A write, `ftruncate` or `fallocate` that makes a file longer.
    Grow,
    /// `fsync`, `fdatasync`, `msync`, and writes to files opened with `O_DSYNC`.
    Sync,
    /// `malloc`, `calloc`, `realloc` while the engine changes or commits.
    Allocate,
}

impl Call {
    /// All kinds, in the order of the control file.
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Grow, Self::Sync, Self::Allocate];

    const fn number(self) -> u64 {
        self as u64
    }

    /// Plural of the kind's name, for tables.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Grow => "growing writes",
            Self::Sync => "syncs",
            Self::Allocate => "allocations",
        }
    }
}

/// Effect of a fault on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallEffect {
    /// This call fails with `EIO`, later ones do not.
    FailOnce,
    /// This call and all later ones fail with `EIO`.
    FailOn,
    /// Half of the call is done, which its result says.
    Half,
    /// This call and all later ones that make a file longer fail with `ENOSPC`.
    Full,
    /// This call and all later syncs report success and do nothing.
    Lie,
    /// Mapped pages of the files can no longer be read: touching one is a `SIGBUS`.
    Blind,
    /// The process is killed instead, with all others that share the control file: a server may have several.
    End,
    /// This call fails, and the next write or sync too, whichever comes first.
    FailTwice,
}

impl CallEffect {
    const fn number(self) -> u64 {
        match self {
            Self::FailOnce => 1,
            Self::FailOn => 2,
            Self::Half => 3,
            Self::Full => 4,
            Self::Lie => 5,
            Self::Blind => 6,
            Self::End => 7,
            Self::FailTwice => 8,
        }
    }
}

/// Fault to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// Kind of call.
    pub call: Call,
    /// Number of the call that is hit, from 1, counted since arming.
    pub nth: u64,
    /// Effect on that call.
    pub effect: CallEffect,
}

/// Numbers of calls counted while armed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallCounts([u64; Call::ALL.len()]);

impl CallCounts {
    /// Number of calls of a kind.
    pub fn of(self, call: Call) -> u64 {
        self.0.get(call as usize).copied().unwrap_or_default()
    }
}

/// Control file of a process, or of several that share one storage.
#[derive(Debug)]
pub struct ControlFile(File);

impl ControlFile {
    /// Creates a control file that is not armed; a server that runs as another user may write to it.
    ///
    /// # Errors
    /// The system's.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        file.set_len(INITIAL_BYTES)?;
        file.write_all_at(&MAGIC.to_ne_bytes(), 0)?;
        file.set_permissions(std::fs::Permissions::from_mode(0o666))?;
        Ok(Self(file))
    }

    /// Opens an existing control file.
    ///
    /// # Errors
    /// The system's, or that the file is not a control file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let this = Self(OpenOptions::new().read(true).write(true).open(path)?);
        if this.number(0)? != MAGIC {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no control file of injected faults"));
        }
        Ok(this)
    }

    fn number(&self, at: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.0.read_exact_at(&mut bytes, at)?;
        Ok(u64::from_ne_bytes(bytes))
    }

    fn set(&self, at: u64, number: u64) -> io::Result<()> {
        self.0.write_all_at(&number.to_ne_bytes(), at)
    }

    /// Starts counting, and arms the fault, if there is one.
    ///
    /// # Errors
    /// The system's.
    pub fn arm(&self, fault: Option<Spec>) -> io::Result<()> {
        if let Some(fault) = fault {
            self.set(at::CALL, fault.call.number())?;
            self.set(at::NTH, fault.nth)?;
            self.set(at::EFFECT, fault.effect.number())?;
        }
        self.set(at::ARMED, 1)
    }

    /// Stops counting and disarms the fault.
    ///
    /// # Errors
    /// The system's.
    pub fn disarm(&self) -> io::Result<()> {
        self.set(at::ARMED, 0)
    }

    /// Sets whether the engine changes or commits, during which allocations are counted.
    ///
    /// # Errors
    /// The system's.
    pub fn set_changing(&self, is_changing: bool) -> io::Result<()> {
        self.set(at::CHANGING, u64::from(is_changing))
    }

    /// Numbers of calls counted.
    ///
    /// # Errors
    /// The system's.
    pub fn counts(&self) -> io::Result<CallCounts> {
        let mut counts = CallCounts::default();
        for (place, count) in (at::COUNTS..).step_by(8).zip(&mut counts.0) {
            *count = self.number(place)?;
        }
        Ok(counts)
    }

    /// Number of processes that have loaded the library.
    ///
    /// # Errors
    /// The system's.
    pub fn loaded(&self) -> io::Result<u64> {
        self.number(at::LOADED)
    }

    /// Number of calls that were hit.
    ///
    /// # Errors
    /// The system's.
    pub fn fired(&self) -> io::Result<u64> {
        self.number(at::FIRED)
    }

    /// Number of times a watched file was mapped into memory.
    ///
    /// # Errors
    /// The system's.
    pub fn maps(&self) -> io::Result<u64> {
        self.number(at::MAPS)
    }

    /// Description of the first call that was hit: its kind, file and position.
    ///
    /// # Errors
    /// The system's.
    pub fn first_hit(&self) -> io::Result<String> {
        self.text::<{ at::WHAT_BYTES }>(at::WHAT)
    }

    /// Reason that the image or the recording is incomplete, so that it shows nothing; `None` if it is complete.
    ///
    /// # Errors
    /// The system's.
    pub fn incompleteness(&self) -> io::Result<Option<String>> {
        let text = self.text::<{ at::TROUBLE_BYTES }>(at::TROUBLE)?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    fn text<const INITIAL_BYTES: usize>(&self, at: u64) -> io::Result<String> {
        let mut bytes = [0; INITIAL_BYTES];
        self.0.read_exact_at(&mut bytes, at)?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_control_file_is_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("control");
        let control = ControlFile::create(&path).expect("can be made");
        control.arm(Some(Spec { call: Call::Sync, nth: 7, effect: CallEffect::Lie })).expect("can be armed");
        let other = ControlFile::open(&path).expect("can be opened");
        assert_eq!(
            (other.fired().expect("can be read"), other.counts().expect("can be read")),
            (0, CallCounts::default())
        );
        std::fs::write(&path, [0; 4_096]).expect("can be written");
        assert!(ControlFile::open(&path).is_err());
    }
}
