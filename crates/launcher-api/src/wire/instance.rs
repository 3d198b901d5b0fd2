//! An instance as the API sends it.

use std::collections::BTreeMap;

use launcher_domain::lifetime::{Extension, extension};
use launcher_domain::{Crash, EmailAddress, FailureReason};
use launcher_service::{Launcher, ListedInstance};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::material::SourceReportResponse;
use super::named::{EndReasonName, FailureCodeName, StartStepName, StateName};
use super::snapshot::InstanceSnapshotResponse;
use super::time::rfc3339;

/// A launched workshop. Times are RFC 3339 in UTC with milliseconds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkshopInstanceResponse {
    /// Name in paths, and name of the workload.
    #[schema(example = "statistics-101-a7k3m9qz2x")]
    k8s_name: String,
    /// Person who launched the instance.
    #[schema(value_type = String, example = "alice@example.org")]
    owner_email: EmailAddress,
    /// Template from which the instance was launched.
    template_id: Uuid,
    /// The template's name at the launch.
    #[schema(example = "Statistics 101")]
    template_name: String,
    #[schema(value_type = StateName)]
    state: &'static str,
    /// Step that a starting instance waits for; null in other states, or if unknown.
    #[schema(required, value_type = Option<StartStepName>)]
    start_step: Option<&'static str>,
    /// Progress of the start step; null if the fleet reports none. At `waiting-for-room`: the position in the queue for
    /// room on the server, from 1. At `pulling-image`: the downloaded part of the image in percent;
    /// 100 while the server unpacks the image.
    #[schema(required)]
    start_progress: Option<u32>,
    /// Reason of the failure; null if the instance has not failed.
    #[schema(required)]
    reason: Option<ReasonResponse>,
    /// The last lines of a crashed app's output.
    #[schema(required)]
    log_tail: Option<String>,
    /// Last crash after which the app was started again; null if none. The instance stayed running.
    #[schema(required)]
    last_crash: Option<CrashResponse>,
    /// Course material: one report for each source. Empty before the fleet has tried to place it, and without material.
    material: Vec<SourceReportResponse>,
    /// URL of the workshop, only for its owner; null before the workshop runs.
    #[schema(required, example = "https://statistics-101-a7k3m9qz2x.workshops.example.net/")]
    url: Option<String>,
    /// True if the instance runs with an older version of sidecar or settings than a new instance would get. An admin
    /// can restart it.
    outdated: bool,
    /// Name of the volume with the owner's kept files; null if the files end with the workshop.
    #[schema(required, example = "work-a7k3m9qz2x")]
    volume: Option<String>,
    /// Snapshot of the files at the end; null if the end saves no files.
    #[schema(required)]
    snapshot: Option<InstanceSnapshotResponse>,
    /// Values of the launch parameters by name. null: a secret value, which is never shown.
    #[schema(example = json!({ "DATASET": "iris", "TOKEN": null }))]
    parameters: BTreeMap<String, Option<String>>,
    /// Queue position; 1 starts next. Null if the instance is not queued.
    #[schema(required, minimum = 1)]
    queue_position: Option<u32>,
    /// Time when the instance was suspended. Null unless the instance is suspending or suspended, or ended in one of
    /// these states.
    #[schema(required, format = DateTime)]
    suspended_at: Option<String>,
    /// Time of the launch.
    #[schema(format = DateTime, example = "2026-03-02T08:00:00.000Z")]
    created_at: String,
    /// Time when the instance was first ready. Its lifetime starts at this time. A resumed instance has a new time and a new
    /// lifetime.
    #[schema(required, format = DateTime, example = "2026-03-02T08:00:12.345Z")]
    started_at: Option<String>,
    /// Expiry; null before the instance was ready, and while it is suspended.
    #[schema(required, format = DateTime, example = "2026-03-02T10:00:12.345Z")]
    expires_at: Option<String>,
    /// Time when the workload had stopped completely.
    #[schema(required, format = DateTime)]
    ended_at: Option<String>,
    #[schema(required, value_type = Option<EndReasonName>)]
    end_reason: Option<&'static str>,
    extension: ExtensionResponse,
}

/// A failure, in words for the owner.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReasonResponse {
    #[schema(value_type = FailureCodeName)]
    code: &'static str,
    /// Description of the failure, in one sentence.
    message: String,
    /// Remedy for the owner. It says if files are lost.
    remedy: String,
    /// True if the same launch may succeed a moment later.
    retryable: bool,
}

/// A crash of the app, after which the app was started again.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CrashResponse {
    /// Time of the crash.
    #[schema(format = DateTime, example = "2026-03-02T08:30:00.000Z")]
    at: String,
    #[schema(value_type = FailureCodeName)]
    code: &'static str,
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
    #[schema(required, example = "lifetime-limit-reached")]
    denied_reason: Option<&'static str>,
    /// Maximum that one extension adds, in seconds.
    #[schema(example = 3600)]
    extend_by_seconds: u32,
    /// Latest possible expiry; null before the instance was ready.
    #[schema(required, format = DateTime)]
    latest_expires_at: Option<String>,
}

impl WorkshopInstanceResponse {
    /// Converts an instance. The field `extension` depends on the launcher's current time.
    pub(crate) fn new(launcher: &Launcher, listed: &ListedInstance) -> Self {
        let ListedInstance { instance, queue_position } = listed;
        Self {
            k8s_name: instance.k8s_name.clone(),
            owner_email: instance.owner_email.clone(),
            template_id: instance.template_id,
            template_name: instance.settings.name.clone(),
            state: instance.state.as_str(),
            start_step: instance.start_step.map(|step| step.as_str()),
            start_progress: instance.start_progress,
            reason: instance.failure().as_ref().map(ReasonResponse::from),
            log_tail: instance.log_tail.clone(),
            last_crash: instance.last_crash.as_ref().map(CrashResponse::from),
            material: instance
                .material
                .iter()
                .flat_map(|report| &report.sources)
                .map(SourceReportResponse::from)
                .collect(),
            url: instance.url.clone(),
            outdated: instance.outdated,
            queue_position: *queue_position,
            volume: instance.volume.clone(),
            snapshot: instance.snapshot.as_ref().map(InstanceSnapshotResponse::from),
            parameters: instance.parameters.clone(),
            suspended_at: instance.suspended_at.map(rfc3339),
            created_at: rfc3339(instance.created_at),
            started_at: instance.started_at.map(rfc3339),
            expires_at: instance.expires_at.map(rfc3339),
            ended_at: instance.ended_at.map(rfc3339),
            end_reason: instance.end_reason.map(|reason| reason.as_str()),
            extension: ExtensionResponse::new(&extension(instance, launcher.clock().now())),
        }
    }
}

impl From<&FailureReason> for ReasonResponse {
    fn from(reason: &FailureReason) -> Self {
        let FailureReason { code, message, remedy, retryable, message_codes: _, remedy_code: _ } = reason;
        Self { code: code.as_str(), message: message.clone(), remedy: remedy.clone(), retryable: *retryable }
    }
}

impl From<&Crash> for CrashResponse {
    fn from(Crash { at, code, files_lost }: &Crash) -> Self {
        Self { at: rfc3339(*at), code: code.as_str(), message: code.message(), files_lost: *files_lost }
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
