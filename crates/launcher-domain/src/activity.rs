//! The activity log: who launched, extended, ended, changed what. Which change is worth a line is decided here.

use jiff::Timestamp;

use crate::email::EmailAddress;
use crate::instance::{Instance, InstanceState};
use crate::template::{Template, TemplateSettings};

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ActivityAction {
    /// An instance was launched.
    Launched,
    /// An instance was given more time.
    Extended,
    /// The end of an instance was decided: by a person, or because its time was up or its Workshop gone.
    Ended,
    /// An instance could not go on.
    Failed,
    /// A failed instance was taken off its owner's list.
    Dismissed,
    /// A template was created.
    TemplateCreated,
    /// A template was changed, and stayed in the catalog or out of it.
    TemplateChanged,
    /// A template was taken out of the catalog.
    TemplateArchived,
    /// A template was put back into the catalog.
    TemplateRestored,
}

impl ActivityAction {
    /// All of them.
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

    /// The action as it is stored and sent.
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

    /// Reads an action.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == text)
    }
}

/// On whose behalf something changes, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// The person; `None` for the service itself.
    pub actor_email: Option<EmailAddress>,
    /// When.
    pub at: Timestamp,
}

/// One line of the activity log. It holds names as they were then, and outlives what it tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// Who did it, and when.
    pub act: Act,
    /// What was done.
    pub action: ActivityAction,
    /// To what: an instance's `k8s_name`, or a template's identifier.
    pub subject: String,
    /// The template's name, or the one that an instance was launched from.
    pub subject_name: String,
    /// Whose instance it is; `None` for a template.
    pub owner_email: Option<EmailAddress>,
    /// Of an extension the new end (RFC 3339), of an end its reason, of a failure its code, of a template the names of
    /// the settings that changed.
    pub detail: Option<String>,
}

impl Activity {
    /// The line of a launch.
    #[must_use]
    pub fn of_launch(created: &Instance) -> Self {
        let act = Act { actor_email: Some(created.owner_email.clone()), at: created.created_at };
        Self::of_instance(created, act, ActivityAction::Launched, None)
    }

    /// The line of a change of an instance; `None` when it is one that nobody decided, such as getting ready.
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

    /// The line of a new template. One that a deployment brings along was created by nobody.
    #[must_use]
    pub fn of_new_template(template: &Template, actor_email: Option<EmailAddress>) -> Self {
        let act = Act { actor_email, at: template.created_at };
        Self::of_template(template, act, ActivityAction::TemplateCreated, None)
    }

    /// The line of a changed template.
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

/// The names of the settings that differ. Not their values: a variable may hold a secret.
fn changed_settings(before: &TemplateSettings, after: &TemplateSettings) -> Vec<&'static str> {
    // Every field by name, so that a new one cannot be forgotten.
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
