//! Watches the containers of a launched Workshop: waits until the app answers, and then until the workshop ends.

use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use http::header::HOST;
use http::{Request, StatusCode};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use launcher_domain::ListensElsewhere;
use launcher_domain::sync::lock;
use launcher_workshop::Phase;
use launcher_workshop::app::READINESS;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::files::{FrameStatus, write_frame_status};
use super::outcome::{Observed, Outcome, Stage, Verdict};
use super::status::set_ready;
use crate::containers::connector::{TELEMETRY_SOCKET, connect_in};
use crate::containers::diagnose;
use crate::containers::names::Part;
use crate::containers::workload::Workload;
use crate::machine::{Passed, report_listening, wait_until_expired, wait_until_late};

/// Interval of inspections without an event. Events may be lost with the connection to the engine.
const INSPECTION_INTERVAL: Duration = Duration::from_secs(15);
/// Delay before a second inspection confirms a crash or a failure. If the engine stops, it ends the app before the
/// sidecar. This is not a crash of the app.
const SECOND_LOOK: Duration = Duration::from_secs(1);

/// Waits until the app answers, gives the owner access, and then waits until the workshop ends.
pub(super) async fn watch(workload: &Arc<Workload>) -> Outcome {
    let is_adopted = workload.stored_record().phase() == Phase::Running;
    if !is_adopted {
        let start_timeout = workload.context().settings.start_timeout;
        let (run_dir, record, clock) =
            (workload.run_dir(), workload.stored_record(), &*workload.context().data_dir.clock);
        let frame = FrameFile::new(workload);
        tokio::select! {
            () = wait_until_ready(&run_dir) => {}
            outcome = wait_for_end(workload) => return outcome,
            never = report_listening(record, clock, || listens_elsewhere(workload)) => match never {},
            passed = wait_until_late(record, clock, start_timeout, || frame.write()) => return late(workload, passed).await,
        }
    }
    workload.set_open(true);
    // For an adopted workshop too: the launcher's public address may have changed.
    set_ready(workload).await;
    if !is_adopted {
        tracing::info!(workshop = workload.stored_record().name(), "Workshop is ready");
    }
    let frame = FrameFile::new(workload);
    let outcome = tokio::select! {
        outcome = wait_for_end(workload) => outcome,
        passed = wait_until_expired(workload.stored_record(), &*workload.context().data_dir.clock, || frame.write()) => {
            late(workload, passed).await
        }
    };
    workload.set_open(false);
    outcome
}

/// Returns the outcome of a passed deadline.
async fn late(workload: &Arc<Workload>, passed: Passed) -> Outcome {
    match passed {
        Passed::Lifetime(status) => Outcome::Expired(status),
        Passed::StartTimeout => {
            let app = Observed::of(workload).await.ok().and_then(|observed| observed.app);
            let elsewhere = listens_elsewhere(workload).await.flatten();
            Outcome::failed(diagnose::start_timeout(app.as_ref(), elsewhere.as_ref()))
        }
    }
}

/// The values of the frame page that were written last.
struct FrameFile<'a> {
    workload: &'a Arc<Workload>,
    written: Mutex<Option<FrameStatus>>,
}

impl<'a> FrameFile<'a> {
    fn new(workload: &'a Arc<Workload>) -> Self {
        Self { workload, written: Mutex::default() }
    }

    /// Writes the values if they have changed.
    async fn write(&self) {
        let status = FrameStatus::of(self.workload);
        if lock(&self.written).as_ref() == Some(&status) {
            return;
        }
        match write_frame_status(self.workload, &status).await {
            Ok(()) => *lock(&self.written) = Some(status),
            Err(error) => {
                let workshop = self.workload.stored_record().name();
                tracing::debug!(workshop, %error, "writing values of the frame page failed, retrying");
            }
        }
    }
}

/// Returns the addresses on which the app listens, unless it listens on its port: its sidecar logs them. `None` if the
/// engine cannot read the log.
async fn listens_elsewhere(workload: &Workload) -> Option<Option<ListensElsewhere>> {
    let tail = workload.context().engine.log_tail(&workload.container(Part::Sidecar)).await.ok()?;
    Some(tail.and_then(|tail| ListensElsewhere::in_log(&tail)))
}

/// Waits for the end of a container.
async fn wait_for_end(workload: &Arc<Workload>) -> Outcome {
    let mut inspections = interval(INSPECTION_INTERVAL);
    inspections.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = workload.woken() => {}
            _ = inspections.tick() => {}
        }
        if let Some(outcome) = inspect(workload).await {
            return outcome;
        }
    }
}

/// Returns the outcome if a container has ended. Without the engine the sidecar still serves, so an unreachable engine
/// ends nothing.
async fn inspect(workload: &Arc<Workload>) -> Option<Outcome> {
    let mut verdict = look(workload).await?;
    if matches!(verdict, Verdict::AppEnded(_) | Verdict::Failed(_)) {
        sleep(SECOND_LOOK).await;
        verdict = look(workload).await?;
    }
    outcome(verdict)
}

fn outcome(verdict: Verdict) -> Option<Outcome> {
    match verdict {
        Verdict::Running => None,
        Verdict::Ended | Verdict::NotStarted => Some(Outcome::Restart),
        Verdict::AppEnded(reason) => Some(Outcome::Crashed(reason)),
        Verdict::Failed(reason) => Some(Outcome::Failed(reason)),
    }
}

async fn look(workload: &Arc<Workload>) -> Option<Verdict> {
    match Observed::of(workload).await {
        Ok(observed) => Some(observed.verdict(Stage::Started)),
        Err(error) => {
            let workshop = workload.stored_record().name();
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
async fn wait_until_ready(run_dir: &Path) {
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
