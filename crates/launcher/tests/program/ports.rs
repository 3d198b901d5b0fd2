//! Ports of the running programs: no other process can listen on them, neither with IPv4 nor with IPv6.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};

use launcher_testkit::wait_until;
use socket2::{Domain, Socket, Type};

use crate::serving::Serving;

fn has_ipv6() -> bool {
    TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok()
}

/// Returns a port that is free on every IPv4 and IPv6 address.
fn free_port() -> u16 {
    let every =
        if has_ipv6() { SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)) } else { (Ipv4Addr::UNSPECIFIED, 0).into() };
    TcpListener::bind(every).unwrap().local_addr().unwrap().port()
}

/// Listens with the socket options of a program that tries to share the port.
fn listen(address: SocketAddr, only_v6: bool) -> std::io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    if address.is_ipv6() {
        socket.set_only_v6(only_v6)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.bind(&address.into())?;
    socket.listen(1)?;
    Ok(socket)
}

#[track_caller]
fn assert_taken(port: u16) {
    let every = |port| SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    let mut others = vec![((Ipv4Addr::UNSPECIFIED, port).into(), false), ((Ipv4Addr::LOCALHOST, port).into(), false)];
    if has_ipv6() {
        others.extend([(every(port), true), (every(port), false), ((Ipv6Addr::LOCALHOST, port).into(), true)]);
    }
    for (address, only_v6) in others {
        assert!(listen(address, only_v6).is_err(), "another process can listen on {address} (only IPv6: {only_v6})");
    }
}

#[test]
fn no_other_process_can_listen_on_launcher_ports() {
    for every in ["0.0.0.0", "[::]"].into_iter().take(if has_ipv6() { 2 } else { 1 }) {
        let data = tempfile::tempdir().unwrap();
        let (api, telemetry) = (format!("{every}:{}", free_port()), format!("{every}:{}", free_port()));
        let serving =
            Serving::start_with(data.path(), &[("SERVICE_LISTEN_ADDR", &api), ("SERVICE_TELEMETRY_ADDR", &telemetry)]);
        assert_taken(serving.listen().port());
        assert_taken(serving.telemetry().port());
        assert!(serving.ask("/api/v1/me", "").starts_with("HTTP/1.1 401 "));
        assert_eq!(serving.stop().0, Some(0));
    }
}

/// A running process. Dropping it kills the process.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn no_other_process_can_listen_on_operator_port() {
    // A stub of the API server that never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let kubeconfig = tempfile::NamedTempFile::new().unwrap();
    let cluster = format!(
        r#"{{"apiVersion": "v1", "kind": "Config", "current-context": "it", "users": [{{"name": "it", "user": {{}}}}],
            "contexts": [{{"name": "it", "context": {{"cluster": "it", "user": "it"}}}}],
            "clusters": [{{"name": "it", "cluster": {{"server": "http://{}"}}}}]}}"#,
        silent.local_addr().unwrap()
    );
    std::fs::write(kubeconfig.path(), cluster).unwrap();
    let port = free_port();
    let _operator = Running(
        Command::new(env!("CARGO_BIN_EXE_launcher"))
            .arg("operator")
            .env_clear()
            .env("KUBECONFIG", kubeconfig.path())
            .env("SERVICE_WORKSHOP_DOMAIN", "workshops.example.org")
            .env("SERVICE_SIDECAR_IMAGE", "sidecar:1")
            .env("SERVICE_NAMESPACE", "workshops")
            .env("SERVICE_TELEMETRY_ADDR", format!("0.0.0.0:{port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    wait_until("the operator does not listen", || std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok());
    assert_taken(port);
}
