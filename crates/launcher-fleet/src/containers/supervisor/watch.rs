//! Watches the containers of a launched Workshop: waits until the app answers, and until a container ends.

use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use http::header::HOST;
use http::{Request, StatusCode};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use launcher_workshop::app::READINESS;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::states::{Observed, Stage};
use crate::containers::connector::{TELEMETRY_SOCKET, connect_in};
use crate::containers::workload::Workload;
use crate::machine::{Look, Setback};

/// Interval of inspections without an event. Events may be lost with the connection to the engine.
const INSPECTION_INTERVAL: Duration = Duration::from_secs(15);
/// Delay before a second inspection confirms a crash or a failure. If the engine stops, it ends the app before the
/// sidecar. This is not a crash of the app.
const SECOND_LOOK: Duration = Duration::from_secs(1);

pub(super) async fn wait_for_end(workload: &Workload) -> Setback {
    let mut inspections = interval(INSPECTION_INTERVAL);
    inspections.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = workload.backend.events.notified() => {}
            _ = inspections.tick() => {}
        }
        if let Some(setback) = inspect(workload).await {
            return setback;
        }
    }
}

/// Returns the setback if a container has ended. Without the engine the sidecar still serves, so an unreachable engine
/// ends nothing.
async fn inspect(workload: &Workload) -> Option<Setback> {
    let mut verdict = look(workload).await?;
    if verdict.is_err() {
        sleep(SECOND_LOOK).await;
        verdict = look(workload).await?;
    }
    match verdict {
        Ok(Look::Running) => None,
        Ok(Look::Absent | Look::Interrupted) => Some(Setback::Again),
        Err(setback) => Some(setback),
    }
}

async fn look(workload: &Workload) -> Option<Result<Look, Setback>> {
    match Observed::of(workload).await {
        Ok(observed) => Some(observed.verdict(Stage::Started)),
        Err(error) => {
            let workshop = workload.name();
            tracing::debug!(workshop, %error, "inspecting containers failed, retrying");
            None
        }
    }
}

/// Polling interval while the app is not ready.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Polling interval while the sidecar does not listen. It starts within milliseconds.
const SIDECAR_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Waits until the sidecar serves, whose sockets are in this directory.
pub(super) async fn wait_until_serving(run_dir: &Path) {
    while connect_in(run_dir, TELEMETRY_SOCKET).await.is_err() {
        sleep(SIDECAR_POLL_INTERVAL).await;
    }
}

/// Waits until the sidecar is ready, whose sockets are in this directory. It is ready only while the app accepts
/// connections.
pub(super) async fn wait_until_ready(run_dir: &Path) {
    while !matches!(timeout(READINESS.timeout, is_ready(run_dir)).await, Ok(Some(StatusCode::OK))) {
        sleep(POLL_INTERVAL).await;
    }
}

async fn is_ready(run_dir: &Path) -> Option<StatusCode> {
    let stream = connect_in(run_dir, TELEMETRY_SOCKET).await.ok()?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    let request = Request::get(READINESS.path).header(HOST, "sidecar").body(Empty::<Bytes>::new()).ok()?;
    // The sidecar closes the connection after its answer. The connection may then end before the response is read.
    match select(pin!(sender.send_request(request)), pin!(connection)).await {
        Either::Left((response, _)) => Some(response.ok()?.status()),
        Either::Right((_, response)) => Some(response.await.ok()?.status()),
    }
}
