//! Diagnosis: derives the state of a workload from its pods. Pure.

mod container;
mod crashes;
mod failure;
mod pod;

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use launcher_domain::listening::LISTEN_GRACE;
use launcher_domain::{Report, StartStep};
use launcher_workshop::Workshop;
use launcher_workshop::lifecycle::{App, Routes, Start, StartTimeout, Workload, was_ready};

use crate::settings::OperatorSettings;
use container::material_report;
pub(crate) use container::{app, init};
pub use crashes::UnrecordedCrash;
use crashes::app_crashes;
pub(crate) use crashes::crashes_before_readiness;
pub use failure::{DetailSource, Failure};
pub(crate) use failure::{add, sentence};
use pod::{Disruption, archive_address, find_disruption, is_ending, restore_address, wait_deadline};
pub(crate) use pod::{condition, ends_workshop, has_ended, is_disrupted, moved};

/// Interval of searches for a warning about a missing Secret, and for the listening sockets of an app. The kubelet may write
/// the warning after the first search.
const SEARCH_INTERVAL: Duration = Duration::from_secs(30);

/// What the operator knows about the workload of a Workshop.
#[derive(Debug, Clone)]
pub struct Look<'a> {
    pub workshop: &'a Workshop,
    /// The pods of the workload, in any order.
    pub pods: &'a [Pod],
    /// A disrupted pod that is gone. It explains the disruption, and nothing else.
    pub gone: Option<Pod>,
    /// Creation of the workload; `None` while it is being created.
    pub created: Option<Timestamp>,
    /// Time at which the operator first saw the Workshop.
    pub seen: Timestamp,
    /// Time at which the operator first saw the current failure of an image pull; `None` if no pull fails now.
    pub pull_fails_since: Option<Timestamp>,
    /// The Ingress, or why there is none.
    pub routes: Routes,
}

/// An observed workload, and what is still to be done for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The observation, without URLs.
    pub workload: Workload<DetailSource>,
    /// Name of the pod, if it has waited so long for its volumes that the Secret of a volume may be missing.
    pub stuck_pod: Option<String>,
    /// Name of the pod, if its app has run for [`LISTEN_GRACE`] without an answer: it may listen on another port.
    pub silent_pod: Option<String>,
    /// Annotation with the latest crash, which the pod does not have yet.
    pub unrecorded: Option<UnrecordedCrash>,
}

/// True if an image pull of one of these pods is failing. Pods that are being deleted do not count.
pub(crate) fn pull_fails(pods: &[Pod]) -> bool {
    let mut live = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    live.any(|pod| pod::failed_pull(pod).is_some())
}

#[must_use]
pub fn diagnose(look: Look<'_>, settings: &OperatorSettings, now: Timestamp) -> Diagnosis {
    let Look { workshop, pods, gone, created, seen, pull_fails_since, routes } = look;
    let keeps_files = workshop.spec.storage.is_some();
    let disruption = pods.iter().chain(&gone).find_map(find_disruption);
    // A terminating or disrupted pod can explain why it was removed, but not the state of its replacement.
    let is_live =
        |pod: &&Pod| pod.metadata.deletion_timestamp.is_none() && !(is_ending(pod) && find_disruption(pod).is_some());
    let live: Vec<&Pod> = pods.iter().filter(is_live).collect();
    let crashes = app_crashes(workshop, pods);
    let failure = || live.iter().find_map(|pod| container::find_permanent_failure(pod, crashes.is_some()));
    // The owner reaches a new app only through its routes.
    let is_reachable = !matches!(routes, Routes::Refused(_)) || was_ready(workshop);
    let (mut stuck_pod, mut silent_pod) = (None, None);
    let app = match &disruption {
        Some(Disruption { failure, has_successor, .. }) if !(keeps_files && *has_successor) => {
            App::Failed(failure.clone())
        }
        disruption => match failure() {
            Some(failure) => App::Failed(failure),
            None if is_reachable && live.iter().any(|pod| pod::is_ready(pod)) => App::Ready,
            None => {
                let name = || live.first()?.metadata.name.clone();
                let [mounts_until, silent_from] = searches(&live, settings);
                stuck_pod = mounts_until.filter(|at| *at <= now).and_then(|_| name());
                silent_pod = silent_from.filter(|at| *at <= now).and_then(|_| name());
                let failure = match disruption {
                    Some(disruption) => disruption.failure.clone(),
                    None => pod::start_timeout(&live),
                };
                let (grace, pull_fails_since) = (settings.room_grace, pull_fails_since.unwrap_or(now));
                let search = |from: Timestamp| if from > now { from } else { add(now, SEARCH_INTERVAL) };
                App::Starting(Start {
                    // Without a pod, the workload is new, or its former pod is still there.
                    step: live.first().map_or(StartStep::Preparing, |pod| pod::step(pod)),
                    seen: Some(seen),
                    timeout: Some(StartTimeout { limit: settings.start_timeout, created, failure }),
                    deadlines: live.iter().filter_map(|pod| wait_deadline(pod, grace, pull_fails_since)).collect(),
                    look_again: mounts_until.into_iter().chain(silent_from).map(search).min(),
                })
            }
        },
    };
    let (crash, unrecorded) = crashes.unwrap_or_default();
    let workload = Workload {
        app,
        crash,
        moved: moved(pods.iter().chain(&gone)).filter(|_| keeps_files),
        // A pod that replaces another one has no report yet: the status keeps the former one.
        report: Report { material: material_report(workshop, pods, settings), ..Report::default() },
        routes,
        archive_address: archive_address(&workshop.spec, pods),
        restore_address: restore_address(&workshop.spec, pods),
        is_outdated: false,
    };
    Diagnosis { workload, stuck_pod, silent_pod, unrecorded }
}

/// Returns the times from which the operator searches for a missing Secret, and for the listening sockets of the app.
fn searches(live: &[&Pod], settings: &OperatorSettings) -> [Option<Timestamp>; 2] {
    let Some(pod) = live.first() else { return [None, None] };
    let mounts = settings.proxy_secret_name.as_ref().and_then(|_| pod::unprepared(pod));
    [
        mounts.map(|since| add(since, settings.room_grace)),
        pod::app_runs_since(pod).map(|since| add(since, LISTEN_GRACE)),
    ]
}
