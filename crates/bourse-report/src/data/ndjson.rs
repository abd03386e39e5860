use super::{DataTable, DataValue};
use serde_json::{Map, Value};

/// A table as newline-delimited JSON: an object with every column for each row, `null` for a missing value.
pub fn data_ndjson(table: &DataTable) -> String {
    let mut out = String::new();
    for row in &table.rows {
        let fields = table.columns.iter().zip(row);
        let object: Map<String, Value> = fields.map(|(column, value)| (column.name.to_owned(), json(value))).collect();
        out.push_str(&Value::Object(object).to_string());
        out.push('\n');
    }
    out
}

fn json(value: &DataValue) -> Value {
    match value {
        DataValue::Nothing => Value::Null,
        DataValue::Text(text) => Value::from(text.as_str()),
        DataValue::Count(number) => Value::from(*number),
        DataValue::Real(number) => Value::from(*number),
        DataValue::Flag(flag) => Value::from(*flag),
    }
}
