//! Builds the container of the app, and the one that places course material before, with the limits of the app.

use bollard::models::{ContainerCreateBody, HostConfig};
use launcher_domain::{FailureReason, MATERIAL_VARIABLE, SecurityProfile};
use launcher_workshop::Workshop;
use launcher_workshop::app::{BASELINE_CAPABILITIES, ContainerCommand};

use super::host_config::{
    MaterialVolume, bind, host_config, kept, material_volumes, no_health_check, volume, without_copy, without_label,
};
use super::input::{BuildSettings, Validated, validate, variables};
use crate::containers::names::{self, Part};

/// Added to the score by which the kernel chooses a process to kill when the whole machine has no memory left: an app is
/// killed before the launcher, a sidecar or the engine. From -1000 to 1000.
const OOM_SCORE: i64 = 800;

/// Builds the container of the app. It uses the network namespace of the sidecar. It mounts only the volume with the owner's
/// files, or without storage the volumes with course material.
pub fn app(workshop: &Workshop, settings: &BuildSettings<'_>) -> Result<ContainerCreateBody, FailureReason> {
    let Validated { name, uid, spec } = validate(workshop)?;
    let app = spec.app(&settings.origins.url(&name));
    let ContainerCommand { command, args } = app.container_command();
    let mut environment = app.environment();
    let secret = |name: &String| Some((name.clone(), settings.secrets.reveal(name)?.to_owned()));
    environment.extend(spec.secret_env.iter().filter_map(secret));
    let resources = &spec.resources;
    let limits = [&*resources.cpu_request, &resources.cpu_limit, &resources.memory_limit];
    let (user, capabilities) = match spec.profile {
        SecurityProfile::Restricted => (Some(settings.options.run_as_user.to_string()), None),
        SecurityProfile::Baseline => (None, Some(BASELINE_CAPABILITIES.map(str::to_owned).into())),
    };
    let sidecar = names::container(settings.fleet_id, &name, Part::Sidecar);
    let kept_files = spec.storage.as_ref().map(|storage| kept(settings.volumes_of, storage));
    let volumes =
        settings.options.material_image.as_ref().map(|_| material_volumes(&workshop.spec, settings.fleet_id, &name));
    let mounts: Vec<_> =
        kept_files.into_iter().chain(volumes.into_iter().flatten().map(MaterialVolume::mount)).collect();
    Ok(ContainerCreateBody {
        image: Some(spec.image.clone()),
        // Without these, the image's entry point and arguments apply.
        entrypoint: (!command.is_empty()).then_some(command),
        cmd: (!args.is_empty()).then_some(args),
        env: Some(variables(environment)),
        user,
        labels: Some(names::container_labels(settings.fleet_id, &name, &uid, Part::App)),
        healthcheck: Some(no_health_check()),
        host_config: Some(HostConfig {
            network_mode: Some(format!("container:{sidecar}")),
            cap_add: capabilities,
            oom_score_adj: Some(OOM_SCORE),
            mounts: (!mounts.is_empty()).then_some(mounts),
            ..host_config(limits, settings)?
        }),
        ..ContainerCreateBody::default()
    })
}

const PROGRAM: &str = "/launcher-material";
const TEMPORARY: &str = "/tmp";
/// Directory with the state of the last delivery, beside the directories of the sources.
const STATE: &str = ".course-material";
/// Mount path of the secrets of private sources. No volume with files of a user can be mounted below `/etc`.
const SECRETS: &str = "/etc/workshop-launcher/material-secrets";

/// Builds the container that places the material of a Workshop; `None` if it has no material, or if the settings name no
/// image. The container uses the network namespace of the sidecar, and has the limits of the app. `user` is the user of the
/// app, which changes the files. `deadline` is the maximum seconds of the run.
pub(crate) fn material(
    workshop: &Workshop,
    settings: &BuildSettings<'_>,
    user: u32,
    deadline: u32,
) -> Result<Option<ContainerCreateBody>, FailureReason> {
    let Validated { name, uid, spec } = validate(workshop)?;
    let (Some(material), Some(image)) = (&spec.material, &settings.options.material_image) else { return Ok(None) };
    let config = material.config(deadline, None, SECRETS).and_then(|config| serde_json::to_string(&config).ok());
    let Some(config) = config else { return Ok(None) };
    let resources = &spec.resources;
    let limits = [&*resources.cpu_request, &resources.cpu_limit, &resources.memory_limit];
    let sidecar = names::container(settings.fleet_id, &name, Part::Sidecar);
    let files = match &spec.storage {
        // The image of this program has no files for the volume. Those of the app's image are in it already.
        Some(storage) => vec![without_copy(kept(settings.volumes_of, storage))],
        None => {
            let state = volume(None, &format!("{}/{STATE}", material.directory));
            let volumes = material_volumes(&workshop.spec, settings.fleet_id, &name);
            volumes.into_iter().map(MaterialVolume::mount).chain([state]).collect()
        }
    };
    let has_secrets = !material.secrets().is_empty();
    let secrets = has_secrets.then(|| bind(settings.secrets_dir, SECRETS, true));
    let limited = host_config(limits, settings)?;
    let limited = if has_secrets { without_label(limited) } else { limited };
    let env = [(MATERIAL_VARIABLE, config), ("TMPDIR", TEMPORARY.to_owned())];
    Ok(Some(ContainerCreateBody {
        image: Some(image.clone()),
        entrypoint: Some(vec![PROGRAM.to_owned()]),
        env: Some(variables(env.map(|(name, value)| (name.to_owned(), value)).into())),
        user: Some(user.to_string()),
        labels: Some(names::container_labels(settings.fleet_id, &name, &uid, Part::Material)),
        healthcheck: Some(no_health_check()),
        host_config: Some(HostConfig {
            network_mode: Some(format!("container:{sidecar}")),
            mounts: Some(files.into_iter().chain([volume(None, TEMPORARY)]).chain(secrets).collect()),
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
