//! The listening sockets of the app, while the app does not answer on its port. The app shares the network namespace.
//!
//! The log of the sidecar is the only way from here to the fleets of containers: the operator cannot connect to the pod,
//! and the kubelet's probes discard the body of an answer.

use std::sync::Mutex;

use launcher_domain::ListensElsewhere;
use launcher_domain::listening::{LISTEN_INTERVAL, no_longer};
use launcher_domain::sync::lock;
use launcher_process::sockets::listening_sockets;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

/// The last look at the listening sockets.
#[derive(Debug)]
pub(crate) struct AppSockets {
    /// Ports of the sidecar itself.
    own_ports: Vec<u16>,
    last: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    at: Option<Instant>,
    found: Option<ListensElsewhere>,
}

impl AppSockets {
    pub(crate) fn new(own_ports: Vec<u16>) -> Self {
        Self { own_ports, last: Mutex::default() }
    }

    /// Looks at the listening sockets, because the app refuses connections to this port. Logs a change. Returns the last
    /// result if the last look was less than [`LISTEN_INTERVAL`] ago.
    pub(crate) async fn look(&self, port: u16) -> Option<ListensElsewhere> {
        {
            let (mut last, now) = (lock(&self.last), Instant::now());
            if last.at.is_some_and(|at| now < at + LISTEN_INTERVAL) {
                return last.found.clone();
            }
            last.at = Some(now);
        }
        let found = match spawn_blocking(listening_sockets).await {
            Ok(Ok(sockets)) => {
                let addresses = sockets.into_iter().map(|socket| socket.address);
                let of_app = addresses.filter(|address| !self.own_ports.contains(&address.port()));
                ListensElsewhere::new(of_app, port)
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, "reading listening sockets failed");
                None
            }
            // The program ends.
            Err(_) => None,
        };
        self.set(found.clone());
        found
    }

    /// Notes that the app answers on its port.
    pub(crate) fn answers(&self) {
        self.set(None);
    }

    fn set(&self, found: Option<ListensElsewhere>) {
        let mut last = lock(&self.last);
        if last.found == found {
            return;
        }
        match &found {
            Some(elsewhere) => tracing::warn!("{elsewhere}"),
            None => tracing::info!("{}", no_longer()),
        }
        last.found = found;
    }
}
