//! The desired state of one Workshop.

use tokio::sync::watch;

/// Desired state of a Workshop. It only changes forward, in the order of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DesiredState {
    /// The app runs.
    Running,
    /// The app is terminated. The Workshop stays stored for the next launcher.
    Stopped,
    /// The Workshop is deleted with its processes and its files.
    Deleted,
}

/// Holds the desired state of one Workshop, and notifies its supervisor of changes.
#[derive(Debug)]
pub(crate) struct DesiredStateCell(watch::Sender<DesiredState>);

impl DesiredStateCell {
    pub(crate) fn new(initial: DesiredState) -> Self {
        Self(watch::Sender::new(initial))
    }

    pub(crate) fn set(&self, desired_state: DesiredState) {
        // The state only changes forward: a stop of the fleet must not replace a deletion.
        self.0.send_if_modified(|current| {
            let further = desired_state > *current;
            *current = (*current).max(desired_state);
            further
        });
    }

    pub(crate) fn get(&self) -> DesiredState {
        *self.0.borrow()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<DesiredState> {
        self.0.subscribe()
    }
}
