//! Readiness check of an app on its port.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::listener::{Listener, find_listener};
use super::workload::Workload;

/// Polling interval of an app that is not ready.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Timeout of one answer: some apps are slow on their first request.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of consecutive checks that must find a foreign program: a process started during the check is not yet known.
const FOREIGN_CHECKS: u32 = 2;

/// The state of an app's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Readiness {
    /// The app answers there.
    Ready,
    /// Another program has bound it.
    PortTaken,
}

/// Waits until the Workshop's own app answers HTTP on this port with any status, or another program has the port.
/// Requests carry the host name of the later requests.
///
/// # Errors
/// The owner of the port cannot be determined.
pub(super) async fn wait_for_app(workload: &Workload, port: u16) -> io::Result<Readiness> {
    let host = workload.context().settings.host(workload.name());
    let mut foreign = 0;
    loop {
        if let Ok(stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
            match find_listener(workload, port).await? {
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
