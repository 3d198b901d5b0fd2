//! All sources at the same time, each in a thread.

use std::sync::mpsc::channel;
use std::time::Instant;
use std::{io, thread};

/// Runs each task in a thread of this name, and returns the results at the deadline at the latest. The result is an error if
/// the thread cannot be started. It is `None` if the task is not ready, or ended without a result.
pub(crate) fn run_all<T, F>(
    tasks: impl IntoIterator<Item = (String, F)>,
    deadline: Instant,
) -> Vec<Option<io::Result<T>>>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    let (sender, receiver) = channel();
    let started = tasks.into_iter().enumerate().map(|(index, (name, task))| {
        let sender = sender.clone();
        let started = thread::Builder::new().name(name).spawn(move || {
            // The receiver is gone after the deadline.
            let _ = sender.send((index, task()));
        });
        started.err().map(Err)
    });
    let mut results: Vec<_> = started.collect();
    drop(sender);
    while let Ok((index, result)) = receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        if let Some(slot) = results.get_mut(index) {
            *slot = Some(Ok(result));
        }
    }
    results
}
