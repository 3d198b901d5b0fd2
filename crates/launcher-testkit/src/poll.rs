//! Waiting for what happens elsewhere.

use std::time::Duration;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Looks again and again until there is something, and returns it.
///
/// # Panics
/// When there is nothing within `deadline`.
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
