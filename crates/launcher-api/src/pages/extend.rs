//! The small page that extends a workshop. The bar above the workshop opens it in a small window, because only a page of
//! the launcher may extend a workshop: the bar shares its origin with the app.

use askama::Template;
use axum::extract::State;
use http::{HeaderName, HeaderValue, StatusCode};
use jiff::Timestamp;
use serde::Deserialize;

use super::forms::Query;
use super::html::{PageResult, page};
use super::language::Language;
use super::view::WorkshopView;
use super::{assets, paths};
use crate::extract::InstanceName;
use crate::identity::Identified;
use crate::state::AppState;

/// Header that would separate the page from the window that opened it.
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
/// Value with which the page can report the new expiry to the window that opened it.
const KEEP_OPENER: HeaderValue = HeaderValue::from_static("unsafe-none");

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
pub(crate) async fn show(
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
pub(super) fn keep_opener(response: &mut axum::response::Response) {
    response.headers_mut().insert(OPENER_POLICY, KEEP_OPENER);
}

/// Returns the origin of an http or https URL.
fn origin(url: &str) -> Option<&str> {
    let start = url.find("://")? + "://".len();
    let length = url[start..].find('/').unwrap_or(url.len() - start);
    Some(&url[..start + length])
}
