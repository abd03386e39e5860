//! Profiles: what a disk with its file system may do to writes that are not synced yet.

/// Device with its file system, as far as a power loss shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    /// Name of the profile, for `--profile` and documents.
    pub name: &'static str,
    /// Description in one line.
    pub title: &'static str,
    /// Sector size: the number of bytes that are written together.
    pub sector_bytes: u32,
    /// Whether only the bytes being written can be harmed, which SQLite calls powersafe overwrite. If so, a sector has its old
    /// or its new bytes, or is torn between the two. If not, it may become garbage, including its other bytes, and so may the
    /// space by which a file has grown.
    pub powersafe_overwrite: bool,
    /// Whether a file grows together with its new bytes, names change in order, and the sync of any file makes them last.
    pub ordered_metadata: bool,
    /// Number of bytes that may be lost although they were synced; 0 for a device that honours syncs.
    pub cache_bytes: u64,
}

impl Device {
    /// Disk with the properties that SQLite assumes: "Powersafe overwrite", <https://www.sqlite.org/psow.html>. Its file system
    /// promises no more than POSIX: everything that is not synced arrives in any order.
    pub const POWERSAFE: Self = Self {
        name: "any-order",
        title: "sectors of 512 bytes, sizes and names arrive in any order",
        sector_bytes: 512,
        powersafe_overwrite: true,
        ordered_metadata: false,
        cache_bytes: 0,
    };

    /// Disk whose sectors of this size may become garbage while they are written.
    pub const fn garbling(sector_bytes: u32) -> Self {
        let (name, title) = match sector_bytes {
            512 => ("no-powersafe-overwrite-512", "a sector of 512 bytes that is written may become garbage"),
            _ => ("no-powersafe-overwrite", "a sector of 4,096 bytes that is written may become garbage"),
        };
        Self { name, title, sector_bytes, powersafe_overwrite: false, ..Self::POWERSAFE }
    }

    /// Whether engines can be expected to keep their guarantees: not on a cache that lies. An engine that is not told of a
    /// device without powersafe overwrite cannot protect what it wrote before.
    pub const fn can_be_trusted(self, is_declared: bool) -> bool {
        self.cache_bytes == 0 && (self.powersafe_overwrite || is_declared)
    }
}

/// All profiles; the first is the default.
pub const PROFILES: [Device; 5] = [
    Device::POWERSAFE,
    // Kernel documentation, "ext4 General Information", data=ordered: "data and metadata are logically grouped"; data reaches
    // the disk before the metadata that refers to it. Names are in one journal, which each fsync commits (Pillai et al., OSDI
    // 2014, table 1). With delayed allocation one file's growth is not ordered after another's.
    Device {
        name: "ext4-ordered",
        title: "ext4, data=ordered: a file grows with its bytes, names change in order, and last with any sync",
        ordered_metadata: true,
        ..Device::POWERSAFE
    },
    // Zheng et al., "Understanding the Robustness of SSDs under Power Fault" (FAST 2013): devices that lose what they have
    // acknowledged.
    Device {
        name: "lying-cache",
        title: "a volatile cache of 64 KiB that reports each sync as done",
        cache_bytes: 64 << 10,
        ..Device::POWERSAFE
    },
    Device::garbling(4_096),
    Device::garbling(512),
];
