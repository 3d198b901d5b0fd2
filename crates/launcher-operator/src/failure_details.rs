//! Collects details of a failure: the last lines of a container's log, or the last warning about a pod. The operator
//! reports the failure even if it finds no details.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Event, Pod};
use kube::ResourceExt;
use kube::api::{ListParams, LogParams};
use launcher_domain::{FailureCode, FailureDetail, FailureReason, FailureRemedy, ListensElsewhere, Report};
use launcher_workshop::Workshop;
use launcher_workshop::lifecycle::{Action, App, Workload};
use tokio::time::timeout;

use crate::build::{PROXY_SECRET_KEY, SIDECAR_CONTAINER, snapshot_port};
use crate::context::Context;
use crate::diagnose::{DetailSource, Diagnosis, Failure, sentence};

/// Timeout for collecting details. An unreachable node must not delay the report of the failure for longer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum lines of a log tail.
const LINES: i64 = 20;
/// Maximum bytes of a log tail, because the log tail is part of the Workshop's status.
const BYTES: i64 = 8 * 1024;

/// Adds details to an observation: to the failure that was decided on its basis, or to a long start. Returns `None` if there
/// is nothing to add.
pub(crate) async fn explain(
    context: &Context,
    workshop: &Workshop,
    observed: &Diagnosis,
    action: Action<DetailSource>,
) -> Option<Workload<DetailSource>> {
    let Diagnosis { workload, stuck_pod, silent_pod, .. } = observed;
    if let Action::Explain(failure) = action {
        return Some(Workload { app: App::Failed(collect(context, workshop, failure).await), ..workload.clone() });
    }
    if !matches!(action, Action::WaitUntil(_) | Action::SaveUntil(_)) {
        return None;
    }
    if let Some(pod) = stuck_pod
        && let Some(failure) = missing_secret(context, &workshop.name_any(), pod).await
    {
        return Some(Workload { app: App::Failed(failure), ..workload.clone() });
    }
    let elsewhere = listens_elsewhere(context, workshop, silent_pod.as_ref()?);
    let elsewhere = timeout(PATIENCE, elsewhere).await.unwrap_or_default()?;
    let report = Report { listens_elsewhere: Some(elsewhere), ..workload.report.clone() };
    Some(Workload { report, ..workload.clone() })
}

/// Returns the addresses on which the app of this pod listens instead of its port. The sidecar logs them, because it shares
/// the network namespace of the app.
async fn listens_elsewhere(context: &Context, workshop: &Workshop, pod: &str) -> Option<ListensElsewhere> {
    let log = read_log(context, pod, SIDECAR_CONTAINER, false).await?;
    // The snapshot container listens, too.
    ListensElsewhere::in_log(&log)?.without_port(snapshot_port(workshop.spec.port))
}

/// Collects details of a failure within the timeout: a log tail, or a warning for its message. The result is complete.
async fn collect(context: &Context, workshop: &Workshop, failure: Failure) -> Failure {
    let found = timeout(PATIENCE, query(context, workshop, failure.clone())).await.unwrap_or_else(|_| {
        tracing::debug!(
            workshop = workshop.name_any(),
            reason = failure.reason.code.as_str(),
            "collecting failure details timed out, reporting the failure without them"
        );
        failure
    });
    Failure { details: None, ..found }
}

async fn query(context: &Context, workshop: &Workshop, mut failure: Failure) -> Failure {
    match &failure.details {
        None => {}
        Some(DetailSource::Log { pod, container, has_ended }) => {
            if failure.reason.code == FailureCode::StartTimeout {
                let elsewhere = listens_elsewhere(context, workshop, pod).await;
                failure.reason = failure.reason.with_listening(elsewhere.as_ref());
            }
            failure.log_tail = log_tail(context, pod, container, [!has_ended, *has_ended, !has_ended]).await;
        }
        Some(DetailSource::Events { pod }) => {
            if let Some(warning) = last_warning(context, pod).await {
                failure.reason = failure.reason.with_detail(&warning.into());
            }
        }
    }
    failure
}

/// Returns the first log tail of these runs of the container: of the previous run if `true`, of the current one if
/// `false`. Each caller names its preferred run twice: during a restart, a log may appear only after the first request,
/// or become that of the other run.
async fn log_tail(context: &Context, pod: &str, container: &str, runs: [bool; 3]) -> Option<String> {
    for previous in runs {
        if let Some(text) = read_log(context, pod, container, previous).await {
            return Some(text);
        }
    }
    None
}

/// Returns the end of the log of a container's previous or current run; `None` if it is empty or unreadable.
async fn read_log(context: &Context, pod: &str, container: &str, previous: bool) -> Option<String> {
    let params = LogParams {
        container: Some(container.to_owned()),
        previous,
        tail_lines: Some(LINES),
        limit_bytes: Some(BYTES),
        ..LogParams::default()
    };
    match context.api::<Pod>().logs(pod, &params).await {
        Ok(text) if is_log(&text) => return Some(text),
        Ok(text) => tracing::debug!(pod, container, previous, text, "container log is empty or unreadable"),
        Err(error) => tracing::debug!(pod, container, previous, %error, "reading container log failed"),
    }
    None
}

/// True if the container wrote this text. If the kubelet has just removed a log, the request succeeds, but the response
/// is an error text from the kubelet.
fn is_log(text: &str) -> bool {
    const COMPLAINTS: [&str; 2] =
        ["unable to retrieve container logs for ", "failed to try resolving symlinks in path "];
    let text = text.trim();
    let complaint = !text.contains('\n') && COMPLAINTS.iter().any(|complaint| text.starts_with(complaint));
    !text.is_empty() && !complaint
}

/// Returns a failure if the pod cannot start because the Secret with the proxy secret is missing or lacks the key.
async fn missing_secret(context: &Context, workshop: &str, pod: &str) -> Option<Failure> {
    let name = context.settings.proxy_secret_name.as_deref()?;
    let warnings = timeout(PATIENCE, warnings(context, pod)).await.ok()??;
    let failed_mounts = warnings.into_iter().filter(|event| event.reason.as_deref() == Some("FailedMount"));
    let mut messages = failed_mounts.filter_map(|event| event.message);
    let warning = messages.find(|message| is_about_secret(message, name))?;
    let namespace = &context.settings.namespace;
    tracing::warn!(workshop, pod, secret = name, namespace, warning, "proxy secret missing: create the Secret");
    let detail = FailureDetail::SecretMissing {
        secret: name.to_owned(),
        key: PROXY_SECRET_KEY.to_owned(),
        namespace: namespace.clone(),
        warning: sentence(&warning),
    };
    let reason = FailureReason::new(FailureCode::StartTimeout, Some(detail)).with_remedy(&FailureRemedy::CreateSecret);
    Some(reason.into())
}

/// True if this kubelet message reports that the proxy secret or its key is missing. A pod template may mount other
/// Secrets.
fn is_about_secret(message: &str, name: &str) -> bool {
    let is_missing = [&*format!("secret \"{name}\" not found"), "non-existent secret key"];
    message.contains("volume \"proxy-secret\"") && is_missing.iter().any(|text| message.contains(text))
}

async fn last_warning(context: &Context, pod: &str) -> Option<String> {
    let last = warnings(context, pod).await?.into_iter().max_by_key(|event| {
        let seen = event.last_timestamp.as_ref().map(|time| time.0);
        seen.or_else(|| event.event_time.as_ref().map(|time| time.0))
    })?;
    last.message.map(|message| message.chars().take(300).collect())
}

async fn warnings(context: &Context, pod: &str) -> Option<Vec<Event>> {
    let about = ListParams::default()
        .fields(&format!("involvedObject.kind=Pod,involvedObject.name={pod},type=Warning"))
        .limit(100);
    let list = context
        .api::<Event>()
        .list(&about)
        .await
        .inspect_err(|error| tracing::debug!(pod, %error, "listing pod events failed"))
        .ok()?;
    Some(list.items)
}

#[cfg(test)]
mod tests {
    use super::is_log;

    #[test]
    fn kubelet_error_text_is_not_taken_for_a_log() {
        assert!(is_log("took 8 MiB\n"));
        assert!(is_log("took 8 MiB\nunable to retrieve container logs for a museum\n"));
        assert!(!is_log(" \n"));
        assert!(!is_log("unable to retrieve container logs for containerd://793cd9"));
        assert!(!is_log(
            "failed to try resolving symlinks in path \"/var/log/pods/x/app/1.log\": lstat x: no such file\n"
        ));
    }
}
