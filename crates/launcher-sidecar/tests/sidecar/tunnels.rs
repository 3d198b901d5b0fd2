//! Timeouts of WebSockets that are idle, stalled or half-closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::{Instant, pause, resume, sleep};

use super::streaming::stopped;
use super::support::{ALICE, App, AppStream, Client, Setup, eventually, policy, soon};
use super::websocket::{SWITCH, upgrade};

/// An open WebSocket through the sidecar. The client uses an in-process pipe, because sockets ignore the paused clock.
struct Opened {
    setup: Setup,
    client: Client<DuplexStream>,
    task: JoinHandle<()>,
}

impl Opened {
    /// Opens a WebSocket to an app that runs `serve` after the upgrade.
    async fn to<F, S>(serve: S) -> Self
    where
        S: Fn(AppStream) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let serve = Arc::new(serve);
        let app = App::start(move |mut stream| {
            let serve = serve.clone();
            async move {
                stream.read_head().await;
                stream.write(SWITCH).await;
                serve(stream).await;
            }
        })
        .await;
        let setup = Setup::with(policy(), app).await;
        let (near, far) = tokio::io::duplex(1024);
        let (sidecar, stop) = (setup.sidecar.clone(), setup.stop.clone());
        let task = tokio::spawn(async move { sidecar.serve_connection(far, None, stop).await });
        let mut client = Client::over(near);
        client.send(upgrade(ALICE)).await;
        assert_eq!(client.read_head().await.status, 101);
        Self { setup, client, task }
    }

    /// Waits until the WebSocket ends, with the clock paused. Returns the duration of the wait in seconds.
    async fn ended(&mut self) -> u64 {
        pause();
        let begun = Instant::now();
        let ended = tokio::time::timeout(Duration::from_secs(24 * 3600), &mut self.task).await;
        let taken = begun.elapsed().as_secs();
        resume();
        ended.expect("the WebSocket is still open after a day").unwrap();
        assert_eq!(self.setup.sidecar.activity().open_websockets, 0);
        taken
    }
}

/// Creates a channel by which the app signals an event to the test.
fn told() -> (UnboundedSender<()>, UnboundedReceiver<()>) {
    unbounded_channel()
}

#[tokio::test]
async fn idle_websocket_stays_open_for_hours() {
    let mut opened = Opened::to(|mut stream| async move {
        while let Some(byte) = stream.read_exact(1).await {
            stream.write(byte).await;
        }
    })
    .await;
    for byte in [b"a", b"b", b"c"] {
        opened.client.send(byte).await;
        assert_eq!(opened.client.read_exact(1).await, byte);
        pause();
        sleep(Duration::from_secs(3 * 3600)).await; // simulated time
        resume();
    }
    opened.client.send("d").await;
    assert_eq!(opened.client.read_exact(1).await, b"d");
    assert!(!opened.task.is_finished());
    assert_eq!(opened.setup.sidecar.activity().open_websockets, 1);
}

#[tokio::test]
async fn websocket_whose_client_reads_nothing_for_5_minutes_is_closed() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = sent.clone();
    let (left, mut leaving) = told();
    let mut opened = Opened::to(move |mut stream| {
        let (counted, left) = (counted.clone(), left.clone());
        async move {
            while let Ok(count) = stream.stream.write(&[0; 4096]).await {
                counted.fetch_add(count, Ordering::SeqCst);
            }
            left.send(()).unwrap();
        }
    })
    .await;
    stopped(&sent).await;
    // Each byte that the client reads counts as progress and restarts the timeout.
    for _ in 0..3 {
        pause();
        sleep(Duration::from_secs(200)).await; // simulated time
        resume();
        opened.client.io.read_exact(&mut [0; 1]).await.unwrap();
        assert!(!opened.task.is_finished());
    }
    let taken = opened.ended().await;
    assert!((290..=300).contains(&taken), "the tunnel was closed after {taken} s, outside of the expected range");
    soon(leaving.recv()).await.unwrap();
}

#[tokio::test]
async fn websocket_half_closed_by_client_is_closed_after_idle_minute() {
    let (heard, mut hearing) = told();
    let mut opened = Opened::to(move |mut stream| {
        let heard = heard.clone();
        async move {
            stream.read_end().await;
            stream.write("!").await;
            heard.send(()).unwrap();
            std::future::pending::<()>().await;
        }
    })
    .await;
    opened.client.io.shutdown().await.unwrap();
    soon(hearing.recv()).await.unwrap();
    // The app can still send after the client has closed its sending side.
    assert_eq!(opened.client.read_exact(1).await, b"!");
    let taken = opened.ended().await;
    assert!((50..=60).contains(&taken), "the tunnel was closed after {taken} s, outside of the expected range");
    assert!(opened.client.is_closed().await);
}

#[tokio::test]
async fn websocket_half_closed_by_app_is_closed_after_idle_minute() {
    let (heard, mut hearing) = told();
    let mut opened = Opened::to(move |mut stream| {
        let heard = heard.clone();
        async move {
            stream.stream.shutdown().await.unwrap();
            stream.read_exact(1).await.unwrap();
            heard.send(()).unwrap();
            stream.read_end().await;
            heard.send(()).unwrap();
        }
    })
    .await;
    assert!(opened.client.is_closed().await);
    // The client can still send after the app has closed its sending side.
    opened.client.send("a").await;
    soon(hearing.recv()).await.unwrap();
    let taken = opened.ended().await;
    assert!((50..=60).contains(&taken), "the tunnel was closed after {taken} s, outside of the expected range");
    soon(hearing.recv()).await.unwrap();
    eventually("it is not counted any more", || opened.setup.sidecar.activity().open_connections == 0).await;
}

#[tokio::test]
async fn websocket_whose_app_reads_nothing_for_5_minutes_is_closed() {
    let mut opened = Opened::to(|stream| async move {
        let _unread = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let (begun, sent) = (Instant::now(), AtomicUsize::new(0));
    let sending = async {
        while let Ok(count) = opened.client.io.write(&[0; 512]).await {
            sent.fetch_add(count, Ordering::SeqCst);
        }
    };
    tokio::select! {
        () = sending => {}
        () = stopped(&sent) => {}
    }
    let taken = opened.ended().await;
    assert!(taken <= 300 && begun.elapsed() >= Duration::from_secs(300), "the tunnel was closed after {taken} s");
}
