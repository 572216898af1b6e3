//! Flags that Windows' processes are started with, by name and by number.

use super::source::{Source, scope};
use super::syntax::Node;
use super::values::meant;

/// Whether flags of Windows have `DETACHED_PROCESS`: by its name or its number, through names.
#[must_use]
pub fn is_detached_process<'s>(source: &Source<'s>, flags: Node<'s>) -> bool {
    meant(source, flags)
        .into_iter()
        .any(|node| says_detached(node) || node.kind() == "identifier" && is_or_assigned(source, node))
}

/// `flags |= subprocess.DETACHED_PROCESS`
fn is_or_assigned<'s>(source: &Source<'s>, name: Node<'s>) -> bool {
    let given = source.index("or-assigned", scope(name), |node| {
        node.child("left").filter(|_| node.kind() == "augmented_assignment").map(Node::text)
    });
    let given = given.get(name.text()).map_or(&[][..], Vec::as_slice);
    given.iter().filter_map(|node| node.child("right")).any(says_detached)
}

/// Whether an expression of flags has `DETACHED_PROCESS` itself.
#[must_use]
pub fn says_detached(flags: Node<'_>) -> bool {
    has_flag(flags, "DETACHED_PROCESS", 0x8)
}

/// Whether an expression of flags has one, by its name or in its number.
#[must_use]
pub fn has_flag(flags: Node<'_>, name: &str, bit: u64) -> bool {
    flags.descendants().take(80).any(|part| match part.kind() {
        "identifier" | "field_identifier" | "property_identifier" | "string_content" => part.text() == name,
        "integer" | "integer_literal" | "int_literal" | "number" => {
            // A number in a call is another matter: `getattr(subprocess, "X", 0)`.
            let of_flags = part.ancestors().take(8).take_while(|around| around.index() >= flags.index());
            let is_given = of_flags.into_iter().any(|around| matches!(around.kind(), "argument_list" | "arguments"));
            !is_given && number(part.text()).is_some_and(|number| number & bit != 0)
        }
        _ => false,
    })
}

/// A number as sources write it: `8`, `0x0000_0008`, `0x8u32`.
fn number(text: &str) -> Option<u64> {
    let plain: String = text.chars().filter(|c| *c != '_').collect::<String>().to_ascii_lowercase();
    let plain = plain.split('u').next().unwrap_or_default();
    match plain.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => plain.parse().ok(),
    }
}
