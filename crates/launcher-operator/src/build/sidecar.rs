//! Builds the container of the sidecar, the reverse proxy that admits only the owner.

use std::time::Duration;

use k8s_openapi::api::core::v1::{
    Container, DownwardAPIVolumeFile, DownwardAPIVolumeSource, HTTPGetAction, KeyToPath, Lifecycle, LifecycleHandler,
    ObjectFieldSelector, Probe, SecretVolumeSource, SleepAction, Volume,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use launcher_domain::brand::Brand;
use launcher_workshop::app::{
    EXPIRY_FILE, HttpProbe, LAST_CRASH_FILE, LIVENESS, READINESS, SIDECAR_LIMITS, SIDECAR_PORT, SIDECAR_REQUESTS,
    SIDECAR_USER, SidecarSpec, TELEMETRY_PORT,
};

use super::container::{amounts, own_container, port, read_only_mount, variables};
use crate::metadata::{EXPIRES_AT, LAST_CRASH};
use crate::settings::OperatorSettings;
use crate::validate::Validated;

pub const SIDECAR_CONTAINER: &str = "sidecar";
/// preStop sleep of the sidecar, in seconds. The sidecar serves requests until the endpoint removal has propagated to
/// the proxies. If it stopped earlier, an app that still runs could bind the sidecar's port and receive the remaining
/// requests.
const SIDECAR_STAYS: i64 = 5;

const PROXY_SECRET_VOLUME: &str = "proxy-secret";
/// Key in the Secret, and name of the mounted file.
pub const PROXY_SECRET_KEY: &str = "secrets";
/// Mount path of the volume. It is mounted without a `subPath`: only then does the kubelet update the file when the
/// Secret changes.
const PROXY_SECRET_FOLDER: &str = "/etc/workshop-launcher/proxy";
/// File mode of the proxy secret: readable by all users, because the files belong to root and the sidecar has another
/// user. No other container mounts the volume.
const PROXY_SECRET_MODE: i32 = 0o444;

const EXPIRY_VOLUME: &str = "expiry";
/// Mount path of the volume. It is mounted without a `subPath`, so that the kubelet updates the file.
const EXPIRY_FOLDER: &str = "/etc/workshop-launcher/expiry";

pub(super) fn container(workshop: &Validated, settings: &OperatorSettings) -> Container {
    let workshop_page = settings.public_url.as_ref().map(|launcher| format!("{launcher}/instances/{}", workshop.name));
    let brand = Brand { name: settings.brand_name.clone(), color: settings.brand_color };
    let mut env = SidecarSpec {
        spec: &workshop.spec,
        require_authentication: settings.require_authentication,
        trusted_header: settings.trusted_auth_header.name(),
        session_cookie_prefix: &settings.session_cookie_prefix,
        folder: EXPIRY_FOLDER,
        workshop_page: workshop_page.as_deref(),
        brand: &brand,
    }
    .environment();
    // No other container mounts these volumes.
    let expiry_mount = read_only_mount(EXPIRY_VOLUME, EXPIRY_FOLDER);
    let secret_mount = settings.proxy_secret_name.as_ref().map(|_| {
        let file = format!("{PROXY_SECRET_FOLDER}/{PROXY_SECRET_KEY}");
        env.insert("SERVICE_PROXY_SECRET_FILE".to_owned(), file);
        read_only_mount(PROXY_SECRET_VOLUME, PROXY_SECRET_FOLDER)
    });
    let ports = [("http", SIDECAR_PORT), ("telemetry", TELEMETRY_PORT)];
    Container {
        env: Some(variables(env)),
        ports: Some(ports.map(|(name, number)| port(Some(name), number)).into()),
        readiness_probe: Some(probe(READINESS)),
        liveness_probe: Some(probe(LIVENESS)),
        lifecycle: Some(Lifecycle {
            pre_stop: Some(LifecycleHandler {
                sleep: Some(SleepAction { seconds: SIDECAR_STAYS }),
                ..LifecycleHandler::default()
            }),
            ..Lifecycle::default()
        }),
        resources: Some(amounts(SIDECAR_REQUESTS, SIDECAR_LIMITS)),
        volume_mounts: Some([expiry_mount].into_iter().chain(secret_mount).collect()),
        ..own_container(SIDECAR_CONTAINER, sidecar_user(settings), settings)
    }
}

/// Returns the user ID of the operator's own containers; `None` if the cluster assigns all user IDs.
pub(super) fn sidecar_user(settings: &OperatorSettings) -> Option<i64> {
    settings.run_as_user.map(|_| SIDECAR_USER.into())
}

/// Returns the volumes of the sidecar: the expiry, and the proxy secret if the settings name one.
pub(super) fn volumes(settings: &OperatorSettings) -> Vec<Volume> {
    let secret = settings.proxy_secret_name.as_deref();
    [expiry_volume()].into_iter().chain(secret.map(proxy_secret_volume)).collect()
}

/// Returns the volume with the expiry and the last crash: the kubelet copies each annotation of the pod to its file.
fn expiry_volume() -> Volume {
    let field = |annotation: &str| ObjectFieldSelector {
        field_path: format!("metadata.annotations['{annotation}']"),
        ..ObjectFieldSelector::default()
    };
    let files = [(EXPIRY_FILE, EXPIRES_AT), (LAST_CRASH_FILE, LAST_CRASH)].map(|(path, annotation)| {
        let field_ref = Some(field(annotation));
        DownwardAPIVolumeFile { path: path.to_owned(), field_ref, ..DownwardAPIVolumeFile::default() }
    });
    let source = DownwardAPIVolumeSource { items: Some(files.into()), ..DownwardAPIVolumeSource::default() };
    Volume { name: EXPIRY_VOLUME.to_owned(), downward_api: Some(source), ..Volume::default() }
}

fn proxy_secret_volume(name: &str) -> Volume {
    let file =
        KeyToPath { key: PROXY_SECRET_KEY.to_owned(), path: PROXY_SECRET_KEY.to_owned(), ..KeyToPath::default() };
    let secret = SecretVolumeSource {
        secret_name: Some(name.to_owned()),
        items: Some(vec![file]),
        default_mode: Some(PROXY_SECRET_MODE),
        ..SecretVolumeSource::default()
    };
    Volume { name: PROXY_SECRET_VOLUME.to_owned(), secret: Some(secret), ..Volume::default() }
}

fn probe(probe: HttpProbe) -> Probe {
    let HttpProbe { path, period, timeout, failure_threshold } = probe;
    let seconds = |duration: Duration| i32::try_from(duration.as_secs()).unwrap_or(i32::MAX);
    Probe {
        http_get: Some(HTTPGetAction {
            path: Some(path.to_owned()),
            port: IntOrString::Int(TELEMETRY_PORT.into()),
            scheme: Some("HTTP".to_owned()),
            ..HTTPGetAction::default()
        }),
        period_seconds: Some(seconds(period)),
        timeout_seconds: Some(seconds(timeout)),
        success_threshold: Some(1),
        failure_threshold: Some(failure_threshold.into()),
        ..Probe::default()
    }
}
