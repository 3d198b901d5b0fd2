//! Tests of `launcher-sidecar limit-network --serve-as`, with which the container of a sidecar begins.

use std::fs::{Permissions, copy, set_permissions, write};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

use super::support::namespace::run_in_namespace;
use super::support::program::command;
use super::support::wait_until;
use super::support::workshop_network::{WorkshopNetwork, assert_reachable, assert_refused, echo};

/// Public address of the host.
const HOST: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 5));
const HTTP: u16 = 80;
const USER: &str = "65532";

/// A workshop's network in which the host answers, and a folder that the user of the sidecar may use.
struct World {
    workshop: WorkshopNetwork,
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        let workshop = WorkshopNetwork::new(&[HOST]);
        echo((HOST, HTTP).into());
        let folder = TempDir::new().unwrap();
        set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        // The user of the sidecar may have no access to the folder of the tests' programs.
        copy(env!("CARGO_BIN_EXE_launcher-sidecar"), folder.path().join("launcher-sidecar")).unwrap();
        write(folder.path().join("addresses"), format!("host-address {HOST}\n")).unwrap();
        Self { workshop, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Adds the arguments and settings of the sidecar to a command.
    fn sidecar(&self, mut command: Command) -> Command {
        command.arg(self.path("launcher-sidecar")).args(["limit-network", "--serve-as", USER, "--addresses"]);
        command.arg(self.path("addresses")).env_clear().stdin(Stdio::null());
        command.env("SERVICE_OWNER_EMAIL", "alice@example.org").env("SERVICE_APP_PORT", "8888");
        command.env("SERVICE_LISTEN_ADDR", unix(&self.path("http.sock")));
        command.env("SERVICE_TELEMETRY_ADDR", unix(&self.path("telemetry.sock")));
        command
    }
}

fn unix(path: &Path) -> String {
    format!("unix:{}", path.display())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits until the sidecar listens, or has ended.
fn wait_until_listening(child: &mut Child, socket: &Path) {
    wait_until("the sidecar listens", || {
        assert_eq!(child.try_wait().unwrap(), None);
        UnixStream::connect(socket).is_ok()
    });
}

#[test]
fn sidecar_serves_with_rules_and_without_privileges() {
    run_in_namespace("serve_as::in_namespace_sidecar_serves_with_rules_and_without_privileges", "");
}

#[test]
#[ignore = "runs in a network namespace"]
fn in_namespace_sidecar_serves_with_rules_and_without_privileges() {
    let world = World::new();
    let mut child = world.workshop.inside(|| {
        assert_reachable((HOST, HTTP).into());
        // `env` executes the sidecar in its own process.
        world.sidecar(Command::new("/usr/bin/env")).stderr(Stdio::null()).spawn().unwrap()
    });
    wait_until_listening(&mut child, &world.path("telemetry.sock"));
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    world.workshop.inside(|| assert_refused((HOST, HTTP).into()));
    child.kill().unwrap();
    child.wait().unwrap();
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
        line.split_whitespace().collect::<Vec<_>>()
    };
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert_eq!(value(set), ["0000000000000000"], "{set}");
    }
    assert_eq!((value("Uid"), value("Gid")), (vec![USER; 4], vec![USER; 4]));
    assert_eq!((value("Groups"), value("NoNewPrivs")), (vec![], vec!["1"]));
}

#[test]
fn sidecar_that_cannot_give_up_its_privileges_does_not_serve() {
    run_in_namespace("serve_as::in_namespace_sidecar_that_cannot_give_up_its_privileges_does_not_serve", "");
}

#[test]
#[ignore = "runs in a network namespace"]
fn in_namespace_sidecar_that_cannot_give_up_its_privileges_does_not_serve() {
    let world = World::new();
    for missing in ["setpcap", "setgid", "setuid"] {
        let mut without = Command::new("/usr/bin/setpriv");
        without.args(["--bounding-set", &format!("-{missing}"), "--inh-caps", &format!("-{missing}"), "--"]);
        let output = world.workshop.inside(|| world.sidecar(without).output().unwrap());
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{missing}: {text}");
        assert!(text.contains("the privileges cannot be given up"), "{missing}: {text}");
        assert!(!world.path("http.sock").exists(), "{missing}: {text}");
    }
}

#[test]
fn invalid_file_of_addresses_fails_with_one_line_error() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("addresses");
    write(&file, "host-address host.example\n").unwrap();
    for (path, problem) in [(&file, "invalid line"), (&folder.path().join("missing"), "No such file")] {
        let output = command(&[]).args(["limit-network", "--addresses"]).arg(path).output().unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains(&path.display().to_string()) && text.contains(problem), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

#[test]
fn root_is_no_user_to_serve_as() {
    let output = command(&[]).args(["limit-network", "--serve-as", "0"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("--serve-as"), "{}", said(&output));
}
