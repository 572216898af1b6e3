//! What is done when this process is asked to end, whichever way a system tells of it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

type Each = Box<dyn FnMut() + Send>;

/// Systems give a handler nothing but what happened.
static EACH: Mutex<Option<Each>> = Mutex::new(None);

static TIMES: AtomicUsize = AtomicUsize::new(0);

/// Has it called at each interrupt, in the place of what was to be called until now. Whether there was something.
pub fn replace(each: impl FnMut() + Send + 'static) -> bool {
    EACH.lock().unwrap_or_else(PoisonError::into_inner).replace(Box::new(each)).is_some()
}

/// Counts an interrupt, and does what is to be done.
pub fn happen() {
    TIMES.fetch_add(1, Ordering::SeqCst);
    if let Some(each) = EACH.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        each();
    }
}

/// How often this process was asked to end, since [`super::on_interrupt`] was first called.
pub fn interrupts() -> usize {
    TIMES.load(Ordering::SeqCst)
}
