//! Accepting connections.

use std::time::Duration;

use launcher_process::stop::Stop;
use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};

use crate::sidecar::Sidecar;

/// How long to wait when the process has no file descriptor left for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// After how much silence a client is asked whether it is still there: a node that loses its power says no goodbye.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Accepts connections and lets the sidecar serve them, until the stop is requested. Each connection is a task that the
/// stop waits for.
pub async fn serve(listener: TcpListener, sidecar: Sidecar, stop: Stop) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.requested() => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                if let Err(error) = prepare(&stream) {
                    tracing::debug!(%error, "a connection keeps the system's socket options");
                }
                let (sidecar, stopped) = (sidecar.clone(), stop.clone());
                let peer = peer.ip().to_canonical();
                // Boxed, because the task would otherwise hold the connection's whole state twice.
                stop.track(Box::pin(async move { sidecar.serve_connection(stream, Some(peer), stopped).await }));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn prepare(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, KEEPALIVE)?;
    sockopt::set_tcp_keepintvl(stream, KEEPALIVE / 4)?;
    Ok(())
}
