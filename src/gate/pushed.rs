//! What git tells a pre-push hook: a line for each ref, `<local ref> <local oid> <remote ref> <remote oid>`.
//!
//! Source: githooks(5), pre-push.

/// A branch that is pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    /// The branch as the remote will have it: `refs/heads/main`.
    pub to: String,
    /// The commit that it will be.
    pub head: String,
    /// The commit that it was, as the remote has it; `None` if it is new.
    pub was: Option<String>,
}

/// The branches among what is pushed. What is deleted, and what is no branch, concerns nobody here.
///
/// # Errors
///
/// If a line is none of git's: a sentence.
pub fn branches(lines: &str) -> Result<Vec<Pushed>, String> {
    let mut pushed = Vec::new();
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        // The local one is as somebody has typed it, blanks and all: `HEAD^{/a word}`.
        let words: Vec<&str> = line.rsplitn(4, ' ').collect();
        let [was, to, head, _] = words[..] else {
            return Err(format!("git tells a pre-push hook of four words a line, and this is none: {line:?}"));
        };
        if !is_object(head) || !is_object(was) {
            return Err(format!("git tells a pre-push hook of objects by their names, and these are none: {line:?}"));
        }
        if is_nothing(head) || !to.starts_with("refs/heads/") {
            continue;
        }
        let was = (!is_nothing(was)).then(|| was.to_owned());
        pushed.push(Pushed { to: to.to_owned(), head: head.to_owned(), was });
    }
    Ok(pushed)
}

fn is_object(name: &str) -> bool {
    name.len() >= 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Git's name for no object at all.
fn is_nothing(name: &str) -> bool {
    name.bytes().all(|byte| byte == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_told_from_what_is_deleted_and_from_what_is_none() {
        let (one, two, none) = ("1".repeat(40), "2".repeat(40), "0".repeat(40));
        let lines = [
            format!("refs/heads/a {one} refs/heads/b {two}"),
            format!("HEAD^{{/a word}} {one} refs/heads/new {none}"),
            format!("(delete) {none} refs/heads/old {two}"),
            format!("refs/tags/v1 {one} refs/tags/v1 {none}"),
            format!("refs/hostproof/receipts {one} refs/hostproof/receipts {two}"),
            String::new(),
        ];
        let pushed = |to: &str, was: Option<&String>| Pushed { to: to.into(), head: one.clone(), was: was.cloned() };
        let expected = [pushed("refs/heads/b", Some(&two)), pushed("refs/heads/new", None)];
        assert_eq!(branches(&lines.join("\n")), Ok(expected.into()));
        assert_eq!(branches(""), Ok(Vec::new()));
        for line in ["refs/heads/a x refs/heads/b y", "a b", &format!("a {one} refs/heads/b {two} more"), "--help"] {
            assert!(branches(line).is_err(), "{line}");
        }
    }
}
