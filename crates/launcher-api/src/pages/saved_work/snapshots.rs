//! Download and deletion of a snapshot.

use axum::extract::State;

use super::list::{self, OWN};
use super::question::{self, DeleteForm, Files};
use super::rows::SnapshotRow;
use crate::extract::SnapshotId;
use crate::identity::Identified;
use crate::pages::forms::{Fields, Query};
use crate::pages::html::PageResult;
use crate::pages::language::Language;
use crate::routes::snapshots;
use crate::state::AppState;

/// `GET /work/snapshots/{snapshot_id}/download`: the files as an archive.
pub(crate) async fn download(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    SnapshotId(id): SnapshotId,
) -> PageResult {
    match snapshots::download(&state, &caller, id).await {
        Ok(archive) => Ok(archive),
        Err(error) => list::refused(&state, &caller, t, OWN, error).await,
    }
}

/// `GET /work/snapshots/{snapshot_id}/delete`: the confirmation page.
pub(crate) async fn confirm(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    SnapshotId(id): SnapshotId,
    Query(query): Query<DeleteForm>,
) -> PageResult {
    let snapshot = state.launcher.snapshot(&caller, id).await?;
    let row = SnapshotRow::new(t, &state.launcher, &caller, snapshot);
    let files = Files {
        path: format!("/work/snapshots/{id}/delete"),
        name: row.name,
        warning: t.text("snapshot-warning"),
        owner: Some(row.owner).filter(|_| !row.is_mine),
    };
    question::ask(&state, &caller, t, files, &query)
}

/// `POST /work/snapshots/{snapshot_id}/delete`.
pub(crate) async fn delete(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    SnapshotId(id): SnapshotId,
    Fields(form): Fields<DeleteForm>,
) -> PageResult {
    let deleted = state.launcher.delete_snapshot(&caller, id).await;
    question::answer(&state, &caller, t, &form, deleted).await
}
