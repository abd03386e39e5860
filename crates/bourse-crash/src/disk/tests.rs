//! Pending pieces of a disk that survive a power loss.
#![cfg(test)]

use super::*;
use crate::profile::PROFILES;

fn base(bytes: &[u8]) -> Trace {
    let base = Directory { files: [("db".to_owned(), FileImage::from(bytes))].into() };
    Trace { base, operations: Vec::new() }
}

fn state(disk: &Disk, arrived: &[ArrivedPart]) -> BTreeMap<String, Vec<u8>> {
    let (groups, members) = disk.groups();
    assert_eq!(groups.len(), arrived.len());
    disk.state(&members, arrived).files.into_iter().map(|(name, file)| (name, file.to_bytes())).collect()
}

const NONE: ArrivedPart = ArrivedPart::First(0);
const ONE: ArrivedPart = ArrivedPart::First(1);

#[test]
fn sectors_arrive_one_by_one_until_they_are_synced() {
    let mut disk = Disk::new(&base(&[0; 1_024]), Device::POWERSAFE);
    disk.apply(&FileOperation::Write { file: 0, offset: 510, bytes: vec![1; 4] });
    let db = |arrived: &[ArrivedPart]| state(&disk, arrived)["db"][510..514].to_vec();
    assert_eq!(db(&[NONE, NONE]), [0, 0, 0, 0]);
    assert_eq!(db(&[ONE, NONE]), [1, 1, 0, 0]);
    assert_eq!(db(&[NONE, ONE]), [0, 0, 1, 1]);
    assert_eq!(db(&[ArrivedPart::Torn { whole: 0, bytes: 1 }, ONE]), [1, 0, 1, 1]);
    disk.apply(&FileOperation::Sync { file: 0 });
    assert!(!disk.is_pending());
    assert_eq!(state(&disk, &[])["db"][510..514], [1, 1, 1, 1]);
}

#[test]
fn of_several_writes_to_a_sector_a_prefix_arrives() {
    let mut disk = Disk::new(&base(&[0; 512]), Device::POWERSAFE);
    disk.apply(&FileOperation::Write { file: 0, offset: 0, bytes: vec![1; 2] });
    disk.apply(&FileOperation::Write { file: 0, offset: 1, bytes: vec![2; 2] });
    let (groups, _) = disk.groups();
    assert_eq!(groups, [PieceGroup { kind: GroupKind::Sector, pieces: 2 }]);
    let db = |arrived| state(&disk, &[arrived])["db"][..3].to_vec();
    assert_eq!([db(NONE), db(ONE), db(ArrivedPart::First(2))], [[0, 0, 0], [1, 1, 0], [1, 2, 2]]);
}

#[test]
fn size_and_data_of_a_file_that_grows_arrive_apart() {
    let mut disk = Disk::new(&base(b""), Device::POWERSAFE);
    disk.apply(&FileOperation::Write { file: 0, offset: 0, bytes: vec![7; 3] });
    let (groups, _) = disk.groups();
    assert_eq!(groups.iter().map(|it| it.kind).collect::<Vec<_>>(), [GroupKind::Size, GroupKind::Sector]);
    assert!(state(&disk, &[NONE, NONE])["db"].is_empty());
    assert_eq!(state(&disk, &[ONE, NONE])["db"], [0, 0, 0]);
    assert_eq!(state(&disk, &[NONE, ONE])["db"], [7, 7, 7]);
}

#[test]
fn names_are_durable_with_their_directory_and_not_with_their_file() {
    let mut disk = Disk::new(&base(b"db"), Device::POWERSAFE);
    disk.apply(&FileOperation::Create { name: "db-journal".to_owned(), file: 1 });
    disk.apply(&FileOperation::Write { file: 1, offset: 0, bytes: b"j".to_vec() });
    disk.apply(&FileOperation::Sync { file: 1 });
    assert!(!state(&disk, &[NONE]).contains_key("db-journal"));
    assert_eq!(state(&disk, &[ONE])["db-journal"], b"j");
    disk.apply(&FileOperation::SyncDirectory { folder: String::new() });
    disk.apply(&FileOperation::Unlink { name: "db-journal".to_owned() });
    assert_eq!(state(&disk, &[NONE])["db-journal"], b"j", "it returns");
    assert!(!state(&disk, &[ONE]).contains_key("db-journal"));
}

#[test]
fn a_rename_replaces_a_file_at_once_or_not_at_all() {
    let mut disk = Disk::new(&base(b"old"), Device::POWERSAFE);
    disk.apply(&FileOperation::Create { name: "db-loading".to_owned(), file: 1 });
    disk.apply(&FileOperation::Write { file: 1, offset: 0, bytes: b"new".to_vec() });
    disk.apply(&FileOperation::Sync { file: 1 });
    disk.apply(&FileOperation::Rename { from: "db-loading".to_owned(), to: "db".to_owned(), file: 1 });
    assert_eq!(state(&disk, &[NONE, NONE]), [("db".to_owned(), b"old".to_vec())].into());
    assert_eq!(state(&disk, &[NONE, ONE]), [("db".to_owned(), b"new".to_vec())].into());
    disk.apply(&FileOperation::SyncDirectory { folder: String::new() });
    assert_eq!(state(&disk, &[]), [("db".to_owned(), b"new".to_vec())].into());
}

#[test]
fn a_garbling_device_harms_the_whole_sector_and_new_space() {
    let mut disk = Disk::new(&base(&[5; 1_024]), Device::garbling(512));
    disk.apply(&FileOperation::Write { file: 0, offset: 600, bytes: vec![1; 4] });
    let garbled = &state(&disk, &[ArrivedPart::Garbled { seed: 9 }])["db"];
    assert_eq!(garbled[..512], [5; 512], "the sector beside it is as it was");
    assert_ne!(garbled[512..600], [5; 88], "bytes beside those written are harmed");
    assert_eq!(garbled.len(), 1_024);
    disk.apply(&FileOperation::Sync { file: 0 });
    disk.apply(&FileOperation::Write { file: 0, offset: 1_024, bytes: vec![1; 512] });
    let grown = &state(&disk, &[ONE, NONE])["db"];
    assert_eq!(grown.len(), 1_536);
    assert_ne!(grown[1_024..], [0; 512], "space that was never written holds anything");
    assert_eq!(state(&disk, &[ONE, ONE])["db"][1_024..], [1; 512]);
}

#[test]
fn a_file_that_is_cut_grows_again_with_zeros() {
    let mut disk = Disk::new(&base(&[5; 1_024]), Device::POWERSAFE);
    disk.apply(&FileOperation::Truncate { file: 0, size: 0 });
    disk.apply(&FileOperation::Write { file: 0, offset: 0, bytes: vec![1; 2] });
    // The size: cut, then two bytes; and the sector.
    assert_eq!(state(&disk, &[ArrivedPart::First(2), NONE])["db"], [0, 0]);
    assert_eq!(state(&disk, &[NONE, ONE])["db"][..3], [1, 1, 5], "the cut is lost, the data is not");
    disk.apply(&FileOperation::Sync { file: 0 });
    assert_eq!(state(&disk, &[])["db"], [1, 1]);
}

#[test]
fn where_metadata_is_ordered_a_file_grows_with_its_bytes_and_names_change_in_order() {
    let ordered = PROFILES.into_iter().find(|device| device.ordered_metadata).expect("a profile");
    let mut disk = Disk::new(&base(b"12"), ordered);
    disk.apply(&FileOperation::Write { file: 0, offset: 1, bytes: b"xy".to_vec() });
    let (groups, _) = disk.groups();
    assert_eq!(groups.iter().map(|it| it.kind).collect::<Vec<_>>(), [GroupKind::Sector, GroupKind::Size]);
    assert_eq!(state(&disk, &[NONE, ONE])["db"], b"12y");
    assert_eq!(state(&disk, &[ONE, NONE])["db"], b"1x", "no byte is there without the size");
    for (name, file) in [("a", 1), ("b", 2)] {
        disk.apply(&FileOperation::Create { name: name.to_owned(), file });
    }
    let names = |disk: &Disk, arrived: &[ArrivedPart]| state(disk, arrived).into_keys().collect::<Vec<_>>();
    assert_eq!(names(&disk, &[NONE, NONE, ONE]), ["a", "db"]);
    disk.apply(&FileOperation::Sync { file: 0 });
    assert_eq!(names(&disk, &[]), ["a", "b", "db"], "any sync makes names last");
}

#[test]
fn a_cache_that_lies_loses_what_was_synced_last() {
    let lying = PROFILES.into_iter().find(|device| device.cache_bytes > 0).expect("a profile");
    let mut disk = Disk::new(&base(&[0; 256 << 10]), lying);
    for part in 0..4 {
        disk.apply(&FileOperation::Write { file: 0, offset: part << 16, bytes: vec![1; 48 << 10] });
        disk.apply(&FileOperation::Sync { file: 0 });
    }
    let (groups, _) = disk.groups();
    let db = &state(&disk, &vec![NONE; groups.len()])["db"];
    assert_eq!([0, 1, 2, 3].map(|part| db[(part << 16) + (48 << 10) - 1]), [1, 1, 0, 0]);
    assert_eq!(db[2 << 16], 1, "what the cache has no room for is on the disk");
    assert_eq!(groups.len() * 512, 64 << 10, "the cache is full");
}

#[test]
fn a_write_that_waits_makes_its_own_bytes_durable_alone() {
    let mut disk = Disk::new(&base(&[0; 1_024]), Device::POWERSAFE);
    disk.apply(&FileOperation::Write { file: 0, offset: 0, bytes: vec![1] });
    disk.apply(&FileOperation::Write { file: 0, offset: 600, bytes: vec![1] });
    disk.apply(&FileOperation::SyncRange { file: 0, offset: 600, bytes: 1 });
    let db = &state(&disk, &[NONE])["db"];
    assert_eq!((db[0], db[600]), (0, 1));
}
