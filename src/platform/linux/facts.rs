//! Facts about this machine, read from /proc, /etc and the kernel.

use std::fs;
use std::path::Path;

use super::super::unix::{Volume, limits};
use super::super::{case, session};
use super::control_group;
use crate::env;
use crate::model::HostFacts;

/// Reads what can be read without starting a program. `temp` is a folder where sandboxes are made.
#[must_use]
pub fn host_facts(temp: &Path) -> HostFacts {
    let uname = rustix::system::uname();
    let text = |value: &std::ffi::CStr| value.to_str().ok().map(str::to_owned);
    let volume = Volume::of(temp);
    HostFacts {
        os: "linux".to_owned(),
        os_version: os_release(),
        kernel: text(uname.release()),
        libc: libc_version(),
        arch: std::env::consts::ARCH.to_owned(),
        uid: Some(rustix::process::geteuid().as_raw()),
        capabilities: status_field("CapEff"),
        no_new_privs: status_field("NoNewPrivs").map(|value| value != "0"),
        seccomp: status_field("Seccomp").map(|mode| seccomp_name(&mode).to_owned()),
        init: line("/proc/1/comm"),
        locale: env::locale(),
        time_zone: env::text("TZ").or_else(local_time_zone),
        zoneinfo: Some(Path::new("/usr/share/zoneinfo").is_dir()),
        umask: status_field("Umask"),
        limits: limits().into_iter().chain(control_group::limits()).collect(),
        temp: temp.display().to_string(),
        temp_filesystem: filesystem(temp),
        temp_case_sensitive: case::is_sensitive(temp),
        temp_bytes: volume.as_ref().map(|volume| volume.bytes),
        temp_free_bytes: volume.as_ref().map(|volume| volume.free_bytes),
        temp_executable: volume.and_then(|volume| volume.executable),
        shm_bytes: Some(shm_bytes()),
        network: network(),
        container: container(),
        processors: std::thread::available_parallelism().ok().map(|count| count.get() as u64),
        ..session::facts()
    }
}

/// The modes of seccomp(2), as the status has them.
fn seccomp_name(mode: &str) -> &'static str {
    match mode {
        "0" => "none",
        "1" => "strict",
        _ => "filter",
    }
}

fn shm_bytes() -> u64 {
    let shm = Path::new("/dev/shm");
    if shm.is_dir() { Volume::of(shm).map_or(0, |volume| volume.bytes) } else { 0 }
}

/// Whether there is an interface besides the loopback.
fn network() -> Option<bool> {
    const LOOPBACK: &str = "lo";
    Some(fs::read_dir("/sys/class/net").ok()?.flatten().any(|entry| entry.file_name() != LOOPBACK))
}

fn line(file: &str) -> Option<String> {
    fs::read_to_string(file).ok().map(|text| text.trim_end().to_owned())
}

fn os_release() -> Option<String> {
    let text = fs::read_to_string("/etc/os-release").or_else(|_| fs::read_to_string("/usr/lib/os-release")).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches('"').to_owned())
}

/// The C library that this process runs on, or, if it was linked without one, that the system's programs run on.
fn libc_version() -> Option<String> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    if maps.contains("ld-musl") {
        return Some("musl".to_owned());
    }
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: the function returns a static string.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        version.to_str().ok().map(|version| format!("glibc {version}"))
    }
    #[cfg(not(target_env = "gnu"))]
    None
}

/// Where neither file is there, as in small images, C libraries take UTC, which has this name on most machines.
fn local_time_zone() -> Option<String> {
    let target = match fs::read_link("/etc/localtime") {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return line("/etc/timezone").or_else(|| Some("Etc/UTC".to_owned()));
        }
        target => target.ok()?,
    };
    let target = target.to_str()?;
    target.split_once("zoneinfo/").map(|(_, zone)| zone.to_owned()).or_else(|| line("/etc/timezone"))
}

/// A field of this process's status.
pub fn status_field(name: &str) -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim().to_owned()))
}

/// The type of the file system that a folder is on.
pub fn filesystem(folder: &Path) -> Option<String> {
    rustix::fs::statfs(folder).ok().map(|statfs| filesystem_name(statfs.f_type))
}

/// The names of statfs(2)'s magic numbers that a temporary folder is likely to have.
fn filesystem_name(magic: impl Into<i128>) -> String {
    let magic: i128 = magic.into();
    let name = match magic {
        0xEF53 => "ext4",
        0x0102_1994 => "tmpfs",
        0x794c_7630 => "overlayfs",
        0x9123_683E => "btrfs",
        0x5846_5342 => "xfs",
        0x2fc1_2fc1 => "zfs",
        0x6969 => "nfs",
        0x0102_1997 => "9p",
        0x6573_5546 => "fuse",
        0xF2F5_2010 => "f2fs",
        0x8584_58f6 => "ramfs",
        _ => return format!("{magic:#x}"),
    };
    name.to_owned()
}

/// The engine whose container this is, by the marks that engines leave.
pub fn container() -> Option<String> {
    let by_variable = fs::read("/proc/1/environ").ok().and_then(|environment| {
        let value = environment.split(|&byte| byte == 0).find_map(|variable| variable.strip_prefix(b"container="))?;
        String::from_utf8(value.to_vec()).ok()
    });
    if by_variable.is_some() {
        return by_variable;
    }
    if Path::new("/run/.containerenv").exists() {
        return Some("podman".to_owned());
    }
    // The file alone proves nothing: it is left behind on some hosts. A container's process 1 is in a control group.
    let groups = fs::read_to_string("/proc/1/cgroup").unwrap_or_default();
    ["docker", "kubepods", "lxc", "libpod"].into_iter().find(|engine| groups.contains(engine)).map(str::to_owned)
}
