//! `bourse micro list`: the workloads, and of one all its options; as text and as JSON.

use crate::failure::{Failure, Result};
use crate::output::{named, wrapped};
use bourse_micro::{RoundExtent, WORKLOADS, WorkloadSpec, find};
use serde_json::{Value, json};

/// List of the workloads; for one workload its tables, requirements and options.
pub(crate) fn list(workload: Option<&str>) -> Result<String> {
    let mut text = String::new();
    let Some(name) = workload else {
        for spec in WORKLOADS {
            text.push_str(&named(spec.name, 13, spec.summary));
        }
        text.push_str("\n`bourse micro list WORKLOAD` shows its tables, requirements and options.\n");
        return Ok(text);
    };
    let spec = find(name).map_err(|error| Failure::usage(error.to_string()))?;
    text.push_str(&format!("{}: {}\n\ntables:   {}\nrequires: {}\n", spec.name, spec.summary, spec.tables, spec.needs));
    for option in spec.options {
        text.push_str(&format!(
            "\n  {}={} [default: {}]\n      {}\n",
            option.name,
            option.kind.values(),
            option.default,
            option.meaning
        ));
    }
    text = wrapped(&text);
    if let Some(example) = spec.example_file() {
        text.push_str(&format!("\nThe file that -s file=example runs:\n{example}"));
    }
    Ok(text)
}

/// The list as JSON: an object for each workload, or the object of one.
pub(crate) fn json(workload: Option<&str>) -> Result<Value> {
    Ok(match workload {
        None => WORKLOADS.iter().map(|spec| described(spec)).collect(),
        Some(name) => described(find(name).map_err(|error| Failure::usage(error.to_string()))?),
    })
}

fn described(spec: &WorkloadSpec) -> Value {
    let options = spec.options.iter().map(|option| {
        json!({
            "name": option.name,
            "values": option.kind.values(),
            "default": option.default,
            "meaning": option.meaning,
        })
    });
    json!({
        "name": spec.name,
        "summary": spec.summary,
        "tables": spec.tables,
        "requires": spec.needs,
        "ends_with_its_work": spec.extent == RoundExtent::Work,
        "options": options.collect::<Vec<_>>(),
    })
}
