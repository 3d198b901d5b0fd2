//! A running launcher, for the tests of the whole program.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};

use launcher_testkit::wait_until;

/// A running launcher. Dropping it kills the process.
pub(crate) struct Serving {
    pub(crate) process: Child,
    pub(crate) listen: SocketAddr,
    pub(crate) telemetry: SocketAddr,
}

/// Returns a free port on a separate loopback address. On 127.0.0.1, an outgoing connection of another process could
/// take the port before the launcher does.
pub(crate) fn free() -> SocketAddr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let address = Ipv4Addr::new(127, 0, 78, NEXT.fetch_add(1, Ordering::Relaxed));
    TcpListener::bind((address, 0)).unwrap().local_addr().unwrap()
}

/// Returns the address of a listener: the value of `setting` if it is set, else a free port. Replaces an unspecified IP
/// address with loopback.
fn address(setting: &str, settings: &[(&str, &str)]) -> SocketAddr {
    let given = settings.iter().find(|(name, _)| *name == setting).map(|(_, value)| value.parse().unwrap());
    given.map_or_else(free, |given: SocketAddr| {
        if given.ip().is_unspecified() { (Ipv4Addr::LOCALHOST, given.port()).into() } else { given }
    })
}

impl Serving {
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_with(data, &[])
    }

    pub(crate) fn start_with(data: &Path, settings: &[(&str, &str)]) -> Self {
        let (listen, telemetry) =
            (address("SERVICE_LISTEN_ADDR", settings), address("SERVICE_TELEMETRY_ADDR", settings));
        // Start the launcher with a low limit of open files, as some machines set it. The launcher must raise the
        // limit.
        let process = Command::new("sh")
            .args(["-c", "ulimit -Sn 128; exec \"$0\" serve", env!("CARGO_BIN_EXE_launcher")])
            .env_clear()
            .env("SERVICE_DATA_DIR", data)
            .env("SERVICE_LISTEN_ADDR", listen.to_string())
            .env("SERVICE_TELEMETRY_ADDR", telemetry.to_string())
            .env("SERVICE_ADMIN_EMAILS", "admin@example.org")
            .env("SERVICE_DEV_IDENTITY", "dev@example.org")
            .env("SERVICE_ADMIN_EMIALS", "admin@example.org")
            .envs(settings.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let serving = Self { process, listen, telemetry };
        wait_until("the launcher is not ready", || serving.get(telemetry, "/readyz", "").starts_with("HTTP/1.1 200 "));
        serving
    }

    /// Returns the address of the public listener.
    pub(crate) fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// Returns the address of the listener for health and metrics.
    pub(crate) fn telemetry(&self) -> SocketAddr {
        self.telemetry
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Returns the URL of an API path.
    pub(crate) fn api(&self, path: &str) -> String {
        format!("http://{}/api/v1{path}", self.listen)
    }

    /// Requests a path from the public listener. Returns the whole response.
    pub(crate) fn ask(&self, path: &str, headers: &str) -> String {
        self.get(self.listen, path, headers)
    }

    /// Requests a path from the listener at `addr`. Returns the whole response, or an empty text if the connection is
    /// refused.
    pub(crate) fn get(&self, addr: SocketAddr, path: &str, headers: &str) -> String {
        let Ok(mut stream) = TcpStream::connect(addr) else { return String::new() };
        let request = format!("GET {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        drop(stream.read_to_string(&mut answer));
        answer
    }

    /// Sends the stop signal.
    pub(crate) fn terminate(&self) {
        let asked = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status().unwrap();
        assert!(asked.success());
    }

    /// Waits until `/readyz` reports the stop.
    pub(crate) fn wait_until_stopping(&self) {
        wait_until("/readyz does not report the stop", || self.get(self.telemetry, "/readyz", "").contains("stopping"));
    }

    /// Sends the stop signal, and waits for the end of the launcher. Returns the exit code and the log.
    pub(crate) fn stop(self) -> (Option<i32>, String) {
        self.terminate();
        self.ended()
    }

    /// Waits for the end of the launcher. Returns the exit code and the log.
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let mut log = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        (self.process.wait().unwrap().code(), log)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
