//! Sizes of the kernel buffers of open connections, measured with `ss` in a separate network namespace.

use std::process::Command;
use std::time::Duration;

use launcher_process::serve::raise_open_file_limit;
use launcher_sidecar::memory::WORST_CASE;
use tokio::io::AsyncWriteExt;

use super::support::namespace::run_in_namespace;
use super::support::program::Program;
use super::support::{ALICE, App, Client, eventually};

/// Number of stalled connections. It exceeds the 64 connections that get full buffers.
const STALLED: usize = 100;
const KIB: u64 = 1024;

/// Kernel memory of a socket as `ss` reports it, in bytes: the bytes in its receive and send buffers, and the buffers'
/// limits. All values include the kernel's overhead.
#[derive(Debug)]
struct Memory {
    received: u64,
    receive_limit: u64,
    queued: u64,
    send_limit: u64,
    reserved: u64,
}

/// Returns the kernel memory of all sockets that match an `ss` filter.
fn sockets(filter: &str) -> Vec<Memory> {
    let output = Command::new("ss").args(["-tmnH", "state", "established", filter]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let number = |text: &str, name: &str| -> u64 {
        let found = text.split(',').find_map(|part| part.strip_prefix(name)?.parse().ok());
        found.expect(name)
    };
    text.split("skmem:(")
        .skip(1)
        .map(|text| text.split(')').next().unwrap())
        .map(|text| Memory {
            received: number(text, "r"),
            receive_limit: number(text, "rb"),
            queued: number(text, "w"),
            send_limit: number(text, "tb"),
            reserved: number(text, "f"),
        })
        .collect()
}

#[test]
fn kernel_buffers_of_stalled_connections_are_bounded() {
    run_in_namespace("buffers::in_namespace_kernel_buffers_of_stalled_connections_are_bounded", "");
}

#[tokio::test]
#[ignore = "runs in a network namespace"]
async fn in_namespace_kernel_buffers_of_stalled_connections_are_bounded() {
    raise_open_file_limit();
    // After the head, the app reads nothing and sends without end, so both directions stall.
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        let (mut reader, mut writer) = stream.stream.into_split();
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n";
        drop(writer.write_all(head).await);
        while writer.write_all(&[b'd'; 64 * 1024]).await.is_ok() {}
        drop(tokio::io::copy(&mut reader, &mut tokio::io::sink()).await);
    })
    .await;
    let program = Program::start(app.addr, &[]).await;
    let mut clients = Vec::new();
    for _ in 0..STALLED {
        let mut client = Client::connect(program.addr).await;
        client.send(format!("PUT / HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: 1000000000000\r\n\r\n")).await;
        clients.push(client);
    }
    let served = format!("( sport = :{} )", program.addr.port());
    let to_app = format!("( dport = :{} )", app.addr.port());
    let held = || {
        let all = [&served, &to_app].map(|filter| sockets(filter)).into_iter().flatten();
        all.map(|socket| socket.received + socket.queued + socket.reserved).sum::<u64>()
    };
    eventually("all connections are there", || sockets(&served).len() == STALLED && sockets(&to_app).len() == STALLED)
        .await;
    // Many bytes, and a second without a change: the buffers are full.
    let (mut before, mut unchanged) = (0, 0);
    for _ in 0..2400 {
        for client in &clients {
            while client.io.try_write(&[b'u'; 64 * 1024]).is_ok() {}
        }
        tokio::time::sleep(Duration::from_millis(50)).await; // pacing: the kernel moves bytes between the sockets
        let now = held();
        unchanged = if now == before { unchanged + 1 } else { 0 };
        before = now;
        if unchanged >= 20 && now > 10 * 1024 * KIB {
            break;
        }
    }
    let (mut full, mut lean, mut bulk) = (0, 0, 0);
    for socket in sockets(&served).into_iter().chain(sockets(&to_app)) {
        // Limits of full and lean buffers. The kernel doubles the sizes that the sidecar requests.
        let plain = [128 * KIB, 64 * KIB];
        match (plain.contains(&socket.receive_limit), plain.contains(&socket.send_limit)) {
            (true, true) if socket.receive_limit == 128 * KIB => full += 1,
            (true, true) => lean += 1,
            _ => bulk += 1,
        }
        assert!(socket.receive_limit <= 4096 * KIB && socket.send_limit <= 4096 * KIB, "{socket:?}");
        assert!(socket.received <= socket.receive_limit + 8 * KIB, "{socket:?}");
        assert!(socket.queued <= socket.send_limit + 68 * KIB && socket.reserved <= 8 * KIB, "{socket:?}");
    }
    assert!(bulk <= 2 * 4 && lean >= 2 * (STALLED - 64) - bulk, "{full} full, {lean} lean, {bulk} in bulk");
    assert!(before > 10 * 1024 * KIB, "the connections are stalled with {before} bytes");
    // Upper bound: 600 KiB per connection, and 8 MiB for each of the 4 bulk transfers. If the kernel sized the buffers
    // itself, each connection would hold about 8 MiB, and the test would fail.
    let bound = STALLED as u64 * 600 * KIB + 4 * 8 * 1024 * KIB;
    assert!(before < bound && bound < WORST_CASE as u64, "{before} bytes in the kernel, at most {bound}");
    assert!(program.memory_kib("VmRSS") < 48 * KIB, "{} KiB", program.memory_kib("VmRSS"));
}
