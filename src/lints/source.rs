//! A file as rules see it: its tree, its calls, and what is guarded.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::guards::Guards;
use super::language::Language;
use super::literal::{literal, pieces};
use super::names::Names;
use super::syntax::{Node, Syntax};

/// What is known of a source before it is parsed.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    pub language: Language,
    /// As findings name it.
    pub file: &'a str,
    /// A command that a host calls is no file: it has this line in the file that wires it.
    pub wired: Option<u64>,
    /// Whether it may be executed, if something starts it by itself.
    pub executable: Option<bool>,
    /// Whether what it takes in of the project is looked at, too.
    pub follows: bool,
}

impl<'a> About<'a> {
    /// A text by itself, of which no more is known.
    #[must_use]
    pub fn of(language: Language, file: &'a str) -> Self {
        Self { language, file, wired: None, executable: None, follows: false }
    }

    /// Whether its name, or that of a folder, says that it is for a system that is no Windows.
    #[must_use]
    pub fn is_for_posix(&self) -> bool {
        const SYSTEMS: &[&str] =
            &["unix", "linux", "darwin", "macos", "osx", "aix", "posix", "freebsd", "bsd", "fork", "forkserver"];
        self.file.split(['/', '_', '.']).any(|part| SYSTEMS.contains(&part))
    }

    /// Whether it is a self-test, by its name.
    #[must_use]
    pub fn is_test(&self) -> bool {
        self.file.split('/').any(|part| {
            let stem = part.split('.').next().unwrap_or(part);
            matches!(stem, "test" | "tests" | "test_support" | "__tests__" | "spec")
                || stem.starts_with("test_")
                || stem.starts_with("test-")
                || stem.ends_with("_test")
                || stem.ends_with("-test")
                || part.contains(".test.")
                || part.contains(".spec.")
                || part.rsplit_once('.').is_some_and(|(_, ending)| ending == "bats")
        })
    }
}

/// One source.
#[derive(Debug)]
pub struct Source<'s> {
    pub language: Language,
    pub text: &'s str,
    pub syntax: &'s Syntax<'s>,
    /// Whether it is a command that a host calls, and no file.
    pub wired: bool,
    /// Whether a host starts it by itself, and it may be; `None` where that is not known.
    pub executable: Option<bool>,
    pub calls: Vec<Call<'s>>,
    about: About<'s>,
    names: &'s Names,
    guards: OnceCell<Guards>,
    indexes: RefCell<HashMap<(&'static str, usize), Rc<Index<'s>>>>,
}

/// Nodes by a text that they are about.
pub type Index<'s> = HashMap<&'s str, Vec<Node<'s>>>;

/// A call of a function, or a command of a shell.
#[derive(Debug, Clone)]
pub struct Call<'s> {
    pub node: Node<'s>,
    /// With imports followed: `subprocess.Popen`; `.method` of what can't be told; of a shell the program, without its folder.
    pub name: String,
    /// What a method is called on.
    pub receiver: Option<Node<'s>>,
    pub positional: Vec<Node<'s>>,
    /// Keywords; of JavaScript the pairs of objects among the arguments.
    pub named: Vec<(&'s str, Node<'s>)>,
    /// Dictionaries that are taken apart into keywords, and what is spread.
    pub spread: Vec<Node<'s>>,
}

impl<'s> Call<'s> {
    /// The value of a keyword.
    #[must_use]
    pub fn keyword(&self, name: &str) -> Option<Node<'s>> {
        self.named.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// A positional argument, or the keyword of that name.
    #[must_use]
    pub fn argument(&self, at: usize, name: &str) -> Option<Node<'s>> {
        self.positional.get(at).copied().or_else(|| self.keyword(name))
    }

    /// The last part of its name.
    #[must_use]
    pub fn method(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }

    /// The words of a shell's command after its program, as far as they are told.
    pub fn words(&self) -> impl Iterator<Item = String> {
        self.positional.iter().map(|node| pieces(*node).unwrap_or_else(|| node.text().to_owned()))
    }
}

/// The function that a node lies in; else the whole file.
#[must_use]
pub fn scope(node: Node<'_>) -> Node<'_> {
    const FUNCTIONS: &[&str] = &[
        "function_definition",
        "function_declaration",
        "function_expression",
        "arrow_function",
        "method_definition",
        "function_item",
        "method_declaration",
    ];
    node.within(FUNCTIONS).unwrap_or_else(|| node.root())
}

impl<'s> Source<'s> {
    /// Sees what rules want of a tree.
    #[must_use]
    pub fn new(about: About<'s>, syntax: &'s Syntax<'s>, names: &'s Names) -> Self {
        let language = about.language;
        let calls = match language {
            Language::Shell => syntax.nodes().filter_map(command).collect(),
            _ => syntax.nodes().filter_map(|node| call(language, node, names)).collect(),
        };
        let text = syntax.text();
        Self {
            language,
            text,
            syntax,
            wired: about.wired.is_some(),
            executable: about.executable,
            calls,
            about,
            names,
            guards: OnceCell::new(),
            indexes: RefCell::default(),
        }
    }

    /// The calls of one of these names.
    pub fn calls_of<'a>(&'a self, names: &'a [&'a str]) -> impl Iterator<Item = &'a Call<'s>> + 'a {
        self.calls.iter().filter(move |call| names.contains(&&*call.name))
    }

    /// What is in a part of the tree, by a text that each node is about; `what` names the question. A rule asks it for each
    /// of its findings, and the part is looked through once.
    pub fn index(
        &self,
        what: &'static str,
        part: Node<'s>,
        about: impl Fn(Node<'s>) -> Option<&'s str>,
    ) -> Rc<Index<'s>> {
        let key = (what, part.index());
        if let Some(known) = self.indexes.borrow().get(&key) {
            return Rc::clone(known);
        }
        let mut index = Index::new();
        for node in part.descendants() {
            if let Some(text) = about(node) {
                index.entry(text).or_default().push(node);
            }
        }
        let index = Rc::new(index);
        self.indexes.borrow_mut().insert(key, Rc::clone(&index));
        index
    }

    /// Where a name stands in a part of the tree.
    pub fn uses(&self, part: Node<'s>, name: &str) -> Vec<Node<'s>> {
        let uses = self.index("uses", part, |node| Some(node.text()).filter(|_| node.kind() == "identifier"));
        uses.get(name).cloned().unwrap_or_default()
    }

    /// Whether the function that a node lies in has something of a kind, asked once per function.
    pub fn scope_has(&self, what: &'static str, node: Node<'s>, is: impl Fn(Node<'s>) -> bool) -> bool {
        !self.index(what, scope(node), |node| is(node).then_some("")).is_empty()
    }

    /// Whether a node is meant for some systems only.
    pub fn is_guarded(&self, node: Node<'_>) -> bool {
        self.guards.get_or_init(|| Guards::of(self.language, self.syntax)).have(node)
    }

    /// The whole name of an expression, with imports followed; empty of anything but names and dots.
    #[must_use]
    pub fn name_of(&self, node: Node<'_>) -> String {
        self.names.whole(self.language, node)
    }

    /// Whether something with a name is imported that begins like this.
    #[must_use]
    pub fn imports(&self, beginnings: &[&str]) -> bool {
        self.names.imported().any(|whole| beginnings.iter().any(|beginning| whole.starts_with(beginning)))
    }

    /// The whole names of what is imported.
    pub fn imported(&self) -> impl Iterator<Item = &str> {
        self.names.imported()
    }

    /// Whether its name, or that of a folder, says that it is for a system that is no Windows.
    #[must_use]
    pub fn is_for_posix(&self) -> bool {
        self.about.is_for_posix()
    }

    /// Whether it is a self-test, by its name.
    #[must_use]
    pub fn is_test(&self) -> bool {
        self.about.is_test()
    }
}

impl Source<'_> {
    /// Whether a place is in a self-test: in a file of them, or in a module of Rust's that is one.
    #[must_use]
    pub fn is_test_at(&self, node: Node<'_>) -> bool {
        let is_module = |around: Node<'_>| {
            let name = around.child("name").map_or("", Node::text);
            around.kind() == "mod_item" && (name == "tests" || name == "test" || name.ends_with("_tests"))
        };
        self.is_test() || self.language == Language::Rust && node.ancestors().any(is_module)
    }
}

fn call<'s>(language: Language, node: Node<'s>, names: &Names) -> Option<Call<'s>> {
    if !matches!(node.kind(), "call" | "call_expression" | "new_expression") || !node.is_named() {
        return None;
    }
    let function = node.child("function").or_else(|| node.child("constructor"))?;
    let mut call = Call {
        node,
        name: names.whole(language, function),
        receiver: ["object", "operand", "value"].iter().find_map(|field| function.child(field)),
        positional: Vec::new(),
        named: Vec::new(),
        spread: Vec::new(),
    };
    for argument in node.child("arguments").into_iter().flat_map(Node::parts) {
        match argument.kind() {
            "keyword_argument" => {
                if let (Some(name), Some(value)) = (argument.child("name"), argument.child("value")) {
                    call.named.push((name.text(), value));
                }
            }
            "dictionary_splat" | "list_splat" | "spread_element" => call.spread.push(argument),
            _ => {
                if argument.kind() == "object" {
                    let (pairs, spread) = pairs(argument);
                    call.named.extend(pairs);
                    call.spread.extend(spread);
                }
                call.positional.push(argument);
            }
        }
    }
    Some(call)
}

/// Keys and values of an object, with what is spread into it.
#[must_use]
pub fn pairs(object: Node<'_>) -> (Vec<(&str, Node<'_>)>, Vec<Node<'_>>) {
    let (mut pairs, mut spread) = (Vec::new(), Vec::new());
    for part in object.parts() {
        match (part.kind(), part.child("key"), part.child("value")) {
            (_, Some(key), Some(value)) => pairs.push((key.text().trim_matches(['"', '\'']), value)),
            ("shorthand_property_identifier", ..) => pairs.push((part.text(), part)),
            ("spread_element", ..) => spread.push(part),
            _ => {}
        }
    }
    (pairs, spread)
}

fn command(node: Node<'_>) -> Option<Call<'_>> {
    if node.kind() != "command" || !node.is_named() {
        return None;
    }
    let name = node.child("name")?.parts().next().and_then(literal).unwrap_or_default();
    let positional = node.children().filter(|part| part.field() == Some("argument")).collect();
    let name = name.rsplit('/').next().unwrap_or_default().to_owned();
    Some(Call { node, name, receiver: None, positional, named: Vec::new(), spread: Vec::new() })
}
