//! Which repository a project is of, wherever it is cloned to.

use std::path::Path;

use super::ask;

/// What is the same in all clones of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The commits without a parent that lead to the one that is checked out, in order; `None` where the clone is shallow.
    pub roots: Option<Vec<String>>,
    /// Where the clone is from, without user, password and query; `None` if that is no address on a network.
    pub origin: Option<String>,
}

/// Looks it up.
#[must_use]
pub fn identity(project: &Path) -> Identity {
    let lines = |arguments: &[&str]| {
        let bytes = ask(project, arguments).ok()?;
        Some(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect::<Vec<_>>())
    };
    let whole = lines(&["rev-parse", "--is-shallow-repository"]).is_some_and(|said| said == ["false"]);
    let roots = whole.then(|| lines(&["rev-list", "--max-parents=0", "HEAD"])).flatten();
    let roots = roots.filter(|roots| !roots.is_empty()).map(|mut roots| {
        roots.sort();
        roots
    });
    let origin = lines(&["config", "--get", "remote.origin.url"]).and_then(|lines| bare_address(lines.first()?));
    Identity { roots, origin }
}

/// An address without what may be a secret: `https://host/path`, `ssh://host/path` or `host:path`.
fn bare_address(url: &str) -> Option<String> {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    if let Some((scheme, rest)) = url.split_once("://") {
        if scheme.eq_ignore_ascii_case("file") {
            return None;
        }
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        // The last one: a password may have others.
        let host = host.rsplit('@').next().unwrap_or_default();
        return (!host.is_empty()).then(|| format!("{scheme}://{host}/{path}"));
    }
    // As ssh has it. One letter is a drive of Windows.
    let (host, path) = url.split_once(':')?;
    let host = host.rsplit('@').next().unwrap_or_default();
    (host.len() > 1 && !host.contains(['/', '\\'])).then(|| format!("{host}:{path}"))
}

/// Whether two addresses are of one repository, by whichever protocol.
#[must_use]
pub fn same_address(one: &str, other: &str) -> bool {
    let plain = |url: &str| {
        let rest = url.split_once("://").map_or_else(|| url.replacen(':', "/", 1), |(_, rest)| rest.to_owned());
        let (host, path) = rest.split_once('/').unwrap_or((&rest, ""));
        // Without the port: only the protocols differ in it.
        let host = host.split(':').next().unwrap_or_default().to_ascii_lowercase();
        let path = path.trim_matches('/');
        (host, path.strip_suffix(".git").unwrap_or(path).to_owned())
    };
    plain(one) == plain(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_no_secrets() {
        for (url, bare) in [
            ("https://me:s3cret@example.org/a/b.git", Some("https://example.org/a/b.git")),
            ("https://x-access-token:p@ss@example.org/a/b?token=1#x", Some("https://example.org/a/b")),
            ("ssh://git@example.org:22/a/b", Some("ssh://example.org:22/a/b")),
            ("git@example.org:a/b.git", Some("example.org:a/b.git")),
            ("file:///home/me/b", None),
            ("/home/me/b", None),
            ("../b", None),
            ("C:/me/b", None),
            ("./a:b", None),
            ("", None),
        ] {
            assert_eq!(bare_address(url).as_deref(), bare, "{url}");
        }
    }

    #[test]
    fn protocols_make_no_difference() {
        let same =
            ["https://Example.org/a/b.git", "example.org:a/b", "ssh://example.org:22/a/b/", "http://example.org/a/b"];
        assert!(same.iter().all(|one| same.iter().all(|other| same_address(one, other))));
        for other in ["https://example.org/a/c", "https://example.com/a/b", "example.org:A/b"] {
            assert!(!same_address(same[0], other), "{other}");
        }
    }
}
