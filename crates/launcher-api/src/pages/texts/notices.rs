//! Texts of notices about refused actions.

use launcher_domain::instance::{RestartError, ResumeError, SuspendError};
use launcher_domain::lifetime::ExtendError;

use crate::pages::language::{Language, Text};

impl Language {
    /// States the caller's limit and number of workshops, and the remedy: end a workshop, or wait for the terminating
    /// ones.
    pub(crate) fn limit_reached(self, limit: u32, held: u32, ending: u32) -> String {
        self.with("limit-reached", [("limit", limit.into()), ("held", held.into()), ("ending", ending.into())])
    }

    /// Returns the reason why a running workshop has no button "Extend". `NotRunning` means that its expiry has passed.
    pub(crate) fn no_extension(self, error: ExtendError) -> Text {
        match error {
            ExtendError::NotRunning => self.text("no-extension-not-running"),
            ExtendError::LifetimeLimitReached | ExtendError::ExpiryChanged => self.not_extended(error),
        }
    }

    /// Returns the reason why a workshop was not extended.
    pub(crate) fn not_extended(self, error: ExtendError) -> Text {
        self.text(match error {
            ExtendError::NotRunning => "not-extended-not-running",
            ExtendError::LifetimeLimitReached => "not-extended-lifetime-limit-reached",
            ExtendError::ExpiryChanged => "not-extended-expiry-changed",
        })
    }

    /// Returns the reason why a workshop was not paused.
    pub(crate) fn not_paused(self, error: SuspendError) -> Text {
        self.text(match error {
            SuspendError::NotRunning => "not-paused-not-running",
            SuspendError::FilesNotKept => "not-paused-files-not-kept",
        })
    }

    /// Returns the reason why a workshop was not resumed.
    pub(crate) fn not_resumed(self, error: ResumeError) -> Text {
        self.text(match error {
            ResumeError::StillSuspending => "not-resumed-still-pausing",
            ResumeError::NotSuspended => "not-resumed-not-paused",
        })
    }

    /// Returns the reason why a workshop was not restarted.
    pub(crate) fn not_restarted(self, error: RestartError) -> Text {
        self.text(match error {
            RestartError::NotRunning => "not-restarted-not-running",
            RestartError::NotOutdated => "not-restarted-not-outdated",
        })
    }
}
