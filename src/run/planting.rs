//! `plant`: what stands at predictable paths before a check starts.

use std::fs;
use std::io::Read;
use std::path::PathBuf;

use super::sandbox::Sandbox;
use super::substitute::{located, substitute};
use crate::model::{Check, Fact, Finding, Kind, Plant, Planting, Severity, Verdict};
use crate::platform::{self, Garden, Seed, Unremovable};
use crate::probes::Places;

/// What a file of somebody else's has in it.
const VICTIM: &str = "This file is somebody else's.\n";
/// How much is read of it.
const MOST: u64 = 4096;

/// Why something can't be planted for a check here; `None` if nothing is known to be in the way.
#[must_use]
pub fn in_the_way(check: &Check) -> Option<String> {
    check.plant.iter().find_map(|Planting { path, plant }| {
        let why = platform::cannot_plant(plant)?;
        Some(format!("{} can't be planted at {path}: {why}", plant.words()))
    })
}

/// What was planted for a check that is red, in sentences: who reads of a failure is to think of it.
#[must_use]
pub fn told(check: &Check, places: &Places, verdict: Verdict) -> Vec<String> {
    let told = |Planting { path, plant }: &Planting| {
        let place = located(path, places);
        format!("{} was planted at {}", plant.words(), places.name(&place.to_string_lossy()))
    };
    check.plant.iter().filter(|_| verdict.is_red()).map(told).collect()
}

/// What was planted for a check, and is taken away with this.
#[derive(Debug, Default)]
pub struct Planted {
    garden: Option<Garden>,
    victims: Vec<Victim>,
}

/// A file that a planted link leads to, and that nobody may write to by that.
#[derive(Debug)]
struct Victim {
    file: PathBuf,
    /// Where the link is.
    link: String,
}

impl Victim {
    /// What became of it, if it is not as it was.
    fn harm(&self) -> Option<String> {
        let mut content = Vec::new();
        // It may be something else by now, and reading that may never end.
        match platform::open_regular(&self.file).and_then(|file| file.take(MOST).read_to_end(&mut content)) {
            Ok(_) if content == VICTIM.as_bytes() => None,
            Ok(_) => Some("was written to".to_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some("was removed".to_owned()),
            Err(error) => Some(format!("can't be read any more ({error})")),
        }
    }

    fn finding(&self) -> Option<Finding> {
        let Self { link, .. } = self;
        let harm = self.harm()?;
        let message = format!(
            "{link} is a symbolic link that was there before, and the file of somebody else's that it leads to {harm}"
        );
        let mut finding = Finding::new(Kind::Residue, Severity::Error, message);
        finding.path = Some(link.clone());
        finding.remedy = Some(
            "write a draft of an unforeseeable name and rename it into place, or open with O_NOFOLLOW or O_EXCL"
                .to_owned(),
        );
        Some(finding)
    }
}

impl Planted {
    /// Plants what a check asks for.
    ///
    /// # Errors
    ///
    /// A sentence that says what is in the way.
    pub fn before(check: &Check, sandbox: &Sandbox, places: &Places) -> Result<Self, String> {
        if check.plant.is_empty() {
            return Ok(Self::default());
        }
        let path = |text: &str| located(text, places);
        let mut victims = Vec::new();
        let mut seeds = Vec::new();
        for Planting { path: place, plant } in &check.plant {
            let plant = match plant {
                Plant::Symlink(None) => {
                    let file = sandbox.root().join(format!("victim{}", victims.len()));
                    let target = file.display().to_string();
                    victims.push(Victim { file, link: places.name(&path(place).to_string_lossy()) });
                    Plant::Symlink(Some(target))
                }
                Plant::Symlink(Some(target)) => {
                    Plant::Symlink(Some(substitute(target, &places.project, &places.sandbox)))
                }
                plant => plant.clone(),
            };
            seeds.push(Seed { path: path(place), plant });
        }
        for victim in &victims {
            fs::write(&victim.file, VICTIM).map_err(|error| format!("plant: {}: {error}", victim.file.display()))?;
        }
        let lane = sandbox.root().parent().unwrap_or(sandbox.root());
        let name = sandbox.root().file_name().unwrap_or_default().to_string_lossy();
        let garden = Garden::plant(seeds, lane, &name).map_err(|why| format!("plant: {why}"))?;
        if check.fact == Some(Fact::Uid) {
            platform::give_to_nobody(sandbox.root()).map_err(|error| format!("plant: {error}"))?;
        }
        Ok(Self { garden: Some(garden), victims })
    }

    /// Takes it away, and says what is not as it should be.
    pub fn after(self, places: &Places) -> Vec<Finding> {
        let harmed = self.victims.iter().filter_map(Victim::finding);
        let left = self.garden.map(Garden::clear).unwrap_or_default();
        harmed.chain(left.into_iter().map(|left| resists(&left, places))).collect()
    }
}

fn resists(left: &Unremovable, places: &Places) -> Finding {
    let name = places.name(&left.path.to_string_lossy());
    let message = format!("{name} was planted, and could not be taken away: {}", left.reason);
    let mut finding = Finding::new(Kind::Residue, Severity::Error, message);
    finding.path = Some(name);
    finding.remedy = Some(format!("remove {} by hand", left.path.display()));
    finding
}
