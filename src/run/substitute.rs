//! `$project` and `$sandbox`.

use std::path::{Path, PathBuf};

use crate::probes::Places;

/// Replaces `$project` and `$sandbox` where they are whole words. There is no other interpolation.
#[must_use]
pub fn substitute(text: &str, project: &Path, sandbox: &Path) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, dollar) = rest.split_at(at);
        result.push_str(before);
        let word = [("$project", project), ("$sandbox", sandbox)].into_iter().find(|(word, _)| {
            let after = dollar.strip_prefix(word).map(|after| after.chars().next());
            after.is_some_and(|next| !next.is_some_and(|c| c.is_alphanumeric() || c == '_'))
        });
        if let Some((word, path)) = word {
            result.push_str(&path.to_string_lossy());
            rest = &dollar[word.len()..];
        } else {
            result.push('$');
            rest = &dollar[1..];
        }
    }
    result.push_str(rest);
    result
}

/// Where a path of a manifest is for a check: what is relative, is so to where the check starts.
pub fn located(path: &str, places: &Places) -> PathBuf {
    places.cwd.join(substitute(path, &places.project, &places.sandbox))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_replaced() {
        let done = |text| substitute(text, Path::new("/p"), Path::new("/s"));
        assert_eq!(done("$project/a:$sandbox"), "/p/a:/s");
        assert_eq!(done("$projects $project_x $HOME $$project $"), "$projects $project_x $HOME $/p $");
        assert_eq!(done("é$sandboxé"), "é$sandboxé");
    }
}
