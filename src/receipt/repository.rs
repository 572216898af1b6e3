//! Whether a receipt is of this repository: a replay from another one is none.

use std::path::Path;

use crate::model::RepositoryFacts;
use crate::source;

/// What a receipt says of the repository that a project is in.
///
/// # Errors
///
/// If it is in none, or git can't tell: a sentence.
pub fn facts(project: &Path) -> Result<RepositoryFacts, String> {
    let Some(repository) = source::repository(project)? else {
        return Err(format!("{} is in no git repository", project.display()));
    };
    let source::Identity { roots, origin } = source::identity(project);
    let prefix: Vec<_> = repository.prefix.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    Ok(RepositoryFacts { roots, origin, project: prefix.join("/") })
}

/// Sees that a receipt is of this project in this repository: they have a first commit in common or, where a clone is
/// shallow, come from one address.
///
/// # Errors
///
/// If it is of another one, or that can't be told: a sentence.
pub fn same(here: &RepositoryFacts, there: &RepositoryFacts) -> Result<(), String> {
    if here.project != there.project {
        let name = |project: &str| if project.is_empty() { "its top".to_owned() } else { project.to_owned() };
        let (here, there) = (name(&here.project), name(&there.project));
        return Err(format!("it is of another project of a repository: of {there}, and this is {here}"));
    }
    if let (Some(own), Some(others)) = (&here.roots, &there.roots) {
        if own.iter().any(|root| others.contains(root)) {
            return Ok(());
        }
        let from = there.origin.as_ref().map(|origin| format!(", {origin}")).unwrap_or_default();
        return Err(format!("it is of another repository{from}: they have no first commit in common"));
    }
    match (&here.origin, &there.origin) {
        (Some(own), Some(other)) if source::same_address(own, other) => Ok(()),
        _ => {
            Err("it can't be told whether it is of this repository: a clone is shallow, and they come from no common \
                  address; fetch the whole history (git fetch --unshallow)"
                .to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_root_or_a_common_address_makes_them_one() {
        let facts = |roots: Option<&[&str]>, origin: Option<&str>, project: &str| RepositoryFacts {
            roots: roots.map(|roots| roots.iter().map(|&root| root.to_owned()).collect()),
            origin: origin.map(str::to_owned),
            project: project.to_owned(),
        };
        let (here, there) = (Some("https://example.org/a"), Some("ssh://example.org/b"));
        let own = facts(Some(&["1", "2"]), here, "");
        for (other, why) in [
            (facts(Some(&["2"]), None, ""), None),
            (facts(Some(&["3"]), here, ""), Some("another repository")),
            (facts(None, here, ""), None),
            (facts(None, there, ""), Some("can't be told")),
            (facts(None, None, ""), Some("can't be told")),
            (facts(Some(&["1"]), here, "tools"), Some("of tools, and this is its top")),
        ] {
            let said = same(&own, &other).err();
            assert_eq!(said.is_some(), why.is_some(), "{other:?}: {said:?}");
            assert!(why.is_none_or(|why| said.is_some_and(|said| said.contains(why))), "{other:?}");
        }
    }
}
