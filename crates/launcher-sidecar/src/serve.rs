//! Accepting connections.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use launcher_process::listen::ListenOptions;
use launcher_process::stop::Stop;
use socket2::TcpKeepalive;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::sidecar::Sidecar;

/// How long to wait when the process has no file descriptor left for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// After how much silence a client is asked whether it is still there: a node that loses its power says no goodbye.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// How many connections may wait to be accepted.
const BACKLOG: u32 = 1024;
/// How many connections are served at a time; the next ones wait in the kernel. The app can connect, too, and must not be
/// able to make the sidecar run out of memory: whoever takes its port then is sent what was meant for the owner alone.
const MAX_CONNECTIONS: usize = 1024;

/// Listens for the workshop's users; an unspecified address means both address families. What connections inherit from
/// their listener is set here, once: setting it for each connection would cost four system calls.
///
/// # Errors
/// The address is in use, not of this host, or not permitted.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let options = ListenOptions {
        backlog: Some(BACKLOG),
        nodelay: true,
        keepalive: Some(TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE / 4)),
        ..ListenOptions::default()
    };
    launcher_process::listen::listen(address, &options)
}

/// Accepts connections and lets the sidecar serve them, until the stop is requested. Each connection is a task that the
/// stop waits for.
pub async fn serve(listener: &TcpListener, sidecar: Sidecar, stop: Stop) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = async {
            let place = places.clone().acquire_owned().await.map_err(io::Error::other)?;
            listener.accept().await.map(|(stream, peer)| (stream, peer, place))
        };
        let accepted = tokio::select! {
            accepted = accepted => accepted,
            () = stop.requested() => return,
        };
        match accepted {
            Ok((stream, peer, place)) => {
                let (sidecar, stopped) = (sidecar.clone(), stop.clone());
                let peer = peer.ip().to_canonical();
                // Boxed, because the task would otherwise hold the connection's whole state twice.
                stop.track(Box::pin(async move {
                    sidecar.serve_connection(stream, Some(peer), stopped).await;
                    drop(place);
                }));
            }
            Err(error) => not_accepted(&error).await,
        }
    }
}

/// Ends each connection that comes; never returns. For as long as the process lives its port is not free: an app that
/// goes on when both are told to stop could listen there in its place.
pub async fn turn_away(listener: &TcpListener) {
    loop {
        if let Err(error) = listener.accept().await {
            not_accepted(&error).await;
        }
    }
}

async fn not_accepted(error: &io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}
