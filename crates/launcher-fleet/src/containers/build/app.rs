//! Builds the container of the app.

use bollard::models::{ContainerCreateBody, HostConfig};
use launcher_domain::{FailureReason, SecurityProfile};
use launcher_workshop::Workshop;
use launcher_workshop::app::{AppSpec, BASELINE_CAPABILITIES, ContainerCommand, ValidSpec};

use super::input::{BuildSettings, Validated, validate, variables};
use super::limits::{Amounts, host_config, no_health_check};
use super::volumes::{MaterialVolume, kept, material_volumes};
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
        // The files of a container outlive each crash of its app.
        crash_safe_directory: _,
        snapshot: _,
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
    let kept_files = storage.as_ref().map(|storage| kept(settings.volumes_of, storage));
    let volumes = settings.material_image.map(|_| material_volumes(&workshop.spec, settings.fleet_id, &name));
    let mounts: Vec<_> =
        kept_files.into_iter().chain(volumes.into_iter().flatten().map(MaterialVolume::mount)).collect();
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
