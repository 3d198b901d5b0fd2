//! Builds the container of the sidecar, the reverse proxy that admits only the owner.

use bollard::models::{ContainerCreateBody, HostConfig};
use launcher_domain::FailureReason;
use launcher_workshop::Workshop;
use launcher_workshop::app::{SIDECAR_LIMITS, SIDECAR_REQUESTS, SidecarSpec};

use super::host_config::{bind, host_config, no_health_check, without_label};
use super::input::{BuildSettings, Validated, validate, variables};
use crate::containers::connector::{HTTP_SOCKET, TELEMETRY_SOCKET};
use crate::containers::names::{self, Part};

/// File of the sidecar's directory with the addresses that the network rules name. The launcher writes it before each
/// start of the container.
pub(crate) const ADDRESSES_FILE: &str = "addresses";
const PROGRAM: &str = "/launcher-sidecar";
/// Capabilities with which the sidecar installs the network rules. It gives them up before it serves.
const CAPABILITIES: [&str; 4] = ["NET_ADMIN", "SETGID", "SETPCAP", "SETUID"];
/// User ID with which the sidecar installs the network rules.
const ROOT: u32 = 0;

/// The engine's default bridge network. Containers of other networks use a name server of the engine, which tells each
/// of them the names of all others.
const DEFAULT_NETWORK: &str = "bridge";
/// Mount path of the directory with the sidecar's sockets.
const RUN_FOLDER: &str = "/run/workshop-launcher";
/// Mount path of the directory with the sidecar's files.
const CONFIG_FOLDER: &str = "/etc/workshop-launcher";

/// Builds the container of the sidecar. It owns the network namespace of both containers, and listens on no port, only
/// on Unix sockets in [`BuildSettings::run_dir`].
///
/// With a network, it begins as root: it installs the rules of this network, gives up all privileges, and only then
/// listens, as the user [`BuildSettings::sidecar_user`].
///
/// # Errors
/// A failure with the code `InvalidSpec`. Its message names the field.
pub fn sidecar(workshop: &Workshop, settings: &BuildSettings<'_>) -> Result<ContainerCreateBody, FailureReason> {
    let Validated { name, uid, spec } = validate(workshop)?;
    let &BuildSettings { options, origins, .. } = settings;
    let mut env = SidecarSpec {
        spec: &spec,
        require_authentication: origins.require_authentication,
        trusted_header: origins.trusted_header.name(),
        session_cookie_prefix: &origins.session_cookie_prefix,
        folder: CONFIG_FOLDER,
        workshop_page: Some(&origins.workshop_page_url(&name)),
        brand: &origins.brand,
    }
    .environment();
    for (variable, socket) in [("SERVICE_LISTEN_ADDR", HTTP_SOCKET), ("SERVICE_TELEMETRY_ADDR", TELEMETRY_SOCKET)] {
        env.insert(variable.to_owned(), format!("unix:{RUN_FOLDER}/{socket}"));
    }
    let start = Start::new(settings);
    let limits = [SIDECAR_REQUESTS[0], SIDECAR_LIMITS[0], SIDECAR_LIMITS[1]];
    // The sidecar writes no files, so its disk space needs no limit.
    let limited = without_label(host_config(limits, &BuildSettings { limits_disk: false, ..*settings })?);
    Ok(ContainerCreateBody {
        image: Some(options.sidecar_image.clone()),
        // With Docker Engine, the app's container has this host name, too.
        hostname: Some(name.clone()),
        entrypoint: Some(vec![PROGRAM.to_owned()]),
        cmd: start.arguments,
        env: Some(variables(env)),
        user: Some(start.user.to_string()),
        labels: Some(names::container_labels(settings.fleet_id, &name, &uid, Part::Sidecar)),
        healthcheck: Some(no_health_check()),
        host_config: Some(HostConfig {
            network_mode: Some(start.network.to_owned()),
            cap_add: start.capabilities,
            readonly_rootfs: Some(true),
            mounts: Some(vec![
                bind(settings.run_dir, RUN_FOLDER, false),
                bind(settings.config_dir, CONFIG_FOLDER, true),
            ]),
            ..limited
        }),
        ..ContainerCreateBody::default()
    })
}

/// Settings of the sidecar's start that depend on the network.
struct Start {
    network: &'static str,
    arguments: Option<Vec<String>>,
    user: u32,
    capabilities: Option<Vec<String>>,
}

impl Start {
    fn new(settings: &BuildSettings<'_>) -> Self {
        if !settings.options.container_internet {
            return Self { network: "none", arguments: None, user: settings.sidecar_user, capabilities: None };
        }
        let addresses = format!("{CONFIG_FOLDER}/{ADDRESSES_FILE}");
        let arguments = ["limit-network", "--addresses", &addresses, "--serve-as", &settings.sidecar_user.to_string()];
        Self {
            network: DEFAULT_NETWORK,
            arguments: Some(arguments.map(str::to_owned).into()),
            user: ROOT,
            capabilities: Some(CAPABILITIES.map(str::to_owned).into()),
        }
    }
}
