use std::future::Ready;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use launcher_process::health::Health;
use launcher_process::stop::Stop;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::{exchange, listener};

#[tokio::test]
async fn health_listener_reports_liveness_readiness_metrics_and_stop() {
    let (stop, closed, database) = (Stop::new(), Stop::new(), Arc::new(AtomicBool::new(false)));
    let mut registry = Registry::default();
    let launches = <Counter>::default();
    registry.register("launches", "Launches", launches.clone());
    launches.inc();
    let up = database.clone();
    let health = Health::new(
        move || {
            let up = up.load(Ordering::Relaxed);
            async move { if up { Ok(()) } else { Err("the database does not answer".to_owned()) } }
        },
        registry,
        stop.clone(),
    );
    let listener = listener().await;
    let addr = listener.local_addr().unwrap();
    let server = tokio::spawn(health.serve(listener, closed.clone()));
    let get = async |path: &str| {
        let mut stream = TcpStream::connect(addr).await.unwrap();
        exchange(&mut stream, format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes()).await
    };

    assert!(get("/healthz").await.starts_with("HTTP/1.1 200 "));
    let not_ready = get("/readyz").await;
    assert!(not_ready.starts_with("HTTP/1.1 503 ") && not_ready.ends_with("not ready: the database does not answer\n"));
    database.store(true, Ordering::Relaxed);
    assert!(get("/readyz").await.starts_with("HTTP/1.1 200 "));
    assert!(get("/metrics").await.contains("launches_total 1"));
    assert!(get("/healthz/../readyz").await.starts_with("HTTP/1.1 404 "));

    stop.request();
    let stopping = get("/readyz").await;
    assert!(
        stopping.starts_with("HTTP/1.1 503 ") && stopping.ends_with("stopping\n"),
        "unready first, still answering"
    );
    closed.request();
    server.await.unwrap();
}

fn check(ready: Result<(), &'static str>) -> impl Fn() -> Ready<Result<(), String>> {
    move || std::future::ready(ready.map_err(str::to_owned))
}

async fn serve<F>(ready: impl Fn() -> F + Send + Sync + 'static) -> SocketAddr
where
    F: Future<Output = Result<(), String>> + Send + 'static,
{
    let listener = listener().await;
    let addr = listener.local_addr().unwrap();
    tokio::spawn(Health::new(ready, Registry::default(), Stop::new()).serve(listener, Stop::new()));
    addr
}

async fn ask(addr: SocketAddr, line: &str) -> String {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    exchange(&mut stream, format!("{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes()).await
}

#[tokio::test]
async fn other_methods_than_get_and_head_are_405() {
    let addr = serve(check(Ok(()))).await;
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        for path in ["/healthz", "/readyz", "/metrics", "/elsewhere"] {
            let answer = ask(addr, &format!("{method} {path}")).await;
            assert!(answer.starts_with("HTTP/1.1 405 ") && answer.ends_with("only GET\n"), "{method} {path}: {answer}");
        }
    }
}

#[tokio::test]
async fn head_request_gets_the_status_without_a_body() {
    let addr = serve(check(Err("no database"))).await;
    for (path, status) in [("/healthz", 200), ("/readyz", 503), ("/metrics", 200), ("/elsewhere", 404)] {
        let answer = ask(addr, &format!("HEAD {path}")).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")) && answer.ends_with("\r\n\r\n"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn unknown_path_is_404_and_names_the_endpoints() {
    let addr = serve(check(Ok(()))).await;
    for path in ["/", "/healthz/", "/HEALTHZ", "//metrics", "/metrics.json"] {
        let answer = ask(addr, &format!("GET {path}")).await;
        assert!(answer.starts_with("HTTP/1.1 404 "), "{path}: {answer}");
        assert!(answer.ends_with("not found: use /healthz, /readyz or /metrics\n"), "{path}: {answer}");
    }
    assert!(ask(addr, "GET /healthz?verbose").await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn answers_have_their_content_type_and_are_not_cached() {
    let addr = serve(check(Ok(()))).await;
    for (path, content_type) in [
        ("/healthz", "text/plain; charset=utf-8"),
        ("/readyz", "text/plain; charset=utf-8"),
        ("/metrics", "application/openmetrics-text; version=1.0.0; charset=utf-8"),
    ] {
        let answer = ask(addr, &format!("GET {path}")).await.to_lowercase();
        assert!(answer.contains(&format!("\r\ncontent-type: {content_type}\r\n")), "{answer}");
        assert!(answer.contains("\r\ncache-control: no-store\r\n"), "{answer}");
    }
    assert!(ask(addr, "GET /metrics").await.ends_with("# EOF\n"));
}

#[tokio::test]
async fn hanging_readiness_check_does_not_delay_liveness() {
    let addr = serve(std::future::pending).await;
    let mut unanswered = TcpStream::connect(addr).await.unwrap();
    unanswered.write_all(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    assert!(ask(addr, "GET /healthz").await.starts_with("HTTP/1.1 200 "));
    assert!(ask(addr, "GET /metrics").await.starts_with("HTTP/1.1 200 "));
}
