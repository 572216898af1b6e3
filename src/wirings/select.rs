//! The values that a path leads to.

use super::tree::{Node, Value};
use crate::model::{JsonPath, PathStep};

/// In the order of the file, each once.
pub fn select<'n>(root: &'n Node, path: &JsonPath) -> Vec<&'n Node> {
    let mut here = vec![root];
    for step in &path.steps {
        let mut next: Vec<&Node> = Vec::new();
        for node in here {
            match (step, &node.value) {
                (PathStep::Child(name), _) => next.extend(node.get(name)),
                (PathStep::Every, Value::List(items)) => next.extend(items),
                (PathStep::Every, Value::Map(entries)) => next.extend(entries.iter().map(|(_, value)| value)),
                (PathStep::Index(index), Value::List(items)) => {
                    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
                    let index = if *index < 0 { length.saturating_add(*index) } else { *index };
                    next.extend(usize::try_from(index).ok().and_then(|index| items.get(index)));
                }
                (PathStep::Below, _) => node.walk(&mut |below| next.push(below)),
                _ => {}
            }
        }
        // Two `..` meet again and again.
        let mut seen = std::collections::HashSet::new();
        next.retain(|node| seen.insert(std::ptr::from_ref(*node)));
        here = next;
    }
    here
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_values() {
        let text = "hooks:\n - {run: a, on: {run: b}}\n - {run: c}\nlist: [x, y]\n";
        let document = crate::wirings::yaml::parse(text).unwrap();
        let found = |steps: &[PathStep]| {
            let path = JsonPath { steps: steps.to_vec(), text: String::new() };
            let found = select(&document.root, &path);
            found.iter().filter_map(|node| node.text()).collect::<Vec<_>>().join(" ")
        };
        let child = |name: &str| PathStep::Child(name.to_owned());
        assert_eq!(found(&[child("hooks"), PathStep::Every, child("run")]), "a c");
        assert_eq!(found(&[PathStep::Below, child("run")]), "a b c");
        assert_eq!(found(&[PathStep::Below, PathStep::Below, child("run")]), "a b c");
        assert_eq!(found(&[child("list"), PathStep::Index(-1)]), "y");
        assert_eq!(found(&[child("list"), PathStep::Index(-3)]), "");
        assert_eq!(found(&[child("none"), PathStep::Every]), "");
    }
}
