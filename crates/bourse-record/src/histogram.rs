//! Histograms to and from the run file: HdrHistogram V2, uncompressed, in Base64.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{Distribution, LatencySummary};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

/// A histogram of a run file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistogramError {
    /// Not Base64.
    #[error("histogram is not base64: {0}")]
    Base64(String),
    /// Base64 of something else.
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
    /// A histogram of nanoseconds as the run file keeps it; `clamped` samples were beyond its range.
    pub fn of(histogram: &Histogram<u64>, clamped: u64) -> Self {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(histogram, &mut bytes).expect("a vector takes all that is written to it");
        Self { summary: LatencySummary::of(histogram), hdr_base64: STANDARD.encode(bytes), clamped }
    }

    /// The histogram, in nanoseconds.
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
    /// let kept = Distribution::of(&measured, 0);
    /// assert_eq!(kept.histogram().unwrap(), measured);
    /// ```
    pub fn histogram(&self) -> Result<Histogram<u64>, HistogramError> {
        let bytes = STANDARD.decode(&self.hdr_base64).map_err(|error| HistogramError::Base64(error.to_string()))?;
        Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| HistogramError::Form(error.to_string()))
    }

    /// All samples of several distributions, as of rounds or machines, together; nothing is lost.
    ///
    /// # Errors
    /// The first histogram that cannot be read, or that has other bounds than ours.
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
