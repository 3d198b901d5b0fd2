//! `/_launcher/class/{k8s_name}/`: requests of the bar above a workshop: the news of the class, the hand of its owner, the report
//! that the owner uses the app, and the reason why the workshop does not run.
//!
//! These paths are on the origin of the workshop, where the bar and the app are, because a browser sends no login to another
//! site. So an app has the same rights as the bar: it reads the message and the hand of its own user, raises and lowers
//! this hand, reports a use, and reads why its own workshop does not run. Nothing else of the launcher is on this origin.

use axum::Json;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use launcher_service::ServiceError;

use crate::extract::InstanceName;
use crate::pages::{StoppedWorkshop, StoppedWorkshops};
use crate::problem::Problem;
use crate::routes::hands::{NewsResponse, follow, news_for};
use crate::settings::ApiSettings;
use crate::state::Call;

/// `GET …/news`: the news of the class, for the owner of the workshop. All others get the 404 of a workshop that does not exist.
pub(crate) async fn news(call: Call, InstanceName(name): InstanceName) -> Result<Json<NewsResponse>, Problem> {
    let access = call.launcher.class_of_own_instance(&call.caller, &name).await?;
    news_for(&call, &access).await
}

/// `GET …/events`: the same as an event stream.
pub(crate) async fn events(call: Call, InstanceName(name): InstanceName) -> Result<Response, Problem> {
    let access = call.launcher.class_of_own_instance(&call.caller, &name).await?;
    follow(&call, &access).await
}

pub(crate) async fn raise(call: Call, InstanceName(name): InstanceName) -> Result<StatusCode, Problem> {
    let access = call.launcher.class_of_own_instance(&call.caller, &name).await?;
    call.launcher.raise_hand(&access).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn lower(call: Call, InstanceName(name): InstanceName) -> Result<StatusCode, Problem> {
    let access = call.launcher.class_of_own_instance(&call.caller, &name).await?;
    call.launcher.lower_hand(&access, call.caller.email()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `PUT …/use`: reports that the owner uses the app now, for the board of the class.
pub(crate) async fn note_use(call: Call, InstanceName(name): InstanceName) -> Result<StatusCode, Problem> {
    call.launcher.note_use(&call.caller, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET …/stopped`: the reason why the workshop does not run, and where its files are, for its owner, also outside a class. Fleets
/// on one machine answer the same to a request for the status. On a cluster, no part in front of the workshop knows it.
pub(crate) async fn stopped(
    call: Call,
    InstanceName(name): InstanceName,
    headers: HeaderMap,
) -> Result<Json<StoppedWorkshop>, Problem> {
    let (launcher, settings) = (call.launcher.clone(), ApiSettings::clone(&call.settings));
    let stopped = StoppedWorkshops::new(launcher, settings, call.process.proxy_secret.clone());
    Ok(Json(stopped.explain(&name, &headers).await?.ok_or(ServiceError::NotFound)?))
}
