//! Waits for a result.

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// Deadline of every wait. It only bounds a hang: a wait that succeeds ends long before it, even on a busy machine.
pub const DEADLINE: Duration = Duration::from_secs(120);

/// Polling interval.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits for a future, and returns its result.
///
/// # Panics
/// The future has no result within [`DEADLINE`].
pub async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future).await.unwrap_or_else(|_| panic!("it did not happen within {DEADLINE:?}"))
}

/// Polls until `look` returns a value, and returns it.
///
/// # Panics
/// `look` returns no value within [`DEADLINE`].
pub async fn eventually<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    in_time(async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(PAUSE).await; // pacing: interval of the poll
        }
    })
    .await
}

/// Freezes tokio's clock until it is dropped: no timer of the runtime elapses.
#[derive(Debug)]
pub struct FrozenTime(#[expect(dead_code, reason = "the drop of the sender ends the blocking task")] Sender<()>);

impl FrozenTime {
    /// Freezes the clock. If the test hangs for [`DEADLINE`], the clock advances again, so that waits fail.
    ///
    /// # Panics
    /// The runtime has several threads, or its clock is already paused.
    #[must_use]
    pub fn start() -> Self {
        tokio::time::pause();
        let (frozen, until) = channel();
        // The paused clock advances automatically while all tasks wait, but not while a blocking task runs.
        tokio::task::spawn_blocking(move || until.recv_timeout(DEADLINE).is_ok());
        Self(frozen)
    }
}

impl Drop for FrozenTime {
    fn drop(&mut self) {
        tokio::time::resume();
    }
}

/// Blocks the thread and polls until `holds` returns true. `what` describes the failure.
///
/// # Panics
/// `holds` returns false for the whole of [`DEADLINE`].
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(PAUSE); // pacing: interval of the poll
    }
}
