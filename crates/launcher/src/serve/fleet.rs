//! The fleet of the running service: one variant for each adapter.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use launcher_domain::brand::Brand;
use launcher_domain::{Clock, ProxySecret};
use launcher_fleet::{
    ContainerFleet, ContainerSettings, Fleet, Gateway, KubernetesFleet, LocalFleet, LocalSettings, MachineSettings,
    OriginSettings, SavedFiles, SourceChecker,
};
use launcher_process::stop::Stop;
use launcher_service::Fleets;

use crate::cluster;
use crate::settings::{FleetKind, ServeSettings};

/// Time that a stopped app has to exit before it is killed.
const APP_GRACE: Duration = Duration::from_secs(5);
/// File name of the program that places course material.
const MATERIAL_PROGRAM: &str = "launcher-material";
/// Time after which that program is killed: it has one minute, and five seconds to report.
const MATERIAL_TIMEOUT: Duration = Duration::from_secs(65);

const NO_SIDECAR_IMAGE: &str = "SERVICE_SIDECAR_IMAGE is not set: name the image of the sidecars, which the fleet \
                                containers needs, for example the one that `make server-images` builds";

/// The open fleet of the running service.
#[derive(Debug)]
pub(super) enum RunningFleet {
    Local(LocalFleet),
    Containers(ContainerFleet),
    Kubernetes { main: Arc<KubernetesFleet>, of_classes: BTreeMap<String, Arc<dyn Fleet>> },
}

impl RunningFleet {
    /// Opens the fleet that the settings choose. `public_url` is the URL of the launcher.
    ///
    /// # Errors
    /// Returns one line with the reason why the fleet cannot be opened.
    pub(super) async fn open(
        settings: &ServeSettings,
        public_url: &Uri,
        proxy_secret: Option<ProxySecret>,
        saved_files: Option<Arc<dyn SavedFiles>>,
        clock: Arc<dyn Clock>,
        stop: Stop,
    ) -> Result<Self, String> {
        match settings.fleet {
            FleetKind::Local => {
                let mut local = local_settings(settings, public_url);
                local.machine.origins.proxy_secret = proxy_secret;
                local.machine.saved_files = saved_files;
                let fleet = LocalFleet::open(local, clock, stop);
                fleet.map(Self::Local).map_err(|error| format!("the local fleet cannot be used: {error}"))
            }
            FleetKind::Containers => {
                let mut containers = container_settings(settings, public_url).ok_or(NO_SIDECAR_IMAGE)?;
                containers.machine.origins.proxy_secret = proxy_secret;
                containers.machine.saved_files = saved_files;
                let fleet = ContainerFleet::open(containers, clock, stop).await;
                fleet.map(Self::Containers).map_err(|error| format!("the container fleet cannot be used: {error}"))
            }
            FleetKind::Kubernetes => {
                let (client, namespace) = cluster::connect().await?;
                let namespace = settings.namespace.as_deref().unwrap_or(&namespace);
                cluster::check_namespaces(namespace, &settings.class_namespaces)?;
                let of = |namespace: &str| {
                    KubernetesFleet::new(client.clone(), namespace).with_saved_files(saved_files.clone())
                };
                let of_class = |namespace: &String| (namespace.clone(), Arc::new(of(namespace)) as Arc<dyn Fleet>);
                let of_classes = settings.class_namespaces.iter().map(of_class).collect();
                let main = Arc::new(of(namespace).with_source_checks(source_checks(settings)));
                Ok(Self::Kubernetes { main, of_classes })
            }
        }
    }

    /// Returns the fleets that the service uses.
    pub(super) fn ports(&self) -> Fleets {
        match self {
            Self::Local(fleet) => Arc::new(fleet.clone()).into(),
            Self::Containers(fleet) => Arc::new(fleet.clone()).into(),
            Self::Kubernetes { main, of_classes } => Fleets::from(main.clone()).with_classes(of_classes.clone()),
        }
    }

    /// Returns the gateway of a fleet on this machine. On Kubernetes, requests for workshops do not arrive at this process.
    pub(super) fn gateway(&self) -> Option<Gateway> {
        match self {
            Self::Local(fleet) => Some(fleet.gateway()),
            Self::Containers(fleet) => Some(fleet.gateway()),
            Self::Kubernetes { .. } => None,
        }
    }

    /// Stops the workloads of the local fleet, because they cannot run without this process. Keeps their Workshops. The
    /// workloads of other fleets keep running.
    pub(super) async fn stop(self) {
        match self {
            Self::Local(fleet) => fleet.stop().await,
            Self::Containers(fleet) => fleet.close().await,
            // The operator keeps the workloads running.
            Self::Kubernetes { .. } => {}
        }
    }
}

/// Returns the settings of the local fleet, without the proxy secret and the saved files.
pub(crate) fn local_settings(settings: &ServeSettings, public_url: &Uri) -> LocalSettings {
    LocalSettings {
        machine: machine_settings(settings, public_url),
        programs: settings.programs.clone(),
        // Start keepers from the program that is running now: an upgrade may already have replaced its file.
        keeper: "/proc/self/exe".into(),
        material_timeout: MATERIAL_TIMEOUT,
    }
}

fn machine_settings(settings: &ServeSettings, public_url: &Uri) -> MachineSettings {
    MachineSettings {
        data_dir: settings.database.data_dir.clone(),
        origins: origins(settings, public_url),
        material: material_program(),
        saved_files: None,
        start_timeout: settings.limits.start_timeout,
        stop_grace: APP_GRACE,
    }
}

/// Returns the path of the program that places course material: beside this program.
pub(crate) fn material_program() -> PathBuf {
    std::env::current_exe().unwrap_or_default().with_file_name(MATERIAL_PROGRAM)
}

/// Returns the checker of course material of the launcher's pod, which has temporary files in `/tmp`.
fn source_checks(settings: &ServeSettings) -> Option<SourceChecker> {
    SourceChecker::of_public_servers(material_program(), std::env::temp_dir(), &settings.material_check_except)
}

/// Returns the settings of the container fleet, without the proxy secret and the saved files. `None` if no sidecar image is set.
pub(crate) fn container_settings(settings: &ServeSettings, public_url: &Uri) -> Option<ContainerSettings> {
    let options = settings.containers.clone();
    (!options.sidecar_image.is_empty())
        .then(|| ContainerSettings { machine: machine_settings(settings, public_url), options })
}

/// Returns the origins of launcher and workshops, without the proxy secret.
fn origins(settings: &ServeSettings, public_url: &Uri) -> OriginSettings {
    OriginSettings {
        public_origin: public_url.clone(),
        workshop_domain: settings.workshop_domain.clone(),
        trusted_header: settings.api.trusted_auth_header.clone(),
        proxy_secret: None,
        require_authentication: settings.api.require_authentication,
        session_cookie_prefix: settings.session_cookie_prefix.clone(),
        brand: Brand { name: settings.api.brand.name.clone(), color: settings.api.brand.color },
    }
}
