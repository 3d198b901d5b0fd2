//! Texts of the activity log.

use std::borrow::Cow;

use launcher_domain::{Activity, ActivityAction, EndReason, FailureCode};

use crate::pages::language::{Language, Value};

/// Stand for the values to which a template adds HTML, while a message is formatted. They are private-use characters,
/// so no message contains them.
const SUBJECT: char = '\u{e000}';
const UNTIL: char = '\u{e001}';

/// A part of an activity log entry. Each language chooses the order of the text and the two values, to which a template
/// adds HTML.
#[derive(Debug)]
pub(crate) enum Part {
    Text(String),
    /// Link to the instance or template that the entry is about, with its name.
    Subject,
    /// New expiry of an extended instance.
    Until,
}

impl Language {
    /// Returns an entry of the activity log as a sentence in parts.
    pub(crate) fn activity(self, entry: &Activity) -> Vec<Part> {
        let (actor, owner) = (entry.act.actor_email.as_ref(), entry.owner_email.as_ref());
        let name = entry.action.as_str();
        let reason = self.reason(entry);
        let key = match (actor, entry.action) {
            (None, ActivityAction::Ended | ActivityAction::Failed) if reason.is_some() => {
                format!("activity-{name}-alone-why")
            }
            (None, ActivityAction::Ended | ActivityAction::Failed | ActivityAction::Suspended) => {
                format!("activity-{name}-alone")
            }
            (_, ActivityAction::TemplateChanged) if entry.detail.is_some() => format!("activity-{name}-fields"),
            _ if owner.is_some() && actor != owner => format!("activity-{name}-for"),
            _ => format!("activity-{name}"),
        };
        let text = |email: Option<&launcher_domain::EmailAddress>| email.map(ToString::to_string);
        let values: [Value<'_>; 6] = [
            ("subject", SUBJECT.to_string().into()),
            ("until", UNTIL.to_string().into()),
            ("actor", text(actor).map_or_else(|| self.text("activity-service"), Cow::Owned).into()),
            ("owner", text(owner).unwrap_or_default().into()),
            ("reason", reason.unwrap_or_default().into()),
            ("fields", self.field_labels(entry.detail.as_deref().unwrap_or_default()).into()),
        ];
        parts(&self.with(&key, values))
    }

    /// Returns why an instance ended or failed, without the full stop.
    fn reason(self, entry: &Activity) -> Option<String> {
        let detail = entry.detail.as_deref()?;
        let text = match entry.action {
            ActivityAction::Ended => self.end_reason(EndReason::parse(detail)?),
            ActivityAction::Failed => self.failure(FailureCode::parse(detail)?),
            _ => return None,
        };
        Some(text.trim_end_matches(['.', '。']).to_owned())
    }
}

/// Splits a formatted message at its marks.
fn parts(text: &str) -> Vec<Part> {
    let pieces = text.split_inclusive([SUBJECT, UNTIL]).flat_map(|piece| {
        let mark = piece.chars().next_back().filter(|last| [SUBJECT, UNTIL].contains(last));
        let words = mark.map_or(piece, |mark| &piece[..piece.len() - mark.len_utf8()]);
        let value = mark.map(|mark| if mark == SUBJECT { Part::Subject } else { Part::Until });
        [Some(Part::Text(words.to_owned())), value]
    });
    pieces.flatten().collect()
}
