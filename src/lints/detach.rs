//! How a source starts processes that are to outlive it.

use super::language::Language;
use super::literal::{literal, pieces};
use super::needs::{Need, Sign};
use super::shell::argv;
use super::source::{Call, Source, scope};
use super::syntax::Node;

/// A process that is started to live on, with what is said about how.
#[derive(Debug)]
pub struct Detached<'s> {
    /// What is pointed at.
    pub node: Node<'s>,
    /// What makes it live on, as it is written.
    pub by: &'static str,
    /// Whether it says where the process starts.
    pub has_cwd: bool,
    /// Whether it says where its output goes.
    pub has_output: bool,
}

/// What starts a process that lives on.
pub const DETACHING: Need = Need::of(
    &[Language::Shell, Language::JavaScript, Language::TypeScript, Language::Tsx, Language::Rust, Language::Go],
    &[Sign::Text(r"\b(?:nohup|[sS]etsid|detached|process_group)\b")],
);
/// The same in Python.
pub const DETACHING_PYTHON: Need = Need::of(
    &[Language::Python],
    &[Sign::Text(r"\b(?:nohup|start_new_session|setsid|setpgrp|setpgid|DETACHED_PROCESS)\b")],
);

/// The processes that a source starts to live on and does not wait for.
#[must_use]
pub fn detached<'s>(source: &Source<'s>) -> Vec<Detached<'s>> {
    match source.language {
        Language::Python => source.calls_of(&["subprocess.Popen"]).filter_map(|call| python(source, call)).collect(),
        Language::JavaScript | Language::TypeScript | Language::Tsx => source
            .calls_of(&["child_process.spawn", "child_process.fork"])
            .filter_map(|call| script(source, call))
            .collect(),
        Language::Rust => source.calls.iter().filter_map(|call| rust(source, call)).collect(),
        Language::Go => source.syntax.nodes().filter_map(|node| go(source, node)).collect(),
        Language::Shell => Vec::new(),
    }
}

/// What a call of `Popen` says, keywords from dictionaries included.
#[derive(Debug, Default)]
pub struct Options<'s> {
    pub pairs: Vec<(String, Node<'s>)>,
    /// Whether there are some that can't be told.
    pub untold: bool,
}

impl<'s> Options<'s> {
    /// Of a call.
    #[must_use]
    pub fn of(source: &Source<'s>, call: &Call<'s>) -> Self {
        let mut options = Self::default();
        options.pairs.extend(call.named.iter().map(|(name, value)| ((*name).to_owned(), *value)));
        for spread in call.spread.iter().filter(|spread| spread.kind() == "dictionary_splat") {
            let before = options.pairs.len();
            match spread.parts().next() {
                Some(name) if name.kind() == "identifier" => {
                    options.assigned(source, scope(call.node), name.text());
                    if options.pairs.len() == before {
                        options.assigned(source, source.syntax.root(), name.text());
                    }
                }
                Some(other) => {
                    options.dictionaries(other);
                    // `**how_to_detach()`
                    if let Some(function) = other.child("function")
                        && let Some(definition) = definition(source, function.text())
                    {
                        options.dictionaries(definition);
                    }
                }
                None => {}
            }
            options.untold |= options.pairs.len() == before;
        }
        options
    }

    /// Adds what a name stands for, wherever it is given something in a part of the tree. What is given something more often
    /// than people do is not known.
    fn assigned(&mut self, source: &Source<'s>, part: Node<'s>, name: &str) {
        const MOST: usize = 50;
        let index = source.index("given", part, |node| match node.kind() {
            "assignment" => {
                let left = node.child("left")?;
                Some(if left.kind() == "subscript" { left.child("value")?.text() } else { left.text() })
            }
            "call" => Some(node.child("function")?.child("object")?.text()),
            _ => None,
        });
        let given = index.get(name).map_or(&[][..], Vec::as_slice);
        self.untold |= given.len() > MOST;
        for &node in given.iter().take(MOST) {
            match node.kind() {
                "assignment" => {
                    let (Some(left), Some(right)) = (node.child("left"), node.child("right")) else { continue };
                    if left.text() == name {
                        self.dictionaries(right);
                    } else if left.kind() == "subscript"
                        && left.child("value").is_some_and(|value| value.text() == name)
                        && let Some(key) = left.child("subscript").and_then(literal)
                    {
                        self.pairs.push((key, right));
                    }
                }
                "call" => {
                    let is_update = node.child("function").is_some_and(|function| {
                        function.child("object").is_some_and(|object| object.text() == name)
                            && function.text().ends_with(".update")
                    });
                    if is_update {
                        self.dictionaries(node);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the pairs of every dictionary below a node, of subscripts too.
    fn dictionaries(&mut self, below: Node<'s>) {
        for node in below.descendants() {
            match node.kind() {
                "pair" => {
                    if let (Some(key), Some(value)) = (node.child("key").and_then(literal), node.child("value")) {
                        self.pairs.push((key, value));
                    }
                }
                "keyword_argument" => {
                    if let (Some(name), Some(value)) = (node.child("name"), node.child("value")) {
                        self.pairs.push((name.text().to_owned(), value));
                    }
                }
                "assignment" => {
                    let left = node.child("left").filter(|left| left.kind() == "subscript");
                    let key = left.and_then(|left| left.child("subscript")).and_then(literal);
                    if let (Some(key), Some(value)) = (key, node.child("right")) {
                        self.pairs.push((key, value));
                    }
                }
                _ => {}
            }
        }
    }

    /// The values of a keyword.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Node<'s>> + 'a {
        self.pairs.iter().filter(move |(key, _)| key == name).map(|(_, value)| *value)
    }

    /// Whether a keyword is given something other than nothing.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.values(name).any(|value| !matches!(value.text(), "None" | "False"))
    }
}

/// The function of that name in a source.
fn definition<'s>(source: &Source<'s>, name: &str) -> Option<Node<'s>> {
    let last = name.rsplit('.').next().unwrap_or(name);
    let definitions = source.index("definitions", source.syntax.root(), |node| {
        node.child("name").filter(|_| node.kind() == "function_definition").map(Node::text)
    });
    definitions.get(last).and_then(|these| these.first()).copied()
}

fn python<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<Detached<'s>> {
    let options = Options::of(source, call);
    let mentions = |name: &str, words: &[&str]| options.values(name).any(|value| mentions(source, call, value, words));
    let by = if options.has("start_new_session") {
        "start_new_session"
    } else if mentions("preexec_fn", &["setsid", "setpgrp", "setpgid"]) {
        "setsid"
    } else if mentions("creationflags", &["DETACHED_PROCESS"]) {
        "DETACHED_PROCESS"
    } else {
        by_program(source, call)?
    };
    if is_waited_for(source, call) {
        return None;
    }
    Some(Detached {
        node: call.node,
        by,
        has_cwd: options.has("cwd") || options.untold,
        has_output: options.has("stdout") || options.untold,
    })
}

/// The program of an argv whose work it is to let another one live on.
fn by_program(source: &Source<'_>, call: &Call<'_>) -> Option<&'static str> {
    let argv = argv(source, call)?;
    let program = argv.first()?.rsplit('/').next()?;
    [("setsid", "setsid"), ("nohup", "nohup")].into_iter().find(|(name, _)| *name == program).map(|(_, by)| by)
}

/// Whether a value mentions one of these words, or is a name that was given a value which does.
fn mentions<'s>(source: &Source<'s>, call: &Call<'s>, value: Node<'s>, words: &[&str]) -> bool {
    let says = |node: Node<'_>| {
        node.descendants().any(|node| {
            matches!(node.kind(), "identifier" | "property_identifier" | "field_identifier" | "string_content")
                && words.contains(&node.text())
        })
    };
    says(value)
        || value.kind() == "identifier"
            && source
                .index("assigned", scope(call.node), |node| {
                    let assigns = matches!(node.kind(), "assignment" | "augmented_assignment");
                    node.child("left").filter(|_| assigns).map(Node::text)
                })
                .get(value.text())
                .is_some_and(|given| given.iter().filter_map(|node| node.child("right")).any(says))
}

/// Whether the source keeps the process, and waits for it, or hands it to its caller.
fn is_waited_for<'s>(source: &Source<'s>, call: &Call<'s>) -> bool {
    const WAITING: &[&str] = &["wait", "communicate", "terminate", "kill", "returncode", "killpg", "send_signal"];
    let Some(parent) = call.node.parent() else { return false };
    let kept = match parent.kind() {
        "assignment" => parent.child("left"),
        "expression_statement" => return false,
        // `with Popen(…)`, `return Popen(…)`, an argument of something.
        _ => return true,
    };
    let Some(name) = kept else { return false };
    // In `self.child` another method may wait.
    let own = name.kind() == "identifier";
    let part = if own { scope(call.node) } else { source.syntax.root() };
    let waited_for = source.index("waited for", part, |node| match node.kind() {
        "attribute" => {
            let waits = node.child("attribute").is_some_and(|method| WAITING.contains(&method.text()));
            node.child("object").filter(|_| waits).map(Node::text)
        }
        "return_statement" | "yield" => node.parts().next().map(Node::text),
        _ => None,
    });
    waited_for.contains_key(name.text())
}

fn script<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<Detached<'s>> {
    let asked = call.keyword("detached").filter(|detached| detached.text() != "false");
    let by = if asked.is_some() { "detached" } else { by_program(source, call)? };
    let unrefs =
        source.scope_has("unrefs", call.node, |node| node.kind() == "property_identifier" && node.text() == "unref");
    if !unrefs {
        return None;
    }
    let inherits = |stdio: Node<'_>| stdio.descendants().any(|node| pieces(node).as_deref() == Some("inherit"));
    let untold = !call.spread.is_empty();
    Some(Detached {
        node: call.node,
        by,
        has_cwd: call.keyword("cwd").is_some() || untold,
        // Without it there are pipes, which the child loses with its parent.
        has_output: !call.keyword("stdio").is_some_and(inherits),
    })
}

/// `Command::new(…)….process_group(0)….spawn()`, in one expression, or by a name that the calls share.
fn rust<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<Detached<'s>> {
    if call.method() != "spawn" {
        return None;
    }
    let of_chain = |end: Node<'s>| {
        std::iter::successors(Some(end), |node| node.child("function").and_then(|function| function.child("value")))
            .take(64)
            .collect::<Vec<_>>()
    };
    let mut parts = of_chain(call.receiver?);
    if let Some(name) = parts.last().filter(|last| last.kind() == "identifier").map(|last| last.text()) {
        let shared = source.index("called on", scope(call.node), |node| match node.kind() {
            "call_expression" => {
                let on = node.child("function")?.child("value")?;
                let first =
                    std::iter::successors(Some(on), |node| node.child("function")?.child("value")).take(64).last();
                first.filter(|first| first.kind() == "identifier").map(Node::text)
            }
            "let_declaration" => node.child("pattern").map(Node::text),
            _ => None,
        });
        for &node in shared.get(name).into_iter().flatten() {
            parts.extend(node.child("value").map_or_else(|| vec![node], of_chain));
        }
    }
    let chain: Vec<&str> =
        parts.iter().filter_map(|node| node.child("function")?.child("field").map(Node::text)).collect();
    let sets_session = || {
        let hooks = parts.iter().filter(|node| {
            node.child("function")
                .and_then(|function| function.child("field"))
                .is_some_and(|it| it.text() == "pre_exec")
        });
        hooks.flat_map(|node| node.descendants()).any(|node| node.kind() == "identifier" && node.text() == "setsid")
    };
    let by = if chain.contains(&"process_group") {
        "process_group"
    } else if sets_session() {
        "setsid"
    } else {
        return None;
    };
    if call.node.within(&["let_declaration"]).is_some_and(|let_| let_.child("value") == Some(call.node)) {
        return None;
    }
    Some(Detached {
        node: call.node,
        by,
        has_cwd: chain.contains(&"current_dir"),
        has_output: chain.contains(&"stdout"),
    })
}

/// `&syscall.SysProcAttr{Setsid: true}`
fn go<'s>(source: &Source<'s>, node: Node<'s>) -> Option<Detached<'s>> {
    if node.kind() != "composite_literal"
        || !node.child("type").is_some_and(|name| name.text().ends_with("SysProcAttr"))
    {
        return None;
    }
    let is_detaching = node
        .descendants()
        .any(|node| node.kind() == "keyed_element" && node.parts().next().is_some_and(|key| key.text() == "Setsid"));
    if !is_detaching {
        return None;
    }
    let fields = source.index("fields", scope(node), |node| (node.kind() == "field_identifier").then(|| node.text()));
    if ["Wait", "Run", "Output", "CombinedOutput"].iter().any(|field| fields.contains_key(field)) {
        return None;
    }
    Some(Detached { node, by: "Setsid", has_cwd: fields.contains_key("Dir"), has_output: true })
}
