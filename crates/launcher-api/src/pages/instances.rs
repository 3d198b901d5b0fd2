//! Pages and forms of one instance: show, extend, pause, resume and end it.

use std::sync::Arc;

use askama::Template;
use axum::response::Response;
use http::{HeaderName, HeaderValue};
use jiff::Timestamp;
use launcher_domain::lifetime::{Bound, extended_expiry};
use launcher_service::ServiceError;
use serde::Deserialize;

use crate::brand::Brand;
use crate::extract::InstanceName;
use crate::pages::confirm::{Question, confirm};
use crate::pages::view::{SnapshotView, WorkshopView};
use crate::pages::{
    Fields, Language, PageResult, Query, ReturnForm, Shell, Visitor, assets, forms, page, paths, workshops,
};
use crate::permission::{Allowed, ExtendBeyondMaximum};

#[derive(Debug, Template)]
#[template(path = "instance.html")]
struct InstancePage {
    t: Language,
    shell: Shell,
    workshop: WorkshopView,
    now: String,
    live: bool,
    return_to: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendForm {
    /// The expiry that the page showed. Because of this value, a double click extends the instance only once.
    expected_expires_at: Option<Timestamp>,
    /// Present if an admin confirmed to exceed the maximum lifetime.
    beyond_maximum: Option<String>,
    return_to: Option<String>,
}

pub(crate) async fn show(visitor: Visitor, InstanceName(k8s_name): InstanceName) -> PageResult {
    let listed = visitor.launcher.instance(&visitor.caller, &k8s_name).await?;
    let snapshot = SnapshotView::dated(&visitor, &listed.instance).await?;
    let detail = InstancePage {
        t: visitor.t,
        shell: visitor.shell(""),
        workshop: WorkshopView { snapshot, ..WorkshopView::new(&visitor, &listed) },
        now: visitor.machine_now(),
        live: false,
        return_to: paths::instance(&k8s_name),
    };
    page(&detail)
}

/// `GET /instances/{k8s_name}/open`: redirects the owner to the workshop while it runs, and to the waiting page while it
/// starts. Otherwise redirects to the page of the instance, which shows its state. A link to this path therefore stays
/// valid while the state changes.
pub(crate) async fn open(visitor: Visitor, InstanceName(k8s_name): InstanceName) -> PageResult {
    let workshop = visitor.workshop(&k8s_name).await?;
    let page =
        if workshop.waits.is_some() && workshop.mine { paths::waiting(&k8s_name) } else { paths::instance(&k8s_name) };
    Ok(forms::redirect(&workshop.url.unwrap_or(page)))
}

pub(crate) async fn extend(
    visitor: Visitor,
    InstanceName(k8s_name): InstanceName,
    Fields(form): Fields<ExtendForm>,
) -> PageResult {
    let bound = Bound::new(form.beyond_maximum.is_some());
    let extended = visitor.launcher.extend(&visitor.caller, &k8s_name, form.expected_expires_at, bound).await;
    let mut response = workshops::answer(&visitor, extended, &forms::return_to(form.return_to.as_deref())).await?;
    if response.status().is_redirection() {
        keep_opener(&mut response);
    }
    Ok(response)
}

pub(crate) async fn confirm_extension(
    visitor: Allowed<ExtendBeyondMaximum, Visitor>,
    InstanceName(k8s_name): InstanceName,
    Query(query): Query<ReturnForm>,
) -> PageResult {
    let (t, now) = (visitor.t, visitor.launcher.clock().now());
    let instance = visitor.launcher.instance(&visitor.caller, &k8s_name).await?.instance;
    let until = extended_expiry(&instance, Bound::Longest, now).map_err(ServiceError::Extend);
    let (Ok(until), Some(end)) = (until, instance.expires_at) else {
        return Ok(forms::redirect(query.path().as_str()));
    };
    let seconds = until.as_second() - end.as_second();
    let warning =
        [("added", t.duration(seconds).into()), ("longest", t.duration(instance.max_lifetime_seconds().into()).into())];
    let name = instance.settings.name.as_str();
    let ask = Question {
        title: t.with_one("beyond-title", "name", name).into(),
        question: t.with_one("beyond-question", "name", name),
        warning: t.with("beyond-warning", warning).into(),
        owner: Some(instance.owner_email.to_string()).filter(|_| instance.owner_email != *visitor.caller.email()),
        action: format!("/instances/{k8s_name}/extend"),
        fields: vec![("expected_expires_at", end.to_string()), ("beyond_maximum", "yes".to_owned())],
        button: t.text("beyond-button"),
        button_class: "button-main",
        cancel: t.text("beyond-cancel"),
        return_to: query.path().as_str().to_owned(),
    };
    confirm(&visitor, "", ask)
}

/// Returns the question before an action, without its warning and its buttons.
fn ask(
    t: Language,
    workshop: WorkshopView,
    query: &ReturnForm,
    [title, question]: [&str; 2],
    action: &str,
) -> Question {
    Question {
        title: t.with_one(title, "name", workshop.name.as_str()).into(),
        question: t.with_one(question, "name", workshop.name.as_str()),
        owner: Some(workshop.owner).filter(|_| !workshop.mine),
        action: format!("/instances/{}/{action}", workshop.k8s_name),
        return_to: query.path().as_str().to_owned(),
        ..Question::default()
    }
}

/// `GET /instances/{k8s_name}/end`: the confirmation page, for browsers without scripts and for admins.
pub(crate) async fn confirm_end(
    visitor: Visitor,
    InstanceName(k8s_name): InstanceName,
    Query(query): Query<ReturnForm>,
) -> PageResult {
    let (t, workshop) = (visitor.t, visitor.workshop(&k8s_name).await?);
    let ask = Question {
        warning: t.with_one("end-warning", "files", workshop.files_if_ended.as_str()).into(),
        button: t.text("end-workshop"),
        button_class: "button-danger",
        cancel: t.text("keep-it"),
        ..ask(t, workshop, &query, ["end-title", "end-question"], "end")
    };
    confirm(&visitor, "", ask)
}

/// `POST /instances/{k8s_name}/end`: terminates an instance, or dismisses a failed one.
pub(crate) async fn end(
    visitor: Visitor,
    InstanceName(k8s_name): InstanceName,
    Fields(form): Fields<ReturnForm>,
) -> PageResult {
    let ended = visitor.launcher.terminate(&visitor.caller, &k8s_name).await;
    workshops::answer(&visitor, ended, &form.path()).await
}

/// `GET /instances/{k8s_name}/suspend`: the confirmation page, for browsers without scripts.
pub(crate) async fn confirm_suspend(
    visitor: Visitor,
    InstanceName(k8s_name): InstanceName,
    Query(query): Query<ReturnForm>,
) -> PageResult {
    let (t, workshop) = (visitor.t, visitor.workshop(&k8s_name).await?);
    let ask = Question {
        warning: t.text("pause-warning"),
        button: t.text("pause-workshop"),
        button_class: "button-main",
        cancel: t.text("pause-cancel"),
        ..ask(t, workshop, &query, ["pause-title", "pause-question"], "suspend")
    };
    confirm(&visitor, "", ask)
}

pub(crate) async fn suspend(
    visitor: Visitor,
    InstanceName(k8s_name): InstanceName,
    Fields(form): Fields<ReturnForm>,
) -> PageResult {
    let suspended = visitor.launcher.suspend(&visitor.caller, &k8s_name).await;
    workshops::answer(&visitor, suspended, &form.path()).await
}

/// `POST /instances/{k8s_name}/resume`. Without htmx, the owner then sees the waiting page, which opens the workshop.
pub(crate) async fn resume(
    visitor: Visitor,
    InstanceName(k8s_name): InstanceName,
    Fields(form): Fields<ReturnForm>,
) -> PageResult {
    let resumed = visitor.launcher.resume(&visitor.caller, &k8s_name).await;
    let is_mine = resumed.as_ref().is_ok_and(|listed| listed.instance.owner_email == *visitor.caller.email());
    if is_mine && !visitor.is_htmx {
        return Ok(forms::redirect(&paths::waiting(&k8s_name)));
    }
    workshops::answer(&visitor, resumed, &form.path()).await
}

/// Header that would separate the page from the window that opened it.
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
/// Value with which the page can report the new expiry to the window that opened it.
const KEEP_OPENER: HeaderValue = HeaderValue::from_static("unsafe-none");

/// The small page that extends a workshop. The bar above the workshop opens it in a small window, because only a page of
/// the launcher may extend a workshop: the bar shares its origin with the app.
#[derive(Debug, Template)]
#[template(path = "extend.html")]
struct ExtendPage {
    t: Language,
    brand: Arc<Brand>,
    workshop: WorkshopView,
    /// Origin of the workshop, whose bar gets the expiry; empty if the reader is not the owner.
    origin: String,
    /// True if the workshop was extended since the reader pressed the button.
    is_extended: bool,
    /// Path of this page after the extension.
    return_to: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendQuery {
    /// Expiry before the extension, if the reader pressed the button.
    from: Option<Timestamp>,
}

/// `GET /instances/{k8s_name}/extend`: one button, and after the extension the new expiry.
pub(crate) async fn show_extend(
    visitor: Visitor,
    InstanceName(k8s_name): InstanceName,
    Query(query): Query<ExtendQuery>,
) -> PageResult {
    let listed = visitor.launcher.instance(&visitor.caller, &k8s_name).await?;
    let workshop = WorkshopView::new(&visitor, &listed);
    let extend = ExtendPage {
        t: visitor.t,
        brand: Arc::clone(&visitor.brand),
        origin: workshop.url.as_deref().and_then(origin).unwrap_or_default().to_owned(),
        is_extended: query.from.is_some_and(|from| listed.instance.expires_at.is_some_and(|end| end > from)),
        return_to: format!("/instances/{k8s_name}/extend?from={}", workshop.expected_expires_at),
        workshop,
    };
    let mut response = page(&extend)?;
    keep_opener(&mut response);
    Ok(response)
}

/// Lets the window that opened this page receive the new expiry. Every response of a navigation needs this header, also
/// a redirect.
fn keep_opener(response: &mut Response) {
    response.headers_mut().insert(OPENER_POLICY, KEEP_OPENER);
}

fn origin(url: &str) -> Option<&str> {
    let start = url.find("://")? + "://".len();
    let length = url[start..].find('/').unwrap_or(url.len() - start);
    Some(&url[..start + length])
}
