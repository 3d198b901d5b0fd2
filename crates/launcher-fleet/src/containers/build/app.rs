//! Builds the container of the app.

use bollard::models::{ContainerCreateBody, HealthConfig, HostConfig, Mount, MountType};
use launcher_domain::{FailureReason, SecurityProfile};
use launcher_workshop::app::{AppSpec, BASELINE_CAPABILITIES, ContainerCommand, ValidSpec};
use launcher_workshop::{Workshop, WorkshopStorage};

use super::input::{BuildSettings, Validated, validate, variables};
use super::limits::{Amounts, host_config};
use super::material::{MaterialVolume, material_volumes};
use crate::containers::names::{self, Part};

/// Added to the score by which the kernel chooses a process to kill when the whole machine has no memory left: an app is
/// killed before the launcher, a sidecar or the engine. From -1000 to 1000.
const OOM_SCORE: i64 = 800;

/// Builds the container of the app. It uses the network namespace of the sidecar. It mounts only the volume with the owner's
/// files, or without storage the volumes with course material.
///
/// # Errors
/// A failure with the code `InvalidSpec`. Its message names the field.
pub fn app(workshop: &Workshop, settings: &BuildSettings<'_>) -> Result<ContainerCreateBody, FailureReason> {
    let Validated { name, uid, spec } = validate(workshop)?;
    let ValidSpec {
        app_type,
        image,
        port,
        command,
        args,
        env,
        secret_env,
        resources,
        profile,
        storage,
        material: _,
        owner: _,
    } = &spec;
    let app = AppSpec { app_type: *app_type, image, port: *port, command, args, env };
    let ContainerCommand { command, args } = app.container_command(settings.origin);
    let mut environment = app.environment();
    let secrets = secret_env.iter().filter_map(|name| Some((name.clone(), settings.secrets.reveal(name)?.to_owned())));
    environment.extend(secrets);
    let amounts = Amounts::parse([&resources.cpu_request, &resources.cpu_limit, &resources.memory_limit])?;
    let (user, capabilities) = match profile {
        SecurityProfile::Restricted => (Some(settings.run_as_user.to_string()), None),
        SecurityProfile::Baseline => (None, Some(BASELINE_CAPABILITIES.map(str::to_owned).into())),
    };
    let sidecar = names::container(settings.fleet_id, &name, Part::Sidecar);
    let kept = storage.as_ref().map(|storage| volume(settings.volumes_of, storage));
    let volumes = settings.material_image.map(|_| material_volumes(&workshop.spec, settings.fleet_id, &name));
    let mounts: Vec<_> = kept.into_iter().chain(volumes.into_iter().flatten().map(MaterialVolume::mount)).collect();
    Ok(ContainerCreateBody {
        image: Some(image.clone()),
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
            ..host_config(&amounts, settings)
        }),
        ..ContainerCreateBody::default()
    })
}

/// Mounts the volume with the owner's files. The engine copies the image's files at this path into an empty volume.
/// Podman mounts it with `nosuid` and `nodev`. Docker Engine refuses these options; there, the app lacks the privileges to
/// use such files.
pub(super) fn volume(fleet_id: &str, storage: &WorkshopStorage) -> Mount {
    Mount {
        typ: Some(MountType::VOLUME),
        source: Some(names::volume(fleet_id, &storage.volume)),
        target: Some(storage.path.clone()),
        ..Mount::default()
    }
}

/// Disables the health check of an image: the sidecar checks the app, and the health check would use the app's CPU time.
pub(super) fn no_health_check() -> HealthConfig {
    HealthConfig { test: Some(vec!["NONE".to_owned()]), ..HealthConfig::default() }
}
