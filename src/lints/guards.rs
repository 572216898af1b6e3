//! Where a source asks which system it is on: what lies there is meant for some systems only.

use std::collections::BTreeSet;

use super::language::Language;
use super::paths::words;
use super::syntax::{Node, Syntax};

/// The parts of a source that are guarded, as ranges of nodes.
#[derive(Debug, Default)]
pub struct Guards {
    /// Sorted, none in another.
    ranges: Vec<(usize, usize)>,
}

/// The longest condition that is looked into, in nodes.
const LONGEST: usize = 300;

/// Words of names that do the same and are parts of others.
const ASKING_WORDS: &[&str] = &["win", "fork", "supports", "requires"];

/// Parts of names that ask for a system or for what only some have.
const ASKING: &[&str] = &[
    "windows",
    "win32",
    "posix",
    "platform",
    "linux",
    "darwin",
    "macos",
    "unix",
    "hasattr",
    "fcntl",
    "msvcrt",
    "goos",
    "ostype",
    "msystem",
    "uname",
    "cygwin",
    "iswin",
    "find_spec",
    "kqueue",
    "epoll",
    "af_unix",
];

/// Decorators that let a test run only where it can.
const SKIPPING: &[&str] = &["skipUnless", "skipIf", "skipif"];

/// Statements after which the rest of a block is not reached.
const LEAVING: &[&str] =
    &["return_statement", "raise_statement", "continue_statement", "break_statement", "throw_statement"];

/// Calls that do the same.
const ENDING: &[&str] = &["exit", "skip", "skipTest", "SkipTest", "_exit", "abort", "importorskip"];

/// Errors that mean: this system has none.
const LACKS: &[&str] =
    &["ImportError", "ModuleNotFoundError", "AttributeError", "NotImplementedError", "Exception", "NameError"];

impl Guards {
    /// Of a source.
    #[must_use]
    pub fn of(language: Language, syntax: &Syntax<'_>) -> Self {
        let known = answers(syntax);
        let asks = |node: Node<'_>| asks(node, &known);
        let mut found = Vec::new();
        for node in syntax.nodes().filter(|node| node.is_named()) {
            let range = (node.index(), node.end_index());
            match node.kind() {
                "if_statement" | "elif_clause" | "if_expression" | "while_statement" => {
                    let condition = node.child("condition");
                    // A shell has several commands in one condition.
                    let asks = match language {
                        Language::Shell => node.children().take_while(|part| part.kind() != "then").any(asks),
                        _ => condition.is_some_and(asks),
                    };
                    if asks {
                        // A branch that is Windows' own is where what Windows lacks surely fails.
                        let windows = node.child("consequence").filter(|_| condition.is_some_and(is_for_windows));
                        found.push(windows.map_or(range, |branch| (branch.end_index(), range.1)));
                        if leaves(node)
                            && let Some(parent) = node.parent()
                        {
                            found.push((windows.map_or(range.0, |_| range.1), parent.end_index()));
                            // What `setUp` skips, it skips for the whole class.
                            let setup = node.within(&["function_definition"]).filter(|function| {
                                let name = function.child("name").map_or("", Node::text);
                                matches!(name, "setUp" | "setUpClass" | "setUpModule" | "setup_method")
                            });
                            let class =
                                setup.map(|setup| setup.within(&["class_definition"]).unwrap_or_else(|| syntax.root()));
                            found.extend(class.map(|class| (class.index(), class.end_index())));
                        }
                    }
                }
                "conditional_expression"
                | "ternary_expression"
                | "case_statement"
                | "match_statement"
                | "switch_statement"
                | "expression_switch_statement" => {
                    let head: Vec<_> = match node.kind() {
                        // The value, `if`, the condition.
                        "conditional_expression" => node.parts().nth(1).into_iter().collect(),
                        _ => ["condition", "value", "subject"].iter().filter_map(|field| node.child(field)).collect(),
                    };
                    if head.into_iter().any(asks) {
                        found.push(range);
                    }
                }
                "boolean_operator" | "binary_expression" | "list"
                    if node.parent().is_none_or(|parent| parent.kind() != node.kind())
                        && node.children().any(|part| matches!(part.kind(), "and" | "or" | "&&" | "||"))
                        && node.children().next().is_some_and(asks) =>
                {
                    found.push(range);
                }
                "try_statement" if catches_lack(node) => {
                    found.push(range);
                    // Who leaves in the handler does not come to what follows.
                    let leaves = node.parts().filter(|part| part.kind() == "except_clause").flat_map(Node::descendants);
                    if leaves.into_iter().any(|part| LEAVING.contains(&part.kind()))
                        && let Some(parent) = node.parent()
                    {
                        found.push((node.index(), parent.end_index()));
                    }
                }
                "decorated_definition" => {
                    let skips = |part: Node<'_>| {
                        part.descendants().any(|word| word.kind() == "identifier" && SKIPPING.contains(&word.text()))
                    };
                    if node.parts().any(|part| part.kind() == "decorator" && (asks(part) || skips(part))) {
                        found.push(range);
                    }
                }
                // `assert os.name == "posix"`
                "assert_statement" if asks(node) => {
                    found.extend(node.parent().map(|parent| (node.index(), parent.end_index())));
                }
                // `with suppress(NotImplementedError):`
                "with_statement" if suppresses_lack(node) => found.push(range),
                // `pytest.importorskip("fcntl")`, `import_helper.import_module("fcntl")`: the file ends here elsewhere.
                "call" if skips_file(node) => found.push((0, syntax.root().end_index())),
                // `pytestmark = pytest.mark.skipif(sys.platform == "win32", …)` is for the whole file.
                "assignment" if node.child("left").is_some_and(|left| left.text() == "pytestmark") && asks(node) => {
                    found.push((0, syntax.root().end_index()));
                }
                // `#[cfg(unix)]` is for what follows.
                "attribute_item" | "inner_attribute_item" if language == Language::Rust && asks(node) => {
                    let parent = node.parent().unwrap_or(node);
                    let next = parent
                        .children()
                        .find(|next| next.index() > node.index() && next.is_named() && next.kind() != "attribute_item");
                    let inner = node.kind() == "inner_attribute_item";
                    found.extend(if inner {
                        Some((parent.index(), parent.end_index()))
                    } else {
                        next.map(|next| (next.index(), next.end_index()))
                    });
                }
                "macro_invocation"
                    if language == Language::Rust
                        && node.child("macro").is_some_and(|name| name.text().contains("cfg")) =>
                {
                    found.push(range);
                }
                "comment"
                    if language == Language::Go
                        && (node.text().starts_with("//go:build") || node.text().starts_with("// +build")) =>
                {
                    found.push((0, syntax.root().end_index()));
                }
                _ => {}
            }
        }
        Self { ranges: merged(found) }
    }

    /// Whether a node is meant for some systems only.
    #[must_use]
    pub fn have(&self, node: Node<'_>) -> bool {
        let at = node.index();
        let next = self.ranges.partition_point(|(start, _)| *start <= at);
        next > 0 && at < self.ranges[next - 1].1
    }
}

/// Sorted, and none in another.
fn merged(mut ranges: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    ranges.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (start, end) in ranges {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// Names that a file gives to an answer: `_WINDOWS = sys.platform == "win32"`, `fcntl = None` beside an import.
fn answers<'s>(syntax: &'s Syntax<'s>) -> BTreeSet<&'s str> {
    let mut names = BTreeSet::new();
    for node in syntax.nodes() {
        let (left, right) = match node.kind() {
            "assignment" => (node.child("left"), node.child("right")),
            "variable_declarator" => (node.child("name"), node.child("value")),
            _ => continue,
        };
        if let (Some(left), Some(right)) = (left, right)
            && left.kind() == "identifier"
            && (asks(right, &BTreeSet::new()) || right.kind() == "none" && node.within(&["except_clause"]).is_some())
        {
            names.insert(left.text());
        }
    }
    names
}

/// Whether an expression asks which system this is, or whether it has something.
fn asks(condition: Node<'_>, known: &BTreeSet<&str>) -> bool {
    condition.descendants().take(LONGEST).any(|node| {
        let is_word = matches!(
            node.kind(),
            "identifier" | "property_identifier" | "field_identifier" | "string_content" | "string_fragment" | "word"
                | "variable_name" | "interpreted_string_literal_content"
        );
        if !is_word {
            return false;
        }
        let text = node.text();
        // `if os.fork(): return` forks, and asks for nothing.
        let around = node.parent().filter(|_| text == "fork");
        if around.is_some_and(|fork| fork.parent().is_some_and(|call| call.child("function") == Some(fork))) {
            return false;
        }
        let lower = text.to_ascii_lowercase();
        text == "nt" || text == "TYPE_CHECKING" || is_asked_for(node) || node.kind() == "identifier" && known.contains(text) || asks_by_name(text, &lower) || lower == "getattr" && is_of_module(node)
            // `os.name`
            || text == "name" && node.parent().is_some_and(|parent| parent.text() == "os.name")
            || lower == "win"
    })
}

/// Whether a function that not all systems have is named, and not called: `process.getuid && …`, `typeof process.getuid`.
fn is_asked_for(node: Node<'_>) -> bool {
    const FUNCTIONS: &[&str] = &["getuid", "geteuid", "getgid", "getegid", "setuid", "setgid", "getgroups"];
    let is_called = || {
        node.parent().is_some_and(|member| member.parent().is_some_and(|call| call.child("function") == Some(member)))
    };
    node.kind() == "property_identifier" && FUNCTIONS.contains(&node.text()) && !is_called()
}

/// Whether a name or a text is about systems: by a word that says nothing else, or by a shorter one that stands for itself.
fn asks_by_name(text: &str, lower: &str) -> bool {
    ASKING.iter().any(|asking| lower.contains(asking)) || {
        let words = words(text);
        words.iter().any(|word| ASKING_WORDS.contains(&word.as_str()))
            || words.len() > 1 && matches!(words[0].as_str(), "have" | "has" | "is" | "on") && {
                words[0].starts_with("ha") || words[1] == "nt"
            }
    }
}

/// Whether `getattr` asks a module of the system for something.
fn is_of_module(getattr: Node<'_>) -> bool {
    let call = getattr.parent().filter(|call| call.kind() == "call");
    let first = call.and_then(|call| call.child("arguments")?.parts().next());
    first.is_some_and(|first| {
        matches!(first.text(), "os" | "sys" | "signal" | "socket" | "select" | "subprocess" | "time" | "resource")
    })
}

/// Whether a condition is true on Windows, and nowhere else: `os.name == "nt"`, `sys.platform.startswith("win")`.
fn is_for_windows(condition: Node<'_>) -> bool {
    let condition = match condition.kind() {
        "parenthesized_expression" => condition.parts().next().unwrap_or(condition),
        _ => condition,
    };
    let says = |text: &str| condition.descendants().take(LONGEST).any(|node| node.text() == text);
    let of_system = ["os.name", "sys.platform", "platform.system()", "process.platform", "os.platform()"];
    if !of_system.into_iter().any(says)
        || !condition.descendants().take(LONGEST).any(|node| WINDOWS.contains(&node.text()))
    {
        return false;
    }
    match condition.kind() {
        "comparison_operator" | "binary_expression" => says("==") || says("==="),
        "call" => condition.child("function").is_some_and(|function| function.text() == "sys.platform.startswith"),
        _ => false,
    }
}

/// What systems call themselves when they are Windows.
const WINDOWS: &[&str] = &["nt", "win32", "Windows", "win"];

/// Whether a branch ends in leaving what it lies in.
fn leaves(statement: Node<'_>) -> bool {
    let Some(body) = statement.child("consequence").or_else(|| statement.child("body")) else {
        // Of a shell: the last command before `fi`.
        let last = statement.parts().last();
        return last.is_some_and(|last| matches!(last.text().split_whitespace().next(), Some("exit" | "return")));
    };
    if statement.child("alternative").is_some() {
        return false;
    }
    let last = if body.parts().next().is_none() { Some(body) } else { body.parts().last() };
    let last =
        last.map(|last| if last.kind() == "statement_list" { last.parts().last().unwrap_or(last) } else { last });
    last.is_some_and(|last| {
        if LEAVING.contains(&last.kind()) || LEAVING.contains(&body.kind()) {
            return true;
        }
        let call = last.descendants().take(4).find(|node| matches!(node.kind(), "call" | "call_expression"));
        let name = call.and_then(|call| call.child("function")).map(Node::text);
        name.is_some_and(|name| ENDING.contains(&name.rsplit('.').next().unwrap_or(name)))
    })
}

fn suppresses_lack(statement: Node<'_>) -> bool {
    let items = statement.parts().filter(|part| part.kind() == "with_clause");
    let mut words = items.flat_map(Node::descendants).filter(|node| node.kind() == "identifier").map(Node::text);
    words.any(|word| word == "suppress") && {
        let items = statement.parts().filter(|part| part.kind() == "with_clause");
        items.flat_map(Node::descendants).any(|node| LACKS.contains(&node.text()))
    }
}

fn skips_file(call: Node<'_>) -> bool {
    let name = call.child("function").map_or("", Node::text);
    let outside = call.within(&["function_definition"]).is_none();
    outside && matches!(name.rsplit('.').next(), Some("import_module" | "importorskip" | "requires_fork"))
}

fn catches_lack(statement: Node<'_>) -> bool {
    statement.parts().filter(|part| part.kind() == "except_clause").any(|clause| {
        let errors = clause.children().take_while(|part| part.kind() != ":");
        let mut named = errors.flat_map(Node::descendants).filter(|node| node.kind() == "identifier").peekable();
        // A bare `except:` catches everything.
        named.peek().is_none() || named.any(|node| LACKS.contains(&node.text()))
    })
}
