//! What of this machine explains a result.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::super::session;
use super::super::unix::{Volume, limits};
use super::sys;
use crate::env;
use crate::model::HostFacts;

/// Reads what can be read without starting a program. `temp` is a folder where sandboxes are made.
#[must_use]
pub fn host_facts(temp: &Path) -> HostFacts {
    let volume = Volume::of(temp);
    HostFacts {
        os: "macos".to_owned(),
        os_version: sys::text(c"kern.osproductversion").map(|version| format!("macOS {version}")),
        kernel: sys::text(c"kern.osrelease"),
        arch: architecture(),
        uid: Some(rustix::process::geteuid().as_raw()),
        locale: env::locale(),
        time_zone: env::text("TZ").or_else(local_time_zone),
        zoneinfo: Some(Path::new("/usr/share/zoneinfo").is_dir()),
        umask: umask(temp),
        limits: limits(),
        temp: temp.display().to_string(),
        temp_filesystem: filesystem(temp),
        temp_case_sensitive: sys::case_sensitive(temp),
        temp_bytes: volume.as_ref().map(|volume| volume.bytes),
        temp_free_bytes: volume.as_ref().map(|volume| volume.free_bytes),
        temp_executable: volume.and_then(|volume| volume.executable),
        processors: std::thread::available_parallelism().ok().map(|count| count.get() as u64),
        ..session::facts()
    }
}

/// That of this program, and that of the machine where Rosetta translates the one for the other.
fn architecture() -> String {
    let built_for = std::env::consts::ARCH;
    if sys::number(c"sysctl.proc_translated") == Some(1) {
        return format!("{built_for} (translated by Rosetta)");
    }
    built_for.to_owned()
}

fn local_time_zone() -> Option<String> {
    let target = fs::read_link("/etc/localtime").ok()?;
    target.to_str()?.split_once("zoneinfo/").map(|(_, zone)| zone.to_owned())
}

/// By what it takes away from a new folder's permissions: to ask for it in any other way is to change it.
fn umask(temp: &Path) -> Option<String> {
    const ALL: u32 = 0o777;
    let mut new = tempfile::Builder::new();
    let folder = new.prefix("hp-umask-").permissions(Permissions::from_mode(ALL)).tempdir_in(temp).ok()?;
    let mode = fs::metadata(folder.path()).ok()?.permissions().mode();
    Some(format!("{:04o}", ALL & !mode))
}

/// The type of the file system that a folder is on: that of the last of the mount points above it.
fn filesystem(folder: &Path) -> Option<String> {
    let folder = fs::canonicalize(folder).ok()?;
    let above = sys::mounts().into_iter().filter(|mount| folder.starts_with(&mount.point));
    above.max_by_key(|mount| mount.point.as_os_str().len()).map(|mount| mount.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_tells_its_facts() {
        let folder = tempfile::tempdir().expect("a tempdir");
        let facts = host_facts(folder.path());
        assert!(
            facts.os_version.is_some_and(|version| version.starts_with("macOS 1") || version.starts_with("macOS 2"))
        );
        assert!(facts.kernel.is_some() && facts.temp_filesystem.is_some());
        let other = folder.path().join("A");
        fs::write(folder.path().join("a"), "").expect("a file");
        assert_eq!(facts.temp_case_sensitive, Some(!other.exists()));
        assert!(facts.umask.is_some_and(|umask| umask.starts_with('0')));
    }
}
