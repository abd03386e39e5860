//! Files and directories in memory. Copies share equal blocks.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use twox_hash::XxHash3_128;

/// Size of a block in bytes.
pub const BLOCK_BYTES: usize = 4_096;

/// Hash that identifies images: with 128 bits, two of a billion states are equal by chance once in 10^20 times.
pub type Hash = u128;

/// Block with its hash, computed at first use.
#[derive(Clone)]
struct HashedBlock {
    bytes: [u8; BLOCK_BYTES],
    hash: OnceLock<Hash>,
}

impl HashedBlock {
    fn zero() -> Self {
        Self { bytes: [0; BLOCK_BYTES], hash: OnceLock::new() }
    }

    fn hash(&self) -> Hash {
        *self.hash.get_or_init(|| XxHash3_128::oneshot(&self.bytes))
    }
}

/// Block of a file's part that was never written.
static ZERO: OnceLock<Arc<HashedBlock>> = OnceLock::new();

/// Contents of a file.
#[derive(Clone, Default)]
pub struct FileImage {
    size: u64,
    /// Blocks of the file; bytes behind its end are zero.
    blocks: Vec<Arc<HashedBlock>>,
}

impl std::fmt::Debug for FileImage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileImage").field("size", &self.size).finish_non_exhaustive()
    }
}

impl PartialEq for FileImage {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Arc<HashedBlock>, &Arc<HashedBlock>)| Arc::ptr_eq(a, b) || a.bytes == b.bytes;
        self.size == other.size && self.blocks.iter().zip(&other.blocks).all(same)
    }
}

impl Eq for FileImage {}

impl From<&[u8]> for FileImage {
    fn from(bytes: &[u8]) -> Self {
        let mut this = Self::default();
        this.write(0, bytes);
        this
    }
}

/// Splits a range of bytes at the blocks: yields each block's number, the range within it, and the range within the whole.
fn pieces(offset: u64, length: usize) -> impl Iterator<Item = (usize, std::ops::Range<usize>, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let within = (at % BLOCK_BYTES as u64) as usize;
        let piece = (BLOCK_BYTES - within).min(length - done);
        done += piece;
        (piece > 0).then(|| ((at / BLOCK_BYTES as u64) as usize, within..within + piece, done - piece..done))
    })
}

impl FileImage {
    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Copies the bytes from `offset` on; returns how many there were.
    pub fn read(&self, offset: u64, target: &mut [u8]) -> usize {
        let there = self.size.saturating_sub(offset).min(target.len() as u64) as usize;
        for (number, inside, outside) in pieces(offset, there) {
            target[outside].copy_from_slice(&self.blocks[number].bytes[inside]);
        }
        there
    }

    /// Writes bytes and extends the file if necessary; a gap reads as zeros.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        let end = offset + bytes.len() as u64;
        if end > self.size {
            self.set_size(end);
        }
        for (number, inside, outside) in pieces(offset, bytes.len()) {
            let block = Arc::make_mut(&mut self.blocks[number]);
            block.bytes[inside].copy_from_slice(&bytes[outside]);
            block.hash = OnceLock::new();
        }
    }

    /// Truncates or extends the file; added bytes read as zeros.
    pub fn set_size(&mut self, size: u64) {
        let blocks = size.div_ceil(BLOCK_BYTES as u64) as usize;
        if size < self.size {
            self.blocks.truncate(blocks);
            let within = (size % BLOCK_BYTES as u64) as usize;
            if let (Some(last), 1..) = (self.blocks.last_mut(), within) {
                let block = Arc::make_mut(last);
                block.bytes[within..].fill(0);
                block.hash = OnceLock::new();
            }
        } else {
            let zero = ZERO.get_or_init(|| Arc::new(HashedBlock::zero()));
            self.blocks.resize_with(blocks, || Arc::clone(zero));
        }
        self.size = size;
    }

    /// Blocks that were ever written, each with its position; bytes behind the end of the file are left out.
    pub fn written(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let is_zero = |block: &Arc<HashedBlock>| ZERO.get().is_some_and(|zero| Arc::ptr_eq(zero, block));
        let blocks = (0_u64..).step_by(BLOCK_BYTES).zip(&self.blocks).filter(move |(_, block)| !is_zero(block));
        blocks.map(|(at, block)| (at, &block.bytes[..BLOCK_BYTES.min((self.size - at) as usize)]))
    }

    /// Contents as one vector.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.size as usize];
        self.read(0, &mut bytes);
        bytes
    }

    /// Hash of size and bytes.
    pub fn hash(&self) -> Hash {
        self.blocks.iter().fold(Hash::from(self.size), |hash, block| mix(hash, block.hash()))
    }
}

/// Combines two hashes; the order matters.
fn mix(a: Hash, b: Hash) -> Hash {
    const ODD: Hash = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
    (a.rotate_left(29) ^ b).wrapping_mul(ODD)
}

/// Files by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Directory {
    /// Contents of each file.
    pub files: BTreeMap<String, FileImage>,
}

impl Directory {
    /// Hash of all names and files.
    pub fn hash(&self) -> Hash {
        self.files
            .iter()
            .fold(0, |hash, (name, file)| mix(mix(hash, XxHash3_128::oneshot(name.as_bytes())), file.hash()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Equivalence of an image and a vector of bytes: the same operations give the same bytes, and equal hashes mean equal
        /// bytes.
        #[test]
        fn an_image_is_its_bytes(steps in proptest::collection::vec((0u64..20_000, proptest::option::of(1usize..9_000)), 1..12)) {
            let (mut image, mut plain) = (FileImage::default(), Vec::<u8>::new());
            let mut before = None;
            for (number, (place, length)) in steps.into_iter().enumerate() {
                match length {
                    Some(length) => {
                        let bytes = vec![number as u8 + 1; length];
                        let end = place as usize + length;
                        plain.resize(plain.len().max(end), 0);
                        plain[place as usize..end].copy_from_slice(&bytes);
                        image.write(place, &bytes);
                    }
                    None => {
                        plain.resize(place as usize, 0);
                        image.set_size(place);
                    }
                }
                prop_assert_eq!(&image.to_bytes(), &plain);
                prop_assert_eq!(image.hash(), FileImage::from(&plain[..]).hash());
                let hash = image.hash();
                if let Some((bytes, old)) = before.replace((plain.clone(), hash)) {
                    prop_assert_eq!(bytes == plain, old == hash);
                }
            }
        }
    }

    #[test]
    fn a_copy_is_not_changed_with_its_original() {
        let mut image = FileImage::from(&[1; 5_000][..]);
        let copy = image.clone();
        image.write(10, &[2]);
        assert_eq!(copy.to_bytes(), [1; 5_000]);
        assert_ne!(copy.hash(), image.hash());
        assert_ne!(copy, image);
    }

    #[test]
    fn a_directory_s_hash_depends_on_the_names() {
        let named = |name: &str| Directory { files: [(name.to_owned(), FileImage::default())].into() };
        assert_ne!(named("a").hash(), named("b").hash());
        assert_eq!(named("a").hash(), named("a").hash());
    }
}
