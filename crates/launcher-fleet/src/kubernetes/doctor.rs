//! For `launcher doctor`: examines a cluster with the launcher's own rights, without changing it.

use futures_util::future::try_join_all;
use http::{Request, header};
use jiff::fmt::rfc2822;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Namespace, Node};
use kube::api::{ListParams, PostParams};
use kube::client::Body;
use kube::{Api, Client, ResourceExt};
use launcher_workshop::Phase;
use serde::Deserialize;

use super::error::{status_code, to_fleet_error, unavailable};
use super::fleet::{Guarded, identity_of};
use crate::port::FleetError;

/// The namespace that `launcher doctor` examines. A call that the API server does not answer, or refuses, fails with
/// [`FleetError::Unavailable`].
#[derive(Clone)]
pub struct KubernetesExamination {
    pub(super) client: Client,
    pub(super) namespace: String,
}

impl std::fmt::Debug for KubernetesExamination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KubernetesExamination").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiServer {
    /// The Kubernetes version, for example `v1.34.4`.
    pub version: String,
    /// Time of the API server's clock, in whole seconds; `None` if its response has no readable `Date` header.
    pub clock: Option<Timestamp>,
}

impl KubernetesExamination {
    /// Creates the examination of this namespace without contacting the cluster.
    #[must_use]
    pub fn new(client: Client, namespace: &str) -> Self {
        Self { client, namespace: namespace.to_owned() }
    }

    pub async fn api_server(&self) -> Result<ApiServer, FleetError> {
        let request = Request::get("/version").body(Body::empty()).map_err(|error| unavailable(&error))?;
        let answer = self.client.send(request).await.map_err(to_fleet_error)?;
        let date = answer.headers().get(header::DATE).and_then(|date| rfc2822::parse(date.to_str().ok()?).ok());
        let version = self.client.apiserver_version().await.map_err(to_fleet_error)?;
        Ok(ApiServer { version: version.git_version, clock: date.map(|date| date.timestamp()) })
    }

    /// Returns the fleet identity ([`Fleet::identity`](crate::Fleet::identity)), or `None` if the namespace does not
    /// exist.
    pub async fn identity(&self) -> Result<Option<String>, FleetError> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let namespace = namespaces.get_opt(&self.namespace).await.map_err(to_fleet_error)?;
        Ok(namespace.map(|namespace| identity_of(&self.namespace, &namespace)))
    }
}

/// The permissions of the launcher's Role in `deploy/rbac.yaml`: API group, resource with its subresource, verbs.
const RIGHTS: [(&str, &str, &[&str]); 6] = [
    ("", "namespaces", &["get"]),
    ("", "persistentvolumeclaims", &["get", "delete"]),
    ("", "secrets", &["create"]),
    ("workshoplauncher.dev", "workshopdownloads", &["get", "create", "delete"]),
    ("workshoplauncher.dev", "workshops/finalizers", &["update"]),
    ("workshoplauncher.dev", "workshops", &["get", "list", "watch", "create", "patch", "delete"]),
];

impl KubernetesExamination {
    /// Returns the permissions that the launcher needs but does not have, for example `patch workshops`.
    pub async fn missing_rights(&self) -> Result<Vec<String>, FleetError> {
        let rights =
            RIGHTS.iter().flat_map(|(group, resource, verbs)| verbs.iter().map(move |verb| (group, resource, verb)));
        let asked = try_join_all(rights.map(|(group, resource, verb)| async move {
            let may = self.may(group, resource, verb).await?;
            Ok((!may).then(|| format!("{verb} {resource}")))
        }));
        Ok(asked.await?.into_iter().flatten().collect())
    }

    async fn may(&self, group: &str, resource: &str, verb: &str) -> Result<bool, FleetError> {
        let (resource, subresource) = parts(resource);
        let attributes = ResourceAttributes {
            namespace: Some(self.namespace.clone()),
            group: Some(group.to_owned()),
            resource: Some(resource.to_owned()),
            subresource: subresource.map(str::to_owned),
            verb: Some(verb.to_owned()),
            ..ResourceAttributes::default()
        };
        let review = SelfSubjectAccessReview {
            spec: SelfSubjectAccessReviewSpec {
                resource_attributes: Some(attributes),
                ..SelfSubjectAccessReviewSpec::default()
            },
            ..SelfSubjectAccessReview::default()
        };
        let reviews: Api<SelfSubjectAccessReview> = Api::all(self.client.clone());
        let answer = reviews.create(&PostParams::default(), &review).await.map_err(to_fleet_error)?;
        Ok(answer.status.is_some_and(|status| status.allowed))
    }
}

/// Returns the resource and its subresource, if any.
fn parts(resource: &str) -> (&str, Option<&str>) {
    resource.split_once('/').map_or((resource, None), |(resource, subresource)| (resource, Some(subresource)))
}

/// Maximum number of nodes whose kubelets are asked.
const NODES: u32 = 5;

/// Processes that the Linux kernel ends if a container exceeds its memory limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryKill {
    /// All processes of the container, on this node, if it has cgroup v2.
    Container(String),
    /// Only the process that uses most memory, on all nodes that were asked.
    Process,
    /// The launcher may not read the configuration of the kubelets, or they do not answer.
    Unknown,
}

#[derive(Deserialize)]
struct Configuration {
    kubeletconfig: KubeletConfiguration,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KubeletConfiguration {
    /// Without a value, the kubelet ends all processes with cgroup v2, and one process with cgroup v1.
    #[serde(rename = "singleProcessOOMKill")]
    single_process_oom_kill: Option<bool>,
}

impl KubernetesExamination {
    /// Asks the kubelets of some nodes. This needs the permissions to list nodes and to get `nodes/proxy`, which the
    /// launcher itself does not have.
    pub async fn memory_kill(&self) -> MemoryKill {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let Ok(nodes) = nodes.list(&ListParams::default().limit(NODES)).await else { return MemoryKill::Unknown };
        let mut found = MemoryKill::Unknown;
        for node in nodes {
            let name = node.name_any();
            let path = format!("/api/v1/nodes/{name}/proxy/configz");
            let Ok(request) = Request::get(path).body(Vec::new()) else { return MemoryKill::Unknown };
            match self.client.request::<Configuration>(request).await {
                Ok(answer) if answer.kubeletconfig.single_process_oom_kill == Some(true) => found = MemoryKill::Process,
                Ok(_) => return MemoryKill::Container(name),
                Err(_) => return MemoryKill::Unknown,
            }
        }
        found
    }
}

/// Maximum time in which an active operator writes the first status of a Workshop, or terminates an expired Workshop.
const REACTION_TIME: SignedDuration = SignedDuration::from_secs(60);
/// A Lease without a renewal for this many lease durations counts as having no leader.
const MAX_MISSED_RENEWALS: i64 = 2;
const PAGE_SIZE: u32 = 500;

/// The leading operator according to the Lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leader {
    /// This operator holds the Lease and renewed it recently.
    Active(String),
    /// No operator leads. The time is the last renewal of the Lease, if there was one.
    Absent(Option<Timestamp>),
    /// The launcher may not read the Lease.
    Forbidden,
}

/// Workshops that wait for an operator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PendingWorkshops {
    /// Number of all Workshops.
    pub workshops: usize,
    /// Workshops that have existed for more than a minute without a status.
    pub without_status: Vec<String>,
    /// Workshops that have not been terminated within a minute after their expiry, and after the time to save their files.
    pub overdue: Vec<String>,
    /// Workshops that the launcher cannot parse.
    pub unreadable: Vec<String>,
    /// Workshops whose pod has another sidecar or other settings than a new workshop would get.
    pub outdated: Vec<String>,
    /// Any one Workshop with a URL, as an example for the checks of `launcher doctor`.
    pub example: Option<ExampleWorkshop>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleWorkshop {
    /// Name of the Workshop, with which its host begins.
    pub name: String,
    /// URL in its status.
    pub url: String,
}

impl KubernetesExamination {
    /// Returns the leading operator according to the Lease of this name.
    pub async fn leader(&self, lease: &str, now: Timestamp) -> Result<Leader, FleetError> {
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), &self.namespace);
        let spec = match leases.get_opt(lease).await {
            Ok(lease) => lease.and_then(|lease| lease.spec).unwrap_or_default(),
            Err(error) if status_code(&error) == Some(403) => return Ok(Leader::Forbidden),
            Err(error) => return Err(to_fleet_error(error)),
        };
        let renewed = spec.renew_time.map(|time| time.0);
        let lasts =
            SignedDuration::from_secs(i64::from(spec.lease_duration_seconds.unwrap_or(0)) * MAX_MISSED_RENEWALS);
        let holder = spec.holder_identity.filter(|holder| !holder.is_empty());
        Ok(match (holder, renewed) {
            (Some(holder), Some(renewed)) if now.duration_since(renewed) <= lasts => Leader::Active(holder),
            (_, renewed) => Leader::Absent(renewed),
        })
    }

    pub async fn pending_workshops(&self, now: Timestamp) -> Result<PendingWorkshops, FleetError> {
        let workshops: Api<Guarded> = Api::namespaced(self.client.clone(), &self.namespace);
        let mut params = ListParams::default().limit(PAGE_SIZE);
        let mut pending = PendingWorkshops::default();
        loop {
            let listed = workshops.list(&params).await.map_err(to_fleet_error)?;
            for workshop in listed.items {
                pending.note(workshop, now);
            }
            match listed.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok(pending),
            }
        }
    }
}

impl PendingWorkshops {
    fn note(&mut self, guarded: Guarded, now: Timestamp) {
        self.workshops += 1;
        let name = guarded.name_any();
        let Ok(workshop) = guarded.0 else { return self.unreadable.push(name) };
        let status = workshop.status.as_ref();
        if let (None, Some(url)) = (&self.example, status.and_then(|status| status.report.url.clone())) {
            self.example = Some(ExampleWorkshop { name: name.clone(), url });
        }
        if workshop.metadata.deletion_timestamp.is_some() {
            return;
        }
        let passed = |time: Timestamp| now.duration_since(time) > REACTION_TIME;
        let Some(status) = status else {
            if workshop.creation_timestamp().is_some_and(|created| passed(created.0)) {
                self.without_status.push(name);
            }
            return;
        };
        if status.pod_outdated == Some(true) {
            self.outdated.push(name.clone());
        }
        let runs = matches!(status.phase, Phase::Starting | Phase::Running);
        if runs && workshop.spec.end(status.ready_at).is_some_and(passed) {
            self.overdue.push(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::{Request, Response};
    use kube::Client;
    use kube::client::Body;
    use serde_json::{Value, json};
    use tower::service_fn;

    use super::{ExampleWorkshop, KubernetesExamination, Leader, PendingWorkshops, RIGHTS, parts};
    use crate::port::FleetError;

    /// An examination whose API server has these pages of a list, or answers each request with this status code and object.
    fn examination(code: u16, answers: Vec<Value>) -> KubernetesExamination {
        let service = service_fn(move |request: Request<Body>| {
            let is_next = request.uri().query().is_some_and(|query| query.contains("continue=next"));
            let answer = Body::from(answers[usize::from(is_next)].to_string().into_bytes());
            async move { Ok::<_, Infallible>(Response::builder().status(code).body(answer).unwrap()) }
        });
        KubernetesExamination::new(Client::new(service, "workshops"), "workshops")
    }

    /// A Workshop that was created at this time, with this expiry and this status.
    fn workshop(name: &str, created: &str, expires_at: &str, status: Value) -> Value {
        let time = |text: &str| format!("2026-01-01T{text}Z");
        let resources = json!({ "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi" });
        json!({
            "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop",
            "metadata": { "name": name, "namespace": "workshops", "creationTimestamp": time(created) },
            "spec": {
                "owner": "alice@example.org", "image": "app:1", "appType": "custom", "port": 8888, "resources": resources,
                "securityProfile": "restricted", "lifetimeSeconds": 3600, "expiresAt": time(expires_at),
            },
            "status": status,
        })
    }

    #[tokio::test]
    async fn workshops_of_all_pages_that_wait_for_an_operator_are_named() {
        let runs = || json!({ "phase": "Running", "readyAt": "2026-01-01T10:00:00Z" });
        let mut leaving = workshop("leaving", "11:00:00", "11:00:00", Value::Null);
        leaving["metadata"]["deletionTimestamp"] = "2026-01-01T11:00:00Z".into();
        let mut unreadable = workshop("unreadable", "11:00:00", "13:00:00", Value::Null);
        unreadable["spec"]["port"] = "eighty".into();
        let mut saving = workshop("saving", "11:00:00", "11:55:00", runs());
        saving["spec"]["snapshot"] = json!({ "tokenSha256": "0".repeat(64), "graceSeconds": 300 });
        let mut unsaved = saving.clone();
        unsaved["metadata"]["name"] = "unsaved".into();
        unsaved["spec"]["snapshot"]["graceSeconds"] = 299.into();
        let outdated = json!({ "phase": "Running", "podOutdated": true, "url": "https://outdated.example.org/" });
        let first = [
            workshop("new", "12:00:00", "13:00:00", Value::Null),
            workshop("old", "11:59:59", "13:00:00", Value::Null),
            workshop("outdated", "11:00:00", "13:00:00", outdated),
            leaving,
            unreadable,
        ];
        let second = [
            workshop("ending", "11:00:00", "12:00:00", runs()),
            workshop("expired", "11:00:00", "11:59:59", runs()),
            workshop("failed", "11:00:00", "11:00:00", json!({ "phase": "Failed" })),
            saving,
            unsaved,
        ];
        let page = |token: &str, items: &[Value]| {
            json!({
                "apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "WorkshopList",
                "metadata": { "continue": token }, "items": items,
            })
        };
        let examination = examination(200, vec![page("next", &first), page("", &second)]);
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let expected = PendingWorkshops {
            workshops: 10,
            without_status: names(&["old"]),
            overdue: names(&["expired", "unsaved"]),
            unreadable: names(&["unreadable"]),
            outdated: names(&["outdated"]),
            example: Some(ExampleWorkshop {
                name: "outdated".to_owned(),
                url: "https://outdated.example.org/".to_owned(),
            }),
        };
        assert_eq!(examination.pending_workshops("2026-01-01T12:01:00Z".parse().unwrap()).await.unwrap(), expected);
    }

    #[tokio::test]
    async fn leader_is_absent_after_two_missed_renewals_or_the_release_of_its_lease() {
        let renewed = "2026-01-01T12:00:00.000000Z";
        let lease = |holder: &str| {
            json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": { "name": "workshop-operator" },
                "spec": { "holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed },
            })
        };
        let leader = async |code: u16, answer: Value, now: &str| {
            let now = format!("2026-01-01T{now}Z").parse().unwrap();
            examination(code, vec![answer]).leader("workshop-operator", now).await
        };
        let absent = Leader::Absent(Some(renewed.parse().unwrap()));
        for (holder, now, expected) in [
            ("one", "12:00:30", Leader::Active("one".to_owned())),
            ("one", "12:00:31", absent.clone()),
            ("", "12:00:01", absent),
        ] {
            assert_eq!(leader(200, lease(holder), now).await.unwrap(), expected, "{holder:?} at {now}");
        }
        let failure = |code: u16, reason: &str| json!({ "kind": "Status", "apiVersion": "v1", "code": code, "message": "no", "reason": reason });
        assert_eq!(leader(404, failure(404, "NotFound"), "12:00:01").await.unwrap(), Leader::Absent(None));
        assert_eq!(leader(403, failure(403, "Forbidden"), "12:00:01").await.unwrap(), Leader::Forbidden);
        let outage = leader(503, failure(503, "ServiceUnavailable"), "12:00:01").await;
        assert!(matches!(outage, Err(FleetError::Unavailable(_))), "{outage:?}");
    }

    #[test]
    fn checked_rights_match_deploy_rbac_yaml() {
        let granted = include_str!("../../../../deploy/permissions.txt");
        let of_launcher = granted.split("workshop-operator\n").next().unwrap();
        let line = |(group, resource, verbs): &(&str, &str, &[&str])| {
            let dot = if group.is_empty() { "" } else { "." };
            let (resource, subresource) = parts(resource);
            let subresource = subresource.map(|name| format!("/{name}")).unwrap_or_default();
            format!("  {resource}{dot}{group}{subresource}: [{}]\n", verbs.join(" "))
        };
        assert_eq!(of_launcher, format!("workshop-launcher\n{}", RIGHTS.iter().map(line).collect::<String>()));
    }
}
