//! `faults`: system calls that are made to fail, or to take their time.

use std::path::Path;

use crate::model::{Check, Fault};
use crate::platform;
use crate::probes::Places;

/// Why no call of a check can be made to fail here; `None` if nothing is known to be in the way.
#[must_use]
pub fn in_the_way(check: &Check) -> Option<String> {
    let is_linux = platform::current() == crate::model::Platform::Linux;
    (!is_linux && !check.faults.is_empty()).then(|| "only Linux can make its calls fail (`faults`)".to_owned())
}

/// A check's faults, with absolute paths.
#[must_use]
pub fn absolute(check: &Check, places: &Places) -> Vec<Fault> {
    let absolute = |path: &String| {
        let below = [("$project/", &places.project), ("$sandbox/", &places.sandbox)];
        let below = below.into_iter().find_map(|(word, place)| Some((place, path.strip_prefix(word)?)));
        match below {
            Some((place, rest)) => joined(place, rest),
            // A name alone is looked for everywhere.
            None if path.starts_with('/') || !path.contains('/') => path.clone(),
            None => joined(&places.cwd, path),
        }
    };
    let faults = check.faults.iter();
    faults.map(|fault| Fault { path: fault.path.as_ref().map(absolute), ..fault.clone() }).collect()
}

/// A glob below a folder, whose own name is none.
fn joined(folder: &Path, rest: &str) -> String {
    format!("{}/{}", platform::as_glob(&folder.to_string_lossy()), rest.trim_start_matches("./"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::{CheckCommand, Effect, FaultCall};

    #[test]
    fn a_path_is_made_absolute_and_a_name_is_not() {
        let places = Places { sandbox: "/s[1]".into(), project: "/p".into(), cwd: "/p/cwd".into() };
        for (path, expected) in [
            ("*.pid", "*.pid"),
            ("/tmp/*.pid", "/tmp/*.pid"),
            ("$sandbox/tmp/*.pid", "/s[[]1[]]/tmp/*.pid"),
            ("$project/a", "/p/a"),
            ("state/*.json", "/p/cwd/state/*.json"),
            ("./a", "/p/cwd/a"),
        ] {
            let effect = Effect::Delay(Duration::ZERO);
            let fault = Fault { call: FaultCall::Open, path: Some(path.to_owned()), nth: None, effect };
            let check = Check { faults: vec![fault], ..Check::new("a", CheckCommand::Argv(vec!["true".into()])) };
            assert_eq!(absolute(&check, &places)[0].path.as_deref(), Some(expected), "{path}");
        }
    }
}
