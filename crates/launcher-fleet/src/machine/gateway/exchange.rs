//! Sends one request to a sidecar.

use std::pin::pin;
use std::time::Duration;

use http::header::{CONNECTION, UPGRADE};
use http::{Request, Response, StatusCode, Version};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::upgrade::{OnUpgrade, on};
use hyper_util::rt::TokioIo;
use launcher_process::serve::Body;
use launcher_process::stop::Stop;
use tokio::io::{AsyncWriteExt, copy, split};
use tokio::time::timeout;

use super::connector::Connection;

/// Maximum wait for the client to close an upgraded connection after the app has closed it.
const CLIENT_CLOSE: Duration = Duration::from_secs(5);
/// Maximum number of header lines in an app's response.
const MAX_RESPONSE_HEADERS: usize = 256;

/// Sends a request over a new connection to the sidecar. After an upgrade, it copies bytes between the client and the
/// sidecar. `stop` closes the connection.
pub(super) async fn exchange(
    sidecar: Box<dyn Connection>,
    mut request: Request<Incoming>,
    stop: &Stop,
) -> hyper::Result<Response<Body>> {
    let (mut sender, connection) = http1::Builder::new()
        .preserve_header_case(true)
        .title_case_headers(false)
        .max_headers(MAX_RESPONSE_HEADERS)
        .handshake(TokioIo::new(sidecar))
        .await?;
    stop.track(async move {
        if let Err(error) = connection.with_upgrades().await {
            tracing::debug!(%error, "connection to sidecar failed");
        }
    });
    let client = on(&mut request);
    if request.version() < Version::HTTP_11 {
        // HTTP/1.0 has no upgrade: a server must ignore the header there (RFC 9110, 7.8).
        request.headers_mut().remove(UPGRADE);
        request.headers_mut().remove(CONNECTION);
    }
    // The connection to the sidecar speaks HTTP/1.1. The listener answers the client in the client's HTTP version.
    *request.version_mut() = Version::HTTP_11;
    let mut response = sender.send_request(request).await?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let app = on(&mut response);
        stop.track(tunnel(client, app));
    }
    *response.version_mut() = Version::HTTP_11;
    Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
}

/// Copies bytes between the client and the app of an upgraded connection until both have closed it. After the app has
/// closed, it waits at most [`CLIENT_CLOSE`] for the client, because the client may be gone.
async fn tunnel(client: OnUpgrade, app: OnUpgrade) {
    let (client, app) = match tokio::try_join!(client, app) {
        Ok(both) => both,
        Err(error) => return tracing::debug!(%error, "upgrading connection to app failed, closing it"),
    };
    let (mut from_client, mut to_client) = split(TokioIo::new(client));
    let (mut from_app, mut to_app) = split(TokioIo::new(app));
    let sending = async {
        let sent = copy(&mut from_client, &mut to_app).await;
        sent.and(to_app.shutdown().await)
    };
    let receiving = async {
        let received = copy(&mut from_app, &mut to_client).await;
        received.and(to_client.shutdown().await)
    };
    let (mut sending, mut receiving) = (pin!(sending), pin!(receiving));
    let ended = tokio::select! {
        ended = sending.as_mut() => ended.and(receiving.await),
        ended = receiving.as_mut() => match timeout(CLIENT_CLOSE, sending).await {
            Ok(closed) => ended.and(closed),
            Err(_) => ended,
        },
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "upgraded connection to a workshop ended with an error");
    }
}
