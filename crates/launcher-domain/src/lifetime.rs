//! Lifetime of a workshop, and its extension.

use jiff::{SignedDuration, Timestamp};

use crate::instance::{Instance, InstanceState};
use crate::template::{SECONDS, TemplateSettings};

/// Returns the first expiry of a workshop that became ready at `ready`.
#[must_use]
pub fn first_expiry(ready: Timestamp, settings: &TemplateSettings) -> Timestamp {
    later(ready, settings.lifetime_seconds)
}

/// Latest expiry that an extension may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The maximum lifetime of the workshop.
    Maximum,
    /// The longest maximum lifetime that a template may have. Only admins may exceed the maximum of the workshop.
    Longest,
}

impl Bound {
    /// Returns the bound of a request, which may ask to exceed the maximum lifetime.
    #[must_use]
    pub fn new(beyond_maximum: bool) -> Self {
        if beyond_maximum { Self::Longest } else { Self::Maximum }
    }
}

/// Reason why an extension is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExtendError {
    #[error("only a running workshop can be extended")]
    NotRunning,
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
    Extension {
        outcome: extended_expiry(instance, Bound::Maximum, now),
        extend_by_seconds: instance.settings.extension_seconds,
        latest_expires_at: instance.latest_expiry(Bound::Maximum),
    }
}

/// Computes the expiry after an extension within this bound.
///
/// # Errors
/// [`ExtendError`].
pub fn extended_expiry(instance: &Instance, bound: Bound, now: Timestamp) -> Result<Timestamp, ExtendError> {
    let (expires_at, latest) = expiry_and_latest(instance, bound, now)?;
    let extended = later(expires_at, instance.settings.extension_seconds).min(latest);
    if extended > expires_at { Ok(extended) } else { Err(ExtendError::LifetimeLimitReached) }
}

/// Returns the expiry of a running workshop, and the latest one within this bound.
fn expiry_and_latest(instance: &Instance, bound: Bound, now: Timestamp) -> Result<(Timestamp, Timestamp), ExtendError> {
    match (instance.state, instance.expires_at, instance.latest_expiry(bound)) {
        (InstanceState::Running, Some(expires_at), Some(latest)) if now < expires_at => Ok((expires_at, latest)),
        _ => Err(ExtendError::NotRunning),
    }
}

impl Instance {
    /// Maximum lifetime: of the template at the launch, or a longer one that an admin applied since.
    #[must_use]
    pub fn max_lifetime_seconds(&self) -> u32 {
        self.settings.max_lifetime_seconds.max(self.raised_max_lifetime_seconds.unwrap_or_default())
    }

    /// Returns the instance with the larger maximum lifetime of its template; `None` if the maximum is not larger, or if the
    /// instance has ended.
    #[must_use]
    pub fn raise_max_lifetime(&self, seconds: u32) -> Option<Self> {
        use InstanceState::{Failed, Terminated, Terminating};
        let is_live = !matches!(self.state, Terminating | Terminated | Failed);
        (is_live && seconds > self.max_lifetime_seconds())
            .then(|| Self { raised_max_lifetime_seconds: Some(seconds), ..self.clone() })
    }

    /// Returns the latest expiry within this bound; `None` before the workshop was ready, and while it is suspended.
    #[must_use]
    pub fn latest_expiry(&self, bound: Bound) -> Option<Timestamp> {
        let is_suspended = matches!(self.state, InstanceState::Suspending | InstanceState::Suspended);
        let seconds = match bound {
            Bound::Maximum => self.max_lifetime_seconds(),
            Bound::Longest => u32::try_from(*SECONDS.end()).unwrap_or(u32::MAX),
        };
        self.started_at.filter(|_| !is_suspended).map(|ready| later(ready, seconds))
    }

    /// Returns the time between the latest expiry and the expiry, if the expiry exceeds the maximum lifetime.
    #[must_use]
    pub fn beyond_maximum(&self) -> Option<SignedDuration> {
        let excess = self.expires_at?.duration_since(self.latest_expiry(Bound::Maximum)?);
        excess.is_positive().then_some(excess)
    }

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
    pub fn extend(
        &self,
        expected_expires_at: Option<Timestamp>,
        bound: Bound,
        now: Timestamp,
    ) -> Result<Self, ExtendError> {
        let outcome = extended_expiry(self, bound, now);
        let changed = expected_expires_at.is_some() && expected_expires_at != self.expires_at;
        if changed && outcome != Err(ExtendError::NotRunning) {
            return Err(ExtendError::ExpiryChanged);
        }
        Ok(Self { expires_at: Some(outcome?), spec_version: self.spec_version + 1, ..self.clone() })
    }
}

/// Outcome of extending a workshop until a time that an admin chose for many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtensionOutcome {
    Extended,
    /// The workshop is extended until the latest expiry within the bound, which is before that time.
    Shortened,
    /// The workshop already lasts until that time or longer.
    Unchanged,
    /// The extension is refused: the workshop does not run, or has reached its latest possible expiry.
    Refused(ExtendError),
}

/// Computes an extension until `until`, rounded down to milliseconds. Unlike [`extension`], it may add more than the
/// template's extension. It never shortens the lifetime, and never exceeds the bound. Idempotent.
/// Returns the extended instance, if the outcome is an extension.
#[must_use]
pub fn extend_until(
    instance: &Instance,
    until: Timestamp,
    bound: Bound,
    now: Timestamp,
) -> (ExtensionOutcome, Option<Instance>) {
    // Rows store milliseconds. A repeated request with a fraction would otherwise extend the workshop again.
    let until = Timestamp::from_millisecond(until.as_millisecond()).unwrap_or(until);
    let (expires_at, latest) = match expiry_and_latest(instance, bound, now) {
        Ok(expiries) => expiries,
        Err(refusal) => return (ExtensionOutcome::Refused(refusal), None),
    };
    let to =
        |end| Some(Instance { expires_at: Some(end), spec_version: instance.spec_version + 1, ..instance.clone() });
    match (until.min(latest) > expires_at, until <= latest) {
        (true, true) => (ExtensionOutcome::Extended, to(until)),
        (true, false) => (ExtensionOutcome::Shortened, to(latest)),
        (false, _) if until <= expires_at => (ExtensionOutcome::Unchanged, None),
        (false, _) => (ExtensionOutcome::Refused(ExtendError::LifetimeLimitReached), None),
    }
}

fn later(from: Timestamp, seconds: u32) -> Timestamp {
    from.checked_add(SignedDuration::from_secs(i64::from(seconds))).unwrap_or(Timestamp::MAX)
}
