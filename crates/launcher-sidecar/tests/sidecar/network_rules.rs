//! Tests of `launcher-sidecar limit-network` with the packet filter of the kernel.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use socket2::{Domain, Socket, Type};
use tempfile::TempDir;

use super::support::PATIENCE;
use super::support::namespace::run_in_namespace;
use super::support::program::command;
use super::support::workshop_network::{
    WORKSHOP, WORKSHOP_IPV6, WorkshopNetwork, assert_reachable, assert_refused, connect, datagram, echo, exchange,
    link_local,
};

const INTERNET: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7));
const INTERNET_IPV6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 7));
/// Public address of the host.
const HOST: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 5));
const GATEWAY: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 9, 0, 1));
const GATEWAY_IPV6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1));
/// Name server given as an option.
const NAME_SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 1, 2, 3));
/// Name server in `resolv.conf`.
const OTHER_NAME_SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(169, 254, 1, 1));
/// Addresses that a workshop must not reach, in addition to those above.
const FORBIDDEN: [IpAddr; 9] = [
    IpAddr::V4(Ipv4Addr::new(10, 1, 2, 4)),
    IpAddr::V4(Ipv4Addr::new(172, 16, 0, 9)),
    IpAddr::V4(Ipv4Addr::new(172, 31, 255, 9)),
    IpAddr::V4(Ipv4Addr::new(192, 168, 7, 9)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 9)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(198, 18, 0, 9)),
];
/// Duration of an attempt that gets no answer.
const NO_ANSWER: Duration = Duration::from_millis(500);
const DNS: u16 = 53;
const HTTP: u16 = 80;

/// A workshop's network with servers at the addresses above, at the ports 53 and 80.
struct World {
    workshop: WorkshopNetwork,
    resolv_conf: TempDir,
}

impl World {
    fn new() -> Self {
        let further = [INTERNET, INTERNET_IPV6, HOST, NAME_SERVER, OTHER_NAME_SERVER];
        let workshop = WorkshopNetwork::new(&[&further[..], &FORBIDDEN].concat());
        for port in [DNS, HTTP] {
            for address in further.into_iter().chain(FORBIDDEN).chain([GATEWAY, GATEWAY_IPV6]) {
                echo((address, port).into());
            }
            echo(link_local("outside", port));
        }
        let resolv_conf = TempDir::new().unwrap();
        let text = format!("nameserver 127.0.0.11\nnameserver {OTHER_NAME_SERVER}\n");
        std::fs::write(resolv_conf.path().join("resolv.conf"), text).unwrap();
        Self { workshop, resolv_conf }
    }

    /// Returns a command that installs the network rules if it is started in the workshop's namespace.
    fn limit(&self) -> Command {
        let mut command = command(&[]);
        command.args(["limit-network", "--host-address", &HOST.to_string(), "--name-server", &NAME_SERVER.to_string()]);
        command.env("SERVICE_RESOLV_CONF", self.resolv_conf.path().join("resolv.conf"));
        command
    }

    fn limit_network(&self) {
        let output = self.workshop.inside(|| self.limit().output().unwrap());
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the addresses that a workshop must not reach, with ports.
fn forbidden() -> Vec<SocketAddr> {
    let mut addresses = vec![(NAME_SERVER, HTTP).into(), (OTHER_NAME_SERVER, HTTP).into()];
    for port in [DNS, HTTP] {
        let further = [HOST, GATEWAY, GATEWAY_IPV6, INTERNET_IPV6].into_iter().chain(FORBIDDEN);
        addresses.extend(further.map(|address| SocketAddr::new(address, port)));
    }
    addresses
}

/// Returns the addresses that a workshop reaches, with ports.
fn allowed() -> Vec<SocketAddr> {
    [(INTERNET, DNS), (INTERNET, HTTP), (NAME_SERVER, DNS), (OTHER_NAME_SERVER, DNS)].map(SocketAddr::from).to_vec()
}

/// Runs the test with the name `in_namespace_` and `name` in a network namespace.
fn in_namespace(name: &str) {
    run_in_namespace(&format!("network_rules::in_namespace_{name}"), "");
}

#[test]
fn workshop_reaches_internet_and_name_servers_only() {
    in_namespace("workshop_reaches_internet_and_name_servers_only");
}

#[test]
#[ignore = "runs in a network namespace"]
fn in_namespace_workshop_reaches_internet_and_name_servers_only() {
    let world = World::new();
    let mut kept = world.workshop.inside(|| {
        forbidden().into_iter().for_each(assert_reachable);
        allowed().into_iter().for_each(assert_reachable);
        connect((INTERNET, HTTP).into()).unwrap()
    });
    // The second run must change nothing, also for an open connection.
    for _ in 0..2 {
        world.limit_network();
        world.workshop.inside(|| {
            allowed().into_iter().for_each(assert_reachable);
            forbidden().into_iter().for_each(assert_refused);
        });
        exchange(&mut kept).unwrap();
    }
}

#[test]
fn new_connections_to_workshop_are_dropped_and_loopback_works() {
    in_namespace("new_connections_to_workshop_are_dropped_and_loopback_works");
}

#[test]
#[ignore = "runs in a network namespace"]
fn in_namespace_new_connections_to_workshop_are_dropped_and_loopback_works() {
    let world = World::new();
    let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    world.workshop.inside(|| {
        loopback.into_iter().chain([WORKSHOP, WORKSHOP_IPV6]).for_each(|address| drop(echo((address, 8888).into())))
    });
    // The rules allow answers to INTERNET, so only the rules for incoming packets can refuse its connections.
    let is_served = |peer: IpAddr, address: IpAddr, within: Duration| {
        let socket = Socket::new(Domain::for_address((address, 8888).into()), Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::new(peer, 0).into()).unwrap();
        socket.connect_timeout(&SocketAddr::new(address, 8888).into(), within).is_ok()
    };
    let attempts = [(INTERNET, WORKSHOP), (GATEWAY, WORKSHOP), (INTERNET_IPV6, WORKSHOP_IPV6)];
    assert!(attempts.into_iter().all(|(peer, address)| is_served(peer, address, PATIENCE)));
    world.limit_network();
    assert!(!attempts.into_iter().any(|(peer, address)| is_served(peer, address, NO_ANSWER)));
    world.workshop.inside(|| {
        // The workshop's own addresses belong to the loopback device, too.
        loopback
            .into_iter()
            .chain([WORKSHOP, WORKSHOP_IPV6])
            .for_each(|address| assert_reachable((address, 8888).into()));
    });
}

#[test]
fn error_messages_about_connections_of_workshop_pass() {
    in_namespace("error_messages_about_connections_of_workshop_pass");
}

#[test]
#[ignore = "runs in a network namespace"]
fn in_namespace_error_messages_about_connections_of_workshop_pass() {
    let world = World::new();
    world.limit_network();
    // No server listens on this port, so the kernel of the internet host answers with an ICMP message.
    let error = world.workshop.inside(|| datagram((INTERNET, 9).into())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn socket_bound_to_device_cannot_bypass_rules() {
    in_namespace("socket_bound_to_device_cannot_bypass_rules");
}

#[test]
#[ignore = "runs in a network namespace"]
fn in_namespace_socket_bound_to_device_cannot_bypass_rules() {
    let world = World::new();
    let reachable = |address: SocketAddr, within: Duration| {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).unwrap();
        socket.bind_device(Some(b"inside")).unwrap();
        socket.connect_timeout(&address.into(), within).is_ok()
    };
    let forbidden = || {
        let further = [HOST, GATEWAY, NAME_SERVER, GATEWAY_IPV6].map(|address| SocketAddr::new(address, HTTP));
        further.into_iter().chain([link_local("inside", HTTP)])
    };
    let internet = SocketAddr::new(INTERNET, HTTP);
    world.workshop.inside(|| assert!(forbidden().chain([internet]).all(|address| reachable(address, PATIENCE))));
    world.limit_network();
    world.workshop.inside(|| {
        assert!(reachable(internet, PATIENCE));
        // The kernel reports the refusal on the loopback device, not on this device.
        assert!(!forbidden().any(|address| reachable(address, NO_ANSWER)));
        let error = datagram(link_local("inside", HTTP)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
    });
}

#[test]
fn no_packet_passes_while_rules_are_replaced() {
    in_namespace("no_packet_passes_while_rules_are_replaced");
}

#[test]
#[ignore = "runs in a network namespace"]
fn in_namespace_no_packet_passes_while_rules_are_replaced() {
    let forbidden = IpAddr::V4(Ipv4Addr::new(192, 168, 7, 7));
    let world = World::new();
    Command::new("ip").args(["addr", "add", &format!("{forbidden}/32"), "dev", "outside"]).status().unwrap();
    let received = echo((forbidden, HTTP).into());
    world.workshop.inside(|| datagram((forbidden, HTTP).into())).unwrap();
    world.limit_network();
    let (stopped, attempts) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            world.workshop.inside(|| {
                let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
                while !stopped.load(Ordering::Relaxed) {
                    drop(socket.send_to(b"x", (forbidden, HTTP)));
                    attempts.fetch_add(1, Ordering::Relaxed);
                }
            });
        });
        let mut runs = 0;
        while (runs < 20 || attempts.load(Ordering::Relaxed) <= 1000) && !sender.is_finished() {
            world.limit_network();
            runs += 1;
        }
        stopped.store(true, Ordering::Relaxed);
    });
    assert_eq!(received.load(Ordering::SeqCst), 1, "datagrams passed while the rules were replaced");
}

#[test]
fn many_host_addresses_are_refused() {
    in_namespace("many_host_addresses_are_refused");
}

#[test]
#[ignore = "runs in a network namespace"]
fn in_namespace_many_host_addresses_are_refused() {
    let world = World::new();
    let many = (0..500).flat_map(|number: u16| {
        let [high, low] = number.to_be_bytes();
        ["--host-address".to_owned(), Ipv4Addr::new(203, 0, 114 + high, low).to_string()]
    });
    let mut limit = world.limit();
    limit.args(many);
    let output = world.workshop.inside(|| limit.output().unwrap());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    world.workshop.inside(|| {
        assert_refused((Ipv4Addr::new(203, 0, 115, 243), HTTP).into());
        assert_reachable((INTERNET, HTTP).into());
    });
}

#[test]
fn limit_network_without_net_admin_fails_and_changes_nothing() {
    in_namespace("limit_network_without_net_admin_fails_and_changes_nothing");
}

#[test]
#[ignore = "runs in a network namespace"]
fn in_namespace_limit_network_without_net_admin_fails_and_changes_nothing() {
    let world = World::new();
    let limit = world.limit();
    let mut without = Command::new("setpriv");
    without.args(["--bounding-set", "-net_admin", "--inh-caps", "-net_admin", "--"]);
    without.arg(limit.get_program()).args(limit.get_args());
    let output = world.workshop.inside(|| without.output().unwrap());
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let text = said(&output);
    assert!(text.contains("CAP_NET_ADMIN is missing: run this program as root") && text.lines().count() == 1, "{text}");
    world.workshop.inside(|| assert_reachable((HOST, HTTP).into()));
}

#[test]
fn limit_network_with_invalid_address_fails_with_one_line_error() {
    for option in ["--host-address", "--name-server"] {
        let output = command(&[]).args(["limit-network", option, "host.example"]).output().unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(option) && text.contains("invalid IP address") && text.lines().count() == 1, "{text}");
    }
}

#[test]
fn limit_network_with_unreadable_resolv_conf_fails_with_one_line_error() {
    // A folder is no readable file.
    let output = command(&[("SERVICE_RESOLV_CONF", "/")]).arg("limit-network").output().unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("set SERVICE_RESOLV_CONF to a readable file") && text.lines().count() == 1, "{text}");
}
