//! The status that the bar of the frame page shows.

use std::io::ErrorKind;
use std::time::Duration;

use jiff::Timestamp;
use launcher_domain::{Crash, FailureCode};
use tokio::time::timeout;

use crate::frame::Frame;
use crate::transport::upstream::Pool;

/// Time after which an app that neither accepts nor refuses a connection counts as running: it is busy.
const CONNECT: Duration = Duration::from_secs(1);

/// The expiry, the last crash and the state of the app.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Status {
    expires_at: Option<Timestamp>,
    crash: Option<Crash>,
    /// True if the app refuses connections.
    is_app_down: bool,
}

impl Status {
    /// Reads the sources. If the source of crashes is slow, connects to the app, which receives no byte.
    pub(crate) async fn read(frame: &Frame, app: &Pool) -> Self {
        Self {
            expires_at: frame.expiry.read().await,
            crash: frame.last_crash.read().await,
            is_app_down: !frame.last_crash.is_immediate() && refuses_connections(app).await,
        }
    }

    /// Returns the status as JSON on one line. Times in RFC 3339 need no escape.
    pub(crate) fn json(&self, now: Timestamp) -> String {
        let expires_at = self.expires_at.map_or("null".to_owned(), |expiry| format!("\"{expiry}\""));
        let crash = self.crash.as_ref().map_or("null".to_owned(), |Crash { at, code, files_lost }| {
            let out_of_memory = *code == FailureCode::OutOfMemory;
            format!("{{\"at\":\"{at}\",\"out_of_memory\":{out_of_memory},\"files_lost\":{files_lost}}}")
        });
        let app = if self.is_app_down { "down" } else { "up" };
        format!("{{\"expires_at\":{expires_at},\"crash\":{crash},\"app\":\"{app}\",\"now\":\"{now}\"}}")
    }
}

async fn refuses_connections(app: &Pool) -> bool {
    let refused = |error: std::io::Error| error.kind() == ErrorKind::ConnectionRefused;
    timeout(CONNECT, app.connect()).await.is_ok_and(|connected| connected.is_err_and(refused))
}
