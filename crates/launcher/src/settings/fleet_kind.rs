//! The kinds of fleets. Code that depends on the kind matches on all kinds, here, in `serve/fleet.rs` or in the doctor.
//! The compiler then reports each place that must handle a new kind.

use std::time::Duration;

use clap::ValueEnum;

/// The fleet adapter that turns Workshops into running workloads.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FleetKind {
    /// Processes of this machine, without isolation between users: for development and one trusted person
    Local,
    /// Containers of Docker or Podman on this machine, isolated from each other
    Containers,
    /// Pods on Kubernetes, which `launcher operator` runs
    Kubernetes,
}

impl FleetKind {
    /// Returns true if all workshops run as one OS user of one machine.
    pub(crate) fn shares_one_user(self) -> bool {
        match self {
            Self::Local => true,
            Self::Containers | Self::Kubernetes => false,
        }
    }

    /// Returns the fields of a template that the fleet ignores, by their names in the API.
    pub(crate) fn ignored_fields(self) -> &'static [&'static str] {
        match self {
            Self::Local => &[
                "image",
                "port",
                "cpu_request",
                "cpu_limit",
                "memory_request",
                "memory_limit",
                "security_profile",
                "pod_template",
                "storage_size",
                "storage_path",
            ],
            Self::Containers => &["pod_template", "storage_size"],
            Self::Kubernetes => &[],
        }
    }

    /// Returns the time from ready until the URL of a workshop answers.
    pub(crate) fn routing_delay(self) -> Duration {
        match self {
            // The gateway knows a workshop as soon as it is ready.
            Self::Local | Self::Containers => Duration::ZERO,
            // Traefik applies changes every two seconds by default, and answers 404 before.
            Self::Kubernetes => Duration::from_secs(3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FleetKind;

    #[test]
    fn only_kubernetes_fleet_uses_pod_template() {
        assert!(FleetKind::Local.ignored_fields().contains(&"pod_template"));
        assert_eq!(FleetKind::Containers.ignored_fields(), ["pod_template", "storage_size"]);
        assert!(FleetKind::Kubernetes.ignored_fields().is_empty());
    }
}
