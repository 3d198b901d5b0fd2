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
mod stop;
mod telemetry;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

/// Sends bytes, and reads until the server closes the connection.
async fn exchange(stream: &mut TcpStream, bytes: &[u8]) -> String {
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    // Ignore the error: a reset after the answer counts as a close.
    drop(stream.read_to_end(&mut answer).await);
    String::from_utf8(answer).unwrap()
}
