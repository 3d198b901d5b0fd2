//! Collects details of a failure: the last lines of a log, the last warning about a pod. Best effort: without details
//! the failure is reported anyway.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Event, Pod};
use kube::Api;
use kube::api::{ListParams, LogParams};
use launcher_domain::{FailureCode, FailureReason};
use tokio::time::timeout;

use crate::build::PROXY_SECRET_KEY;
use crate::context::Context;
use crate::diagnose::{Evidence, Failure, sentence};

/// Timeout for collecting details: an unreachable node must not delay the report of the failure for longer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum lines of a log tail.
const LINES: i64 = 20;
/// Maximum bytes of a log tail, because a status has to stay small.
const BYTES: i64 = 8 * 1024;

/// Adds the details that were found within the timeout to the failure, and returns the log tail.
pub(crate) async fn gather(context: &Context, failure: Failure) -> (Failure, Option<String>) {
    match timeout(PATIENCE, find_out(context, failure.clone())).await {
        Ok(found) => found,
        Err(_) => {
            tracing::debug!(reason = failure.reason.code.as_str(), "collecting failure details timed out");
            (failure, None)
        }
    }
}

async fn find_out(context: &Context, mut failure: Failure) -> (Failure, Option<String>) {
    match &failure.evidence {
        Evidence::None => (failure, None),
        Evidence::Log { pod, container } => {
            let tail = log_tail(context, pod, container).await;
            (failure, tail)
        }
        Evidence::Events { pod } => {
            if let Some(warning) = last_warning(context, pod).await {
                failure.reason.message = format!("{} {warning}", failure.reason.message);
            }
            (failure, None)
        }
    }
}

/// Returns the log tail of the container's previous run, or else of the current one. During a restart the previous log
/// may appear only at the second try.
async fn log_tail(context: &Context, pod: &str, container: &str) -> Option<String> {
    let pods: Api<Pod> = Api::namespaced(context.client.clone(), &context.settings.namespace);
    for previous in [true, false, true] {
        let params = LogParams {
            container: Some(container.to_owned()),
            previous,
            tail_lines: Some(LINES),
            limit_bytes: Some(BYTES),
            ..LogParams::default()
        };
        match pods.logs(pod, &params).await {
            Ok(text) if is_log(&text) => return Some(text),
            Ok(text) => tracing::debug!(pod, container, previous, text, "container log unavailable"),
            Err(error) => tracing::debug!(pod, container, previous, %error, "container log unavailable"),
        }
    }
    None
}

/// True if the container wrote this text. If a log has just been removed, the request succeeds with an error text of
/// the node.
fn is_log(text: &str) -> bool {
    const COMPLAINTS: [&str; 2] =
        ["unable to retrieve container logs for ", "failed to try resolving symlinks in path "];
    let text = text.trim();
    let complaint = !text.contains('\n') && COMPLAINTS.iter().any(|complaint| text.starts_with(complaint));
    !text.is_empty() && !complaint
}

/// Returns the failure if the pod cannot start because the Secret with the proxy secret, or its key, is missing.
pub(crate) async fn missing_secret(context: &Context, pod: &str) -> Option<Failure> {
    let name = context.settings.sidecar.proxy_secret.as_deref()?;
    let warnings = timeout(PATIENCE, warnings(context, pod)).await.ok()??;
    let said = warnings.into_iter().filter(|event| event.reason.as_deref() == Some("FailedMount"));
    let said = said.filter_map(|event| event.message).find(|message| is_about_secret(message, name))?;
    let namespace = &context.settings.namespace;
    tracing::warn!(pod, secret = name, namespace, said, "proxy secret missing: create the Secret");
    let detail = format!(
        "Its pod waits for the Secret {name} with the key {PROXY_SECRET_KEY} in the namespace {namespace}: {}",
        sentence(&said)
    );
    let reason = FailureReason::new(FailureCode::StartTimeout, Some(&detail))
        .with_remedy("Tell an administrator: this Secret has to be created. Then launch it again.");
    Some(Failure { reason, evidence: Evidence::None })
}

/// True if the kubelet's message is about a missing Secret or key.
fn is_about_secret(message: &str, name: &str) -> bool {
    message.contains(&format!("secret \"{name}\" not found")) || message.contains("non-existent secret key")
}

async fn last_warning(context: &Context, pod: &str) -> Option<String> {
    let last = warnings(context, pod).await?.into_iter().max_by_key(|event| {
        let seen = event.last_timestamp.as_ref().map(|time| time.0);
        seen.or_else(|| event.event_time.as_ref().map(|time| time.0))
    })?;
    last.message.map(|message| message.chars().take(300).collect())
}

async fn warnings(context: &Context, pod: &str) -> Option<Vec<Event>> {
    let events: Api<Event> = Api::namespaced(context.client.clone(), &context.settings.namespace);
    let about = ListParams::default()
        .fields(&format!("involvedObject.kind=Pod,involvedObject.name={pod},type=Warning"))
        .limit(100);
    let list = events
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
    fn error_text_of_node_is_not_a_log() {
        assert!(is_log("took 8 MiB\n"));
        assert!(is_log("took 8 MiB\nunable to retrieve container logs for a museum\n"));
        assert!(!is_log(" \n"));
        assert!(!is_log("unable to retrieve container logs for containerd://793cd9"));
        assert!(!is_log(
            "failed to try resolving symlinks in path \"/var/log/pods/x/app/1.log\": lstat x: no such file\n"
        ));
    }
}
