//! Tests of the functions that all processes share, through their public API.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod address;
mod files;
mod follow;
mod health;
mod listen;
mod listener;
mod serve;
mod serve_limits;
mod settings;
mod sockets;
mod stop;
mod telemetry;

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Deadline of every wait. It only bounds a hang.
const DEADLINE: Duration = Duration::from_secs(120);

async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

/// Stops the automatic advance of the paused clock until the returned sender is dropped. `advance` still moves the
/// clock. The automatic advance would happen whenever all tasks wait, even while the kernel still transfers bytes.
fn hold_the_clock() -> std::sync::mpsc::Sender<()> {
    let (held, until) = std::sync::mpsc::channel();
    tokio::task::spawn_blocking(move || until.recv().is_err());
    held
}

/// Waits for a future. Fails after the deadline.
async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future).await.unwrap()
}

/// Sends bytes, and reads until the server closes the connection.
async fn exchange(stream: &mut TcpStream, bytes: &[u8]) -> String {
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    // Ignore the error: a reset after the answer counts as a close.
    drop(stream.read_to_end(&mut answer).await);
    String::from_utf8(answer).unwrap()
}
