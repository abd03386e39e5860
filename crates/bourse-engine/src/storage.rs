//! Storage of a database's files: file system, mount options, device, and the device's write cache.

use std::path::{Path, PathBuf};

/// Storage of a database's files, as the kernel reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storage {
    /// File system, as `ext4`.
    pub file_system: String,
    /// Mount options, those of the file system among them.
    pub mount_options: String,
    /// Block device, as `nvme0n1`; `None` if the file system has none, or it is unknown.
    pub device: Option<String>,
    /// Write cache of the device; `None` if the kernel does not report it.
    pub write_cache: Option<WriteCache>,
    /// Whether a single write can bypass the device's cache (FUA).
    pub fua: Option<bool>,
    /// Medium that stores the bytes.
    pub medium: Medium,
}

/// The write cache of a device, as the kernel sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteCache {
    /// Volatile: a sync must flush it.
    Back,
    /// No cache, or one that survives a power loss: a sync flushes nothing.
    Through,
}

/// Medium of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// A block device.
    Device,
    /// This machine's memory, with the name of the file system.
    Memory(&'static str),
    /// Another machine.
    Network,
    /// A program (FUSE), or a host's folder.
    Program,
    /// Unknown, such as the layers below an overlay.
    Unknown,
}

impl Storage {
    /// Storage of `folder`, which must exist; `None` if the system does not report it.
    pub fn of(folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
        let mount = MountLine::holding(&mounts, &folder)?;
        Some(mount.storage(&mounts, &|path| std::fs::read_to_string(path).ok(), &|number, source| {
            block_device(number, source)
        }))
    }
}

/// Name of the block device of a mount, the whole one where the mount is of a partition.
fn block_device(number: &str, source: &str) -> Option<String> {
    let by_number = Path::new("/sys/dev/block").join(number);
    let by_name = || Some(Path::new("/sys/class/block").join(Path::new(source).canonicalize().ok()?.file_name()?));
    let folder = by_number.canonicalize().ok().or_else(|| by_name()?.canonicalize().ok())?;
    let whole = if folder.join("partition").exists() { folder.parent()?.to_owned() } else { folder };
    Some(whole.file_name()?.to_str()?.to_owned())
}

/// A line of `/proc/self/mountinfo`.
#[derive(Debug, PartialEq, Eq)]
struct MountLine<'m> {
    /// `major:minor` of the device.
    number: &'m str,
    point: PathBuf,
    options: &'m str,
    file_system: &'m str,
    source: &'m str,
    of_file_system: &'m str,
}

impl<'m> MountLine<'m> {
    fn parse(line: &'m str) -> Option<Self> {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(2);
        let (number, _root, point, options) = (mount.next()?, mount.next()?, mount.next()?, mount.next()?);
        let mut file_system = file_system.split(' ');
        Some(Self {
            number,
            point: unescaped(point),
            options,
            file_system: file_system.next()?,
            source: file_system.next()?,
            of_file_system: file_system.next().unwrap_or_default(),
        })
    }

    /// The mount that holds `path`: the deepest one, of several at one place the last.
    fn holding(mounts: &'m str, path: &Path) -> Option<Self> {
        let holding = mounts.lines().filter_map(Self::parse).filter(|mount| path.starts_with(&mount.point));
        holding.max_by_key(|mount| mount.point.components().count())
    }

    /// Storage of this mount; `read` reads a file of the kernel, `device` names a block device.
    fn storage(
        &self,
        mounts: &str,
        read: &dyn Fn(&str) -> Option<String>,
        device: &dyn Fn(&str, &str) -> Option<String>,
    ) -> Storage {
        let option = |name: &str| self.of_file_system.split(',').find_map(|it| it.strip_prefix(name));
        let device = if has_device(self.file_system) { device(self.number, self.source) } else { None };
        let is_zram = device.as_deref().is_some_and(|name| name.starts_with("zram"));
        let medium = match self.file_system {
            "tmpfs" => Medium::Memory("tmpfs"),
            "ramfs" => Medium::Memory("ramfs"),
            "overlay" => {
                // Where the upper layer is a place that we do not see, its path leads back to the overlay.
                let upper = option("upperdir=").and_then(|upper| MountLine::holding(mounts, &unescaped(upper)));
                match upper.map(|upper| upper.file_system) {
                    Some("tmpfs") => Medium::Memory("overlay on tmpfs"),
                    Some("ramfs") => Medium::Memory("overlay on ramfs"),
                    _ => Medium::Unknown,
                }
            }
            "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "ceph" | "afs" | "glusterfs" | "lustre" | "ocfs2" | "gfs2" => {
                Medium::Network
            }
            "9p" | "virtiofs" | "fuseblk" | "fuse" | "vboxsf" => Medium::Program,
            other if other.starts_with("fuse.") => Medium::Program,
            _ if is_zram => Medium::Memory("zram"),
            _ if device.is_some() => Medium::Device,
            _ => Medium::Unknown,
        };
        let queue = |name: &str| read(&format!("/sys/class/block/{}/queue/{name}", device.as_deref()?));
        let write_cache = queue("write_cache").and_then(|text| match text.trim() {
            "write back" => Some(WriteCache::Back),
            "write through" => Some(WriteCache::Through),
            _ => None,
        });
        let fua = queue("fua").and_then(|text| match text.trim() {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        });
        // Options of both kinds, each once. The rest of an overlay's are paths.
        let mut options: Vec<&str> = self.options.split(',').collect();
        for option in self.of_file_system.split(',').filter(|option| !option.contains('/') && !option.is_empty()) {
            if !options.contains(&option) {
                options.push(option);
            }
        }
        Storage {
            file_system: self.file_system.to_owned(),
            mount_options: options.join(","),
            write_cache,
            fua,
            device,
            medium,
        }
    }
}

/// Whether files of that file system are on a block device of this machine.
fn has_device(file_system: &str) -> bool {
    !matches!(file_system, "tmpfs" | "ramfs" | "overlay") && !file_system.starts_with("fuse.")
}

/// Path as the kernel writes it, decoded: a space is written as `\040`.
fn unescaped(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let octal = behind.get(..3).filter(|_| first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[3..];
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw,errors=remount-ro,data=writeback,nobarrier
28 27 0:25 / /dev/shm rw,nosuid - tmpfs tmpfs rw,size=24684092k
29 27 0:30 / /merged rw - overlay overlay rw,lowerdir=/lower,upperdir=/dev/shm/up,workdir=/dev/shm/work
30 27 0:31 / /image rw - overlay overlay rw,lowerdir=/l,upperdir=/var/lib/up,workdir=/var/lib/w
31 27 0:32 / /home/a\\040b rw,vers=4.2 shared:7 - nfs4 server:/a\\040b rw,hard
32 27 0:33 / /host rw shared:8 master:1 - virtiofs host rw
33 27 0:34 / /cloud rw - fuse.sshfs me@there:/ rw
34 27 252:0 / /compressed rw - ext4 /dev/zram0 rw
35 27 0:35 / /pool rw - zfs pool/data rw
";

    fn found(path: &str) -> Storage {
        let mount = MountLine::holding(MOUNTS, Path::new(path)).expect("everything lies below the root");
        let read = |path: &str| {
            let (_, queue) = path.split_once("/vda/queue/")?;
            Some(if queue == "fua" { "0\n" } else { "write back\n" }.to_owned())
        };
        let device = |number: &str, _: &str| match number {
            "254:1" => Some("vda".to_owned()),
            "252:0" => Some("zram0".to_owned()),
            _ => None,
        };
        mount.storage(MOUNTS, &read, &device)
    }

    #[test]
    fn a_disk_has_its_device_with_its_cache_and_the_options_that_weaken_it() {
        let disk = Storage {
            file_system: "ext4".to_owned(),
            mount_options: "rw,relatime,errors=remount-ro,data=writeback,nobarrier".to_owned(),
            device: Some("vda".to_owned()),
            write_cache: Some(WriteCache::Back),
            fua: Some(false),
            medium: Medium::Device,
        };
        assert_eq!(found("/var/lib/x"), disk);
    }

    #[test]
    fn memory_networks_and_programs_are_known() {
        let medium = |path| found(path).medium;
        assert_eq!(medium("/dev/shm/x"), Medium::Memory("tmpfs"));
        assert_eq!(medium("/merged/deep"), Medium::Memory("overlay on tmpfs"));
        assert_eq!(medium("/compressed"), Medium::Memory("zram"));
        assert_eq!(medium("/image"), Medium::Unknown, "the layer below lies on a disk or is out of sight");
        assert_eq!(medium("/home/a b/c"), Medium::Network);
        assert_eq!(medium("/host"), Medium::Program);
        assert_eq!(medium("/cloud"), Medium::Program);
        assert_eq!(medium("/pool"), Medium::Unknown);
        assert_eq!(found("/merged").mount_options, "rw");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_machine_we_run_on_tells() {
        assert_eq!(Storage::of(Path::new("/dev/shm")).map(|it| it.medium), Some(Medium::Memory("tmpfs")));
        assert_eq!(Storage::of(Path::new("/no/such/folder")), None);
    }
}
