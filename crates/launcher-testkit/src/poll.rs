//! Waits for a result by polling.

use std::time::Duration;

/// Polling interval.
const PAUSE: Duration = Duration::from_millis(5);

/// Polls until `look` returns a value, and returns it.
///
/// # Panics
/// `look` returns no value within `deadline`.
pub async fn eventually<T>(deadline: Duration, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let until = tokio::time::Instant::now() + deadline;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        if tokio::time::Instant::now() > until {
            panic!("it did not happen within {deadline:?}");
        }
        tokio::time::sleep(PAUSE).await;
    }
}
