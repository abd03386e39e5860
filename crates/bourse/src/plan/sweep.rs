//! Sweep of an option: one value after another; every combination of all sweeps is a case of its own.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // reads untrusted input

use crate::failure::{Failure, Result};
use bourse_serve::Address;

/// Option with the values that it takes in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sweep {
    /// Name of the option.
    pub(crate) name: String,
    /// Values, in order.
    pub(crate) values: Vec<String>,
}

impl Sweep {
    /// Parses a sweep: `threads=1,2,4`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        Self::split(text).ok_or_else(|| {
            Failure::usage(format!("invalid value '{text}' for --sweep: expected OPTION=A,B,C, as threads=1,2,4"))
        })
    }

    /// Parses an option with its one value, as `--set` takes it: `threads=4`.
    pub(crate) fn parse_one(text: &str) -> Result<(String, String)> {
        let refused = |wanted: &str| Failure::usage(format!("invalid value '{text}' for --set: expected {wanted}"));
        let Self { name, mut values } = Self::split(text).ok_or_else(|| refused("OPTION=VALUE, as threads=4"))?;
        match (values.pop(), values.is_empty()) {
            (Some(value), true) => Ok((name, value)),
            _ => Err(refused("one value").hint(format!("use --sweep {text} for several"))),
        }
    }

    /// Name and values of a text; `None` if a part is missing.
    fn split(text: &str) -> Option<Self> {
        let (name, values) = text.split_once('=')?;
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        let name = name.trim();
        (!name.is_empty() && !values.iter().any(String::is_empty)).then(|| Self { name: name.to_owned(), values })
    }

    /// Reads several.
    pub(crate) fn parse_all(texts: &[String]) -> Result<Vec<Self>> {
        texts.iter().map(|text| Self::parse(text)).collect()
    }
}

/// Every combination of the sweeps' values: the last sweep's change fastest. One empty combination without sweeps.
pub(crate) fn combinations(sweeps: &[Sweep]) -> Vec<Vec<(&str, &str)>> {
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

/// A target with one option set: replaced if the URL has it, otherwise added.
pub(crate) fn with_option(target: &str, name: &str, value: &str) -> String {
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

/// A target with swept options that the workload does not have, which passes a check. `own` are the options that the workload
/// has.
pub(super) fn with_options(
    target: &str,
    swept: &[(&str, &str)],
    own: &[&str],
    check: impl Fn(&str) -> Result<()>,
) -> Result<String> {
    if let (true, Some((name, _))) = (Address::has_scheme(target), swept.first()) {
        return Err(not_through_server(name, target));
    }
    let chosen = swept.iter().fold(target.to_owned(), |target, (name, value)| with_option(&target, name, value));
    check(&chosen).map(|()| chosen).map_err(|failure| match !swept.is_empty() && check(target).is_ok() {
        true => failure.hint(format!("--sweep takes options of the target, and {}", own.join(", "))),
        false => failure,
    })
}

/// Failure of a sweep that a server cannot follow.
pub(super) fn not_through_server(name: &str, target: &str) -> Failure {
    Failure::usage(format!(
        "--sweep {name}: sizes and settings cannot be swept through a server, and {target} has already opened its database"
    ))
    .hint("serve each setting or size on its own port and name these servers; what belongs to the driver can be swept, as users and rate")
}

/// A case of each target, or of the default one, with each combination of the sweeps.
pub(super) fn on_each<C>(
    targets: &[String],
    sweeps: &[Sweep],
    case: impl Fn(Option<&String>, &[(&str, &str)]) -> Result<C>,
) -> Result<Vec<C>> {
    let named: Vec<Option<&String>> = if targets.is_empty() { vec![None] } else { targets.iter().map(Some).collect() };
    let mut planned = Vec::new();
    for target in named {
        for chosen in combinations(sweeps) {
            planned.push(case(target, &chosen)?);
        }
    }
    Ok(planned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_is_an_option_with_its_values() {
        let sweep = Sweep::parse("journal=delete, wal").unwrap();
        assert_eq!((sweep.name.as_str(), sweep.values), ("journal", vec!["delete".to_owned(), "wal".to_owned()]));
        for text in ["journal", "journal=", "journal=wal,", "=wal", ""] {
            assert!(Sweep::parse(text).unwrap_err().render().contains("for --sweep: expected OPTION=A,B,C"), "{text}");
            let set = Sweep::parse_one(text).unwrap_err().render();
            assert!(set.contains("for --set: expected OPTION=VALUE") && !set.contains("--sweep"), "{text}: {set}");
        }
        assert_eq!(Sweep::parse_one("rows = 1M").unwrap(), ("rows".to_owned(), "1M".to_owned()));
        let several = Sweep::parse_one("rows=1,2").unwrap_err().render();
        assert!(several.contains("expected one value") && several.contains("--sweep rows=1,2"), "{several}");
    }

    #[test]
    fn the_last_sweep_changes_fastest() {
        let sweeps = Sweep::parse_all(&["a=1,2".to_owned(), "b=x,y".to_owned()]).unwrap();
        let all: Vec<String> = combinations(&sweeps)
            .iter()
            .map(|each| each.iter().map(|(name, value)| format!("{name}{value}")).collect())
            .collect();
        assert_eq!(all, ["a1bx", "a1by", "a2bx", "a2by"]);
        assert_eq!(combinations(&[]), [[]]);
    }

    #[test]
    fn an_option_of_a_target_is_replaced_or_added() {
        assert_eq!(with_option("sqlite:x.db", "journal", "wal"), "sqlite:x.db?journal=wal");
        let replaced = with_option("sqlite:x.db?journal=delete&sync=off", "journal", "wal");
        assert_eq!(replaced, "sqlite:x.db?sync=off&journal=wal");
    }
}
