//! The effects of the preloaded library for engines whose storage is a Rust trait: one file, watched in process.

use super::Places;
use super::control::{Call, Control, Effect, Spec};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Watched file: its control, and its image on the disk.
#[derive(Debug)]
pub struct Watched {
    control: Control,
    name: String,
    image: Option<File>,
    /// Ranges that were written and not synced: start and end.
    dirty: Mutex<Vec<(u64, u64)>>,
}

/// Error `EIO`, with the system's text.
fn input_output_error() -> io::Error {
    /// Number of `EIO`, the same on every Unix.
    const EIO: i32 = 5;
    io::Error::from_raw_os_error(EIO)
}

impl Watched {
    /// Watched file of that name, with the environment of this process; `None` without one.
    ///
    /// # Errors
    /// The system's.
    pub fn of_this_process(path: &Path) -> io::Result<Option<Self>> {
        let Some(places) = Places::of_this_process() else { return Ok(None) };
        let name = path.file_name().unwrap_or(path.as_os_str());
        let open = |folder: &Path| OpenOptions::new().read(true).write(true).open(folder.join(name));
        let control = Control::open(&places.control)?;
        control.note_loaded()?;
        Ok(Some(Self {
            control,
            name: name.to_string_lossy().into_owned(),
            image: places.image.as_deref().map(open).transpose()?,
            dirty: Mutex::default(),
        }))
    }

    /// Counts a call and returns the effect on it, if it is hit.
    fn met(&self, call: Call, words: &str) -> io::Result<Option<Effect>> {
        let number = self.control.count(call)?;
        let is_meant = |fault: &Spec| fault.nth == number || (fault.nth < number && fault.effect.lasts());
        let Some(fault) = self.control.armed()?.filter(|fault| fault.call == call).filter(is_meant) else {
            return Ok(None);
        };
        self.control.note_fired(&format!("{words} of {}", self.name))?;
        if fault.effect == Effect::End {
            // Like a kill: no cleanup, no further output.
            std::process::abort();
        }
        Ok(Some(fault.effect))
    }

    /// Counts a read before it is made.
    ///
    /// # Errors
    /// The injected one.
    pub fn reads(&self, at: u64, length: usize) -> io::Result<()> {
        self.allowed(Call::Read, &format!("read of {length} bytes at {at}"))
    }

    /// Counts a write before it is made.
    ///
    /// # Errors
    /// The injected one.
    pub fn writes(&self, at: u64, length: usize) -> io::Result<()> {
        self.allowed(Call::Write, &format!("write of {length} bytes at {at}"))
    }

    fn allowed(&self, call: Call, words: &str) -> io::Result<()> {
        match self.met(call, words)? {
            Some(Effect::FailOnce | Effect::FailOn) => Err(input_output_error()),
            Some(Effect::Full) => Err(io::ErrorKind::StorageFull.into()),
            Some(Effect::Half | Effect::Lie | Effect::Blind | Effect::End) | None => Ok(()),
        }
    }

    /// Counts a growth of the file before it is made.
    ///
    /// # Errors
    /// The injected one.
    pub fn grows(&self, length: u64) -> io::Result<()> {
        self.allowed(Call::Grow, &format!("growth to {length} bytes"))
    }

    /// Records a write after it was made.
    pub fn wrote(&self, at: u64, length: u64) {
        self.dirty.lock().unwrap_or_else(PoisonError::into_inner).push((at, at + length));
    }

    /// Counts a sync of `file` and copies the bytes written since the last one to the image.
    ///
    /// # Errors
    /// The injected one, or the system's.
    pub fn syncs(&self, file: &File) -> io::Result<()> {
        let effect = self.met(Call::Sync, "sync")?;
        if effect == Some(Effect::Lie) {
            return Ok(());
        }
        let dirty = std::mem::take(&mut *self.dirty.lock().unwrap_or_else(PoisonError::into_inner));
        if matches!(effect, Some(Effect::FailOnce | Effect::FailOn)) {
            // The system takes the pages for clean.
            return Err(input_output_error());
        }
        let Some(image) = &self.image else { return file.sync_data() };
        let length = file.metadata()?.len();
        let mut buffer = Vec::new();
        for (from, to) in dirty {
            let to = to.min(length);
            if from < to {
                buffer.resize(usize::try_from(to - from).unwrap_or(usize::MAX), 0);
                file.read_exact_at(&mut buffer, from)?;
                image.write_all_at(&buffer, from)?;
            }
        }
        image.set_len(length)
    }
}
