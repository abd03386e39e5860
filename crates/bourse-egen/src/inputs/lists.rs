//! The two kinds of lists that random numbers pick from.

use super::InputError;
use super::read::{File, Record};
use crate::Rng;

/// Records of which some are picked more often than others.
#[derive(Debug, Clone)]
pub struct Weighted<T> {
    records: Vec<T>,
    /// For each weighted index the record it picks.
    picks: Vec<u32>,
}

impl<T> Weighted<T> {
    /// From records with their weights.
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
        mut each: impl FnMut(&Record<'a>) -> Result<T, InputError>,
    ) -> Result<Self, InputError> {
        // A weight's bound only keeps a slip of the pen from taking all memory.
        file.read(|record| Ok((record.whole(0, 1..=1_000_000)?, each(record)?))).map(Self::new)
    }

    /// Every record once, in the order of the file.
    pub fn records(&self) -> &[T] {
        &self.records
    }

    /// The sum of the weights: how many weighted indices there are.
    pub fn total(&self) -> u64 {
        self.picks.len() as u64
    }

    /// The record a weighted index picks.
    ///
    /// # Panics
    /// If the index is not below [`total`](Self::total).
    #[inline]
    pub fn at(&self, index: u64) -> &T {
        &self.records[self.picks[index as usize] as usize]
    }

    /// The record that the next random number picks.
    #[inline]
    pub fn pick(&self, rng: &mut Rng) -> &T {
        self.at(rng.below(self.total()))
    }
}

/// Records in groups, the groups numbered from 1.
#[derive(Debug, Clone)]
pub struct Bucketed<T> {
    records: Vec<T>,
    /// Where each bucket begins, and where the last one ends.
    starts: Vec<usize>,
}

impl<T> Bucketed<T> {
    /// Reads a file whose first column is the bucket, in order and without gaps, and that has so many buckets.
    pub(super) fn read<'a>(
        file: &File<'a>,
        buckets: usize,
        mut each: impl FnMut(&Record<'a>) -> Result<T, InputError>,
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

    /// How many buckets there are.
    pub fn buckets(&self) -> usize {
        self.starts.len() - 1
    }

    /// The records of a bucket, counted from 1.
    ///
    /// # Panics
    /// If there is no such bucket.
    pub fn bucket(&self, number: usize) -> &[T] {
        &self.records[self.starts[number - 1]..self.starts[number]]
    }
}
