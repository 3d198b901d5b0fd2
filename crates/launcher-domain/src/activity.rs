//! The activity log: each entry records a person or the service launching, extending, ending or changing something.
//! This module decides which changes get an entry.

use jiff::Timestamp;

use crate::email::EmailAddress;
use crate::instance::{Instance, InstanceState};
use crate::template::{Template, TemplateSettings};

/// Kind of a logged action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ActivityAction {
    /// An instance was launched.
    Launched,
    /// An instance was extended.
    Extended,
    /// The end of an instance was decided: by a person, by expiry, or because its Workshop was gone.
    Ended,
    /// An instance failed.
    Failed,
    /// A failed instance was dismissed from its owner's list.
    Dismissed,
    /// A template was created.
    TemplateCreated,
    /// A template was changed without archiving or restoring it.
    TemplateChanged,
    /// A template was removed from the catalog.
    TemplateArchived,
    /// A template was returned to the catalog.
    TemplateRestored,
}

impl ActivityAction {
    /// All actions.
    pub const ALL: [Self; 9] = [
        Self::Launched,
        Self::Extended,
        Self::Ended,
        Self::Failed,
        Self::Dismissed,
        Self::TemplateCreated,
        Self::TemplateChanged,
        Self::TemplateArchived,
        Self::TemplateRestored,
    ];

    /// Returns the action as stored and sent.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Launched => "launched",
            Self::Extended => "extended",
            Self::Ended => "ended",
            Self::Failed => "failed",
            Self::Dismissed => "dismissed",
            Self::TemplateCreated => "template-created",
            Self::TemplateChanged => "template-changed",
            Self::TemplateArchived => "template-archived",
            Self::TemplateRestored => "template-restored",
        }
    }

    /// Parses an action.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == text)
    }
}

/// Actor and time of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// The person; `None` for the service itself.
    pub actor_email: Option<EmailAddress>,
    /// Time of the change.
    pub at: Timestamp,
}

/// One entry of the activity log. It keeps the names of that time, and outlives the instance or template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// Actor and time.
    pub act: Act,
    /// Kind of action.
    pub action: ActivityAction,
    /// Subject: an instance's `k8s_name`, or a template's identifier.
    pub subject: String,
    /// The template's name, or the name of the template that an instance was launched from.
    pub subject_name: String,
    /// Owner of the instance; `None` for a template.
    pub owner_email: Option<EmailAddress>,
    /// Depends on the action: new expiry (RFC 3339) of an extension, reason of an end, code of a failure, names of the
    /// changed settings of a template.
    pub detail: Option<String>,
}

impl Activity {
    /// Returns the entry of a launch.
    #[must_use]
    pub fn of_launch(created: &Instance) -> Self {
        let act = Act { actor_email: Some(created.owner_email.clone()), at: created.created_at };
        Self::of_instance(created, act, ActivityAction::Launched, None)
    }

    /// Returns the entry of a change of an instance; `None` for a change without a decision, such as becoming ready.
    #[must_use]
    pub fn of_change(before: &Instance, after: &Instance, act: &Act) -> Option<Self> {
        use InstanceState::{Failed, Terminated, Terminating};
        let (action, detail) = match (before.state, after.state) {
            (Terminating | Terminated, _) => return None,
            (Failed, Terminating | Terminated) => (ActivityAction::Dismissed, None),
            (_, Terminating | Terminated) => {
                (ActivityAction::Ended, after.end_reason.map(|reason| reason.as_str().to_owned()))
            }
            (Failed, Failed) => return None,
            (_, Failed) => {
                (ActivityAction::Failed, after.reason.as_ref().map(|reason| reason.code.as_str().to_owned()))
            }
            _ if before.expires_at.is_some() && before.expires_at != after.expires_at => {
                (ActivityAction::Extended, after.expires_at.map(|end| format!("{end:.3}")))
            }
            _ => return None,
        };
        Some(Self::of_instance(after, act.clone(), action, detail))
    }

    /// Returns the entry of a new template. A template that a deployment brings along has no actor.
    #[must_use]
    pub fn of_new_template(template: &Template, actor_email: Option<EmailAddress>) -> Self {
        let act = Act { actor_email, at: template.created_at };
        Self::of_template(template, act, ActivityAction::TemplateCreated, None)
    }

    /// Returns the entry of a changed template.
    #[must_use]
    pub fn of_template_change(before: &Template, after: &Template, actor_email: EmailAddress) -> Self {
        let action = match (before.active, after.active) {
            (true, false) => ActivityAction::TemplateArchived,
            (false, true) => ActivityAction::TemplateRestored,
            _ => ActivityAction::TemplateChanged,
        };
        let changed = changed_settings(&before.settings, &after.settings).join(", ");
        let act = Act { actor_email: Some(actor_email), at: after.updated_at };
        Self::of_template(after, act, action, Some(changed).filter(|changed| !changed.is_empty()))
    }

    fn of_instance(instance: &Instance, act: Act, action: ActivityAction, detail: Option<String>) -> Self {
        Self {
            act,
            action,
            subject: instance.k8s_name.clone(),
            subject_name: instance.settings.name.clone(),
            owner_email: Some(instance.owner_email.clone()),
            detail,
        }
    }

    fn of_template(template: &Template, act: Act, action: ActivityAction, detail: Option<String>) -> Self {
        Self {
            act,
            action,
            subject: template.template_id.to_string(),
            subject_name: template.settings.name.clone(),
            owner_email: None,
            detail,
        }
    }
}

/// Returns the names of the settings that differ, without their values: a variable may hold a secret.
fn changed_settings(before: &TemplateSettings, after: &TemplateSettings) -> Vec<&'static str> {
    // Destructures every field, so that the compiler reports a forgotten new one.
    let TemplateSettings {
        name,
        description,
        app_type,
        image,
        port,
        command,
        args,
        env,
        resources,
        security_profile,
        lifetime_seconds,
        extension_seconds,
        max_lifetime_seconds,
    } = before;
    let settings = [
        ("name", *name != after.name),
        ("description", *description != after.description),
        ("app_type", *app_type != after.app_type),
        ("image", *image != after.image),
        ("port", *port != after.port),
        ("command", *command != after.command),
        ("args", *args != after.args),
        ("env", *env != after.env),
        ("resources", *resources != after.resources),
        ("security_profile", *security_profile != after.security_profile),
        ("lifetime_seconds", *lifetime_seconds != after.lifetime_seconds),
        ("extension_seconds", *extension_seconds != after.extension_seconds),
        ("max_lifetime_seconds", *max_lifetime_seconds != after.max_lifetime_seconds),
    ];
    settings.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}
