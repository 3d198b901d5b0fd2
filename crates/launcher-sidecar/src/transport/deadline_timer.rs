//! Deadline timer of a connection, cheap to postpone: almost every deadline is replaced before it passes.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::time::{Instant, Sleep, sleep_until};

/// A timer that is cheap to postpone: setting a later deadline does not change the runtime's timer. The runtime's timer
/// is set again only when it wakes before the deadline, or when a new deadline is earlier.
#[derive(Debug, Default)]
pub(crate) struct DeadlineTimer {
    deadline: Option<Instant>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl DeadlineTimer {
    /// Sets the deadline, and replaces the previous deadline.
    pub(crate) fn set(&mut self, deadline: Instant) {
        self.deadline = Some(deadline);
    }

    /// Removes the deadline.
    pub(crate) fn clear(&mut self) {
        self.deadline = None;
    }

    /// Removes the deadline and frees the timer's memory.
    pub(crate) fn release(&mut self) {
        *self = Self::default();
    }

    /// Ready once the deadline has passed. Never ready without a deadline.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.deadline else { return Poll::Pending };
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        loop {
            ready!(sleep.as_mut().poll(cx));
            if sleep.deadline() >= deadline {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn timer_with_replaced_deadline_fires_at_new_deadline() {
        let start = Instant::now();
        let mut timer = DeadlineTimer::default();
        for (first, then) in [(5, 60), (60, 5)] {
            let begun = Instant::now();
            timer.set(begun + Duration::from_secs(first));
            assert!(poll_fn(|cx| Poll::Ready(timer.poll(cx).is_pending())).await);
            timer.set(begun + Duration::from_secs(then));
            poll_fn(|cx| timer.poll(cx)).await;
            assert_eq!(begun.elapsed().as_secs(), then);
        }
        timer.clear();
        assert!(tokio::time::timeout(Duration::from_secs(99), poll_fn(|cx| timer.poll(cx))).await.is_err());
        assert!(start.elapsed() > Duration::from_secs(99));
    }
}
