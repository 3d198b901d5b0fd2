//! Readiness check of an app on its port.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::local::ports::Listener;
use crate::local::workload::handle::Workload;
use crate::machine::Supervised;

/// Polling interval while an app is not ready.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Timeout of one readiness request. It is long, because some apps answer their first request slowly.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of consecutive checks that must find a foreign program before the port counts as taken. One check is not
/// enough: it may take a process that the app starts during the check for a foreign one.
const FOREIGN_CHECKS: u32 = 2;

/// The state of an app's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Readiness {
    /// The app answers on its port.
    Ready,
    /// Another program listens on the app's port.
    PortTaken,
}

/// Waits until the Workshop's app answers an HTTP request on this port with any status, or another program listens on
/// the port. The requests have the same `Host` as the owner's requests.
///
/// # Errors
/// The process that listens on the port cannot be determined.
pub(super) async fn wait_for_app(workload: &Workload, port: u16) -> io::Result<Readiness> {
    let host = workload.context().settings.origins.host(workload.name());
    let mut foreign = 0;
    loop {
        if let Ok(stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
            match workload.find_listener(port).await? {
                Listener::Absent => foreign = 0,
                Listener::Foreign => foreign += 1,
                Listener::Own => {
                    foreign = 0;
                    if matches!(timeout(ANSWER_TIMEOUT, probe(stream, &host)).await, Ok(Ok(true))) {
                        return Ok(Readiness::Ready);
                    }
                }
            }
            if foreign >= FOREIGN_CHECKS {
                return Ok(Readiness::PortTaken);
            }
        }
        sleep(POLL_INTERVAL).await;
    }
}

async fn probe(mut stream: TcpStream, host: &str) -> io::Result<bool> {
    const STATUS_LINE: &[u8; 5] = b"HTTP/";
    let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut start = [0; STATUS_LINE.len()];
    stream.read_exact(&mut start).await?;
    Ok(start == *STATUS_LINE)
}
