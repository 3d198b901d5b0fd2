//! The sidecar relays large and slow bodies with constant memory, and disconnects stalled peers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::program::Program;
use super::support::{ALICE, App, AppStream, Client, Setup, eventually, policy, soon};

/// Size of a large body, in bytes.
const LARGE: usize = 100 * 1024 * 1024;
/// Maximum growth of the sidecar's memory while it relays a large body, in KiB.
const GROWTH_KIB: u64 = 16 * 1024;
const PIECE: usize = 1024 * 1024;

/// Returns piece `number` of a large body. Each piece differs, so that the receiver detects lost, repeated and
/// misplaced bytes.
fn piece(number: usize) -> Vec<u8> {
    static WORDS: LazyLock<Vec<u8>> = LazyLock::new(|| (0..PIECE / 8).flat_map(usize::to_le_bytes).collect());
    let mut bytes = WORDS.clone();
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// Checks all complete pieces in `data`, and removes them. `count` is the number of bytes that were removed so far.
fn check_pieces(data: &mut Vec<u8>, count: &mut usize) {
    while data.len() >= PIECE {
        let rest = data.split_off(PIECE);
        assert!(*data == piece(*count / PIECE), "wrong bytes after the first {count}");
        *data = rest;
        *count += PIECE;
    }
}

async fn write_large(io: &mut (impl AsyncWriteExt + Unpin), chunked: bool, sent: &AtomicUsize) {
    for number in 0..LARGE / PIECE {
        let data = piece(number);
        if chunked {
            io.write_all(format!("{:x}\r\n", data.len()).as_bytes()).await.unwrap();
        }
        for part in data.chunks(PIECE / 64) {
            io.write_all(part).await.unwrap();
            sent.fetch_add(part.len(), Ordering::SeqCst);
        }
        if chunked {
            io.write_all(b"\r\n").await.unwrap();
        }
    }
    if chunked {
        io.write_all(b"0\r\n\r\n").await.unwrap();
    }
}

/// Starts an app that answers GET with a large body. It answers other requests with the length of the received body.
/// Returns the app, and a counter of the body bytes that the app has sent.
async fn large(chunked: bool) -> (App, Arc<AtomicUsize>) {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = sent.clone();
    let app = App::start(move |mut stream: AppStream| {
        let sent = counted.clone();
        async move {
            let head = stream.read_head().await.unwrap();
            if head.starts_with("GET") {
                let framing =
                    if chunked { "Transfer-Encoding: chunked".to_owned() } else { format!("Content-Length: {LARGE}") };
                stream.write(format!("HTTP/1.1 200 OK\r\n{framing}\r\n\r\n")).await;
                write_large(&mut stream.stream, chunked, &sent).await;
                return;
            }
            let mut data = Vec::new();
            let mut count = 0;
            while count < LARGE {
                // Read the size of each chunk: the sidecar may forward chunks of other sizes than it received.
                let size = match chunked {
                    true => usize::from_str_radix(stream.read_until(b"\r\n").await.unwrap().trim_end(), 16).unwrap(),
                    false => PIECE,
                };
                data.extend(stream.read_exact(size).await.unwrap());
                check_pieces(&mut data, &mut count);
                if chunked {
                    stream.read_exact(2).await.unwrap();
                }
                stream.forget();
            }
            stream.write(format!("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{count}")).await;
            stream.read_end().await;
        }
    })
    .await;
    (app, sent)
}

/// Waits until `count` has stopped growing: 20 consecutive checks must find the same value.
pub(crate) async fn stopped(count: &AtomicUsize) {
    let (mut last, mut looks) = (usize::MAX, 0);
    eventually("the number of bytes stops growing", || {
        let now = count.load(Ordering::SeqCst);
        looks = if now == last { looks + 1 } else { 0 };
        last = now;
        now > 0 && looks == 20
    })
    .await;
}

async fn assert_flat(program: &Program, before: u64) {
    let peak = program.memory_kib("VmHWM");
    assert!(peak < before + GROWTH_KIB, "grew from {before} to {peak} KiB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_uploads_use_constant_memory() {
    for chunked in [false, true] {
        let (app, _) = large(chunked).await;
        let program = Program::start(app.addr, &[]).await;
        let before = program.memory_kib("VmRSS");
        let mut client = Client::connect(program.addr).await;
        let framing =
            if chunked { "Transfer-Encoding: chunked".to_owned() } else { format!("Content-Length: {LARGE}") };
        client.send(format!("PUT / HTTP/1.1\r\nHost: w\r\n{ALICE}{framing}\r\n\r\n")).await;
        write_large(&mut client.io, chunked, &AtomicUsize::new(0)).await;
        assert_eq!(client.read_response().await.body, LARGE.to_string());
        assert_flat(&program, before).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_downloads_to_slow_readers_use_constant_memory() {
    for chunked in [false, true] {
        let (app, sent) = large(chunked).await;
        let program = Program::start(app.addr, &[]).await;
        let before = program.memory_kib("VmRSS");
        let mut client = Client::connect(program.addr).await;
        client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
        client.read_head().await;
        // Read nothing for a while: a proxy that buffers the whole body would do so now.
        stopped(&sent).await;
        assert!(
            sent.load(Ordering::SeqCst) < LARGE,
            "the sidecar read the whole body although the client read nothing"
        );
        let mut data = Vec::new();
        let mut count = 0;
        while count < LARGE {
            let size = match chunked {
                true => usize::from_str_radix(
                    std::str::from_utf8(&client.read_until(b"\r\n").await).unwrap().trim_end(),
                    16,
                )
                .unwrap(),
                false => PIECE,
            };
            data.extend(client.read_exact(size).await);
            check_pieces(&mut data, &mut count);
            if chunked {
                client.read_exact(2).await;
            }
        }
        assert_flat(&program, before).await;
    }
}

#[tokio::test]
async fn request_and_response_bodies_stream_simultaneously() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
        while let Some(size) = stream.read_until(b"\r\n").await {
            let length = usize::from_str_radix(size.trim_end(), 16).unwrap();
            let data = stream.read_exact(length + 2).await.unwrap();
            stream.write([size.as_bytes(), &data].concat()).await;
        }
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let mut client = setup.client().await;
    client.send(format!("POST / HTTP/1.1\r\nHost: w\r\n{ALICE}Transfer-Encoding: chunked\r\n\r\n")).await;
    client.read_head().await;
    for word in ["ping", "pong"] {
        client.send(format!("4\r\n{word}\r\n")).await;
        assert_eq!(client.read_exact(9).await, format!("4\r\n{word}\r\n").into_bytes());
    }
    client.send("0\r\n\r\n").await;
    assert_eq!(client.read_to_end().await, "0\r\n\r\n");
}

/// Starts an app that sends one byte of its response and then waits. `left` signals when the sidecar disconnects.
async fn silent(left: tokio::sync::mpsc::UnboundedSender<()>) -> App {
    App::start(move |mut stream| {
        let left = left.clone();
        async move {
            stream.read_head().await;
            stream.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n:\r\n").await;
            stream.read_end().await;
            left.send(()).unwrap();
        }
    })
    .await
}

#[tokio::test]
async fn client_reset_during_response_closes_app_connection() {
    let (left, mut leaving) = tokio::sync::mpsc::unbounded_channel();
    let setup = Setup::with(policy(), silent(left).await).await;
    let mut client = setup.client().await;
    client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
    client.read_until(b"1\r\n:\r\n").await;
    // Reset the connection, as the kernel does for a killed browser.
    rustix::net::sockopt::set_socket_linger(&client.io, Some(Duration::ZERO)).unwrap();
    drop(client);
    soon(leaving.recv()).await.unwrap();
}

#[tokio::test]
async fn half_closed_client_of_silent_app_is_disconnected_after_30_seconds() {
    let (left, mut leaving) = tokio::sync::mpsc::unbounded_channel();
    let setup = Setup::with(policy(), silent(left).await).await;
    let (near, far) = tokio::io::duplex(1024);
    let (sidecar, stop) = (setup.sidecar.clone(), setup.stop.clone());
    tokio::spawn(async move { sidecar.serve_connection(far, None, stop).await });
    let mut client = Client::over(near);
    client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
    client.read_until(b"1\r\n:\r\n").await;
    client.io.shutdown().await.unwrap();
    tokio::time::pause();
    tokio::time::sleep(Duration::from_secs(29)).await; // simulated time
    assert!(leaving.is_empty());
    tokio::time::sleep(Duration::from_secs(2)).await; // simulated time
    // Resume the clock: the app uses a real socket, which does not follow the paused clock.
    tokio::time::resume();
    soon(leaving.recv()).await.unwrap();
    assert_eq!(client.read_to_end().await, "");
}

#[tokio::test]
async fn client_that_reads_nothing_for_5_minutes_is_disconnected() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.write("HTTP/1.1 200 OK\r\n\r\n").await;
        while stream.stream.write_all(&[0; 4096]).await.is_ok() {}
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let (near, far) = tokio::io::duplex(1024);
    let (sidecar, stop) = (setup.sidecar.clone(), setup.stop.clone());
    let task = tokio::spawn(async move { sidecar.serve_connection(far, None, stop).await });
    let mut client = Client::over(near);
    client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
    client.read_head().await;
    eventually("the app has sent", || setup.app.seen().ends_with("\r\n\r\n")).await;
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    // Each byte that the client reads counts as progress and restarts the timeout.
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_secs(200)).await; // simulated time
        client.io.read_exact(&mut [0; 1]).await.unwrap();
        assert!(!task.is_finished());
    }
    tokio::time::timeout(Duration::from_secs(301), task).await.unwrap().unwrap();
    assert!(begun.elapsed() > Duration::from_secs(600));
}

#[tokio::test]
async fn app_that_reads_no_upload_bytes_for_15_minutes_is_disconnected() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        std::future::pending::<()>().await;
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (sidecar, stop) = (setup.sidecar.clone(), setup.stop.clone());
    let task = tokio::spawn(async move { sidecar.serve_connection(far, None, stop).await });
    let mut client = Client::over(near);
    client.send(format!("PUT / HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: {}\r\n\r\n", u32::MAX)).await;
    eventually("the app has the head", || setup.app.seen().ends_with("\r\n\r\n")).await;
    // The client keeps sending, so it never counts as stalled: only the timeout of the stalled app can end the
    // exchange.
    let uploading = tokio::spawn(async move { while client.io.write_all(&[b'a'; 4096]).await.is_ok() {} });
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    tokio::time::timeout(Duration::from_secs(901), task).await.unwrap().unwrap();
    assert!(begun.elapsed() > Duration::from_secs(800));
    uploading.await.unwrap();
}

#[tokio::test]
async fn client_that_sends_no_upload_bytes_for_5_minutes_is_disconnected() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        while stream.read_exact(1).await.is_some() {}
    })
    .await;
    let setup = Setup::with(policy(), app).await;
    let (near, far) = tokio::io::duplex(1024);
    let (sidecar, stop) = (setup.sidecar.clone(), setup.stop.clone());
    let task = tokio::spawn(async move { sidecar.serve_connection(far, None, stop).await });
    let mut client = Client::over(near);
    client.send(format!("PUT / HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: 100\r\n\r\na")).await;
    eventually("the app has the first byte", || setup.app.seen().ends_with('a')).await;
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    // Each byte that the client sends counts as progress and restarts the timeout.
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_secs(200)).await; // simulated time
        client.io.write_all(b"a").await.unwrap();
        assert!(!task.is_finished());
    }
    tokio::time::timeout(Duration::from_secs(301), task).await.unwrap().unwrap();
    assert!(begun.elapsed() > Duration::from_secs(600));
}
