//! The activity log. Each entry records that a person or the service launched, extended, restarted or ended an
//! instance, changed a template, deleted a volume, or downloaded files of another person.
//! This module decides which changes get an entry.

use jiff::Timestamp;

use crate::class::{Class, ClassContent, ClassRole};
use crate::email::EmailAddress;
use crate::instance::{Instance, InstanceState};
use crate::snapshot::Snapshot;
use crate::template::{Template, TemplateContent};
use crate::text_enum::text_enum;
use crate::volume::Volume;

text_enum! {
    /// Kind of a logged action. The doc comments of the variants are part of the API's document.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ActivityAction {
        /// An instance was launched.
        Launched = "launched",
        /// An instance was extended.
        Extended = "extended",
        /// An admin extended an instance beyond its maximum lifetime.
        ExtendedBeyondMaximum = "extended-beyond-maximum",
        /// An admin applied the larger maximum lifetime of the template to an instance.
        MaximumRaised = "maximum-raised",
        /// An admin requested the restart of an outdated instance.
        Restarted = "restarted",
        /// A person paused an instance, or it expired.
        Suspended = "suspended",
        /// A person resumed an instance.
        Resumed = "resumed",
        /// A person ended an instance, it expired, or its Workshop was deleted outside of the service.
        Ended = "ended",
        /// An instance failed.
        Failed = "failed",
        /// A person removed a failed instance from the list.
        Dismissed = "dismissed",
        /// A template was created.
        TemplateCreated = "template-created",
        /// A template was changed without archiving or restoring it.
        TemplateChanged = "template-changed",
        /// A template was removed from the catalog.
        TemplateArchived = "template-archived",
        /// A template was returned to the catalog.
        TemplateRestored = "template-restored",
        /// A class was created.
        ClassCreated = "class-created",
        /// A class was changed, archived or restored.
        ClassChanged = "class-changed",
        /// A teacher created a join link of a class.
        JoinLinkCreated = "join-link-created",
        /// A teacher revoked the join link of a class, or replaced it.
        JoinLinkRevoked = "join-link-revoked",
        /// A person became a member of a class.
        MemberAdded = "member-added",
        /// A member of a class got another role.
        MemberChanged = "member-changed",
        /// A person is no longer a member of a class.
        MemberRemoved = "member-removed",
        /// A teacher sent a message to the members of a class.
        ClassMessageSent = "class-message-sent",
        /// A person deleted kept files, or the service deleted unused ones.
        VolumeDeleted = "volume-deleted",
        /// An admin downloaded kept or saved files of another person.
        FilesDownloaded = "files-downloaded",
    }
}

impl ActivityAction {
    /// True if the subject is a class.
    #[must_use]
    pub fn is_of_class(self) -> bool {
        matches!(
            self,
            Self::ClassCreated
                | Self::ClassChanged
                | Self::ClassMessageSent
                | Self::JoinLinkCreated
                | Self::JoinLinkRevoked
                | Self::MemberAdded
                | Self::MemberChanged
                | Self::MemberRemoved
        )
    }
}

/// Actor and time of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// E-mail address of the person who made the change; `None` when the service made it.
    pub actor_email: Option<EmailAddress>,
    /// Time of the change.
    pub at: Timestamp,
}

/// One entry of the activity log. It copies the names at the time of the action, because the instance may be purged
/// and the template renamed later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    pub act: Act,
    pub action: ActivityAction,
    /// Object of the action: an instance's `k8s_name`, a volume's name, or the identifier of a template or a class.
    pub subject: String,
    /// Name of the changed template or class, or of the template from which the instance was launched or the volume was created.
    /// Empty for a volume that templates share.
    pub subject_name: String,
    /// Owner of the instance or volume, or member of the class; `None` for a template or a class.
    pub owner_email: Option<EmailAddress>,
    /// Detail of the action: the new expiry (RFC 3339) after an extension, followed by a space and the seconds beyond the
    /// maximum lifetime if it exceeds this; the new maximum lifetime in seconds; the end reason; the failure code;
    /// the role of the member; or the names of the changed settings.
    pub detail: Option<String>,
}

impl Activity {
    /// Returns the log entry for a launch by a person: the owner, or a teacher for the owner.
    #[must_use]
    pub fn of_launch(created: &Instance, by: &EmailAddress) -> Self {
        let act = Act { actor_email: Some(by.clone()), at: created.created_at };
        Self::of_instance(created, act, ActivityAction::Launched, None)
    }

    /// Returns the log entry for a change of an instance. Returns `None` for a change that is not logged, for example
    /// when the instance becomes ready.
    #[must_use]
    pub fn of_change(before: &Instance, after: &Instance, act: &Act) -> Option<Self> {
        use InstanceState::{Failed, Queued, Running, Starting, Suspended, Suspending, Terminated, Terminating};
        let (action, detail) = match (before.state, after.state) {
            (Terminating | Terminated, _) => return None,
            (Failed, Terminating | Terminated) => (ActivityAction::Dismissed, None),
            (_, Terminating | Terminated) => {
                (ActivityAction::Ended, after.end_reason.map(|reason| reason.as_str().to_owned()))
            }
            (Starting | Running, Suspending) => (ActivityAction::Suspended, None),
            (Suspended, Queued) => (ActivityAction::Resumed, None),
            (Failed, Failed) | (Suspending, Suspended) => return None,
            (_, Failed) => {
                (ActivityAction::Failed, after.reason.as_ref().map(|reason| reason.code.as_str().to_owned()))
            }
            _ if before.restarted_at != after.restarted_at => (ActivityAction::Restarted, None),
            _ if before.expires_at.is_some() && before.expires_at != after.expires_at => extended(after),
            _ if before.raised_max_lifetime_seconds != after.raised_max_lifetime_seconds => {
                (ActivityAction::MaximumRaised, after.raised_max_lifetime_seconds.map(|seconds| seconds.to_string()))
            }
            _ => return None,
        };
        Some(Self::of_instance(after, act.clone(), action, detail))
    }

    /// Returns the log entry for a new template. A template that the service created at its start has no actor.
    #[must_use]
    pub fn of_new_template(template: &Template, actor_email: Option<EmailAddress>) -> Self {
        let act = Act { actor_email, at: template.created_at };
        Self::of_template(template, act, ActivityAction::TemplateCreated, None)
    }

    /// Returns the log entry for a changed template.
    #[must_use]
    pub fn of_template_change(before: &Template, after: &Template, actor_email: EmailAddress) -> Self {
        let action = match (before.active, after.active) {
            (true, false) => ActivityAction::TemplateArchived,
            (false, true) => ActivityAction::TemplateRestored,
            _ => ActivityAction::TemplateChanged,
        };
        let changed = changed_fields(before, after).join(", ");
        let act = Act { actor_email: Some(actor_email), at: after.updated_at };
        Self::of_template(after, act, action, Some(changed).filter(|changed| !changed.is_empty()))
    }

    /// Returns the log entry for a changed class.
    #[must_use]
    pub fn of_class_change(before: &Class, after: &Class, act: Act) -> Self {
        let [old, new] = [before, after].map(|class| serde_json::json!(class.content));
        let changed = ClassContent::FIELDS.iter().filter(|field| old[**field] != new[**field]);
        let changed: Vec<&str> = changed.copied().collect();
        Self { detail: Some(changed.join(", ")), ..Self::of_class(after, act, ActivityAction::ClassChanged) }
    }

    /// Returns the log entry for a person whose role in a class changed. `None` if it did not change.
    #[must_use]
    pub fn of_member(
        class: &Class,
        email: &EmailAddress,
        before: Option<ClassRole>,
        after: Option<ClassRole>,
        act: Act,
    ) -> Option<Self> {
        let action = match (before, after) {
            (before, after) if before == after => return None,
            (None, _) => ActivityAction::MemberAdded,
            (_, None) => ActivityAction::MemberRemoved,
            _ => ActivityAction::MemberChanged,
        };
        let role = after.or(before).map(|role| role.as_str().to_owned());
        Some(Self { owner_email: Some(email.clone()), detail: role, ..Self::of_class(class, act, action) })
    }

    /// Returns the log entry for an action on a class. It contains neither the code of a join link nor the text of a message.
    #[must_use]
    pub fn of_class(class: &Class, act: Act, action: ActivityAction) -> Self {
        Self::new(act, action, class.class_id.to_string(), &class.content.name, None)
    }

    /// Returns the log entry for an action on a volume.
    #[must_use]
    pub fn of_volume(action: ActivityAction, volume: &Volume, act: Act) -> Self {
        let template_name = volume.template_name.as_deref().unwrap_or_default();
        Self::new(act, action, volume.name.clone(), template_name, Some(&volume.owner_email))
    }

    /// Returns the log entry for an action on a snapshot.
    #[must_use]
    pub fn of_snapshot(action: ActivityAction, snapshot: &Snapshot, act: Act) -> Self {
        Self::new(act, action, snapshot.k8s_name.clone(), &snapshot.template_name, Some(&snapshot.owner_email))
    }

    fn of_instance(instance: &Instance, act: Act, action: ActivityAction, detail: Option<String>) -> Self {
        let (subject, owner) = (instance.k8s_name.clone(), Some(&instance.owner_email));
        Self { detail, ..Self::new(act, action, subject, &instance.settings.name, owner) }
    }

    fn of_template(template: &Template, act: Act, action: ActivityAction, detail: Option<String>) -> Self {
        let subject = template.template_id.to_string();
        Self { detail, ..Self::new(act, action, subject, &template.settings.name, None) }
    }

    /// Returns an entry without a detail.
    fn new(act: Act, action: ActivityAction, subject: String, name: &str, owner: Option<&EmailAddress>) -> Self {
        let (subject_name, owner_email) = (name.to_owned(), owner.cloned());
        Self { act, action, subject, subject_name, owner_email, detail: None }
    }
}

/// Returns action and detail of an extension.
fn extended(after: &Instance) -> (ActivityAction, Option<String>) {
    let until = after.expires_at.map(|end| format!("{end:.3}"));
    match (until, after.beyond_maximum()) {
        (Some(until), Some(excess)) => {
            // A maximum that is exceeded by less than a second is exceeded.
            let seconds = excess.as_millis().div_euclid(1000) + i128::from(excess.as_millis().rem_euclid(1000) > 0);
            (ActivityAction::ExtendedBeyondMaximum, Some(format!("{until} {seconds}")))
        }
        (until, _) => (ActivityAction::Extended, until),
    }
}

/// Returns the names of the fields that differ, in the order of the API. Omits their values, because an environment
/// variable may hold a secret.
fn changed_fields(before: &Template, after: &Template) -> Vec<&'static str> {
    let [before, after] = [before, after].map(|template| TemplateContent::from(template).to_json());
    let fields = TemplateContent::fields().filter(|field| *field != "active");
    fields.filter(|field| before.get(*field) != after.get(*field)).collect()
}
