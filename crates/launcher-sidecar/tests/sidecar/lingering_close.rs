//! Time limit for clients that keep sending after their last response.

use std::io::Cursor;
use std::time::Duration;

use launcher_process::stop::Stop;
use launcher_sidecar::Sidecar;
use launcher_sidecar::frame::Frame;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::Instant;

use super::limits::serve;
use super::support::{ALICE, App, Setup, eventually, policy, soon};
use super::websocket::{SWITCH, upgrade};

/// Head of a request that the sidecar refuses. Its body is longer than the tests send, so the request never ends.
const REFUSED: &str = "POST / HTTP/1.1\r\nHost: w\r\nContent-Length: 1000000000\r\n\r\n";

#[tokio::test(start_paused = true)]
async fn refused_client_that_keeps_sending_is_disconnected_after_2_seconds() {
    let (mut client, task, _stop) = serve();
    client.send(REFUSED).await;
    assert_eq!(client.read_response().await.status, 403);
    let answered = Instant::now();
    let sending = tokio::spawn(async move {
        while client.io.write_all(b"b").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(100)).await; // simulated time
        }
    });
    soon(task).await.unwrap();
    assert_eq!(answered.elapsed().as_secs(), 2);
    soon(sending).await.unwrap();
}

/// Returns the connection of a client that sends a head, and then more bytes until the connection is closed.
fn sending_without_pause(head: String) -> DuplexStream {
    let (mut near, far) = tokio::io::duplex(64 * 1024);
    let mut bytes = Cursor::new(head).chain(tokio::io::repeat(b'b'));
    tokio::spawn(async move { tokio::io::copy(&mut bytes, &mut near).await });
    far
}

#[tokio::test(start_paused = true)]
async fn refused_client_that_sends_without_pause_is_disconnected() {
    let client = sending_without_pause(REFUSED.to_owned());
    let sidecar = Sidecar::new(policy(), "127.0.0.1:9".parse().unwrap(), Frame::default());
    let task = tokio::spawn(async move { sidecar.serve_connection(client, None, Stop::new()).await });
    // Advance the clock here: the paused clock does not advance automatically while the sidecar can read bytes.
    for _ in 0..100 {
        tokio::time::advance(Duration::from_millis(100)).await;
    }
    assert!(task.is_finished(), "the sidecar still reads after 10 seconds");
    task.await.unwrap();
}

#[tokio::test]
async fn websocket_client_that_keeps_sending_after_stop_is_disconnected() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.write(SWITCH).await;
        drop(tokio::io::copy(&mut stream.stream, &mut tokio::io::sink()).await);
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let client = sending_without_pause(upgrade(ALICE));
    let (sidecar, stop) = (setup.sidecar.clone(), setup.stop.clone());
    let task = tokio::spawn(async move { sidecar.serve_connection(client, None, stop).await });
    eventually("the WebSocket is open", || setup.sidecar.activity().open_websockets == 1).await;
    tokio::time::pause();
    setup.stop.request();
    for _ in 0..100 {
        tokio::time::advance(Duration::from_millis(100)).await;
    }
    assert!(task.is_finished(), "the sidecar still reads after 10 seconds");
    task.await.unwrap();
}
