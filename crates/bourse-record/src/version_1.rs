//! Conversion of run files of version 1 to version 2 before they are read.
//!
//! Only changed keys and words are converted. Fields that version 1 lacks get their types' defaults, and anything that
//! is no run file is left unchanged for the reader to refuse.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))] // what it reads may be anything

use crate::{DocumentKind, OperationIsolation, STATUS_CODES, WorkloadKind};
use serde_json::{Map, Value, json};

/// Converts a document of version 1 to version 2.
pub(crate) fn convert(document: &mut Value) {
    set(document, "document", "run");
    set(document, "schema_version", 2);
    coded_warnings(document);
    if document.get("name").is_some_and(|name| name == "tpce") {
        set(document, "notice", WorkloadKind::Brokerage.notice());
    }
    let seed = document.get("seed").cloned();
    for case in each(document, "cases") {
        if let (Some(origin), Some(seed)) = (case.get_mut("origin"), &seed) {
            set(origin, "seed", seed.clone());
        }
        if let Some(search) = case.get_mut("search") {
            rename(search, "found", "highest_passing");
            rename(search, "refuted", "lowest_failing");
            for probe in each(search, "probes") {
                rename(probe, "worst_of_limit", "worst_limit_ratio");
                rename(probe, "broke", "violations");
            }
        }
        let is_brokerage = workload(case);
        each(case, "rounds").for_each(|each| round(each, is_brokerage));
    }
}

/// Converts a document of version 1 other than a run to version 2, which is `known`.
pub(crate) fn convert_other(document: &mut Value, kind: DocumentKind, known: u32) {
    set(document, "document", json!(kind));
    set(document, "schema_version", known);
    coded_warnings(document);
    for row in each(document, "rows") {
        for crash in ["killed", "power"] {
            if let Some(outcome) = row.get_mut(crash) {
                rename(outcome, "ruined", "corrupted");
            }
        }
        if let Some(sampled) = row.get_mut("sampled") {
            each(sampled, "states").for_each(|state| rename(state, "ruined", "corrupted"));
        }
        if row.get("class").is_some_and(|class| class == "") {
            set(row, "class", Value::Null);
        }
        if kind == DocumentKind::Faults {
            each(row, "cases").for_each(|case| rename(case, "conduct", "reaction"));
        }
    }
}

/// Converts warnings without a code, which are sentences, to [`Warning::Told`].
///
/// [`Warning::Told`]: crate::Warning::Told
pub fn coded_warnings(object: &mut Value) {
    for warning in each(object, "warnings").filter(|warning| warning.is_string()) {
        *warning = json!({ "code": "told", "text": warning.take() });
    }
}

/// Adds declarations that version 1 implied by the workload's name, and turns some parameters into conditions. Returns
/// whether it is a brokerage run.
fn workload(case: &mut Value) -> bool {
    let Some(workload) = case.get_mut("workload") else { return false };
    let is_brokerage = workload.get("name").is_some_and(|name| name == "tpce");
    set(workload, "kind", if is_brokerage { "brokerage" } else { "micro" });
    let mut outcomes = vec!["completed", "failed"];
    if is_brokerage {
        outcomes.splice(1..1, ["warned", "rolled_back", "too_few_rows"]);
        outcomes.push("dropped");
        let queue = json!([{ "name": "queue_length", "value": "waiting in the market's queue" }]);
        set(workload, "metric_titles", queue);
    }
    set(workload, "outcomes", outcomes);
    let Some(parameters) = workload.get_mut("parameters").and_then(Value::as_array_mut) else { return is_brokerage };
    // The interval is worked out from the rounds.
    parameters.retain(|it| it.get("name").is_none_or(|name| name != "95 % interval of the median"));
    if is_brokerage {
        let conditions = conditions(parameters);
        set(case, "conditions", conditions);
    }
    is_brokerage
}

/// Moves the conditions out of the parameters of a brokerage run.
fn conditions(parameters: &mut Vec<Value>) -> Value {
    let mut taken = |name: &str| -> Option<String> {
        let at = parameters.iter().position(|it| it.get("name").is_some_and(|known| known == name))?;
        parameters.remove(at).get("value")?.as_str().map(str::to_owned)
    };
    // A number may have commas in it, and a unit behind it.
    let number = |text: String| text.replace(',', "").split_whitespace().next().map(str::to_owned);
    let mut count = |name: &str| -> Option<u64> { number(taken(name)?)?.parse().ok() };
    let mut conditions = json!({});
    if let (Some(customers), Some(scale_factor), Some(initial_days)) =
        (count("customers"), count("scale factor"), count("initial trade days"))
    {
        let scale = json!({ "customers": customers, "scale_factor": scale_factor, "initial_days": initial_days });
        set(&mut conditions, "scale", scale);
    }
    for (name, key) in [("users", "users"), ("market users", "further_users"), ("free space", "free_bytes")] {
        if let Some(value) = count(name) {
            set(&mut conditions, key, value);
        }
    }
    if let Some(rate) = taken("rate asked for").and_then(number).and_then(|rate| rate.parse::<f64>().ok()) {
        set(&mut conditions, "requested_rate", rate);
    }
    for (name, key) in [("constraints", "constraints"), ("input data", "input_data")] {
        if let Some(value) = taken(name) {
            set(&mut conditions, key, value);
        }
    }
    if let Some(knobs) = taken("knobs") {
        set(&mut conditions, "tunables", if knobs == "changed" { "changed" } else { "specification" });
    }
    if let Some(sentence) = taken("isolation") {
        set(&mut conditions, "isolation", isolation(&sentence));
    }
    // It stands in the head of the document.
    taken("seed");
    conditions
}

/// Parses the isolation sentence of version 1: `serializable throughout: one writer at a time`, or `by transaction, as
/// the specification demands (serializable: A; repeatable read: B, C; …)`. The first form gives one level for all
/// transactions.
fn isolation(sentence: &str) -> Vec<Value> {
    let level = |demanded: &str, provided: &str, operation: &str| json!({ "operation": operation, "demanded": demanded, "provided": provided });
    if sentence.starts_with("serializable throughout") {
        return vec![level("serializable", "serializable", "all")];
    }
    let list = sentence.split_once('(').and_then(|(_, list)| list.strip_suffix(')')).unwrap_or_default();
    let groups = list.split("; ").filter_map(|group| group.split_once(": "));
    let levels = groups.flat_map(|(name, operations)| {
        let name = name.replace(' ', "_");
        operations.split(", ").map(move |operation| level(&name, &name, operation)).collect::<Vec<_>>()
    });
    levels.filter(|it| serde_json::from_value::<OperationIsolation>(it.clone()).is_ok()).collect()
}

fn round(round: &mut Value, is_brokerage: bool) {
    rename(round, "closer", "fine_series");
    rename(round, "taken", "interference");
    coded_warnings(round);
    for files in each(round, "io") {
        if files.get("kind").is_some_and(|kind| kind == "data and log files") {
            set(files, "kind", "data_and_log");
        }
    }
    for check in each(round, "checks") {
        rename(check, "words", "condition");
    }
    for operation in each(round, "operations") {
        rename(operation, "floor_ns", "harness_overhead_ns");
        for of in ["outcomes", "by_outcome"] {
            for counted in each(operation, of) {
                if counted.get("outcome").is_some_and(|outcome| outcome == "short_database") {
                    set(counted, "outcome", "too_few_rows");
                }
                let code = counted.get("code").and_then(Value::as_i64).filter(|_| is_brokerage);
                if let Some((_, meaning)) = STATUS_CODES.iter().find(|(known, _)| Some(i64::from(*known)) == code) {
                    set(counted, "meaning", *meaning);
                }
            }
        }
    }
}

/// Elements of an array in an object; empty if there is no such array.
fn each<'d>(object: &'d mut Value, key: &str) -> impl Iterator<Item = &'d mut Value> {
    object.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

fn rename(object: &mut Value, from: &str, to: &str) {
    if let Some(value) = fields(object).and_then(|fields| fields.remove(from)) {
        set(object, to, value);
    }
}

fn set(object: &mut Value, key: &str, value: impl Into<Value>) {
    if let Some(fields) = fields(object) {
        fields.insert(key.to_owned(), value.into());
    }
}

fn fields(value: &mut Value) -> Option<&mut Map<String, Value>> {
    value.as_object_mut()
}
