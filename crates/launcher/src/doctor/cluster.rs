//! Checks of the fleet on Kubernetes, with the launcher's own permissions.

use jiff::Timestamp;
use launcher_fleet::doctor::{Definition, KubernetesExamination, Leader, MemoryKill, PendingWorkshops};

use crate::cluster;
use crate::doctor::clock::{Reading, now};
use crate::doctor::report::{Finding, FleetFacts, QUERY_TIMEOUT, Section, fail, ok, warning, within};
use crate::settings::ServeSettings;

/// Default name of the Lease that the leading operator holds.
const LEASE: &str = "workshop-operator";
/// Maximum number of names that one finding lists.
const NAMES: usize = 3;

pub(super) async fn check(settings: &ServeSettings) -> Section<FleetFacts> {
    let (client, namespace) = match within(QUERY_TIMEOUT, cluster::connect()).await {
        Ok(found) => found,
        Err(problem) => return Finding::fail("API server", problem).into(),
    };
    let namespace = settings.namespace.clone().unwrap_or(namespace);
    let examination = KubernetesExamination::new(client.clone(), &namespace);
    let asked = now();
    let server = match within(QUERY_TIMEOUT, examination.api_server()).await {
        Ok(server) => server,
        Err(problem) => {
            let remedy = "Check KUBECONFIG or the pod's service account, and the network to the API server";
            return fail!("API server", "{problem}. {remedy}").into();
        }
    };
    let mut section = Section::<FleetFacts>::from(ok!("API server", "Kubernetes {}", server.version));
    section.facts.clock = server.clock.map(|theirs| Reading::of("the API server", theirs, asked));
    let ((found, identity), definition, rights, (operator, waiting), memory) = tokio::join!(
        check_namespace(&examination, "SERVICE_NAMESPACE", &namespace),
        definition(&examination),
        rights(&examination, &namespace),
        operator(&examination, &namespace, now()),
        check_memory_kill(&examination),
    );
    section.add([found, definition, rights].into_iter().chain(operator).chain([memory]));
    for namespace in &settings.class_namespaces {
        section.add(check_class_namespace(KubernetesExamination::new(client.clone(), namespace), namespace).await);
    }
    section.facts.identity = identity;
    section.facts.workshops = waiting.as_ref().map(|waiting| waiting.workshops);
    section.facts.example = waiting.and_then(|waiting| waiting.example);
    section
}

async fn check_class_namespace(examination: KubernetesExamination, namespace: &str) -> [Finding; 2] {
    let ((found, _), rights) = tokio::join!(
        check_namespace(&examination, "SERVICE_CLASS_NAMESPACES", namespace),
        rights(&examination, namespace),
    );
    [found, rights]
}

async fn check_namespace(
    examination: &KubernetesExamination,
    setting: &str,
    namespace: &str,
) -> (Finding, Option<String>) {
    const CHECK: &str = "namespace";
    match within(QUERY_TIMEOUT, examination.identity()).await {
        Ok(Some(identity)) => (Finding::ok(CHECK, namespace), Some(identity)),
        Ok(None) => {
            (fail!(CHECK, "namespace {namespace} does not exist. Correct {setting}, or create the namespace"), None)
        }
        Err(problem) => (fail!(CHECK, "{problem}. Check that namespace {namespace} ({setting}) exists"), None),
    }
}

async fn definition(examination: &KubernetesExamination) -> Finding {
    const CHECK: &str = "CRD";
    const REMEDY: &str = "Apply this version's crds/workshops.yaml: with kubectl apply --server-side -f, or with the \
                          chart's crds.install";
    match within(QUERY_TIMEOUT, examination.definition()).await {
        Ok(Definition::Same) => Finding::ok(CHECK, "the cluster's definition of Workshop matches this launcher"),
        Ok(Definition::Missing(version)) => {
            fail!(CHECK, "the cluster has no definition of Workshop in {version}. {REMEDY}")
        }
        Ok(Definition::Different(fields)) => fail!(
            CHECK,
            "the cluster's definition of Workshop does not match this launcher. Different fields: {}. {REMEDY}",
            some(&fields)
        ),
        Err(problem) => warning!(CHECK, "the definition of Workshop cannot be read: {problem}"),
    }
}

async fn rights(examination: &KubernetesExamination, namespace: &str) -> Finding {
    const CHECK: &str = "permissions";
    match within(QUERY_TIMEOUT, examination.missing_rights()).await {
        Ok(missing) if missing.is_empty() => Finding::ok(CHECK, "the launcher has every permission that it needs"),
        Ok(missing) => fail!(
            CHECK,
            "the launcher lacks permissions in namespace {namespace}: {}. Apply deploy/rbac.yaml there, or run \
             helm upgrade with the same values",
            missing.join(", ")
        ),
        Err(problem) => warning!(CHECK, "the launcher's permissions cannot be read: {problem}"),
    }
}

/// Checks that an operator works. Uses the number of Workshops that wait too long for an operator, and the operator's
/// Lease if the launcher may read it.
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
            return (vec![warning!(CHECK, "the Workshops cannot be listed: {problem}")], None);
        }
    };
    let command = format!("kubectl --namespace {namespace} get lease {LEASE} --output yaml");
    let finding = match (late(&waiting), leader) {
        (Some(late), _) => {
            fail!(CHECK, "{late}: no operator works in {namespace}. Read its pods' logs and the Lease: {command}")
        }
        (None, Ok(Leader::Absent(Some(since)))) => fail!(
            CHECK,
            "no operator has led in {namespace} since {since}. Read its pods' logs and the Lease: {command}"
        ),
        (None, Ok(Leader::Absent(None))) => warning!(
            CHECK,
            "no operator has held the Lease {LEASE} in {namespace}. Start one, or ignore this if \
             SERVICE_LEASE_NAME differs"
        ),
        (None, Ok(Leader::Active(holder))) => ok!(CHECK, "{holder} leads; no Workshop is overdue"),
        (None, Ok(Leader::Forbidden) | Err(_)) => {
            ok!(CHECK, "no Workshop is overdue. The launcher may not read the Lease; to see the leader: {command}")
        }
    };
    let unreadable = (!waiting.unreadable.is_empty()).then(|| {
        warning!(
            CHECK,
            "unreadable Workshops, which the launcher ignores: {}. Correct or delete them with kubectl",
            some(&waiting.unreadable)
        )
    });
    ([finding, pods(&waiting)].into_iter().chain(unreadable).collect(), Some(waiting))
}

/// Reports how many workshops keep a pod that an operator with another version or other settings created.
fn pods(waiting: &PendingWorkshops) -> Finding {
    const CHECK: &str = "workshop pods";
    let outdated = &waiting.outdated;
    if outdated.is_empty() {
        return Finding::ok(CHECK, "every workshop has the current sidecar and settings");
    }
    ok!(
        CHECK,
        "{} of {} Workshops have an older sidecar or older settings, and keep them until they end or an admin restarts them: {}",
        outdated.len(),
        waiting.workshops,
        some(outdated)
    )
}

fn late(waiting: &PendingWorkshops) -> Option<String> {
    let unseen = "Workshops have had no status for over a minute";
    let overdue = "Workshops expired over a minute ago and still exist";
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

/// Reports which processes of a workshop end at its memory limit, a setting of the kubelets. A workshop works with each
/// setting, so the check never fails.
pub(super) async fn check_memory_kill(examination: &KubernetesExamination) -> Finding {
    const CHECK: &str = "out of memory";
    const REMEDY: &str = "singleProcessOOMKill: true in the configuration of the kubelet ends only one process, such as \
                          the kernel of one notebook: see docs/kept-work.md";
    let found = tokio::time::timeout(QUERY_TIMEOUT, examination.memory_kill()).await;
    match found.unwrap_or(MemoryKill::Unknown) {
        MemoryKill::Process => Finding::ok(CHECK, "only one process of a workshop ends at its memory limit"),
        MemoryKill::Container(node) => {
            warning!(CHECK, "with cgroup v2, all processes of a workshop on {node} end at its memory limit. {REMEDY}")
        }
        MemoryKill::Unknown => Finding::ok(
            CHECK,
            "the launcher may not read the kubelets' singleProcessOOMKill; to see it: kubectl get --raw \
             /api/v1/nodes/NODE/proxy/configz",
        ),
    }
}
