//! What was found in sources as SARIF 2.1.0, the form that code scanners exchange.

use serde_json::{Value, json};

use crate::lints::rules;
use crate::model::{Lint, LintKind, Lints, Severity};

/// The document. Paths are relative to `SRCROOT`, or `file:` addresses where they lie outside of the project.
#[must_use]
pub fn sarif(lints: &Lints) -> Value {
    let described: Vec<Value> = rules()
        .map(|rule| {
            json!({
                "id": rule.kind.slug(),
                "shortDescription": {"text": rule.finds},
                "fullDescription": {"text": rule.why},
                "help": {"text": rule.mend},
                "defaultConfiguration": {"level": level(rule.severity)},
            })
        })
        .collect();
    let notifications: Vec<Value> = lints
        .unread
        .iter()
        .map(|unread| (unread, "error"))
        .chain(lints.unclear.iter().map(|unclear| (unclear, "warning")))
        .map(|(unread, level)| {
            let mut place = json!({"artifactLocation": artifact(&unread.file)});
            if let Some(line) = unread.line {
                place["region"] = json!({"startLine": line});
            }
            json!({
                "level": level,
                "message": {"text": unread.message},
                "locations": [{"physicalLocation": place}],
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": lints.tool.name,
                "semanticVersion": lints.tool.version,
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": described,
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {"SRCROOT": {"description": {"text": "the project"}}},
            "invocations": [{
                "executionSuccessful": lints.unread.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
            "results": lints.lints.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn result(lint: &Lint) -> Value {
    let index = LintKind::ALL.iter().position(|kind| *kind == lint.kind);
    let mut result = json!({
        "ruleId": lint.kind.slug(),
        "ruleIndex": index,
        "level": level(lint.severity),
        "message": {"text": format!("{}. {} Mend: {}.", lint.message, lint.why, lint.remedy)},
        "locations": [{"physicalLocation": {
            "artifactLocation": artifact(&lint.file),
            "region": {
                "startLine": lint.line,
                "startColumn": lint.column,
                "endLine": lint.end_line,
                "endColumn": lint.end_column,
                "snippet": {"text": lint.snippet},
            },
        }}],
    });
    if let Some(because) = &lint.allowed {
        result["suppressions"] = json!([{"kind": "inSource", "justification": because}]);
    }
    result
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn artifact(file: &str) -> Value {
    let mut address = String::new();
    for byte in file.bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => address.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(byte)),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    if file.starts_with('/') {
        json!({"uri": format!("file://{address}")})
    } else if file.as_bytes().get(1) == Some(&b':') {
        json!({"uri": format!("file:///{}", address.replacen("%3A", ":", 1))})
    } else {
        json!({"uri": address, "uriBaseId": "SRCROOT"})
    }
}
