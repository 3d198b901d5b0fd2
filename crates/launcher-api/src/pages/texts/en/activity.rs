//! Texts of the activity log.

use launcher_domain::{Activity, ActivityAction, EndReason, FailureCode, FailureReason};

use super::kinds::{end_reason, failure_message};
use crate::pages::texts::parts::Part;

/// Label of the filter that selects a person.
pub(crate) const PERSON: &str = "Person";
/// Name of the list for screen readers.
pub(crate) const ACTIVITY_LIST: &str = "Activity, newest first";
/// Text below the filter if no entry matches.
pub(crate) const NO_ACTIVITY: &str = "No activity found.";
/// Error if the value of the filter is not an e-mail address.
pub(crate) const NOT_A_PERSON: &str = "This is not an e-mail address. The list shows everyone's activity.";

/// Returns an entry of the activity log as a sentence in parts.
pub(crate) fn activity(entry: &Activity) -> Vec<Part> {
    let (mut before, mut after) = (before(entry), after(entry));
    before.push(' ');
    if entry.action != ActivityAction::Extended {
        after.push('.');
        return vec![Part::Text(before), Part::Subject, Part::Text(after)];
    }
    after.push_str(" until ");
    vec![Part::Text(before), Part::Subject, Part::Text(after), Part::Until, Part::Text(".".to_owned())]
}

/// Returns the start of the sentence, before the name of the instance or template.
fn before(entry: &Activity) -> String {
    let (actor, owner) = (entry.act.actor_email.as_ref(), entry.owner_email.as_ref());
    let whose = owner.filter(|_| actor != owner).map(|owner| format!("{owner}'s")).unwrap_or_default();
    let who = match (actor, entry.action) {
        (None, ActivityAction::Ended | ActivityAction::Failed) => return whose,
        (actor, _) => actor.map_or_else(|| "The service".to_owned(), ToString::to_string),
    };
    format!("{who} {} {whose}", activity_verb(entry.action)).trim_end().to_owned()
}

/// Returns the end of the sentence, after the name of the instance or template.
fn after(entry: &Activity) -> String {
    let detail = entry.detail.as_deref().unwrap_or_default();
    match entry.action {
        ActivityAction::Extended => String::new(),
        ActivityAction::Ended if entry.act.actor_email.is_none() => {
            EndReason::parse(detail).map_or_else(|| " ended".to_owned(), |why| format!(" ended. {}", end_reason(why)))
        }
        ActivityAction::Failed => FailureCode::parse(detail).map_or_else(
            || " failed".to_owned(),
            |code| format!(" failed. {}", failure_message(&FailureReason::new(code, None)).trim_end_matches('.')),
        ),
        ActivityAction::Dismissed => ", which had failed".to_owned(),
        _ if entry.owner_email.is_none() && !detail.is_empty() => format!(": {}", detail.replace('_', " ")),
        _ => String::new(),
    }
}

/// Returns the verb for an action.
fn activity_verb(action: ActivityAction) -> &'static str {
    match action {
        ActivityAction::Launched => "launched",
        ActivityAction::Extended => "extended",
        ActivityAction::Ended => "ended",
        ActivityAction::Failed => "failed",
        ActivityAction::Dismissed => "dismissed",
        ActivityAction::TemplateCreated => "created the template",
        ActivityAction::TemplateChanged => "changed the template",
        ActivityAction::TemplateArchived => "archived the template",
        ActivityAction::TemplateRestored => "restored the template",
    }
}
