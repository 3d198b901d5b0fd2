//! Checks of the fleet on Kubernetes, with the launcher's own rights.

use jiff::Timestamp;
use launcher_fleet::doctor::{Definition, KubernetesExamination, Leader, PendingWorkshops};

use super::clock::{Reading, now};
use super::fleet::Facts;
use super::report::Finding;
use super::{QUERY_TIMEOUT, Section, within};
use crate::cluster;
use crate::settings::ServeSettings;

/// Default name of the operator's Lease.
const LEASE: &str = "workshop-operator";
/// Maximum number of names in one finding.
const NAMES: usize = 3;

pub(super) async fn check(settings: &ServeSettings) -> Section<Facts> {
    let mut section = Section::default();
    let (client, namespace) = match within(QUERY_TIMEOUT, cluster::connect()).await {
        Ok(found) => found,
        Err(problem) => {
            section.add([Finding::fail("API server", problem)]);
            return section;
        }
    };
    let namespace = settings.namespace.clone().unwrap_or(namespace);
    let examination = KubernetesExamination::new(client, &namespace);
    let asked = now();
    match within(QUERY_TIMEOUT, examination.api_server()).await {
        Ok(server) => {
            section.add([Finding::ok("API server", format!("Kubernetes {}", server.version))]);
            section.facts.clock = server.clock.map(|theirs| Reading::of("the API server's", theirs, asked));
        }
        Err(problem) => {
            let remedy = "Look at KUBECONFIG or the pod's service account, and at the network between here and there";
            section.add([Finding::fail("API server", format!("{problem}. {remedy}"))]);
            return section;
        }
    }
    let ((found, identity), definition, rights, (operator, waiting)) = tokio::join!(
        check_namespace(&examination, &namespace),
        definition(&examination),
        rights(&examination, &namespace),
        operator(&examination, &namespace, now()),
    );
    section.add([found, definition, rights].into_iter().chain(operator));
    section.facts.identity = identity;
    section.facts.workshops = waiting.as_ref().map(|waiting| waiting.workshops);
    section.facts.url = waiting.and_then(|waiting| waiting.url);
    section
}

async fn check_namespace(examination: &KubernetesExamination, namespace: &str) -> (Finding, Option<String>) {
    const CHECK: &str = "namespace";
    match within(QUERY_TIMEOUT, examination.identity()).await {
        Ok(Some(identity)) => (Finding::ok(CHECK, namespace), Some(identity)),
        Ok(None) => {
            let words = format!("there is no namespace {namespace}. Correct SERVICE_NAMESPACE, or make it");
            (Finding::fail(CHECK, words), None)
        }
        Err(problem) => {
            let words = format!("{problem}. Is there a namespace {namespace} at all (SERVICE_NAMESPACE)?");
            (Finding::fail(CHECK, words), None)
        }
    }
}

async fn definition(examination: &KubernetesExamination) -> Finding {
    const CHECK: &str = "definition";
    const REMEDY: &str =
        "Apply this version's crds/workshops.yaml: kubectl apply --server-side -f, or crds.install of the chart";
    match within(QUERY_TIMEOUT, examination.definition()).await {
        Ok(Definition::Same) => Finding::ok(CHECK, "the cluster knows Workshops as this program does"),
        Ok(Definition::Missing(version)) => {
            Finding::fail(CHECK, format!("the cluster knows no Workshops of {version}. {REMEDY}"))
        }
        Ok(Definition::Different(fields)) => Finding::fail(
            CHECK,
            format!("the cluster's Workshops are those of another version: {} differ. {REMEDY}", some(&fields)),
        ),
        Err(problem) => Finding::warn(CHECK, format!("it cannot be compared: {problem}")),
    }
}

async fn rights(examination: &KubernetesExamination, namespace: &str) -> Finding {
    const CHECK: &str = "rights";
    match within(QUERY_TIMEOUT, examination.missing_rights()).await {
        Ok(missing) if missing.is_empty() => Finding::ok(CHECK, "the launcher may do all that it needs"),
        Ok(missing) => Finding::fail(
            CHECK,
            format!(
                "the launcher may not, in the namespace {namespace}: {}. Apply deploy/rbac.yaml there, or helm upgrade with \
                 the same values",
                missing.join(", ")
            ),
        ),
        Err(problem) => Finding::warn(CHECK, format!("the API server does not say what the launcher may: {problem}")),
    }
}

/// Checks the operator by the Workshops that wait for it, and by its Lease if the launcher may read it.
async fn operator(
    examination: &KubernetesExamination,
    namespace: &str,
    now: Timestamp,
) -> (Vec<Finding>, Option<PendingWorkshops>) {
    const CHECK: &str = "operator";
    let (waiting, leader) = tokio::join!(
        within(QUERY_TIMEOUT, examination.pending_workshops(now)),
        within(QUERY_TIMEOUT, examination.leader(LEASE, now)),
    );
    let waiting = match waiting {
        Ok(waiting) => waiting,
        Err(problem) => {
            return (vec![Finding::warn(CHECK, format!("the Workshops cannot be listed: {problem}"))], None);
        }
    };
    let command = format!("kubectl --namespace {namespace} get lease {LEASE} --output yaml");
    let finding = match (late(&waiting), leader) {
        (Some(late), _) => Finding::fail(
            CHECK,
            format!("{late}: no operator works in {namespace}. Look at its pods and log, and who leads: {command}"),
        ),
        (None, Ok(Leader::Absent(Some(since)))) => Finding::fail(
            CHECK,
            format!("no operator leads in {namespace}, not since {since}. Look at its pods and log: {command}"),
        ),
        (None, Ok(Leader::Absent(None))) => Finding::warn(
            CHECK,
            format!(
                "no operator has ever led in {namespace} by the Lease {LEASE}: does one run, or does it have another Lease?"
            ),
        ),
        (None, Ok(Leader::Active(holder))) => {
            Finding::ok(CHECK, format!("{holder} leads, and no Workshop waits for it"))
        }
        (None, Ok(Leader::Forbidden) | Err(_)) => {
            Finding::ok(CHECK, format!("no Workshop waits for it. Who leads is not for the launcher to see: {command}"))
        }
    };
    let unreadable = (!waiting.unreadable.is_empty()).then(|| {
        let words = format!("these Workshops cannot be read: {}. They are left alone", some(&waiting.unreadable));
        Finding::warn(CHECK, words)
    });
    ([finding].into_iter().chain(unreadable).collect(), Some(waiting))
}

fn late(waiting: &PendingWorkshops) -> Option<String> {
    let unseen = "Workshops have been without a status for over a minute";
    let overdue = "Workshops should have ended over a minute ago";
    let late = [(&waiting.without_status, unseen), (&waiting.overdue, overdue)]
        .into_iter()
        .find(|(names, _)| !names.is_empty());
    late.map(|(names, what)| format!("{} {what} ({})", names.len(), some(names)))
}

fn some(names: &[String]) -> String {
    let shown = names.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
