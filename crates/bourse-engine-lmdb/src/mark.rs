//! The mark of a database that Bourse made: an empty tree with a reserved name, made with the file.
//!
//! It is looked for in the file's pages, without LMDB: merely opening an environment makes a lock file, and a file that is
//! damaged, or not a database, can crash the library.

use bourse_engine::{EngineError, FileOwner, TargetFile, beside};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// Name of the tree. Names of tables' trees contain a colon.
pub(crate) const MARK: &str = "bourse database";

/// Suffix of LMDB's lock file.
pub(crate) const LOCK_SUFFIX: &str = "-lock";

/// LMDB's magic number, of data and of lock files, and the version of its data files (`mdb.c`, `MDB_MAGIC`).
const MAGIC: u32 = 0xBEEF_C0DE;
const VERSION: u32 = 1;
/// Size of a machine word: pages are numbered by words, and stored in the machine's byte order.
const WORD: usize = size_of::<usize>();
/// Offsets in a page (`MDB_page`) and in one of the two meta pages (`MDB_meta`).
const PAGE_FLAGS: usize = WORD + 2;
const PAGE_LOWER: usize = WORD + 4;
const PAGE_HEADER: usize = WORD + 8;
const META_VERSION: usize = PAGE_HEADER + 4;
const META_PAGE_SIZE: usize = PAGE_HEADER + 8 + 2 * WORD;
const META_ROOT: usize = META_PAGE_SIZE + TREE + 8 + 4 * WORD;
const META_TRANSACTION: usize = META_PAGE_SIZE + 2 * TREE + WORD;
const META: usize = META_TRANSACTION + WORD;
/// Length of a tree's description (`MDB_db`).
const TREE: usize = 8 + 5 * WORD;
/// Flags of pages and of entries.
const BRANCH: u16 = 0x01;
const LEAF: u16 = 0x02;
const SUB_TREE: u16 = 0x02;
/// Limit on the height of a tree.
const DEPTH: usize = 32;

/// Finds out the owner of the file at a path.
///
/// # Errors
/// The system's.
pub(crate) fn look(path: &Path) -> Result<FileOwner, EngineError> {
    let file = match TargetFile::at(path) {
        Ok(file) => file,
        Err(e) => return FileOwner::refused(e),
    };
    // LMDB takes the file of its locks as its own, whatever is in it; one that a database left holds nothing.
    let lock = beside(file.path(), LOCK_SUFFIX);
    let start = match TargetFile::at(&lock).and_then(|lock| lock.start(4)) {
        Ok(start) => start,
        Err(e) => return FileOwner::refused(e),
    };
    if !start.is_empty() && start != MAGIC.to_ne_bytes() {
        return Ok(FileOwner::Foreign(format!(
            "{} is there and is no lock file of LMDB, which would overwrite it: move it away, or name another path",
            lock.display()
        )));
    }
    let shown = path.display();
    Ok(match file.read(|file| Ok(Some(examine(file)?)))? {
        None | Some(Content::Nothing) => FileOwner::Nobody(file.path().to_owned()),
        Some(Content::Ours) => FileOwner::Ours(file.path().to_owned()),
        Some(Content::Unmarked) => FileOwner::Foreign(format!(
            "{shown} is an LMDB database without Bourse's mark (a tree named \"{MARK}\"); if it was made by a version \
             that left no mark yet, delete it"
        )),
        Some(Content::Other) => FileOwner::Foreign(format!("{shown} is no LMDB database, or it is damaged")),
    })
}

/// Content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Nothing,
    Ours,
    Unmarked,
    Other,
}

fn examine(file: &mut File) -> io::Result<Content> {
    let mut latest = match Meta::latest(file)? {
        Ok(meta) => meta,
        Err(content) => return Ok(content),
    };
    loop {
        match latest.has_mark(file)? {
            Some(true) => return Ok(Content::Ours),
            found => match Meta::latest(file)? {
                // Another process has committed since: pages that were read may belong to another tree by now.
                Ok(now) if now.transaction != latest.transaction => latest = now,
                _ => return Ok(if found.is_some() { Content::Unmarked } else { Content::Other }),
            },
        }
    }
}

/// Fields of a meta page, which locates the trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Meta {
    page_size: usize,
    root: usize,
    transaction: usize,
}

impl Meta {
    /// Newer one of the two meta pages, or the content of a file without them.
    fn latest(file: &mut File) -> io::Result<Result<Self, Content>> {
        let Some(start) = page(file, 0, META)? else {
            let is_empty = file.metadata()?.len() == 0;
            return Ok(Err(if is_empty { Content::Nothing } else { Content::Other }));
        };
        let Some(first) = Self::read(&start) else { return Ok(Err(Content::Other)) };
        let second = page(file, first.page_size as u64, META)?.as_deref().and_then(Self::read);
        Ok(Ok(second.filter(|second| second.transaction > first.transaction).unwrap_or(first)))
    }

    fn read(page: &[u8]) -> Option<Self> {
        if number(page, PAGE_HEADER)? != MAGIC || number(page, META_VERSION)? != VERSION {
            return None;
        }
        let page_size = number(page, META_PAGE_SIZE)? as usize;
        if !page_size.is_power_of_two() || !(256..=65_536).contains(&page_size) {
            return None;
        }
        Some(Self { page_size, root: word(page, META_ROOT)?, transaction: word(page, META_TRANSACTION)? })
    }

    /// Whether the tree of all trees' names has Bourse's mark; `None` if its pages are inconsistent.
    fn has_mark(self, file: &mut File) -> io::Result<Option<bool>> {
        let mut at = self.root;
        if at == usize::MAX {
            return Ok(Some(false));
        }
        for _ in 0..DEPTH {
            let Some(offset) = (at as u64).checked_mul(self.page_size as u64) else { return Ok(None) };
            let Some(page) = page(file, offset, self.page_size)? else { return Ok(None) };
            match step(&page) {
                Some(Step::Down(child)) => at = child,
                Some(Step::End(found)) => return Ok(Some(found)),
                None => return Ok(None),
            }
        }
        Ok(None)
    }
}

/// Next step in the search for the mark.
enum Step {
    Down(usize),
    End(bool),
}

fn step(page: &[u8]) -> Option<Step> {
    let flags = short(page, PAGE_FLAGS)?;
    let count = usize::from(short(page, PAGE_LOWER)?).checked_sub(PAGE_HEADER)? / 2;
    let entry = |index: usize| {
        let entry = page.get(usize::from(short(page, PAGE_HEADER + 2 * index)?)..)?;
        let key = entry.get(8..8 + usize::from(short(entry, 6)?))?;
        Some((entry, key))
    };
    if flags & LEAF != 0 {
        for index in 0..count {
            let (entry, key) = entry(index)?;
            if key == MARK.as_bytes() {
                return Some(Step::End(short(entry, 4)? & SUB_TREE != 0));
            }
        }
        return Some(Step::End(false));
    }
    if flags & BRANCH == 0 {
        return None;
    }
    // The first entry covers all keys before the second.
    let mut child = None;
    for index in 0..count {
        let (entry, key) = entry(index)?;
        if index > 0 && key > MARK.as_bytes() {
            break;
        }
        let low = number(entry, 0)? as usize;
        let high = if WORD == 8 { usize::from(short(entry, 4)?) } else { 0 };
        child = Some(low | high.checked_shl(32).unwrap_or(0));
    }
    child.map(Step::Down)
}

/// Bytes of a file at an offset; `None` if it ends before.
fn page(file: &mut File, offset: u64, bytes: usize) -> io::Result<Option<Vec<u8>>> {
    let mut page = vec![0; bytes];
    file.seek(SeekFrom::Start(offset))?;
    match file.read_exact(&mut page) {
        Ok(()) => Ok(Some(page)),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(e) => Err(e),
    }
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from_ne_bytes(bytes.get(at..at + WORD)?.try_into().ok()?))
}
