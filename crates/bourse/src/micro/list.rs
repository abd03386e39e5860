//! `bourse micro list`: the workloads, and of one all its options.

use crate::failure::Failure;
use bourse_micro::{WORKLOADS, find};

/// What there is; of one workload its tables, needs and options.
pub(crate) fn list(workload: Option<&str>) -> Result<String, Failure> {
    let mut text = String::new();
    let Some(name) = workload else {
        for spec in WORKLOADS {
            text.push_str(&format!("{:<13} {}\n", spec.name, spec.summary));
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
    if let Some(example) = spec.example_file() {
        text.push_str(&format!("\nThe file that -s file=example runs:\n\n{example}"));
    }
    Ok(text)
}
