//! How long a workshop lives, and how far it can be extended.

use jiff::{SignedDuration, Timestamp};

use crate::instance::{Instance, InstanceState};
use crate::template::TemplateSettings;

/// When the time of a workshop that was ready at `ready` is first up.
#[must_use]
pub fn first_expiry(ready: Timestamp, settings: &TemplateSettings) -> Timestamp {
    later(ready, settings.lifetime_seconds)
}

/// Why an extension is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExtendError {
    /// Only a running workshop has time to extend.
    #[error("only a running workshop can be extended")]
    NotRunning,
    /// It already has all the time its template allows.
    #[error("the workshop already has all the time that its template allows")]
    LifetimeLimitReached,
    /// The caller expected another expiry: somebody, or a double click, was quicker.
    #[error("the workshop's end has changed since the page was loaded")]
    ExpiryChanged,
}

impl ExtendError {
    /// The code as it is sent: kebab-case.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::NotRunning => "not-running",
            Self::LifetimeLimitReached => "lifetime-limit-reached",
            Self::ExpiryChanged => "expiry-changed",
        }
    }
}

/// What extending would do right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension {
    /// The new expiry, or why there is none.
    pub outcome: Result<Timestamp, ExtendError>,
    /// What one extension adds at most, in seconds.
    pub extend_by_seconds: u32,
    /// The end that no extension passes; `None` before the workshop was ready.
    pub latest_expires_at: Option<Timestamp>,
}

/// What extending would do: `min(expires_at + extension, ready + max_lifetime)`, when that gains anything.
///
/// One whose time is up at `now` does not run any more, whether or not the fleet has said so already.
#[must_use]
pub fn extension(instance: &Instance, now: Timestamp) -> Extension {
    let settings = &instance.settings;
    let latest_expires_at = instance.started_at.map(|ready| later(ready, settings.max_lifetime_seconds));
    let outcome = match (instance.state, instance.expires_at, latest_expires_at) {
        (InstanceState::Running, Some(expires_at), Some(latest)) if now < expires_at => {
            let extended = later(expires_at, settings.extension_seconds).min(latest);
            if extended > expires_at { Ok(extended) } else { Err(ExtendError::LifetimeLimitReached) }
        }
        _ => Err(ExtendError::NotRunning),
    };
    Extension { outcome, extend_by_seconds: settings.extension_seconds, latest_expires_at }
}

impl Instance {
    /// This instance with its time extended once.
    ///
    /// `expected_expires_at` is the expiry that the caller saw, when it says so: it makes a double click harmless.
    ///
    /// # Errors
    /// [`ExtendError`]; the instance stays as it is.
    pub fn extend(&self, expected_expires_at: Option<Timestamp>, now: Timestamp) -> Result<Self, ExtendError> {
        let outcome = extension(self, now).outcome;
        let changed = expected_expires_at.is_some() && expected_expires_at != self.expires_at;
        if changed && outcome != Err(ExtendError::NotRunning) {
            return Err(ExtendError::ExpiryChanged);
        }
        Ok(Self { expires_at: Some(outcome?), spec_version: self.spec_version + 1, ..self.clone() })
    }
}

fn later(from: Timestamp, seconds: u32) -> Timestamp {
    from.checked_add(SignedDuration::from_secs(i64::from(seconds))).unwrap_or(Timestamp::MAX)
}
