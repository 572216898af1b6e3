//! What a process may use.

use std::collections::BTreeMap;

use rustix::process::Resource;

/// The soft limits of this process by name, `unlimited` where there is none.
pub fn limits() -> BTreeMap<String, String> {
    let wanted = [
        ("as", Resource::As),
        ("core", Resource::Core),
        ("cpu", Resource::Cpu),
        ("fsize", Resource::Fsize),
        ("nofile", Resource::Nofile),
        ("nproc", Resource::Nproc),
        ("stack", Resource::Stack),
    ];
    wanted
        .into_iter()
        .map(|(name, resource)| {
            let soft = rustix::process::getrlimit(resource).current;
            (name.to_owned(), soft.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string()))
        })
        .collect()
}
