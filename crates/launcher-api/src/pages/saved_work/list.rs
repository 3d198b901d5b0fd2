//! The lists of saved work.

use askama::Template;
use axum::extract::State;
use http::StatusCode;
use launcher_domain::Caller;
use launcher_service::{Page, ServiceError};
use serde::Deserialize;
use uuid::Uuid;

use super::rows::{SnapshotRow, VolumeRow};
use crate::identity::Identified;
use crate::pages::forms::Query;
use crate::pages::html::{PageResult, page, shell};
use crate::pages::language::Language;
use crate::pages::view::{Notice, Shell};
use crate::pages::{assets, notices};
use crate::permission::{Allowed, ListAllVolumes};
use crate::state::AppState;

/// Path of the caller's saved work.
pub(super) const OWN: &str = "/work";
/// Path of everyone's saved work, for admins.
pub(super) const ALL: &str = "/admin/work";
/// Number of rows of each table per page.
const ROWS: u32 = 50;

#[derive(Debug, Template)]
#[template(path = "saved_work.html")]
struct ListPage {
    t: Language,
    shell: Shell,
    notice: Option<Notice>,
    /// True if the list has the saved work of all users.
    shows_owners: bool,
    /// True if the fleet can read the files of volumes.
    can_download: bool,
    rows: Vec<VolumeRow>,
    older: Option<String>,
    /// Retention of snapshots, in words; `None` if workshops end without one.
    saved_for: Option<String>,
    snapshots: Vec<SnapshotRow>,
    older_snapshots: Option<String>,
    path: &'static str,
}

/// Query of the lists: the rows after which the tables start.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WorkQuery {
    after: String,
    snapshots_after: String,
}

/// `GET /work`: the caller's saved work.
pub(crate) async fn own(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    Query(query): Query<WorkQuery>,
) -> PageResult {
    page(StatusCode::OK, &list(&state, &caller, t, OWN, &query).await?)
}

/// `GET /admin/work`: the saved work of all users.
pub(crate) async fn all(
    State(state): State<AppState>,
    t: Language,
    Allowed { caller, .. }: Allowed<ListAllVolumes>,
    Query(query): Query<WorkQuery>,
) -> PageResult {
    page(StatusCode::OK, &list(&state, &caller, t, ALL, &query).await?)
}

/// Shows the list again, with a notice about the error.
pub(super) async fn refused(
    state: &AppState,
    caller: &Caller,
    t: Language,
    path: &'static str,
    error: ServiceError,
) -> PageResult {
    let Some((status, notice)) = notices::of(t, &error, false) else { return Err(error.into()) };
    let answer = list(state, caller, t, path, &WorkQuery::default()).await?;
    let shell = answer.shell.returning_to(path);
    page(status, &ListPage { notice: Some(notice), shell, ..answer })
}

async fn list(
    state: &AppState,
    caller: &Caller,
    t: Language,
    path: &'static str,
    query: &WorkQuery,
) -> Result<ListPage, ServiceError> {
    let launcher = &state.launcher;
    let shows_owners = path == ALL;
    let owner = if shows_owners { None } else { Some(caller.email()) };
    let cut = |after: &str| Page { limit: ROWS, after: Uuid::try_parse(after).ok() };
    let listed = launcher.volumes(caller, owner, &cut(&query.after)).await?;
    let last = listed.last().filter(|_| listed.len() == ROWS as usize);
    let snapshots = launcher.snapshots(caller, owner, &cut(&query.snapshots_after)).await?;
    let last_snapshot = snapshots.last().filter(|_| snapshots.len() == ROWS as usize);
    Ok(ListPage {
        t,
        shell: shell(state, caller, t, if shows_owners { "admin-work" } else { "work" }),
        notice: None,
        can_download: launcher.can_download(),
        shows_owners,
        older: last.map(|last| format!("{path}?after={}", last.volume.volume_id)),
        rows: listed.into_iter().map(|listed| VolumeRow::new(t, launcher, caller, listed)).collect(),
        saved_for: launcher.snapshot_retention().map(|retention| t.retention(retention)),
        older_snapshots: last_snapshot.map(|last| format!("{path}?snapshots_after={}", last.snapshot_id)),
        snapshots: snapshots.into_iter().map(|snapshot| SnapshotRow::new(t, launcher, caller, snapshot)).collect(),
        path,
    })
}
