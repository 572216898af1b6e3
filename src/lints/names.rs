//! What names stand for: imports are followed, so that `sp.Popen` is `subprocess.Popen`.

use std::collections::HashMap;

use super::language::Language;
use super::literal::literal;
use super::needs::Sign;
use super::syntax::{Node, Syntax};

/// Names that a file gives to what it imports.
#[derive(Debug, Default)]
pub struct Names {
    imported: HashMap<String, String>,
}

/// A function of Python's library under another name: `run = subprocess.run`.
pub const RENAMING: Sign = Sign::Text(r"=\s*(?:subprocess|os|tempfile|shutil)\s*[.#\\]");

/// What JavaScript has without an import.
const GLOBALS: &[&str] = &["process", "console", "Bun", "Deno"];

impl Names {
    /// Of a file.
    #[must_use]
    pub fn of(language: Language, syntax: &Syntax<'_>) -> Self {
        let mut names = Self::default();
        for node in syntax.nodes() {
            match (language, node.kind()) {
                (Language::Python, "import_statement") => names.python(node, ""),
                (Language::Python, "import_from_statement") => {
                    let module = node.child("module_name").map_or("", Node::text);
                    names.python(node, module);
                }
                (_, "import_statement") if language.is_script() => names.script_import(node),
                (_, "variable_declarator") if language.is_script() => {
                    names.required(node);
                    names.renamed(language, node.child("name"), node.child("value"));
                }
                (Language::Python, "assignment") => {
                    names.renamed(language, node.child("left"), node.child("right"));
                }
                _ => {}
            }
        }
        names
    }

    /// The whole names of what is imported.
    pub fn imported(&self) -> impl Iterator<Item = &str> {
        self.imported.values().map(String::as_str)
    }

    fn set(&mut self, name: &str, whole: String) {
        self.imported.insert(name.to_owned(), whole);
    }

    fn python(&mut self, statement: Node<'_>, module: &str) {
        let prefix = if module.is_empty() { String::new() } else { format!("{module}.") };
        for part in statement.children().filter(|part| part.field() == Some("name")) {
            match (part.child("name"), part.child("alias")) {
                (Some(name), Some(alias)) => self.set(alias.text(), format!("{prefix}{}", name.text())),
                // `import os.path` binds `os`.
                _ if module.is_empty() => {
                    let first = part.text().split('.').next().unwrap_or_default();
                    self.set(first, first.to_owned());
                }
                _ => self.set(part.text(), format!("{prefix}{}", part.text())),
            }
        }
    }

    fn script_import(&mut self, statement: Node<'_>) {
        let Some(module) = statement.child("source").and_then(literal) else { return };
        let module = plain(&module).to_owned();
        for node in statement.descendants() {
            match node.kind() {
                "import_specifier" => {
                    let Some(name) = node.child("name") else { continue };
                    let alias = node.child("alias").unwrap_or(name);
                    self.set(alias.text(), format!("{module}.{}", name.text()));
                }
                "identifier" if matches!(node.parent().map(Node::kind), Some("import_clause" | "namespace_import")) => {
                    self.set(node.text(), module.clone());
                }
                _ => {}
            }
        }
    }

    /// `const { spawn: s } = require("child_process")`, and the same with `await import(…)`.
    fn required(&mut self, declarator: Node<'_>) {
        let (Some(name), Some(value)) = (declarator.child("name"), declarator.child("value")) else { return };
        let call = value.descendants().take(8).find(|node| {
            let function = node.child("function");
            node.kind() == "call_expression" && function.is_some_and(|it| matches!(it.text(), "require" | "import"))
        });
        let argument = call.and_then(|call| call.child("arguments")?.parts().next());
        let Some(module) = argument.and_then(literal) else { return };
        let mut module = plain(&module).to_owned();
        // `require("fs").promises`
        if value.kind() == "member_expression"
            && let Some(property) = value.child("property")
        {
            module = format!("{module}.{}", property.text());
        }
        if name.kind() == "identifier" {
            return self.set(name.text(), module);
        }
        for node in name.parts() {
            match node.kind() {
                "shorthand_property_identifier_pattern" => self.set(node.text(), format!("{module}.{}", node.text())),
                "pair_pattern" => {
                    if let (Some(key), Some(value)) = (node.child("key"), node.child("value")) {
                        self.set(value.text(), format!("{module}.{}", key.text()));
                    }
                }
                _ => {}
            }
        }
    }

    /// `run = subprocess.run`, and `const run = promisify(exec)`, which starts the same.
    fn renamed(&mut self, language: Language, name: Option<Node<'_>>, value: Option<Node<'_>>) {
        const MODULES: &[&str] = &["subprocess.", "os.", "tempfile.", "shutil.", "child_process.", "fs."];
        let (Some(name), Some(value)) = (name.filter(|name| name.kind() == "identifier"), value) else { return };
        let is_promise = || value.child("function").is_some_and(|function| function.text().ends_with("promisify"));
        let value = match value.kind() {
            "call_expression" if is_promise() => value.child("arguments").and_then(|given| given.parts().next()),
            _ => Some(value),
        };
        let whole = value.map(|value| self.whole(language, value)).unwrap_or_default();
        if MODULES.iter().any(|module| whole.starts_with(module)) && whole != name.text() {
            self.set(name.text(), whole);
        }
    }

    /// The whole name of an expression of names and dots; `.method` of what can't be told; empty of anything else.
    #[must_use]
    pub fn whole(&self, language: Language, node: Node<'_>) -> String {
        match node.kind() {
            "identifier" => self.imported.get(node.text()).cloned().unwrap_or_else(|| node.text().to_owned()),
            "scoped_identifier" => node.text().replace("::", "."),
            "attribute" | "member_expression" | "selector_expression" | "field_expression" => {
                let Some(last) = last_part(node) else { return String::new() };
                self.base(language, node)
                    .map_or_else(|| format!(".{}", last.text()), |base| format!("{base}.{}", last.text()))
            }
            // `process.setuid!(…)`
            "non_null_expression" => node.parts().next().map(|inner| self.whole(language, inner)).unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// What the left of the last dot is, if it is something imported, or known without.
    fn base(&self, language: Language, node: Node<'_>) -> Option<String> {
        let mut parts = Vec::new();
        let mut left = first_part(node)?;
        while left.kind() != "identifier" && !is_require(left) {
            parts.push(last_part(left)?.text());
            left = first_part(left)?;
        }
        let first = match language {
            // `require("child_process").exec`
            _ if is_require(left) => plain(&left.child("arguments")?.parts().next().and_then(literal)?).to_owned(),
            Language::Go => left.text().to_owned(),
            _ => match self.imported.get(left.text()) {
                Some(whole) => whole.clone(),
                None if language.is_script() && GLOBALS.contains(&left.text()) => left.text().to_owned(),
                None => return None,
            },
        };
        Some(parts.iter().rev().fold(first, |whole, part| format!("{whole}.{part}")))
    }
}

fn is_require(node: Node<'_>) -> bool {
    node.kind() == "call_expression" && node.child("function").is_some_and(|function| function.text() == "require")
}

/// What stands before the last dot of an expression.
pub fn first_part(node: Node<'_>) -> Option<Node<'_>> {
    ["object", "operand", "value"].iter().find_map(|field| node.child(field))
}

/// The name behind the last dot of an expression.
pub fn last_part(node: Node<'_>) -> Option<Node<'_>> {
    ["attribute", "property", "field"].iter().find_map(|field| node.child(field))
}

/// A module of node's own, without its prefix.
fn plain(module: &str) -> &str {
    module.strip_prefix("node:").unwrap_or(module)
}
