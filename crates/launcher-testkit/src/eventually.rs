//! Waiting for what happens by itself.

use std::time::Duration;

use tokio::time::{Instant, sleep};

const PATIENCE: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Asks again and again until `look` gives something, and returns it.
///
/// # Panics
/// After 20 seconds, at the caller's place.
#[track_caller]
pub fn eventually<T>(look: impl AsyncFn() -> Option<T>) -> impl Future<Output = T> {
    let place = std::panic::Location::caller();
    async move {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look().await {
                return found;
            }
            assert!(Instant::now() < deadline, "what {place} waits for has not happened in {PATIENCE:?}");
            sleep(LOOK_EVERY).await;
        }
    }
}
