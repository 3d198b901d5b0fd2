//! Builds the container that places course material.

use bollard::models::{ContainerCreateBody, HostConfig, Mount, MountType, MountVolumeOptions};
use launcher_domain::{FailureReason, MATERIAL_VARIABLE};
use launcher_workshop::{Workshop, WorkshopSpec};

use super::app::{no_health_check, volume};
use super::input::{BuildSettings, Validated, validate, variables};
use super::limits::{Amounts, host_config};
use crate::containers::names::{self, Part};

/// The program in its image.
const PROGRAM: &str = "/launcher-material";
/// Directory for temporary files.
const TEMPORARY: &str = "/tmp";
/// Directory with the state of the last delivery, beside the directories of the sources.
const STATE: &str = ".course-material";

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
    let config = material.config(deadline, None).and_then(|config| serde_json::to_string(&config).ok());
    let Some(config) = config else { return Ok(None) };
    let resources = &spec.resources;
    let amounts = Amounts::parse([&resources.cpu_request, &resources.cpu_limit, &resources.memory_limit])?;
    let sidecar = names::container(settings.fleet_id, &name, Part::Sidecar);
    let files = match &spec.storage {
        // The image of this program has no files for the volume. Those of the app's image are in it already.
        Some(storage) => vec![without_copy(volume(settings.volumes_of, storage))],
        None => {
            let state = anonymous(&format!("{}/{STATE}", material.directory));
            let volumes = material_volumes(&workshop.spec, settings.fleet_id, &name);
            volumes.into_iter().map(MaterialVolume::mount).chain([state]).collect()
        }
    };
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
            mounts: Some(files.into_iter().chain([anonymous(TEMPORARY)]).collect()),
            ..host_config(&amounts, settings)
        }),
        ..ContainerCreateBody::default()
    }))
}

/// A volume with the material of one source.
pub(crate) struct MaterialVolume {
    /// The engine's name of the volume.
    pub(crate) name: String,
    /// Path at which the app and the container that places the material mount the volume.
    pub(crate) path: String,
}

impl MaterialVolume {
    /// Returns the mount of the volume.
    pub(super) fn mount(self) -> Mount {
        let Self { name, path } = self;
        Mount { typ: Some(MountType::VOLUME), source: Some(name), target: Some(path), ..Mount::default() }
    }
}

/// Returns the volumes of a Workshop without storage, one for each source of its material. They end with the Workshop.
pub(crate) fn material_volumes(spec: &WorkshopSpec, fleet_id: &str, name: &str) -> Vec<MaterialVolume> {
    let material = spec.material.iter().filter(|_| spec.storage.is_none());
    let volumes = material.flat_map(|material| {
        material.sources.iter().enumerate().map(move |(place, source)| MaterialVolume {
            name: names::material_volume(fleet_id, name, place),
            path: format!("{}/{}", material.directory, source.target),
        })
    });
    volumes.collect()
}

/// Returns the directories of the container to which its user writes.
pub(crate) fn material_paths(body: &ContainerCreateBody) -> Vec<String> {
    let mounts = body.host_config.iter().flat_map(|host| host.mounts.iter().flatten());
    mounts.filter_map(|mount| mount.target.clone()).collect()
}

fn without_copy(mount: Mount) -> Mount {
    let options = MountVolumeOptions { no_copy: Some(true), ..MountVolumeOptions::default() };
    Mount { volume_options: Some(options), ..mount }
}

/// Mounts a volume without a name, which the engine removes with the container.
fn anonymous(target: &str) -> Mount {
    Mount { typ: Some(MountType::VOLUME), target: Some(target.to_owned()), ..Mount::default() }
}
