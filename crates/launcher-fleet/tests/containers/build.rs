//! The built containers of a Workshop, as the engine runs them.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use bollard::models::ContainerCreateBody;
use launcher_domain::SecretValues;
use launcher_fleet::engine::{BuildSettings, EngineKind, app, seccomp_profile, sidecar};
use launcher_testkit::fleet_contract::contract_workshop;
use launcher_workshop::Workshop;

use super::support::fleet::without_internet;
use super::support::{IMAGE, TestFleet};

/// Prints the rights and limits of the container as `name=value`.
const REPORT: &str = r#"
field() { echo "$1=$(grep "^$1:" /proc/self/status | cut -f 2)"; }
first() { for file in "$@"; do [ -r "$file" ] && cat "$file" && return; done; }
echo user=$(id -u)
for name in CapPrm CapEff CapBnd CapAmb NoNewPrivs Seccomp; do field $name; done
echo files=$(ulimit -n)
echo memory=$(first /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes)
echo processes=$(first /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max)
echo quota=$(first /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu/cpu.cfs_quota_us)
echo interfaces=$(grep -c : /proc/net/dev)
echo host=$(cat /proc/sys/kernel/hostname)
echo root_writable=$(echo >/new-file && echo yes || echo no)
echo run_writable=$(echo >/run/workshop-launcher/new-file && echo yes || echo no)
echo config_writable=$(echo >/etc/workshop-launcher/new-file && echo yes || echo no)
echo expiry=$(cat /etc/workshop-launcher/expires-at)
echo port=$PORT
exec sleep 1000
"#;

fn workshop(profile: &str) -> Workshop {
    let mut workshop = contract_workshop("lab-a");
    let spec = &mut workshop.spec;
    IMAGE.clone_into(&mut spec.image);
    profile.clone_into(&mut spec.security_profile);
    spec.command = report();
    spec.env.clear();
    "100m".clone_into(&mut spec.resources.cpu_request);
    // More than most machines have.
    "500".clone_into(&mut spec.resources.cpu_limit);
    "32Mi".clone_into(&mut spec.resources.memory_request);
    workshop.metadata.uid = Some("uid-1".to_owned());
    workshop
}

fn report() -> Vec<String> {
    ["/bin/sh", "-c", REPORT].map(str::to_owned).into()
}

/// Runs both containers of a Workshop, and returns the reports of sidecar and app.
async fn run(fleet: &TestFleet, profile: &str) -> [BTreeMap<String, String>; 2] {
    let info = fleet.engine.info().await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    let folder = |name: &str| directory.path().join(name);
    for name in ["run", "config"] {
        std::fs::create_dir(folder(name)).unwrap();
    }
    std::fs::write(folder("config").join("expires-at"), "2030-01-01T00:00:00Z").unwrap();
    std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o711)).unwrap();
    chown(folder("run"), Some(65532), None).unwrap();
    let (run_dir, config_dir) = (folder("run"), folder("config"));
    let seccomp = match info.kind {
        EngineKind::Docker => format!("seccomp={}", seccomp_profile()),
        EngineKind::Podman => {
            std::fs::write(folder("seccomp.json"), seccomp_profile()).unwrap();
            format!("seccomp={}", folder("seccomp.json").display())
        }
    };
    let mut of_fleet = without_internet(directory.path());
    IMAGE.clone_into(&mut of_fleet.options.sidecar_image);
    let settings = BuildSettings {
        options: &of_fleet.options,
        origins: &of_fleet.machine.origins,
        fleet_id: &fleet.id,
        volumes_of: &fleet.id,
        sidecar_user: 65532,
        limits_disk: false,
        seccomp: &seccomp,
        process_limits: info.process_limits,
        secrets: const { &SecretValues::none() },
        run_dir: &run_dir,
        config_dir: &config_dir,
        secrets_dir: Path::new("/no-secrets"),
    };
    let workshop = workshop(profile);
    let (mut sidecar, app) = (sidecar(&workshop, &settings).unwrap(), app(&workshop, &settings).unwrap());
    sidecar.entrypoint = Some(report());
    let network = app.host_config.as_ref().unwrap().network_mode.clone().unwrap();
    let owner = network.strip_prefix("container:").unwrap();
    [report_of(fleet, owner, sidecar).await, report_of(fleet, &fleet.name("app"), app).await]
}

async fn report_of(fleet: &TestFleet, name: &str, body: ContainerCreateBody) -> BTreeMap<String, String> {
    fleet.engine.create(name, body).await.unwrap();
    fleet.engine.start(name).await.unwrap();
    fleet.logged(name, "port=").await;
    let log = fleet.log(name).await;
    log.lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn assert_unprivileged(report: &BTreeMap<String, String>) {
    for set in ["CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert_eq!(report[set], "0000000000000000", "{set} of {report:?}");
    }
}

#[tokio::test]
async fn restricted_workshop_runs_unprivileged_with_its_limits() {
    let fleet = TestFleet::new().await;
    let [sidecar, app] = run(&fleet, "restricted").await;

    for report in [&sidecar, &app] {
        assert_unprivileged(report);
        assert_eq!((report["NoNewPrivs"].as_str(), report["Seccomp"].as_str()), ("1", "2"), "{report:?}");
        assert_eq!(report["processes"], "2048");
        // Only the loopback device: both containers use the network namespace of the sidecar.
        assert_eq!(report["interfaces"], "1");
        assert!(report["files"].parse::<u64>().unwrap() <= 65536);
    }
    assert_eq!((sidecar["user"].as_str(), app["user"].as_str()), ("65532", "1000"));
    assert_eq!(sidecar["host"], "lab-a");
    assert_eq!((sidecar["memory"].as_str(), app["memory"].as_str()), ("268435456", "67108864"));
    assert!(app["quota"].starts_with("50000000"), "{app:?}");
    assert_eq!((sidecar["root_writable"].as_str(), sidecar["run_writable"].as_str()), ("no", "yes"));
    assert_eq!((sidecar["config_writable"].as_str(), sidecar["expiry"].as_str()), ("no", "2030-01-01T00:00:00Z"));
    assert_eq!((app["expiry"].as_str(), app["port"].as_str()), ("", "8888"));
}

#[tokio::test]
async fn baseline_app_has_only_the_capabilities_to_change_its_user() {
    let fleet = TestFleet::new().await;
    let [sidecar, app] = run(&fleet, "baseline").await;
    assert_unprivileged(&sidecar);
    assert_eq!((app["user"].as_str(), app["NoNewPrivs"].as_str(), app["Seccomp"].as_str()), ("0", "1", "2"));
    // CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID.
    assert_eq!(app["CapBnd"], "00000000000000fb");
    assert_eq!(app["CapEff"], "00000000000000fb");
}
