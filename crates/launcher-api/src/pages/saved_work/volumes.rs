//! Download and deletion of a volume.

use axum::extract::State;

use super::list::{self, OWN};
use super::question::{self, DeleteForm, Files};
use super::rows::VolumeRow;
use crate::extract::VolumeName;
use crate::identity::Identified;
use crate::pages::forms::{Fields, Query};
use crate::pages::html::PageResult;
use crate::pages::language::Language;
use crate::routes::volumes;
use crate::state::AppState;

/// `GET /work/{volume}/download`: the files as an archive.
pub(crate) async fn download(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    VolumeName(name): VolumeName,
) -> PageResult {
    match volumes::download(&state, &caller, &name).await {
        Ok(archive) => Ok(archive),
        Err(error) => list::refused(&state, &caller, t, OWN, error).await,
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
    let row = VolumeRow::new(t, &state.launcher, &caller, listed);
    let files = Files {
        path: format!("/work/{name}/delete"),
        name: row.name,
        warning: t.text("saved-work-warning"),
        owner: Some(row.owner).filter(|_| !row.is_mine),
    };
    question::ask(&state, &caller, t, files, &query)
}

/// `POST /work/{volume}/delete`.
pub(crate) async fn delete(
    State(state): State<AppState>,
    t: Language,
    Identified(caller): Identified,
    VolumeName(name): VolumeName,
    Fields(form): Fields<DeleteForm>,
) -> PageResult {
    let deleted = state.launcher.delete_volume(&caller, &name).await;
    question::answer(&state, &caller, t, &form, deleted).await
}
