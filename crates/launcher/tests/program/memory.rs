//! Memory of the running program under clients that send or read slowly.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use launcher_domain::material::CHECK_MEMORY_BYTES;
use launcher_process::serve::ServeLimits;
use launcher_service::Limits;
use launcher_testkit::DEADLINE;

use crate::serving::Serving;

const MIB: usize = 1 << 20;
/// Memory of the program without requests, in bytes: 28 MiB with 10,000 rows (docs/performance.md), and 20 MiB of freed
/// memory that the allocator may keep.
const BASELINE: usize = 48 * MIB;

/// Returns the launcher's memory limit in the chart, in bytes.
fn chart_limit() -> usize {
    let values = include_str!("../../../../charts/workshop-launcher/values.yaml");
    let launcher = values.split("\nlauncher:\n").nth(1).unwrap();
    let limit = launcher.split("limits: {memory: ").nth(1).unwrap().split('}').next().unwrap();
    limit.strip_suffix("Mi").unwrap().parse::<usize>().unwrap() * MIB
}

#[test]
fn worst_case_memory_is_below_chart_limit() {
    let service = ServeLimits::service().worst_case_bytes();
    let telemetry = ServeLimits::telemetry().worst_case_bytes();
    let files = launcher_service::DOWNLOAD_BYTES + launcher_service::SNAPSHOT_BYTES;
    let checks = Limits::default().max_material_checks as usize * usize::try_from(CHECK_MEMORY_BYTES).unwrap();
    let total = BASELINE + service + telemetry + launcher_api::BUFFERED_BYTES + files + checks;
    assert!(total <= chart_limit(), "{} MiB of {}", total / MIB, chart_limit() / MIB);
}

/// Returns the RSS of a process, in bytes.
fn rss(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * 1024
}

/// Returns the bytes in the socket buffers of all connections that `local` has accepted.
fn queued(local: SocketAddr) -> usize {
    let port = format!(":{:04X}", local.port());
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| std::fs::read_to_string(table).unwrap_or_default());
    let of_line = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_ours = fields.get(1)?.ends_with(&port) && *fields.get(3)? == "01";
        let (sent, received) = fields.get(4).filter(|_| is_ours)?.split_once(':')?;
        Some(usize::from_str_radix(sent, 16).ok()? + usize::from_str_radix(received, 16).ok()?)
    };
    tables.iter().flat_map(|table| table.lines()).filter_map(of_line).sum()
}

fn connect(addr: SocketAddr, request: &str, body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(2))).unwrap(); // pacing: a refused body is not read
    // Ignore a write error: the server may refuse the request before the whole body is sent.
    drop(stream.write_all(request.as_bytes()).and_then(|()| stream.write_all(body)));
    stream
}

fn head(addr: SocketAddr, line: &str, person: &str, more: &str) -> String {
    format!("{line} HTTP/1.1\r\nHost: {addr}\r\nX-Auth-Request-Email: {person}@example.org\r\n{more}\r\n")
}

/// Sends a request as another user on a new connection. Returns the time until the response is complete.
fn ask(addr: SocketAddr) -> Duration {
    let begun = Instant::now();
    let mut stream = connect(addr, &head(addr, "GET /api/v1/instances/", "bob", "Connection: close\r\n"), b"");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    begun.elapsed()
}

/// The attack has 800 bodies of 256 KiB without their last byte, 600 unfinished heads of 32 KiB, and 300 clients that
/// do not read their response of 1.5 MB. The service must still answer other users.
#[test]
fn slow_clients_do_not_exhaust_memory_and_others_get_answers() {
    let data = tempfile::tempdir().unwrap();
    let serving = Serving::start_with(data.path(), &[("SERVICE_LOG", "error")]);
    let addr = serving.listen();
    let launch = "POST /api/v1/templates/01890000-0000-7000-8000-000000000000/launch";
    let length = "Content-Type: application/json\r\nContent-Length: 262144\r\n";
    let before = rss(serving.pid());
    let (body, mut held) = (vec![b' '; 262_143], Vec::new());
    let (mut peak, mut slowest) = (before, Duration::ZERO);
    for number in 0..1700 {
        held.push(match number {
            0..800 => connect(addr, &head(addr, launch, "mallory", length), &body),
            800..1100 => connect(addr, &head(addr, "GET /api/v1/docs/swagger-ui-bundle.js", "mallory", ""), b""),
            _ => connect(addr, &head(addr, "GET /", "mallory", "X: ").replace("\r\n\r\n", ""), &body[..32_000]),
        });
        if number % 50 == 49 {
            slowest = slowest.max(ask(addr));
            peak = peak.max(rss(serving.pid()) + queued(addr));
        }
    }
    assert!(peak < before + 100 * MIB, "{} MiB before, {} MiB under attack", before / MIB, peak / MIB);
    // The tier `limits` measures the latency of others under attack.
    println!("another client waited for at most {slowest:?}");
    drop(held);
    assert_eq!(serving.stop().0, Some(0));
}
