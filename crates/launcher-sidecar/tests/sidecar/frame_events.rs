//! The event stream of the frame page.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use launcher_domain::Crash;
use launcher_process::serve::raise_open_file_limit;
use launcher_sidecar::frame::{End, Frame, LastCrash};
use tempfile::TempDir;
use tokio::net::TcpStream;

use super::events::pass;
use super::frame::{frame, framed_by, get};
use super::support::{ALICE, App, Client, Setup, soon};

/// Maximum number of streams of a sidecar.
const STREAMS: usize = 4;

/// Opens a stream, and reads its head.
async fn open(setup: &Setup) -> Client<TcpStream> {
    let mut client = setup.client().await;
    client.send(format!("GET /_launcher/events HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
    let head = client.read_head().await;
    assert_eq!((head.status, head.header("Content-Type")), (200, Some("text/event-stream")), "{}", head.head);
    assert_eq!((head.header("Cache-Control"), head.header("Connection")), (Some("no-store"), Some("close")));
    client
}

async fn event(client: &mut Client<TcpStream>) -> String {
    String::from_utf8(client.read_until(b"\n\n").await).unwrap()
}

#[tokio::test]
async fn stream_sends_the_status_at_once_and_after_each_change() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("expires-at");
    let setup = framed_by(frame(&file)).await;
    let used = setup.sidecar.activity().last_used;
    let mut client = open(&setup).await;
    let status = get(&setup, "/_launcher/status", ALICE).await.body;
    assert_eq!(event(&mut client).await, format!("data: {status}\n"));
    std::fs::write(&file, "2026-01-01T13:00:00Z").unwrap();
    assert!(event(&mut client).await.starts_with("data: {\"expires_at\":\"2026-01-01T13:00:00Z\","));
    std::fs::write(folder.path().join("last-crash"), "2026-01-01T11:59:00Z crashed").unwrap();
    assert!(event(&mut client).await.contains("\"crash\":{\"at\":\"2026-01-01T11:59:00Z\""));
    assert_eq!(setup.sidecar.activity().last_used, used, "a stream is no use of the app");
    assert_eq!(setup.app.seen(), "");
}

#[tokio::test]
async fn stream_reports_an_app_that_refuses_connections() {
    let mut setup = framed_by(frame(Path::new("/missing"))).await;
    let mut client = open(&setup).await;
    assert!(event(&mut client).await.contains("\"app\":\"up\""));
    // Replace the app by one at another port: its own port refuses connections.
    setup.app = App::answering("").await;
    assert!(event(&mut client).await.contains("\"app\":\"down\""));
}

#[tokio::test]
async fn stream_does_not_connect_to_the_app_if_crashes_are_known_at_once() {
    let last_crash = LastCrash::Shared(Arc::new(|| None::<Crash>));
    let setup = framed_by(Frame { last_crash, ..Frame::default() }).await;
    assert!(event(&mut open(&setup).await).await.contains("\"app\":\"up\""));
    assert_eq!(setup.app.connections(), 0);
}

#[tokio::test]
async fn last_event_says_that_the_workshop_has_ended() {
    let has_ended = Arc::new(AtomicBool::new(false));
    let decided = Arc::clone(&has_ended);
    let end = End::Shared(Arc::new(move || decided.load(Ordering::Relaxed).then_some(())));
    for stops in [true, false] {
        let setup = framed_by(Frame { end: end.clone(), ..Frame::default() }).await;
        let mut client = open(&setup).await;
        event(&mut client).await;
        if stops {
            setup.stop.request();
        } else {
            has_ended.store(true, Ordering::Relaxed);
        }
        let last = event(&mut client).await;
        assert!(last.starts_with("event: ended\ndata: {"), "{last}");
        assert!(client.is_closed().await);
    }
}

#[tokio::test]
async fn further_stream_is_refused_until_one_is_closed() {
    let setup = Setup::new().await;
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        streams.push(open(&setup).await);
    }
    let refused = get(&setup, "/_launcher/events", ALICE).await;
    assert_eq!((refused.status, refused.header("Retry-After")), (503, Some("60")));
    assert_eq!(get(&setup, "/_launcher/status", ALICE).await.status, 200);
    streams.pop();
    let request = format!("GET /_launcher/events HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n");
    soon(async { while setup.status(&request).await != 200 {} }).await;
}

#[tokio::test]
async fn other_site_cannot_open_a_stream() {
    let setup = Setup::new().await;
    let lines = format!("{ALICE}Sec-Fetch-Site: cross-site\r\n");
    assert_eq!(get(&setup, "/_launcher/events", &lines).await.status, 403);
    let head = format!("HEAD /_launcher/events HTTP/1.1\r\nHost: w\r\n{ALICE}Connection: close\r\n\r\n");
    assert!(setup.send(head).await.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream"));
}

/// Connects clients that each have the answer to one request.
async fn idle_clients(setup: &Setup, count: usize) -> Vec<Client<TcpStream>> {
    let mut clients = Vec::new();
    for _ in 0..count {
        let mut client = setup.client().await;
        client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
        assert_eq!(client.read_response().await.status, 200);
        clients.push(client);
    }
    clients
}

#[tokio::test]
async fn stream_is_not_displaced_by_idle_connections() {
    raise_open_file_limit();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("expires-at");
    let setup = framed_by(frame(&file)).await;
    let mut stream = open(&setup).await;
    event(&mut stream).await;
    let _crowd = idle_clients(&setup, 400).await;
    std::fs::write(&file, "2026-01-01T13:00:00Z").unwrap();
    assert!(event(&mut stream).await.contains("2026-01-01T13:00:00Z"));
}

#[tokio::test]
async fn stream_that_has_been_open_for_hours_is_not_displaced_by_idle_connections() {
    const HEARTBEAT: Duration = Duration::from_secs(15);
    raise_open_file_limit();
    let last_crash = LastCrash::Shared(Arc::new(|| None::<Crash>));
    let setup = framed_by(Frame { last_crash, ..Frame::default() }).await;
    let mut stream = open(&setup).await;
    event(&mut stream).await;
    for _ in 0..2 * 240 {
        pass(HEARTBEAT).await;
        event(&mut stream).await;
    }
    let _older = idle_clients(&setup, 200).await;
    pass(HEARTBEAT).await;
    event(&mut stream).await;
    let _newer = idle_clients(&setup, 200).await;
    assert!(setup.sidecar.activity().open_connections <= 264, "others are displaced");
    pass(HEARTBEAT).await;
    assert!(event(&mut stream).await.starts_with("data: {"));
}
