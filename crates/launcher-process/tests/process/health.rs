use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use launcher_process::health::Health;
use launcher_process::stop::Stop;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use tokio::net::TcpStream;

use crate::{exchange, listener};

#[tokio::test]
async fn health_endpoints_report_readiness_metrics_and_stop() {
    let (stop, closed, database) = (Stop::new(), Stop::new(), Arc::new(AtomicBool::new(false)));
    let mut registry = Registry::default();
    let launches = <Counter>::default();
    registry.register("launches", "Launches", launches.clone());
    launches.inc();
    let up = database.clone();
    let health = Health::new(
        Arc::new(move || {
            let up = up.load(Ordering::Relaxed);
            Box::pin(async move { if up { Ok(()) } else { Err("the database does not answer".to_owned()) } })
        }),
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
