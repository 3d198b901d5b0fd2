//! The domain rules, tested through their public API.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod access;
mod activity;
mod class;
mod clock;
mod crash;
mod email;
mod failure;
mod files;
mod hand;
mod identity;
mod input;
mod instance;
mod join;
mod lifetime;
mod limits;
mod listening;
mod listing;
mod local_path;
mod log_line;
mod material;
mod material_report;
mod names;
mod parameters;
mod pod_template_policy;
mod quantity;
mod secrets;
mod sizes;
mod snapshot;
mod source_url;
mod storage;
mod suspend;
mod template;
mod template_limits;
mod text_enum;

use std::sync::atomic::{AtomicU8, Ordering};

use jiff::{SignedDuration, Timestamp};
use launcher_domain::instance::{Observation, ObservedPhase};
use launcher_domain::{
    AdminList, Caller, Clock, EmailAddress, Entropy, FieldError, Instance, InstanceState, Report, Template,
    TemplateContent, TemplateSettings,
};
use serde_json::{Value, json};
use uuid::Uuid;

fn email(text: &str) -> EmailAddress {
    EmailAddress::parse(text).unwrap()
}

fn caller(text: &str) -> Caller {
    AdminList::parse("admin@example.org").unwrap().caller(email(text))
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

/// Reads a template after these fields were replaced or added.
fn read(template: &Value, changes: &Value) -> Result<TemplateContent, Vec<FieldError>> {
    let mut body = template.as_object().unwrap().clone();
    body.extend(changes.as_object().unwrap().clone());
    TemplateContent::read(&body)
}

fn content() -> TemplateContent {
    read(&json!({ "name": "Jupyter", "app_type": "notebook", "image": "jupyter:1" }), &json!({})).unwrap()
}

fn settings() -> TemplateSettings {
    content().settings
}

fn template(content: TemplateContent) -> Template {
    let TemplateContent { settings, listing, active } = content;
    Template {
        template_id: Uuid::nil(),
        class_id: None,
        settings,
        listing,
        active,
        version: 1,
        created_by: email("admin@example.org"),
        created_at: at(0),
        updated_at: at(0),
    }
}

/// Returns the report of a ready workshop at this URL.
fn urls(url: &str) -> Report {
    Report { url: Some(url.to_owned()), frame_url: Some(format!("{url}_launcher/frame")), ..Report::default() }
}

/// Returns the report about a workshop that was first ready at second 100.
fn seen(phase: ObservedPhase) -> Observation {
    Observation { report: urls("http://x.localhost/"), ready_at: Some(at(100)), ..Observation::of_phase(phase) }
}

/// Alice's instance in this state, with a lifetime of 2 h, extensions of 1 h, and a maximum lifetime of 8 h. A running
/// instance was first ready at second 0.
fn instance(state: InstanceState) -> Instance {
    let ready = matches!(state, InstanceState::Running).then(|| at(0));
    let (template, owner) = (template(content()), email("alice@example.org"));
    Instance {
        state,
        report: if ready.is_some() { urls("http://jupyter-aaaaaaaaaa.localhost/") } else { Report::default() },
        started_at: ready,
        expires_at: ready.map(|_| at(7200)),
        spec_version: 1,
        applied_version: 1,
        revision: 1,
        ..Instance::queued(Uuid::nil(), "jupyter-aaaaaaaaaa".to_owned(), owner, &template, at(-10))
    }
}

#[derive(Debug)]
struct FixedClock(Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// Entropy that counts up. Each call gives other bytes, and each run of a test gives the same bytes.
#[derive(Debug, Default)]
struct Counter(AtomicU8);

impl Entropy for Counter {
    fn fill(&self, buffer: &mut [u8]) {
        for byte in buffer {
            *byte = self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}
