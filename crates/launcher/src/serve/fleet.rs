//! The fleet of the running service: one variant for each adapter.

use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use launcher_domain::{Clock, ProxySecret};
use launcher_fleet::{Fleet, Gateway, KubernetesFleet, LocalFleet, LocalFleetError, LocalSettings};
use launcher_process::stop::Stop;

use crate::cluster::{self, ClusterError};
use crate::settings::{FleetKind, ServeSettings};

/// Time that a stopped app has to exit before it is killed.
const APP_GRACE: Duration = Duration::from_secs(5);

/// Reasons why the fleet cannot be opened. Each message is one line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenFleetError {
    #[error("the local fleet cannot be used: {0}")]
    Local(#[from] LocalFleetError),
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}

/// The open fleet of the running service.
#[derive(Debug)]
pub(super) enum RunningFleet {
    Local(LocalFleet),
    Kubernetes(Arc<KubernetesFleet>),
}

impl RunningFleet {
    /// Opens the fleet that the settings choose. `public_url` is the URL of the launcher.
    pub(super) async fn open(
        settings: &ServeSettings,
        public_url: &Uri,
        proxy_secret: Option<ProxySecret>,
        clock: Arc<dyn Clock>,
        stop: Stop,
    ) -> Result<Self, OpenFleetError> {
        match settings.fleet {
            FleetKind::Local => {
                let local = LocalSettings { proxy_secret, ..local_settings(settings, public_url) };
                Ok(Self::Local(LocalFleet::open(local, clock, stop)?))
            }
            FleetKind::Kubernetes => {
                let (client, namespace) = cluster::connect().await?;
                let namespace = settings.namespace.as_deref().unwrap_or(&namespace);
                Ok(Self::Kubernetes(Arc::new(KubernetesFleet::new(client, namespace))))
            }
        }
    }

    /// Returns the fleet as the port that the service uses.
    pub(super) fn port(&self) -> Arc<dyn Fleet> {
        match self {
            Self::Local(fleet) => Arc::new(fleet.clone()),
            Self::Kubernetes(fleet) => fleet.clone(),
        }
    }

    /// Returns the gateway of the local fleet. On Kubernetes, requests for workshops do not arrive at this process.
    pub(super) fn gateway(&self) -> Option<Gateway> {
        match self {
            Self::Local(fleet) => Some(fleet.gateway()),
            Self::Kubernetes(_) => None,
        }
    }

    /// Stops the workloads of the local fleet, because they cannot run without this process. Keeps their Workshops.
    pub(super) async fn stop(self) {
        match self {
            Self::Local(fleet) => fleet.stop().await,
            // The operator keeps the workloads running.
            Self::Kubernetes(_) => {}
        }
    }
}

/// Returns the settings of the local fleet, without the proxy secret.
pub(crate) fn local_settings(settings: &ServeSettings, public_url: &Uri) -> LocalSettings {
    LocalSettings {
        data_dir: settings.data_dir.clone(),
        public_origin: public_url.clone(),
        workshop_domain: settings.workshop_domain.clone(),
        jupyter: settings.local_jupyter.clone(),
        rstudio: settings.local_rstudio.clone(),
        // Start keepers from the program that is running now: an upgrade may already have replaced its file.
        keeper: "/proc/self/exe".into(),
        start_timeout: settings.limits().start_timeout,
        stop_grace: APP_GRACE,
        trusted_header: settings.trusted_auth_header.clone(),
        proxy_secret: None,
        require_authentication: settings.require_authentication,
        session_cookie_prefix: settings.session_cookie_prefix.clone(),
    }
}
