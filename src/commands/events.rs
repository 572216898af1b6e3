//! `--events`: what happens, while it happens.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::show::Show;
use crate::model::Event;

/// The stream of events, if somebody wants it.
pub struct Events {
    wanted: bool,
    /// Once something went wrong no more is written: half a line may be there.
    failed: Mutex<Option<io::Error>>,
}

impl Events {
    pub fn new(wanted: bool) -> Self {
        Self { wanted, failed: Mutex::default() }
    }

    /// Writes one event as a line of its own, at once.
    pub fn tell(&self, event: &Event<'_>) {
        if !self.wanted {
            return;
        }
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.is_none() {
            *failed = Show::json(&serde_json::to_string(event).unwrap_or_default()).err();
        }
    }

    /// Why they are not whole. Somebody who stopped reading them is no reason.
    pub fn error(&self) -> Option<String> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let error = failed.as_ref().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)?;
        Some(format!("cannot write the events: {error}"))
    }
}
