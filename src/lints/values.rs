//! What names stand for: the values that a source gives them.

use super::source::{Source, scope};
use super::syntax::Node;

/// The most values of a name that are looked at; what is given more often is not known.
const MOST: usize = 12;
/// The most names in a row that stand for each other.
const DEEPEST: usize = 4;

/// The values that a name is given in the function that it stands in, or else at the top of the file; none of anything but a
/// name, and of one that is given nothing there.
#[must_use]
pub fn values<'s>(source: &Source<'s>, name: Node<'s>) -> Vec<Node<'s>> {
    if !matches!(name.kind(), "identifier" | "constant") {
        return Vec::new();
    }
    let here = given(source, scope(name), name);
    if !here.is_empty() {
        return here;
    }
    given(source, name.root(), name).into_iter().filter(|value| scope(*value) == value.root()).collect()
}

/// An expression, and what it stands for: through names that stand for others.
#[must_use]
pub fn meant<'s>(source: &Source<'s>, node: Node<'s>) -> Vec<Node<'s>> {
    let mut all = vec![node];
    let mut next = 0;
    for _ in 0..DEEPEST {
        let end = all.len();
        for at in next..end {
            for value in values(source, all[at]) {
                if all.len() < MOST && !all.contains(&value) {
                    all.push(value);
                }
            }
        }
        next = end;
    }
    all
}

fn given<'s>(source: &Source<'s>, part: Node<'s>, name: Node<'s>) -> Vec<Node<'s>> {
    let index = source.index("values", part, |node| Some(name_of(node)?.text()));
    let given = index.get(name.text()).map_or(&[][..], Vec::as_slice);
    if given.len() > MOST {
        return Vec::new();
    }
    given.iter().filter_map(|node| value_of(*node)).collect()
}

/// The name that a node gives a value to.
fn name_of(node: Node<'_>) -> Option<Node<'_>> {
    let name = match node.kind() {
        "assignment"
        | "assignment_expression"
        | "short_var_declaration"
        | "for_statement"
        | "for_in_statement"
        | "for_in_clause" => node.child("left"),
        "variable_declarator" | "named_expression" | "const_spec" | "var_spec" | "const_item" | "static_item" => {
            node.child("name")
        }
        "let_declaration" => node.child("pattern"),
        // `with open(x) as f`
        "as_pattern" => node.child("alias")?.parts().next(),
        // `list.some((part) => …)`, `text.is_some_and(|text| …)`: of what they are called on.
        "arrow_function" => node.child("parameter").or_else(|| node.child("parameters")?.parts().next()),
        "closure_expression" => node.child("parameters")?.parts().next(),
        _ => None,
    }?;
    match name.kind() {
        "identifier" => Some(name),
        // `(part: string) => …`
        "required_parameter" => name.child("pattern").filter(|name| name.kind() == "identifier"),
        // `a, err := f()`; of `root, folders, files` the first.
        "expression_list" | "tuple_pattern" | "pattern_list" => {
            name.parts().next().filter(|first| first.kind() == "identifier")
        }
        _ => None,
    }
}

fn value_of(node: Node<'_>) -> Option<Node<'_>> {
    let value = match node.kind() {
        "as_pattern" => node.parts().next(),
        "arrow_function" | "closure_expression" => {
            let function = node.parent()?.parent()?.child("function")?;
            function.child("object").or_else(|| function.child("value"))
        }
        _ => node.child("right").or_else(|| node.child("value")),
    }?;
    if value.kind() == "expression_list" { value.parts().next() } else { Some(value) }
}
