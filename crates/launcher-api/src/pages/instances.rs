//! Pages and forms of one instance: show, extend, pause, resume and end it.

use askama::Template;
use axum::extract::State;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use jiff::Timestamp;
use serde::Deserialize;

use crate::assets;
use crate::extract::InstanceName;
use crate::identity::Identified;
use crate::pages::forms::{Fields, Query};
use crate::pages::html::{PageResult, is_htmx, page, shell};
use crate::pages::language::Language;
use crate::pages::view::{Shell, SnapshotView, WorkshopView, machine_now};
use crate::pages::{forms, paths, workshops};
use crate::state::AppState;

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

#[derive(Debug, Template)]
#[template(path = "end.html")]
struct EndPage {
    t: Language,
    shell: Shell,
    workshop: WorkshopView,
    return_to: String,
}

/// The form of the button "Extend".
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendForm {
    /// The expiry that the page showed. Because of this value, a double click extends the instance only once.
    expected_expires_at: Option<Timestamp>,
    return_to: Option<String>,
}

/// The forms of the buttons that end, pause and resume a workshop, and the queries of their confirmation pages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReturnForm {
    return_to: Option<String>,
}

/// `GET /instances/{k8s_name}`: details of one instance.
pub(crate) async fn show(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
) -> PageResult {
    let listed = state.launcher.instance(&caller, &k8s_name).await?;
    let snapshot = SnapshotView::dated(t, &state.launcher, &caller, &listed.instance).await?;
    let detail = InstancePage {
        t,
        shell: shell(&state, &caller, t, ""),
        workshop: WorkshopView { snapshot, ..WorkshopView::new(t, &state.launcher, &caller, &listed) },
        now: machine_now(state.launcher.clock()),
        live: false,
        return_to: paths::instance(&k8s_name),
    };
    page(StatusCode::OK, &detail)
}

/// `GET /instances/{k8s_name}/open`: redirects the owner to the workshop while it runs, and to the waiting page while it
/// starts. Otherwise redirects to the page of the instance, which shows its state. A link to this path therefore stays
/// valid while the state changes.
pub(crate) async fn open(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
) -> PageResult {
    let listed = state.launcher.instance(&caller, &k8s_name).await?;
    let workshop = WorkshopView::new(t, &state.launcher, &caller, &listed);
    let page =
        if workshop.waits.is_some() && workshop.mine { paths::waiting(&k8s_name) } else { paths::instance(&k8s_name) };
    Ok(forms::redirect(&workshop.url.unwrap_or(page)))
}

/// `POST /instances/{k8s_name}/extend`.
pub(crate) async fn extend(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
    headers: HeaderMap,
    Fields(form): Fields<ExtendForm>,
) -> PageResult {
    let extended = state.launcher.extend(&caller, &k8s_name, form.expected_expires_at).await;
    let next = forms::return_to(form.return_to.as_deref());
    let mut response = workshops::answer(&state, &caller, t, &headers, extended.map(drop), &next).await?;
    if response.status().is_redirection() {
        keep_opener(&mut response);
    }
    Ok(response)
}

/// `GET /instances/{k8s_name}/end`: the confirmation page, for browsers without scripts and for admins.
pub(crate) async fn confirm_end(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
    Query(query): Query<ReturnForm>,
) -> PageResult {
    let listed = state.launcher.instance(&caller, &k8s_name).await?;
    let confirm = EndPage {
        t,
        shell: shell(&state, &caller, t, ""),
        workshop: WorkshopView::new(t, &state.launcher, &caller, &listed),
        return_to: forms::return_to(query.return_to.as_deref()).as_str().to_owned(),
    };
    page(StatusCode::OK, &confirm)
}

/// `POST /instances/{k8s_name}/end`: terminates an instance, or dismisses a failed one.
pub(crate) async fn end(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
    headers: HeaderMap,
    Fields(form): Fields<ReturnForm>,
) -> PageResult {
    let ended = state.launcher.terminate(&caller, &k8s_name).await;
    let next = forms::return_to(form.return_to.as_deref());
    workshops::answer(&state, &caller, t, &headers, ended.map(drop), &next).await
}

#[derive(Debug, Template)]
#[template(path = "pause.html")]
struct PausePage {
    t: Language,
    shell: Shell,
    workshop: WorkshopView,
    return_to: String,
}

/// `GET /instances/{k8s_name}/suspend`: the confirmation page, for browsers without scripts.
pub(crate) async fn confirm_suspend(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
    Query(query): Query<ReturnForm>,
) -> PageResult {
    let listed = state.launcher.instance(&caller, &k8s_name).await?;
    let confirm = PausePage {
        t,
        shell: shell(&state, &caller, t, ""),
        workshop: WorkshopView::new(t, &state.launcher, &caller, &listed),
        return_to: forms::return_to(query.return_to.as_deref()).as_str().to_owned(),
    };
    page(StatusCode::OK, &confirm)
}

/// `POST /instances/{k8s_name}/suspend`.
pub(crate) async fn suspend(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
    headers: HeaderMap,
    Fields(form): Fields<ReturnForm>,
) -> PageResult {
    let suspended = state.launcher.suspend(&caller, &k8s_name).await;
    let next = forms::return_to(form.return_to.as_deref());
    workshops::answer(&state, &caller, t, &headers, suspended.map(drop), &next).await
}

/// `POST /instances/{k8s_name}/resume`. Without htmx, the owner then sees the waiting page, which opens the workshop.
pub(crate) async fn resume(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
    headers: HeaderMap,
    Fields(form): Fields<ReturnForm>,
) -> PageResult {
    let resumed = state.launcher.resume(&caller, &k8s_name).await;
    let is_mine = resumed.as_ref().is_ok_and(|listed| listed.instance.owner_email == *caller.email());
    if is_mine && !is_htmx(&headers) {
        return Ok(forms::redirect(&paths::waiting(&k8s_name)));
    }
    let next = forms::return_to(form.return_to.as_deref());
    workshops::answer(&state, &caller, t, &headers, resumed.map(drop), &next).await
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
    workshop: WorkshopView,
    /// Origin of the workshop, whose bar gets the expiry; empty if the reader is not the owner.
    origin: String,
    /// True if the workshop was extended since the reader pressed the button.
    is_extended: bool,
    /// Path of this page after the extension.
    return_to: String,
}

/// The query of the page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendQuery {
    /// Expiry before the extension, if the reader pressed the button.
    from: Option<Timestamp>,
}

/// `GET /instances/{k8s_name}/extend`: one button, and after the extension the new expiry.
pub(crate) async fn show_extend(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    InstanceName(k8s_name): InstanceName,
    Query(query): Query<ExtendQuery>,
) -> PageResult {
    let listed = state.launcher.instance(&caller, &k8s_name).await?;
    let workshop = WorkshopView::new(t, &state.launcher, &caller, &listed);
    let extend = ExtendPage {
        t,
        origin: workshop.url.as_deref().and_then(origin).unwrap_or_default().to_owned(),
        is_extended: query.from.is_some_and(|from| listed.instance.expires_at.is_some_and(|end| end > from)),
        return_to: format!("{}?from={}", paths::extend(&k8s_name), workshop.expected_expires_at),
        workshop,
    };
    let mut response = page(StatusCode::OK, &extend)?;
    keep_opener(&mut response);
    Ok(response)
}

/// Lets the window that opened this page receive the new expiry. Every response of a navigation needs this header, also
/// a redirect.
fn keep_opener(response: &mut axum::response::Response) {
    response.headers_mut().insert(OPENER_POLICY, KEEP_OPENER);
}

/// Returns the origin of an http or https URL.
fn origin(url: &str) -> Option<&str> {
    let start = url.find("://")? + "://".len();
    let length = url[start..].find('/').unwrap_or(url.len() - start);
    Some(&url[..start + length])
}
