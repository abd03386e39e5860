//! Property files of YCSB's core workload, as options of the workload `ycsb`.
//!
//! Source: the comments of YCSB's class `CoreWorkload` and of its file `workload_template` (github.com/brianfrankcooper/YCSB).
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use super::mix::{Action, MixOperation};
use crate::options::OptionError;
use Action::{Insert, Read, ReadModifyWrite, Scan, Set};
use bourse_engine::did_you_mean;

/// Operations of a mix: name, property with its share, action, and the share where nothing is said.
const OPERATIONS: [(&str, &str, Action, &str); 5] = [
    ("read", "readproportion", Read, "0.95"),
    ("update", "updateproportion", Set, "0.05"),
    ("insert", "insertproportion", Insert, "0"),
    ("scan", "scanproportion", Scan, "0"),
    ("read-modify-write", "readmodifywriteproportion", ReadModifyWrite, "0"),
];

/// Effect of a property.
enum Effect {
    /// The value of this option.
    Sets(&'static str),
    /// A share of the mix.
    Share,
    /// The work is the same with this value alone; the words are advice for another one.
    Only(&'static str, &'static str),
    /// The work is the same with any value; the words are the reason.
    Unused(&'static str),
}
use Effect::{Only, Sets, Share, Unused};

const RUN_ENDS: &str = "time ends a round, or --count";
const ALONE: &str = "records are numbered from the first";

/// Properties that are known.
const PROPERTIES: &[(&str, Effect)] = &[
    ("recordcount", Sets("rows")),
    ("fieldcount", Sets("fields")),
    ("fieldlength", Sets("field_length")),
    ("requestdistribution", Sets("keys")),
    ("maxscanlength", Sets("length")),
    ("threadcount", Sets("threads")),
    ("readproportion", Share),
    ("updateproportion", Share),
    ("insertproportion", Share),
    ("scanproportion", Share),
    ("readmodifywriteproportion", Share),
    ("operationcount", Unused(RUN_ENDS)),
    ("maxexecutiontime", Unused("--for is the time of a round")),
    ("table", Unused("the table is usertable")),
    ("workload", Only("CoreWorkload", "of YCSB's classes this one alone is known")),
    ("db", Unused("the target names the database")),
    ("fieldnameprefix", Unused("fields are field0, field1 …")),
    ("zeropadding", Unused("keys have 28 characters")),
    ("insertstart", Only("0", ALONE)),
    ("readallfields", Only("true", "a read returns all fields")),
    ("writeallfields", Only("false", "an update replaces one field")),
    ("fieldlengthdistribution", Only("constant", "all fields are equally long")),
    ("minfieldlength", Unused("all fields are equally long")),
    ("scanlengthdistribution", Only("uniform", "lengths of scans are equally likely")),
    ("minscanlength", Only("1", "the shortest scan has one record")),
    ("insertorder", Only("hashed", "records are inserted in an order unlike that of their keys")),
    ("dataintegrity", Only("false", "Bourse checks every row that it reads; leave it out")),
    ("target", Only("0", "--rate N is the rate in operations a second")),
];

/// A property file: values of options, and notes on properties without an effect.
#[derive(Debug, Default)]
pub(crate) struct Properties {
    pub(crate) options: Vec<(&'static str, String)>,
    pub(super) notes: Vec<String>,
}

impl Properties {
    /// Reads a file.
    ///
    /// # Errors
    /// [`OptionError::File`] with the line, for properties that would change the work.
    pub(crate) fn read(path: &str) -> Result<Self, OptionError> {
        let text = bourse_record::regular_text(path.as_ref())
            .map_err(|error| OptionError::File { place: path.to_owned(), what: format!("cannot be read: {error}") })?;
        Self::parse(path, &text)
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub(super) fn parse(path: &str, text: &str) -> Result<Self, OptionError> {
        let (mut this, mut shares) = (Self::default(), OPERATIONS.map(|(_, _, _, usual)| usual.to_owned()));
        for (line, text) in (1_usize..).zip(text.strip_prefix('\u{feff}').unwrap_or(text).lines()) {
            let text = text.trim();
            if text.is_empty() || text.starts_with(['#', '!']) {
                continue;
            }
            let fault = |what: String| OptionError::File { place: format!("{path}, line {line}"), what };
            if text.ends_with('\\') {
                return Err(fault("a line that continues is not read: write the property on one line".to_owned()));
            }
            let (name, value) = text.split_once(['=', ':', ' ', '\t']).unwrap_or((text, ""));
            // A blank separates too, and may stand before the sign that does.
            let value = value.trim_start();
            let value = value.strip_prefix(['=', ':']).unwrap_or(value);
            let (name, value) = (name.trim(), value.trim());
            let Some((_, effect)) = PROPERTIES.iter().find(|(known, _)| *known == name) else {
                // Properties of measurements and of databases have names with dots.
                let prefixes = ["measurement", "hotspot", "core_workload_insertion_retry"];
                if name.contains('.') || prefixes.iter().any(|prefix| name.starts_with(prefix)) {
                    this.notes.push(format!("{text}: no property of the core workload's operations"));
                    continue;
                }
                let near = did_you_mean(name, PROPERTIES.iter().map(|(known, _)| *known));
                return Err(fault(format!("unknown property '{name}'{near}; leave it out to run without it")));
            };
            match effect {
                Sets(option) => {
                    let spec = super::OWN_MIX.iter().find(|spec| spec.name == *option);
                    let value = spec
                        .map_or(Err(String::new()), |spec| spec.kind.normal(value).ok_or_else(|| spec.kind.values()));
                    let value = value.map_err(|values| fault(format!("{text}: Bourse has {values}")))?;
                    this.options.push((option, value));
                }
                Share => {
                    let share = OPERATIONS.iter().zip(&mut shares).find(|((_, property, ..), _)| *property == name);
                    if let Some((_, share)) = share.filter(|_| weight(value).is_some()) {
                        value.clone_into(share);
                    } else {
                        return Err(fault(format!("{name}={value}: a share of 0 or more is expected, as 0.5")));
                    }
                }
                // A class has the name of its package before it.
                Only(same, advice) if value.strip_prefix("site.ycsb.workloads.").unwrap_or(value) != *same => {
                    return Err(fault(format!("{text}: Bourse has {same} alone: {advice}")));
                }
                Only(..) => {}
                Unused(why) => this.notes.push(format!("{text}: {why}")),
            }
        }
        let mix = OPERATIONS.iter().zip(shares).filter(|(_, share)| weight(share) != Some(0));
        let mix: Vec<_> = mix.map(|((name, ..), share)| format!("{name}:{share}")).collect();
        if mix.is_empty() {
            let what = "the share of every operation is 0: one above it is expected, as readproportion=1".to_owned();
            return Err(OptionError::File { place: path.to_owned(), what });
        }
        this.options.push((MIX, mix.join("+")));
        Ok(this)
    }
}

/// Name of the option with the shares.
pub(super) const MIX: &str = "mix";

/// Share in millionths.
fn weight(share: &str) -> Option<u64> {
    let share: f64 = share.parse().ok()?;
    (0.0..=1e9).contains(&share).then(|| (share * 1e6).round() as u64)
}

/// Operations of a mix, as `read:0.95+update:0.05`, and their number without a share of 0; `None` if it has another form.
pub(super) fn operations(mix: &str) -> Option<&'static [MixOperation]> {
    let operation = |part: &str| {
        let (name, share) = part.split_once(':')?;
        let (name, _, action, _) = OPERATIONS.iter().find(|(known, ..)| *known == name.trim())?;
        Some((*name, *action, weight(share.trim())?))
    };
    let mut operations = mix.split('+').map(operation).collect::<Option<Vec<MixOperation>>>()?;
    operations.retain(|(_, _, weight)| *weight > 0);
    let has_twice =
        operations.iter().any(|(name, ..)| operations.iter().filter(|(other, ..)| other == name).count() > 1);
    // A handful of operations that live as long as the process.
    (!operations.is_empty() && !has_twice).then(|| &*operations.leak())
}
