//! Scales with ticks at round values.

use crate::units;
use serde::Serialize;

/// Unit of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AxisUnit {
    PerSecond,
    Bytes,
    /// Bytes in thousands and millions.
    DecimalBytes,
    BytesPerSecond,
    #[serde(rename = "ns")]
    Nanoseconds,
    /// A number, or seconds of usage per second.
    Count,
    /// A rate in few columns.
    Short,
}

impl AxisUnit {
    /// A value of a curve.
    pub(super) fn text(self, value: f64) -> String {
        match self {
            Self::PerSecond => format!("{}/s", units::significant(value, 3)),
            Self::Bytes => units::bytes(value),
            Self::DecimalBytes => units::decimal_bytes(value),
            Self::BytesPerSecond => format!("{}/s", units::bytes(value)),
            Self::Nanoseconds => units::duration_ns(value),
            Self::Count => units::significant(value, 3),
            Self::Short => units::short(value),
        }
    }

    /// A tick's label: as short as possible, since ticks are round.
    fn tick(self, value: f64) -> String {
        let text = self.text(value);
        let (number, unit) = match text.find([' ', '/']) {
            Some(at) => text.split_at(at),
            None => (text.as_str(), ""),
        };
        if self == Self::Short {
            return units::short(value).replace(".00", "").replace(".0", "");
        }
        let number = if number.contains('.') && !number.contains('e') {
            number.trim_end_matches('0').trim_end_matches('.')
        } else {
            number
        };
        // The axis says «a second» once; the labels need not.
        format!("{number}{}", unit.strip_suffix("/s").unwrap_or(unit))
    }

    /// Unit of which ticks are round multiples.
    fn base(self, span: f64) -> f64 {
        match self {
            Self::Bytes | Self::BytesPerSecond => {
                let mut base = 1.0;
                while base * 1024.0 <= span && base < 1e18 {
                    base *= 1024.0;
                }
                base
            }
            _ => 1.0,
        }
    }
}

/// Maps values to places between 0 and 1.
#[derive(Debug, Clone)]
pub(super) struct AxisScale {
    low: f64,
    high: f64,
    logarithmic: bool,
    /// Places with labels.
    pub(super) ticks: Vec<(f64, String)>,
}

impl AxisScale {
    /// Evenly spaced round ticks, about `count` of them, from 0 up to at least `high`.
    pub(super) fn linear(unit: AxisUnit, high: f64, count: f64) -> Self {
        let high = if high.is_finite() && high > 0.0 { high } else { 1.0 };
        let base = unit.base(high);
        let raw = high / base / count;
        let magnitude = 10_f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|step| step * magnitude >= raw * 0.999).unwrap_or(10.0);
        let step = step * magnitude * base;
        let steps = (high / step * 0.999_999).ceil().max(1.0) as u32;
        let ticks = (0..=steps).map(|at| f64::from(at) * step).map(|value| (value, unit.tick(value))).collect();
        Self { low: 0.0, high: f64::from(steps) * step, logarithmic: false, ticks }
    }

    /// Evenly spaced names, every so many of which has a label.
    pub(super) fn named(names: &[String], every: usize) -> Self {
        let ticks = names.iter().enumerate().step_by(every).map(|(at, name)| (at as f64, name.clone())).collect();
        Self { low: 0.0, high: names.len().saturating_sub(1).max(1) as f64, logarithmic: false, ticks }
    }

    /// Decades from at most `low` to at least `high`, both above 0; with many decades only some have a label.
    pub(super) fn logarithmic(unit: AxisUnit, low: f64, high: f64, count: usize) -> Self {
        let (low, high) = if low > 0.0 && high >= low && high.is_finite() { (low, high) } else { (1.0, 10.0) };
        let first = (low.log10() + 1e-9).floor() as i32;
        let last = ((high.log10() - 1e-9).ceil() as i32).max(first + 1);
        let every = ((last - first) as usize).div_ceil(count.max(1)).max(1);
        let label = |exponent: i32| {
            let value = 10_f64.powi(exponent);
            (value, unit.tick(value))
        };
        let ticks = (first..=last).step_by(every).map(label).collect();
        Self { low: 10_f64.powi(first), high: 10_f64.powi(last), logarithmic: true, ticks }
    }

    /// The scale, both ends above 0, from the steps 1, 2 and 5 of a decade next to `low` and `high`; each step has a label, or
    /// each decade if there are more than `count` steps.
    pub(super) fn close(unit: AxisUnit, low: f64, high: f64, count: usize) -> Self {
        let decades = Self::logarithmic(unit, low, high, usize::MAX);
        // Its ends are next to the values, or those of no values.
        let (low, high) = (low.clamp(decades.low, decades.high), high.clamp(decades.low, decades.high));
        let all: Vec<f64> =
            decades.ticks.iter().flat_map(|(value, _)| [1.0, 2.0, 5.0].map(|step| step * value)).collect();
        let first = all.iter().rposition(|step| *step <= low * 1.000_001).unwrap_or(0);
        let last = all.iter().position(|step| *step >= high * 0.999_999).unwrap_or(all.len() - 1).max(first + 1);
        let steps = &all[first..=last];
        let is_decade = |step: f64| decades.ticks.iter().any(|(value, _)| *value == step);
        let shown = steps.iter().filter(|step| steps.len() <= count || is_decade(**step));
        let ticks = shown.map(|step| (*step, unit.tick(*step))).collect();
        Self { low: steps[0], high: steps[steps.len() - 1], logarithmic: true, ticks }
    }

    /// Place of a value, from 0 to 1; values beyond the ends are placed at the ends.
    pub(super) fn place(&self, value: f64) -> f64 {
        let part = if self.logarithmic {
            (value.max(f64::MIN_POSITIVE).log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
        } else {
            (value - self.low) / (self.high - self.low)
        };
        part.clamp(0.0, 1.0)
    }

    pub(super) const fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &AxisScale) -> Vec<&str> {
        scale.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn a_close_scale_ends_next_to_its_values() {
        let of = |low, high| {
            let scale = AxisScale::close(AxisUnit::Short, low, high, 5);
            (scale.ends(), labels(&scale).join(" "))
        };
        assert_eq!(of(1_700.0, 10_500.0), ((1e3, 2e4), "1k 2k 5k 10k 20k".to_owned()));
        assert_eq!(of(5_300.0, 2.6e6), ((5e3, 5e6), "10k 100k 1M".to_owned()));
        assert_eq!(of(100.0, 100.0), ((100.0, 200.0), "100 200".to_owned()));
        assert_eq!(of(0.0, f64::INFINITY), ((1.0, 10.0), "1 2 5 10".to_owned()), "no values");
        assert_eq!(of(f64::MAX, 0.0), ((10.0, 20.0), "10 20".to_owned()), "no values");
    }

    #[test]
    fn ticks_are_round() {
        let cases: [(AxisScale, &[&str]); 7] = [
            (AxisScale::linear(AxisUnit::PerSecond, 97.0, 4.0), &["0", "25", "50", "75", "100"]),
            (AxisScale::linear(AxisUnit::PerSecond, 0.003, 3.0), &["0", "0.001", "0.002", "0.003"]),
            (AxisScale::linear(AxisUnit::Bytes, 1.5 * 1024.0 * 1024.0, 3.0), &["0 B", "512 KiB", "1 MiB", "1.5 MiB"]),
            (AxisScale::linear(AxisUnit::DecimalBytes, 1.5e9, 3.0), &["0 B", "500 MB", "1 GB", "1.5 GB"]),
            (AxisScale::linear(AxisUnit::Count, 0.0, 2.0), &["0", "0.5", "1"]),
            (
                AxisScale::logarithmic(AxisUnit::Nanoseconds, 40_000.0, 3e8, 8),
                &["10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"],
            ),
            (AxisScale::logarithmic(AxisUnit::Nanoseconds, 0.0, 0.0, 8), &["1 ns", "10 ns"]),
        ];
        for (scale, expected) in cases {
            assert_eq!(labels(&scale), expected);
        }
    }

    #[test]
    fn places_stay_within_the_axis() {
        for scale in
            [AxisScale::linear(AxisUnit::Count, 1e300, 4.0), AxisScale::logarithmic(AxisUnit::Count, 1e-300, 1e300, 4)]
        {
            for value in [-1.0, 0.0, 1e-300, 1.0, 1e300, f64::MAX] {
                assert!((0.0..=1.0).contains(&scale.place(value)), "{value} in {scale:?}");
            }
            assert!(scale.ticks.len() < 12, "{scale:?}");
        }
    }
}
