//! The preloaded library, in processes that read, write and sync: this test program, started again with it.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use bourse_crash::preload::{
    Call, CallCounts, CallEffect, ControlFile, FileRecorder, ProcessFiles, Spec, read_recording,
};
use bourse_crash::{Directory, FileImage, FileOperation};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, IoSlice, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Environment variable with the name of the body that the child runs.
const BODY: &str = "TEST_BODY";

/// Results of a child: its control, the bytes of file and image, the signal that ended it.
struct Left {
    fired: u64,
    first_hit: String,
    counts: CallCounts,
    /// First bytes of the file as the system has it.
    file: Vec<u8>,
    /// First bytes of its image.
    image: Vec<u8>,
    signal: Option<i32>,
}

/// Code of a child: it gets the folder, with a file `x` of 3,000 bytes `a`.
type Body = fn(&Path) -> io::Result<()>;

/// Bodies by name.
const BODIES: &[(&str, Body)] = &[
    ("write-sync-write", |folder| {
        let file = open(folder)?;
        file.write_all_at(b"bbb", 0)?;
        file.sync_all()?;
        file.write_all_at(b"ccc", 0)
    }),
    ("sync-twice", |folder| {
        let file = open(folder)?;
        file.write_all_at(b"bbb", 0)?;
        assert_eq!(file.sync_data().unwrap_err().raw_os_error(), Some(5));
        // The system has what it could not write, and takes it for written.
        let mut found = [0; 3];
        file.read_exact_at(&mut found, 0)?;
        assert_eq!(&found, b"bbb");
        file.sync_data()
    }),
    ("twice", |folder| {
        let file = open(folder)?;
        assert_eq!(file.write_at(b"bbb", 0).unwrap_err().raw_os_error(), Some(5));
        assert_eq!(file.sync_data().unwrap_err().raw_os_error(), Some(5));
        file.write_all_at(b"ccc", 0)
    }),
    ("allocates", |_| {
        let control = ControlFile::open(&ProcessFiles::of_this_process().expect("the parent gives places").control)?;
        let has_room = || Vec::<u8>::new().try_reserve_exact(12_345).is_ok();
        assert!(has_room());
        control.set_changing(true)?;
        let found = (has_room(), has_room());
        control.set_changing(false)?;
        assert_eq!(found, (false, true));
        Ok(())
    }),
    ("short", |folder| {
        let file = open(folder)?;
        assert_eq!(file.write_at(b"bbbbbb", 0)?, 3);
        assert_eq!(file.write_at(b"cccccc", 0)?, 6);
        Ok(())
    }),
    ("grow", |folder| {
        let file = open(folder)?;
        file.write_all_at(b"b", 0)?;
        assert_eq!(file.write_at(b"b", 3_000).unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(file.set_len(4_000).unwrap_err().kind(), ErrorKind::StorageFull);
        file.write_all_at(b"b", 1)
    }),
    ("read", |folder| {
        let (file, mut found) = (open(folder)?, [0; 8]);
        assert_eq!(file.read_at(&mut found, 0).unwrap_err().raw_os_error(), Some(5));
        assert_eq!(file.read_at(&mut found, 0)?, 8);
        Ok(())
    }),
    ("dsync", |folder| {
        /// Flag of `open`: writes wait for the disk (`O_DSYNC`).
        const DSYNC: i32 = 0o10_000;
        let file = OpenOptions::new().write(true).custom_flags(DSYNC).open(folder.join("x"))?;
        file.write_all_at(b"bbb", 0)
    }),
    ("delete", |folder| fs::remove_file(folder.join("x"))),
    ("delete-sync", |folder| {
        fs::remove_file(folder.join("x"))?;
        File::open(folder)?.sync_all()
    }),
    // Another process shares the folder, as a server's do.
    ("other-syncs", |folder| {
        open(folder)?.write_all_at(b"bbb", 0)?;
        other("sync")
    }),
    ("other-writes", |folder| {
        other("write")?;
        open(folder)?.sync_all()
    }),
    ("other-drops", |folder| {
        open(folder)?.write_all_at(b"bbb", 0)?;
        other("failed-sync")?;
        open(folder)?.sync_all()
    }),
    ("other-renames", |folder| {
        open(folder)?.write_all_at(b"bbb", 0)?;
        other("rename")?;
        let image = ProcessFiles::of_this_process().and_then(|places| places.image).expect("the parent gives places");
        let lasts = || fs::read(image.join("y")).map(|found| found.starts_with(b"bbba"));
        assert!(!lasts()?, "a new name makes nothing last");
        File::open(folder.join("y"))?.sync_all()?;
        assert!(lasts()?);
        Ok(())
    }),
    ("many-write", |folder| {
        let others: Vec<_> = (0..4).map(|_| start("write-much")).collect::<io::Result<_>>()?;
        for mut other in others {
            assert!(other.wait()?.success());
        }
        open(folder)?.sync_all()
    }),
    ("other-ends", |folder| {
        open(folder)?.write_all_at(b"bbb", 0)?;
        // A process that makes a call after the end is ended as well.
        other("write")?;
        unreachable!("the other one ends this one")
    }),
    ("sync", |folder| open(folder)?.sync_all()),
    ("failed-sync", |folder| open(folder)?.sync_all().map_or(Ok(()), |()| panic!("it is to fail"))),
    ("write", |folder| open(folder)?.write_all_at(b"bbb", 0)),
    ("write-much", |folder| {
        let file = open(folder)?;
        (0..1_000).try_for_each(|number| file.write_all_at(b"b", 3 * number % 3_000))
    }),
    ("rename", |folder| {
        fs::rename(folder.join("x"), folder.join("y"))?;
        fs::write(folder.join("x"), b"nnn")?;
        open(folder)?.sync_all()
    }),
    ("recorded", |folder| {
        let recorder = FileRecorder::of_this_process()?;
        let file = open(folder)?;
        file.write_all_at(b"bbb", 7)?;
        file.sync_data()?;
        recorder.acknowledge(1)?;
        let mut log = File::create(folder.join("log"))?;
        assert_eq!(log.write_vectored(&[IoSlice::new(b"one"), IoSlice::new(b"two")])?, 6);
        fs::write(folder.join("other"), b"left out")?;
        file.set_len(2_000)?;
        log.sync_all()?;
        File::open(folder)?.sync_all()?;
        fs::rename(folder.join("log"), folder.join("log.old"))?;
        log.write_all(b"three")?;
        recorder.acknowledge(2)?;
        fs::remove_file(folder.join("log.old"))?;
        File::create(folder.join("x")).map(drop)
    }),
    ("copied", |folder| fs::copy(folder.join("x"), folder.join("y")).map(drop)),
    ("replace", |folder| {
        let fresh = folder.join("y");
        fs::write(&fresh, b"yyy")?;
        File::open(&fresh)?.sync_all()?;
        fs::rename(&fresh, folder.join("x"))?;
        File::open(folder)?.sync_all()
    }),
];

fn open(folder: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(folder.join("x"))
}

/// Starts a process that runs another body.
fn start(body: &str) -> io::Result<std::process::Child> {
    let program = std::env::current_exe()?;
    Command::new(program).args(["--exact", "body", "--nocapture"]).env(BODY, body).stdout(Stdio::null()).spawn()
}

/// Runs another process with a body to its end.
fn other(body: &str) -> io::Result<()> {
    let ended = start(body)?.wait()?;
    if ended.success() { Ok(()) } else { Err(io::Error::other(format!("{body}: {ended}"))) }
}

/// Body of a child process; does nothing as a test.
#[test]
fn body() {
    let Ok(name) = std::env::var(BODY) else { return };
    let (_, body) = BODIES.iter().find(|(known, _)| *known == name).expect("there is such a body");
    let folder = ProcessFiles::of_this_process().expect("the parent gives places").files;
    body(&folder).expect("the body does what it is to");
}

/// Runs a body in a process with the library; `None` if there is none.
fn run(body: &str, fault: Option<Spec>) -> Option<Left> {
    run_in(tempfile::tempdir().expect("a folder").path(), body, fault, None)
}

/// Likewise below a folder; its operations are recorded in that file.
fn run_in(folder: &Path, body: &str, fault: Option<Spec>, recording: Option<&Path>) -> Option<Left> {
    let library = match bourse_crash::preload::library() {
        Ok(library) => library,
        Err(why) => {
            assert!(!why.is_empty(), "where there is none there is a reason");
            return None;
        }
    };
    let base = folder.canonicalize().expect("it is there");
    let (files, image, path) = (base.join("files"), base.join("image"), base.join("faults.so"));
    for place in [&files, &image] {
        fs::create_dir(place).expect("can be made");
        fs::write(place.join("x"), [b'a'; 3_000]).expect("can be written");
    }
    bourse_crash::preload::write_library(&path, library).expect("can be written");
    let recording = recording.map(Path::to_owned);
    let places =
        ProcessFiles { control: base.join("control"), files: files.clone(), image: Some(image.clone()), recording };
    let control = ControlFile::create(&places.control).expect("can be made");
    control.arm(fault).expect("can be armed");
    let program = std::env::current_exe().expect("this program is there");
    let output = Command::new(program)
        .args(["--exact", "body", "--nocapture"])
        .envs(places.preloading(&path))
        .env(BODY, body)
        .output()
        .expect("can be started");
    let signal = output.status.signal();
    assert!(output.status.success() || signal.is_some(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(control.loaded().expect("can be read") > 0);
    assert!(places.recording.is_some() || control.incompleteness().expect("can be read").is_none());
    let read = |folder: &Path| fs::read(folder.join("x")).unwrap_or_default();
    Some(Left {
        fired: control.fired().expect("can be read"),
        first_hit: control.first_hit().expect("can be read"),
        counts: control.counts().expect("can be read"),
        file: read(&files),
        image: read(&image),
        signal,
    })
}

fn spec(call: Call, nth: u64, effect: CallEffect) -> Option<Spec> {
    Some(Spec { call, nth, effect })
}

/// Runs a body and compares the first bytes of its file and the image.
#[track_caller]
fn check(body: &str, fault: Option<Spec>, file: &[u8], image: &[u8]) -> Option<Left> {
    let left = run(body, fault)?;
    assert!(left.file.starts_with(file), "{:?}", left.file.get(..8));
    assert!(left.image.starts_with(image), "{:?}", left.image.get(..8));
    assert_eq!(left.fired > 0, fault.is_some(), "{}", left.first_hit);
    Some(left)
}

#[test]
fn the_image_has_what_was_synced() {
    let Some(left) = check("write-sync-write", None, b"ccca", b"bbba") else { return };
    assert_eq!((left.counts.of(Call::Write), left.counts.of(Call::Sync), left.counts.of(Call::Grow)), (2, 1, 0));
    check("dsync", None, b"bbba", b"bbba");
    assert_eq!(run("delete", None).map(|left| left.image.len()), Some(3_000), "a deletion lasts with its folder");
    assert_eq!(run("delete-sync", None).map(|left| left.image.len()), Some(0));
    check("replace", None, b"yyy", b"yyy");
}

#[test]
fn a_sync_that_fails_forgets_what_it_was_to_write() {
    let Some(left) = check("sync-twice", spec(Call::Sync, 1, CallEffect::FailOnce), b"bbba", b"aaaa") else { return };
    assert_eq!((left.first_hit.as_str(), left.fired, left.counts.of(Call::Sync)), ("fdatasync of x", 1, 2));
    check("write-sync-write", spec(Call::Sync, 1, CallEffect::Lie), b"ccca", b"aaaa");
    check("dsync", spec(Call::Sync, 1, CallEffect::Lie), b"bbba", b"aaaa");
}

#[test]
fn calls_fail_as_they_are_told() {
    let Some(left) = check("short", spec(Call::Write, 1, CallEffect::Half), b"cccccc", b"aaaa") else { return };
    assert_eq!(left.first_hit, "pwrite of x, 6 bytes at 0");
    let full = check("grow", spec(Call::Grow, 1, CallEffect::Full), b"bb", b"aaaa").expect("as above");
    assert_eq!((full.fired, full.file.len()), (2, 3_000));
    check("read", spec(Call::Read, 1, CallEffect::FailOnce), b"aaaa", b"aaaa");
    let ended = check("write-sync-write", spec(Call::Write, 2, CallEffect::End), b"bbba", b"bbba").expect("as above");
    assert_eq!(ended.signal, Some(9));
}

/// Sharing of unsynced writes: a sync by one process makes another process's writes durable, as on a real file.
#[test]
fn processes_share_what_is_not_synced() {
    let Some(left) = check("other-syncs", None, b"bbba", b"bbba") else { return };
    assert_eq!((left.counts.of(Call::Write), left.counts.of(Call::Sync)), (1, 1));
    check("other-writes", None, b"bbba", b"bbba");
    check("other-drops", spec(Call::Sync, 1, CallEffect::FailOnce), b"bbba", b"aaaa");
    check("other-renames", None, b"nnn", b"nnn");
    let many = check("many-write", None, b"baab", b"baab").expect("as above");
    assert_eq!((many.counts.of(Call::Write), many.file), (4_000, many.image));
}

#[test]
fn all_processes_end_together() {
    let Some(left) = check("other-ends", spec(Call::Write, 2, CallEffect::End), b"bbba", b"aaaa") else { return };
    assert_eq!((left.signal, left.first_hit.as_str()), (Some(9), "pwrite of x, 3 bytes at 0"));
}

#[test]
fn two_calls_fail_and_no_third() {
    let Some(left) = check("twice", spec(Call::Write, 1, CallEffect::FailTwice), b"ccca", b"aaaa") else { return };
    assert_eq!((left.first_hit.as_str(), left.fired), ("pwrite of x, 3 bytes at 0", 2));
}

#[test]
fn memory_is_refused_in_changes_alone() {
    let Some(left) = run("allocates", spec(Call::Allocate, 1, CallEffect::FailOnce)) else { return };
    assert_eq!((left.first_hit.as_str(), left.fired), ("malloc of 12345 bytes", 1));
    assert_eq!(left.counts.of(Call::Allocate), 2);
}

/// A recording is the operations in order, those of files that are left out excepted.
#[test]
fn operations_are_recorded_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("recording");
    fs::write(&path, []).expect("can be made");
    if run_in(folder.path(), "recorded", None, Some(&path)).is_none() {
        return;
    }
    let base = Directory { files: [("db".to_owned(), FileImage::from(&[b'a'; 3_000][..]))].into() };
    let control = ControlFile::open(&folder.path().join("control")).expect("it is there");
    let name = |name: &str| match name {
        "x" => Some("db".to_owned()),
        "other" => None,
        name => Some(name.to_owned()),
    };
    let trace = read_recording(&path, &control, base, &name).expect("it is complete");
    let write = |file, offset, bytes: &[u8]| FileOperation::Write { file, offset, bytes: bytes.to_vec() };
    assert_eq!(
        trace.operations,
        [
            write(0, 7, b"bbb"),
            FileOperation::Sync { file: 0 },
            FileOperation::Acknowledged(1),
            FileOperation::Create { name: "log".to_owned(), file: 1 },
            write(1, 0, b"onetwo"),
            FileOperation::Truncate { file: 0, size: 2_000 },
            FileOperation::Sync { file: 1 },
            FileOperation::SyncDirectory { folder: String::new() },
            FileOperation::Rename { from: "log".to_owned(), to: "log.old".to_owned(), file: 1 },
            write(1, 6, b"three"),
            FileOperation::Acknowledged(2),
            FileOperation::Unlink { name: "log.old".to_owned() },
            FileOperation::Truncate { file: 0, size: 0 },
        ]
    );
    let bytes = fs::read(&path).expect("it is there");
    fs::write(&path, &bytes[..bytes.len() - 1]).expect("can be written");
    let cut = read_recording(&path, &control, Directory::default(), &name).unwrap_err().to_string();
    assert_eq!(cut, "the recording is cut off");
}

/// Operations that the recorder does not see make a recording void.
#[test]
fn what_cannot_be_recorded_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("recording");
    fs::write(&path, []).expect("can be made");
    if run_in(folder.path(), "copied", None, Some(&path)).is_none() {
        return;
    }
    let control = ControlFile::open(&folder.path().join("control")).expect("it is there");
    let why = read_recording(&path, &control, Directory::default(), &|name| Some(name.to_owned())).unwrap_err();
    assert!(why.to_string().ends_with("/y is not recorded"), "{why}");
    let unloaded = ControlFile::create(&folder.path().join("other")).expect("can be made");
    let why = read_recording(&path, &unloaded, Directory::default(), &|_| None).unwrap_err();
    assert!(why.to_string().contains("could not be preloaded"), "{why}");
}
