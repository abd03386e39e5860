//! A simulated disk: durable data, and data that is pending until it is synced.

use crate::image::{Directory, FileImage};
use crate::plan::ArrivedPart;
use crate::profile::Device;
use crate::trace::{FileId, FileOperation, Trace};
use bourse_stats::SplitMix;
use std::collections::{BTreeMap, HashMap};

/// Unit in which a file system that orders metadata makes a file grow: a page of memory.
const PAGE_BYTES: u64 = 4_096;

/// Change that is pending.
#[derive(Debug, Clone)]
enum PendingPiece {
    /// Bytes within a sector.
    Data { file: FileId, offset: u64, bytes: Vec<u8> },
    /// Bytes by which a file grows, with its size; where the device orders metadata.
    Append { file: FileId, offset: u64, bytes: Vec<u8> },
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
    fn group(&self, device: Device) -> GroupKey {
        match self {
            Self::Data { file, offset, .. } => GroupKey::Sector(*file, offset / u64::from(device.sector_bytes)),
            Self::Size { file, .. } | Self::Append { file, .. } => GroupKey::Size(*file),
            _ if device.ordered_metadata => GroupKey::Name(String::new()),
            Self::Link { name, .. } | Self::Unlink { name } | Self::Rename { to: name, .. } => {
                GroupKey::Name(name.clone())
            }
        }
    }

    /// Name that is given or removed; `None` for a change of a file.
    fn name(&self) -> Option<&str> {
        match self {
            Self::Data { .. } | Self::Append { .. } | Self::Size { .. } => None,
            Self::Link { name, .. } | Self::Unlink { name } | Self::Rename { to: name, .. } => Some(name),
        }
    }

    /// Bytes that the piece takes in a device's cache; for metadata those of a sector.
    fn cached_bytes(&self) -> u64 {
        match self {
            Self::Data { bytes, .. } | Self::Append { bytes, .. } => bytes.len() as u64,
            _ => 512,
        }
    }

    fn file(&self) -> Option<FileId> {
        match self {
            Self::Data { file, .. } | Self::Append { file, .. } | Self::Size { file, .. } => Some(*file),
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

    /// Number of pieces that are pending.
    pub(crate) fn pending_pieces(&self) -> usize {
        self.pending.len()
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
            FileOperation::Sync { file } => {
                let names = self.device.ordered_metadata;
                self.sync(|piece| piece.file() == Some(*file) || (names && piece.file().is_none()));
            }
            FileOperation::SyncRange { file, offset, bytes } => {
                let range = *offset..offset.saturating_add(*bytes);
                let is_meant = |piece: &PendingPiece| match piece {
                    PendingPiece::Data { file: of, offset, .. } => of == file && range.contains(offset),
                    PendingPiece::Append { file: of, .. } | PendingPiece::Size { file: of, .. } => of == file,
                    _ => false,
                };
                self.sync(is_meant);
            }
            FileOperation::SyncDirectory { folder } => {
                let names = self.device.ordered_metadata;
                self.sync(|piece| piece.name().is_some_and(|name| names || folder_of(name) == folder));
            }
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
        let before = *size;
        *size = end.max(before);
        let appends = self.device.ordered_metadata;
        if end > before && !appends {
            self.pending.push(PendingPiece::Size { file, size: end });
        }
        let (mut at, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let is_appended = appends && at >= before;
            let step = if is_appended { PAGE_BYTES } else { sector_bytes };
            let mut room = step - at % step;
            if appends && at < before {
                room = room.min(before - at);
            }
            let (piece, more) = rest.split_at((room as usize).min(rest.len()));
            let bytes = piece.to_vec();
            self.pending.push(match is_appended {
                true => PendingPiece::Append { file, offset: at, bytes },
                false => PendingPiece::Data { file, offset: at, bytes },
            });
            (at, rest) = (at + piece.len() as u64, more);
        }
    }

    /// Makes pieces durable, in order.
    fn sync(&mut self, is_meant: impl Fn(&PendingPiece) -> bool) {
        if self.device.cache_bytes > 0 {
            return self.evict();
        }
        let (done, rest): (Vec<_>, _) = std::mem::take(&mut self.pending).into_iter().partition(is_meant);
        self.pending = rest;
        for piece in done {
            keep(&piece, &mut self.files, &mut self.names);
        }
    }

    /// Makes the oldest pieces durable for which a lying cache has no room.
    fn evict(&mut self) {
        let mut held = 0;
        let newest = self.pending.iter().rev().take_while(|piece| {
            held += piece.cached_bytes();
            held <= self.device.cache_bytes
        });
        let gone = self.pending.len() - newest.count();
        for piece in self.pending.drain(..gone).collect::<Vec<_>>() {
            keep(&piece, &mut self.files, &mut self.names);
        }
    }

    /// Descriptions of the pieces in these groups, those next to one another in one.
    pub fn words(&self, members: &[u32], groups: &[usize]) -> Vec<String> {
        let mut names: BTreeMap<FileId, &str> = self.names.iter().map(|(name, file)| (*file, name.as_str())).collect();
        for piece in &self.pending {
            if let PendingPiece::Link { name, file } | PendingPiece::Rename { to: name, file, .. } = piece {
                names.insert(*file, name);
            }
        }
        let name = |file: &FileId| names.get(file).copied().unwrap_or("a file without a name");
        let mut written: BTreeMap<(FileId, u64), u64> = BTreeMap::new();
        let mut others = Vec::new();
        for (piece, _) in self.pending.iter().zip(members).filter(|(_, group)| groups.contains(&(**group as usize))) {
            match piece {
                PendingPiece::Data { file, offset, bytes } | PendingPiece::Append { file, offset, bytes } => {
                    let end = offset + bytes.len() as u64;
                    let entry = written.entry((*file, *offset)).or_insert(end);
                    *entry = end.max(*entry);
                }
                PendingPiece::Size { file, size } => others.push(format!("size {size} of {}", name(file))),
                PendingPiece::Link { name, .. } => others.push(format!("name {name}")),
                PendingPiece::Unlink { name } => others.push(format!("removal of {name}")),
                PendingPiece::Rename { from, to, .. } => others.push(format!("renaming of {from} to {to}")),
            }
        }
        let mut ranges: Vec<(FileId, u64, u64)> = Vec::new();
        for ((file, from), to) in written {
            match ranges.last_mut() {
                Some((last, _, end)) if *last == file && *end >= from => *end = to.max(*end),
                _ => ranges.push((file, from, to)),
            }
        }
        let range = |(file, from, to): &(FileId, u64, u64)| format!("bytes {from} to {to} of {}", name(file));
        ranges.iter().map(range).chain(others).collect()
    }

    /// Pending groups, in the order of their first pieces, and for each piece the number of its group.
    pub fn groups(&self) -> (Vec<PieceGroup>, Vec<u32>) {
        let mut numbers: HashMap<GroupKey, u32> = HashMap::new();
        let mut groups: Vec<PieceGroup> = Vec::new();
        let of_piece = |piece: &PendingPiece| {
            let key = piece.group(self.device);
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
        PendingPiece::Data { file, offset, bytes } | PendingPiece::Append { file, offset, bytes } => {
            files[*file as usize].write(*offset, bytes);
        }
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

/// Folder of a name; empty for the watched folder itself.
fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn garbage(seed: u64, length: u64) -> Vec<u8> {
    let mut random = SplitMix::new(seed);
    let words = (0..length.div_ceil(8)).flat_map(|_| random.next().to_le_bytes());
    words.take(length as usize).collect()
}

#[cfg(test)]
mod tests;
