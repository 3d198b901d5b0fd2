//! Waits until a started app answers on its port.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::Workload;
use crate::local::ports::Listener;
use crate::local::records::Started;
use crate::machine::Setback;

/// Polling interval while an app is not ready.
const READINESS_INTERVAL: Duration = Duration::from_millis(100);
/// Timeout of one readiness request. It is long, because some apps answer their first request slowly.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of consecutive checks that must find a foreign program before the port counts as taken. One check is not
/// enough: it may take a process that the app starts during the check for a foreign one.
const FOREIGN_CHECKS: u32 = 2;

/// Waits until the Workshop's app answers an HTTP request on its port with any status. The requests have the same `Host` as the
/// owner's requests.
pub(super) async fn wait_for_app(workload: &Workload) -> Result<(), Setback> {
    let Some(Started { port, .. }) = workload.record.get().process else { return std::future::pending().await };
    let host = workload.settings().origins.host(workload.name());
    let mut foreign = 0;
    loop {
        if let Ok(stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
            let unknown = |error| workload.not_started("the program on its port cannot be identified", &error);
            match workload.find_listener(port).await.map_err(unknown)? {
                Listener::Absent => foreign = 0,
                Listener::Foreign => foreign += 1,
                Listener::Own => {
                    foreign = 0;
                    if matches!(timeout(ANSWER_TIMEOUT, probe(stream, &host)).await, Ok(Ok(true))) {
                        return Ok(());
                    }
                }
            }
            if foreign >= FOREIGN_CHECKS {
                return Err(workload.lost_port(port));
            }
        }
        sleep(READINESS_INTERVAL).await;
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
