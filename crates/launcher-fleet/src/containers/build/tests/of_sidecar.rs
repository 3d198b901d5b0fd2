//! The sidecar.

use std::collections::BTreeMap;

use super::super::{BuildSettings, app, sidecar};
use super::{environment, host, settings, workshop};

#[test]
fn sidecar_listens_only_on_sockets_in_its_directory() {
    let sidecar = sidecar(&workshop(), &settings()).unwrap();
    let environment = environment(&sidecar);
    let expected = BTreeMap::from([
        ("SERVICE_OWNER_EMAIL", "alice@example.org"),
        ("SERVICE_APP_PORT", "8888"),
        ("SERVICE_REQUIRE_AUTHENTICATION", "true"),
        ("SERVICE_TRUSTED_AUTH_HEADER", "X-Auth-Request-Email"),
        ("SERVICE_SESSION_COOKIE_PREFIX", "_oauth2_proxy"),
        ("SERVICE_EXPIRY_FILE", "/etc/workshop-launcher/expires-at"),
        ("SERVICE_LAST_CRASH_FILE", "/etc/workshop-launcher/last-crash"),
        ("SERVICE_WORKSHOP_PAGE_URL", "https://example.org/instances/lab-a"),
        ("SERVICE_LISTEN_ADDR", "unix:/run/workshop-launcher/http.sock"),
        ("SERVICE_TELEMETRY_ADDR", "unix:/run/workshop-launcher/telemetry.sock"),
    ]);
    assert_eq!(environment, expected);
    let mounts = host(&sidecar).mounts.clone().unwrap().into_iter();
    let mounts: Vec<_> =
        mounts.map(|mount| (mount.source.unwrap(), mount.target.unwrap(), mount.read_only.unwrap())).collect();
    let mount = |source: &str, target: &str, read_only| (source.to_owned(), target.to_owned(), read_only);
    assert_eq!(
        mounts,
        [
            mount("/data/fleet/workshops/lab-a/run", "/run/workshop-launcher", false),
            mount("/data/fleet/workshops/lab-a/sidecar", "/etc/workshop-launcher", true),
        ]
    );
}

#[test]
fn sidecar_is_read_only_with_its_own_limits() {
    let sidecar = sidecar(&workshop(), &BuildSettings { limits_disk: true, ..settings() }).unwrap();
    assert_eq!(sidecar.image.as_deref(), Some("registry.example/sidecar:1"));
    let host = host(&sidecar);
    assert_eq!(host.readonly_rootfs, Some(true));
    assert_eq!((host.memory, host.memory_swap, host.cpu_quota), (Some(256 << 20), Some(256 << 20), Some(100_000)));
    assert_eq!(host.storage_opt, None);
    assert_eq!(sidecar.hostname.as_deref(), Some("lab-a"));
}

#[test]
fn sidecar_without_internet_has_no_network_and_no_privileges() {
    let sidecar = sidecar(&workshop(), &BuildSettings { internet: false, ..settings() }).unwrap();
    assert_eq!(host(&sidecar).network_mode.as_deref(), Some("none"));
    assert_eq!((sidecar.user.as_deref(), &sidecar.cmd, &host(&sidecar).cap_add), (Some("65532"), &None, &None));
    assert_eq!(host(&app(&workshop(), &settings()).unwrap()).cap_add, None);
}

#[test]
fn sidecar_with_internet_installs_network_rules_before_it_serves_as_its_user() {
    let sidecar = sidecar(&workshop(), &settings()).unwrap();
    assert_eq!(host(&sidecar).network_mode.as_deref(), Some("bridge"));
    assert_eq!(sidecar.entrypoint.unwrap(), ["/launcher-sidecar"]);
    let arguments = ["limit-network", "--addresses", "/etc/workshop-launcher/addresses", "--serve-as", "65532"];
    assert_eq!(sidecar.cmd.unwrap(), arguments);
    assert_eq!(sidecar.user.as_deref(), Some("0"));
    let capabilities = sidecar.host_config.unwrap().cap_add.unwrap();
    assert_eq!(capabilities, ["NET_ADMIN", "SETGID", "SETPCAP", "SETUID"]);
}
