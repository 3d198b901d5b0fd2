//! Runs `launcher-sidecar` as a process with its own environment.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};

use super::{Client, eventually, soon};

/// A running sidecar process. Dropping it kills the process.
pub(crate) struct Program {
    pub(crate) child: Child,
    pub(crate) addr: SocketAddr,
    pub(crate) telemetry: SocketAddr,
}

/// Returns a command that runs the sidecar. Its environment contains only `settings`.
pub(crate) fn command(settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_launcher-sidecar"));
    command.env_clear().envs(settings.iter().copied()).stdin(Stdio::null());
    command
}

/// Runs the sidecar until it exits.
pub(crate) fn run(settings: &[(&str, &str)]) -> Output {
    command(settings).output().unwrap()
}

/// Returns a free port on a loopback address that only this test uses. On 127.0.0.1, another process could bind the
/// port before the sidecar does.
pub(crate) fn free() -> SocketAddr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let address = Ipv4Addr::new(127, 0, 77, NEXT.fetch_add(1, Ordering::Relaxed));
    TcpListener::bind((address, 0)).unwrap().local_addr().unwrap()
}

impl Program {
    /// Starts the sidecar with Alice as the owner, and waits until it listens.
    pub(crate) async fn start(app: SocketAddr, settings: &[(&str, &str)]) -> Self {
        Self::start_by(command(settings), app).await
    }

    /// Starts the sidecar with a command that runs it directly, or through a shell.
    pub(crate) async fn start_by(mut command: Command, app: SocketAddr) -> Self {
        let (addr, telemetry) = (free(), free());
        let child = command
            .env("SERVICE_OWNER_EMAIL", "alice@example.org")
            .env("SERVICE_APP_PORT", app.port().to_string())
            .env("SERVICE_LISTEN_ADDR", addr.to_string())
            .env("SERVICE_TELEMETRY_ADDR", telemetry.to_string())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        eventually("the program listens", || std::net::TcpStream::connect(telemetry).is_ok()).await;
        Self { child, addr, telemetry }
    }

    /// Sends a GET request to the telemetry listener, and returns the response.
    pub(crate) async fn ask(&self, path: &str) -> String {
        let mut client = Client::connect(self.telemetry).await;
        client.send(format!("GET {path} HTTP/1.1\r\nHost: w\r\n\r\n")).await;
        client.read_to_end().await
    }

    /// Sends SIGTERM to the sidecar.
    pub(crate) fn signal(&self) {
        let status = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    pub(crate) async fn terminate(&self) {
        self.signal();
        let stopping = async {
            while !self.ask("/readyz").await.contains("stopping") {
                tokio::task::yield_now().await;
            }
        };
        soon(stopping).await;
    }

    /// Waits until the sidecar exits. Returns its exit code.
    pub(crate) async fn exit_code(&mut self) -> Option<i32> {
        let child = &mut self.child;
        eventually("the program ends", || child.try_wait().unwrap().is_some()).await;
        self.child.wait().unwrap().code()
    }

    /// Returns a memory value of the sidecar in KiB. `line` is its name in `/proc/PID/status`.
    pub(crate) fn memory_kib(&self, line: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let value = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':')).unwrap();
        value.split_whitespace().next().unwrap().parse().unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
