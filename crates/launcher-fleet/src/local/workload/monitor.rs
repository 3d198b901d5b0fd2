//! Monitors a started app: waits until it answers on its port, and then until its expiry.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use launcher_domain::{FailureCode, FailureDetail, FailureReason};
use launcher_workshop::Phase;
use launcher_workshop::lifecycle::Action;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::handle::Workload;
use super::supervisor::StopReason;
use crate::local::ports::Listener;
use crate::local::records::{Started, cap_log};
use crate::machine::{Passed, Supervised, ready, report_listening, wait_until_expired, wait_until_late};

/// Reason why the monitoring of an app ended.
#[derive(Debug)]
pub(super) enum AppOutcome {
    Stopped(StopReason),
    /// The app exited.
    Crashed(FailureReason),
    /// Another program listens on the app's port. The supervisor restarts the app on another port.
    PortTaken,
}

/// Waits until the app answers, sets the status `Running`, and then waits for the expiry.
pub(super) async fn monitor_app(workload: &Arc<Workload>) -> AppOutcome {
    let record = workload.record().get();
    let Some(started) = &record.process else { return std::future::pending().await };
    if record.status().phase != Phase::Running {
        if let Err(outcome) = wait_until_ready(workload, started).await {
            return outcome;
        }
        workload.attach_proxy(started);
        set_ready(workload).await;
    }
    let clock = &*workload.context().data_dir.clock;
    match wait_until_expired(workload.record(), clock, || limit_log(workload)).await {
        Passed::Lifetime(status) => AppOutcome::Stopped(StopReason::Ended(status)),
        Passed::StartTimeout => std::future::pending().await,
    }
}

async fn wait_until_ready(workload: &Arc<Workload>, started: &Started) -> Result<(), AppOutcome> {
    let start_timeout = workload.context().settings.start_timeout;
    let (port, record, clock) = (started.port, workload.record(), &*workload.context().data_dir.clock);
    let look = || async move { Some(workload.listens_elsewhere(port).await) };
    let reason = tokio::select! {
        readiness = wait_for_app(workload, port) => match readiness {
            Ok(Readiness::Ready) => return Ok(()),
            Ok(Readiness::PortTaken) => return Err(AppOutcome::PortTaken),
            Err(error) => StopReason::NotStarted { problem: "the program on its port cannot be identified", error },
        },
        never = report_listening(record, clock, look) => match never {},
        passed = wait_until_late(record, clock, start_timeout, || limit_log(workload)) => match passed {
            Passed::Lifetime(status) => StopReason::Ended(status),
            Passed::StartTimeout => {
                let detail = FailureDetail::StartLimit { seconds: start_timeout.as_secs().to_string() };
                let elsewhere = workload.listens_elsewhere(port).await;
                let reason = FailureReason::new(FailureCode::StartTimeout, Some(detail));
                StopReason::Failed(reason.with_listening(elsewhere.as_ref()))
            }
        },
    };
    Err(AppOutcome::Stopped(reason))
}

async fn set_ready(workload: &Arc<Workload>) {
    let context = workload.context();
    let (now, urls) = (context.data_dir.clock.now(), context.settings.origins.urls(workload.name()));
    if workload.record().observe(ready(urls), now).await.action != Action::End {
        tracing::info!(workshop = workload.name(), "Workshop is ready");
    }
}

/// Truncates a large log.
async fn limit_log(workload: &Workload) {
    if let Err(error) = cap_log(&workload.context().data_dir.layout.log(workload.name())) {
        tracing::debug!(workshop = workload.name(), %error, "truncating the app's log failed");
    }
}

/// Polling interval while an app is not ready.
const READINESS_INTERVAL: Duration = Duration::from_millis(100);
/// Timeout of one readiness request. It is long, because some apps answer their first request slowly.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of consecutive checks that must find a foreign program before the port counts as taken. One check is not
/// enough: it may take a process that the app starts during the check for a foreign one.
const FOREIGN_CHECKS: u32 = 2;

/// The state of an app's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Readiness {
    /// The app answers on its port.
    Ready,
    /// Another program listens on the app's port.
    PortTaken,
}

/// Waits until the Workshop's app answers an HTTP request on this port with any status, or another program listens on
/// the port. The requests have the same `Host` as the owner's requests.
///
/// # Errors
/// The process that listens on the port cannot be determined.
async fn wait_for_app(workload: &Workload, port: u16) -> io::Result<Readiness> {
    let host = workload.context().settings.origins.host(workload.name());
    let mut foreign = 0;
    loop {
        if let Ok(stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
            match workload.find_listener(port).await? {
                Listener::Absent => foreign = 0,
                Listener::Foreign => foreign += 1,
                Listener::Own => {
                    foreign = 0;
                    if matches!(timeout(ANSWER_TIMEOUT, probe(stream, &host)).await, Ok(Ok(true))) {
                        return Ok(Readiness::Ready);
                    }
                }
            }
            if foreign >= FOREIGN_CHECKS {
                return Ok(Readiness::PortTaken);
            }
        }
        sleep(READINESS_INTERVAL).await;
    }
}

async fn probe(mut stream: TcpStream, host: &str) -> io::Result<bool> {
    const STATUS_LINE: &[u8; 5] = b"HTTP/";
    let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut start = [0; STATUS_LINE.len()];
    stream.read_exact(&mut start).await?;
    Ok(start == *STATUS_LINE)
}
