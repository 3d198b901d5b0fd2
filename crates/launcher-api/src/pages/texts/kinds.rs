//! Texts for states, reasons, app types and security profiles.

use launcher_domain::lifetime::ExtendError;
use launcher_domain::{
    AppType, AtExpiry, EndReason, FailureCode, FailureReason, InstanceState, SecurityProfile, SnapshotFailure,
    StartStep, StorageKind, TextKey,
};
use launcher_service::ListedInstance;

use crate::pages::{Language, Text};

impl Language {
    /// Returns the name of a state for the owner.
    pub(crate) fn state_name(self, state: InstanceState) -> Text {
        self.text(&format!("state-{}", state.as_str()))
    }

    /// Returns the name of an instance's state, with the queue position or the start step if known. `progress` is the
    /// progress of the step.
    pub(crate) fn state(
        self,
        ListedInstance { instance, queue_position }: &ListedInstance,
        progress: Option<u32>,
    ) -> String {
        let name = self.state_name(instance.state);
        match (*queue_position, instance.report.start_step) {
            (Some(1), _) => self.with("state-next", [("state", name.into())]),
            (Some(position), _) => self.with("state-position", [("state", name.into()), ("position", position.into())]),
            (None, Some(step)) => {
                let step = self.start_step(step, progress);
                self.with("state-step", [("state", name.into()), ("step", step.into())])
            }
            (None, None) => name.into_owned(),
        }
    }

    /// Returns the text of a start step, with its progress if the fleet reports one. A download that has not begun has
    /// no percentage, nor has a downloaded image that is being unpacked.
    fn start_step(self, step: StartStep, progress: Option<u32>) -> Text {
        match (step, progress.filter(|progress| *progress > 0)) {
            (StartStep::WaitingForRoom, Some(position)) => {
                self.with_one("step-waiting-for-room-progress", "position", position).into()
            }
            (StartStep::PullingImage, Some(100)) => self.text("step-pulling-image-unpacking"),
            (StartStep::PullingImage, Some(percent)) => {
                self.with_one("step-pulling-image-progress", "percent", percent).into()
            }
            (step, _) => self.text(&format!("step-{}", step.as_str())),
        }
    }

    /// Returns the reason of a workshop's end, for its owner.
    pub(crate) fn end_reason(self, reason: EndReason) -> Text {
        self.text(&format!("end-{}", reason.as_str()))
    }

    pub(crate) fn failure(self, code: FailureCode) -> Text {
        self.text(&format!("failure-{}", code.as_str()))
    }

    /// Returns a text of the domain by its code.
    pub(crate) fn coded(self, text: &TextKey) -> String {
        self.with_all(&text.key, text.args.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// Describes a failure. Shows the stored English text if a newer version wrote a code that this version does not
    /// know.
    pub(crate) fn failure_message(self, failure: &FailureReason) -> String {
        let keys = failure.message_keys();
        if !keys.iter().all(|text| self.has(&text.key)) {
            return failure.message.clone();
        }
        keys.iter().map(|text| self.coded(text)).collect::<Vec<_>>().join(" ")
    }

    /// Returns what the reader can do after a failure. Only admins see the remedies that need an admin.
    pub(crate) fn failure_remedy(self, failure: &FailureReason, is_admin: bool) -> String {
        let key = if is_admin { failure.remedy_key() } else { failure.user_remedy_key() };
        if self.has(&key.key) { self.coded(&key) } else { failure.remedy.clone() }
    }

    pub(crate) fn app_type(self, app_type: AppType) -> Text {
        self.text(&format!("app-{}", app_type.as_str()))
    }

    pub(crate) fn product_version(self, version: &str) -> String {
        self.with_one("product-version", "version", version.to_owned())
    }

    /// Names the author of a template; `None` for a template that no person wrote.
    pub(crate) fn created_by(self, email: Option<&str>) -> String {
        let author = email.map_or_else(|| self.text("editor-the-service"), |email| email.to_owned().into());
        self.with_one("editor-created-by", "author", author)
    }

    /// Sentence that the script announces shortly before expiry. The script replaces `{name}` and `{left}`.
    pub(crate) fn spoken_end(self) -> String {
        self.with("spoken-end", [("name", "{name}".into()), ("left", "{left}".into())])
    }

    /// States how many catalog entries match a search.
    pub(crate) fn found(self, found: usize, offered: usize) -> String {
        self.with("found", [("found", found.into()), ("offered", offered.into())])
    }

    pub(crate) fn at_expiry(self, effect: AtExpiry) -> Text {
        self.text(&format!("at-expiry-{}", effect.as_str()))
    }

    pub(crate) fn storage_kind(self, kind: StorageKind) -> Text {
        self.text(&format!("storage-{}", kind.as_str()))
    }

    /// States that files could not be saved, and why.
    pub(crate) fn not_saved(self, failure: Option<SnapshotFailure>) -> String {
        let reason = failure.map(|failure| self.text(&format!("snapshot-failure-{}", failure.as_str())));
        self.with_one("snapshot-failed", "reason", reason.unwrap_or_default())
    }

    pub(crate) fn security_profile(self, profile: SecurityProfile) -> Text {
        self.text(&format!("profile-{}", profile.as_str()))
    }

    /// Returns the reason why a running workshop has no button "Extend". `NotRunning` means that its expiry has passed.
    pub(crate) fn no_extension(self, error: ExtendError) -> Text {
        if error == ExtendError::NotRunning { self.text("no-extension-not-running") } else { self.not_extended(error) }
    }

    pub(crate) fn not_extended(self, error: ExtendError) -> Text {
        self.text(&format!("not-extended-{}", error.code()))
    }
}
