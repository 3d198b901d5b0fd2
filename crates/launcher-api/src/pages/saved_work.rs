//! "Saved work": the kept files of a user and the saved files of ended workshops, and those of all users for admins. Each
//! entry can be downloaded and deleted.

use askama::Template;
use axum::extract::State;
use http::StatusCode;
use launcher_domain::{Caller, Snapshot};
use launcher_service::{Launcher, ListedVolume, Page, ServiceError, VolumeUser};
use serde::Deserialize;
use uuid::Uuid;

use crate::assets;
use crate::extract::{SnapshotId, VolumeName};
use crate::identity::Identified;
use crate::pages::forms::{Fields, Query};
use crate::pages::html::{PageResult, page, shell};
use crate::pages::language::{Language, Text};
use crate::pages::view::{Instant, Notice, Shell};
use crate::pages::{forms, notices};
use crate::permission::{Allowed, ListAllVolumes};
use crate::routes::{snapshots, volumes};
use crate::state::AppState;

/// Path of the caller's saved work.
const OWN: &str = "/work";
/// Path of everyone's saved work, for admins.
const ALL: &str = "/admin/work";
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
async fn refused(
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

/// A volume in words.
#[derive(Debug)]
struct VolumeRow {
    volume: String,
    /// Name of the template, or the text for a volume that templates share.
    name: String,
    owner: String,
    is_mine: bool,
    size: String,
    /// The workshop that has the volume.
    used_by: Option<VolumeUser>,
    last_used: Instant,
    /// Time at which the service deletes the volume unless it is used before.
    deleted_after: Option<Instant>,
}

/// A snapshot in words.
#[derive(Debug)]
struct SnapshotRow {
    snapshot_id: Uuid,
    /// Name of the template at the launch.
    name: String,
    /// Name of the workshop.
    workshop: String,
    owner: String,
    is_mine: bool,
    size: String,
    saved: Instant,
    /// Time at which the service deletes the files; `None` without an object store.
    deleted_after: Option<Instant>,
}

impl VolumeRow {
    fn new(t: Language, launcher: &Launcher, caller: &Caller, ListedVolume { volume, used_by }: ListedVolume) -> Self {
        let is_in_use = used_by.as_ref().is_some_and(|user| !user.is_suspended);
        let deleted_after = launcher.volume_retention().and_then(|retention| volume.deleted_after(retention));
        Self {
            is_mine: volume.owner_email == *caller.email(),
            owner: volume.owner_email.to_string(),
            volume: volume.name,
            name: volume.template_name.unwrap_or_else(|| t.text("saved-work-shared").into_owned()),
            size: volume.size,
            last_used: Instant::new(t, volume.last_used_at),
            deleted_after: deleted_after.filter(|_| !is_in_use).map(|at| Instant::new(t, at)),
            used_by,
        }
    }
}

impl SnapshotRow {
    fn new(t: Language, launcher: &Launcher, caller: &Caller, snapshot: Snapshot) -> Self {
        let deleted_after = launcher.snapshot_retention().map(|retention| snapshot.deleted_after(retention));
        Self {
            snapshot_id: snapshot.snapshot_id,
            is_mine: snapshot.owner_email == *caller.email(),
            owner: snapshot.owner_email.to_string(),
            name: snapshot.template_name,
            workshop: snapshot.k8s_name,
            size: t.size(snapshot.bytes),
            saved: Instant::new(t, snapshot.created_at),
            deleted_after: deleted_after.map(|at| Instant::new(t, at)),
        }
    }
}

/// The form of the button that deletes files, and the query of the question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteForm {
    return_to: Option<String>,
}

/// The files that the question is about.
#[derive(Debug)]
struct Files {
    /// Path of the form.
    path: String,
    /// Name of the template.
    name: String,
    warning: Text,
    /// The owner, unless it is the reader.
    owner: Option<String>,
}

#[derive(Debug, Template)]
#[template(path = "saved_work_delete.html")]
struct DeletePage {
    t: Language,
    shell: Shell,
    files: Files,
    return_to: &'static str,
}

impl DeleteForm {
    /// Returns the list to which the form returns.
    fn list(&self) -> &'static str {
        if self.return_to.as_deref() == Some(ALL) { ALL } else { OWN }
    }
}

/// Asks if the files shall be deleted.
fn ask(state: &AppState, caller: &Caller, t: Language, files: Files, query: &DeleteForm) -> PageResult {
    let shell = shell(state, caller, t, "work");
    page(StatusCode::OK, &DeletePage { t, shell, files, return_to: query.list() })
}

/// Answers the form: returns to the list, or shows the list with a notice about the error.
async fn answer(
    state: &AppState,
    caller: &Caller,
    t: Language,
    form: &DeleteForm,
    outcome: Result<(), ServiceError>,
) -> PageResult {
    let path = form.list();
    let Err(error) = outcome else { return Ok(forms::redirect(path)) };
    refused(state, caller, t, if caller.is_admin() { path } else { OWN }, error).await
}

/// `GET /work/{volume}/download`: the files as an archive.
pub(crate) async fn download_volume(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    VolumeName(name): VolumeName,
) -> PageResult {
    match volumes::download(&state, &caller, &name).await {
        Ok(archive) => Ok(archive),
        Err(error) => refused(&state, &caller, t, OWN, error).await,
    }
}

/// `GET /work/{volume}/delete`: the confirmation page.
pub(crate) async fn confirm_volume_deletion(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    VolumeName(name): VolumeName,
    Query(query): Query<DeleteForm>,
) -> PageResult {
    let listed = state.launcher.volume(&caller, &name).await?;
    let row = VolumeRow::new(t, &state.launcher, &caller, listed);
    let files = Files {
        path: format!("/work/{name}/delete"),
        name: row.name,
        warning: t.text("saved-work-warning"),
        owner: Some(row.owner).filter(|_| !row.is_mine),
    };
    ask(&state, &caller, t, files, &query)
}

/// `POST /work/{volume}/delete`.
pub(crate) async fn delete_volume(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    VolumeName(name): VolumeName,
    Fields(form): Fields<DeleteForm>,
) -> PageResult {
    let deleted = state.launcher.delete_volume(&caller, &name).await;
    answer(&state, &caller, t, &form, deleted).await
}

/// `GET /work/snapshots/{snapshot_id}/download`: the files as an archive.
pub(crate) async fn download_snapshot(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    SnapshotId(id): SnapshotId,
) -> PageResult {
    match snapshots::download(&state, &caller, id).await {
        Ok(archive) => Ok(archive),
        Err(error) => refused(&state, &caller, t, OWN, error).await,
    }
}

/// `GET /work/snapshots/{snapshot_id}/delete`: the confirmation page.
pub(crate) async fn confirm_snapshot_deletion(
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
    ask(&state, &caller, t, files, &query)
}

/// `POST /work/snapshots/{snapshot_id}/delete`.
pub(crate) async fn delete_snapshot(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    SnapshotId(id): SnapshotId,
    Fields(form): Fields<DeleteForm>,
) -> PageResult {
    let deleted = state.launcher.delete_snapshot(&caller, id).await;
    answer(&state, &caller, t, &form, deleted).await
}
