//! Spec of a Workshop: the desired state.
#![expect(unreachable_pub, reason = "KubeSchema derives a copy of each struct inside a function")]

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use kube::{CustomResource, KubeSchema};
use launcher_domain::snapshot::SNAPSHOT_GRACE;
use launcher_domain::template::{Resources, Storage};
use launcher_domain::{AppType, EmailAddress, Instance, PodTemplateObject, SecurityProfile};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::material::WorkshopMaterial;
use crate::status::WorkshopStatus;

/// Desired state: one workshop of one owner.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "workshoplauncher.dev",
    version = "v1alpha1",
    kind = "Workshop",
    doc = "Workshop of one user. The operator runs it in a pod with the same name. The launcher creates and deletes it.",
    plural = "workshops",
    shortname = "ws",
    category = "workshop-launcher",
    namespaced,
    status = "WorkshopStatus",
    derive = "PartialEq",
    selectable = ".spec.owner",
    selectable = ".status.phase",
    printcolumn = r#"{"name": "Owner", "type": "string", "jsonPath": ".spec.owner"}"#,
    printcolumn = r#"{"name": "Phase", "type": "string", "jsonPath": ".status.phase"}"#,
    printcolumn = r#"{"name": "URL", "type": "string", "jsonPath": ".status.url"}"#,
    // Not of type date: kubectl prints a date as an age, and <invalid> for a time in the future.
    printcolumn = r#"{"name": "Expires", "type": "string", "jsonPath": ".status.expiresAt"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#,
    printcolumn = r#"{"name": "Image", "type": "string", "jsonPath": ".spec.image", "priority": 1}"#,
    printcolumn = r#"{"name": "Reason", "type": "string", "jsonPath": ".status.reason", "priority": 1}"#
)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopSpec {
    /// E-mail address of the owner, the only user that the sidecar admits.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the owner cannot change"))]
    #[schemars(length(min = 3, max = 254))]
    pub owner: String,
    /// Image of the app.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the image cannot change: launch another workshop"))]
    #[schemars(length(min = 1, max = 255))]
    pub image: String,
    /// Name of the course, which the bar above the app shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[x_kube(validation = Rule::new("self == oldSelf").message("the name cannot change: launch another workshop"))]
    #[schemars(length(min = 1, max = 255))]
    pub course: Option<String>,
    /// App type: rstudio, notebook or custom.
    #[schemars(extend("enum" = AppType::ALL.map(AppType::as_str)))]
    pub app_type: String,
    /// Port on which the app listens.
    #[x_kube(validation = Rule::new("self != 8080 && self != 8081").message("8080 and 8081 are the sidecar's"))]
    #[schemars(range(min = 1, max = 65535))]
    pub port: u16,
    /// Path and query of the app's first page, as in /vnc.html?autoconnect=1. Without it, the first page is /.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048), regex(pattern = "^/"))]
    pub start_path: Option<String>,
    /// True if the app's pages in tabs of their own are shown without the bar with the time left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plain_tabs: bool,
    /// True for a workshop of a class: the bar has the hand of the owner, and shows messages of the class.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_class: bool,
    /// Command: replaces the image's entry point, unless empty. Only `$(PORT)`, `$(HOST)` and `$(ORIGIN)` are expanded: to
    /// the app's port, and to the workshop's host and origin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Arguments: replace the image's arguments, unless empty. Expanded like the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Environment of the app. The values are expanded like the command.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Environment variables of the app with a secret value. On a cluster, each value is in the key `parameter.<name>` of the
    /// Secret `<name of the Workshop>-parameters`. Fleets on one machine get the values from the launcher.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10), inner(length(min = 1, max = 128), regex(pattern = "^[A-Za-z_][A-Za-z0-9_]*$")))]
    pub secret_env: Vec<String>,
    /// Resource requests and limits of the app.
    pub resources: WorkshopResources,
    /// Security profile of the app's container: restricted or baseline.
    #[schemars(extend("enum" = SecurityProfile::ALL.map(SecurityProfile::as_str)))]
    pub security_profile: String,
    /// Partial PodTemplateSpec of the pod, merged into the pod. The fields that the operator sets take precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_object")]
    pub pod_template: Option<PodTemplateObject>,
    /// Volume with the owner's files. Without it, the files end with the workshop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[x_kube(validation = Rule::new("self == oldSelf").message("the storage cannot change: launch another workshop"))]
    pub storage: Option<WorkshopStorage>,
    /// Directory of the app whose files outlive a crash of the app, and end with the workshop. Without it, they end with
    /// the crash. Ignored with storage. Fleets on one machine ignore it: there, all files of the app outlive its crash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[x_kube(validation = Rule::new("self == oldSelf").message("the directory cannot change: launch another workshop"))]
    #[schemars(length(min = 2, max = 255), regex(pattern = "^/[^/:,]"))]
    pub crash_safe_directory: Option<String>,
    /// Snapshot of the files at the end of the workshop: the launcher saves them before it deletes the Workshop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[x_kube(validation = Rule::new("self == oldSelf").message("the snapshot cannot change: launch another workshop"))]
    pub snapshot: Option<WorkshopSnapshot>,
    /// Saved files of an earlier Workshop, which the app has when it first starts. If they cannot be placed, the Workshop
    /// fails. On a cluster, it needs crashSafeDirectory, which gets the files, and snapshot, whose token the launcher uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[x_kube(validation = Rule::new("self == oldSelf").message("the saved files cannot change: launch another workshop"))]
    pub restore: Option<WorkshopRestore>,
    /// Course material: files that are in the workshop's directory when it opens. A failed download does not fail the
    /// workshop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[x_kube(validation = Rule::new("self == oldSelf").message("the material cannot change: launch another workshop"))]
    pub material: Option<WorkshopMaterial>,
    /// Lifetime: time from ready to the expiry, in seconds. Ignored if expiresAt is set.
    #[schemars(range(min = 1))]
    pub lifetime_seconds: u32,
    /// Expiry, if an extension moved it. Without it, the workshop expires when its lifetime is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Time of the last requested restart. The operator replaces a pod that was created before this time. Fleets on one
    /// machine ignore this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarted_at: Option<Timestamp>,
}

/// Returns the schema of an object whose fields the API server keeps without a check.
fn any_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

/// Converts all numbers in a JSON value to floats.
fn to_floats(value: &mut Value) {
    match value {
        Value::Number(number) => *value = number.as_f64().into(),
        Value::Array(items) => items.iter_mut().for_each(to_floats),
        Value::Object(object) => object.values_mut().for_each(to_floats),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// CEL rule of a quantity.
const IS_QUANTITY: &str = "isQuantity(self) && quantity(self).isGreaterThan(quantity('0'))";

/// Resource requests and limits, as Kubernetes quantities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[x_kube(
    validation = Rule::new("quantity(self.cpuRequest).compareTo(quantity(self.cpuLimit)) <= 0")
        .message("the CPU request is above the limit"),
    validation = Rule::new("quantity(self.memoryRequest).compareTo(quantity(self.memoryLimit)) <= 0")
        .message("the memory request is above the limit")
)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopResources {
    /// CPU request.
    #[x_kube(validation = Rule::new(IS_QUANTITY).message("not a quantity above zero: write for example 500m or 2"))]
    #[schemars(length(min = 1, max = 32))]
    pub cpu_request: String,
    /// CPU limit.
    #[x_kube(validation = Rule::new(IS_QUANTITY).message("not a quantity above zero: write for example 500m or 2"))]
    #[schemars(length(min = 1, max = 32))]
    pub cpu_limit: String,
    /// Memory request.
    #[x_kube(validation = Rule::new(IS_QUANTITY).message("not a quantity above zero: write for example 512Mi or 2Gi"))]
    #[schemars(length(min = 1, max = 32))]
    pub memory_request: String,
    /// Memory limit. An app that exceeds it is killed.
    #[x_kube(validation = Rule::new(IS_QUANTITY).message("not a quantity above zero: write for example 512Mi or 2Gi"))]
    #[schemars(length(min = 1, max = 32))]
    pub memory_limit: String,
}

/// Volume with the owner's files. It outlives the Workshop: a later Workshop can have it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopStorage {
    /// Name of the volume: on a cluster, of the PersistentVolumeClaim. The fleet creates a missing volume. At most one
    /// running Workshop has a volume.
    #[schemars(length(min = 1, max = 63), regex(pattern = "^[a-z]([a-z0-9-]*[a-z0-9])?$"))]
    pub volume: String,
    /// Size of a new volume, as a Kubernetes quantity.
    #[x_kube(validation = Rule::new(IS_QUANTITY).message("not a quantity above zero: write for example 500Mi or 5Gi"))]
    #[schemars(length(min = 1, max = 32))]
    pub size: String,
    /// Directory of the app at which the volume is mounted. The local fleet runs the app in the volume's directory.
    #[schemars(length(min = 2, max = 255), regex(pattern = "^/[^/:,]"))]
    pub path: String,
}

/// Returns the variables of the template, and the launch parameters without the secret ones.
fn environment(instance: &Instance) -> BTreeMap<String, String> {
    let given = instance.parameters.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?)));
    instance.settings.env.clone().into_iter().chain(given).collect()
}

fn secret_variables(instance: &Instance) -> Vec<String> {
    let secrets = instance.parameters.iter().filter(|(_, value)| value.is_none());
    secrets.map(|(name, _)| name.clone()).collect()
}

/// Returns the name of the Secret with the values of `secretEnv` of a Workshop.
#[must_use]
pub fn parameters_secret(workshop: &str) -> String {
    format!("{workshop}-parameters")
}

/// True if a Secret with this name can have the values of a Workshop that the launcher named: the name of the Workshop ends
/// with ten random characters.
#[must_use]
pub fn is_parameters_secret(name: &str) -> bool {
    let random = name.strip_suffix("-parameters").and_then(|workshop| workshop.rsplit_once('-'));
    let is_random = |one: u8| one.is_ascii_lowercase() || one.is_ascii_digit();
    random.is_some_and(|(_, random)| random.len() == 10 && random.bytes().all(is_random))
}

/// Returns the key of the Secret with the value of a variable. Kubernetes itself writes no keys with this prefix: a Secret
/// with the token of a service account has the key `token`, which no Workshop can name.
#[must_use]
pub fn parameter_key(variable: &str) -> String {
    format!("parameter.{variable}")
}

/// Returns the path of a storage without a volume.
fn crash_safe_directory(instance: &Instance) -> Option<String> {
    let storage = instance.settings.storage.as_ref()?;
    (!storage.kind.is_kept()).then(|| storage.path.clone())
}

impl WorkshopStorage {
    /// Returns the storage of an instance; `None` without a volume.
    fn of(instance: &Instance) -> Option<Self> {
        let Storage { kind: _, size, path, at_expiry: _ } = instance.settings.storage.as_ref()?;
        Some(Self { volume: instance.volume.clone()?, size: size.to_string(), path: path.clone() })
    }
}

impl WorkshopSpec {
    /// Returns the desired spec of an instance.
    #[must_use]
    pub fn of(instance: &Instance) -> Self {
        let settings = &instance.settings;
        let Resources { cpu_request, cpu_limit, memory_request, memory_limit } = &settings.resources;
        Self {
            owner: instance.owner_email.to_string(),
            image: settings.image.clone(),
            course: Some(settings.name.clone()),
            app_type: settings.app_type.as_str().to_owned(),
            port: settings.port,
            start_path: settings.start_path.as_ref().map(|path| path.as_str().to_owned()),
            plain_tabs: settings.plain_tabs,
            in_class: instance.class_id.is_some(),
            command: settings.command.clone(),
            args: settings.args.clone(),
            env: environment(instance),
            secret_env: secret_variables(instance),
            resources: WorkshopResources {
                cpu_request: cpu_request.to_string(),
                cpu_limit: cpu_limit.to_string(),
                memory_request: memory_request.to_string(),
                memory_limit: memory_limit.to_string(),
            },
            security_profile: settings.security_profile.as_str().to_owned(),
            pod_template: settings.pod_template.clone(),
            storage: WorkshopStorage::of(instance),
            crash_safe_directory: crash_safe_directory(instance),
            snapshot: WorkshopSnapshot::of(instance),
            restore: WorkshopRestore::of(instance),
            material: settings.material.as_ref().and_then(WorkshopMaterial::of),
            lifetime_seconds: settings.lifetime_seconds,
            expires_at: instance.moved_expiry(),
            restarted_at: instance.restarted_at,
        }
    }

    /// True if both specs have the same values. The API server may write the numbers of a pod template differently than
    /// the launcher: `1` for `1.0`. Integers above 2^53 are compared with the precision of a 64-bit float.
    #[must_use]
    pub fn is_equivalent(&self, other: &Self) -> bool {
        self == other || self.with_floats() == other.with_floats()
    }

    /// Returns this spec with all numbers of its pod template as floats.
    fn with_floats(&self) -> Self {
        let mut spec = self.clone();
        spec.pod_template.iter_mut().flat_map(Map::values_mut).for_each(to_floats);
        spec
    }

    /// Returns the owner in the canonical form that the sidecar compares; `None` if the spec has no valid address.
    #[must_use]
    pub fn owner_email(&self) -> Option<EmailAddress> {
        EmailAddress::parse(&self.owner).ok()
    }

    /// Returns the app type; `None` if it is unknown.
    #[must_use]
    pub fn app_type(&self) -> Option<AppType> {
        AppType::parse(&self.app_type)
    }

    /// Returns the security profile; `None` if it is unknown.
    #[must_use]
    pub fn security_profile(&self) -> Option<SecurityProfile> {
        SecurityProfile::parse(&self.security_profile)
    }

    /// Returns the expiry: `expiresAt` if it is set, otherwise `ready_at` plus the lifetime. `None` before the workshop
    /// was ready.
    #[must_use]
    pub fn expiry(&self, ready_at: Option<Timestamp>) -> Option<Timestamp> {
        let lifetime = SignedDuration::from_secs(i64::from(self.lifetime_seconds));
        self.expires_at.or_else(|| ready_at.and_then(|ready| ready.checked_add(lifetime).ok()))
    }

    /// Returns the time at which the fleet ends the workload: the expiry, and with a snapshot the time that the launcher
    /// has to save the files. `None` before the workshop was ready.
    #[must_use]
    pub fn end(&self, ready_at: Option<Timestamp>) -> Option<Timestamp> {
        let grace = self.snapshot.as_ref().map_or(0, |snapshot| snapshot.grace_seconds);
        self.expiry(ready_at)?.checked_add(SignedDuration::from_secs(i64::from(grace))).ok()
    }
}

/// Snapshot of the files of the app at the end of the workshop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopSnapshot {
    /// Directory of the app whose files are saved. Without it, the working directory of the image. On a cluster, the
    /// crash-safe directory; the local fleet uses the working directory of the app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 255), regex(pattern = "^/[^/:,]"))]
    pub directory: Option<String>,
    /// SHA-256 of the token with which the launcher reads the files, in hexadecimal. The resource never contains the token.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub token_sha256: String,
    /// Time after the expiry at which the fleet ends the workload, if the launcher has not deleted the Workshop, in seconds.
    #[schemars(range(max = 3600))]
    pub grace_seconds: u32,
}

impl WorkshopSnapshot {
    /// Returns the snapshot of an instance; `None` if none is planned.
    pub(crate) fn of(instance: &Instance) -> Option<Self> {
        let snapshot = instance.snapshot.as_ref()?;
        Some(Self {
            directory: files_directory(instance),
            token_sha256: snapshot.token.digest().to_string(),
            grace_seconds: u32::try_from(SNAPSHOT_GRACE.as_secs()).unwrap_or_default(),
        })
    }
}

/// Saved files of an earlier Workshop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopRestore {
    /// UUID of the snapshot with the files.
    #[schemars(length(min = 36, max = 36))]
    pub snapshot: String,
    /// Directory of the app that gets the files. Without it, the working directory of the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 255), regex(pattern = "^/[^/:,]"))]
    pub directory: Option<String>,
}

impl WorkshopRestore {
    /// Returns the saved files of an instance; `None` if it starts without any.
    fn of(instance: &Instance) -> Option<Self> {
        let snapshot = instance.restores?.to_string();
        Some(Self { snapshot, directory: files_directory(instance) })
    }
}

/// Returns the directory of the app that has the user's files; `None` for the working directory of the image.
fn files_directory(instance: &Instance) -> Option<String> {
    let settings = &instance.settings;
    let directory = settings.storage.as_ref().map(|storage| storage.path.clone());
    directory.or_else(|| settings.app_type.home().map(str::to_owned))
}
