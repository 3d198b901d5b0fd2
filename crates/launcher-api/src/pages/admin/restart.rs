//! `GET /admin/instances/restart`: asks for a confirmation before it restarts all outdated workshops. Its form sends the
//! listed workshops to `bulk`, which restarts them.

use askama::Template;
use axum::extract::State;
use http::StatusCode;
use launcher_domain::InstanceState;
use launcher_service::{InstanceFilter, ListedInstance, Page, StateFilter};

use super::table::MAX_INSTANCES;
use crate::pages::assets;
use crate::pages::html::{PageResult, page, shell};
use crate::pages::language::Language;
use crate::pages::view::Shell;
use crate::permission::{Allowed, RestartInstances};
use crate::state::AppState;

/// The list of all instances.
const LIST: &str = "/admin/instances";

#[derive(Debug, Template)]
#[template(path = "admin/restart_confirm.html")]
pub(super) struct RestartPage {
    pub(super) t: Language,
    pub(super) shell: Shell,
    pub(super) listed: Vec<ListedInstance>,
    /// Note that the page does not list all outdated workshops.
    pub(super) note: Option<String>,
    pub(super) return_to: String,
}

/// Returns the filter of the running workshops with an older version.
pub(super) fn outdated() -> InstanceFilter {
    InstanceFilter { state: StateFilter::Outdated, ..InstanceFilter::default() }
}

/// True if a restart would replace the workload of this instance.
pub(super) fn is_outdated(listed: &ListedInstance) -> bool {
    listed.instance.state == InstanceState::Running && listed.instance.outdated
}

/// Serves the confirmation page with the newest outdated workshops.
pub(crate) async fn show(
    State(state): State<AppState>,
    t: Language,
    Allowed { caller, .. }: Allowed<RestartInstances>,
) -> PageResult {
    let filter = outdated();
    let limit = u32::try_from(MAX_INSTANCES).unwrap_or(u32::MAX);
    let listed = state.launcher.instances(&caller, &filter, &Page { limit, after: None }).await?;
    let all = state.launcher.count_instances(&caller, &filter).await?.matches;
    let note = (listed.len() == MAX_INSTANCES)
        .then(|| t.with("restart-first", [("listed", listed.len().into()), ("all", all.into())]));
    let shell = shell(&state, &caller, t, "admin-instances").returning_to(LIST);
    page(StatusCode::OK, &RestartPage { t, shell, listed, note, return_to: LIST.to_owned() })
}
