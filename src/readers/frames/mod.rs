//! Frames in any program's output, one file per language, whatever sub-runner ran.

mod go;
mod node;
mod perl;
mod python;
mod rust;
mod shell;

pub use go::Goroutines;
pub use node::{Stacks, place};
pub use python::{Tracebacks, is_link, is_recursion};
pub use rust::Panics;

use super::Context;
use super::cases::Frames;
use crate::model::Frame;

/// Finds the failures that one language's programs print, and the frame of each: the deepest one in the project's own
/// code, with the place where the error was raised if that is deeper still.
pub trait Finder {
    /// Takes a line; gives the frame of the failure before, once it is clear that it has ended.
    fn line(&mut self, text: &str) -> Option<Frame>;

    /// Ends what is being read: its frame, if it has one of the project's own.
    fn finish(&mut self) -> Option<Frame>;
}

/// All of them at once.
pub struct Finders<'a>(Vec<Box<dyn Finder + 'a>>);

impl<'a> Finders<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self(vec![
            Box::new(Tracebacks::new(context)),
            Box::new(Stacks::new(context)),
            Box::new(Panics::new(context)),
            Box::new(Goroutines::new(context)),
            Box::new(perl::Deaths::new(context)),
            Box::new(shell::Complaints::new(context)),
        ])
    }

    pub fn line(&mut self, text: &str, frames: &mut Frames) {
        for finder in &mut self.0 {
            frames.extend(finder.line(text));
        }
    }

    pub fn finish(&mut self, frames: &mut Frames) {
        for finder in &mut self.0 {
            frames.extend(finder.finish());
        }
    }
}
