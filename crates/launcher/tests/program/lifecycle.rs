use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use launcher_testkit::metrics::assert_documented;
use launcher_testkit::wait_until;

use crate::serving::Serving;
use crate::{launcher, text};

#[test]
fn launcher_starts_serves_and_stops() {
    let data = tempfile::tempdir().unwrap();
    let serving = Serving::start(data.path());
    let me = serving.get(serving.listen, "/api/v1/me", "X-Auth-Request-Email: admin@example.org\r\n");
    assert!(me.starts_with("HTTP/1.1 200 ") && me.contains(r#""is_admin":true"#), "{me}");
    let unauthenticated = serving.get(serving.listen, "/api/v1/me", "");
    assert!(
        unauthenticated.starts_with("HTTP/1.1 401 "),
        "one of the two settings alone must not bypass the login: {unauthenticated}"
    );
    for path in ["/healthz", "/readyz", "/metrics"] {
        let outside = serving.get(serving.listen, path, "X-Auth-Request-Email: admin@example.org\r\n");
        assert!(outside.starts_with("HTTP/1.1 404 "), "the public port must not serve {path}: {outside}");
    }
    let metrics = serving.get(serving.telemetry, "/metrics", "");
    for zero in ["launcher_launches_total 0", "launcher_transitions_total{state=\"failed\"} 0"] {
        assert!(metrics.contains(zero), "a counter without events is exported as 0: {metrics}");
    }
    for counted in [
        "launcher_http_requests_total{method=\"GET\",route=\"/api/v1/me\",status=\"200\"} 1\n",
        "launcher_http_requests_total{method=\"GET\",route=\"/api/v1/me\",status=\"401\"} 1\n",
        "launcher_http_requests_total{method=\"GET\",route=\"none\",status=\"404\"} 3\n",
        "launcher_http_request_seconds_count{method=\"GET\",route=\"/api/v1/me\"} 2\n",
        "launcher_event_streams 0\n",
        "launcher_ready 1\n",
    ] {
        assert!(metrics.contains(counted), "{counted}: {metrics}");
    }
    let (code, log) = serving.stop();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("ignoring SERVICE_DEV_IDENTITY"), "the log warns that SERVICE_DEV_IDENTITY is ignored: {log}");
    assert!(log.contains("SERVICE_ADMIN_EMIALS"), "a mistyped setting is warned about: {log}");
    assert!(log.contains("launcher stopped"), "{log}");
}

#[test]
fn metrics_match_documentation() {
    let data = tempfile::tempdir().unwrap();
    let serving = Serving::start_with(data.path(), &[("SERVICE_LOG", "warn")]);
    // A metric with labels is missing until its first value: until a request, and until the launcher has counted
    // instances.
    serving.get(serving.listen, "/api/v1/me", "");
    let mut metrics = String::new();
    wait_until("neither instances nor requests are counted", || {
        metrics = serving.get(serving.telemetry, "/metrics", "");
        metrics.contains("launcher_instances{") && metrics.contains("launcher_http_requests_total{")
    });
    assert_documented("launcher", &metrics);
}

#[test]
fn launcher_serves_more_connections_than_inherited_open_file_limit() {
    let data = tempfile::tempdir().unwrap();
    let serving = Serving::start(data.path());
    let mut streams: Vec<_> = (0..200).map(|_| TcpStream::connect(serving.listen).unwrap()).collect();
    for stream in &mut streams {
        stream.write_all(b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    }
    for stream in &mut streams {
        let mut status = [0; 13];
        stream.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 401 ");
    }
}

const ADMIN: &str = "X-Auth-Request-Email: admin@example.org\r\n";

/// Sends requests, each on a new connection, until the listener is closed. Returns the number of answered requests.
fn ask_until_closed(addr: SocketAddr) -> usize {
    let request = format!("GET /api/v1/me HTTP/1.1\r\nHost: {addr}\r\n{ADMIN}Connection: close\r\n\r\n");
    for answered in 0.. {
        let Ok(mut stream) = TcpStream::connect(addr) else { return answered };
        let mut answer = String::new();
        let asked = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
        assert!(asked.is_ok(), "{asked:?} behind {answered} answers");
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with('}'), "{answered}: {answer:?}");
    }
    0
}

#[test]
fn graceful_stop_finishes_requests_without_connection_reset() {
    let data = tempfile::tempdir().unwrap();
    let serving = Serving::start_with(data.path(), &[("SERVICE_SHUTDOWN_DELAY", "3"), ("SERVICE_LOG", "warn")]);
    let addr = serving.listen;
    let body = r#"{"name": "Penguins", "app_type": "custom", "image": "x", "port": 8000}"#;
    let (first, second) = body.split_at(body.len() / 2);
    let head = format!(
        "POST /api/v1/templates/ HTTP/1.1\r\nHost: {addr}\r\n{ADMIN}Content-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    let mut posting = TcpStream::connect(addr).unwrap();
    posting.write_all(format!("{head}{first}").as_bytes()).unwrap();
    let crowd: Vec<_> = (0..4).map(|_| std::thread::spawn(move || ask_until_closed(addr))).collect();

    serving.terminate();
    serving.wait_until_stopping();
    let new = serving.get(addr, "/api/v1/me", ADMIN);
    assert!(new.starts_with("HTTP/1.1 200 ") && new.contains("\r\nconnection: close\r\n"), "{new}");
    // The threads of `crowd` end when the listener is closed. The POST request on `posting` is still incomplete then.
    let answered: Vec<usize> = crowd.into_iter().map(|asking| asking.join().unwrap()).collect();
    assert!(answered.iter().all(|count| *count > 0), "{answered:?}");
    posting.write_all(second.as_bytes()).unwrap();
    let mut answer = String::new();
    posting.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 ") && answer.contains("Penguins") && answer.ends_with('}'), "{answer}");
    let (code, log) = serving.ended();
    assert_eq!(code, Some(0), "{log}");
}

#[test]
fn second_stop_signal_stops_launcher_without_waiting_for_requests() {
    let data = tempfile::tempdir().unwrap();
    // The grace period is longer than this test, so only the second signal can end the launcher in time.
    let mut serving = Serving::start_with(data.path(), &[("SERVICE_SHUTDOWN_GRACE", "1000")]);
    let addr = serving.listen;
    let head = format!(
        "POST /api/v1/templates/ HTTP/1.1\r\nHost: {addr}\r\n{ADMIN}Content-Type: application/json\r\n\
         Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n"
    );
    let mut posting = TcpStream::connect(addr).unwrap();
    posting.write_all(head.as_bytes()).unwrap();
    // The interim response `100 Continue` shows that the server waits for the body, which this client never sends.
    posting.read_exact(&mut [0; 12]).unwrap();
    serving.terminate();
    serving.wait_until_stopping();
    assert!(serving.process.try_wait().unwrap().is_none(), "after one signal, the launcher waits for the open request");
    serving.terminate();
    wait_until("the launcher still runs after the second signal", || serving.process.try_wait().unwrap().is_some());
    let (code, log) = serving.ended();
    assert_eq!(code, Some(0), "{log}");
}

#[test]
fn request_with_ambiguous_host_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let serving = Serving::start(data.path());
    let identity = "X-Auth-Request-Email: admin@example.org\r\n";
    let port = serving.listen.port();
    let ask = |request: &str| {
        let mut stream = TcpStream::connect(serving.listen).unwrap();
        stream.write_all(format!("{request}{identity}Connection: close\r\n\r\n").as_bytes()).unwrap();
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        String::from_utf8_lossy(&answer).into_owned()
    };
    for request in [
        format!("GET /api/v1/me HTTP/1.1\r\nHost: ws.localhost:{port}/\r\n"),
        "GET /api/v1/me HTTP/1.1\r\nHost: ws.localhost:8x\r\n".to_owned(),
        format!("GET /api/v1/me HTTP/1.1\r\nHost: ws.localhost:{port}, x\r\n"),
        format!("GET /api/v1/me HTTP/1.1\r\nHost: localhost:{port}\r\nHost: ws.localhost:{port}\r\n"),
        format!("GET http://ws.localhost:{port}/api/v1/me HTTP/1.1\r\nHost: localhost:{port}\r\n"),
        format!("GET /api/v1/me HTTP/1.1\r\nHost: x@localhost:{port}\r\n"),
    ] {
        assert!(ask(&request).starts_with("HTTP/1.1 400 "), "{request:?}: {}", ask(&request));
    }
    let plain = ask(&format!("GET /api/v1/me HTTP/1.1\r\nHost: localhost:{port}\r\n"));
    assert!(plain.starts_with("HTTP/1.1 200 "), "{plain}");
    let workshop = ask(&format!("GET /api/v1/me HTTP/1.1\r\nHost: ws.localhost:{port}\r\n"));
    assert!(workshop.starts_with("HTTP/1.1 403 "), "{workshop}");
    assert_eq!(serving.stop().0, Some(0));
}

#[test]
fn second_launcher_on_same_data_directory_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let serving = Serving::start(data.path());
    let second = launcher(&["serve"], &[("SERVICE_DATA_DIR", data.path().to_str().unwrap())]);
    let complaint = text(&second.stderr);
    assert_eq!(second.status.code(), Some(1), "{complaint}");
    assert!(complaint.contains("another launcher"), "{complaint}");
    assert_eq!(serving.stop().0, Some(0));
    let third = Serving::start(data.path());
    assert_eq!(third.stop().0, Some(0));
}
