//! Which case a place belongs to: blocks and comments against the points above or below them.

use super::diagnosis::{Failure, is_bats};
use super::{Below, Tap};
use crate::readers::cases::clip;

/// The most frames of parts that wait for their whole.
const HELD: usize = 100;

impl Tap<'_> {
    pub(super) fn end_block(&mut self) {
        let Some(Below { block, depth }) = self.block.take() else { return };
        let told = block.finish(&self.context);
        if !self.last.as_ref().is_some_and(|last| last.failed) {
            return;
        }
        if let Some(frame) = told.frame {
            self.failure(Some(Failure { depth, name: None, frame, bats: false }));
        }
        // bats' comments, in a block.
        for line in told.message {
            if is_bats(line.trim_start()) {
                self.bats = true;
            }
            let failure = self.diagnosis.comment(depth, &line, &self.context);
            self.failure(failure);
        }
    }

    /// A failure with its place: of the point that came last, unless it is named.
    pub(super) fn failure(&mut self, failure: Option<Failure>) {
        let Some(Failure { depth, name, mut frame, bats }) = failure else { return };
        let last = self.last.as_ref().filter(|last| last.depth == depth && last.failed);
        if bats && last.is_none() {
            return;
        }
        frame.case = name.or_else(|| last.map(|last| last.name.clone()));
        if frame.case.is_some() && frame.case == self.explained {
            return;
        }
        if depth > 0 {
            if self.held.len() < HELD {
                self.held.push((depth, frame));
            }
        } else if !self.explain(0, &frame.case.clone().unwrap_or_default(), true) {
            self.frames.extend(Some(frame));
        }
    }

    /// Gives the frames of the parts of a point their whole name; whether there are any. They wait on if the point is
    /// itself a part.
    pub(super) fn explain(&mut self, depth: usize, name: &str, failed: bool) -> bool {
        let mut any = false;
        let mut rest = Vec::new();
        for (at, mut frame) in std::mem::take(&mut self.held) {
            if at <= depth {
                rest.push((at, frame));
                continue;
            }
            if !failed {
                continue;
            }
            any = true;
            frame.case = Some(match frame.case {
                Some(case) => clip(&format!("{name} > {case}")),
                None => name.to_owned(),
            });
            if depth > 0 {
                rest.push((depth, frame));
            } else {
                self.frames.extend(Some(frame));
            }
        }
        self.held = rest;
        if any && depth == 0 {
            self.explained = Some(name.to_owned());
        }
        any
    }
}
