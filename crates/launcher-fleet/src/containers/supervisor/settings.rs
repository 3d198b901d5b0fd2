//! Settings of the containers of a Workshop.

use launcher_workshop::Workshop;

use crate::containers::build::BuildSettings;
use crate::containers::context::Context;
use crate::containers::engine::EngineError;
use crate::containers::workload::{Record, Workload};

/// Passes the Workshop and the settings of its containers to `build`.
///
/// # Errors
/// The engine cannot say whether it limits disk space.
pub(super) async fn with_settings<T>(
    workload: &Workload,
    build: impl FnOnce(&Workshop, &BuildSettings<'_>) -> T,
) -> Result<T, EngineError> {
    let Record { workshop, secrets, .. } = workload.stored_record().get();
    let (context, name) = (workload.context(), workload.stored_record().name());
    let limits_disk = context.limits_disk().await?;
    let Context { settings, engine_info, .. } = &**context;
    let origins = &settings.origins;
    let origin = origins.url(name);
    let workshop_page = origins.workshop_page_url(name);
    let settings = BuildSettings {
        fleet_id: &context.data_dir.id,
        volumes_of: &context.data_dir.fleet_id,
        sidecar_image: &settings.sidecar_image,
        material_image: settings.material_image.as_deref(),
        sidecar_user: context.sidecar_user,
        run_as_user: settings.run_as_user.get(),
        internet: settings.internet,
        limits_disk,
        process_limits: engine_info.process_limits,
        seccomp: &context.seccomp,
        require_authentication: origins.require_authentication,
        trusted_header: origins.trusted_header.name(),
        session_cookie_prefix: &origins.session_cookie_prefix,
        origin: origin.trim_end_matches('/'),
        workshop_page: Some(&workshop_page),
        secrets: &secrets,
        run_dir: &context.run_dir(name),
        config_dir: &context.config_dir(name),
        secrets_dir: &context.secrets_dir(name),
    };
    Ok(build(&workshop, &settings))
}
