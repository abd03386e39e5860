//! The files that a disk has after a loss of power.

use std::ffi::OsStr;
use std::fs::{self, File, FileType};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

/// Bytes that a drive writes in one step.
const SECTOR: usize = 512;

/// Unsynced writes that survive a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survival {
    /// No write.
    None,
    /// About one in eight sectors and changes of a file's size, drawn from that seed.
    Some(u64),
}

/// Whether the library does not watch a file of that name, since it is made anew when the database is opened.
fn passes(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.ends_with("-shm") || name.ends_with("-lock"))
}

/// Copies a folder with its contents, owners and permissions; entries other than files and folders are left out. A folder that is
/// there becomes the copy: its files are overwritten where they differ, since a file system looks long for a new one where many were
/// removed just before, and most of a database is as it was.
///
/// # Errors
/// The system's.
pub fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    match fs::create_dir(to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => remove_others(to, &|below, kind| {
            fs::symlink_metadata(from.join(below)).is_ok_and(|it| it.file_type() == kind)
        })?,
        made => made?,
    }
    // Some servers refuse a data directory that others may enter.
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    same_owner(from, to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, place) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_folder(&entry.path(), &place)?;
        } else if kind.is_file() {
            copy_file(&entry.path(), &place)?;
        }
    }
    Ok(())
}

/// Removes from a folder what `belongs` refuses, by its path below the folder, and files with several names, since each name's contents
/// would overwrite the others'.
///
/// # Errors
/// The system's.
pub fn remove_others(folder: &Path, belongs: &dyn Fn(&Path, FileType) -> bool) -> io::Result<()> {
    remove_below(folder, Path::new(""), belongs)
}

fn remove_below(folder: &Path, below: &Path, belongs: &dyn Fn(&Path, FileType) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let (place, below, found) = (entry.path(), below.join(entry.file_name()), entry.metadata()?);
        match (found.is_dir(), belongs(&below, found.file_type())) {
            (true, true) => remove_below(folder, &below, belongs)?,
            (true, false) => fs::remove_dir_all(place)?,
            (false, true) if found.nlink() == 1 => {}
            (false, _) => fs::remove_file(place)?,
        }
    }
    Ok(())
}

/// Copies the contents of a file over those that differ. In a new copy holes stay holes, since some engines' files consist almost
/// entirely of them.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let copy = File::options().read(true).write(true).create(true).truncate(false).open(to)?;
    let length = source.metadata()?.len();
    copy.set_len(length)?;
    copy.set_permissions(source.metadata()?.permissions())?;
    let (mut buffer, mut there) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut at = 0;
    while at < length {
        let got = source.read(&mut buffer)?;
        let (Some(part), Some(there)) = (buffer.get(..got), there.get_mut(..got)) else { break };
        if part.is_empty() {
            break;
        }
        copy.read_exact_at(there, at)?;
        if part != there {
            copy.write_all_at(part, at)?;
        }
        at += got as u64;
    }
    same_owner(from, to)
}

/// Gives a copy the owner of its original, if this process may do so.
fn same_owner(from: &Path, to: &Path) -> io::Result<()> {
    let (wanted, found) = (fs::metadata(from)?, fs::metadata(to)?);
    if (wanted.uid(), wanted.gid()) == (found.uid(), found.gid()) {
        return Ok(());
    }
    std::os::unix::fs::chown(to, Some(wanted.uid()), Some(wanted.gid()))
}

/// Replaces the files by their image on the disk, with those later writes that survive, which the image then has too.
///
/// # Errors
/// The system's.
pub fn lose_power(files: &Path, image: &Path, survival: Survival) -> io::Result<()> {
    if let Survival::Some(seed) = survival {
        survive(files, image, &mut RandomStream(seed))?;
    }
    remove_passing(image)?;
    copy_folder(image, files)
}

fn remove_passing(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && passes(&entry.file_name()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Copies some unsynced sectors of the files to their image.
fn survive(files: &Path, image: &Path, draw: &mut RandomStream) -> io::Result<()> {
    let mut names = fs::read_dir(image)?.collect::<Result<Vec<_>, _>>()?;
    // The order of a folder is the file system's, and a seed is to give the same again.
    names.sort_by_key(fs::DirEntry::file_name);
    for entry in names {
        let (place, newer) = (entry.path(), files.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() && newer.is_dir() {
            survive(&newer, &place, draw)?;
        } else if kind.is_file() && newer.is_file() && !passes(&entry.file_name()) && !is_another(&place)? {
            let old = File::options().read(true).write(true).open(&place)?;
            mix(&File::open(&newer)?, &old, draw)?;
        }
    }
    Ok(())
}

/// Whether the library has marked a file of the image: its name belongs to another file, which was never synced.
fn is_another(place: &Path) -> io::Result<bool> {
    const STICKY: u32 = 0o1_000;
    Ok(fs::metadata(place)?.permissions().mode() & STICKY != 0)
}

fn mix(newer: &File, old: &File, draw: &mut RandomStream) -> io::Result<()> {
    let size = newer.metadata()?.len();
    if size != old.metadata()?.len() && draw.one_in_eight() {
        old.set_len(size)?;
    }
    let length = newer.metadata()?.len().min(old.metadata()?.len());
    let (mut fresh, mut kept) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut at = 0;
    while at < length {
        let wanted = usize::try_from(length - at).unwrap_or(usize::MAX).min(fresh.len());
        let (Some(fresh), Some(kept)) = (fresh.get_mut(..wanted), kept.get_mut(..wanted)) else { break };
        newer.read_exact_at(fresh, at)?;
        old.read_exact_at(kept, at)?;
        for (place, (new, old_bytes)) in (at..).step_by(SECTOR).zip(fresh.chunks(SECTOR).zip(kept.chunks(SECTOR))) {
            if new != old_bytes && draw.one_in_eight() {
                old.write_all_at(new, place)?;
            }
        }
        at += wanted as u64;
    }
    Ok(())
}

/// Stream of random numbers (splitmix64).
struct RandomStream(u64);

impl RandomStream {
    fn one_in_eight(&mut self) -> bool {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)).is_multiple_of(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders() -> (tempfile::TempDir, std::path::PathBuf, std::path::PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let (files, image) = (folder.path().join("files"), folder.path().join("image"));
        for place in [&files, &image] {
            fs::create_dir(place).expect("can be made");
        }
        (folder, files, image)
    }

    #[test]
    fn the_image_is_left_with_the_writes_that_survive() {
        let mut sizes = std::collections::BTreeSet::new();
        for survival in std::iter::once(Survival::None).chain((0..40).map(Survival::Some)) {
            let (_folder, files, image) = folders();
            fs::write(files.join("x"), [1; 100 * SECTOR]).expect("written");
            fs::write(image.join("x"), [0; 90 * SECTOR]).expect("written");
            fs::write(files.join("never-synced"), [1]).expect("written");
            fs::write(image.join("deleted"), [7]).expect("written");
            fs::write(image.join("x-shm"), [7]).expect("written");
            fs::write(files.join("new"), [1; 100 * SECTOR]).expect("written");
            fs::write(image.join("new"), [0; 100 * SECTOR]).expect("written");
            fs::set_permissions(image.join("new"), fs::Permissions::from_mode(0o1644)).expect("marked");
            lose_power(&files, &image, survival).expect("can be lost");
            let found = fs::read(files.join("x")).expect("is there");
            let survived = found.chunks(SECTOR).filter(|sector| sector.iter().all(|byte| *byte == 1)).count();
            let (least, most) = if survival == Survival::None { (0, 0) } else { (1, 60) };
            assert!((least..=most).contains(&survived), "{survival:?}: {survived}");
            assert!(survival != Survival::None || found.len() == 90 * SECTOR);
            sizes.insert(found.len() / SECTOR);
            assert!(!files.join("never-synced").exists() && !files.join("x-shm").exists());
            assert_eq!(fs::read(image.join("x")).expect("is there"), found);
            assert!(
                fs::read(files.join("new")).expect("is there").iter().all(|byte| *byte == 0),
                "another file's bytes"
            );
            assert_eq!(fs::read(files.join("deleted")).expect("comes back"), [7]);
        }
        assert_eq!(sizes.into_iter().collect::<Vec<_>>(), [90, 100], "a file's growth survives too");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn image_and_files_may_lie_on_two_file_systems() {
        let (_folder, _, image) = folders();
        let skipped = |why| bourse_testkit::skipped("bourse-crash: image_and_files_may_lie_on_two_file_systems", why);
        let Ok(in_memory) = tempfile::tempdir_in("/dev/shm") else { return skipped("there is no /dev/shm") };
        let device = |path: &Path| fs::metadata(path).expect("is there").dev();
        if device(in_memory.path()) == device(&image) {
            return skipped("/dev/shm and the temporary files are on one file system");
        }
        let files = in_memory.path().join("files");
        fs::create_dir(&files).expect("can be made");
        fs::write(image.join("x"), [7]).expect("written");
        lose_power(&files, &image, Survival::None).expect("can be lost");
        assert_eq!(fs::read(files.join("x")).expect("is there"), [7]);
    }

    #[test]
    fn a_folder_becomes_the_copy_whatever_was_in_it() {
        let (_folder, from, to) = folders();
        for (name, bytes) in [("one", [1; 3]), ("two", [2; 3]), ("file", [3; 3])] {
            fs::write(from.join(name), bytes).expect("written");
        }
        fs::create_dir_all(from.join("below/empty")).expect("can be made");
        fs::write(from.join("below/x"), [4]).expect("written");
        // Two names of one file, a longer file with other permissions, a file for a folder and the reverse, and others.
        fs::write(to.join("one"), [7; 9]).expect("written");
        fs::hard_link(to.join("one"), to.join("two")).expect("linked");
        fs::create_dir_all(to.join("file/below")).expect("can be made");
        fs::create_dir(to.join("below")).expect("can be made");
        fs::write(to.join("below/empty"), [7]).expect("written");
        fs::write(to.join("below/x"), [7; 9]).expect("written");
        fs::set_permissions(to.join("below/x"), fs::Permissions::from_mode(0o1666)).expect("marked");
        fs::write(to.join("below/other"), [7]).expect("written");
        fs::create_dir_all(to.join("other/below")).expect("can be made");
        copy_folder(&from, &to).expect("can be copied");
        let names = |folder: &Path| {
            let entries = fs::read_dir(folder).expect("is there").map(|entry| entry.expect("is there").file_name());
            entries.collect::<std::collections::BTreeSet<_>>()
        };
        for folder in ["", "below", "below/empty"] {
            assert_eq!(names(&from.join(folder)), names(&to.join(folder)));
        }
        for file in ["one", "two", "file", "below/x"] {
            let read = |folder: &Path| fs::read(folder.join(file)).expect("is there");
            assert_eq!(read(&from), read(&to), "{file}");
            let mode = |folder: &Path| fs::metadata(folder.join(file)).expect("is there").permissions().mode();
            assert_eq!(mode(&from), mode(&to), "{file}");
        }
    }
}
