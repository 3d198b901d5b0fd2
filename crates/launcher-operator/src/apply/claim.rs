//! Prepares the volume of a Workshop for its pod: no other pod uses it, and its PersistentVolumeClaim exists.

use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::api::PostParams;
use kube::{Api, Resource, ResourceExt};
use launcher_workshop::MANAGED_BY_LABEL;

use super::error::ApplyError;
use crate::context::Context;
use crate::identifiers::FIELD_MANAGER;

/// Label of the claims that the operator creates.
const MANAGED_BY: &str = "managed-by";

/// Creates the claim unless it exists. The claim is read first: if a quota is used up, the API server refuses the
/// creation of a claim that exists with 403, not 409.
pub(super) async fn ensure(
    context: &Context,
    workshop: &str,
    uid: &str,
    wanted: &PersistentVolumeClaim,
) -> Result<(), ApplyError> {
    let volume = wanted.name_any();
    check_unused(context, &volume, workshop, uid)?;
    let kind = PersistentVolumeClaim::kind(&()).into_owned();
    let api: Api<PersistentVolumeClaim> = Api::namespaced(context.client.clone(), &context.settings.namespace);
    let found = match api.get_metadata_opt(&volume).await {
        Ok(found) => found,
        Err(source) => return Err(ApplyError::Read { kind, name: volume, source }),
    };
    match found {
        // Refuse a claim that the operator did not create: a Workshop could mount, for example, the launcher's database.
        Some(found) if found.labels().get(MANAGED_BY).is_none_or(|by| by != MANAGED_BY_LABEL) => {
            Err(ApplyError::ForeignClaim { name: volume })
        }
        Some(_) => Ok(()),
        None => {
            context.fence.check()?;
            let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
            let created = api.create(&params, wanted).await;
            created.map_err(|source| ApplyError::Apply { kind, name: volume.clone(), source })?;
            tracing::info!(workshop, volume, "created the PersistentVolumeClaim");
            Ok(())
        }
    }
}

/// Two pods must not use one volume at the same time: apps such as JupyterLab expect to be alone with their files.
fn check_unused(context: &Context, volume: &str, workshop: &str, uid: &str) -> Result<(), ApplyError> {
    let user = match context.children.other_user(volume, uid) {
        Some(user) => user,
        None => context.volume_users.reserve(volume, workshop),
    };
    if user == workshop { Ok(()) } else { Err(ApplyError::VolumeInUse { volume: volume.to_owned(), user }) }
}
