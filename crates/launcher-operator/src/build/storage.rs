//! Builds the volume with the owner's files: its PersistentVolumeClaim, and its parts of the pod.

use k8s_openapi::api::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimSpec, PersistentVolumeClaimVolumeSource, PodSecurityContext, Volume,
    VolumeMount, VolumeResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use launcher_workshop::WorkshopStorage;
use launcher_workshop::pod_template::STORAGE_VOLUME;

use crate::settings::OperatorSettings;
use crate::validate::Validated;

/// Returns the claim of the Workshop's volume. It has no owner reference, because the files outlive the Workshop.
pub(super) fn claim(workshop: &Validated, settings: &OperatorSettings) -> Option<PersistentVolumeClaim> {
    let WorkshopStorage { volume, size, path: _ } = workshop.spec.storage.as_ref()?;
    let metadata = ObjectMeta {
        name: Some(volume.clone()),
        namespace: Some(workshop.namespace.clone()),
        labels: Some(launcher_workshop::labels()),
        ..ObjectMeta::default()
    };
    let spec = PersistentVolumeClaimSpec {
        access_modes: Some(vec!["ReadWriteOnce".to_owned()]),
        resources: Some(VolumeResourceRequirements {
            requests: Some([("storage".to_owned(), Quantity(size.clone()))].into()),
            limits: None,
        }),
        storage_class_name: settings.storage_class.clone(),
        ..PersistentVolumeClaimSpec::default()
    };
    Some(PersistentVolumeClaim { metadata, spec: Some(spec), status: None })
}

/// Returns the volume of the pod.
pub(super) fn volume(storage: &WorkshopStorage) -> Volume {
    let source = PersistentVolumeClaimVolumeSource { claim_name: storage.volume.clone(), read_only: None };
    Volume { name: STORAGE_VOLUME.to_owned(), persistent_volume_claim: Some(source), ..Volume::default() }
}

/// Returns the mount of the volume in the app.
pub(super) fn mount(storage: &WorkshopStorage) -> VolumeMount {
    VolumeMount { name: STORAGE_VOLUME.to_owned(), mount_path: storage.path.clone(), ..VolumeMount::default() }
}

/// Adds the group of the files: a new volume belongs to root, and the app could not write to it. If the cluster assigns
/// the user IDs, it also assigns the group. The kubelet changes the files only if the volume's directory has another
/// group, because a change of all files delays each start.
pub(super) fn with_group(own: PodSecurityContext, settings: &OperatorSettings) -> PodSecurityContext {
    PodSecurityContext {
        fs_group: settings.run_as_user,
        fs_group_change_policy: Some("OnRootMismatch".to_owned()),
        ..own
    }
}
