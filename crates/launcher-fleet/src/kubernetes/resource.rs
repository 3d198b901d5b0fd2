//! The Workshop as read from the API server, and the identity of its namespace.

use k8s_openapi::api::core::v1::Namespace;
use kube::ResourceExt;
use kube::core::DeserializeGuard;
use launcher_workshop::Workshop;

/// A Workshop, or the error of parsing it. One unreadable Workshop must not stop the watch of the other Workshops.
pub(super) type Guarded = DeserializeGuard<Workshop>;

/// Returns the identity of a namespace. The uid distinguishes it from other namespaces with the same name.
pub(super) fn identity_of(name: &str, namespace: &Namespace) -> String {
    format!("namespace {name} {}", namespace.uid().unwrap_or_default())
}
