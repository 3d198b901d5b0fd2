//! Tests of `launcher-sidecar wait-isolated`, which they run as a process.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use crate::support::program::command;

/// A DNS server, and a resolv.conf file that names it. Dropping this value stops the server and removes the file.
struct Dns {
    resolv_conf: PathBuf,
    stopped: std::sync::Arc<AtomicBool>,
}

impl Dns {
    fn answering() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let dns = Self::named(&socket.local_addr().unwrap().to_string());
        socket.set_read_timeout(Some(std::time::Duration::from_millis(50))).unwrap(); // pacing: a poll loop
        let stopped = dns.stopped.clone();
        std::thread::spawn(move || {
            let mut query = [0; 512];
            while !stopped.load(Ordering::Relaxed) {
                if let Ok((length, peer)) = socket.recv_from(&mut query) {
                    socket.send_to(&query[..length], peer).unwrap();
                }
            }
        });
        dns
    }

    fn silent() -> Self {
        Self::named("127.0.0.1:9")
    }

    fn named(server: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let resolv_conf = std::env::temp_dir().join(format!("sidecar-resolv-{}-{number}", std::process::id()));
        std::fs::write(&resolv_conf, format!("search workshops.svc.cluster.local\nnameserver {server}\n")).unwrap();
        Self { resolv_conf, stopped: std::sync::Arc::default() }
    }

    fn start(&self, settings: &[(&str, &str)]) -> Child {
        let mut command = command(settings);
        command.arg("wait-isolated").env("SERVICE_RESOLV_CONF", &self.resolv_conf);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn run(&self, settings: &[(&str, &str)]) -> Output {
        self.start(settings).wait_with_output().unwrap()
    }
}

impl Drop for Dns {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        drop(std::fs::remove_file(&self.resolv_conf));
    }
}

/// Returns a listener and its address. Connections succeed until the listener is dropped. Only this test uses the loopback
/// address: on 127.0.0.1, another process could then take the port.
fn listening() -> (TcpListener, String) {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let address = Ipv4Addr::new(127, 0, 78, NEXT.fetch_add(1, Ordering::Relaxed));
    let listener = TcpListener::bind((address, 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn reachable_forbidden_address_fails_with_termination_message() {
    let dns = Dns::answering();
    let (_listener, address) = listening();
    let log = dns.resolv_conf.with_extension("log");
    let settings = [
        ("SERVICE_FORBIDDEN_ADDR", address.as_str()),
        ("SERVICE_ISOLATION_TIMEOUT", "1"),
        ("SERVICE_TERMINATION_LOG", log.to_str().unwrap()),
    ];
    let output = dns.run(&settings);
    let message = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(message.starts_with(&format!("network-not-isolated: {address} can still be reached")), "{message}");
    assert!(said(&output).contains("networkPolicy.waitForIsolation"), "{}", said(&output));
}

#[test]
fn blocked_address_counts_as_isolated_when_dns_answers() {
    let dns = Dns::answering();
    let (listener, address) = listening();
    drop(listener);
    let (host, port) = address.split_once(':').unwrap();
    let output = dns.run(&[("KUBERNETES_SERVICE_HOST", host), ("KUBERNETES_SERVICE_PORT", port)]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("network policies are enforced"), "{}", said(&output));
}

#[test]
fn address_that_becomes_blocked_counts_as_isolated() {
    let dns = Dns::silent();
    let (listener, address) = listening();
    let waiting = dns.start(&[("SERVICE_FORBIDDEN_ADDR", &address)]);
    // Wait until the program has connected four times: while it can reach the address, it must not exit.
    for _ in 0..4 {
        listener.accept().unwrap();
    }
    drop(listener);
    let output = waiting.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(
        !said(&output).contains("cannot verify network policies"),
        "a reached address proves that the network is up"
    );
}

#[test]
fn blocked_address_without_dns_counts_as_isolated_with_warning() {
    let dns = Dns::silent();
    let (listener, address) = listening();
    drop(listener);
    let output = dns.run(&[("SERVICE_FORBIDDEN_ADDR", &address)]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("cannot verify network policies"), "{}", said(&output));
}

#[test]
fn missing_forbidden_address_fails_start_with_one_line_error() {
    let output = Dns::silent().run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(said(&output).lines().count(), 1, "{}", said(&output));
    assert!(said(&output).contains("SERVICE_FORBIDDEN_ADDR is not set"), "{}", said(&output));
}
