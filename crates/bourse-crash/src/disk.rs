//! A simulated disk: durable data, and data that is pending until it is synced.

use crate::image::{Directory, FileImage};
use crate::plan::ArrivedPart;
use crate::trace::{FileId, FileOperation, Trace};
use bourse_stats::SplitMix;
use std::collections::{BTreeMap, HashMap};

/// Effect of a power loss on sectors that are being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    /// Sector size: the number of bytes that are written together.
    pub sector_bytes: u32,
    /// Whether only the bytes being written can be harmed, which SQLite calls powersafe overwrite. If so, a sector has its old
    /// or its new bytes, or is torn between the two. If not, it may become garbage, including its other bytes, and so may the
    /// space by which a file has grown.
    pub powersafe_overwrite: bool,
}

impl Device {
    /// Disk with the properties that SQLite assumes.
    pub const POWERSAFE: Self = Self { sector_bytes: 512, powersafe_overwrite: true };
    /// Disk of a stricter test: sectors of this size that are being written may become garbage.
    pub const fn garbling(sector_bytes: u32) -> Self {
        Self { sector_bytes, powersafe_overwrite: false }
    }

    /// Description of the device.
    pub fn words(self) -> String {
        match self.powersafe_overwrite {
            true => format!("powersafe, {} B sectors", self.sector_bytes),
            false => format!("garbling, {} B sectors", self.sector_bytes),
        }
    }
}

/// Change that is pending.
#[derive(Debug, Clone)]
enum PendingPiece {
    /// Bytes within a sector.
    Data { file: FileId, offset: u64, bytes: Vec<u8> },
    /// Size of a file.
    Size { file: FileId, size: u64 },
    /// New name of a file.
    Link { name: String, file: FileId },
    /// Removal of a name.
    Unlink { name: String },
    /// Renaming of a file.
    Rename { from: String, to: String, file: FileId },
}

impl PendingPiece {
    fn group(&self, sector_bytes: u32) -> GroupKey {
        match self {
            Self::Data { file, offset, .. } => GroupKey::Sector(*file, offset / u64::from(sector_bytes)),
            Self::Size { file, .. } => GroupKey::Size(*file),
            Self::Link { name, .. } | Self::Unlink { name } | Self::Rename { to: name, .. } => {
                GroupKey::Name(name.clone())
            }
        }
    }

    fn file(&self) -> Option<FileId> {
        match self {
            Self::Data { file, .. } | Self::Size { file, .. } => Some(*file),
            Self::Link { .. } | Self::Unlink { .. } | Self::Rename { .. } => None,
        }
    }
}

/// Key of a group: pieces with the same key arrive in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum GroupKey {
    Sector(FileId, u64),
    Size(FileId),
    Name(String),
}

/// Kind of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupKind {
    /// Data of one sector.
    Sector,
    /// Size of one file.
    Size,
    /// One name in the directory.
    Name,
}

/// Pending pieces that arrive in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PieceGroup {
    /// Kind of change that the pieces make.
    pub kind: GroupKind,
    /// Number of pieces.
    pub pieces: u32,
}

/// Files and names, with the changes that are not durable yet.
#[derive(Debug, Clone)]
pub struct Disk {
    device: Device,
    /// Durable bytes, by the file's number.
    files: Vec<FileImage>,
    /// Durable names.
    names: BTreeMap<String, FileId>,
    /// Sizes as the engine sees them, by the file's number.
    sizes: Vec<u64>,
    /// Pending pieces in order of writing.
    pending: Vec<PendingPiece>,
    /// Number of commits acknowledged.
    acknowledged: u64,
}

impl Disk {
    /// Disk at the start of a trace.
    pub fn new(trace: &Trace, device: Device) -> Self {
        let files: Vec<_> = trace.base.files.values().cloned().collect();
        let names = trace.base.files.keys().cloned().zip(0..).collect();
        let sizes = files.iter().map(FileImage::size).collect();
        Self { device, files, names, sizes, pending: Vec::new(), acknowledged: 0 }
    }

    /// Number of commits acknowledged so far.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Whether anything is pending.
    pub fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Device with the effect of a power loss.
    pub fn device(&self) -> Device {
        self.device
    }

    fn size(&mut self, file: FileId) -> &mut u64 {
        let place = file as usize;
        if place >= self.sizes.len() {
            self.sizes.resize(place + 1, 0);
            self.files.resize_with(place + 1, FileImage::default);
        }
        &mut self.sizes[place]
    }

    /// Applies the next operation of a trace.
    pub fn apply(&mut self, operation: &FileOperation) {
        match operation {
            FileOperation::Create { name, file } => {
                *self.size(*file) = 0;
                self.pending.push(PendingPiece::Link { name: name.clone(), file: *file });
            }
            FileOperation::Write { file, offset, bytes } => self.write(*file, *offset, bytes),
            FileOperation::Truncate { file, size } => {
                *self.size(*file) = *size;
                self.pending.push(PendingPiece::Size { file: *file, size: *size });
            }
            FileOperation::Sync { file } => self.sync(|piece| piece.file() == Some(*file)),
            FileOperation::SyncDirectory => self.sync(|piece| piece.file().is_none()),
            FileOperation::Unlink { name } => self.pending.push(PendingPiece::Unlink { name: name.clone() }),
            FileOperation::Rename { from, to, file } => {
                self.pending.push(PendingPiece::Rename { from: from.clone(), to: to.clone(), file: *file });
            }
            FileOperation::Acknowledged(number) => self.acknowledged = *number,
        }
    }

    fn write(&mut self, file: FileId, offset: u64, bytes: &[u8]) {
        let sector_bytes = u64::from(self.device.sector_bytes);
        let end = offset + bytes.len() as u64;
        let size = self.size(file);
        if end > *size {
            *size = end;
            self.pending.push(PendingPiece::Size { file, size: end });
        }
        let (mut at, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let room = (sector_bytes - at % sector_bytes) as usize;
            let (piece, more) = rest.split_at(room.min(rest.len()));
            self.pending.push(PendingPiece::Data { file, offset: at, bytes: piece.to_vec() });
            (at, rest) = (at + piece.len() as u64, more);
        }
    }

    /// Makes pieces durable, in order.
    fn sync(&mut self, is_meant: impl Fn(&PendingPiece) -> bool) {
        let (done, rest): (Vec<_>, _) = std::mem::take(&mut self.pending).into_iter().partition(is_meant);
        self.pending = rest;
        for piece in done {
            keep(&piece, &mut self.files, &mut self.names);
        }
    }

    /// Pending groups, in the order of their first pieces, and for each piece the number of its group.
    pub fn groups(&self) -> (Vec<PieceGroup>, Vec<u32>) {
        let mut numbers: HashMap<GroupKey, u32> = HashMap::new();
        let mut groups: Vec<PieceGroup> = Vec::new();
        let of_piece = |piece: &PendingPiece| {
            let key = piece.group(self.device.sector_bytes);
            let kind = match &key {
                GroupKey::Sector(..) => GroupKind::Sector,
                GroupKey::Size(_) => GroupKind::Size,
                GroupKey::Name(_) => GroupKind::Name,
            };
            let number = *numbers.entry(key).or_insert_with(|| {
                groups.push(PieceGroup { kind, pieces: 0 });
                groups.len() as u32 - 1
            });
            groups[number as usize].pieces += 1;
            number
        };
        let members = self.pending.iter().map(of_piece).collect();
        (groups, members)
    }

    /// Files after a power loss in which `arrived` of each group has reached the disk. `members` is returned by
    /// [`Disk::groups`].
    pub fn state(&self, members: &[u32], arrived: &[ArrivedPart]) -> Directory {
        let (mut files, mut names) = (self.files.clone(), self.names.clone());
        let mut seen = vec![0; arrived.len()];
        // Sectors of garbage: where each begins, and how far the data reaches that was written to it.
        let mut garbled: BTreeMap<(FileId, u64), (u64, u64)> = BTreeMap::new();
        for (piece, group) in self.pending.iter().zip(members) {
            let group = *group as usize;
            seen[group] += 1;
            match arrived[group] {
                ArrivedPart::First(count) if seen[group] <= count => {
                    self.keep_growing(piece, &mut files, &mut names);
                }
                ArrivedPart::Torn { whole, bytes } if seen[group] <= whole + 1 => match piece {
                    PendingPiece::Data { file, offset, bytes: all } if seen[group] == whole + 1 => {
                        let torn = all.len().min(bytes as usize);
                        files[*file as usize].write(*offset, &all[..torn]);
                    }
                    _ => self.keep_growing(piece, &mut files, &mut names),
                },
                ArrivedPart::Garbled { seed } => {
                    if let PendingPiece::Data { file, offset, bytes } = piece {
                        let sector = offset / u64::from(self.device.sector_bytes);
                        let end = offset + bytes.len() as u64;
                        let entry = garbled.entry((*file, sector)).or_insert((seed, end));
                        entry.1 = entry.1.max(end);
                    }
                }
                ArrivedPart::First(_) | ArrivedPart::Torn { .. } => {}
            }
        }
        for ((file, sector), (seed, data_end)) in garbled {
            let file = &mut files[file as usize];
            let start = sector * u64::from(self.device.sector_bytes);
            let end = (start + u64::from(self.device.sector_bytes)).min(file.size().max(data_end));
            file.write(start, &garbage(seed, end.saturating_sub(start)));
        }
        let named = |(name, file): (String, FileId)| (name, files[file as usize].clone());
        Directory { files: names.into_iter().map(named).collect() }
    }

    /// Makes a piece durable as [`keep`] does, but space by which a file has grown becomes garbage if the device allows that.
    fn keep_growing(&self, piece: &PendingPiece, files: &mut [FileImage], names: &mut BTreeMap<String, FileId>) {
        let before = match piece {
            PendingPiece::Size { file, .. } => files[*file as usize].size(),
            _ => 0,
        };
        keep(piece, files, names);
        if let (PendingPiece::Size { file, size }, false) = (piece, self.device.powersafe_overwrite)
            && *size > before
        {
            files[*file as usize].write(before, &garbage(*size, *size - before));
        }
    }
}

/// Makes a piece durable.
fn keep(piece: &PendingPiece, files: &mut [FileImage], names: &mut BTreeMap<String, FileId>) {
    match piece {
        PendingPiece::Data { file, offset, bytes } => files[*file as usize].write(*offset, bytes),
        PendingPiece::Size { file, size } => files[*file as usize].set_size(*size),
        PendingPiece::Link { name, file } => {
            names.insert(name.clone(), *file);
        }
        PendingPiece::Unlink { name } => {
            names.remove(name);
        }
        PendingPiece::Rename { from, to, file } => {
            names.remove(from);
            names.insert(to.clone(), *file);
        }
    }
}

fn garbage(seed: u64, length: u64) -> Vec<u8> {
    let mut random = SplitMix::new(seed);
    let words = (0..length.div_ceil(8)).flat_map(|_| random.next().to_le_bytes());
    words.take(length as usize).collect()
}

#[cfg(test)]
mod tests;
