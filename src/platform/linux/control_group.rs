//! What this process's control group lets it use.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const ROOT: &str = "/sys/fs/cgroup";
/// Where there is no limit, version 1 says the largest number of pages.
const NO_LIMIT: u64 = 1 << 60;

/// The limits of memory and of processes, where there are some: of the group itself and of those above it the smallest.
pub fn limits() -> BTreeMap<String, String> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let wanted = [
        ("cgroup.memory", "memory", ["memory.max", "memory.limit_in_bytes"]),
        ("cgroup.pids", "pids", ["pids.max", "pids.max"]),
    ];
    let smallest = |controller: &str, [second, first]: [&str; 2]| {
        let of_line = |line: &str| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
            // Version 2 has one hierarchy and names none.
            let (root, file) = if controllers.is_empty() {
                (ROOT.to_owned(), second)
            } else if controllers.split(',').any(|name| name == controller) {
                (format!("{ROOT}/{controllers}"), first)
            } else {
                return None;
            };
            let groups =
                Path::new(path).ancestors().filter_map(|group| limit(&Path::new(&root).join(group).join(file)));
            groups.min()
        };
        groups.lines().filter_map(of_line).min()
    };
    let known = wanted
        .into_iter()
        .filter_map(|(name, controller, files)| Some((name.to_owned(), smallest(controller, files)?.to_string())));
    known.collect()
}

fn limit(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok().filter(|&limit| limit < NO_LIMIT)
}
