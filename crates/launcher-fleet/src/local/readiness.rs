//! Ports, and whether an app answers on one.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// How often to ask an app that is not ready.
const ASK_EVERY: Duration = Duration::from_millis(100);
/// How long one answer may take: some apps are slow when they are asked for the first time.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// A port on loopback that is free now. Another program may take it before the app does.
pub(super) fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Waits until an app answers HTTP on this port, whatever it answers. It is asked under the name it will be asked by
/// later.
pub(super) async fn answers(port: u16, host: &str) {
    while !matches!(timeout(ANSWER_TIMEOUT, ask(port, host)).await, Ok(Ok(true))) {
        sleep(ASK_EVERY).await;
    }
}

async fn ask(port: u16, host: &str) -> io::Result<bool> {
    const STATUS_LINE: &[u8; 5] = b"HTTP/";
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut start = [0; STATUS_LINE.len()];
    stream.read_exact(&mut start).await?;
    Ok(start == *STATUS_LINE)
}
