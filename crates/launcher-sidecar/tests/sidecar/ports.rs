//! The sidecar's ports: no other process can bind them, for IPv4 or for IPv6.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use socket2::{Domain, Socket, Type};

use super::support::namespace::run_in_namespace;
use super::support::program::command;
use super::support::workshop_network::{WORKSHOP, WorkshopNetwork};
use super::support::{ALICE, App, Client, PATIENCE, eventually, wait_until};

/// A sidecar process with its default listen addresses. Dropping it terminates the process.
struct Default(Child);

impl Default {
    async fn start(app: SocketAddr) -> Self {
        let settings = [("SERVICE_OWNER_EMAIL", "alice@example.org"), ("SERVICE_APP_PORT", &app.port().to_string())];
        let child = command(&settings).stderr(Stdio::null()).spawn().unwrap();
        eventually("the program listens", || std::net::TcpStream::connect("127.0.0.1:8081").is_ok()).await;
        Self(child)
    }
}

impl Drop for Default {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Listens on a port, as an app does that tries to take over the sidecar's port.
fn bind(address: IpAddr, port: u16, only_v6: bool, reuse: bool) -> io::Result<Socket> {
    let address = SocketAddr::new(address, port);
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    if address.is_ipv6() {
        socket.set_only_v6(only_v6)?;
    }
    socket.set_reuse_address(reuse)?;
    socket.set_reuse_port(reuse)?;
    socket.bind(&address.into())?;
    socket.listen(1)?;
    Ok(socket)
}

async fn status(addr: SocketAddr, path: &str) -> u16 {
    let mut client = Client::connect(addr).await;
    client.send(format!("GET {path} HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
    client.read_response().await.status
}

async fn assert_serves(addresses: &[IpAddr]) {
    for address in addresses {
        assert_eq!(status((*address, 8080).into(), "/").await, 204, "{address}");
        assert_eq!(status((*address, 8081).into(), "/healthz").await, 200, "{address}");
    }
}

#[test]
fn app_cannot_bind_sidecar_ports_on_ipv4_or_ipv6() {
    run_in_namespace("ports::in_namespace_app_cannot_bind_sidecar_ports_on_ipv4_or_ipv6", "");
}

#[tokio::test]
#[ignore = "runs in a network namespace"]
async fn in_namespace_app_cannot_bind_sidecar_ports_on_ipv4_or_ipv6() {
    let app = App::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let _program = Default::start(app.addr).await;
    let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    let unspecified = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];
    for port in [8080, 8081] {
        for address in loopback.into_iter().chain(unspecified) {
            for (only_v6, reuse) in [(false, false), (false, true), (true, false), (true, true)] {
                let bound = bind(address, port, only_v6, reuse);
                let how = format!("{address}:{port}, V6ONLY {only_v6}, REUSEADDR and REUSEPORT {reuse}");
                assert_eq!(bound.unwrap_err().kind(), io::ErrorKind::AddrInUse, "{how}");
            }
        }
    }
    assert_serves(&loopback).await;
}

#[test]
fn sidecar_is_reachable_on_network_with_ipv6_only() {
    run_in_namespace("ports::in_namespace_with_ipv6_only_sidecar_is_reachable", "ip -6 addr add fd00::8/128 dev lo");
}

#[tokio::test]
#[ignore = "runs in a network namespace"]
async fn in_namespace_with_ipv6_only_sidecar_is_reachable() {
    // The app listens on 127.0.0.1, the only IPv4 address of this namespace. The sidecar is reached by IPv6.
    let app = App::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let _program = Default::start(app.addr).await;
    assert_serves(&["fd00::8".parse().unwrap()]).await;
    assert!(app.seen().contains("\r\nX-Forwarded-For: fd00::8\r\n"), "{}", app.seen());
}

#[test]
fn sidecar_is_reachable_on_network_without_ipv6() {
    let disable = "sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1";
    run_in_namespace("ports::in_namespace_without_ipv6_sidecar_is_reachable", disable);
}

#[tokio::test]
#[ignore = "runs in a network namespace"]
async fn in_namespace_without_ipv6_sidecar_is_reachable() {
    let app = App::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let _program = Default::start(app.addr).await;
    assert!(TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err(), "this namespace has IPv6");
    assert_serves(&[Ipv4Addr::LOCALHOST.into()]).await;
    assert!(app.seen().contains("\r\nX-Forwarded-For: 127.0.0.1\r\n"), "{}", app.seen());
}

#[test]
fn silent_connections_of_the_app_do_not_block_probes_from_other_hosts() {
    run_in_namespace("ports::in_namespace_silent_connections_of_the_app_do_not_block_probes_from_other_hosts", "");
}

#[test]
#[ignore = "runs in a network namespace"]
fn in_namespace_silent_connections_of_the_app_do_not_block_probes_from_other_hosts() {
    let workshop = WorkshopNetwork::new(&[]);
    let settings = [("SERVICE_OWNER_EMAIL", "alice@example.org"), ("SERVICE_APP_PORT", "8888")];
    let _program = Default(workshop.inside(|| command(&settings).stderr(Stdio::null()).spawn().unwrap()));
    let (local, remote) = (SocketAddr::from((Ipv4Addr::LOCALHOST, 8081)), SocketAddr::new(WORKSHOP, 8081));
    wait_until("the program listens", || TcpStream::connect(remote).is_ok());
    // Returns the answer: an empty string if the sidecar closes the connection without one.
    let probe = |address: SocketAddr| {
        let (mut stream, mut answer) = (TcpStream::connect(address).unwrap(), String::new());
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let sent = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: w\r\n\r\n");
        drop(sent.and_then(|()| stream.read_to_string(&mut answer)));
        answer
    };
    // Again, if the first ones were closed before the last: the sidecar closes a silent connection after 2 seconds.
    wait_until("the limit of local connections is reached", || {
        let silent: Vec<_> = workshop.inside(|| (0..32).map(|_| TcpStream::connect(local).unwrap()).collect());
        let is_closed = workshop.inside(|| probe(local).is_empty());
        assert!(probe(remote).contains("alive"), "a probe from another host has no answer");
        drop(silent);
        is_closed
    });
}

#[test]
fn occupied_listen_port_fails_start_with_one_line_error() {
    let taken = TcpListener::bind("127.0.78.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let mut program: Command = command(&[("SERVICE_OWNER_EMAIL", "alice@example.org"), ("SERVICE_APP_PORT", "8888")]);
    program.env("SERVICE_TELEMETRY_ADDR", "127.0.78.1:0").env("SERVICE_LISTEN_ADDR", &addr);
    let output = program.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    let last = error.lines().last().unwrap_or_default();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(last.contains("SERVICE_LISTEN_ADDR") && last.contains(&addr), "{error}");
}
