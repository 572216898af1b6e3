//! What the runs of a comparison are called.

use std::path::Path;

use super::{Document, Side};
use crate::model::Report;

/// Gives every side a short name of its own: where it ran (the engine, the system, or `host`) if that tells all of them
/// apart, else its file's name, else its path.
pub fn label(sides: &mut [Side]) {
    let of = |name: &dyn Fn(&Side) -> String| sides.iter().map(name).collect::<Vec<_>>();
    let numbered = |names: Vec<String>| {
        let number = |(index, name): (usize, String)| format!("{name} ({})", index + 1);
        names.into_iter().enumerate().map(number).collect()
    };
    let labels = [of(&place), of(&stem), of(&|side| side.file.clone())]
        .into_iter()
        .find(|names| names.iter().enumerate().all(|(index, name)| !names[..index].contains(name)))
        .unwrap_or_else(|| numbered(of(&stem)));
    for (side, label) in sides.iter_mut().zip(labels) {
        side.label = label;
    }
}

fn place(side: &Side) -> String {
    let Document::Report(report) = &side.document else { return stem(side) };
    engine(report).unwrap_or_else(|| if report.host.os.is_empty() { "host".to_owned() } else { report.host.os.clone() })
}

/// The engine of a run in a container.
fn engine(report: &Report) -> Option<String> {
    let marked = report.host.container.clone();
    marked.or_else(|| (report.place.kind != "host").then(|| report.place.kind.clone()))
}

fn stem(side: &Side) -> String {
    let name =
        Path::new(&side.file).file_name().map_or_else(|| side.file.clone(), |n| n.to_string_lossy().into_owned());
    let stem = [".json", ".xml"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    if stem.is_empty() { name } else { stem.to_owned() }
}
