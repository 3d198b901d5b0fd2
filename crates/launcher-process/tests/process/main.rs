//! The shared parts of every process, through their public API.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod follow;
mod health;
mod listen;
mod serve;
mod serve_limits;
mod settings;
mod stop;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

/// Sends bytes and reads until the other side closes.
async fn exchange(stream: &mut TcpStream, bytes: &[u8]) -> String {
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    // A reset after the answer counts as a close.
    drop(stream.read_to_end(&mut answer).await);
    String::from_utf8(answer).unwrap()
}
