//! Event streams that stay open for hours, with pauses between events.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::DuplexStream;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::support::program::Program;
use super::support::{ALICE, App, Client, Setup, policy};

/// Starts an app that answers with an event stream. Returns the app, and a sender: the app sends each of its messages
/// as an event.
async fn telling() -> (App, UnboundedSender<String>) {
    let (sender, receiver) = unbounded_channel::<String>();
    let receiver: Arc<Mutex<UnboundedReceiver<String>>> = Arc::new(Mutex::new(receiver));
    let app = App::start(move |mut stream| {
        let receiver = receiver.clone();
        async move {
            stream.read_head().await;
            stream
                .write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
                .await;
            while let Some(event) = receiver.lock().await.recv().await {
                stream.write(chunk(&event)).await;
            }
        }
    })
    .await;
    (app, sender)
}

fn chunk(event: &str) -> String {
    format!("{:x}\r\n{event}\r\n", event.len())
}

#[tokio::test]
async fn each_event_is_relayed_without_waiting_for_the_next() {
    let (app, sender) = telling().await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
    client.read_head().await;
    for _ in 0..300 {
        sender.send(":".to_owned()).unwrap();
        assert_eq!(client.read_exact(6).await, b"1\r\n:\r\n");
    }
}

/// Advances the clock by `step`. The clock is paused only during this call, because the app's socket needs real time.
pub(crate) async fn pass(step: Duration) {
    tokio::time::pause();
    tokio::time::advance(step).await;
    tokio::time::resume();
}

async fn assert_told(sender: &UnboundedSender<String>, client: &mut Client<DuplexStream>, event: &str) {
    sender.send(event.to_owned()).unwrap();
    let expected = chunk(event);
    let told = client.read_exact(expected.len()).await;
    assert_eq!(String::from_utf8(told).unwrap(), expected);
}

#[tokio::test]
async fn event_stream_stays_open_after_400_events_and_an_hour_of_silence() {
    let (app, sender) = telling().await;
    let setup = Setup::with(policy(), app).await;
    let (near, far) = tokio::io::duplex(1024);
    let (sidecar, stop) = (setup.sidecar.clone(), setup.stop.clone());
    tokio::spawn(async move { sidecar.serve_connection(far, None, stop).await });
    let mut client = Client::over(near);
    client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
    client.read_head().await;
    let begun = tokio::time::Instant::now();
    for number in 0..400 {
        pass(Duration::from_secs(1)).await;
        assert_told(&sender, &mut client, &format!("data: {number}\n\n")).await;
    }
    for _ in 0..3600 {
        pass(Duration::from_secs(1)).await;
    }
    assert_told(&sender, &mut client, "data: last\n\n").await;
    assert!(begun.elapsed() >= Duration::from_secs(4000), "{:?}", begun.elapsed());
    assert_eq!(setup.app.connections(), 1);
}

#[tokio::test]
async fn event_stream_uses_constant_memory() {
    const GROWTH_KIB: u64 = 512;
    let (app, sender) = telling().await;
    let program = Program::start(app.addr, &[]).await;
    let mut client = Client::connect(program.addr).await;
    client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
    client.read_head().await;
    let event = format!("data: {}\n\n", "x".repeat(8000));
    let mut before = 0;
    for number in 0..500 {
        sender.send(event.clone()).unwrap();
        assert_eq!(client.read_exact(chunk(&event).len()).await, chunk(&event).into_bytes());
        if number == 10 {
            before = program.memory_kib("VmHWM");
        }
    }
    let peak = program.memory_kib("VmHWM");
    assert!(peak < before + GROWTH_KIB, "grew from {before} to {peak} KiB over 4 MB of events");
}
