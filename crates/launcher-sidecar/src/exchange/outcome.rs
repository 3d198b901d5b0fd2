//! Outcomes of an exchange, and of the relay within an exchange.

use tokio::time::Instant;

use crate::refusal::Reason;
use crate::transport::socket::Socket;

/// Outcome of an exchange. It tells the connection how to continue.
#[derive(Debug)]
pub(crate) enum ExchangeOutcome {
    /// The response was complete at this time. The client may send another request.
    KeepAlive(Instant),
    /// The response is complete, and the connection ends. The client may still be sending.
    CloseWithLinger,
    /// The response is complete, and the connection ends. The client has sent all its bytes.
    CloseWithoutLinger,
    /// The response is incomplete, or the client has closed its connection.
    Abort,
    /// The app sent no valid response, so the sidecar must send an error response. `unread` is true if the sidecar has
    /// not read the whole body of the request.
    Refused { reason: Reason, unread: bool },
    /// The app accepted the WebSocket. The fields are the connection to the app, and the bytes already received from
    /// it.
    Tunnel(Socket, Vec<u8>),
}

/// Outcome of the relay of one request over one connection to the app.
#[derive(Debug)]
pub(crate) enum RelayOutcome {
    /// The response is complete. The fields tell whether the app's connection can be reused, and whether the client's
    /// connection ends.
    Complete { app_keep_alive: bool, close: bool },
    /// The app accepted the WebSocket.
    Upgraded,
    /// The app closed its connection before the first byte of a response.
    NoResponse,
    /// The request or the response is invalid, and the client has not received a byte of a final response.
    Refused(Reason),
    /// The response is incomplete, or the client has closed its connection.
    Abort,
}
