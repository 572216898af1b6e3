//! What of this machine explains a result.

use std::collections::BTreeMap;
use std::path::Path;

use crate::env;
use crate::model::HostFacts;

/// What std and the environment tell.
#[must_use]
pub fn host_facts(temp: &Path) -> HostFacts {
    HostFacts {
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        locale: env::locale(),
        time_zone: env::text("TZ"),
        temp: temp.display().to_string(),
        processors: std::thread::available_parallelism().ok().map(|count| count.get() as u64),
        limits: BTreeMap::new(),
        ..HostFacts::default()
    }
}
