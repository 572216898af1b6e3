//! The report's schema: generated from the types, committed, and true of real reports.

use serde_json::Value;

use crate::context::{Context, repository, variable, works};

/// The documents whose schemas are rewritten when that is asked for.
const COMMITTED: [&str; 10] =
    ["comparison", "report", "events", "doctor", "hooks", "lints", "receipt", "verification", "revocation", "gate"];

fn printed(document: &str) -> String {
    Context::new().hp(&["schema", document]).exits(0).stdout.clone()
}

#[test]
fn the_committed_schemas_are_fresh() {
    for document in COMMITTED {
        let printed = printed(document);
        let name = format!("schemas/{document}.schema.json");
        let path = repository().join(&name);
        if variable("HOSTPROOF_UPDATE_SCHEMAS").is_some() {
            std::fs::write(&path, &printed).expect("the schema");
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == printed, "{name} is old: set HOSTPROOF_UPDATE_SCHEMAS and run this test again");
    }
}

#[test]
fn the_committed_schema_of_manifests_is_what_is_printed() {
    let committed = std::fs::read_to_string(repository().join("schemas/manifest.schema.json")).expect("the schema");
    assert!(committed == printed("manifest"), "schemas/manifest.schema.json is old");
    assert_eq!(Context::new().hp(&["schema"]).exits(0).stdout, committed, "without a name it is the manifest's");
}

/// A report with a bit of everything in it.
fn report() -> Value {
    let context = Context::proving(
        r#"
- {id: green, run: [python3, test_a.py], title: "a title", needs: [python3]}
- {id: red, run: [python3, test_b.py], expect: {cases: 5, stdout: [{contains: x}]}}
- {id: far, shell: 'true', platforms: [windows]}
- {id: lost, run: [no-such-program-here]}
- id: leaks
  grace: 0s
  cwd: sandbox
  shell: |
    sleep 50 &
  allow: [{kind: held-pipe, because: it is meant}]
- {id: late, timeout: 1s, shell: 'sleep 50'}
- {id: lingers, reader: none, grace: 50s, shell: '(sleep 1) & true'}
"#,
    );
    let module = |body: &str| {
        format!(
            "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        {body}\n    @unittest.skip('no board')\n    \
             def test_b(self): pass\n\nunittest.main(verbosity=2)\n"
        )
    };
    context.file("test_a.py", module("pass"));
    context.file("test_b.py", module("self.fail('so')"));
    for arguments in [&["init", "-q"][..], &["add", "."]] {
        let mut git = std::process::Command::new("git");
        context.dress(&mut git);
        assert!(git.args(arguments).status().expect("git").success());
    }
    let ran = context.hp(&["run", "--report", "-"]);
    serde_json::from_str(&ran.exits(1).stdout).expect("JSON")
}

/// Calls `each` with every value in a document and the path to it.
fn walk(value: &Value, path: &str, each: &mut impl FnMut(&str, &Value)) {
    each(path, value);
    match value {
        Value::Array(list) => list.iter().for_each(|inner| walk(inner, &format!("{path}[]"), each)),
        Value::Object(map) => map.iter().for_each(|(key, inner)| walk(inner, &format!("{path}.{key}"), each)),
        _ => {}
    }
}

#[test]
fn a_report_has_no_floating_point_numbers() {
    let mut numbers = 0;
    walk(&report(), "", &mut |path, value| {
        if let Value::Number(number) = value {
            numbers += 1;
            assert!(number.is_i64() || number.is_u64(), "{path} is {number}");
        }
    });
    assert!(numbers > 20);
    let schema: Value = serde_json::from_str(&printed("report")).expect("JSON");
    walk(&schema, "", &mut |path, value| assert!(value != "number", "{path}"));
}

#[test]
fn the_names_that_outside_tools_rely_on_are_there() {
    let report = report();
    let has = |value: &Value, keys: &[&str]| {
        for key in keys {
            assert!(value.get(key).is_some(), "{key} is not in {value}");
        }
    };
    has(&report, &["schema", "run", "place", "host", "source", "totals", "checks"]);
    assert_eq!((&report["schema"], &report["place"]["kind"]), (&"hostproof.report/1".into(), &"host".into()));
    has(&report["totals"]["checks"], &["planned", "passed"]);
    let numbers = ["planned", "ran", "passed", "failed", "skipped", "unknown"];
    has(&report["totals"]["cases"], &numbers);
    let names = ["id", "variant", "verdict", "exit", "duration_ms", "stdout_end_ms", "cases", "frames", "findings"];
    for check in report["checks"].as_array().expect("checks") {
        has(check, &names);
        has(&check["cases"], &numbers);
        has(&check["cases"], &["list"]);
    }
    let check =
        |id: &str| report["checks"].as_array().expect("checks").iter().find(|check| check["id"] == id).expect("it");
    let red = check("red");
    assert_eq!((&red["verdict"], &red["exit"]["code"]), (&"failed".into(), &1.into()));
    has(&red["frames"][0], &["file", "line", "function", "error", "case"]);
    let held = check("leaks")["findings"].as_array().expect("findings").iter().find(|f| f["kind"] == "held-directory");
    let held = held.expect("a held directory");
    has(held, &["kind", "severity", "message", "path", "how", "process", "remedy"]);
    has(&held["process"], &["pid", "argv", "parents"]);
    assert_eq!((&held["how"], &held["path"]), (&"cwd".into(), &"work".into()));
}

/// Whether a value is what a schema of ours says; `Err` names the place. Knows the words that our schemas use.
pub fn fits(value: &Value, schema: &Value, root: &Value, path: &str) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target =
            root.pointer(reference.trim_start_matches('#')).ok_or_else(|| format!("{reference} leads nowhere"))?;
        fits(value, target, root, path)?;
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(options) = schema[word].as_array()
            && !options.iter().any(|option| fits(value, option, root, path).is_ok())
        {
            return Err(format!("{path}: {value} fits none of {options:?}"));
        }
    }
    if let Some(constant) = schema.get("const")
        && constant != value
    {
        return Err(format!("{path}: {value} is not {constant}"));
    }
    if let Some(options) = schema["enum"].as_array()
        && !options.contains(value)
    {
        return Err(format!("{path}: {value} is not one of {options:?}"));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if !types.is_empty() && !types.contains(&name) {
        return Err(format!("{path}: {value} is not {types:?}"));
    }
    if let (Some(minimum), Some(number)) = (schema["minimum"].as_i64(), value.as_i64())
        && number < minimum
    {
        return Err(format!("{path}: {number} is less than {minimum}"));
    }
    if let Value::Array(list) = value
        && schema.get("items").is_some()
    {
        list.iter().try_for_each(|inner| fits(inner, &schema["items"], root, &format!("{path}[]")))?;
    }
    if let Value::Object(map) = value {
        for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !map.contains_key(required) {
                return Err(format!("{path}: {required} is missing"));
            }
        }
        for (key, inner) in map {
            let path = format!("{path}.{key}");
            if let Some(property) = schema["properties"].get(key) {
                fits(inner, property, root, &path)?;
            } else if schema["additionalProperties"].is_object() {
                fits(inner, &schema["additionalProperties"], root, &path)?;
            } else if types.contains(&"object") && schema["additionalProperties"] != Value::Bool(true) {
                return Err(format!("{path} is not in the schema"));
            }
        }
    }
    Ok(())
}

#[test]
fn a_real_report_is_as_the_schema_says() {
    let schema: Value = serde_json::from_str(&printed("report")).expect("JSON");
    let report = report();
    fits(&report, &schema, &schema, "report").expect("the report is as the schema says");
    // The check itself can say no.
    let mut wrong = report.clone();
    wrong["checks"][0]["cases"]["ran"] = "many".into();
    assert!(fits(&wrong, &schema, &schema, "report").is_err());
    let mut wrong = report.clone();
    wrong["totals"].as_object_mut().expect("an object").remove("cases");
    assert!(fits(&wrong, &schema, &schema, "report").is_err());

    // With an outside judge where there is one.
    if works(&["python3", "-c", "import jsonschema"]) {
        let context = Context::new();
        context.file("schema.json", schema.to_string());
        context.file("report.json", report.to_string());
        let mut command = std::process::Command::new("python3");
        context.dress(&mut command);
        let script = "import json, jsonschema; jsonschema.validate(json.load(open('report.json')), json.load(open('schema.json')))";
        assert!(command.args(["-c", script]).status().expect("python3").success());
    }
}

#[test]
fn every_field_is_described() {
    let mut missing = Vec::new();
    let mut look = |path: &str, value: &Value| {
        let Some(properties) = value.get("properties").and_then(Value::as_object) else { return };
        for (name, property) in properties {
            // What a reference leads to has a description of its own, as the choices of an enumeration
            // have.
            let referred = ["$ref", "anyOf", "allOf"].iter().any(|word| property.get(word).is_some())
                || property["items"].get("$ref").is_some()
                || value.get("description").is_some() && properties.len() == 1
                || property.get("const").is_some();
            if property.get("description").is_none() && !referred {
                missing.push(format!("{path}.{name}"));
            }
        }
    };
    for document in COMMITTED {
        let schema: Value = serde_json::from_str(&printed(document)).expect("JSON");
        walk(&schema, document, &mut look);
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
