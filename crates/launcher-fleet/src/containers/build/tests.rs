//! Tests of the built containers.

mod material;
mod of_sidecar;
mod parameters;
mod storage;

use std::collections::BTreeMap;
use std::path::Path;

use bollard::models::{ContainerCreateBody, HostConfig};
use launcher_domain::{FailureCode, SecretValues};
use launcher_testkit::fleet_contract::contract_workshop;
use launcher_workshop::{Workshop, WorkshopResources};

use super::{BuildSettings, app, sidecar};
use crate::containers::engine::ProcessLimits;

const FLEET: &str = "0198c5f1-7a2b-7c3d-8e4f-0123456789ab";
const OWNER_OF_VOLUMES: &str = "0198c5f1-7a2b-7c3d-8e4f-fedcba987654";
const LIMITS: ProcessLimits = ProcessLimits { open_files: 1_000_000, processes: 90_000 };

fn settings() -> BuildSettings<'static> {
    BuildSettings {
        fleet_id: FLEET,
        volumes_of: OWNER_OF_VOLUMES,
        sidecar_image: "registry.example/sidecar:1",
        material_image: Some("registry.example/material:1"),
        sidecar_user: 65532,
        run_as_user: 1000,
        internet: true,
        limits_disk: false,
        seccomp: "seccomp={}",
        process_limits: LIMITS,
        require_authentication: true,
        trusted_header: "X-Auth-Request-Email",
        session_cookie_prefix: "_oauth2_proxy",
        origin: "https://lab-a.example.org",
        workshop_page: Some("https://example.org/instances/lab-a"),
        secrets: const { &SecretValues::none() },
        run_dir: Path::new("/data/fleet/workshops/lab-a/run"),
        config_dir: Path::new("/data/fleet/workshops/lab-a/sidecar"),
        secrets_dir: Path::new("/data/fleet/workshops/lab-a/material-secrets"),
    }
}

fn workshop() -> Workshop {
    let mut workshop = contract_workshop("lab-a");
    let spec = &mut workshop.spec;
    "Alice@Example.org".clone_into(&mut spec.owner);
    "registry.example/app:2".clone_into(&mut spec.image);
    spec.env = BTreeMap::from([("COURSE".to_owned(), "a=b $(PORT)".to_owned())]);
    spec.resources = WorkshopResources {
        cpu_request: "250m".to_owned(),
        cpu_limit: "1.5".to_owned(),
        memory_request: "256Mi".to_owned(),
        memory_limit: "1Gi".to_owned(),
    };
    workshop.metadata.uid = Some("uid-1".to_owned());
    workshop
}

fn host(body: &ContainerCreateBody) -> &HostConfig {
    body.host_config.as_ref().unwrap()
}

fn environment(body: &ContainerCreateBody) -> BTreeMap<&str, &str> {
    body.env.iter().flatten().map(|variable| variable.split_once('=').unwrap()).collect()
}

#[test]
fn app_uses_network_of_sidecar_and_has_no_mounts() {
    let app = app(&workshop(), &settings()).unwrap();
    let host = host(&app);
    let mode = host.network_mode.as_deref().unwrap();
    assert!(mode.starts_with("container:wl-") && mode.ends_with("-lab-a-sidecar"), "{mode}");
    assert_eq!((&host.mounts, &host.binds, &app.hostname, &host.port_bindings), (&None, &None, &None, &None));
    assert_eq!(app.image.as_deref(), Some("registry.example/app:2"));
}

#[test]
fn app_has_limits_of_template_and_no_swap() {
    let app = app(&workshop(), &settings()).unwrap();
    let host = host(&app);
    assert_eq!((host.memory, host.memory_swap), (Some(1 << 30), Some(1 << 30)));
    assert_eq!((host.cpu_period, host.cpu_quota, host.cpu_shares), (Some(100_000), Some(150_000), Some(256)));
    assert_eq!(host.nano_cpus, None);
    assert_eq!((host.pids_limit, host.shm_size), (Some(2048), Some(64 << 20)));
    let log = host.log_config.as_ref().unwrap();
    let options = log.config.as_ref().unwrap();
    assert_eq!(
        (log.typ.as_deref(), options["max-size"].as_str(), options["max-file"].as_str()),
        (Some("json-file"), "10m", "1")
    );
}

#[test]
fn least_cpu_limit_is_one_the_kernel_accepts() {
    let mut workshop = workshop();
    workshop.spec.resources.cpu_request = "1m".to_owned();
    workshop.spec.resources.cpu_limit = "1m".to_owned();
    let app = app(&workshop, &settings()).unwrap();
    assert_eq!((host(&app).cpu_quota, host(&app).cpu_shares), (Some(1000), Some(2)));
}

#[test]
fn process_limits_do_not_exceed_those_of_the_machine() {
    let limits_with = |process_limits| {
        let app = app(&workshop(), &BuildSettings { process_limits, ..settings() }).unwrap();
        let ulimits = host(&app).ulimits.clone().unwrap().into_iter();
        ulimits.map(|limit| (limit.name.unwrap(), limit.soft.unwrap(), limit.hard.unwrap())).collect::<Vec<_>>()
    };
    let of = |files, processes| vec![("nofile".to_owned(), files, files), ("nproc".to_owned(), processes, processes)];
    assert_eq!(limits_with(LIMITS), of(65536, 90_000));
    assert_eq!(limits_with(ProcessLimits { open_files: 20_000, processes: u64::MAX }), of(20_000, 4_194_304));
}

#[test]
fn memory_is_limited_even_if_the_limit_is_less_than_a_byte() {
    let mut workshop = workshop();
    workshop.spec.resources.memory_request = "512m".to_owned();
    workshop.spec.resources.memory_limit = "512m".to_owned();
    let app = app(&workshop, &settings()).unwrap();
    assert_eq!((host(&app).memory, host(&app).memory_swap), (Some(1), Some(1)));
}

#[test]
fn kernel_kills_an_app_before_other_programs_of_a_full_server() {
    assert_eq!(host(&app(&workshop(), &settings()).unwrap()).oom_score_adj, Some(800));
    assert_eq!(host(&sidecar(&workshop(), &settings()).unwrap()).oom_score_adj, None);
}

#[test]
fn disk_is_limited_only_if_the_engine_can_limit_it() {
    let storage = |limits_disk| {
        let app = app(&workshop(), &BuildSettings { limits_disk, ..settings() }).unwrap();
        host(&app).storage_opt.as_ref().map(|options| options["size"].clone())
    };
    assert_eq!(storage(true).as_deref(), Some("10G"));
    assert_eq!(storage(false), None);
}

#[test]
fn no_container_can_gain_privileges_or_is_restarted_by_the_engine() {
    for body in [app(&workshop(), &settings()).unwrap(), sidecar(&workshop(), &settings()).unwrap()] {
        let host = host(&body);
        assert_eq!(host.privileged, Some(false));
        assert_eq!(host.cap_drop.as_deref(), Some(&["ALL".to_owned()][..]));
        assert!(host.security_opt.iter().flatten().any(|option| option == "no-new-privileges"));
        assert!(!host.security_opt.iter().flatten().any(|option| option.contains("unconfined")));
        assert!(host.security_opt.iter().flatten().any(|option| option == "seccomp={}"));
        assert_eq!(host.restart_policy.as_ref().unwrap().name.unwrap().to_string(), "no");
        assert_eq!(body.healthcheck.as_ref().unwrap().test.as_deref(), Some(&["NONE".to_owned()][..]));
        let modes = [&host.pid_mode, &host.ipc_mode, &host.uts_mode, &host.userns_mode];
        assert_eq!(modes, [&None; 4]);
        assert_eq!((&host.devices, &host.tmpfs, &host.publish_all_ports), (&None, &None, &None));
    }
}

#[test]
fn restricted_app_has_the_configured_user_and_baseline_app_the_user_of_its_image() {
    let mut workshop = workshop();
    assert_eq!(app(&workshop, &settings()).unwrap().user.as_deref(), Some("1000"));

    workshop.spec.security_profile = "baseline".to_owned();
    let app = app(&workshop, &settings()).unwrap();
    assert_eq!(app.user, None);
    let added = host(&app).cap_add.clone().unwrap();
    assert_eq!(added, ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID"]);
    assert_eq!(host(&app).cap_drop.as_deref(), Some(&["ALL".to_owned()][..]));
}

#[test]
fn app_has_command_and_environment_of_template() {
    let mut workshop = workshop();
    let plain = app(&workshop, &settings()).unwrap();
    assert_eq!((plain.entrypoint, plain.cmd), (None, None));

    workshop.spec.command = vec!["serve".to_owned(), "--port=$(PORT)".to_owned()];
    workshop.spec.args = vec!["$HOME".to_owned()];
    let app = app(&workshop, &settings()).unwrap();
    assert_eq!(app.entrypoint.as_deref(), Some(&["serve".to_owned(), "--port=8888".to_owned()][..]));
    assert_eq!(app.cmd.as_deref(), Some(&["$HOME".to_owned()][..]));
    let environment = environment(&app);
    assert_eq!(
        (environment["COURSE"], environment["PORT"], environment["DISABLE_AUTH"]),
        ("a=b $(PORT)", "8888", "true")
    );
}

#[test]
fn notebook_gets_the_preset_with_the_origin() {
    let mut workshop = workshop();
    workshop.spec.app_type = "notebook".to_owned();
    let arguments = app(&workshop, &settings()).unwrap().cmd.unwrap();
    assert!(arguments.contains(&"--ServerApp.allow_origin=https://lab-a.example.org".to_owned()), "{arguments:?}");
}

#[test]
fn labels_name_fleet_workshop_uid_and_part() {
    let labels = app(&workshop(), &settings()).unwrap().labels.unwrap();
    let labels: BTreeMap<&str, &str> = labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let expected = BTreeMap::from([
        ("app", "workshop"),
        ("managed-by", "workshop-launcher"),
        ("workshoplauncher.dev/fleet", FLEET),
        ("workshoplauncher.dev/workshop", "lab-a"),
        ("workshoplauncher.dev/uid", "uid-1"),
        ("workshoplauncher.dev/part", "app"),
    ]);
    assert_eq!(labels, expected);
    let sidecar = sidecar(&workshop(), &settings()).unwrap().labels.unwrap();
    assert_eq!(sidecar["workshoplauncher.dev/part"], "sidecar");
    assert_eq!(sidecar["workshoplauncher.dev/limits-network"], "true");
}

#[test]
fn invalid_spec_is_refused() {
    let changes: [fn(&mut Workshop); 5] = [
        |workshop| workshop.spec.security_profile = "privileged".to_owned(),
        |workshop| workshop.spec.resources.memory_limit = "lots".to_owned(),
        |workshop| workshop.spec.image = "-v /:/host".to_owned(),
        |workshop| workshop.metadata.uid = None,
        |workshop| workshop.metadata.name = Some("../lab".to_owned()),
    ];
    for change in changes {
        let mut workshop = workshop();
        change(&mut workshop);
        assert_eq!(app(&workshop, &settings()).unwrap_err().code, FailureCode::InvalidSpec);
        assert_eq!(sidecar(&workshop, &settings()).unwrap_err().code, FailureCode::InvalidSpec);
    }
}
