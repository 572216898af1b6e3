//! How the container is started.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::binary;
use super::engine::{Engine, EngineKind};
use super::image::{self, Image};
use super::inside::{GIT, INSIDE, PROGRAM, PROJECT};
use super::luggage::Luggage;
use super::sweep::{self, LABEL};
use crate::error::{Error, Result};
use crate::platform;

/// A container as the user wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub image: String,
    /// `None` for whichever answers.
    pub engine: Option<EngineKind>,
    /// The file that the image is built from first.
    pub build: Option<PathBuf>,
    /// Whether the image is fetched first.
    pub pull: bool,
    /// Whether it has the engine's network; else it has none but its own loopback.
    pub network: bool,
    /// Whether an init of the engine's is its process 1; else that is hostproof.
    pub init: bool,
    /// Folders that get an empty file system in memory.
    pub tmpfs: Vec<String>,
    /// The program that runs inside, if it is not to be looked for.
    pub binary: Option<PathBuf>,
}

/// All that a container is started with.
pub struct Prepared {
    pub engine: Engine,
    pub image: Image,
    pub luggage: Luggage,
    pub arguments: Vec<OsString>,
    /// How many containers of runs that are gone were removed.
    pub swept: usize,
}

impl Wanted {
    /// Sees to everything that a container of that name needs, but for starting it.
    ///
    /// # Errors
    ///
    /// If there is no engine, no image, or no program for it; or the project can't be taken along.
    pub fn prepare(&self, project: &Path, name: &str) -> Result<Prepared> {
        let engine = Engine::find(self.engine)?;
        let swept = sweep::sweep(&engine);
        if let Some(file) = &self.build {
            image::build(&engine, file, project, &self.image)?;
        }
        if self.pull {
            image::pull(&engine, &self.image)?;
        }
        let image = Image::of(&engine, &self.image)?;
        let binary = binary::find(self.binary.as_deref(), &image.name, &image.architecture)?;
        let luggage = Luggage::of(project)?;
        // Root of a rootless engine is the caller already.
        let user = platform::user_and_group().filter(|(user, _)| *user != 0 && !engine.is_rootless());
        let start = Start { wanted: self, name, owner: sweep::owner(), user, binary: &binary, luggage: &luggage };
        let arguments = start.arguments()?;
        Ok(Prepared { engine, image, luggage, arguments, swept })
    }
}

struct Start<'a> {
    wanted: &'a Wanted,
    name: &'a str,
    owner: Option<String>,
    user: Option<(u32, u32)>,
    binary: &'a Path,
    luggage: &'a Luggage,
}

impl Start<'_> {
    /// What follows the engine's name on its command line; the same words for both.
    fn arguments(&self) -> Result<Vec<OsString>> {
        let Self { wanted, name, owner, user, binary, luggage } = self;
        let mut all: Vec<OsString> =
            ["run", "--rm", "--interactive", "--pull=never", "--name", name].into_iter().map(OsString::from).collect();
        let mut add = |words: &[&str]| all.extend(words.iter().map(OsString::from));
        if let Some(owner) = owner {
            add(&["--label", &format!("{LABEL}={owner}")]);
        }
        // An engine that confines by labels would let nobody read what is mounted, or would relabel the project itself.
        add(&["--security-opt", "label=disable"]);
        if !wanted.network {
            add(&["--network=none"]);
        }
        if wanted.init {
            add(&["--init"]);
        }
        if let Some((user, group)) = user {
            add(&["--user", &format!("{user}:{group}")]);
        }
        for folder in &wanted.tmpfs {
            // docker forbids to run what is there, and podman lets root alone write there, unless told otherwise.
            add(&["--tmpfs", &format!("{folder}:rw,exec,nosuid,nodev,mode=1777")]);
        }
        add(&["--entrypoint", PROGRAM]);
        for (from, to) in [(Some(*binary), PROGRAM), (Some(luggage.top.as_path()), PROJECT), (luggage.git(), GIT)] {
            if let Some(from) = from {
                all.extend(["--mount".into(), mount(from, to)?]);
            }
        }
        all.extend([OsString::from(&wanted.image), INSIDE.into()]);
        Ok(all)
    }
}

/// A read-only mount whose source must be there, which `--volume` would make.
fn mount(from: &Path, to: &str) -> Result<OsString> {
    // Both engines split this option at commas, and agree on no way to quote one.
    if from.as_os_str().as_encoded_bytes().iter().any(|byte| b",\"\n".contains(byte)) {
        return Err(Error::Usage(format!(
            "{} can't be mounted: no engine takes a path with a comma or a quotation mark",
            from.display()
        )));
    }
    let mut option = OsString::from("type=bind,source=");
    option.push(from);
    option.push(format!(",target={to},readonly"));
    Ok(option)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(wanted: &Wanted, user: Option<(u32, u32)>) -> String {
        let luggage = Luggage::of(&std::env::temp_dir()).expect("no repository");
        let (binary, owner) = (Path::new("/b"), Some("o".to_owned()));
        let start = Start { wanted, name: "n", owner, user, binary, luggage: &luggage };
        let words = start.arguments().expect("arguments");
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn nothing_is_given_to_a_container_that_was_not_asked_for() {
        let mut wanted = Wanted {
            image: "i".to_owned(),
            engine: None,
            build: None,
            pull: false,
            network: false,
            init: true,
            tmpfs: Vec::new(),
            binary: None,
        };
        let bare = words(&wanted, None);
        for part in ["run --rm ", "--pull=never", "--network=none", " --init ", ",target=/hostproof/project,readonly"] {
            assert!(bare.contains(part), "{part}: {bare}");
        }
        assert!(!bare.contains("--user") && !bare.contains("--tmpfs"), "{bare}");
        assert!(bare.ends_with(" i __inside"), "{bare}");
        (wanted.network, wanted.init, wanted.tmpfs) = (true, false, vec!["/tmp".to_owned()]);
        let asked = words(&wanted, Some((1000, 100)));
        assert!(!asked.contains("--network") && !asked.contains("--init"), "{asked}");
        assert!(asked.contains("--user 1000:100 --tmpfs /tmp:rw,exec,nosuid,nodev,mode=1777"), "{asked}");
    }

    #[test]
    fn a_path_that_no_engine_takes_is_refused() {
        assert!(mount(Path::new("/a,b"), "/x").expect_err("a comma").to_string().contains("comma"));
        let option = mount(Path::new("/a b"), "/x").expect("an option");
        assert_eq!(option, "type=bind,source=/a b,target=/x,readonly");
    }
}
