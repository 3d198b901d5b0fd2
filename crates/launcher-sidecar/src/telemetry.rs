//! The listener for health probes, metrics and activity. It has a separate address, so that users cannot reach its
//! paths through the workshop's address.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use launcher_domain::clock::Clock;
use launcher_process::listener::{Address, ListenOptions, Listener, Stream};
use launcher_process::stop::Stop;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;

use crate::http1::head::{MAX_REQUEST_LINES, Scan, Scanner};
use crate::listening::AppSockets;
use crate::memory::{TELEMETRY_BACKLOG, TELEMETRY_BUFFER, TELEMETRY_CONNECTIONS, TELEMETRY_HEAD};
use crate::sidecar::Sidecar;

/// Maximum time of a telemetry request, including its response.
const REQUEST: Duration = Duration::from_secs(2);

/// Listens for telemetry requests. An unspecified IP address means all IPv4 and IPv6 addresses.
///
/// # Errors
/// Fails if the address is in use, does not belong to this host, or is not permitted.
pub fn listen(address: &Address) -> io::Result<Listener> {
    let options = ListenOptions {
        backlog: Some(TELEMETRY_BACKLOG),
        receive_buffer: Some(TELEMETRY_BUFFER),
        send_buffer: Some(TELEMETRY_BUFFER),
        ..ListenOptions::default()
    };
    Listener::bind(address, &options)
}

/// Health probes, metrics and activity of a sidecar.
#[derive(Debug)]
pub struct Telemetry {
    sidecar: Sidecar,
    clock: Arc<dyn Clock>,
    stop: Stop,
    app_sockets: AppSockets,
    registry: Registry,
    last_used: Gauge<f64, AtomicU64>,
}

impl Telemetry {
    /// Creates the telemetry of `sidecar`. Once `stop` is requested, it reports the sidecar as not ready. `clock` is
    /// needed for the timestamp of the last activity. `own_ports` are those on which the sidecar listens.
    #[must_use]
    pub fn new(sidecar: Sidecar, clock: Arc<dyn Clock>, stop: Stop, own_ports: Vec<u16>) -> Self {
        let mut registry = Registry::default();
        sidecar.register_metrics(&mut registry);
        let last_used = Gauge::default();
        registry.register(
            "sidecar_last_activity_timestamp_seconds",
            "Time at which the owner last used the app, in Unix seconds. WebSocket pings do not count as use",
            last_used.clone(),
        );
        Self { sidecar, clock, stop, app_sockets: AppSockets::new(own_ports), registry, last_used }
    }

    /// Answers `/healthz` (200 while the process lives), `/readyz` (200 when the app accepts a connection, else 503
    /// with the reason, and the addresses on which the app listens instead), `/metrics` (OpenMetrics text) and `/activity` (JSON: `last_activity_seconds_ago`,
    /// `open_connections`, `open_websockets`). Serves one request per connection. Never returns.
    pub async fn serve(self, listener: Listener) {
        let telemetry = Arc::new(self);
        // The app can connect too, from this host. Separate limits for local and remote peers ensure that the app's
        // connections do not block the kubelet's probes: after failed probes, Kubernetes would restart the sidecar.
        let [remote, local] = [(); 2].map(|()| Arc::new(Semaphore::new(TELEMETRY_CONNECTIONS)));
        loop {
            let (stream, _) = listener.accept_next("telemetry connection").await;
            let permits = if is_local_peer(&stream) { &local } else { &remote };
            // Close a connection beyond the limit at once.
            let Ok(permit) = permits.clone().try_acquire_owned() else { continue };
            let telemetry = telemetry.clone();
            tokio::spawn(async move {
                match tokio::time::timeout(REQUEST, telemetry.serve_one(stream)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => {
                        tracing::debug!(%error, "request to telemetry listener failed, closing connection")
                    }
                    Err(_) => tracing::debug!("request to telemetry listener timed out, closing connection"),
                }
                drop(permit);
            });
        }
    }

    async fn serve_one(&self, mut stream: Stream) -> io::Result<()> {
        let mut head = Vec::new();
        let mut scanner = Scanner::default();
        let answer = loop {
            if stream.read_buf(&mut head).await? == 0 {
                return Ok(());
            }
            if head.len() > TELEMETRY_HEAD {
                break text("431 Request Header Fields Too Large", "the request is too large\n");
            }
            match scanner.scan(&head, MAX_REQUEST_LINES) {
                Scan::Incomplete => {}
                Scan::Complete(_) => break self.answer(&head).await,
                Scan::TooLarge | Scan::Malformed | Scan::BareLineFeed => {
                    break text("400 Bad Request", "the request is malformed\n");
                }
            }
        };
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    }

    async fn answer(&self, head: &[u8]) -> String {
        let line = head.split(|&byte| byte == b'\r').next().unwrap_or_default();
        let line = std::str::from_utf8(line).unwrap_or_default();
        let Some(target) = line.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()) else {
            return text("405 Method Not Allowed", "only GET is allowed\n");
        };
        match target.split('?').next().unwrap_or_default() {
            "/healthz" => text("200 OK", "alive\n"),
            "/readyz" if self.stop.is_requested() => text("503 Service Unavailable", "stopping\n"),
            "/readyz" => match self.sidecar.check_app().await {
                Ok(()) => {
                    self.app_sockets.answers();
                    text("200 OK", "ready\n")
                }
                Err(error) => {
                    let elsewhere = self.app_sockets.look(self.sidecar.state.pool.app.port()).await;
                    let elsewhere = elsewhere.map(|elsewhere| format!("{elsewhere}\n")).unwrap_or_default();
                    let body = format!("the app does not accept a connection: {error}\n{elsewhere}");
                    text("503 Service Unavailable", &body)
                }
            },
            "/metrics" => self.metrics(),
            "/activity" => self.activity(),
            _ => text("404 Not Found", "not found: use /healthz, /readyz, /metrics or /activity\n"),
        }
    }

    fn metrics(&self) -> String {
        let now = Duration::try_from(self.clock.now().duration_since(jiff::Timestamp::UNIX_EPOCH)).unwrap_or_default();
        self.last_used.set(now.saturating_sub(self.sidecar.activity().idle()).as_secs_f64());
        let mut page = String::new();
        match encode(&mut page, &self.registry) {
            Ok(()) => respond("200 OK", "application/openmetrics-text; version=1.0.0; charset=utf-8", &page),
            Err(error) => text("500 Internal Server Error", &format!("encoding metrics failed: {error}\n")),
        }
    }

    fn activity(&self) -> String {
        let activity = self.sidecar.activity();
        let body = format!(
            "{{\"last_activity_seconds_ago\":{},\"open_connections\":{},\"open_websockets\":{}}}\n",
            activity.idle().as_secs(),
            activity.open_connections,
            activity.open_websockets,
        );
        respond("200 OK", "application/json", &body)
    }
}

/// Returns true if the peer has an address of this host. On Kubernetes, this host is the pod. The app cannot connect to
/// a Unix socket, so its peers do not count as local.
///
/// The app can choose any address of the pod as the address of its end, also for a connection to a loopback address.
fn is_local_peer(stream: &Stream) -> bool {
    let Stream::Tcp(stream) = stream else { return false };
    let Ok(peer) = stream.peer_addr() else { return true };
    is_own(peer)
}

/// Returns true if this host has the address: only then can a socket have it. The check sends nothing.
fn is_own(mut address: SocketAddr) -> bool {
    if let IpAddr::V4(plain) = address.ip().to_canonical() {
        address = (plain, 0).into();
    }
    // Any other port could be in use.
    address.set_port(0);
    let bound = std::net::UdpSocket::bind(address);
    !bound.is_err_and(|error| error.kind() == io::ErrorKind::AddrNotAvailable)
}

fn text(status: &str, body: &str) -> String {
    respond(status, "text/plain; charset=utf-8", body)
}

fn respond(status: &str, media: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Connection: close\r\n\r\n{body}",
        body.len(),
    )
}

#[cfg(test)]
mod tests {
    use super::is_own;

    #[test]
    fn only_addresses_of_this_host_are_own() {
        for (address, expected) in [
            ("127.0.0.1:8081", true),
            ("127.0.0.5:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("198.51.100.1:1", false),
            ("[::ffff:198.51.100.1]:1", false),
        ] {
            assert_eq!(is_own(address.parse().unwrap()), expected, "{address}");
        }
    }
}
