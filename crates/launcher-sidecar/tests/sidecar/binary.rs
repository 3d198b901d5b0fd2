//! Tests of the `launcher-sidecar` process: settings, telemetry and graceful stop.

use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use launcher_domain::ListensElsewhere;
use launcher_sidecar::serve::listen;

use super::metrics::assert_documented;
use super::support::program::{Program, command, run};
use super::support::{ALICE, App, Client, eventually, soon};

#[test]
fn invalid_setting_fails_start_with_one_line_error() {
    let owner = ("SERVICE_OWNER_EMAIL", "alice@example.org");
    let port = ("SERVICE_APP_PORT", "8888");
    let long = &format!("unix:/{}", "x".repeat(107));
    for (settings, said) in [
        (vec![port], "owner-email"),
        (vec![port, ("SERVICE_OWNER_EMAIL", "")], "owner-email"),
        (vec![port, ("SERVICE_OWNER_EMAIL", " ")], "owner-email"),
        (vec![port, ("SERVICE_OWNER_EMAIL", "alice")], "owner-email"),
        (vec![port, ("SERVICE_OWNER_EMAIL", "a@b@c")], "owner-email"),
        (vec![owner], "app-port"),
        (vec![owner, ("SERVICE_APP_PORT", "0")], "app-port"),
        (vec![owner, port, ("SERVICE_REQUIRE_AUTHENTICATION", "flase")], "require-authentication"),
        (vec![owner, port, ("SERVICE_REQUIRE_AUTHENTICATION", "1")], "require-authentication"),
        (vec![owner, port, ("SERVICE_TRUSTED_AUTH_HEADER", "x_y")], "trusted-auth-header"),
        (vec![owner, port, ("SERVICE_LISTEN_ADDR", "nowhere")], "listen-addr"),
        (vec![owner, port, ("SERVICE_LISTEN_ADDR", "unix:http.sock")], "write unix:/absolute/path.sock"),
        (vec![owner, port, ("SERVICE_TELEMETRY_ADDR", long)], "the kernel allows 107"),
        (vec![owner, port, ("SERVICE_WORKSHOP_PAGE_URL", "launcher.example.org")], "workshop-page-url"),
    ] {
        let output = run(&settings);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{settings:?}: {error}");
        assert!(error.contains(said) && error.lines().count() == 1, "{settings:?}: {error}");
    }
}

#[test]
fn error_names_variables_of_missing_and_empty_settings() {
    let (owner, port) = (("SERVICE_OWNER_EMAIL", "alice@example.org"), ("SERVICE_APP_PORT", "8888"));
    let empty_owner = ("SERVICE_OWNER_EMAIL", "");
    for (settings, said) in [
        (vec![port, empty_owner], vec!["SERVICE_OWNER_EMAIL (--owner-email) is set but empty: write"]),
        (vec![owner, ("SERVICE_APP_PORT", "")], vec!["SERVICE_APP_PORT (--app-port) is set but empty: write"]),
        (vec![owner], vec!["SERVICE_APP_PORT (--app-port) is not set: write"]),
        (
            vec![empty_owner],
            vec!["SERVICE_OWNER_EMAIL (--owner-email) is set but empty", "SERVICE_APP_PORT (--app-port) is not set"],
        ),
    ] {
        let output = run(&settings);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(said.iter().all(|said| error.contains(said)) && error.lines().count() == 1, "{error}");
        assert!(!error.contains("required arguments"), "{error}");
    }
}

#[test]
fn non_utf8_owner_fails_start_with_one_line_error() {
    let owner = std::ffi::OsStr::from_bytes(b"alice\xff@example.org");
    let output = command(&[("SERVICE_APP_PORT", "8888")]).env("SERVICE_OWNER_EMAIL", owner).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("owner-email") && error.contains("UTF-8") && error.lines().count() == 1, "{error}");
}

#[test]
fn version_is_printed_without_settings() {
    let output = command(&[]).arg("--version").output().unwrap();
    let expected = format!("launcher-sidecar {}\n", launcher_domain::version::version());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[tokio::test]
async fn telemetry_port_serves_health_metrics_and_activity() {
    let mut app = App::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let program = Program::start(app.addr, &[]).await;
    assert!(program.ask("/healthz").await.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(program.ask("/readyz").await.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(program.ask("/lab").await.starts_with("HTTP/1.1 404 "));
    let mut client = Client::connect(program.addr).await;
    let begun = std::time::Instant::now();
    client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\nGET / HTTP/1.1\r\nHost: w\r\n\r\n")).await;
    assert_eq!(client.read_response().await.status, 200);
    assert_eq!(client.read_response().await.status, 403);
    let metrics = program.ask("/metrics").await;
    for line in [
        "sidecar_requests_total{outcome=\"forwarded\"} 1\n",
        "sidecar_requests_total{outcome=\"not-the-owner\"} 1\n",
        "sidecar_open_connections 1\n",
        "sidecar_open_websockets 0\n",
        "sidecar_last_activity_timestamp_seconds ",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    let activity = program.ask("/activity").await;
    let (_, rest) = activity.split_once("{\"last_activity_seconds_ago\":").unwrap();
    let (seconds, rest) = rest.split_once(',').unwrap();
    assert!(seconds.parse::<u64>().unwrap() <= begun.elapsed().as_secs(), "{activity}");
    assert!(rest.starts_with("\"open_connections\":1,\"open_websockets\":0}"), "{activity}");
    for answer in [metrics, activity] {
        assert!(!answer.contains("alice") && !answer.contains('@'), "any page could read the name: {answer}");
    }
    let addr = app.addr;
    app = App::answering("").await;
    assert_ne!(app.addr, addr);
    eventually("the app is gone", || std::net::TcpStream::connect(addr).is_err()).await;
    assert!(program.ask("/readyz").await.starts_with("HTTP/1.1 503 "));
    assert!(program.ask("/healthz").await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn sidecar_that_is_not_ready_says_on_which_address_the_app_listens() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    // A socket with the expected port is reported first: this machine has listening sockets of other programs.
    let app = std::net::TcpListener::bind("127.0.0.2:0").unwrap();
    let address = app.local_addr().unwrap();
    let sidecar = format!("exec {} 2> {}", env!("CARGO_BIN_EXE_launcher-sidecar"), log.display());
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(sidecar).env_clear();
    let program = Program::start_by(shell, address).await;
    let listens = format!("the app listens on {address}, ");
    let answer = program.ask("/readyz").await;
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains(&listens), "{answer}");
    assert!(!answer.contains(&program.addr.to_string()), "the sidecar's own sockets do not count: {answer}");
    let logged = ListensElsewhere::in_log(&std::fs::read_to_string(&log).unwrap()).unwrap();
    assert_eq!((logged.addresses[0], logged.port), (address, address.port()));

    let _app = std::net::TcpListener::bind(("127.0.0.1", address.port())).unwrap();
    assert!(program.ask("/readyz").await.starts_with("HTTP/1.1 200 "));
    assert_eq!(ListensElsewhere::in_log(&std::fs::read_to_string(&log).unwrap()), None);
}

#[tokio::test]
async fn sidecar_metrics_match_documentation() {
    let app = App::answering("").await;
    let metrics = Program::start(app.addr, &[]).await.ask("/metrics").await;
    assert_documented("sidecar", &metrics);
}

#[tokio::test]
async fn sigterm_completes_in_flight_requests_and_keeps_port_bound() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.read_exact(3).await;
        stream.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone").await;
        stream.read_end().await;
    })
    .await;
    let mut program = Program::start(app.addr, &[]).await;
    let mut client = Client::connect(program.addr).await;
    client.send(format!("PUT / HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: 3\r\n\r\na")).await;
    eventually("the request is under way", || app.seen().ends_with('a')).await;
    program.terminate().await;
    // Kubernetes also signals the app. If the app keeps running, it must not be able to bind the sidecar's port.
    assert!(listen(&program.addr.into()).is_err());
    assert_eq!(Client::connect(program.addr).await.read_to_end().await, "");
    client.send("bc").await;
    assert_eq!(client.read_response().await.body, "done");
    assert_eq!(program.exit_code().await, Some(0));
}

#[tokio::test]
async fn sigterm_drops_in_flight_requests_after_shutdown_grace() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.read_end().await;
    })
    .await;
    let mut program = Program::start(app.addr, &[("SERVICE_SHUTDOWN_GRACE", "1")]).await;
    let mut client = Client::connect(program.addr).await;
    client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
    eventually("the request is under way", || app.seen().ends_with("\r\n\r\n")).await;
    program.signal();
    assert_eq!(program.exit_code().await, Some(0));
    assert!(client.is_closed().await);
}

#[tokio::test]
async fn second_sigterm_drops_in_flight_requests_at_once() {
    let app = App::start(|mut stream| async move {
        stream.read_head().await;
        stream.read_end().await;
    })
    .await;
    // This grace exceeds the test's timeout, so only the second signal can end the sidecar in time.
    let mut program = Program::start(app.addr, &[("SERVICE_SHUTDOWN_GRACE", "1000")]).await;
    let mut client = Client::connect(program.addr).await;
    client.send(format!("GET / HTTP/1.1\r\nHost: w\r\n{ALICE}\r\n")).await;
    eventually("the request is under way", || app.seen().ends_with("\r\n\r\n")).await;
    program.terminate().await;
    assert!(program.child.try_wait().unwrap().is_none(), "after the first signal, the sidecar waits for the request");
    program.signal();
    assert_eq!(program.exit_code().await, Some(0));
    assert!(client.is_closed().await);
}

#[tokio::test]
async fn sidecar_serves_more_connections_than_its_soft_file_limit() {
    let app = App::answering("").await;
    let mut limited = Command::new("sh");
    limited.env_clear().args(["-c", "ulimit -Sn 64; exec \"$0\"", env!("CARGO_BIN_EXE_launcher-sidecar")]);
    let program = Program::start_by(limited, app.addr).await;
    let mut clients = Vec::new();
    for _ in 0..200 {
        clients.push(Client::connect(program.addr).await);
    }
    for client in &mut clients {
        client.send("GET / HTTP/1.1\r\nHost: w\r\n\r\n").await;
        assert_eq!(client.read_response().await.status, 403);
    }
}

#[tokio::test]
async fn telemetry_connections_over_the_limit_are_closed() {
    let app = App::answering("").await;
    let program = Program::start(app.addr, &[]).await;
    // With this answer, the connection that the start of the program made is closed.
    assert!(program.ask("/healthz").await.contains("alive"));
    let mut silent = Vec::new();
    // Again, if the first ones were closed before the last: the sidecar closes a silent connection after 2 seconds.
    soon(async {
        loop {
            for _ in 0..32 {
                silent.push(Client::connect(program.telemetry).await);
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
async fn killed_sidecar_drops_in_flight_requests_and_forwards_nothing() {
    let (left, mut leaving) = tokio::sync::mpsc::unbounded_channel();
    let app = App::start(move |mut stream| {
        let left = left.clone();
        async move {
            stream.read_head().await;
            stream.read_exact(3).await;
            left.send(()).unwrap();
        }
    })
    .await;
    let mut program = Program::start(app.addr, &[]).await;
    let mut client = Client::connect(program.addr).await;
    client.send(format!("PUT / HTTP/1.1\r\nHost: w\r\n{ALICE}Content-Length: 3\r\n\r\na")).await;
    eventually("the request is under way", || app.seen().ends_with('a')).await;
    program.child.kill().unwrap();
    program.child.wait().unwrap();
    // The app must see its connection close: no other process may hold the killed sidecar's connections open.
    soon(leaving.recv()).await.unwrap();
    assert!(client.is_closed().await);
    assert!(std::net::TcpStream::connect(program.addr).is_err());
    assert!(std::net::TcpStream::connect(program.telemetry).is_err());
    assert!(app.seen().ends_with("\r\n\r\na"), "{}", app.seen());
    assert_eq!(app.connections(), 1);
}
