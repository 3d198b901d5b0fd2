//! `POST /admin/instances/bulk`: applies one action to several instances, and shows the result for each. `GET
//! /admin/instances/restart` asks for a confirmation before this form restarts all outdated workshops.

use askama::Template;
use axum::extract::RawForm;
use jiff::Timestamp;
use launcher_domain::InstanceState;
use launcher_domain::lifetime::{Bound, ExtendError};
use launcher_domain::local_path::LocalPath;
use launcher_domain::names::is_k8s_name;
use launcher_service::{InstanceFilter, ListedInstance, Page, ServiceError, StateFilter};

use crate::pages::admin::instances::MAX_INSTANCES;
use crate::pages::confirm::{files_if_ended, files_if_restarted};
use crate::pages::view::Instant;
use crate::pages::{Language, PageResult, Query, ReturnForm, Shell, Text, Visitor, assets, forms, notices, page};
use crate::permission::{Allowed, ListAllInstances, RestartInstances};
use crate::problem::{Problem, ProblemCode};

#[derive(Debug, Default)]
struct Form {
    action: String,
    confirmed: bool,
    return_to: String,
    ticked: Vec<Ticked>,
}

/// A ticked instance with the expiry that the list showed. The expiry prevents a double click from extending the
/// instance twice.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ticked {
    k8s_name: String,
    expected_expires_at: Option<Timestamp>,
}

#[derive(Debug, Template)]
#[template(path = "admin/bulk_confirm.html")]
struct ConfirmPage {
    t: Language,
    shell: Shell,
    listed: Vec<ListedInstance>,
    action: &'static str,
    title: Text,
    question: String,
    warnings: Vec<String>,
    /// Note that the page does not list all outdated workshops.
    note: Option<String>,
    button: Text,
    return_to: String,
}

#[derive(Debug, Template)]
#[template(path = "admin/bulk.html")]
struct ReportPage {
    t: Language,
    shell: Shell,
    heading: String,
    rows: Vec<Outcome>,
    /// Workshops that reached their maximum lifetime: the admin may exceed it.
    at_maximum: Vec<String>,
    return_to: String,
}

#[derive(Debug)]
struct Outcome {
    k8s_name: String,
    /// True if the workshop was not extended because it has reached its maximum lifetime.
    is_at_maximum: bool,
    /// Template and owner, if the instance exists: `Statistics 101, alice@example.org`.
    what: String,
    done: bool,
    /// The result in words; empty if the result is a new expiry.
    text: Text,
    until: Option<Instant>,
}

/// Terminates, extends or restarts each ticked instance. It first shows a confirmation page, except for extensions within
/// the maximum lifetime.
pub(crate) async fn act(visitor: Allowed<ListAllInstances, Visitor>, RawForm(body): RawForm) -> PageResult {
    let t = visitor.t;
    let form = Form::parse(t, &body)?;
    let return_to = forms::return_to(Some(&form.return_to)).as_str().to_owned();
    let Some(action) = Action::parse(&form.action) else {
        return Err(Problem::new(ProblemCode::InvalidParameters, t.text("bulk-what")));
    };
    if action != Action::Extend && !form.confirmed && !form.ticked.is_empty() {
        let mut listed = existing(&visitor, &form.ticked).await?;
        listed.retain(|listed| action != Action::Restart || is_outdated(listed));
        return confirm(&visitor, action, listed, None, return_to);
    }
    let rows = apply_to_each(&visitor, action, &form.ticked).await;
    let done = rows.iter().filter(|row| row.done).count();
    let verb = match action {
        Action::End => "ended",
        Action::Extend | Action::ExtendBeyond => "extended",
        Action::Restart => "restarted",
    };
    let heading = format!("bulk-{verb}{}", if rows.is_empty() { "-none" } else { "" });
    let heading = t.with(&heading, [("done", done.into()), ("all", rows.len().into())]);
    let shell = visitor.shell("admin-instances").returning_to(return_to.as_str());
    let at_maximum = rows.iter().filter(|row| row.is_at_maximum).map(|row| row.k8s_name.clone()).collect();
    page(&ReportPage { t, shell, heading, rows, at_maximum, return_to })
}

impl Form {
    fn parse(t: Language, body: &[u8]) -> Result<Self, Problem> {
        let mut form = Self::default();
        for (name, value) in form_urlencoded::parse(body) {
            match name.as_ref() {
                "action" => form.action = value.into_owned(),
                "confirmed" => form.confirmed = true,
                "return_to" => form.return_to = value.into_owned(),
                "ticked" => form.tick(&value),
                _ => {}
            }
        }
        if form.ticked.len() > MAX_INSTANCES {
            let detail = t.with_one("bulk-too-many", "most", MAX_INSTANCES);
            return Err(Problem::new(ProblemCode::InvalidParameters, detail));
        }
        Ok(form)
    }

    /// Adds a ticked instance. Ignores a value that is not an instance name, because no list sends one.
    fn tick(&mut self, value: &str) {
        let (name, end) = value.split_once(' ').unwrap_or((value, ""));
        if is_k8s_name(name) && !self.ticked.iter().any(|ticked| ticked.k8s_name == name) {
            self.ticked.push(Ticked { k8s_name: name.to_owned(), expected_expires_at: end.parse().ok() });
        }
    }
}

/// Asks for a confirmation before the instances end, restart or exceed their maximum lifetime.
fn confirm(
    visitor: &Visitor,
    action: Action,
    listed: Vec<ListedInstance>,
    note: Option<String>,
    return_to: String,
) -> PageResult {
    let t = visitor.t;
    let (action, [title, question, button], warnings) = match action {
        Action::Restart => {
            let mut warnings = vec![t.text("restart-warning").into_owned()];
            warnings.extend(files_if_restarted(t, &listed));
            ("restart", ["restart-title", "restart-question", "restart-now"], warnings)
        }
        Action::ExtendBeyond => {
            let warnings = vec![t.text("bulk-beyond-warning").into_owned()];
            ("extend-beyond", ["beyond-button", "bulk-beyond-question", "beyond-button"], warnings)
        }
        _ => ("end", ["bulk-end-title", "bulk-end-question", "bulk-end-now"], files_if_ended(visitor, &listed)),
    };
    page(&ConfirmPage {
        t,
        shell: visitor.shell("admin-instances").returning_to(return_to.as_str()),
        action,
        title: t.text(title),
        question: t.with_one(question, "count", listed.len()),
        warnings,
        note,
        button: t.text(button),
        listed,
        return_to,
    })
}

async fn existing(visitor: &Visitor, ticked: &[Ticked]) -> Result<Vec<ListedInstance>, ServiceError> {
    let mut existing = Vec::new();
    for Ticked { k8s_name, .. } in ticked {
        match visitor.launcher.instance(&visitor.caller, k8s_name).await {
            Ok(listed) => existing.push(listed),
            Err(ServiceError::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(existing)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    End,
    Extend,
    /// Extends also beyond the maximum lifetime.
    ExtendBeyond,
    Restart,
}

impl Action {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "end" => Some(Self::End),
            "extend" => Some(Self::Extend),
            "extend-beyond" => Some(Self::ExtendBeyond),
            "restart" => Some(Self::Restart),
            _ => None,
        }
    }
}

/// Applies the action to one instance after the other. A failed instance does not stop the others.
async fn apply_to_each(visitor: &Visitor, action: Action, ticked: &[Ticked]) -> Vec<Outcome> {
    let (launcher, caller) = (&visitor.launcher, &visitor.caller);
    let mut outcomes = Vec::with_capacity(ticked.len());
    for Ticked { k8s_name, expected_expires_at } in ticked {
        let done = match action {
            Action::End => launcher.terminate(caller, k8s_name).await,
            Action::Extend => launcher.extend(caller, k8s_name, *expected_expires_at, Bound::Maximum).await,
            Action::ExtendBeyond => launcher.extend(caller, k8s_name, *expected_expires_at, Bound::Longest).await,
            Action::Restart => launcher.restart(caller, k8s_name).await,
        };
        let seen = match &done {
            Ok(listed) => Some(listed.clone()),
            Err(_) => launcher.instance(caller, k8s_name).await.ok(),
        };
        outcomes.push(Outcome::new(visitor.t, k8s_name, seen.as_ref(), action, done));
    }
    outcomes
}

impl Outcome {
    fn new(
        t: Language,
        k8s_name: &str,
        seen: Option<&ListedInstance>,
        action: Action,
        done: Result<ListedInstance, ServiceError>,
    ) -> Self {
        let (text, until) = match (&done, action) {
            (Ok(listed), Action::End) => (t.state_name(listed.instance.state), None),
            (Ok(_), Action::Restart) => (t.text("restart-requested"), None),
            (Ok(listed), Action::Extend | Action::ExtendBeyond) => (Text::default(), listed.instance.expires_at),
            (Err(error), _) => {
                let known = notices::of(t, error, true).map(|(_, notice)| notice.text);
                (known.unwrap_or_else(|| t.text("try-again")), None)
            }
        };
        let is_refused = matches!(done, Err(ServiceError::Extend(ExtendError::LifetimeLimitReached)));
        Self {
            k8s_name: k8s_name.to_owned(),
            is_at_maximum: is_refused && action == Action::Extend,
            what: seen
                .map(|listed| format!("{}, {}", listed.instance.settings.name, listed.instance.owner_email))
                .unwrap_or_default(),
            done: done.is_ok(),
            text,
            until: until.map(|until| Instant::new(t, until)),
        }
    }
}

pub(super) fn outdated() -> InstanceFilter {
    InstanceFilter { state: StateFilter::Outdated, ..InstanceFilter::default() }
}

/// True if a restart would replace the workload of this instance.
fn is_outdated(listed: &ListedInstance) -> bool {
    listed.instance.state == InstanceState::Running && listed.instance.outdated
}

/// `GET /admin/instances/restart`. `return_to` is the page with the link.
pub(crate) async fn confirm_restart(
    visitor: Allowed<RestartInstances, Visitor>,
    Query(query): Query<ReturnForm>,
) -> PageResult {
    let (t, launcher) = (visitor.t, &visitor.launcher);
    let filter = outdated();
    let limit = u32::try_from(MAX_INSTANCES).unwrap_or(u32::MAX);
    let listed = launcher.instances(&visitor.caller, &filter, &Page { limit, after: None }).await?;
    let all = launcher.count_instances(&visitor.caller, &filter).await?.matches;
    let note = (listed.len() == MAX_INSTANCES)
        .then(|| t.with("restart-first", [("listed", listed.len().into()), ("all", all.into())]));
    let return_to = query.path();
    let return_to = if return_to == LocalPath::root() { "/admin/instances" } else { return_to.as_str() };
    confirm(&visitor, Action::Restart, listed, note, return_to.to_owned())
}
