//! The source lines at which a check failed.

use std::io::Read;
use std::path::Path;

use crate::model::{CheckReport, Frame};
use crate::platform;
use crate::report::SHOWN;

/// A larger file is not looked into.
const MAX_BYTES: u64 = 1 << 20;

/// The line of each frame that is shown, where it can be read.
pub fn excerpts(project: &Path, check: &CheckReport) -> Vec<Option<String>> {
    check.frames.iter().take(SHOWN).map(|frame| line(project, frame)).collect()
}

/// Of a file of the project, and of nothing that a link in it leads to elsewhere: the output names the file, and a check
/// can print what it likes.
fn line(project: &Path, frame: &Frame) -> Option<String> {
    let path = platform::real_path(&project.join(&frame.file)).ok()?;
    if !path.starts_with(project) {
        return None;
    }
    let file = platform::open_regular(&path).ok()?;
    if file.metadata().ok()?.len() > MAX_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let index = usize::try_from(frame.line).ok()?.checked_sub(1)?;
    let line = bytes.split(|&byte| byte == b'\n').nth(index)?.trim_ascii_end();
    (!line.is_empty()).then(|| String::from_utf8_lossy(line).into_owned())
}
