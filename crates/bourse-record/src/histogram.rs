//! Conversion of histograms to and from the run file's form: HdrHistogram V2, uncompressed, in Base64.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{Distribution, LatencySummary};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

/// Error of reading a histogram of a run file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistogramError {
    /// Not Base64.
    #[error("histogram is not base64: {0}")]
    Base64(String),
    /// Valid Base64 of something other than a histogram.
    #[error("histogram is not in HdrHistogram's V2 form: {0}")]
    Form(String),
}

impl LatencySummary {
    /// The quantiles of a histogram of nanoseconds; all 0 if it is empty.
    pub fn of(histogram: &Histogram<u64>) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        Self {
            count: histogram.len(),
            min_ns: histogram.min(),
            mean_ns: histogram.mean(),
            p50_ns: histogram.value_at_quantile(0.50),
            p90_ns: histogram.value_at_quantile(0.90),
            p95_ns: histogram.value_at_quantile(0.95),
            p99_ns: histogram.value_at_quantile(0.99),
            p999_ns: histogram.value_at_quantile(0.999),
            max_ns: histogram.max(),
        }
    }
}

impl Distribution {
    /// Distribution in the run file's form; `clamped` is the number of samples beyond the range.
    pub fn of(histogram: &Histogram<u64>, clamped: u64) -> Self {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(histogram, &mut bytes).expect("a vector takes all that is written to it");
        Self { summary: LatencySummary::of(histogram), hdr_base64: STANDARD.encode(bytes), clamped }
    }

    /// Decodes the histogram, in nanoseconds.
    ///
    /// # Errors
    /// The text is not Base64 of an HdrHistogram V2 document.
    ///
    /// ```
    /// use bourse_record::Distribution;
    /// use hdrhistogram::Histogram;
    ///
    /// let mut measured = Histogram::new(3).unwrap();
    /// measured.record(1_500_000).unwrap();
    /// let stored = Distribution::of(&measured, 0);
    /// assert_eq!(stored.histogram().unwrap(), measured);
    /// ```
    pub fn histogram(&self) -> Result<Histogram<u64>, HistogramError> {
        let bytes = STANDARD.decode(&self.hdr_base64).map_err(|error| HistogramError::Base64(error.to_string()))?;
        Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| HistogramError::Form(error.to_string()))
    }

    /// Merges the samples of several distributions, as of rounds or machines, without loss.
    ///
    /// # Errors
    /// The first histogram that cannot be read or has a different range.
    pub fn merged<'a>(all: impl IntoIterator<Item = &'a Self>) -> Result<Self, HistogramError> {
        let mut sum = crate::Counts::new().histogram();
        let mut clamped = 0;
        for one in all {
            sum.add(one.histogram()?).map_err(|error| HistogramError::Form(error.to_string()))?;
            clamped = u64::saturating_add(clamped, one.clamped);
        }
        Ok(Self::of(&sum, clamped))
    }
}
