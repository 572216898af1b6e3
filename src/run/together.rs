//! Copies of a check that run at the same moment: each waits until all are ready, and all may have one `TMPDIR`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::removal::removal;
use super::sandbox::Sandbox;
use crate::model::Finding;
use crate::platform::{self, LaneHandle};

/// What a check has in common with those that it runs beside.
pub struct Beside {
    pub together: Together,
    /// `None` if each has one of its own.
    pub tmpdir: Option<Arc<OneTmpdir>>,
}

/// Those that are to start at the same moment.
pub struct Together {
    /// How many are not ready yet.
    missing: Mutex<usize>,
    changed: Condvar,
}

impl Together {
    /// So many.
    #[must_use]
    pub fn of(number: usize) -> Self {
        Self { missing: Mutex::new(number), changed: Condvar::new() }
    }

    /// The place of one of them. Who leaves it without a start is not waited for.
    #[must_use]
    pub fn place(&self) -> Start<'_> {
        Start { of: self, is_ready: false }
    }

    fn one_less(&self) {
        *self.missing.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.changed.notify_all();
    }
}

/// One that is to start with others.
pub struct Start<'a> {
    of: &'a Together,
    is_ready: bool,
}

impl Start<'_> {
    /// Waits until all others are ready, too, or have left.
    pub fn wait(mut self) {
        self.is_ready = true;
        self.of.one_less();
        let missing = self.of.missing.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.of.changed.wait_while(missing, |missing| *missing > 0).unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for Start<'_> {
    fn drop(&mut self) {
        if !self.is_ready {
            self.of.one_less();
        }
    }
}

/// The one `TMPDIR` of several sandboxes, in one of its own. It goes with the last of them.
pub struct OneTmpdir {
    sandbox: Sandbox,
    /// Keeps the lane's folder in place.
    handle: Option<LaneHandle>,
    kept: AtomicBool,
}

impl OneTmpdir {
    /// That of a sandbox which is used for nothing else.
    #[must_use]
    pub fn of(sandbox: Sandbox, handle: Option<LaneHandle>) -> Self {
        Self { sandbox, handle, kept: AtomicBool::new(false) }
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.sandbox.tmp()
    }

    /// It is left for somebody to look at.
    pub fn keep(&self) {
        self.kept.store(true, Ordering::SeqCst);
        if let Some(handle) = &self.handle {
            handle.keep_folder();
        }
    }

    /// Removes it; says what resists.
    #[must_use]
    pub fn remove(self) -> Vec<Finding> {
        if self.kept.swap(true, Ordering::SeqCst) { Vec::new() } else { removal(&self.sandbox) }
    }
}

impl Drop for OneTmpdir {
    fn drop(&mut self) {
        if !self.kept.load(Ordering::SeqCst) {
            // Of those that did not start; what resists goes with the lane's folder.
            let _ = platform::remove_tree(self.sandbox.root());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn nobody_starts_before_all_are_ready_and_who_leaves_is_not_waited_for() {
        let (together, ready) = (Together::of(4), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let place = together.place();
                    ready.fetch_add(1, Ordering::SeqCst);
                    place.wait();
                    assert_eq!(ready.load(Ordering::SeqCst), 3);
                });
            }
            scope.spawn(|| {
                let place = together.place();
                while ready.load(Ordering::SeqCst) < 3 {
                    std::thread::yield_now();
                }
                drop(place);
            });
        });
    }
}
