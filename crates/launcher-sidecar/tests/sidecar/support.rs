//! Test setup: a sidecar, an app that records every received byte, and a client that sends bytes unchanged.

pub(crate) mod app;
pub(crate) mod archive;
pub(crate) mod client;
pub(crate) mod namespace;
pub(crate) mod program;
pub(crate) mod workshop_network;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use launcher_domain::email::EmailAddress;
use launcher_process::listener::Listener;
use launcher_process::stop::Stop;
use launcher_sidecar::frame::Frame;
use launcher_sidecar::serve::{listen, serve};
use launcher_sidecar::{Policy, Sidecar};

pub(crate) use app::{App, AppStream};
pub(crate) use client::Client;

/// Deadline of every wait of a test. It only bounds a hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// Polling interval.
const PAUSE: Duration = Duration::from_millis(5);
/// Header line with the identity of Alice, the owner.
pub(crate) const ALICE: &str = "X-Auth-Request-Email: alice@example.org\r\n";

/// Returns the access policy of a sidecar whose owner is Alice.
pub(crate) fn policy() -> Policy {
    let owner = Some(EmailAddress::parse("alice@example.org").unwrap());
    Policy { owner, ..Policy::without_owner() }
}

/// A listening sidecar and its app.
pub(crate) struct Setup {
    pub(crate) sidecar: Sidecar,
    pub(crate) addr: SocketAddr,
    pub(crate) app: App,
    pub(crate) stop: Stop,
}

impl Setup {
    /// Starts Alice's sidecar with an app that answers every request with 200 and `ok`.
    pub(crate) async fn new() -> Self {
        Self::with(policy(), App::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await).await
    }

    /// Starts Alice's sidecar with an app that answers every request with the bytes of `response`.
    pub(crate) async fn answering(response: &'static str) -> Self {
        Self::with(policy(), App::answering(response).await).await
    }

    pub(crate) async fn with(policy: Policy, app: App) -> Self {
        Self::with_frame(policy, app, Frame::default()).await
    }

    pub(crate) async fn with_frame(policy: Policy, app: App, frame: Frame) -> Self {
        let listener = listen(&"127.0.0.1:0".parse().unwrap()).unwrap();
        let Listener::Tcp(bound) = &listener else { unreachable!("the address is a TCP port") };
        let addr = bound.local_addr().unwrap();
        let sidecar = Sidecar::new(policy, app.addr, frame);
        let stop = Stop::new();
        let (served, stopped) = (sidecar.clone(), stop.clone());
        tokio::spawn(async move { serve(&listener, served, stopped).await });
        Self { sidecar, addr, app, stop }
    }

    pub(crate) async fn client(&self) -> Client<tokio::net::TcpStream> {
        Client::connect(self.addr).await
    }

    /// Sends `request` on a new connection. Returns all bytes received until the sidecar closes the connection.
    pub(crate) async fn send(&self, request: impl AsRef<[u8]>) -> String {
        let mut client = self.client().await;
        client.send(request).await;
        client.read_to_end().await
    }

    /// Sends `request` on a new connection. Returns the status of the first response.
    pub(crate) async fn status(&self, request: impl AsRef<[u8]>) -> u16 {
        let mut client = self.client().await;
        client.send(request).await;
        client.read_response().await.status
    }

    /// Fails if the app has received any byte so far.
    pub(crate) async fn assert_app_untouched(&self) {
        // Send a request that reaches the app. Once it is answered, all bytes of earlier requests would have arrived.
        let marker = format!("GET /marker HTTP/1.1\r\nHost: w\r\n{ALICE}Connection: close\r\n\r\n");
        assert!(self.send(marker).await.starts_with("HTTP/1.1 200"));
        let seen = self.app.seen();
        assert!(seen.starts_with("GET /marker HTTP/1.1\r\n"), "the app has seen: {seen}");
        assert_eq!(seen.matches("\r\n\r\n").count(), 1, "the app has seen: {seen}");
        assert_eq!(self.app.connections(), 1);
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        self.stop.request();
    }
}

/// Waits for a future. Fails after the timeout.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("this took too long")
}

/// Waits until a condition holds. Fails after the timeout.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !holds() {
        assert!(tokio::time::Instant::now() < deadline, "never came true: {what}");
        tokio::time::sleep(PAUSE).await; // pacing: interval of the poll
    }
}

/// Blocks the thread until a condition holds. Fails after the timeout.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never came true: {what}");
        std::thread::sleep(PAUSE); // pacing: interval of the poll
    }
}
