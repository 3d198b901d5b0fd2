//! Builds the volumes with files of the app, and their parts of the pod: the kept files of the owner, or the files of a
//! crash-safe directory.
//!
//! The volume of a crash-safe directory is an `emptyDir`: it ends with the pod. It hides the files of the image at its mount
//! path. The first init container therefore copies the program `launcher-material` into a small volume. The second one has
//! the image of the app, and runs this program there: it copies the files of the image into the volume.

use k8s_openapi::api::core::v1::{
    Container, EmptyDirVolumeSource, PersistentVolumeClaim, PersistentVolumeClaimSpec,
    PersistentVolumeClaimVolumeSource, PodSecurityContext, Volume, VolumeMount, VolumeResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use launcher_workshop::WorkshopStorage;
use launcher_workshop::app::SIDECAR_REQUESTS;
use launcher_workshop::pod_template::{COPY_PROGRAM, CRASH_SAFE_VOLUME, IMAGE_FILES, STORAGE_VOLUME};

use super::container::{amounts, app_security, mount as at, own_container, words};
use super::sidecar::sidecar_user;
use crate::settings::OperatorSettings;
use crate::validate::Validated;

/// Maximum size of a volume that ends with the pod. The kubelet evicts a pod that exceeds it.
pub(super) const SIZE: &str = "20Gi";
/// The same size in bytes, for the program.
const SIZE_BYTES: &str = "21474836480";
const PROGRAM_SIZE: &str = "64Mi";
/// CPU and memory limits of the init containers. They do not increase the limits of the pod.
const LIMITS: [&str; 2] = ["1", "256Mi"];
const OWN_PROGRAM: &str = "/launcher-material";
/// Directory with the program, in both init containers.
const PROGRAM_FOLDER: &str = "/launcher-program";
/// The program in [`PROGRAM_FOLDER`].
pub(super) const PROGRAM: &str = "/launcher-program/launcher-material";
/// File that exists after the copy: after a restart of the node, the kubelet runs the init containers again.
const MARKER: &str = "/launcher-program/copied";
/// Mount path of the crash-safe volume in the other init containers, where it must not hide the files of the image.
pub(super) const FILES_FOLDER: &str = "/launcher-files";

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

/// Returns the volumes of the pod: the one with the files, and the one with the program that copies them.
pub(super) fn volumes(workshop: &Validated, settings: &OperatorSettings) -> Vec<Volume> {
    let kept = workshop.spec.storage.as_ref().map(|storage| kept_volume(&storage.volume));
    let files = crash_safe_directory(workshop, settings)
        .map(|_| [(CRASH_SAFE_VOLUME, SIZE), (COPY_PROGRAM, PROGRAM_SIZE)].map(|(name, size)| empty_dir(name, size)));
    kept.into_iter().chain(files.into_iter().flatten()).collect()
}

/// Returns the mount of the files in the app; `None` if the files end with a crash.
pub(super) fn mount(workshop: &Validated, settings: &OperatorSettings) -> Option<VolumeMount> {
    let kept = workshop.spec.storage.as_ref().map(|storage| at(STORAGE_VOLUME, &storage.path));
    kept.or_else(|| crash_safe_directory(workshop, settings).map(|directory| at(CRASH_SAFE_VOLUME, directory)))
}

pub(super) fn kept_volume(claim: &str) -> Volume {
    let source = PersistentVolumeClaimVolumeSource { claim_name: claim.to_owned(), read_only: None };
    Volume { name: STORAGE_VOLUME.to_owned(), persistent_volume_claim: Some(source), ..Volume::default() }
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

/// Returns the crash-safe directory of a Workshop if the settings name the image of the program. Without the program, the files of
/// the image would be missing.
pub(super) fn crash_safe_directory<'a>(workshop: &'a Validated, settings: &OperatorSettings) -> Option<&'a str> {
    workshop.spec.crash_safe_directory.as_deref().filter(|_| settings.material_image.is_some())
}

/// Returns the init containers that fill the crash-safe directory. The second one has the security context of the app, so the
/// app can change the files.
pub(super) fn copy_containers(workshop: &Validated, settings: &OperatorSettings) -> Vec<Container> {
    let Some(directory) = crash_safe_directory(workshop, settings) else { return Vec::new() };
    let first = Container {
        image: settings.material_image.clone(),
        command: words(&[OWN_PROGRAM, "install", PROGRAM].map(str::to_owned)),
        volume_mounts: Some(vec![at(COPY_PROGRAM, PROGRAM_FOLDER)]),
        ..copy_container(COPY_PROGRAM, settings)
    };
    let words = [PROGRAM, "copy", directory, FILES_FOLDER, MARKER, SIZE_BYTES];
    vec![first, container_in_image(IMAGE_FILES, &words, workshop, settings)]
}

/// Returns an init container with the image and the security context of the app. It has the program, and the crash-safe volume at
/// [`FILES_FOLDER`].
pub(super) fn container_in_image(
    name: &str,
    command: &[&str],
    workshop: &Validated,
    settings: &OperatorSettings,
) -> Container {
    let command: Vec<_> = command.iter().map(|&word| word.to_owned()).collect();
    Container {
        image: Some(workshop.spec.image.clone()),
        command: words(&command),
        volume_mounts: Some(vec![at(COPY_PROGRAM, PROGRAM_FOLDER), at(CRASH_SAFE_VOLUME, FILES_FOLDER)]),
        security_context: Some(app_security(workshop.spec.profile, settings)),
        // The image's directory may be the one in which its processes start.
        working_dir: Some("/".to_owned()),
        ..copy_container(name, settings)
    }
}

fn copy_container(name: &str, settings: &OperatorSettings) -> Container {
    Container {
        // The same requests as the sidecar's, so the container does not increase the requests of the pod.
        resources: Some(amounts(SIDECAR_REQUESTS, LIMITS)),
        ..own_container(name, sidecar_user(settings), settings)
    }
}

/// Returns a volume that ends with the pod.
pub(super) fn empty_dir(name: &str, size: &str) -> Volume {
    let source =
        EmptyDirVolumeSource { size_limit: Some(Quantity(size.to_owned())), ..EmptyDirVolumeSource::default() };
    Volume { name: name.to_owned(), empty_dir: Some(source), ..Volume::default() }
}
