//! Limits on what one person may do in a window of time. Each process counts alone.

use std::collections::HashMap;
use std::sync::Mutex;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::EmailAddress;
use launcher_domain::sync::lock;

/// Counts what each person did since the begin of the person's window.
#[derive(Debug)]
pub(crate) struct Attempts {
    most: u32,
    window: SignedDuration,
    recent: Mutex<HashMap<EmailAddress, (Timestamp, u32)>>,
}

impl Attempts {
    pub(crate) fn new(most: u32, window: SignedDuration) -> Self {
        Self { most, window, recent: Mutex::default() }
    }

    /// Counts one attempt. Beyond the maximum, returns the whole seconds until the next one is possible, at least 1.
    pub(crate) fn take(&self, email: &EmailAddress, now: Timestamp) -> Result<(), u32> {
        let mut recent = lock(&self.recent);
        recent.retain(|_, (since, _)| now.duration_since(*since) < self.window);
        let (since, taken) = recent.entry(email.clone()).or_insert((now, 0));
        if *taken >= self.most {
            let left = self.window - now.duration_since(*since);
            return Err(u32::try_from(left.as_secs() + 1).unwrap_or(1));
        }
        *taken += 1;
        Ok(())
    }

    /// Takes back an attempt that does not count.
    pub(crate) fn give_back(&self, email: &EmailAddress) {
        if let Some((_, taken)) = lock(&self.recent).get_mut(email) {
            *taken = taken.saturating_sub(1);
        }
    }
}
