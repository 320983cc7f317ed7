//! The schema of what `--json` writes, held against objects: as much of JSON Schema as it uses.

use serde_json::Value;

/// What is not as the published schema says, in one line of what `--json` has written.
pub(crate) fn violations(line: &Value) -> Vec<String> {
    let schema = include_str!("../../../../report/schema.json");
    let schema: Value = serde_json::from_str(schema).expect("it is JSON");
    unlike(&schema, &schema, line, "the object")
}

/// What is not as a schema says: keys that are missing, unknown, or of another type.
fn unlike(schema: &Value, root: &Value, value: &Value, at: &str) -> Vec<String> {
    let schema = match schema["$ref"].as_str() {
        Some(path) => &root["$defs"][path.trim_start_matches("#/$defs/")],
        None => schema,
    };
    if let Some(options) = schema["anyOf"].as_array() {
        let fits = |it: &Value| unlike(it, root, value, at).is_empty();
        return if options.iter().any(fits) { Vec::new() } else { vec![format!("{at}: {value}")] };
    }
    if let Some(known) = schema["enum"].as_array() {
        let is_known = known.contains(value);
        return if is_known { Vec::new() } else { vec![format!("{at}: {value} is unknown")] };
    }
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is_type = |it: &Value| it == name || it == "number" && name == "integer";
    let is_right = match &schema["type"] {
        Value::Array(types) => types.iter().any(is_type),
        Value::Null => true,
        one => is_type(one),
    };
    if !is_right {
        return vec![format!("{at}: {value} is no {}", schema["type"])];
    }
    let mut wrong = Vec::new();
    for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.as_object().is_some_and(|it| !it.contains_key(key)) {
            wrong.push(format!("{at}: no {key}"));
        }
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        match (&schema["properties"][key], &schema["additionalProperties"]) {
            (Value::Null, Value::Null) if schema["properties"].is_object() => {
                wrong.push(format!("{at}: {key} is unknown"));
            }
            (Value::Null, other) => wrong.extend(unlike(other, root, inner, key)),
            (known, _) => wrong.extend(unlike(known, root, inner, key)),
        }
    }
    for inner in value.as_array().into_iter().flatten() {
        wrong.extend(unlike(&schema["items"], root, inner, at));
    }
    wrong
}

/// A check that takes everything would hold nothing.
#[test]
fn what_is_unlike_the_schema_is_told() {
    let check = |text: &str, is_right: bool| {
        let line = serde_json::from_str(text).expect("it is JSON");
        assert_eq!(violations(&line).is_empty(), is_right, "{text}");
    };
    check(r#"{"mazurka":"1","file":"a","verdict":"error","reason":"no"}"#, true);
    check(r#"{"mazurka":"1","file":"a","verdict":"not-run","reason":"no"}"#, true);
    check(r#"{"mazurka":"1","file":"a","verdict":"holds","reason":"no"}"#, false);
    check(r#"{"mazurka":"1","file":"a","verdict":"error"}"#, false);
    check(r#"{"mazurka":"1","file":"a","verdict":"error","reason":"no","more":1}"#, false);
    check(r#"{"mazurka":"1","file":"a","verdict":"error","reason":7}"#, false);
}
