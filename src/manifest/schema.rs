//! The JSON Schema of the manifest, for editors, made from the types that are read.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;

use super::spec::ManifestSpec;

/// The JSON Schema of the manifest.
pub fn schema() -> Value {
    // Draft 7 is what the YAML language servers of editors know best.
    let settings = SchemaSettings::draft07()
        .with_transform(RecursiveTransform(without_null))
        .with_transform(RecursiveTransform(unwrapped));
    settings.into_generator().into_root_schema_for::<ManifestSpec>().to_value()
}

/// A key may be left out, but a key without a value is a mistake: takes null out of what each property may be.
fn without_null(schema: &mut Schema) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for property in properties.values_mut().filter_map(Value::as_object_mut) {
        if let Some(types) = property.get_mut("type").filter(|types| types.is_array()) {
            let left: Vec<_> = types.as_array().into_iter().flatten().filter(|name| *name != "null").cloned().collect();
            *types = if let [only] = &left[..] { only.clone() } else { left.into() };
        }
        if let Some(choices) = property.get_mut("anyOf").and_then(Value::as_array_mut) {
            choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
            if let [only] = &choices[..] {
                let only = only.clone();
                property.remove("anyOf");
                property.extend(only.as_object().cloned().unwrap_or_default());
            }
        }
    }
}

/// Doc comments are wrapped for the source; editors wrap for themselves.
fn unwrapped(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a switch for whoever changes the types, not of the program")]
    fn the_committed_schema_is_fresh() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/manifest.schema.json");
        let fresh = format!("{}\n", serde_json::to_string_pretty(&schema()).unwrap());
        if std::env::var_os("HOSTPROOF_UPDATE_SCHEMAS").is_some() {
            std::fs::write(&path, &fresh).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        assert!(committed == fresh, "run the tests with HOSTPROOF_UPDATE_SCHEMAS=1 to rewrite {}", path.display());
    }

    #[test]
    fn each_part_has_the_keys_that_are_read_there() {
        let schema = schema();
        let keys = |name: &str| {
            let part = &schema["definitions"][name];
            assert_eq!(part["additionalProperties"], false, "{name}");
            let keys: Vec<_> = part["properties"].as_object().unwrap().keys().cloned().collect();
            keys
        };
        let check = keys("Check");
        let without = |left_out: &[&str]| {
            let left: Vec<_> = check.iter().filter(|key| !left_out.contains(&key.as_str())).cloned().collect();
            left
        };
        assert_eq!(keys("Defaults"), without(&["id", "run", "shell", "hook", "events"]));
        assert_eq!(keys("Override"), without(&["id", "linux", "windows", "macos"]));
        assert_eq!(schema["definitions"]["Check"]["required"], serde_json::json!(["id"]));
        assert!(schema["definitions"]["Defaults"].get("required").is_none());
        // A key without a value is a mistake; only a variable can be null, in `env` and `matrix`.
        assert_eq!(schema.to_string().matches("\"null\"").count(), 2 * 3);
    }
}
