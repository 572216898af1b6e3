//! What of a project a source takes in: modules that are imported, scripts that are sourced. They run as a part of it.

use super::language::Language;
use super::literal::{HOLE, literal, pieces};
use super::needs::{Need, Sign};
use super::syntax::{Node, Syntax};
use crate::wirings::join;

/// Where it may take in something.
pub const NEEDS: &[Need] = &[
    Need::of(&[Language::Python], &[Sign::Text(r"\bimport\b")]),
    Need::of(&[Language::Shell], &[Sign::Text(r#"(?m)\bsource\b|(?:^|[^\w./-])\.[\s\\"']"#)]),
    Need::of(Language::SCRIPTS, &[Sign::Text(r"\b(?:import|export|require)\b"), Sign::Text(r"\./")]),
];

/// The files that one import may mean, relative to where the source's own name is; the first that is there is meant.
pub type Candidates = Vec<String>;

/// What a source of that name takes in, as far as it stands there.
#[must_use]
pub fn imports(language: Language, name: &str, syntax: &Syntax<'_>) -> Vec<Candidates> {
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    match language {
        Language::Python => syntax.nodes().flat_map(|node| python(folder, node)).collect(),
        Language::Shell => syntax.nodes().filter_map(|node| shell(folder, node)).collect(),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            syntax.nodes().filter_map(|node| script(folder, node)).collect()
        }
        // They are compiled: what a file takes in is told by other files.
        Language::Rust | Language::Go => Vec::new(),
    }
}

/// A folder, and those that it is in, the nearest first.
fn upwards(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| {
        (!folder.is_empty()).then(|| folder.rsplit_once('/').map_or("", |(above, _)| above))
    })
}

fn python(folder: &str, node: Node<'_>) -> Vec<Candidates> {
    let names = || node.children().filter(|part| part.field() == Some("name"));
    let text = |part: Node<'_>| part.child("name").unwrap_or(part).text().to_owned();
    match node.kind() {
        "import_statement" => names().map(|part| python_module(folder, &text(part))).collect(),
        "import_from_statement" => {
            let Some(module) = node.child("module_name").map(Node::text) else { return Vec::new() };
            let dots = module.bytes().take_while(|byte| *byte == b'.').count();
            let rest = &module[dots..];
            let each = |name: String| if rest.is_empty() { name } else { format!("{rest}.{name}") };
            // A name may be that of a module in it.
            let inside = names().map(text).map(each);
            let all = Some(rest.to_owned()).filter(|rest| !rest.is_empty()).into_iter().chain(inside);
            if dots == 0 {
                return all.map(|module| python_module(folder, &module)).collect();
            }
            let Some(base) = upwards(folder).nth(dots - 1) else { return Vec::new() };
            let mut found: Vec<Candidates> = all.map(|module| files_of_module(base, &module)).collect();
            found.extend(rest.is_empty().then(|| vec![below(base, "__init__.py")]));
            found
        }
        _ => Vec::new(),
    }
}

/// Beside the source, or beside what lies around it: where Python looks is where the first script was.
fn python_module(folder: &str, module: &str) -> Candidates {
    upwards(folder).flat_map(|folder| files_of_module(folder, module)).collect()
}

fn files_of_module(folder: &str, module: &str) -> Candidates {
    let path = module.replace('.', "/");
    vec![below(folder, &format!("{path}.py")), below(folder, &format!("{path}/__init__.py"))]
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// `. "$(dirname "$0")/lib.sh"`, `source lib.sh`
fn shell(folder: &str, node: Node<'_>) -> Option<Candidates> {
    let program = node.child("name").filter(|_| node.kind() == "command")?.text();
    matches!(program, "source" | ".").then_some(())?;
    let word = node.children().find(|part| part.field() == Some("argument"))?;
    let text = pieces(word)?;
    // What stands before is a folder that is found out when it runs.
    let file = text.rsplit(HOLE).next().unwrap_or_default().trim_start_matches('/');
    let is_absolute = text.starts_with('/');
    (!file.is_empty() && !is_absolute).then(|| upwards(folder).filter_map(|folder| join(folder, file)).collect())
}

/// `require('./x')`, `import x from './x.mjs'`, `import('./x')`
fn script(folder: &str, node: Node<'_>) -> Option<Candidates> {
    let text = match node.kind() {
        "import_statement" | "export_statement" => literal(node.child("source")?)?,
        "call_expression" => {
            let function = node.child("function")?;
            (function.text() == "require" || function.kind() == "import").then_some(())?;
            literal(node.child("arguments")?.parts().next()?)?
        }
        _ => return None,
    };
    if !text.starts_with("./") && !text.starts_with("../") {
        return None;
    }
    let path = join(folder, &text)?;
    let endings = ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", "/index.js", "/index.ts"];
    let mut all: Candidates = endings.iter().map(|ending| format!("{path}{ending}")).collect();
    // TypeScript writes the name that its output has.
    all.extend(path.strip_suffix(".js").map(|stem| format!("{stem}.ts")));
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and the last file that each import may mean.
    fn of(language: Language, name: &str, text: &str) -> Vec<(String, String)> {
        let syntax = Syntax::parse(language, text).expect("a tree");
        let ends = |files: Candidates| Some((files.first()?.clone(), files.last()?.clone()));
        imports(language, name, &syntax).into_iter().filter_map(ends).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(first, last)| ((*first).to_owned(), (*last).to_owned())).collect()
    }

    #[test]
    fn modules_lie_beside_a_script_or_above_it() {
        let found = of(Language::Python, "hooks/a/x.py", "import lib.state as s\n");
        assert_eq!(found, pairs(&[("hooks/a/lib/state.py", "lib/state/__init__.py")]));
        let found = of(Language::Python, "hooks/a/x.py", "from . import y\nfrom ..b.c import d\n");
        let wanted = [
            ("hooks/a/y.py", "hooks/a/y/__init__.py"),
            ("hooks/a/__init__.py", "hooks/a/__init__.py"),
            ("hooks/b/c.py", "hooks/b/c/__init__.py"),
            ("hooks/b/c/d.py", "hooks/b/c/d/__init__.py"),
        ];
        assert_eq!(found, pairs(&wanted));
        assert_eq!(of(Language::Python, "x.py", "from ... import y\n"), [], "there is nothing above the project");
    }

    #[test]
    fn scripts_are_sourced_and_required() {
        let found =
            of(Language::Shell, "hooks/x.sh", ". \"$(dirname \"$0\")/lib.sh\"\nsource /etc/profile\n. ./more.sh\n");
        assert_eq!(found, pairs(&[("hooks/lib.sh", "lib.sh"), ("hooks/more.sh", "more.sh")]));
        let found = of(
            Language::JavaScript,
            "hooks/x.js",
            "const a = require('../lib/a');\nimport 'node:fs';\nimport b from './b.mjs';\n",
        );
        assert_eq!(found, pairs(&[("lib/a", "lib/a/index.ts"), ("hooks/b.mjs", "hooks/b.mjs/index.ts")]));
    }
}
