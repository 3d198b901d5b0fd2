//! Checks that the launcher has the Kubernetes permissions that it needs.

use futures_util::future::try_join_all;
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec};
use kube::Api;
use kube::api::PostParams;

use super::examination::KubernetesExamination;
use crate::kubernetes::error::to_fleet_error;
use crate::port::FleetError;

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
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] if the API server does not answer.
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
        let answer = reviews.create(&PostParams::default(), &review).await.map_err(|error| to_fleet_error(&error))?;
        Ok(answer.status.is_some_and(|status| status.allowed))
    }
}

/// Returns the resource and its subresource, if any.
fn parts(resource: &str) -> (&str, Option<&str>) {
    resource.split_once('/').map_or((resource, None), |(resource, subresource)| (resource, Some(subresource)))
}

#[cfg(test)]
mod tests {
    use super::{RIGHTS, parts};

    #[test]
    fn checked_rights_match_deploy_rbac_yaml() {
        let granted = include_str!("../../../../../deploy/permissions.txt");
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
