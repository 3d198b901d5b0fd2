//! The kinds of objects that a workload has beside its pod and the claim of its volume. The other parts of the operator go
//! through [`KINDS`] and name none of them.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::networking::v1::Ingress;
use kube::api::ApiResource;
use serde::Serialize;
use serde_json::Value;

use super::routes;
use crate::cache::{Cache, Object, Watch, metadata_cache};
use crate::settings::OperatorSettings;
use crate::validate::Validated;

/// The kinds in the order of their deletion. The objects are applied in the opposite order.
///
/// The Role of the operator must allow `create`, `delete`, `list`, `patch` and `watch` for each kind.
pub(crate) static KINDS: [&dyn Kind; 2] = [&Built::<Ingress>(routes::ingress), &Built::<Service>(routes::service)];

/// The plural names of the kinds of a workload's objects, in the order of their deletion.
pub fn plurals() -> impl Iterator<Item = &'static str> {
    KINDS.into_iter().map(Kind::plural).chain(["pods"])
}

/// A kind of objects with the name of their Workshop. A Workshop has at most one of each kind.
pub(crate) trait Kind: Sync {
    /// The name of the kind, such as `Service`.
    fn name(&self) -> &'static str;

    fn plural(&self) -> &'static str;

    fn resource(&self) -> ApiResource;

    /// Builds the object of a Workshop; `None` if the Workshop needs none.
    fn build(&self, workshop: &Validated, settings: &OperatorSettings) -> Option<Value>;

    /// Creates a watch cache of the metadata of these objects.
    fn cache(&self) -> (Arc<dyn Cache>, Watch);
}

struct Built<K>(fn(&Validated, &OperatorSettings) -> Option<K>);

impl<K: Object + k8s_openapi::Resource + Serialize + Send + Sync + 'static> Kind for Built<K> {
    fn name(&self) -> &'static str {
        K::KIND
    }

    fn plural(&self) -> &'static str {
        K::URL_PATH_SEGMENT
    }

    fn resource(&self) -> ApiResource {
        ApiResource::erase::<K>(&())
    }

    fn build(&self, workshop: &Validated, settings: &OperatorSettings) -> Option<Value> {
        Some(serde_json::to_value(self.0(workshop, settings)?).unwrap_or_default())
    }

    fn cache(&self) -> (Arc<dyn Cache>, Watch) {
        metadata_cache::<K>()
    }
}

#[cfg(test)]
mod tests {
    use super::plurals;

    #[test]
    fn role_of_the_operator_allows_all_changes_of_each_kind() {
        let granted = include_str!("../../../../deploy/permissions.txt").split("workshop-operator\n").nth(1).unwrap();
        for plural in plurals() {
            let of_kind = |line: &&str| line.trim_start().split(['.', ':']).next() == Some(plural);
            let verbs = granted.lines().find(of_kind).and_then(|line| line.split_once(": ")).map(|(_, verbs)| verbs);
            assert_eq!(verbs, Some("[list watch create patch delete]"), "{plural} in deploy/rbac.yaml");
        }
    }
}
