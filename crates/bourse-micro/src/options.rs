//! Options of workloads, as data: help, parsing and sweeps read the same table. Every value has a text form, equal on a
//! command line, in a sweep and in a data file.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use bourse_engine::did_you_mean;
use bourse_record::{grouped, whole_number};
use std::collections::BTreeMap;
use thiserror::Error;

/// An option of a workload.
#[derive(Debug)]
pub struct WorkloadOption {
    /// Name, as in `rows=100000`.
    pub name: &'static str,
    /// Values of the option.
    pub kind: OptionKind,
    /// Default value, as typed.
    pub default: &'static str,
    /// Meaning, in one sentence without full stop.
    pub meaning: &'static str,
}

/// An option of a workload: its name, its values, the default and the meaning.
macro_rules! option {
    ($name:expr => $kind:expr, $default:expr, $meaning:expr) => {
        $crate::options::WorkloadOption { name: $name, kind: $kind, default: $default, meaning: $meaning }
    };
}
pub(crate) use option;

/// Values that an option takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OptionKind {
    /// An integer from `min` to `max`; `100_000`, `100k` and `1M` are understood.
    Count {
        /// Minimum.
        min: u64,
        /// Maximum.
        max: u64,
    },
    /// An integer as of `Count`, or this word.
    CountOr {
        /// Word in place of a number.
        word: &'static str,
        /// Minimum.
        min: u64,
        /// Maximum.
        max: u64,
    },
    /// A number above 0 and up to 1.
    Fraction,
    /// One of several words.
    Word(&'static [&'static str]),
    /// Any text; the words describe it.
    Text(&'static str),
}

/// A switch: `on` or `off`.
pub const SWITCH: OptionKind = OptionKind::Word(&["on", "off"]);

impl OptionKind {
    /// Description of the values, for help and errors.
    pub fn values(self) -> String {
        match self {
            Self::Count { min, max } => range(min, max),
            Self::CountOr { word, min, max } => format!("{}, or {word}", range(min, max)),
            Self::Fraction => "a number above 0 and up to 1".to_owned(),
            Self::Word([first, second]) => format!("{first} or {second}"),
            Self::Word(words) => words.join(", "),
            Self::Text(what) => what.to_owned(),
        }
    }

    /// Value in its normal form; `None` if it is invalid.
    pub(crate) fn normal(self, text: &str) -> Option<String> {
        let counted =
            |min, max| whole_number(text).filter(|number| (min..=max).contains(number)).map(|it| it.to_string());
        match self {
            Self::Count { min, max } => counted(min, max),
            Self::CountOr { word, .. } if text == word => Some(word.to_owned()),
            Self::CountOr { min, max, .. } => counted(min, max),
            Self::Fraction => {
                let number: f64 = text.parse().ok()?;
                (number > 0.0 && number <= 1.0).then(|| number.to_string())
            }
            Self::Word(words) => words.contains(&text).then(|| text.to_owned()),
            Self::Text(_) => (!text.is_empty()).then(|| text.to_owned()),
        }
    }
}

fn range(min: u64, max: u64) -> String {
    let (least, most) = (grouped(min), grouped(max));
    if max == u64::MAX { format!("{least} or more") } else { format!("an integer from {least} to {most}") }
}

/// Error of a workload's name or of its options.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OptionError {
    /// The workload does not exist.
    #[error("unknown workload '{name}'{hint}\nworkloads: {known}")]
    Workload {
        /// Name as typed.
        name: String,
        /// `; did you mean …`, or nothing.
        hint: String,
        /// Names of all workloads.
        known: String,
    },
    /// The option does not exist.
    #[error("unknown option '{name}' for {workload}{hint}\noptions of {workload}: {known}")]
    Unknown {
        /// Name of the workload.
        workload: &'static str,
        /// Name as typed.
        name: String,
        /// `; did you mean …`, or nothing.
        hint: String,
        /// Names of all options.
        known: String,
    },
    /// The value of an option is invalid.
    #[error("invalid value '{value}' for '{name}' of {workload}: expected {expected}")]
    Value {
        /// Name of the workload.
        workload: &'static str,
        /// Name of the option.
        name: &'static str,
        /// Value as typed.
        value: String,
        /// Permitted values.
        expected: String,
    },
    /// A file that an option names cannot be read or used.
    #[error("{place}: {what}")]
    File {
        /// Path of the file, with the line if known.
        place: String,
        /// Defect, and the expected form.
        what: String,
    },
    /// The values cannot be combined.
    #[error("{workload}: {what}")]
    Combination {
        /// Name of the workload.
        workload: &'static str,
        /// Values, and the reason.
        what: String,
    },
}

/// Effective options of a workload: every one has a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadOptions {
    workload: &'static str,
    values: BTreeMap<&'static str, String>,
}

impl WorkloadOptions {
    /// Applies given values over the defaults.
    ///
    /// # Errors
    /// The option is unknown, or its value is invalid.
    pub fn parse<'g>(
        workload: &'static str,
        specs: &'static [WorkloadOption],
        given: impl IntoIterator<Item = (&'g str, &'g str)>,
    ) -> Result<Self, OptionError> {
        let mut values: BTreeMap<_, _> = specs.iter().map(|spec| (spec.name, spec.default.to_owned())).collect();
        for (name, value) in given {
            let spec = specs.iter().find(|spec| spec.name == name).ok_or_else(|| OptionError::Unknown {
                workload,
                name: name.to_owned(),
                hint: did_you_mean(name, specs.iter().map(|spec| spec.name)),
                known: specs.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", "),
            })?;
            let normal = spec.kind.normal(value).ok_or_else(|| OptionError::Value {
                workload,
                name: spec.name,
                value: value.to_owned(),
                expected: spec.kind.values(),
            })?;
            values.insert(spec.name, normal);
        }
        Ok(Self { workload, values })
    }

    /// Options with their values, by name.
    pub fn effective(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.values.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// Whether the workload has that option.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Value of an option as text.
    ///
    /// # Panics
    /// Panics if the workload has no such option: a defect of the workload.
    pub fn text(&self, name: &str) -> &str {
        self.values.get(name).unwrap_or_else(|| panic!("{} asks for an option {name} it does not have", self.workload))
    }

    /// Value of an option as a number.
    pub fn count(&self, name: &str) -> u64 {
        self.text(name).parse().expect("numbers were checked when they were given")
    }

    /// Value of an option as a number; `None` for the word in its place.
    pub fn count_or(&self, name: &str) -> Option<u64> {
        self.text(name).parse().ok()
    }

    /// Value of an option as a number of things in memory.
    pub fn size(&self, name: &str) -> usize {
        usize::try_from(self.count(name)).unwrap_or(usize::MAX)
    }

    /// Value of an option as a part of one.
    pub fn fraction(&self, name: &str) -> f64 {
        self.text(name).parse().expect("fractions were checked when they were given")
    }

    /// Whether the option has that word as its value.
    pub fn is(&self, name: &str, word: &str) -> bool {
        self.text(name) == word
    }

    /// Error for values that cannot be combined.
    pub fn refuse(&self, what: impl Into<String>) -> OptionError {
        OptionError::Combination { workload: self.workload, what: what.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static SPECS: &[WorkloadOption] = &[
        WorkloadOption { name: "rows", kind: OptionKind::Count { min: 1, max: 1_000_000 }, default: "10", meaning: "" },
        option!("batch" => OptionKind::CountOr { word: "auto", min: 1, max: 9 }, "auto", ""),
        WorkloadOption { name: "part", kind: OptionKind::Fraction, default: "1", meaning: "" },
        WorkloadOption { name: "pinned", kind: SWITCH, default: "off", meaning: "" },
    ];

    fn parse(given: &[(&'static str, &'static str)]) -> Result<WorkloadOptions, String> {
        WorkloadOptions::parse("test", SPECS, given.iter().copied()).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_read_as_people_write_them() {
        let options = parse(&[("rows", "100_0"), ("rows", "20k"), ("batch", "3"), ("part", "0.1")]).unwrap();
        assert_eq!((options.count("rows"), options.count_or("batch")), (20_000, Some(3)));
        assert_eq!(options.fraction("part"), 0.1);
        assert!(options.is("pinned", "off"));
        assert_eq!(parse(&[]).unwrap().count_or("batch"), None);
        assert_eq!(parse(&[("rows", "1M")]).unwrap().count("rows"), 1_000_000);
    }

    #[test]
    fn what_is_not_known_is_refused_with_what_is() {
        let check = |name, value, expected: &str| assert_eq!(parse(&[(name, value)]).unwrap_err(), expected);
        check(
            "row",
            "1",
            "unknown option 'row' for test; did you mean 'rows'?\noptions of test: rows, batch, part, pinned",
        );
        check("rows", "2M", "invalid value '2M' for 'rows' of test: expected an integer from 1 to 1,000,000");
        check("rows", "-1", "invalid value '-1' for 'rows' of test: expected an integer from 1 to 1,000,000");
        check("batch", "0", "invalid value '0' for 'batch' of test: expected an integer from 1 to 9, or auto");
        check("part", "nan", "invalid value 'nan' for 'part' of test: expected a number above 0 and up to 1");
        check("pinned", "yes", "invalid value 'yes' for 'pinned' of test: expected on or off");
    }
}
