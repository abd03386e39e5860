//! Masks of a recording: its traces and the copies of databases, by one mask.

use super::folder::ProcessTrace;
use crate::failure::{Exit, Failure, Result};
use crate::progress::note;
use bourse_engine_sqlite::{StoredValue, replace_values, stored_values};
use bourse_trace::{EventKind, MaskPlan, Record, TraceHead, TraceValue, TraceWriter};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::{self, File};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufWriter, Write as _};
use std::path::Path;

/// Replaces the values of traces, and of the databases in their folder. A database that cannot be masked is removed. Returns
/// the statements with values in their texts, which stay.
pub(super) fn mask(folder: &Path, traces: &[ProcessTrace]) -> Result<BTreeSet<String>> {
    let failed = |file: &Path, error: &dyn Display| {
        Failure::new(Exit::Target, "the values of the recording are not masked")
            .detail("file", file.display().to_string())
            .detail("cause", error.to_string())
    };
    let (mut plan, mut with_literals) = (MaskPlan::default(), BTreeSet::new());
    for trace in traces {
        // Texts whose values are names of files.
        let (mut texts, mut attaching) = (0, BTreeSet::new());
        let read = trace.read(|record| match record {
            Record::Text(text) => {
                plan.keep_literals(&text.sql);
                if text.has_literals() {
                    with_literals.insert(text.sql.clone());
                }
                if text.sql.trim_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case("attach")) {
                    attaching.insert(texts);
                }
                texts += 1;
            }
            Record::Event(event) => {
                if let EventKind::Executed(executed) = &event.kind {
                    let is_kept = attaching.contains(&executed.text);
                    executed.values.iter().for_each(|it| if is_kept { plan.keep(it) } else { plan.add(it) });
                }
            }
        });
        let read = read.map_err(|error| failed(&trace.path, &error))?;
        if read.runs() {
            return Err(failed(&trace.path, &"the process still runs, and is recorded further"));
        }
    }
    let mut databases = Vec::new();
    let listed = fs::read_dir(folder.join("databases")).map_err(|error| failed(folder, &error))?;
    for path in listed.flatten().map(|entry| entry.path()) {
        if fs::metadata(&path).is_ok_and(|found| found.len() == 0) {
            continue;
        }
        let (mut schema, mut values) = (Vec::new(), Vec::new());
        match stored_values(&path, &mut |sql| schema.push(sql.to_owned()), &mut |it| values.push(traced(it))) {
            Ok(()) => {
                schema.iter().for_each(|sql| plan.keep_literals(sql));
                values.iter().for_each(|it| plan.add(it));
                databases.push(path);
            }
            Err(error) => remove(&path, &error)?,
        }
    }
    let mask = plan.draw(RandomState::new().hash_one(folder));
    for trace in traces {
        let masked = trace.path.with_extension("masked");
        let rewrite = || {
            let reader = trace.reader().map_err(|error| error.to_string())?;
            let to = BufWriter::new(File::create_new(&masked).map_err(|error| error.to_string())?);
            let mut writer = TraceWriter::new(to, &TraceHead { is_masked: true, ..reader.head() })
                .map_err(|error| error.to_string())?;
            for mut record in reader.map_while(Result::ok) {
                if let Record::Event(event) = &mut record
                    && let EventKind::Executed(executed) = &mut event.kind
                {
                    executed.values.iter_mut().for_each(|it| *it = mask.of(it));
                    (executed.rows.ordered, executed.rows.unordered) = (0, 0);
                }
                writer.write(&record).map_err(|error| error.to_string())?;
            }
            writer.into_inner().flush().map_err(|error| error.to_string())?;
            fs::rename(&masked, &trace.path).map_err(|error| error.to_string())
        };
        rewrite().map_err(|error: String| failed(&trace.path, &error))?;
    }
    for path in databases {
        if let Err(error) = replace_values(&path, &|value| stored(mask.of(&traced(value)))) {
            remove(&path, &error)?;
        }
    }
    Ok(with_literals)
}

fn remove(path: &Path, why: &dyn Display) -> Result<()> {
    note(&format!("the copy {} cannot be masked and is removed: {why}", path.display()));
    fs::remove_file(path).map_err(|error| {
        Failure::new(Exit::Target, "a copy that cannot be masked cannot be removed")
            .detail("file", path.display().to_string())
            .detail("cause", error.to_string())
    })
}

fn traced(value: StoredValue) -> TraceValue {
    match value {
        StoredValue::Null => TraceValue::Null,
        StoredValue::Int(number) => TraceValue::Int(number),
        StoredValue::Real(number) => TraceValue::Real(number),
        StoredValue::Text(text) => TraceValue::Text(text.into_bytes()),
        StoredValue::Blob(bytes) => TraceValue::Blob(bytes),
    }
}

fn stored(value: TraceValue) -> StoredValue {
    match value {
        TraceValue::Int(number) => StoredValue::Int(number),
        TraceValue::Real(number) => StoredValue::Real(number),
        TraceValue::Text(bytes) => StoredValue::Text(String::from_utf8_lossy(&bytes).into_owned()),
        TraceValue::Blob(bytes) => StoredValue::Blob(bytes),
        TraceValue::Null | TraceValue::Zeros(_) | TraceValue::Unknown | TraceValue::Pointer(_) => StoredValue::Null,
    }
}
