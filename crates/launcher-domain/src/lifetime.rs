//! Lifetime of a workshop, and its extension.

use jiff::{SignedDuration, Timestamp};

use crate::instance::{Instance, InstanceState};
use crate::template::TemplateSettings;

/// Returns the first expiry of a workshop that became ready at `ready`.
#[must_use]
pub fn first_expiry(ready: Timestamp, settings: &TemplateSettings) -> Timestamp {
    later(ready, settings.lifetime_seconds)
}

/// Reason why an extension is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExtendError {
    /// Only a running workshop can be extended.
    #[error("only a running workshop can be extended")]
    NotRunning,
    /// The expiry is already the latest that the template allows.
    #[error("the workshop has already reached the maximum lifetime of its template")]
    LifetimeLimitReached,
    /// The caller expected another expiry, because another request extended the workshop first (a double click).
    #[error("the workshop's end has changed since the page was loaded")]
    ExpiryChanged,
}

impl ExtendError {
    /// Returns the code of this refusal that the API sends, in kebab-case.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::NotRunning => "not-running",
            Self::LifetimeLimitReached => "lifetime-limit-reached",
            Self::ExpiryChanged => "expiry-changed",
        }
    }
}

/// Effect that an extension would have now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension {
    /// The new expiry, or the reason for a refusal.
    pub outcome: Result<Timestamp, ExtendError>,
    /// Maximum seconds that one extension adds.
    pub extend_by_seconds: u32,
    /// Latest possible expiry; `None` before the workshop was ready, and while it is suspended.
    pub latest_expires_at: Option<Timestamp>,
}

/// Computes an extension: `min(expires_at + extension, ready + max_lifetime)`, if that is later than `expires_at`.
///
/// A workshop that has expired at `now` counts as not running, even if the fleet has not reported it yet.
#[must_use]
pub fn extension(instance: &Instance, now: Timestamp) -> Extension {
    let settings = &instance.settings;
    let is_suspended = matches!(instance.state, InstanceState::Suspending | InstanceState::Suspended);
    let started_at = instance.started_at.filter(|_| !is_suspended);
    let latest_expires_at = started_at.map(|ready| later(ready, settings.max_lifetime_seconds));
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
    /// Returns the expiry if an extension has moved it. `None` if it is the end of the lifetime, which the fleet derives
    /// from the time at which the workshop became ready.
    #[must_use]
    pub fn moved_expiry(&self) -> Option<Timestamp> {
        let first = self.started_at.map(|ready| first_expiry(ready, &self.settings));
        self.expires_at.filter(|_| self.expires_at != first)
    }

    /// Returns this instance extended once.
    ///
    /// `expected_expires_at` is the expiry that the caller saw, if given. The second request of a double click then has
    /// an outdated expiry and is refused.
    ///
    /// # Errors
    /// [`ExtendError`] with the reason of the refusal.
    pub fn extend(&self, expected_expires_at: Option<Timestamp>, now: Timestamp) -> Result<Self, ExtendError> {
        let outcome = extension(self, now).outcome;
        let changed = expected_expires_at.is_some() && expected_expires_at != self.expires_at;
        if changed && outcome != Err(ExtendError::NotRunning) {
            return Err(ExtendError::ExpiryChanged);
        }
        Ok(Self { expires_at: Some(outcome?), spec_version: self.spec_version + 1, ..self.clone() })
    }
}

/// Effect of extending a workshop until a time that an admin chose for a whole class.
#[derive(Debug, Clone, PartialEq)]
pub enum UntilExtension {
    /// The workshop is extended until that time.
    Extended(Box<Instance>),
    /// The workshop is extended until its latest possible expiry, which is before that time.
    Shortened(Box<Instance>),
    /// The workshop already lasts until that time or longer.
    Unchanged,
    /// The extension is refused.
    Refused(ExtendError),
}

/// Computes an extension until `until`, rounded down to milliseconds. Unlike [`extension`], it may add more than the
/// template's extension. It never shortens the lifetime, and never exceeds the maximum lifetime. Idempotent.
#[must_use]
pub fn extend_until(instance: &Instance, until: Timestamp, now: Timestamp) -> UntilExtension {
    // Rows store milliseconds. A repeated request with a fraction would otherwise extend the workshop again.
    let until = Timestamp::from_millisecond(until.as_millisecond()).unwrap_or(until);
    let latest = extension(instance, now).latest_expires_at;
    let (InstanceState::Running, Some(expires_at), Some(latest)) = (instance.state, instance.expires_at, latest) else {
        return UntilExtension::Refused(ExtendError::NotRunning);
    };
    if expires_at <= now {
        return UntilExtension::Refused(ExtendError::NotRunning);
    }
    let to =
        |end| Box::new(Instance { expires_at: Some(end), spec_version: instance.spec_version + 1, ..instance.clone() });
    match (until.min(latest) > expires_at, until <= latest) {
        (true, true) => UntilExtension::Extended(to(until)),
        (true, false) => UntilExtension::Shortened(to(latest)),
        (false, _) if until <= expires_at => UntilExtension::Unchanged,
        (false, _) => UntilExtension::Refused(ExtendError::LifetimeLimitReached),
    }
}

fn later(from: Timestamp, seconds: u32) -> Timestamp {
    from.checked_add(SignedDuration::from_secs(i64::from(seconds))).unwrap_or(Timestamp::MAX)
}
