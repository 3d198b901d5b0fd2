//! Builds the volume of a directory whose files outlive a crash of the app, and the init containers that fill it.
//!
//! The volume is an `emptyDir`: it ends with the pod. It hides the files of the image at its mount path. The first init
//! container therefore copies the program `launcher-material` into a small volume. The second one has the image of the app,
//! and runs this program there: it copies the files of the image into the volume.

use k8s_openapi::api::core::v1::{Container, EmptyDirVolumeSource, SecurityContext, Volume, VolumeMount};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use launcher_workshop::app::SIDECAR_REQUESTS;
use launcher_workshop::pod_template::{COPY_PROGRAM, CRASH_SAFE_VOLUME, IMAGE_FILES};

use super::limits::{amounts, app_security, restricted};
use super::literal::words;
use super::sidecar::sidecar_user;
use crate::settings::OperatorSettings;
use crate::validate::Validated;

/// Maximum size of the volume. The kubelet evicts a pod that exceeds it.
pub(super) const SIZE: &str = "20Gi";
/// The same size in bytes, for the program.
const SIZE_BYTES: &str = "21474836480";
/// Maximum size of the volume with the program.
const PROGRAM_SIZE: &str = "64Mi";
/// CPU and memory limits of the init containers. They do not increase the limits of the pod.
const LIMITS: [&str; 2] = ["1", "256Mi"];
/// The program in its own image.
const OWN_PROGRAM: &str = "/launcher-material";
/// Directory with the program, in both init containers.
const PROGRAM_FOLDER: &str = "/launcher-program";
/// The program in [`PROGRAM_FOLDER`].
const PROGRAM: &str = "/launcher-program/launcher-material";
/// File that exists after the copy: after a restart of the node, the kubelet runs the init containers again.
const MARKER: &str = "/launcher-program/copied";
/// Mount path of the volume in the second init container, where it must not hide the files of the image.
const FILES_FOLDER: &str = "/launcher-files";

/// Returns the directory of a Workshop if the settings name the image of the program. Without the program, the files of
/// the image would be missing.
pub(super) fn directory<'a>(workshop: &'a Validated, settings: &OperatorSettings) -> Option<&'a str> {
    workshop.spec.crash_safe_directory.as_deref().filter(|_| settings.material_image.is_some())
}

/// Returns the mount of the volume in the app.
pub(super) fn mount(directory: &str) -> VolumeMount {
    at(CRASH_SAFE_VOLUME, directory)
}

/// Returns the volume, and the volume with the program.
pub(super) fn volumes(workshop: &Validated, settings: &OperatorSettings) -> Vec<Volume> {
    let Some(_) = directory(workshop, settings) else { return Vec::new() };
    [(CRASH_SAFE_VOLUME, SIZE), (COPY_PROGRAM, PROGRAM_SIZE)].map(|(name, size)| empty_dir(name, size)).into()
}

/// Returns the init containers. The second one has the security context of the app, so the app can change the files.
pub(super) fn containers(workshop: &Validated, settings: &OperatorSettings) -> Vec<Container> {
    let Some(directory) = directory(workshop, settings) else { return Vec::new() };
    let program = at(COPY_PROGRAM, PROGRAM_FOLDER);
    let first = Container {
        name: COPY_PROGRAM.to_owned(),
        image: settings.material_image.clone(),
        command: words(&[OWN_PROGRAM, "install", PROGRAM].map(str::to_owned)),
        volume_mounts: Some(vec![program.clone()]),
        security_context: Some(SecurityContext {
            read_only_root_filesystem: Some(true),
            ..restricted(sidecar_user(settings))
        }),
        ..common(settings)
    };
    let second = Container {
        name: IMAGE_FILES.to_owned(),
        image: Some(workshop.spec.image.clone()),
        command: words(&[PROGRAM, "copy", directory, FILES_FOLDER, MARKER, SIZE_BYTES].map(str::to_owned)),
        volume_mounts: Some(vec![program, at(CRASH_SAFE_VOLUME, FILES_FOLDER)]),
        security_context: Some(app_security(workshop.spec.profile, settings)),
        // The image's directory may be the one in which its processes start.
        working_dir: Some("/".to_owned()),
        ..common(settings)
    };
    vec![first, second]
}

fn common(settings: &OperatorSettings) -> Container {
    Container {
        image_pull_policy: Some(settings.pull_policy.as_str().to_owned()),
        // The same requests as the sidecar's, so the container does not increase the requests of the pod.
        resources: Some(amounts(SIDECAR_REQUESTS, LIMITS)),
        ..Container::default()
    }
}

/// Returns a volume that ends with the pod.
pub(super) fn empty_dir(name: &str, size: &str) -> Volume {
    let source =
        EmptyDirVolumeSource { size_limit: Some(Quantity(size.to_owned())), ..EmptyDirVolumeSource::default() };
    Volume { name: name.to_owned(), empty_dir: Some(source), ..Volume::default() }
}

fn at(volume: &str, path: &str) -> VolumeMount {
    VolumeMount { name: volume.to_owned(), mount_path: path.to_owned(), ..VolumeMount::default() }
}
