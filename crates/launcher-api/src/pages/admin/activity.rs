//! `GET /admin/activity`: the activity log.

use std::borrow::Cow;

use askama::Template;
use jiff::Timestamp;
use launcher_domain::{Activity, ActivityAction, EmailAddress, EndReason, FailureCode};
use launcher_service::{ActivityFilter, LoggedActivity, Page};
use serde::Deserialize;

use crate::pages::language::Value;
use crate::pages::view::Instant;
use crate::pages::{Language, PageResult, Query, Shell, Text, Visitor, assets, page};
use crate::permission::{Allowed, ReadActivities};

const ROWS: u32 = 100;

#[derive(Debug, Template)]
#[template(path = "admin/activity.html")]
struct ActivityPage {
    t: Language,
    shell: Shell,
    person: String,
    person_error: Option<Text>,
    entries: Vec<Entry>,
    older: Option<String>,
}

/// An entry of the activity log as a sentence, which contains the name of the instance or template.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) at: Instant,
    pub(crate) name: String,
    pub(crate) link: String,
    /// Name of the instance; `None` if the entry is about a template.
    pub(crate) k8s_name: Option<String>,
    pub(crate) parts: Vec<Part>,
    pub(crate) until: Option<Instant>,
}

/// Query of the page: the fields of the filter form, and the entry after which the page starts. An unreadable value is
/// ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ActivityQuery {
    person: String,
    after: String,
}

pub(crate) async fn show(visitor: Allowed<ReadActivities, Visitor>, Query(query): Query<ActivityQuery>) -> PageResult {
    let t = visitor.t;
    let person = EmailAddress::parse(&query.person).ok();
    let wrong = person.is_none() && !query.person.trim().is_empty();
    let filter = ActivityFilter { person, subject: None };
    let cut = Page { limit: ROWS, after: query.after.parse().ok() };
    let entries = visitor.launcher.activities(&visitor.caller, &filter, &cut).await?;
    let last = entries.last().filter(|_| entries.len() == ROWS as usize);
    let activity = ActivityPage {
        t,
        shell: visitor.shell("admin-activity"),
        person_error: wrong.then_some(t.text("not-a-person")),
        older: last.map(|last| query.older(last.activity_id)),
        entries: entries.iter().map(|entry| Entry::new(t, entry, None)).collect(),
        person: query.person,
    };
    page(&activity)
}

impl ActivityQuery {
    fn older(&self, after: i64) -> String {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("person", &self.person)
            .append_pair("after", &after.to_string())
            .finish();
        format!("/admin/activity?{query}")
    }
}

impl Entry {
    /// Converts an entry to text. `owner` is the reader of a list with entries about this person's own objects; `None` in
    /// the list of an admin.
    pub(crate) fn new(
        t: Language,
        LoggedActivity { activity, .. }: &LoggedActivity,
        owner: Option<&EmailAddress>,
    ) -> Self {
        let subject = &activity.subject;
        let is_work = matches!(activity.action, ActivityAction::VolumeDeleted | ActivityAction::FilesDownloaded);
        let is_class = activity.action.is_of_class();
        let is_instance = activity.owner_email.is_some() && !is_work && !is_class;
        let is_extended = matches!(activity.action, ActivityAction::Extended | ActivityAction::ExtendedBeyondMaximum);
        let until = activity.detail.as_deref().filter(|_| is_extended).and_then(|detail| detail.split(' ').next());
        Self {
            at: Instant::new(t, activity.act.at),
            name: if activity.subject_name.is_empty() { subject.clone() } else { activity.subject_name.clone() },
            link: if is_work {
                (if owner.is_some() { "/work" } else { "/admin/work" }).to_owned()
            } else if is_class {
                format!("/classes/{subject}")
            } else if is_instance {
                format!("/instances/{subject}")
            } else {
                format!("/admin/templates/{subject}/edit")
            },
            k8s_name: is_instance.then(|| subject.clone()),
            parts: t.activity(activity, owner),
            until: until.and_then(|until| until.parse::<Timestamp>().ok()).map(|until| Instant::new(t, until)),
        }
    }
}

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
    Until,
}

impl Language {
    /// Returns an entry of the activity log as a sentence in parts. It does not name the owner to themselves.
    fn activity(self, entry: &Activity, reader: Option<&EmailAddress>) -> Vec<Part> {
        let (actor, owner) = (entry.act.actor_email.as_ref(), entry.owner_email.as_ref());
        let owner = owner.filter(|_| owner != reader);
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
        let text = |email: Option<&EmailAddress>| email.map(ToString::to_string);
        let values: [Value<'_>; 7] = [
            ("subject", SUBJECT.to_string().into()),
            ("until", UNTIL.to_string().into()),
            ("actor", text(actor).map_or_else(|| self.text("activity-service"), Cow::Owned).into()),
            ("owner", text(owner).unwrap_or_default().into()),
            ("reason", reason.unwrap_or_default().into()),
            ("duration", self.lifetime(entry).unwrap_or_default().into()),
            ("fields", self.field_labels(entry.detail.as_deref().unwrap_or_default()).into()),
        ];
        parts(&self.with(&key, values))
    }

    /// Returns the time beyond the maximum lifetime, or the new maximum lifetime.
    fn lifetime(self, entry: &Activity) -> Option<String> {
        let detail = entry.detail.as_deref()?;
        let seconds = match entry.action {
            ActivityAction::ExtendedBeyondMaximum => detail.split(' ').nth(1)?,
            ActivityAction::MaximumRaised => detail,
            _ => return None,
        };
        Some(self.duration(seconds.parse().ok()?))
    }

    /// Returns why an instance ended or failed, without the full stop.
    fn reason(self, entry: &Activity) -> Option<String> {
        let detail = entry.detail.as_deref()?;
        let text = match entry.action {
            ActivityAction::Ended => self.named("end-{}", EndReason::parse(detail)?.as_str()),
            ActivityAction::Failed => self.named("failure-{}", FailureCode::parse(detail)?.as_str()),
            _ => return None,
        };
        Some(text.trim_end_matches(['.', '。']).to_owned())
    }
}

fn parts(text: &str) -> Vec<Part> {
    let pieces = text.split_inclusive([SUBJECT, UNTIL]).flat_map(|piece| {
        let mark = piece.chars().next_back().filter(|last| [SUBJECT, UNTIL].contains(last));
        let words = mark.map_or(piece, |mark| &piece[..piece.len() - mark.len_utf8()]);
        let value = mark.map(|mark| if mark == SUBJECT { Part::Subject } else { Part::Until });
        [Some(Part::Text(words.to_owned())), value]
    });
    pieces.flatten().collect()
}
