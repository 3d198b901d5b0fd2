//! `GET /history`: the caller's ended workshops, each with the reason of its end.

use askama::Template;
use axum::extract::State;
use http::StatusCode;
use launcher_service::{InstanceFilter, Page, StateFilter};
use serde::Deserialize;
use uuid::Uuid;

use super::assets;
use super::forms::Query;
use super::html::{PageResult, page, shell};
use super::language::Language;
use super::view::{Shell, WorkshopView};
use crate::identity::Identified;
use crate::state::AppState;

/// Number of rows per page.
const ROWS: u32 = 50;

#[derive(Debug, Template)]
#[template(path = "history.html")]
struct HistoryPage {
    t: Language,
    shell: Shell,
    workshops: Vec<WorkshopView>,
    older: Option<String>,
}

/// Query of the page: the row after which the list starts.
#[derive(Debug, Deserialize)]
pub(crate) struct HistoryQuery {
    /// The last row of the previous page. An unreadable value selects the first page.
    #[serde(default)]
    after: String,
}

/// Serves the page with the caller's ended workshops.
pub(crate) async fn show(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    Query(query): Query<HistoryQuery>,
) -> PageResult {
    let filter = InstanceFilter {
        state: StateFilter::Ended,
        owner_email: Some(caller.email().clone()),
        template_id: None,
        search: None,
    };
    let cut = Page { limit: ROWS, after: Uuid::try_parse(&query.after).ok() };
    let listed = state.launcher.instances(&caller, &filter, &cut).await?;
    let last = listed.last().filter(|_| listed.len() == ROWS as usize);
    let history = HistoryPage {
        t,
        shell: shell(&state, &caller, t, "history"),
        older: last.map(|last| format!("/history?after={}", last.instance.instance_id)),
        workshops: listed.iter().map(|listed| WorkshopView::new(t, &state.launcher, &caller, listed)).collect(),
    };
    page(StatusCode::OK, &history)
}
