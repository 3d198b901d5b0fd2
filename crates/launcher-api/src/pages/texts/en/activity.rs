//! The activity log.

use launcher_domain::{Activity, ActivityAction, EndReason, FailureCode, FailureReason};

use super::super::Part;
use super::{end_reason, failure_message};

/// Label of the filter by person.
pub(crate) const PERSON: &str = "Person";
/// The list's name for screen readers.
pub(crate) const ACTIVITY_LIST: &str = "What was done, newest first";
/// No entry in the activity log, or none of this person.
pub(crate) const NO_ACTIVITY: &str = "There is nothing to tell.";
/// The filter is not an e-mail address.
pub(crate) const NOT_A_PERSON: &str = "This is not an e-mail address; what everybody did is shown.";

/// An entry of the activity log.
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

/// Text before the name of the entry's subject.
fn before(entry: &Activity) -> String {
    let (actor, owner) = (entry.act.actor_email.as_ref(), entry.owner_email.as_ref());
    let whose = owner.filter(|_| actor != owner).map(|owner| format!("{owner}'s")).unwrap_or_default();
    let who = match (actor, entry.action) {
        (None, ActivityAction::Ended | ActivityAction::Failed) => return whose,
        (actor, _) => actor.map_or_else(|| "The service".to_owned(), ToString::to_string),
    };
    format!("{who} {} {whose}", activity_verb(entry.action)).trim_end().to_owned()
}

/// Text after the subject's name.
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

/// The action as a verb.
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
