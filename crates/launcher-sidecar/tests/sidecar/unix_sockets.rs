//! A sidecar that listens on Unix sockets, as in a container.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use launcher_process::listener::Address;
use launcher_process::serve::raise_open_file_limit;
use launcher_process::stop::Stop;
use launcher_sidecar::Sidecar;
use launcher_sidecar::frame::Frame;
use launcher_sidecar::serve::{listen, serve};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;

use super::support::program::command;
use super::support::{ALICE, App, Client, eventually, policy, soon};
use super::websocket::{SWITCH, upgrade};

const GET: &str = "GET / HTTP/1.1\r\nHost: w\r\nX-Auth-Request-Email: alice@example.org\r\n\r\n";

/// A sidecar process that listens on two Unix sockets. Dropping it kills the process and removes the sockets.
struct Program {
    child: Child,
    folder: TempDir,
}

impl Program {
    async fn start(app: &App) -> Self {
        let folder = TempDir::new().unwrap();
        let child = listening_in(&folder, app).stderr(Stdio::null()).spawn().unwrap();
        let program = Self { child, folder };
        let telemetry = program.path("telemetry.sock");
        eventually("the program listens", || std::os::unix::net::UnixStream::connect(&telemetry).is_ok()).await;
        program
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn connect(&self, name: &str) -> Client<UnixStream> {
        Client::over(UnixStream::connect(self.path(name)).await.unwrap())
    }

    /// Sends a GET request to the telemetry listener, and returns the response: an empty string if the listener closes the
    /// connection without one.
    async fn ask(&self, path: &str) -> String {
        let mut client = self.connect("telemetry.sock").await;
        let request = format!("GET {path} HTTP/1.1\r\nHost: w\r\n\r\n");
        match soon(client.io.write_all(request.as_bytes())).await {
            // The listener closed the connection before it read the request.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => String::new(),
            sent => {
                sent.unwrap();
                client.read_to_end().await
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns a command that runs a sidecar with Alice as the owner, and with its sockets in `folder`.
fn listening_in(folder: &TempDir, app: &App) -> Command {
    let address = |name: &str| format!("unix:{}", folder.path().join(name).display());
    command(&[
        ("SERVICE_OWNER_EMAIL", "alice@example.org"),
        ("SERVICE_APP_PORT", &app.addr.port().to_string()),
        ("SERVICE_LISTEN_ADDR", &address("http.sock")),
        ("SERVICE_TELEMETRY_ADDR", &address("telemetry.sock")),
    ])
}

/// Starts Alice's sidecar on a Unix socket within this process. Returns the sidecar, its folder and the socket's path.
/// `stop` ends the sidecar.
fn serving(app: &App, stop: &Stop) -> (Sidecar, TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("http.sock");
    let listener = listen(&Address::Unix(path.clone())).unwrap();
    let sidecar = Sidecar::new(policy(), app.addr, Frame::default());
    let (served, stopped) = (sidecar.clone(), stop.clone());
    tokio::spawn(async move { serve(&listener, served, stopped).await });
    (sidecar, folder, path)
}

#[tokio::test]
async fn owner_is_served_and_others_are_refused_over_a_unix_socket() {
    let app = App::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let program = Program::start(&app).await;
    let mut client = program.connect("http.sock").await;
    client.send(GET).await;
    assert_eq!(client.read_response().await.body, "ok");
    client.send("GET / HTTP/1.1\r\nHost: w\r\nX-Auth-Request-Email: bob@example.org\r\n\r\n").await;
    assert_eq!(client.read_response().await.status, 403);
    assert_eq!(app.seen().matches("GET ").count(), 1);
    for name in ["http.sock", "telemetry.sock"] {
        let mode = std::fs::metadata(program.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[tokio::test]
async fn forwarded_addresses_stay_unchanged_over_a_unix_socket() {
    let app = App::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let program = Program::start(&app).await;
    let mut client = program.connect("http.sock").await;
    let forwarded =
        "X-Forwarded-For: 198.51.100.7, 10.0.0.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: w.example.org\r\n";
    client.send(format!("GET /with HTTP/1.1\r\nHost: w\r\n{ALICE}{forwarded}\r\n")).await;
    client.read_response().await;
    let seen = app.seen();
    for line in forwarded.lines() {
        assert!(seen.contains(&format!("\r\n{line}\r\n")), "{line} in {seen}");
    }
    client.send(format!("GET /without HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
    client.read_response().await;
    assert_eq!(app.seen().matches("X-Forwarded-For").count(), 1, "{}", app.seen());
}

#[tokio::test]
async fn telemetry_is_served_on_a_unix_socket() {
    let app = App::answering("").await;
    let program = Program::start(&app).await;
    for (path, expected) in [
        ("/healthz", "alive\n"),
        ("/readyz", "ready\n"),
        ("/metrics", "sidecar_open_connections 0\n"),
        ("/activity", "\"open_connections\":0"),
    ] {
        let answer = program.ask(path).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains(expected), "{path}: {answer}");
    }
}

#[tokio::test]
async fn telemetry_connections_of_a_unix_socket_over_the_limit_are_closed() {
    let app = App::answering("").await;
    let program = Program::start(&app).await;
    // With this answer, the connection that the start of the program made is closed.
    assert!(program.ask("/healthz").await.contains("alive"));
    let mut silent = Vec::new();
    // Again, if the first ones were closed before the last: the sidecar closes a silent connection after 2 seconds.
    soon(async {
        loop {
            for _ in 0..32 {
                silent.push(program.connect("telemetry.sock").await);
            }
            if program.ask("/healthz").await.is_empty() {
                break;
            }
            silent.clear();
        }
    })
    .await;
    silent.clear();
    soon(async { while !program.ask("/healthz").await.contains("alive") {} }).await;
}

#[tokio::test]
async fn restarted_sidecar_replaces_the_sockets_of_a_killed_one() {
    let app = App::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let mut program = Program::start(&app).await;
    program.child.kill().unwrap();
    program.child.wait().unwrap();
    assert!(program.path("http.sock").exists());
    program.child = listening_in(&program.folder, &app).stderr(Stdio::null()).spawn().unwrap();
    let path = program.path("telemetry.sock");
    eventually("the program listens", || std::os::unix::net::UnixStream::connect(&path).is_ok()).await;
    let mut client = program.connect("http.sock").await;
    client.send(GET).await;
    assert_eq!(client.read_response().await.status, 204);
}

#[tokio::test]
async fn second_sidecar_on_the_same_socket_fails_with_one_line_error() {
    let app = App::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let program = Program::start(&app).await;
    let output = listening_in(&program.folder, &app).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    let last = error.lines().last().unwrap_or_default();
    assert!(last.contains("SERVICE_LISTEN_ADDR unix:/") && last.contains("another process listens"), "{error}");
    let mut client = program.connect("http.sock").await;
    client.send(GET).await;
    assert_eq!(client.read_response().await.status, 204);
}

#[tokio::test]
async fn sigterm_completes_in_flight_request_on_a_unix_socket_and_rejects_new_connections() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.read_exact(3).await;
        stream.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone").await;
        stream.read_end().await;
    })
    .await;
    let mut program = Program::start(&app).await;
    let mut client = program.connect("http.sock").await;
    client.send(format!("PUT / HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: 3\r\n\r\na")).await;
    eventually("the request is under way", || app.seen().ends_with('a')).await;
    let status = Command::new("kill").args(["-TERM", &program.child.id().to_string()]).status().unwrap();
    assert!(status.success());
    soon(async { while !program.ask("/readyz").await.contains("stopping") {} }).await;
    assert_eq!(program.connect("http.sock").await.read_to_end().await, "");
    client.send("bc").await;
    assert_eq!(client.read_response().await.body, "done");
    let child = &mut program.child;
    eventually("the program ends", || child.try_wait().unwrap().is_some()).await;
    assert_eq!(program.child.wait().unwrap().code(), Some(0));
}

#[tokio::test]
async fn connection_of_a_unix_socket_stays_open_until_the_client_has_read_the_response() {
    // The response fits into the kernel's buffer, so the sidecar can write all of it at once.
    let body = "x".repeat(16 * 1024);
    let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let app = App::answering(response.leak()).await;
    let stop = Stop::new();
    let (sidecar, _folder, path) = serving(&app, &stop);
    let mut client = Client::over(UnixStream::connect(&path).await.unwrap());
    client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}Connection: close\r\n\r\n")).await;
    soon(client.io.readable()).await.unwrap();
    // While the sidecar serves another client, it has time to close the first connection.
    let mut other = Client::over(UnixStream::connect(&path).await.unwrap());
    other.send(GET).await;
    assert_eq!(other.read_response().await.status, 200);
    assert_eq!(sidecar.activity().open_connections, 2);
    assert!(client.read_to_end().await.ends_with(&body));
    eventually("the connection is closed", || sidecar.activity().open_connections == 1).await;
    stop.request();
}

#[tokio::test]
async fn websocket_is_relayed_over_a_unix_socket() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.write(SWITCH).await;
        let received = stream.read_exact(6).await.unwrap();
        stream.write(received).await;
        stream.read_end().await;
    })
    .await;
    let stop = Stop::new();
    let (sidecar, _folder, path) = serving(&app, &stop);
    let mut client = Client::over(UnixStream::connect(&path).await.unwrap());
    client.send(upgrade(ALICE)).await;
    assert_eq!(client.read_head().await.status, 101);
    // A ping frame with an empty mask.
    let ping = [0x89, 0x80, 0, 0, 0, 0];
    client.send(ping).await;
    assert_eq!(client.read_exact(6).await, ping);
    assert_eq!(sidecar.activity().open_websockets, 1);
    drop(client);
    eventually("the WebSocket is closed", || sidecar.activity().open_websockets == 0).await;
    stop.request();
}

#[tokio::test]
async fn owner_is_served_while_silent_clients_of_a_unix_socket_exceed_slots() {
    raise_open_file_limit();
    let app = App::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let stop = Stop::new();
    let (sidecar, _folder, path) = serving(&app, &stop);
    let mut crowd = Vec::new();
    for _ in 0..400 {
        crowd.push(Client::over(UnixStream::connect(&path).await.unwrap()));
    }
    let mut owner = Client::over(UnixStream::connect(&path).await.unwrap());
    owner.send(GET).await;
    assert_eq!(owner.read_response().await.status, 204);
    assert!(sidecar.activity().open_connections <= 264);
    // The sidecar displaces the oldest client first, so this connection must have ended.
    crowd[0].read_to_end().await;
    stop.request();
}
