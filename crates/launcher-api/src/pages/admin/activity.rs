//! `GET /admin/activity`: the activity log.

use askama::Template;
use jiff::Timestamp;
use launcher_domain::{ActivityAction, EmailAddress};
use launcher_service::{ActivityFilter, LoggedActivity, Page};
use serde::Deserialize;

use crate::pages::texts::Part;
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
struct Entry {
    at: Instant,
    name: String,
    link: String,
    /// Name of the instance; `None` if the entry is about a template.
    k8s_name: Option<String>,
    parts: Vec<Part>,
    until: Option<Instant>,
}

/// Query of the page: the fields of the filter form, and the entry after which the page starts. An unreadable value is
/// ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ActivityQuery {
    person: String,
    after: String,
}

pub(crate) async fn show(
    visitor: Visitor,
    _: Allowed<ReadActivities>,
    Query(query): Query<ActivityQuery>,
) -> PageResult {
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
        entries: entries.iter().map(|entry| Entry::new(t, entry)).collect(),
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
    fn new(t: Language, LoggedActivity { activity, .. }: &LoggedActivity) -> Self {
        let subject = &activity.subject;
        let is_volume = activity.action == ActivityAction::VolumeDeleted;
        let is_instance = activity.owner_email.is_some() && !is_volume;
        let until = activity.detail.as_deref().filter(|_| activity.action == ActivityAction::Extended);
        Self {
            at: Instant::new(t, activity.act.at),
            name: if activity.subject_name.is_empty() { subject.clone() } else { activity.subject_name.clone() },
            link: if is_volume {
                "/admin/work".to_owned()
            } else if is_instance {
                format!("/instances/{subject}")
            } else {
                format!("/admin/templates/{subject}/edit")
            },
            k8s_name: is_instance.then(|| subject.clone()),
            parts: t.activity(activity),
            until: until.and_then(|until| until.parse::<Timestamp>().ok()).map(|until| Instant::new(t, until)),
        }
    }
}
