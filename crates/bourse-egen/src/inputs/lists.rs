//! The two kinds of lists that random numbers pick from.

use super::InputError;
use super::read::{File, InputLine};
use crate::Rng;

/// Records with weights: some are picked more often than others.
#[derive(Debug, Clone)]
pub struct WeightedRecords<T> {
    records: Vec<T>,
    /// Index of the record for each weighted index.
    picks: Vec<u32>,
}

impl<T> WeightedRecords<T> {
    /// A list of records with their weights.
    pub(super) fn new(weighted: Vec<(u32, T)>) -> Self {
        let mut picks = Vec::new();
        let mut records = Vec::with_capacity(weighted.len());
        for (weight, record) in weighted {
            picks.extend(std::iter::repeat_n(records.len() as u32, weight as usize));
            records.push(record);
        }
        Self { records, picks }
    }

    /// Reads a file whose first column is the weight.
    pub(super) fn read<'a>(
        file: &File<'a>,
        mut each: impl FnMut(&InputLine<'a>) -> Result<T, InputError>,
    ) -> Result<Self, InputError> {
        // The bound on a weight prevents a typing error from exhausting the memory.
        file.read(|record| Ok((record.whole(0, 1..=1_000_000)?, each(record)?))).map(Self::new)
    }

    /// Every record once, in the order of the file.
    pub fn records(&self) -> &[T] {
        &self.records
    }

    /// Sum of the weights: the number of weighted indices.
    pub fn total(&self) -> u64 {
        self.picks.len() as u64
    }

    /// Record for a weighted index.
    ///
    /// # Panics
    /// Panics if the index is not below [`total`](Self::total).
    #[inline]
    pub fn at(&self, index: u64) -> &T {
        &self.records[self.picks[index as usize] as usize]
    }

    /// Record that the next random number picks.
    #[inline]
    pub fn pick(&self, rng: &mut Rng) -> &T {
        self.at(rng.below(self.total()))
    }
}

/// Records in groups, the groups numbered from 1.
#[derive(Debug, Clone)]
pub struct BucketedRecords<T> {
    records: Vec<T>,
    /// Start of each bucket, followed by the end of the last one.
    starts: Vec<usize>,
}

impl<T> BucketedRecords<T> {
    /// Reads a file whose first column is the bucket, in order and without gaps, and checks the number of buckets.
    pub(super) fn read<'a>(
        file: &File<'a>,
        buckets: usize,
        mut each: impl FnMut(&InputLine<'a>) -> Result<T, InputError>,
    ) -> Result<Self, InputError> {
        let mut starts: Vec<usize> = Vec::new();
        let mut count = 0;
        let records = file.read(|record| {
            let bucket: usize = record.whole(0, 1..=buckets)?;
            let current = starts.len();
            if bucket == current + 1 {
                starts.push(count);
            } else if bucket != current {
                let expected =
                    format!("{} or {} (buckets are sorted and none is left out)", current.max(1), current + 1);
                return Err(record.wrong(0, expected));
            }
            count += 1;
            each(record)
        })?;
        if starts.len() != buckets {
            return Err(file.wrong(format!("{buckets} buckets"), starts.len()));
        }
        starts.push(count);
        Ok(Self { records, starts })
    }

    /// Every record, in the order of the file.
    pub fn records(&self) -> &[T] {
        &self.records
    }

    /// Number of buckets.
    pub fn buckets(&self) -> usize {
        self.starts.len() - 1
    }

    /// Records of a bucket, counted from 1.
    ///
    /// # Panics
    /// Panics if there is no such bucket.
    pub fn bucket(&self, number: usize) -> &[T] {
        &self.records[self.starts[number - 1]..self.starts[number]]
    }
}
