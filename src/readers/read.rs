//! Choosing a reader, and feeding it.

use std::io;
use std::path::Path;

use super::{Reader, Source, ok_lines::OkLines, pytest::Pytest, python_traceback::Traceback, unittest::Unittest};
use crate::model::{Exit, ReaderChoice, Reading};

/// What a reader may know beside the output.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// Frames in this folder are the project's own; their files are named relative to it.
    pub project: &'a Path,
    /// Where the check ran: what relative names in its output are relative to.
    pub cwd: &'a Path,
    /// `None` if the check had to be ended.
    pub exit: Option<Exit>,
}
