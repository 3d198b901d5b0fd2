//! Tests of the built containers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use bollard::models::{ContainerCreateBody, HostConfig, Mount, MountType};
use launcher_domain::brand::Brand;
use launcher_domain::identity::TrustedHeader;
use launcher_domain::{FailureCode, SecretValues};
use launcher_testkit::fleet_contract::contract_workshop;
use launcher_workshop::{Workshop, WorkshopMaterial, WorkshopResources, WorkshopStorage};
use serde_json::{Value, json};

use super::{BuildSettings, app, material, material_paths, sidecar};
use crate::containers::engine::ProcessLimits;
use crate::containers::settings::ContainerOptions;
use crate::machine::OriginSettings;

const FLEET: &str = "0198c5f1-7a2b-7c3d-8e4f-0123456789ab";
const OWNER_OF_VOLUMES: &str = "0198c5f1-7a2b-7c3d-8e4f-fedcba987654";
const LIMITS: ProcessLimits = ProcessLimits { open_files: 1_000_000, processes: 90_000 };

static OPTIONS: LazyLock<ContainerOptions> = LazyLock::new(|| ContainerOptions {
    engine_socket: "/run/docker.sock".into(),
    sidecar_image: "registry.example/sidecar:1".to_owned(),
    material_image: Some("registry.example/material:1".to_owned()),
    run_as_user: 1000.try_into().unwrap(),
    container_internet: true,
});
static ORIGINS: LazyLock<OriginSettings> = LazyLock::new(|| OriginSettings {
    public_origin: "https://example.org".parse().unwrap(),
    workshop_domain: "example.org".to_owned(),
    trusted_header: TrustedHeader::parse("X-Auth-Request-Email").unwrap(),
    proxy_secret: None,
    require_authentication: true,
    session_cookie_prefix: "_oauth2_proxy".to_owned(),
    brand: Brand::NONE,
});

fn settings() -> BuildSettings<'static> {
    BuildSettings {
        options: &OPTIONS,
        origins: &ORIGINS,
        fleet_id: FLEET,
        volumes_of: OWNER_OF_VOLUMES,
        sidecar_user: 65532,
        limits_disk: false,
        seccomp: "seccomp={}",
        process_limits: LIMITS,
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
    assert_eq!((environment["COURSE"], environment["PORT"], environment["DISABLE_AUTH"]), ("a=b 8888", "8888", "true"));
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

// The sidecar.

#[test]
fn sidecar_listens_only_on_sockets_in_its_directory() {
    let sidecar = sidecar(&workshop(), &settings()).unwrap();
    let environment = environment(&sidecar);
    let expected = BTreeMap::from([
        ("SERVICE_OWNER_EMAIL", "alice@example.org"),
        ("SERVICE_APP_PORT", "8888"),
        ("SERVICE_REQUIRE_AUTHENTICATION", "true"),
        ("SERVICE_TRUSTED_AUTH_HEADER", "x-auth-request-email"),
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
    let options = ContainerOptions { container_internet: false, ..OPTIONS.clone() };
    let sidecar = sidecar(&workshop(), &BuildSettings { options: &options, ..settings() }).unwrap();
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

// The container that places course material, and its volumes.

fn source(target: &str) -> Value {
    json!({ "kind": "git", "url": "https://git.example.org/stats/101.git", "target": target })
}

fn with_material() -> Workshop {
    let material = json!({ "directory": "/home/jovyan", "sources": [source("stats-101"), source("data")] });
    let mut workshop = workshop();
    workshop.spec.material = Some(serde_json::from_value::<WorkshopMaterial>(material).unwrap());
    workshop
}

fn with_storage() -> Workshop {
    let [volume, size, path] = ["work-abcdefghij", "1Gi", "/home/jovyan"].map(str::to_owned);
    let mut workshop = with_material();
    workshop.spec.storage = Some(WorkshopStorage { volume, size, path });
    workshop
}

fn built(workshop: &Workshop) -> ContainerCreateBody {
    material(workshop, &settings(), 1001, 60).unwrap().unwrap()
}

/// Returns source and target of each mount; the source is empty for an anonymous volume.
fn mounts(body: &ContainerCreateBody) -> Vec<(String, String)> {
    let mount = |mount: &Mount| {
        assert_eq!(mount.typ, Some(MountType::VOLUME));
        (mount.source.clone().unwrap_or_default(), mount.target.clone().unwrap())
    };
    host(body).mounts.iter().flatten().map(mount).collect()
}

fn pairs<const COUNT: usize>(pairs: [(&str, &str); COUNT]) -> Vec<(String, String)> {
    pairs.map(|(source, target)| (source.to_owned(), target.to_owned())).into()
}

#[test]
fn program_gets_the_sources_and_the_deadline_and_no_file_for_its_report() {
    let body = built(&with_material());
    let environment = environment(&body);
    let config: Value = serde_json::from_str(environment["WORKSHOP_MATERIAL"]).unwrap();
    assert_eq!((&config["directory"], &config["deadline_seconds"]), (&json!("/home/jovyan"), &json!(60)));
    assert_eq!(config["sources"], json!([source("stats-101"), source("data")]));
    assert_eq!(config["report"], Value::Null);
    assert_eq!(environment["TMPDIR"], "/tmp");
    assert_eq!((body.image.as_deref(), &body.cmd), (Some("registry.example/material:1"), &None));
    assert_eq!(body.entrypoint.unwrap(), ["/launcher-material"]);
}

#[test]
fn program_has_the_user_the_network_and_the_limits_of_the_app_and_no_privileges() {
    let (body, app) = (built(&with_material()), app(&with_material(), &settings()).unwrap());
    assert_eq!(body.user.as_deref(), Some("1001"));
    let (own, of_app) = (host(&body), host(&app));
    assert_eq!(own.network_mode, of_app.network_mode);
    assert_eq!((own.memory, own.memory_swap, own.cpu_quota), (of_app.memory, of_app.memory_swap, of_app.cpu_quota));
    assert_eq!((own.pids_limit, &own.restart_policy), (of_app.pids_limit, &of_app.restart_policy));
    assert_eq!((&own.cap_add, own.cap_drop.as_deref()), (&None, Some(&["ALL".to_owned()][..])));
    assert_eq!(own.security_opt, of_app.security_opt);
    let labels = body.labels.unwrap();
    let names = ["part", "workshop", "uid"].map(|name| labels[&format!("workshoplauncher.dev/{name}")].as_str());
    assert_eq!(names, ["material", "lab-a", "uid-1"]);
}

#[test]
fn without_storage_each_source_has_a_volume_that_app_and_program_mount() {
    let first = ("wl-456789ab-lab-a-material-0", "/home/jovyan/stats-101");
    let second = ("wl-456789ab-lab-a-material-1", "/home/jovyan/data");
    assert_eq!(mounts(&app(&with_material(), &settings()).unwrap()), pairs([first, second]));
    let own = [("", "/home/jovyan/.course-material"), ("", "/tmp")];
    assert_eq!(mounts(&built(&with_material())), pairs([first, second, own[0], own[1]]));
    let of_sidecar = host(&sidecar(&with_material(), &settings()).unwrap()).mounts.clone();
    assert!(of_sidecar.iter().flatten().all(|mount| mount.typ == Some(MountType::BIND)));
}

#[test]
fn with_storage_the_program_writes_into_the_volume_of_the_owner_without_adding_files_of_its_image() {
    let kept = ("wl-ba987654-work-abcdefghij", "/home/jovyan");
    assert_eq!(mounts(&app(&with_storage(), &settings()).unwrap()), pairs([kept]));
    let body = built(&with_storage());
    assert_eq!(mounts(&body), pairs([kept, ("", "/tmp")]));
    let mounts = host(&body).mounts.clone().unwrap();
    assert_eq!(mounts[0].volume_options.as_ref().unwrap().no_copy, Some(true));
}

#[test]
fn only_the_program_of_private_material_mounts_its_secrets_read_only_and_gets_no_value() {
    let mut workshop = with_material();
    workshop.spec.material.as_mut().unwrap().sources[1].secret = Some("statistics".to_owned());
    let body = built(&workshop);
    let config: Value = serde_json::from_str(environment(&body)["WORKSHOP_MATERIAL"]).unwrap();
    let folder = "/etc/workshop-launcher/material-secrets";
    assert_eq!((&config["secrets"], &config["sources"][1]["secret"]), (&json!(folder), &json!("statistics")));
    let is_mount = |mount: &&Mount| mount.target.as_deref() == Some(folder);
    let mount = host(&body).mounts.iter().flatten().find(is_mount).unwrap();
    assert_eq!((mount.typ, mount.read_only), (Some(MountType::BIND), Some(true)));
    assert_eq!(mount.source.as_deref(), Some("/data/fleet/workshops/lab-a/material-secrets"));
    assert!(!material_paths(&body).iter().any(|path| path == folder), "the engine changes no owner there");
    assert!(host(&body).security_opt.as_ref().unwrap().contains(&"label=disable".to_owned()));
    for other in
        [app(&workshop, &settings()).unwrap(), sidecar(&workshop, &settings()).unwrap(), built(&with_material())]
    {
        assert!(!host(&other).mounts.iter().flatten().any(|mount| is_mount(&mount)));
    }
    assert!(
        !host(&app(&workshop, &settings()).unwrap())
            .security_opt
            .as_ref()
            .unwrap()
            .contains(&"label=disable".to_owned())
    );
}

#[test]
fn workshop_without_material_or_without_the_image_has_no_program_and_no_volumes() {
    assert_eq!(material(&workshop(), &settings(), 1001, 60).unwrap(), None);
    let options = ContainerOptions { material_image: None, ..OPTIONS.clone() };
    let without = BuildSettings { options: &options, ..settings() };
    assert_eq!(material(&with_material(), &without, 1001, 60).unwrap(), None);
    assert_eq!(host(&app(&with_material(), &without).unwrap()).mounts, None);
}

#[test]
fn invalid_material_is_refused() {
    let targets = ["..", "a/b", ".ssh", "a:b", ""];
    for target in targets {
        let mut workshop = with_material();
        workshop.spec.material.as_mut().unwrap().sources[0].target = target.to_owned();
        assert_eq!(material(&workshop, &settings(), 1001, 60).unwrap_err().code, FailureCode::InvalidSpec, "{target}");
        assert_eq!(app(&workshop, &settings()).unwrap_err().code, FailureCode::InvalidSpec, "{target}");
    }
}

// The volume with the files of a workshop's owner.

#[test]
fn only_the_app_gets_the_volume_of_its_owner() {
    let storage = WorkshopStorage {
        volume: "work-abcdefghij".to_owned(),
        size: "1Gi".to_owned(),
        path: "/home/jovyan".to_owned(),
    };
    let mut workshop = workshop();
    workshop.spec.storage = Some(storage);
    let app = app(&workshop, &settings()).unwrap();
    let mounts = host(&app).mounts.clone().unwrap();
    let [mount] = &mounts[..] else { panic!("{mounts:?}") };
    assert_eq!((mount.typ, mount.target.as_deref()), (Some(MountType::VOLUME), Some("/home/jovyan")));
    // The name stays if the data directory is copied, because it names the fleet, and not the containers of this copy.
    assert_eq!(mount.source.as_deref(), Some("wl-ba987654-work-abcdefghij"));
    assert_eq!((mount.read_only, &host(&app).binds), (None, &None));
    let of_sidecar = sidecar(&workshop, &settings()).unwrap();
    assert!(host(&of_sidecar).mounts.iter().flatten().all(|mount| mount.typ == Some(MountType::BIND)));
}

#[test]
fn volume_at_a_path_of_the_system_is_refused() {
    for path in ["/etc", "/work/../etc", "/usr/lib", "work", "/work:ro", "/"] {
        let mut workshop = workshop();
        let (volume, size) = ("work-abcdefghij".to_owned(), "1Gi".to_owned());
        workshop.spec.storage = Some(WorkshopStorage { volume, size, path: path.to_owned() });
        assert_eq!(app(&workshop, &settings()).unwrap_err().code, FailureCode::InvalidSpec, "{path}");
    }
}

// The secret variables of the app.

#[test]
fn only_the_app_gets_its_secrets() {
    let values = [("TOKEN", "hunter2-unique"), ("OTHER", "x")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let secrets: SecretValues = values.into_iter().collect();
    let settings = BuildSettings { secrets: &secrets, ..settings() };
    let mut workshop = workshop();
    workshop.spec.secret_env = vec!["TOKEN".to_owned()];
    let env = app(&workshop, &settings).unwrap().env.unwrap();
    assert!(env.contains(&"TOKEN=hunter2-unique".to_owned()), "{env:?}");
    assert!(!env.iter().any(|variable| variable.starts_with("OTHER=")), "{env:?}");
    let env = sidecar(&workshop, &settings).unwrap().env.unwrap_or_default();
    assert!(!env.iter().any(|variable| variable.contains("hunter2")), "{env:?}");
    assert!(!format!("{settings:?}").contains("hunter2"));
}

#[test]
fn reserved_name_of_a_secret_is_refused() {
    for name in ["SERVICE_OWNER", "DISABLE_AUTH", "A-B", ""] {
        let mut workshop = workshop();
        workshop.spec.secret_env = vec![name.to_owned()];
        assert_eq!(app(&workshop, &settings()).unwrap_err().code, FailureCode::InvalidSpec, "{name}");
    }
}
