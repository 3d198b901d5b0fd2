//! Builds the container that places course material.

use bollard::models::{ContainerCreateBody, HostConfig};
use launcher_domain::{FailureReason, MATERIAL_VARIABLE};
use launcher_workshop::Workshop;

use super::input::{BuildSettings, Validated, validate, variables};
use super::limits::{Amounts, host_config, no_health_check, without_label};
use super::volumes::{MaterialVolume, anonymous, bind, kept, material_volumes, without_copy};
use crate::containers::names::{self, Part};

/// The program in its image.
const PROGRAM: &str = "/launcher-material";
/// Directory for temporary files.
const TEMPORARY: &str = "/tmp";
/// Directory with the state of the last delivery, beside the directories of the sources.
const STATE: &str = ".course-material";
/// Mount path of the secrets of private sources. No volume with files of a user can be mounted below `/etc`.
const SECRETS: &str = "/etc/workshop-launcher/material-secrets";

/// Builds the container that places the material of a Workshop; `None` if it has no material, or if the settings name no
/// image. The container uses the network namespace of the sidecar, and has the limits of the app. `user` is the user of the
/// app, which changes the files. `deadline` is the maximum seconds of the run.
///
/// # Errors
/// A failure with the code `InvalidSpec`. Its message names the field.
pub(crate) fn material(
    workshop: &Workshop,
    settings: &BuildSettings<'_>,
    user: u32,
    deadline: u32,
) -> Result<Option<ContainerCreateBody>, FailureReason> {
    let Validated { name, uid, spec } = validate(workshop)?;
    let (Some(material), Some(image)) = (&spec.material, settings.material_image) else { return Ok(None) };
    let config = material.config(deadline, None, SECRETS).and_then(|config| serde_json::to_string(&config).ok());
    let Some(config) = config else { return Ok(None) };
    let resources = &spec.resources;
    let amounts = Amounts::parse([&resources.cpu_request, &resources.cpu_limit, &resources.memory_limit])?;
    let sidecar = names::container(settings.fleet_id, &name, Part::Sidecar);
    let files = match &spec.storage {
        // The image of this program has no files for the volume. Those of the app's image are in it already.
        Some(storage) => vec![without_copy(kept(settings.volumes_of, storage))],
        None => {
            let state = anonymous(&format!("{}/{STATE}", material.directory));
            let volumes = material_volumes(&workshop.spec, settings.fleet_id, &name);
            volumes.into_iter().map(MaterialVolume::mount).chain([state]).collect()
        }
    };
    let has_secrets = !material.secrets().is_empty();
    let secrets = has_secrets.then(|| bind(settings.secrets_dir, SECRETS, true));
    let limited = host_config(&amounts, settings);
    let limited = if has_secrets { without_label(limited) } else { limited };
    let env = [(MATERIAL_VARIABLE, config), ("TMPDIR", TEMPORARY.to_owned())];
    Ok(Some(ContainerCreateBody {
        image: Some(image.to_owned()),
        entrypoint: Some(vec![PROGRAM.to_owned()]),
        env: Some(variables(env.map(|(name, value)| (name.to_owned(), value)).into())),
        user: Some(user.to_string()),
        labels: Some(names::container_labels(settings.fleet_id, &name, &uid, Part::Material)),
        healthcheck: Some(no_health_check()),
        host_config: Some(HostConfig {
            network_mode: Some(format!("container:{sidecar}")),
            mounts: Some(files.into_iter().chain([anonymous(TEMPORARY)]).chain(secrets).collect()),
            ..limited
        }),
        ..ContainerCreateBody::default()
    }))
}

/// Returns the directories of the container to which its user writes.
pub(crate) fn material_paths(body: &ContainerCreateBody) -> Vec<String> {
    let mounts = body.host_config.iter().flat_map(|host| host.mounts.iter().flatten());
    let writable = mounts.filter(|mount| mount.read_only != Some(true));
    writable.filter_map(|mount| mount.target.clone()).collect()
}
