//! "Saved work": the kept files of a user, and of all users for admins, with a button to delete them.

use askama::Template;
use axum::extract::State;
use http::StatusCode;
use launcher_domain::Caller;
use launcher_service::{ListedVolume, Page, ServiceError, VolumeUser};
use serde::Deserialize;
use uuid::Uuid;

use super::assets;
use super::forms::{self, Fields, Query};
use super::html::{PageResult, page, shell};
use super::language::Language;
use super::view::{Instant, Notice, Shell};
use crate::extract::VolumeName;
use crate::identity::Identified;
use crate::pages::notices;
use crate::permission::{Allowed, ListAllVolumes};
use crate::routes::volumes;
use crate::state::AppState;

/// Path of the caller's saved work.
const OWN: &str = "/work";
/// Path of everyone's saved work, for admins.
const ALL: &str = "/admin/work";
/// Number of rows per page.
const ROWS: u32 = 50;

#[derive(Debug, Template)]
#[template(path = "saved_work.html")]
struct ListPage {
    t: Language,
    shell: Shell,
    notice: Option<Notice>,
    /// True if the list has the volumes of all users.
    shows_owners: bool,
    /// True if the fleet can read the files.
    can_download: bool,
    rows: Vec<Row>,
    older: Option<String>,
    path: &'static str,
}

#[derive(Debug, Template)]
#[template(path = "saved_work_delete.html")]
struct DeletePage {
    t: Language,
    shell: Shell,
    row: Row,
    return_to: String,
}

/// A volume in words.
#[derive(Debug)]
struct Row {
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

/// Query of the lists: the row after which the list starts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WorkQuery {
    after: String,
}

/// The form of the button that deletes a volume, and the query of the confirmation page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteForm {
    return_to: Option<String>,
}

/// `GET /work`: the caller's saved work.
pub(crate) async fn own(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    Query(query): Query<WorkQuery>,
) -> PageResult {
    page(StatusCode::OK, &list(&state, &caller, t, OWN, &query.after).await?)
}

/// `GET /admin/work`: the saved work of all users.
pub(crate) async fn all(
    State(state): State<AppState>,
    t: Language,
    Allowed { caller, .. }: Allowed<ListAllVolumes>,
    Query(query): Query<WorkQuery>,
) -> PageResult {
    page(StatusCode::OK, &list(&state, &caller, t, ALL, &query.after).await?)
}

/// `GET /work/{volume}/download`: the files as an archive.
pub(crate) async fn download(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    VolumeName(name): VolumeName,
) -> PageResult {
    match volumes::download::download(&state, &caller, &name).await {
        Ok(archive) => Ok(archive),
        Err(error) => refused(&state, &caller, t, OWN, error).await,
    }
}

/// `GET /work/{volume}/delete`: the confirmation page.
pub(crate) async fn confirm(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    VolumeName(name): VolumeName,
    Query(query): Query<DeleteForm>,
) -> PageResult {
    let listed = state.launcher.volume(&caller, &name).await?;
    let confirm = DeletePage {
        t,
        shell: shell(&state, &caller, t, "work"),
        row: Row::new(t, &state, &caller, listed),
        return_to: return_to(query.return_to.as_deref()).to_owned(),
    };
    page(StatusCode::OK, &confirm)
}

/// `POST /work/{volume}/delete`.
pub(crate) async fn delete(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    VolumeName(name): VolumeName,
    Fields(form): Fields<DeleteForm>,
) -> PageResult {
    let path = return_to(form.return_to.as_deref());
    let error = match state.launcher.delete_volume(&caller, &name).await {
        Ok(()) => return Ok(forms::redirect(path)),
        Err(error) => error,
    };
    let path = if caller.is_admin() { path } else { OWN };
    refused(&state, &caller, t, path, error).await
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
    let answer = list(state, caller, t, path, "").await?;
    let shell = answer.shell.returning_to(path);
    page(status, &ListPage { notice: Some(notice), shell, ..answer })
}

/// Returns the list to which a form returns.
fn return_to(sent: Option<&str>) -> &'static str {
    if sent == Some(ALL) { ALL } else { OWN }
}

async fn list(
    state: &AppState,
    caller: &Caller,
    t: Language,
    path: &'static str,
    after: &str,
) -> Result<ListPage, ServiceError> {
    let shows_owners = path == ALL;
    let owner = if shows_owners { None } else { Some(caller.email()) };
    let cut = Page { limit: ROWS, after: Uuid::try_parse(after).ok() };
    let listed = state.launcher.volumes(caller, owner, &cut).await?;
    let last = listed.last().filter(|_| listed.len() == ROWS as usize);
    Ok(ListPage {
        t,
        shell: shell(state, caller, t, if shows_owners { "admin-work" } else { "work" }),
        notice: None,
        can_download: state.launcher.can_download(),
        shows_owners,
        older: last.map(|last| format!("{path}?after={}", last.volume.volume_id)),
        rows: listed.into_iter().map(|listed| Row::new(t, state, caller, listed)).collect(),
        path,
    })
}

impl Row {
    fn new(t: Language, state: &AppState, caller: &Caller, ListedVolume { volume, used_by }: ListedVolume) -> Self {
        let is_in_use = used_by.as_ref().is_some_and(|user| !user.is_suspended);
        let deleted_after = state.launcher.volume_retention().map(|retention| volume.deleted_after(retention));
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
