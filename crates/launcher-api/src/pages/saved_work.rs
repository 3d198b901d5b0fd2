//! "Saved work": the kept files of a user and the saved files of ended workshops, and those of all users for admins. Each
//! entry can be downloaded and deleted.

use askama::Template;
use launcher_domain::Snapshot;
use launcher_service::{ListedVolume, Page, ServiceError, VolumeUser};
use serde::Deserialize;
use uuid::Uuid;

use crate::extract::{ListQuery, SnapshotId, VolumeName};
use crate::pages::admin::activity::{Entry, Part};
use crate::pages::confirm::{Question, confirm};
use crate::pages::view::{FilesForm, Instant, Notice};
use crate::pages::{
    Fields, Language, PageResult, Query, ReturnForm, Shell, Visitor, assets, forms, notices, page, page_with, paths,
};
use crate::permission::{Allowed, ListAllVolumes};
use crate::routes::{snapshots, volumes};

const OWN: &str = paths::SAVED_WORK;
const ALL: &str = "/admin/work";
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
    /// Downloads of the reader's files by other persons.
    entries: Vec<Entry>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WorkQuery {
    after: String,
    snapshots_after: String,
}

/// `GET /work`: the caller's saved work.
pub(crate) async fn own(visitor: Visitor, Query(query): Query<WorkQuery>) -> PageResult {
    page(&list(&visitor, OWN, &query).await?)
}

/// `GET /admin/work`: the saved work of all users.
pub(crate) async fn all(visitor: Allowed<ListAllVolumes, Visitor>, Query(query): Query<WorkQuery>) -> PageResult {
    page(&list(&visitor, ALL, &query).await?)
}

/// Shows the list again, with a notice about the error.
async fn refused(visitor: &Visitor, path: &'static str, error: ServiceError) -> PageResult {
    let Some((status, notice)) = notices::of(visitor.t, &error, false) else { return Err(error.into()) };
    let answer = list(visitor, path, &WorkQuery::default()).await?;
    let shell = answer.shell.returning_to(path);
    page_with(status, &ListPage { notice: Some(notice), shell, ..answer })
}

async fn list(visitor: &Visitor, path: &'static str, query: &WorkQuery) -> Result<ListPage, ServiceError> {
    let (t, launcher, caller) = (visitor.t, &visitor.launcher, &visitor.caller);
    let shows_owners = path == ALL;
    let owner = if shows_owners { None } else { Some(caller.email()) };
    let cut = |after: &str| Page { limit: ROWS, after: Uuid::try_parse(after).ok() };
    let listed = launcher.volumes(caller, owner, &cut(&query.after)).await?;
    let last = listed.last().filter(|_| listed.len() == ROWS as usize);
    let snapshots = launcher.snapshots(caller, owner, &cut(&query.snapshots_after)).await?;
    let downloads = if shows_owners { Vec::new() } else { launcher.downloads_by_others(caller).await? };
    let last_snapshot = snapshots.last().filter(|_| snapshots.len() == ROWS as usize);
    Ok(ListPage {
        t,
        shell: visitor.shell(if shows_owners { "admin-work" } else { "work" }),
        notice: None,
        can_download: launcher.can_download(),
        shows_owners,
        older: last.map(|last| format!("{path}?after={}", last.volume.volume_id)),
        rows: listed.into_iter().map(|listed| VolumeRow::new(visitor, listed)).collect(),
        saved_for: launcher.snapshot_retention().map(|retention| t.retention(retention)),
        older_snapshots: last_snapshot.map(|last| format!("{path}?snapshots_after={}", last.snapshot_id)),
        snapshots: snapshots.into_iter().map(|snapshot| SnapshotRow::new(visitor, snapshot)).collect(),
        path,
        entries: downloads.iter().map(|entry| Entry::new(t, entry, Some(caller.email()))).collect(),
    })
}

#[derive(Debug)]
struct VolumeRow {
    volume: String,
    /// Name of the template, or the text for a volume that templates share.
    name: String,
    owner: String,
    size: String,
    /// The workshop that has the volume.
    used_by: Option<VolumeUser>,
    last_used: Instant,
    /// Time at which the service deletes the volume unless it is used before.
    deleted_after: Option<Instant>,
}

#[derive(Debug)]
struct SnapshotRow {
    snapshot_id: Uuid,
    /// Name of the template at the launch.
    name: String,
    workshop: String,
    owner: String,
    size: String,
    saved: Instant,
    /// Time at which the service deletes the files; `None` without an object store.
    deleted_after: Option<Instant>,
    /// Form that launches a workshop with the files.
    launch: Option<FilesForm>,
}

impl VolumeRow {
    fn new(visitor: &Visitor, listed: ListedVolume) -> Self {
        let t = visitor.t;
        let deleted_after = volumes::deleted_after(&visitor.launcher, &listed);
        let ListedVolume { volume, used_by } = listed;
        Self {
            owner: volume.owner_email.to_string(),
            volume: volume.name,
            name: volume.template_name.unwrap_or_else(|| t.text("saved-work-shared").into_owned()),
            size: volume.size,
            last_used: Instant::new(t, volume.last_used_at),
            deleted_after: deleted_after.map(|at| Instant::new(t, at)),
            used_by,
        }
    }
}

impl SnapshotRow {
    fn new(visitor: &Visitor, snapshot: Snapshot) -> Self {
        let t = visitor.t;
        let deleted_after = visitor.launcher.snapshot_retention().map(|retention| snapshot.deleted_after(retention));
        Self {
            launch: FilesForm::new(visitor, &snapshot),
            snapshot_id: snapshot.snapshot_id,
            owner: snapshot.owner_email.to_string(),
            name: snapshot.template_name,
            workshop: snapshot.k8s_name,
            size: t.size(snapshot.bytes),
            saved: Instant::new(t, snapshot.created_at),
            deleted_after: deleted_after.map(|at| Instant::new(t, at)),
        }
    }
}

fn list_of(form: &ReturnForm) -> &'static str {
    if form.path().as_str() == ALL { ALL } else { OWN }
}

/// Asks if the files shall be deleted. `path` is the path of the files.
fn ask(visitor: &Visitor, query: &ReturnForm, path: &str, name: String, owner: String, warning: &str) -> PageResult {
    let t = visitor.t;
    let ask = Question {
        title: t.text("saved-work-delete"),
        question: t.with_one("saved-work-question", "name", name),
        warning: t.text(warning),
        owner: Some(owner).filter(|owner| *owner != visitor.caller.email().as_str()),
        action: format!("{path}/delete"),
        fields: Vec::new(),
        button: t.text("saved-work-delete-now"),
        button_class: "button-danger",
        cancel: t.text("saved-work-keep"),
        return_to: list_of(query).to_owned(),
    };
    confirm(visitor, "work", ask)
}

/// Answers the form: returns to the list, or shows the list with a notice about the error.
async fn answer(visitor: &Visitor, form: &ReturnForm, outcome: Result<(), ServiceError>) -> PageResult {
    let path = list_of(form);
    let Err(error) = outcome else { return Ok(forms::redirect(path)) };
    refused(visitor, if visitor.caller.is_admin() { path } else { OWN }, error).await
}

/// `GET /work/{volume}/download`: the files as an archive.
pub(crate) async fn download_volume(
    visitor: Visitor,
    VolumeName(name): VolumeName,
    mut query: ListQuery,
) -> PageResult {
    match volumes::download(&visitor, &name, query.format()?).await {
        Ok(archive) => Ok(archive),
        Err(error) => refused(&visitor, OWN, error).await,
    }
}

/// `GET /work/{volume}/delete`: the confirmation page.
pub(crate) async fn confirm_volume_deletion(
    visitor: Visitor,
    VolumeName(name): VolumeName,
    Query(query): Query<ReturnForm>,
) -> PageResult {
    let row = VolumeRow::new(&visitor, visitor.launcher.volume(&visitor.caller, &name).await?);
    ask(&visitor, &query, &format!("/work/{name}"), row.name, row.owner, "saved-work-warning")
}

pub(crate) async fn delete_volume(
    visitor: Visitor,
    VolumeName(name): VolumeName,
    Fields(form): Fields<ReturnForm>,
) -> PageResult {
    let deleted = visitor.launcher.delete_volume(&visitor.caller, &name).await;
    answer(&visitor, &form, deleted).await
}

/// `GET /work/snapshots/{snapshot_id}/download`: the files as an archive.
pub(crate) async fn download_snapshot(
    visitor: Visitor,
    SnapshotId(id): SnapshotId,
    mut query: ListQuery,
) -> PageResult {
    match snapshots::download(&visitor, id, query.format()?).await {
        Ok(archive) => Ok(archive),
        Err(error) => refused(&visitor, OWN, error).await,
    }
}

/// `GET /work/snapshots/{snapshot_id}/delete`: the confirmation page.
pub(crate) async fn confirm_snapshot_deletion(
    visitor: Visitor,
    SnapshotId(id): SnapshotId,
    Query(query): Query<ReturnForm>,
) -> PageResult {
    let row = SnapshotRow::new(&visitor, visitor.launcher.snapshot(&visitor.caller, id).await?);
    ask(&visitor, &query, &format!("/work/snapshots/{id}"), row.name, row.owner, "snapshot-warning")
}

pub(crate) async fn delete_snapshot(
    visitor: Visitor,
    SnapshotId(id): SnapshotId,
    Fields(form): Fields<ReturnForm>,
) -> PageResult {
    let deleted = visitor.launcher.delete_snapshot(&visitor.caller, id).await;
    answer(&visitor, &form, deleted).await
}
