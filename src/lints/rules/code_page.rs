//! `code-page`: output that an old code page can't say.

use super::super::language::Language::Python;
use super::super::literal::{HOLE, pieces};
use super::super::needs::Need;
use super::super::needs::Sign::Text;
use super::super::rule::{Hit, Rule, Seen};
use super::super::source::{Call, Source};
use super::super::syntax::Node;
use super::super::values::values;
use crate::model::{LintKind, Severity, TrapHost};

pub const RULE: Rule = Rule {
    kind: LintKind::CodePage,
    severity: Severity::Warning,
    finds: "A text is printed that has letters which Windows' code page 1252 has not.",
    why: "A hook's output is a pipe, and Python writes to that in the system's code page until Python 3.15: print raises \
          UnicodeEncodeError, and the hook dies on the line that was to tell something.",
    hosts: &[TrapHost::Windows],
    needs: &[
        Need::of(&[Python], &[Text(LETTERS), Text(r"\bprint\b")]),
        Need::of(&[Python], &[Text(LETTERS), Text(r"\bstdout\b")]),
    ],
    mend: "print ASCII, or begin with sys.stdout.reconfigure(encoding=\"utf-8\")",
    bad: &[
        (Python, "print(\"guard → ok\")\n"),
        (Python, "import sys\n\ndef f(name):\n    sys.stdout.write(f\"✓ {name}\\n\")\n"),
        (Python, "OK = \"✓\"\n\ndef f(name):\n    print(OK, name)\n"),
        (Python, "MARKS = {True: \"✓\", False: \"✗\"}\n\ndef f(ok):\n    print(MARKS[ok])\n"),
        (Python, "import json\n\ndef f(answer):\n    print(json.dumps(answer, ensure_ascii=False))\n"),
    ],
    good: &[
        (Python, "print(\"größe — ok…\")\n"),
        (Python, "import sys\n\nsys.stdout.reconfigure(encoding=\"utf-8\")\nprint(\"→\")\n"),
        (Python, "import sys\n\nprint(\"→\", file=sys.stderr)\n"),
        (Python, "import json\n\nprint(json.dumps({\"a\": \"→\"}))\n"),
        (Python, "X = \"→\"\n"),
    ],
    seen: Seen { found: 65, right: 63, wrong: 2, remark: "the wrong ones are data of CPython's own tests." },
    find,
};

/// Letters that are in no code page of one byte, the same written as escapes, and what lets them be.
const LETTERS: &str = r"[\xc4-\xff]|\xc2[\x80-\x9f]|\\[uU]|\\x[89]|ensure_ascii";

fn find(source: &Source<'_>, hits: &mut Vec<Hit>) {
    if source.language != Python || sees_to_it(source) {
        return;
    }
    for call in &source.calls {
        let prints = match &*call.name {
            // What can't be said there is escaped on standard error.
            "print" => call.keyword("file").is_none_or(|file| file.text() == "sys.stdout"),
            "sys.stdout.write" | "sys.stdout.writelines" => true,
            _ => false,
        };
        if call.name == "json.dump" && is_stdout(call) && says_raw(call) {
            hits.push(Hit::at(call.node, RAW));
        }
        if !prints || source.is_guarded(call.node) {
            continue;
        }
        let said =
            call.positional.iter().copied().chain(["sep", "end"].into_iter().filter_map(|name| call.keyword(name)));
        let message = said.into_iter().find_map(|argument| unsayable(source, argument));
        hits.extend(message.map(|message| Hit::at(call.node, message)));
    }
}

const RAW: &str = "JSON is printed with its letters as they are (ensure_ascii=False)";

fn is_stdout(call: &Call<'_>) -> bool {
    call.argument(1, "fp").is_some_and(|to| to.text() == "sys.stdout")
}

fn says_raw(call: &Call<'_>) -> bool {
    call.keyword("ensure_ascii").is_some_and(|escapes| escapes.text() == "False")
}

/// Whether the file says in which encoding its output goes.
fn sees_to_it(source: &Source<'_>) -> bool {
    source.syntax.nodes().any(|node| match node.kind() {
        "identifier" => matches!(node.text(), "reconfigure" | "TextIOWrapper" | "detach" | "getwriter"),
        "string_content" => matches!(node.text(), "PYTHONUTF8" | "PYTHONIOENCODING"),
        _ => false,
    })
}

/// What of an argument code page 1252 can't say.
fn unsayable<'s>(source: &Source<'s>, argument: Node<'s>) -> Option<String> {
    let mut skip = 0;
    for node in argument.descendants().filter(|node| node.is_named()) {
        if node.index() < skip {
            continue;
        }
        match node.kind() {
            "call" => {
                let name = node.child("function").map(|function| source.name_of(function)).unwrap_or_default();
                if name == "json.dumps" {
                    let raw = node.child("arguments").into_iter().flat_map(Node::parts).any(|part| {
                        part.kind() == "keyword_argument" && part.text().replace(' ', "") == "ensure_ascii=False"
                    });
                    if raw {
                        return Some(RAW.to_owned());
                    }
                    skip = node.end_index();
                } else if matches!(&*name, "repr" | "ascii" | "len") || name == ".encode" {
                    skip = node.end_index();
                } else if let Some(found) = returned(source, node).into_iter().find_map(unsayable_letter) {
                    return Some(found);
                }
            }
            // The key of a dictionary, a part of a comparison: not what is printed.
            "comparison_operator" => skip = node.end_index(),
            // `MARKS[ok]`, and a name that stands for a text.
            "subscript" => {
                skip = node.end_index();
                let list = node.child("value").map(|list| values(source, list)).unwrap_or_default();
                let lists = list.into_iter().filter(|list| matches!(list.kind(), "dictionary" | "list" | "tuple"));
                let found = lists.flat_map(said).find_map(|text| unsayable_letter(text));
                if found.is_some() {
                    return found;
                }
            }
            // `Mark.OK`
            "attribute" => {
                let (of, name) = (node.child("object"), node.child("attribute"));
                let class = of.filter(|of| of.kind() == "identifier").map_or("", Node::text);
                let texts = source.index("texts of classes", source.syntax.root(), |node| {
                    let assigned = Some(node).filter(|node| node.kind() == "assignment")?;
                    assigned.within(&["class_definition"])?.child("name").map(Node::text)
                });
                let texts = texts.get(class).map_or(&[][..], Vec::as_slice).iter();
                let found = texts
                    .filter(|text| text.child("left").map(Node::text) == name.map(Node::text))
                    .filter_map(|text| text.child("right"))
                    .find_map(unsayable_letter);
                if found.is_some() {
                    return found;
                }
            }
            "identifier" if node.field() != Some("function") && node.field() != Some("attribute") => {
                let texts = values(source, node).into_iter().filter(|value| value.kind() == "string");
                if let Some(found) = texts.into_iter().find_map(unsayable_letter) {
                    return Some(found);
                }
            }
            "string" => {
                if let Some(found) = unsayable_letter(node) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

/// The texts that a function of the file returns as they are.
fn returned<'s>(source: &Source<'s>, call: Node<'s>) -> Vec<Node<'s>> {
    let Some(function) = call.child("function").filter(|function| function.kind() == "identifier") else {
        return Vec::new();
    };
    let returns = source.index("returned texts", source.syntax.root(), |node| {
        let returned = Some(node).filter(|node| node.kind() == "return_statement")?;
        returned.within(&["function_definition"])?.child("name").map(Node::text)
    });
    let returns = returns.get(function.text()).map_or(&[][..], Vec::as_slice).iter().take(20);
    let values = returns.filter_map(|node| node.parts().next());
    values
        .flat_map(|value| match value.kind() {
            "string" => vec![value],
            "conditional_expression" => value.parts().filter(|part| part.kind() == "string").collect(),
            _ => Vec::new(),
        })
        .collect()
}

/// The texts of a list, and those that the keys of a dictionary have.
fn said(list: Node<'_>) -> Vec<Node<'_>> {
    let values = list.parts().take(100).map(|part| part.child("value").unwrap_or(part));
    values.filter(|value| value.kind() == "string").collect()
}

fn unsayable_letter(text: Node<'_>) -> Option<String> {
    let letter = pieces(text)?.chars().find(|c| !is_in_1252(*c) && !matches!(*c, HOLE | '\u{fffd}'))?;
    Some(format!("`{letter}` (U+{:04X}) is printed, which code page 1252 has not", letter as u32))
}

/// Whether code page 1252 has a letter.
fn is_in_1252(c: char) -> bool {
    c.is_ascii() || ('\u{a0}'..='\u{ff}').contains(&c) || "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ".contains(c)
}
