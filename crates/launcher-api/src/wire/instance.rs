//! An instance as sent.

use launcher_domain::lifetime::{Extension, extension};
use launcher_domain::{EmailAddress, FailureReason};
use launcher_service::{Launcher, ListedInstance};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::named::{EndReasonName, FailureCodeName, StartStepName, StateName};
use super::rfc3339;

/// A launched workshop. Times are RFC 3339 in UTC with milliseconds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkshopInstanceResponse {
    /// The name in paths, and of the workload.
    #[schema(example = "statistics-101-a7k3m9qz2x")]
    k8s_name: String,
    /// Who launched it.
    #[schema(value_type = String, example = "alice@example.org")]
    owner_email: EmailAddress,
    /// The template that it was launched from.
    template_id: Uuid,
    /// The template's name at the launch.
    #[schema(example = "Statistics 101")]
    template_name: String,
    #[schema(value_type = StateName)]
    state: &'static str,
    /// What it waits for while it starts; null when it does not, or when that is not known yet.
    #[schema(required, value_type = Option<StartStepName>)]
    start_step: Option<&'static str>,
    /// Why it failed; null unless it did.
    #[schema(required)]
    reason: Option<ReasonResponse>,
    /// The last lines of a crashed app's output.
    #[schema(required)]
    log_tail: Option<String>,
    /// Where its owner works in it; null until it runs.
    #[schema(required, example = "https://statistics-101-a7k3m9qz2x.workshops.example.net/")]
    url: Option<String>,
    /// 1 when it starts next; null unless it is queued.
    #[schema(required, minimum = 1)]
    queue_position: Option<u32>,
    /// When it was launched.
    #[schema(format = DateTime, example = "2026-03-02T08:00:00.000Z")]
    created_at: String,
    /// When it was first ready; its lifetime counts from here.
    #[schema(required, format = DateTime, example = "2026-03-02T08:00:12.345Z")]
    started_at: Option<String>,
    /// When its time is up; null before it was ready.
    #[schema(required, format = DateTime, example = "2026-03-02T10:00:12.345Z")]
    expires_at: Option<String>,
    /// When nothing of it ran any more.
    #[schema(required, format = DateTime)]
    ended_at: Option<String>,
    #[schema(required, value_type = Option<EndReasonName>)]
    end_reason: Option<&'static str>,
    extension: ExtensionResponse,
}

/// A failure, explained to the person who waits.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReasonResponse {
    #[schema(value_type = FailureCodeName)]
    code: &'static str,
    /// What happened, in one sentence.
    message: String,
    /// What to do about it.
    remedy: String,
    /// Whether the same launch may well succeed a moment later.
    retryable: bool,
}

/// What extending would do right now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExtensionResponse {
    /// Whether it can be extended.
    allowed: bool,
    /// Why not: the code of the problem that extending would give.
    #[schema(required, example = "lifetime-limit-reached")]
    denied_reason: Option<&'static str>,
    /// What one extension adds at most, in seconds.
    #[schema(example = 3600)]
    extend_by_seconds: u32,
    /// The end that no extension passes; null before it was ready.
    #[schema(required, format = DateTime)]
    latest_expires_at: Option<String>,
}

impl WorkshopInstanceResponse {
    /// Converts an instance. The launcher's current time decides about the extension.
    pub(crate) fn new(launcher: &Launcher, listed: &ListedInstance) -> Self {
        let ListedInstance { instance, queue_position } = listed;
        Self {
            k8s_name: instance.k8s_name.clone(),
            owner_email: instance.owner_email.clone(),
            template_id: instance.template_id,
            template_name: instance.settings.name.clone(),
            state: instance.state.as_str(),
            start_step: instance.start_step.map(|step| step.as_str()),
            reason: instance.reason.as_ref().map(ReasonResponse::from),
            log_tail: instance.log_tail.clone(),
            url: instance.url.clone(),
            queue_position: *queue_position,
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
        let FailureReason { code, message, remedy, retryable } = reason;
        Self { code: code.as_str(), message: message.clone(), remedy: remedy.clone(), retryable: *retryable }
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
