//! The program, with a separate environment.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};

use super::{Client, eventually, soon};

/// The program, running until it is dropped.
pub(crate) struct Program {
    pub(crate) child: Child,
    pub(crate) addr: SocketAddr,
    pub(crate) telemetry: SocketAddr,
}

/// The program's command, with these settings and no others.
pub(crate) fn command(settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_launcher-sidecar"));
    command.env_clear().envs(settings.iter().copied()).stdin(Stdio::null());
    command
}

/// Runs the program to its end.
pub(crate) fn run(settings: &[(&str, &str)]) -> Output {
    command(settings).output().unwrap()
}

/// Returns a free port on a separate loopback address: on the shared one, another process might take it first.
fn free() -> SocketAddr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let address = Ipv4Addr::new(127, 0, 77, NEXT.fetch_add(1, Ordering::Relaxed));
    TcpListener::bind((address, 0)).unwrap().local_addr().unwrap()
}

impl Program {
    /// Starts the program with Alice as the owner, and waits until it listens.
    pub(crate) async fn start(app: SocketAddr, settings: &[(&str, &str)]) -> Self {
        Self::start_by(command(settings), app).await
    }

    /// Starts the program by a command that ends in it.
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

    /// Returns the telemetry listener's response.
    pub(crate) async fn ask(&self, path: &str) -> String {
        let mut client = Client::connect(self.telemetry).await;
        client.send(format!("GET {path} HTTP/1.1\r\nHost: w\r\n\r\n")).await;
        client.read_to_end().await
    }

    /// Sends SIGTERM to the program.
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

    /// Waits for the program to exit. Returns its exit code.
    pub(crate) async fn exit_code(&mut self) -> Option<i32> {
        let child = &mut self.child;
        eventually("the program ends", || child.try_wait().unwrap().is_some()).await;
        self.child.wait().unwrap().code()
    }

    /// Returns a line of /proc/PID/status, in KiB.
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
