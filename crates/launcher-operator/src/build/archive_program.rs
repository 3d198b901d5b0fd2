//! Builds a container with the program `launcher-sidecar archive`, which reads a volume and sends its files to the launcher.

use k8s_openapi::api::core::v1::{Container, ContainerPort, SecurityContext, VolumeMount};
use launcher_workshop::app::{SIDECAR_PORT, SIDECAR_REQUESTS};

use super::limits::{amounts, restricted};
use super::literal::variables;
use crate::settings::OperatorSettings;

/// Name of the program's mode.
const MODE: &str = "archive";
/// CPU and memory limits. The program has a few buffers of 64 KiB. The kernel's cache of the files counts too, but it
/// is reclaimed.
const LIMITS: [&str; 2] = ["1", "64Mi"];

/// Settings of the program.
pub(super) struct ArchiveProgram<'a> {
    /// Name of the container.
    pub(super) name: &'a str,
    /// Name of the volume. It is mounted read-only.
    pub(super) volume: &'a str,
    /// SHA-256 of the token.
    pub(super) token_sha256: &'a str,
    /// Maximum seconds until a client asks for the only archive; 0 if each request gets the archive.
    pub(super) wait: u32,
    /// Port of the program.
    pub(super) port: u16,
}

/// Builds the container. It has the security of the profile `restricted`, and the user of apps with this profile. This is
/// also the user of the stock images with the profile `baseline`. The program lists files that this user cannot read.
pub(super) fn container(program: &ArchiveProgram<'_>, settings: &OperatorSettings) -> Container {
    let &ArchiveProgram { name, volume, token_sha256, wait, port } = program;
    let folder = format!("/{volume}");
    let env = [
        ("SERVICE_ARCHIVE_DIRECTORY", folder.clone()),
        ("SERVICE_ARCHIVE_TOKEN_SHA256", token_sha256.to_owned()),
        ("SERVICE_ARCHIVE_WAIT", wait.to_string()),
    ];
    let address = (port != SIDECAR_PORT).then(|| ("SERVICE_LISTEN_ADDR", format!("0.0.0.0:{port}")));
    let env = env.into_iter().chain(address).map(|(name, value)| (name.to_owned(), value));
    Container {
        name: name.to_owned(),
        image: Some(settings.sidecar.image.clone()),
        image_pull_policy: Some(settings.pull_policy.as_str().to_owned()),
        args: Some(vec![MODE.to_owned()]),
        env: Some(variables(env.collect())),
        ports: Some(vec![ContainerPort {
            container_port: i32::from(port),
            protocol: Some("TCP".to_owned()),
            ..ContainerPort::default()
        }]),
        resources: Some(amounts(SIDECAR_REQUESTS, LIMITS)),
        volume_mounts: Some(vec![VolumeMount {
            name: volume.to_owned(),
            mount_path: folder,
            read_only: Some(true),
            ..VolumeMount::default()
        }]),
        security_context: Some(SecurityContext {
            read_only_root_filesystem: Some(true),
            ..restricted(settings.run_as_user)
        }),
        ..Container::default()
    }
}
