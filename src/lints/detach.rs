//! How a source starts processes that are to outlive it.

use super::flags::{is_detached_process, says_detached};
use super::language::Language;
use super::literal::{literal, pieces};
use super::needs::{Need, Sign};
use super::options::{Options, definition};
use super::shell::argv;
use super::source::{Call, Source, pairs, scope};
use super::syntax::Node;
use super::values::values;

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
    &[Sign::Text(r"\b(?:nohup|[sS]etsid|[sS]etpgid|detached|process_group|creation_flags|CreationFlags|disown)\b")],
);
/// The same in Python.
pub const DETACHING_PYTHON: Need = Need::of(
    &[Language::Python],
    &[Sign::Text(r"\b(?:nohup|start_new_session|process_group|setsid|setpgrp|setpgid|creationflags|disown)\b")],
);

/// The processes that a source starts to live on and does not wait for.
#[must_use]
pub fn detached<'s>(source: &Source<'s>) -> Vec<Detached<'s>> {
    match source.language {
        Language::Python => {
            let mut all: Vec<_> = source.calls.iter().filter_map(|call| python(source, call)).collect();
            all.extend(source.calls_of(&["os.setsid"]).filter_map(|call| forked(source, call)));
            all
        }
        Language::JavaScript | Language::TypeScript | Language::Tsx => source
            .calls_of(&["child_process.spawn", "child_process.fork", "Bun.spawn"])
            .filter_map(|call| script(source, call))
            .collect(),
        Language::Rust => source.calls.iter().filter_map(|call| rust(source, call)).collect(),
        Language::Go => source.syntax.nodes().filter_map(|node| go(source, node)).collect(),
        Language::Shell => Vec::new(),
    }
}

/// What starts a process of Python's: what is called, or what is given to `functools.partial`, or to the class that it is
/// made of.
const STARTERS: &[&str] = &[
    "subprocess.Popen",
    "asyncio.create_subprocess_exec",
    "asyncio.create_subprocess_shell",
    "os.posix_spawn",
    "os.posix_spawnp",
];

fn python<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<Detached<'s>> {
    let is_partial =
        || call.name == "functools.partial" && call.positional.first().is_some_and(|it| is_popen(source, *it));
    let is_super = || {
        let class = Some(call).filter(|call| call.name == ".__init__")?.node.within(&["class_definition"])?;
        class.child("superclasses")?.parts().find(|class| is_popen(source, *class))
    };
    if !STARTERS.contains(&&*call.name) && !is_partial() && is_super().is_none() {
        return None;
    }
    let options = Options::of(source, call);
    let leaves_session = || {
        const LEAVING: &[&str] = &["setsid", "setpgrp", "setpgid"];
        options.values("preexec_fn").any(|value| {
            // `preexec_fn=detach`, a function of the file's own.
            let own = Some(value).filter(|value| value.kind() == "identifier");
            let own = own.and_then(|value| definition(source, value.text()));
            mentions(source, call, value, LEAVING) || own.is_some_and(|own| mentions(source, call, own, LEAVING))
        })
    };
    let by = if options.has("start_new_session") {
        "start_new_session"
    } else if options.has("setsid") {
        "setsid"
    } else if options.values("process_group").any(|group| group.text() == "0") {
        "process_group"
    } else if leaves_session() {
        "setsid"
    } else if options.values("creationflags").any(|flags| is_detached_process(source, flags)) {
        "DETACHED_PROCESS"
    } else {
        by_program(source, call)?
    };
    if is_waited_for(source, call) {
        return None;
    }
    let is_chosen = |folder: Node<'_>| !is_own_folder(source, folder);
    Some(Detached {
        node: call.node,
        by,
        has_cwd: options.values("cwd").any(is_chosen) || options.untold,
        // `posix_spawn` says it in another way.
        has_output: options.has("stdout") || options.untold || call.name.starts_with("os."),
    })
}

fn is_popen(source: &Source<'_>, node: Node<'_>) -> bool {
    source.name_of(node) == "subprocess.Popen"
}

/// A process that forks, and makes a session of its own: a daemon, whose folder is chosen by `os.chdir`.
fn forked<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<Detached<'s>> {
    let has =
        |name: &str| source.calls_of(&[name]).any(|other| scope(other.node) == scope(call.node) || name == "os.chdir");
    // A child that ends, or becomes another program.
    let part = scope(call.node);
    let ends = source.calls.iter().any(|other| {
        let ends = other.name == "sys.exit" || other.name == "os._exit" || other.name.starts_with("os.exec");
        ends && scope(other.node) == part
    });
    let is_open = has("os.fork") && ends && !source.is_test();
    is_open.then(|| Detached { node: call.node, by: "fork, setsid", has_cwd: has("os.chdir"), has_output: true })
}

/// Whether a folder is the one that the source is in, or none.
fn is_own_folder(source: &Source<'_>, folder: Node<'_>) -> bool {
    let made = folder.child("function").map(|function| source.name_of(function)).unwrap_or_default();
    matches!(folder.text(), "None" | "undefined" | "null")
        || literal(folder).is_some_and(|text| text == ".")
        || matches!(&*made, "os.getcwd" | "pathlib.Path.cwd" | "process.cwd")
}

/// The program of an argv whose work it is to let another one live on.
fn by_program<'s>(source: &Source<'s>, call: &Call<'s>) -> Option<&'static str> {
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
    let awaited = call.node.parent().filter(|parent| parent.kind() == "await");
    let Some(parent) = awaited.unwrap_or(call.node).parent() else { return false };
    let kept = match parent.kind() {
        "assignment" => parent.child("left"),
        "expression_statement" => return false,
        // `print(Popen(…).pid)`
        "attribute" => return parent.child("attribute").is_some_and(|method| WAITING.contains(&method.text())),
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
    let mut options: Vec<(&str, Node<'s>)> = call.named.clone();
    let mut untold = false;
    // `spawn(program, argv, options)`, and `{ ...base, detached: true }`.
    let names = call.positional.iter().skip(1).copied().filter(|given| given.kind() == "identifier");
    for name in names.chain(call.spread.iter().filter_map(|spread| spread.parts().next())) {
        let objects: Vec<_> = values(source, name).into_iter().filter(|value| value.kind() == "object").collect();
        untold |= objects.is_empty() && name.parent().is_some_and(|parent| parent.kind() == "spread_element");
        for object in objects {
            let (pairs, spread) = pairs(object);
            options.extend(pairs);
            untold |= !spread.is_empty();
        }
        options.extend(set_later(source, name));
    }
    let option = |name: &str| options.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    let asked = option("detached").filter(|detached| detached.text() != "false");
    let by = if asked.is_some() { "detached" } else { by_program(source, call)? };
    let unrefs =
        source.scope_has("unrefs", call.node, |node| node.kind() == "property_identifier" && node.text() == "unref");
    if !unrefs {
        return None;
    }
    let inherits = |stdio: Node<'_>| stdio.descendants().any(|node| pieces(node).as_deref() == Some("inherit"));
    Some(Detached {
        node: call.node,
        by,
        has_cwd: option("cwd").is_some_and(|folder| !is_own_folder(source, folder)) || untold,
        // Without it there are pipes, which the child loses with its parent.
        has_output: !option("stdio").is_some_and(inherits),
    })
}

/// `options.detached = true`
fn set_later<'s>(source: &Source<'s>, name: Node<'s>) -> Vec<(&'s str, Node<'s>)> {
    let set = source.index("set later", scope(name), |node| {
        let left = node.child("left").filter(|left| left.kind() == "member_expression")?;
        Some(left.child("object")?.text()).filter(|_| node.kind() == "assignment_expression")
    });
    let set = set.get(name.text()).map_or(&[][..], Vec::as_slice).iter().take(20);
    set.filter_map(|node| Some((node.child("left")?.child("property")?.text(), node.child("right")?))).collect()
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
    let method = |node: &&Node<'s>| node.child("function")?.child("field").map(Node::text);
    let of = |name: &'static str| parts.iter().filter(move |node| method(node) == Some(name));
    let has = |name: &'static str| of(name).next().is_some();
    let sets_session = || {
        let mut within = of("pre_exec").flat_map(|node| node.descendants());
        within.any(|node| node.kind() == "identifier" && node.text() == "setsid")
    };
    let detaches = || {
        let mut flags = of("creation_flags").filter_map(|node| node.child("arguments")?.parts().next());
        flags.any(|flags| is_detached_process(source, flags))
    };
    let starts = || {
        let new =
            parts.last().filter(|last| last.child("function").is_some_and(|it| it.text().ends_with("Command::new")));
        let program = new.and_then(|new| new.child("arguments")?.parts().next()).and_then(literal);
        program.is_some_and(|program| matches!(&*program, "nohup" | "setsid"))
    };
    let by = if has("process_group") {
        "process_group"
    } else if sets_session() {
        "setsid"
    } else if detaches() {
        "DETACHED_PROCESS"
    } else if starts() {
        "nohup"
    } else {
        return None;
    };
    // Who keeps the child waits for it: `let mut child = ….spawn()?;`, or `let _ =`, which does not.
    let kept = call.node.ancestors().take(8).find(|around| around.kind() == "let_declaration");
    if kept.is_some_and(|kept| is_kept_by_rust(source, kept)) {
        return None;
    }
    Some(Detached { node: call.node, by, has_cwd: has("current_dir"), has_output: has("stdout") })
}

/// Whether the child that a `let` names is waited for, or handed on.
fn is_kept_by_rust<'s>(source: &Source<'s>, kept: Node<'s>) -> bool {
    const WAITING: &[&str] = &["wait", "wait_with_output", "try_wait", "kill", "stdout", "stdin", "stderr"];
    let name = kept.child("pattern").map_or("", Node::text).trim_start_matches("mut ").to_owned();
    let uses = source.uses(scope(kept), &name).into_iter();
    let mut uses = uses.filter(|used| used.index() > kept.end_index()).take(20);
    uses.any(|used| match used.parent().filter(|around| around.kind() == "field_expression") {
        Some(field) => field.child("field").is_some_and(|method| WAITING.contains(&method.text())),
        None => true,
    })
}

/// `&syscall.SysProcAttr{Setsid: true}`
fn go<'s>(source: &Source<'s>, node: Node<'s>) -> Option<Detached<'s>> {
    if node.kind() != "composite_literal"
        || !node.child("type").is_some_and(|name| name.text().ends_with("SysProcAttr"))
    {
        return None;
    }
    let mut by = None;
    for element in node.descendants().filter(|node| node.kind() == "keyed_element") {
        let [key, value] = element.parts().collect::<Vec<_>>()[..] else { continue };
        by = by.or(match key.text() {
            "Setsid" => Some("Setsid"),
            "Setpgid" => Some("Setpgid"),
            "CreationFlags" if says_detached(value) => Some("DETACHED_PROCESS"),
            _ => None,
        });
    }
    let by = by?;
    let fields = source.index("fields", scope(node), |node| (node.kind() == "field_identifier").then(|| node.text()));
    if ["Wait", "Run", "Output", "CombinedOutput"].iter().any(|field| fields.contains_key(field)) {
        return None;
    }
    Some(Detached { node, by, has_cwd: fields.contains_key("Dir"), has_output: true })
}
