//! `/instances/`: launched workshops.

use std::collections::BTreeMap;

use axum::Json;
use axum::response::Response;
use http::StatusCode;
use jiff::Timestamp;
use launcher_domain::lifetime::{Bound, Extension, extension};
use launcher_domain::{Crash, FailureReason, ListensElsewhere, SourceReport};
use launcher_service::{InstanceFilter, Launcher, ListedInstance};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::extract::{InstanceName, ListQuery, OptionalJson, RequestBody, list_page};
use crate::permission::{Allowed, ListAllInstances, RestartInstances};
use crate::problem::{Problem, ProblemCode};
use crate::routes::Routes;
use crate::routes::snapshots::InstanceSnapshotResponse;
use crate::state::Call;
use crate::wire::{EndReasonName, FailureCodeName, MaterialOutcomeName, StartStepName, StateName, rfc3339};

pub(super) fn routes() -> Routes {
    vec![
        routes!(list_instances),
        routes!(read_instance, terminate_instance),
        routes!(extend_instance),
        routes!(suspend_instance),
        routes!(resume_instance),
        routes!(restart_instance),
    ]
}

type Accepted = (StatusCode, Json<WorkshopInstanceResponse>);

/// List instances
///
/// The caller's own instances; for an admin all instances. Newest first. With `search`, only the newest 20,000
/// instances that match the other parameters are searched.
#[utoipa::path(get, path = "/instances/", operation_id = "listInstances", tag = "instances",
    params(("owner_email" = Option<String>, Query, min_length = 3, max_length = 254,
            pattern = "^[!-?A-~]{1,64}@[!-?A-~]{1,189}$",
            description = "Only instances of this person. Only admins may send it."),
        ("template_id" = Option<uuid::Uuid>, Query,
            description = "Only instances of this template. Only admins may send it."),
        ("search" = Option<String>, Query, max_length = 100,
            description = "Only instances with this text in the owner's address, the template's name or `k8s_name`. \
                ASCII letters match in either case. An empty text matches every instance.")),
    responses((status = 200, description = "A page of instances.", body = [WorkshopInstanceResponse])),
    extensions(("x-parameters" = json!(["state", "limit", "cursor"])),
        ("x-problems" = json!([ProblemCode::AdminOnly]))))]
pub(crate) async fn list_instances(
    call: Call,
    lists_all: Result<Allowed<ListAllInstances>, Problem>,
    mut query: ListQuery,
) -> Result<Response, Problem> {
    let page = query.page()?;
    let (state, search) = (query.state()?, query.search()?);
    let (owner_email, template_id) = query.admin_filters(lists_all)?;
    let path = query.finish(&call, "/instances/")?;
    let filter = InstanceFilter { state, owner_email, template_id, search };
    let rows = call.launcher.instances(&call.caller, &filter, &page).await?;
    let response = |listed: ListedInstance| WorkshopInstanceResponse::new(&call.launcher, &listed);
    Ok(list_page(rows, &page, &path, |listed| listed.instance.instance_id, response))
}

/// Read an instance
///
/// The caller's own instance; for an administrator any instance. For another user's instance, the response is the same
/// as for a missing one.
#[utoipa::path(get, path = "/instances/{k8s_name}", operation_id = "readInstance", tag = "instances",
    responses((status = 200, description = "The instance.", body = WorkshopInstanceResponse)))]
pub(crate) async fn read_instance(
    call: Call,
    InstanceName(name): InstanceName,
) -> Result<Json<WorkshopInstanceResponse>, Problem> {
    let listed = call.launcher.instance(&call.caller, &name).await?;
    Ok(Json(WorkshopInstanceResponse::new(&call.launcher, &listed)))
}

/// Extend an instance
///
/// Adds the template's `extension_seconds` to `expires_at`, but not beyond `extension.latest_expires_at`. An admin can
/// exceed it with `beyond_maximum`, up to 30 days after `started_at`.
#[utoipa::path(post, path = "/instances/{k8s_name}/extend", operation_id = "extendInstance", tag = "instances",
    request_body(content = Option<ExtendBody>, description = "Optional."),
    responses((status = 200, description = "The extended instance.", body = WorkshopInstanceResponse)),
    extensions(("x-problems" = json!([ProblemCode::AdminOnly, ProblemCode::NotRunning,
            ProblemCode::LifetimeLimitReached, ProblemCode::ExpiryChanged]))))]
pub(crate) async fn extend_instance(
    call: Call,
    InstanceName(name): InstanceName,
    OptionalJson(body): OptionalJson<ExtendBody>,
) -> Result<Json<WorkshopInstanceResponse>, Problem> {
    let bound = Bound::new(body.beyond_maximum);
    let listed = call.launcher.extend(&call.caller, &name, body.expected_expires_at, bound).await?;
    Ok(Json(WorkshopInstanceResponse::new(&call.launcher, &listed)))
}

/// An extension.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendBody {
    /// The `expires_at` that the caller saw. If it has changed, the request is refused, so a double click extends once.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime, example = "2026-03-02T10:00:12.345Z")]
    pub(crate) expected_expires_at: Option<Timestamp>,
    /// True: extend the instance also beyond its maximum lifetime. Only admins may send true. The activity log records by
    /// how much the maximum is exceeded.
    #[serde(default)]
    pub(crate) beyond_maximum: bool,
}

impl RequestBody for ExtendBody {}

/// Suspend an instance
///
/// Only for a running instance whose template has `storage`. Stops its workload: programs end, and the files of the
/// volume stay. The instance is `suspending` until the workload is gone, then `suspended`. A suspended instance does not
/// count against the limit of workshops. It ends when its owner ends it, or when its volume was not used for the
/// retention. A repeated request changes nothing.
#[utoipa::path(post, path = "/instances/{k8s_name}/suspend", operation_id = "suspendInstance", tag = "instances",
    responses((status = 202, description = "The instance, which is being suspended or is suspended.",
            body = WorkshopInstanceResponse)),
    extensions(("x-problems" = json!([ProblemCode::NotRunning, ProblemCode::FilesNotKept]))))]
pub(crate) async fn suspend_instance(call: Call, InstanceName(name): InstanceName) -> Result<Accepted, Problem> {
    let listed = call.launcher.suspend(&call.caller, &name).await?;
    Ok((StatusCode::ACCEPTED, Json(WorkshopInstanceResponse::new(&call.launcher, &listed))))
}

/// Resume a suspended instance
///
/// Starts the instance again with its name, URL, volume, parameters and the settings of its launch. Like a launch, it
/// waits in the queue, counts against the limits, and gets a new lifetime when it is ready. The template may be
/// archived. A repeated request changes nothing.
#[utoipa::path(post, path = "/instances/{k8s_name}/resume", operation_id = "resumeInstance", tag = "instances",
    responses((status = 202, description = "The instance, which is queued, starting or running.",
            body = WorkshopInstanceResponse)),
    extensions(("x-problems" = json!([ProblemCode::NotSuspended, ProblemCode::InstanceLimitReached,
            ProblemCode::VolumeInUse, ProblemCode::TooManyLaunches, ProblemCode::AtCapacity]))))]
pub(crate) async fn resume_instance(call: Call, InstanceName(name): InstanceName) -> Result<Accepted, Problem> {
    let listed = call.launcher.resume(&call.caller, &name).await?;
    Ok((StatusCode::ACCEPTED, Json(WorkshopInstanceResponse::new(&call.launcher, &listed))))
}

/// Restart an outdated instance
///
/// Only for admins. Replaces the pod of a running instance that is `outdated`: the new pod has the current sidecar and
/// settings. **The work in the pod is lost**, and so are files that were not saved elsewhere. `expires_at` does not
/// change. A repeated request gets the error `not-outdated`, until the instance is outdated again.
#[utoipa::path(post, path = "/instances/{k8s_name}/restart", operation_id = "restartInstance", tag = "instances",
    responses((status = 202, description = "The instance, whose restart was requested.",
            body = WorkshopInstanceResponse)),
    extensions(("x-problems" = json!([ProblemCode::AdminOnly, ProblemCode::NotRunning, ProblemCode::NotOutdated]))))]
pub(crate) async fn restart_instance(
    call: Allowed<RestartInstances>,
    InstanceName(name): InstanceName,
) -> Result<Accepted, Problem> {
    let listed = call.launcher.restart(&call.caller, &name).await?;
    Ok((StatusCode::ACCEPTED, Json(WorkshopInstanceResponse::new(&call.launcher, &listed))))
}

/// Terminate an instance
///
/// Ends an instance in any state, and dismisses a failed one. Files that were not saved elsewhere are lost. A repeated
/// request changes nothing and has the same response.
#[utoipa::path(delete, path = "/instances/{k8s_name}", operation_id = "terminateInstance", tag = "instances",
    responses((status = 202, description = "The instance, terminating or terminated.",
            body = WorkshopInstanceResponse)))]
pub(crate) async fn terminate_instance(call: Call, InstanceName(name): InstanceName) -> Result<Accepted, Problem> {
    let listed = call.launcher.terminate(&call.caller, &name).await?;
    Ok((StatusCode::ACCEPTED, Json(WorkshopInstanceResponse::new(&call.launcher, &listed))))
}

/// A launched workshop. Times are RFC 3339 in UTC with milliseconds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkshopInstanceResponse {
    /// Name in paths, and name of the workload.
    k8s_name: String,
    /// Person who launched the instance.
    owner_email: String,
    /// Template from which the instance was launched.
    template_id: Uuid,
    /// The template's name at the launch.
    #[schema(example = "Statistics 101")]
    template_name: String,
    state: StateName,
    /// Step that a starting instance waits for; null in other states, or if unknown.
    start_step: Option<StartStepName>,
    /// Progress of the start step; null if the fleet reports none. At `waiting-for-room`: the position in the queue for
    /// room on the server, from 1. At `pulling-image`: the downloaded part of the image in percent;
    /// 100 while the server unpacks the image.
    start_progress: Option<u32>,
    /// Addresses on which the app of a starting instance listens instead of its port; null if it listens on no other
    /// address, if the fleet cannot tell, and in other states. The instance then never becomes ready.
    listens_elsewhere: Option<ListensElsewhereResponse>,
    /// Reason of the failure; null if the instance has not failed.
    reason: Option<ReasonResponse>,
    /// The last lines of a crashed app's output.
    log_tail: Option<String>,
    /// Last crash after which the app was started again; null if none. The instance stayed running.
    last_crash: Option<CrashResponse>,
    /// Course material: one report for each source. Empty before the fleet has tried to place it, and without material.
    material: Vec<SourceReportResponse>,
    /// URL of the workshop, only for its owner; null before the workshop runs.
    #[schema(example = "https://statistics-101-a7k3m9qz2x.workshops.example.net/")]
    url: Option<String>,
    /// True if the instance runs with an older version of sidecar or settings than a new instance would get. An admin
    /// can restart it.
    outdated: bool,
    /// Name of the volume with the owner's kept files; null if the files end with the workshop.
    #[schema(example = "work-a7k3m9qz2x")]
    volume: Option<String>,
    /// Snapshot with whose files the instance started; null if it started without saved files. The snapshot may be deleted.
    restored_from: Option<Uuid>,
    /// Snapshot of the files at the end; null if the end saves no files.
    snapshot: Option<InstanceSnapshotResponse>,
    /// Values of the launch parameters by name. null: a secret value, which is never shown.
    #[schema(example = json!({ "DATASET": "iris", "TOKEN": null }))]
    parameters: BTreeMap<String, Option<String>>,
    /// Queue position; 1 starts next. Null if the instance is not queued.
    #[schema(minimum = 1)]
    queue_position: Option<u32>,
    /// Time when the instance was suspended. Null unless the instance is suspending or suspended, or ended in one of
    /// these states.
    suspended_at: Option<String>,
    /// Time of the launch.
    created_at: String,
    /// Time when the instance was first ready. Its lifetime starts at this time. A resumed instance has a new time and a new
    /// lifetime.
    started_at: Option<String>,
    /// Expiry; null before the instance was ready, and while it is suspended.
    expires_at: Option<String>,
    /// Time when the workload had stopped completely.
    ended_at: Option<String>,
    end_reason: Option<EndReasonName>,
    extension: ExtensionResponse,
}

/// A failure, in words for the owner.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReasonResponse {
    code: FailureCodeName,
    /// Description of the failure, in one sentence.
    message: String,
    /// Remedy for the owner. It says if files are lost.
    remedy: String,
    /// True if the same launch may succeed a moment later.
    retryable: bool,
}

/// Addresses on which an app listens instead of its port.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListensElsewhereResponse {
    /// Addresses of the listening sockets of the app, at most 4.
    #[schema(example = json!(["127.0.0.1:8000"]))]
    addresses: Vec<String>,
    /// Address on which the app must listen: 127.0.0.1 with the value of the variable `PORT`.
    #[schema(example = "127.0.0.1:21936")]
    expected: String,
}

/// A crash of the app, after which the app was started again.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CrashResponse {
    /// Time of the crash.
    at: String,
    code: FailureCodeName,
    /// Description of the crash, in one sentence.
    message: &'static str,
    /// True if the restart lost the files of the instance.
    files_lost: bool,
}

/// Result that an extension would have now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExtensionResponse {
    /// True if the instance can be extended.
    allowed: bool,
    /// Code of the problem that an extension would return; null if allowed.
    #[schema(example = "lifetime-limit-reached")]
    denied_reason: Option<&'static str>,
    /// Maximum that one extension adds, in seconds.
    #[schema(example = 3600)]
    extend_by_seconds: u32,
    /// Latest possible expiry; null before the instance was ready. Only an admin can exceed it.
    latest_expires_at: Option<String>,
}

impl WorkshopInstanceResponse {
    /// Converts an instance. The field `extension` depends on the launcher's current time.
    pub(crate) fn new(launcher: &Launcher, listed: &ListedInstance) -> Self {
        let ListedInstance { instance, queue_position, used_at: _ } = listed;
        let report = &instance.report;
        let sources = report.material.iter().flat_map(|material| &material.sources);
        Self {
            k8s_name: instance.k8s_name.clone(),
            owner_email: instance.owner_email.to_string(),
            template_id: instance.template_id,
            template_name: instance.settings.name.clone(),
            state: instance.state.into(),
            start_step: report.start_step.map(StartStepName::from),
            start_progress: report.start_progress,
            listens_elsewhere: report.listens_elsewhere.as_ref().map(ListensElsewhereResponse::from),
            reason: instance.failure().as_ref().map(ReasonResponse::from),
            log_tail: report.log_tail.clone(),
            last_crash: report.last_crash.as_ref().map(CrashResponse::from),
            material: sources.map(SourceReportResponse::from).collect(),
            url: report.url.clone(),
            outdated: instance.outdated,
            queue_position: *queue_position,
            volume: instance.volume.clone(),
            restored_from: instance.restores,
            snapshot: instance.snapshot.as_ref().map(InstanceSnapshotResponse::from),
            parameters: instance.parameters.clone(),
            suspended_at: instance.suspended_at.map(rfc3339),
            created_at: rfc3339(instance.created_at),
            started_at: instance.started_at.map(rfc3339),
            expires_at: instance.expires_at.map(rfc3339),
            ended_at: instance.ended_at.map(rfc3339),
            end_reason: instance.end_reason.map(EndReasonName::from),
            extension: ExtensionResponse::new(&extension(instance, launcher.clock().now())),
        }
    }
}

impl From<&FailureReason> for ReasonResponse {
    fn from(reason: &FailureReason) -> Self {
        let FailureReason { code, message, remedy, retryable, message_codes: _, remedy_code: _ } = reason;
        Self { code: (*code).into(), message: message.clone(), remedy: remedy.clone(), retryable: *retryable }
    }
}

impl From<&ListensElsewhere> for ListensElsewhereResponse {
    fn from(elsewhere: &ListensElsewhere) -> Self {
        let addresses = elsewhere.addresses.iter().map(ToString::to_string).collect();
        Self { addresses, expected: elsewhere.expected().to_string() }
    }
}

impl From<&Crash> for CrashResponse {
    fn from(Crash { at, code, files_lost }: &Crash) -> Self {
        Self { at: rfc3339(*at), code: (*code).into(), message: code.message(), files_lost: *files_lost }
    }
}

impl ExtensionResponse {
    fn new(extension: &Extension) -> Self {
        Self {
            allowed: extension.outcome.is_ok(),
            denied_reason: extension.outcome.err().map(|error| error.code()),
            extend_by_seconds: extension.extend_by_seconds,
            latest_expires_at: extension.latest_expires_at.map(rfc3339),
        }
    }
}

/// Report about one source of course material.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SourceReportResponse {
    /// Directory of the source's files.
    #[schema(example = "statistics-101")]
    target: String,
    outcome: MaterialOutcomeName,
    /// Commit id of the repository, or SHA-256 of the archive.
    version: Option<String>,
    /// Files that both the teacher and the user changed, at most 10. The user's files are unchanged.
    #[schema(example = json!(["week1/exercise.ipynb"]))]
    conflicts: Vec<String>,
    /// Number of all files that both changed.
    #[schema(example = 1)]
    conflict_count: u32,
    /// English remark or reason of the failure.
    message: Option<String>,
}

impl From<&SourceReport> for SourceReportResponse {
    fn from(report: &SourceReport) -> Self {
        let SourceReport { target, outcome, version, conflicts, conflict_count, message } = report.clone();
        Self { target, outcome: outcome.into(), version, conflicts, conflict_count, message }
    }
}
