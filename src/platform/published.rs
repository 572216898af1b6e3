//! How published files came to be as they are: pure, from what a system tells of names, one after the other.

use serde::{Deserialize, Serialize};

use crate::model::Process;

/// What a system tells of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It was there when its folder was first listed, after that had come into being under the watch.
    Found,
    /// It was made: an empty file, or another name of something that is whole.
    Made,
    /// Something was renamed to it.
    Arrived,
    /// Something was written to it, or cut off.
    Changed,
    /// Somebody who could write to it closed it.
    Closed,
    /// It was removed, or renamed to something else.
    Gone,
}

/// What is wrong with how a file appeared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Torn {
    /// It was made under its own name, where readers find it empty or half-written.
    MadeInPlace,
    /// Its content was changed under its own name.
    ChangedInPlace,
    /// It was renamed into place, and written to afterwards.
    RenamedTooEarly,
    /// It was removed before its successor was renamed into place: for a moment readers find none.
    Gap,
    /// It was there before its folder could be watched: how it appeared is not known.
    Unseen,
}

/// A published file that something is, or may be, wrong with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// Absolute.
    pub path: String,
    pub torn: Torn,
    /// Who did it. `None` if it was done before anybody could be seen at it.
    pub writer: Option<Process>,
    /// When that was seen, in milliseconds after the job's start.
    pub at_ms: u64,
    /// Whether the writer was seen at it; else it is the only process that there was.
    pub sure: bool,
}

/// A file in a watched place that something happened to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// Absolute.
    pub path: String,
    /// Whether it was made meanwhile, or renamed to this name.
    pub made: bool,
    /// Whether it was removed, or renamed to something else.
    pub gone: bool,
    /// Who wrote to it; `None` if nobody of the job was seen at it.
    pub writer: Option<Process>,
    /// Whether the writer was seen at it; else it is the only process that there was.
    pub sure: bool,
}

/// What is known of one name.
#[derive(Debug, Clone, Default)]
pub struct Story {
    now: State,
    /// Whether it was removed since it last was there.
    gap: bool,
    torn: Vec<Torn>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Nothing was told of it yet: it is older than the watch, if it is there.
    #[default]
    Before,
    Found,
    Made,
    Whole,
    /// What is wrong with it was noted.
    Torn,
    Gone,
}

impl Story {
    /// Takes in what happened next. Returns what that shows to be wrong, each once.
    pub fn take(&mut self, step: Step) -> Option<Torn> {
        let (next, torn) = match (self.now, step) {
            (State::Before, Step::Found) => (State::Found, None),
            (_, Step::Made) => (State::Made, None),
            (_, Step::Arrived) => (State::Whole, std::mem::take(&mut self.gap).then_some(Torn::Gap)),
            (now, Step::Gone) => {
                self.gap |= now != State::Gone;
                (State::Gone, None)
            }
            // What was found had been opened under its own name before its folder could be watched.
            (State::Found | State::Made, Step::Changed | Step::Closed) => {
                self.gap = false;
                (State::Torn, Some(Torn::MadeInPlace))
            }
            (State::Whole, Step::Changed) => (State::Torn, Some(Torn::RenamedTooEarly)),
            (State::Before, Step::Changed) => (State::Torn, Some(Torn::ChangedInPlace)),
            // A listing that came later than what was told; who closes what others wrote; what is gone and still open.
            (now, Step::Found | Step::Changed | Step::Closed) => (now, None),
        };
        self.now = next;
        torn.filter(|torn| {
            let new = !self.torn.contains(torn);
            self.torn.push(*torn);
            new
        })
    }

    /// What is left to say in the end. `is_empty` tells whether the file is there, and empty.
    pub fn end(&self, is_empty: impl FnOnce() -> bool) -> Option<Torn> {
        match self.now {
            State::Found => Some(Torn::Unseen),
            // A file that was opened and is open still; what was linked into place has content.
            State::Made if is_empty() => Some(Torn::MadeInPlace),
            _ => None,
        }
        .filter(|torn| !self.torn.contains(torn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Step::{Arrived, Changed, Closed, Found, Gone, Made};
    use Torn::{ChangedInPlace, Gap, MadeInPlace, RenamedTooEarly, Unseen};

    fn told(steps: &[Step], empty: bool) -> Vec<Torn> {
        let mut story = Story::default();
        let mut told: Vec<Torn> = steps.iter().filter_map(|step| story.take(*step)).collect();
        told.extend(story.end(|| empty));
        told
    }

    #[test]
    fn a_rename_or_a_link_is_whole() {
        for steps in [&[Arrived][..], &[Arrived, Arrived], &[Made], &[Found, Arrived], &[Gone], &[Arrived, Gone], &[]] {
            assert_eq!(told(steps, false), [], "{steps:?}");
        }
        // The last writer of a draft may close it after the rename: what it wrote was there before.
        assert_eq!(told(&[Arrived, Closed], false), []);
        // Opened for writing, and nothing written.
        assert_eq!(told(&[Closed], false), []);
    }

    #[test]
    fn what_is_written_under_its_own_name_is_torn() {
        for (steps, expected) in [
            (&[Made, Changed, Closed][..], MadeInPlace),
            (&[Made, Closed], MadeInPlace),
            (&[Made, Closed, Arrived], MadeInPlace),
            (&[Found, Closed], MadeInPlace),
            (&[Found, Made, Changed], MadeInPlace),
            (&[Changed, Changed, Closed], ChangedInPlace),
            (&[Changed, Gone, Arrived, Changed], ChangedInPlace),
            (&[Arrived, Changed, Changed, Closed], RenamedTooEarly),
        ] {
            assert_eq!(told(steps, false)[0], expected, "{steps:?}");
        }
        assert_eq!(told(&[Made], true), [MadeInPlace], "it is open still");
        assert_eq!(told(&[Made, Closed, Gone, Made, Closed], true), [MadeInPlace], "once each");
    }

    #[test]
    fn a_moment_without_the_file_is_a_gap() {
        assert_eq!(told(&[Gone, Arrived], false), [Gap]);
        assert_eq!(told(&[Arrived, Gone, Arrived], false), [Gap]);
        assert_eq!(told(&[Gone], false), []);
    }

    #[test]
    fn what_was_there_before_the_watch_is_not_known() {
        assert_eq!(told(&[Found], true), [Unseen]);
        assert_eq!(told(&[Found, Gone], true), []);
    }
}
