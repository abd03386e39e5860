//! One option after another through its values: every combination of all sweeps is a case of its own.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use thiserror::Error;

/// An option with the values it is to take in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// The option.
    pub name: String,
    /// Its values, in order.
    pub values: Vec<String>,
}

/// What was given is no sweep.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0:?} is no sweep: write an option with its values, as threads=1,2,4")]
pub struct SweepError(String);

impl std::str::FromStr for Sweep {
    type Err = SweepError;

    /// ```
    /// use bourse_micro::sweep::Sweep;
    /// let sweep: Sweep = "journal=delete,wal".parse().unwrap();
    /// assert_eq!((sweep.name.as_str(), sweep.values.len()), ("journal", 2));
    /// assert!("journal".parse::<Sweep>().is_err() && "journal=wal,".parse::<Sweep>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, SweepError> {
        let refuse = || SweepError(text.to_owned());
        let (name, values) = text.split_once('=').ok_or_else(refuse)?;
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        let name = name.trim();
        if name.is_empty() || values.iter().any(String::is_empty) {
            return Err(refuse());
        }
        Ok(Self { name: name.to_owned(), values })
    }
}

/// Every combination: the last sweep's values change fastest. One empty combination without sweeps.
///
/// ```
/// use bourse_micro::sweep::combinations;
/// let sweeps = ["a=1,2".parse().unwrap(), "b=x,y".parse().unwrap()];
/// let all: Vec<String> = combinations(&sweeps)
///     .iter()
///     .map(|each| each.iter().map(|(name, value)| format!("{name}{value}")).collect())
///     .collect();
/// assert_eq!(all, ["a1bx", "a1by", "a2bx", "a2by"]);
/// ```
pub fn combinations(sweeps: &[Sweep]) -> Vec<Vec<(&str, &str)>> {
    sweeps.iter().fold(vec![Vec::new()], |so_far, sweep| {
        so_far
            .iter()
            .flat_map(|before| {
                sweep.values.iter().map(move |value| {
                    let mut all = before.clone();
                    all.push((sweep.name.as_str(), value.as_str()));
                    all
                })
            })
            .collect()
    })
}

/// A target with one option set: replaced where the URL has it, added where it has not.
///
/// ```
/// use bourse_micro::sweep::with_option;
/// assert_eq!(with_option("sqlite:x.db", "journal", "wal"), "sqlite:x.db?journal=wal");
/// assert_eq!(with_option("sqlite:x.db?journal=delete&sync=off", "journal", "wal"), "sqlite:x.db?sync=off&journal=wal");
/// ```
pub fn with_option(target: &str, name: &str, value: &str) -> String {
    let (place, query) = target.split_once('?').unwrap_or((target, ""));
    let mut options: Vec<&str> = query.split('&').filter(|option| !option.is_empty()).collect();
    options.retain(|option| option.split('=').next() != Some(name));
    let mut url = format!("{place}?");
    for option in options {
        url.push_str(option);
        url.push('&');
    }
    url.push_str(&format!("{name}={value}"));
    url
}
