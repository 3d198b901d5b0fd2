//! The kinds of objects that a workload has beside its pod and the claim of its volume. The other parts of the operator go
//! through [`KINDS`] and name none of them.

use std::sync::Arc;

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::networking::v1::Ingress;
use kube::api::ApiResource;
use serde_json::{Value, to_value};

use super::routes;
use crate::cache::{Cache, Watch, metadata_cache};
use crate::settings::OperatorSettings;
use crate::validate::Validated;

macro_rules! kind {
    ($kind:ty, $build:path) => {
        Kind {
            name: <$kind>::KIND,
            plural: <$kind>::URL_PATH_SEGMENT,
            resource: || ApiResource::erase::<$kind>(&()),
            build: |workshop, settings| $build(workshop, settings).map(|built| to_value(built).unwrap_or_default()),
            cache: metadata_cache::<$kind>,
        }
    };
}

/// The kinds in the order of their deletion. The objects are applied in the opposite order.
///
/// The Role of the operator must allow `create`, `delete`, `list`, `patch` and `watch` for each kind.
pub(crate) static KINDS: [Kind; 2] = [kind!(Ingress, routes::ingress), kind!(Service, routes::service)];

/// A kind of objects with the name of their Workshop. A Workshop has at most one of each kind.
pub(crate) struct Kind {
    /// As in `Service`.
    pub(crate) name: &'static str,
    plural: &'static str,
    pub(crate) resource: fn() -> ApiResource,
    /// Builds the object of a Workshop; `None` if the Workshop needs none.
    pub(crate) build: fn(&Validated, &OperatorSettings) -> Option<Value>,
    /// Creates a watch cache of the metadata of these objects.
    pub(crate) cache: fn() -> (Arc<dyn Cache>, Watch),
}

/// The plural names of the kinds of a workload's objects, in the order of their deletion.
pub fn plurals() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.plural).chain(["pods"])
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
